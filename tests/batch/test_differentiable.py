"""Steps as functions of arrays: against `mj_step`, their pull-back against differences, parameters, bad input."""

from __future__ import annotations

import numpy as np
import pytest
from derive.test_transition import CHAIN, moving

import cardan
from cardan.batch.differentiable import differentiable_step
from cardan.step.report import SimulationWarning

BOX = """<mujoco><option timestep=".005" tolerance="0"/><worldbody><geom type="plane" size="1 1 .1"/>
<body pos="0 0 .099"><freejoint/><geom type="box" size=".1 .1 .1" mass="1" friction=".5"/></body></worldbody>
</mujoco>"""


def states(m: cardan.MjModel, worlds: int) -> tuple[np.ndarray, np.ndarray]:
    """States and controls of some worlds, moving."""
    all_data = [moving(m, seed) for seed in range(worlds)]
    return np.array([np.r_[d.qpos, d.qvel, d.act] for d in all_data]), np.array([d.ctrl for d in all_data])


def test_forward_is_a_step() -> None:
    m = cardan.MjModel.from_xml_string(CHAIN)
    state, ctrl = states(m, 5)
    found, sensors = differentiable_step(m, (), 3).forward(state, ctrl, ())
    for k in range(5):
        d = moving(m, k)
        cardan.mj_step(m, d, nstep=3)
        np.testing.assert_array_equal(found[k], np.r_[d.qpos, d.qvel, d.act])
        np.testing.assert_array_equal(sensors[k], d.sensordata)


def test_pull_back_against_differences() -> None:
    m = cardan.MjModel.from_xml_string(BOX)
    m.opt.gravity[:] = 1.0, 0.0, -9.81
    names = ("geom_friction[1]", "body_mass", "opt.gravity", "opt.timestep", "qfrc_applied")
    function = differentiable_step(m, names, 2)
    rng = np.random.default_rng(3)
    state = np.r_[0, 0, 0.099, 2.0, 0.02, -0.01, 0.1, 0.4, 0.1, -0.1, 0, 0, 0.2][None]  # a quaternion that isn't unit
    values = [m.geom_friction[1], m.body_mass, m.opt.gravity, np.array(m.opt.timestep), np.zeros(6)]
    rows = [value[None].astype(float) for value in values]
    weights = rng.standard_normal(13)
    gradients = function.pull_back(state, np.zeros((1, 0)), rows, weights[None], np.zeros((1, 0)))
    inputs = [state, np.zeros((1, 0)), *rows]
    for k, (array, gradient) in enumerate(zip(inputs, gradients, strict=True)):
        assert gradient.shape == array.shape
        for i in np.ndindex(*array.shape):
            ends = []
            for sign in (1.0, -1.0):
                moved = [a.copy() for a in inputs]
                moved[k][i] += sign * 1e-6
                ends.append(float(function.forward(moved[0], moved[1], moved[2:])[0][0] @ weights))
            assert gradient[i] == pytest.approx((ends[0] - ends[1]) / 2e-6, rel=1e-5, abs=1e-5)
    assert m.body_mass[1] == 1.0  # the model itself is as it was


def test_worlds_are_independent() -> None:
    m = cardan.MjModel.from_xml_string(CHAIN)
    state, ctrl = states(m, 4)
    masses = m.body_mass * np.linspace(0.5, 2.0, 4)[:, None]
    function = differentiable_step(m, ("body_mass",), 1)
    ones, sensors = np.ones_like(state), np.ones((4, m.nsensordata))
    together = function.pull_back(state, ctrl, (masses,), ones, sensors)
    for k in range(4):
        part = slice(k, k + 1)
        alone = function.pull_back(state[part], ctrl[part], (masses[part],), ones[part], sensors[part])
        for a, b in zip(together, alone, strict=True):
            np.testing.assert_array_equal(a[part], b)


def test_the_model_as_it_is_now_counts() -> None:
    m = cardan.MjModel.from_xml_string(CHAIN)
    state, ctrl = states(m, 1)
    before = differentiable_step(m, ("dof_damping",), 1).forward(state, ctrl, (m.dof_damping[None],))[0]
    m.body_mass[:] *= 2.0
    m.opt.timestep = 0.02
    after = differentiable_step(m, ("dof_damping",), 1).forward(state, ctrl, (m.dof_damping[None],))[0]
    plain = differentiable_step(m, (), 1).forward(state, ctrl, ())[0]
    assert np.abs(after - before).max() > 1e-3
    np.testing.assert_array_equal(after, plain)


def test_bad_input() -> None:
    m = cardan.MjModel.from_xml_string(BOX)
    with pytest.raises(ValueError, match="nstep must be at least 1"):
        differentiable_step(m, (), 0)
    with pytest.raises(ValueError, match="arguments of their own"):
        differentiable_step(m, ("qvel",), 1)
    with pytest.raises(ValueError, match="neither MjData nor MjModel has a field 'mass'"):
        differentiable_step(m, ("mass",), 1)
    with pytest.raises(TypeError, match="MjModel"):
        differentiable_step(3, (), 1)  # type: ignore[arg-type]
    function = differentiable_step(m, (), 1)
    with pytest.raises(ValueError, match=r"state should be of shape \(..., 13\)"):
        function.forward(np.zeros((1, 3)), np.zeros((1, 0)), ())
    with pytest.raises(ValueError, match="ctrl is given for 2 worlds"):
        function.forward(np.ones((1, 13)), np.zeros((2, 0)), ())
    with pytest.raises(ValueError, match="length 0"):
        function.forward(np.zeros((1, 13)), np.zeros((1, 0)), ())
    with pytest.raises(cardan.FatalError, match="unstable"), pytest.warns(SimulationWarning):
        function.forward(np.full((1, 13), 1e20), np.zeros((1, 0)), ())
    with pytest.raises(cardan.FatalError, match="unstable"):  # also when the data have diverged before
        function.forward(np.full((1, 13), 1e20), np.zeros((1, 0)), ())
