"""Collisions of convex geoms by their support functions.

One collision function serves all pairs of types without an analytic collision function. The types differ only in their
support functions (`cardan.collision.support`).

The search (`cardan.collision.mpr`) ends with a portal, a small triangle between support points. On a curved surface,
the portal's normal depends on the choice of these points. If a shape has a smooth surface near the contact, the normal
of this surface is used instead. The normal of the contact is the mean of the two shapes' normals.

Spec: computation, collision detection, collision checking; modelling, multiccd. The closest point of an ellipsoid to a
point outside: D. Eberly, Distance from a point to an ellipse, an ellipsoid, or a hyperellipsoid (2013), section 3.
"""

from __future__ import annotations

from math import sqrt

from cardan.collision.contact import put_contact
from cardan.collision.culling import axis_separates, boxes_apart, forget_axis, keep_axis
from cardan.collision.hull_search import recall_pair
from cardan.collision.mpr import portal_refinement
from cardan.collision.support import load_geom
from cardan.enums.codes import ENBL_MULTICCD, GEOM_CAPSULE, GEOM_CYLINDER, GEOM_ELLIPSOID, GEOM_SPHERE
from cardan.jit import collider, exact, kernel
from cardan.maths.quaternion import axis_angle2quat, rot_vec_quat
from cardan.maths.types import Vec3
from cardan.maths.vector import (
    MINVAL,
    add3,
    add_scaled3,
    column3,
    dot3,
    get3,
    get9,
    mul3,
    mul_mat_t_vec3,
    mul_mat_vec3,
    norm3,
    scale3,
    set3,
    set9,
    sub3,
)
from cardan.model.kernel_views import Data, Model

ITERATIONS = 30
TOLERANCE = 1e-6
"""Change of a unit normal below which the iteration in `ellipsoid_normal_inside` ends."""
LEAST_STEP = 1e-6
"""Step of Newton's method (m^2) below which the iteration in `ellipsoid_normal_outside` ends."""
RIM = 0.95
"""Share of a cylinder's half-length beyond which its side does not determine the normal."""
CAP_SLOPE = 0.25
"""Ratio of distances to cap and side, below which a point in a cylinder belongs to the cap."""
NO_NORMAL = (0.0, 0.0, 0.0)
SPACING = 1e-3
"""Smallest distance between two contacts, relative to the radius of the smaller bounding sphere."""
TILT = 1e-3
"""Angle by which geoms are tilted to find further contacts (rad)."""


@kernel
def unit_or_none(v: Vec3) -> Vec3:
    """Normalise `v`; return the zero vector if `v` is too short to have a direction."""
    length = norm3(v)
    return scale3(v, 1.0 / length) if length > MINVAL else NO_NORMAL


@kernel
def divide_by_squares(v: Vec3, size: Vec3, shift: float) -> Vec3:
    """Return v / (size^2 + shift), component by component."""
    return (
        v[0] / (size[0] * size[0] + shift),
        v[1] / (size[1] * size[1] + shift),
        v[2] / (size[2] * size[2] + shift),
    )


@kernel
def ellipsoid_normal_inside(point: Vec3, size: Vec3, normal: Vec3) -> Vec3:
    """Normal of an ellipsoid at the point of its surface that is closest to a point inside.

    Starting with `normal`, each iteration goes from the point along the current normal to the surface, and continues
    with the surface's normal there. The iteration ends when the two normals agree.
    """
    for _ in range(ITERATIONS):
        outward = divide_by_squares(normal, size, 0.0)
        a = dot3(normal, outward)
        b = dot3(point, outward)
        c = dot3(point, divide_by_squares(point, size, 0.0)) - 1.0
        step = (sqrt(max(b * b - a * c, 0.0)) - b) / a
        new = unit_or_none(divide_by_squares(add_scaled3(point, normal, step), size, 0.0))
        change = norm3(sub3(new, normal))
        normal = new
        if change < TOLERANCE:
            break
    return normal


@kernel
def ellipsoid_normal_outside(point: Vec3, size: Vec3) -> Vec3:
    """Normal of an ellipsoid at the point of its surface that is closest to a point outside.

    The closest point is size^2 point / (size^2 + t), where t > 0 is the root of a convex decreasing function. Newton's
    method finds the root from t = 0 without overshooting. Steps below an absolute threshold are not made. If an
    ellipsoid is only millimetres large, no step is made; the result is then the normal of the similar ellipsoid through
    the point, as in the reference.
    """
    t = 0.0
    for _ in range(ITERATIONS):
        direction = divide_by_squares(point, size, t)
        scaled = mul3(direction, size)
        value = dot3(scaled, scaled) - 1.0
        slope = 2.0 * dot3(scaled, divide_by_squares(scaled, size, t))
        if value < LEAST_STEP * slope or slope < MINVAL:
            break
        t += value / slope
    return unit_or_none(divide_by_squares(point, size, t))


@kernel
def cylinder_normal(point: Vec3, size: Vec3) -> Vec3:
    """Normal of a cylinder's side near a point in the cylinder's frame; 0 if the point is close to a cap."""
    height = abs(point[2])
    radius = sqrt(point[0] * point[0] + point[1] * point[1])
    if height > RIM * size[1] or size[1] - height < CAP_SLOPE * (size[0] - radius):
        return NO_NORMAL
    return unit_or_none((point[0], point[1], 0.0))


@kernel
def shape_normal(d: Data, shape: int, pos: Vec3, normal: Vec3) -> Vec3:
    """Outward normal of a shape near a point in the world frame; 0 if the shape has no normal of its own there.

    `normal` is the outward normal that the collision function found.
    """
    kind = d.work.shape_type[shape]
    if kind not in (GEOM_SPHERE, GEOM_CAPSULE, GEOM_ELLIPSOID, GEOM_CYLINDER):
        return NO_NORMAL
    xmat = get9(d.work.shape_mat, shape)
    size = get3(d.work.shape_size, shape)
    point = mul_mat_t_vec3(xmat, sub3(pos, get3(d.work.shape_pos, shape)))
    if kind == GEOM_ELLIPSOID:
        if min(size[0], size[1], size[2]) < MINVAL:
            local = NO_NORMAL
        elif dot3(point, divide_by_squares(point, size, 0.0)) < 1.0:
            local = ellipsoid_normal_inside(point, size, mul_mat_t_vec3(xmat, normal))
        else:
            local = ellipsoid_normal_outside(point, size)
    elif kind == GEOM_CYLINDER:
        local = cylinder_normal(point, size)
    elif kind == GEOM_CAPSULE:
        local = unit_or_none((point[0], point[1], point[2] - min(max(point[2], -size[1]), size[1])))
    else:
        local = unit_or_none(point)
    return mul_mat_vec3(xmat, local)


@kernel
def smooth_normal(d: Data, pos: Vec3, normal: Vec3) -> Vec3:
    """Contact normal, from shape 0 to 1: the mean of their surface normals at `pos`, or `normal` if neither has one."""
    normal1 = shape_normal(d, 0, pos, normal)
    normal2 = shape_normal(d, 1, pos, scale3(normal, -1.0))
    mean = unit_or_none(add3(normal1, scale3(normal2, -1.0)))
    return mean if dot3(mean, mean) > 0.0 else normal


@kernel
def collide_shapes(m: Model, d: Data, k: int) -> int:
    """Write contact `k` of the two shapes in ``d.work.shape_*``, if there is one; return the new number of contacts.

    Each shape is enlarged by half of the margin, so the distance is the margin minus the depth.
    """
    d.work.shape_inflate = 0.5 * d.work.near_margin
    if not portal_refinement(m, d):
        return k
    pos = get3(d.work.overlap_pos, 0)
    dist = d.work.near_margin - d.work.overlap_depth
    put_contact(d, k, dist, pos, smooth_normal(d, pos, get3(d.work.overlap_normal, 0)))
    return k + 1


@kernel
def tilt_shape(d: Data, shape: int, geom: int, center: Vec3, axis: Vec3, angle: float) -> None:
    """Set the pose of shape `shape` to that of a geom rotated by `angle` about an axis through `center`."""
    quat = axis_angle2quat(axis, angle)
    set3(d.work.shape_pos, shape, add3(center, rot_vec_quat(sub3(get3(d.geom_xpos, geom), center), quat)))
    xmat = get9(d.geom_xmat, geom)
    x = rot_vec_quat(column3(xmat, 0), quat)
    y = rot_vec_quat(column3(xmat, 1), quat)
    z = rot_vec_quat(column3(xmat, 2), quat)
    set9(d.work.shape_mat, shape, (x[0], y[0], z[0], x[1], y[1], z[1], x[2], y[2], z[2]))


@collider
@exact
def convex_convex(m: Model, d: Data, geom1: int, geom2: int) -> int:
    """Write one contact of two convex geoms, or up to five if ``multiccd`` is enabled. Return the number of contacts.

    With ``multiccd``, geoms that have a contact and flat parts are tilted against each other. If a contact found this
    way has a new position, it is added with the distance of the first contact.
    """
    if boxes_apart(m, d, geom1, geom2, d.work.near_margin):
        return 0
    load_geom(m, d, 0, geom1)
    load_geom(m, d, 1, geom2)
    if axis_separates(m, d, geom1, geom2):
        return 0
    recall_pair(d, geom1, geom2)
    type1, type2 = m.geom_type[geom1], m.geom_type[geom2]
    flat = type1 not in (GEOM_SPHERE, GEOM_ELLIPSOID) and type2 not in (GEOM_SPHERE, GEOM_ELLIPSOID)
    several = (m.opt.enableflags & ENBL_MULTICCD) != 0 and flat
    spacing = SPACING * min(m.geom_rbound[geom1], m.geom_rbound[geom2])
    ncon = 0
    for trial in range(5 if several else 1):
        if trial == 0 or ncon > 0:
            if trial > 0:  # about the first contact: both signs and both tangents
                center, frame = get3(d.work.near_pos, 0), get9(d.work.near_frame, 0)
                axis = (frame[3], frame[4], frame[5]) if trial <= 2 else (frame[6], frame[7], frame[8])
                angle = -TILT if trial % 2 == 1 else TILT
                tilt_shape(d, 0, geom1, center, axis, angle)
                tilt_shape(d, 1, geom2, center, axis, -angle)
            found = collide_shapes(m, d, ncon)
            is_new = found > ncon
            for i in range(ncon if is_new else 0):
                apart = norm3(sub3(get3(d.work.near_pos, i), get3(d.work.near_pos, ncon)))
                is_new = is_new and not apart <= spacing
            if is_new:
                d.work.near_dist[ncon] = d.work.near_dist[0]
                ncon = found
    if ncon == 0:
        keep_axis(d, geom1, geom2)
    else:
        forget_axis(d, geom1, geom2)
    return ncon
