"""Solver statistics: what `mjData.solver` tells about each iteration.

Islands are solved one after the other; entry k of the statistics sums what all islands did in their iteration k. An
island that had fewer iterations goes on counting with its final gradient and active rows.
"""

from __future__ import annotations

from math import sqrt
from typing import Any

from cardan.constants import mjNISLAND, mjNSOLVER
from cardan.jit import kernel
from cardan.solver.primal import count_states

NSOLVER = int(mjNSOLVER)
NISLAND = int(mjNISLAND)


@kernel
def reset_statistics(d: Any) -> None:
    """No iterations yet."""
    for k in range(NISLAND):
        d.solver_niter[k] = 0
    d.solver_nisland = 1
    d.solver_nnz[0] = 0
    d.work.done_gradient = 0.0
    d.work.done_nactive = 0


@kernel
def record_iteration(d: Any, k: int, improvement: float, slope: float, neval: int) -> None:
    """Add an island's iteration to entry `k`: scaled cost reduction, slope after the line search, evaluations."""
    open_iteration(d, k)
    if k < NSOLVER:
        d.solver.improvement[k] += improvement
        d.solver.lineslope[k] = max(d.solver.lineslope[k], abs(slope))
        d.solver.neval[k] = max(d.solver.neval[k], neval)


@kernel
def open_iteration(d: Any, k: int) -> None:
    """Make sure that entry `k` exists."""
    if k < d.solver_niter[0]:
        return
    d.solver_niter[0] = k + 1
    if k < NSOLVER:
        d.work.statistics_used = max(d.work.statistics_used, k + 1)
        d.solver.improvement[k] = 0.0
        d.solver.gradient[k] = d.work.done_gradient
        d.solver.lineslope[k] = 0.0
        d.solver.nactive[k] = d.work.done_nactive
        d.solver.nchange[k] = 0
        d.solver.neval[k] = 0
        d.solver.nupdate[k] = 0


@kernel
def record_state(d: Any, island: int, k: int, squared: float) -> None:
    """Add the island's squared scaled gradient norm, active and changed rows to entry `k`."""
    if k < NSOLVER:
        active, changed = count_states(d, island)
        d.solver.gradient[k] += squared
        d.solver.nactive[k] += active
        d.solver.nchange[k] += changed
        d.solver.nupdate[k] += changed


@kernel
def close_island(d: Any, island: int, niter: int, squared: float) -> None:
    """An island is solved after `niter` iterations: it goes on counting in those that others need."""
    active, _ = count_states(d, island)
    for k in range(niter, min(d.solver_niter[0], NSOLVER)):
        d.solver.gradient[k] += squared
        d.solver.nactive[k] += active
    d.work.done_gradient += squared
    d.work.done_nactive += active


@kernel
def close_statistics(d: Any) -> None:
    """Turn sums of squares into norms, when all islands are solved."""
    for k in range(min(d.solver_niter[0], NSOLVER)):
        d.solver.gradient[k] = sqrt(d.solver.gradient[k])
