"""Skins of composite objects: sheets with two sides, smoothed between the bodies, and closed shells.

All vertices stand at the origins of bones, which are bodies, so that the skin goes through the bodies' centres (spec:
modeling, "Composite objects").
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING, Any

from cardan.spec.composite.builder import add_plain

if TYPE_CHECKING:
    from cardan.spec.composite.request import Composite, Part, Vec3

MOST_VERTICES = 200_000

Face = tuple[int, int, int]

# coefficients of the cubics from 0 to 1 that are 1 in one of: the values at 0 and 1, the slopes there
_CUBICS = ((1.0, 0.0, -3.0, 2.0), (0.0, 0.0, 3.0, -2.0), (0.0, 1.0, -2.0, 1.0), (0.0, 0.0, -1.0, 1.0))
_MONOMIALS = tuple((i, j) for i in range(4) for j in range(4))
# cubics along the rows and the columns for each share: values, slopes along either, and twists at the corners
_SHARES = tuple(
    (i + u, j + v) for i, j in ((0, 0), (2, 0), (0, 2), (2, 2)) for u, v in ((0, 0), (1, 0), (0, 1), (1, 1))
)


@dataclass(frozen=True)
class BoneAt:
    """A bone of a skin: the body that moves it, and where the body is when the skin is bound, m."""

    body: str
    bindpos: Vec3 = (0.0, 0.0, 0.0)


@dataclass
class Influence:
    """What one bone moves: vertex numbers and the weight of each."""

    vertices: list[int]
    weights: list[float]


def add_skin(
    composite: Composite,
    skin: Part,
    bones: Sequence[tuple[BoneAt, Influence]],
    faces: Sequence[Face],
    size: int,
    texcoords: Sequence[tuple[float, float]] = (),
    vertices: Sequence[float] = (),
) -> None:
    """Add the skin's element with ``size`` vertices, all at the origin if no ``vertices`` are given."""
    given: dict[str, Any] = {"name": composite.build.name("Skin"), "rgba": (1.0, 1.0, 1.0, 1.0), **skin.values}
    given.pop("subgrid", None)
    if given.pop("texcoord", False) and texcoords:
        given["texcoord"] = tuple(chain.from_iterable(texcoords))
    given["vertex"] = tuple(vertices) or (0.0,) * (3 * size)
    given["face"] = tuple(chain.from_iterable(faces))
    element = composite.build.relation("deformable", "skin", skin.origin, **given)
    for bone, influence in bones:
        values = {
            "body": bone.body,
            "bindpos": bone.bindpos,
            "bindquat": (1.0, 0.0, 0.0, 0.0),
            "vertid": tuple(influence.vertices),
            "vertweight": tuple(influence.weights),
        }
        add_plain(element, "bone", skin.origin, values)


# --- sheets ----------------------------------------------------------------------------------------------------------


def skin_grid(composite: Composite, skin: Part, names: list[list[str]]) -> None:
    """A skin over a grid of bodies; a finer one is bound to the flat grid."""
    spacing = composite.spacing if is_finer(skin) else 0.0
    bones = [
        [BoneAt(name, (spacing * i, spacing * j, 0.0)) for j, name in enumerate(row)] for i, row in enumerate(names)
    ]
    skin_sheet(composite, skin, bones, spacing / _parts(skin))


def is_finer(skin: Part) -> bool:
    """Whether the skin has vertices between the bodies."""
    return _parts(skin) > 1


def _parts(skin: Part) -> int:
    """Number of parts into which the skin divides the distance between neighbours."""
    return max(skin.origin["subgrid"] if skin.origin.tag == "skin" else 0, 0) + 1


def skin_sheet(composite: Composite, skin: Part, bones: list[list[BoneAt]], spacing: float = 0.0) -> None:
    """A skin with two sides over a grid of bones, each cell divided by ``subgrid`` vertices a direction.

    ``spacing`` is the distance between neighbouring vertices.

    Vertices between the bones are interpolated by cubics with slopes by central differences (Catmull and Rom, Computer
    Aided Geometric Design, 1974).
    """
    parts = _parts(skin)
    rows, columns = len(bones), len(bones[0])
    fine_rows, fine_columns = (rows - 1) * parts + 1, (columns - 1) * parts + 1
    if fine_rows * fine_columns > MOST_VERTICES:
        raise skin.origin.error(f"the skin would have more than {MOST_VERTICES} vertices a side", "subgrid")
    influences = _sheet_influences(rows, columns, parts)
    cells = [(i, j) for i in range(fine_rows) for j in range(fine_columns)]
    texcoords = [(i / (fine_rows - 1), j / (fine_columns - 1)) for i, j in cells]
    vertices = [number for i, j in cells for number in (spacing * i, spacing * j, 0.0)]
    moved = list(zip((bone for row in bones for bone in row), influences, strict=True))
    faces = sheet_faces(fine_rows, fine_columns)
    add_skin(composite, skin, moved, faces, 2 * len(cells), texcoords * 2, vertices * 2)


def sheet_faces(rows: int, columns: int) -> list[Face]:
    """Triangles of a grid's front, its back, and the rims between them; the back's vertices follow the front's."""
    back = rows * columns
    faces: list[Face] = []
    for a, b, c, d in _cells(rows, columns):
        faces += [(a, b, c), (a, c, d)]
    for a, b, c, d in _cells(rows, columns):
        faces += [(a + back, c + back, b + back), (a + back, d + back, c + back)]
    first, last = range(rows - 1), range(columns - 1)
    end = (rows - 1) * columns
    rims = (
        ([(i * columns, (i + 1) * columns) for i in first], True),
        ([((i + 1) * columns - 1, (i + 2) * columns - 1) for i in first], False),
        ([(j, j + 1) for j in last], False),
        ([(end + j, end + j + 1) for j in last], True),
    )
    for edges, reverse in rims:
        for a, b in edges:
            faces += _rim(a, b, back, reverse)
    return faces


def _rim(a: int, b: int, back: int, reverse: bool) -> list[Face]:
    """Two triangles between an edge of the front and the same edge of the back."""
    if reverse:
        return [(a, b + back, b), (a, a + back, b + back)]
    return [(a, b, b + back), (a, b + back, a + back)]


def _cells(rows: int, columns: int) -> Iterator[tuple[int, int, int, int]]:
    """Vertex numbers at the corners of each cell of a grid, around the cell."""
    for i in range(rows - 1):
        for j in range(columns - 1):
            a = i * columns + j
            yield a, a + columns, a + columns + 1, a + 1


def _sheet_influences(rows: int, columns: int, parts: int) -> list[Influence]:
    """What each bone of a sheet moves: vertices of the front and of the back with the same weights."""
    influences = [Influence([], []) for _ in range(rows * columns)]
    fine_columns = (columns - 1) * parts + 1
    back = ((rows - 1) * parts + 1) * fine_columns
    step = 1.0 / parts
    shares = {(i, j): _hermite(i * step, j * step) for i in range(parts + 1) for j in range(parts + 1)}
    # cells alike have the same weights, of bones at the same distances
    patterns: dict[tuple[Any, ...], list[tuple[int, float]]] = {}
    for row, column, fine_row, fine_column in _fine_vertices(rows, columns, parts):
        first = row * columns + column
        place = fine_row - row * parts, fine_column - column * parts
        alike = _ends(row, rows), _ends(column, columns), place
        if alike not in patterns:
            weights = _cell_weights(row, column, rows, columns, shares[place])
            patterns[alike] = [(bone - first, weight) for bone, weight in weights.items() if weight != 0.0]
        vertex = fine_row * fine_columns + fine_column
        for distance, weight in patterns[alike]:
            influence = influences[first + distance]
            influence.vertices += (vertex, vertex + back)
            influence.weights += (weight, weight)
    return influences


def _ends(at: int, count: int) -> tuple[bool, bool, bool]:
    """Which of two neighbouring points of a line, from ``at`` on, are ends: all that the slopes there depend on."""
    return at == 0, at == count - 1, at == count - 2


def _fine_vertices(rows: int, columns: int, parts: int) -> Iterator[tuple[int, int, int, int]]:
    """Cell and place of each vertex of a side, cell by cell; the last cells have their far edges too."""
    if parts == 1:
        yield from ((i, j, i, j) for i in range(rows) for j in range(columns))
        return
    for row in range(rows - 1):
        for column in range(columns - 1):
            for i in range(parts + (row == rows - 2)):
                for j in range(parts + (column == columns - 2)):
                    yield row, column, row * parts + i, column * parts + j


def _hermite(x: float, y: float) -> list[float]:
    """Shares of the values, the slopes along rows and columns, and the twists at a cell's corners in a point of it.

    They are sums over the monomials x^i y^j: what cancels but for rounding, as at 1, does so in the reference too, and
    stays a weight.
    """
    powers = [(1.0, x, x * x, x * x * x)[i] * (1.0, y, y * y, y * y * y)[j] for i, j in _MONOMIALS]
    return [
        sum(_CUBICS[u][i] * _CUBICS[v][j] * power for (i, j), power in zip(_MONOMIALS, powers, strict=True))
        for u, v in _SHARES
    ]


def _cell_weights(row: int, column: int, rows: int, columns: int, shares: list[float]) -> dict[int, float]:
    """Weights of the bones around a cell, with slopes by differences between neighbours."""
    weights: dict[int, float] = {}
    for (u, v), share in zip(_SHARES, shares, strict=True):
        for i, factor_i in _value_or_slope(row + u % 2, rows, u >= 2):
            for j, factor_j in _value_or_slope(column + v % 2, columns, v >= 2):
                bone = i * columns + j
                weights[bone] = weights.get(bone, 0.0) + share * (factor_i * factor_j)
    return weights


def _value_or_slope(at: int, count: int, slope: bool) -> tuple[tuple[int, float], ...]:
    """Points and factors whose sum is the value at a point of a line, or the slope: central, but at the ends."""
    if not slope:
        return ((at, 1.0),)
    if at == 0:
        return ((1, 1.0), (0, -1.0))
    if at == count - 1:
        return ((at, 1.0), (at - 1, -1.0))
    return ((at + 1, 0.5), (at - 1, -0.5))
