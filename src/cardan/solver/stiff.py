"""Islands with rows whose bodies hardly any force can move.

The weight of a contact follows from how easily a force moves its bodies. No force through the centre of mass moves a
body that turns about this point, so its contacts get the largest weight there is, and forces of 1e16 N. Their cost of
1e18 is constant up to rounding. So differences of costs tell nothing about the other rows of the island. The product
J' efc_force is a difference of such forces, too: its rounding error is as large as the forces that move the bodies.

The Newton direction and the acceleration are accurate all the same. They give the gain of a step, the part of it that
is rounding, and the constraint force at the minimum: M qacc - qfrc_smooth.
"""

from __future__ import annotations

from cardan.jit import kernel
from cardan.model.kernel_views import Data, Model
from cardan.solver.primal import dof_range, multiply_inertia, run_range

STIFF = 1e12
"""Least weight (efc_D) of a stiff row. The largest weight is 1e15; those of other rows are mostly below 1e8."""
ROUNDING = 1.1e-15
"""Relative rounding error of a sum of terms of one sign."""


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
    """Return by how much the Newton step lowers the cost if no row changes its state; 0 if that is only rounding.

    The rounding error is that of the forces of the rows, `ROUNDING` of each.
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
    """Write ``f_constraint`` = M (x - qacc_smooth), the force of the constraints where the cost is least."""
    first, n = dof_range(d, island)
    for p in range(first, first + n):
        d.work.search[p] = d.work.x[p] - d.work.x_smooth[p]
    multiply_inertia(m, d, island, d.work.search, d.work.f_constraint)
