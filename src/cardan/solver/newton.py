"""Newton solver (spec: computation, algorithms; Boyd and Vandenberghe, Convex Optimization, section 9.5).

The solver minimises the cost of the reduced primal problem (see `primal`) island by island, with the exact Hessian
M + J' H[s] J and an exact line search. The factorisation of the Hessian is updated when rows change state. For
pyramidal cones the cost is a quadratic spline, so the last iteration reaches the minimum exactly.

The reference starts at the cheaper of `qacc_warmstart`, the solution of the previous step, and `qacc_smooth`, the
unconstrained acceleration. After a change of inputs or contacts, neither is good, and with few iterations
the start determines the quality of the result. Cardan starts at the best point on the segment between these two
accelerations. Residuals on the segment are interpolated from those at its ends. This line search therefore needs no
matrix product or factorisation.
"""

from __future__ import annotations

import math
from typing import Any

from cardan.constraint.rows import is_sparse
from cardan.enums.codes import CNSTRSTATE_CONE, DSBL_WARMSTART
from cardan.jit import OK, kernel, side_by_side, stage
from cardan.model.kernel_views import Data, Model
from cardan.model.tables import GROW_H
from cardan.solver.dense import change_dense_hessian, factor_dense, solve_dense, start_dense_hessian
from cardan.solver.islands import RUN_ELLIPTIC, arrange, dof_range, run_range
from cardan.solver.jacobian import DENSE_MAX, load_jacobian, multiply_jacobian
from cardan.solver.linesearch import add_equality, bracketed_newton, evaluate_ray, line_search, prepare_cones
from cardan.solver.ordering import order_trees
from cardan.solver.primal import (
    ROUNDING,
    SMOOTH,
    begin_without_rows,
    choose_start,
    inertia_cost,
    is_stiff,
    load_smooth_point,
    move,
    multiply_inertia,
    promised_gain,
    scatter,
    set_force_from_inertia,
    set_residual,
    take_step,
    update_gradient,
    update_rows,
)
from cardan.solver.rank_one import change_factor
from cardan.solver.sparse import analyse, factor_sparse, solve_sparse
from cardan.solver.statistics import NISLAND, close_island, close_slot, record_iteration, reset_statistics

NEAR = 1e-3  # the start may miss the best point by this share of the distance


@kernel
def start_between(m: Model, d: Data, island: int) -> float:
    """Start at the cheapest point between `qacc_smooth` and `qacc_warmstart`; return the cost at this point.

    If the warm start is not finite, it is ignored. Writes x, Mx, jar, the rows' forces and states, and
    ``efc_b`` = J qacc_smooth - efc_aref.
    """
    load_smooth_point(d, island)
    first, n = dof_range(d, island)
    for p in range(first, first + n):
        d.work.x[p] = d.qacc_warmstart[d.work.dof_at[p]]
    multiply_inertia(m, d, island, d.work.x, d.work.Mx)
    set_residual(d, island, d.work.x)
    # search direction from `qacc_smooth` to `qacc_warmstart`
    curvature = 0.0
    for p in range(first, first + n):
        d.work.search[p] = d.work.x[p] - d.work.x_smooth[p]
        d.work.Mv[p] = d.work.Mx[p] - d.work.f_smooth[p]
        d.work.x[p] = d.work.x_smooth[p]
        d.work.Mx[p] = d.work.f_smooth[p]
        curvature += d.work.search[p] * d.work.Mv[p]
    begin, end = run_range(d, island)
    for run in range(begin, end):
        k = d.work.run_order[run]
        for r in range(d.work.run_start[k], d.work.run_stop[k]):
            d.work.jv[r] = d.work.jar[r] - d.efc_b[r]
            d.work.jar[r] = d.efc_b[r]
    if not curvature < math.inf:
        return choose_start(m, d, island, SMOOTH)
    linear, curvature = add_equality(d, island, 0.0, curvature)
    prepare_cones(d, island)
    tolerance = NEAR * curvature
    step = 1.0
    slope, _ = evaluate_ray(d, island, linear, curvature, 1.0)
    if slope > tolerance:
        step, _, _ = bracketed_newton(m, d, island, linear, curvature, tolerance, 0.0)
    move(d, island, step)
    return update_rows(d, island) + inertia_cost(d, island)


NEED_H = int(GROW_H)


@stage
@side_by_side
def solve(m: Model, d: Data) -> int:
    """Compute qacc and constraint forces for models of any size. Fields and return value are as for `solve_islands`."""
    return solve_islands(m, d, True)


@stage
def solve_small(m: Model, d: Data) -> int:
    """Compute qacc and constraint forces for models of at most `DENSE_MAX` dofs, without sparse matrices."""
    return solve_islands(m, d, None)


@kernel
def solve_islands(m: Model, d: Data, large: Any) -> int:
    """Compute qacc and constraint forces; return OK or a request to enlarge the memory of an island's matrices.

    Reads qM, qacc_smooth, qfrc_smooth, the rows (efc_J, efc_D, efc_R, efc_aref, efc_frictionloss, ...) and
    qacc_warmstart. Writes qacc, qfrc_constraint, efc_force, efc_state, efc_b, contact.H and the solver statistics. If
    no island can have more than `DENSE_MAX` dofs, `large` must be None: the compiler then leaves out sparse matrices.
    """
    begin_without_rows(m, d)
    if d.nefc == 0:
        d.solver_niter[0] = 0
    else:
        reset_statistics(d)
        count = arrange(m, d, False)
        for island in range(count):
            status = OK
            if large is not None:
                if d.work.island_ndof[island] > DENSE_MAX:
                    status = order_trees(m, d, island)
            if status == OK:
                status = solve_island(m, d, island, large)
            if status != OK:
                return status
            scatter(d, island)
        close_slot(d)
    return OK


@kernel
def solve_island(m: Model, d: Data, island: int, large: Any) -> int:
    """Minimise the cost of one island; return OK or a request to enlarge memory."""
    status = prepare_island(m, d, island, large)
    if status != OK:
        return status
    scale = 1.0 / (m.stat.meaninertia * max(1, m.nv))
    if m.opt.disableflags & DSBL_WARMSTART:
        cost = choose_start(m, d, island, SMOOTH)
    else:
        cost = start_between(m, d, island)
    squared = update_gradient(m, d, island) * scale * scale
    # the island's share of the tolerance of the whole problem
    share = d.work.island_ndof[island] / max(1, m.nv)
    total = max(m.opt.tolerance, 0.0)
    tolerance = total * share
    stiff = is_stiff(d, island)
    promised, count = 0.0, 0
    for k in range(m.opt.iterations):
        # search direction
        refresh_factor(m, d, island, k, large)
        search(m, d, island, large)
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
        if not (improvement >= tolerance and squared >= tolerance * total):
            break
        # if a step gained only rounding errors, further steps gain nothing
        if not stiff and gain <= ROUNDING * cost:
            break
    if stiff and count < m.opt.iterations:
        set_force_from_inertia(m, d, island)
    close_island(d, island, count, squared)
    return OK


@kernel
def prepare_island(m: Model, d: Data, island: int, large: Any) -> int:
    """Prepare the matrices of an island, which are dense up to `DENSE_MAX` dofs (see `prepare_matrices`)."""
    return prepare_matrices(m, d, island, d.work.island_ndof[island] <= DENSE_MAX, large)


@kernel
def prepare_matrices(m: Model, d: Data, island: int, dense: bool, large: Any) -> int:
    """Gather the island's Jacobian and find the pattern of its Hessian; return OK or a request to enlarge memory.

    `dense` specifies whether the island has dense matrices. If `large` is None, it must be set.
    """
    n = int(d.work.island_ndof[island])
    d.work.dense_island = 1 if dense else 0
    status = load_jacobian(m, d, island)
    if status != OK:
        return status
    if large is not None:
        if d.work.dense_island == 0:
            return analyse(m, d, island)
    if n * n > len(d.work.H):
        d.work.need = n * n
        return NEED_H
    return OK


@kernel
def refresh_factor(m: Model, d: Data, island: int, k: int, large: Any) -> None:
    """Update the factorisation of the Hessian for the current states of the rows, in iteration `k`.

    Cone terms change in every iteration. The Hessian is therefore refactorised if it has or had cone terms, in the
    first iteration, and if an update fails or costs more. Otherwise the factor is updated row by row. The first
    iteration also adds the number of entries to the statistics.
    """
    plain = k > 0 and d.work.has_cone == 0
    d.work.has_cone = 1 if any_cone(d, island) else 0
    fresh = plain and d.work.has_cone == 0 and change_factor(d, island, large)
    if large is not None:
        if d.work.dense_island == 0 and not fresh:
            factor_sparse(m, d, island)
    if d.work.dense_island != 0:
        if k == 0:
            start_dense_hessian(m, d, island)
        change_dense_hessian(d, island)
        if not fresh:
            factor_dense(m, d, island)
    if k == 0:
        # number of entries as in the reference: all entries of a dense Hessian, the stored entries of a sparse one
        n = int(d.work.island_ndof[island])
        if d.work.statistics_slot < NISLAND:
            d.solver_nnz[d.work.statistics_slot] += d.work.factor_nnz if is_sparse(m) else n * n


@kernel
def any_cone(d: Data, island: int) -> bool:
    """Return whether an elliptic contact of the island is in the zone CONE."""
    begin, end = run_range(d, island)
    for run in range(begin, end):
        k = d.work.run_order[run]
        if d.work.run_kind[k] == RUN_ELLIPTIC and d.efc_state[d.work.run_start[k]] == CNSTRSTATE_CONE:
            return True
    return False


@kernel
def search(m: Model, d: Data, island: int, large: Any) -> None:
    """Compute the Newton direction in ``search``, and its products with M (``Mv``) and J (``jv``)."""
    if large is not None:
        if d.work.dense_island == 0:
            solve_sparse(d, island)
    if d.work.dense_island != 0:
        solve_dense(d, island)
    multiply_inertia(m, d, island, d.work.search, d.work.Mv)
    multiply_jacobian(d, island, d.work.search, d.work.jv)
