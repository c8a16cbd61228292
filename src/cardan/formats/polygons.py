"""Cutting polygons into triangles: fans for convex ones, else ear by ear.

An ear is a corner whose triangle with its neighbours lies within the polygon. A simple polygon has at least two of
them (G. H. Meisters, Polygons have ears, American Mathematical Monthly 82, 1975), so that they can be cut off until a
triangle is left. The search goes round the polygon and stays where an ear was found.
"""

from __future__ import annotations

from math import pi

import numpy as np

from cardan.formats.raw import MeshDataError

Point = tuple[np.float32, np.float32]

STRAIGHT = 1e-5
"""A corner that turns by less may be none, rad."""
LARGEST = 1000
"""Corners of a polygon that is cut ear by ear, which takes time with their square."""


def triangulate(vertex: np.ndarray, size: np.ndarray, corner: np.ndarray) -> np.ndarray:
    """Triangles of polygons, as places in the list of their corners: (n, 3).

    What is left of a polygon that crosses itself, when there is no ear any more, is dropped.

    Args:
        vertex: points, float32 (nvertex, 3).
        size: number of corners of each polygon, at least 3.
        corner: vertices of the corners of all polygons, one polygon after the other.

    Raises:
        MeshDataError: a polygon has too many corners.
    """
    start = np.cumsum(size) - size
    triangles = size - 2
    owner = np.repeat(np.arange(len(size)), triangles)
    step = np.arange(triangles.sum()) - np.repeat(np.cumsum(triangles) - triangles, triangles)
    first = start[owner]
    fans = np.stack([first, first + step + 1, first + step + 2], axis=1)
    many = np.flatnonzero(size > 3)
    if not len(many):
        return fans
    others = many[~_are_convex(vertex, size[many], start[many], corner)]
    if not len(others):
        return fans
    if size[others].max() > LARGEST:
        raise MeshDataError(
            f"a polygon that is not convex has {size[others].max()} corners; at most {LARGEST} can be cut"
        )
    pieces = [fans[: np.searchsorted(owner, others[0])]]
    for polygon, after in zip(others, [*others[1:], len(size)], strict=True):
        points = vertex[corner[start[polygon] : start[polygon] + size[polygon]]].astype(np.float64)
        with np.errstate(over="ignore", invalid="ignore"):
            pieces.append(start[polygon] + np.array(_cut_ears(_flattened(points)), int).reshape(-1, 3))
        pieces.append(fans[np.searchsorted(owner, polygon + 1) : np.searchsorted(owner, after)])
    return np.concatenate(pieces)


def _are_convex(vertex: np.ndarray, size: np.ndarray, start: np.ndarray, corner: np.ndarray) -> np.ndarray:
    """Whether polygons turn to the same side at all of their corners, and only once around."""
    owner = np.repeat(np.arange(len(size)), size)
    begin = np.cumsum(size) - size
    number = np.arange(len(owner)) - begin[owner]

    def points(offset: int) -> np.ndarray:
        """The corner that comes so many places later, of each corner."""
        return vertex[corner[start[owner] + (number + offset) % size[owner]]].astype(np.float64)

    along, next_along = points(1) - points(0), points(2) - points(1)
    turn = np.cross(along, next_along)
    normal = np.add.reduceat(np.cross(points(0) - points(0)[begin][owner], along), begin)[owner]
    sine = (turn * normal).sum(axis=1)
    cosine = (along * next_along).sum(axis=1) * np.sqrt((normal * normal).sum(axis=1))
    angle = np.arctan2(sine, cosine)
    return (np.minimum.reduceat(angle, begin) > STRAIGHT) & (np.add.reduceat(angle, begin) < 3.0 * pi)


def _flattened(points: np.ndarray) -> list[Point]:
    """The corners, in single precision, seen along the axis that is closest to the normal of the first real corner."""
    along = np.roll(points, -1, axis=0) - points
    normal = np.abs(np.cross(along, np.roll(along, -1, axis=0)))
    real = np.flatnonzero(normal.max(axis=1) > np.finfo(np.float32).eps)
    dropped = int(np.argmax(normal[real[0]])) if len(real) else 0
    first, second = (k for k in range(3) if k != dropped)
    return [(x, y) for x, y in points[:, [first, second]].astype(np.float32)]


def _cut_ears(points: list[Point]) -> list[tuple[int, int, int]]:
    """Triangles of a polygon in the plane."""
    left = list(range(len(points)))
    ends = zip(points, [*points[1:], points[0]], strict=True)
    area = sum((a[0] * b[1] - a[1] * b[0] for a, b in ends), np.float32(0.0))
    found: list[tuple[int, int, int]] = []
    at = failed = 0
    while len(left) > 3 and failed < len(left):
        at %= len(left)
        around = [*left[at:], *left[:at]]
        if _is_ear(points, around, area):
            found.append((around[0], around[1], around[2]))
            left.remove(around[1])
            failed = 0
        else:
            at += 1
            failed += 1
    if len(left) == 3:
        found.append((left[0], left[1], left[2]))
    return found


def _is_ear(points: list[Point], around: list[int], area: np.float32) -> bool:
    """Whether the second corner of a polygon is an ear; ``area`` has the sign of the polygon's sense of rotation."""
    a, b, c = (points[k] for k in around[:3])
    turn = (b[0] - a[0]) * (c[1] - b[1]) - (b[1] - a[1]) * (c[0] - b[0])
    return bool(turn * area >= 0.0) and not any(_contains((a, b, c), points[k]) for k in around[3:])


def _contains(triangle: tuple[Point, Point, Point], point: Point) -> bool:
    """Whether a ray from the point in the direction of x crosses the outline an odd number of times."""
    inside = False
    b = triangle[2]
    for a in triangle:
        if (a[1] > point[1]) != (b[1] > point[1]):
            inside ^= bool(point[0] < (b[0] - a[0]) * (point[1] - a[1]) / (b[1] - a[1]) + a[0])
        b = a
    return inside
