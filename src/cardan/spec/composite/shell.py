"""Soft solids whose bodies form their outer shell: the types ``box``, ``cylinder`` and ``ellipsoid``.

The bodies are children of the body around. Each has one slider; sliders are held at home, to their neighbours, and all
together by a fixed tendon, which keeps the volume about constant (spec: modeling, "Composite objects").

The specification lets each slider point away from the centre. In the reference they all point along the z axis of the
body around, and so they do here: see docs/differences.md.
"""

from __future__ import annotations

from collections.abc import Callable
from math import sqrt
from typing import TYPE_CHECKING

from cardan.spec.composite.builder import add_plain
from cardan.spec.composite.request import cells_of, size_of_geom
from cardan.spec.composite.shell_skin import skin_box, skin_cylinder, skin_ellipsoid

if TYPE_CHECKING:
    from cardan.maths.types import Vec3
    from cardan.spec.composite.request import Composite, Part, Values

Cell = tuple[int, int, int]
Place = Callable[["Vec3"], "Vec3"]

OUTWARD = (0.0, 0.0, 1.0)
HELD: Values = {"solimp": (0.9, 0.9)}
_STEPS = ((1, 0, 0), (0, 1, 0), (0, 0, 1))


def build_box(composite: Composite) -> None:
    """A soft box."""
    _build(composite, _on_box, skin_box)


def build_cylinder(composite: Composite) -> None:
    """A soft elliptic cylinder along the z axis."""
    _build(composite, _on_cylinder, skin_cylinder)


def build_ellipsoid(composite: Composite) -> None:
    """A soft ellipsoid."""
    _build(composite, _on_ellipsoid, skin_ellipsoid)


def _on_box(point: Vec3) -> Vec3:
    """The shell of the box from -1 to 1 as it is."""
    return point


def _on_cylinder(point: Vec3) -> Vec3:
    """A point of the box in the cylinder inside it: squares about the axis become circles."""
    x, y, z = point
    length = sqrt(x * x + y * y)
    scale = max(abs(x), abs(y)) / length if length else 0.0
    return x * scale, y * scale, z


def _on_ellipsoid(point: Vec3) -> Vec3:
    """A point of the box's shell, projected on the unit sphere."""
    x, y, z = point
    length = sqrt(x * x + y * y + z * z)
    return x / length, y / length, z / length


def _build(composite: Composite, place: Place, skin: Callable[[Composite, Part], None]) -> None:
    """The shell's bodies, the constraints between them, and the skin."""
    macro, build = composite.macro, composite.build
    if composite.dimensions < 3:
        kind = macro["type"]
        raise macro.error(f"a soft {kind} needs counts above 1 in all dimensions, got {composite.counts}", "count")
    radius = 2.0 * size_of_geom(composite)[0]
    centre = {**composite.geom.values, "name": build.name("Gcenter"), "type": "sphere", "size": (radius, 0.0, 0.0)}
    build.geom_here({**centre, "pos": (0.0, 0.0, 0.0)}, composite.geom.origin)
    cells = [cell for cell in cells_of(composite.counts) if _is_outside(cell, composite.counts)]
    for cell in cells:
        _add_body(composite, cell, place)
    _hold_together(composite, cells)
    if composite.skin is not None:
        skin(composite, composite.skin)


def _is_outside(cell: Cell, counts: Cell) -> bool:
    """Whether grid coordinates lie on the shell."""
    return any(index in (0, count - 1) for index, count in zip(cell, counts, strict=True))


def _add_body(composite: Composite, cell: Cell, place: Place) -> None:
    """One body with its slider and its geom, which ends at the shell."""
    build = composite.build
    half = [0.5 * composite.spacing * (count - 1) for count in composite.counts]
    unit = [2.0 * index / (count - 1) - 1.0 for index, count in zip(cell, composite.counts, strict=True)]
    x, y, z = place((unit[0], unit[1], unit[2]))
    body = build.body(None, build.name("B", *cell), pos=(x * half[0], y * half[1], z * half[2]))
    joint, geom = composite.main_joint(), composite.geom
    slider = {**joint.values, "name": build.name("J", *cell), "type": "slide", "axis": OUTWARD}
    composite.build.part(body, "joint", joint.origin, slider)
    size = size_of_geom(composite)
    is_capsule = geom.values.get("type") == "capsule"
    shape = "capsule" if is_capsule else "sphere"
    depth = size[0] + size[1] if is_capsule else size[0]
    values = {**geom.values, "name": build.name("G", *cell), "type": shape, "pos": (0.0, 0.0, -depth)}
    composite.build.part(body, "geom", geom.origin, values)


def _hold_together(composite: Composite, cells: list[Cell]) -> None:
    """Constraints that hold each slider at home and to its neighbours, and the sum of all where it is."""
    build, joint, tendon = composite.build, composite.main_joint(), composite.main_tendon()
    there = set(cells)
    smooth = composite.smooth(HELD)
    for cell in cells:
        name = build.name("J", *cell)
        build.relation("equality", "joint", joint.origin, joint1=name, **HELD)
        for step in _STEPS:
            other = (cell[0] + step[0], cell[1] + step[1], cell[2] + step[2])
            if other in there:
                build.relation("equality", "joint", None, joint1=name, joint2=build.name("J", *other), **smooth)
    whole = build.name("T")
    element = build.relation("tendon", "fixed", tendon.origin, name=whole, **tendon.values)
    for cell in cells:
        add_plain(element, "joint", tendon.origin, {"joint": build.name("J", *cell), "coef": 1.0})
    build.relation("equality", "tendon", tendon.origin, tendon1=whole, **tendon.fix)
