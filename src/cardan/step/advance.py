"""Advance of the state by one time step (spec: computation, numerical integration and stateful actuators)."""

from __future__ import annotations

from typing import Any

from cardan.dynamics.actuation import actuator_disabled, advance_activation
from cardan.dynamics.kinematics import integrate_pos
from cardan.enums.codes import DSBL_ACTUATION
from cardan.jit import kernel
from cardan.model.kernel_views import Data, Model


@kernel
def _advance_activations(m: Model, d: Data, rates: Any) -> None:
    """Advance the activations of all enabled actuators by one time step."""
    for actuator in range(m.nu):
        first = m.actuator_actadr[actuator]
        if first >= 0 and not actuator_disabled(m, actuator):
            for act in range(first, first + m.actuator_actnum[actuator]):
                d.act[act] = advance_activation(m, actuator, d.act[act], rates[act])


@kernel
def advance(m: Model, d: Data, acceleration: Any, velocity: Any, rates: Any) -> None:
    """Advance activations, velocities, positions and time, in this order, by one time step.

    Args:
        m: model.
        d: data.
        acceleration: rate of change of qvel (nv,).
        velocity: rate of change of the configuration (nv,). If it is `d.qvel` itself, the new velocity is used: the
            semi-implicit update.
        rates: rate of change of act (na,).
    """
    h = m.opt.timestep
    if m.na > 0 and not m.opt.disableflags & DSBL_ACTUATION:
        _advance_activations(m, d, rates)
    for i in range(m.nv):
        d.qvel[i] += h * acceleration[i]
    integrate_pos(m, d.qpos, velocity, h)
    d.time = d.time + h
