"""Skins of composite objects: sheets with two sides, smoothed between the bodies, and closed shells.

All vertices stand at the origins of bones, which are bodies, so that the skin goes through the bodies' centres (spec:
modeling, "Composite objects").
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np

from cardan.spec.composite.builder import add_plain

if TYPE_CHECKING:
    from cardan.maths.types import Vec3
    from cardan.spec.composite.request import Composite, Part

MOST_VERTICES = 200_000

Face = tuple[int, int, int]

# coefficients of the cubics from 0 to 1 that are 1 in one of: the values at 0 and 1, the slopes there
_CUBICS = ((1.0, 0.0, -3.0, 2.0), (0.0, 0.0, 3.0, -2.0), (0.0, 1.0, -2.0, 1.0), (0.0, 0.0, -1.0, 1.0))
_MONOMIALS = tuple((i, j) for i in range(4) for j in range(4))
_REACH = 4  # points of a line on which a cubic between two of them depends
_BITS = 4  # of the number of a point among those around a cell, _REACH * _REACH
# cubics along the rows and the columns for each share: values, slopes along either, and twists at the corners
_SHARES = tuple(
    (i + u, j + v) for i, j in ((0, 0), (2, 0), (0, 2), (2, 2)) for u, v in ((0, 0), (1, 0), (0, 1), (1, 1))
)
_FACTORS = {
    (i, j): np.array([_CUBICS[u][i] * _CUBICS[v][j] for u, v in _SHARES]) for i, j in _MONOMIALS
}  # of x^i y^j in each share


@dataclass(frozen=True)
class BoneAt:
    """A bone of a skin: the body that moves it, and where the body is when the skin is bound, m."""

    body: str
    bindpos: Vec3 = (0.0, 0.0, 0.0)


@dataclass
class Influence:
    """What one bone moves: vertex numbers and the weight of each."""

    vertices: Sequence[int]
    weights: Sequence[float]


def add_skin(
    composite: Composite,
    skin: Part,
    bones: Iterable[tuple[BoneAt, Influence]],
    faces: Sequence[Face] | np.ndarray,
    size: int,
    texcoords: Sequence[tuple[float, float]] | np.ndarray = (),
    vertices: np.ndarray | None = None,
) -> None:
    """Add the skin's element with ``size`` vertices, all at the origin if no ``vertices`` are given.

    Its numbers stand in arrays (`array.array`), which are sequences as tuples are, but cost a fraction of their time.
    """
    given: dict[str, Any] = {"name": composite.build.name("Skin"), "rgba": (1.0, 1.0, 1.0, 1.0), **skin.values}
    given.pop("subgrid", None)
    if given.pop("texcoord", False) and len(texcoords):
        given["texcoord"] = _flat("d", texcoords)
    given["vertex"] = _flat("d", np.zeros(3 * size) if vertices is None else vertices)
    given["face"] = _flat("i", faces)
    element = composite.build.relation("deformable", "skin", skin.origin, **given)
    for bone, influence in bones:
        values = {
            "body": bone.body,
            "bindpos": bone.bindpos,
            "bindquat": (1.0, 0.0, 0.0, 0.0),
            "vertid": influence.vertices,
            "vertweight": influence.weights,
        }
        add_plain(element, "bone", skin.origin, values)


def _flat(code: str, rows: Iterable[Iterable[Any]] | np.ndarray) -> array[Any]:
    """All numbers of some rows, one after the other; ``code`` is their type (`array.array`)."""
    if isinstance(rows, np.ndarray):
        flat = array(code)
        flat.frombytes(np.ascontiguousarray(rows, code).data.cast("B") if rows.size else b"")
        return flat
    return array(code, chain.from_iterable(rows))


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
    i, j = (at.ravel() for at in np.indices((fine_rows, fine_columns)))
    texcoords = np.stack((i / (fine_rows - 1), j / (fine_columns - 1)), axis=1)
    vertices = np.stack((spacing * i, spacing * j, np.zeros(len(i))), axis=1)
    moved = zip((bone for row in bones for bone in row), influences, strict=True)
    faces = sheet_faces(fine_rows, fine_columns)
    add_skin(composite, skin, moved, faces, 2 * len(i), np.tile(texcoords, (2, 1)), np.tile(vertices, (2, 1)))


def sheet_faces(rows: int, columns: int) -> np.ndarray:
    """Triangles of a grid's front, its back, and the rims between them; the back's vertices follow the front's."""
    back = rows * columns
    front = front_faces(rows, columns)
    first, last = np.arange(rows - 1) * columns, np.arange(columns - 1)
    end = (rows - 1) * columns
    rims = (
        _rim(first, first + columns, back, reverse=True),
        _rim(first + columns - 1, first + 2 * columns - 1, back, reverse=False),
        _rim(last, last + 1, back, reverse=False),
        _rim(end + last, end + last + 1, back, reverse=True),
    )
    return np.concatenate((front, front[:, [0, 2, 1]] + back, *rims))


def front_faces(rows: int, columns: int) -> np.ndarray:
    """Triangles of a grid, two a cell: (n, 3)."""
    i, j = (at.ravel() for at in np.indices((rows - 1, columns - 1)))
    a = i * columns + j
    return _squares(a, a + columns, a + columns + 1, a + 1)


def _squares(a: np.ndarray, b: np.ndarray, c: np.ndarray, d: np.ndarray) -> np.ndarray:
    """Two triangles for each square a b c d, one square after the other: (2 n, 3)."""
    return np.stack((a, b, c, a, c, d), axis=1).reshape(-1, 3)


def _rim(a: np.ndarray, b: np.ndarray, back: int, reverse: bool) -> np.ndarray:
    """Two triangles between each edge of the front and the same edge of the back."""
    far = b + back
    corners = (a, far, b, a, a + back, far) if reverse else (a, b, far, a, far, a + back)
    return np.stack(corners, axis=1).reshape(-1, 3)


def _sheet_influences(rows: int, columns: int, parts: int) -> list[Influence]:
    """What each bone of a sheet moves: vertices of the front and of the back with the same weights."""
    row, column, i, j = _fine_vertices(rows, columns, parts)
    fine_columns = (columns - 1) * parts + 1
    vertex = (row * parts + i) * fine_columns + column * parts + j
    # cells alike have the same weights, of bones at the same distances
    kinds = ((_ends(row, rows) * 8 + _ends(column, columns)) * (parts + 1) + i) * (parts + 1) + j
    _, example, kind = np.unique(kinds, return_index=True, return_inverse=True)
    step = 1.0 / parts
    shares = _hermite(i[example] * step, j[example] * step)
    weights = _cell_weights(row[example], column[example], rows, columns, shares)
    around = np.arange(-1, _REACH - 1)
    # small integers are sorted in a time that grows with their number alone; those beside the sheet may wrap
    small = np.min_scalar_type(rows * columns)
    beside = (around[:, None] * columns + around).ravel().astype(small)
    bones = (row * columns + column).astype(small)[:, None] + beside
    every = weights[kind]
    places = np.flatnonzero(every)
    bone = bones.ravel()[places]
    places = places[np.argsort(bone, kind="stable")]
    moved = vertex.astype(np.int32)[places >> _BITS]
    back = ((rows - 1) * parts + 1) * fine_columns  # vertices of the back follow those of the front
    vertices, shared = _flat("i", _pairs(moved, moved + back)), _flat("d", _pairs(*[every.ravel()[places]] * 2))
    ends = (2 * np.cumsum(np.bincount(bone, minlength=rows * columns))).tolist()
    return [Influence(vertices[start:end], shared[start:end]) for start, end in zip([0, *ends[:-1]], ends, strict=True)]


def _pairs(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """Numbers side by side (n, 2)."""
    pairs = np.empty((len(first), 2), first.dtype)
    pairs[:, 0], pairs[:, 1] = first, second
    return pairs


def _ends(at: np.ndarray, count: int) -> np.ndarray:
    """Which of two neighbouring points of a line, from ``at`` on, are ends: all that the slopes there depend on."""
    return (at == 0) * 4 + (at == count - 1) * 2 + (at == count - 2)


def _fine_vertices(rows: int, columns: int, parts: int) -> tuple[np.ndarray, ...]:
    """Cell and place in it of each vertex of a side, cell by cell: the last cells have their far edges too."""
    if parts == 1:
        row, column = (at.ravel() for at in np.indices((rows, columns)))
        return row, column, np.zeros_like(row), np.zeros_like(row)
    grid = np.indices((rows - 1, columns - 1, parts + 1, parts + 1)).reshape(4, -1)
    row, column, i, j = grid
    own = ((i < parts) | (row == rows - 2)) & ((j < parts) | (column == columns - 2))
    return tuple(grid[:, own])


def _hermite(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Shares of the values, the slopes along rows and columns, and the twists at a cell's corners in points of it.

    The result is (16, n) for n points. Shares are sums over the monomials x^i y^j, one after the other: what
    cancels but for rounding, as at 1, does so in the reference too, and stays a weight.
    """
    along, across = (np.ones_like(x), x, x * x, x * x * x), (np.ones_like(y), y, y * y, y * y * y)
    shares = np.zeros((len(_SHARES), len(x)))
    for i, j in _MONOMIALS:
        shares += _FACTORS[i, j][:, None] * (along[i] * across[j])
    return shares


def _cell_weights(row: np.ndarray, column: np.ndarray, rows: int, columns: int, shares: np.ndarray) -> np.ndarray:
    """Weights of the bones around cells, with slopes by differences between neighbours.

    Of each of the n cells: those of the points from one before it to two behind it, along rows and columns (n, 16).
    """
    weights = np.zeros((len(row), _REACH, _REACH))
    along = [_value_or_slope(row, rows, which)[:, :, None] for which in range(4)]
    across = [_value_or_slope(column, columns, which)[:, None, :] for which in range(4)]
    for (u, v), share in zip(_SHARES, shares, strict=True):
        if share.any():
            weights += share[:, None, None] * (along[u] * across[v])
    return weights.reshape(len(row), -1)


def _value_or_slope(first: np.ndarray, count: int, which: int) -> np.ndarray:
    """Factors of four points whose sum is a value of a line, or a slope: central, but at the ends (n, 4).

    Args:
        first: the first point of a cell; the four points are those from one before it on.
        count: number of points of the line.
        which: the value at the first point or the second, the slope at the first or the second, as in `_CUBICS`.
    """
    at, here = first + which % 2, 1 + which % 2
    factors = np.zeros((len(first), _REACH))
    if which < 2:
        factors[:, here] = 1.0
        return factors
    starts, ends = at == 0, at == count - 1
    factors[:, here] = np.where(starts, -1.0, np.where(ends, 1.0, 0.0))
    factors[:, here + 1] = np.where(starts, 1.0, np.where(ends, 0.0, 0.5))
    factors[:, here - 1] = np.where(starts, 0.0, np.where(ends, -1.0, -0.5))
    return factors
