"""Stages of a pipeline with constraints, as programs of tangents run them.

In place of the broad phase and of the solver's iterations stand what has exact derivatives: contacts at their result
(`derive.contact`), and the solution by the implicit function theorem (`derive.solver`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from cardan.collision.detection import collision
from cardan.constraint.inverse import inv_constraint
from cardan.constraint.make import clear_constraint, constraint_stages, record_use
from cardan.constraint.project import projection_stages
from cardan.constraint.reference import reference_constraint
from cardan.derive.contact import contact_stages, freeze_points
from cardan.derive.program import Plain
from cardan.derive.solver import factor_solution, solution_imbalance, solve_lanes, take_solution
from cardan.enums import mjtIntegrator
from cardan.solver.choice import solver_stages

if TYPE_CHECKING:
    from cardan.derive.shadows import Shadows
    from cardan.model.mjdata import MjData
    from cardan.model.mjmodel import MjModel

Stage = Callable[..., Any]

CLEAR = Plain(clear_constraint, partners=("d.efc_J",))
SOLVE = Plain(solve_lanes, ("d.work.imbalance",), ("d.work.solution",))
SOLUTION: tuple[Stage | Plain, ...] = (solution_imbalance, SOLVE, take_solution, inv_constraint)
"""The tangents of qacc, and then those of the constraint forces."""


def constraint_tangents(m: MjModel, stage: Stage, codes: tuple[int, ...]) -> Sequence[Stage | Plain] | None:
    """What stands for a stage of collision detection, of the constraints or of the solver; None if it is none of them.

    The integrator RK4 makes several forward passes, so that contacts and the solution have to be found again in each.

    Args:
        m: model.
        stage: the stage.
        codes: numbers of the pairs of types that touch (`derive.contact.contact_codes`).
    """
    several = m.opt.integrator == mjtIntegrator.mjINT_RK4
    if stage is collision:
        return [*([Plain(collision)] if several else []), Plain(freeze_points), *contact_stages(m, codes)]
    if stage is clear_constraint:
        return [CLEAR]
    if stage is record_use:
        return []
    if stage is reference_constraint or stage in constraint_stages(m):
        return [stage]
    if several and stage in projection_stages(m):
        return [Plain(stage)]
    solvers = solver_stages(m)
    if stage in solvers:
        return [*([Plain(stage), Plain(factor_solution)] if several else []), *SOLUTION]
    return None


def share_solution(d: MjData, shadows: Shadows) -> None:
    """Let the solver work on the block of tangents that `solution_imbalance` writes and `take_solution` reads."""
    if "work.imbalance" in shadows.arrays and "work.solution" in shadows.arrays:
        shadows.share("work.solution", "work.imbalance")
        d._memory.attach("work.solution_lanes", shadows.arrays["work.imbalance"][0])
