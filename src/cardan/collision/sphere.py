"""Collisions of a sphere with a box and with a cylinder.

The contact is at the point of the convex solid nearest to the sphere's centre. If the centre is inside, it is at the
nearest point of the surface.

Sources: C. Ericson, Real-Time Collision Detection (2005), section 5.1.4 (point and box). The first geom of every
function is the sphere.
"""

from __future__ import annotations

from math import inf

from cardan.collision.capsule import axis_of, axis_z, clamp, spheres_contact
from cardan.collision.contact import put_contact
from cardan.constants import mjMINVAL
from cardan.jit import collider, exact, kernel
from cardan.maths.types import Vec3
from cardan.maths.vector import (
    add3,
    add_scaled3,
    dot3,
    get3,
    get9,
    mul_mat_t_vec3,
    mul_mat_vec3,
    norm3,
    scale3,
    sub3,
)
from cardan.model.kernel_views import Data, Model

MINVAL = mjMINVAL


@kernel
def way_out(point: Vec3, size: Vec3) -> tuple[int, float, float]:
    """Face of a box that is nearest to a point inside it: axis, side (1 or -1) and depth below the face.

    If faces are at the same depth, it is the first of them in the order -x, +x, -y, +y, -z, +z.
    """
    axis, side, depth = 0, 1.0, inf
    for k in range(6):
        direction = 1.0 if k % 2 else -1.0
        value = point[0] if k < 2 else (point[1] if k < 4 else point[2])
        half = size[0] if k < 2 else (size[1] if k < 4 else size[2])
        below = half - direction * value
        if below < depth:
            axis, side, depth = k // 2, direction, below
    return axis, side, depth


@kernel
def sphere_in_box(m: Model, d: Data, k: int, center: Vec3, radius: float, local: Vec3, box: int) -> int:
    """Write contact `k` of a sphere whose centre is inside a box: out of the nearest face.

    Its distance is that of a centre on the surface, as in the reference; its position takes the depth into account.
    """
    axis, side, depth = way_out(local, get3(m.geom_size, box))
    normal = scale3(axis_of(d, box, axis), -side)
    put_contact(d, k, -radius, add_scaled3(center, normal, 0.5 * (radius - depth)), normal)
    return k + 1


@kernel
def sphere_box_contact(m: Model, d: Data, k: int, center: Vec3, radius: float, box: int) -> int:
    """Find the contact of a sphere, at any place of its geom, with a box.

    Args:
        m: model.
        d: data; contacts are found up to the distance ``d.work.near_margin``.
        k: number of contacts of the pair so far.
        center: centre of the sphere, world frame (m).
        radius: radius of the sphere (m).
        box: id of the box.

    Returns:
        The new number of contacts of the pair: `k` or k + 1.
    """
    xmat = get9(d.geom_xmat, box)
    size = get3(m.geom_size, box)
    local = mul_mat_t_vec3(xmat, sub3(center, get3(d.geom_xpos, box)))
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
    normal = mul_mat_vec3(xmat, scale3(between, 1.0 / length))
    put_contact(d, k, dist, add_scaled3(center, normal, radius + 0.5 * dist), normal)
    return k + 1


@collider
@exact
def sphere_box(m: Model, d: Data, geom1: int, geom2: int) -> int:
    """Find the contact of a sphere and a box: at most one, with the nearest point of the box."""
    return sphere_box_contact(m, d, 0, get3(d.geom_xpos, geom1), m.geom_size[geom1, 0], geom2)


@kernel
def sphere_cap(m: Model, d: Data, geom1: int, geom2: int, height: float) -> int:
    """Find the contact of a sphere in front of a flat end of a cylinder; `height` is its centre's axial coordinate."""
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
    """Find the contact of a sphere and a cylinder: at most one, with the side, a flat end or a rim."""
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
