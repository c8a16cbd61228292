"""Bodies connected by tendons: the types ``grid`` and ``particle``.

A grid is a string or a sheet of spheres. Each sphere has three slide joints; tendons of constant length connect
neighbours. Particles may have any joints and any arrangement. Particles of a sheet are connected along the edges of the
sheet's triangles.
"""

from __future__ import annotations

from math import pi
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from cardan.maths.vector import add3, cross
from cardan.spec.composite.request import cells_of, single
from cardan.spec.composite.shell import skin_solid
from cardan.spec.composite.skin import Bone, Face, add_skin, skin_grid
from cardan.spec.flexcomp.lattice import grid_elements
from cardan.spec.macro_plugin import give_plugin, plugin_of
from cardan.spec.repeated import OWN, repeated

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cardan.maths.types import Vec3
    from cardan.spec.composite.request import Composite, Part
    from cardan.spec.element import Element

AXES = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))
AT_HOME = (0.0, 0.0, 0.0)
THICKNESS = "thickness"
_TIES = 4  # group of the tendons between particles


def add_sliders(composite: Composite, body: Element, names: Sequence[str] = ()) -> None:
    """Add three slide joints along the axes of the body."""
    for number, axis in enumerate(AXES):
        name = {"name": names[number]} if names else {}
        composite.add(body, "joint", composite.main_joint(), **name, type="slide", axis=axis)


# --- grids -----------------------------------------------------------------------------------------------------------


def build_grid(composite: Composite) -> None:
    """Add a string or a sheet of bodies with three slide joints each, and tendons between neighbours."""
    name, (rows, columns) = composite.name, composite.counts[:2]
    if composite.dimensions > 2:
        raise composite.macro.error(f"a grid has one or two dimensions, got the counts {composite.counts}", "count")
    if composite.skin is not None and composite.dimensions < 2:
        raise composite.skin.origin.error("a skin needs a grid of two dimensions")
    shear = composite.tendons.get("shear")
    if shear is not None and composite.dimensions < 2:
        raise shear.origin.error("shear needs a grid of two dimensions", "kind")
    x, y, z = composite.offset
    for i, j, _ in cells_of((rows, columns, 1)):
        place = composite.spacing * (i - rows / 2), composite.spacing * (j - columns / 2)
        body = composite.body(None, name("B", i, j), pos=(x + place[0], y + place[1], z))
        if (i, j) not in composite.pins:
            add_sliders(composite, body, [name("J", axis, i, j) for axis in range(3)])
        composite.add(body, "geom", composite.geom, name=name("G", i, j), type="sphere")
        composite.add(body, "site", composite.site, name=name("S", i, j), pos=AT_HOME)
    main = composite.main_tendon()
    for tendon, start, (down, right) in ((main, ("T", 0), (1, 0)), (main, ("T", 1), (0, 1)), (shear, ("TS",), (1, 1))):
        if tendon is not None:
            cells = [(i, j) for i, j, _ in cells_of((rows - down, columns - right, 1))]
            ties = [(name(*start, i, j), name("S", i, j), name("S", i + down, j + right)) for i, j in cells]
            composite.held_tendons(ties, tendon, tendon.values)
    if composite.skin is not None:
        skin_grid(composite, composite.skin, [[name("B", i, j) for j in range(columns)] for i in range(rows)])


# --- particles -------------------------------------------------------------------------------------------------------


def build_particle(composite: Composite) -> None:
    """Add particles, and tendons along the edges of the triangles of a sheet."""
    names, places = _places(composite)
    triangles = _triangles(composite, len(names))
    site = composite.name("S")
    sites = [f"{site}{number}" for number in range(len(names))]
    model = _body(composite, names[0], sites[0], places[0])
    tendon, tie = composite.main_tendon(), composite.name("T")
    edges = {(min(a, b), max(a, b)) for p, q, r in triangles for a, b in ((p, q), (q, r), (r, p))}
    ties = [(f"{tie}{a}_{b}", sites[a], sites[b]) for a, b in sorted(edges)]
    composite.held_tendons(ties, tendon, {**tendon.values, "group": _TIES})
    if composite.skin is not None:
        _add_skin(composite, composite.skin, names, triangles)
    plugin = plugin_of(composite.macro)
    densities = _make_elastic(composite, plugin, model, places, triangles) if plugin is not None else []
    parts = [part.row.tag for part in model.children]
    blanks = [(OWN, "name"), (OWN, "pos"), (parts.index("site"), "name")]
    values: list[list[Any]] = [names, [add3(composite.offset, place) for place in places], sites]
    if densities:
        blanks.append((parts.index("geom"), "density"))
        values.append(densities)
    composite.members += repeated(model, blanks, zip(*values, strict=True))


def _places(composite: Composite) -> tuple[list[str], list[Vec3]]:
    """Return names and positions (m) of the bodies."""
    name = composite.name("B")
    if composite.points is not None:
        return [f"{name}{i}" for i in range(len(composite.points))], composite.points
    names = [f"{name}{i}_{j}_{k}" for i, j, k in cells_of(composite.counts)]
    along = [[single(composite.spacing * (i - n / 2)) for i in range(n)] for n in composite.counts]
    return names, [(x, y, z) for x in along[0] for y in along[1] for z in along[2]]


def _triangles(composite: Composite, bodies: int) -> list[Face]:
    """Return the triangles of the sheet as body numbers: the user's, or two for each cell of a 2D grid.

    If there are neither, return an empty list. Raises MjcfError for invalid triangles.
    """
    numbers = composite.macro["face"]
    if numbers:
        if len(numbers) % 3:
            raise composite.macro.error(f"three numbers a triangle are needed, got {len(numbers)}", "face")
        if min(numbers) < 1 or max(numbers) > bodies:
            raise composite.macro.error(f"vertices are numbered from 1 to {bodies}", "face")
        return [(a - 1, b - 1, c - 1) for a, b, c in zip(numbers[::3], numbers[1::3], numbers[2::3], strict=True)]
    if composite.points is not None or composite.dimensions != 2:
        return []
    return [(a, b, c) for a, b, c in grid_elements(composite.counts, 2).tolist()]


def _body(composite: Composite, name: str, site_name: str, place: Vec3) -> Element:
    """Return a body with joints, geom and site, as the template for the bodies of all particles."""
    body = composite.model_body(name, pos=add3(composite.offset, place))
    joints = composite.joints.get("particle")
    if joints is None:
        add_sliders(composite, body)
    for joint in joints or ():
        composite.add(body, "joint", joint)
    composite.add(body, "geom", composite.geom)
    composite.add(body, "site", composite.site, name=site_name, pos=AT_HOME)
    return body


def _add_skin(composite: Composite, skin: Part, names: list[str], triangles: list[Face]) -> None:
    """Add the skin of a sheet or a solid. Particles without triangles or a grid get no skin."""
    rows, columns = composite.counts[:2]
    if composite.points is None and composite.dimensions == 2:
        skin_grid(composite, skin, [names[i * columns : (i + 1) * columns] for i in range(rows)])
    elif composite.points is None and composite.dimensions == 3:
        skin_solid(composite, skin)
    elif triangles:
        # two sides over the user's triangles, without texture
        back = len(names)
        bones = [Bone(name, vertices=[i], weights=[1.0]) for i, name in enumerate(names * 2)]
        behind = [(a + back, c + back, b + back) for a, b, c in triangles]
        add_skin(composite, skin, bones, triangles + behind, 2 * back)


# --- elastic particles -----------------------------------------------------------------------------------------------


def _make_elastic(
    composite: Composite, plugin: Element, body: Element, places: list[Vec3], triangles: list[Face]
) -> list[float]:
    """Assign the plugin to ``body``, the template of all bodies, with a sheet's triangles or a solid's tetrahedra.

    For a sheet, return the density of each geom (kg/m^3) that gives the geom the mass of all triangles around it.
    Otherwise, return an empty list. Raises MjcfError if the plugin's thickness is not a number.
    """
    name = f"composite{composite.prefix}"
    if not triangles:
        solid = composite.points is None and composite.dimensions == 3
        give_plugin(plugin, name, [body], grid_elements(composite.counts, 3).ravel().tolist() if solid else ())
        return []
    give_plugin(plugin, name, [body], [corner for triangle in triangles for corner in triangle])
    config = next((config for config in plugin.all("config") if config["key"] == THICKNESS), plugin)
    try:
        thickness = float((config.attributes.get("value") or "").split()[0])
    except (ValueError, IndexError):
        raise config.error(f"the plugin of a sheet needs a number as its '{THICKNESS}'") from None
    volume = 4.0 / 3.0 * pi * composite.geom_size[0] ** 3
    density = composite.geom.values.get("density", 1000.0)
    areas = _areas(np.array(places), np.array(triangles)).tolist()
    densities = [density * thickness * area / volume if volume > 0.0 else density for area in areas]
    geom = body.child("geom")
    assert geom is not None
    geom.attributes["density"] = densities[0]
    return densities


def _areas(points: np.ndarray, triangles: np.ndarray) -> np.ndarray:
    """Return, for each point, the total area of the triangles around it. Edges are rounded to single precision."""
    origin = points[triangles[:, 0]]
    with np.errstate(all="ignore"):  # an overflow is reported as a wrong mass
        first, second = ((points[triangles[:, k]] - origin).astype(np.float32).astype(np.float64).T for k in (1, 2))
        x, y, z = cross(cast("Any", first), cast("Any", second))  # each component is an array over the triangles
        areas = np.zeros(len(points))
        np.add.at(areas, triangles.ravel(), np.repeat(0.5 * np.sqrt(x * x + y * y + z * z), 3))
    return areas
