"""Gradients of trajectories: adjoint sweeps over recorded steps.

For a loss of the states x_0 ... x_n and the sensor data s_0 ... s_(n-1), with x_(t+1) = f(x_t, u_t), the adjoint state
is l_n = dL/dx_n and then, from the last step to the first ::

    l_t = A_t' l_(t+1) + C_t' dL/ds_t + dL/dx_t          dL/du_t = B_t' l_(t+1) + D_t' dL/ds_t

(Bryson and Ho, Applied Optimal Control, 1975, section 2.2.) The tape holds what each step starts from, a few numbers a
degree of freedom; everything between is computed again when the sweep comes by.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from cardan.derive.forward_sweep import sensitivities_of
from cardan.derive.transition import transition_derivatives
from cardan.model.mjdata import MjData
from cardan.step import pipeline
from cardan.step.run import run

if TYPE_CHECKING:
    from cardan.model.mjmodel import MjModel

KEPT = ("qpos", "qvel", "act", "ctrl", "qacc_warmstart", "qfrc_applied", "xfrc_applied", "mocap_pos", "mocap_quat")
"""What is kept of the data before each step, besides the time."""


@dataclass(frozen=True)
class Gradient:
    """The gradient of a loss of a trajectory.

    Attributes:
        state: by the first state, (2 nv + na), positions in the tangent space.
        controls: by the controls of each step, (nstep, nu).
    """

    state: np.ndarray
    controls: np.ndarray


class Tape:
    """Steps that were recorded.

    Attributes:
        m: model; it must stay as it was.
        nstep: number of steps.
        qpos, qvel, act: states before each step and after the last, (nstep + 1, ...).
        sensordata: sensor data of each step, (nstep, nsensordata).
        reach: distance, m, up to which geoms that don't touch take part in derivatives (`derive.distant`).
    """

    def __init__(self, m: MjModel, d: MjData, controls: np.ndarray, reach: float = 0.0) -> None:
        self.m, self.nstep, self.reach = m, len(controls), reach
        self._start = MjData(m)
        self._start._copy_values(d)
        self._times: list[float] = []
        self._kept: dict[str, list[np.ndarray]] = {name: [] for name in KEPT}
        sensordata = np.zeros((self.nstep, m.nsensordata))
        program = pipeline.step_program(m)
        for k, control in enumerate(controls):
            d.ctrl[:] = control
            self._keep(d)
            run(program, m, d)
            sensordata[k] = d.sensordata
        self._keep(d)
        self.sensordata = sensordata
        self.qpos, self.qvel, self.act = (np.array(self._kept[name]) for name in ("qpos", "qvel", "act"))

    def _keep(self, d: MjData) -> None:
        self._times.append(d.time)
        for name, rows in self._kept.items():
            rows.append(getattr(d, name).copy())

    def data_at(self, step: int) -> MjData:
        """Data as they were before a step; the same object each time."""
        d = self._start
        d.time = self._times[step]
        for name, rows in self._kept.items():
            getattr(d, name)[...] = rows[step]
        return d

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
        m, n = self.m, self.nstep
        nx = 2 * m.nv + m.na
        by_states = np.asarray(dL_dstate, float)
        if by_states.shape == (nx,):
            by_states = np.vstack([np.zeros((n, nx)), by_states])
        if by_states.shape != (n + 1, nx):
            wanted = f"({nx},) or ({n + 1}, {nx})"
            raise ValueError(f"gradient: dL_dstate should be of shape {wanted}, got {by_states.shape}")
        by_sensors = None if dL_dsensors is None else np.asarray(dL_dsensors, float)
        if by_sensors is not None and by_sensors.shape != (n, m.nsensordata):
            wanted = f"({n}, {m.nsensordata})"
            raise ValueError(f"gradient: dL_dsensors should be of shape {wanted}, got {by_sensors.shape}")
        adjoint, controls = by_states[n].copy(), np.zeros((n, m.nu))
        for k in range(n - 1, -1, -1):
            sensed = by_sensors is not None and by_sensors[k].any()
            jacobian = transition_derivatives(m, self.data_at(k), True, True, bool(sensed), self.reach)
            pulled = jacobian[:nx].T @ adjoint
            if by_sensors is not None and sensed:
                pulled += jacobian[nx:].T @ by_sensors[k]
            controls[k] = pulled[nx:]
            adjoint = pulled[:nx] + by_states[k]
        return Gradient(adjoint, controls)

    def sensitivities(self, by: Sequence[str]) -> dict[str, tuple[np.ndarray, np.ndarray]]:
        """Derivatives of all states and sensor data by a few numbers, the same in all steps: one sweep forwards.

        For parameters of the model ("body_mass[2]", "geom_friction[1, 0]"), where `gradient` is for controls. Eight
        numbers cost about as much as one.

        Args:
            by: names, as in `cardan.derivatives`; qpos, qvel and act stand for the first state.

        Returns:
            For each name the derivatives of the states, (nstep + 1, 2 nv + na, ...), positions in the tangent space,
            and of the sensor data, (nstep, nsensordata, ...), with the shape of what is named in place of the dots.

        Raises:
            IndexError, TypeError, ValueError: a name stands for nothing, or for what a step does not read.
            NotImplementedError: the model or a state has a feature without derivatives.
            RuntimeError: native code is switched off.
        """
        return sensitivities_of(self, (by,) if isinstance(by, str) else by)


def record(m: MjModel, d: MjData, nstep: int, controls: np.ndarray | None, reach: float = 0.0) -> Tape:
    """Simulate and record; see `cardan.api.gradients.record`."""
    if nstep < 0:
        raise ValueError(f"record: nstep must not be negative, got {nstep}")
    given = np.broadcast_to(d.ctrl, (nstep, m.nu)) if controls is None else np.asarray(controls, float)
    if given.shape != (nstep, m.nu):
        raise ValueError(f"record: controls should be of shape ({nstep}, {m.nu}), got {given.shape}")
    return Tape(m, d, np.array(given), reach)
