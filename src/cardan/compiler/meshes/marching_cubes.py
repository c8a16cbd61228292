"""Triangles on the zero level of a function on a regular grid, by marching cubes.

Where the triangles of a cube go follows from which of its corners lie inside: on each side of the cube, the crossings
of its edges are joined, corners inside being kept apart where both ways are possible; the joints make loops around the
cube, which are cut into triangles. The table of all 256 cases is made from this rule.

Source: W. E. Lorensen, H. E. Cline, Marching cubes (1987).
"""

from __future__ import annotations

from functools import cache

import numpy as np

_CORNERS = np.array([(k & 1, k >> 1 & 1, k >> 2 & 1) for k in range(8)])
# the corners of each side of the cube, counter-clockwise seen from outside
_SIDES = ((0, 4, 6, 2), (1, 3, 7, 5), (0, 1, 5, 4), (2, 6, 7, 3), (0, 2, 3, 1), (4, 5, 7, 6))
_EDGES = tuple((a, a | bit) for bit in (1, 2, 4) for a in range(8) if not a & bit)


def _edge(a: int, b: int) -> int:
    return _EDGES.index((min(a, b), max(a, b)))


def _joints(inside: list[bool]) -> dict[int, int]:
    """The crossing that follows each crossing on the surface, round the corners inside."""
    following = {}
    for side in _SIDES:
        for k in range(4):
            # the boundary enters at an edge from inside to outside, and leaves where the run of inside corners began
            if inside[side[k]] and not inside[side[(k + 1) % 4]]:
                start = k
                while inside[side[start - 1]]:
                    start -= 1
                following[_edge(side[k], side[(k + 1) % 4])] = _edge(side[start], side[start - 1])
    return following


@cache
def _triangles(case: int) -> tuple[tuple[int, int, int], ...]:
    """Triangles of a case, by the edges on which their corners lie; their normals point outside."""
    following = _joints([bool(case >> k & 1) for k in range(8)])
    triangles = []
    while following:
        first, second = following.popitem()
        loop = [first]
        while second != first:
            loop.append(second)
            second = following.pop(second)
        triangles += [(loop[0], loop[k], loop[k + 1]) for k in range(1, len(loop) - 1)]
    return tuple(triangles)


def marching_cubes(values: np.ndarray, low: np.ndarray, spacing: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Vertices (n, 3) and triangles (k, 3) of the level 0, interpolated along the edges of the grid.

    Args:
        values: (nx, ny, nz) function values; inside is where they are negative.
        low: the point of values[0, 0, 0].
        spacing: distance of neighbours along the axes.
    """
    inside = values < 0.0
    shape = np.array(values.shape)
    case = np.zeros(shape - 1, np.uint8)
    for k, (i, j, l) in enumerate(_CORNERS):
        case |= inside[i : shape[0] - 1 + i, j : shape[1] - 1 + j, l : shape[2] - 1 + l].astype(np.uint8) << k
    cells = np.argwhere((case > 0) & (case < 255))
    kinds = case[tuple(cells.T)]
    corners = []
    for kind in np.unique(kinds):
        here = cells[kinds == kind]
        for triangle in _triangles(int(kind)):
            corners.append(np.stack([_edge_key(here, edge, shape) for edge in triangle], axis=1))
    if not corners:
        return np.empty((0, 3)), np.empty((0, 3), np.int64)
    keys, face = np.unique(np.concatenate(corners), return_inverse=True)
    return _crossings(values, keys, low, spacing), face.reshape(-1, 3)


def _edge_key(cells: np.ndarray, edge: int, shape: np.ndarray) -> np.ndarray:
    """A number for an edge of each cell, the same for all cells that share it: lower end, slowest along z; axis."""
    start, end = _EDGES[edge]
    x, y, z = (cells + _CORNERS[start]).T
    axis = int(np.log2(end - start))
    return ((z * shape[1] + y) * shape[0] + x) * 3 + axis


def _crossings(values: np.ndarray, keys: np.ndarray, low: np.ndarray, spacing: np.ndarray) -> np.ndarray:
    """Where the values are 0 on edges, by linear interpolation."""
    nx, ny, _ = values.shape
    node, axis = np.divmod(keys, 3)
    x, y, z = node % nx, node // nx % ny, node // (nx * ny)
    start = np.stack([x, y, z], axis=1)
    end = start + np.eye(3, dtype=np.int64)[axis]
    first, second = values[tuple(start.T)], values[tuple(end.T)]
    share = (first / (first - second))[:, None]
    return low + spacing * (start + share * (end - start))
