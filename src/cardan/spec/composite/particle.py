"""Systems of particles, the type ``particle``: bodies with three sliders, or any joints, in a grid or anywhere.

Particles of a sheet are tied together along the edges of its triangles.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from cardan.maths.vector import add3
from cardan.spec.composite.grid import AT_HOME, add_sliders
from cardan.spec.composite.plugin import add_plugin, plugin_of, sheet_densities, solid_elements
from cardan.spec.composite.request import cells_of, single
from cardan.spec.composite.shell_skin import skin_box
from cardan.spec.composite.skin import BoneAt, Influence, add_skin, front_faces, skin_grid
from cardan.spec.repeated import OWN, repeated

if TYPE_CHECKING:
    from cardan.maths.types import Vec3
    from cardan.spec.composite.request import Composite, Part
    from cardan.spec.composite.skin import Face
    from cardan.spec.element import Element

Sheet = tuple[list[tuple[BoneAt, Influence]], list["Face"], int]

_TIES = 4  # group of the tendons


def build_particle(composite: Composite) -> None:
    """Particles, tied together in a sheet."""
    build = composite.build
    names, places = _places(composite)
    triangles = _triangles(composite, len(names))
    site = build.name("S")
    sites = [f"{site}{number}" for number in range(len(names))]
    model = _body(composite, names[0], sites[0], places[0])
    tendon = composite.main_tendon()
    tie = build.name("T")
    ties = [(f"{tie}{a}_{b}", sites[a], sites[b]) for a, b in _edges(triangles)]
    build.held_tendons(ties, tendon, {**tendon.values, "group": _TIES})
    if composite.skin is not None:
        _add_skin(composite, composite.skin, names, triangles)
    plugin = plugin_of(composite)
    densities = _make_elastic(composite, plugin, model, places, triangles) if plugin is not None else []
    origin = composite.offset
    blanks = [(OWN, "name"), (OWN, "pos"), (_number_of(model, "site"), "name")]
    values: list[list[Any]] = [names, [add3(origin, place) for place in places], sites]
    if densities:
        blanks.append((_number_of(model, "geom"), "density"))
        values.append(densities)
    build.members += repeated(model, blanks, zip(*values, strict=True))


def _make_elastic(
    composite: Composite, plugin: Element, body: Element, places: list[Vec3], triangles: list[Face]
) -> list[float]:
    """Give the model of all bodies the plugin: with the triangles of a sheet, or the tetrahedra of a solid.

    Returns the densities of the bodies' geoms where the plugin sets them, which it does for a sheet.
    """
    if triangles:
        add_plugin(composite, plugin, [body], [corner for triangle in triangles for corner in triangle])
        densities = sheet_densities(composite, plugin, places, triangles)
        body.children[_number_of(body, "geom")].attributes["density"] = densities[0]
        return densities
    if composite.points is None and composite.dimensions == 3:
        add_plugin(composite, plugin, [body], solid_elements(composite.counts))
    else:
        add_plugin(composite, plugin, [body])
    return []


def _number_of(body: Element, tag: str) -> int:
    """Number among the parts of a body of the only one with this tag."""
    return [part.row.tag for part in body.children].index(tag)


def _edges(triangles: list[Face]) -> list[tuple[int, int]]:
    """Edges of triangles, ascending, their ends in order."""
    ends = {(a, b) if a < b else (b, a) for p, q, r in triangles for a, b in ((p, q), (q, r), (r, p))}
    return sorted(ends)


def _places(composite: Composite) -> tuple[list[str], list[Vec3]]:
    """Names and positions of the bodies."""
    name = composite.build.name("B")
    if composite.points is not None:
        return [f"{name}{i}" for i in range(len(composite.points))], composite.points
    names = [f"{name}{i}_{j}_{k}" for i, j, k in cells_of(composite.counts)]
    along = [[single(composite.spacing * (i - n / 2)) for i in range(n)] for n in composite.counts]
    return names, [(x, y, z) for x in along[0] for y in along[1] for z in along[2]]


def _triangles(composite: Composite, bodies: int) -> list[Face]:
    """Triangles of the sheet, by numbers of bodies: those that the user gave, or two a cell of a grid."""
    numbers = composite.macro["face"]
    if numbers:
        if len(numbers) % 3:
            raise composite.macro.error(f"three numbers a triangle are needed, got {len(numbers)}", "face")
        if min(numbers) < 1 or max(numbers) > bodies:
            raise composite.macro.error(f"vertices are numbered from 1 to {bodies}", "face")
        return [(a - 1, b - 1, c - 1) for a, b, c in zip(numbers[::3], numbers[1::3], numbers[2::3], strict=True)]
    rows, columns = composite.counts[:2]
    if composite.points is not None or composite.dimensions != 2:
        return []
    return [(a, b, c) for a, b, c in front_faces(rows, columns).tolist()]


def _body(composite: Composite, name: str, site_name: str, place: Vec3) -> Element:
    """One body with its joints, geom and site, the model of all."""
    build = composite.build
    body = build.model_body(name, pos=add3(composite.offset, place))
    joints = composite.joints.get("particle")
    if joints is None:
        add_sliders(composite, body)
    for joint in joints or ():
        composite.build.part(body, "joint", joint.origin, joint.values)
    composite.build.part(body, "geom", composite.geom.origin, composite.geom.values)
    site = composite.site
    composite.build.part(body, "site", site.origin, {"name": site_name, **site.values, "pos": AT_HOME})
    return body


def _add_skin(composite: Composite, skin: Part, names: list[str], triangles: list[Face]) -> None:
    """The skin of a sheet or a solid; loose particles have none."""
    rows, columns = composite.counts[:2]
    if composite.points is None and composite.dimensions == 2:
        skin_grid(composite, skin, [names[i * columns : (i + 1) * columns] for i in range(rows)])
    elif composite.points is None and composite.dimensions == 3:
        skin_box(composite, skin)
    elif triangles:
        add_skin(composite, skin, *_given_sheet(names, triangles))


def _given_sheet(names: list[str], triangles: list[Face]) -> Sheet:
    """The two sides of a skin over the user's triangles, without texture."""
    back = len(names)
    bones = [(BoneAt(name), Influence([i], [1.0])) for i, name in enumerate(names * 2)]
    behind = [(a + back, c + back, b + back) for a, b, c in triangles]
    return bones, triangles + behind, 2 * back
