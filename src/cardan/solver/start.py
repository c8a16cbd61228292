"""Start of Newton's method: the best point between the two accelerations that are known beforehand.

The reference starts at the cheaper of `qacc_warmstart`, the solution of the previous step, and `qacc_smooth`, the
unconstrained acceleration. If inputs or contacts have changed, neither is good, and with few iterations the start
determines the quality of the result. The residuals at both points determine those of all points between them. So a line
search costs only its evaluations: no product with a matrix, no factorisation.
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

NEAR = 1e-3  # the start may miss the best point by this share of the distance


@kernel
def start_between(m: Model, d: Data, island: int) -> float:
    """Start at the cheapest point between `qacc_smooth` and `qacc_warmstart`; return the cost there.

    Writes x, Mx, jar, the rows' forces and states, and ``efc_b`` = J qacc_smooth - efc_aref. If the warm start is not
    finite, it is ignored.
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
    """Set x to `qacc_smooth`, and the search direction to `qacc_warmstart` minus x; compute its products.

    Returns:
        Second derivative, along this direction, of the inertia's part of the cost.
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
