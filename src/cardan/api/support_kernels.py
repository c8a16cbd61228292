"""Kernels of the support functions.

The kernels have the parameters of the functions. A vector of fixed size is passed as a table with one row; an optional
array that is None is passed as a table without rows (see `cardan.jit.binding.arguments`).
"""

from __future__ import annotations

from typing import Any

from cardan.constraint.jacobian import mul_jac_t_vec, mul_jac_vec
from cardan.constraint.update import constraint_update
from cardan.dynamics.com import object_acceleration, object_velocity
from cardan.dynamics.external import contact_force
from cardan.dynamics.inertia import half_solve_m, mul_m, solve_m
from cardan.dynamics.jacobian import apply_ft, jac, jac_point_axis
from cardan.dynamics.kinematics import get_quat
from cardan.enums import mjtJoint, mjtObj
from cardan.jit import OK, kernel
from cardan.maths.quaternion import mul_quat, normalize4, quat2mat
from cardan.maths.vector import add3, get3, get4, get9, mul_mat_vec3, set3, set6, set9
from cardan.model.kernel_views import Data, Model

BODY, XBODY = int(mjtObj.mjOBJ_BODY), int(mjtObj.mjOBJ_XBODY)
GEOM, SITE, CAMERA = int(mjtObj.mjOBJ_GEOM), int(mjtObj.mjOBJ_SITE), int(mjtObj.mjOBJ_CAMERA)
FREE, BALL = int(mjtJoint.mjJNT_FREE), int(mjtJoint.mjJNT_BALL)
REFUSED = 1
ZERO6 = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
OWN_FRAME = 1


# Jacobians -------------------------------------------------------------------


@kernel
def point_jacobian(m: Model, d: Data, jacp: Any, jacr: Any, point: Any, body: int) -> None:
    """Kernel of `mj_jac`: Jacobians (3, nv) of a point fixed to a body."""
    jac(m, d, jacp, jacr, get3(point, 0), body)


@kernel
def body_jacobian(m: Model, d: Data, jacp: Any, jacr: Any, body: int) -> None:
    """Kernel of `mj_jacBody`: Jacobians (3, nv) of the origin of a body's frame."""
    jac(m, d, jacp, jacr, get3(d.xpos, body), body)


@kernel
def body_com_jacobian(m: Model, d: Data, jacp: Any, jacr: Any, body: int) -> None:
    """Kernel of `mj_jacBodyCom`: Jacobians (3, nv) of a body's centre of mass."""
    jac(m, d, jacp, jacr, get3(d.xipos, body), body)


@kernel
def geom_jacobian(m: Model, d: Data, jacp: Any, jacr: Any, geom: int) -> None:
    """Kernel of `mj_jacGeom`: Jacobians (3, nv) of a geom's centre."""
    jac(m, d, jacp, jacr, get3(d.geom_xpos, geom), m.geom_bodyid[geom])


@kernel
def site_jacobian(m: Model, d: Data, jacp: Any, jacr: Any, site: int) -> None:
    """Kernel of `mj_jacSite`: Jacobians (3, nv) of a site."""
    jac(m, d, jacp, jacr, get3(d.site_xpos, site), m.site_bodyid[site])


@kernel
def point_axis_jacobian(m: Model, d: Data, jacPoint: Any, jacAxis: Any, point: Any, axis: Any, body: int) -> None:
    """Kernel of `mj_jacPointAxis`: Jacobians (3, nv) of a point and an axis fixed to a body."""
    jac_point_axis(m, d, jacPoint, jacAxis, get3(point, 0), get3(axis, 0), body)


# motion and forces -----------------------------------------------------------


@kernel
def object_exists(m: Model, objtype: int, objid: int) -> bool:
    """Whether the object exists and has a type that can move."""
    if objid < 0:
        return False
    if objtype in (BODY, XBODY):
        return objid < m.nbody
    if objtype == GEOM:
        return objid < m.ngeom
    if objtype == SITE:
        return objid < m.nsite
    return objtype == CAMERA and objid < m.ncam


@kernel
def velocity_of_object(m: Model, d: Data, objtype: int, objid: int, res: Any, flg_local: int) -> int:
    """Kernel of `mj_objectVelocity`; return REFUSED if the object does not exist."""
    if not object_exists(m, objtype, objid):
        return REFUSED
    set6(res, 0, object_velocity(m, d, objtype, objid, flg_local != 0))
    return OK


@kernel
def acceleration_of_object(m: Model, d: Data, objtype: int, objid: int, res: Any, flg_local: int) -> int:
    """Kernel of `mj_objectAcceleration`; return REFUSED if the object does not exist."""
    if not object_exists(m, objtype, objid):
        return REFUSED
    set6(res, 0, object_acceleration(m, d, objtype, objid, flg_local != 0))
    return OK


@kernel
def contact_wrench(m: Model, d: Data, id: int, result: Any) -> None:
    """Kernel of `mj_contactForce`: wrench (6,) of a contact in the contact's frame, 0 if it does not exist."""
    set6(result, 0, contact_force(m, d, id) if 0 <= id < d.ncon else ZERO6)


@kernel
def external_force(m: Model, d: Data, force: Any, torque: Any, point: Any, body: int, qfrc_target: Any) -> int:
    """Kernel of `mj_applyFT`: add the joint forces of a force and a torque; return REFUSED for an unknown body."""
    if body < 0 or body >= m.nbody:
        return REFUSED
    apply_ft(m, d, get3(force, 0), get3(torque, 0), get3(point, 0), body, qfrc_target)
    return OK


# products --------------------------------------------------------------------


@kernel
def inertia_times(m: Model, d: Data, res: Any, vec: Any) -> None:
    """Kernel of `mj_mulM`: res = M vec."""
    mul_m(m, d, res, vec)


@kernel
def inertia_half_times(m: Model, d: Data, res: Any, vec: Any) -> None:
    """Kernel of `mj_mulM2`: res = D^1/2 L vec, where M = L' D L."""
    for i in range(m.nv):
        total = vec[i]
        for adr in range(m.aux.M_rowadr[i] + 1, m.aux.M_rowadr[i + 1]):
            total += d.qLD[adr] * vec[m.aux.M_colind[adr]]
        res[i] = total / d.qLDiagSqrtInv[i]


@kernel
def _take_row(m: Model, d: Data, y: Any, row: int) -> None:
    for k in range(m.nv):
        d.work.arg_vec[k] = y[row, k]


@kernel
def _give_row(m: Model, d: Data, x: Any, row: int) -> None:
    for k in range(m.nv):
        x[row, k] = d.work.arg_vec[k]


@kernel
def inertia_solve(m: Model, d: Data, x: Any, y: Any) -> None:
    """Kernel of `mj_solveM`: x = M^-1 y, row by row."""
    for row in range(len(y)):
        _take_row(m, d, y, row)
        solve_m(m, d, d.work.arg_vec)
        _give_row(m, d, x, row)


@kernel
def inertia_half_solve(m: Model, d: Data, x: Any, y: Any) -> None:
    """Kernel of `mj_solveM2`: x = D^-1/2 L'^-1 y, row by row, where M = L' D L."""
    for row in range(len(y)):
        _take_row(m, d, y, row)
        half_solve_m(m, d, d.work.arg_vec, 0)
        _give_row(m, d, x, row)


@kernel
def dense_inertia(m: Model, dst: Any, M: Any) -> None:
    """Kernel of `mj_fullM`: dense matrix (nv, nv) of an inertia matrix (nM,)."""
    for i in range(m.nv):
        for j in range(m.nv):
            dst[i, j] = 0.0
    for i in range(m.nv):
        for adr in range(m.aux.M_rowadr[i], m.aux.M_rowadr[i + 1]):
            j = m.aux.M_colind[adr]
            dst[i, j] = M[adr]
            dst[j, i] = M[adr]


@kernel
def jacobian_times(m: Model, d: Data, res: Any, vec: Any) -> None:
    """Kernel of `mj_mulJacVec`: res = J vec, with the constraint Jacobian J."""
    mul_jac_vec(m, d, vec, res)


@kernel
def jacobian_transposed_times(m: Model, d: Data, res: Any, vec: Any) -> None:
    """Kernel of `mj_mulJacTVec`: res = J' vec, with the constraint Jacobian J."""
    mul_jac_t_vec(m, d, vec, res)


@kernel
def forces_of_residual(m: Model, d: Data, jar: Any, cost: Any, flg_coneHessian: int) -> None:
    """Kernel of `mj_constraintUpdate`: forces, and if requested the cost, at the residual `jar` (nefc,)."""
    total = constraint_update(d, jar, flg_coneHessian != 0)
    mul_jac_t_vec(m, d, d.efc_force, d.qfrc_constraint)
    for k in range(len(cost)):
        cost[k, 0] = total


# configurations and poses ----------------------------------------------------


@kernel
def unit_quaternions(m: Model, qpos: Any) -> None:
    """Kernel of `mj_normalizeQuat`: normalise the quaternions of free and ball joints in `qpos` (nq,)."""
    for joint in range(m.njnt):
        if m.jnt_type[joint] in (FREE, BALL):
            adr = m.jnt_qposadr[joint] + (3 if m.jnt_type[joint] == FREE else 0)
            quat = normalize4(get_quat(qpos, adr))
            for k in range(4):
                qpos[adr + k] = quat[k]


@kernel
def pose_in_world(d: Data, xpos: Any, xmat: Any, pos: Any, quat: Any, body: int, sameframe: int) -> None:
    """Kernel of `mj_local2Global`: world pose of an object given in a body's frame."""
    if sameframe == 0:
        place, turn = get3(pos, 0), get4(quat, 0)
        set3(xpos, 0, add3(mul_mat_vec3(get9(d.xmat, body), place), get3(d.xpos, body)))
        set9(xmat, 0, quat2mat(mul_quat(get4(d.xquat, body), turn)))
    elif sameframe == OWN_FRAME:
        set3(xpos, 0, get3(d.xpos, body))
        set9(xmat, 0, get9(d.xmat, body))
    else:
        set3(xpos, 0, get3(d.xipos, body))
        set9(xmat, 0, get9(d.ximat, body))
