"""Stages of a pipeline with constraints, as programs of tangents run them.

In place of the broad phase and of the solver's iterations stand what has exact derivatives: contacts at their result
(`derive.contact`), and the solution by the implicit function theorem (`derive.solver`, `derive.integration`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from cardan.collision.detection import collision
from cardan.constraint.contact import make_contact, make_soft_contact
from cardan.constraint.make import clear_constraint, constraint_stages, record_use
from cardan.constraint.project import projection_stages
from cardan.constraint.update import inv_constraint, reference_constraint
from cardan.derive.contact import contact_stages, freeze_points
from cardan.derive.distant import collision_with_distance, soften_distant
from cardan.derive.integration import (
    clear_step_imbalance,
    euler_imbalance,
    factor_step,
    implicitfast_imbalance,
    take_step,
)
from cardan.derive.noslip import dual_bias, keep_forces, recall_forces
from cardan.derive.program import Plain
from cardan.derive.soft_distant import soft_collision_with_distance
from cardan.derive.solver import clear_imbalance, factor_solution, solution_imbalance, solve_imbalance
from cardan.derive.stages import compare_contacts
from cardan.enums import mjtIntegrator
from cardan.soft.contacts import soft_collision
from cardan.solver.choice import solver_stages
from cardan.solver.gauss_seidel import solve_noslip
from cardan.step.euler import euler, implicitfast
from cardan.step.run import StepProgram

if TYPE_CHECKING:
    from cardan.model.mjmodel import MjModel

Stage = Callable[..., Any]

DETECTIONS: dict[Any, Stage] = {collision: collision_with_distance, soft_collision: soft_collision_with_distance}
"""The stages of collision detection, and those with contacts at a distance."""
CLEAR = Plain(clear_constraint, partners=("d.efc_J",))
SOLUTION: tuple[Stage | Plain, ...] = (solution_imbalance, Plain(clear_imbalance), solve_imbalance, inv_constraint)
"""The tangents of qacc, and then those of the constraint forces."""


def constraint_tangents(
    m: MjModel, stage: Stage, codes: tuple[int, ...], values: bool = False
) -> Sequence[Stage | Plain] | None:
    """What stands for a stage of collision detection, of the constraints or of the solver; None if it is none of them.

    Args:
        m: model.
        stage: the stage.
        codes: numbers of the pairs of types that touch (`derive.contact.contact_codes`).
        values: whether contacts and the solution are not there yet, and have to be found. So they have with the
            integrator RK4, which makes several forward passes.
    """
    several = values or m.opt.integrator == mjtIntegrator.mjINT_RK4
    if stage in DETECTIONS or stage in DETECTIONS.values():
        found = [*([Plain(stage)] if several else []), *([Plain(compare_contacts)] if values else [])]
        return [*found, Plain(freeze_points), *contact_stages(m, codes)]
    if stage is clear_constraint:
        return [CLEAR]
    if stage is record_use:
        return []
    if stage is soften_distant or stage is reference_constraint or stage in constraint_stages(m):
        return [stage]
    if stage in projection_stages(m):
        return [stage] if m.opt.noslip_iterations > 0 else [Plain(stage)] if several else []
    if stage is solve_noslip:
        return [Plain(recall_forces), dual_bias, stage]
    if stage in solver_stages(m):
        kept = [Plain(keep_forces)] if m.opt.noslip_iterations > 0 else []
        return [*([Plain(stage), *kept, Plain(factor_solution)] if several else []), *SOLUTION]
    return None


def integrator_tangents(stage: Stage, values: bool = False) -> Sequence[Stage | Plain] | None:
    """What stands for an integrator that solves for its acceleration; None for other stages.

    Args:
        stage: the stage.
        values: whether the factor that it solves with is not there yet.
    """
    imbalance = {euler: euler_imbalance, implicitfast: implicitfast_imbalance}.get(stage)
    if imbalance is None:
        return None
    return (*([Plain(factor_step)] if values else []), imbalance, Plain(clear_step_imbalance), take_step)


def with_distance(stages: Sequence[Any]) -> list[Callable[..., Any] | int]:
    """The stages of a pipeline with contacts at a distance among the others."""
    found: list[Any] = []
    for item in stages:
        found.append(DETECTIONS.get(item, item))
        if item in (make_contact, make_soft_contact):
            found.append(soften_distant)
    return found


def program_with_distance(program: StepProgram) -> StepProgram:
    """A program with contacts at a distance."""
    stages = with_distance(program.stages)
    return StepProgram(stages, program.needs_objects, program.forward, program.code, program.reset)
