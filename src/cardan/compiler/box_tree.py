"""Bounding volume hierarchy over the faces of a mesh or the elements of a flex: a binary tree of boxes.

A node is split at the median of its parts' centres along the longest side of its box; among centres that agree to
1e-14 the order of the parts holds. All nodes of a level are split at once.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

_FLAT = 1e-14  # sides below this are widened by it on both sides
_SAME = 1e-14  # centres that differ by no more count as equal


class BoxTree(NamedTuple):
    """Nodes depth first, root at 0: depth, children (-1 at leaves), part (-1 inside), box (centre, half sides)."""

    depth: np.ndarray
    child: np.ndarray
    nodeid: np.ndarray
    aabb: np.ndarray


def box_tree(corner: np.ndarray, centre: np.ndarray) -> BoxTree:
    """The tree over all parts, at least one.

    Args:
        corner: corners of the parts (n, corners of one, 3).
        centre: the points that decide on which side of a cut a part comes (n, 3).
    """
    bounds = np.concatenate([corner.min(axis=1), -corner.max(axis=1)], axis=1)
    by_rank, rank = _ranks(centre)
    count = 2 * len(corner) - 1
    tree = BoxTree(
        np.zeros(count, np.int32), np.full((count, 2), -1, np.int32), np.full(count, -1, np.int32), np.zeros((count, 6))
    )
    # the parts of a node stand side by side in `order`
    order = np.arange(len(corner))
    node, start, size = np.array([0]), np.array([0]), np.array([len(corner)])
    depth = 0
    while len(node):
        low, high = _boxes(bounds.take(order, axis=0), start)
        half = 0.5 * (high - low)
        tree.depth[node] = depth
        tree.aabb[node] = np.concatenate([0.5 * (low + high), half], axis=1)
        leaf = size == 1
        tree.nodeid[node[leaf]] = order[start[leaf]]
        # go on with the nodes of several parts, closed up
        keep = ~leaf
        order = order[np.repeat(keep, size)]
        node, size, half = node[keep], size[keep], half[keep]
        if not len(node):
            break
        # sort by node and rank at once; the tables are those of the three axes one after the other
        table = np.repeat(_longest(half) * len(corner), size)
        owner = np.repeat(np.arange(0, len(node) * len(corner), len(corner)), size)
        sort_key = rank.take(table + order) + owner
        sort_key.sort()
        order = by_rank.take(sort_key - owner + table)
        node, size = _split(tree, node, size)
        start = np.cumsum(size) - size
        depth += 1
    return tree


def _boxes(bounds: np.ndarray, start: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Corners of the boxes around runs of parts; ``bounds`` are low corners and negated high ones."""
    box = np.minimum.reduceat(bounds, start).astype(np.float64)
    low, high = box[:, :3], -box[:, 3:]
    margin = np.where(high - low < _FLAT, _FLAT, 0.0)
    return low - margin, high + margin


def _longest(half: np.ndarray) -> np.ndarray:
    """Axis of the longest side of each box, the first of those that agree to 1e-14."""
    return np.argmax(half >= half.max(axis=1, keepdims=True) - _SAME, axis=1)


def _ranks(centre: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """For each axis the parts in the order of their centres, and the ranks of the parts: (3, m) each."""
    by_rank = np.argsort(centre.T, axis=1, kind="stable")
    rank = np.empty_like(by_rank)
    for axis in range(3):
        order = by_rank[axis]
        group = np.cumsum(np.diff(centre[order, axis], prepend=-np.inf) > _SAME)
        by_rank[axis] = order = order[np.lexsort((order, group))]
        rank[axis, order] = np.arange(len(order))
    return by_rank, rank


def _split(tree: BoxTree, node: np.ndarray, size: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Halve nodes; the children's numbers follow from the sizes, since a tree over n parts has 2n - 1 nodes."""
    left_size = size // 2
    left = node + 1
    right = left + 2 * left_size - 1
    tree.child[node] = np.stack([left, right], axis=1)
    return np.stack([left, right], axis=1).ravel(), np.stack([left_size, size - left_size], axis=1).ravel()
