"""Conjugate gradient solver (spec: computation, algorithms; Nocedal and Wright, Numerical Optimization, chapter 5).

The solver minimises the cost of the reduced primal problem (see `primal`) by the non-linear method of Polak and
Ribiere. If their formula gives a negative value, the method restarts (Polak-Ribiere-plus). MuJoCo 4.0 uses the formula
of Hager and Zhang (A new conjugate gradient method with guaranteed descent and an efficient line search, 2005) with
their lower bound, which may be negative. The line search is exact, and the inertia matrix is the preconditioner:
directions are combinations of z = M^-1 gradient. Hence M times a direction is a combination of gradients, and no
product with M is needed.

In MuJoCo 4.0, costs are scaled by 1 / trace(M) of the model or island. If the start is certainly as close to the
minimum as `opt.tolerance` (see `certificate`), no iteration is made.

By default, all degrees of freedom form one problem. If the flag `island` is set, each island is a separate problem. The
flag has no effect if the no-slip solver is used, because that solver treats all rows together.
"""

from __future__ import annotations

from math import sqrt
from typing import Any

from cardan.constraint.rows import is_sparse
from cardan.enums.codes import DSBL_WARMSTART
from cardan.jit import OK, kernel, stage
from cardan.maths.vector import MINVAL
from cardan.model.kernel_views import Data, Model
from cardan.solver.certificate import inertia_scale, load_factor, precondition
from cardan.solver.islands import arrange, dof_range, solves_apart
from cardan.solver.jacobian import DENSE_MAX, load_jacobian, multiply_jacobian
from cardan.solver.linesearch import line_search
from cardan.solver.primal import (
    CHEAPER,
    SMOOTH,
    begin_without_rows,
    choose_start,
    common_start,
    direction_products,
    scatter,
    started_elsewhere,
    take_step,
    update_gradient,
)
from cardan.solver.statistics import (
    close_island,
    close_islands,
    close_slot,
    open_slot,
    record_iteration,
    reset_statistics,
)


@stage
def solve_conjugate(m: Model, d: Data) -> int:
    """Compute qacc and constraint forces by the rules of MuJoCo 3.1; see `solve_apart`."""
    return solve_apart(m, d, None)


@stage
def solve_conjugate_4_0(m: Model, d: Data) -> int:
    """Compute qacc and constraint forces by the rules of MuJoCo 4.0; see `solve_apart`."""
    return solve_apart(m, d, True)


@kernel
def solve_apart(m: Model, d: Data, later: Any) -> int:
    """Compute qacc and constraint forces. `later` must be None for the rules of MuJoCo 3.1.

    Fields and return value are as for `newton.solve_islands`. If islands are solved separately, each has its own slot
    in the statistics, and solver_nisland is the number of islands with dofs.
    """
    begin_without_rows(m, d)
    if d.nefc == 0:
        d.solver_niter[0] = 0
        return OK
    reset_statistics(d)
    apart = solves_apart(m)
    count = arrange(m, d, not apart)
    warm = SMOOTH if m.opt.disableflags & DSBL_WARMSTART else CHEAPER
    for island in range(count):
        status = solve_island(m, d, island, warm, later)
        if status != OK:
            return status
    if later is not None:
        # one start for all islands
        start = common_start(d, count)
        for island in range(count):
            if started_elsewhere(d, island, start):
                solve_island(m, d, island, start, later)
    close_islands(m, d, count)
    return OK


@kernel
def solve_island(m: Model, d: Data, island: int, start: int, later: Any) -> int:
    """Solve one island from `start` (see `primal.choose_start`); return OK or a request to enlarge memory."""
    d.work.dense_island = 1 if d.work.island_ndof[island] <= DENSE_MAX and not is_sparse(m) else 0
    status = load_jacobian(m, d, island)
    if status != OK:
        return status
    apart = solves_apart(m)
    if apart:
        open_slot(d, island)
    scale = 1.0 / (m.stat.meaninertia * max(1, m.nv))
    if apart or later is not None:
        scale = inertia_scale(m, d, island)
    descend(m, d, island, start, scale, later)
    scatter(d, island)
    if apart:
        close_slot(d)
    return OK


LEAST = 0.01
"""Largest gradient norm in the lower bound of `hager_zhang`, the parameter eta of the paper."""


@kernel
def hager_zhang(before: float, overlap: float, reduction: float, steepness: float, along: float) -> float:
    """Share of the previous direction v in the next one (Hager and Zhang 2005, with the preconditioner M).

    The arguments are g' M^-1 g, g' M^-1 h, h' M^-1 h, v' g and v' h: g is the previous and h the new gradient.
    """
    bend = along - steepness
    if bend < MINVAL:
        return 0.0
    change = before - 2.0 * overlap + reduction
    return (reduction - overlap - 2.0 * change * along / bend) / bend


@kernel
def descend(m: Model, d: Data, island: int, start: int, scale: float, later: Any) -> None:
    """Minimise the cost of one island from `start`; costs times `scale` are compared with `opt.tolerance`."""
    first, n = dof_range(d, island)
    cost = choose_start(m, d, island, start)
    squared = update_gradient(m, d, island) * scale * scale
    load_factor(m, d, island)
    reduction = precondition(m, d, island)
    limit = int(m.opt.iterations)
    if later is not None:
        limit = 0 if 0.5 * scale * reduction < m.opt.tolerance else limit
    for p in range(first, first + n):
        d.work.search[p] = -d.work.precond[p]
        d.work.Mv[p] = -d.work.grad[p]
    count, steepness = 0, -reduction
    for k in range(limit):
        multiply_jacobian(d, island, d.work.search, d.work.jv)
        step, slope, neval = line_search(m, d, island, scale, 0.0)
        if step == 0.0:
            break
        # move, and measure the improvement
        previous, old = cost, squared
        cost, squared = take_step(m, d, island, step, scale)
        improvement = scale * (previous - cost)
        record_iteration(d, island, k, improvement, scale * slope, neval, squared, 0)
        count = k + 1
        if not (improvement >= m.opt.tolerance and sqrt(squared) >= m.opt.tolerance):
            break
        # next direction: -z + beta times the previous one
        before, overlap, along, norm = reduction, 0.0, 0.0, 0.0
        for p in range(first, first + n):
            overlap += d.work.grad[p] * d.work.precond[p]
        if later is not None:
            along, _, _, norm = direction_products(d, island)
        reduction = precondition(m, d, island)
        if later is not None:
            least = -1.0 / max(norm * min(LEAST, sqrt(old) / scale), MINVAL)
            beta = max(least, hager_zhang(before, overlap, reduction, steepness, along))
            steepness = beta * along - reduction
        else:
            beta = max(0.0, (reduction - overlap) / max(before, MINVAL))
        for p in range(first, first + n):
            d.work.search[p] = beta * d.work.search[p] - d.work.precond[p]
            d.work.Mv[p] = beta * d.work.Mv[p] - d.work.grad[p]
    close_island(d, island, count, squared)
