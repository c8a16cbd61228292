"""Conversion of camera poses between the room and the model, which may be moved, rotated and scaled in the room.

With the scene's translation t, rotation R and scale s, a point p of the model is at t + s R p in the room (spec:
programming, visualization, "Virtual reality").
"""

from __future__ import annotations

from typing import Any

import numpy as np

from cardan.api.arguments import numbers, target_of, vector_of
from cardan.constants import mjMINVAL
from cardan.errors import FatalError
from cardan.maths.quaternion import mul_quat, neg_quat, quat2mat
from cardan.maths.types import Quat
from cardan.visual.defaults import require_record
from cardan.visual.structs import MjvGLCamera, MjvScene


def transform_of(name: str, scn: MjvScene) -> tuple[np.ndarray, Quat, float]:
    """Return translation, rotation (unit quaternion) and scale of a scene; raise FatalError if the scale is tiny."""
    require_record(name, "scn", scn, MjvScene)
    if scn.scale < mjMINVAL:
        raise FatalError(f"{name}: mjvScene scale {scn.scale} too small")
    q = scn.rotate.astype(float)
    norm = float(np.linalg.norm(q))
    w, x, y, z = (q / norm).tolist() if norm > mjMINVAL else (1.0, 0.0, 0.0, 0.0)
    return scn.translate.astype(float), (w, x, y, z), float(scn.scale)


def matrix_of(quat: Quat) -> np.ndarray:
    """Return the rotation matrix (3, 3) of a unit quaternion."""
    return np.reshape(quat2mat(quat), (3, 3))


def mjv_room2model(modelpos: np.ndarray, modelquat: np.ndarray, roompos: Any, roomquat: Any, scn: MjvScene) -> None:
    """Transform a pose from room space to model space; `modelpos` (3,) and `modelquat` (4,) are written.

    Raises:
        FatalError: the scale of the scene is too small.
    """
    out, turn = target_of("modelpos", modelpos, 3), target_of("modelquat", modelquat, 4)
    point, quat = vector_of("roompos", roompos, 3), numbers("roomquat", roomquat, 4)
    translate, rotate, scale = transform_of("mjv_room2model", scn)
    out[:] = matrix_of(rotate).T @ (point - translate) / scale
    turn[:] = mul_quat(neg_quat(rotate), quat)


def mjv_model2room(roompos: np.ndarray, roomquat: np.ndarray, modelpos: Any, modelquat: Any, scn: MjvScene) -> None:
    """Transform a pose from model space to room space; `roompos` (3,) and `roomquat` (4,) are written."""
    out, turn = target_of("roompos", roompos, 3), target_of("roomquat", roomquat, 4)
    point, quat = vector_of("modelpos", modelpos, 3), numbers("modelquat", modelquat, 4)
    translate, rotate, scale = transform_of("mjv_model2room", scn)
    out[:] = translate + scale * (matrix_of(rotate) @ point)
    turn[:] = mul_quat(rotate, quat)


def _upright(forward: np.ndarray, up: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the unit vector along `forward`, and the unit vector perpendicular to it that is closest to `up`."""
    forward = forward / np.linalg.norm(forward)
    up = up - forward * (forward @ up)
    return forward, up / np.linalg.norm(up)


def mjv_averageCamera(cam1: MjvGLCamera, cam2: MjvGLCamera) -> MjvGLCamera:
    """Return the average of two cameras: the camera midway between the eyes."""
    for argument, cam in (("cam1", cam1), ("cam2", cam2)):
        require_record("mjv_averageCamera", argument, cam, MjvGLCamera)
    mean = MjvGLCamera()
    for row in MjvGLCamera.table:
        if row.name == "orthographic":
            mean.orthographic = cam1.orthographic
            continue
        mean.values[row.name] = 0.5 * (cam1.values[row.name] + cam2.values[row.name])
    if np.any(mean.forward) and np.any(mean.up):
        mean.values["forward"], mean.values["up"] = _upright(mean.forward.astype(float), mean.up.astype(float))
    return mean


def room_camera(name: str, scn: MjvScene) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return position, forward and up vectors (3,) of a scene's average camera in room space.

    Raise FatalError if the cameras of the scene were never set.
    """
    require_record(name, "scn", scn, MjvScene)
    one, other = (camera.values for camera in scn.camera)
    if one["frustum_near"] < mjMINVAL or other["frustum_near"] < mjMINVAL:
        raise FatalError(f"{name}: mjvScene frustum_near too small")
    pos, forward, up = (0.5 * (one[k].astype(float) + other[k].astype(float)) for k in ("pos", "forward", "up"))
    return pos, *_upright(forward, up)


def model_camera(name: str, scn: MjvScene) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return position, forward and up vectors (3,) of a scene's average camera in model space."""
    pos, forward, up = room_camera(name, scn)
    if not scn.enabletransform:
        return pos, forward, up
    translate, rotate, scale = transform_of(name, scn)
    back = matrix_of(rotate).T
    return back @ (pos - translate) / scale, back @ forward, back @ up


def mjv_cameraInModel(headpos: np.ndarray, forward: np.ndarray, up: np.ndarray, scn: MjvScene) -> None:
    """Write the pose of the scene's average camera in model space.

    The results (3,) are the position between the eyes, the unit vector of the viewing direction, and the unit vector
    upwards.

    Raises:
        FatalError: the cameras of the scene were never set, or its scale is too small.
    """
    targets = target_of("headpos", headpos, 3), target_of("forward", forward, 3), target_of("up", up, 3)
    for target, value in zip(targets, model_camera("mjv_cameraInModel", scn), strict=True):
        target[:] = value


def mjv_cameraInRoom(headpos: np.ndarray, forward: np.ndarray, up: np.ndarray, scn: MjvScene) -> None:
    """Write the pose of the scene's average camera in room space. Arguments and errors: see `mjv_cameraInModel`."""
    targets = target_of("headpos", headpos, 3), target_of("forward", forward, 3), target_of("up", up, 3)
    for target, value in zip(targets, room_camera("mjv_cameraInRoom", scn), strict=True):
        target[:] = value


def mjv_frustumHeight(scn: MjvScene) -> float:
    """Return the height of the frustum of a scene's average camera at unit distance.

    For an orthographic camera, the height is the same at all distances.

    Raises:
        FatalError: the cameras of the scene were never set.
    """
    room_camera("mjv_frustumHeight", scn)
    one, other = (
        float(c.frustum_top - c.frustum_bottom) / (1.0 if c.orthographic else float(c.frustum_near)) for c in scn.camera
    )
    return 0.5 * (one + other)


def window_height(scn: MjvScene, depth: float) -> float:
    """Return the height, m, of the visible part of a scene at a depth, m, along the camera's axis."""
    height = mjv_frustumHeight(scn)
    return height if scn.camera[0].orthographic else height * depth


def mjv_alignToCamera(res: np.ndarray, vec: Any, forward: Any) -> None:
    """Rotate `vec` (3,) about z, by the angle from the y axis to the horizontal part of `forward`; write to `res`."""
    out = target_of("res", res, 3)
    out[:] = aligned(vector_of("vec", vec, 3), vector_of("forward", forward, 3))


def aligned(vec: np.ndarray, forward: np.ndarray) -> np.ndarray:
    """Return a vector rotated about z by the angle from the y axis to the horizontal part of `forward`."""
    x, y = float(forward[0]), float(forward[1])
    norm = float(np.hypot(x, y))
    x, y = (x / norm, y / norm) if norm > mjMINVAL else (1.0, 0.0)
    return np.array([vec[0] * y + vec[1] * x, vec[1] * y - vec[0] * x, vec[2]])


__all__ = ["mjv_alignToCamera", "mjv_averageCamera", "mjv_cameraInModel", "mjv_cameraInRoom", "mjv_frustumHeight"]
__all__ += ["mjv_model2room", "mjv_room2model"]
