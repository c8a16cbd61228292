"""Distance between two convex shapes: the algorithm of Gilbert, Johnson and Keerthi (GJK).

Simplices of support points approach the point of the Minkowski difference that is closest to the origin. The vertices
of a simplex are rows of ``d.work.simplex``. Each vertex is the difference between a point of the first and a point of
the second shape. These points are in ``d.work.simplex1`` and ``d.work.simplex2``.

Sources: E. Gilbert, D. Johnson, S. Keerthi, A fast procedure for computing the distance between complex objects in
three-dimensional space (1988); G. van den Bergen, Collision Detection in Interactive 3D Environments (2003), section
4.3; C. Ericson, Real-Time Collision Detection (2005), sections 5.1.5 (triangle) and 5.1.6 (tetrahedron).
"""

from __future__ import annotations

from math import inf

from cardan.collision.support import support_difference
from cardan.jit import kernel
from cardan.maths.simplex import segment_weights, triangle_weights, weighted_sum
from cardan.maths.types import ConstArray2, Vec3
from cardan.maths.vector import cross, dot3, get3, norm3, scale3, set3, sub3
from cardan.model.kernel_views import Data, Model

INSIDE = 4
"""Value returned in place of a number of vertices if a simplex contains the origin."""
ITERATIONS = 200
TOLERANCE = 1e-12
"""Gap between the distance found and its lower bound at which the search ends, relative to the distance."""
ROUNDING = 1e-14
"""Gap between the distance found and its lower bound at which the search ends, relative to the difference's size."""
FAR, SEPARATED, OVERLAPPING = range(3)
"""Outcomes: farther apart than the limit; closest points found; the simplex touches or contains the origin."""


@kernel
def copy_vertex(d: Data, source: int, target: int) -> None:
    """Copy a vertex of the simplex to another row."""
    set3(d.work.simplex, target, get3(d.work.simplex, source))
    set3(d.work.simplex1, target, get3(d.work.simplex1, source))
    set3(d.work.simplex2, target, get3(d.work.simplex2, source))


@kernel
def keep_weighted(d: Data, i: int, j: int, k: int, weights: Vec3) -> int:
    """Reduce the simplex to those of its vertices i <= j <= k that have a positive weight; return their number.

    Write the weights of these vertices to ``d.work.weight``.
    """
    n = 0
    for corner in range(3):
        row = i if corner == 0 else (j if corner == 1 else k)
        weight = weights[0] if corner == 0 else (weights[1] if corner == 1 else weights[2])
        if weight > 0.0:
            copy_vertex(d, row, n)
            d.work.weight[0, n] = weight
            n += 1
    for row in range(n, 3):
        d.work.weight[0, row] = 0.0
    return n


@kernel
def reduce_tetrahedron(d: Data) -> int:
    """Reduce a tetrahedron as `reduce_simplex` does; return `INSIDE` if it contains the origin."""
    best = -1
    nearest = 0.0
    for opposite in range(4):
        i = 0 if opposite > 0 else 1
        j = 1 if opposite > 1 else 2
        k = 2 if opposite > 2 else 3
        a, b, c = get3(d.work.simplex, i), get3(d.work.simplex, j), get3(d.work.simplex, k)
        normal = cross(sub3(b, a), sub3(c, a))
        # whether the origin and the opposite vertex are on different sides of the face
        if -dot3(normal, a) * dot3(normal, sub3(get3(d.work.simplex, opposite), a)) <= 0.0:
            point = weighted_sum(a, b, c, triangle_weights(a, b, c))
            if best < 0 or dot3(point, point) < nearest:
                nearest = dot3(point, point)
                best = opposite
    if best < 0:
        return INSIDE
    i, j, k = 0 if best > 0 else 1, 1 if best > 1 else 2, 2 if best > 2 else 3
    a, b, c = get3(d.work.simplex, i), get3(d.work.simplex, j), get3(d.work.simplex, k)
    return keep_weighted(d, i, j, k, triangle_weights(a, b, c))


@kernel
def reduce_simplex(d: Data, n: int) -> int:
    """Reduce a simplex of `n` vertices to those that span its point closest to the origin.

    Returns:
        The number of remaining vertices, with their weights in ``d.work.weight``; `INSIDE` if the origin is inside.
    """
    if n == 4:
        return reduce_tetrahedron(d)
    a, b, c = get3(d.work.simplex, 0), get3(d.work.simplex, 1), get3(d.work.simplex, 2)
    if n == 3:
        return keep_weighted(d, 0, 1, 2, triangle_weights(a, b, c))
    if n == 2:
        return keep_weighted(d, 0, 1, 1, segment_weights(a, b))
    return keep_weighted(d, 0, 0, 0, (1.0, 0.0, 0.0))


@kernel
def weighted_row(points: ConstArray2, weights: ConstArray2) -> Vec3:
    """Weighted sum of the first three rows of `points`."""
    w = (weights[0, 0], weights[0, 1], weights[0, 2])
    return weighted_sum(get3(points, 0), get3(points, 1), get3(points, 2), w)


@kernel
def find_closest(m: Model, d: Data, limit: float) -> tuple[int, int]:
    """Find the closest points of two shapes to full accuracy; arguments and results as for `approach`."""
    return approach(m, d, limit, TOLERANCE)


@kernel
def approach(m: Model, d: Data, limit: float, tolerance: float) -> tuple[int, int]:
    """Find the closest points of the two shapes in ``d.work.shape_*``, unless they are farther apart than `limit` (m).

    The search ends when the distance exceeds its lower bound by less than a relative `tolerance`, and when rounding
    keeps the distance from getting smaller.

    Returns:
        Outcome, and number of vertices of the last simplex. If the outcome is `SEPARATED`, ``d.work.witness`` holds the
        closest points. If it is `FAR`, ``d.work.asked`` holds the direction that separates the shapes.
    """
    closest = sub3(get3(d.work.shape_pos, 0), get3(d.work.shape_pos, 1))
    if norm3(closest) == 0.0:
        closest = (1.0, 0.0, 0.0)
    n = 0
    size, shortest = 0.0, inf
    for _ in range(ITERATIONS):
        length = norm3(closest)
        against = scale3(closest, -1.0 / length)
        point = support_difference(m, d, n, against)
        size = max(size, norm3(point))
        bound = dot3(closest, point) / length
        if bound > limit:
            set3(d.work.asked, 0, against)
            return FAR, n
        done = n > 0 and length - bound <= tolerance * length + ROUNDING * size
        for row in range(n):  # whether the point is a vertex already
            done = done or point == get3(d.work.simplex, row)
        if done:
            break
        n = reduce_simplex(d, n + 1)
        if n == INSIDE:
            return OVERLAPPING, n
        # the points of both shapes at the simplex's closest point
        for row in range(3):
            if d.work.weight[0, row] == 0.0:
                copy_vertex(d, 0, row)
        closest = weighted_row(d.work.simplex, d.work.weight)
        if norm3(closest) >= shortest:
            break  # of a flat simplex, rounding may return a point far from the closest one
        set3(d.work.witness, 0, weighted_row(d.work.simplex1, d.work.weight))
        set3(d.work.witness, 1, weighted_row(d.work.simplex2, d.work.weight))
        if norm3(closest) <= ROUNDING * size:
            return OVERLAPPING, n
        shortest = norm3(closest)
    return SEPARATED, n
