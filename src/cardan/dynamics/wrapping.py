"""Shortest paths around and through spheres and cylinders (spec: modeling, tendons and relation to OpenSim).

Both obstacles are circles in a plane: for a sphere the plane of its centre and the two end points, for a cylinder the
plane across its axis, with the height added along the unrolled path. In the plane all vectors are relative to the
centre of the circle. A path *around* consists of two tangents and an arc. A path *through* touches the circle from
outside at one point, where the two straight parts make equal angles with the normal (the problem of Alhazen).
"""

from __future__ import annotations

from math import asin, atan2, cos, pi, sin, sqrt, tan
from typing import Any

from cardan.jit import kernel
from cardan.maths.vector import MINVAL, add_scaled3, cross, dot3, norm3, normalize3, scale3

NO_WRAP = (-1.0, 0.0, 0.0, 0.0, 0.0)
NO_PATH = (-1.0, (0.0, 0.0, 0.0), (0.0, 0.0, 0.0))
# the search for the point where a path touches an obstacle from outside
TOUCH_STEPS = 20
TOUCH_TOLERANCE = 1e-6
FLATTEST = 3.16227766016838e-4
"""Square root of the excess of 1 over the sine where the search begins: that is 1e-7, a number and no tolerance."""


@kernel
def _dot(a: Any, b: Any) -> float:
    return a[0] * b[0] + a[1] * b[1]


@kernel
def _norm(a: Any) -> float:
    return sqrt(a[0] * a[0] + a[1] * a[1])


@kernel
def _nearest_to_centre(p0: Any, p1: Any) -> Any:
    """The point of the segment from `p0` to `p1` that is nearest to the centre."""
    along = (p1[0] - p0[0], p1[1] - p0[1])
    squared = _dot(along, along)
    if squared < MINVAL:
        return p0
    t = min(1.0, max(0.0, -_dot(along, p0) / squared))
    return (p0[0] + t * along[0], p0[1] + t * along[1])


@kernel
def _arc(p0: Any, p1: Any, radius: float, turn: float) -> Any:
    """The path from `p0` to `p1` around the circle, counterclockwise for `turn` 1 and clockwise for -1.

    Returns:
        Angle of the arc (negative if the two tangents cross, so that the path goes the other way round) and the
        coordinates of the two tangent points.
    """
    d0, d1 = _dot(p0, p0), _dot(p1, p1)
    tangent0 = sqrt(max(0.0, d0 - radius * radius))
    tangent1 = sqrt(max(0.0, d1 - radius * radius))
    sweep = turn * atan2(p0[0] * p1[1] - p0[1] * p1[0], _dot(p0, p1))
    if sweep < 0.0:
        sweep += 2.0 * pi
    angle = sweep - atan2(tangent0, radius) - atan2(tangent1, radius)
    # tangents from the ends of an arc of angle -a meet at the distance radius tan(a / 2)
    if angle < 0.0 and radius * tan(-0.5 * angle) > min(tangent0, tangent1):
        angle += 2.0 * pi
    a0, b0 = radius * radius / d0, turn * radius * tangent0 / d0
    a1, b1 = radius * radius / d1, -turn * radius * tangent1 / d1
    return (
        angle,
        a0 * p0[0] - b0 * p0[1],
        a0 * p0[1] + b0 * p0[0],
        a1 * p1[0] - b1 * p1[1],
        a1 * p1[1] + b1 * p1[0],
    )


@kernel
def _wrap_around(p0: Any, p1: Any, side: Any, has_side: bool, radius: float) -> Any:
    """Path around the circle: the shorter one, or the one whose arc is nearer to the direction of `side`."""
    nearest = _nearest_to_centre(p0, p1)
    misses = _dot(nearest, nearest) > radius * radius
    if misses and (not has_side or _dot(nearest, side) >= 0.0):
        return NO_WRAP
    left, right = _arc(p0, p1, radius, 1.0), _arc(p0, p1, radius, -1.0)
    if left[0] < 0.0 or right[0] < 0.0:
        return left if right[0] < 0.0 else right
    if not has_side:
        return left if left[0] <= right[0] else right
    return left if _towards(left, side) > _towards(right, side) else right


@kernel
def _towards(arc: Any, side: Any) -> float:
    """Cosine of the angle between the middle of the tangent points and `side`, times the length of `side`."""
    middle = (arc[1] + arc[3], arc[2] + arc[4])
    return _dot(middle, side) / max(MINVAL, _norm(middle))


@kernel
def _incidence(near0: float, near1: float, between: float) -> float:
    """What the sine of the angle of incidence of a path that touches the circle lacks to 1; negative: none was found.

    With the sine z, the law of sines in the triangle of centre, touching point and an end gives the angle at the centre
    as asin(z) - asin(near z), and the two angles must add up to the one between the ends. As in the reference, Newton's
    method starts where z lacks 1e-7 and stops when the angles fit to `TOUCH_TOLERANCE`; from there it can only go
    down, so that a path closer to a straight line isn't found. Near 1, what z lacks has more digits than z.

    Args:
        near0: radius over the distance of the first end from the centre.
        near1: the same of the second end.
        between: angle between the two ends, seen from the centre, rad.
    """
    lacking = FLATTEST * FLATTEST
    for _ in range(TOUCH_STEPS):
        z = 1.0 - lacking
        excess = asin(near0 * z) + asin(near1 * z) + 4.0 * asin(sqrt(0.5 * lacking)) - (pi - between)
        if abs(excess) < TOUCH_TOLERANCE:
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
def _wrap_through(p0: Any, p1: Any, radius: float) -> Any:
    """Path that touches the circle at one point, where the sum of the distances to both ends is smallest.

    When the search for it fails, the point is the one before the middle of the straight segment, as in the reference.
    """
    nearest = _nearest_to_centre(p0, p1)
    if _dot(nearest, nearest) <= radius * radius:
        return NO_WRAP
    sweep = atan2(p0[0] * p1[1] - p0[1] * p1[0], _dot(p0, p1))
    # counterclockwise from the end where the path begins
    begin, end = (p0, p1) if sweep >= 0.0 else (p1, p0)
    near = radius / _norm(begin)
    lacking = _incidence(near, radius / _norm(end), abs(sweep))
    if lacking < 0.0:
        middle = (p0[0] + p1[0], p0[1] + p1[1])
        scale = radius / max(MINVAL, _norm(middle))
        return (0.0, scale * middle[0], scale * middle[1], scale * middle[0], scale * middle[1])
    incidence = 0.5 * pi - 2.0 * asin(sqrt(0.5 * lacking))
    angle = atan2(begin[1], begin[0]) + incidence - asin(near * (1.0 - lacking))
    x, y = radius * cos(angle), radius * sin(angle)
    return (0.0, x, y, x, y)


@kernel
def _wrap_circle(p0: Any, p1: Any, side: Any, has_side: bool, radius: float) -> Any:
    """Path from `p0` to `p1` past a circle around the origin.

    Returns:
        Angle of the arc, or a negative number if the straight segment is the path, and the coordinates of the two
        points where the path meets and leaves the circle.
    """
    within = radius * radius
    if _dot(p0, p0) < within or _dot(p1, p1) < within or radius < MINVAL:
        return NO_WRAP
    if has_side and _dot(side, side) < within:
        return _wrap_through(p0, p1, radius)
    return _wrap_around(p0, p1, side, has_side, radius)


@kernel
def _any_normal(x: Any) -> Any:
    """A vector across `x`: the product with the two axes along which `x` is smallest."""
    a, b, c = abs(x[0]), abs(x[1]), abs(x[2])
    if a >= b and a >= c:
        return cross(x, (0.0, 1.0, 1.0))
    if b > c:
        return cross(x, (1.0, 0.0, 1.0))
    return cross(x, (1.0, 1.0, 0.0))


@kernel
def _wrap_sphere(p0: Any, p1: Any, side: Any, has_side: bool, radius: float) -> Any:
    """Path past a sphere; arguments and results as in `wrap`."""
    if norm3(p0) < MINVAL or norm3(p1) < MINVAL:
        return NO_PATH
    # axes of the plane: x towards the first end
    x = normalize3(p0)
    normal = cross(x, normalize3(p1))
    if norm3(normal) < MINVAL:
        normal = _any_normal(x)
    y = normalize3(cross(normalize3(normal), x))
    flat_side = (dot3(x, side), dot3(y, side))
    arc = _wrap_circle((dot3(x, p0), dot3(y, p0)), (dot3(x, p1), dot3(y, p1)), flat_side, has_side, radius)
    first = add_scaled3(scale3(x, arc[1]), y, arc[2])
    second = add_scaled3(scale3(x, arc[3]), y, arc[4])
    return arc[0] * radius if arc[0] >= 0.0 else -1.0, first, second


@kernel
def _wrap_cylinder(p0: Any, p1: Any, side: Any, has_side: bool, radius: float) -> Any:
    """Path past a cylinder; arguments and results as in `wrap`."""
    arc = _wrap_circle((p0[0], p0[1]), (p1[0], p1[1]), (side[0], side[1]), has_side, radius)
    flat = arc[0] * radius
    before = _norm((p0[0] - arc[1], p0[1] - arc[2]))
    after = _norm((p1[0] - arc[3], p1[1] - arc[4]))
    # the unrolled path climbs evenly
    climb = (p1[2] - p0[2]) / max(MINVAL, before + flat + after)
    z0, z1 = p0[2] + climb * before, p1[2] - climb * after
    length = sqrt(flat * flat + (z1 - z0) * (z1 - z0)) if arc[0] >= 0.0 else -1.0
    return length, (arc[1], arc[2], z0), (arc[3], arc[4], z1)


@kernel
def wrap(p0: Any, p1: Any, side: Any, has_side: bool, radius: float, cylinder: bool) -> Any:
    """Path from `p0` to `p1` past an obstacle.

    Args:
        p0: first end (3,), in the frame of the obstacle, m.
        p1: second end (3,).
        side: site (3,) that picks the side; inside the obstacle, it makes the path go through.
        has_side: whether there is such a site.
        radius: of the sphere or the cylinder, m.
        cylinder: whether the obstacle is a cylinder along the z axis, not a sphere.

    Returns:
        Length of the path on the surface, or a negative number if the straight segment is the path, and the points
        where the path meets and leaves the obstacle.
    """
    if cylinder:
        return _wrap_cylinder(p0, p1, side, has_side, radius)
    return _wrap_sphere(p0, p1, side, has_side, radius)
