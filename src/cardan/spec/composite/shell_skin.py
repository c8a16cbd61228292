"""Skins of solid composite objects: a grid of vertices on each of the six sides.

Where two sides meet in an edge, each has vertices of its own, so that the edge looks sharp. The side of a cylinder, and
all of an ellipsoid, are smooth: sides that meet there share vertices.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from cardan.spec.composite.request import cells_of
from cardan.spec.composite.skin import BoneAt, Face, Influence, add_skin

if TYPE_CHECKING:
    from cardan.spec.composite.request import Composite, Part

Cell = tuple[int, int, int]

# corners of a cell's two triangles so that they look outside: by whether rows and columns turn about the inside, and
# whether the side is smooth
_ORDERS: dict[tuple[bool, bool], tuple[Face, Face]] = {
    (True, False): ((0, 2, 1), (0, 3, 2)),
    (True, True): ((0, 3, 2), (0, 2, 1)),
    (False, False): ((0, 1, 2), (0, 2, 3)),
    (False, True): ((0, 1, 2), (0, 2, 3)),
}
_SHARED = -1  # in place of a side's number: a vertex that belongs to all sides that meet there


def skin_box(composite: Composite, skin: Part) -> None:
    """A skin with sharp edges."""
    _skin(composite, skin, smooth=())


def skin_cylinder(composite: Composite, skin: Part) -> None:
    """A skin with sharp edges at the two ends of the z axis."""
    _skin(composite, skin, smooth=(0, 1))


def skin_ellipsoid(composite: Composite, skin: Part) -> None:
    """A skin that is smooth all over."""
    _skin(composite, skin, smooth=(0, 1, 2))


def _skin(composite: Composite, skin: Part, smooth: tuple[int, ...]) -> None:
    """A skin of six sides; those across the ``smooth`` axes come first and share vertices."""
    counts, build = composite.counts, composite.build
    shared = [cell for cell in cells_of(counts) if any(cell[axis] in (0, counts[axis] - 1) for axis in smooth)]
    vertices: dict[tuple[Cell, int], int] = {(cell, _SHARED): number for number, cell in enumerate(shared)}
    texcoords: dict[int, tuple[float, float]] = {}
    bones: list[tuple[BoneAt, Influence]] = []
    faces: list[Face] = []
    sides = [(across, end) for across in sorted((2, 1, 0), key=lambda axis: axis not in smooth) for end in (0, 1)]
    for number, (across, end) in enumerate(sides):
        row, column = (axis for axis in range(3) if axis != across)
        ids: list[int] = []
        for i in range(counts[row]):
            for j in range(counts[column]):
                cell = _cell({across: end * (counts[across] - 1), row: i, column: j})
                vertex = vertices.setdefault((cell, _SHARED if across in smooth else number), len(vertices))
                texcoords[vertex] = (i / (counts[row] - 1), j / (counts[column] - 1))
                ids.append(vertex)
                bones.append((BoneAt(build.name("B", *cell)), Influence([vertex], [1.0])))
        faces += _side_faces(ids, counts[row], counts[column], _ORDERS[(end == 0) == (across != 1), across in smooth])
    add_skin(composite, skin, bones, faces, len(vertices), [texcoords[vertex] for vertex in range(len(vertices))])


def _cell(coordinates: dict[int, int]) -> Cell:
    """Grid coordinates from those by axis."""
    return coordinates[0], coordinates[1], coordinates[2]


def _side_faces(ids: list[int], rows: int, columns: int, order: tuple[Face, Face]) -> Iterator[Face]:
    """Triangles of a side, two a cell; ``order`` numbers their corners around the cell."""
    for i in range(rows - 1):
        for j in range(columns - 1):
            a = i * columns + j
            cell = (ids[a], ids[a + columns], ids[a + columns + 1], ids[a + 1])
            yield from ((cell[p], cell[q], cell[r]) for p, q, r in order)
