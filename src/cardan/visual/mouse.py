"""Control by the mouse: select and perturb bodies, move the camera and the model (spec: programming, visualization)."""

from __future__ import annotations

from math import cos, log, pi, radians, sin, tan
from typing import Any

import numpy as np

from cardan.api.arguments import check_pair, integer, require, target_of, target_vector, vector_of
from cardan.api.products import mj_solveM2
from cardan.api.rays import mj_ray, mju_rayFlex, mju_raySkin
from cardan.api.support import mj_jac, mj_jacBody, mj_objectVelocity
from cardan.constants import mjMINVAL
from cardan.enums import mjtCamera, mjtMouse, mjtPertBit, mjtVisFlag
from cardan.enums.codes import CAMERA_TRACKING, JNT_FREE, OBJ_XBODY
from cardan.errors import FatalError
from cardan.maths.quaternion import (
    axis_angle2quat,
    integrate_quat,
    mul_quat,
    neg_quat,
    normalize4,
    quat2vel,
    rot_vec_quat,
    sub_quat,
)
from cardan.model.mjdata import MjData
from cardan.model.mjmodel import MjModel
from cardan.visual.defaults import require_record
from cardan.visual.rooms import aligned, mjv_frustumHeight, model_camera, room_camera, window_height
from cardan.visual.structs import MjvCamera, MjvOption, MjvPerturb, MjvScene

TRANSLATE, ROTATE = int(mjtPertBit.mjPERT_TRANSLATE), int(mjtPertBit.mjPERT_ROTATE)


def inertial_quat(m: MjModel, d: MjData, body: int) -> Any:
    """Return the orientation of a body's inertial frame, world frame."""
    return mul_quat(tuple(d.xquat[body].tolist()), tuple(m.body_iquat[body].tolist()))


def _selected(name: str, m: MjModel, d: MjData, pert: MjvPerturb) -> int:
    """Return the selected body, or 0 if no body is selected."""
    check_pair(name, m, d)
    require_record(name, "pert", pert, MjvPerturb)
    return pert.select if 0 < pert.select < m.nbody else 0


def _selected_point(d: MjData, body: int, pert: MjvPerturb) -> np.ndarray:
    return d.xpos[body] + d.xmat[body].reshape(3, 3) @ pert.localpos


def _apparent_mass(m: MjModel, d: MjData, jacobian: np.ndarray) -> float:
    """Return the apparent mass (or inertia) for a Jacobian J (3, nv): 3 / tr(J M^-1 J').

    This is the harmonic mean over directions. The result is 1 for a body that can't move.
    """
    if m.nv == 0:
        return 1.0
    half = np.zeros_like(jacobian)
    mj_solveM2(m, d, half, jacobian)
    trace = float((half * half).sum())
    return 3.0 / trace if trace > mjMINVAL else 1.0


def mjv_initPerturb(m: MjModel, d: MjData, scn: MjvScene, pert: MjvPerturb) -> None:
    """Begin a perturbation of the selected body: set its reference pose, `localmass` and `scale`.

    The reference is the orientation of the body's inertial frame, and the position of the selected point. `localmass`
    is the apparent mass at that point, and `scale` is the distance (m) by which a mouse movement over the whole height
    of the window moves the point. If no body is selected, nothing happens. `select` and `localpos` of the perturbation
    must be set.

    Raises:
        FatalError: the cameras of the scene were never set.
    """
    body = _selected("mjv_initPerturb", m, d, pert)
    if not body:
        return
    point = _selected_point(d, body, pert)
    pert.refpos, pert.refquat, pert.refselpos = d.xipos[body], inertial_quat(m, d, body), point
    jacobian = np.zeros((3, m.nv))
    mj_jac(m, d, jacobian, None, point, body)
    pert.localmass = _apparent_mass(m, d, jacobian)
    pos, forward, _ = model_camera("mjv_initPerturb", scn)
    pert.scale = window_height(scn, float((point - pos) @ forward))


def mjv_applyPerturbForce(m: MjModel, d: MjData, pert: MjvPerturb) -> None:
    """Write the force and torque of a perturbation to `d.xfrc_applied`, if the selected body can move.

    A damped spring pulls the selected point to its reference; another one rotates the body. The model's
    ``vis.map.stiffness`` and ``stiffnessrot`` are the squared frequencies of the springs.
    """
    body = _selected("mjv_applyPerturbForce", m, d, pert)
    active = pert.active | pert.active2
    if not body or not active or m.body_dofnum[m.body_weldid[body]] == 0:
        return
    velocity = np.zeros(6)
    mj_objectVelocity(m, d, OBJ_XBODY, body, velocity, 0)
    if active & TRANSLATE:
        stiffness = m.vis.map.stiffness
        point = _selected_point(d, body, pert)
        speed = velocity[3:] + np.cross(velocity[:3], point - d.xpos[body])
        force = pert.localmass * (stiffness * (pert.refselpos - point) - np.sqrt(stiffness) * speed)
        d.xfrc_applied[body, :3] = force
        d.xfrc_applied[body, 3:] = np.cross(point - d.xipos[body], force)
    if active & ROTATE:
        stiffness = m.vis.map.stiffnessrot
        jacobian = np.zeros((3, m.nv))
        mj_jacBody(m, d, None, jacobian, body)
        turn = mul_quat(tuple(pert.refquat.tolist()), neg_quat(inertial_quat(m, d, body)))
        spring = stiffness * np.array(quat2vel(turn, 1.0)) - np.sqrt(stiffness) * velocity[:3]
        d.xfrc_applied[body, 3:] = _apparent_mass(m, d, jacobian) * spring


def mjv_applyPerturbPose(m: MjModel, d: MjData, pert: MjvPerturb, flg_paused: int) -> None:
    """Move the selected body to the reference pose of a perturbation.

    If the body is a mocap body, the mocap pose is set. Otherwise, if `flg_paused` is nonzero and the root of the body's
    tree has a free joint, `d.qpos` is set so that the whole tree moves with the body.
    """
    body = _selected("mjv_applyPerturbPose", m, d, pert)
    if not body or not pert.active | pert.active2:
        return
    # pose of the body's frame for which its inertial frame is at the reference
    quat = mul_quat(tuple(pert.refquat.tolist()), neg_quat(tuple(m.body_iquat[body].tolist())))
    pos = pert.refpos - np.array(rot_vec_quat(tuple(m.body_ipos[body].tolist()), quat))
    mocap = int(m.body_mocapid[body])
    root = int(m.body_rootid[body])
    if mocap >= 0:
        d.mocap_pos[mocap], d.mocap_quat[mocap] = pos, normalize4(quat)
    elif flg_paused and m.body_jntnum[root] == 1 and m.jnt_type[m.body_jntadr[root]] == JNT_FREE:
        # the root moves rigidly with the body
        turn = mul_quat(quat, neg_quat(tuple(d.xquat[body].tolist())))
        adr = int(m.jnt_qposadr[m.body_jntadr[root]])
        offset = tuple((d.xpos[root] - d.xpos[body]).tolist())
        d.qpos[adr : adr + 3] = pos + np.array(rot_vec_quat(offset, turn))
        d.qpos[adr + 3 : adr + 7] = normalize4(mul_quat(turn, tuple(d.xquat[root].tolist())))


STATIC, SKIN = int(mjtVisFlag.mjVIS_STATIC), int(mjtVisFlag.mjVIS_SKIN)
FLEX_FLAGS = [int(getattr(mjtVisFlag, f"mjVIS_FLEX{k}")) for k in ("VERT", "EDGE", "FACE", "SKIN")]


def _direction(scn: MjvScene, aspectratio: float, relx: float, rely: float) -> tuple[np.ndarray, np.ndarray]:
    """Return origin and unit direction (world frame) of the ray through a point of the window."""
    pos, forward, up = model_camera("mjv_select", scn)
    height = mjv_frustumHeight(scn)
    right = np.cross(forward, up)
    aside = (relx - 0.5) * height * aspectratio * right + (rely - 0.5) * height * up
    if scn.camera[0].orthographic:
        return pos + aside, forward
    vec = forward + aside
    return pos, vec / np.linalg.norm(vec)


def _nearest_flex(m: MjModel, d: MjData, opt: MjvOption, pnt: np.ndarray, vec: np.ndarray) -> tuple[float, int, int]:
    """Return distance, flex id and vertex id of the nearest flex on a ray, of any group; -1 for each if none."""
    vert, edge, face, skin = (int(opt.values["flags"][k]) for k in FLEX_FLAGS)
    best, vertex = (-1.0, -1, -1), np.zeros(1, np.int32)
    for flex in range(m.nflex if vert or edge or face or skin else 0):
        dist = mju_rayFlex(m, d, opt.flex_layer, vert, edge, face, skin, flex, pnt, vec, vertex)
        if dist >= 0.0 and (best[0] < 0.0 or dist < best[0]):
            best = (dist, flex, int(vertex[0]))
    return best


def _nearest_skin(
    m: MjModel, opt: MjvOption, scn: MjvScene, pnt: np.ndarray, vec: np.ndarray
) -> tuple[float, int, int]:
    """Return distance, skin id and vertex id of the nearest skin on a ray, of any group; -1 for each if none."""
    best, vertex = (-1.0, -1, -1), np.zeros(1, np.int32)
    for skin in range(m.nskin if opt.values["flags"][SKIN] else 0):
        first, faces = int(m.skin_vertadr[skin]), int(m.skin_faceadr[skin])
        corners = m.skin_face[faces : faces + m.skin_facenum[skin]].ravel()
        vertices = scn.skinvert[3 * first : 3 * (first + m.skin_vertnum[skin])]
        dist = mju_raySkin(int(m.skin_facenum[skin]), int(m.skin_vertnum[skin]), corners, vertices, pnt, vec, vertex)
        if dist >= 0.0 and (best[0] < 0.0 or dist < best[0]):
            best = (dist, skin, int(vertex[0]))
    return best


def _bone_body(m: MjModel, skin: int, vertex: int) -> int:
    """Return the body of the bone that has the largest weight at a vertex of a skin, or -1."""
    body, most = -1, 0.0
    for bone in range(m.skin_boneadr[skin], m.skin_boneadr[skin] + m.skin_bonenum[skin]):
        first = m.skin_bonevertadr[bone]
        ids = m.skin_bonevertid[first : first + m.skin_bonevertnum[bone]]
        for k in np.flatnonzero(ids == vertex):
            if m.skin_bonevertweight[first + k] > most:
                body, most = int(m.skin_bonebodyid[bone]), float(m.skin_bonevertweight[first + k])
    return body


def mjv_select(
    m: MjModel,
    d: MjData,
    vopt: MjvOption,
    aspectratio: float,
    relx: float,
    rely: float,
    scn: MjvScene,
    selpnt: np.ndarray,
    geomid: np.ndarray,
    flexid: np.ndarray,
    skinid: np.ndarray,
) -> int:
    """Select a geom, flex or skin at a point of the window; return the id of its body, or -1.

    Args:
        m: model.
        d: data.
        vopt: options; objects that aren't shown can't be selected.
        aspectratio: width of the window divided by its height.
        relx: position in the window, from 0 at the left to 1.
        rely: position in the window, from 0 at the bottom to 1.
        scn: scene.
        selpnt: hit point on a geom, or the nearest vertex of a flex or skin (3,), world frame, written.
        geomid: id of the geom (1,), or -1, written.
        flexid: id of the flex (1,), or -1, written.
        skinid: id of the skin (1,), or -1, written.

    Raises:
        FatalError: the cameras of the scene were never set.
    """
    check_pair("mjv_select", m, d)
    require_record("mjv_select", "vopt", vopt, MjvOption)
    point = target_of("selpnt", selpnt, 3)
    names = ("geomid", "flexid", "skinid")
    ids = [target_vector(name, v, np.int32) for name, v in zip(names, (geomid, flexid, skinid), strict=True)]
    for name, target in zip(names, ids, strict=True):
        require(target.size == 1, f"{name} should be of size 1, got size {target.size}")
    pnt, vec = _direction(scn, aspectratio, relx, rely)
    geom = np.full(1, -1, np.int32)
    found: list[tuple[float, int, int, int, np.ndarray]] = []  # distance, kind of object, id, body, point
    dist = mj_ray(m, d, pnt, vec, vopt.geomgroup, int(vopt.values["flags"][STATIC]), -1, geom)
    if geom[0] >= 0:
        found.append((dist, 0, int(geom[0]), int(m.geom_bodyid[geom[0]]), pnt + dist * vec))
    dist, flex, vertex = _nearest_flex(m, d, vopt, pnt, vec)
    if flex >= 0:
        vertex += int(m.flex_vertadr[flex])
        found.append((dist, 1, flex, int(m.flex_vertbodyid[vertex]), d.flexvert_xpos[vertex]))
    dist, skin, vertex = _nearest_skin(m, vopt, scn, pnt, vec)
    if skin >= 0:
        first = 3 * (int(m.skin_vertadr[skin]) + vertex)
        found.append((dist, 2, skin, _bone_body(m, skin, vertex), scn.skinvert[first : first + 3]))
    for target in ids:
        target[0] = -1
    if not found:
        return -1
    _, kind, number, body, place = min(found, key=lambda entry: entry[0])
    ids[kind][0] = number
    point[:] = place
    return body


ROTATE_V, ROTATE_H, MOVE_V, MOVE_H, ZOOM = (
    int(getattr(mjtMouse, f"mjMOUSE_{k}")) for k in ("ROTATE_V", "ROTATE_H", "MOVE_V", "MOVE_H", "ZOOM")
)

STEEPEST = 89.0
NEAREST, FARTHEST = 0.01, 100.0
"""Limits of a camera's distance, relative to the extent of the model; also limits of a scene's scale."""
ZOOM_RATE = 3.0
QUARTER = 0.5 * pi


def _action(name: str, action: int) -> int:
    """Return a mouse action (mjtMouse) as an int; raise FatalError if the action is invalid."""
    value = integer(name, "action", action)
    if value not in (ROTATE_V, ROTATE_H, MOVE_V, MOVE_H, ZOOM):
        raise FatalError(f"{name}: unexpected action {value}")
    return value


def _free_direction(cam: MjvCamera) -> np.ndarray:
    """Return the viewing direction of a free camera (3,)."""
    azimuth, elevation = radians(cam.azimuth), radians(cam.elevation)
    return np.array([cos(elevation) * cos(azimuth), cos(elevation) * sin(azimuth), sin(elevation)])


def _free_height(m: MjModel, cam: MjvCamera) -> float:
    """Return the height of the part of the plane through `lookat` that a free camera shows, m."""
    fovy = float(m.vis.global_.fovy)
    return fovy if cam.orthographic else 2.0 * cam.distance * tan(radians(0.5 * fovy))


def mjv_moveCamera(
    m: MjModel,
    action: int,
    reldx: float,
    reldy: float,
    scn: MjvScene | MjvCamera | None,
    cam: MjvCamera | None = None,
) -> None:
    """Move an abstract camera by a movement of the mouse.

    Fixed cameras don't move; tracking cameras only rotate and zoom.

    Args:
        m: model.
        action: meaning of the movement (mjtMouse).
        reldx: movement of the mouse to the right, relative to the height of the window.
        reldy: movement of the mouse upwards, relative to the height of the window.
        scn: scene, as the camera sees it; MuJoCo 4.0 leaves this argument out.
        cam: abstract camera, written.

    Raises:
        FatalError: the action is unknown, or the cameras of the scene were never set.
    """
    if cam is None and isinstance(scn, MjvCamera):
        cam, scn = scn, None
    require_record("mjv_moveCamera", "cam", cam, MjvCamera)
    assert cam is not None
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
        if scn is None:
            forward, scale = _free_direction(cam), _free_height(m, cam)
        else:
            require_record("mjv_moveCamera", "scn", scn, MjvScene)
            assert isinstance(scn, MjvScene)
            pos, forward, _ = model_camera("mjv_moveCamera", scn)
            scale = window_height(scn, float((cam.lookat - pos) @ forward))
        vec = np.array([-reldx, 0.0, reldy] if kind == MOVE_V else [-reldx, reldy, 0.0])
        cam.lookat = cam.lookat + scale * aligned(vec, forward)


def _turn(axis: np.ndarray, angle: float) -> Any:
    """Return the quaternion of a rotation by `angle`, radians, about an axis of any length."""
    norm = float(np.linalg.norm(axis))
    if norm < mjMINVAL:
        return (1.0, 0.0, 0.0, 0.0)
    return axis_angle2quat(tuple((axis / norm).tolist()), angle)


def mjv_moveModel(m: MjModel, action: int, reldx: float, reldy: float, roomup: Any, scn: MjvScene) -> None:
    """Move the model in the room by a movement of the mouse.

    If the scene's `enabletransform` is set, the scene's translation, rotation or scale is changed. `roomup` is the unit
    vector that is up in the room (3,); the other arguments and errors are those of `mjv_moveCamera`.
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
    """Move the reference pose of a perturbation by a movement of the mouse.

    The reference is moved or rotated relative to the camera's view. Its orientation differs from that of the body by at
    most a quarter turn. The arguments `action`, `reldx`, `reldy` and `scn`, and the errors, are those of
    `mjv_moveCamera`.
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


__all__ = ["mjv_applyPerturbForce", "mjv_applyPerturbPose", "mjv_initPerturb", "mjv_moveCamera", "mjv_moveModel"]
__all__ += ["mjv_movePerturb", "mjv_select"]
