"""Tapes of batches: each world has the gradients of a tape of its own."""

from __future__ import annotations

import numpy as np
import pytest
from derive.test_transition import CHAIN

import cardan
from cardan.batch import Batch
from cardan.jit import jit_enabled

pytestmark = pytest.mark.skipif(not jit_enabled, reason="about native code")
WORLDS, STEPS = 5, 7


@pytest.mark.parametrize("every", [1, 3])
def test_each_world_has_the_gradients_of_its_own_tape(every: int) -> None:
    m = cardan.MjModel.from_xml_string(CHAIN)
    rng = np.random.default_rng(1)
    batch = Batch(m, WORLDS, 2)
    batch.qvel[:] = rng.standard_normal((WORLDS, m.nv))
    start = batch.qvel.copy()
    controls = rng.uniform(-0.5, 0.5, (WORLDS, STEPS, m.nu))
    by_states = rng.standard_normal((WORLDS, STEPS + 1, 2 * m.nv + m.na))
    by_sensors = rng.standard_normal((WORLDS, STEPS, m.nsensordata))
    tape = batch.record(STEPS, controls, every=every)
    gradient, jacobians, found = tape.gradient(by_states, by_sensors), tape.jacobians(), tape.sensitivities("qvel")
    for k in range(WORLDS):
        d = cardan.MjData(m)
        d.qvel[:] = start[k]
        one = cardan.record(m, d, STEPS, controls[k])
        np.testing.assert_array_equal(batch.qpos[k], d.qpos)
        np.testing.assert_array_equal(batch.time[k], d.time)
        np.testing.assert_array_equal(tape.sensordata[k], one.sensordata)
        np.testing.assert_array_equal(tape.qvel[k], one.qvel[[*range(0, STEPS, every), STEPS]])
        wanted = one.gradient(by_states[k], by_sensors[k])
        np.testing.assert_array_equal(gradient.state[k], wanted.state)
        np.testing.assert_array_equal(gradient.controls[k], wanted.controls)
        np.testing.assert_array_equal(jacobians.A[k], one.jacobians().A)
        np.testing.assert_array_equal(found["qvel"][0][k], one.sensitivities("qvel")["qvel"][0])


def test_some_worlds() -> None:
    m = cardan.MjModel.from_xml_string(CHAIN)
    batch = Batch(m, WORLDS)
    tape = batch.record(2, ids=[1, 3])
    assert tape.qpos.shape == (2, 3, m.nq)
    assert batch.time.tolist() == [0.0, 2 * m.opt.timestep, 0.0, 2 * m.opt.timestep, 0.0]


def test_bad_input() -> None:
    m = cardan.MjModel.from_xml_string(CHAIN)
    batch = Batch(m, 2)
    with pytest.raises(ValueError, match="controls should be of shape"):
        batch.record(3, np.zeros((2, 2, m.nu)))
    with pytest.raises(ValueError, match="dL_dstate should be of shape"):
        batch.record(1).gradient(np.zeros(3))
    with pytest.raises(NotImplementedError, match="double precision"):
        Batch(m, 2, dtype="float32").record(1)
    batch.expand("dof_damping")
    with pytest.raises(NotImplementedError, match="models of their own"):
        batch.record(1)
