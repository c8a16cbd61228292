"""`cardan.jax.step`: check_grads, transformations, types, second derivatives. Skipped where JAX isn't installed."""

from __future__ import annotations

import numpy as np
import pytest
from derive.test_transition import CHAIN, moving

import cardan

jax = pytest.importorskip("jax", reason="JAX is not installed (extra cardan[jax])")


@pytest.fixture
def double():
    jax.config.update("jax_enable_x64", True)
    yield
    jax.config.update("jax_enable_x64", False)


def chain() -> cardan.MjModel:
    m = cardan.MjModel.from_xml_string(CHAIN)
    m.opt.tolerance = 0.0
    return m


def inputs(m: cardan.MjModel, seed: int = 0) -> tuple:
    """A state and controls."""
    d = moving(m, seed)
    return jax.numpy.asarray(np.r_[d.qpos, d.qvel, d.act]), jax.numpy.asarray(d.ctrl)


def test_check_grads(double) -> None:
    from jax.test_util import check_grads

    m = chain()
    mass = jax.numpy.asarray(m.body_mass)

    def function(state, ctrl, mass):
        return cardan.jax.step(m, state, ctrl, {"body_mass": mass}, nstep=2)

    check_grads(function, (*inputs(m), mass), order=1, modes=("rev",), atol=1e-5, rtol=1e-5, eps=1e-6)


def test_transformations(double) -> None:
    m = chain()
    states = jax.numpy.stack([inputs(m, k)[0] for k in range(3)])
    ctrl = inputs(m)[1]

    def loss(state, controls):
        def forth(state, control):
            return cardan.jax.step(m, state, control)

        last, sensors = jax.lax.scan(forth, state, controls)
        return last.sum() + sensors.sum()

    controls = jax.numpy.stack([ctrl] * 4)
    together = jax.jit(jax.vmap(jax.grad(loss, (0, 1)), (0, None)))(states, controls)
    assert [x.shape for x in together] == [states.shape, (3, *controls.shape)]
    for k in range(3):
        alone = jax.grad(loss, (0, 1))(states[k], controls)
        for a, b in zip(together, alone, strict=True):
            np.testing.assert_allclose(a[k], b, rtol=1e-12)


def test_single_precision_outside() -> None:
    m = chain()
    state, ctrl = inputs(m)
    assert state.dtype == np.float32
    following, sensors = cardan.jax.step(m, state, ctrl)
    assert (following.dtype, sensors.dtype) == (np.float32, np.float32)
    gradient = jax.grad(lambda x: cardan.jax.step(m, x, ctrl)[0].sum())(state)
    assert gradient.dtype == np.float32
    assert np.isfinite(gradient).all()


def test_no_controls_and_no_sensors() -> None:
    m = cardan.MjModel.from_xml_string(
        "<mujoco><worldbody><body><joint axis='0 1 0'/><geom size='.1' pos='.1 0 0'/></body></worldbody></mujoco>"
    )
    state = np.array([[0.1, 0.0], [0.2, 0.1]])
    gradient = jax.grad(lambda x: cardan.jax.step(m, x, np.zeros(0))[0].sum())(state)
    assert gradient.shape == (2, 2)


def test_second_derivatives_are_refused(double) -> None:
    m = chain()
    state, ctrl = inputs(m)

    def function(x):
        return cardan.jax.step(m, x, ctrl)[0].sum()

    for second in (jax.hessian(function), jax.grad(lambda x: jax.grad(function)(x).sum())):
        with pytest.raises(NotImplementedError, match="no second derivatives"):
            second(state)


def test_bad_input() -> None:
    m = chain()
    state, ctrl = inputs(m)
    with pytest.raises(ValueError, match="state should be of shape"):
        cardan.jax.step(m, state[1:], ctrl)
