"""Schedules: plain values that describe the computation of derivatives.

A schedule lists the stages of a simulation step, of the forward dynamics or of the inverse dynamics. It determines:

- the plan of the values: these stages, and the factorisations for the implicit function theorem;
- the stages of tangents (`tangent_stages`). For contacts, exact derivatives at the result (`derive.contact`) replace
  the broad phase. For the solver, the implicit function theorem (`derive.implicit`) replaces the iterations.

Nothing is compiled or run here. `derive.program` makes programs of the stages of tangents.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from cardan.collision.detection import collision
from cardan.constraint.centripetal import reference_with_centripetal
from cardan.constraint.contact import make_contact, make_soft_contact
from cardan.constraint.effective import effective_rows, save_reference
from cardan.constraint.make import clear_constraint, constraint_stages, is_discrete, record_use
from cardan.constraint.project import projection_stages
from cardan.constraint.stick import deform_rows, recall_contacts, remember_contacts
from cardan.constraint.surfaces import SURFACES
from cardan.constraint.update import inv_constraint, reference_constraint
from cardan.derive import discrete, implicit
from cardan.derive.contact import contact_stages, freeze_points
from cardan.derive.directions import actuation_is_made, compare_contacts, compare_rows
from cardan.derive.distant import collision_with_distance, soft_collision_with_distance, soften_distant
from cardan.derive.plugins import Functions, left_behind, plugin_tangents, recall
from cardan.derive.program import Plain, Stage
from cardan.dynamics.actuation import FWD_ACTUATION
from cardan.dynamics.bias import fwd_acceleration, sum_smooth_forces
from cardan.dynamics.metric import discrete_acceleration, recover_inertia
from cardan.enums import mjtIntegrator
from cardan.model.sleepers import may_sleep
from cardan.sensor.table import needs_energy_pos, needs_energy_vel
from cardan.soft.contacts import soft_collision
from cardan.solver.choice import solver_stages
from cardan.solver.effective import enter_metric, leave_metric
from cardan.solver.free_bodies import turn_free_bodies
from cardan.solver.gauss_seidel import solve_noslip
from cardan.solver.warm_start import save_warm_start
from cardan.step import pipeline
from cardan.step.finite_difference import restore_start, save_start
from cardan.step.integrators import euler, implicitfast, implicitfast_with_blocks
from cardan.step.plan import Plan, plan_of
from cardan.step.plugin_stages import plugin_advance

if TYPE_CHECKING:
    from cardan.model.mjmodel import MjModel

DETECTIONS: dict[Any, Stage] = {collision: collision_with_distance, soft_collision: soft_collision_with_distance}
"""Stages of collision detection, and the stages that replace them if contacts at a distance are included."""
_BLOCKS = implicit.factor_step_with_blocks, implicit.implicitfast_with_blocks_imbalance, implicit.take_step_with_blocks
SOLVED: dict[Any, tuple[Stage, Stage, Stage]] = {
    euler: (implicit.factor_step, implicit.euler_imbalance, implicit.take_step),
    implicitfast: (implicit.factor_step, implicit.implicitfast_imbalance, implicit.take_step),
    implicitfast_with_blocks: _BLOCKS,
}
"""Integrators that solve for an acceleration, with the stages that factorise, compute the residual, and step."""
SOLUTION = implicit.solution_imbalance, Plain(implicit.clear_imbalance), implicit.solve_imbalance, inv_constraint
"""Stages whose tangents are those of qacc, then those of the constraint forces."""
DISCRETE_SOLUTION = (
    discrete.discrete_imbalance,
    Plain(implicit.clear_imbalance),
    discrete.solve_discrete_imbalance,
    inv_constraint,
)
"""The same stages for the integrator discrete."""
EFFECTIVE = recover_inertia, enter_metric, leave_metric
"""Stages that put the effective metric in place of the inertia matrix; stages of tangents read it where it is."""
FROZEN = (
    *("cardan.collision.", "cardan.constraint.", "cardan.solver.islands", "cardan.step.checks"),
    *("cardan.step.report", "cardan.step.timers", "cardan.dynamics.energy"),
)
"""Prefixes of modules whose stages are not differentiated: their results count as constant."""
REFERENCES = (
    *(soften_distant, reference_constraint, reference_with_centripetal, *SURFACES, recall_contacts, deform_rows),
    *(save_reference, effective_rows),
)
"""Stages in `FROZEN` modules that are differentiated as they are."""
ENERGY = "cardan.dynamics.energy."
"""Prefix of the `FROZEN` module whose results sensors may measure."""
COUNTERS = ("cardan.step.report.", "cardan.step.timers.")
"""Prefixes of the `FROZEN` modules whose results no other stage uses."""

ACTUATED = (*pipeline.INVERSE_POS, *pipeline.FORWARD_VEL, *pipeline.ACTUATOR_FORCES, *pipeline.INVERSE_ACC)
KINDS: dict[str, tuple[tuple[Any, ...], tuple[Any, ...]]] = {
    "step": (pipeline.FORWARD, pipeline.INTEGRATE),
    "step without sensors": (pipeline.FORWARD_BARE, pipeline.INTEGRATE),
    "forward": (pipeline.FORWARD, ()),
    "inverse": ((*pipeline.INVERSE_POS, *pipeline.FORWARD_VEL, *pipeline.INVERSE_ACC), ()),
    "inverse without sensors": (
        (*pipeline.INVERSE_POS_BARE, *pipeline.FORWARD_VEL_BARE, *pipeline.INVERSE_ACC_BARE),
        (),
    ),
    "inverse with actuation": (ACTUATED, ()),  # actuator forces precede sensors that measure them
}
"""Computations that can be differentiated: stages that compute the values, then stages that change the state."""


@dataclass(frozen=True)
class Schedule:
    """Stages that are differentiated, with the plan of their values."""

    values: Plan  # plan of the values and of the factorisations for the implicit function theorem
    stages: tuple[Any, ...]  # stages of the dynamics
    after: tuple[Any, ...]  # stages that come after them and change the state
    solves: bool  # whether the stages solve for an acceleration
    several: bool  # whether a step makes several forward passes (the integrator RK4)
    functions: Functions  # functions of plugins, by index in the model's table
    left: dict[int, frozenset[str]]  # memory that plugins write, by instance (`derive.plugins`)
    remembers: bool  # whether memory of plugins must be restored before each evaluation
    extended: bool  # whether values that plugins keep from step to step belong to the state


def schedule_of(m: MjModel, kind: str, distant: bool, extended: bool) -> Schedule:
    """Make the schedule of one of `KINDS` for a model.

    If `distant` is set, contacts at a distance are included (`derive.distant`). If `extended` is set, the values that
    plugins keep from step to step belong to the state (`derive.plugins`).
    """
    if is_discrete(m) and m.opt.noslip_iterations > 0:
        raise NotImplementedError(
            "exact derivatives of the no-slip solver with the integrator discrete do not exist yet"
        )
    dynamics, changes = KINDS[kind]
    if may_sleep(m):
        raise NotImplementedError(
            "derivatives of models whose trees may sleep are not supported: disable the flag sleep"
        )
    plan = plan_of(m, (*dynamics, save_start, *changes))
    functions = dict(dict(plan.tables)["aux.plugin_call"])
    left = left_behind(functions)
    remembers = any(left.values()) or (extended and m.npluginstate + m.nstick > 0)
    first = plan.stages.index(save_start)
    stages: list[Any] = []
    for stage in plan.stages[:first]:
        stages.append(DETECTIONS.get(stage, stage) if distant else stage)
        if distant and stage in (make_contact, make_soft_contact):
            stages.append(soften_distant)
    after, report = plan.stages[first + 1 : -1], plan.stages[-1]
    solves, several = not kind.startswith("inverse"), bool(after) and m.opt.integrator == mjtIntegrator.mjINT_RK4
    values: list[Any] = [recall] if remembers else []
    for stage in stages:
        if stage is solve_noslip:  # the factor belongs to the main solver's solution, before sweeps change it
            values += [implicit.keep_forces, implicit.factor_solution]
        values.append(stage)
    if solves and solve_noslip not in stages:
        values.append(discrete.factor_discrete_solution if is_discrete(m) else implicit.factor_solution)
    kept = (plugin_advance, save_warm_start, remember_contacts)  # stages that change more than the state
    factors = [SOLVED[stage][0] for stage in after if stage in SOLVED]
    if factors:
        values += [stage for stage in after if stage not in SOLVED and stage not in kept]
        values += factors
    if several:  # run all passes for the values first, so that arrays grow before tangents are allocated
        values = [*values, save_start, *(stage for stage in after if stage not in kept), restore_start, *values]
    if after:
        values.append(save_start)
    plan = plan._replace(stages=(*values, report))
    return Schedule(plan, tuple(stages), after, solves, several, functions, left, remembers, extended)


def tangent_stages(m: MjModel, schedule: Schedule, codes: tuple[int, ...], values: bool = False) -> list[Stage | Plain]:
    """Return the stages that tangent programs run.

    If `values` is set, the values are computed in the same pass, and contacts and constraint rows are compared with
    those of the previous pass (`derive.directions.compare_contacts`, `compare_rows`).

    Args:
        m: model.
        schedule: the stages that are differentiated.
        codes: pair kinds that touch (`derive.contact.contact_codes`).
        values: whether the values are computed too.

    Raises:
        NotImplementedError: one of the stages is a callback in Python.
    """
    found: list[Stage | Plain] = [Plain(recall)] if schedule.remembers else []
    for stage in schedule.stages:
        if stage in FWD_ACTUATION:
            found.append(Plain(actuation_is_made))
        elif stage in (fwd_acceleration, discrete_acceleration) and values:
            found.append(Plain(compare_rows))
        found += tangents_of(m, schedule, stage, codes, values)
    if values:
        found.append(Plain(save_start))
    for stage in schedule.after:
        found += tangents_of(m, schedule, stage, codes, values)
    return found


def tangents_of(
    m: MjModel, schedule: Schedule, stage: Stage | int, codes: tuple[int, ...], values: bool
) -> Sequence[Stage | Plain]:
    """Return the stages that replace `stage` in tangent programs (other arguments as in `tangent_stages`)."""
    if isinstance(stage, int):
        raise NotImplementedError(
            "derivatives through callbacks in Python are not supported: only compiled ones have derivatives "
            "(functions marked with cardan.kernel, or Numba functions)"
        )
    several = values or schedule.several  # the same pass also computes contacts and solution
    noslip = m.opt.noslip_iterations > 0
    if stage in DETECTIONS or stage in DETECTIONS.values():
        before = [*([Plain(stage)] if several else []), *([Plain(compare_contacts)] if values else [])]
        return [*before, Plain(freeze_points), *contact_stages(m, codes)]
    if stage is clear_constraint:
        return [Plain(clear_constraint, partners=frozenset(("d.efc_J",)))]
    if stage is record_use:
        return []
    if stage is remember_contacts:
        return [stage] if schedule.extended else []
    if stage in REFERENCES or stage in constraint_stages(m):
        return [stage]
    if stage in projection_stages(m):
        return [stage] if noslip else [Plain(stage)] if several else []
    if stage is solve_noslip:
        return [Plain(implicit.recall_forces), implicit.dual_bias, stage]
    if stage is discrete_acceleration:
        return [*([Plain(stage)] if values else []), sum_smooth_forces]
    if stage is turn_free_bodies:
        factor = [Plain(stage), Plain(discrete.factor_discrete_solution)] if values else []
        return [*factor, *DISCRETE_SOLUTION]
    if stage in EFFECTIVE or (is_discrete(m) and stage in solver_stages(m)):
        return [Plain(stage)] if values else []
    if stage is save_warm_start:
        return [Plain(stage)] if several else []
    if stage in solver_stages(m):
        kept = [Plain(implicit.keep_forces)] if noslip else []
        return [*([Plain(stage), *kept, Plain(implicit.factor_solution)] if several else []), *SOLUTION]
    if stage in SOLVED:
        factor, imbalance, take = SOLVED[stage]
        return [*([Plain(factor)] if values else []), imbalance, Plain(implicit.clear_imbalance), take]
    of_plugins = plugin_tangents(m, schedule.functions, stage, schedule.extended)
    if of_plugins is not None:
        return of_plugins
    module = f"{stage.__module__}."
    measured = module == ENERGY and (needs_energy_pos(m) or needs_energy_vel(m))
    if measured or not module.startswith(FROZEN):
        return [stage]
    return [Plain(stage)] if values and not module.startswith(COUNTERS) else []
