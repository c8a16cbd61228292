"""Distance of two convex shapes: the algorithm of Gilbert, Johnson and Keerthi (GJK).

Simplices of support points approach the point of the Minkowski difference that is closest to the origin.

Sources: E. Gilbert, D. Johnson, S. Keerthi, A fast procedure for computing the distance between complex objects in
three-dimensional space (1988); G. van den Bergen, Collision Detection in Interactive 3D Environments (2003), section
4.3.
"""

from __future__ import annotations

from cardan.collision.simplex import INSIDE, reduce_simplex, set_witnesses, weighted_row
from cardan.collision.support import support_difference
from cardan.jit import kernel
from cardan.maths.types import Vec3
from cardan.maths.vector import dot3, get3, norm3, scale3, sub3
from cardan.model.kernel_views import Data, Model

ITERATIONS = 200
TOLERANCE = 1e-12
"""Gap between the distance found and its lower bound at which the search ends, relative to the distance."""
ROUNDING = 1e-14
"""Gap between the distance found and its lower bound at which the search ends, relative to the difference's size."""

FAR, SEPARATED, OVERLAPPING = range(3)
"""Outcomes: farther apart than the limit; closest points found; the simplex touches or contains the origin."""


@kernel
def is_vertex(d: Data, n: int, point: Vec3) -> bool:
    """Whether `point` is one of the first `n` vertices of the simplex."""
    for row in range(n):
        if point == get3(d.work.simplex, row):
            return True
    return False


@kernel
def find_closest(m: Model, d: Data, limit: float) -> tuple[int, int]:
    """Find the closest points of the two shapes in ``d.work.shape_*``.

    Args:
        m: model.
        d: data.
        limit: distance beyond which the closest points are not needed (m).

    Returns:
        Outcome, and number of vertices of the last simplex. If the outcome is `SEPARATED`, ``d.work.witness`` holds the
        points.
    """
    closest = sub3(get3(d.work.shape_pos, 0), get3(d.work.shape_pos, 1))
    if norm3(closest) == 0.0:
        closest = (1.0, 0.0, 0.0)
    n = 0
    size = 0.0
    for _ in range(ITERATIONS):
        length = norm3(closest)
        point = support_difference(m, d, n, scale3(closest, -1.0 / length))
        size = max(size, norm3(point))
        bound = dot3(closest, point) / length
        if bound > limit:
            return FAR, n
        if n > 0 and (length - bound <= TOLERANCE * length + ROUNDING * size or is_vertex(d, n, point)):
            break
        n = reduce_simplex(d, n + 1)
        if n == INSIDE:
            return OVERLAPPING, n
        set_witnesses(d)
        closest = weighted_row(d.work.simplex, d.work.weight)
        if norm3(closest) <= ROUNDING * size:
            return OVERLAPPING, n
    return SEPARATED, n
