"""Jacobians of a simulation step (spec: computation, derivatives), without differences."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cardan.derive.jacobian import step_jacobian

if TYPE_CHECKING:
    import numpy as np

    from cardan.model.mjdata import MjData
    from cardan.model.mjmodel import MjModel


def transition_derivatives(
    m: MjModel, d: MjData, state: bool, control: bool, sensors: bool, reach: float = 0.0
) -> np.ndarray:
    """Derivatives of the next state and the sensor data of a step by the state and the controls.

    Args:
        m: model.
        d: data; it does not change.
        state: whether derivatives by the state are wanted.
        control: whether those by the controls are.
        sensors: whether those of sensor data are.
        reach: distance up to which contacts take part that aren't made (`derive.distant`); 0 for none.

    Returns:
        (2 nv + na + nsensordata, 2 nv + na + nu): a row a result, a column an input; what was not wanted is not
        defined.

    Raises:
        NotImplementedError: the model or the state has a feature without derivatives.
        RuntimeError: native code is switched off.
    """
    with step_jacobian(m, sensors, reach) as jacobian:
        return jacobian.compute(d, state, control).copy()
