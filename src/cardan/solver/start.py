"""Where Newton's method starts: the best point between the two accelerations that are known beforehand.

The reference takes the cheaper of `qacc_warmstart`, the solution of the step before, and `qacc_smooth`, what would be
without constraints. Where inputs or contacts have changed, neither is good, and with few iterations the start decides
how good the result is. The residuals at both points tell those of all points between them, so that a line search costs
nothing but its evaluations: no product with a matrix, no factorisation.
"""

from __future__ import annotations

import math

from cardan.jit import kernel
from cardan.model.kernel_views import Data, Model
from cardan.solver.linesearch import add_equality, bracketed_newton, evaluate_ray, prepare_cones
from cardan.solver.primal import (
    choose_start,
    dof_range,
    inertia_cost,
    load_vectors,
    move,
    multiply_inertia,
    run_range,
    save_smooth_residual,
    set_residual,
    update_rows,
)

NEAR = 1e-3  # share of the way that the start may be off the best point


@kernel
def start_between(m: Model, d: Data, island: int) -> float:
    """Start at the cheapest point between `qacc_smooth` and `qacc_warmstart`; returns the cost there.

    Writes x, Mx, jar, and the rows' forces and states; ``efc_b`` = J qacc_smooth - efc_aref on the way. A warm start
    that isn't finite counts for nothing.
    """
    curvature = aim_at_warmstart(m, d, island)
    if not curvature < math.inf:
        return choose_start(m, d, island, False)
    linear, curvature = add_equality(d, island, 0.0, curvature)
    prepare_cones(d, island)
    tolerance = NEAR * curvature
    step = 1.0
    slope, _ = evaluate_ray(d, island, linear, curvature, 1.0)
    if slope > tolerance:
        step, _, _ = bracketed_newton(m, d, island, linear, curvature, tolerance, 0.0)
    move(d, island, step)
    return update_rows(d, island) + inertia_cost(d, island)


@kernel
def aim_at_warmstart(m: Model, d: Data, island: int) -> float:
    """Put the island at `qacc_smooth`, and the search direction on the way to `qacc_warmstart`, with its products.

    Returns:
        The second derivative of the inertia's part of the cost along the way.
    """
    load_vectors(d, island)
    first, n = dof_range(d, island)
    set_residual(d, island, d.work.x_smooth)
    save_smooth_residual(d, island)
    for p in range(first, first + n):
        d.work.x[p] = d.qacc_warmstart[d.work.dof_at[p]]
    multiply_inertia(m, d, island, d.work.x, d.work.Mx)
    set_residual(d, island, d.work.x)
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
    return curvature
