"""Derivatives of the integrator discrete, by the implicit function theorem (see `derive.implicit`).

The solution a = qacc is where the gradient of the cost in the effective metric M^ vanishes::

    r(a, q) = M^ a - (qfrc_smooth - h K v) - J' f(J a - aref) = 0        H = M^ + J' H[s] J

M^ contains tendons and actuators of several branches (`cardan.dynamics.metric`), and the gyroscopic derivatives of
free bodies without constraints (`cardan.solver.free_bodies`). Blocks of such bodies are unsymmetric; they are solved
with the factors that the integrator used. Then da = - H^-1 dr, with dr at constant a.
"""

from __future__ import annotations

from cardan.constraint.update import forces_at
from cardan.derive.implicit import factor_solution, solve_with_factor
from cardan.dynamics.derivatives import solve_lu
from cardan.dynamics.metric import exchange_inertia
from cardan.jit import OK, stage
from cardan.model.kernel_views import Data, Model
from cardan.solver.effective import append_loose, drop_loose
from cardan.solver.free_bodies import turns_freely
from cardan.step.inverse import multiply_metric


@stage
def factor_discrete_solution(m: Model, d: Data) -> int:
    """Factorise H at qacc into ``work.solution_*``, as `implicit.factor_solution` does in the inertia metric.

    Runs after `cardan.solver.effective.leave_metric`, also if there are no constraints.
    """
    exchange_inertia(m, d)
    status = append_loose(m, d)
    if status == OK:
        status = factor_solution(m, d)
    drop_loose(m, d)
    exchange_inertia(m, d)
    return status


@stage
def discrete_imbalance(m: Model, d: Data) -> int:
    """Set ``work.imbalance`` to r at a = ``work.solved``, with the constraint forces at a.

    Reads the metric, qfrc_smooth and the rows; also writes efc_force, efc_state and qfrc_constraint.
    """
    forces_at(m, d, d.work.solved)
    multiply_metric(m, d, d.work.imbalance, d.work.solved)
    for i in range(m.nv):
        d.work.imbalance[i] -= d.qfrc_smooth[i] - d.work.metric_shift[i] + d.qfrc_constraint[i]
    return OK


@stage
def solve_discrete_imbalance(m: Model, d: Data) -> int:
    """Set qacc to ``work.solved`` - H^-1 ``work.imbalance``, with the factors of H and of blocks of free bodies."""
    x = d.work.metric_x
    for i in range(m.nv):
        x[i] = d.work.imbalance[i]
    solve_with_factor(m, d, d.work.imbalance)
    for joint in range(m.njnt):
        first = m.jnt_dofadr[joint]
        if turns_freely(m, d, first):
            solve_lu(m, d.qLU, x, first, first + 6)
            for i in range(first, first + 6):
                d.work.imbalance[i] = x[i]
    for i in range(m.nv):
        d.qacc[i] = d.work.solved[i] - d.work.imbalance[i]
    return OK
