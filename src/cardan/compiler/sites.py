"""Sites (spec: modeling, "site"): those of all bodies together, one attribute at a time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from cardan.compiler.figures import placed_shapes
from cardan.compiler.nodes import attached
from cardan.compiler.resolved import Resolved
from cardan.compiler.shapes import check_size
from cardan.spec.schema.keywords import GEOM

if TYPE_CHECKING:
    from cardan.compiler.build import Build
    from cardan.compiler.nodes import Body


def add_sites(build: Build, bodies: Sequence[Body]) -> None:
    """Add the sites of bodies."""
    found = attached(bodies, "site")
    if not found.elements:
        return
    sites = Resolved(found.elements)
    words = sites["type"]
    poses, sizes = placed_shapes(build, sites, found.frames)
    known: set[Any] = set()
    for element, word, size in zip(found.elements, words, sizes, strict=True):
        if (word, size) not in known:
            check_size(element, word, size)
            known.add((word, size))
    columns: dict[str, list[Any]] = {
        "site_type": [GEOM[word] for word in words],
        "site_group": sites["group"],
        "site_size": sizes,
        "site_pos": [pos for pos, _ in poses],
        "site_quat": [quat for _, quat in poses],
        "site_matid": build.references("material", sites["material"]),
        "site_rgba": sites["rgba"],
        "site_user": build.users("site", sites),
    }
    build.enter_all("site", found.names)
    for name, column in columns.items():
        build.columns[name] = found.repeated(column)
    build.columns["site_bodyid"] = [body.id for body in found.bodies]
