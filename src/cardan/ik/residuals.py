"""Residuals and Jacobians of tasks.

A task compares the motion of a frame relative to another frame, the root, with a target. The residual of a pose is

    r = (p - p*, log(R R*^T)),

where p and R are position and orientation of the frame in the root's frame, and p*, R* those of the target. Let v and w
be the velocity and the angular velocity of the frame in the axes of the root. Then the derivative is (v, J_l^-1 w),
where J_l is the left Jacobian of the exponential map. All rows are multiplied by their costs. Source: J. Sola et al.,
A micro Lie theory for state estimation in robotics, 2018.
"""

from __future__ import annotations

from cardan.dynamics.com import object_body, object_mat
from cardan.dynamics.jacobian import in_subtree, point_column
from cardan.dynamics.kinematics import get_quat
from cardan.enums.codes import JNT_BALL, JNT_FREE
from cardan.ik.fields import COM, COUNTS, FRAME, LINE, LOOK, PLACES, PLANE, POSTURE, TURNS
from cardan.ik.kernel_views import Ik
from cardan.ik.placing import (
    add_motion,
    angular_part,
    clear_motion,
    frame_point,
    linear_part,
    relative_point,
    relative_quat,
    root_mat,
)
from cardan.jit import kernel
from cardan.maths.quaternion import log_jacobian, mul_quat, neg_quat, quat2vel, sub_quat
from cardan.maths.types import Vec3
from cardan.maths.vector import (
    MINVAL,
    add3,
    cross,
    dot3,
    get3,
    mul_mat_t_vec3,
    mul_mat_vec3,
    norm3,
    scale3,
    sub3,
)
from cardan.model.kernel_views import Model


@kernel
def target3(d: Ik, t: int, k: int) -> Vec3:
    """Return numbers `k` to `k` + 2 of the target of task `t`."""
    adr = d.ik.task_adr[t] + k
    return (d.ik.target[d.ik.row, adr], d.ik.target[d.ik.row, adr + 1], d.ik.target[d.ik.row, adr + 2])


@kernel
def put_residual(d: Ik, t: int, k: int, value: float) -> None:
    """Store residual `k` of task `t`, and add it to the cost."""
    weighted = d.ik.task_cost[t, k] * value
    d.ik.r[d.ik.task_row[t] + k] = weighted
    d.ik.cost += 0.5 * weighted * weighted


@kernel
def put_column3(d: Ik, t: int, k: int, c: int, v: Vec3) -> None:
    """Store column `c` of rows `k` to `k` + 2 of task `t`."""
    row = d.ik.task_row[t] + k
    for i in range(3):
        d.ik.J[row + i, c] = d.ik.task_cost[t, k + i] * v[i]


@kernel
def note_errors(d: Ik, t: int, place: float, turn: float) -> None:
    """Take the errors (m, rad) of task `t` into account, if the task counts."""
    if d.ik.task_flags[t] & COUNTS:
        if d.ik.task_flags[t] & PLACES:
            d.ik.place_error = max(d.ik.place_error, place)
        if d.ik.task_flags[t] & TURNS:
            d.ik.turn_error = max(d.ik.turn_error, turn)


@kernel
def find_motion(m: Model, d: Ik, t: int) -> None:
    """Compute the Jacobian `rel` of the frame of task `t`, at the task's point, relative to the root."""
    point, mat = frame_point(m, d, t), root_mat(d, t)
    clear_motion(d)
    add_motion(m, d, object_body(m, d.ik.task_frame[t, 0], d.ik.task_frame[t, 1]), point, mat, 1.0)
    add_motion(m, d, object_body(m, d.ik.task_root[t, 0], d.ik.task_root[t, 1]), point, mat, -1.0)


@kernel
def pose_rows(m: Model, d: Ik, t: int) -> None:
    """Write the rows of a task of a pose: three of the position, three of the orientation, or both."""
    find_motion(m, d, t)
    gap, turn = (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
    row = 0
    if d.ik.task_flags[t] & PLACES:
        gap = sub3(relative_point(m, d, t), target3(d, t, 0))
        for k in range(3):
            put_residual(d, t, k, gap[k])
        for c in range(d.ik.n):
            put_column3(d, t, 0, c, linear_part(d, c))
        row = 3
    if d.ik.task_flags[t] & TURNS:
        adr = d.ik.task_adr[t] + 3
        goal = (
            d.ik.target[d.ik.row, adr],
            d.ik.target[d.ik.row, adr + 1],
            d.ik.target[d.ik.row, adr + 2],
            d.ik.target[d.ik.row, adr + 3],
        )
        turn = quat2vel(mul_quat(relative_quat(m, d, t), neg_quat(goal)), 1.0)
        mat = log_jacobian(turn)
        for k in range(3):
            put_residual(d, t, row + k, turn[k])
        for c in range(d.ik.n):
            put_column3(d, t, row, c, mul_mat_t_vec3(mat, angular_part(d, c)))
    note_errors(d, t, norm3(gap), norm3(turn))


@kernel
def line_rows(m: Model, d: Ik, t: int) -> None:
    """Write the three rows of a point on a line: the vector from the nearest point of the line."""
    find_motion(m, d, t)
    along = target3(d, t, 3)
    gap = sub3(relative_point(m, d, t), target3(d, t, 0))
    gap = sub3(gap, scale3(along, dot3(along, gap)))
    for k in range(3):
        put_residual(d, t, k, gap[k])
    for c in range(d.ik.n):
        linear = linear_part(d, c)
        put_column3(d, t, 0, c, sub3(linear, scale3(along, dot3(along, linear))))
    note_errors(d, t, norm3(gap), 0.0)


@kernel
def plane_row(m: Model, d: Ik, t: int) -> None:
    """Write the row of a point on a plane: its height over the plane."""
    find_motion(m, d, t)
    normal = target3(d, t, 3)
    height = dot3(normal, sub3(relative_point(m, d, t), target3(d, t, 0)))
    put_residual(d, t, 0, height)
    for c in range(d.ik.n):
        d.ik.J[d.ik.task_row[t], c] = d.ik.task_cost[t, 0] * dot3(normal, linear_part(d, c))
    note_errors(d, t, abs(height), 0.0)


@kernel
def look_rows(m: Model, d: Ik, t: int) -> None:
    """Write the three rows of an axis that points at a target: the difference of two unit vectors.

    These are the axis a, and the direction u from the task's point to the target, at the distance s. The derivative of
    a - u is w x a + (v - u (u.v)) / s, where v and w are the velocities of the frame.
    """
    find_motion(m, d, t)
    frame = object_mat(d, d.ik.task_frame[t, 0], d.ik.task_frame[t, 1])
    axis = mul_mat_t_vec3(root_mat(d, t), mul_mat_vec3(frame, get3(d.ik.task_axis, t)))
    ahead = sub3(target3(d, t, 0), relative_point(m, d, t))
    away = max(norm3(ahead), MINVAL)
    ahead = scale3(ahead, 1.0 / away)
    gap = sub3(axis, ahead)
    for k in range(3):
        put_residual(d, t, k, gap[k])
    for c in range(d.ik.n):
        linear = linear_part(d, c)
        across = scale3(sub3(linear, scale3(ahead, dot3(ahead, linear))), 1.0 / away)
        put_column3(d, t, 0, c, add3(cross(angular_part(d, c), axis), across))
    note_errors(d, t, 0.0, norm3(gap))


@kernel
def com_rows(m: Model, d: Ik, t: int) -> None:
    """Write the three rows of the centre of mass of a subtree.

    A dof moves the bodies behind it as one rigid body. So its column is the velocity of their common centre of mass,
    times their share of the mass.
    """
    root = d.ik.task_frame[t, 1]
    gap = sub3(get3(d.subtree_com, root), target3(d, t, 0))
    for k in range(3):
        put_residual(d, t, k, gap[k])
    for c in range(d.ik.n):
        dof = d.ik.dof[c]
        body = m.dof_bodyid[dof]
        share, centre = 0.0, (0.0, 0.0, 0.0)
        if in_subtree(m, body, root):
            share = d.work.subtree_mass[body] / max(d.work.subtree_mass[root], MINVAL)
            centre = get3(d.subtree_com, body)
        elif in_subtree(m, root, body):
            share = 1.0
            centre = get3(d.subtree_com, root)
        arm = sub3(centre, get3(d.subtree_com, m.body_rootid[body]))
        put_column3(d, t, 0, c, scale3(point_column(d, dof, arm), share))
    note_errors(d, t, norm3(gap), 0.0)


@kernel
def posture_rows(m: Model, d: Ik, t: int) -> None:
    """Compute the residuals of a posture: the difference between the configuration and the target, a dof each.

    They are stored in row `task_row` of `posture`.
    """
    adr = d.ik.task_adr[t]
    for k in range(len(d.ik.joint)):
        joint = d.ik.joint[k]
        q, dof, kind = m.jnt_qposadr[joint], m.jnt_dofadr[joint], m.jnt_type[joint]
        moved = 3 if kind == JNT_FREE else (0 if kind == JNT_BALL else 1)
        for i in range(moved):
            put_posture(d, t, dof + i, d.qpos[q + i] - d.ik.target[d.ik.row, adr + q + i])
        if kind in (JNT_FREE, JNT_BALL):
            at = adr + q + moved
            goal = (
                d.ik.target[d.ik.row, at],
                d.ik.target[d.ik.row, at + 1],
                d.ik.target[d.ik.row, at + 2],
                d.ik.target[d.ik.row, at + 3],
            )
            turn = sub_quat(get_quat(d.qpos, q + moved), goal)
            for i in range(3):
                put_posture(d, t, dof + moved + i, turn[i])


@kernel
def put_posture(d: Ik, t: int, dof: int, value: float) -> None:
    """Store the residual of a dof in a task of a posture, and add it to the cost."""
    c = d.ik.column[dof]
    if c >= 0:
        number = d.ik.task_row[t]
        weighted = d.ik.posture_cost[number, c] * value
        d.ik.posture[number, c] = weighted
        d.ik.cost += 0.5 * weighted * weighted


@kernel
def find_residuals(m: Model, d: Ik) -> None:
    """Compute residuals, Jacobians, cost and errors of all tasks for target `row`. Needs `place`."""
    d.ik.cost = 0.0
    d.ik.place_error = 0.0
    d.ik.turn_error = 0.0
    for t in range(len(d.ik.task_kind)):
        kind = d.ik.task_kind[t]
        if kind == FRAME:
            pose_rows(m, d, t)
        elif kind == LINE:
            line_rows(m, d, t)
        elif kind == PLANE:
            plane_row(m, d, t)
        elif kind == LOOK:
            look_rows(m, d, t)
        elif kind == COM:
            com_rows(m, d, t)
        elif kind == POSTURE:
            posture_rows(m, d, t)


@kernel
def find_hessian(d: Ik) -> None:
    """Compute H = J'J, lower triangle, and the gradient g = J'r from the weighted rows of all tasks.

    The Jacobian of a posture is taken as the identity, which is exact except for rotations of ball and free joints. The
    gradient is exact, because a rotation vector is an eigenvector of its Jacobian with the eigenvalue 1.
    """
    n = d.ik.n
    for i in range(n):
        d.ik.g[i] = 0.0
        for j in range(i + 1):
            d.ik.H[i, j] = 0.0
    for k in range(len(d.ik.r)):
        residual = d.ik.r[k]
        for i in range(n):
            factor = d.ik.J[k, i]
            if factor != 0.0:
                d.ik.g[i] += factor * residual
                for j in range(i + 1):
                    d.ik.H[i, j] += factor * d.ik.J[k, j]
    for k in range(len(d.ik.posture)):
        for i in range(n):
            cost = d.ik.posture_cost[k, i]
            d.ik.g[i] += cost * d.ik.posture[k, i]
            d.ik.H[i, i] += cost * cost
