"""Tapes: recorded steps of a simulation, as users have them, and what their losses are made of.

`cardan.derive.trajectory` computes; here are the public class, its results, and the checks of its arguments, which
tapes of batches share (`cardan.batch.tape`).
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
    """The gradient of a loss of a trajectory.

    Attributes:
        state: by the first state, (2 nv + na), positions in the tangent space.
        controls: by the controls of each step, (nstep, nu).
        plugin_state: by the first states of plugins, (npluginstate).
    """

    state: np.ndarray
    controls: np.ndarray
    plugin_state: np.ndarray


@dataclass(frozen=True)
class Jacobians:
    """The Jacobians of each step: dx_next = A dx + B du, dsensor = C dx + D du; positions in the tangent space.

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
    """Steps that were recorded.

    Attributes:
        m: model; it must stay as it was.
        nstep: number of steps.
        controls: controls of each step, (nstep, nu).
        qpos, qvel, act: states before each step that is kept and after the last step, (number of these, ...).
        sensordata: sensor data of each step, (nstep, nsensordata).
        nkept: how many numbers are kept of what steps start from.
    """

    def __init__(self, recorded: Recorded) -> None:
        self._recorded = recorded
        self.m, self.nstep = recorded.m, recorded.nstep
        self.nkept = recorded.rows.size
        self.controls, self.sensordata = recorded.controls[0], recorded.sensordata[0]
        self.qpos, self.qvel, self.act = (recorded.layout.field(recorded.rows[0], name) for name in STATE)

    def gradient(self, dL_dstate: np.ndarray, dL_dsensors: np.ndarray | None = None) -> Gradient:
        """The gradient of a loss by the first state and all controls.

        Args:
            dL_dstate: derivatives of the loss by the states, (nstep + 1, 2 nv + na), or by the last one alone,
                (2 nv + na); positions in the tangent space.
            dL_dsensors: its derivatives by the sensor data of each step, (nstep, nsensordata), or None.

        Raises:
            ValueError: an array of another shape.
            NotImplementedError: the model or a state has a feature without derivatives.
            RuntimeError: native code is switched off.
        """
        by_states, by_sensors = loss_slopes(self.m, (self.nstep,), dL_dstate, dL_dsensors)
        found = self._recorded.gradient(by_states[None], None if by_sensors is None else by_sensors[None])
        return Gradient(*(array[0] for array in found))

    def jacobians(self, sensors: bool = False) -> Jacobians:
        """The Jacobians of all steps, as `mjd_transition` gives them for one: with what plugins keep as it is.

        Args:
            sensors: whether C and D are wanted.
        """
        return split_jacobians(self.m, self._recorded.jacobians(sensors)[0], sensors)

    def sensitivities(self, by: str | By) -> dict[str, tuple[np.ndarray, np.ndarray]]:
        """Derivatives of all states and sensor data by a few numbers, the same in all steps: one sweep forwards.

        For parameters of the model ("body_mass[2]", "geom_friction[1, 0]"), where `gradient` is for controls. Eight
        numbers cost about as much as one.

        Args:
            by: names, as in `cardan.derivatives`; qpos, qvel and act are the first state. Or combinations, each a
                single direction: for a name of your own how much of what changes, as in
                ``{"load": {"body_mass[2]": 1.0, "body_inertia[2]": (0.1, 0.1, 0.2)}}``.

        Returns:
            For each name the derivatives of the states, (nstep + 1, 2 nv + na, ...), and of the sensor data,
            (nstep, nsensordata, ...). The dots are the shape of what is named; positions are in the tangent space.

        Raises:
            IndexError, TypeError, ValueError: a name refers to nothing, or to what a step does not read.
            NotImplementedError: the model or a state has a feature without derivatives.
        """
        found = self._recorded.sensitivities(by)
        return {name: (states[0], sensors[0]) for name, (states, sensors) in found.items()}


def loss_slopes(
    m: MjModel, lead: tuple[int, ...], dL_dstate: Any, dL_dsensors: Any
) -> tuple[np.ndarray, np.ndarray | None]:
    """Derivatives of a loss as full new arrays: by the states (..., nstep + 1, nx), by sensor data or None.

    Args:
        m: model.
        lead: the number of worlds, if there are several, and of steps.
        dL_dstate: derivatives by all states, or by the last ones alone (..., nx).
        dL_dsensors: derivatives by the sensor data (..., nstep, nsensordata), or None.

    Raises:
        ValueError: an array of another shape.
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
    """A, B, C and D, views of Jacobians (..., nx or nx + nsensordata, nx + nu)."""
    nx = 2 * m.nv + m.na
    C, D = (found[..., nx:, :nx], found[..., nx:, nx:]) if sensors else (None, None)
    return Jacobians(found[..., :nx, :nx], found[..., :nx, nx:], C, D)
