"""The no-slip solver in programs of tangents (spec: modelling, solver settings).

After the main solver, whose forces come from the implicit function theorem (`derive.solver`), it makes a few sweeps,
and mostly stops long before they would converge. So its own code is what has tangents: what the sweeps did is
differentiated, sweep by sweep, and is exact however many there are. It reads the inverse inertia in constraint space,
A + R, whose stage has tangents then, and the bias J qacc_smooth - aref, which `dual_bias` computes. The sweeps begin
with the forces that the main solver had (`recall_forces`): where PGS has not converged, these are other than those of
its acceleration, and a pass of RK4 that went on with the latter could go anywhere.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from cardan.constraint.jacobian import mul_jac_vec
from cardan.derive.solver import factor_solution
from cardan.jit import OK, stage
from cardan.model.kernel_views import Data, Model
from cardan.solver.gauss_seidel import solve_noslip


@stage
def dual_bias(m: Model, d: Data) -> int:
    """``efc_b`` = J qacc_smooth - efc_aref, which the main solver computes on its way."""
    mul_jac_vec(m, d, d.qacc_smooth, d.efc_b)
    for i in range(d.nefc):
        d.efc_b[i] -= d.efc_aref[i]
    return OK


@stage
def keep_forces(m: Model, d: Data) -> int:
    """Keep ``efc_force`` of the main solver in ``work.solved_force``, before `factor_solution` changes it."""
    for i in range(d.nefc):
        d.work.solved_force[i] = d.efc_force[i]
    return OK


@stage
def recall_forces(m: Model, d: Data) -> int:
    """``efc_force`` := that of `keep_forces`; its tangents stay."""
    for i in range(d.nefc):
        d.efc_force[i] = d.work.solved_force[i]
    return OK


def with_factor(stages: Sequence[Callable[..., Any] | int]) -> Iterator[Callable[..., Any] | int]:
    """Stages that compute values, with the factor of the main solver's solution before the no-slip solver changes it.

    Without a no-slip solver it comes at the end.
    """
    for stage_ in stages:
        if stage_ is solve_noslip:
            yield keep_forces
            yield factor_solution
        yield stage_
    if solve_noslip not in stages:
        yield factor_solution
