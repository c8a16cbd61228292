"""Support functions of MuJoCo's interface: Jacobians, products with M and J, motion of objects, configurations.

Spec: programming, API reference, "Support". All functions read results of the pipeline in `d` and write into arrays of
the caller (see `array_arguments`). They raise IndexError for ids that don't exist.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from cardan.api import support_kernels as kernels
from cardan.api.arguments import check_model, check_pair, require, target_shape, target_vector, valid_id
from cardan.api.native_call import native, native_by
from cardan.constants import mjMINVAL, mjVERSION_HEADER
from cardan.dynamics.jacobian import angular_momentum_matrix, is_sparse, jac_subtree_com
from cardan.dynamics.kinematics import differentiate_pos, integrate_pos
from cardan.enums import mjtCone, mjtObj, mjtSolver
from cardan.errors import FatalError
from cardan.jit.binding.arguments import ANY, Integer, Number, element, source, target
from cardan.model import internals
from cardan.model.mjdata import MjData
from cardan.model.mjmodel import MjModel

_MOVING = (mjtObj.mjOBJ_BODY, mjtObj.mjOBJ_XBODY, mjtObj.mjOBJ_GEOM, mjtObj.mjOBJ_SITE, mjtObj.mjOBJ_CAMERA)
_COUNT = dict(zip(map(int, _MOVING), ("nbody", "nbody", "ngeom", "nsite", "ncam"), strict=True))

Jacobian = np.ndarray | None

JACOBIAN = target(3, "nv", optional=True)
BODY = element("body", "nbody")


@native_by(kernels.point_jacobian, jacp=JACOBIAN, jacr=JACOBIAN, point=source(3), body=BODY)
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


@native_by(kernels.body_jacobian, jacp=JACOBIAN, jacr=JACOBIAN, body=BODY)
def mj_jacBody(m: MjModel, d: MjData, jacp: Jacobian, jacr: Jacobian, body: int) -> None:
    """Jacobians of the origin of a body's frame; arguments as in `mj_jac`."""


@native_by(kernels.body_com_jacobian, jacp=JACOBIAN, jacr=JACOBIAN, body=BODY)
def mj_jacBodyCom(m: MjModel, d: MjData, jacp: Jacobian, jacr: Jacobian, body: int) -> None:
    """Jacobians of a body's centre of mass; arguments as in `mj_jac`."""


@native_by(kernels.geom_jacobian, jacp=JACOBIAN, jacr=JACOBIAN, geom=element("geom", "ngeom"))
def mj_jacGeom(m: MjModel, d: MjData, jacp: Jacobian, jacr: Jacobian, geom: int) -> None:
    """Jacobians of a geom's centre; arguments as in `mj_jac`."""


@native_by(kernels.site_jacobian, jacp=JACOBIAN, jacr=JACOBIAN, site=element("site", "nsite"))
def mj_jacSite(m: MjModel, d: MjData, jacp: Jacobian, jacr: Jacobian, site: int) -> None:
    """Jacobians of a site; arguments as in `mj_jac`."""


@native_by(jac_subtree_com, jacp=JACOBIAN, body=BODY)
def mj_jacSubtreeCom(m: MjModel, d: MjData, jacp: Jacobian, body: int) -> None:
    """Translational Jacobian (3, nv) of the centre of mass of a body's subtree."""


@native_by(kernels.point_axis_jacobian, jacPoint=JACOBIAN, jacAxis=JACOBIAN, point=source(3), axis=source(3), body=BODY)
def mj_jacPointAxis(
    m: MjModel, d: MjData, jacPoint: Jacobian, jacAxis: Jacobian, point: Any, axis: Any, body: int
) -> None:
    """Jacobians (3, nv) of a point and of an axis (world frame) that are fixed to a body."""


@native_by(angular_momentum_matrix, mat=target(3, "nv"), body=BODY)
def mj_angmomMat(m: MjModel, d: MjData, mat: np.ndarray, body: int) -> None:
    """Matrix (3, nv) that takes qvel to the angular momentum of a body's subtree about its centre of mass."""


def _moves(function: str) -> Callable[..., None]:
    """Make the check that an object given to a function exists and has a type that can move."""

    def check(m: MjModel, objtype: int, objid: int, **_: Any) -> None:
        if int(objtype) not in _COUNT:
            raise FatalError(f"{function}: invalid object type {int(objtype)}")
        valid_id("object", objid, getattr(m, _COUNT[int(objtype)]))

    return check


@native_by(
    kernels.velocity_of_object,
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
        flg_local: whether to express the velocity in the object's orientation; else in the world's.

    Raises:
        FatalError: objects of this type can't move.
    """


@native_by(
    kernels.acceleration_of_object,
    check=_moves("mj_objectAcceleration"),
    refuses=True,
    objtype=Integer(),
    objid=Integer(),
    res=target(6),
    flg_local=Integer(),
)
def mj_objectAcceleration(m: MjModel, d: MjData, objtype: int, objid: int, res: np.ndarray, flg_local: int) -> None:
    """Acceleration of an object minus gravity, after `mj_rnePostConstraint`; arguments as in `mj_objectVelocity`."""


@native_by(kernels.contact_wrench, id=Integer(), result=target(6))
def mj_contactForce(m: MjModel, d: MjData, id: int, result: np.ndarray) -> None:
    """Force and torque (6,) of a contact in the contact's frame; 0 if the contact does not exist or is not active."""


def _check_body(m: MjModel, body: int, **_: Any) -> None:
    if not 0 <= body < m.nbody:
        raise FatalError(f"mj_applyFT: invalid body {body}")


@native_by(
    kernels.external_force,
    check=_check_body,
    refuses=True,
    force=source(3),
    torque=source(3),
    point=source(3),
    body=Integer(),
    qfrc_target=target("nv"),
)
def mj_applyFT(m: MjModel, d: MjData, force: Any, torque: Any, point: Any, body: int, qfrc_target: np.ndarray) -> None:
    """Add the joint forces of a force (N) at a point and a torque (N m) on a body, all in the world frame.

    Args:
        m: model.
        d: data, after `mj_comPos`.
        force: the force (3,).
        torque: the torque (3,).
        point: point of action of the force (3,).
        body: id of the body.
        qfrc_target: joint forces (nv,), to which the result is added.

    Raises:
        FatalError: the body does not exist.
    """


@native_by(kernels.inertia_times, res=target("nv", apart=True), vec=source("nv"))
def mj_mulM(m: MjModel, d: MjData, res: np.ndarray, vec: Any) -> None:
    """Multiply a vector by the inertia matrix in joint space: res = M vec.

    Args:
        m: model.
        d: data, after `mj_crb`.
        res: (nv,), written.
        vec: (nv,).
    """


@native_by(kernels.inertia_half_times, res=target("nv", apart=True), vec=source("nv"))
def mj_mulM2(m: MjModel, d: MjData, res: np.ndarray, vec: Any) -> None:
    """Compute res = D^1/2 L vec (nv,), where M = L' D L: |res|^2 = vec' M vec."""


def _check_sides(m: MjModel, x: Any, y: Any, **_: Any) -> None:
    require(np.shape(x)[-1:] == (m.nv,) and np.ndim(x) == 2, "the last dimension of x should be of size nv")
    require(np.shape(y)[-1:] == (m.nv,) and np.ndim(y) == 2, "the last dimension of y should be of size nv")
    require(len(x) == len(y), "the first dimension of x and y should be of the same size")


@native_by(kernels.inertia_solve, check=_check_sides, x=target(ANY, "nv"), y=source("x", "nv"))
def mj_solveM(m: MjModel, d: MjData, x: np.ndarray, y: Any) -> None:
    """Compute x = M^-1 y, for n right-hand sides in rows (n, nv)."""


@native_by(kernels.inertia_half_solve, check=_check_sides, x=target(ANY, "nv"), y=source("x", "nv"))
def mj_solveM2(m: MjModel, d: MjData, x: np.ndarray, y: Any) -> None:
    """Compute x = D^-1/2 L'^-1 y, for n right-hand sides in rows (n, nv), where M = L' D L: |x|^2 = y' M^-1 y."""


@native_by(kernels.dense_inertia, dst=target("nv", "nv", apart=True), M=source("nM"))
def mj_fullM(m: MjModel, dst: np.ndarray, M: Any) -> None:
    """Expand an inertia matrix in the storage of `qM` (nM,) to a dense symmetric matrix (nv, nv)."""


def _entries(m: MjModel) -> tuple[np.ndarray, np.ndarray]:
    """Row and column of each entry of `qM`; computed once for each model."""
    kept = internals.kept(m)
    if "inertia_entries" not in kept:
        rows = np.repeat(np.arange(m.nv), np.diff(internals.array(m, "aux.M_rowadr")))
        kept["inertia_entries"] = rows, internals.array(m, "aux.M_colind")
    return kept["inertia_entries"]


def mj_addM(m: MjModel, d: MjData, dst: np.ndarray, rownnz: Any, rowadr: Any, colind: Any) -> None:
    """Add the inertia matrix to a sparse matrix whose rows have room for more entries, or to a dense matrix.

    Args:
        m: model.
        d: data, after `mj_crb`.
        dst: values (n,), updated; or a dense matrix (nv, nv), if all of the following are None.
        rownnz: number of entries of each row (nv,), int32. Updated, as rows get the entries of M that they lack.
        rowadr: address of each row in `dst` (nv,), int32.
        colind: column of each value (n,), int32, ascending in each row. Updated.

    Raises:
        TypeError: sizes are inconsistent.
        ValueError: a row has no room for the entries of M.
    """
    check_pair("mj_addM", m, d)
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
        require(0 <= start <= stop <= room, f"row {i} of dst should be within dst and end before the next row")
        require(bool(((places[start:stop] >= 0) & (places[start:stop] < m.nv)).all()), "columns should be below nv")
        whole[i, places[start:stop]] += values[start:stop]
        pattern[i, places[start:stop]] = True
        merged = np.flatnonzero(pattern[i])
        if start + merged.size > room:
            raise ValueError(f"mj_addM: row {i} of dst needs room for {merged.size} entries, has {room - start}")
        values[start : start + merged.size], places[start : start + merged.size] = whole[i, merged], merged
        counts[i] = merged.size


@native_by(kernels.jacobian_times, res=target("nefc", apart=True), vec=source("nv"))
def mj_mulJacVec(m: MjModel, d: MjData, res: np.ndarray, vec: Any) -> None:
    """Multiply the constraint Jacobian J by a vector: res (nefc,) = J vec (nv,)."""


@native_by(kernels.jacobian_transposed_times, res=target("nv", apart=True), vec=source("nefc"))
def mj_mulJacTVec(m: MjModel, d: MjData, res: np.ndarray, vec: Any) -> None:
    """Multiply the transposed constraint Jacobian J by a vector: res (nv,) = J' vec (nefc,)."""


@native_by(kernels.forces_of_residual, jar=source("nefc"), cost=target(1, optional=True), flg_coneHessian=Integer())
def mj_constraintUpdate(m: MjModel, d: MjData, jar: Any, cost: np.ndarray | None, flg_coneHessian: int) -> None:
    """Compute the constraint state, `efc_force` and `qfrc_constraint` for the residual jar = J a - aref.

    Args:
        m: model.
        d: data, after `mj_referenceConstraint`.
        jar: the residual (nefc,).
        cost: cost of the constraints (1,), written; or None.
        flg_coneHessian: whether to compute the Hessians of elliptic cones as well.
    """


@native_by(integrate_pos, qpos=target("nq"), qvel=source("nv"), dt=Number())
def mj_integratePos(m: MjModel, qpos: np.ndarray, qvel: Any, dt: float) -> None:
    """Integrate `qpos` (nq,) in place for the time `dt` with the velocity `qvel` (nv,)."""


@native_by(differentiate_pos, qvel=target("nv"), dt=Number(), qpos1=source("nq"), qpos2=source("nq"))
def mj_differentiatePos(m: MjModel, qvel: np.ndarray, dt: float, qpos1: Any, qpos2: Any) -> None:
    """Velocity `qvel` (nv,) that moves `qpos1` to `qpos2` (nq,) in the time `dt`; infinite if `dt` is 0."""


@native_by(kernels.unit_quaternions, qpos=target("nq"))
def mj_normalizeQuat(m: MjModel, qpos: np.ndarray) -> None:
    """Normalise all quaternions in `qpos` (nq,)."""


@native_by(
    kernels.pose_in_world,
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
        sameframe: 0; 1 if the object's frame is the body's own frame; or 2 if it is the frame of the body's inertia.
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
    """Return the version of the interface as a number: 316 for 3.1.6."""
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
