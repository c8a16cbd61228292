"""Support functions of MuJoCo's interface: Jacobians, motion of objects and forces on them, configurations.

Spec: programming, API reference, "Support". The functions read results of the pipeline in `d` and write into arrays of
the caller (see `arguments`). If an id does not exist, they raise IndexError, unless a docstring says otherwise. Most
functions only declare their arguments; the kernel above them computes the results (see `native_call`). Kernels get a
vector of fixed size as a table with one row, and an omitted optional array as a table without rows.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from cardan.api.arguments import check_model, valid_id
from cardan.api.native_call import native, native_by
from cardan.constants import LATER, mjMINVAL, mjVERSION_HEADER
from cardan.dynamics.com import object_acceleration, object_velocity
from cardan.dynamics.external import contact_force
from cardan.dynamics.jacobian import (
    angular_momentum_matrix,
    apply_ft,
    is_sparse,
    jac,
    jac_point_axis,
    jac_rate,
    jac_subtree_com,
)
from cardan.dynamics.kinematics import differentiate_pos, get_quat, integrate_pos, place_frame
from cardan.enums import mjtCone, mjtObj, mjtSolver
from cardan.enums.codes import JNT_BALL, JNT_FREE, OBJ_BODY, OBJ_GEOM, OBJ_SITE, OBJ_XBODY
from cardan.enums.numbering import is_later
from cardan.errors import FatalError
from cardan.jit import OK, kernel
from cardan.jit.binding.arguments import Integer, Number, element, source, target
from cardan.maths.quaternion import normalize4
from cardan.maths.vector import get3, get4, set6
from cardan.model.kernel_views import Data, Model
from cardan.model.mjdata import MjData
from cardan.model.mjmodel import MjModel

_MOVING = (mjtObj.mjOBJ_BODY, mjtObj.mjOBJ_XBODY, mjtObj.mjOBJ_GEOM, mjtObj.mjOBJ_SITE, mjtObj.mjOBJ_CAMERA)
_COUNT = dict(zip(map(int, _MOVING), ("nbody", "nbody", "ngeom", "nsite", "ncam"), strict=True))
Jacobian = np.ndarray | None
JACOBIAN = target(3, "nv", optional=True)
BODY = element("body", "nbody")
CAMERA = int(mjtObj.mjOBJ_CAMERA)
REFUSED = 1
ZERO6 = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)


@kernel
def _point_jacobian(m: Model, d: Data, jacp: Any, jacr: Any, point: Any, body: int) -> None:
    jac(m, d, jacp, jacr, get3(point, 0), body)


@native_by(_point_jacobian, jacp=JACOBIAN, jacr=JACOBIAN, point=source(3), body=BODY)
def mj_jac(m: MjModel, d: MjData, jacp: Jacobian, jacr: Jacobian, point: Any, body: int) -> None:
    """Jacobians of a point (world frame) that is fixed to a body.

    Args:
        m: model.
        d: data, after `mj_kinematics` and `mj_comPos`.
        jacp: translational Jacobian (3, nv), written; or None.
        jacr: rotational Jacobian (3, nv), written; or None.
        point: the point (3,), m.
        body: id of the body.
    """


@kernel
def _point_jacobian_rate(m: Model, d: Data, jacp: Any, jacr: Any, point: Any, body: int) -> None:
    jac_rate(m, d, jacp, jacr, get3(point, 0), body)


@native_by(_point_jacobian_rate, jacp=JACOBIAN, jacr=JACOBIAN, point=source(3), body=BODY)
def mj_jacDot(m: MjModel, d: MjData, jacp: Jacobian, jacr: Jacobian, point: Any, body: int) -> None:
    """Time derivatives of the Jacobians of a point that is fixed to a body; arguments as in `mj_jac`.

    Call it after `mj_comVel`.
    """


@kernel
def _body_jacobian(m: Model, d: Data, jacp: Any, jacr: Any, body: int) -> None:
    jac(m, d, jacp, jacr, get3(d.xpos, body), body)


@native_by(_body_jacobian, jacp=JACOBIAN, jacr=JACOBIAN, body=BODY)
def mj_jacBody(m: MjModel, d: MjData, jacp: Jacobian, jacr: Jacobian, body: int) -> None:
    """Jacobians of the origin of a body's frame; arguments as in `mj_jac`."""


@kernel
def _body_com_jacobian(m: Model, d: Data, jacp: Any, jacr: Any, body: int) -> None:
    jac(m, d, jacp, jacr, get3(d.xipos, body), body)


@native_by(_body_com_jacobian, jacp=JACOBIAN, jacr=JACOBIAN, body=BODY)
def mj_jacBodyCom(m: MjModel, d: MjData, jacp: Jacobian, jacr: Jacobian, body: int) -> None:
    """Jacobians of a body's centre of mass; arguments as in `mj_jac`."""


@kernel
def _geom_jacobian(m: Model, d: Data, jacp: Any, jacr: Any, geom: int) -> None:
    jac(m, d, jacp, jacr, get3(d.geom_xpos, geom), m.geom_bodyid[geom])


@native_by(_geom_jacobian, jacp=JACOBIAN, jacr=JACOBIAN, geom=element("geom", "ngeom"))
def mj_jacGeom(m: MjModel, d: MjData, jacp: Jacobian, jacr: Jacobian, geom: int) -> None:
    """Jacobians of a geom's centre; arguments as in `mj_jac`."""


@kernel
def _site_jacobian(m: Model, d: Data, jacp: Any, jacr: Any, site: int) -> None:
    jac(m, d, jacp, jacr, get3(d.site_xpos, site), m.site_bodyid[site])


@native_by(_site_jacobian, jacp=JACOBIAN, jacr=JACOBIAN, site=element("site", "nsite"))
def mj_jacSite(m: MjModel, d: MjData, jacp: Jacobian, jacr: Jacobian, site: int) -> None:
    """Jacobians of a site; arguments as in `mj_jac`."""


@native_by(jac_subtree_com, jacp=JACOBIAN, body=BODY)
def mj_jacSubtreeCom(m: MjModel, d: MjData, jacp: Jacobian, body: int) -> None:
    """Translational Jacobian (3, nv) of the centre of mass of a body's subtree."""


@kernel
def _point_axis_jacobian(m: Model, d: Data, jacPoint: Any, jacAxis: Any, point: Any, axis: Any, body: int) -> None:
    jac_point_axis(m, d, jacPoint, jacAxis, get3(point, 0), get3(axis, 0), body)


@native_by(_point_axis_jacobian, jacPoint=JACOBIAN, jacAxis=JACOBIAN, point=source(3), axis=source(3), body=BODY)
def mj_jacPointAxis(
    m: MjModel, d: MjData, jacPoint: Jacobian, jacAxis: Jacobian, point: Any, axis: Any, body: int
) -> None:
    """Jacobians (3, nv) of a point and of an axis (world frame) that are fixed to a body."""


@native_by(angular_momentum_matrix, mat=target(3, "nv"), body=BODY)
def mj_angmomMat(m: MjModel, d: MjData, mat: np.ndarray, body: int) -> None:
    """Compute the matrix (3, nv) that maps qvel to a body subtree's angular momentum about its centre of mass."""


def _moves(function: str) -> Callable[..., None]:
    """Make a function that checks the type and the id of an object.

    The function raises FatalError if objects of this type can't move, and IndexError if there is no such object.
    """

    def check(m: MjModel, objtype: int, objid: int, **_: Any) -> None:
        if int(objtype) not in _COUNT:
            raise FatalError(f"{function}: invalid object type {int(objtype)}")
        valid_id("object", objid, getattr(m, _COUNT[int(objtype)]))

    return check


@kernel
def _object_exists(m: Model, objtype: int, objid: int) -> bool:
    if objid < 0:
        return False
    if objtype in (OBJ_BODY, OBJ_XBODY):
        return objid < m.nbody
    if objtype == OBJ_GEOM:
        return objid < m.ngeom
    if objtype == OBJ_SITE:
        return objid < m.nsite
    return objtype == CAMERA and objid < m.ncam


@kernel
def _velocity_of_object(m: Model, d: Data, objtype: int, objid: int, res: Any, flg_local: int) -> int:
    if not _object_exists(m, objtype, objid):
        return REFUSED
    set6(res, 0, object_velocity(m, d, objtype, objid, flg_local != 0))
    return OK


@native_by(
    _velocity_of_object,
    check=_moves("mj_objectVelocity"),
    refuses=True,
    objtype=Integer(),
    objid=Integer(),
    res=target(6),
    flg_local=Integer(),
)
def mj_objectVelocity(m: MjModel, d: MjData, objtype: int, objid: int, res: np.ndarray, flg_local: int) -> None:
    """Velocity of an object at its centre: (angular, linear).

    Args:
        m: model.
        d: data, after `mj_comVel`.
        objtype: `mjOBJ_BODY`, `mjOBJ_XBODY`, `mjOBJ_GEOM`, `mjOBJ_SITE` or `mjOBJ_CAMERA`.
        objid: id of the object.
        res: the velocity (6,), written.
        flg_local: nonzero to express the velocity in the object's frame; 0: in the world frame.

    Raises:
        FatalError: objects of this type can't move.
    """


@kernel
def _acceleration_of_object(m: Model, d: Data, objtype: int, objid: int, res: Any, flg_local: int) -> int:
    if not _object_exists(m, objtype, objid):
        return REFUSED
    set6(res, 0, object_acceleration(m, d, objtype, objid, flg_local != 0))
    return OK


@native_by(
    _acceleration_of_object,
    check=_moves("mj_objectAcceleration"),
    refuses=True,
    objtype=Integer(),
    objid=Integer(),
    res=target(6),
    flg_local=Integer(),
)
def mj_objectAcceleration(m: MjModel, d: MjData, objtype: int, objid: int, res: np.ndarray, flg_local: int) -> None:
    """Acceleration of an object minus gravity; call it after `mj_rnePostConstraint`.

    Arguments as in `mj_objectVelocity`.
    """


@kernel
def _contact_wrench(m: Model, d: Data, id: int, result: Any) -> None:
    set6(result, 0, contact_force(m, d, id) if 0 <= id < d.ncon else ZERO6)


@native_by(_contact_wrench, id=Integer(), result=target(6))
def mj_contactForce(m: MjModel, d: MjData, id: int, result: np.ndarray) -> None:
    """Write a contact's force and torque (6,), in the contact frame; 0 if the contact is missing or not active."""


def _check_body(m: MjModel, body: int, **_: Any) -> None:
    if not 0 <= body < m.nbody:
        raise FatalError(f"mj_applyFT: invalid body {body}")


@kernel
def _external_force(m: Model, d: Data, force: Any, torque: Any, point: Any, body: int, qfrc_target: Any) -> int:
    if body < 0 or body >= m.nbody:
        return REFUSED
    apply_ft(m, d, get3(force, 0), get3(torque, 0), get3(point, 0), body, qfrc_target)
    return OK


@native_by(
    _external_force,
    check=_check_body,
    refuses=True,
    force=source(3),
    torque=source(3),
    point=source(3),
    body=Integer(),
    qfrc_target=target("nv"),
)
def mj_applyFT(m: MjModel, d: MjData, force: Any, torque: Any, point: Any, body: int, qfrc_target: np.ndarray) -> None:
    """Map a force (N) at a point of a body, and a torque (N m), to joint forces, and add these to `qfrc_target`.

    Args:
        m: model.
        d: data, after `mj_comPos`.
        force: the force (3,), world frame.
        torque: the torque (3,), world frame.
        point: point of action of the force (3,), world frame, m.
        body: id of the body.
        qfrc_target: joint forces (nv,), to which the result is added.

    Raises:
        FatalError: the body does not exist.
    """


@native_by(integrate_pos, qpos=target("nq"), qvel=source("nv"), dt=Number())
def mj_integratePos(m: MjModel, qpos: np.ndarray, qvel: Any, dt: float) -> None:
    """Integrate `qpos` (nq,) in place for the time `dt` with the velocity `qvel` (nv,)."""


@native_by(differentiate_pos, qvel=target("nv"), dt=Number(), qpos1=source("nq"), qpos2=source("nq"))
def mj_differentiatePos(m: MjModel, qvel: np.ndarray, dt: float, qpos1: Any, qpos2: Any) -> None:
    """Compute the velocity `qvel` (nv,) that moves `qpos1` to `qpos2` (nq,) in the time `dt`.

    If `dt` is 0, the result is not finite.
    """


@kernel
def _unit_quaternions(m: Model, qpos: Any) -> None:
    for joint in range(m.njnt):
        if m.jnt_type[joint] in (JNT_FREE, JNT_BALL):
            adr = m.jnt_qposadr[joint] + (3 if m.jnt_type[joint] == JNT_FREE else 0)
            quat = normalize4(get_quat(qpos, adr))
            for k in range(4):
                qpos[adr + k] = quat[k]


@native_by(_unit_quaternions, qpos=target("nq"))
def mj_normalizeQuat(m: MjModel, qpos: np.ndarray) -> None:
    """Normalise all quaternions in `qpos` (nq,)."""


@kernel
def _pose_in_world(d: Data, xpos: Any, xmat: Any, pos: Any, quat: Any, body: int, sameframe: int) -> None:
    place, turn = get3(pos, 0), get4(quat, 0)
    place_frame(xpos, xmat, d, 0, body, sameframe, place, turn)


@native_by(
    _pose_in_world,
    xpos=target(3),
    xmat=target(9),
    pos=source(3),
    quat=source(4),
    body=element("body", "nbody"),
    sameframe=Integer(),
)
def mj_local2Global(
    d: MjData, xpos: np.ndarray, xmat: np.ndarray, pos: Any, quat: Any, body: int, sameframe: int
) -> None:
    """World pose of an object that has the pose (pos, quat) in a body's frame.

    Args:
        d: data, after `mj_kinematics`.
        xpos: position (3,), written.
        xmat: rotation matrix (9,), written.
        pos: position in the body's frame (3,).
        quat: orientation in the body's frame (4,).
        body: id of the body.
        sameframe: 0 to use `pos` and `quat`; to ignore them: 1 for the body's frame, 2 for the body's inertial frame;
            to ignore `quat` only: 3 for the orientation of the body, 4 for that of its inertial frame.
    """


def mj_isPyramidal(m: MjModel) -> int:
    """Return 1 if friction cones are pyramids, else 0."""
    check_model("mj_isPyramidal", m)
    return int(m.opt.cone == mjtCone.mjCONE_PYRAMIDAL)


def mj_isSparse(m: MjModel) -> int:
    """Return 1 if the constraint Jacobian is stored sparsely, else 0."""
    check_model("mj_isSparse", m)
    return int(is_sparse(m))


def mj_isDual(m: MjModel) -> int:
    """Return 1 if the solver works on constraint forces (PGS, or no-slip iterations), else 0."""
    check_model("mj_isDual", m)
    return int(m.opt.solver == mjtSolver.mjSOL_PGS or m.opt.noslip_iterations > 0)


@native()
def mj_getTotalmass(m: MjModel) -> float:
    """Sum of all body masses, kg."""
    total = 0.0
    for i in range(m.nbody):
        total += m.body_mass[i]
    return total


def mj_setTotalmass(m: MjModel, newmass: float) -> None:
    """Scale masses and inertias of all bodies so that the sum of the masses is `newmass` (kg)."""
    check_model("mj_setTotalmass", m)
    scale = max(mjMINVAL, newmass / max(mjMINVAL, mj_getTotalmass(m)))
    m.body_mass *= scale
    m.body_inertia *= scale


def mj_version() -> int:
    """Return the version of the interface as a number: 316 for 3.1.6, 4000000 for 4.0.0 (see `set_compat`)."""
    return LATER["mjVERSION_HEADER"] if is_later() else mjVERSION_HEADER


# tests of MuJoCo's own package compare this docstring
def mj_versionString() -> str:
    """Return the current version of MuJoCo as a null-terminated string."""
    return "4.0.0" if is_later() else "3.1.6"


__all__ = ["mj_angmomMat", "mj_applyFT", "mj_contactForce", "mj_differentiatePos", "mj_getTotalmass"]
__all__ += ["mj_integratePos", "mj_isDual", "mj_isPyramidal", "mj_isSparse", "mj_jac", "mj_jacBody", "mj_jacBodyCom"]
__all__ += ["mj_jacDot"]
__all__ += ["mj_jacGeom", "mj_jacPointAxis", "mj_jacSite", "mj_jacSubtreeCom", "mj_local2Global", "mj_normalizeQuat"]
__all__ += ["mj_objectAcceleration", "mj_objectVelocity", "mj_setTotalmass", "mj_version", "mj_versionString"]
