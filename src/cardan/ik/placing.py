"""Forward kinematics of a problem: only the frames that tasks, constraints and distances need."""

from __future__ import annotations

from cardan.dynamics.com import motion_axes, object_mat, object_pos, subtree_centres
from cardan.dynamics.jacobian import arm_of, point_column, rotation_column
from cardan.dynamics.kinematics import integrate_joints, place_body, place_geom, place_site
from cardan.ik.kernel_views import Ik
from cardan.jit import kernel
from cardan.maths.quaternion import mul_quat, neg_quat
from cardan.maths.types import Mat3, Quat, Vec3
from cardan.maths.vector import add3, get3, mul_mat_t_vec3, mul_mat_vec3, sub3
from cardan.model.kernel_views import Model
from cardan.sensor.output import object_quaternion


@kernel
def place(m: Model, d: Ik) -> None:
    """Compute the poses that the problem needs, and the motion axes of its joints, from ``d.qpos``.

    Unless a task needs centres of mass, motion axes are about the points that `subtree_com` holds since the problem was
    made. Jacobians do not depend on these points.
    """
    for k in range(len(d.ik.body)):
        place_body(m, d, d.ik.body[k], True)
    for k in range(len(d.ik.geom)):
        place_geom(m, d, d.ik.geom[k])
    for k in range(len(d.ik.site)):
        place_site(m, d, d.ik.site[k])
    if d.ik.needs_com != 0:
        subtree_centres(m, d)
    for k in range(len(d.ik.joint)):
        motion_axes(m, d, d.ik.joint[k])


@kernel
def frame_point(m: Model, d: Ik, t: int) -> Vec3:
    """World position of the point of task `t` in its frame."""
    kind, k = d.ik.task_frame[t, 0], d.ik.task_frame[t, 1]
    return add3(object_pos(d, kind, k), mul_mat_vec3(object_mat(d, kind, k), get3(d.ik.task_local, t)))


@kernel
def root_mat(d: Ik, t: int) -> Mat3:
    """Orientation of the frame in which the target of task `t` is expressed."""
    return object_mat(d, d.ik.task_root[t, 0], d.ik.task_root[t, 1])


@kernel
def relative_point(m: Model, d: Ik, t: int) -> Vec3:
    """Position of the point of task `t` in the frame of its target."""
    origin = object_pos(d, d.ik.task_root[t, 0], d.ik.task_root[t, 1])
    return mul_mat_t_vec3(root_mat(d, t), sub3(frame_point(m, d, t), origin))


@kernel
def relative_quat(m: Model, d: Ik, t: int) -> Quat:
    """Orientation of the frame of task `t` in the frame of its target."""
    root = object_quaternion(m, d, d.ik.task_root[t, 0], d.ik.task_root[t, 1])
    return mul_quat(neg_quat(root), object_quaternion(m, d, d.ik.task_frame[t, 0], d.ik.task_frame[t, 1]))


@kernel
def clear_motion(d: Ik) -> None:
    """Clear the Jacobian `rel`."""
    for k in range(6):
        for c in range(d.ik.n):
            d.ik.rel[k, c] = 0.0


@kernel
def add_motion(m: Model, d: Ik, body: int, point: Vec3, mat: Mat3, sign: float) -> None:
    """Add `sign` times the Jacobian of a point of a body, and of its rotation, to `rel`, in a frame with axes `mat`."""
    arm = arm_of(m, d, point, body)
    dof = m.aux.body_lastdof[body]
    while dof >= 0:
        c = d.ik.column[dof]
        if c >= 0:
            linear = mul_mat_t_vec3(mat, point_column(d, dof, arm))
            angular = mul_mat_t_vec3(mat, rotation_column(d, dof))
            for k in range(3):
                d.ik.rel[k, c] += sign * linear[k]
                d.ik.rel[3 + k, c] += sign * angular[k]
        dof = m.dof_parentid[dof]


@kernel
def linear_part(d: Ik, c: int) -> Vec3:
    """Translational part of column `c` of `rel`."""
    return (d.ik.rel[0, c], d.ik.rel[1, c], d.ik.rel[2, c])


@kernel
def angular_part(d: Ik, c: int) -> Vec3:
    """Rotational part of column `c` of `rel`."""
    return (d.ik.rel[3, c], d.ik.rel[4, c], d.ik.rel[5, c])


@kernel
def advance(m: Model, d: Ik) -> None:
    """Move ``d.qpos`` by the step `x` of the active dofs, and keep hinges and slides exactly within their limits."""
    for c in range(d.ik.n):
        d.ik.move[d.ik.dof[c]] = d.ik.x[c]
    for k in range(len(d.ik.joint)):
        joint = d.ik.joint[k]
        integrate_joints(m, d.qpos, d.ik.move, 1.0, joint, joint + 1)
    clamp_joints(d)


@kernel
def clamp_joints(d: Ik) -> None:
    """Move hinges and slides that are beyond their limits to the limits."""
    for c in range(d.ik.n):
        adr = d.ik.qadr[c]
        if adr >= 0:
            d.qpos[adr] = min(max(d.qpos[adr], d.ik.low[c]), d.ik.high[c])
