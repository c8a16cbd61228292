"""Triangulation of polygons by ear clipping; convex polygons become fans.

An ear is a corner whose triangle with its two neighbours is inside the polygon. A simple polygon with more than three
corners has at least two ears, so that ears can be cut off until a triangle is left (G. H. Meisters, Polygons have ears,
American Mathematical Monthly 82, 1975). The search for ears goes around the polygon and continues after each cut.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy import float32

from cardan.jit import Field, Struct, StructMemory, exact, kernel
from cardan.jit.driver.program import call, native_over

POLYGONS = Struct(
    "Polygons",
    [
        Field("corner", "f4", ("any", 2), "corners of all polygons, in the plane"),
        Field("left", "i4", ("any",), "remaining corners of a polygon"),
        Field("ear", "i4", ("any", 3), "corners of the triangles of each polygon, within it"),
    ],
    readonly=False,
)

LARGEST = 100
"""Largest number of corners of a polygon. As in MuJoCo, larger polygons are dropped."""


def triangulate(vertex: np.ndarray, size: np.ndarray, corner: np.ndarray, is_4_0: bool = False) -> np.ndarray:
    """Triangulate polygons; return the triangles as indices into the list of corners, (n, 3).

    If a polygon crosses itself and has no ear left, its remainder is dropped. Polygons with more than `LARGEST` corners
    are dropped entirely.

    Args:
        vertex: points, float32 (nvertex, 3).
        size: number of corners of each polygon, at least 3.
        corner: vertex index of each corner of all polygons, one polygon after the other.
        is_4_0: whether the shorter diagonal splits polygons with four corners, as in MuJoCo 4.0.
    """
    start = np.cumsum(size) - size
    owner = np.repeat(np.arange(len(size)), size - 2)
    first = start[owner]
    step = np.arange(len(owner)) - (first - 2 * owner)
    triangles = np.stack([first, first + step + 1, first + step + 2], axis=1)
    dropped = size[owner] > LARGEST
    for n in np.unique(size[(size > 3) & (size <= LARGEST)]).tolist():
        polygons = np.flatnonzero(size == n)
        places = start[polygons, None] + np.arange(n)
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            points = vertex[corner[places]]
            ears = _split(points) if is_4_0 and n == 4 else _cut_ears(_flattened(points))
        rows = (start - 2 * np.arange(len(size)))[polygons, None] + np.arange(n - 2)
        triangles[rows] = start[polygons, None, None] + ears
        dropped[rows] = ears[:, :, 0] < 0
    return triangles[~dropped]


def _flattened(points: np.ndarray) -> np.ndarray:
    """Project polygons (n, size, 3) along the coordinate axis closest to their normals; return points (n, size, 2).

    The normal is that of the first corner that is not straight. If several axes are equally close, use y, as in MuJoCo.
    If all corners are straight, use x.
    """
    along = np.roll(points, -1, axis=1) - points
    normal = np.abs(np.cross(along, np.roll(along, -1, axis=1)))
    real = normal.max(axis=2) > np.finfo(np.float32).eps
    of_corner = normal[np.arange(len(points)), real.argmax(axis=1)]
    largest = of_corner == of_corner.max(axis=1, keepdims=True)
    hidden = np.where(largest.sum(axis=1) == 1, largest.argmax(axis=1), 1)
    hidden[~real.any(axis=1)] = 0
    seen = np.array([[1, 2], [0, 2], [0, 1]])[hidden]
    return np.take_along_axis(points, seen[:, None, :], axis=2)


def _split(points: np.ndarray) -> np.ndarray:
    """Split quadrilaterals (n, 4, 3) along their shorter diagonals; return the corners of the triangles (n, 2, 3).

    If both diagonals are equally long, use the one from corner 1 to corner 3.
    """
    diagonals = points[:, 2:] - points[:, :2]
    first, second = (diagonals * diagonals).sum(axis=2).T
    return np.where((first < second)[:, None, None], [[0, 1, 2], [0, 2, 3]], [[0, 1, 3], [1, 2, 3]])


def _cut_ears(flat: np.ndarray) -> np.ndarray:
    """Triangulate plane polygons (n, size, 2). Return corners of triangles (n, size - 2, 3), -1 if dropped."""
    many, size = flat.shape[:2]
    found = np.full((many, size - 2, 3), -1, np.int32)
    memory = StructMemory(POLYGONS, {})
    memory.attach("corner", np.ascontiguousarray(flat.reshape(-1, 2)))
    memory.attach("left", np.empty(size, np.int32))
    memory.attach("ear", found.reshape(-1, 3))
    call(cut_all_ears, memory, memory, many, size)
    return found


@kernel
def _corner(p: Any, k: int) -> Any:
    """Return the coordinates of a corner in single precision, even if array elements are read in double precision."""
    return float32(p.corner[k, 0]), float32(p.corner[k, 1])


@kernel
def _turn(p: Any, a: int, b: int, c: int) -> Any:
    """Return the cross product of the vectors from corner a to b and from b to c: positive for a left turn at b."""
    (ax, ay), (bx, by), (cx, cy) = _corner(p, a), _corner(p, b), _corner(p, c)
    return (bx - ax) * (cy - by) - (by - ay) * (cx - bx)


@kernel
def _area(p: Any, start: int, size: int) -> Any:
    total = float32(0.0)
    for k in range(size):
        (ax, ay), (bx, by) = _corner(p, start + k), _corner(p, start + (k + 1) % size)
        total += ax * by - ay * bx
    return total


@kernel
def _is_crossed(p: Any, a: int, b: int, point: int) -> bool:
    """Return whether a ray from corner `point` in the +x direction crosses the side between corners `a` and `b`."""
    (ax, ay), (bx, by), (x, y) = _corner(p, a), _corner(p, b), _corner(p, point)
    if (ay > y) == (by > y):
        return False
    return x < (bx - ax) * (y - ay) / (by - ay) + ax


@kernel
def _is_ear(p: Any, start: int, count: int, at: int, area: float) -> bool:
    """Return whether the corner after position `at` of the remaining polygon is an ear.

    `count` is the number of remaining corners, and `area` has the sign of the polygon's area.
    """
    a, b, c = start + p.left[at], start + p.left[(at + 1) % count], start + p.left[(at + 2) % count]
    if not _turn(p, a, b, c) * area >= 0.0:
        return False
    for k in range(3, count):
        point = start + p.left[(at + k) % count]
        inside = _is_crossed(p, a, c, point)
        inside ^= _is_crossed(p, b, a, point)
        inside ^= _is_crossed(p, c, b, point)
        if inside:
            return False
    return True


@kernel
def _cut(p: Any, ear: int, count: int, at: int) -> int:
    """Store the triangle of three corners from position `at`, and remove the middle corner. Return the new `count`."""
    for k in range(3):
        p.ear[ear, k] = p.left[(at + k) % count]
    for k in range((at + 1) % count, count - 1):
        p.left[k] = p.left[k + 1]
    return count - 1


@native_over("Polygons", "Polygons")
@exact
def cut_all_ears(p: Any, _same: Any, many: int, size: int) -> int:
    """Triangulate `many` polygons of `size` corners each, ear by ear.

    As in MuJoCo, the search ends if the number of failed positions reaches the number of remaining corners. A cut
    restarts this count; the first position after a cut is not counted.
    """
    for polygon in range(many):
        start, ear = polygon * size, polygon * (size - 2)
        area = _area(p, start, size)
        for k in range(size):
            p.left[k] = k
        at = 0
        count = counted = trials = size
        while count > 3 and trials > 0:
            trials = trials - 1 if counted == count else count
            counted = count
            at %= count
            if _is_ear(p, start, count, at, area):
                count = _cut(p, ear, count, at)
                ear += 1
            else:
                at += 1
        if count == 3:
            _cut(p, ear, count, 0)
    return 0
