"""The plugin ``mujoco.pid``: actuators that are PID controllers of the length of their transmission.

Let c be the setpoint, l the length and v the velocity of the actuator. The force is

    kp (c - l) + ki I + kd (dc/dt - v),    dI/dt = c - l.

The setpoint is the control or, with a ``dyntype``, the activation. In the first case dc/dt is 0, in the second case it
is the rate of the activation. The activations of an actuator are, in this order: I (if ki is not 0), the previous
setpoint (if slewmax is given), and the activation of the dyntype.

Attributes: the gains `kp`, `ki`, `kd`; `imax`, bound on the magnitude of ki I; `slewmax`, bound on the rate of change
of the setpoint, from the second step on. A bound that is not given does not apply.

Sources: K. J. Astrom, R. M. Murray, Feedback Systems (2008), chapter 10: PID control, limiting the integral against
windup; results of MuJoCo.
"""

from __future__ import annotations

from math import inf

import numpy as np

from cardan.dynamics.actuation import advance_activation, clamp
from cardan.jit import kernel
from cardan.model.kernel_views import Data, Model
from cardan.plugins.registry import Config, Plugin, config_of, number, plugin_number

KP, KI, KD, IMAX, SLEWMAX, HAS_SLEW = range(6)
"""Indices of the numbers of an instance. The number at IMAX bounds the integral I, not ki I."""


def gains(config: Config) -> np.ndarray:
    """Return the gains and bounds of an instance. Raises ValueError if a value is not a number or not valid."""
    kp, ki, kd = (number(config, key, 0.0) for key in ("kp", "ki", "kd"))
    imax, slewmax = number(config, "imax", inf), number(config, "slewmax", inf)
    for key, bound in (("imax", imax), ("slewmax", slewmax)):
        if bound < 0.0:
            raise ValueError(f"{key} must not be negative, found {bound:g}")
    if ki < 0.0 and "imax" in config:
        raise ValueError(f"imax needs a ki that is not negative, found {ki:g}")
    return np.array([kp, ki, kd, imax / ki if ki > 0.0 else inf, slewmax, bool(config.get("slewmax"))])


def actdim(config: Config) -> int:
    """Number of activations of an actuator, without the activation of its dyntype."""
    values = gains(config)
    return int(values[KI] != 0.0) + int(values[HAS_SLEW])


@kernel
def setpoint(m: Model, d: Data, instance: int, i: int, early: bool) -> float:
    """Return the setpoint of actuator `i`. After the first step, its change per step is bounded by `slewmax`.

    If the setpoint is an activation, `early` selects the activation at the end of the time step.
    """
    if m.actuator_dyntype[i] == 0:
        control = m.actuator_ctrladr[i]
        target = d.work.ctrl[control]
        if m.actuator_ctrllimited[control]:
            target = clamp(target, m.actuator_ctrlrange[control, 0], m.actuator_ctrlrange[control, 1])
    else:
        act = m.actuator_actadr[i] + m.actuator_actnum[i] - 1
        target = advance_activation(m, i, d.act[act], d.act_dot[act]) if early else d.act[act]
    if plugin_number(d, instance, HAS_SLEW) != 0.0 and d.time > 0.0:
        reach = plugin_number(d, instance, SLEWMAX) * m.opt.timestep
        last = d.act[slew_address(m, d, instance, i)]
        target = clamp(target, last - reach, last + reach)
    return target


@kernel
def slew_address(m: Model, d: Data, instance: int, i: int) -> int:
    """Index in act of the previous setpoint of actuator `i`."""
    return m.actuator_actadr[i] + (1 if plugin_number(d, instance, KI) != 0.0 else 0)


@kernel
def integral(m: Model, d: Data, instance: int, i: int, error: float) -> float:
    """Integral I of actuator `i` at the end of the time step for a constant `error`, clamped to its bound."""
    bound = plugin_number(d, instance, IMAX)
    return clamp(d.act[m.actuator_actadr[i]] + error * m.opt.timestep, -bound, bound)


@kernel
def act_dot(m: Model, d: Data, instance: int) -> None:
    """Write the rates of the integrals and of the previous setpoints of an instance's actuators."""
    for i in range(m.nactuator):
        if m.actuator_plugin[i] == instance:
            target = setpoint(m, d, instance, i, False)
            if plugin_number(d, instance, KI) != 0.0:
                act = m.actuator_actadr[i]
                change = integral(m, d, instance, i, target - d.actuator_length[m.actuator_outadr[i]]) - d.act[act]
                d.act_dot[act] = change / m.opt.timestep
            if plugin_number(d, instance, HAS_SLEW) != 0.0:
                act = slew_address(m, d, instance, i)
                d.act_dot[act] = (target - d.act[act]) / m.opt.timestep


@kernel
def compute(m: Model, d: Data, instance: int, capability: int) -> None:
    """Write the forces of an instance's actuators."""
    kp, ki, kd = plugin_number(d, instance, KP), plugin_number(d, instance, KI), plugin_number(d, instance, KD)
    for i in range(m.nactuator):
        if m.actuator_plugin[i] == instance:
            target = setpoint(m, d, instance, i, m.actuator_actearly[i] != 0)
            out = m.actuator_outadr[i]
            error = target - d.actuator_length[out]
            rate = 0.0
            if m.actuator_dyntype[i] != 0:
                rate = d.act_dot[m.actuator_actadr[i] + m.actuator_actnum[i] - 1]
            force = kp * error + kd * (rate - d.actuator_velocity[out])
            if ki != 0.0:
                force += ki * integral(m, d, instance, i, error)
            d.actuator_force[out] = force


PID = Plugin(
    "mujoco.pid",
    ("kp", "ki", "kd", "imax", "slewmax"),
    ("actuator",),
    actdim=actdim,
    validate=gains,
    init=lambda m, d, instance: gains(config_of(m, instance)),
    act_dot=act_dot,
    compute=compute,
)
