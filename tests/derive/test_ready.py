"""Jacobians of small models without Python: the same numbers, for as long as they hold."""

from __future__ import annotations

import sys
from concurrent.futures import ThreadPoolExecutor
from copy import copy

import numpy as np
import pytest

import cardan

SLIDER = """
<mujoco><option timestep="0.01"/><worldbody><geom type="plane" size="1 1 .1"/>
 <body pos="0 0 .095"><joint name="joint1" type="slide" axis="1 0 0" damping=".3"/><joint type="slide" axis="0 0 1"/>
  <geom size=".1" mass="1"/></body></worldbody>
 <actuator><motor joint="joint1"/></actuator></mujoco>"""


def jacobians(m: cardan.MjModel, d: cardan.MjData, natively: bool = True) -> tuple[np.ndarray, np.ndarray]:
    A, B = np.full((4, 4), np.nan), np.full((4, 1), np.nan)
    if natively:
        cardan.mjd_transition(m, d, A, B, None, None)
    else:
        cardan.mjd_transition(m, d, A, B, None, None, "exact")  # takes the way through Python
    return A, B


def same(one: tuple[np.ndarray, np.ndarray], other: tuple[np.ndarray, np.ndarray]) -> bool:
    return all((a == b).all() for a, b in zip(one, other, strict=True))


@pytest.fixture
def pair() -> tuple[cardan.MjModel, cardan.MjData]:
    m = cardan.MjModel.from_xml_string(SLIDER)
    d = cardan.MjData(m)
    d.qvel[:], d.ctrl[:] = (0.3, -0.1), 0.5
    jacobians(m, d)
    return m, d


def test_along_a_trajectory_that_touches_and_leaves(pair: tuple[cardan.MjModel, cardan.MjData]) -> None:
    m, d = pair
    d.qpos[1] = 0.01
    counts = set()
    for k in range(60):
        d.qvel[1] += 0.8 if k == 30 else 0.0
        state = d.qpos.copy(), d.qvel.copy(), d.qacc_warmstart.copy()
        natively = jacobians(m, d)
        for field, before in zip((d.qpos, d.qvel, d.qacc_warmstart), state, strict=True):
            np.testing.assert_array_equal(field, before)
        assert same(natively, jacobians(m, d, natively=False))
        cardan.mj_step(m, d)
        counts.add(d.ncon)
    assert counts == {0, 1}


def test_after_a_sweep_over_a_tape(pair: tuple[cardan.MjModel, cardan.MjData]) -> None:
    m, d = pair
    before = jacobians(m, d)
    tape = cardan.record(m, copy(d), 30)
    for _ in range(3):
        tape.gradient(np.ones(4))
        cardan.mjd_transition(m, d, np.zeros((4, 4)), None, None, None)  # other columns than those of the tape
        assert same(jacobians(m, d), before)
        assert same(jacobians(m, d), before)


def test_options_parameters_and_copies_count(pair: tuple[cardan.MjModel, cardan.MjData]) -> None:
    m, d = pair
    d.qpos[1] = 0.5  # friction hides the damping
    before = jacobians(m, d)
    other = copy(m)
    m.dof_damping[0] = 3.0
    damped = jacobians(m, d)
    assert damped[0][2, 2] < before[0][2, 2]
    m.opt.timestep = 0.001
    short = jacobians(m, d)
    assert short[0][0, 2] == pytest.approx(0.001, rel=1e-2)
    assert same(short, jacobians(m, d, natively=False))
    e = cardan.MjData(other)
    e.qpos[:], e.qvel[:], e.ctrl[:] = d.qpos, d.qvel, d.ctrl
    assert same(jacobians(other, e), before)


def test_what_does_not_fit_is_told(pair: tuple[cardan.MjModel, cardan.MjData]) -> None:
    m, d = pair
    A, B = jacobians(m, d)
    with pytest.raises(TypeError, match="A should"):
        cardan.mjd_transition(m, d, np.zeros((4, 3)), B, None, None)
    with pytest.raises(TypeError):
        cardan.mjd_transition(m, None, A, B, None, None)  # type: ignore[arg-type]
    with pytest.raises(TypeError):
        cardan.mjd_transition(m, d, A)  # type: ignore[call-arg]
    only = np.zeros((4, 4))
    cardan.mjd_transition(m=m, d=d, A=only, B=None, C=None, D=None)
    np.testing.assert_array_equal(only, A)
    read_only = np.zeros((4, 4))
    read_only.flags.writeable = False
    with pytest.raises((TypeError, ValueError)):
        cardan.mjd_transition(m, d, read_only, B, None, None)
    before = sys.getrefcount(m), sys.getrefcount(d), sys.getrefcount(A)
    for _ in range(1000):
        cardan.mjd_transition(m, d, A, B, None, None)
    assert (sys.getrefcount(m), sys.getrefcount(d), sys.getrefcount(A)) == before


def test_threads_at_a_time(pair: tuple[cardan.MjModel, cardan.MjData]) -> None:
    m, _ = pair

    def work(k: int) -> bool:
        d = cardan.MjData(m)
        d.qvel[:] = 0.1 * k, -0.1
        first = jacobians(m, d)
        return all(same(jacobians(m, d, natively=i % 3 != k % 3), first) for i in range(50))

    with ThreadPoolExecutor(4) as pool:
        assert all(pool.map(work, range(12)))
