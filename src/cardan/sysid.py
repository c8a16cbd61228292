"""Exact Jacobians for ``mujoco.sysid``: trajectories are differentiated, not simulated again for each parameter.

A parameter of ``mujoco.sysid`` changes a specification, and the compiler turns it into changes of many fields of the
model. This module takes the rates of these changes as directions. `cardan.record` and its sensitivities then give the
derivatives of all states and sensor values along them, eight at a time. What follows the simulation (resampling,
weights) is differentiated by differences of that linear extrapolation, which have no noise of the simulation.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from types import ModuleType
from typing import Any

import numpy as np

from cardan.api.derivatives import record
from cardan.api.state import mj_setState
from cardan.api.support import mj_integratePos
from cardan.batch.models import MODEL_FIELDS
from cardan.enums.data import mjtState
from cardan.jit.memory.layout import scalars_of
from cardan.model import MjData, MjModel, internals
from cardan.model.tables import MODEL

__all__ = ["ExactJacobian"]

STEP = 1e-8
"""Change of a parameter, relative to the larger of 1 and its value, from which rates of model fields are computed."""
SAME = 1e-9
"""Largest relative difference between the simulation that is differentiated and that of ``mujoco.sysid``."""


class ExactJacobian:
    """Residual of ``mujoco.sysid``, with its Jacobian as a function of the parameters and the residual.

    ::

        from mujoco import sysid  # with cardan.as_mujoco
        exact = ExactJacobian(sysid, params, models_sequences=[sequences])
        found, result = sysid.optimize(params, exact.residual, optimizer="mujoco", jacobian=exact)

    Attributes:
        residual: the residual function for ``sysid.optimize``.

    Args:
        sysid: the module ``mujoco.sysid``.
        params: the parameters, a ``sysid.ParameterDict``.
        settings: arguments of ``sysid.build_residual_fn``, except `custom_rollout`.

    Raises:
        ValueError: `custom_rollout` is given.
    """

    def __init__(self, sysid: ModuleType, params: Any, **settings: Any) -> None:
        if settings.get("custom_rollout") is not None:
            raise ValueError("ExactJacobian: custom_rollout can't be given, because its derivatives are not known")
        self._sysid, self._params = sysid, params
        self.residual = sysid.build_residual_fn(**settings)
        self._linear = sysid.build_residual_fn(**{**settings, "custom_rollout": self._near})
        self._steps = np.zeros(0)

    def __call__(self, x: np.ndarray, r: np.ndarray | None = None) -> np.ndarray:
        """Return the Jacobian (nr, nx) of the residual at the parameters `x`, nx numbers; `r` is not used.

        Raises:
            ValueError: parameters change sizes, integers or initial states of the models.
            NotImplementedError: the model has a feature without derivatives.
        """
        point = np.asarray(x, float).reshape(-1, 1)
        self._steps = STEP * np.maximum(1.0, np.abs(point)).ravel()
        points = np.hstack([point, point + np.diag(self._steps)])
        residuals = np.concatenate(self._linear(points, self._params)[0])
        return (residuals[:, 1:] - residuals[:, :1]) / self._steps

    def _near(
        self, models: Sequence[MjModel], datas: Any, control_signal: Any, initial_states: Any, **others: Any
    ) -> list[Any]:
        """Simulate the first model, and extrapolate its trajectory linearly to the other models.

        The arguments and the result, a ``SystemTrajectory`` for each model, are those of ``sysid.sysid_rollout``.
        """
        others.pop("param_dicts", None)
        states = np.asarray(initial_states, float)
        if (states != states[0]).any():
            raise ValueError("ExactJacobian: initial states must not depend on parameters")
        m = models[0]
        (first,) = self._sysid.sysid_rollout(models[:1], datas, control_signal[:1], initial_states[:1], **others)
        d = MjData(m)
        mj_setState(m, d, states[0], mjtState.mjSTATE_FULLPHYSICS.value)
        tape = record(m, d, len(first.state.data), np.asarray(first.control.data)[: len(first.state.data)])
        _check_equal(np.asarray(first.sensordata.data), tape.sensordata)
        rates = {k: model_rates(m, models[k + 1], step) for k, step in enumerate(self._steps)}
        found = tape.sensitivities({str(k): rate for k, rate in rates.items() if rate})
        return [first, *(_moved(m, first, found.get(str(k)), step) for k, step in enumerate(self._steps))]


def model_rates(m: MjModel, other: MjModel, step: float) -> dict[str, np.ndarray]:
    """Return the differences of real fields of two models, divided by `step`, by name; equal fields are left out.

    Raises:
        ValueError: sizes or integers differ.
    """
    if internals.sizes(m) != internals.sizes(other):
        raise ValueError("ExactJacobian: sizes of the model must not depend on parameters")
    rates = {}
    for name in sorted(MODEL_FIELDS):
        before, after = _values(m, name), _values(other, name)
        if np.array_equal(before, after):
            continue
        if before.dtype.kind != "f":
            raise ValueError(f"ExactJacobian: {name} must not depend on parameters, because its values are integers")
        rates[name] = (after - before) / step
    return rates


def _values(m: MjModel, name: str) -> np.ndarray:
    """Return the values of a field of a model, () for a number."""
    memory = internals.memory(m)
    return memory.scalars[name][0] if name in scalars_of(MODEL) else memory.arrays[name]


def _check_equal(simulated: np.ndarray, recorded: np.ndarray) -> None:
    """Raise ValueError unless the recorded steps have the sensor data of the simulation."""
    scale = max(1.0, float(np.max(np.abs(recorded), initial=0.0)))
    if simulated.shape != recorded.shape or np.max(np.abs(simulated - recorded), initial=0.0) > SAME * scale:
        raise ValueError("ExactJacobian: the steps can't be repeated; does a callback or a plugin keep values?")


def _moved(m: MjModel, first: Any, rates: tuple[np.ndarray, np.ndarray] | None, step: float) -> Any:
    """Return a trajectory that is moved by `step` along the rates of its states and sensor data, (nstep + 1, ...)."""
    if rates is None:
        return first
    of_states, of_sensors = rates[0][1:] * step, rates[1] * step
    state = np.array(first.state.data)
    positions = state[:, 1 : 1 + m.nq]
    if m.nq == m.nv:
        positions += of_states[:, : m.nv]
    else:
        for row, rate in zip(positions, of_states[:, : m.nv], strict=True):
            moved = row.copy()
            mj_integratePos(m, moved, rate, 1.0)
            row[:] = moved
    state[:, 1 + m.nq : 1 + m.nq + m.nv + m.na] += of_states[:, m.nv :]
    sensordata = np.asarray(first.sensordata.data) + of_sensors
    return first.replace(
        state=dataclasses.replace(first.state, data=state),
        sensordata=dataclasses.replace(first.sensordata, data=sensordata),
    )
