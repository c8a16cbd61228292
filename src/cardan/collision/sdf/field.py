"""Signed distances of the two sides of a pair of geoms, in the world frame.

Sides 0 and 1 of the pair are stored in ``d.work.sdf_*``: type, sizes and frame. Distances and gradients of registered
shapes are computed by their native entries (`cardan.collision.sdf.shape`), those of primitives by formulas.
"""

from __future__ import annotations

from cardan.collision.sdf.primitives import primitive_distance, primitive_gradient
from cardan.enums.codes import GEOM_SDF
from cardan.jit import call_collider, kernel
from cardan.maths.quaternion import quat2mat
from cardan.maths.types import Mat3, Vec3
from cardan.maths.vector import get3, get9, mul_mat_t_vec3, mul_mat_vec3, set3, set9, sub3
from cardan.model.kernel_views import Data, Model


@kernel
def mul_mat_mat_t(a: Mat3, b: Mat3) -> Mat3:
    """Product A B' of 3 x 3 matrices."""
    x = mul_mat_vec3(b, (a[0], a[1], a[2]))
    y = mul_mat_vec3(b, (a[3], a[4], a[5]))
    z = mul_mat_vec3(b, (a[6], a[7], a[8]))
    return (x[0], x[1], x[2], y[0], y[1], y[2], z[0], z[1], z[2])


@kernel
def has_distance(m: Model, geom: int) -> bool:
    """Whether a geom has a signed distance. A geom of type sdf without a plugin has none, and collides with nothing."""
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
    """Compute the signed distance of a point in the world frame from one side; if `gradient`, also its gradient.

    Returns the distance; writes the gradient, in the world frame, to ``d.work.sdf_gradient``.
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
