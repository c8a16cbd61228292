"""Jacobians of points and bodies, column by column along the chain of dofs that move a body (spec: mj_jac).

The chain of a body starts at ``m.aux.body_lastdof[body]`` and continues through ``m.dof_parentid`` until it is
negative. All other columns of the body's Jacobians are zero.
"""

from __future__ import annotations

from cardan.enums.codes import JAC_AUTO, JAC_SPARSE, JNT_BALL, JNT_FREE
from cardan.jit import kernel
from cardan.maths.types import Array1, Array2, Vec3
from cardan.maths.vector import add3, cross, dot3, get3, get9, mul_mat_t_vec3, mul_mat_vec3, scale3, sub3
from cardan.model.kernel_views import AnyModel, Data, Model

AUTO_SPARSE_NV = 60


@kernel
def is_sparse(m: AnyModel) -> bool:
    """Return whether constraint and tendon Jacobians are stored in compressed rows (spec: mj_isSparse)."""
    return m.opt.jacobian == JAC_SPARSE or (m.opt.jacobian == JAC_AUTO and m.nv >= AUTO_SPARSE_NV)


@kernel
def arm_of(m: Model, d: Data, point: Vec3, body: int) -> Vec3:
    """Vector from the centre of mass of the body's tree to a point (world frame), as an argument of `point_column`."""
    return sub3(point, get3(d.subtree_com, m.body_rootid[body]))


@kernel
def rotation_column(d: Data, dof: int) -> Vec3:
    """Column of the rotational Jacobian: angular velocity of the bodies that `dof` moves, per unit of its velocity."""
    return (d.cdof[dof, 0], d.cdof[dof, 1], d.cdof[dof, 2])


@kernel
def point_column(d: Data, dof: int, arm: Vec3) -> Vec3:
    """Column of the translational Jacobian of the point at `arm` (see `arm_of`)."""
    linear = (d.cdof[dof, 3], d.cdof[dof, 4], d.cdof[dof, 5])
    return add3(linear, cross(rotation_column(d, dof), arm))


@kernel
def dof_rate(d: Data, dof: int, force: Vec3, torque: Vec3) -> float:
    """Generalised force at a dof due to a force and a torque about the centre of mass of the tree."""
    linear = (d.cdof[dof, 3], d.cdof[dof, 4], d.cdof[dof, 5])
    return dot3(linear, force) + dot3(rotation_column(d, dof), torque)


@kernel
def _clear(m: Model, jacobian: Array2) -> None:
    for k in range(len(jacobian)):
        for dof in range(m.nv):
            jacobian[k, dof] = 0.0


@kernel
def set_column3(matrix: Array2, column: int, v: Vec3) -> None:
    """Store a vector in a column of a matrix (3, n)."""
    matrix[0, column] = v[0]
    matrix[1, column] = v[1]
    matrix[2, column] = v[2]


@kernel
def jac(m: Model, d: Data, jacp: Array2, jacr: Array2, point: Vec3, body: int) -> None:
    """Compute the Jacobians `jacp`, `jacr` (3, nv) of a point (world frame) fixed to a body.

    If an array has no rows, its Jacobian is skipped.
    """
    _clear(m, jacp)
    _clear(m, jacr)
    arm = arm_of(m, d, point, body)
    dof = m.aux.body_lastdof[body]
    while dof >= 0:
        linear = point_column(d, dof, arm)
        angular = rotation_column(d, dof)
        if len(jacp) > 0:
            set_column3(jacp, dof, linear)
        if len(jacr) > 0:
            set_column3(jacr, dof, angular)
        dof = m.dof_parentid[dof]


@kernel
def _axis_rate(m: Model, d: Data, dof: int) -> tuple[Vec3, Vec3]:
    """Return the time derivative of `cdof`: angular and linear part."""
    joint = m.dof_jntid[dof]
    first = m.jnt_dofadr[joint]
    if m.jnt_type[joint] == JNT_FREE:
        first += 3
    if (m.jnt_type[joint] != JNT_FREE and m.jnt_type[joint] != JNT_BALL) or dof < first:
        angular = (d.cdof_dot[dof, 0], d.cdof_dot[dof, 1], d.cdof_dot[dof, 2])
        return angular, (d.cdof_dot[dof, 3], d.cdof_dot[dof, 4], d.cdof_dot[dof, 5])
    body = m.dof_bodyid[dof]  # velocity of the body behind the joint
    turning = (d.cvel[body, 0], d.cvel[body, 1], d.cvel[body, 2])
    moving = (d.cvel[body, 3], d.cvel[body, 4], d.cvel[body, 5])
    for later in range(first + 3, m.body_dofadr[body] + m.body_dofnum[body]):
        turning = add3(turning, scale3(rotation_column(d, later), -d.qvel[later]))
        moving = add3(moving, scale3((d.cdof[later, 3], d.cdof[later, 4], d.cdof[later, 5]), -d.qvel[later]))
    axis = rotation_column(d, dof)
    linear = (d.cdof[dof, 3], d.cdof[dof, 4], d.cdof[dof, 5])
    return cross(turning, axis), add3(cross(turning, linear), cross(moving, axis))


@kernel
def jac_rate(m: Model, d: Data, jacp: Array2, jacr: Array2, point: Vec3, body: int) -> None:
    """Compute the time derivatives `jacp`, `jacr` (3, nv) of the Jacobians of a point fixed to a body.

    If an array has no rows, its Jacobian is skipped. `cvel` and `cdof_dot` are read. The derivative of a column
    ``v + w x arm`` is ``dv/dt + dw/dt x arm + w x (velocity of the point)``. Axes of ball and free joints turn with
    the body behind the joint; `cdof_dot` leaves out that part, because it cancels in the product with `qvel`.
    """
    _clear(m, jacp)
    _clear(m, jacr)
    arm = arm_of(m, d, point, body)
    turning = (d.cvel[body, 0], d.cvel[body, 1], d.cvel[body, 2])
    velocity = add3((d.cvel[body, 3], d.cvel[body, 4], d.cvel[body, 5]), cross(turning, arm))
    dof = m.aux.body_lastdof[body]
    while dof >= 0:
        angular, linear = _axis_rate(m, d, dof)
        linear = add3(linear, cross(angular, arm))
        if len(jacp) > 0:
            set_column3(jacp, dof, add3(linear, cross(rotation_column(d, dof), velocity)))
        if len(jacr) > 0:
            set_column3(jacr, dof, angular)
        dof = m.dof_parentid[dof]


@kernel
def jac_point_axis(m: Model, d: Data, jac_point: Array2, jac_axis: Array2, point: Vec3, axis: Vec3, body: int) -> None:
    """Compute the Jacobians (3, nv) of a point and of an axis (world frame) that are fixed to a body.

    If an array has no rows, its Jacobian is skipped.
    """
    _clear(m, jac_point)
    _clear(m, jac_axis)
    arm = arm_of(m, d, point, body)
    dof = m.aux.body_lastdof[body]
    while dof >= 0:
        linear = point_column(d, dof, arm)
        turning = cross(rotation_column(d, dof), axis)
        if len(jac_point) > 0:
            set_column3(jac_point, dof, linear)
        if len(jac_axis) > 0:
            set_column3(jac_axis, dof, turning)
        dof = m.dof_parentid[dof]


@kernel
def in_subtree(m: AnyModel, body: int, root: int) -> bool:
    """Return whether a body is in the subtree of `root`, which includes `root` (parents have smaller ids)."""
    while body > root:
        body = m.body_parentid[body]
    return body == root


@kernel
def jac_subtree_com(m: Model, d: Data, jacp: Array2, root: int) -> None:
    """Compute the Jacobian (3, nv) of the centre of mass of a body's subtree; do nothing if `jacp` has no rows."""
    if len(jacp) == 0:
        return
    _clear(m, jacp)
    for body in range(root, m.nbody):
        if m.body_mass[body] > 0.0 and in_subtree(m, body, root):
            share = m.body_mass[body] / m.body_subtreemass[root]
            arm = arm_of(m, d, get3(d.xipos, body), body)
            dof = m.aux.body_lastdof[body]
            while dof >= 0:
                column = point_column(d, dof, arm)
                for k in range(3):
                    jacp[k, dof] += share * column[k]
                dof = m.dof_parentid[dof]


@kernel
def angular_momentum_matrix(m: Model, d: Data, mat: Array2, root: int) -> None:
    """Compute the matrix (3, nv) that maps qvel to a subtree's angular momentum about its centre of mass."""
    _clear(m, mat)
    for body in range(root, m.nbody):
        if in_subtree(m, body, root):
            arm = arm_of(m, d, get3(d.xipos, body), body)
            lever = scale3(sub3(get3(d.xipos, body), get3(d.subtree_com, root)), m.body_mass[body])
            frame, inertia = get9(d.ximat, body), get3(m.body_inertia, body)
            dof = m.aux.body_lastdof[body]
            while dof >= 0:
                local = mul_mat_t_vec3(frame, rotation_column(d, dof))
                spin = mul_mat_vec3(frame, (inertia[0] * local[0], inertia[1] * local[1], inertia[2] * local[2]))
                column = add3(spin, cross(lever, point_column(d, dof, arm)))
                for k in range(3):
                    mat[k, dof] += column[k]
                dof = m.dof_parentid[dof]


@kernel
def apply_ft(m: Model, d: Data, force: Vec3, torque: Vec3, point: Vec3, body: int, result: Array1) -> None:
    """Add to `result` (nv,) the generalised forces of a force at a point and a torque on a body (world frame)."""
    arm = arm_of(m, d, point, body)
    # the same force about the centre of mass of the tree
    moment = add3(torque, cross(arm, force))
    dof = m.aux.body_lastdof[body]
    while dof >= 0:
        result[dof] += dof_rate(d, dof, force, moment)
        dof = m.dof_parentid[dof]
