"""Signed distances of the two sides of a pair of geoms, in the world frame.

Sides 0 and 1 of the pair are stored in ``d.work.sdf_*``: type, sizes and frame. Distances and gradients of registered
shapes are computed by their native entries (`cardan.collision.sdf.shape`), those of primitives by formulas. The
formulas are exact for sphere, capsule, cylinder and box. For an ellipsoid with semi-axes s, the first-order bound
k0 (k0 - 1) / k1 is used, with k0 = |p / s| and k1 = |p / s^2|.

Sources: I. Quilez, Distance functions (2008-).
"""

from __future__ import annotations

from math import copysign

from cardan.enums.codes import GEOM_BOX, GEOM_CAPSULE, GEOM_CYLINDER, GEOM_ELLIPSOID, GEOM_SDF
from cardan.jit import call_collider, kernel
from cardan.maths.quaternion import quat2mat
from cardan.maths.types import Mat3, Vec2, Vec3
from cardan.maths.vector import MINVAL, get3, get9, mul_mat_t_vec3, mul_mat_vec3, norm3, normalize3, set3, set9, sub3
from cardan.model.kernel_views import Data, Model

MAX_ATTRIBUTES = 8
"""Maximum number of attributes of a shape. Each distance function gets this many; unused attributes are 0."""


@kernel
def ellipsoid_terms(size: Vec3, p: Vec3) -> Vec2:
    """Lengths k0 = |p / s| and k1 = |p / s^2| for semi-axes s = `size`; k1 is at least MINVAL."""
    x, y, z = p[0] / size[0], p[1] / size[1], p[2] / size[2]
    return norm3((x, y, z)), max(norm3((x / size[0], y / size[1], z / size[2])), MINVAL)


@kernel
def primitive_distance(kind: int, size: Vec3, p: Vec3) -> float:
    """Signed distance of the point `p` from a primitive shape of type `kind`."""
    if kind == GEOM_CAPSULE:
        return norm3((p[0], p[1], p[2] - min(max(p[2], -size[1]), size[1]))) - size[0]
    if kind == GEOM_ELLIPSOID:
        k0, k1 = ellipsoid_terms(size, p)
        return k0 * (k0 - 1.0) / k1
    if kind == GEOM_CYLINDER:
        across = norm3((p[0], p[1], 0.0)) - size[0]
        along = abs(p[2]) - size[1]
        return min(max(across, along), 0.0) + norm3((max(across, 0.0), max(along, 0.0), 0.0))
    if kind == GEOM_BOX:
        x, y, z = abs(p[0]) - size[0], abs(p[1]) - size[1], abs(p[2]) - size[2]
        return min(max(x, y, z), 0.0) + norm3((max(x, 0.0), max(y, 0.0), max(z, 0.0)))
    return norm3((p[0], p[1], p[2])) - size[0]


@kernel
def ellipsoid_gradient(size: Vec3, p: Vec3) -> Vec3:
    """Gradient of the approximate distance from an ellipsoid, normalised."""
    k0, k1 = ellipsoid_terms(size, p)
    out = (2.0 * k0 - 1.0) / (max(k0, MINVAL) * k1)
    turn = k0 * (k0 - 1.0) / (k1 * k1 * k1)
    sx, sy, sz = size[0] * size[0], size[1] * size[1], size[2] * size[2]
    return normalize3((p[0] / sx * (out - turn / sx), p[1] / sy * (out - turn / sy), p[2] / sz * (out - turn / sz)))


@kernel
def cylinder_gradient(size: Vec3, p: Vec3) -> Vec3:
    """Gradient of the distance from a cylinder."""
    radius = max(norm3((p[0], p[1], 0.0)), MINVAL)
    across = radius - size[0]
    along = abs(p[2]) - size[1]
    if across <= 0.0 and along <= 0.0:
        across, along = (1.0, 0.0) if across > along else (0.0, 1.0)
    across, along = max(across, 0.0), max(along, 0.0)
    return normalize3((across * p[0] / radius, across * p[1] / radius, copysign(along, p[2])))


@kernel
def box_gradient(size: Vec3, p: Vec3) -> Vec3:
    """Gradient of the distance from a box: inside, towards the nearest face; outside, away from the nearest point."""
    x, y, z = abs(p[0]) - size[0], abs(p[1]) - size[1], abs(p[2]) - size[2]
    if max(x, y, z) <= 0.0:
        if x >= y and x >= z:
            x, y, z = 1.0, 0.0, 0.0
        elif y >= z:
            x, y, z = 0.0, 1.0, 0.0
        else:
            x, y, z = 0.0, 0.0, 1.0
    x, y, z = max(x, 0.0), max(y, 0.0), max(z, 0.0)
    return normalize3((copysign(x, p[0]), copysign(y, p[1]), copysign(z, p[2])))


@kernel
def primitive_gradient(kind: int, size: Vec3, p: Vec3) -> Vec3:
    """Gradient of `primitive_distance`, normalised."""
    if kind == GEOM_CAPSULE:
        return normalize3((p[0], p[1], p[2] - min(max(p[2], -size[1]), size[1])))
    if kind == GEOM_ELLIPSOID:
        return ellipsoid_gradient(size, p)
    if kind == GEOM_CYLINDER:
        return cylinder_gradient(size, p)
    if kind == GEOM_BOX:
        return box_gradient(size, p)
    return normalize3(p)


@kernel
def mul_mat_mat_t(a: Mat3, b: Mat3) -> Mat3:
    """Product A B' of 3 x 3 matrices."""
    x = mul_mat_vec3(b, (a[0], a[1], a[2]))
    y = mul_mat_vec3(b, (a[3], a[4], a[5]))
    z = mul_mat_vec3(b, (a[6], a[7], a[8]))
    return (x[0], x[1], x[2], y[0], y[1], y[2], z[0], z[1], z[2])


@kernel
def has_distance(m: Model, geom: int) -> bool:
    """Return whether a geom has a signed distance.

    A geom of type sdf without a plugin has none, and collides with nothing.
    """
    return m.geom_type[geom] != GEOM_SDF or m.geom_plugin[geom] >= 0


@kernel
def load_side(m: Model, d: Data, side: int, geom: int) -> None:
    """Load a geom as side 0 or 1 of the pair.

    The frame of a registered shape is the frame of its mesh before the compiler centred and rotated the mesh.
    """
    d.work.sdf_type[side] = m.geom_type[geom]
    xpos = get3(d.geom_xpos, geom)
    xmat = get9(d.geom_xmat, geom)
    for i in range(3):
        d.work.sdf_size[side, i] = m.geom_size[geom, i]
    if m.geom_type[geom] == GEOM_SDF:
        mesh = m.geom_dataid[geom]
        d.work.sdf_instance[side] = m.geom_plugin[geom]
        d.work.sdf_nearest[side] = 0
        quat = (m.mesh_quat[mesh, 0], m.mesh_quat[mesh, 1], m.mesh_quat[mesh, 2], m.mesh_quat[mesh, 3])
        xmat = mul_mat_mat_t(xmat, quat2mat(quat))
        xpos = sub3(xpos, mul_mat_vec3(xmat, get3(m.mesh_pos, mesh)))
    set3(d.work.sdf_pos, side, xpos)
    set9(d.work.sdf_mat, side, xmat)


@kernel
def evaluate(m: Model, d: Data, side: int, point: Vec3, gradient: int) -> float:
    """Return the signed distance of a point (world frame) from one side of the pair.

    If `gradient` is not 0, also write the gradient of the distance (world frame) to ``d.work.sdf_gradient``.
    """
    xmat = get9(d.work.sdf_mat, side)
    local = mul_mat_t_vec3(xmat, sub3(point, get3(d.work.sdf_pos, side)))
    kind = d.work.sdf_type[side]
    if kind == GEOM_SDF:
        set3(d.work.sdf_point, side, local)
        call_collider(m.aux.sdf_shape[d.work.sdf_instance[side]], m, d, side, gradient)
    else:
        size = get3(d.work.sdf_size, side)
        d.work.sdf_value[side] = primitive_distance(kind, size, local)
        if gradient:
            set3(d.work.sdf_gradient, side, primitive_gradient(kind, size, local))
    if gradient:
        set3(d.work.sdf_gradient, side, mul_mat_vec3(xmat, get3(d.work.sdf_gradient, side)))
    return d.work.sdf_value[side]
