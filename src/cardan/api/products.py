"""Products with the inertia matrix M and the constraint Jacobian J (spec: programming, API reference, "Support").

Most functions only declare their arguments; the kernel above them computes the results (see `native_call`).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from cardan.api.arguments import check_pair, require, target_shape, target_vector, vector_of
from cardan.api.native_call import native_by
from cardan.constraint.jacobian import mul_jac_t_vec, mul_jac_vec
from cardan.constraint.update import constraint_update
from cardan.dynamics.inertia import half_solve_m, mul_m, solve_m
from cardan.jit import kernel
from cardan.jit.binding.arguments import ANY, Integer, source, target
from cardan.model import internals
from cardan.model.kernel_views import Data, Model
from cardan.model.mjdata import MjData
from cardan.model.mjmodel import MjModel


@kernel
def _inertia_times(m: Model, d: Data, res: Any, vec: Any) -> None:
    mul_m(m, d, res, vec)


@native_by(_inertia_times, res=target("nv", apart=True), vec=source("nv"))
def mj_mulM(m: MjModel, d: MjData, res: np.ndarray, vec: Any) -> None:
    """Multiply a vector by the inertia matrix in joint space: res = M vec.

    Args:
        m: model.
        d: data, after `mj_crb`.
        res: (nv,), written.
        vec: (nv,).
    """


@kernel
def _inertia_half_times(m: Model, d: Data, res: Any, vec: Any) -> None:
    for i in range(m.nv):
        total = vec[i]
        for adr in range(m.aux.M_rowadr[i] + 1, m.aux.M_rowadr[i + 1]):
            total += d.qLD[adr] * vec[m.aux.M_colind[adr]]
        res[i] = total / d.qLDiagSqrtInv[i]


@native_by(_inertia_half_times, res=target("nv", apart=True), vec=source("nv"))
def mj_mulM2(m: MjModel, d: MjData, res: np.ndarray, vec: Any) -> None:
    """Compute res = D^1/2 L vec (nv,), where M = L' D L, so that |res|^2 = vec' M vec."""


def _check_sides(m: MjModel, x: Any, y: Any, **_: Any) -> None:
    require(np.shape(x)[-1:] == (m.nv,) and np.ndim(x) == 2, "the last dimension of x should be of size nv")
    require(np.shape(y)[-1:] == (m.nv,) and np.ndim(y) == 2, "the last dimension of y should be of size nv")
    require(len(x) == len(y), "the first dimension of x and y should be of the same size")


@kernel
def _take_row(m: Model, d: Data, y: Any, row: int) -> None:
    for k in range(m.nv):
        d.work.arg_vec[k] = y[row, k]


@kernel
def _give_row(m: Model, d: Data, x: Any, row: int) -> None:
    for k in range(m.nv):
        x[row, k] = d.work.arg_vec[k]


@kernel
def _inertia_solve(m: Model, d: Data, x: Any, y: Any) -> None:
    for row in range(len(y)):
        _take_row(m, d, y, row)
        solve_m(m, d, d.work.arg_vec)
        _give_row(m, d, x, row)


@native_by(_inertia_solve, check=_check_sides, x=target(ANY, "nv"), y=source("x", "nv"))
def mj_solveM(m: MjModel, d: MjData, x: np.ndarray, y: Any) -> None:
    """Compute x = M^-1 y for each of n rows: y (n, nv) contains the right-hand sides, x (n, nv) the solutions."""


@kernel
def _inertia_half_solve(m: Model, d: Data, x: Any, y: Any) -> None:
    for row in range(len(y)):
        _take_row(m, d, y, row)
        half_solve_m(m, d, d.work.arg_vec, 0)
        _give_row(m, d, x, row)


def _scaled_half_solve(m: MjModel, d: MjData, x: np.ndarray, y: Any, sqrtInvD: Any) -> None:
    """Compute x = sqrtInvD L'^-1 y, as `mj_solveM2` of MuJoCo 4.0; x and y have n rows (n, nv)."""
    scale = vector_of("sqrtInvD", sqrtInvD, m.nv, "nv")
    mj_solveM2(m, d, x, y)
    x *= scale / internals.array(d, "qLDiagSqrtInv")


@native_by(
    _inertia_half_solve,
    check=_check_sides,
    other=(lambda *given, **named: len(given) + len(named) == 5, _scaled_half_solve),
    x=target(ANY, "nv"),
    y=source("x", "nv"),
)
def mj_solveM2(m: MjModel, d: MjData, x: np.ndarray, y: Any) -> None:
    """Compute x = D^-1/2 L'^-1 y, where M = L' D L, so that |x|^2 = y' M^-1 y; x and y have n rows (n, nv).

    As in MuJoCo 4.0, a fifth argument `sqrtInvD` (nv,) replaces D^-1/2.
    """


@kernel
def _expand_inertia(m: Model, dst: Any, M: Any) -> None:
    for i in range(m.nv):
        for j in range(m.nv):
            dst[i, j] = 0.0
    for i in range(m.nv):
        for adr in range(m.aux.M_rowadr[i], m.aux.M_rowadr[i + 1]):
            j = m.aux.M_colind[adr]
            dst[i, j] = M[adr]
            dst[j, i] = M[adr]


@kernel
def _expand_own_inertia(m: Model, d: Data, dst: Any) -> None:
    _expand_inertia(m, dst, d.qM)


def _full_inertia_4_0() -> Callable[..., None]:
    """Make `mj_fullM` with the arguments of MuJoCo 4.0."""

    @native_by(_expand_own_inertia, dst=target("nv", "nv"))
    def mj_fullM(m: MjModel, d: MjData, dst: np.ndarray) -> None:
        """Expand the inertia matrix of `d` to a dense symmetric matrix (nv, nv)."""

    return mj_fullM


@native_by(
    _expand_inertia,
    other=(lambda m, d=None, *_, **named: isinstance(d, MjData) and "M" not in named, _full_inertia_4_0()),
    dst=target("nv", "nv", apart=True),
    M=source("nM"),
)
def mj_fullM(m: MjModel, dst: np.ndarray, M: Any) -> None:
    """Expand an inertia matrix in the storage of `qM` (nM,) to a dense symmetric matrix (nv, nv).

    As in MuJoCo 4.0, ``mj_fullM(m, d, dst)`` expands the inertia matrix of the data `d`.
    """


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
        dst: values (n,), updated; or, if the other three arrays are None, a dense matrix (nv, nv).
        rownnz: number of entries of each row (nv,), int32. Updated, because missing entries are inserted.
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


@kernel
def _jacobian_times(m: Model, d: Data, res: Any, vec: Any) -> None:
    mul_jac_vec(m, d, vec, res)


@native_by(_jacobian_times, res=target("nefc", apart=True), vec=source("nv"))
def mj_mulJacVec(m: MjModel, d: MjData, res: np.ndarray, vec: Any) -> None:
    """Multiply the constraint Jacobian J by a vector: res (nefc,) = J vec (nv,)."""


@kernel
def _jacobian_transposed_times(m: Model, d: Data, res: Any, vec: Any) -> None:
    mul_jac_t_vec(m, d, vec, res)


@native_by(_jacobian_transposed_times, res=target("nv", apart=True), vec=source("nefc"))
def mj_mulJacTVec(m: MjModel, d: MjData, res: np.ndarray, vec: Any) -> None:
    """Multiply the transpose of the constraint Jacobian J by a vector: res (nv,) = J' vec (nefc,)."""


@kernel
def _forces_of_residual(m: Model, d: Data, jar: Any, cost: Any, flg_coneHessian: int) -> None:
    total = constraint_update(d, jar, flg_coneHessian != 0)
    mul_jac_t_vec(m, d, d.efc_force, d.qfrc_constraint)
    for k in range(len(cost)):
        cost[k, 0] = total


@native_by(_forces_of_residual, jar=source("nefc"), cost=target(1, optional=True), flg_coneHessian=Integer())
def mj_constraintUpdate(m: MjModel, d: MjData, jar: Any, cost: np.ndarray | None, flg_coneHessian: int) -> None:
    """Compute the constraint state, `efc_force` and `qfrc_constraint` for the residual jar = J a - aref.

    Args:
        m: model.
        d: data, after `mj_referenceConstraint`.
        jar: the residual (nefc,).
        cost: cost of the constraints (1,), written; or None.
        flg_coneHessian: whether to compute the Hessians of elliptic cones as well.
    """


__all__ = ["mj_addM", "mj_constraintUpdate", "mj_fullM", "mj_mulJacTVec", "mj_mulJacVec", "mj_mulM", "mj_mulM2"]
__all__ += ["mj_solveM", "mj_solveM2"]
