"""Forward kinematics: from joint positions to the poses of bodies, joints, geoms and sites.

Bodies are in tree order, parents first, so one pass over them suffices (Featherstone 2008, section 4.1; spec:
computation, forward dynamics, "kinematics").
"""

from __future__ import annotations

from cardan.dynamics.camlight import camlight
from cardan.enums.codes import JNT_BALL, JNT_FREE, JNT_SLIDE
from cardan.jit import OK, exact, kernel, stage
from cardan.maths.quaternion import axis_angle2quat, mul_quat, normalize4, quat2mat, rot_vec_quat
from cardan.maths.types import Array2, ConstArray1, Quat, Vec3, Vec4
from cardan.maths.vector import add3, add_scaled3, get3, get4, get9, mul_mat_vec3, set3, set4, set9, sub3
from cardan.model.kernel_views import Data, Model

__all__ = ["camlight", "get_quat", "kinematics"]


# values of geom_sameframe and site_sameframe
BODY_FRAME = 1
INERTIA_FRAME = 2


@kernel
def get_quat(a: ConstArray1, adr: int) -> Vec4:
    """Return the quaternion that starts at `a[adr]`."""
    return (a[adr], a[adr + 1], a[adr + 2], a[adr + 3])


@kernel
def _normalize_qpos_quat(d: Data, adr: int) -> Vec4:
    """Normalise the quaternion at `qpos[adr]` in place, and return it."""
    quat = normalize4(get_quat(d.qpos, adr))
    d.qpos[adr] = quat[0]
    d.qpos[adr + 1] = quat[1]
    d.qpos[adr + 2] = quat[2]
    d.qpos[adr + 3] = quat[3]
    return quat


@kernel
def _free_joint_pose(m: Model, d: Data, joint: int) -> tuple[Vec3, Vec4]:
    """Pose of a body with a free joint, from `qpos`."""
    adr = m.jnt_qposadr[joint]
    pos = (d.qpos[adr], d.qpos[adr + 1], d.qpos[adr + 2])
    quat = _normalize_qpos_quat(d, adr + 3)
    set3(d.xanchor, joint, pos)
    set3(d.xaxis, joint, get3(m.jnt_axis, joint))
    return pos, quat


@kernel
def _pose_at_parent(m: Model, d: Data, body: int) -> tuple[Vec3, Vec4]:
    """Pose of a body before its joints move it: fixed in the parent's frame, or taken from the mocap fields."""
    parent = m.body_parentid[body]
    mocap = m.body_mocapid[body]
    pos = get3(m.body_pos, body)
    quat = get4(m.body_quat, body)
    if mocap >= 0:
        pos = get3(d.mocap_pos, mocap)
        quat = normalize4(get4(d.mocap_quat, mocap))
        set4(d.mocap_quat, mocap, quat)
    if parent > 0:
        pos = add3(mul_mat_vec3(get9(d.xmat, parent), pos), get3(d.xpos, parent))
        quat = mul_quat(get4(d.xquat, parent), quat)
    return pos, quat


@kernel
def _move_by_joint(m: Model, d: Data, joint: int, pos: Vec3, quat: Quat) -> tuple[Vec3, Vec4]:
    """Pose of a body after the motion of one ball, slide or hinge joint."""
    adr = m.jnt_qposadr[joint]
    kind = m.jnt_type[joint]
    local = get3(m.jnt_pos, joint)
    axis = get3(m.jnt_axis, joint)
    xaxis = rot_vec_quat(axis, quat)
    anchor = add3(rot_vec_quat(local, quat), pos)
    if kind == JNT_SLIDE:
        pos = add_scaled3(pos, xaxis, d.qpos[adr] - m.qpos0[adr])
    else:
        if kind == JNT_BALL:
            turn = _normalize_qpos_quat(d, adr)
        else:
            turn = axis_angle2quat(axis, d.qpos[adr] - m.qpos0[adr])
        quat = mul_quat(quat, turn)
        # the anchor does not move
        pos = sub3(anchor, rot_vec_quat(local, quat))
    set3(d.xanchor, joint, anchor)
    set3(d.xaxis, joint, xaxis)
    return pos, quat


@kernel
def _moved_pose(m: Model, d: Data, body: int) -> tuple[Vec3, Vec4]:
    """Pose of a body after the motion of all of its ball, slide and hinge joints."""
    pos, quat = _pose_at_parent(m, d, body)
    first = m.body_jntadr[body]
    for joint in range(first, first + m.body_jntnum[body]):
        pos, quat = _move_by_joint(m, d, joint, pos, quat)
    return pos, normalize4(quat)


@kernel
def _set_body_pose(m: Model, d: Data, body: int, pos: Vec3, quat: Quat) -> None:
    """Store the pose of a body and of its inertial frame."""
    mat = quat2mat(quat)
    set3(d.xpos, body, pos)
    set4(d.xquat, body, quat)
    set9(d.xmat, body, mat)
    if m.body_sameframe[body]:
        set3(d.xipos, body, pos)
        set9(d.ximat, body, mat)
    else:
        set3(d.xipos, body, add3(mul_mat_vec3(mat, get3(m.body_ipos, body)), pos))
        set9(d.ximat, body, quat2mat(mul_quat(quat, get4(m.body_iquat, body))))


@kernel
def _body_kinematics(m: Model, d: Data) -> None:
    """Compute the poses of all bodies and joints, from the root of the tree to its leaves."""
    zero = (0.0, 0.0, 0.0)
    unit = (1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0)
    set3(d.xpos, 0, zero)
    set4(d.xquat, 0, (1.0, 0.0, 0.0, 0.0))
    set9(d.xmat, 0, unit)
    set3(d.xipos, 0, zero)
    set9(d.ximat, 0, unit)
    for body in range(1, m.nbody):
        joint = m.body_jntadr[body]
        if joint >= 0 and m.jnt_type[joint] == JNT_FREE:
            pos, quat = _free_joint_pose(m, d, joint)
        else:
            pos, quat = _moved_pose(m, d, body)
        _set_body_pose(m, d, body, pos, quat)


@kernel
def _place(xpos: Array2, xmat: Array2, d: Data, k: int, body: int, sameframe: int, local: Vec3, turn: Quat) -> None:
    """Store the world pose of a frame that is fixed to a body."""
    if sameframe == BODY_FRAME:
        set3(xpos, k, get3(d.xpos, body))
        set9(xmat, k, get9(d.xmat, body))
    elif sameframe == INERTIA_FRAME:
        set3(xpos, k, get3(d.xipos, body))
        set9(xmat, k, get9(d.ximat, body))
    else:
        set3(xpos, k, add3(mul_mat_vec3(get9(d.xmat, body), local), get3(d.xpos, body)))
        set9(xmat, k, quat2mat(mul_quat(get4(d.xquat, body), turn)))


@stage
@exact
def kinematics(m: Model, d: Data) -> int:
    """Compute the poses of bodies, joints, geoms and sites in the world frame.

    Reads qpos, mocap_pos, mocap_quat and normalises their quaternions in place. Writes xpos, xquat, xmat, xipos, ximat,
    xanchor, xaxis, geom_xpos, geom_xmat, site_xpos, site_xmat. On x86, results equal the reference's to the last bit:
    if hulls have parallel faces, the last bit decides which of several deepest points becomes the contact.
    """
    _body_kinematics(m, d)
    for geom in range(m.ngeom):
        pos, quat = get3(m.geom_pos, geom), get4(m.geom_quat, geom)
        _place(d.geom_xpos, d.geom_xmat, d, geom, m.geom_bodyid[geom], m.geom_sameframe[geom], pos, quat)
    for site in range(m.nsite):
        pos, quat = get3(m.site_pos, site), get4(m.site_quat, site)
        _place(d.site_xpos, d.site_xmat, d, site, m.site_bodyid[site], m.site_sameframe[site], pos, quat)
    return OK
