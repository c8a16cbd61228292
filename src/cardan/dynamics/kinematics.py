"""Forward kinematics: from joint positions to the poses of bodies, joints, geoms, sites, cameras and lights.

Bodies are in tree order, parents first, so one pass over them suffices (Featherstone 2008, section 4.1; spec:
computation, forward dynamics, "kinematics"). Cameras and lights can track bodies and point at them (spec: XML
reference, camera, mode). The module also integrates and subtracts configurations, with velocities in the tangent space
(spec: computation, floating objects).
"""

from __future__ import annotations

from cardan.dynamics.awake import GEOM, SITE, moving_bodies, span_range
from cardan.enums.codes import CAMLIGHT_TARGETBODY, CAMLIGHT_TRACK, CAMLIGHT_TRACKCOM, JNT_BALL, JNT_FREE, JNT_SLIDE
from cardan.jit import OK, exact, kernel, stage
from cardan.maths.quaternion import (
    axis_angle2quat,
    integrate_quat,
    mul_quat,
    normalize4,
    quat2mat,
    rot_vec_quat,
    sub_quat,
)
from cardan.maths.types import Array1, Array2, ConstArray1, Quat, Vec3, Vec4
from cardan.maths.vector import (
    add3,
    add_scaled3,
    cross,
    get3,
    get4,
    get9,
    mul_mat_vec3,
    normalize3,
    scale3,
    set3,
    set4,
    set9,
    sub3,
)
from cardan.model.kernel_views import AnyModel, Data, Model

# values of geom_sameframe and site_sameframe; the last two (MuJoCo 4.0) are about orientations only
BODY_FRAME = 1
INERTIA_FRAME = 2
BODY_TURN = 3
INERTIA_TURN = 4


@kernel
def get_quat(a: ConstArray1, adr: int) -> Vec4:
    """Return the quaternion that starts at `a[adr]`."""
    return (a[adr], a[adr + 1], a[adr + 2], a[adr + 3])


@kernel
def _unit_qpos_quat(d: Data, adr: int, in_place: bool) -> Vec4:
    """Normalise the quaternion at `qpos[adr]`, and return it. If `in_place` is set, also store it there."""
    quat = normalize4(get_quat(d.qpos, adr))
    if in_place:
        d.qpos[adr] = quat[0]
        d.qpos[adr + 1] = quat[1]
        d.qpos[adr + 2] = quat[2]
        d.qpos[adr + 3] = quat[3]
    return quat


@kernel
def _moved_pose(m: Model, d: Data, body: int, in_place: bool) -> tuple[Vec3, Vec4]:
    """Return the pose of a body without a free joint; store the anchors and axes of its joints.

    If `in_place` is set, also normalise the quaternions of its ball joints and of its mocap pose.
    """
    parent = m.body_parentid[body]
    mocap = m.body_mocapid[body]
    pos = get3(m.body_pos, body)
    quat = get4(m.body_quat, body)
    if mocap >= 0:
        pos = get3(d.mocap_pos, mocap)
        quat = normalize4(get4(d.mocap_quat, mocap))
        if in_place:
            set4(d.mocap_quat, mocap, quat)
    if parent > 0:
        pos = add3(mul_mat_vec3(get9(d.xmat, parent), pos), get3(d.xpos, parent))
        quat = mul_quat(get4(d.xquat, parent), quat)
    first = m.body_jntadr[body]
    for joint in range(first, first + m.body_jntnum[body]):
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
                turn = _unit_qpos_quat(d, adr, in_place)
            else:
                turn = axis_angle2quat(axis, d.qpos[adr] - m.qpos0[adr])
            quat = mul_quat(quat, turn)
            # the anchor does not move
            pos = sub3(anchor, rot_vec_quat(local, quat))
        set3(d.xanchor, joint, anchor)
        set3(d.xaxis, joint, xaxis)
    return pos, normalize4(quat)


@kernel
def place_frame(
    xpos: Array2, xmat: Array2, d: Data, k: int, body: int, sameframe: int, local: Vec3, turn: Quat
) -> None:
    """Store the world pose of frame `k`, from its position `local` and orientation `turn` in the frame of a body."""
    if sameframe == 0 or sameframe >= BODY_TURN:
        set3(xpos, k, add3(mul_mat_vec3(get9(d.xmat, body), local), get3(d.xpos, body)))
    else:
        set3(xpos, k, get3(d.xpos, body) if sameframe == BODY_FRAME else get3(d.xipos, body))
    if sameframe == 0:
        set9(xmat, k, quat2mat(mul_quat(get4(d.xquat, body), turn)))
    else:
        own = sameframe in (BODY_FRAME, BODY_TURN)
        set9(xmat, k, get9(d.xmat, body) if own else get9(d.ximat, body))


@kernel
def place_body(m: Model, d: Data, body: int, in_place: bool) -> None:
    """Compute the poses of a body and its joints from the pose of its parent; `in_place` as for `_place_bodies`."""
    joint = m.body_jntadr[body]
    if joint >= 0 and m.jnt_type[joint] == JNT_FREE:
        adr = m.jnt_qposadr[joint]
        pos = (d.qpos[adr], d.qpos[adr + 1], d.qpos[adr + 2])
        quat = _unit_qpos_quat(d, adr + 3, in_place)
        set3(d.xanchor, joint, pos)
        set3(d.xaxis, joint, get3(m.jnt_axis, joint))
    else:
        pos, quat = _moved_pose(m, d, body, in_place)
    mat = quat2mat(quat)
    set3(d.xpos, body, pos)
    set4(d.xquat, body, quat)
    set9(d.xmat, body, mat)
    same = m.body_sameframe[body]
    center = pos if same == BODY_FRAME else add3(mul_mat_vec3(mat, get3(m.body_ipos, body)), pos)
    set3(d.xipos, body, center)
    set9(d.ximat, body, mat if same else quat2mat(mul_quat(quat, get4(m.body_iquat, body))))


@kernel
def _place_world(d: Data) -> None:
    """Set the pose of the world body."""
    zero = (0.0, 0.0, 0.0)
    unit = (1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0)
    set3(d.xpos, 0, zero)
    set4(d.xquat, 0, (1.0, 0.0, 0.0, 0.0))
    set9(d.xmat, 0, unit)
    set3(d.xipos, 0, zero)
    set9(d.ximat, 0, unit)


@kernel
def _place_bodies(m: Model, d: Data, in_place: bool) -> None:
    """Compute the poses of bodies and joints. If `in_place`, also normalise the quaternions of qpos and mocap_quat."""
    _place_world(d)
    # bodies and joints, from the root of the tree to its leaves
    for body in range(1, m.nbody):
        place_body(m, d, body, in_place)


@kernel
def place_geom(m: Model, d: Data, geom: int) -> None:
    """Compute the pose of a geom from that of its body."""
    pos, quat = get3(m.geom_pos, geom), get4(m.geom_quat, geom)
    place_frame(d.geom_xpos, d.geom_xmat, d, geom, m.geom_bodyid[geom], m.geom_sameframe[geom], pos, quat)


@kernel
def place_site(m: Model, d: Data, site: int) -> None:
    """Compute the pose of a site from that of its body."""
    pos, quat = get3(m.site_pos, site), get4(m.site_quat, site)
    place_frame(d.site_xpos, d.site_xmat, d, site, m.site_bodyid[site], m.site_sameframe[site], pos, quat)


@kernel
def _place_frames(m: Model, d: Data) -> None:
    """Compute the poses of geoms and sites from those of their bodies."""
    for geom in range(m.ngeom):
        place_geom(m, d, geom)
    for site in range(m.nsite):
        place_site(m, d, site)


@stage
@exact
def kinematics(m: Model, d: Data) -> int:
    """Compute the poses of bodies, joints, geoms and sites in the world frame.

    Reads qpos, mocap_pos, mocap_quat and normalises their quaternions in place. Writes xpos, xquat, xmat, xipos, ximat,
    xanchor, xaxis, geom_xpos, geom_xmat, site_xpos, site_xmat. On x86, results equal MuJoCo's to the last bit. This
    matters for parallel faces of hulls: the last bit decides which of several equally deep points is the contact.
    """
    _place_bodies(m, d, True)
    _place_frames(m, d)
    return OK


@stage
@exact
def kinematics_at_use(m: Model, d: Data) -> int:
    """Do as `kinematics`, but leave qpos and mocap_quat unchanged: functions that use quaternions normalise copies."""
    _place_bodies(m, d, False)
    _place_frames(m, d)
    return OK


@kernel
def _place_awake(m: Model, d: Data, in_place: bool) -> None:
    """Compute the poses of all bodies, joints, geoms and sites that are awake."""
    _place_world(d)
    for span in range(d.work.nspan):
        first, stop = moving_bodies(d, span)
        for body in range(first, stop):
            place_body(m, d, body, in_place)
        first, stop = span_range(d, span, GEOM)
        for geom in range(first, stop):
            place_geom(m, d, geom)
        first, stop = span_range(d, span, SITE)
        for site in range(first, stop):
            place_site(m, d, site)


@stage
@exact
def kinematics_awake(m: Model, d: Data) -> int:
    """Do as `kinematics`, for trees that are awake."""
    _place_awake(m, d, True)
    return OK


@stage
@exact
def kinematics_at_use_awake(m: Model, d: Data) -> int:
    """Do as `kinematics_at_use`, for trees that are awake."""
    _place_awake(m, d, False)
    return OK


@kernel
def _position(d: Data, mode: int, body: int, local: Vec3, pos0: Vec3, poscom0: Vec3) -> Vec3:
    """World position of a camera or light that is fixed in a body's frame, or tracks the body or its subtree."""
    if mode == CAMLIGHT_TRACK:
        return add3(get3(d.xpos, body), pos0)
    if mode == CAMLIGHT_TRACKCOM:
        return add3(get3(d.subtree_com, body), poscom0)
    return add3(mul_mat_vec3(get9(d.xmat, body), local), get3(d.xpos, body))


@kernel
def _target(d: Data, mode: int, body: int) -> Vec3:
    """Point that a camera or light in a target mode looks at."""
    if mode == CAMLIGHT_TARGETBODY:
        return get3(d.xpos, body)
    return get3(d.subtree_com, body)


@stage
def camlight(m: Model, d: Data) -> int:
    """Compute the poses of cameras and lights in the world frame.

    Reads xpos, xquat, xmat, subtree_com; writes cam_xpos, cam_xmat, light_xpos, light_xdir.
    """
    for cam in range(m.ncam):
        body, mode = m.cam_bodyid[cam], m.cam_mode[cam]
        pos = _position(d, mode, body, get3(m.cam_pos, cam), get3(m.cam_pos0, cam), get3(m.cam_poscom0, cam))
        set3(d.cam_xpos, cam, pos)
        if mode in (CAMLIGHT_TRACK, CAMLIGHT_TRACKCOM):
            set9(d.cam_xmat, cam, get9(m.cam_mat0, cam))
        elif mode >= CAMLIGHT_TARGETBODY and m.cam_targetbodyid[cam] >= 0:
            # z opposite to the viewing direction, y upwards
            z = normalize3(sub3(pos, _target(d, mode, m.cam_targetbodyid[cam])))
            x = normalize3(cross((0.0, 0.0, 1.0), z))
            y = normalize3(cross(z, x))
            set9(d.cam_xmat, cam, (x[0], y[0], z[0], x[1], y[1], z[1], x[2], y[2], z[2]))
        else:
            set9(d.cam_xmat, cam, quat2mat(mul_quat(get4(d.xquat, body), get4(m.cam_quat, cam))))
    for light in range(m.nlight):
        body, mode = m.light_bodyid[light], m.light_mode[light]
        pos = _position(
            d, mode, body, get3(m.light_pos, light), get3(m.light_pos0, light), get3(m.light_poscom0, light)
        )
        set3(d.light_xpos, light, pos)
        if mode in (CAMLIGHT_TRACK, CAMLIGHT_TRACKCOM):
            direction = get3(m.light_dir0, light)
        elif mode >= CAMLIGHT_TARGETBODY and m.light_targetbodyid[light] >= 0:
            direction = sub3(_target(d, mode, m.light_targetbodyid[light]), pos)
        else:
            direction = rot_vec_quat(get3(m.light_dir, light), get4(d.xquat, body))
        set3(d.light_xdir, light, normalize3(direction))
    return OK


@kernel
def _integrate_rotation(qpos: Array1, adr: int, qvel: ConstArray1, dof: int, dt: float) -> None:
    velocity = (qvel[dof], qvel[dof + 1], qvel[dof + 2])
    quat = integrate_quat(get_quat(qpos, adr), velocity, dt)
    for k in range(4):
        qpos[adr + k] = quat[k]


@kernel
def integrate_pos(m: AnyModel, qpos: Array1, qvel: ConstArray1, dt: float) -> None:
    """Integrate `qpos` (nq,) in place for the time `dt` with the velocity `qvel` (nv,) (spec: mj_integratePos)."""
    integrate_joints(m, qpos, qvel, dt, 0, m.njnt)


@kernel
def integrate_joints(m: AnyModel, qpos: Array1, qvel: ConstArray1, dt: float, first: int, stop: int) -> None:
    """Integrate the positions of the joints `first` to `stop` (exclusive), as `integrate_pos` does for all."""
    for joint in range(first, stop):
        adr, dof = m.jnt_qposadr[joint], m.jnt_dofadr[joint]
        kind = m.jnt_type[joint]
        if kind == JNT_FREE:
            for k in range(3):
                qpos[adr + k] += dt * qvel[dof + k]
            _integrate_rotation(qpos, adr + 3, qvel, dof + 3, dt)
        elif kind == JNT_BALL:
            _integrate_rotation(qpos, adr, qvel, dof, dt)
        else:
            qpos[adr] += dt * qvel[dof]


@kernel
def _differentiate_rotation(
    qvel: Array1, dof: int, qpos1: ConstArray1, qpos2: ConstArray1, adr: int, dt: float
) -> None:
    velocity = scale3(sub_quat(get_quat(qpos2, adr), get_quat(qpos1, adr)), 1.0 / dt)
    for k in range(3):
        qvel[dof + k] = velocity[k]


@kernel
def differentiate_pos(m: AnyModel, qvel: Array1, dt: float, qpos1: ConstArray1, qpos2: ConstArray1) -> None:
    """Set `qvel` to the velocity that moves `qpos1` to `qpos2` in the time `dt` (spec: mj_differentiatePos)."""
    for joint in range(m.njnt):
        adr, dof = m.jnt_qposadr[joint], m.jnt_dofadr[joint]
        kind = m.jnt_type[joint]
        if kind == JNT_FREE:
            for k in range(3):
                qvel[dof + k] = (qpos2[adr + k] - qpos1[adr + k]) / dt
            _differentiate_rotation(qvel, dof + 3, qpos1, qpos2, adr + 3, dt)
        elif kind == JNT_BALL:
            _differentiate_rotation(qvel, dof, qpos1, qpos2, adr, dt)
        else:
            qvel[dof] = (qpos2[adr] - qpos1[adr]) / dt
