"""Tapes: recorded steps of a simulation, from which derivatives of the trajectory are computed.

This module contains the public class, its results, and checks of arguments that tapes of batches (`cardan.batch.tape`)
share. `cardan.derive.trajectory` computes the derivatives.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from cardan.derive.trajectory import Recorded

if TYPE_CHECKING:
    from cardan.derive.inputs import By
    from cardan.model.mjmodel import MjModel

STATE = ("qpos", "qvel", "act")


@dataclass(frozen=True)
class Gradient:
    """Gradient of a trajectory's loss.

    Attributes:
        state: gradient with respect to the first state, (2 nv + na,); positions are in the tangent space.
        controls: gradient with respect to the controls of each step, (nstep, nu).
        plugin_state: gradient with respect to the first states of plugins, (npluginstate,).
    """

    state: np.ndarray
    controls: np.ndarray
    plugin_state: np.ndarray


@dataclass(frozen=True)
class Jacobians:
    """Jacobians of each step: dx_next = A dx + B du, dsensor = C dx + D du, with positions in the tangent space.

    Attributes:
        A: (nstep, 2 nv + na, 2 nv + na).
        B: (nstep, 2 nv + na, nu).
        C: (nstep, nsensordata, 2 nv + na), or None.
        D: (nstep, nsensordata, nu), or None.
    """

    A: np.ndarray
    B: np.ndarray
    C: np.ndarray | None
    D: np.ndarray | None


class Tape:
    """Recorded steps of a simulation, with methods that differentiate them.

    Attributes:
        m: model; it must not be changed.
        nstep: number of steps.
        controls: controls of each step, (nstep, nu).
        qpos, qvel, act: the stored states: before each stored step and after the last step, (number of states, ...).
        sensordata: sensor data of each step, (nstep, nsensordata).
        nkept: total number of values in the stored states and inputs.
    """

    def __init__(self, recorded: Recorded) -> None:
        self._recorded = recorded
        self.m, self.nstep = recorded.m, recorded.nstep
        self.nkept = recorded.rows.size
        self.controls, self.sensordata = recorded.controls[0], recorded.sensordata[0]
        self.qpos, self.qvel, self.act = (recorded.layout.field(recorded.rows[0], name) for name in STATE)

    def gradient(self, dL_dstate: np.ndarray, dL_dsensors: np.ndarray | None = None) -> Gradient:
        """Compute the gradient of a loss with respect to the first state and all controls.

        Args:
            dL_dstate: derivatives of the loss with respect to all states, (nstep + 1, 2 nv + na), or to the last state
                alone, (2 nv + na,); positions are in the tangent space.
            dL_dsensors: derivatives with respect to the sensor data of each step, (nstep, nsensordata), or None.

        Raises:
            ValueError: an array has a wrong shape.
            NotImplementedError: the model or a state has a feature without derivatives.
            RuntimeError: native code is switched off.
        """
        by_states, by_sensors = loss_slopes(self.m, (self.nstep,), dL_dstate, dL_dsensors)
        found = self._recorded.gradient(by_states[None], None if by_sensors is None else by_sensors[None])
        return Gradient(*(array[0] for array in found))

    def jacobians(self, sensors: bool = False) -> Jacobians:
        """Compute the Jacobians of all steps, each as `mjd_transition` does: the states of plugins are held fixed.

        Args:
            sensors: whether to compute C and D, too.
        """
        return split_jacobians(self.m, self._recorded.jacobians(sensors)[0], sensors)

    def sensitivities(self, by: str | By) -> dict[str, tuple[np.ndarray, np.ndarray]]:
        """Differentiate all states and sensor data with respect to inputs that are equal in all steps, in one sweep.

        Use this for parameters of the model ("body_mass[2]", "geom_friction[1, 0]"), and `gradient` for controls.
        Eight scalar inputs cost about as much as one.

        Args:
            by: names, as in `cardan.derivatives`; qpos, qvel and act mean the first state. Or directions: for each
                name of your choice, the rates of change of some inputs, as in
                ``{"load": {"body_mass[2]": 1.0, "body_inertia[2]": (0.1, 0.1, 0.2)}}``.

        Returns:
            For each name, the derivatives of the states, (nstep + 1, 2 nv + na, ...), and of the sensor data,
            (nstep, nsensordata, ...). The dots are the shape of the named input. Positions are in the tangent space.

        Raises:
            IndexError, TypeError, ValueError: a name is unknown, or names a value that a step does not read.
            NotImplementedError: the model or a state has a feature without derivatives.
        """
        found = self._recorded.sensitivities(by)
        return {name: (states[0], sensors[0]) for name, (states, sensors) in found.items()}


def loss_slopes(
    m: MjModel, lead: tuple[int, ...], dL_dstate: Any, dL_dsensors: Any
) -> tuple[np.ndarray, np.ndarray | None]:
    """Convert the derivatives of a loss to new arrays, with zeros for states that were left out.

    Args:
        m: model.
        lead: number of worlds (only for batches), and number of steps.
        dL_dstate: derivatives with respect to all states, or only to the last state of each world (..., nx).
        dL_dsensors: derivatives with respect to the sensor data (..., nstep, nsensordata), or None.

    Raises:
        ValueError: an array has a wrong shape.
    """
    *worlds, n = lead
    nx = 2 * m.nv + m.na
    given = np.array(dL_dstate, float)
    by_states = np.zeros((*worlds, n + 1, nx))
    if given.shape == (*worlds, nx):
        by_states[..., n, :] = given
    elif given.shape == by_states.shape:
        by_states = given
    else:
        wanted = f"{(*worlds, nx)} or {by_states.shape}"
        raise ValueError(f"gradient: dL_dstate should be of shape {wanted}, got {given.shape}")
    by_sensors = None if dL_dsensors is None else np.array(dL_dsensors, float)
    if by_sensors is not None and by_sensors.shape != (*lead, m.nsensordata):
        wanted = f"{(*lead, m.nsensordata)}"
        raise ValueError(f"gradient: dL_dsensors should be of shape {wanted}, got {by_sensors.shape}")
    return by_states, by_sensors


def split_jacobians(m: MjModel, found: np.ndarray, sensors: bool) -> Jacobians:
    """Return views of the parts A, B, C and D of step Jacobians (..., nx or nx + nsensordata, nx + nu).

    Without `sensors`, C and D are None.
    """
    nx = 2 * m.nv + m.na
    C, D = (found[..., nx:, :nx], found[..., nx:, nx:]) if sensors else (None, None)
    return Jacobians(found[..., :nx, :nx], found[..., :nx, nx:], C, D)
