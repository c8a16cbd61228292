"""Gradients of trajectories: against differences of the loss, and bad input."""

from __future__ import annotations

import numpy as np
import pytest
from derive.test_transition import CHAIN, moving

import cardan

STEPS = 12


def loss_of(m: cardan.MjModel, controls: np.ndarray, weights: np.ndarray, sensor_weights: np.ndarray) -> float:
    """A weighted sum of the last velocities and of all sensor data."""
    d = moving(m)
    total = 0.0
    for k in range(STEPS):
        d.ctrl[:] = controls[k]
        cardan.mj_step(m, d)
        total += float(sensor_weights[k] @ d.sensordata)
    return total + float(weights @ d.qvel)


def test_gradient_by_controls() -> None:
    m = cardan.MjModel.from_xml_string(CHAIN)
    rng = np.random.default_rng(2)
    controls = rng.uniform(-0.5, 0.5, (STEPS, m.nu))
    weights, sensor_weights = rng.standard_normal(m.nv), rng.standard_normal((STEPS, m.nsensordata))
    d = moving(m)
    tape = cardan.record(m, d, STEPS, controls)
    assert tape.qpos.shape == (STEPS + 1, m.nq)
    np.testing.assert_array_equal(tape.qvel[-1], d.qvel)
    last = np.concatenate([np.zeros(m.nv), weights, np.zeros(m.na)])
    gradient = tape.gradient(last, sensor_weights)
    for k, u in ((0, 0), (3, 1), (7, 3), (STEPS - 1, 4)):
        size = np.zeros_like(controls)
        size[k, u] = 1e-6
        difference = loss_of(m, controls + size, weights, sensor_weights)
        difference -= loss_of(m, controls - size, weights, sensor_weights)
        np.testing.assert_allclose(gradient.controls[k, u], difference / 2e-6, rtol=1e-5, atol=1e-6)


def test_gradient_by_the_first_state_is_the_product_of_the_jacobians() -> None:
    m = cardan.MjModel.from_xml_string(CHAIN)
    d = moving(m)
    nx = 2 * m.nv + m.na
    product = np.eye(nx)
    w = moving(m)
    for _ in range(3):
        A = np.zeros((nx, nx))
        cardan.mjd_transition(m, w, A, None, None, None)
        cardan.mj_step(m, w)
        product = A @ product
    last = np.arange(nx) / nx
    found = cardan.record(m, d, 3).gradient(last).state
    np.testing.assert_allclose(found, product.T @ last, rtol=1e-9, atol=1e-9)


def test_bad_input() -> None:
    m = cardan.MjModel.from_xml_string(CHAIN)
    d = cardan.MjData(m)
    with pytest.raises(ValueError, match="controls should be of shape"):
        cardan.record(m, d, 3, np.zeros((2, m.nu)))
    with pytest.raises(ValueError, match="negative"):
        cardan.record(m, d, -1)
    with pytest.raises(ValueError, match="dL_dstate should be of shape"):
        cardan.record(m, d, 1).gradient(np.zeros(3))


def test_sensitivities_against_differences() -> None:
    m = cardan.MjModel.from_xml_string(CHAIN)
    m.opt.tolerance = 0.0
    rng = np.random.default_rng(4)
    controls = rng.uniform(-0.5, 0.5, (STEPS, m.nu))
    by = ("body_mass[2]", "dof_damping", "opt.gravity[2]", "qfrc_applied[1]")
    tape = cardan.record(m, moving(m), STEPS, controls)
    found = tape.sensitivities(by)
    assert found["dof_damping"][0].shape == (STEPS + 1, 2 * m.nv + m.na, m.nv)
    assert found["body_mass[2]"][1].shape == (STEPS, m.nsensordata)

    def end(change: float, name: str) -> tuple[np.ndarray, np.ndarray]:
        other, d = cardan.MjModel.from_xml_string(CHAIN), moving(m)
        other.opt.tolerance = 0.0
        if name == "body_mass[2]":
            other.body_mass[2] += change
        elif name == "opt.gravity[2]":
            other.opt.gravity[2] += change
        elif name == "dof_damping":
            other.dof_damping[3] += change
        else:
            d.qfrc_applied[1] += change
        t = cardan.record(other, d, STEPS, controls)
        return np.concatenate([t.qvel[-1], t.act[-1]]), t.sensordata[-1]

    for name in by:
        states, sensors = found[name]
        if name == "dof_damping":
            states, sensors = states[..., 3], sensors[..., 3]
        up, down = end(1e-6, name), end(-1e-6, name)
        for exact, k in ((states[-1, m.nv :], 0), (sensors[-1], 1)):
            np.testing.assert_allclose(exact, (up[k] - down[k]) / 2e-6, rtol=1e-4, atol=1e-5)


def test_sensitivities_and_gradient_agree() -> None:
    m = cardan.MjModel.from_xml_string(CHAIN)
    tape = cardan.record(m, moving(m), STEPS)
    weights = np.random.default_rng(5).standard_normal(2 * m.nv + m.na)
    found = tape.sensitivities(("qpos", "qvel", "act"))
    forwards = np.hstack([found[name][0][-1] for name in ("qpos", "qvel", "act")])
    np.testing.assert_allclose(weights @ forwards, tape.gradient(weights).state, rtol=1e-9, atol=1e-9)


def test_sensitivities_refuse_what_a_step_does_not_read() -> None:
    m = cardan.MjModel.from_xml_string(CHAIN)
    with pytest.raises(ValueError, match="does not read xpos"):
        cardan.record(m, moving(m), 1).sensitivities("xpos")
