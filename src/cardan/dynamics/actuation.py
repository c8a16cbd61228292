"""Actuators: from controls and activations to forces (spec: computation, actuation model).

Earlier stages handle muscles, callbacks, plugins and controllers (`muscle`, `step.hooks`, `step.plugin_stages`, `pid`,
`dcmotor`, `orientation`). They write activation rates to `act_dot`, gains to `work.actuator_gain` and biases to
`work.actuator_bias`. Forces of plugins and controllers are written to `actuator_force`. The stage of this module
completes the forces.
"""

from __future__ import annotations

from collections.abc import Callable
from math import exp, floor, pi
from typing import Any

from cardan.dynamics.awake import (
    SOLVER_UNSETTLED,
    actuator_sleeps,
    trees_may_sleep,
    visited_dofs,
    visits,
)
from cardan.dynamics.history import control_of
from cardan.dynamics.passive import has_gravcomp
from cardan.dynamics.switches import has_passive
from cardan.enums.codes import (
    BIAS_AFFINE,
    BIAS_MUSCLE,
    BIAS_NONE,
    BIAS_USER,
    DSBL_ACTUATION,
    DSBL_CLAMPCTRL,
    DYN_FILTER,
    DYN_FILTEREXACT,
    DYN_INTEGRATOR,
    DYN_MUSCLE,
    DYN_USER,
    GAIN_AFFINE,
    GAIN_DCMOTOR,
    GAIN_FIXED,
    GAIN_MUSCLE,
    GAIN_PID,
    GAIN_SO3,
    GAIN_USER,
    JNT_BALL,
    TRN_JOINT,
    TRN_JOINTINPARENT,
    TRN_SITE,
    WARN_BADCTRL,
)
from cardan.jit import OK, kernel, stage
from cardan.maths.types import ConstArray2
from cardan.maths.vector import MINVAL, norm3
from cardan.model.kernel_views import Data, Model

MAXVAL = 1e10
LAST_GROUP = 30
MUSCLES_MADE, USERS_MADE, CONTROLLERS_MADE, MOTORS_MADE, SERVOS_MADE = 1, 2, 4, 8, 16
"""Bits of work.actuation_made: kinds of actuators that an earlier stage handled."""
ALL_MADE = MUSCLES_MADE | USERS_MADE | CONTROLLERS_MADE | MOTORS_MADE | SERVOS_MADE
S0, S1 = 5, 6  # indices in dynprm of a DC motor: stiffness and damping of its friction
ACTUATION_STALE = -6  # status: the types of actuators were edited, so the program lacks an earlier stage


@kernel
def clamp(x: float, low: float, high: float) -> float:
    """Limit x to [low, high]."""
    if x < low:
        return low
    if x > high:
        return high
    return x


@kernel
def is_bad(x: float) -> bool:
    """Return whether a number is NaN or too large to continue with (spec: mju_isBad)."""
    return not (-MAXVAL <= x <= MAXVAL)


@kernel
def actuator_disabled(m: Model, actuator: int) -> bool:
    """Return whether the group of an actuator is disabled by `opt.disableactuator`."""
    group = m.actuator_group[actuator]
    return 0 <= group <= LAST_GROUP and (m.opt.disableactuator >> group) & 1 == 1


@kernel
def limited(m: Model, control: int, value: float) -> float:
    """Limit the value of a control to its range, unless the flag clampctrl is disabled."""
    if m.actuator_ctrllimited[control] and not m.opt.disableflags & DSBL_CLAMPCTRL:
        return clamp(value, m.actuator_ctrlrange[control, 0], m.actuator_ctrlrange[control, 1])
    return value


@kernel
def limit_controls(m: Model, d: Data) -> int:
    """Copy the controls, limited to their ranges, to `work.ctrl`. If any control is bad, set `work.ctrl` to 0.

    Return the smallest index of a bad control, or -1 if there is none.
    """
    bad = -1
    for i in range(m.nactuator - 1, -1, -1):
        first = m.actuator_ctrladr[i]
        for k in range(m.actuator_ctrlnum[i] - 1, -1, -1):
            value = limited(m, first + k, control_of(m, d, i, k))
            if is_bad(value):
                bad = first + k
            d.work.ctrl[first + k] = value
    if bad >= 0:
        for i in range(m.nu):
            d.work.ctrl[i] = 0.0
    return bad


@kernel
def input_of(m: Model, d: Data, actuator: int, kind: int) -> float:
    """Return a control of an actuator with several, from `work.ctrl`; 0 if the actuator lacks it.

    `kind` is its bit in `actuator_ctrlspec` (`mjtCtrlInput`); controls are in the order of their bits.
    """
    inputs = m.actuator_ctrlspec[actuator]
    if inputs & kind == 0:
        return 0.0
    place = m.actuator_ctrladr[actuator]
    bit = 1
    while bit < kind:
        if inputs & bit != 0:
            place += 1
        bit *= 2
    return d.work.ctrl[place]


@kernel
def set_activation_rate(m: Model, d: Data, actuator: int, act: int, control: int) -> None:
    """Set the rate of change of an activation if its dynamics are an integrator or a filter of a control.

    For all other dynamics, an earlier stage has set the rate.
    """
    kind = m.actuator_dyntype[actuator]
    if kind == DYN_INTEGRATOR:
        d.act_dot[act] = d.work.ctrl[control]
    elif kind in (DYN_FILTER, DYN_FILTEREXACT):
        d.act_dot[act] = (d.work.ctrl[control] - d.act[act]) / max(MINVAL, m.actuator_dynprm[actuator, 0])


@kernel
def advance_activation(m: Model, actuator: int, value: float, rate: float) -> float:
    """Return the activation one time step after `value` with the rate `rate`, limited to `actrange`."""
    if m.actuator_dyntype[actuator] == DYN_FILTEREXACT:
        tau = max(MINVAL, m.actuator_dynprm[actuator, 0])
        value += rate * tau * (1.0 - exp(-m.opt.timestep / tau))
    else:
        value += rate * m.opt.timestep
    if m.actuator_actlimited[actuator]:
        value = clamp(value, m.actuator_actrange[actuator, 0], m.actuator_actrange[actuator, 1])
    return value


@kernel
def actuator_input(m: Model, d: Data, actuator: int, control: float) -> float:
    """Input of an actuator's gain: `control`, or its last activation (with actearly, the value after this step)."""
    number = m.actuator_actnum[actuator]
    if number == 0:
        return control
    act = m.actuator_actadr[actuator] + number - 1
    if m.actuator_actearly[actuator]:
        return advance_activation(m, actuator, d.act[act], d.act_dot[act])
    return d.act[act]


@kernel
def _affine(m: Model, d: Data, actuator: int, prm: ConstArray2) -> float:
    """Evaluate an affine function of an actuator's length and velocity: prm . (1, length, velocity)."""
    out = m.actuator_outadr[actuator]
    length, velocity = d.actuator_length[out], d.actuator_velocity[out]
    return prm[actuator, 0] + prm[actuator, 1] * length + prm[actuator, 2] * velocity


@kernel
def turn_of(m: Model, actuator: int) -> float:
    """Return the length of a whole turn if an actuator's length is a rotation in three dimensions, otherwise 0."""
    return 2.0 * pi * _turn_gear(m, actuator)


@kernel
def nearest_turn(setpoint: float, length: float, turn: float) -> float:
    """Shift a setpoint by whole turns to within half a turn of a length; return it unchanged if `turn` is 0."""
    if turn == 0.0:
        return setpoint
    return setpoint - turn * floor((setpoint - length) / turn + 0.5)


@kernel
def _turn_gear(m: Model, actuator: int) -> float:
    """Return the norm of an actuator's gear if its length is a rotation in three dimensions, otherwise 0."""
    kind, gear, out = m.actuator_trntype[actuator], m.actuator_gear, m.actuator_outadr[actuator]
    if kind in (TRN_JOINT, TRN_JOINTINPARENT):
        if m.jnt_type[m.actuator_trnid[actuator, 0]] == JNT_BALL:
            return norm3((gear[out, 0], gear[out, 1], gear[out, 2]))
        return 0.0
    if kind != TRN_SITE or m.actuator_trnid[actuator, 1] < 0:
        return 0.0
    if norm3((gear[out, 0], gear[out, 1], gear[out, 2])) > 0.0:
        return 0.0
    return norm3((gear[out, 3], gear[out, 4], gear[out, 5]))


@kernel
def _nearest_turn(m: Model, d: Data, actuator: int, setpoint: float) -> float:
    """Shift the setpoint of a rotary position servo by whole turns to within half a turn of the current length.

    Return the shifted setpoint. For all other actuators, return `setpoint` unchanged.
    """
    if m.actuator_gaintype[actuator] != GAIN_FIXED or m.actuator_biastype[actuator] != BIAS_AFFINE:
        return setpoint
    turn = turn_of(m, actuator)
    if turn == 0.0 or m.actuator_biasprm[actuator, 1] != -m.actuator_gainprm[actuator, 0]:
        return setpoint
    return nearest_turn(setpoint, d.actuator_length[m.actuator_outadr[actuator]], turn)


@kernel
def _force(m: Model, d: Data, actuator: int, turns: bool) -> float:
    """Force of an actuator without limits: gain times input plus bias, or the force that an earlier stage has set.

    If `turns` is set, setpoints of rotating position servos are first moved by whole turns (`_nearest_turn`).
    """
    kind = m.actuator_gaintype[actuator]
    if m.actuator_plugin[actuator] >= 0 or kind in (GAIN_PID, GAIN_DCMOTOR):
        force = d.actuator_force[m.actuator_outadr[actuator]]
    else:
        if m.actuator_gaintype[actuator] == GAIN_FIXED:
            gain = m.actuator_gainprm[actuator, 0]
        elif m.actuator_gaintype[actuator] == GAIN_AFFINE:
            gain = _affine(m, d, actuator, m.actuator_gainprm)
        else:
            gain = d.work.actuator_gain[actuator]
        value = actuator_input(m, d, actuator, d.work.ctrl[m.actuator_ctrladr[actuator]])
        force = gain * (_nearest_turn(m, d, actuator, value) if turns else value)
        if m.actuator_biastype[actuator] == BIAS_AFFINE:
            force += _affine(m, d, actuator, m.actuator_biasprm)
        elif m.actuator_biastype[actuator] != BIAS_NONE:
            force += d.work.actuator_bias[actuator]
    return force


@kernel
def tendon_actuator_force(m: Model, d: Data, tendon: int) -> float:
    """Sum of the forces of all actuators on a tendon, N."""
    total, row = 0.0, m.njnt + tendon
    for k in range(m.aux.driver_rowadr[row], m.aux.driver_rowadr[row + 1]):
        total += d.actuator_force[m.actuator_outadr[m.aux.driver[k]]]
    return total


@kernel
def _limit_tendon_forces(m: Model, d: Data) -> None:
    """Scale the forces of actuators on each limited tendon, so that their sum is in `tendon_actfrcrange`."""
    for tendon in range(m.ntendon):
        if m.tendon_actfrclimited[tendon]:
            total = tendon_actuator_force(m, d, tendon)
            bound = clamp(total, m.tendon_actfrcrange[tendon, 0], m.tendon_actfrcrange[tendon, 1])
            if bound != total:
                row = m.njnt + tendon
                for k in range(m.aux.driver_rowadr[row], m.aux.driver_rowadr[row + 1]):
                    d.actuator_force[m.actuator_outadr[m.aux.driver[k]]] *= bound / total


@kernel
def _limit_force(m: Model, d: Data, i: int) -> None:
    """Limit the force of actuator `i` to `forcerange`, and add the forces of a DC motor that have no limit."""
    kind = m.actuator_gaintype[i]
    if kind == GAIN_SO3 or actuator_disabled(m, i):
        return
    out = m.actuator_outadr[i]
    if m.actuator_forcelimited[i]:
        force, low, high = d.actuator_force[out], m.actuator_forcerange[i, 0], m.actuator_forcerange[i, 1]
        if kind == GAIN_DCMOTOR and not low < force < high:
            d.work.actuator_gain_slope[i] = 0.0
            d.work.actuator_length_slope[i] = 0.0
        d.actuator_force[out] = clamp(force, low, high)
    if kind == GAIN_DCMOTOR:
        d.actuator_force[out] += d.work.actuator_load[i]


@kernel
def _kinds_to_make(m: Model) -> int:
    """Bit mask (MUSCLES_MADE, ...) of actuator kinds whose gains, biases, forces or rates an earlier stage computes."""
    kinds = 0
    for i in range(m.nactuator):
        dyn, gain, bias = m.actuator_dyntype[i], m.actuator_gaintype[i], m.actuator_biastype[i]
        if dyn == DYN_MUSCLE or gain == GAIN_MUSCLE or bias == BIAS_MUSCLE:
            kinds |= MUSCLES_MADE
        if gain == GAIN_PID:
            kinds |= CONTROLLERS_MADE
        if gain == GAIN_DCMOTOR:
            kinds |= MOTORS_MADE
        if gain == GAIN_SO3:
            kinds |= SERVOS_MADE
        if dyn == DYN_USER or gain == GAIN_USER or bias == BIAS_USER:
            kinds |= USERS_MADE
    return kinds


@kernel
def _actuate(m: Model, d: Data, turns: bool) -> int:
    """Compute actuator forces and activation rates, with `turns` as in `_force`. Return a status."""
    for visit in range(visits(m, d, SOLVER_UNSETTLED)):
        begin, end = visited_dofs(m, d, SOLVER_UNSETTLED, visit)
        for dof in range(begin, end):
            d.qfrc_actuator[dof] = 0.0
    if m.nactuator == 0 or m.opt.disableflags & DSBL_ACTUATION:
        for i in range(m.nout):
            d.actuator_force[i] = 0.0
        return OK
    if _kinds_to_make(m) & ~d.work.actuation_made:
        return ACTUATION_STALE
    d.work.actuation_made = 0
    bad = limit_controls(m, d)
    if bad >= 0:
        d.warning.number[WARN_BADCTRL] += 1
        d.warning.lastinfo[WARN_BADCTRL] = bad
    some_sleep = trees_may_sleep(m)
    for i in range(m.nactuator):
        if some_sleep and actuator_sleeps(m, d, i):
            for out in range(m.actuator_outadr[i], m.actuator_outadr[i] + m.actuator_outnum[i]):
                d.actuator_force[out] = 0.0
            continue
        first = m.actuator_actadr[i]
        for act in range(first, first + (m.actuator_actnum[i] if m.actuator_plugin[i] < 0 else 0)):
            control = act - first if m.actuator_outnum[i] > 1 else 0
            set_activation_rate(m, d, i, act, m.actuator_ctrladr[i] + control)
        enabled = not actuator_disabled(m, i)
        for out in range(m.actuator_outadr[i], m.actuator_outadr[i] + m.actuator_outnum[i]):
            force = 0.0
            if enabled:
                force = d.actuator_force[out] if m.actuator_gaintype[i] == GAIN_SO3 else _force(m, d, i, turns)
            d.actuator_force[out] = force
    _limit_tendon_forces(m, d)
    for i in range(m.nactuator):
        if some_sleep and actuator_sleeps(m, d, i):
            continue
        _limit_force(m, d, i)
        for out in range(m.actuator_outadr[i], m.actuator_outadr[i] + m.actuator_outnum[i]):
            force = d.actuator_force[out]
            for k in range(m.aux.moment_rowadr[out], m.aux.moment_rowadr[out + 1]):
                dof = m.aux.moment_colind[k]
                d.qfrc_actuator[dof] += d.actuator_moment[out, dof] * force
    if has_gravcomp(m) and has_passive(m):
        for dof in range(m.nv):
            if m.jnt_actgravcomp[m.dof_jntid[dof]] and not (some_sleep and d.tree_asleep[m.dof_treeid[dof]] >= 0):
                d.qfrc_actuator[dof] += d.qfrc_gravcomp[dof]
    for joint in range(m.njnt):
        if m.jnt_actfrclimited[joint]:
            dof = m.jnt_dofadr[joint]
            low, high = m.jnt_actfrcrange[joint, 0], m.jnt_actfrcrange[joint, 1]
            d.qfrc_actuator[dof] = clamp(d.qfrc_actuator[dof], low, high)
    return OK


@stage
def fwd_actuation(m: Model, d: Data) -> int:
    """Compute actuator forces and activation rates.

    Reads ctrl, act, actuator_length, actuator_velocity, actuator_moment, qfrc_gravcomp; writes actuator_force (nout,),
    act_dot (na,), qfrc_actuator (nv,). If a control is bad, count the warning BADCTRL and use zero for all controls. If
    edited actuator types need a stage that the program does not have, return the status ACTUATION_STALE.
    """
    return _actuate(m, d, False)


@stage
def fwd_actuation_with_turns(m: Model, d: Data) -> int:
    """Do as `fwd_actuation`, by the rules of MuJoCo 4.0: rotating position servos take the shortest way."""
    return _actuate(m, d, True)


FWD_ACTUATION = fwd_actuation, fwd_actuation_with_turns
"""Stages that compute actuator forces; `actuation_stage` chooses one of them."""


def actuation_stage(m: Any) -> Callable[[Any, Any], int]:
    """Return the stage that computes actuator forces by the rules of the model's version (3.1 or 4.0)."""
    return FWD_ACTUATION[m.is_4_0]
