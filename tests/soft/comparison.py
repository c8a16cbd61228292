"""Both engines side by side on a model with flexes that the reference compiled."""

from __future__ import annotations

import mujoco
import numpy as np
from data_compared import DATA_FIELDS, SMOOTH, SOLVER, data_differences
from reference import copy_state, model_from_reference

import cardan


def random_state(rm: mujoco.MjModel, rd: mujoco.MjData, seed: int, size: float = 0.02) -> None:
    """Put the reference's data into a random state near qpos0."""
    rng = np.random.default_rng(seed)
    mujoco.mj_resetData(rm, rd)
    mujoco.mj_integratePos(rm, rd.qpos, size * rng.standard_normal(rm.nv), 1.0)
    rd.qvel[:] = rng.standard_normal(rm.nv)


def compare(rm: mujoco.MjModel, seed: int, size: float = 0.02) -> int:
    """Compare all fields after `mj_forward`, and the velocity after a step; returns the number of contacts."""
    m, rd = model_from_reference(rm), mujoco.MjData(rm)
    d = cardan.MjData(m)
    random_state(rm, rd, seed, size)
    copy_state(rd, d)
    mujoco.mj_forward(rm, rd)
    cardan.mj_forward(m, d)
    assert (d.ncon, d.nefc) == (rd.ncon, rd.nefc)
    assert not list(data_differences(rd, d, DATA_FIELDS, (SMOOTH, SOLVER), "forward"))
    contacts = rd.ncon
    mujoco.mj_step(rm, rd)
    cardan.mj_step(m, d)
    np.testing.assert_allclose(d.qvel, rd.qvel, rtol=0, atol=1e-6 * max(1.0, np.abs(rd.qvel).max()))
    return contacts
