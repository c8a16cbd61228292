"""The pipeline: tables with the numbered lists of stages of the specification (computation, forward dynamics).

The lists contain all stages of the specification, in its order. `when(predicate, ...)` marks stages that only some
models need, according to their sizes and options. `cardan.step.plan` selects the stages that a model needs from a list,
and `cardan.step.programs` makes them ready to run.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from typing import Any, NamedTuple

from cardan.collision.detection import collision, collision_awake
from cardan.constraint.centripetal import reference_with_centripetal
from cardan.constraint.effective import effective_rows, save_reference
from cardan.constraint.make import constraint_stages, is_discrete
from cardan.constraint.project import projection_stages
from cardan.constraint.stick import deform_rows, recall_contacts, remember_contacts, remembers_contacts
from cardan.constraint.surfaces import (
    add_adhesion,
    adhesion_forces,
    drive_rows,
    has_adhesion,
    has_surface_velocities,
    surface_velocities,
)
from cardan.constraint.update import inv_constraint, reference_constraint
from cardan.dynamics.actuation import actuation_stage
from cardan.dynamics.awake import wake_by_state
from cardan.dynamics.bias import (
    fwd_acceleration,
    fwd_acceleration_awake,
    rne,
    rne_awake,
    rne_post_constraint,
    rne_post_constraint_awake,
    rne_with_tendons,
    rne_with_tendons_awake,
)
from cardan.dynamics.com import com_pos, com_pos_awake, com_vel, com_vel_awake
from cardan.dynamics.dcmotor import dc_motors, has_dc_motors
from cardan.dynamics.derivatives import (
    coriolis_derivatives,
    implicitfast_derivatives,
    implicitfast_derivatives_with_limits,
)
from cardan.dynamics.energy import energy_pos, energy_vel, subtree_vel
from cardan.dynamics.fluid import (
    drag_derivatives,
    exact_fluid,
    exact_fluid_derivatives,
    fluid,
    fluid_derivatives,
    has_medium,
)
from cardan.dynamics.free_bodies import free_body_derivatives, has_standalone_bodies
from cardan.dynamics.history import has_history, push_histories, push_histories_of_start, read_controls
from cardan.dynamics.inertia import crb, crb_awake, crb_with_tendons, crb_with_tendons_awake, factor_m, factor_m_awake
from cardan.dynamics.kinematics import (
    camlight,
    kinematics,
    kinematics_at_use,
    kinematics_at_use_awake,
    kinematics_awake,
)
from cardan.dynamics.metric import discrete_acceleration, effective_metric, recover_inertia
from cardan.dynamics.muscle import has_muscles, muscles
from cardan.dynamics.orientation import (
    has_orientation_servos,
    has_so3_transmissions,
    orientation_servos,
    so3_transmission,
)
from cardan.dynamics.passive import passive, passive_awake
from cardan.dynamics.pid import has_pid_controllers, pid_controllers
from cardan.dynamics.reactions import rne_post_with_tendons, rne_post_with_tendons_awake
from cardan.dynamics.switches import leaves_passive
from cardan.dynamics.tendon import has_spatial_tendons, has_tendons, spatial_tendon_stage, tendon, tendon_velocity
from cardan.dynamics.transmission import (
    actuator_velocity,
    has_spatial_transmissions,
    spatial_transmission,
    transmission,
)
from cardan.dynamics.waking import wake_by_constraints
from cardan.enums import mjtDisableBit, mjtEnableBit, mjtIntegrator, mjtSensor, mjtStage, mjtTimer
from cardan.errors import FatalError
from cardan.model import internals
from cardan.model.mjmodel import MjModel
from cardan.model.reset import reset_data
from cardan.model.sleepers import may_sleep, starts_asleep
from cardan.sensor.resting import find_resting_sensors
from cardan.sensor.table import (
    SENSORS,
    needs_energy_pos,
    needs_energy_vel,
    needs_rne_post,
    needs_subtree_vel,
    sensor_stages,
)
from cardan.soft.contacts import soft_collision
from cardan.soft.edges import edge_derivatives, edge_energy, edge_forces, edge_velocity, edges, has_edges
from cardan.soft.elastic import elastic_forces, has_elastic_flexes
from cardan.soft.elastic_metric import elastic_metric
from cardan.soft.flex import flex, has_flexes
from cardan.solver.choice import is_dual, solver_stages, wants_islands
from cardan.solver.islands import find_islands
from cardan.solver.warm_start import save_warm_start
from cardan.step import checks, diagnosis
from cardan.step import plugin_stages as plugins
from cardan.step.adapters import has_user_actuators, has_user_sensors, user_cutoff, user_defaults
from cardan.step.hooks import callbacks_of
from cardan.step.integrators import (
    discrete,
    euler,
    euler_awake,
    implicit,
    implicit_awake,
    implicitfast,
    implicitfast_awake,
    implicitfast_with_blocks,
    implicitfast_with_blocks_awake,
)
from cardan.step.inverse import (
    compare_fwd_inv,
    continuous_acc_euler,
    continuous_acc_implicit,
    discrete_inverse_force,
    inverse_force,
    keep_forward,
    restore_acc,
)
from cardan.step.report import report_warnings
from cardan.step.runge_kutta import runge_kutta
from cardan.step.sleep import fall_asleep, sleep_from_start

Predicate = Callable[["MjModel"], bool]


class When(NamedTuple):
    """Items of a list that a model needs only if a condition on its sizes and options holds."""

    needed: Predicate
    items: tuple[Any, ...]


class Place(NamedTuple):
    """Place in a list where a callback may be installed."""

    name: str
    variant: tuple[Any, ...] = ()


class Chosen(NamedTuple):
    """Stages of one kind (sensors, ...): `stages_of` selects them for a model; `name` is the name of the kind."""

    stages_of: Callable[[MjModel], list[Any]]
    name: str = ""


class Timed(NamedTuple):
    """Part of a list whose duration a timer (`mjtTimer`) measures."""

    timer: int
    items: tuple[Any, ...]
    counts: bool = True  # whether the part counts as a separate run (a second piece of the same part does not)


def when(needed: Predicate, *items: Any) -> When:
    """Mark items that a model needs only if `needed(m)` holds."""
    return When(needed, items)


def unless(needless: Predicate, *items: Any) -> When:
    """Mark items that a model needs only if `needless(m)` does not hold."""
    return When(lambda m: not needless(m), items)


def awake(usual: Any, awake: Any) -> tuple[When, When]:
    """Return the items for a stage, and for the stage that takes its place in models whose trees may sleep."""
    return unless(may_sleep, usual), when(may_sleep, awake)


def timed(name: str, *items: Any) -> Timed:
    """Mark items that the timer ``mjTIMER_<name>`` measures."""
    return Timed(int(getattr(mjtTimer, "mjTIMER_" + name)), items)


def also_timed(name: str, *items: Any) -> Timed:
    """Mark another piece of a timed part. Its duration is added, but it does not count as another run."""
    return Timed(int(getattr(mjtTimer, "mjTIMER_" + name)), items, counts=False)


RESETTING = (
    checks.check_pos,
    checks.check_vel,
    checks.check_acc,
    checks.check_pos_awake,
    checks.check_vel_awake,
    checks.check_acc_awake,
)
"""Stages that may request a reset of the data."""
SENSOR_TYPES = (*(kind.type for kind in SENSORS), int(mjtSensor.mjSENS_USER), int(mjtSensor.mjSENS_PLUGIN))


def _enabled(bit: mjtEnableBit) -> Predicate:
    return lambda m: bool(internals.number(m, "opt.enableflags") & bit)


def _not_disabled(bit: mjtDisableBit | int) -> Predicate:
    return lambda m: not internals.number(m, "opt.disableflags") & bit


def _integrator(*kinds: mjtIntegrator) -> Predicate:
    return lambda m: m.opt.integrator in kinds


def check_sensors(m: MjModel) -> None:
    """Raise ValueError if the model has sensors of unknown types; the message names the types."""
    unknown = sorted(set(internals.array(m, "sensor_type").tolist()).difference(SENSOR_TYPES))
    if unknown:
        names = ", ".join(mjtSensor(kind).name.removeprefix("mjSENS_").lower() for kind in unknown)
        raise ValueError(f"this model has sensors of the types {names}, which Cardan does not have yet")


def _sensors(after: mjtStage) -> When:
    """Return the items that compute all sensors of the stage `after`: built-in, then user, then plugin sensors."""

    def stages_of(m: MjModel) -> list[Any]:
        check_sensors(m)
        return sensor_stages(m, after)

    own = when(lambda m: has_user_sensors(m, after), Place("sensor", (int(after),)), user_cutoff(int(after)))
    others = when(lambda m: plugins.has_sensor_plugins(m, after), plugins.plugin_sensors(int(after)))
    return when(has_sensors, Chosen(stages_of), own, others)


def _actuated(m: MjModel) -> bool:
    return m.nactuator > 0 and _actuation_on(m)


def has_sensors(m: MjModel) -> bool:
    """Return whether the model has sensors that are not disabled."""
    return m.nsensor > 0 and _sensors_on(m)


def _passive_on(m: MjModel) -> bool:
    return leaves_passive(internals.number(m, "opt.disableflags"))


_contacts_on = _not_disabled(mjtDisableBit.mjDSBL_CONTACT | mjtDisableBit.mjDSBL_CONSTRAINT)
_sensors_on = _not_disabled(mjtDisableBit.mjDSBL_SENSOR)
_actuation_on = _not_disabled(mjtDisableBit.mjDSBL_ACTUATION)
_resets = _not_disabled(mjtDisableBit.mjDSBL_AUTORESET)
_energy_on = _enabled(mjtEnableBit.mjENBL_ENERGY)
_fwdinv_on = _enabled(mjtEnableBit.mjENBL_FWDINV)
_invdiscrete_on = _enabled(mjtEnableBit.mjENBL_INVDISCRETE)
_rk4 = _integrator(mjtIntegrator.mjINT_RK4)
_implicit_kinds = _integrator(mjtIntegrator.mjINT_IMPLICITFAST, mjtIntegrator.mjINT_IMPLICIT)
_implicit = _integrator(mjtIntegrator.mjINT_IMPLICIT)
_implicitfast = _integrator(mjtIntegrator.mjINT_IMPLICITFAST)
_explicit_kinds = _integrator(mjtIntegrator.mjINT_EULER, mjtIntegrator.mjINT_RK4)


def _keeps_energy(m: MjModel) -> bool:
    """Return whether a flag or a sensor asks for the energy."""
    return _energy_on(m) or (has_sensors(m) and (needs_energy_pos(m) or needs_energy_vel(m)))


def is_4_0(m: MjModel) -> bool:
    """Return whether the model has the behaviour of MuJoCo 4.0 (docs/compat.md)."""
    return m.is_4_0 == 1


def _has_loops(m: MjModel) -> bool:
    """Return whether reference accelerations of constraints may contain velocity-dependent (centripetal) terms."""
    return is_4_0(m) and m.neq > 0


def _passive_awake(m: MjModel) -> bool:
    """Return whether passive forces of trees that sleep are left out: nothing else adds to them."""
    others = has_medium(m) or has_adhesion(m) or plugins.has_passive_plugins(m) or "passive" in callbacks_of(m).at
    return may_sleep(m) and not others


def _with_blocks(m: MjModel) -> bool:
    """Return whether the integrator solves standalone free bodies separately, with gyroscopic derivatives."""
    return is_4_0(m) and _implicitfast(m) and has_standalone_bodies(m)


def _needs_islands(m: MjModel) -> bool:
    """Return whether islands are found: the user asks for them, or trees may sleep."""
    return wants_islands(m) or may_sleep(m)


def _known_integrator(m: MjModel) -> list[Any]:
    """Raise FatalError if `opt.integrator` is invalid or not supported. Return an empty list of stages."""
    kinds = mjtIntegrator.__members__.values()
    if m.opt.integrator not in kinds:
        known = ", ".join(f"{kind.value} ({kind.name})" for kind in kinds)
        raise FatalError(f"mj_step: invalid integrator: opt.integrator is {m.opt.integrator}, not one of {known}")
    if m.opt.integrator in (mjtIntegrator.mjINT_RK4, mjtIntegrator.mjINT_DISCRETE) and may_sleep(m):
        raise FatalError(
            "mj_step: trees can't sleep with the integrators RK4 and discrete: disable the flag sleep, or use another"
        )
    return []


def _flexes_stay_awake(m: MjModel) -> list[Any]:
    """Raise FatalError if trees may sleep in a model with flexes, whose contacts wake nothing. Return an empty list."""
    if may_sleep(m):
        raise FatalError("sleeping trees are not supported in models with flexes: disable the flag sleep")
    return []


def _without_springs_of_edges(m: MjModel) -> list[Any]:
    """Raise FatalError if edges of flexes have stiffness or damping, which the integrator discrete does not support."""
    for name in ("flex_edgestiffness", "flex_edgedamping"):
        if internals.array(m, name).any():
            raise FatalError(
                "discrete integrator: flex edge stiffness and damping are not supported; use <edge equality> instead, "
                f"or another integrator ({name} is not 0)"
            )
    return []


def _without_velocity_matrix(m: MjModel) -> list[Any]:
    """Raise FatalError if the integrator leaves out the stiffness of elastic flexes. Return an empty list."""
    if m.opt.integrator in (mjtIntegrator.mjINT_IMPLICIT, mjtIntegrator.mjINT_IMPLICITFAST):
        raise FatalError(
            "the integrators implicit and implicitfast are not supported in models with elastic flexes "
            '(<elasticity young="...">): use discrete, or Euler with a small time step'
        )
    if is_discrete(m) and is_dual(m):
        raise FatalError(
            "discrete integrator: the solver PGS and noslip_iterations are not supported in models with elastic flexes "
            "(they need a factor of the metric): use Newton or CG, without noslip"
        )
    return []


CONTROL, PASSIVE = Place("control"), Place("passive")
ACT_DYN, ACT_GAIN, ACT_BIAS = Place("act_dyn"), Place("act_gain"), Place("act_bias")

# forward dynamics ------------------------------------------------------------

MAKE_CONSTRAINT = (Chosen(constraint_stages, "make_constraint"), when(remembers_contacts, deform_rows))
PROJECT = when(is_dual, Chosen(projection_stages))
EARLY_PROJECT = unless(is_discrete, PROJECT)  # the effective metric is known after actuation; the solver projects
TENDON = (
    when(lambda m: has_tendons(m) and not has_spatial_tendons(m), tendon),
    when(has_spatial_tendons, Chosen(lambda m: [spatial_tendon_stage(m)], "spatial_tendon")),
)
INERTIA = (
    unless(has_tendons, *awake(crb, crb_awake)),
    when(has_tendons, *awake(crb_with_tendons, crb_with_tendons_awake)),
)
FLEX = (when(has_flexes, flex), when(has_edges, edges))
TRANSMISSION = (
    when(lambda m: m.nactuator > 0, transmission),
    when(has_spatial_transmissions, spatial_transmission),
    when(has_so3_transmissions, so3_transmission),
)
DETECTION = (
    unless(has_flexes, *awake(collision, collision_awake)),
    when(has_flexes, Chosen(_flexes_stay_awake), soft_collision),
    when(has_surface_velocities, surface_velocities),
    when(remembers_contacts, recall_contacts),
)
COLLISION = (
    when(_contacts_on, timed("POS_COLLISION", timed("COL_BROAD"), timed("COL_NARROW", *DETECTION))),
    unless(_contacts_on, *DETECTION),
)
WAKE = when(may_sleep, wake_by_state)
PLACE = (
    unless(is_4_0, *awake(kinematics, kinematics_awake)),
    when(is_4_0, *awake(kinematics_at_use, kinematics_at_use_awake)),
)
KINEMATICS = (WAKE, *PLACE)
COM_POS = awake(com_pos, com_pos_awake)


def _position_parts(*kinematics: Any) -> tuple[Any, ...]:
    """Return the items for all that depends on positions, after the items `kinematics`."""
    return (
        timed(
            "POS_KINEMATICS",
            *kinematics,
            *COM_POS,
            when(lambda m: m.ncam + m.nlight > 0, camlight),  # after com_pos: cameras may follow a centre of mass
            *FLEX,
            *TENDON,
            when(may_sleep, wake_by_constraints),
        ),
        timed("POS_INERTIA", *INERTIA, *awake(factor_m, factor_m_awake)),
        *COLLISION,
        timed("POS_MAKE", *MAKE_CONSTRAINT, when(_needs_islands, find_islands)),
        also_timed("POS_KINEMATICS", *TRANSMISSION),
    )


def _fwd_position(*kinematics: Any) -> tuple[Any, ...]:
    """Return the items of `mj_fwdPosition`, with the items `kinematics`."""
    return (timed("POSITION", *_position_parts(*kinematics), timed("POS_PROJECT", EARLY_PROJECT)),)


FWD_POSITION = _fwd_position(*KINEMATICS)
INV_POSITION = (timed("POSITION", *_position_parts(*KINEMATICS), EARLY_PROJECT),)
PASSIVE_FORCES = (
    unless(_passive_awake, passive),
    when(_passive_awake, passive_awake),
    when(has_edges, edge_forces),
    when(has_elastic_flexes, Chosen(_without_velocity_matrix), elastic_forces),
    when(has_medium, when(_passive_on, unless(is_4_0, fluid), when(is_4_0, exact_fluid))),
    when(has_adhesion, when(_passive_on, adhesion_forces)),
    when(_passive_on, PASSIVE, when(plugins.has_passive_plugins, plugins.plugin_passive)),
)
REFERENCE = (
    when(_has_loops, reference_with_centripetal),
    unless(_has_loops, reference_constraint),
    when(has_surface_velocities, drive_rows),
    when(is_discrete, save_reference),
    when(has_adhesion, unless(is_discrete, add_adhesion)),
)
METRIC = (
    Chosen(_without_springs_of_edges),
    recover_inertia,
    when(has_medium, drag_derivatives),
    effective_metric,
    when(has_elastic_flexes, elastic_metric),
    effective_rows,
    when(has_adhesion, add_adhesion),
)
SMOOTH = (
    unless(is_discrete, *awake(fwd_acceleration, fwd_acceleration_awake)),
    when(is_discrete, *METRIC, discrete_acceleration),
)
COM_VEL = awake(com_vel, com_vel_awake)
FWD_VELOCITY = (
    timed(
        "VELOCITY",
        when(has_edges, edge_velocity),
        when(has_tendons, tendon_velocity),
        when(lambda m: m.nactuator > 0, actuator_velocity),
        *COM_VEL,
        *PASSIVE_FORCES,
        *REFERENCE,
        unless(has_spatial_tendons, *awake(rne, rne_awake)),
        when(has_spatial_tendons, *awake(rne_with_tendons, rne_with_tendons_awake)),
    ),
)
SENSOR_POS = (
    when(may_sleep, when(has_sensors, find_resting_sensors)),
    when(lambda m: has_sensors(m) and needs_energy_pos(m), energy_pos, when(has_edges, edge_energy)),
    _sensors(mjtStage.mjSTAGE_POS),
)
SENSOR_VEL = (
    when(lambda m: has_sensors(m) and needs_subtree_vel(m), subtree_vel),
    when(lambda m: has_sensors(m) and needs_energy_vel(m), energy_vel),
    _sensors(mjtStage.mjSTAGE_VEL),
)
RNE_POST = (
    unless(is_4_0, *awake(rne_post_constraint, rne_post_constraint_awake)),
    when(is_4_0, *awake(rne_post_with_tendons, rne_post_with_tendons_awake)),
)
SENSOR_ACC = (when(lambda m: has_sensors(m) and needs_rne_post(m), *RNE_POST), _sensors(mjtStage.mjSTAGE_ACC))
ENERGY_POS = (when(_energy_on, energy_pos, when(has_edges, edge_energy)),)
ENERGY_VEL = (when(_energy_on, energy_vel),)
STEP1_ENERGY_POS = (*ENERGY_POS, unless(_keeps_energy, checks.clear_energy))
FWD_ACTUATION = (Chosen(lambda m: [actuation_stage(m)], "fwd_actuation"),)
ACTUATOR_FORCES = (
    when(
        _actuated,
        timed(
            "ACTUATION",
            when(has_history, read_controls),
            when(has_muscles, muscles),
            when(has_pid_controllers, pid_controllers),
            when(has_dc_motors, dc_motors),
            when(has_orientation_servos, orientation_servos),
            when(has_user_actuators, user_defaults, ACT_DYN, ACT_GAIN, ACT_BIAS),
            when(plugins.has_actuator_plugins, plugins.plugin_actuators),
            *FWD_ACTUATION,
        ),
    ),
    unless(_actuated, *FWD_ACTUATION),
)
ACTUATION = (when(_actuation_on, CONTROL), *ACTUATOR_FORCES)
SOLVE = timed("CONSTRAINT", Chosen(solver_stages, "solve"))

FORWARD_POS = (*FWD_POSITION, *SENSOR_POS, *ENERGY_POS)
FORWARD_VEL = (*FWD_VELOCITY, *SENSOR_VEL, *ENERGY_VEL)
FORWARD_ACC = (*ACTUATION, *SMOOTH, SOLVE, *SENSOR_ACC)
FORWARD = (timed("FORWARD", *FORWARD_POS, *FORWARD_VEL, *FORWARD_ACC),)
# a step wakes trees before it checks the state: the checks leave out trees that sleep
STEP_POSITION = _fwd_position(*PLACE)
STEP_FORWARD = (timed("FORWARD", *STEP_POSITION, *SENSOR_POS, *ENERGY_POS, *FORWARD_VEL, *FORWARD_ACC),)

FORWARD_POS_BARE = (*FWD_POSITION, *ENERGY_POS)
FORWARD_VEL_BARE = (*FWD_VELOCITY, *ENERGY_VEL)
FORWARD_ACC_BARE = (*ACTUATION, *SMOOTH, SOLVE)
FORWARD_BARE = (timed("FORWARD", *FORWARD_POS_BARE, *FORWARD_VEL_BARE, *FORWARD_ACC_BARE),)  # without sensors

START_ASLEEP = (*FORWARD, sleep_from_start)
AFTER_RESET = (when(plugins.has_resetting_plugins, plugins.plugin_reset), when(starts_asleep, *START_ASLEEP))

# inverse dynamics ------------------------------------------------------------

VELOCITY_DERIVATIVES = (
    unless(is_4_0, implicitfast_derivatives),
    when(is_4_0, implicitfast_derivatives_with_limits),
    when(has_edges, edge_derivatives),
    when(has_medium, when(_passive_on, unless(is_4_0, fluid_derivatives), when(is_4_0, exact_fluid_derivatives))),
    when(_with_blocks, free_body_derivatives),
    when(_implicit, coriolis_derivatives),
)
CONTINUOUS_ACC = (
    when(_explicit_kinds, continuous_acc_euler),
    when(_implicit_kinds, *VELOCITY_DERIVATIVES, continuous_acc_implicit),
)
INV_CONSTRAINT = timed("CONSTRAINT", inv_constraint)
INVERSE_FORCES = (
    when(is_discrete, *METRIC, INV_CONSTRAINT, discrete_inverse_force),
    unless(is_discrete, when(_invdiscrete_on, *CONTINUOUS_ACC), INV_CONSTRAINT, inverse_force),
)
RESTORE_ACC = (when(_invdiscrete_on, unless(is_discrete, restore_acc)),)

INVERSE_ACC = (*INVERSE_FORCES, *SENSOR_ACC, *RESTORE_ACC)
INVERSE_ACC_BARE = (*INVERSE_FORCES, *RESTORE_ACC)

INVERSE_POS = (*INV_POSITION, *SENSOR_POS, *ENERGY_POS)
INVERSE_POS_BARE = (*INV_POSITION, *ENERGY_POS)

COMPARE = (keep_forward, timed("INVERSE", *INVERSE_ACC_BARE), compare_fwd_inv)

# time stepping ---------------------------------------------------------------

PLUGIN_ADVANCE = when(plugins.has_advancing_plugins, plugins.plugin_advance)
WARM_START = when(is_4_0, save_warm_start)
HISTORY = when(has_history, push_histories)
CONTACT_MEMORY = when(remembers_contacts, remember_contacts)
SLEEP = when(may_sleep, fall_asleep)
IMPLICIT = (
    timed(
        "ADVANCE",
        SLEEP,
        WARM_START,
        HISTORY,
        *VELOCITY_DERIVATIVES,
        when(_implicitfast, when(_with_blocks, *awake(implicitfast_with_blocks, implicitfast_with_blocks_awake))),
        when(_implicitfast, unless(_with_blocks, *awake(implicitfast, implicitfast_awake))),
        when(_implicit, *awake(implicit, implicit_awake)),
        CONTACT_MEMORY,
        PLUGIN_ADVANCE,
    ),
)
EULER = timed("ADVANCE", SLEEP, WARM_START, HISTORY, *awake(euler, euler_awake), CONTACT_MEMORY, PLUGIN_ADVANCE)


def _runge_kutta(on_group: bool) -> tuple[Any, ...]:
    """Return the items of a Runge-Kutta step after its first forward dynamics."""
    begin, second, third, end = runge_kutta(on_group)
    before = WARM_START, when(has_history, push_histories_of_start)
    after = CONTACT_MEMORY, PLUGIN_ADVANCE
    return (begin, *FORWARD_BARE, second, *FORWARD_BARE, third, *FORWARD_BARE, *before, end, *after)


RUNGE_KUTTA = (when(is_4_0, *_runge_kutta(True)), unless(is_4_0, *_runge_kutta(False)))
DISCRETE = timed("ADVANCE", WARM_START, HISTORY, discrete, CONTACT_MEMORY, PLUGIN_ADVANCE)
SINGLE_STEP = (when(_explicit_kinds, EULER), when(_implicit_kinds, *IMPLICIT), when(is_discrete, DISCRETE))
INTEGRATE = (
    Chosen(_known_integrator),
    when(_rk4, *RUNGE_KUTTA),
    when(_integrator(mjtIntegrator.mjINT_EULER), EULER),
    when(_implicit_kinds, *IMPLICIT),
    when(is_discrete, DISCRETE),
)
CHECK_FWDINV = when(_fwdinv_on, *COMPARE)

CHECK_POS = (when(_resets, *awake(checks.check_pos, checks.check_pos_awake)), unless(_resets, checks.note_pos))
CHECK_VEL = (when(_resets, *awake(checks.check_vel, checks.check_vel_awake)), unless(_resets, checks.note_vel))
CHECK_ACC = (when(_resets, *awake(checks.check_acc, checks.check_acc_awake)), unless(_resets, checks.note_acc))
CHECKS = (WAKE, *CHECK_POS, *CHECK_VEL)

STEP1 = (timed("STEP", *CHECKS, *STEP_POSITION, *SENSOR_POS, *STEP1_ENERGY_POS, *FORWARD_VEL, CONTROL),)
STEP2 = (
    also_timed(
        "STEP",
        *ACTUATOR_FORCES,
        *SMOOTH,
        SOLVE,
        *SENSOR_ACC,
        *CHECK_ACC,
        report_warnings,
        CHECK_FWDINV,
        *SINGLE_STEP,
    ),
)
STEP = (timed("STEP", *CHECKS, *STEP_FORWARD, *CHECK_ACC, report_warnings, CHECK_FWDINV, *INTEGRATE),)


def _names(items: tuple[Any, ...]) -> Iterator[str]:
    """Yield the names of all stages of a list, needed or not, in order; a group of `Chosen` stages has one name."""
    for item in items:
        if isinstance(item, When | Timed):
            yield from _names(item.items)
        elif isinstance(item, Chosen):
            yield item.name
        elif not isinstance(item, Place):
            yield item.__name__


diagnosis.STAGES.extend([*dict.fromkeys(name for name in _names(FORWARD) if name), "integration"])

# programs by name: those of the public functions -----------------------------

PROGRAMS: dict[str, tuple[Any, ...]] = {
    "mj_step": STEP,
    "mj_step1": STEP1,
    "mj_step2": STEP2,
    "mj_forward": FORWARD,
    "mj_inverse": (timed("INVERSE", *INVERSE_POS, *FORWARD_VEL, *INVERSE_ACC),),
    "mj_fwdPosition": FWD_POSITION,
    "mj_fwdVelocity": FWD_VELOCITY,
    "mj_fwdActuation": ACTUATOR_FORCES,
    "mj_fwdAcceleration": SMOOTH,
    "mj_fwdConstraint": (SOLVE,),
    "mj_invPosition": INV_POSITION,
    "mj_invVelocity": FWD_VELOCITY,
    "mj_invConstraint": (INV_CONSTRAINT,),
    "mj_kinematics": KINEMATICS,
    "mj_comPos": COM_POS,
    "mj_camlight": (camlight,),
    "mj_flex": FLEX,
    "mj_tendon": TENDON,
    "mj_transmission": TRANSMISSION,
    "mj_crb": (timed("POS_INERTIA", *awake(crb, crb_awake)),),
    "mj_makeM": (timed("POS_INERTIA", *INERTIA),),
    "mj_fwdKinematics": (*KINEMATICS, *COM_POS, camlight, *FLEX, *TENDON),
    "mj_factorM": awake(factor_m, factor_m_awake),
    "mj_comVel": COM_VEL,
    "mj_passive": PASSIVE_FORCES,
    "mj_rnePostConstraint": RNE_POST,
    "mj_subtreeVel": (subtree_vel,),
    "mj_collision": COLLISION,
    "mj_makeConstraint": MAKE_CONSTRAINT,
    "mj_referenceConstraint": REFERENCE,
    "mj_projectConstraint": (PROJECT,),
    "mj_island": (find_islands,),
    "mj_Euler": (EULER,),
    "mj_implicit": IMPLICIT,
    "mj_RungeKutta": RUNGE_KUTTA,
    "mj_checkPos": CHECK_POS,
    "mj_checkVel": CHECK_VEL,
    "mj_checkAcc": CHECK_ACC,
    "mj_sensorPos": SENSOR_POS,
    "mj_sensorVel": SENSOR_VEL,
    "mj_sensorAcc": SENSOR_ACC,
    "mj_energyPos": STEP1_ENERGY_POS,
    "mj_energyVel": ENERGY_VEL,
    "mj_compareFwdInv": COMPARE,
    "mj_resetData": (reset_data, *AFTER_RESET),
    "start_asleep": START_ASLEEP,
}

_FORWARD_PARTS = {
    mjtStage.mjSTAGE_POS: (FORWARD_POS, FORWARD_POS_BARE),
    mjtStage.mjSTAGE_VEL: (FORWARD_VEL, FORWARD_VEL_BARE),
    mjtStage.mjSTAGE_ACC: (FORWARD_ACC, FORWARD_ACC_BARE),
}
_INVERSE_PARTS = {
    **_FORWARD_PARTS,
    mjtStage.mjSTAGE_POS: (INVERSE_POS, INVERSE_POS_BARE),
    mjtStage.mjSTAGE_ACC: (INVERSE_ACC, INVERSE_ACC_BARE),
}
_ACTUATED_INVERSE_PARTS = {
    **_INVERSE_PARTS,
    mjtStage.mjSTAGE_ACC: ((*FWD_ACTUATION, *INVERSE_ACC), (*FWD_ACTUATION, *INVERSE_ACC_BARE)),
}
SKIPPING = {
    "mj_forwardSkip": ("FORWARD", _FORWARD_PARTS),
    "mj_inverseSkip": ("INVERSE", _INVERSE_PARTS),
    "mj_inverseSkip with actuator forces": ("INVERSE", _ACTUATED_INVERSE_PARTS),
}


@cache
def skip_items(name: str, skipstage: int, skipsensor: bool) -> tuple[Any, ...]:
    """Return the items of a function in `SKIPPING` that come after `skipstage`; if `skipsensor`, without sensors.

    The last part, which depends on accelerations and forces, is never left out.
    """
    timer, stages = SKIPPING[name]
    items: tuple[Any, ...] = ()
    for stage, parts in stages.items():
        if skipstage < int(stage) or stage == mjtStage.mjSTAGE_ACC:
            items += parts[bool(skipsensor)]
    return (timed(timer, *items),)
