"""Control of the camera, the model and a perturbed body with the mouse (spec: programming, visualization)."""

from __future__ import annotations

from math import log, pi
from typing import Any

import numpy as np

from cardan.api.arguments import check_pair, integer, vector_of
from cardan.constants import mjMINVAL
from cardan.enums import mjtCamera, mjtMouse
from cardan.enums.codes import CAMERA_TRACKING
from cardan.errors import FatalError
from cardan.maths.quaternion import axis_angle2quat, integrate_quat, mul_quat, normalize4, sub_quat
from cardan.model.mjdata import MjData
from cardan.model.mjmodel import MjModel
from cardan.visual.defaults import require_record
from cardan.visual.perturbation import inertial_quat
from cardan.visual.rooms import aligned, mjv_frustumHeight, model_camera, room_camera
from cardan.visual.structs import MjvCamera, MjvPerturb, MjvScene

ROTATE_V, ROTATE_H, MOVE_V, MOVE_H, ZOOM = (
    int(getattr(mjtMouse, f"mjMOUSE_{k}")) for k in ("ROTATE_V", "ROTATE_H", "MOVE_V", "MOVE_H", "ZOOM")
)

STEEPEST = 89.0
NEAREST, FARTHEST = 0.01, 100.0
"""Limits of the distance of a camera, in extents of the model, and of the scale of a scene."""
ZOOM_RATE = 3.0
QUARTER = 0.5 * pi


def _action(name: str, action: int) -> int:
    """Return a mouse action if it is valid; else raise FatalError."""
    value = integer(name, "action", action)
    if value not in (ROTATE_V, ROTATE_H, MOVE_V, MOVE_H, ZOOM):
        raise FatalError(f"{name}: unexpected action {value}")
    return value


def mjv_moveCamera(m: MjModel, action: int, reldx: float, reldy: float, scn: MjvScene, cam: MjvCamera) -> None:
    """Move camera with mouse; action is mjtMouse.

    Fixed cameras don't move; tracking cameras only rotate and zoom.

    Args:
        m: model.
        action: meaning of the movement (mjtMouse).
        reldx: movement of the mouse to the right, relative to the height of the window.
        reldy: movement of the mouse upwards, relative to the height of the window.
        scn: scene, as the camera sees it.
        cam: abstract camera, written.

    Raises:
        FatalError: the action is unknown, or the cameras of the scene were never set.
    """
    require_record("mjv_moveCamera", "cam", cam, MjvCamera)
    kind = _action("mjv_moveCamera", action)
    if cam.type == mjtCamera.mjCAMERA_FIXED:
        return
    if kind in (ROTATE_V, ROTATE_H):
        cam.azimuth -= 180.0 * reldx
        cam.elevation = min(STEEPEST, max(-STEEPEST, cam.elevation - 180.0 * reldy))
        if abs(cam.azimuth) > 180.0:
            cam.azimuth -= 360.0 if cam.azimuth > 0.0 else -360.0
    elif kind == ZOOM:
        extent = m.stat.extent
        distance = cam.distance - log(1.0 + cam.distance / extent / ZOOM_RATE) * reldy * ZOOM_RATE**2 * extent
        cam.distance = min(FARTHEST * extent, max(NEAREST * extent, distance))
    elif cam.type != CAMERA_TRACKING:
        pos, forward, _ = model_camera("mjv_moveCamera", scn)
        scale = mjv_frustumHeight(scn) * float((cam.lookat - pos) @ forward)
        vec = np.array([-reldx, 0.0, reldy] if kind == MOVE_V else [-reldx, reldy, 0.0])
        cam.lookat = cam.lookat + scale * aligned(vec, forward)


def _turn(axis: np.ndarray, angle: float) -> Any:
    """Quaternion of a rotation; the axis need not have unit length."""
    norm = float(np.linalg.norm(axis))
    if norm < mjMINVAL:
        return (1.0, 0.0, 0.0, 0.0)
    return axis_angle2quat(tuple((axis / norm).tolist()), angle)


def mjv_moveModel(m: MjModel, action: int, reldx: float, reldy: float, roomup: Any, scn: MjvScene) -> None:
    """Move model with mouse; action is mjtMouse.

    If `enabletransform` of the scene is set, its translation, rotation or scale is changed. `roomup` is the unit vector
    that is up in the room (3,); the other arguments and errors are those of `mjv_moveCamera`.
    """
    up = vector_of("roomup", roomup, 3)
    kind = _action("mjv_moveModel", action)
    require_record("mjv_moveModel", "scn", scn, MjvScene)
    if not scn.enabletransform:
        return
    if kind == ZOOM:
        scale = scn.scale + log(1.0 + scn.scale / ZOOM_RATE) * reldy * ZOOM_RATE
        scn.scale = min(FARTHEST, max(NEAREST, scale))
        return
    _, view, _ = room_camera("mjv_moveModel", scn)
    right = np.cross(view, up)
    right /= max(float(np.linalg.norm(right)), mjMINVAL)
    ahead = np.cross(up, right)
    if kind in (MOVE_V, MOVE_H):
        other = up if kind == MOVE_V else ahead
        scn.translate = scn.translate + m.stat.extent * (reldx * right - reldy * other)
        return
    axis = reldx * (up if kind == ROTATE_V else ahead) + reldy * right
    turn = _turn(axis, 2.0 * QUARTER * float(np.hypot(reldx, reldy)))
    scn.rotate = normalize4(mul_quat(turn, tuple(scn.rotate.astype(float).tolist())))


def mjv_movePerturb(
    m: MjModel, d: MjData, action: int, reldx: float, reldy: float, scn: MjvScene, pert: MjvPerturb
) -> None:
    """Move perturb object with mouse; action is mjtMouse.

    The reference of the perturbation `pert` is moved or rotated relative to the camera's view. Its rotation relative to
    the body is at most a quarter turn. The other arguments and errors are those of `mjv_moveCamera`.
    """
    check_pair("mjv_movePerturb", m, d)
    require_record("mjv_movePerturb", "pert", pert, MjvPerturb)
    kind = _action("mjv_movePerturb", action)
    _, forward, _ = model_camera("mjv_movePerturb", scn)
    if kind == ZOOM:
        return
    if kind in (MOVE_V, MOVE_H):
        vec = np.array([reldx, 0.0, -reldy] if kind == MOVE_V else [reldx, -reldy, 0.0])
        step = pert.scale * aligned(vec, forward)
        pert.refpos, pert.refselpos = pert.refpos + step, pert.refselpos + step
        return
    axis = aligned(np.array([reldy, 0.0, reldx] if kind == ROTATE_V else [reldy, reldx, 0.0]), forward)
    turn = _turn(axis, 4.0 * QUARTER * float(np.linalg.norm(axis)))
    quat = normalize4(mul_quat(turn, tuple(pert.refquat.tolist())))
    if 0 < pert.select < m.nbody:
        own = inertial_quat(m, d, pert.select)
        rotation = sub_quat(quat, own)
        angle = float(np.linalg.norm(rotation))
        quat = integrate_quat(own, rotation, QUARTER / angle) if angle > QUARTER else quat
    pert.refquat = quat


__all__ = ["mjv_moveCamera", "mjv_moveModel", "mjv_movePerturb"]
