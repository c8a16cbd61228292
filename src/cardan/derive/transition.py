"""Jacobians of a simulation step (spec: computation, derivatives), without differences."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from cardan.derive.linearisation import linearisation

if TYPE_CHECKING:
    from cardan.model.mjdata import MjData
    from cardan.model.mjmodel import MjModel


@lru_cache(maxsize=64)
def _directions(nv: int, na: int, nu: int) -> tuple[dict[str, np.ndarray], ...]:
    """Directions along each position, each velocity, and each activation and control."""
    others = {"act": np.eye(na, na + nu), "ctrl": np.eye(nu, na + nu, na)}
    return {"qpos": np.eye(nv)}, {"qvel": np.eye(nv)}, others


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
    nv, na, nu = m.nv, m.na, m.nu
    nx = 2 * nv + na
    result = np.zeros((nx + (m.nsensordata if sensors else 0), nx + nu))
    positions, velocities, others = _directions(nv, na, nu)
    kinds = ((state, 0, positions), (state, nv, velocities), (control or (state and na > 0), 2 * nv, others))
    for wanted, first, seeds in kinds:
        n = next(iter(seeds.values())).shape[1]
        if wanted and n:
            found = course.outcome(seeds, sensors)
            result[:nx, first : first + n] = found[0]
            if sensors:
                result[nx:, first : first + n] = found[1]
    return result
