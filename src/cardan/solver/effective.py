"""The solvers in the effective metric of the integrator discrete (`cardan.dynamics.metric`).

Solvers read the inertia matrix and its factor (qM, qLD, qLDiagInv) and the acceleration without constraints. While they
run, these fields hold the metric, its factor, and forces that include the implicit part of springs: `enter_metric`
exchanges them, `leave_metric` exchanges them back.

Tendons and actuators that couple different branches of the tree do not fit the pattern of qM, nor do elastic flexes
(`cardan.solver.elastic_rows`). During the solve they are
further rows of the constraint Jacobian, after the others. Their weight is w = h d + h^2 k, as in the metric. Their cost
is quadratic everywhere: ``w/2 (J (x - a))^2``, where a is the acceleration without constraints. Thus all parts of the
solvers handle them: islands, sparse patterns, line searches. `work.nloose` is the number of these rows.

Source: manual of MuJoCo 4.0, chapter computation, integrators (discrete).
"""

from __future__ import annotations

from math import sqrt
from typing import Any

from cardan.constraint.jacobian import complete_sparse, mul_jac_t_vec, mul_jac_vec
from cardan.dynamics.derivatives import actuator_moment
from cardan.dynamics.fluid import has_fluid
from cardan.dynamics.inertia import factor_ld, mul_m, solve_m
from cardan.dynamics.jacobian import is_sparse
from cardan.dynamics.metric import add_drag, exchange_inertia
from cardan.dynamics.tendon import tendon_moment
from cardan.enums.codes import CNSTRSTATE_QUADRATIC, CNSTRSTATE_SATISFIED
from cardan.jit import OK, kernel, stage
from cardan.maths.types import Array1, ConstIntArray1
from cardan.model.kernel_views import Data, Model
from cardan.solver.dense import change_dense_hessian, factor_dense, solve_dense, start_dense_hessian
from cardan.solver.dual import update_states
from cardan.solver.elastic_rows import append_elastic, open_loose
from cardan.solver.islands import dof_range, partition
from cardan.solver.newton import prepare_island
from cardan.solver.sparse import factor_sparse, solve_sparse


@kernel
def _append_row(
    m: Model, d: Data, i: int, adr: ConstIntArray1, dofs: ConstIntArray1, moment: Any, weight: float
) -> int:
    """Append row `i` of the Jacobian of tendons or actuators (as in `metric._add_coupling`); return OK or a request."""
    sparse = is_sparse(m)
    row = open_loose(m, d, 1, int(adr[i + 1] - adr[i]), i, weight)
    if row < 0:
        return -row
    start = int(d.efc_J_rowadr[row]) if sparse else row * int(m.nv)
    for k in range(adr[i], adr[i + 1]):
        if sparse:
            d.efc_J_colind[start + k - adr[i]] = dofs[k]
            d.efc_J[start + k - adr[i]] = moment(m, d, i, k)
        else:
            d.efc_J[start + dofs[k]] = moment(m, d, i, k)
    return OK


@kernel
def append_loose(m: Model, d: Data) -> int:
    """Append rows for all terms of the metric that do not fit the pattern of qM; return OK or a request."""
    d.work.nloose = 0
    rows, entries = int(d.nefc), int(d.nnzJ)
    status = OK
    for tendon in range(m.ntendon):
        if status == OK and d.work.tendon_loose[tendon] != 0:
            weight = d.work.metric_tendon[tendon]
            status = _append_row(m, d, tendon, m.aux.ten_rowadr, m.aux.ten_colind, tendon_moment, weight)
    for out in range(m.nout):
        if status == OK and d.work.actuator_loose[out] != 0:
            weight = d.work.metric_actuator[out]
            status = _append_row(m, d, out, m.aux.moment_rowadr, m.aux.moment_colind, actuator_moment, weight)
    if status == OK and m.nflexstiffness > 0:
        status = append_elastic(m, d)
    if status != OK:
        d.nefc = rows
        d.nnzJ = entries
        d.work.nloose = 0
    elif is_sparse(m):
        complete_sparse(m, d)
    return status


@kernel
def drop_loose(m: Model, d: Data) -> None:
    """Remove the rows of `append_loose`."""
    if d.work.nloose > 0:
        d.nefc -= d.work.nloose
        d.nnzJ = 0
        d.work.nloose = 0
        if is_sparse(m):
            if d.nefc > 0:
                d.nnzJ = d.efc_J_rowadr[d.nefc - 1] + d.efc_J_rownnz[d.nefc - 1]
            complete_sparse(m, d)
        else:
            d.nnzJ = d.nefc * m.nv


@kernel
def solve_metric(m: Model, d: Data, x: Array1) -> int:
    """Replace x (nv,) by M^-1 x, where M is the metric with all its terms; return OK or a request.

    Must be called between `enter_metric` and `leave_metric`; if there are terms that do not fit the pattern of qM,
    their rows must exist. Changes efc_state, and the order of dofs and rows in the memory of the solver.
    """
    if d.work.nloose == 0:
        solve_m(m, d, x)
        return OK
    first_loose = int(d.nefc - d.work.nloose)
    for r in range(d.nefc):
        d.efc_state[r] = CNSTRSTATE_SATISFIED if r < first_loose else CNSTRSTATE_QUADRATIC
    count = partition(m, d, False)
    for i in range(m.nv):
        d.work.metric_x[i] = x[i]
    solve_m(m, d, x)  # trees without rows
    for island in range(count):
        status = prepare_island(m, d, island, True)
        if status != OK:
            return status
        first, n = dof_range(d, island)
        for p in range(first, first + n):
            d.work.grad[p] = -d.work.metric_x[d.work.dof_at[p]]
        d.work.has_cone = 0
        if d.work.dense_island != 0:
            start_dense_hessian(m, d, island)
            change_dense_hessian(d, island)
            factor_dense(m, d, island)
            solve_dense(d, island)
        else:
            factor_sparse(m, d, island)
            solve_sparse(d, island)
        for p in range(first, first + n):
            x[d.work.dof_at[p]] = d.work.search[p]
    return OK


@stage
def enter_metric(m: Model, d: Data) -> int:
    """Exchange the inertia matrix for the effective metric, and complete qacc_smooth.

    While the metric is in place, qfrc_smooth is the metric (in the pattern of qM) times qacc_smooth; the sum of forces
    is in work.force_smooth (nv,).
    """
    if d.work.in_metric == 0:
        exchange_inertia(m, d)
        d.work.in_metric = 1
        for dof in range(m.nv):
            d.work.force_smooth[dof] = d.qfrc_smooth[dof]
    if d.work.metric_nloose > 0:
        if d.work.nloose == 0:
            status = append_loose(m, d)
            if status != OK:
                return status
        for dof in range(m.nv):
            d.qacc_smooth[dof] = d.work.force_smooth[dof] - d.work.metric_shift[dof]
        status = solve_metric(m, d, d.qacc_smooth)
        if status != OK:
            return status
        if d.nefc == d.work.nloose:
            drop_loose(m, d)  # no constraints: the solver is not needed
        else:
            mul_jac_vec(m, d, d.qacc_smooth, d.work.efc_residual)
            for r in range(d.nefc - d.work.nloose, d.nefc):
                d.efc_aref[r] = d.work.efc_residual[r]
        mul_m(m, d, d.qfrc_smooth, d.qacc_smooth)
    else:
        for dof in range(m.nv):
            d.qfrc_smooth[dof] = d.work.force_smooth[dof] - d.work.metric_shift[dof]
    return OK


@kernel
def _release_loose(m: Model, d: Data) -> None:
    """Subtract the forces of the rows of `append_loose` from qfrc_constraint, and remove the rows."""
    if d.work.nloose == 0:
        return
    for r in range(d.nefc - d.work.nloose):
        d.work.efc_residual[r] = 0.0
    for r in range(d.nefc - d.work.nloose, d.nefc):
        d.work.efc_residual[r] = d.efc_force[r]
    mul_jac_t_vec(m, d, d.work.efc_residual, d.work.metric_x)
    for dof in range(m.nv):
        d.qfrc_constraint[dof] -= d.work.metric_x[dof]
    drop_loose(m, d)


@stage
def leave_metric(m: Model, d: Data) -> int:
    """Exchange the metric for the inertia matrix again, and remove the rows that `enter_metric` appended."""
    _release_loose(m, d)
    if d.work.in_metric != 0:
        exchange_inertia(m, d)
        d.work.in_metric = 0
        for dof in range(m.nv):
            d.qfrc_smooth[dof] = d.work.force_smooth[dof]
    return OK


@stage
def enter_backbone(m: Model, d: Data) -> int:
    """Prepare the no-slip solver after a primal solver: put the factor of the metric's backbone in qLD.

    Runs between `enter_metric` and `leave_metric`. The no-slip solver leaves couplings of tendons and actuators out.
    """
    _release_loose(m, d)
    for adr in range(m.nM):
        d.qLD[adr] = d.work.metric[adr]
    if has_fluid(m):
        add_drag(m, d, d.qLD)
    for dof in range(m.nv):
        d.qLD[m.aux.M_rowadr[dof]] += d.work.metric_diag[dof]
    factor_ld(m, d, d.qLD, d.qLDiagInv)
    for dof in range(m.nv):
        d.qLDiagSqrtInv[dof] = sqrt(d.qLDiagInv[dof])
    return OK


@stage
def leave_backbone(m: Model, d: Data) -> int:
    """Compute qacc in the complete metric, from the constraint forces that the no-slip solver has changed."""
    for adr in range(m.nM):
        d.qLD[adr] = d.qM[adr]
    factor_ld(m, d, d.qLD, d.qLDiagInv)
    if d.work.metric_nloose > 0:
        status = append_loose(m, d)
        if status != OK:
            return status
    for dof in range(m.nv):
        d.qacc[dof] = d.qfrc_constraint[dof]
    status = solve_metric(m, d, d.qacc)
    if status != OK:
        return status
    for dof in range(m.nv):
        d.qacc[dof] += d.qacc_smooth[dof]
    if d.work.nloose > 0:
        drop_loose(m, d)
        update_states(d, 0, int(d.nefc))
    return OK
