"""Bounding volume hierarchy over the faces of a mesh: a binary tree of boxes along the mesh's axes.

A node is split at the median of its faces' circumcentres along the longest side of its box. All nodes of a level are
split at once.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

_FLAT = 1e-14  # half thickness of the box of a face that lies across an axis


class FaceTree(NamedTuple):
    """Nodes depth first, root at 0: depth, children (-1 at leaves), face (-1 inside), box (centre, half sides)."""

    depth: np.ndarray
    child: np.ndarray
    nodeid: np.ndarray
    aabb: np.ndarray


def face_tree(vertex: np.ndarray, face: np.ndarray) -> FaceTree:
    """The tree over all faces; ``vertex`` float32 (n, 3), ``face`` (m, 3)."""
    corner = vertex.astype(np.float64)[face]
    low, high = corner.min(axis=1), corner.max(axis=1)
    flat = high - low < _FLAT
    low, high = np.where(flat, low - _FLAT, low), np.where(flat, high + _FLAT, high)
    centre = _circumcentres(corner)
    count = 2 * len(face) - 1
    tree = FaceTree(
        np.zeros(count, np.int32), np.full((count, 2), -1, np.int32), np.full(count, -1, np.int32), np.zeros((count, 6))
    )
    # the faces of a node stand side by side in `order`
    order = np.arange(len(face))
    node, start, size = np.array([0]), np.array([0]), np.array([len(face)])
    depth = 0
    while len(node):
        node_low = np.minimum.reduceat(low[order], start)
        node_high = np.maximum.reduceat(high[order], start)
        half = 0.5 * (node_high - node_low)
        tree.depth[node] = depth
        tree.aabb[node] = np.concatenate([0.5 * (node_low + node_high), half], axis=1)
        leaf = size == 1
        tree.nodeid[node[leaf]] = order[start[leaf]]
        # go on with the nodes of several faces, closed up
        keep = ~leaf
        order = order[np.repeat(keep, size)]
        node, size, half = node[keep], size[keep], half[keep]
        if not len(node):
            break
        owner = np.repeat(np.arange(len(node)), size)
        key = centre[order, np.argmax(half, axis=1)[owner]]
        order = order[np.lexsort((key, owner))]
        node, size = _split(tree, node, size)
        start = np.cumsum(size) - size
        depth += 1
    return tree


def _split(tree: FaceTree, node: np.ndarray, size: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Halve nodes; the children's numbers follow from the sizes, since a tree over n faces has 2n - 1 nodes."""
    left_size = size // 2
    left = node + 1
    right = left + 2 * left_size - 1
    tree.child[node] = np.stack([left, right], axis=1)
    return np.stack([left, right], axis=1).ravel(), np.stack([left_size, size - left_size], axis=1).ravel()


def _circumcentres(corner: np.ndarray) -> np.ndarray:
    """Centres of the circles through the corners (m, 3, 3) of triangles; the first corner of those without area."""
    a = corner[:, 0]
    u, v = corner[:, 1] - a, corner[:, 2] - a
    normal = np.cross(u, v)
    square = (normal * normal).sum(axis=1)
    square[square == 0.0] = np.inf
    uu, vv = (u * u).sum(axis=1)[:, None], (v * v).sum(axis=1)[:, None]
    return a + np.cross(vv * u - uu * v, normal) * (-0.5 / square)[:, None]
