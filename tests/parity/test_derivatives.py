"""Derivatives by finite differences and those of quaternion operations, beside the reference's."""

from __future__ import annotations

import mujoco
import numpy as np
import pytest
from dynamics.states import random_state
from marks import takes_minutes_interpreted
from models import EXAMPLES
from parity.fluid_models import BOX, fluid_model
from reference import copy_state, model_from_reference

import cardan
from cardan.model import MjData

HUMANOID = EXAMPLES / "humanoid.xml"
STATE = int(mujoco.mjtState.mjSTATE_INTEGRATION)


def pair(rm: mujoco.MjModel, seed: int = 0):
    rd = random_state(rm, seed)
    m = model_from_reference(rm)
    d = MjData(m)
    copy_state(rd, d)
    return rd, m, d


def state_of(m, d) -> np.ndarray:
    state = np.zeros(cardan.mj_stateSize(m, STATE))
    cardan.mj_getState(m, d, state, STATE)
    return state


def transition_matrices(engine, m, d, eps: float, centered: int) -> list[np.ndarray]:
    nx, nu, ns = 2 * m.nv + m.na, m.nu, m.nsensordata
    matrices = [np.full(shape, 7.0) for shape in ((nx, nx), (nx, nu), (ns, nx), (ns, nu))]
    engine.mjd_transitionFD(m, d, eps, centered, *matrices)
    return matrices


def reference_matrices(rm, rd, eps: float, centered: int) -> list[np.ndarray]:
    """The reference's; D by forward differences: by centred ones it has the wrong sign (docs/differences.md)."""
    matrices = transition_matrices(mujoco, rm, rd, eps, centered)
    matrices[3] = transition_matrices(mujoco, rm, rd, eps, 0)[3]
    return matrices


def compare(got, want, tolerance: float) -> None:
    for k, (a, b) in enumerate(zip(got, want, strict=True)):
        scale = max(1.0, float(np.abs(b).max(initial=0)))
        np.testing.assert_allclose(a, b, rtol=0, atol=tolerance * scale, err_msg=f"matrix {k}")


@pytest.mark.parametrize("centered", (0, 1))
@pytest.mark.parametrize("integrator", ("Euler", "implicit", "implicitfast"))
def test_transition(integrator: str, centered: int) -> None:
    rm = mujoco.MjModel.from_xml_string(fluid_model(BOX, "density", integrator))
    rd, m, d = pair(rm)
    before = state_of(m, d)
    got = transition_matrices(cardan, m, d, 1e-6, centered)
    compare(got, reference_matrices(rm, rd, 1e-6, centered), 1e-7)
    np.testing.assert_array_equal(state_of(m, d), before)


@pytest.mark.parametrize("centered", (0, 1))
def test_transition_with_large_perturbations(centered: int) -> None:
    """Differences of configurations are taken between the two ends, not around the middle."""
    rm = mujoco.MjModel.from_xml_string(fluid_model(BOX, "density"))
    rd, m, d = pair(rm)
    compare(transition_matrices(cardan, m, d, 0.3, centered), reference_matrices(rm, rd, 0.3, centered), 1e-11)


@pytest.mark.parametrize("eps", (1e-2, -1e-2))
@pytest.mark.parametrize("centered", (0, 1))
@pytest.mark.parametrize("ctrl", (0.0, 1.0, -1.0, 0.995, -0.995, 1.5))
def test_controls_at_the_edge_of_their_range(ctrl: float, centered: int, eps: float) -> None:
    rm = mujoco.MjModel.from_xml_string(fluid_model(BOX, "density"))
    rd, m, d = pair(rm)
    rd.ctrl[3] = d.ctrl[3] = ctrl
    got = transition_matrices(cardan, m, d, eps, centered)
    compare(got, reference_matrices(rm, rd, eps, centered), 1e-10)


@takes_minutes_interpreted
def test_transition_of_the_humanoid() -> None:
    rm = mujoco.MjModel.from_xml_path(str(HUMANOID))
    rm.opt.tolerance = 1e-14
    rd, m, d = pair(rm)
    for _ in range(100):
        mujoco.mj_step(rm, rd)
    mujoco.mj_forward(rm, rd)
    copy_state(rd, d)
    assert rd.ncon > 0
    before = state_of(m, d)
    compare(transition_matrices(cardan, m, d, 1e-6, 1), reference_matrices(rm, rd, 1e-6, 1), 1e-7)
    np.testing.assert_array_equal(state_of(m, d), before)


def test_transition_under_runge_kutta() -> None:
    """Each matrix is the derivative of whole steps (the reference reuses the positions of the last substage)."""
    rm = mujoco.MjModel.from_xml_string(fluid_model(BOX, "density", "RK4"))
    rd, m, d = pair(rm)
    A, B, _, _ = transition_matrices(cardan, m, d, 1e-6, 1)
    nv = m.nv

    def step(qvel, ctrl):
        copy_state(rd, d)
        d.qvel[:], d.ctrl[:] = qvel, ctrl
        cardan.mj_step(m, d)
        return np.array(d.qvel), np.array(d.act)

    for i in range(nv):
        change = 1e-6 * np.eye(nv)[i]
        high, low = step(rd.qvel + change, rd.ctrl)[0], step(rd.qvel - change, rd.ctrl)[0]
        np.testing.assert_allclose(A[nv : 2 * nv, nv + i], (high - low) / 2e-6, atol=1e-8)
    change = np.array([1e-6, 0, 0, 0])
    high, low = step(rd.qvel, rd.ctrl + change)[0], step(rd.qvel, rd.ctrl - change)[0]
    np.testing.assert_allclose(B[nv : 2 * nv, 0], (high - low) / 2e-6, atol=1e-8)


@pytest.mark.parametrize("missing", range(4))
def test_transition_without_some_matrices(missing: int) -> None:
    m = model_from_reference(mujoco.MjModel.from_xml_string(fluid_model()))
    d = MjData(m)
    want = transition_matrices(cardan, m, d, 1e-6, 0)
    got = [np.zeros_like(matrix) if k != missing else None for k, matrix in enumerate(want)]
    cardan.mjd_transitionFD(m, d, 1e-6, 0, *got)
    compare([x for x in got if x is not None], [want[k] for k in range(4) if k != missing], 0)


@pytest.mark.parametrize("invdiscrete", (False, True))
@pytest.mark.parametrize("actuation", (0, 1))
@pytest.mark.parametrize("integrator", ("Euler", "implicit"))
def test_inverse(integrator: str, actuation: int, invdiscrete: bool) -> None:
    rm = mujoco.MjModel.from_xml_string(fluid_model(BOX, "density", integrator))
    if invdiscrete:
        rm.opt.enableflags |= mujoco.mjtEnableBit.mjENBL_INVDISCRETE
    rd, m, d = pair(rm)
    d.qacc[:] = rd.qacc[:] = np.arange(m.nv)
    results = []
    for engine, a, b in ((cardan, m, d), (mujoco, rm, rd)):
        shapes = [(m.nv, m.nv)] * 3 + [(m.nv, m.nsensordata)] * 3 + [(m.nv, m.nM)]
        results.append([np.full(shape, 7.0) for shape in shapes])
        engine.mjd_inverseFD(a, b, 1e-6, actuation, *results[-1])
    if actuation:  # the reference's sensors show the actuator forces of the evaluation before (docs/differences.md)
        shown = m.sensor_adr[m.sensor_type == cardan.mjtSensor.mjSENS_ACTUATORFRC]
        for matrix in (*results[0][3:6], *results[1][3:6]):
            matrix[:, shown] = 0.0
    compare(*results, 1e-7)
    np.testing.assert_array_equal(d.qacc, np.arange(m.nv))
    np.testing.assert_array_equal(d.qpos, rd.qpos)


def test_quaternions() -> None:
    rng = np.random.default_rng(0)
    cases = [rng.normal(size=(2, 4)) for _ in range(20)]
    cases += [np.array(c, float) for c in (([1, 0, 0, 0], [1, 0, 0, 0]), ([1, 0, 0, 0], [0, 1, 0, 0]))]
    cases += [np.array([[1, angle, 0, 0.0], [1, 0, 0, 0]]) for angle in (1e-12, 1e-8, 4e-4, 6e-4, 1e-3)]
    for qa, qb in cases:
        got, want = np.zeros((2, 9)), np.zeros((2, 9))
        cardan.mjd_subQuat(qa, qb, got[0], got[1].reshape(3, 3))
        mujoco.mjd_subQuat(qa, qb, want[0], want[1].reshape(3, 3))
        np.testing.assert_allclose(got, want, atol=1e-10)


def test_integration_of_quaternions() -> None:
    rng = np.random.default_rng(0)
    cases = [(rng.normal(size=3), scale) for scale in (0.0, 1e-12, 1e-7, 4e-4, 1e-3, 0.3, 2.0, -1.0)]
    for velocity, scale in (*cases, (np.zeros(3), 0.5)):
        results = []
        for engine in (cardan, mujoco):
            results.append([np.zeros(9), np.zeros(9), np.zeros(3)])
            engine.mjd_quatIntegrate(velocity, scale, *results[-1])
        for got, want in zip(*results, strict=True):
            np.testing.assert_allclose(got, want, atol=1e-10)
