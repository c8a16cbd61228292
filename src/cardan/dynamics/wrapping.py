"""Shortest paths around and through spheres and cylinders (spec: modeling, tendons and relation to OpenSim).

Both obstacles are circles in a plane. For a sphere, the plane contains its centre and the two end points. For a
cylinder, the plane is perpendicular to its axis, and the height is added along the unrolled path. All vectors in the
plane are relative to the centre of the circle. A path *around* consists of two tangents and an arc. A path *through*
touches the circle from outside at one point, where the two straight parts make equal angles with the normal (Alhazen's
problem).
"""

from __future__ import annotations

from math import asin, atan2, cos, pi, sin, sqrt

from cardan.jit import kernel
from cardan.maths.types import Vec2, Vec3
from cardan.maths.vector import MINVAL, add_scaled3, cross, dot3, norm3, normalize3, scale3

PlanePath = tuple[float, float, float, float, float, float, float]
"""Result of `_wrap_circle`: angle, two points (x, y), two lengths."""
NO_WRAP = (-1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
NO_PATH = (-1.0, (0.0, 0.0, 0.0), (0.0, 0.0, 0.0))
# whether a path around a circle exists in one direction: no (its tangents cross); yes; yes, past where they cross
GOES_NOT, GOES, GOES_ON = 0, 1, 2
NO_SIDE, NEARER_SIDE, SAME_WINDING = 0, 1, 2
"""Rules that choose the way around a circle. NO_SIDE: the shorter way. NEARER_SIDE (MuJoCo 3.1): the arc nearer to the
side site, or the straight segment if it passes on that side. SAME_WINDING (4.0): the direction of the path through the
site."""
GRAZING = 1e-10
"""Bound on rounding errors of the arc angle (as a sine): a negative angle within it counts as 0."""
# search for the point where a path touches an obstacle from outside
TOUCH_STEPS = 20
TOUCH_TOLERANCE = 1e-6
TOUCH_TOLERANCE_4_0 = 1e-10
FLATTEST = 3.16227766016838e-4
"""Square root of the initial value of 1 - sin(angle of incidence), 1e-7. This is a start value, not a tolerance."""


@kernel
def _dot(a: Vec2 | Vec3, b: Vec2 | Vec3) -> float:
    return a[0] * b[0] + a[1] * b[1]


@kernel
def _norm(a: Vec2) -> float:
    return sqrt(a[0] * a[0] + a[1] * a[1])


@kernel
def _nearest_to_centre(p0: Vec2, p1: Vec2) -> Vec3:
    """Point of the segment from `p0` to `p1` nearest to the centre, in homogeneous coordinates (x, y, scale)."""
    along = (p1[0] - p0[0], p1[1] - p0[1])
    squared = _dot(along, along)
    if squared < MINVAL:
        return p0[0], p0[1], 1.0
    t = min(squared, max(0.0, -_dot(along, p0)))
    return squared * p0[0] + t * along[0], squared * p0[1] + t * along[1], squared


@kernel
def _misses(nearest: Vec3, radius: float) -> bool:
    """Return whether a segment is outside the circle; `nearest` is the result of `_nearest_to_centre`."""
    reach = radius * nearest[2]
    return _dot(nearest, nearest) > reach * reach


@kernel
def _difference(a: Vec2, b: Vec2) -> Vec2:
    """Vector whose angle is the angle of `a` minus the angle of `b`; its length is the product of both lengths."""
    return a[0] * b[0] + a[1] * b[1], a[1] * b[0] - a[0] * b[1]


@kernel
def _way_round(between: Vec2, taken: Vec2, size: float, radius: float, shorter: float) -> int:
    """Return whether a path around the circle exists in one direction: GOES_NOT (its tangents cross) or GOES.

    If the path exists only past the point where its tangents cross, return GOES_ON. Angles are seen from the centre,
    and are passed as vectors that have these angles. `between` has the angle from one end to the other in this
    direction (0 to 2 pi). `taken` has the angle that the two tangents cover (0 to pi). `size` is the product of the
    lengths of both vectors. `shorter` is the length of the shorter tangent.
    """
    arc = _difference(between, taken)
    if between[1] < 0.0 or arc[1] >= 0.0 or (arc[0] > 0.0 and arc[1] > -GRAZING * size):
        return GOES
    # tangents from the ends of an arc of angle -a meet at the distance radius tan(a / 2)
    return GOES_ON if -radius * arc[1] > shorter * (size + arc[0]) else GOES_NOT


@kernel
def _counterclockwise(
    left: int, right: int, sine: float, middle: Vec2, across: Vec2, side: Vec2, has_side: bool
) -> bool:
    """Return whether to take the counterclockwise path instead of the clockwise path.

    If only one path exists, it is taken. Otherwise, it is the shorter path or, with a side site, the path whose arc is
    nearer to the site.

    `left` and `right` are the results of `_way_round` for the counterclockwise and the clockwise path. `sine` has the
    sign of the sine of the counterclockwise angle from `p0` to `p1`. The middle of the arc is in the direction
    ``middle + across`` for the counterclockwise path, and ``middle - across`` for the clockwise path.
    """
    if left == GOES_NOT or right == GOES_NOT:
        return right == GOES_NOT
    if not has_side:
        return right == GOES_ON if left != right else sine >= 0.0
    to_left = (middle[0] + across[0], middle[1] + across[1])
    to_right = (middle[0] - across[0], middle[1] - across[1])
    return _dot(to_left, side) * max(MINVAL, _norm(to_right)) > _dot(to_right, side) * max(MINVAL, _norm(to_left))


@kernel
def _winding(p0: Vec2, p1: Vec2, side: Vec2) -> float:
    """Angle about the centre of the path from `p0` via `side` to `p1` (-2 pi to 2 pi, counterclockwise positive)."""
    to_side, from_side = _difference(side, p0), _difference(p1, side)
    return atan2(to_side[1], to_side[0]) + atan2(from_side[1], from_side[0])


@kernel
def _stays_straight(p0: Vec2, p1: Vec2, side: Vec2, rule: int, winding: float, radius: float) -> bool:
    """Return whether the path is the straight segment; `winding` is the result of `_winding` if the rule needs it."""
    nearest = _nearest_to_centre(p0, p1)
    if not _misses(nearest, radius):
        return False
    if rule == SAME_WINDING:
        return abs(winding) <= pi
    return rule == NO_SIDE or _dot(nearest, side) >= 0.0


@kernel
def _wrap_around(p0: Vec2, p1: Vec2, side: Vec2, rule: int, radius: float) -> PlanePath:
    """Path around the circle, with results as in `_wrap_circle`."""
    winding = _winding(p0, p1, side) if rule == SAME_WINDING else 0.0
    if _stays_straight(p0, p1, side, rule, winding, radius):
        return NO_WRAP
    d0, d1 = _dot(p0, p0), _dot(p1, p1)
    tangent0 = sqrt(max(0.0, d0 - radius * radius))
    tangent1 = sqrt(max(0.0, d1 - radius * radius))
    # vectors at the angle between the ends and at the angle that the tangents cover
    cosine, sine = _dot(p0, p1), p0[0] * p1[1] - p0[1] * p1[0]
    taken = (radius * radius - tangent0 * tangent1, radius * (tangent0 + tangent1))
    shorter = min(tangent0, tangent1)
    left = _way_round((cosine, sine), taken, d0 * d1, radius, shorter)
    right = _way_round((cosine, -sine), taken, d0 * d1, radius, shorter)
    goes_left = winding > 0.0
    if rule == SAME_WINDING:
        if (left if goes_left else right) == GOES_NOT:
            return NO_WRAP
    elif left == GOES_NOT and right == GOES_NOT:
        return NO_WRAP
    # a tangent point has a part along its end's vector and a part perpendicular to it, to the left or to the right
    scale0, scale1 = radius * (1.0 / d0), radius * (1.0 / d1)
    along0, along1 = radius * scale0, radius * scale1
    turn0, turn1 = scale0 * tangent0, scale1 * tangent1
    middle = (along0 * p0[0] + along1 * p1[0], along0 * p0[1] + along1 * p1[1])
    across = (turn1 * p1[1] - turn0 * p0[1], turn0 * p0[0] - turn1 * p1[0])
    if rule != SAME_WINDING:
        goes_left = _counterclockwise(left, right, sine, middle, across, side, rule == NEARER_SIDE)
    if not goes_left:
        sine, turn0, turn1 = -sine, -turn0, -turn1
    arc = _difference((cosine, sine), taken)
    angle = atan2(arc[1], arc[0])
    if angle < -GRAZING:
        angle += 2.0 * pi
    return (
        max(0.0, angle),
        along0 * p0[0] - turn0 * p0[1],
        along0 * p0[1] + turn0 * p0[0],
        along1 * p1[0] + turn1 * p1[1],
        along1 * p1[1] - turn1 * p1[0],
        tangent0,
        tangent1,
    )


@kernel
def _incidence(near0: float, near1: float, between: float, tolerance: float) -> float:
    """Return 1 - z, where z is the sine of the angle of incidence of a path that touches the circle; -1 on failure.

    `near0` and `near1` are the radius divided by the distances of the ends from the centre, and `between` is the angle
    between the ends, seen from the centre (rad). By the law of sines in the triangle of centre, touching point and an
    end, the angle at the centre is asin(z) - asin(near z). The two angles must add up to the angle between the ends. As
    in MuJoCo, Newton's method starts at 1 - z = 1e-7 and stops when the angles agree to the tolerance (rad). The
    iteration can only decrease z, so it does not find paths closer to a straight line. The unknown is 1 - z, because
    near z = 1 it has more significant digits than z.
    """
    lacking = FLATTEST * FLATTEST
    for _ in range(TOUCH_STEPS):
        z = 1.0 - lacking
        excess = asin(near0 * z) + asin(near1 * z) + 4.0 * asin(sqrt(0.5 * lacking)) - (pi - between)
        if abs(excess) < tolerance:
            return lacking
        slope = (
            near0 / sqrt(1.0 - near0 * near0 * z * z)
            + near1 / sqrt(1.0 - near1 * near1 * z * z)
            - 2.0 / sqrt(lacking * (1.0 + z))
        )
        if excess > 0.0 or slope > -MINVAL:
            return -1.0
        lacking = min(1.0, lacking + excess / slope)
    return -1.0


@kernel
def _touching(p0: Vec2, p1: Vec2, point: Vec2) -> PlanePath:
    """Path that touches the circle at one point; results as for `_wrap_circle`."""
    before, after = (p0[0] - point[0], p0[1] - point[1]), (p1[0] - point[0], p1[1] - point[1])
    return (0.0, point[0], point[1], point[0], point[1], _norm(before), _norm(after))


@kernel
def _wrap_through(p0: Vec2, p1: Vec2, radius: float, tolerance: float) -> PlanePath:
    """Path that touches the circle at one point, where the sum of the distances to both ends is smallest.

    If the search fails, the path touches the circle in the direction of the middle of the straight segment, as in
    MuJoCo.
    """
    if not _misses(_nearest_to_centre(p0, p1), radius):
        return NO_WRAP
    sweep = atan2(p0[0] * p1[1] - p0[1] * p1[0], _dot(p0, p1))
    # counterclockwise from the first end
    begin, end = (p0, p1) if sweep >= 0.0 else (p1, p0)
    near = radius / _norm(begin)
    lacking = _incidence(near, radius / _norm(end), abs(sweep), tolerance)
    if lacking < 0.0:
        middle = (p0[0] + p1[0], p0[1] + p1[1])
        scale = radius / max(MINVAL, _norm(middle))
        return _touching(p0, p1, (scale * middle[0], scale * middle[1]))
    incidence = 0.5 * pi - 2.0 * asin(sqrt(0.5 * lacking))
    angle = atan2(begin[1], begin[0]) + incidence - asin(near * (1.0 - lacking))
    return _touching(p0, p1, (radius * cos(angle), radius * sin(angle)))


@kernel
def _wrap_circle(p0: Vec2, p1: Vec2, side: Vec2, rule: int, through: bool, radius: float) -> PlanePath:
    """Compute the path from `p0` to `p1` past a circle around the origin; if `through`, through the circle.

    Return seven numbers: the angle of the arc (negative if the path is the straight segment), the coordinates of the
    points where the path meets and leaves the circle (x, y each), and the lengths before and after the arc.
    """
    within = radius * radius
    if _dot(p0, p0) < within or _dot(p1, p1) < within or radius < MINVAL:
        return NO_WRAP
    if through:
        return _wrap_through(p0, p1, radius, TOUCH_TOLERANCE_4_0 if rule == SAME_WINDING else TOUCH_TOLERANCE)
    return _wrap_around(p0, p1, side, rule, radius)


@kernel
def _goes_through(side: Vec3, flat_side: Vec2, rule: int, radius: float) -> bool:
    """Return whether a path goes through the obstacle, that is, whether the side site is inside it.

    In MuJoCo 3.1, the site's projection on the plane is tested. Without a side site, the result is false.
    """
    if rule == SAME_WINDING:
        return dot3(side, side) < radius * radius
    return rule == NEARER_SIDE and _dot(flat_side, flat_side) < radius * radius


@kernel
def _any_normal(x: Vec3) -> Vec3:
    """Vector perpendicular to `x`: its cross product with the vector that is 0 along the largest component, else 1."""
    a, b, c = abs(x[0]), abs(x[1]), abs(x[2])
    if a >= b and a >= c:
        return cross(x, (0.0, 1.0, 1.0))
    if b > c:
        return cross(x, (1.0, 0.0, 1.0))
    return cross(x, (1.0, 1.0, 0.0))


@kernel
def _wrap_sphere(p0: Vec3, p1: Vec3, side: Vec3, rule: int, radius: float) -> tuple[float, Vec3, Vec3]:
    """Path past a sphere; arguments and results as for `wrap`."""
    if norm3(p0) < MINVAL or norm3(p1) < MINVAL:
        return NO_PATH
    # axes of the plane: x towards the first end
    x = normalize3(p0)
    normal = cross(x, normalize3(p1))
    if norm3(normal) < MINVAL:
        normal = _any_normal(x)
    y = normalize3(cross(normalize3(normal), x))
    flat_side = (dot3(x, side), dot3(y, side))
    through = _goes_through(side, flat_side, rule, radius)
    arc = _wrap_circle((dot3(x, p0), dot3(y, p0)), (dot3(x, p1), dot3(y, p1)), flat_side, rule, through, radius)
    first = add_scaled3(scale3(x, arc[1]), y, arc[2])
    second = add_scaled3(scale3(x, arc[3]), y, arc[4])
    return arc[0] * radius if arc[0] >= 0.0 else -1.0, first, second


@kernel
def _wrap_cylinder(p0: Vec3, p1: Vec3, side: Vec3, rule: int, radius: float) -> tuple[float, Vec3, Vec3]:
    """Path past a cylinder; arguments and results as for `wrap`."""
    flat_side = (side[0], side[1])
    through = _goes_through(side, flat_side, rule, radius)
    arc = _wrap_circle((p0[0], p0[1]), (p1[0], p1[1]), flat_side, rule, through, radius)
    flat, before, after = arc[0] * radius, arc[5], arc[6]
    # along the unrolled path, the height is linear
    climb = (p1[2] - p0[2]) * (1.0 / max(MINVAL, before + flat + after))
    z0, z1 = p0[2] + climb * before, p1[2] - climb * after
    length = sqrt(flat * flat + (z1 - z0) * (z1 - z0)) if arc[0] >= 0.0 else -1.0
    return length, (arc[1], arc[2], z0), (arc[3], arc[4], z1)


@kernel
def wrap(p0: Vec3, p1: Vec3, side: Vec3, rule: int, radius: float, cylinder: bool) -> tuple[float, Vec3, Vec3]:
    """Compute the shortest path from `p0` to `p1` past an obstacle.

    Args:
        p0: first end (3,), in the frame of the obstacle (m).
        p1: second end (3,).
        side: site (3,) that selects the side; if it is inside the obstacle, the path goes through.
        rule: which way to go: NO_SIDE if `side` is not given, NEARER_SIDE or SAME_WINDING.
        radius: radius of the sphere or cylinder (m).
        cylinder: whether the obstacle is a cylinder along the z axis instead of a sphere.

    Returns:
        Length of the path on the surface, or a negative number if the path is the straight segment, and the points
        where the path meets and leaves the obstacle.
    """
    if cylinder:
        return _wrap_cylinder(p0, p1, side, rule, radius)
    return _wrap_sphere(p0, p1, side, rule, radius)
