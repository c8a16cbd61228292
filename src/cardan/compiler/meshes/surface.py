"""The surface of a mesh, in memory that kernels can read: triangles, sums over triangles, moves of vertices.

Mass properties are computed from pyramids whose bases are the triangles (O'Rourke, Computational Geometry in C, section
1.3.8; Blow and Binstock, "How to find the inertia tensor of a 3D solid body", 2004). Vertices are in single precision,
and so are the centres and products below, as in the reference. Sums run over the triangles one after the other, since
the principal axes of round meshes depend on the last bit.
"""

from __future__ import annotations

from math import sqrt
from typing import Any

import numpy as np
from numpy import float32, float64

from cardan.constants import mjMINVAL
from cardan.jit import Field, Struct, StructMemory, exact, kernel
from cardan.jit.driver.program import call, native_over

SURFACE = Struct(
    "Surface",
    [
        Field("vertex", "f4", ("any", 3), "vertices"),
        Field("face", "i4", ("any", 3), "vertices of each triangle"),
        Field("centre", "f4", ("any", 3), "centre of each triangle"),
        Field("cross", "f8", ("any", 3), "normal of each triangle, with twice the area as length"),
        Field("normal", "f8", ("any", 3), "unit normal of each triangle; the x axis if the triangle has no area"),
        Field("area", "f8", ("any",), "area of each triangle"),
        Field("weight", "f8", ("any",), "weight of each triangle in the sums"),
        Field("apex", "f8", ("any",), "tip of the pyramids (3,)"),
        Field("total", "f8", ("any",), "sums over the triangles"),
        Field("low", "f8", ("any", 3), "low corner of the box of each triangle"),
        Field("high", "f8", ("any", 3), "high corner"),
        Field("circumcentre", "f8", ("any", 3), "centre of the circle through the corners of each triangle"),
    ],
    readonly=False,
)

ROWS = Struct(
    "Rows",
    [
        Field("row", "f4", ("any", 3), "vectors"),
        Field("turned", "f4", ("any", 3), "result: the vectors, moved or rotated"),
        Field("shift", "f8", ("any",), "vector that is subtracted (3,)"),
        Field("matrix", "f8", ("any", 3), "matrix by which the vectors are multiplied (3, 3)"),
        Field("bounds", "f8", ("any", 3), "smallest and largest coordinates of the products before rounding (2, 3)"),
    ],
    readonly=False,
)


class Surface:
    """Triangles of a mesh with their areas, and sums over triangles. Kernels receive the structure ``memory``."""

    def __init__(self, vertex: np.ndarray, face: np.ndarray) -> None:
        self.memory = memory = StructMemory(SURFACE, {})
        count = len(face)
        self.area = np.empty(count)
        self._total, self._apex = np.zeros(6), np.zeros(3)
        centre, cross, normal = np.empty((count, 3), np.float32), np.empty((count, 3)), np.empty((count, 3))
        own = {"face": face, "area": self.area, "apex": self._apex, "total": self._total}
        for name, array in (own | {"centre": centre, "cross": cross, "normal": normal}).items():
            memory.attach(name, array)
        self.move(vertex)

    def move(self, vertex: np.ndarray) -> None:
        """Replace the positions of the vertices, and recompute the centres, normals and areas of the triangles."""
        self.memory.attach("vertex", vertex)
        self.vertex, self.face = self.memory.arrays["vertex"], self.memory.arrays["face"]
        self._run(find_triangles)

    def _run(self, kernel: Any, i: int = 0) -> None:
        call(kernel, self.memory, self.memory, i)

    def centroid(self) -> np.ndarray:
        """Return the centroid of the surface, or 0 if the surface has no area."""
        self._run(sum_centres)
        area = self._total[0]
        return self._total[1:4] / area if area >= mjMINVAL else np.zeros(3)

    def pyramid_volumes(self, apex: np.ndarray, signed: bool) -> np.ndarray:
        """Return the volume of the pyramid from ``apex`` to each triangle.

        If ``signed``, the volume is negative for triangles seen from behind.
        """
        volume = np.empty(len(self.face))
        self._apex[:] = apex
        self.memory.attach("weight", volume)
        self._run(find_pyramids, signed)
        return volume

    def weighted_centre(self, apex: np.ndarray, weight: np.ndarray) -> np.ndarray:
        """Return the weighted mean of the centres of mass of the pyramids from ``apex`` to the triangles."""
        self._apex[:] = apex
        self.memory.attach("weight", weight)
        self._run(sum_pyramids)
        return self._total[1:4] / self._total[0]

    def total(self, weight: np.ndarray) -> float:
        """Return the sum of the weights of triangles."""
        self.memory.attach("weight", weight)
        self._run(sum_pyramids)
        return float(self._total[0])

    def second_moments(self, weight: np.ndarray) -> tuple[float, ...]:
        """Return the rotational inertia about the origin as (xx, yy, zz, xy, xz, yz), from weights of the triangles.

        The weight is volume / 20 for pyramids from the origin, area / 12 for triangles.
        """
        self.memory.attach("weight", weight)
        self._run(sum_products)
        xx, yy, zz, xy, xz, yz = self._total.tolist()
        return (yy + zz, xx + zz, xx + yy, -xy, -xz, -yz)

    def boxes(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return lower and upper corners of the triangles' boxes, and the triangles' circumcentres: (m, 3) each."""
        found = np.empty((3, len(self.face), 3))
        for name, rows in zip(("low", "high", "circumcentre"), found, strict=True):
            self.memory.attach(name, rows)
        self._run(find_boxes)
        return found[0], found[1], found[2]


def turned(rows: np.ndarray, matrix: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Multiply vectors (n, 3) by a matrix. Return the products in float32, and their bounds (2, 3) before rounding."""
    memory = StructMemory(ROWS, {})
    result, bounds = np.empty((len(rows), 3), np.float32), np.empty((2, 3))
    for name, array in (("row", rows), ("turned", result), ("matrix", matrix), ("bounds", bounds)):
        memory.attach(name, array)
    call(turn_rows, memory, memory)
    return result, bounds


def moved(rows: np.ndarray, shift: np.ndarray) -> np.ndarray:
    """Subtract ``shift`` from points (n, 3), in single precision."""
    memory = StructMemory(ROWS, {})
    result = np.empty((len(rows), 3), np.float32)
    for name, array in (("row", rows), ("turned", result), ("shift", shift)):
        memory.attach(name, array)
    call(move_rows, memory, memory)
    return result


# --- kernels ---------------------------------------------------------------------------------------------------------


@kernel
def _side(s: Any, start: int, end: int, k: int) -> float:
    """Return coordinate `k` of the vector from one vertex to another, rounded to single precision."""
    return float64(float32(s.vertex[end, k] - s.vertex[start, k]))


@kernel
def _cross(u: Any, v: Any) -> Any:
    return u[1] * v[2] - u[2] * v[1], u[2] * v[0] - u[0] * v[2], u[0] * v[1] - u[1] * v[0]


@native_over("Surface", "Surface")
@exact
def find_triangles(s: Any, _same: Any, _unused: int, _neither: int) -> int:
    """Compute the centre, unit normal and area of each triangle. Return 0.

    The normal of a triangle without area is the x axis.
    """
    for i in range(len(s.face)):
        a, b, c = s.face[i, 0], s.face[i, 1], s.face[i, 2]
        for k in range(3):
            s.centre[i, k] = float32(float32(s.vertex[a, k] + s.vertex[b, k]) + s.vertex[c, k]) / 3.0
        u = _side(s, a, b, 0), _side(s, a, b, 1), _side(s, a, b, 2)
        v = _side(s, a, c, 0), _side(s, a, c, 1), _side(s, a, c, 2)
        x, y, z = _cross(u, v)
        length = sqrt(x * x + y * y + z * z)
        s.cross[i, 0], s.cross[i, 1], s.cross[i, 2] = x, y, z
        s.area[i] = 0.5 * length
        if length < mjMINVAL:
            s.normal[i, 0], s.normal[i, 1], s.normal[i, 2] = 1.0, 0.0, 0.0
        else:
            s.normal[i, 0], s.normal[i, 1], s.normal[i, 2] = x / length, y / length, z / length
    return 0


@native_over("Surface", "Surface")
@exact
def sum_centres(s: Any, _same: Any, _unused: int, _neither: int) -> int:
    """Compute the total area, and the sum of the triangles' centres weighted by area. Return 0."""
    area = x = y = z = 0.0
    for i in range(len(s.face)):
        area += s.area[i]
        x += s.area[i] * s.centre[i, 0]
        y += s.area[i] * s.centre[i, 1]
        z += s.area[i] * s.centre[i, 2]
    s.total[0], s.total[1], s.total[2], s.total[3] = area, x, y, z
    return 0


@native_over("Surface", "Surface")
@exact
def find_pyramids(s: Any, _same: Any, signed: int, _unused: int) -> int:
    """Set the weight of each triangle to the volume of the pyramid from the apex to the triangle. Return 0."""
    for i in range(len(s.face)):
        height = (s.centre[i, 0] - s.apex[0]) * s.normal[i, 0]
        height += (s.centre[i, 1] - s.apex[1]) * s.normal[i, 1]
        height += (s.centre[i, 2] - s.apex[2]) * s.normal[i, 2]
        volume = height * s.area[i] / 3.0
        s.weight[i] = volume if signed else abs(volume)
    return 0


@native_over("Surface", "Surface")
@exact
def sum_pyramids(s: Any, _same: Any, _unused: int, _neither: int) -> int:
    """Compute the total weight, and the weighted sum of the pyramids' centres of mass. Return 0."""
    weight = x = y = z = 0.0
    for i in range(len(s.face)):
        weight += s.weight[i]
        x += s.weight[i] * (0.75 * s.centre[i, 0] + 0.25 * s.apex[0])
        y += s.weight[i] * (0.75 * s.centre[i, 1] + 0.25 * s.apex[1])
        z += s.weight[i] * (0.75 * s.centre[i, 2] + 0.25 * s.apex[2])
    s.total[0], s.total[1], s.total[2], s.total[3] = weight, x, y, z
    return 0


@kernel
def _product(s: Any, i: int, m: int, n: int) -> float:
    """Return the sum of coordinate `m` of one corner times coordinate `n` of another over all pairs of triangle `i`.

    A corner paired with itself counts twice. Arithmetic is in single precision.
    """
    a, b, c = s.face[i, 0], s.face[i, 1], s.face[i, 2]
    am, bm, cm = float32(s.vertex[a, m]), float32(s.vertex[b, m]), float32(s.vertex[c, m])
    an, bn, cn = float32(s.vertex[a, n]), float32(s.vertex[b, n]), float32(s.vertex[c, n])
    half = am * an + bm * bn + cm * cn
    return float64(half + half + am * bn + an * bm + am * cn + an * cm + bm * cn + bn * cm)


@native_over("Surface", "Surface")
@exact
def sum_products(s: Any, _same: Any, _unused: int, _neither: int) -> int:
    """Compute weighted sums over the triangles of products of coordinates: xx, yy, zz, xy, xz, yz. Return 0."""
    xx = yy = zz = xy = xz = yz = 0.0
    for i in range(len(s.face)):
        xx += s.weight[i] * _product(s, i, 0, 0)
        yy += s.weight[i] * _product(s, i, 1, 1)
        zz += s.weight[i] * _product(s, i, 2, 2)
        xy += s.weight[i] * _product(s, i, 0, 1)
        xz += s.weight[i] * _product(s, i, 0, 2)
        yz += s.weight[i] * _product(s, i, 1, 2)
    s.total[0], s.total[1], s.total[2], s.total[3], s.total[4], s.total[5] = xx, yy, zz, xy, xz, yz
    return 0


@native_over("Surface", "Surface")
@exact
def find_boxes(s: Any, _same: Any, _unused: int, _neither: int) -> int:
    """Compute each triangle's box and circumcentre (its third corner if the triangle has no area). Return 0.

    For circumcentres, sides are rounded to single precision, as in the reference.
    """
    for i in range(len(s.face)):
        a, b, c = s.face[i, 0], s.face[i, 1], s.face[i, 2]
        u = _side(s, c, a, 0), _side(s, c, a, 1), _side(s, c, a, 2)
        v = _side(s, c, b, 0), _side(s, c, b, 1), _side(s, c, b, 2)
        normal = _cross(u, v)
        square = normal[0] * normal[0] + normal[1] * normal[1] + normal[2] * normal[2]
        uu = u[0] * u[0] + u[1] * u[1] + u[2] * u[2]
        vv = v[0] * v[0] + v[1] * v[1] + v[2] * v[2]
        way = uu * v[0] - vv * u[0], uu * v[1] - vv * u[1], uu * v[2] - vv * u[2]
        way = _cross(way, normal)
        for k in range(3):
            x, y, z = s.vertex[a, k], s.vertex[b, k], s.vertex[c, k]
            s.low[i, k] = min(x, y, z)
            s.high[i, k] = max(x, y, z)
        for k, part in enumerate(way):
            s.circumcentre[i, k] = s.vertex[c, k] + (part / (2.0 * square) if square > 0.0 else 0.0)
    return 0


@native_over("Rows", "Rows")
@exact
def turn_rows(r: Any, _same: Any, _unused: int, _neither: int) -> int:
    """Multiply the vectors by the matrix, and find the bounds of the products. Return 0."""
    for k in range(3):
        low, high = float("inf"), -float("inf")
        for i in range(len(r.row)):
            value = r.matrix[k, 0] * r.row[i, 0] + r.matrix[k, 1] * r.row[i, 1] + r.matrix[k, 2] * r.row[i, 2]
            r.turned[i, k] = value
            low = min(low, value)
            high = max(high, value)
        r.bounds[0, k] = low
        r.bounds[1, k] = high
    return 0


@native_over("Rows", "Rows")
@exact
def move_rows(r: Any, _same: Any, _unused: int, _neither: int) -> int:
    """Subtract the shift from the vectors. Return 0."""
    for i in range(len(r.row)):
        for k in range(3):
            r.turned[i, k] = r.row[i, k] - r.shift[k]
    return 0
