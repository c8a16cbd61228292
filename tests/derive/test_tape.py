"""Gradients of trajectories: against differences of the loss, and bad input."""

from __future__ import annotations

from copy import copy

import numpy as np
import pytest
from derive.test_transition import CHAIN, moving
from numpy.typing import ArrayLike

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
    with pytest.raises(ValueError, match="every must be at least 1"):
        cardan.record(m, d, 3, every=0)
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


def test_jacobians_are_those_of_each_step() -> None:
    m = cardan.MjModel.from_xml_string(CHAIN)
    controls = np.random.default_rng(6).uniform(-0.5, 0.5, (STEPS, m.nu))
    found = cardan.record(m, moving(m), STEPS, controls).jacobians(sensors=True)
    d = moving(m)
    nx, ns = 2 * m.nv + m.na, m.nsensordata
    for k, control in enumerate(controls):
        d.ctrl[:] = control
        wanted = [np.zeros(shape) for shape in ((nx, nx), (nx, m.nu), (ns, nx), (ns, m.nu))]
        before = copy(d)
        cardan.mj_step(m, d)
        before.qacc_warmstart[:] = d.qacc_warmstart  # a tape knows the solution
        cardan.mjd_transition(m, before, *wanted)
        for all_steps, one in zip((found.A, found.B, found.C, found.D), wanted, strict=True):
            np.testing.assert_array_equal(all_steps[k], one)


FALLING = """<mujoco><option cone="elliptic"/><worldbody><geom type="plane" size="2 2 .1"/>
<body pos="0 0 .23"><freejoint/><geom type="box" size=".1 .07 .05" mass="1"/></body>
<body pos=".4 0 .12"><freejoint/><geom size=".1" mass="1"/></body></worldbody></mujoco>"""


def test_gradient_while_contacts_come_and_go() -> None:
    m = cardan.MjModel.from_xml_string(FALLING)
    n = 150
    d, w = cardan.MjData(m), cardan.MjData(m)
    for data in (d, w):
        data.qvel[:] = [0.3, 0.1, -0.5, 1.0, 2.0, 0.5, 0.0, 0.2, -1.0, 0.0, 0.3, 0.0]
    tape = cardan.record(m, d, n)
    adjoint = np.random.default_rng(7).standard_normal(2 * m.nv)
    found = tape.gradient(adjoint).state
    contacts, jacobians = set(), []
    for _ in range(n):
        jacobians.append(np.zeros((2 * m.nv, 2 * m.nv)))
        cardan.mjd_transition(m, w, jacobians[-1], None, None, None)
        cardan.mj_step(m, w)
        contacts.add(w.ncon)
    assert len(contacts) > 3
    for A in jacobians[::-1]:
        adjoint = A.T @ adjoint
    np.testing.assert_allclose(found, adjoint, rtol=1e-9, atol=1e-9 * np.abs(adjoint).max())


def test_spaced_checkpoints_change_nothing() -> None:
    m = cardan.MjModel.from_xml_string(CHAIN)
    rng = np.random.default_rng(8)
    controls = rng.uniform(-0.5, 0.5, (STEPS, m.nu))
    by_states = rng.standard_normal((STEPS + 1, 2 * m.nv + m.na))
    by_sensors = rng.standard_normal((STEPS, m.nsensordata))
    dense = cardan.record(m, moving(m), STEPS, controls)
    spaced = cardan.record(m, moving(m), STEPS, controls, every=5)
    assert spaced.qpos.shape == (4, m.nq)
    np.testing.assert_array_equal(spaced.qpos, dense.qpos[[0, 5, 10, STEPS]])
    one, other = (tape.gradient(by_states, by_sensors) for tape in (dense, spaced))
    np.testing.assert_array_equal(one.state, other.state)
    np.testing.assert_array_equal(one.controls, other.controls)
    np.testing.assert_array_equal(dense.jacobians().A, spaced.jacobians().A)
    name = "dof_damping[1]"
    np.testing.assert_array_equal(dense.sensitivities(name)[name][0], spaced.sensitivities(name)[name][0])


def test_feedback() -> None:
    m = cardan.MjModel.from_xml_string(CHAIN)
    rng = np.random.default_rng(9)
    plain = cardan.record(m, moving(m), STEPS)
    nx = 2 * m.nv + m.na
    gains, controls = rng.standard_normal((STEPS, m.nu, nx)), rng.uniform(-0.1, 0.1, (STEPS, m.nu))
    references = np.hstack([plain.qpos, plain.qvel, plain.act])[:-1]
    tape = cardan.record(m, moving(m), STEPS, controls, feedback=(references, gains))
    d = moving(m)
    limits = np.where(m.actuator_ctrllimited[:, None], m.actuator_ctrlrange, [-np.inf, np.inf])
    for k in range(STEPS):
        turn = np.zeros(m.nv)
        cardan.mj_differentiatePos(m, turn, 1.0, references[k, : m.nq], d.qpos)
        deviation = np.concatenate([turn, np.concatenate([d.qvel, d.act]) - references[k, m.nq :]])
        d.ctrl[:] = np.clip(controls[k] + gains[k] @ deviation, *limits.T)
        np.testing.assert_allclose(tape.controls[k], d.ctrl, rtol=1e-9, atol=1e-9)
        cardan.mj_step(m, d)
    np.testing.assert_allclose(tape.qpos[-1], d.qpos, rtol=1e-8, atol=1e-8)
    with pytest.raises(ValueError, match="gains of the feedback should be of shape"):
        cardan.record(m, d, STEPS, feedback=(references, gains[:, :1, :1]))


def test_sensitivities_leave_nothing_behind() -> None:
    m = cardan.MjModel.from_xml_string(CHAIN)
    tape = cardan.record(m, moving(m), 3)
    weights, sensor_weights = np.ones(2 * m.nv + m.na), np.ones((3, m.nsensordata))
    before = tape.gradient(weights, sensor_weights).state
    tape.sensitivities(("qvel", "body_mass"))
    np.testing.assert_array_equal(tape.gradient(weights, sensor_weights).state, before)
    tape.sensitivities(("qvel", "body_mass"))
    nx, ns = 2 * m.nv + m.na, m.nsensordata
    A, C = np.zeros((nx, nx)), np.zeros((ns, nx))
    d, first = moving(m), moving(m)
    cardan.mj_step(m, d)
    first.qacc_warmstart[:] = d.qacc_warmstart
    cardan.mjd_transition(m, first, A, None, C, None)
    np.testing.assert_array_equal(tape.jacobians(sensors=True).A[0], A)


def mixed(m: cardan.MjModel) -> dict[str, ArrayLike]:
    """Numbers that change together."""
    return {"body_mass[1]": 0.5, "body_inertia[1]": [0.1, 0.2, 0.3], "qvel": np.arange(m.nv), "ctrl": 2.0}


def test_sensitivities_along_combinations() -> None:
    m = cardan.MjModel.from_xml_string(CHAIN)
    tape = cardan.record(m, moving(m), STEPS)
    together = mixed(m)
    names = tuple(together)
    single, both = tape.sensitivities(names), tape.sensitivities({"all": together, "mass": {names[0]: 1.0}})
    for k in range(2):
        wanted = np.zeros(both["all"][k].shape)
        for name, weight in together.items():
            columns = single[name][k].reshape(*wanted.shape, -1)
            wanted += (columns * np.asarray(weight).reshape(-1)).sum(axis=-1)
        np.testing.assert_allclose(both["all"][k], wanted, rtol=1e-9, atol=1e-9 * np.abs(wanted).max())
        np.testing.assert_allclose(both["mass"][k], single[names[0]][k], rtol=1e-9, atol=1e-12)
    with pytest.raises(
        ValueError, match=r"weights of body_inertia\[1\] should be a number or an array of shape \(3,\)"
    ):
        tape.sensitivities({"wrong": {"body_inertia[1]": [1.0, 2.0]}})
