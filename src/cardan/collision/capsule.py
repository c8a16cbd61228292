"""Collisions of spheres and capsules with each other.

A capsule is the set of points within its radius of a segment; a sphere is a capsule of length 0. The contacts of two
such shapes are those of two spheres centred at the closest points of their segments.

Sources: C. Ericson, Real-Time Collision Detection (2005), sections 5.1.2 (point and segment) and 5.1.9 (two segments).
"""

from __future__ import annotations

from math import sqrt

from cardan.collision.contact import put_contact
from cardan.constants import mjMINVAL
from cardan.jit import collider, exact, kernel
from cardan.maths.types import Array2, Vec3
from cardan.maths.vector import add_scaled3, cross, dot3, get3, normalize3, scale3, sub3
from cardan.model.kernel_views import Data, Model

MINVAL = mjMINVAL


@kernel
def axis_z(xmat: Array2, geom: int) -> Vec3:
    """Z axis of a geom in the world frame: the axis of capsules and cylinders, the normal of planes."""
    return (xmat[geom, 2], xmat[geom, 5], xmat[geom, 8])


@kernel
def axis_of(d: Data, geom: int, k: int) -> Vec3:
    """Axis `k` (0 to 2) of a geom in the world frame."""
    return (d.geom_xmat[geom, k], d.geom_xmat[geom, 3 + k], d.geom_xmat[geom, 6 + k])


@kernel
def component(v: Vec3, k: int) -> float:
    """Component `k` of a vector."""
    return v[0] if k == 0 else (v[1] if k == 1 else v[2])


@kernel
def clamp(x: float, low: float, high: float) -> float:
    """Limit `x` to [low, high]."""
    return min(max(x, low), high)


@kernel
def spheres_contact(
    d: Data, k: int, geom1: int, center1: Vec3, radius1: float, geom2: int, center2: Vec3, radius2: float
) -> int:
    """Write the contact of two spheres that belong to two geoms.

    If the spheres have the same centre, the normal is perpendicular to the z axes of the two geoms. If one of them
    belongs to an element of a flex, it is the world's x axis.

    Args:
        d: data; contacts are found up to the distance ``d.work.near_margin``.
        k: number of contacts of the pair so far.
        geom1: id of the first geom, or -1 for an element of a flex.
        center1: centre of the first sphere, world frame (m).
        radius1: radius of the first sphere (m).
        geom2: id of the second geom, or -1.
        center2: centre of the second sphere, world frame (m).
        radius2: radius of the second sphere (m).

    Returns:
        The new number of contacts of the pair: `k` or k + 1.
    """
    between = sub3(center2, center1)
    reach = radius1 + radius2 + d.work.near_margin
    square = dot3(between, between)
    if square > reach * reach:
        return k
    length = sqrt(square)
    dist = length - radius1 - radius2
    if length >= MINVAL:
        normal = scale3(between, 1.0 / length)
    elif geom1 < 0 or geom2 < 0:
        normal = (1.0, 0.0, 0.0)
    else:
        normal = normalize3(cross(axis_z(d.geom_xmat, geom1), axis_z(d.geom_xmat, geom2)))
    put_contact(d, k, dist, add_scaled3(center1, normal, radius1 + 0.5 * dist), normal)
    return k + 1


@collider
@exact
def sphere_sphere(m: Model, d: Data, geom1: int, geom2: int) -> int:
    """Find the contact of two spheres: at most one, on the line of centres."""
    return spheres_contact(
        d,
        0,
        geom1,
        get3(d.geom_xpos, geom1),
        m.geom_size[geom1, 0],
        geom2,
        get3(d.geom_xpos, geom2),
        m.geom_size[geom2, 0],
    )


@kernel
def closest_on_segment(center: Vec3, axis: Vec3, half_length: float, point: Vec3) -> Vec3:
    """Point of a segment that is closest to `point`; `axis` is the unit direction of the segment."""
    return add_scaled3(center, axis, clamp(dot3(axis, sub3(point, center)), -half_length, half_length))


@collider
@exact
def sphere_capsule(m: Model, d: Data, geom1: int, geom2: int) -> int:
    """Find the contact of a sphere and a capsule: at most one, at the closest point of the capsule's segment."""
    sphere = get3(d.geom_xpos, geom1)
    axis = axis_z(d.geom_xmat, geom2)
    point = closest_on_segment(get3(d.geom_xpos, geom2), axis, m.geom_size[geom2, 1], sphere)
    return spheres_contact(d, 0, geom1, sphere, m.geom_size[geom1, 0], geom2, point, m.geom_size[geom2, 0])


@kernel
def closest_on_half(center: Vec3, half: Vec3, point: Vec3) -> Vec3:
    """Point of a segment that is closest to `point`; `half` goes from the centre of the segment to its end."""
    square = dot3(half, half)
    if square < MINVAL * MINVAL:
        return center
    return add_scaled3(center, half, clamp(dot3(half, sub3(point, center)) / square, -1.0, 1.0))


@kernel
def parallel_capsules(
    d: Data, geom1: int, center1: Vec3, u: Vec3, radius1: float, geom2: int, center2: Vec3, v: Vec3, radius2: float
) -> int:
    """Find contacts of parallel capsules: the first two among the contacts of the four ends with the other capsule."""
    ncon = 0
    for end in range(4):
        side = 1.0 - 2.0 * (end % 2)
        if end < 2:
            point1 = add_scaled3(center1, u, side)
            point2 = closest_on_half(center2, v, point1)
        else:
            point2 = add_scaled3(center2, v, side)
            point1 = closest_on_half(center1, u, point2)
        if ncon < 2:
            ncon = spheres_contact(d, ncon, geom1, point1, radius1, geom2, point2, radius2)
    return ncon


@kernel
def capsules_contact(
    d: Data, geom1: int, center1: Vec3, u: Vec3, radius1: float, geom2: int, center2: Vec3, v: Vec3, radius2: float
) -> int:
    """Find the contacts of two capsules: one at the closest points of their segments; up to two if they are parallel.

    With the segments p = c + s u, q = e + t v for s, t in [-1, 1], the squared distance is a quadratic function of s
    and t. Its minimum over the square is found from its minimum over the plane in three steps. Clamp s; compute t for
    this s and clamp it; compute s for this t and clamp it (Ericson, section 5.1.9).

    Args:
        d: data; contacts are found up to the distance ``d.work.near_margin``.
        geom1: id of the first geom, or -1 for an element of a flex.
        center1: middle of the first segment, world frame (m).
        u: vector from the middle to the end of the first segment.
        radius1: radius of the first capsule (m).
        geom2: id of the second geom, or -1.
        center2: middle of the second segment, world frame (m).
        v: vector from the middle to the end of the second segment.
        radius2: radius of the second capsule (m).

    Returns:
        The number of contacts.
    """
    between = sub3(center2, center1)

    # the quadratic function, and whether it has a unique minimum
    uu, uv, vv = dot3(u, u), dot3(u, v), dot3(v, v)
    ub, vb = dot3(u, between), dot3(v, between)
    determinant = uu * vv - uv * uv
    if abs(determinant) < MINVAL:
        return parallel_capsules(d, geom1, center1, u, radius1, geom2, center2, v, radius2)

    # closest points of the segments
    s = clamp((ub * vv - uv * vb) / determinant, -1.0, 1.0)
    t = (s * uv - vb) / vv
    if t > 1.0 or t < -1.0:
        t = clamp(t, -1.0, 1.0)
        s = clamp((ub + t * uv) / uu, -1.0, 1.0)
    point1, point2 = add_scaled3(center1, u, s), add_scaled3(center2, v, t)
    return spheres_contact(d, 0, geom1, point1, radius1, geom2, point2, radius2)


@kernel
def half_axis(m: Model, d: Data, geom: int) -> Vec3:
    """Vector from the middle of a capsule to the end of its segment, world frame."""
    return scale3(axis_z(d.geom_xmat, geom), m.geom_size[geom, 1])


@collider
@exact
def capsule_capsule(m: Model, d: Data, geom1: int, geom2: int) -> int:
    """Find the contact of two capsules at the closest points of their segments; up to two if they are parallel."""
    return capsules_contact(
        d,
        geom1,
        get3(d.geom_xpos, geom1),
        half_axis(m, d, geom1),
        m.geom_size[geom1, 0],
        geom2,
        get3(d.geom_xpos, geom2),
        half_axis(m, d, geom2),
        m.geom_size[geom2, 0],
    )
