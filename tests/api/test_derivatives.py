"""Arguments of the mjd_* functions: what is refused, and with which words."""

from __future__ import annotations

import re

import numpy as np
import pytest

import cardan

XML = """
<mujoco>
  <worldbody><body><joint type="slide" name="a"/><geom size=".1"/></body></worldbody>
  <actuator><general joint="a" dyntype="filter"/></actuator>
  <sensor><jointpos joint="a"/><jointvel joint="a"/></sensor>
</mujoco>
"""


@pytest.fixture
def pair():
    m = cardan.MjModel.from_xml_string(XML)
    return m, cardan.MjData(m)


def transition_arrays() -> list[np.ndarray]:
    return [np.zeros((3, 3)), np.zeros((3, 1)), np.zeros((2, 3)), np.zeros((2, 1))]


@pytest.mark.parametrize(
    ("wrong", "shape"),
    [(0, "(2*nv+na, 2*nv+na)"), (1, "(2*nv+na, nu)"), (2, "(nsensordata, 2*nv+na)"), (3, "(nsensordata, nu)")],
)
def test_transition_matrix_of_wrong_shape(pair, wrong: int, shape: str) -> None:
    arrays = transition_arrays()
    arrays[wrong] = np.zeros((5, 5))
    with pytest.raises(TypeError, match=re.escape(f"{'ABCD'[wrong]} should be of shape {shape}")):
        cardan.mjd_transitionFD(*pair, 1e-6, 0, *arrays)


@pytest.mark.parametrize("A", [np.zeros((3, 3), np.float32), np.zeros((3, 3), order="F"), np.zeros(9)])
def test_transition_matrix_of_wrong_type(pair, A: np.ndarray) -> None:
    A = A if A.ndim == 1 or A.dtype == np.float32 else A.T[:, ::-1]
    with pytest.raises(TypeError, match="A should be"):
        cardan.mjd_transitionFD(*pair, 1e-6, 0, A, None, None, None)


@pytest.mark.parametrize(
    ("eps", "error"), [(0, ValueError), (np.nan, ValueError), (np.inf, ValueError), ("x", TypeError)]
)
def test_perturbations_that_make_no_sense(pair, eps, error) -> None:
    with pytest.raises(error, match="eps"):
        cardan.mjd_transitionFD(*pair, eps, 0, *transition_arrays())


def test_inverse_refuses_runge_kutta_and_noslip(pair) -> None:
    m, d = pair
    m.opt.noslip_iterations = 2
    with pytest.raises(cardan.FatalError, match="noslip"):
        cardan.mjd_inverseFD(m, d, 1e-6, 0, *[None] * 7)
    m.opt.integrator = cardan.mjtIntegrator.mjINT_RK4
    with pytest.raises(cardan.FatalError, match="RK4"):
        cardan.mjd_inverseFD(m, d, 1e-6, 0, *[None] * 7)


@pytest.mark.parametrize("wrong", range(7))
def test_inverse_matrix_of_wrong_shape(pair, wrong: int) -> None:
    arrays = [None] * 7
    arrays[wrong] = np.zeros((5, 5))
    with pytest.raises(TypeError, match=r"D[fsm]D[qva] should be of shape"):
        cardan.mjd_inverseFD(*pair, 1e-6, 0, *arrays)


def test_state_comes_back_when_a_callback_fails(pair) -> None:
    m, d = pair
    d.qpos[0] = 0.25
    calls = []

    def fail(_m, _d) -> None:
        calls.append(1)
        if len(calls) > 2:
            raise RuntimeError("no more")

    cardan.set_mjcb_control(fail)
    try:
        with pytest.raises(RuntimeError, match="no more"):
            cardan.mjd_transitionFD(m, d, 1e-3, 0, *transition_arrays())
    finally:
        cardan.set_mjcb_control(None)
    assert (d.qpos[0], d.time) == (0.25, 0.0)


def test_quaternion_arguments() -> None:
    q = np.array([1.0, 0, 0, 0])
    with pytest.raises(TypeError, match="qa must have size 4"):
        cardan.mjd_subQuat(np.zeros(3), q, None, None)
    with pytest.raises(TypeError, match="Db must have size 9"):
        cardan.mjd_subQuat(q, q, None, np.zeros((2, 2)))
    with pytest.raises(TypeError, match="Dquat"):
        cardan.mjd_quatIntegrate(np.ones(3), 0.1, None, np.zeros(9), np.zeros(3))
    with pytest.raises(TypeError, match="vel"):
        cardan.mjd_quatIntegrate(np.ones(4), 0.1, np.zeros(9), np.zeros(9), np.zeros(3))
