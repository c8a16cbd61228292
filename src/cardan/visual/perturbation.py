"""Pulling, rotating and moving a selected body (spec: programming, visualization, "Perturbations")."""

from __future__ import annotations

from typing import Any

import numpy as np

from cardan.api.arguments import check_pair
from cardan.api.products import mj_solveM2
from cardan.api.support import mj_jac, mj_jacBody, mj_objectVelocity
from cardan.constants import mjMINVAL
from cardan.enums import mjtPertBit
from cardan.enums.codes import JNT_FREE, OBJ_XBODY
from cardan.maths.quaternion import mul_quat, neg_quat, normalize4, quat2vel, rot_vec_quat
from cardan.model.mjdata import MjData
from cardan.model.mjmodel import MjModel
from cardan.visual.defaults import require_record
from cardan.visual.rooms import mjv_frustumHeight, model_camera
from cardan.visual.structs import MjvPerturb, MjvScene

TRANSLATE, ROTATE = int(mjtPertBit.mjPERT_TRANSLATE), int(mjtPertBit.mjPERT_ROTATE)


def inertial_quat(m: MjModel, d: MjData, body: int) -> Any:
    """Orientation of a body's inertial frame."""
    return mul_quat(tuple(d.xquat[body].tolist()), tuple(m.body_iquat[body].tolist()))


def _selected(name: str, m: MjModel, d: MjData, pert: MjvPerturb) -> int:
    """Return the selected body, or 0 if no body is selected."""
    check_pair(name, m, d)
    require_record(name, "pert", pert, MjvPerturb)
    return pert.select if 0 < pert.select < m.nbody else 0


def _selected_point(d: MjData, body: int, pert: MjvPerturb) -> np.ndarray:
    """The selected point, world frame."""
    return d.xpos[body] + d.xmat[body].reshape(3, 3) @ pert.localpos


def _apparent_mass(m: MjModel, d: MjData, jacobian: np.ndarray) -> float:
    """Apparent mass, or moment of inertia, at a point: the harmonic mean over directions, 3 / tr(J M^-1 J').

    It is 1 for a body that can't move.
    """
    if m.nv == 0:
        return 1.0
    half = np.zeros_like(jacobian)
    mj_solveM2(m, d, half, jacobian)
    trace = float((half * half).sum())
    return 3.0 / trace if trace > mjMINVAL else 1.0


def mjv_initPerturb(m: MjModel, d: MjData, scn: MjvScene, pert: MjvPerturb) -> None:
    """Copy perturb pos,quat from selected body; set scale for perturbation.

    The reference is the pose of the body's inertial frame and the selected point. `localmass` is the apparent mass at
    that point, and `scale` is the distance of a mouse movement over the height of the window. If no body is selected,
    nothing happens. `select` and `localpos` of the perturbation must be set.

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
    pert.scale = mjv_frustumHeight(scn) * float((point - pos) @ forward)


def mjv_applyPerturbForce(m: MjModel, d: MjData, pert: MjvPerturb) -> None:
    """Set perturb force,torque in d->xfrc_applied, if selected body is dynamic.

    A critically damped spring pulls the selected point to its reference; another one rotates the body. The model's
    ``vis.map.stiffness`` and ``stiffnessrot`` are the squared frequencies of the springs.
    """
    body = _selected("mjv_applyPerturbForce", m, d, pert)
    active = pert.active | pert.active2
    if not body or not active or m.body_weldid[body] == 0:
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
    """Set perturb pos,quat in d->mocap when selected body is mocap, and in d->qpos otherwise.

    Write d->qpos only if flg_paused and subtree root for selected body has free joint. The whole tree is then moved, so
    that the selected body is at the reference.
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


__all__ = ["mjv_applyPerturbForce", "mjv_applyPerturbPose", "mjv_initPerturb"]
