"""Distances of pairs of geoms that must not collide, as rows of inequalities.

Let n be the direction from the closest point of the first geom to that of the second. The signed distance s changes
with the velocities of these points as material points of their bodies: ds = n.(v2 - v1). A row keeps

    s + ds >= s_min,   or   ds >= -gain (s - s_min) in a control step.

Sources: exact distances by `cardan.collision.distance`; F. Kanehiro et al., A local collision avoidance method for
non-strictly convex polyhedra, Robotics: Science and Systems, 2008.
"""

from __future__ import annotations

from cardan.collision.culling import boxes_apart
from cardan.collision.distance import geom_distance
from cardan.enums.codes import GEOM_HFIELD
from cardan.ik.kernel_views import Ik
from cardan.ik.placing import add_motion, clear_motion, linear_part
from cardan.jit import call_collider, collider, kernel
from cardan.maths.types import Vec3
from cardan.maths.vector import dot3, get3, norm3, scale3, sub3
from cardan.model.kernel_views import Data, Model

TOUCHING = 1e-9
"""Distance, m, below which the difference of the closest points has no reliable direction."""
LARGEST_PUSH = 0.05
"""Largest change of a distance, m, that a row demands in one step."""
SPARE = 1e-6
"""Distance, m, by which rows exceed the margin, so that the margin is met after finitely many steps."""


@collider
def closest_points(m: Model, d: Data, geom1: int, geom2: int) -> int:
    """Compute the distance of two geoms, at most ``d.work.near_margin``, and their closest points.

    The distance is stored, negated, in ``d.work.overlap_depth``. Return 1 if the geoms are nearer than the limit.
    """
    dist = geom_distance(m, d, geom1, geom2, d.work.near_margin)
    d.work.overlap_depth = -dist
    return 1 if dist < d.work.near_margin else 0


@kernel
def spheres_apart(m: Model, d: Ik, geom1: int, geom2: int, limit: float) -> bool:
    """Return whether the bounding spheres of two geoms are farther apart than `limit`; false for planes."""
    if m.geom_type[geom1] <= GEOM_HFIELD or m.geom_type[geom2] <= GEOM_HFIELD:
        return False
    reach = limit + m.geom_rbound[geom1] + m.geom_rbound[geom2]
    between = sub3(get3(d.geom_xpos, geom2), get3(d.geom_xpos, geom1))
    return dot3(between, between) > reach * reach


@kernel
def direction_between(d: Ik, dist: float) -> Vec3:
    """Unit vector from the closest point of the first geom to that of the second, along which their distance grows."""
    between = sub3(get3(d.work.witness, 1), get3(d.work.witness, 0))
    if abs(dist) > TOUCHING:
        return scale3(between, 1.0 / dist)
    return get3(d.work.overlap_normal, 0)


@kernel
def pair_distance(m: Model, d: Ik, k: int, limit: float) -> float:
    """Signed distance of pair `k`; `limit` if the geoms are farther apart."""
    geom1, geom2 = d.ik.pair[k, 0], d.ik.pair[k, 1]
    if spheres_apart(m, d, geom1, geom2, limit):
        return limit
    if min(m.geom_type[geom1], m.geom_type[geom2]) > GEOM_HFIELD and boxes_apart(m, d, geom1, geom2, limit):
        return limit
    d.work.near_margin = limit
    if call_collider(d.ik.closest, m, d, geom1, geom2) == 0:
        return limit
    return -d.work.overlap_depth


@kernel
def pair_rows(m: Model, d: Ik, gain: float) -> None:
    """Add a row for each pair that is nearer than `reach`. Violations go to `breach` and `missing`."""
    for k in range(len(d.ik.pair)):
        dist = pair_distance(m, d, k, d.ik.reach)
        if dist >= d.ik.reach:
            continue
        normal = direction_between(d, dist)
        point1, point2 = get3(d.work.witness, 0), get3(d.work.witness, 1)
        axes = (1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0)
        clear_motion(d)
        add_motion(m, d, m.geom_bodyid[d.ik.pair[k, 1]], point2, axes, 1.0)
        add_motion(m, d, m.geom_bodyid[d.ik.pair[k, 0]], point1, axes, -1.0)
        row = d.ik.nrow
        square = 0.0
        for c in range(d.ik.n):
            value = dot3(normal, linear_part(d, c))
            d.ik.A[row, c] = value
            square += value * value
        missing = d.ik.margin + SPARE - dist
        d.ik.b[row] = min(missing, LARGEST_PUSH) if missing > 0.0 else gain * missing
        d.ik.breach += max(missing, 0.0)
        d.ik.missing = max(d.ik.missing, d.ik.margin - dist)
        if square > 0.0 and norm3(normal) > 0.0:
            d.ik.nrow += 1


@kernel
def breach_of_pairs(m: Model, d: Ik) -> float:
    """Largest amount, m, by which the distance of a pair is below the margin; 0 if none is."""
    worst = 0.0
    for k in range(len(d.ik.pair)):
        worst = max(worst, d.ik.margin - pair_distance(m, d, k, d.ik.margin))
    return worst
