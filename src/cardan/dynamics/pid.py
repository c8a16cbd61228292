"""PID controllers: actuators with setpoints for position and velocity (spec 4.0: XML reference, actuator/pid).

Let l and v be length and velocity of an actuator, and u its controls; a control that the actuator lacks is 0. The force
before its limits is

    kp (u_pos - l) + kv (u_vel - v) + ki z + u_ff,    dz/dt = u_pos - l,

where kp, kv are ``-biasprm[1]``, ``-biasprm[2]``, ki is ``gainprm[0]``. With ``dynprm[1] = slewmax > 0``, an activation
follows the setpoint u_pos at this rate at most, and its value after the step replaces u_pos. With
``dynprm[0] = imax > 0``, z does not grow beyond imax in magnitude. Activations are, in this order: the setpoint (if
slewmax > 0), z (if ki > 0). If the length is a rotation in three dimensions, all differences are taken to the nearest
turn.

Sources: manual of MuJoCo 4.0.0; K. J. Astrom, R. M. Murray, Feedback Systems (2008), chapter 10; results of MuJoCo.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from cardan.dynamics.actuation import (
    CONTROLLERS_MADE,
    advance_activation,
    clamp,
    input_of,
    limit_controls,
    nearest_turn,
    turn_of,
)
from cardan.enums.codes import DYN_PID, GAIN_PID, INPUT_FF, INPUT_POS, INPUT_VEL
from cardan.jit import OK, kernel, stage
from cardan.model import internals
from cardan.model.kernel_views import Data, Model

if TYPE_CHECKING:
    from cardan.model.mjmodel import MjModel

IMAX, SLEWMAX = 0, 1
"""Indices in ``dynprm``."""


@kernel
def follow(setpoint: float, current: float, reach: float, turn: float) -> float:
    """Return a setpoint that follows another one, `current`, and changes by `reach` at most in this step.

    If `turn` is not 0, the setpoint is moved by whole turns first, to the one nearest to `current`.
    """
    return clamp(nearest_turn(setpoint, current, turn), current - reach, current + reach)


@kernel
def wind_up(error: float, integral: float, bound: float) -> float:
    """Return the rate of an integral of `error`: 0 if it would grow beyond a positive bound of its magnitude."""
    if bound > 0.0 and ((integral >= bound and error > 0.0) or (integral <= -bound and error < 0.0)):
        return 0.0
    return error


@kernel
def _control(m: Model, d: Data, i: int) -> float:
    """Write the rates of the activations of PID controller `i`, and return its force before limits."""
    out = m.actuator_outadr[i]
    length, velocity, turn = d.actuator_length[out], d.actuator_velocity[out], turn_of(m, i)
    setpoint = input_of(m, d, i, INPUT_POS)
    at, end = m.actuator_actadr[i], m.actuator_actadr[i] + m.actuator_actnum[i]
    stateful = m.actuator_dyntype[i] == DYN_PID
    if stateful and m.actuator_dynprm[i, SLEWMAX] > 0.0 and at < end:
        h = m.opt.timestep
        setpoint = follow(setpoint, d.act[at], m.actuator_dynprm[i, SLEWMAX] * h, turn)
        d.act_dot[at] = (setpoint - d.act[at]) / h
        at += 1
    error = nearest_turn(setpoint, length, turn) - length
    force = -m.actuator_biasprm[i, 1] * error + m.actuator_biasprm[i, 0]
    force -= m.actuator_biasprm[i, 2] * (input_of(m, d, i, INPUT_VEL) - velocity)
    if stateful and at < end:
        gain = m.actuator_gainprm[i, 0]
        rate = wind_up(error, d.act[at], m.actuator_dynprm[i, IMAX]) if gain > 0.0 else 0.0  # edited to 0
        d.act_dot[at] = rate
        integral = advance_activation(m, i, d.act[at], rate) if m.actuator_actearly[i] else d.act[at]
        force += gain * integral
    return force + input_of(m, d, i, INPUT_FF)


@stage
def pid_controllers(m: Model, d: Data) -> int:
    """Compute forces without limits, and activation rates, of PID controllers, before `fwd_actuation`.

    Reads ctrl, act, actuator_length, actuator_velocity; writes actuator_force (nout,) and act_dot (na,) of these
    actuators. Sets CONTROLLERS_MADE in work.actuation_made.
    """
    d.work.actuation_made |= CONTROLLERS_MADE
    limit_controls(m, d)
    for i in range(m.nactuator):
        if m.actuator_gaintype[i] == GAIN_PID:
            d.actuator_force[m.actuator_outadr[i]] = _control(m, d, i)
    return OK


def has_pid_controllers(m: MjModel) -> bool:
    """Return whether any actuator is a PID controller."""
    return bool((internals.array(m, "actuator_gaintype") == GAIN_PID).any())
