"""Bounding volume hierarchy over the faces of a mesh or the elements of a flex: a binary tree of boxes.

The *parts* of a tree are these faces or elements. A node is split at the median of its parts' centres along the longest
side of its box. Parts whose centres agree to 1e-14 keep their order. The parts are sorted once along each axis. A split
divides the three sorted lists and preserves the order within each, so that no node needs to be sorted again.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from cardan.jit import Field, Struct, StructMemory, kernel
from cardan.jit.driver.program import call, native_over

_FLAT = 1e-14  # shorter sides are widened by this on both sides
_SAME = 1e-14  # centres that differ by at most this count as equal
_FEW = 64  # up to this many parts are sorted by insertion
_BITS = 11
_DIGITS = 1 << _BITS  # number of values of a digit

PARTS = Struct(
    "Parts",
    [
        Field("low", "f8", ("any", 3), "low corners of the parts' boxes"),
        Field("high", "f8", ("any", 3), "high corners"),
        Field("sorted", "i4", ("any",), "parts in the order of their centres along x, then along y, then along z"),
        Field("side", "i4", ("any",), "half of its node (0 or 1) that contains each part"),
        Field("room", "i4", ("any",), "scratch: parts in their new order while a list is sorted or divided"),
        Field("first", "i4", ("any",), "index in the sorted lists of the first part of each node"),
        Field("number", "i4", ("any",), "number of parts of each node"),
        Field("centre", "f8", ("any", 3), "points that determine on which side of a split a part is"),
        Field("key", "i8", ("any", 3), "sort keys of these coordinates (`_keys`)"),
        Field("count", "i4", ("any",), "scratch: number of keys with each digit, then start of each group"),
    ],
    readonly=False,
)

TREE = Struct(
    "BoxTree",
    [
        Field("depth", "i4", ("any",), "distance from the root"),
        Field("child", "i4", ("any", 2), "children, -1 at leaves"),
        Field("nodeid", "i4", ("any",), "part of a leaf, -1 at inner nodes"),
        Field("aabb", "f8", ("any", 6), "centre and half sides"),
    ],
    readonly=False,
)


class BoxTree(NamedTuple):
    """A tree of boxes: one row for each node, depth first, with the root in row 0."""

    depth: np.ndarray
    child: np.ndarray
    nodeid: np.ndarray
    aabb: np.ndarray


def box_tree(low: np.ndarray, high: np.ndarray, centre: np.ndarray) -> BoxTree:
    """Build the tree over n >= 1 parts from the corners `low` and `high` (n, 3) of their boxes.

    `centre` (n, 3) contains one point per part. A split assigns parts to its sides according to these points.
    """
    n = len(low)
    count = 2 * n - 1
    parts, memory = StructMemory(PARTS, {}), StructMemory(TREE, {})
    for name, array in (("low", low), ("high", high), ("centre", centre), ("key", _keys(centre))):
        parts.attach(name, array)
    parts.attach_new({"sorted": 3 * n, "side": n, "room": n, "first": count, "number": count})
    parts.attach_new({"count": max(n, _DIGITS)})
    tree = BoxTree(
        np.zeros(count, np.int32), np.full((count, 2), -1, np.int32), np.full(count, -1, np.int32), np.zeros((count, 6))
    )
    for name, array in tree._asdict().items():
        memory.attach(name, array)
    call(grow_box_tree, parts, memory, n)
    return tree


def _keys(values: np.ndarray) -> np.ndarray:
    """Return the sort key of each number for `_sort_by_digits`: an integer that increases with the number.

    The key is the number's bit pattern; for a negative number, all bits except the sign are flipped.
    """
    bits = (np.ascontiguousarray(values, np.float64) + 0.0).view(np.int64)  # no -0
    return bits ^ ((bits >> 63) & np.int64(2**63 - 1))


@kernel
def _sort_by_insertion(p: Any, axis: int, n: int) -> None:
    """Sort the parts along an axis by insertion, which is faster than `_sort_by_digits` for few parts."""
    first = axis * n
    for i in range(1, n):
        part = p.sorted[first + i]
        at = i
        while at > 0 and p.key[p.sorted[first + at - 1], axis] > p.key[part, axis]:
            p.sorted[first + at] = p.sorted[first + at - 1]
            at -= 1
        p.sorted[first + at] = part


@kernel
def _sort_by_digits(p: Any, axis: int, n: int) -> None:
    """Sort the parts by their centres along an axis; parts with equal centres keep their order.

    This is a radix sort, lowest digit first (D. Knuth, The Art of Computer Programming 3, section 5.2.5).
    """
    first = axis * n
    for i in range(n):
        p.sorted[first + i] = i
    if n <= _FEW:
        _sort_by_insertion(p, axis, n)
        return
    for shift in range(0, 64, _BITS):
        half = _DIGITS // 2 if shift + _BITS >= 64 else 0  # the highest digit contains the sign
        for digit in range(_DIGITS):
            p.count[digit] = 0
        for i in range(n):
            p.count[((p.key[i, axis] >> shift) + half) & (_DIGITS - 1)] += 1
        if p.count[((p.key[0, axis] >> shift) + half) & (_DIGITS - 1)] == n:
            continue
        start = 0
        for digit in range(_DIGITS):
            number = p.count[digit]
            p.count[digit] = start
            start += number
        for i in range(n):
            part = p.sorted[first + i]
            digit = ((p.key[part, axis] >> shift) + half) & (_DIGITS - 1)
            p.room[p.count[digit]] = part
            p.count[digit] += 1
        for i in range(n):
            p.sorted[first + i] = p.room[i]


@kernel
def _restore_order(p: Any, axis: int, n: int) -> None:
    """Restore the original order of parts that are consecutive in the sorted list and whose centres agree to 1e-14."""
    first = axis * n
    group = 0
    for i in range(n):
        part = p.sorted[first + i]
        if i == 0 or not p.centre[part, axis] - p.centre[p.sorted[first + i - 1], axis] <= _SAME:
            p.count[group] = i
            group += 1
        p.side[part] = group - 1
    for part in range(n):
        place = p.count[p.side[part]]
        p.count[p.side[part]] += 1
        p.sorted[first + place] = part


@kernel
def _put_box(p: Any, t: Any, node: int) -> int:
    """Compute the box of a node; return the axis of its longest side (the first axis if sides agree to 1e-14)."""
    start = p.first[node]
    longest = 0.0
    for axis in range(3):
        low, high = p.low[p.sorted[start], axis], p.high[p.sorted[start], axis]
        for k in range(start + 1, start + p.number[node]):
            low = min(low, p.low[p.sorted[k], axis])
            high = max(high, p.high[p.sorted[k], axis])
        if high - low < _FLAT:
            low, high = low - _FLAT, high + _FLAT
        t.aabb[node, axis] = 0.5 * (low + high)
        t.aabb[node, 3 + axis] = 0.5 * (high - low)
        longest = max(longest, t.aabb[node, 3 + axis])
    for axis in range(3):
        if t.aabb[node, 3 + axis] >= longest - _SAME:
            return axis
    return 0


@kernel
def _divide(p: Any, first: int, start: int, number: int) -> None:
    """Reorder a node's section of a sorted list, so that parts of the first child precede parts of the second child."""
    at = first + start
    rest = 0
    for k in range(first + start, first + start + number):
        part = p.sorted[k]
        if p.side[part] == 0:
            p.sorted[at] = part
            at += 1
        else:
            p.room[rest] = part
            rest += 1
    for k in range(rest):
        p.sorted[at + k] = p.room[k]


@native_over("Parts", "BoxTree")
def grow_box_tree(p: Any, t: Any, n: int, _unused: int) -> int:
    """Build the tree `t` over `n` parts: nodes depth first, each before its children. Return 0."""
    for axis in range(3):
        _sort_by_digits(p, axis, n)
        _restore_order(p, axis, n)
    p.first[0] = 0
    p.number[0] = n
    for node in range(2 * n - 1):
        axis = _put_box(p, t, node)
        start, number = p.first[node], p.number[node]
        if number == 1:
            t.nodeid[node] = p.sorted[start]
            continue
        # a tree over n parts has 2n - 1 nodes
        half = number // 2
        left, right = node + 1, node + 2 * half
        for k in range(start, start + number):
            p.side[p.sorted[axis * n + k]] = 0 if k < start + half else 1
        for other in range(3):
            if other != axis:
                _divide(p, other * n, start, number)
        t.child[node, 0] = left
        t.child[node, 1] = right
        t.depth[left] = t.depth[node] + 1
        t.depth[right] = t.depth[node] + 1
        p.first[left] = start
        p.number[left] = half
        p.first[right] = start + half
        p.number[right] = number - half
    return 0
