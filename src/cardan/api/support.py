"""Support functions of MuJoCo's interface: Jacobians, products with M and J, motion of objects, configurations.

Spec: programming, API reference, "Support". All work on what the pipeline left in `d`; results go into arrays of the
caller (see `array_arguments`). Ids that don't exist raise IndexError.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from cardan.api import support_stages as stages
from cardan.api.array_arguments import (
    numbers,
    require,
    target_matrix,
    target_of,
    target_shape,
    target_vector,
    valid_id,
    vector_of,
)
from cardan.api.single import run_stage, take_desk
from cardan.constants import mjMINVAL, mjVERSION_HEADER
from cardan.dynamics.jacobian import is_sparse
from cardan.enums import mjtCone, mjtObj, mjtSolver
from cardan.errors import FatalError
from cardan.maths.quaternion import mul_quat, normalize4, quat2mat
from cardan.maths.vector import add3, mul_mat_vec3
from cardan.model.mjdata import MjData
from cardan.model.mjmodel import MjModel
from cardan.model.named import QPOS_WIDTH

_MOVING = (mjtObj.mjOBJ_BODY, mjtObj.mjOBJ_XBODY, mjtObj.mjOBJ_GEOM, mjtObj.mjOBJ_SITE, mjtObj.mjOBJ_CAMERA)
_COUNT = dict(zip(map(int, _MOVING), ("nbody", "nbody", "ngeom", "nsite", "ncam"), strict=True))

Jacobian = np.ndarray | None


def _run(stage: Any, m: MjModel, d: MjData) -> dict[str, np.ndarray]:
    """Run a stage; returns the arrays of the data.

    Raises:
        TypeError, ValueError: these are no model and data of the same sizes.
    """
    run_stage(stage, m, d)
    return d._memory.arrays


def _point_jacobian(m: MjModel, d: MjData, point: Any, body: int) -> list[np.ndarray]:
    """Jacobians (3, nv) of a point fixed to a body: of positions and of rotations."""
    work = d._memory.arrays
    work["work.arg_point"][:3] = point
    work["work.arg_id"][0] = body
    run_stage(stages.point_jacobian, m, d)
    return d._jacobians


def _check_jacobian(name: str, array: Jacobian, shape: tuple[int, int]) -> None:
    if array is not None:
        target_shape(name, array, shape, "(3, nv)")


def mj_jac(m: MjModel, d: MjData, jacp: Jacobian, jacr: Jacobian, point: Any, body: int) -> None:
    """Jacobians of a point (world frame) fixed to a body.

    Args:
        m: model.
        d: data, after `mj_kinematics` and `mj_comPos`.
        jacp: translational Jacobian (3, nv), written; or None.
        jacr: rotational Jacobian (3, nv), written; or None.
        point: the point (3,), m.
        body: id of the body.
    """
    valid_id("body", body, m.nbody)
    shape = (3, m.nv)
    _check_jacobian("jacp", jacp, shape)
    _check_jacobian("jacr", jacr, shape)
    moving, turning = _point_jacobian(m, d, vector_of("point", point, 3), body)
    if jacp is not None:
        jacp[...] = moving
    if jacr is not None:
        jacr[...] = turning


def mj_jacBody(m: MjModel, d: MjData, jacp: Jacobian, jacr: Jacobian, body: int) -> None:
    """Jacobians of the origin of a body's frame; arguments as in `mj_jac`."""
    mj_jac(m, d, jacp, jacr, d.xpos[valid_id("body", body, m.nbody)], body)


def mj_jacBodyCom(m: MjModel, d: MjData, jacp: Jacobian, jacr: Jacobian, body: int) -> None:
    """Jacobians of a body's centre of mass; arguments as in `mj_jac`."""
    mj_jac(m, d, jacp, jacr, d.xipos[valid_id("body", body, m.nbody)], body)


def mj_jacGeom(m: MjModel, d: MjData, jacp: Jacobian, jacr: Jacobian, geom: int) -> None:
    """Jacobians of a geom's centre; arguments as in `mj_jac`."""
    geom = valid_id("geom", geom, m.ngeom)
    mj_jac(m, d, jacp, jacr, d.geom_xpos[geom], int(m.geom_bodyid[geom]))


def mj_jacSite(m: MjModel, d: MjData, jacp: Jacobian, jacr: Jacobian, site: int) -> None:
    """Jacobians of a site; arguments as in `mj_jac`."""
    site = valid_id("site", site, m.nsite)
    mj_jac(m, d, jacp, jacr, d.site_xpos[site], int(m.site_bodyid[site]))


def mj_jacSubtreeCom(m: MjModel, d: MjData, jacp: Jacobian, body: int) -> None:
    """Translational Jacobian (3, nv) of the centre of mass of a body's subtree."""
    _check_jacobian("jacp", jacp, (3, m.nv))
    d._memory.arrays["work.arg_id"][0] = valid_id("body", body, m.nbody)
    run_stage(stages.subtree_com_jacobian, m, d)
    if jacp is not None:
        jacp[...] = d._jacobians[0]


def mj_jacPointAxis(
    m: MjModel, d: MjData, jacPoint: Jacobian, jacAxis: Jacobian, point: Any, axis: Any, body: int
) -> None:
    """Jacobians (3, nv) of a point and of an axis (world frame) that are fixed to a body."""
    valid_id("body", body, m.nbody)
    _check_jacobian("jacPoint", jacPoint, (3, m.nv))
    _check_jacobian("jacAxis", jacAxis, (3, m.nv))
    direction = vector_of("axis", axis, 3)
    moving, turning = _point_jacobian(m, d, vector_of("point", point, 3), body)
    if jacPoint is not None:
        jacPoint[...] = moving
    if jacAxis is not None:
        jacAxis[...] = np.cross(turning, direction[:, None], axis=0)


def mj_angmomMat(m: MjModel, d: MjData, mat: np.ndarray, body: int) -> None:
    """Matrix (3, nv) that takes qvel to the angular momentum of a body's subtree about its centre of mass."""
    out = target_shape("mat", mat, (3, m.nv), "(3, nv)")
    root = valid_id("body", body, m.nbody)
    total = np.zeros((3, m.nv))
    for b in range(root, m.nbody):
        if stages.in_subtree(m.view, b, root):
            jacp, jacr = _point_jacobian(m, d, d.xipos[b], b)
            rotation = d.ximat[b].reshape(3, 3)
            spin = rotation @ np.diag(m.body_inertia[b]) @ rotation.T
            arm = (d.xipos[b] - d.subtree_com[root]) * m.body_mass[b]
            total += spin @ jacr + np.cross(arm[:, None], jacp, axis=0)
    out[...] = total


def _moving_object(function: str, m: MjModel, objtype: int, objid: int) -> int:
    if int(objtype) not in _COUNT:
        raise FatalError(f"{function}: invalid object type {int(objtype)}")
    return valid_id("object", objid, getattr(m, _COUNT[int(objtype)]))


def mj_objectVelocity(m: MjModel, d: MjData, objtype: int, objid: int, res: np.ndarray, flg_local: int) -> None:
    """Velocity of an object at its centre: (angular, linear), in the world's or (`flg_local`) the object's orientation.

    Args:
        m: model.
        d: data, after `mj_comVel`.
        objtype: `mjOBJ_BODY`, `mjOBJ_XBODY`, `mjOBJ_GEOM`, `mjOBJ_SITE` or `mjOBJ_CAMERA`.
        objid: id of the object.
        res: the velocity (6,), written.
        flg_local: whether to use the object's orientation.

    Raises:
        FatalError: objects of this type don't move.
    """
    out = target_of("res", res, 6)
    k = _moving_object("mj_objectVelocity", m, objtype, objid)
    d._memory.arrays["work.arg_id"][:3] = int(objtype), k, bool(flg_local)
    out[:] = _run(stages.velocity_of_object, m, d)["work.arg_point"][:6]


def mj_objectAcceleration(m: MjModel, d: MjData, objtype: int, objid: int, res: np.ndarray, flg_local: int) -> None:
    """Acceleration of an object less gravity, after `mj_rnePostConstraint`; arguments as in `mj_objectVelocity`."""
    out = target_of("res", res, 6)
    k = _moving_object("mj_objectAcceleration", m, objtype, objid)
    d._memory.arrays["work.arg_id"][:3] = int(objtype), k, bool(flg_local)
    out[:] = _run(stages.acceleration_of_object, m, d)["work.arg_point"][:6]


def mj_contactForce(m: MjModel, d: MjData, id: int, result: np.ndarray) -> None:
    """Force and torque (6,) of a contact in the contact's frame; 0 if there is no such contact, or it is not active."""
    out = target_of("result", result, 6)
    if not 0 <= id < d.ncon:
        out[:] = 0
        return
    d._memory.arrays["work.arg_id"][0] = id
    out[:] = _run(stages.contact_wrench, m, d)["work.arg_point"][:6]


def mj_applyFT(m: MjModel, d: MjData, force: Any, torque: Any, point: Any, body: int, qfrc_target: np.ndarray) -> None:
    """Add the joint forces of a force (N) at a point and a torque (N m) on a body, all in the world frame.

    Args:
        m: model.
        d: data, after `mj_comPos`.
        force: the force (3,).
        torque: the torque (3,).
        point: where the force acts (3,).
        body: id of the body.
        qfrc_target: joint forces (nv,), added to.

    Raises:
        FatalError: there is no such body.
    """
    out = target_of("qfrc_target", qfrc_target, m.nv, "nv")
    if not 0 <= body < m.nbody:
        raise FatalError(f"mj_applyFT: invalid body {body}")
    work = d._memory.arrays
    parts = (vector_of("force", force, 3), vector_of("torque", torque, 3), vector_of("point", point, 3))
    work["work.arg_point"][:] = np.concatenate(parts)
    work["work.arg_id"][0] = body
    out += _run(stages.external_force, m, d)["work.arg_res"]


def mj_mulM(m: MjModel, d: MjData, res: np.ndarray, vec: Any) -> None:
    """Multiply a vector by the inertia matrix of the joints: res = M vec.

    Args:
        m: model.
        d: data, whose `qM` is computed.
        res: (nv,), written.
        vec: (nv,).
    """
    out = target_of("res", res, m.nv, "nv")
    d._memory.arrays["work.arg_vec"][:] = vector_of("vec", vec, m.nv, "nv")
    out[:] = _run(stages.inertia_times, m, d)["work.arg_res"]


def _entries(m: MjModel) -> tuple[np.ndarray, np.ndarray]:
    """Row and column of each entry of `qM`; found once a model."""
    if "_inertia_entries" not in m.__dict__:
        rows = np.repeat(np.arange(m.nv), np.diff(m._memory.arrays["aux.M_rowadr"]))
        m.__dict__["_inertia_entries"] = rows, m._memory.arrays["aux.M_colind"]
    return m.__dict__["_inertia_entries"]


def _places(m: MjModel) -> np.ndarray:
    """Index in `qM` of each entry of the dense matrix (nv, nv), nM for those that are 0; found once a model."""
    if "_inertia_places" not in m.__dict__:
        rows, columns = _entries(m)
        places = np.full((m.nv, m.nv), m.nM)
        places[rows, columns] = places[columns, rows] = np.arange(m.nM)
        m.__dict__["_inertia_places"] = places
    return m.__dict__["_inertia_places"]


def mj_mulM2(m: MjModel, d: MjData, res: np.ndarray, vec: Any) -> None:
    """Res = D^1/2 L vec (nv,), where M = L' D L: |res|^2 = vec' M vec."""
    out = target_of("res", res, m.nv, "nv")
    x = vector_of("vec", vec, m.nv, "nv")
    rows, columns = _entries(m)
    below = rows != columns
    lower = np.bincount(rows[below], d.qLD[below] * x[columns[below]], m.nv)
    out[:] = (x + lower) / d.qLDiagSqrtInv


def _solve(stage: Any, m: MjModel, d: MjData, x: Any, y: Any) -> None:
    require(np.shape(x)[-1:] == (m.nv,) and np.ndim(x) == 2, "the last dimension of x should be of size nv")
    require(np.shape(y)[-1:] == (m.nv,) and np.ndim(y) == 2, "the last dimension of y should be of size nv")
    require(len(x) == len(y), "the first dimension of x and y should be of the same size")
    out, right = target_matrix("x", x), np.asarray(y, np.float64)
    vec = d._memory.arrays["work.arg_vec"]
    for k in range(len(out)):
        vec[:] = right[k]
        _run(stage, m, d)
        out[k] = vec


def mj_solveM(m: MjModel, d: MjData, x: np.ndarray, y: Any) -> None:
    """X = M^-1 y, for n right-hand sides in rows (n, nv)."""
    _solve(stages.inertia_solve, m, d, x, y)


def mj_solveM2(m: MjModel, d: MjData, x: np.ndarray, y: Any) -> None:
    """X = D^-1/2 L'^-1 y, for n right-hand sides in rows (n, nv), where M = L' D L: |x|^2 = y' M^-1 y."""
    _solve(stages.inertia_half_solve, m, d, x, y)


def mj_fullM(m: MjModel, dst: np.ndarray, M: Any) -> None:
    """Dense symmetric matrix (nv, nv) of an inertia matrix in the storage of `qM` (nM,)."""
    out = target_shape("dst", dst, (m.nv, m.nv), "(nv, nv)")
    values = vector_of("M", M, m.nM, "nM")
    extended = np.zeros(values.size + 1)  # its last entry stands where M has none
    extended[:-1] = values
    extended.take(_places(m), out=out, mode="clip")


def mj_addM(m: MjModel, d: MjData, dst: np.ndarray, rownnz: Any, rowadr: Any, colind: Any) -> None:
    """Add the inertia matrix to a matrix in rows with room between them, or to a dense one.

    Args:
        m: model.
        d: data, after `mj_crb`.
        dst: values (n,); or a dense matrix (nv, nv), if all of the following are None. Added to.
        rownnz: number of entries of each row (nv,), int32. Updated, as rows get the entries of M that they lack.
        rowadr: address of each row in `dst` (nv,), int32.
        colind: column of each value (n,), int32, ascending in each row. Updated.

    Raises:
        TypeError: sizes that don't fit.
        ValueError: a row has no room for the entries of M.
    """
    rows, columns = _entries(m)
    whole = np.zeros((m.nv, m.nv))
    whole[rows, columns] = whole[columns, rows] = d.qM
    if rownnz is None and rowadr is None and colind is None:
        target_shape("dst", dst, (m.nv, m.nv), "(nv, nv)")[...] += whole
        return
    values = target_vector("dst", dst)
    counts, starts, places = (
        target_vector(name, array, np.int32)
        for name, array in (("rownnz", rownnz), ("rowadr", rowadr), ("colind", colind))
    )
    require(counts.size == m.nv, "rownnz should be of size nv")
    require(starts.size == m.nv, "rowadr should be of size nv")
    require(places.size == values.size, "colind should be of the same size as dst")
    pattern = np.zeros((m.nv, m.nv), bool)
    pattern[rows, columns] = pattern[columns, rows] = True
    for i in range(m.nv):
        room = min([int(a) for a in starts if a > starts[i]], default=values.size)
        start, stop = int(starts[i]), int(starts[i] + counts[i])
        require(0 <= start <= stop <= room, f"row {i} of dst should stand within it, before the next row")
        require(bool(((places[start:stop] >= 0) & (places[start:stop] < m.nv)).all()), "columns should be below nv")
        whole[i, places[start:stop]] += values[start:stop]
        pattern[i, places[start:stop]] = True
        merged = np.flatnonzero(pattern[i])
        if start + merged.size > room:
            raise ValueError(f"mj_addM: row {i} of dst needs room for {merged.size} entries, has {room - start}")
        values[start : start + merged.size], places[start : start + merged.size] = whole[i, merged], merged
        counts[i] = merged.size


def mj_mulJacVec(m: MjModel, d: MjData, res: np.ndarray, vec: Any) -> None:
    """Res (nefc,) = J vec (nv,), with the constraint Jacobian J."""
    out = target_of("res", res, d.nefc, "nefc")
    d._memory.arrays["work.arg_vec"][:] = vector_of("vec", vec, m.nv, "nv")
    out[:] = _run(stages.jacobian_times, m, d)["work.arg_efc"][: d.nefc]


def mj_mulJacTVec(m: MjModel, d: MjData, res: np.ndarray, vec: Any) -> None:
    """Res (nv,) = J' vec (nefc,), with the constraint Jacobian J."""
    out = target_of("res", res, m.nv, "nv")
    d._memory.arrays["work.arg_efc"][: d.nefc] = vector_of("vec", vec, d.nefc, "nefc")
    out[:] = _run(stages.jacobian_transposed_times, m, d)["work.arg_vec"]


def mj_constraintUpdate(m: MjModel, d: MjData, jar: Any, cost: np.ndarray | None, flg_coneHessian: int) -> None:
    """Constraint state, `efc_force` and `qfrc_constraint` for the residual jar = J a - aref.

    Args:
        m: model.
        d: data, after `mj_referenceConstraint`.
        jar: the residual (nefc,).
        cost: cost of the constraints (1,), written; or None.
        flg_coneHessian: whether to compute the Hessians of elliptic cones as well.
    """
    work = d._memory.arrays
    work["work.arg_efc"][: d.nefc] = vector_of("jar", jar, d.nefc, "nefc")
    work["work.arg_id"][0] = int(bool(flg_coneHessian))
    out = None if cost is None else target_of("cost", cost, 1)
    _run(stages.forces_of_residual, m, d)
    if out is not None:
        out[0] = work["work.arg_point"][0]


def mj_integratePos(m: MjModel, qpos: np.ndarray, qvel: Any, dt: float) -> None:
    """Move `qpos` (nq,) for the time `dt` with the velocity `qvel` (nv,)."""
    out = target_of("qpos", qpos, m.nq, "nq")
    velocity = vector_of("qvel", qvel, m.nv, "nv")
    desk = take_desk(m)
    arrays = desk.arrays
    arrays["qpos"][:] = out
    arrays["qvel"][:] = velocity
    desk.scalars["time"][0] = dt
    desk.run(stages.moved_position, m)
    out[:] = arrays["qpos"]
    m._desks.append(desk)


def mj_differentiatePos(m: MjModel, qvel: np.ndarray, dt: float, qpos1: Any, qpos2: Any) -> None:
    """Velocity `qvel` (nv,) that moves `qpos1` to `qpos2` (nq,) in the time `dt`; 0 gives infinity."""
    out = target_of("qvel", qvel, m.nv, "nv")
    start, stop = vector_of("qpos1", qpos1, m.nq, "nq"), vector_of("qpos2", qpos2, m.nq, "nq")
    desk = take_desk(m)
    arrays = desk.arrays
    arrays["work.rk_qpos"][:] = start
    arrays["qpos"][:] = stop
    desk.scalars["time"][0] = dt
    desk.run(stages.velocity_between, m)
    out[:] = arrays["qvel"]
    m._desks.append(desk)


def mj_normalizeQuat(m: MjModel, qpos: np.ndarray) -> None:
    """Normalise all quaternions in `qpos` (nq,)."""
    out = target_of("qpos", qpos, m.nq, "nq")
    for kind, adr in zip(m.jnt_type.tolist(), m.jnt_qposadr.tolist(), strict=True):
        if QPOS_WIDTH[kind] >= 4:
            stop = adr + QPOS_WIDTH[kind]
            out[stop - 4 : stop] = normalize4(tuple(out[stop - 4 : stop].tolist()))


def mj_local2Global(
    d: MjData, xpos: np.ndarray, xmat: np.ndarray, pos: Any, quat: Any, body: int, sameframe: int
) -> None:
    """World pose of something that has the pose (pos, quat) in a body's frame.

    Args:
        d: data, after `mj_kinematics`.
        xpos: position (3,), written.
        xmat: rotation matrix (9,), written.
        pos: position in the body's frame (3,).
        quat: orientation in the body's frame (4,).
        body: id of the body.
        sameframe: 0, or 1 if the frame is the body's own, or 2 if it is that of its inertia.
    """
    out_pos, out_mat = target_of("xpos", xpos, 3), target_of("xmat", xmat, 9)
    valid_id("body", body, len(d.xpos))
    local, turn = numbers("pos", pos, 3), numbers("quat", quat, 4)
    if sameframe:
        origins, frames = (d.xpos, d.xmat) if sameframe == 1 else (d.xipos, d.ximat)
        out_pos[:], out_mat[:] = origins[body], frames[body]
    else:
        out_pos[:] = add3(mul_mat_vec3(d.xmat[body].tolist(), local), d.xpos[body].tolist())
        out_mat[:] = quat2mat(mul_quat(tuple(d.xquat[body].tolist()), turn))


def mj_isPyramidal(m: MjModel) -> int:
    """1 if friction cones are pyramids, else 0."""
    return int(m.opt.cone == mjtCone.mjCONE_PYRAMIDAL)


def mj_isSparse(m: MjModel) -> int:
    """1 if the constraint Jacobian is stored sparsely, else 0."""
    return int(is_sparse(m))


def mj_isDual(m: MjModel) -> int:
    """1 if the solver works on constraint forces (PGS, or no-slip iterations), else 0."""
    return int(m.opt.solver == mjtSolver.mjSOL_PGS or m.opt.noslip_iterations > 0)


def mj_getTotalmass(m: MjModel) -> float:
    """Sum of all body masses, kg."""
    return float(m.body_mass.sum())


def mj_setTotalmass(m: MjModel, newmass: float) -> None:
    """Scale masses and inertias of all bodies so that the masses add up to `newmass` (kg)."""
    scale = max(mjMINVAL, newmass / max(mjMINVAL, mj_getTotalmass(m)))
    m.body_mass *= scale
    m.body_inertia *= scale


def mj_version() -> int:
    """Version of the interface, as a number: 316 for 3.1.6."""
    return mjVERSION_HEADER


def mj_versionString() -> str:
    """Return the current version of MuJoCo as a null-terminated string."""
    return ".".join(str(mjVERSION_HEADER))


__all__ = [
    "mj_addM",
    "mj_angmomMat",
    "mj_applyFT",
    "mj_constraintUpdate",
    "mj_contactForce",
    "mj_differentiatePos",
    "mj_fullM",
    "mj_getTotalmass",
    "mj_integratePos",
    "mj_isDual",
    "mj_isPyramidal",
    "mj_isSparse",
    "mj_jac",
    "mj_jacBody",
    "mj_jacBodyCom",
    "mj_jacGeom",
    "mj_jacPointAxis",
    "mj_jacSite",
    "mj_jacSubtreeCom",
    "mj_local2Global",
    "mj_mulJacTVec",
    "mj_mulJacVec",
    "mj_mulM",
    "mj_mulM2",
    "mj_normalizeQuat",
    "mj_objectAcceleration",
    "mj_objectVelocity",
    "mj_setTotalmass",
    "mj_solveM",
    "mj_solveM2",
    "mj_version",
    "mj_versionString",
]
