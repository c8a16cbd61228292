"""Pose and frustum of abstract cameras without a scene (functions of MuJoCo 4.0).

Manual of MuJoCo 4.0: functions, "Abstract interaction".
"""

from __future__ import annotations

from math import cos as cosine
from math import pi, sin
from typing import Any

import numpy as np

from cardan.api.arguments import check_model
from cardan.enums.codes import CAMERA_TRACKING
from cardan.errors import FatalError
from cardan.model.mjdata import MjData
from cardan.model.mjmodel import MjModel
from cardan.visual.cameras import FIXED, FREE, ORTHOGRAPHIC, aim, symmetric_frustum, viewed_frustum
from cardan.visual.defaults import require_record
from cardan.visual.structs import MjvCamera, MjvGLCamera

Window = tuple[float, float, float, float]


def _frame(d: MjData, cam: MjvCamera) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Return position, forward, up and right vectors (3 each) of an abstract camera in the world frame.

    A tracking camera looks at the centre of mass of the subtree of its body.
    """
    kind = cam.type
    if kind == FIXED:
        if not 0 <= cam.fixedcamid < len(d.cam_xpos):
            raise FatalError(f"mjv_cameraFrame: fixed camera id {cam.fixedcamid} is outside valid range")
        right, up, back = d.cam_xmat[cam.fixedcamid].reshape(3, 3).T
        return d.cam_xpos[cam.fixedcamid], -back, up, right
    if kind not in (FREE, CAMERA_TRACKING):
        raise FatalError("mjv_cameraFrame: unknown camera type")
    if kind == CAMERA_TRACKING and not 0 <= cam.trackbodyid < len(d.subtree_com):
        raise FatalError(f"mjv_cameraFrame: track body id {cam.trackbodyid} is outside valid range")
    lookat = d.subtree_com[cam.trackbodyid] if kind == CAMERA_TRACKING else cam.lookat
    forward, up = map(np.array, aim(cam.azimuth, cam.elevation))
    angle = cam.azimuth * pi / 180.0
    return lookat - cam.distance * forward, forward, up, np.array((sin(angle), -cosine(angle), 0.0))


def _window(m: MjModel, cam: MjvCamera) -> tuple[Window, float, float, bool]:
    """Return the window of an abstract camera in its near plane, m, both clipping planes, m, and if it is orthographic.

    The window is centre, half width (0: as the viewport), bottom and top.
    """
    near, far = m.vis.map.znear * m.stat.extent, m.vis.map.zfar * m.stat.extent
    number = cam.fixedcamid
    if cam.type in (FREE, CAMERA_TRACKING):
        orthographic, fovy = bool(cam.orthographic), m.vis.global_.fovy
    elif cam.type == FIXED:
        if not 0 <= number < m.ncam:
            raise FatalError(f"mjv_cameraFrustum: fixed camera id {number} is outside valid range 0 to {m.ncam - 1}")
        orthographic, fovy = bool(m.cam_projection[number] == ORTHOGRAPHIC), float(m.cam_fovy[number])
    else:
        raise FatalError("mjv_cameraFrustum: unknown camera type")
    if orthographic:
        return (0.0, 0.0, -0.5 * fovy, 0.5 * fovy), near, far, True
    if cam.type == FIXED and m.cam_sensorsize[number].all():
        at_1 = viewed_frustum(m, number)  # type: ignore[arg-type]
    else:
        at_1 = symmetric_frustum(fovy)
    center, width, bottom, top = (float(length) * near for length in at_1)
    return (center, width, bottom, top), near, far, False


def _put(name: str, target: Any, values: Any) -> None:
    """Write numbers to a writable array. Raise TypeError for objects that are not arrays of this size."""
    if not isinstance(target, np.ndarray) or target.size != len(values) or not target.flags.writeable:
        raise TypeError(f"{name}: expected a writable array of {len(values)} numbers, got {target!r}")
    target[...] = np.reshape(values, target.shape)


def mjv_cameraFrame(
    headpos: np.ndarray, forward: np.ndarray, up: np.ndarray, right: np.ndarray, d: MjData, cam: MjvCamera
) -> None:
    """Write position and axes of an abstract camera, in the world frame, to four arrays of three numbers.

    Args:
        headpos: position, m (the point midway between the eyes).
        forward: direction in which the camera looks.
        up: its upward direction.
        right: its direction to the right.
        d: data with poses of bodies and cameras.
        cam: the camera.

    Raises:
        TypeError: an argument has another type or size.
        FatalError: the camera has an unknown type or an id out of range.
    """
    if not isinstance(d, MjData):
        raise TypeError(f"mjv_cameraFrame: d must be an MjData, not {type(d).__name__}")
    require_record("mjv_cameraFrame", "cam", cam, MjvCamera)
    for target, values in zip((headpos, forward, up, right), _frame(d, cam), strict=True):
        _put("mjv_cameraFrame", target, values)


def mjv_cameraFrustum(zver: np.ndarray, zhor: np.ndarray, zclip: np.ndarray, m: MjModel, cam: MjvCamera) -> None:
    """Write the frustum of an abstract camera to three arrays of two numbers.

    Args:
        zver: upper and lower half height in the near plane, m.
        zhor: left and right half width in the near plane, m; 0: as the viewport.
        zclip: distances of the near and the far plane, m.
        m: the model.
        cam: the camera.

    Raises:
        TypeError: an argument has another type or size.
        FatalError: the camera has an unknown type or an id out of range.
    """
    check_model("mjv_cameraFrustum", m)
    require_record("mjv_cameraFrustum", "cam", cam, MjvCamera)
    (center, width, bottom, top), near, far, _ = _window(m, cam)
    _put("mjv_cameraFrustum", zver, (top, -bottom))
    _put("mjv_cameraFrustum", zhor, (width - center, width + center))
    _put("mjv_cameraFrustum", zclip, (near, far))


def mjv_camera2GLCamera(m: MjModel, d: MjData, cam: MjvCamera) -> MjvGLCamera:
    """Return the camera of a renderer for an abstract camera: the one midway between the eyes.

    Raises:
        TypeError: an argument has another type.
        FatalError: the camera has an unknown type or an id out of range.
    """
    check_model("mjv_camera2GLCamera", m)
    require_record("mjv_camera2GLCamera", "cam", cam, MjvCamera)
    made = MjvGLCamera()
    made.pos[:], made.forward[:], made.up[:], _ = _frame(d, cam)
    (center, width, bottom, top), near, far, orthographic = _window(m, cam)
    made.frustum_center, made.frustum_width, made.frustum_bottom, made.frustum_top = center, width, bottom, top
    made.frustum_near, made.frustum_far, made.orthographic = near, far, int(orthographic)
    return made


__all__ = ["mjv_camera2GLCamera", "mjv_cameraFrame", "mjv_cameraFrustum"]
