"""Collisions of spheres and capsules with each other, and of a sphere with a box and with a cylinder.

A capsule is the set of points within its radius of a segment; a sphere is a capsule of length 0. The contacts of two
such shapes are the contacts of two spheres centred at the closest points of their segments. The contact of a sphere
with a convex solid is at the point of the solid nearest to the sphere's centre. If the centre is inside the solid, the
contact is at the nearest point of the surface.

Sources: C. Ericson, Real-Time Collision Detection (2005), sections 5.1.2 (point and segment), 5.1.4 (point and box) and
5.1.9 (two segments).
"""

from __future__ import annotations

from math import inf, sqrt

from cardan.collision.contact import put_contact
from cardan.jit import collider, exact, kernel
from cardan.maths.types import Array2, Vec3
from cardan.maths.vector import (
    MINVAL,
    add3,
    add_scaled3,
    cross,
    dot3,
    get3,
    get9,
    mul_mat_t_vec3,
    mul_mat_vec3,
    norm3,
    normalize3,
    scale3,
    sub3,
)
from cardan.model.kernel_views import Data, Model


@kernel
def axis_z(xmat: Array2, geom: int) -> Vec3:
    """Z axis of a geom in the world frame. It is the axis of capsules and cylinders, and the normal of planes."""
    return (xmat[geom, 2], xmat[geom, 5], xmat[geom, 8])


@kernel
def axis_of(d: Data, geom: int, k: int) -> Vec3:
    """Axis `k` (0 to 2) of a geom in the world frame."""
    return (d.geom_xmat[geom, k], d.geom_xmat[geom, 3 + k], d.geom_xmat[geom, 6 + k])


@kernel
def to_geom(d: Data, geom: int, point: Vec3) -> Vec3:
    """Transform a point from the world frame to the frame of a geom."""
    return mul_mat_t_vec3(get9(d.geom_xmat, geom), sub3(point, get3(d.geom_xpos, geom)))


@kernel
def from_geom(d: Data, geom: int, local: Vec3) -> Vec3:
    """Transform a point from the frame of a geom to the world frame."""
    return add3(get3(d.geom_xpos, geom), mul_mat_vec3(get9(d.geom_xmat, geom), local))


@kernel
def component(v: Vec3, k: int) -> float:
    """Component `k` of a vector."""
    return v[0] if k == 0 else (v[1] if k == 1 else v[2])


@kernel
def unit_axis(k: int) -> Vec3:
    """Unit vector along axis `k` of a frame."""
    return (1.0 if k == 0 else 0.0, 1.0 if k == 1 else 0.0, 1.0 if k == 2 else 0.0)


@kernel
def clamp(x: float, low: float, high: float) -> float:
    """Limit `x` to [low, high]."""
    return min(max(x, low), high)


@kernel
def spheres_contact(
    d: Data, k: int, geom1: int, center1: Vec3, radius1: float, geom2: int, center2: Vec3, radius2: float
) -> int:
    """Write the contact of two spheres, if they are not farther apart than ``d.work.near_margin``.

    The spheres belong to `geom1` and `geom2`, or to an element of a flex (id -1). Their centres `center1` and `center2`
    are in the world frame (m), and `radius1` and `radius2` are their radii (m). `k` is the number of contacts that the
    pair has so far. If the centres are equal, the normal is perpendicular to the z axes of both geoms; for a flex, it
    is the world's x axis.

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
    """Write the contact of two spheres, on the line of centres; return the number of contacts, 0 or 1."""
    center1, center2 = get3(d.geom_xpos, geom1), get3(d.geom_xpos, geom2)
    return spheres_contact(d, 0, geom1, center1, m.geom_size[geom1, 0], geom2, center2, m.geom_size[geom2, 0])


@collider
@exact
def sphere_capsule(m: Model, d: Data, geom1: int, geom2: int) -> int:
    """Write the contact of a sphere and a capsule, at the closest point of the capsule's segment.

    Return the number of contacts, 0 or 1.
    """
    sphere = get3(d.geom_xpos, geom1)
    center, axis, half = get3(d.geom_xpos, geom2), axis_z(d.geom_xmat, geom2), m.geom_size[geom2, 1]
    point = add_scaled3(center, axis, clamp(dot3(axis, sub3(sphere, center)), -half, half))
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
    """Write up to two contacts of parallel capsules, and return their number.

    Each contact is between an end of one capsule and the nearest point of the other. Arguments: see `capsules_contact`.
    """
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
    """Write the contacts of two capsules: one at the closest points of their segments; up to two if they are parallel.

    With the segments p = c + s u, q = e + t v for s, t in [-1, 1], the squared distance is a quadratic function of s
    and t. Its minimum over the square is found from its minimum over the plane in three steps. Clamp s; compute t for
    this s and clamp it; compute s for this t and clamp it (Ericson, section 5.1.9).

    The first capsule has the middle `center1` in the world frame (m), the vector `u` from there to the end of its
    segment, and `radius1`; the second has `center2`, `v` and `radius2`. Elements of flexes have geom id -1. Return the
    number of contacts.
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
    """Write the contact of two capsules at the closest points of their segments; up to two if they are parallel.

    Return the number of contacts.
    """
    center1, center2 = get3(d.geom_xpos, geom1), get3(d.geom_xpos, geom2)
    u, v = half_axis(m, d, geom1), half_axis(m, d, geom2)
    return capsules_contact(d, geom1, center1, u, m.geom_size[geom1, 0], geom2, center2, v, m.geom_size[geom2, 0])


@kernel
def way_out(point: Vec3, size: Vec3) -> tuple[int, float, float]:
    """Find the face of a box nearest to a point inside it; return axis, side (1 or -1) and depth below the face.

    If several faces are equally near, the first in the order -x, +x, -y, +y, -z, +z is taken.
    """
    axis, side, depth = 0, 1.0, inf
    for k in range(6):
        direction = 1.0 if k % 2 else -1.0
        below = component(size, k // 2) - direction * component(point, k // 2)
        if below < depth:
            axis, side, depth = k // 2, direction, below
    return axis, side, depth


@kernel
def sphere_in_box(m: Model, d: Data, k: int, center: Vec3, radius: float, local: Vec3, box: int) -> int:
    """Write contact `k` of a sphere whose centre is inside a box. The normal is perpendicular to the nearest face.

    Return the new number of contacts, k + 1. As in MuJoCo, the distance is -radius, as if the centre were on the
    surface. The position takes the depth into account.
    """
    axis, side, depth = way_out(local, get3(m.geom_size, box))
    normal = scale3(axis_of(d, box, axis), -side)
    put_contact(d, k, -radius, add_scaled3(center, normal, 0.5 * (radius - depth)), normal)
    return k + 1


@kernel
def sphere_box_contact(m: Model, d: Data, k: int, center: Vec3, radius: float, box: int) -> int:
    """Write the contact between a box and any sphere, whether a geom or a part of another shape.

    The centre is in the world frame (m). Return the new number of contacts of the pair: `k` or k + 1.
    """
    size, local = get3(m.geom_size, box), to_geom(d, box, center)
    nearest = (
        clamp(local[0], -size[0], size[0]),
        clamp(local[1], -size[1], size[1]),
        clamp(local[2], -size[2], size[2]),
    )
    between = sub3(nearest, local)
    length = norm3(between)
    dist = length - radius
    if dist > d.work.near_margin:
        return k
    if length <= MINVAL:
        return sphere_in_box(m, d, k, center, radius, local, box)
    normal = mul_mat_vec3(get9(d.geom_xmat, box), scale3(between, 1.0 / length))
    put_contact(d, k, dist, add_scaled3(center, normal, radius + 0.5 * dist), normal)
    return k + 1


@collider
@exact
def sphere_box(m: Model, d: Data, geom1: int, geom2: int) -> int:
    """Write the contact of a sphere with the nearest point of a box; return the number of contacts, 0 or 1."""
    return sphere_box_contact(m, d, 0, get3(d.geom_xpos, geom1), m.geom_size[geom1, 0], geom2)


@kernel
def sphere_cap(m: Model, d: Data, geom1: int, geom2: int, height: float) -> int:
    """Write the contact of a sphere, whose centre has the axial coordinate `height`, and a flat end of a cylinder.

    Return the number of contacts, 0 or 1.
    """
    side = 1.0 if height >= 0.0 else -1.0
    normal = scale3(axis_z(d.geom_xmat, geom2), -side)
    center = get3(d.geom_xpos, geom1)
    cap = add_scaled3(get3(d.geom_xpos, geom2), normal, -m.geom_size[geom2, 1])
    dist = dot3(normal, sub3(cap, center)) - m.geom_size[geom1, 0]
    if dist > d.work.near_margin:
        return 0
    put_contact(d, 0, dist, add_scaled3(center, normal, m.geom_size[geom1, 0] + 0.5 * dist), normal)
    return 1


@collider
@exact
def sphere_cylinder(m: Model, d: Data, geom1: int, geom2: int) -> int:
    """Write the contact of a sphere with the side, a flat end or a rim of a cylinder.

    Return the number of contacts, 0 or 1.
    """
    center = get3(d.geom_xpos, geom1)
    radius = m.geom_size[geom1, 0]
    middle = get3(d.geom_xpos, geom2)
    axis = axis_z(d.geom_xmat, geom2)
    cylinder_radius = m.geom_size[geom2, 0]
    half = m.geom_size[geom2, 1]

    # coordinates of the centre: along the axis and perpendicular to it
    height = dot3(axis, sub3(center, middle))
    foot = add_scaled3(middle, axis, height)
    across = sub3(center, foot)
    distance = norm3(across)
    inside_ends = abs(height) < half
    inside_side = distance < cylinder_radius
    if inside_ends and inside_side:
        if half - abs(height) < cylinder_radius - distance:
            inside_ends = False
        else:
            inside_side = False

    if inside_ends:
        return spheres_contact(d, 0, geom1, center, radius, geom2, foot, cylinder_radius)
    if inside_side:
        return sphere_cap(m, d, geom1, geom2, height)
    end = add_scaled3(middle, axis, half if height >= 0.0 else -half)
    rim = add3(end, scale3(across, cylinder_radius / distance))
    return spheres_contact(d, 0, geom1, center, radius, geom2, rim, 0.0)
