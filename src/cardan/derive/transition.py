"""Jacobians of a simulation step (spec: computation, derivatives), without differences."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from cardan.derive.linearisation import Linearisation, linearisation

if TYPE_CHECKING:
    from collections.abc import Mapping

    from cardan.model.mjdata import MjData
    from cardan.model.mjmodel import MjModel

STATE = ("d.qpos", "d.qvel", "d.act")


def by_state(course: Linearisation, outputs: tuple[str, ...]) -> np.ndarray:
    """Derivatives of some fields, one below the other, by positions and velocities: (rows, 2 nv)."""
    nv = course.m.nv
    kinds = ({"d.qpos": course.space.basis(course.d.qpos)}, {"d.qvel": np.eye(nv)})
    return np.hstack([stacked(course, inputs, outputs) for inputs in kinds])


def by_activation_and_control(course: Linearisation, outputs: tuple[str, ...]) -> np.ndarray:
    """The same by the activations, then the controls: (rows, na + nu)."""
    na, nu = course.m.na, course.m.nu
    return stacked(course, {"d.act": np.eye(na, na + nu), "d.ctrl": np.eye(nu, na + nu, na)}, outputs)


def stacked(course: Linearisation, inputs: Mapping[str, np.ndarray], outputs: tuple[str, ...]) -> np.ndarray:
    """Tangents of some fields, one below the other."""
    if not next(iter(inputs.values())).shape[1]:
        rows = sum(course.m.nv if name == "d.qpos" else getattr(course.d, name[2:]).size for name in outputs)
        return np.zeros((rows, 0))
    found = course.tangents(inputs, outputs)
    return np.vstack([found[name] for name in outputs])


def transition_derivatives(m: MjModel, d: MjData, state: bool, control: bool, sensors: bool) -> np.ndarray:
    """Derivatives of the next state and the sensor data of a step by the state and the controls.

    Args:
        m: model.
        d: data; it does not change.
        state: whether derivatives by the state are wanted.
        control: whether those by the controls are.
        sensors: whether those of sensor data are.

    Returns:
        (2 nv + na + nsensordata, 2 nv + na + nu): a row a result, a column an input; zero where not wanted.

    Raises:
        NotImplementedError: the model or the state has a feature without derivatives.
        RuntimeError: native code is switched off.
    """
    course = linearisation(m, "step" if sensors else "step without sensors")
    course.start(d)
    outputs = (*STATE, "d.sensordata") if sensors else STATE
    nv, nx = m.nv, 2 * m.nv + m.na
    result = np.zeros((nx + (m.nsensordata if sensors else 0), nx + m.nu))
    if state:
        result[:, : 2 * nv] = by_state(course, outputs)
    if control or (state and m.na):
        result[:, 2 * nv :] = by_activation_and_control(course, outputs)
    return result
