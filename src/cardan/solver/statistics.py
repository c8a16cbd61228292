"""Solver statistics: the contents of `mjData.solver` for each iteration.

Each *slot* has `mjNSOLVER` entries, one per iteration. If several islands share a slot, entry k combines iteration k of
all these islands. An island that converged earlier contributes its final gradient and active rows to the later
entries. If there are more islands than slots, the remaining islands have no statistics.
"""

from __future__ import annotations

from math import sqrt

from cardan.constants import mjNISLAND, mjNSOLVER
from cardan.jit import kernel
from cardan.model.kernel_views import Data, Model
from cardan.solver.islands import solves_apart
from cardan.solver.primal import count_states

NSOLVER = int(mjNSOLVER)
NISLAND = int(mjNISLAND)


@kernel
def reset_statistics(d: Data) -> None:
    """Clear the statistics, and open slot 0."""
    for k in range(NISLAND):
        d.solver_niter[k] = 0
    d.solver_nisland = 1
    d.solver_nnz[0] = 0
    open_slot(d, 0)


@kernel
def open_slot(d: Data, slot: int) -> None:
    """Clear slot `slot`, and store all further iterations in it."""
    d.work.statistics_slot = slot
    d.work.done_gradient = 0.0
    d.work.done_nactive = 0
    if slot < NISLAND:
        d.solver_niter[slot] = 0
        d.solver_nnz[slot] = 0


@kernel
def entry_of(d: Data, k: int) -> int:
    """Return the index in ``d.solver`` for iteration `k` of the open slot, or -1 if this iteration is not stored."""
    if k >= NSOLVER or d.work.statistics_slot >= NISLAND:
        return -1
    i = int(d.work.statistics_slot * NSOLVER + k)
    return i if i < len(d.solver.improvement) else -1


@kernel
def slot_iterations(d: Data) -> int:
    """Number of iterations counted so far in the open slot."""
    return int(d.solver_niter[d.work.statistics_slot]) if d.work.statistics_slot < NISLAND else 0


@kernel
def record_iteration(
    d: Data, island: int, k: int, improvement: float, slope: float, neval: int, squared: float, has_hessian: int
) -> None:
    """Combine iteration `k` (from 0) of an island with the statistics of the other islands in the open slot.

    `improvement` (scaled decrease of the cost), `squared` (squared norm of the scaled gradient) and counts of rows are
    summed over islands. `slope` (scaled slope after the line search) and `neval` (its number of evaluations) are
    maxima. `has_hessian` is 1 if the solver updates a Hessian, else 0.
    """
    i = entry_of(d, k)
    if d.work.statistics_slot < NISLAND and k >= slot_iterations(d):
        # the first island with this iteration
        d.solver_niter[d.work.statistics_slot] = k + 1
        if i >= 0:
            d.work.statistics_used = max(d.work.statistics_used, i + 1)
            d.solver.improvement[i] = 0.0
            d.solver.gradient[i] = d.work.done_gradient
            d.solver.lineslope[i] = 0.0
            d.solver.nactive[i] = d.work.done_nactive
            d.solver.nchange[i] = 0
            d.solver.neval[i] = 0
            d.solver.nupdate[i] = 0
    if i >= 0:
        d.solver.improvement[i] += improvement
        d.solver.lineslope[i] = max(d.solver.lineslope[i], abs(slope))
        d.solver.neval[i] = max(d.solver.neval[i], neval)
        active, changed, updates = count_states(d, island)
        d.solver.gradient[i] += squared
        d.solver.nactive[i] += active
        d.solver.nchange[i] += changed
        d.solver.nupdate[i] += updates * has_hessian


@kernel
def close_island(d: Data, island: int, niter: int, squared: float) -> None:
    """Close the statistics of an island that converged after `niter` iterations.

    The island's final gradient and active rows are added to all later iterations of the slot.
    """
    active, _, _ = count_states(d, island)
    for k in range(niter, min(slot_iterations(d), NSOLVER)):
        i = entry_of(d, k)
        if i >= 0:
            d.solver.gradient[i] += squared
            d.solver.nactive[i] += active
    d.work.done_gradient += squared
    d.work.done_nactive += active


@kernel
def close_slot(d: Data) -> None:
    """Replace the squared norms of gradients in the open slot by norms. All islands of the slot must be closed."""
    for k in range(min(slot_iterations(d), NSOLVER)):
        i = entry_of(d, k)
        if i >= 0:
            d.solver.gradient[i] = sqrt(d.solver.gradient[i])


@kernel
def close_islands(m: Model, d: Data, count: int) -> None:
    """Close the statistics of a solver run over `count` islands, which have slots of their own if solved apart.

    The island of the rows that touch no dof is left out of solver_nisland.
    """
    if solves_apart(m):
        d.solver_nisland = count if d.work.tree_island[m.ntree] < 0 else count - 1
    else:
        close_slot(d)
