"""The table of composite types, and the expansion of one composite."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from cardan.errors import with_article
from cardan.spec.composite.cable import build_cable, build_loop
from cardan.spec.composite.particle import build_grid, build_particle
from cardan.spec.composite.request import STIFF, Composite, Values, read_composite
from cardan.spec.composite.shell import build_solid
from cardan.spec.composite.skin import is_finer

if TYPE_CHECKING:
    from cardan.spec.element import Element

_MOST_NESTED = 5000
_ROUND = ("sphere", "capsule", "ellipsoid")
_ROD = ("capsule", "cylinder", "box")


@dataclass(frozen=True)
class Kind:
    """One type of composite: the function that adds its elements, their default values, and the limits of the type."""

    build: Callable[[Composite], None]
    shapes: tuple[str, ...] = _ROUND  # types that its geoms may have, empty for all
    geom: Values = field(default_factory=dict)  # values of its geoms that differ from the defaults of the language
    tendon_fix: Values = field(default_factory=lambda: STIFF)  # solver parameters that keep its main tendons' lengths
    covers: bool = True  # whether a skin puts geoms and tendons into a group that is not shown
    spaced: bool = False  # whether the spacing must be at least the size of the geoms
    skinned: bool = True  # whether a finer skin needs at least 3 by 3 bodies
    most: int = 50_000  # largest number of bodies
    elastic: bool = False  # whether a plugin may act on its bodies


KINDS: dict[str, Kind] = {
    "particle": Kind(build_particle, (), {"condim": 1, "priority": 1}, {}, covers=False, spaced=True, elastic=True),
    "grid": Kind(build_grid, spaced=True),
    "loop": Kind(build_loop, covers=False, most=_MOST_NESTED),
    "cable": Kind(build_cable, _ROD, covers=False, skinned=False, most=_MOST_NESTED, elastic=True),
    **dict.fromkeys(("box", "cylinder", "ellipsoid"), Kind(build_solid, geom={"contype": 0})),
}

# types that the reference no longer makes, and the replacement that it recommends
REMOVED: dict[str, str] = {"rope": "cable", "cloth": "flexcomp"}


def expand(macro: Element) -> None:
    """Replace one composite by its elements. Raises MjcfError for values that its type does not accept."""
    for around in macro.around():
        name = around.attributes.get("childclass")
        if name and name not in macro.tree.defaults:
            raise around.error(f"unknown default class '{name}'", "childclass")
    word = macro["type"]
    if word in REMOVED:
        raise macro.error(f"composites of the type '{word}' are deprecated: use '{REMOVED[word]}'", "type")
    kind = KINDS[word]
    composite = read_composite(macro, kind.geom, kind.tendon_fix, kind.covers)
    _check(composite, kind)
    kind.build(composite)
    parent = macro.parent
    assert parent is not None
    at = parent.children.index(macro)
    parent.children[at : at + 1] = composite.members


def _check(composite: Composite, kind: Kind) -> None:
    """Raise MjcfError for values that this type of composite does not accept."""
    macro, geom, skin = composite.macro, composite.geom, composite.skin
    bodies = composite.counts[0] * composite.counts[1] * composite.counts[2]
    if bodies > kind.most:
        raise macro.error(f"{bodies} bodies are more than {kind.most}", "count")
    plugin = macro.child("plugin")
    if plugin is not None and not kind.elastic:
        raise plugin.error(f"composites of the type '{macro['type']}' have no plugins: cables and particles may")
    shape = geom.values.get("type", "sphere")
    if kind.shapes and shape not in kind.shapes:
        words = ", ".join(kind.shapes)
        raise geom.origin.error(f"the geoms of {with_article(macro['type'])} may be {words}, not '{shape}'", "type")
    if kind.skinned and skin is not None and min(composite.counts[:2]) < 3 and is_finer(skin):
        raise skin.origin.error(f"a finer skin needs counts of at least 3 3, got {composite.counts}", "subgrid")
    if len((macro["curve"] or "").split()) > 3:
        raise macro.error("a curve has at most three functions", "curve")
    if composite.points is None and not any(macro["size"]):
        raise macro.error("one of the sizes must not be 0", "size")
    largest = max(composite.geom_size)
    if kind.spaced and composite.points is None and composite.spacing < largest:
        message = f"the spacing must be at least the size of the geoms, {largest:g}, got {composite.spacing:g}"
        raise macro.error(message, "spacing")
