"""Conversion of the abstract camera to the two cameras that a renderer needs (stage)."""

from __future__ import annotations

from math import cos, pi, sin, tan
from typing import Any

from cardan.enums import mjtCamera
from cardan.jit import OK, kernel, stage
from cardan.maths.vector import add3, add_scaled3, get3, get4, get9, scale3
from cardan.model.kernel_views import Data, Model
from cardan.visual.memory import AZIMUTH, CAM_FIXED, CAM_TRACK, CAM_TYPE, CAMERA, DISTANCE, ELEVATION, LOOKAT

FREE, TRACKING, FIXED, USER = (int(k) for k in mjtCamera.__members__.values())
POS, FORWARD, UP, NEAR, FAR = (CAMERA[k] for k in ("pos", "forward", "up", "frustum_near", "frustum_far"))
CENTER, WIDTH, BOTTOM, TOP = (CAMERA[f"frustum_{k}"] for k in ("center", "width", "bottom", "top"))
TRACKED = 0.2
"""Fraction of the distance to the tracked body by which the point of view moves at each update."""


@kernel
def camera_average(d: Data, word: int) -> Any:
    """Average of a vector of both cameras of the scene; `word` is its first word."""
    left = (d.work.scn_camera[0, word], d.work.scn_camera[0, word + 1], d.work.scn_camera[0, word + 2])
    right = (d.work.scn_camera[1, word], d.work.scn_camera[1, word + 1], d.work.scn_camera[1, word + 2])
    return scale3(add3(left, right), 0.5)


@kernel
def aim(azimuth: float, elevation: float) -> Any:
    """Unit vectors forward and up (3 each) of a camera with an azimuth and an elevation, degrees."""
    a, e = azimuth * pi / 180.0, elevation * pi / 180.0
    forward = (cos(e) * cos(a), cos(e) * sin(a), sin(e))
    up = (-sin(e) * cos(a), -sin(e) * sin(a), cos(e))
    return forward, up


@kernel
def _put_eyes(d: Data, pos: Any, forward: Any, up: Any, right: Any, ipd: float) -> None:
    """Set the poses of both cameras, half the distance of the eyes to the left and to the right of `pos`."""
    cameras = d.work.scn_camera
    for eye in range(2):
        place = add_scaled3(pos, right, (eye - 0.5) * ipd)
        for k in range(3):
            cameras[eye, POS + k] = place[k]
            cameras[eye, FORWARD + k] = forward[k]
            cameras[eye, UP + k] = up[k]


@kernel
def _put_frustum(m: Model, d: Data, frustum: Any) -> None:
    """Set the near planes, `(center, width, bottom, top)` at distance 1, and the clipping distances of both cameras."""
    near = m.vis.map.znear * m.stat.extent
    far = m.vis.map.zfar * m.stat.extent
    cameras = d.work.scn_camera
    for eye in range(2):
        cameras[eye, CENTER] = frustum[0] * near
        cameras[eye, WIDTH] = frustum[1] * near
        cameras[eye, BOTTOM] = frustum[2] * near
        cameras[eye, TOP] = frustum[3] * near
        cameras[eye, NEAR] = near
        cameras[eye, FAR] = far


@kernel
def _symmetric(fovy: float) -> Any:
    """Frustum of a camera with a vertical field of view, degrees."""
    half = tan(fovy * pi / 360.0)
    return (0.0, 0.0, -half, half)


@kernel
def intrinsic_frustum(m: Model, cam: int) -> Any:
    """Centre, half width, bottom and top, at distance 1, of the frustum of a camera with a sensor."""
    fx, fy, cx, cy = get4(m.cam_intrinsic, cam)
    width, height = m.cam_sensorsize[cam, 0], m.cam_sensorsize[cam, 1]
    return (cx / fx, 0.5 * width / fx, (cy - 0.5 * height) / fy, (cy + 0.5 * height) / fy)


@kernel
def _orbit(m: Model, d: Data) -> None:
    """Set both cameras from a free or tracking camera."""
    pose = d.work.scn_pose
    forward, up = aim(pose[AZIMUTH], pose[ELEVATION])
    a = pose[AZIMUTH] * pi / 180.0
    right = (sin(a), -cos(a), 0.0)
    lookat = (pose[LOOKAT], pose[LOOKAT + 1], pose[LOOKAT + 2])
    _put_eyes(d, add_scaled3(lookat, forward, -pose[DISTANCE]), forward, up, right, m.vis.global_.ipd)
    _put_frustum(m, d, _symmetric(m.vis.global_.fovy))


@stage
def update_camera(m: Model, d: Data) -> int:
    """Set both cameras of the scene from the abstract camera. A tracking camera first moves its point of view."""
    kind = d.work.scn_state[CAM_TYPE]
    if kind == TRACKING:
        body = d.work.scn_state[CAM_TRACK]
        for k in range(3):
            d.work.scn_pose[LOOKAT + k] += TRACKED * (d.subtree_com[body, k] - d.work.scn_pose[LOOKAT + k])
    if kind in (FREE, TRACKING):
        _orbit(m, d)
    elif kind == FIXED:
        _fixed(m, d, d.work.scn_state[CAM_FIXED])
    return OK


@kernel
def _fixed(m: Model, d: Data, cam: int) -> None:
    """Set both cameras from a camera of the model, which looks along its negative z axis; y is up."""
    mat = get9(d.cam_xmat, cam)
    right, up, back = (mat[0], mat[3], mat[6]), (mat[1], mat[4], mat[7]), (mat[2], mat[5], mat[8])
    _put_eyes(d, get3(d.cam_xpos, cam), scale3(back, -1.0), up, right, m.cam_ipd[cam])
    if m.cam_sensorsize[cam, 0] != 0.0 and m.cam_sensorsize[cam, 1] != 0.0:
        _put_frustum(m, d, intrinsic_frustum(m, cam))
    else:
        _put_frustum(m, d, _symmetric(m.cam_fovy[cam]))
