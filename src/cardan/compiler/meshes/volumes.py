"""Bounding volume hierarchy over the faces of a mesh: a binary tree of boxes along the mesh's axes.

A node is split at the median of its faces' circumcentres along the longest side of its box; among centres that agree to
1e-14 the order of the faces holds. All nodes of a level are split at once.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

_FLAT = 1e-14  # sides below this are widened by it on both sides
_SAME = 1e-14  # centres that differ by no more count as equal


class FaceTree(NamedTuple):
    """Nodes depth first, root at 0: depth, children (-1 at leaves), face (-1 inside), box (centre, half sides)."""

    depth: np.ndarray
    child: np.ndarray
    nodeid: np.ndarray
    aabb: np.ndarray


def face_tree(vertex: np.ndarray, face: np.ndarray) -> FaceTree:
    """The tree over all faces; ``vertex`` float32 (n, 3), ``face`` (m, 3)."""
    corner = vertex[face]
    bounds = np.concatenate([corner.min(axis=1), -corner.max(axis=1)], axis=1)
    by_rank, rank = _ranks(_circumcentres(corner))
    count = 2 * len(face) - 1
    tree = FaceTree(
        np.zeros(count, np.int32), np.full((count, 2), -1, np.int32), np.full(count, -1, np.int32), np.zeros((count, 6))
    )
    # the faces of a node stand side by side in `order`
    order = np.arange(len(face))
    node, start, size = np.array([0]), np.array([0]), np.array([len(face)])
    depth = 0
    while len(node):
        low, high = _boxes(bounds.take(order, axis=0), start)
        half = 0.5 * (high - low)
        tree.depth[node] = depth
        tree.aabb[node] = np.concatenate([0.5 * (low + high), half], axis=1)
        leaf = size == 1
        tree.nodeid[node[leaf]] = order[start[leaf]]
        # go on with the nodes of several faces, closed up
        keep = ~leaf
        order = order[np.repeat(keep, size)]
        node, size, half = node[keep], size[keep], half[keep]
        if not len(node):
            break
        # sort by node and rank at once; the tables are those of the three axes one after the other
        table = np.repeat(np.argmax(half, axis=1) * len(face), size)
        owner = np.repeat(np.arange(0, len(node) * len(face), len(face)), size)
        sort_key = rank.take(table + order) + owner
        sort_key.sort()
        order = by_rank.take(sort_key - owner + table)
        node, size = _split(tree, node, size)
        start = np.cumsum(size) - size
        depth += 1
    return tree


def _boxes(bounds: np.ndarray, start: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Corners of the boxes around runs of faces; ``bounds`` are low corners and negated high ones."""
    box = np.minimum.reduceat(bounds, start).astype(np.float64)
    low, high = box[:, :3], -box[:, 3:]
    margin = np.where(high - low < _FLAT, _FLAT, 0.0)
    return low - margin, high + margin


def _ranks(centre: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """For each axis the faces in the order of their centres, and the ranks of the faces: (3, m) each."""
    by_rank = np.argsort(centre.T, axis=1, kind="stable")
    rank = np.empty_like(by_rank)
    for axis in range(3):
        order = by_rank[axis]
        group = np.cumsum(np.diff(centre[order, axis], prepend=-np.inf) > _SAME)
        by_rank[axis] = order = order[np.lexsort((order, group))]
        rank[axis, order] = np.arange(len(order))
    return by_rank, rank


def _split(tree: FaceTree, node: np.ndarray, size: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Halve nodes; the children's numbers follow from the sizes, since a tree over n faces has 2n - 1 nodes."""
    left_size = size // 2
    left = node + 1
    right = left + 2 * left_size - 1
    tree.child[node] = np.stack([left, right], axis=1)
    return np.stack([left, right], axis=1).ravel(), np.stack([left_size, size - left_size], axis=1).ravel()


def _circumcentres(corner: np.ndarray) -> np.ndarray:
    """Centres of the circles through the corners (m, 3, 3) of triangles; the third corner of those without area.

    The sides are rounded to single precision, as in the reference.
    """
    origin = corner[:, 2]
    u, v = (corner[:, 0] - origin).astype(np.float64), (corner[:, 1] - origin).astype(np.float64)
    normal = np.cross(u, v)
    square = (normal * normal).sum(axis=1)
    square[square == 0.0] = np.inf
    uu, vv = (u * u).sum(axis=1)[:, None], (v * v).sum(axis=1)[:, None]
    return origin + np.cross(uu * v - vv * u, normal) / (2.0 * square)[:, None]
