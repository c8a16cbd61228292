"""Soft solids whose bodies form their outer shell: the types ``box``, ``cylinder`` and ``ellipsoid``, and their skins.

The bodies are children of the surrounding body, with one slide joint each. Constraints keep each joint near 0 and near
the positions of its neighbours. A fixed tendon over all joints keeps the volume nearly constant (spec: modeling,
"Composite objects").

In the specification, each slider points away from the centre. In the reference, and therefore here, all sliders point
along the z axis of the surrounding body: see docs/differences.md.
"""

from __future__ import annotations

from collections.abc import Callable
from math import sqrt
from typing import TYPE_CHECKING

from cardan.spec.composite.request import cells_of
from cardan.spec.composite.skin import Bone, Face, add_skin

if TYPE_CHECKING:
    from cardan.maths.types import Vec3
    from cardan.spec.composite.request import Composite, Part, Values

Cell = tuple[int, int, int]

OUTWARD = (0.0, 0.0, 1.0)
HELD: Values = {"solimp": (0.9, 0.9)}
_STEPS = ((1, 0, 0), (0, 1, 0), (0, 0, 1))


def _on_cylinder(point: Vec3) -> Vec3:
    """Map a point of the box from -1 to 1 to the inscribed cylinder along z: squares around the axis become circles."""
    x, y, z = point
    length = sqrt(x * x + y * y)
    scale = max(abs(x), abs(y)) / length if length else 0.0
    return x * scale, y * scale, z


def _on_ellipsoid(point: Vec3) -> Vec3:
    """Project a point on the box's surface to the unit sphere."""
    x, y, z = point
    length = sqrt(x * x + y * y + z * z)
    return x / length, y / length, z / length


# by type: function that moves points of the shell of the box from -1 to 1 to the shell of the solid, and the axes along
# which its skin is smooth; the ends of a cylinder, which is along the z axis, have sharp edges
_SOLIDS: dict[str, tuple[Callable[[Vec3], Vec3], tuple[int, ...]]] = {
    "box": (lambda point: point, ()),
    "cylinder": (_on_cylinder, (0, 1)),
    "ellipsoid": (_on_ellipsoid, (0, 1, 2)),
}


def build_solid(composite: Composite) -> None:
    """Add a sphere at the centre, the shell's bodies, the constraints between them, and the skin."""
    name, counts = composite.name, composite.counts
    place, smooth = _SOLIDS[composite.macro["type"]]
    if composite.dimensions < 3:
        message = f"a soft {composite.macro['type']} needs counts above 1 in all dimensions, got {counts}"
        raise composite.macro.error(message, "count")
    radius = 2.0 * composite.geom_size[0]
    composite.add_geom_here(name=composite.name("Gcenter"), type="sphere", size=(radius, 0.0, 0.0), pos=(0.0, 0.0, 0.0))
    cells = [cell for cell in cells_of(counts) if any(i in (0, n - 1) for i, n in zip(cell, counts, strict=True))]
    half = [0.5 * composite.spacing * (count - 1) for count in counts]
    shape = "capsule" if composite.geom.values.get("type") == "capsule" else "sphere"
    depth = composite.geom_size[0] + (composite.geom_size[1] if shape == "capsule" else 0.0)
    for cell in cells:
        # a body with its slider and its geom, which ends at the shell
        unit = [2.0 * index / (count - 1) - 1.0 for index, count in zip(cell, counts, strict=True)]
        x, y, z = place((unit[0], unit[1], unit[2]))
        body = composite.body(None, name("B", *cell), pos=(x * half[0], y * half[1], z * half[2]))
        composite.add(body, "joint", composite.main_joint(), name=name("J", *cell), type="slide", axis=OUTWARD)
        composite.add(body, "geom", composite.geom, name=name("G", *cell), type=shape, pos=(0.0, 0.0, -depth))
    _hold_together(composite, cells)
    if composite.skin is not None:
        skin_solid(composite, composite.skin, smooth)


def _hold_together(composite: Composite, cells: list[Cell]) -> None:
    """Add constraints that keep each slide joint near 0 and near its neighbours, and the sum of all joints constant."""
    name, joint, tendon = composite.name, composite.main_joint(), composite.main_tendon()
    there = set(cells)
    smooth = composite.smooth(HELD)
    for cell in cells:
        slider = name("J", *cell)
        composite.relation("equality", "joint", joint.origin, joint1=slider, **HELD)
        for step in _STEPS:
            other = (cell[0] + step[0], cell[1] + step[1], cell[2] + step[2])
            if other in there:
                composite.relation("equality", "joint", None, joint1=slider, joint2=name("J", *other), **smooth)
    element = composite.relation("tendon", "fixed", tendon.origin, name=name("T"), **tendon.values)
    for cell in cells:
        element.append("joint", {"joint": name("J", *cell), "coef": 1.0}, tendon.origin)
    composite.relation("equality", "tendon", tendon.origin, tendon1=name("T"), **tendon.fix)


# --- skins -----------------------------------------------------------------------------------------------------------

# corners of a cell's two triangles that face outward; keys: whether row axis x column axis points inward, whether the
# side is smooth
_ORDERS: dict[tuple[bool, bool], tuple[Face, Face]] = {
    (True, False): ((0, 2, 1), (0, 3, 2)),
    (True, True): ((0, 3, 2), (0, 2, 1)),
    (False, False): ((0, 1, 2), (0, 2, 3)),
    (False, True): ((0, 1, 2), (0, 2, 3)),
}
_SHARED = -1  # in place of a side's number: a vertex that belongs to all sides that meet there


def skin_solid(composite: Composite, skin: Part, smooth: tuple[int, ...] = ()) -> None:
    """Add a skin with a grid of vertices on each of the six sides of a grid of bodies.

    The sides normal to the ``smooth`` axes come first and share vertices with each other. Every other side has its own
    vertices along its edges, so that the edges look sharp.
    """
    counts = composite.counts
    shared = [cell for cell in cells_of(counts) if any(cell[axis] in (0, counts[axis] - 1) for axis in smooth)]
    vertices: dict[tuple[Cell, int], int] = {(cell, _SHARED): number for number, cell in enumerate(shared)}
    texcoords: dict[int, tuple[float, float]] = {}
    bones: list[Bone] = []
    faces: list[Face] = []
    sides = [(across, end) for across in sorted((2, 1, 0), key=lambda axis: axis not in smooth) for end in (0, 1)]
    for number, (across, end) in enumerate(sides):
        row, column = (axis for axis in range(3) if axis != across)
        ids: list[int] = []
        for i in range(counts[row]):
            for j in range(counts[column]):
                at = {across: end * (counts[across] - 1), row: i, column: j}
                cell = (at[0], at[1], at[2])
                vertex = vertices.setdefault((cell, _SHARED if across in smooth else number), len(vertices))
                texcoords[vertex] = (i / (counts[row] - 1), j / (counts[column] - 1))
                ids.append(vertex)
                bones.append(Bone(composite.name("B", *cell), vertices=[vertex], weights=[1.0]))
        order, columns = _ORDERS[(end == 0) == (across != 1), across in smooth], counts[column]
        for a in (i * columns + j for i in range(counts[row] - 1) for j in range(columns - 1)):
            corners = (ids[a], ids[a + columns], ids[a + columns + 1], ids[a + 1])
            faces += [(corners[p], corners[q], corners[r]) for p, q, r in order]
    add_skin(composite, skin, bones, faces, len(vertices), [texcoords[vertex] for vertex in range(len(vertices))])
