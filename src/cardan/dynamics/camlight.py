"""Poses of cameras and lights, which can track bodies and point at them (spec: XML reference, camera, mode)."""

from __future__ import annotations

from cardan.enums.codes import CAMLIGHT_TARGETBODY, CAMLIGHT_TRACK, CAMLIGHT_TRACKCOM
from cardan.jit import OK, kernel, stage
from cardan.maths.quaternion import mul_quat, quat2mat, rot_vec_quat
from cardan.maths.types import Mat3, Vec3
from cardan.maths.vector import add3, cross, get3, get4, get9, mul_mat_vec3, normalize3, set3, set9, sub3
from cardan.model.kernel_views import Data, Model


@kernel
def _position(d: Data, mode: int, body: int, local: Vec3, pos0: Vec3, poscom0: Vec3) -> Vec3:
    """World position of a camera or light that is fixed in its body's frame, or tracks the body or its subtree."""
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


@kernel
def _look_away(z: Vec3) -> Mat3:
    """Orientation of a camera whose z axis (opposite to the viewing direction) is `z`, with its y axis upwards."""
    x = normalize3(cross((0.0, 0.0, 1.0), z))
    y = normalize3(cross(z, x))
    return (x[0], y[0], z[0], x[1], y[1], z[1], x[2], y[2], z[2])


@kernel
def _camera(m: Model, d: Data, cam: int) -> None:
    body, mode = m.cam_bodyid[cam], m.cam_mode[cam]
    pos = _position(d, mode, body, get3(m.cam_pos, cam), get3(m.cam_pos0, cam), get3(m.cam_poscom0, cam))
    set3(d.cam_xpos, cam, pos)
    if mode in (CAMLIGHT_TRACK, CAMLIGHT_TRACKCOM):
        set9(d.cam_xmat, cam, get9(m.cam_mat0, cam))
    elif mode >= CAMLIGHT_TARGETBODY and m.cam_targetbodyid[cam] >= 0:
        backward = normalize3(sub3(pos, _target(d, mode, m.cam_targetbodyid[cam])))
        set9(d.cam_xmat, cam, _look_away(backward))
    else:
        set9(d.cam_xmat, cam, quat2mat(mul_quat(get4(d.xquat, body), get4(m.cam_quat, cam))))


@kernel
def _light(m: Model, d: Data, light: int) -> None:
    body, mode = m.light_bodyid[light], m.light_mode[light]
    pos = _position(d, mode, body, get3(m.light_pos, light), get3(m.light_pos0, light), get3(m.light_poscom0, light))
    set3(d.light_xpos, light, pos)
    if mode in (CAMLIGHT_TRACK, CAMLIGHT_TRACKCOM):
        direction = get3(m.light_dir0, light)
    elif mode >= CAMLIGHT_TARGETBODY and m.light_targetbodyid[light] >= 0:
        direction = sub3(_target(d, mode, m.light_targetbodyid[light]), pos)
    else:
        direction = rot_vec_quat(get3(m.light_dir, light), get4(d.xquat, body))
    set3(d.light_xdir, light, normalize3(direction))


@stage
def camlight(m: Model, d: Data) -> int:
    """Compute the poses of cameras and lights in the world frame.

    Reads xpos, xquat, xmat, subtree_com; writes cam_xpos, cam_xmat, light_xpos, light_xdir.
    """
    for cam in range(m.ncam):
        _camera(m, d, cam)
    for light in range(m.nlight):
        _light(m, d, light)
    return OK
