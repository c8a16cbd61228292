"""Actuators: from controls and activations to forces (spec: computation, actuation model).

If a model has muscles, actuator callbacks or actuator plugins, earlier stages (`muscle`, `step.hooks`,
`step.plugin_stages`) write activation rates to `act_dot`, gains to `work.actuator_gain`, biases to
`work.actuator_bias`, and forces of plugins to `actuator_force`. The stage of this module completes the forces.
"""

from __future__ import annotations

from collections.abc import Callable
from math import exp, floor, pi
from typing import Any

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
    GAIN_FIXED,
    GAIN_MUSCLE,
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
MUSCLES_MADE, USERS_MADE = 1, 2  # bits of work.actuation_made
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
def limited(m: Model, actuator: int, control: float) -> float:
    """Limit a control to the range of its actuator, unless the flag clampctrl is disabled."""
    if m.actuator_ctrllimited[actuator] and not m.opt.disableflags & DSBL_CLAMPCTRL:
        return clamp(control, m.actuator_ctrlrange[actuator, 0], m.actuator_ctrlrange[actuator, 1])
    return control


@kernel
def limited_control(m: Model, d: Data, actuator: int) -> float:
    """Control of an actuator, limited to its range unless the flag clampctrl is disabled."""
    return limited(m, actuator, control_of(m, d, actuator))


@kernel
def limit_controls(m: Model, d: Data) -> int:
    """Copy the controls, limited to their ranges, to `work.ctrl`. If any control is bad, set `work.ctrl` to 0.

    Return the smallest id of an actuator with a bad control, or -1 if there is none.
    """
    bad = -1
    for i in range(m.nu - 1, -1, -1):
        value = limited_control(m, d, i)
        if is_bad(value):
            bad = i
        d.work.ctrl[i] = value
    if bad >= 0:
        for i in range(m.nu):
            d.work.ctrl[i] = 0.0
    return bad


@kernel
def set_activation_rate(m: Model, d: Data, actuator: int, act: int) -> None:
    """Set the rate of change of an activation if its dynamics are an integrator or a filter.

    For all other dynamics, an earlier stage has set the rate.
    """
    kind = m.actuator_dyntype[actuator]
    if kind == DYN_INTEGRATOR:
        d.act_dot[act] = d.work.ctrl[actuator]
    elif kind in (DYN_FILTER, DYN_FILTEREXACT):
        d.act_dot[act] = (d.work.ctrl[actuator] - d.act[act]) / max(MINVAL, m.actuator_dynprm[actuator, 0])


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
def _affine(d: Data, actuator: int, prm: ConstArray2) -> float:
    """Evaluate an affine function of an actuator's length and velocity: prm . (1, length, velocity)."""
    length, velocity = d.actuator_length[actuator], d.actuator_velocity[actuator]
    return prm[actuator, 0] + prm[actuator, 1] * length + prm[actuator, 2] * velocity


@kernel
def _turn_gear(m: Model, actuator: int) -> float:
    """Return the norm of an actuator's gear if its length is a rotation in three dimensions, otherwise 0."""
    kind, gear = m.actuator_trntype[actuator], m.actuator_gear
    if kind in (TRN_JOINT, TRN_JOINTINPARENT):
        if m.jnt_type[m.actuator_trnid[actuator, 0]] == JNT_BALL:
            return norm3((gear[actuator, 0], gear[actuator, 1], gear[actuator, 2]))
        return 0.0
    if kind != TRN_SITE or m.actuator_trnid[actuator, 1] < 0:
        return 0.0
    if norm3((gear[actuator, 0], gear[actuator, 1], gear[actuator, 2])) > 0.0:
        return 0.0
    return norm3((gear[actuator, 3], gear[actuator, 4], gear[actuator, 5]))


@kernel
def _nearest_turn(m: Model, d: Data, actuator: int, setpoint: float) -> float:
    """Shift the setpoint of a rotary position servo by whole turns to within half a turn of the current length.

    Return the shifted setpoint. For all other actuators, return `setpoint` unchanged.
    """
    if m.actuator_gaintype[actuator] != GAIN_FIXED or m.actuator_biastype[actuator] != BIAS_AFFINE:
        return setpoint
    turn = 2.0 * pi * _turn_gear(m, actuator)
    if turn == 0.0 or m.actuator_biasprm[actuator, 1] != -m.actuator_gainprm[actuator, 0]:
        return setpoint
    return setpoint - turn * floor((setpoint - d.actuator_length[actuator]) / turn + 0.5)


@kernel
def _force(m: Model, d: Data, actuator: int, turns: bool) -> float:
    """Force of an actuator without limits: gain times input plus bias, or the force that a plugin has set.

    If `turns` is set, setpoints of rotating position servos are first moved by whole turns (`_nearest_turn`).
    """
    if m.actuator_plugin[actuator] >= 0:
        force = d.actuator_force[actuator]
    else:
        if m.actuator_gaintype[actuator] == GAIN_FIXED:
            gain = m.actuator_gainprm[actuator, 0]
        elif m.actuator_gaintype[actuator] == GAIN_AFFINE:
            gain = _affine(d, actuator, m.actuator_gainprm)
        else:
            gain = d.work.actuator_gain[actuator]
        value = actuator_input(m, d, actuator, d.work.ctrl[actuator])
        force = gain * (_nearest_turn(m, d, actuator, value) if turns else value)
        if m.actuator_biastype[actuator] == BIAS_AFFINE:
            force += _affine(d, actuator, m.actuator_biasprm)
        elif m.actuator_biastype[actuator] != BIAS_NONE:
            force += d.work.actuator_bias[actuator]
    return force


@kernel
def tendon_actuator_force(m: Model, d: Data, tendon: int) -> float:
    """Sum of the forces of all actuators on a tendon, N."""
    total, row = 0.0, m.njnt + tendon
    for k in range(m.aux.driver_rowadr[row], m.aux.driver_rowadr[row + 1]):
        total += d.actuator_force[m.aux.driver[k]]
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
                    d.actuator_force[m.aux.driver[k]] *= bound / total


@kernel
def _kinds_to_make(m: Model) -> int:
    """Bit mask (MUSCLES_MADE, USERS_MADE) of actuator kinds whose gains, biases or rates an earlier stage computes."""
    kinds = 0
    for i in range(m.nu):
        dyn, gain, bias = m.actuator_dyntype[i], m.actuator_gaintype[i], m.actuator_biastype[i]
        if dyn == DYN_MUSCLE or gain == GAIN_MUSCLE or bias == BIAS_MUSCLE:
            kinds |= MUSCLES_MADE
        if dyn == DYN_USER or gain == GAIN_USER or bias == BIAS_USER:
            kinds |= USERS_MADE
    return kinds


@kernel
def _actuate(m: Model, d: Data, turns: bool) -> int:
    """Compute actuator forces and activation rates, with `turns` as in `_force`. Return a status."""
    for dof in range(m.nv):
        d.qfrc_actuator[dof] = 0.0
    if m.nu == 0 or m.opt.disableflags & DSBL_ACTUATION:
        for i in range(m.nu):
            d.actuator_force[i] = 0.0
        return OK
    if _kinds_to_make(m) & ~d.work.actuation_made:
        return ACTUATION_STALE
    d.work.actuation_made = 0
    bad = limit_controls(m, d)
    if bad >= 0:
        d.warning.number[WARN_BADCTRL] += 1
        d.warning.lastinfo[WARN_BADCTRL] = bad
    for i in range(m.nu):
        first = m.actuator_actadr[i]
        for act in range(first, first + (m.actuator_actnum[i] if m.actuator_plugin[i] < 0 else 0)):
            set_activation_rate(m, d, i, act)
        force = 0.0
        if not actuator_disabled(m, i):
            force = _force(m, d, i, turns)
        d.actuator_force[i] = force
    _limit_tendon_forces(m, d)
    for i in range(m.nu):
        force = d.actuator_force[i]
        if m.actuator_forcelimited[i] and not actuator_disabled(m, i):
            force = clamp(force, m.actuator_forcerange[i, 0], m.actuator_forcerange[i, 1])
            d.actuator_force[i] = force
        for k in range(m.aux.moment_rowadr[i], m.aux.moment_rowadr[i + 1]):
            dof = m.aux.moment_colind[k]
            d.qfrc_actuator[dof] += d.actuator_moment[i, dof] * force
    if has_gravcomp(m) and has_passive(m):
        for dof in range(m.nv):
            if m.jnt_actgravcomp[m.dof_jntid[dof]]:
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

    Reads ctrl, act, actuator_length, actuator_velocity, actuator_moment, qfrc_gravcomp; writes actuator_force (nu,),
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
