"""Exact line search by Newton's method with analytical second derivatives (spec: computation, algorithms).

Along a ray x + alpha v the cost is convex and once continuously differentiable. Its slope therefore increases, and is 0
at the minimum. The Newton iteration on the slope stays inside a bracket whose ends have slopes of opposite sign. If a
Newton step would leave the bracket, a bisection replaces it.
"""

from __future__ import annotations

import math
from math import sqrt

from cardan.constraint.update import cone_zone, is_lagged
from cardan.enums.codes import CNSTRSTATE_CONE, CNSTRSTATE_QUADRATIC
from cardan.jit import kernel
from cardan.maths.types import Vec2
from cardan.maths.vector import MINVAL
from cardan.model.kernel_views import Data, Model
from cardan.solver.islands import RUN_ELLIPTIC, RUN_EQUALITY, RUN_FRICTION, RUN_ONE_SIDED, run_range
from cardan.solver.primal import direction_products

ROUNDING = 1e-14  # relative change of a step that is negligible

# columns of work.cone_ray: slope and curvature of the quadratic zone; N = N0 + alpha N1;
# T^2 = UU + 2 alpha UV + alpha^2 VV; weight Dm
RAY_SLOPE, RAY_CURVATURE, RAY_N0, RAY_N1, RAY_UU, RAY_UV, RAY_VV, RAY_WEIGHT = range(8)


@kernel
def line_search(m: Model, d: Data, island: int, scale: float, first: float) -> tuple[float, float, int]:
    """Minimise the cost along the search direction.

    Args:
        m: model.
        d: data; ``search``, ``Mv`` and ``jv`` of the island are set.
        island: number of the island.
        scale: factor that makes costs and gradients comparable with `opt.tolerance`.
        first: first trial step; 0 means a Newton step from the start of the ray.

    Returns:
        Step, slope at that step, and number of evaluations. The step is 0 if no descent is possible.
    """
    slope, linear, curvature, norm = direction_products(d, island)
    if not (norm > MINVAL and slope < 0.0):
        return 0.0, slope, 0
    tolerance = m.opt.tolerance * m.opt.ls_tolerance * norm / scale
    linear, curvature = add_equality(d, island, linear, curvature)
    prepare_cones(d, island)
    return bracketed_newton(m, d, island, linear, curvature, tolerance, first)


@kernel
def bracketed_newton(
    m: Model, d: Data, island: int, linear: float, curvature: float, tolerance: float, first: float
) -> tuple[float, float, int]:
    """Find the step at which the slope of the cost along the ray is 0. The results are those of `line_search`.

    `first` is the first trial step. `island`, `linear` and `curvature` are the arguments of `evaluate_ray`. The first
    evaluation is not counted as an iteration, because it only provides the start of Newton's method.

    If the root is bracketed and a Newton step is longer than half the step before the previous one, a bisection
    replaces it (Press et al., Numerical Recipes, section 9.4). The bracket thus shrinks at least linearly. The
    iteration ends if the absolute slope is at most `tolerance`, or if the step is accurate to rounding error.
    """
    low, high = 0.0, -1.0
    step = first
    slope, count = 0.0, 0
    last, before_last = math.inf, math.inf
    limit = max(m.opt.ls_iterations, 0) + 1
    while count < limit:
        slope, second = evaluate_ray(d, island, linear, curvature, step)
        count += 1
        if not abs(slope) > tolerance:
            break
        if slope < 0.0:
            low = step
        else:
            high = step
        trial = step - slope / max(second, MINVAL)
        if high >= 0.0 and not (low < trial < high and 2.0 * abs(trial - step) <= before_last):
            trial = 0.5 * (low + high)
        if abs(trial - step) <= ROUNDING * step or trial in (low, high):
            break
        before_last, last = last, abs(trial - step)
        step = trial
    return step, slope, count


@kernel
def add_equality(d: Data, island: int, linear: float, curvature: float) -> Vec2:
    """Add the terms of the equality rows (quadratic everywhere) to `linear` and `curvature`; return the two sums."""
    begin, end = run_range(d, island)
    for run in range(begin, end):
        k = d.work.run_order[run]
        if d.work.run_kind[k] == RUN_EQUALITY:
            for r in range(d.work.run_start[k], d.work.run_stop[k]):
                weighted = d.efc_D[r] * d.work.jv[r]
                linear += weighted * d.work.jar[r]
                curvature += weighted * d.work.jv[r]
    return linear, curvature


@kernel
def prepare_cones(d: Data, island: int) -> None:
    """Compute the coefficients of the cost of the island's elliptic contacts along the ray, in ``work.cone_ray``."""
    begin, end = run_range(d, island)
    for run in range(begin, end):
        k = d.work.run_order[run]
        if d.work.run_kind[k] == RUN_ELLIPTIC:
            row = int(d.work.run_start[k])
            con = int(d.efc_id[row])
            mu = d.contact.mu[con]
            slope = d.efc_D[row] * d.work.jar[row] * d.work.jv[row]
            second = d.efc_D[row] * d.work.jv[row] * d.work.jv[row]
            uu, uv, vv = 0.0, 0.0, 0.0
            for j in range(1, d.contact.dim[con]):
                r = row + j
                slope += d.efc_D[r] * d.work.jar[r] * d.work.jv[r]
                second += d.efc_D[r] * d.work.jv[r] * d.work.jv[r]
                u = d.work.jar[r] * d.contact.friction[con, j - 1]
                v = d.work.jv[r] * d.contact.friction[con, j - 1]
                uu += u * u
                uv += u * v
                vv += v * v
            ray = d.work.cone_ray
            ray[con, RAY_SLOPE] = slope
            ray[con, RAY_CURVATURE] = second
            ray[con, RAY_N0] = d.work.jar[row] * mu
            ray[con, RAY_N1] = d.work.jv[row] * mu
            ray[con, RAY_UU] = uu
            ray[con, RAY_UV] = uv
            ray[con, RAY_VV] = vv
            ray[con, RAY_WEIGHT] = d.efc_D[row] / (mu * mu * (1.0 + mu * mu))


@kernel
def evaluate_ray(d: Data, island: int, linear: float, curvature: float, step: float) -> Vec2:
    """Compute the first and second derivative of the cost along the ray at `step`.

    `linear` (slope at 0) and `curvature` (second derivative) belong to the part of the cost that is quadratic
    everywhere: the inertia and the equality rows.
    """
    slope = linear + step * curvature
    begin, end = run_range(d, island)
    for run in range(begin, end):
        k = int(d.work.run_order[run])
        kind = d.work.run_kind[k]
        start = int(d.work.run_start[k])
        if kind == RUN_ONE_SIDED:
            weight, jar, jv = d.efc_D, d.work.jar, d.work.jv
            first, second = 0.0, 0.0
            for r in range(start, (int(d.work.run_stop[k]))):
                x = jar[r] + step * jv[r]
                weighted = weight[r] * jv[r]
                weighted = weighted if x < 0.0 else 0.0
                first += weighted * x
                second += weighted * jv[r]
        elif kind == RUN_ELLIPTIC:
            first, second = cone_ray(d, int(d.efc_id[start]), step)
        elif kind == RUN_FRICTION:
            weight, loss, softness, jar, jv = d.efc_D, d.efc_frictionloss, d.efc_R, d.work.jar, d.work.jv
            first, second = 0.0, 0.0
            for r in range(start, (int(d.work.run_stop[k]))):
                # no branches: outside the quadratic zone, the force is at its bound
                x = jar[r] + step * jv[r]
                edge = softness[r] * loss[r]
                weighted = weight[r] * jv[r]
                inside = -edge < x < edge
                bound = loss[r] * jv[r]
                bound = bound if x > 0.0 else -bound
                first += weighted * x if inside else bound
                second += weighted * jv[r] if inside else 0.0
        else:
            first, second = 0.0, 0.0
        slope += first
        curvature += second
    return slope, curvature


@kernel
def cone_ray(d: Data, con: int, step: float) -> Vec2:
    """Compute the first and second derivatives, along the ray at `step`, of the cost of elliptic contact `con`."""
    ray = d.work.cone_ray
    mu = d.contact.mu[con]
    normal = ray[con, RAY_N0] + step * ray[con, RAY_N1]
    squared = ray[con, RAY_UU] + step * (2.0 * ray[con, RAY_UV] + step * ray[con, RAY_VV])
    tangent = sqrt(max(squared, 0.0))
    if is_lagged(d, con):
        return lagged_ray(d, con, step, normal, tangent)
    zone = cone_zone(normal, tangent, mu)
    if zone == CNSTRSTATE_QUADRATIC:
        return ray[con, RAY_SLOPE] + step * ray[con, RAY_CURVATURE], ray[con, RAY_CURVATURE]
    if zone == CNSTRSTATE_CONE:
        # T' and T'' of T = sqrt(UU + 2 alpha UV + alpha^2 VV)
        rate = (ray[con, RAY_UV] + step * ray[con, RAY_VV]) / tangent
        bend = (ray[con, RAY_VV] - rate * rate) / tangent
        gap = normal - mu * tangent
        gap_rate = ray[con, RAY_N1] - mu * rate
        weight = ray[con, RAY_WEIGHT]
        return weight * gap * gap_rate, weight * (gap_rate * gap_rate - gap * mu * bend)
    return 0.0, 0.0


@kernel
def lagged_ray(d: Data, con: int, step: float, normal: float, tangent: float) -> Vec2:
    """Compute the derivatives of `cone_ray` for a contact with the lagged normal law; N and T are those at `step`."""
    ray, mu, limit = d.work.cone_ray, d.contact.mu[con], d.contact.lagged[con]
    weight = ray[con, RAY_WEIGHT] * (1.0 + mu * mu)
    slope, second = 0.0, 0.0
    if normal < 0.0:
        slope = weight * normal * ray[con, RAY_N1]
        second = weight * ray[con, RAY_N1] * ray[con, RAY_N1]
    change = ray[con, RAY_UV] + step * ray[con, RAY_VV]
    if weight * tangent > limit:
        rate = change / tangent
        return slope + limit * rate, second + limit * (ray[con, RAY_VV] - rate * rate) / tangent
    return slope + weight * change, second + weight * ray[con, RAY_VV]
