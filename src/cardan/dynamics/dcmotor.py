"""DC motors: electrical, thermal and frictional state of a motor with brushes (spec 4.0: actuator/dcmotor).

Let w be the velocity of an actuator and l its length. A motor has the constant K, the resistance R, and the current i:

    tau = K i,    L di/dt = V - R i - K w,    C dT/dt = R i^2 - T / Rth,    R = R0 (1 + alpha (T + Ta - T0)).

T is the temperature of the winding above that of its surroundings, Ta. Without inductance L, the current is
(V - K w) / R. The voltage V is the control ``voltage`` and, if the motor has one of the controls ``pos``, ``vel`` and
``ff``, that of an on-board controller, limited to Vmax:

    (R0 / K) (kp (u_pos - l) + kd (u_vel - w) + ki x + u_ff) + K w,    dx/dt = u_pos - l.

The limit of the force applies to tau. Cogging and friction are added afterwards. Friction follows the LuGre model, with
the deflection z of bristles:

    A sin(n l + phase) - s0 z - s1 dz/dt,    dz/dt = w - s0 |w| z / g(w),    g(w) = Fc + (Fs - Fc) exp(-(w / vs)^2).

Activations, each if it is needed, are in this order: the setpoint of the first control, if its rate is limited; x; T;
z; i. The differential equations of z and i are integrated exactly, with constant velocity and voltage, and tau is that
of the current after the step.

Sources: manual of MuJoCo 4.0.0; C. Canudas de Wit, H. Olsson, K. J. Astrom, P. Lischinsky, A new model for control of
systems with friction, IEEE Trans. Automatic Control 40 (1995); results of MuJoCo.
"""

from __future__ import annotations

from math import cos, exp, sin
from typing import TYPE_CHECKING

from cardan.dynamics.actuation import MOTORS_MADE, S0, S1, clamp, input_of, limit_controls, nearest_turn, turn_of
from cardan.dynamics.pid import follow, wind_up
from cardan.enums.codes import GAIN_DCMOTOR, INPUT_FF, INPUT_POS, INPUT_VEL, INPUT_VOLTAGE
from cardan.jit import OK, kernel, stage
from cardan.maths.types import ConstArray1, Vec3
from cardan.maths.vector import MINVAL
from cardan.model import internals
from cardan.model.kernel_views import Data, Model

if TYPE_CHECKING:
    from cardan.model.mjmodel import MjModel

R0, K, ALPHA, T0, KP, KI, KD, VMAX = range(8)
"""Indices in ``gainprm``."""
TE, RATE, RTH, HEAT, AMBIENT = range(5)
SLEWMAX, IMAX = 7, 8
"""Indices in ``dynprm``, with S0 and S1; TE is the electrical time constant L / R0."""
COGGING, POLES, PHASE, COULOMB, STATIC, STRIBECK = range(6)
"""Indices in ``biasprm``."""
COMMANDS = INPUT_POS | INPUT_VEL | INPUT_FF


@kernel
def states_of(m: Model, i: int) -> int:
    """Return the activations that the parameters of motor `i` need, as bits: 1 setpoint, 2 x, 4 T, 8 z, 16 current."""
    prm = m.actuator_dynprm
    states = 1 if prm[i, SLEWMAX] > 0.0 else 0
    states += 2 if m.actuator_gainprm[i, KI] > 0.0 else 0
    states += 4 if prm[i, RTH] > 0.0 else 0
    states += 8 if prm[i, S0] > 0.0 else 0
    return states + (16 if prm[i, TE] > 0.0 else 0)


@kernel
def _count(states: int) -> int:
    """Return the number of bits of `states_of`."""
    number = 0
    for _ in range(5):
        number += states & 1
        states //= 2
    return number


@kernel
def relaxation(tau: float, h: float) -> float:
    """Return the time that, times the rate at the start, is the change in a step of an exponential with constant `tau`.

    This is tau (1 - exp(-h / tau)), which tends to `h` for slow changes.
    """
    return tau * (1.0 - exp(-h / tau)) if tau < 1e10 * h else h


@kernel
def stribeck(m: Model, i: int, velocity: float) -> float:
    """Return g(w), the friction of motor `i` in steady motion."""
    prm = m.actuator_biasprm
    ratio = velocity / max(MINVAL, prm[i, STRIBECK])
    return max(MINVAL, prm[i, COULOMB] + (prm[i, STATIC] - prm[i, COULOMB]) * exp(-ratio * ratio))


@kernel
def _friction(m: Model, d: Data, i: int, act: int, velocity: float) -> float:
    """Write the rate of the bristles of motor `i`, activation `act`, and return their force."""
    s0, z = m.actuator_dynprm[i, S0], d.act[act]
    decay = s0 * abs(velocity) / stribeck(m, i, velocity)
    rate = velocity - decay * z
    d.act_dot[act] = rate
    span = relaxation(1.0 / decay, m.opt.timestep) if decay > MINVAL else m.opt.timestep
    d.work.act_change[act] = span * rate
    d.work.act_span[act] = 0.0
    return s0 * z + m.actuator_dynprm[i, S1] * rate


@kernel
def cogging_slope(m: Model, d: Data, i: int) -> float:
    """Derivative of the cogging torque of motor `i` by its length."""
    prm = m.actuator_biasprm
    angle = prm[i, POLES] * d.actuator_length[m.actuator_outadr[i]] + prm[i, PHASE]
    return prm[i, COGGING] * prm[i, POLES] * cos(angle)


@kernel
def _voltage(m: Model, d: Data, i: int, states: int, at: int) -> Vec3:
    """Write the rates of the controller's activations, from `at` on; return voltage and its slopes by w and by l."""
    out, h = m.actuator_outadr[i], m.opt.timestep
    length, velocity, turn = d.actuator_length[out], d.actuator_velocity[out], turn_of(m, i)
    pos, vel, ff = input_of(m, d, i, INPUT_POS), input_of(m, d, i, INPUT_VEL), input_of(m, d, i, INPUT_FF)
    inputs = m.actuator_ctrlspec[i]
    if states & 1:
        first = pos if inputs & INPUT_POS else (vel if inputs & INPUT_VEL else ff)
        around = turn if inputs & INPUT_POS else 0.0
        first = follow(first, d.act[at], m.actuator_dynprm[i, SLEWMAX] * h, around)
        d.act_dot[at] = (first - d.act[at]) / h
        at += 1
        if inputs & INPUT_POS:
            pos = first
        elif inputs & INPUT_VEL:
            vel = first
        else:
            ff = first
    error = nearest_turn(pos, length, turn) - length
    gain = m.actuator_gainprm
    torque = gain[i, KP] * error + gain[i, KD] * (vel - velocity) + ff
    if states & 2:
        d.act_dot[at] = wind_up(error, d.act[at], m.actuator_dynprm[i, IMAX])
        torque += gain[i, KI] * d.act[at]
    if inputs & COMMANDS == 0:
        return input_of(m, d, i, INPUT_VOLTAGE), 0.0, 0.0
    ratio = gain[i, R0] / max(MINVAL, gain[i, K])
    voltage = ratio * torque + gain[i, K] * velocity
    slope, stiffness = gain[i, K] - ratio * gain[i, KD], -ratio * gain[i, KP]
    bound = gain[i, VMAX]
    if bound > 0.0 and not -bound < voltage < bound:
        voltage, slope, stiffness = clamp(voltage, -bound, bound), 0.0, 0.0
    return voltage + input_of(m, d, i, INPUT_VOLTAGE), slope, stiffness


@kernel
def _drive(m: Model, d: Data, i: int, states: int) -> None:
    """Write the rates of all activations of motor `i`, its torque, the torque's slope by w, and its other forces."""
    out, h = m.actuator_outadr[i], m.opt.timestep
    velocity, gain, prm = d.actuator_velocity[out], m.actuator_gainprm, m.actuator_dynprm
    at = m.actuator_actadr[i]
    voltage, slope, stiffness = _voltage(m, d, i, states, at)
    at += (states & 1) + (states & 2) // 2
    heated = at
    resistance = gain[i, R0]
    if states & 4:
        resistance *= 1.0 + gain[i, ALPHA] * (d.act[at] + prm[i, AMBIENT] - gain[i, T0])
        at += 1
    resistance = max(MINVAL, resistance)
    load = 0.0
    if m.actuator_biasprm[i, COGGING] != 0.0:
        angle = m.actuator_biasprm[i, POLES] * d.actuator_length[out] + m.actuator_biasprm[i, PHASE]
        load = m.actuator_biasprm[i, COGGING] * sin(angle)
    if states & 8:
        load -= _friction(m, d, i, at, velocity)
        at += 1
    current = (voltage - gain[i, K] * velocity) / resistance
    slope, stiffness = (slope - gain[i, K]) / resistance, stiffness / resistance
    after = current
    if states & 16:
        rate = (current - d.act[at]) / prm[i, TE]
        if prm[i, RATE] > 0.0 and not -prm[i, RATE] < rate < prm[i, RATE]:
            rate, slope, stiffness = clamp(rate, -prm[i, RATE], prm[i, RATE]), 0.0, 0.0
        span = relaxation(prm[i, TE], h)
        d.act_dot[at] = rate
        d.work.act_span[at] = span
        current = d.act[at]
        after = current + span * rate
        slope *= span / prm[i, TE]
        stiffness *= span / prm[i, TE]
    if states & 4:
        heating = resistance * current * current - d.act[heated] / prm[i, RTH]
        d.act_dot[heated] = heating / max(MINVAL, prm[i, HEAT])
    d.actuator_force[out] = gain[i, K] * after
    d.work.actuator_gain_slope[i] = gain[i, K] * slope
    d.work.actuator_length_slope[i] = gain[i, K] * stiffness
    d.work.actuator_load[i] = load


@stage
def dc_motors(m: Model, d: Data) -> int:
    """Compute torques without limits, other forces, and activation rates of DC motors, before `fwd_actuation`.

    Reads ctrl, act, actuator_length, actuator_velocity. Writes of these actuators: the torque actuator_force (nout,),
    its derivatives work.actuator_gain_slope (by velocity) and work.actuator_length_slope, forces without limits
    work.actuator_load (nactuator,), act_dot, work.act_span and work.act_change (na,). Sets MOTORS_MADE in
    work.actuation_made. If a motor lacks activations that its parameters need, all its forces are 0.
    """
    d.work.actuation_made |= MOTORS_MADE
    limit_controls(m, d)
    for i in range(m.nactuator):
        if m.actuator_gaintype[i] == GAIN_DCMOTOR:
            for act in range(m.actuator_actadr[i], m.actuator_actadr[i] + m.actuator_actnum[i]):
                d.act_dot[act] = 0.0
                d.work.act_span[act] = m.opt.timestep
                d.work.act_change[act] = 0.0
            states = states_of(m, i)
            if _count(states) == m.actuator_actnum[i]:
                _drive(m, d, i, states)
            else:
                d.actuator_force[m.actuator_outadr[i]] = 0.0
                d.work.actuator_gain_slope[i] = 0.0
                d.work.actuator_length_slope[i] = 0.0
                d.work.actuator_load[i] = 0.0
    return OK


@kernel
def advance_motor(m: Model, d: Data, i: int, rates: ConstArray1) -> None:
    """Advance the activations of motor `i` by one time step; those that have exact solutions, exactly."""
    first, states, bound = m.actuator_actadr[i], states_of(m, i), m.actuator_dynprm[i, IMAX]
    integral = first + (states & 1) if states & 2 else -1
    for act in range(first, first + m.actuator_actnum[i]):
        d.act[act] += d.work.act_change[act] + d.work.act_span[act] * rates[act]
        if act == integral and bound > 0.0:
            d.act[act] = clamp(d.act[act], -bound, bound)


def has_dc_motors(m: MjModel) -> bool:
    """Return whether any actuator is a DC motor."""
    return bool((internals.array(m, "actuator_gaintype") == GAIN_DCMOTOR).any())
