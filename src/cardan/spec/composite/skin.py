"""Skins of composite objects: two-sided sheets, smoothed between the bodies.

The bones of a skin are bodies. Vertices are at the origins of the bones, so that the skin passes through the centres of
the bodies (spec: modeling, "Composite objects").
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np

from cardan.spec.flexcomp.lattice import grid_elements

if TYPE_CHECKING:
    from cardan.maths.types import Vec3
    from cardan.spec.composite.request import Composite, Part

MOST_VERTICES = 200_000

Face = tuple[int, int, int]

# coefficients of the Hermite cubics on [0, 1]; each is 1 in one of: value at 0, value at 1, slope at 0, slope at 1
_CUBICS = ((1.0, 0.0, -3.0, 2.0), (0.0, 0.0, 3.0, -2.0), (0.0, 1.0, -2.0, 1.0), (0.0, 0.0, -1.0, 1.0))
_MONOMIALS = tuple((i, j) for i in range(4) for j in range(4))
_REACH = 4  # number of points of a line on which a cubic between two points depends
_BITS = 4  # number of bits of an index into the _REACH * _REACH points around a cell
# cubics along the rows and the columns for each share: values, slopes along either, and twists at the corners
_SHARES = tuple(
    (i + u, j + v) for i, j in ((0, 0), (2, 0), (0, 2), (2, 2)) for u, v in ((0, 0), (1, 0), (0, 1), (1, 1))
)
_FACTORS = {
    (i, j): np.array([_CUBICS[u][i] * _CUBICS[v][j] for u, v in _SHARES]) for i, j in _MONOMIALS
}  # coefficient of x^i y^j in each share


@dataclass
class Bone:
    """A bone of a skin: name and bind position (m) of its body, indices and weights of the vertices that it moves."""

    body: str
    bindpos: Vec3 = (0.0, 0.0, 0.0)
    vertices: Sequence[int] = ()
    weights: Sequence[float] = ()


def add_skin(
    composite: Composite,
    skin: Part,
    bones: Iterable[Bone],
    faces: Sequence[Face] | np.ndarray,
    size: int,
    texcoords: Sequence[tuple[float, float]] | np.ndarray = (),
    vertices: np.ndarray | None = None,
) -> None:
    """Add a skin to the model.

    ``faces`` are vertex indices of triangles (n, 3), ``size`` is the number of vertices, ``texcoords`` are (size, 2).
    ``vertices`` are positions, m (size, 3); by default, all are at the origin. Numbers are stored as `array.array`: it
    behaves like a tuple and is much faster to make.
    """
    given: dict[str, Any] = {"name": composite.name("Skin"), "rgba": (1.0, 1.0, 1.0, 1.0), **skin.values}
    given.pop("subgrid", None)
    if given.pop("texcoord", False) and len(texcoords):
        given["texcoord"] = _flat("d", texcoords)
    given["vertex"] = _flat("d", np.zeros(3 * size) if vertices is None else vertices)
    given["face"] = _flat("i", faces)
    element = composite.relation("deformable", "skin", skin.origin, **given)
    for bone in bones:
        values = {"body": bone.body, "bindpos": bone.bindpos, "bindquat": (1.0, 0.0, 0.0, 0.0)}
        element.append("bone", values | {"vertid": bone.vertices, "vertweight": bone.weights}, skin.origin)


def _flat(code: str, rows: Iterable[Iterable[Any]] | np.ndarray) -> array[Any]:
    """Concatenate the numbers of all rows to an `array.array` with type code ``code``."""
    if isinstance(rows, np.ndarray):
        flat = array(code)
        flat.frombytes(np.ascontiguousarray(rows, code).data.cast("B") if rows.size else b"")
        return flat
    return array(code, chain.from_iterable(rows))


# --- sheets ----------------------------------------------------------------------------------------------------------


def skin_grid(composite: Composite, skin: Part, names: list[list[str]]) -> None:
    """Add the skin ``skin`` over a grid of bodies. ``names`` are the names of the bodies, row by row.

    A skin that is finer than the grid has bind positions on a flat grid. Otherwise, all bind positions are 0.
    """
    spacing = composite.spacing if is_finer(skin) else 0.0
    bones = [[Bone(name, (spacing * i, spacing * j, 0.0)) for j, name in enumerate(row)] for i, row in enumerate(names)]
    skin_sheet(composite, skin, bones, spacing / _parts(skin))


def is_finer(skin: Part) -> bool:
    """Return whether the skin has vertices between the bodies."""
    return _parts(skin) > 1


def _parts(skin: Part) -> int:
    """Return the number of intervals into which the skin divides the distance between neighbouring bodies."""
    return max(skin.origin["subgrid"] if skin.origin.tag == "skin" else 0, 0) + 1


def skin_sheet(composite: Composite, skin: Part, bones: list[list[Bone]], spacing: float = 0.0) -> None:
    """Add a skin with two sides over a grid of bones, with ``subgrid`` vertices between neighbouring bones.

    These vertices are interpolated by cubics with slopes from central differences (Catmull and Rom, Computer Aided
    Geometric Design, 1974). ``spacing`` is the distance (m) between neighbouring vertices.
    """
    parts = _parts(skin)
    rows, columns = len(bones), len(bones[0])
    fine_rows, fine_columns = (rows - 1) * parts + 1, (columns - 1) * parts + 1
    if fine_rows * fine_columns > MOST_VERTICES:
        raise skin.origin.error(f"the skin would have more than {MOST_VERTICES} vertices a side", "subgrid")
    moved = [bone for row in bones for bone in row]
    _set_influences(moved, rows, columns, parts)
    i, j = (at.ravel() for at in np.indices((fine_rows, fine_columns)))
    texcoords = np.stack((i / (fine_rows - 1), j / (fine_columns - 1)), axis=1)
    vertices = np.stack((spacing * i, spacing * j, np.zeros(len(i))), axis=1)
    faces = _sheet_faces(fine_rows, fine_columns)
    add_skin(composite, skin, moved, faces, 2 * len(i), np.tile(texcoords, (2, 1)), np.tile(vertices, (2, 1)))


def _sheet_faces(rows: int, columns: int) -> np.ndarray:
    """Return the triangles of a sheet: front, back and rims. The back's vertices are numbered after the front's."""
    back = rows * columns
    front = grid_elements((rows, columns, 1), 2)
    first, last = np.arange(rows - 1) * columns, np.arange(columns - 1)
    end = (rows - 1) * columns
    rims = (
        _rim(first, first + columns, back, reverse=True),
        _rim(first + columns - 1, first + 2 * columns - 1, back, reverse=False),
        _rim(last, last + 1, back, reverse=False),
        _rim(end + last, end + last + 1, back, reverse=True),
    )
    return np.concatenate((front, front[:, [0, 2, 1]] + back, *rims))


def _rim(a: np.ndarray, b: np.ndarray, back: int, reverse: bool) -> np.ndarray:
    """Return triangles that join edges of the front, from vertices ``a`` to ``b``, to the same edges of the back.

    ``back`` is the number of vertices of the front. Each edge has two triangles. ``reverse`` swaps their orientation.
    """
    far = b + back
    corners = (a, far, b, a, a + back, far) if reverse else (a, b, far, a, far, a + back)
    return np.stack(corners, axis=1).reshape(-1, 3)


def _set_influences(moved: list[Bone], rows: int, columns: int, parts: int) -> None:
    """Set the vertices and weights of all bones of a sheet. Front and back have equal weights."""
    row, column, i, j = _fine_vertices(rows, columns, parts)
    fine_columns = (columns - 1) * parts + 1
    vertex = (row * parts + i) * fine_columns + column * parts + j
    # vertices of the same kind have equal weights, for bones at equal offsets
    kinds = ((_ends(row, rows) * 8 + _ends(column, columns)) * (parts + 1) + i) * (parts + 1) + j
    _, example, kind = np.unique(kinds, return_index=True, return_inverse=True)
    step = 1.0 / parts
    shares = _hermite(i[example] * step, j[example] * step)
    weights = _cell_weights(row[example], column[example], rows, columns, shares)
    around = np.arange(-1, _REACH - 1)
    # small integers are sorted in linear time; numbers of points outside the sheet may wrap
    small = np.min_scalar_type(rows * columns)
    beside = (around[:, None] * columns + around).ravel().astype(small)
    bones = (row * columns + column).astype(small)[:, None] + beside
    every = weights[kind]
    places = np.flatnonzero(every)
    bone = bones.ravel()[places]
    places = places[np.argsort(bone, kind="stable")]
    moved_front = vertex.astype(np.int32)[places >> _BITS]
    back = ((rows - 1) * parts + 1) * fine_columns  # vertices of the back follow those of the front
    vertices = _flat("i", np.stack((moved_front, moved_front + back), axis=1))
    shared = _flat("d", np.repeat(every.ravel()[places], 2))
    ends = (2 * np.cumsum(np.bincount(bone, minlength=rows * columns))).tolist()
    for one, start, end in zip(moved, [0, *ends[:-1]], ends, strict=True):
        one.vertices, one.weights = vertices[start:end], shared[start:end]


def _ends(at: np.ndarray, count: int) -> np.ndarray:
    """Encode which of the points ``at`` and ``at`` + 1 are ends of a line. The slopes there depend on the code."""
    return (at == 0) * 4 + (at == count - 1) * 2 + (at == count - 2)


def _fine_vertices(rows: int, columns: int, parts: int) -> tuple[np.ndarray, ...]:
    """Return four indices of each vertex of a side: row and column of its cell, row and column within the cell.

    Each vertex belongs to one cell. The far edges of a cell belong to the next cells, except in the last row and in the
    last column.
    """
    if parts == 1:
        row, column = (at.ravel() for at in np.indices((rows, columns)))
        return row, column, np.zeros_like(row), np.zeros_like(row)
    grid = np.indices((rows - 1, columns - 1, parts + 1, parts + 1)).reshape(4, -1)
    row, column, i, j = grid
    own = ((i < parts) | (row == rows - 2)) & ((j < parts) | (column == columns - 2))
    return tuple(grid[:, own])


def _hermite(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Return factors of the values, the slopes along rows and columns, and the twists at a cell's corners (16, n).

    The factors are evaluated at n points (x, y) of the cell, as sums over the monomials x^i y^j, in order. Terms that
    cancel except for rounding, as at 1, remain as small weights, as in the reference.
    """
    along, across = (np.ones_like(x), x, x * x, x * x * x), (np.ones_like(y), y, y * y, y * y * y)
    shares = np.zeros((len(_SHARES), len(x)))
    for i, j in _MONOMIALS:
        shares += _FACTORS[i, j][:, None] * (along[i] * across[j])
    return shares


def _cell_weights(row: np.ndarray, column: np.ndarray, rows: int, columns: int, shares: np.ndarray) -> np.ndarray:
    """Return weights of the 16 bones around each of n cells (n, 16).

    The cell has its first corner at ``row`` and ``column``. Its bones are at the offsets -1 to 2 from this corner along
    rows and columns. ``shares`` are the factors from `_hermite`.
    """
    weights = np.zeros((len(row), _REACH, _REACH))
    along = [_value_or_slope(row, rows, which)[:, :, None] for which in range(4)]
    across = [_value_or_slope(column, columns, which)[:, None, :] for which in range(4)]
    for (u, v), share in zip(_SHARES, shares, strict=True):
        if share.any():
            weights += share[:, None, None] * (along[u] * across[v])
    return weights.reshape(len(row), -1)


def _value_or_slope(first: np.ndarray, count: int, which: int) -> np.ndarray:
    """Return the weights of four consecutive points of a line in an interpolated value or slope (n, 4).

    Slopes are central differences, one-sided at the ends. The line has ``count`` points. The four points begin one
    before ``first``, the first point of a cell. ``which`` selects the result, as in `_CUBICS`: 0 or 1: value at the
    cell's first or second point; 2 or 3: slope there.
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
