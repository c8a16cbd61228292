"""Jacobians of the inverse dynamics (spec: computation, derivatives), without differences."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from cardan.derive.linearisation import linearisation

if TYPE_CHECKING:
    from cardan.model.mjdata import MjData
    from cardan.model.mjmodel import MjModel


def inverse_derivatives(
    m: MjModel, d: MjData, actuation: bool, inputs: tuple[bool, bool, bool], sensors: bool
) -> np.ndarray:
    """Derivatives of the results of inverse dynamics by position, velocity and acceleration.

    Args:
        m: model.
        d: data; it does not change.
        actuation: whether to subtract `qfrc_actuator` from `qfrc_inverse`.
        inputs: whether derivatives by positions, velocities and accelerations are wanted.
        sensors: whether those of sensor data are.

    Returns:
        (3 nv, nv + nsensordata + nM): a row an input, columns for qfrc_inverse, sensor data and qM; zero where not
        wanted.

    Raises:
        NotImplementedError: the model or the state has a feature without derivatives.
        RuntimeError: native code is switched off.
    """
    names = {(False, False): "inverse without sensors", (False, True): "inverse"}
    with linearisation(m, names.get((actuation, sensors), "inverse with actuation")) as course:
        course.start(d)
        nv, ns = m.nv, m.nsensordata
        result = np.zeros((3 * nv, nv + ns + m.nM))
        seeds = (("d.qpos", course.space.basis(course.d.qpos)), ("d.qvel", np.eye(nv)), ("d.qacc", np.eye(nv)))
        outputs = ("d.qfrc_inverse", "d.qM", *(("d.sensordata",) if sensors else ()))
        outputs += ("d.qfrc_actuator",) if actuation else ()
        for k, (name, directions) in enumerate(seeds):
            if inputs[k] and nv:
                found = course.tangents({name: directions}, outputs)
                rows = result[k * nv : (k + 1) * nv]
                rows[:, :nv] = found["d.qfrc_inverse"].T
                if actuation:
                    rows[:, :nv] -= found["d.qfrc_actuator"].T
                if sensors:
                    rows[:, nv : nv + ns] = found["d.sensordata"].T
                rows[:, nv + ns :] = found["d.qM"].T
    return result
