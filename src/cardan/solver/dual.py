"""Dual problem, whose unknowns are the constraint forces (spec: computation, dual problem).

The solvers minimise ``1/2 f' (A + R) f + f' b`` over admissible forces, one row or contact at a time. The residuals
``b + (A + R) f`` are stored in ``work.jar`` and updated with each force, so that rows whose force does not change cost
nothing. `load_block` extracts the part of the problem that belongs to a few rows, with the regulariser R (PGS) or
without it (no-slip). A change of forces that would raise the cost by more than `RISE` is rejected.
"""

from __future__ import annotations

from math import sqrt

from cardan.constraint.jacobian import mul_jac_t_vec
from cardan.constraint.update import friction_limit, is_lagged
from cardan.dynamics.inertia import solve_m
from cardan.enums.codes import (
    CNSTR_CONTACT_ELLIPTIC,
    CNSTRSTATE_CONE,
    CNSTRSTATE_LINEARNEG,
    CNSTRSTATE_LINEARPOS,
    CNSTRSTATE_QUADRATIC,
    CNSTRSTATE_SATISFIED,
)
from cardan.jit import kernel
from cardan.maths.types import Array1
from cardan.maths.vector import MINVAL
from cardan.model.kernel_views import Data, Model
from cardan.solver.islands import run_range
from cardan.solver.statistics import NISLAND, entry_of

ALL_ROWS = -1
"""In place of an island: all rows, whether islands are known or not."""
RISE = 1e-10
ON_CONE = 1.0 - 1e-10  # if friction is above this share of its bound, the contact counts as slipping


@kernel
def start_residuals(d: Data, sparse: bool) -> None:
    """Compute the residuals b + (A + R) f, the derivatives of the cost with respect to forces, in ``work.jar``."""
    for i in range(d.nefc):
        d.work.jar[i] = d.efc_b[i]
    for i in range(d.nefc):
        add_column(d, i, d.efc_force[i], sparse)


@kernel
def add_column(d: Data, i: int, step: float, sparse: bool) -> None:
    """Add `step` times column `i` of A + R to ``work.jar``. The matrix is symmetric, so row `i` is read instead."""
    if step == 0.0:
        return
    if sparse:
        adr, nnz = int(d.efc_AR_rowadr[i]), int(d.efc_AR_rownnz[i])
        first = int(d.work.AR_col[adr])
        if d.work.AR_col[adr + nnz - 1] == first + nnz - 1:
            for k in range(nnz):
                d.work.jar[first + k] += step * d.work.AR[adr + k]
        else:
            for k in range(adr, adr + nnz):
                d.work.jar[d.work.AR_col[k]] += step * d.work.AR[k]
    else:
        n = int(d.nefc)
        adr = i * n
        for k in range(n):
            d.work.jar[k] += step * d.work.AR[adr + k]


@kernel
def set_force(d: Data, i: int, force: float, sparse: bool) -> None:
    """Set the force of row `i`, and update the residuals of all rows."""
    add_column(d, i, force - d.efc_force[i], sparse)
    d.efc_force[i] = force


@kernel
def load_block(d: Data, start: int, n: int, regularized: bool, block: Array1, residual: Array1) -> None:
    """Extract the part of the problem that belongs to the `n` rows from `start` on, which must touch the same trees.

    `block` receives the rows and columns of A + R (n x n, row by row). `residual` receives the derivatives of the cost
    with respect to the rows' forces. If `regularized` is false, R is left out of both.
    """
    for a in range(n):
        i = start + a
        diagonal = int(d.work.AR_diagonal[i])
        for b in range(n):
            block[a * n + b] = d.work.AR[diagonal - a + b]
        residual[a] = d.work.jar[i]
        if not regularized:
            block[a * n + a] -= d.efc_R[i]
            residual[a] -= d.efc_R[i] * d.efc_force[i]


@kernel
def accept(d: Data, start: int, n: int, sparse: bool, block: Array1, residual: Array1, forces: Array1) -> float:
    """Apply `forces` to the `n` rows from `start` on; return the decrease of the cost.

    If the cost would rise by more than `RISE`, nothing changes, and the result is 0.
    """
    change = 0.0
    for a in range(n):
        step = forces[a] - d.efc_force[start + a]
        change += step * residual[a]
        for b in range(n):
            change += 0.5 * step * block[a * n + b] * (forces[b] - d.efc_force[start + b])
    if change > RISE:
        return 0.0
    for a in range(n):
        set_force(d, start + a, forces[a], sparse)
    return -change


@kernel
def update_row(d: Data, i: int, diagonal: float, residual: float, sparse: bool) -> float:
    """Set the force of scalar row `i` to its best admissible value; return the decrease of the cost.

    `diagonal` is the row's diagonal element in the matrix of the cost. If it is too small, the force does not change.
    `residual` is the derivative of the cost with respect to the force. `sparse` is true if A + R is sparse.
    """
    if not diagonal > MINVAL:
        return 0.0
    force = d.efc_force[i] - residual / diagonal
    if i >= d.ne + d.nf:
        force = max(force, 0.0)
    elif i >= d.ne:
        force = min(max(force, -d.efc_frictionloss[i]), d.efc_frictionloss[i])
    step = force - d.efc_force[i]
    change = step * (0.5 * diagonal * step + residual)
    if change > RISE:
        return 0.0
    set_force(d, i, force, sparse)
    return -change


@kernel
def dual_state(d: Data, i: int) -> int:
    """Return the state that the force of row `i` implies. For an elliptic contact, `i` must be its first row."""
    force = d.efc_force[i]
    if i < d.ne:
        return CNSTRSTATE_QUADRATIC
    if i < d.ne + d.nf:
        if force >= d.efc_frictionloss[i]:
            return CNSTRSTATE_LINEARNEG
        return CNSTRSTATE_LINEARPOS if force <= -d.efc_frictionloss[i] else CNSTRSTATE_QUADRATIC
    elliptic = d.efc_type[i] == CNSTR_CONTACT_ELLIPTIC
    con = int(d.efc_id[i]) if elliptic else -1
    if force <= 0.0 and not (elliptic and is_lagged(d, con)):
        return CNSTRSTATE_SATISFIED
    if not elliptic:
        return CNSTRSTATE_QUADRATIC
    squared = 0.0
    for j in range(1, d.contact.dim[con]):
        ratio = d.efc_force[i + j] / d.contact.friction[con, j - 1]
        squared += ratio * ratio
    if is_lagged(d, con) and force <= 0.0:
        return CNSTRSTATE_CONE if squared > 0.0 else CNSTRSTATE_SATISFIED
    return CNSTRSTATE_CONE if sqrt(squared) >= ON_CONE * friction_limit(d, con, force) else CNSTRSTATE_QUADRATIC


@kernel
def update_states(d: Data, first: int, end: int) -> tuple[int, int]:
    """Write efc_state of the rows `first` to `end` (exclusive), which are whole constraints, from efc_force.

    Return the numbers of rows with force and of rows whose state changed.
    """
    active, changed, i = 0, 0, first
    while i < end:
        state = dual_state(d, i)
        count = int(d.contact.dim[d.efc_id[i]]) if d.efc_type[i] == CNSTR_CONTACT_ELLIPTIC else 1
        for r in range(i, i + count):
            active += 1 if state != CNSTRSTATE_SATISFIED else 0
            changed += 1 if state != d.efc_state[r] else 0
            d.efc_state[r] = state
        i += count
    return active, changed


@kernel
def pieces_of(d: Data, island: int) -> tuple[int, int]:
    """Return the range of the pieces of an island, or of `ALL_ROWS`: first piece and end (see `piece_rows`)."""
    if island == ALL_ROWS:
        return -1, 0
    return run_range(d, island)


@kernel
def piece_rows(d: Data, piece: int) -> tuple[int, int]:
    """Return the rows of a piece, first and end: those of a run in the order of islands, or all rows for piece -1."""
    if piece < 0:
        return 0, int(d.nefc)
    k = d.work.run_order[piece]
    return int(d.work.run_start[k]), int(d.work.run_stop[k])


@kernel
def record_sweep(d: Data, island: int, k: int, improvement: float) -> None:
    """Update efc_state of an island's rows, and add sweep `k` over these rows to the statistics in the open slot.

    `improvement` is the scaled decrease of the cost in this sweep; the island may be `ALL_ROWS`.
    """
    active, changed = 0, 0
    begin, end = pieces_of(d, island)
    for piece in range(begin, end):
        first, stop = piece_rows(d, piece)
        some, others = update_states(d, first, stop)
        active += some
        changed += others
    i = entry_of(d, k)
    if d.work.statistics_slot < NISLAND:
        d.solver_niter[d.work.statistics_slot] = k + 1
    if i >= 0:
        d.work.statistics_used = max(d.work.statistics_used, i + 1)
        d.solver.improvement[i] = improvement
        d.solver.gradient[i] = 0.0
        d.solver.lineslope[i] = 0.0
        d.solver.nactive[i] = active
        d.solver.nchange[i] = changed
        d.solver.neval[i] = 0
        d.solver.nupdate[i] = 0


@kernel
def apply_forces(m: Model, d: Data) -> None:
    """Compute qfrc_constraint = J' efc_force and qacc = qacc_smooth + M^-1 qfrc_constraint."""
    mul_jac_t_vec(m, d, d.efc_force, d.qfrc_constraint)
    for i in range(m.nv):
        d.qacc[i] = d.qfrc_constraint[i]
    solve_m(m, d, d.qacc)
    for i in range(m.nv):
        d.qacc[i] += d.qacc_smooth[i]
