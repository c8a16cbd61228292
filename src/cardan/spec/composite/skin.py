"""Skins of composite objects: sheets with two sides, smoothed between the bodies, and closed shells.

All vertices stand at the origins of bones, which are bodies, so that the skin goes through the bodies' centres (spec:
modeling, "Composite objects").
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np

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

    vertices: Sequence[int]
    weights: Sequence[float]


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
    i, j = (at.ravel() for at in np.indices((fine_rows, fine_columns)))
    texcoords = np.stack((i / (fine_rows - 1), j / (fine_columns - 1)), axis=1).tolist()
    vertices = np.stack((spacing * i, spacing * j, np.zeros(len(i))), axis=1).ravel().tolist()
    moved = list(zip((bone for row in bones for bone in row), influences, strict=True))
    faces = sheet_faces(fine_rows, fine_columns)
    add_skin(composite, skin, moved, faces, 2 * len(i), texcoords * 2, vertices * 2)


def sheet_faces(rows: int, columns: int) -> list[Face]:
    """Triangles of a grid's front, its back, and the rims between them; the back's vertices follow the front's."""
    back = rows * columns
    i, j = (at.ravel() for at in np.indices((rows - 1, columns - 1)))
    a = i * columns + j
    front = _squares(a, a + columns, a + columns + 1, a + 1)
    first, last = np.arange(rows - 1) * columns, np.arange(columns - 1)
    end = (rows - 1) * columns
    rims = (
        _rim(first, first + columns, back, reverse=True),
        _rim(first + columns - 1, first + 2 * columns - 1, back, reverse=False),
        _rim(last, last + 1, back, reverse=False),
        _rim(end + last, end + last + 1, back, reverse=True),
    )
    return list(map(tuple, np.concatenate((front, front[:, [0, 2, 1]] + back, *rims)).tolist()))


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
    step = 1.0 / parts
    shares = {(i, j): _hermite(i * step, j * step) for i in range(parts + 1) for j in range(parts + 1)}
    row, column, i, j = _fine_vertices(rows, columns, parts)
    first, fine_columns = row * columns + column, (columns - 1) * parts + 1
    vertex = (row * parts + i) * fine_columns + column * parts + j
    # cells alike have the same weights, of bones at the same distances
    kinds = ((_ends(row, rows) * 8 + _ends(column, columns)) * (parts + 1) + i) * (parts + 1) + j
    _, example, kind = np.unique(kinds, return_index=True, return_inverse=True)
    found = []  # bone, vertex in the order of cells, weight
    for number, at in enumerate(example):
        weights = _cell_weights(int(row[at]), int(column[at]), rows, columns, shares[int(i[at]), int(j[at])])
        alike = np.flatnonzero(kind == number)
        for bone, weight in weights.items():
            if weight != 0.0:
                found.append((first[alike] + (bone - first[at]), alike, np.full(len(alike), weight)))
    bone, place, weight = (np.concatenate(part) for part in zip(*found, strict=True))
    order = np.lexsort((place, bone))
    moved = np.repeat(vertex[place[order]], 2)
    moved[1::2] += ((rows - 1) * parts + 1) * fine_columns  # those of the back
    ends = 2 * np.cumsum(np.bincount(bone, minlength=rows * columns))
    vertices, weights = moved.tolist(), np.repeat(weight[order], 2).tolist()
    return [
        Influence(vertices[start:end], weights[start:end])
        for start, end in zip([0, *ends[:-1].tolist()], ends.tolist(), strict=True)
    ]


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
