"""Primal problem of one island: cost, gradient and start of the search (spec: computation, reduced primal problem).

The solvers minimise over accelerations x::

    1/2 (x - a)' M (x - a) + s(J x - aref)      with a = qacc_smooth and M a = qfrc_smooth

Vectors over dofs are in island order (see `islands`): ``x``, ``x_smooth``, ``f_smooth``, ``Mx``, ``grad``, ``search``,
``Mv``. Vectors over rows (``jar = J x - aref``, ``jv = J search``) have the numbering of the rows. This module does not
depend on how a solver chooses its search directions.

An island is *stiff* if a constraint force can hardly accelerate the bodies of one of its rows. An example is a contact
of a body that turns about its centre of mass, if the contact force passes through this point. Such rows have the
largest possible weight, forces of 1e16 N, and a cost of 1e18 that is constant up to rounding. Differences of costs
therefore contain no information about the other rows of the island. J' efc_force is a difference of such large forces:
the rounding error of J' efc_force is as large as the forces that move the bodies. The Newton direction and the
acceleration remain accurate. In stiff islands, the gain of a step, its rounding error, and the constraint force
M qacc - qfrc_smooth at the minimum are therefore computed from these two.
"""

from __future__ import annotations

from math import sqrt

from cardan.constraint.update import update_elliptic, update_equality, update_friction, update_one_sided
from cardan.dynamics.awake import SOLVER_UNSETTLED, settle, visited_dofs, visits
from cardan.enums.codes import CNSTRSTATE_QUADRATIC, CNSTRSTATE_SATISFIED
from cardan.jit import kernel
from cardan.maths.types import Array1, Vec2, Vec4
from cardan.model.kernel_views import Data, Model
from cardan.solver.islands import RUN_EQUALITY, RUN_FRICTION, RUN_ONE_SIDED, dof_range, run_range
from cardan.solver.jacobian import multiply_jacobian, multiply_jacobian_transposed


@kernel
def begin_without_rows(m: Model, d: Data) -> None:
    """Set qacc to qacc_smooth, and qfrc_constraint to 0: the result without constraints. Skip trees that sleep."""
    for visit in range(visits(m, d, SOLVER_UNSETTLED)):
        first, stop = visited_dofs(m, d, SOLVER_UNSETTLED, visit)
        for i in range(first, stop):
            d.qacc[i] = d.qacc_smooth[i]
            d.qfrc_constraint[i] = 0.0
    settle(d, SOLVER_UNSETTLED)


@kernel
def load_smooth_point(d: Data, island: int) -> None:
    """Copy `qacc_smooth` and `qfrc_smooth` to ``x_smooth`` and ``f_smooth`` (island order), and compute residuals.

    ``jar`` and ``efc_b`` are both set to J qacc_smooth - efc_aref.
    """
    first, n = dof_range(d, island)
    for p in range(first, first + n):
        i = d.work.dof_at[p]
        d.work.x_smooth[p] = d.qacc_smooth[i]
        d.work.f_smooth[p] = d.qfrc_smooth[i]
    set_residual(d, island, d.work.x_smooth)
    begin, end = run_range(d, island)
    for run in range(begin, end):
        k = d.work.run_order[run]
        for r in range(d.work.run_start[k], d.work.run_stop[k]):
            d.efc_b[r] = d.work.jar[r]


@kernel
def multiply_inertia(m: Model, d: Data, island: int, vector: Array1, result: Array1) -> None:
    """Compute `result` = M `vector` over the dofs of an island. Both vectors are in island order."""
    first, n = dof_range(d, island)
    for p in range(first, first + n):
        i = int(d.work.dof_at[p])
        shift = p - i
        start = int(m.aux.M_rowadr[i])
        v = vector[p]
        total = d.qM[start] * v
        for k in range(start + 1, m.aux.M_rowadr[i + 1]):
            q = m.aux.M_colind[k] + shift
            total += d.qM[k] * vector[q]
            result[q] += d.qM[k] * v
        result[p] = total


@kernel
def set_residual(d: Data, island: int, vector: Array1) -> None:
    """Compute ``jar`` = J `vector` - efc_aref over the rows of an island."""
    multiply_jacobian(d, island, vector, d.work.jar)
    begin, end = run_range(d, island)
    for run in range(begin, end):
        k = d.work.run_order[run]
        for r in range(d.work.run_start[k], d.work.run_stop[k]):
            d.work.jar[r] -= d.efc_aref[r]


@kernel
def update_rows(d: Data, island: int) -> float:
    """Compute forces, states and cone Hessians of an island's rows from ``jar``; return the cost of the rows."""
    cost = 0.0
    begin, end = run_range(d, island)
    for run in range(begin, end):
        k = int(d.work.run_order[run])
        kind = d.work.run_kind[k]
        start = int(d.work.run_start[k])
        stop = int(d.work.run_stop[k])
        if kind == RUN_ONE_SIDED:
            cost += update_one_sided(d, d.work.jar, start, stop)
        elif kind == RUN_EQUALITY:
            cost += update_equality(d, d.work.jar, start, stop)
        elif kind == RUN_FRICTION:
            cost += update_friction(d, d.work.jar, start, stop)
        else:
            cost += update_elliptic(d, d.work.jar, d.efc_id[start], start, 1)
    return cost


@kernel
def inertia_cost(d: Data, island: int) -> float:
    """Inertia part of the cost (Gauss' principle): 1/2 (x - a)' M (x - a)."""
    cost = 0.0
    first, n = dof_range(d, island)
    for p in range(first, first + n):
        cost += (d.work.Mx[p] - d.work.f_smooth[p]) * (d.work.x[p] - d.work.x_smooth[p])
    return 0.5 * cost


@kernel
def update_gradient(m: Model, d: Data, island: int) -> float:
    """Compute the gradient of the cost, M x - qfrc_smooth - J' efc_force; return the gradient's squared norm."""
    multiply_jacobian_transposed(m, d, island, d.efc_force, d.work.f_constraint)
    squared = 0.0
    first, n = dof_range(d, island)
    for p in range(first, first + n):
        g = d.work.Mx[p] - d.work.f_smooth[p] - d.work.f_constraint[p]
        d.work.grad[p] = g
        squared += g * g
    return squared


SMOOTH, CHEAPER, WARM = range(3)
"""Starts of the search: `qacc_smooth`, the one of the other two with the lower cost, `qacc_warmstart`."""


@kernel
def choose_start(m: Model, d: Data, island: int, start: int) -> float:
    """Start at `qacc_smooth` or at `qacc_warmstart`, as `start` says; return the cost at the start.

    Writes x, Mx, jar, the rows' forces and states, and ``efc_b`` = J qacc_smooth - efc_aref. Also writes
    ``island_gain``, which is 0 if the start is `SMOOTH`.
    """
    load_smooth_point(d, island)
    first, n = dof_range(d, island)
    cost = update_rows(d, island)
    d.work.island_gain[island] = 0.0
    if start != SMOOTH:
        # cost at the warm start
        for p in range(first, first + n):
            d.work.x[p] = d.qacc_warmstart[d.work.dof_at[p]]
        multiply_inertia(m, d, island, d.work.x, d.work.Mx)
        set_residual(d, island, d.work.x)
        warm_cost = update_rows(d, island) + inertia_cost(d, island)
        d.work.island_gain[island] = warm_cost - cost
        if warm_cost < cost or start == WARM:
            return warm_cost
        begin, end = run_range(d, island)
        for run in range(begin, end):
            k = d.work.run_order[run]
            for r in range(d.work.run_start[k], d.work.run_stop[k]):
                d.work.jar[r] = d.efc_b[r]
        cost = update_rows(d, island)
    for p in range(first, first + n):
        d.work.x[p] = d.work.x_smooth[p]
        d.work.Mx[p] = d.work.f_smooth[p]
    return cost


@kernel
def common_start(d: Data, count: int) -> int:
    """Return the cheaper start for all `count` islands together: `SMOOTH` or `WARM`."""
    total = 0.0
    for island in range(count):
        total += d.work.island_gain[island]
    return WARM if total < 0.0 else SMOOTH


@kernel
def started_elsewhere(d: Data, island: int, start: int) -> bool:
    """Return whether an island started at its own cheaper start, which is not `start` (`SMOOTH` or `WARM`)."""
    gain = d.work.island_gain[island]
    return gain != 0.0 and (gain < 0.0) != (start == WARM)


@kernel
def move(d: Data, island: int, step: float) -> None:
    """Save the rows' states in ``row_state``, and move by `step` along the search direction: update x, Mx and jar."""
    first, n = dof_range(d, island)
    for p in range(first, first + n):
        d.work.x[p] += step * d.work.search[p]
        d.work.Mx[p] += step * d.work.Mv[p]
    begin, end = run_range(d, island)
    for run in range(begin, end):
        k = d.work.run_order[run]
        for r in range(d.work.run_start[k], d.work.run_stop[k]):
            d.work.jar[r] += step * d.work.jv[r]
            d.work.row_state[r] = d.efc_state[r]


@kernel
def take_step(m: Model, d: Data, island: int, step: float, scale: float) -> Vec2:
    """Move by `step` along the search direction of an `island`.

    Returns:
        The new cost (not scaled), and the squared norm of the scaled gradient (`scale` times the gradient).
    """
    move(d, island, step)
    cost = update_rows(d, island) + inertia_cost(d, island)
    return cost, update_gradient(m, d, island) * scale * scale


@kernel
def scatter(d: Data, island: int) -> None:
    """Write the island's solution to qacc and qfrc_constraint."""
    first, n = dof_range(d, island)
    for p in range(first, first + n):
        i = d.work.dof_at[p]
        d.qacc[i] = d.work.x[p]
        d.qfrc_constraint[i] = d.work.f_constraint[p]


@kernel
def count_states(d: Data, island: int) -> tuple[int, int, int]:
    """Return three counts of an island's rows.

    They count the rows with force, the rows whose state is new, and the rows that entered or left the quadratic zone.
    """
    active, changed, updates = 0, 0, 0
    begin, end = run_range(d, island)
    for run in range(begin, end):
        k = d.work.run_order[run]
        for r in range(d.work.run_start[k], d.work.run_stop[k]):
            before, now = d.work.row_state[r], d.efc_state[r]
            active += 1 if now != CNSTRSTATE_SATISFIED else 0
            changed += 1 if now != before else 0
            updates += 1 if (now == CNSTRSTATE_QUADRATIC) != (before == CNSTRSTATE_QUADRATIC) else 0
    return active, changed, updates


@kernel
def direction_products(d: Data, island: int) -> Vec4:
    """Return, for the search direction v: slope of the cost at x, v' (M x - qfrc_smooth), v' M v, and norm of v."""
    first, n = dof_range(d, island)
    slope, linear, curvature, squared = 0.0, 0.0, 0.0, 0.0
    for p in range(first, first + n):
        v = d.work.search[p]
        slope += v * d.work.grad[p]
        linear += v * (d.work.Mx[p] - d.work.f_smooth[p])
        curvature += v * d.work.Mv[p]
        squared += v * v
    return slope, linear, curvature, sqrt(squared)


STIFF = 1e12
"""Smallest weight (efc_D) of a stiff row. The largest weight is 1e15; other rows mostly have weights below 1e8."""
ROUNDING = 1.1e-15
"""Relative rounding error of a sum of terms of equal sign."""


@kernel
def is_stiff(d: Data, island: int) -> bool:
    """Return whether an island has a row of weight `STIFF` or more."""
    begin, end = run_range(d, island)
    for run in range(begin, end):
        k = d.work.run_order[run]
        largest = 0.0
        for r in range(d.work.run_start[k], d.work.run_stop[k]):
            largest = max(largest, d.efc_D[r])
        if largest >= STIFF:
            return True
    return False


@kernel
def promised_gain(d: Data, island: int) -> float:
    """Decrease of the cost by a full Newton step if no row changes its state.

    The result is 0 if the decrease is below its rounding error. This error is estimated as `ROUNDING` times the sum of
    the magnitudes of the rows' terms in the slope.
    """
    slope, error = 0.0, 0.0
    first, n = dof_range(d, island)
    for p in range(first, first + n):
        slope += d.work.search[p] * d.work.grad[p]
    begin, end = run_range(d, island)
    for run in range(begin, end):
        k = d.work.run_order[run]
        for r in range(d.work.run_start[k], d.work.run_stop[k]):
            error += abs(d.efc_force[r] * d.work.jv[r])
    return -0.5 * slope if -0.5 * slope > ROUNDING * error else 0.0


@kernel
def set_force_from_inertia(m: Model, d: Data, island: int) -> None:
    """Write ``f_constraint`` = M (x - qacc_smooth), which is the constraint force at the minimum of the cost.

    Overwrites ``search``.
    """
    first, n = dof_range(d, island)
    for p in range(first, first + n):
        d.work.search[p] = d.work.x[p] - d.work.x_smooth[p]
    multiply_inertia(m, d, island, d.work.search, d.work.f_constraint)
