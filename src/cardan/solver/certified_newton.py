"""Newton solver with the rules of MuJoCo 4.0 for starting and stopping (spec: computation, algorithms of MuJoCo 4.0).

The search directions are those of `newton`. The differences from MuJoCo 3.1 are:

- Costs and gradients are scaled by 1 / trace(M) of the island, or of the model if islands are not solved separately.
- All islands start at the same point: the cheaper of `qacc_smooth` and `qacc_warmstart`.
- No iteration is made if the gradient at the start is below `opt.tolerance`, and the start is certainly as close to the
  minimum (see `certificate`). No Hessian is computed then.
- The iterations also stop if the decrease that the next step promises, 1/2 g' H^-1 g, is below the tolerance.
"""

from __future__ import annotations

from math import sqrt
from typing import Any

from cardan.constraint.rows import is_sparse
from cardan.enums.codes import DSBL_WARMSTART
from cardan.jit import OK, kernel, side_by_side, stage
from cardan.model.kernel_views import Data, Model
from cardan.solver.certificate import certified_gap, inertia_scale
from cardan.solver.islands import arrange, dof_range, run_range, solves_apart
from cardan.solver.jacobian import DENSE_MAX
from cardan.solver.linesearch import line_search
from cardan.solver.newton import prepare_matrices, refresh_factor, search
from cardan.solver.ordering import order_trees
from cardan.solver.primal import (
    CHEAPER,
    ROUNDING,
    SMOOTH,
    begin_without_rows,
    choose_start,
    common_start,
    is_stiff,
    promised_gain,
    scatter,
    set_force_from_inertia,
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

FEW_DOFS = 40
"""Largest number of dofs of an island that always has dense matrices."""
SPARSE_SHARE = 0.35
"""Share of entries in the rows of a larger island below which its matrices are sparse."""


@stage
@side_by_side
def solve_certified(m: Model, d: Data) -> int:
    """Compute qacc and constraint forces for models of any size. Fields and return value: `newton.solve_islands`."""
    return solve_from_one_start(m, d, True)


@stage
def solve_certified_small(m: Model, d: Data) -> int:
    """Compute qacc and constraint forces for models whose islands all have dense matrices (`needs_sparse`)."""
    return solve_from_one_start(m, d, None)


def needs_sparse(m: Any) -> bool:
    """Return whether a model may have islands that are solved with sparse matrices (see `is_dense`)."""
    return m.nv > DENSE_MAX or (m.nv > FEW_DOFS and bool(is_sparse(m)))


@kernel
def is_dense(m: Model, d: Data, island: int) -> bool:
    """Return whether an island is solved with dense matrices.

    An island of up to `FEW_DOFS` dofs is; one of more than `DENSE_MAX` is not. In between, compressed rows that are
    mostly empty decide for sparse matrices.
    """
    n = int(d.work.island_ndof[island])
    if n <= FEW_DOFS or not is_sparse(m):
        return n <= DENSE_MAX
    nrow, entries = 0, 0
    begin, end = run_range(d, island)
    for run in range(begin, end):
        k = d.work.run_order[run]
        for r in range(d.work.run_start[k], d.work.run_stop[k]):
            entries += int(d.efc_J_rownnz[r])
        nrow += int(d.work.run_stop[k]) - int(d.work.run_start[k])
    return n <= DENSE_MAX and entries > SPARSE_SHARE * n * nrow


@kernel
def solve_from_one_start(m: Model, d: Data, large: Any) -> int:
    """Compute qacc and constraint forces; return OK or a request to enlarge the memory of an island's matrices.

    Each island is first solved from its own cheaper start. If this is not the start that is cheaper for all islands
    together, which is rare, the island is solved again. Fields and the argument `large`: `newton.solve_islands`.
    """
    begin_without_rows(m, d)
    if d.nefc == 0:
        d.solver_niter[0] = 0
        return OK
    reset_statistics(d)
    count = arrange(m, d, not solves_apart(m))
    warm = SMOOTH if m.opt.disableflags & DSBL_WARMSTART else CHEAPER
    for island in range(count):
        status = OK
        if large is not None:
            if not is_dense(m, d, island):
                status = order_trees(m, d, island)
        if status == OK:
            status = solve_from(m, d, island, warm, large)
        if status != OK:
            return status
    start = common_start(d, count)
    for island in range(count):
        if started_elsewhere(d, island, start):
            solve_from(m, d, island, start, large)
    close_islands(m, d, count)
    return OK


@kernel
def solve_from(m: Model, d: Data, island: int, start: int, large: Any) -> int:
    """Solve one island from `start` (see `primal.choose_start`); return OK or a request to enlarge memory."""
    dense = True
    if large is not None:
        dense = is_dense(m, d, island)
    status = prepare_matrices(m, d, island, dense, large)
    if status != OK:
        return status
    apart = solves_apart(m)
    if apart:
        open_slot(d, island)
    minimise(m, d, island, start, large)
    scatter(d, island)
    if apart:
        close_slot(d)
    return OK


@kernel
def newton_decrement(d: Data, island: int) -> float:
    """Decrease of the quadratic model along the search direction, 1/2 g' H^-1 g."""
    slope = 0.0
    first, n = dof_range(d, island)
    for p in range(first, first + n):
        slope += d.work.search[p] * d.work.grad[p]
    return -0.5 * slope


@kernel
def minimise(m: Model, d: Data, island: int, start: int, large: Any) -> None:
    """Minimise the cost of one island from `start`."""
    scale = inertia_scale(m, d, island)
    cost = choose_start(m, d, island, start)
    squared = update_gradient(m, d, island) * scale * scale
    tolerance = m.opt.tolerance
    limit, count = int(m.opt.iterations), 0
    if sqrt(squared) < tolerance and scale * certified_gap(m, d, island) < tolerance:
        limit = 0
    stiff = is_stiff(d, island)
    promised = 0.0
    for k in range(limit):
        refresh_factor(m, d, island, k, large)
        search(m, d, island, large)
        if k > 0 and scale * newton_decrement(d, island) < tolerance:
            break
        if stiff:
            promised = promised_gain(d, island)
            if promised == 0.0:
                break
        step, slope, neval = line_search(m, d, island, scale, 1.0)
        if step == 0.0:
            break
        # move, and measure the improvement
        previous = cost
        cost, squared = take_step(m, d, island, step, scale)
        gain = step * promised if stiff else previous - cost
        improvement = scale * gain
        record_iteration(d, island, k, improvement, scale * slope, neval, squared, 1)
        count = k + 1
        if not (improvement >= tolerance and sqrt(squared) >= tolerance):
            break
        # if a step gained only rounding errors, further steps gain nothing
        if not stiff and gain <= ROUNDING * cost:
            break
    if stiff and count < m.opt.iterations:
        set_force_from_inertia(m, d, island)
    close_island(d, island, count, squared)
