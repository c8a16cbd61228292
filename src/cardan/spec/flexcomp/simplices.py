"""Segments, triangles and tetrahedra: numbering of their edges, orientation."""

from __future__ import annotations

import numpy as np

# pairs of places in an element, by dimension, in the order in which edges are numbered
_EDGES: dict[int, tuple[tuple[int, int], ...]] = {
    1: ((0, 1),),
    2: ((1, 2), (2, 0), (0, 1)),
    3: ((0, 1), (1, 2), (2, 0), (2, 3), (0, 3), (1, 3)),
}


def edges_of(elem: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Edges of elements (nelem, dim + 1), in the order in which the elements name them.

    Returns:
        vertices of the edges, the lower one first (nedge, 2), and the edges of each element (nelem, edges of one).
    """
    places = _EDGES[elem.shape[1] - 1]
    pairs = np.sort(elem[:, places].reshape(-1, 2), axis=1).astype(np.int64)
    key = pairs[:, 0] * (int(elem.max()) + 1) + pairs[:, 1]
    _, first, inverse = np.unique(key, return_index=True, return_inverse=True)
    order = np.argsort(first)
    number = np.empty(len(order), np.int32)
    number[order] = np.arange(len(order), dtype=np.int32)
    return pairs[first[order]].astype(np.int32), number[inverse].reshape(len(elem), len(places))


def oriented(elem: np.ndarray, point: np.ndarray) -> np.ndarray:
    """Tetrahedra (nelem, 4), two vertices exchanged where the volume, by the order of the vertices, is positive."""
    corner = point[elem]
    side = corner[:, 1:] - corner[:, :1]
    inverted = (np.cross(side[:, 0], side[:, 1]) * side[:, 2]).sum(axis=1) > 0.0
    elem = elem.copy()
    elem[inverted, 1:3] = elem[inverted, 2:0:-1]
    return elem
