"""Rollouts: parity with the reference, equality for any number of threads, shapes, worlds that diverge."""

import warnings

import mujoco
import mujoco.rollout
import numpy as np
import pytest
from reference import model_from_reference

from cardan import mj_step
from cardan.batch.rollout import rollout
from cardan.model import MjData

XML = """
<mujoco><option timestep="0.01"/>
  <worldbody><geom type="plane" size="5 5 1"/>
    <body name="a" pos="0 0 .3"><freejoint/><geom size=".1 .2" type="capsule"/>
      <body pos="0 0 .2"><joint name="j" axis="0 1 0"/><geom size=".1" pos=".2 0 0"/></body></body>
    <body name="target" mocap="true" pos="0 0 .5"/></worldbody>
  <equality><weld body1="a" body2="target" active="false"/></equality>
  <actuator><general joint="j" dyntype="filter" dynprm=".1"/><motor joint="j"/></actuator>
  <sensor><jointpos joint="j"/><clock/></sensor>
</mujoco>
"""
FULL = mujoco.mjtState.mjSTATE_FULLPHYSICS


@pytest.fixture(scope="module")
def world():
    rm = mujoco.MjModel.from_xml_string(XML)
    return rm, model_from_reference(rm)


def start(rm, n):
    rd = mujoco.MjData(rm)
    row = np.zeros(mujoco.mj_stateSize(rm, FULL))
    mujoco.mj_getState(rm, rd, row, FULL)
    rows = np.repeat(row[None], n, axis=0)
    rows[:, 3] += 0.1 * np.arange(n)
    return rows


def both(world, *args, **kwargs):
    rm, m = world
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        expected = mujoco.rollout.rollout(rm, mujoco.MjData(rm), *args, **kwargs)
        return expected, rollout(m, MjData(m), *args, **kwargs)


def test_parity(world):
    control = np.random.default_rng(0).standard_normal((5, 30, 2))
    for expected, got in zip(*both(world, start(world[0], 5), control), strict=True):
        np.testing.assert_allclose(got, expected, atol=1e-9)


@pytest.mark.parametrize("spec", [32, 64, 128, 256, 512 | 1024, 4064])
def test_control_spec(world, spec):
    n = mujoco.mj_stateSize(world[0], spec)
    control = np.random.default_rng(1).uniform(0.2, 1.9, (3, 5, n))
    for expected, got in zip(*both(world, start(world[0], 3), control, control_spec=spec), strict=True):
        np.testing.assert_allclose(got, expected, atol=1e-8)


def test_diverging_world_repeats_its_last_row(world):
    control = np.zeros((3, 8, 2))
    control[1, 4, 0] = np.nan
    expected, got = both(world, start(world[0], 3), control)
    np.testing.assert_allclose(got[0], expected[0], atol=1e-10)
    np.testing.assert_allclose(got[1], expected[1], atol=1e-10)
    assert np.array_equal(got[0][1, 4], got[0][1, 7])


def test_warnings_before_a_rollout_change_nothing(world):
    """Worlds diverge by bad controls or by a reset, on data that counted warnings and diverged before."""
    rm, m = world
    force = np.zeros((3, 8, m.nv))
    force[1, 4, 6] = 1e300
    control = np.zeros((3, 8, m.nu))
    control[2, 3, 0] = np.inf
    for inputs, spec in ((control, 32), (force, 64)):
        rd, d = mujoco.MjData(rm), MjData(m)
        for step, model, data in ((mujoco.mj_step, rm, rd), (mj_step, m, d)):
            data.qvel[6] = np.nan
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                step(model, data)
        rd.warning[3].number = d.warning[3].number = 7
        for _ in range(3):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                expected = mujoco.rollout.rollout(rm, rd, start(rm, 3), inputs, control_spec=spec)
                for data in (d, [d, MjData(m)]):
                    got = rollout(m, data, start(rm, 3), inputs, control_spec=spec)
                    np.testing.assert_allclose(got[0], expected[0], atol=1e-10)
                    np.testing.assert_allclose(got[1], expected[1], atol=1e-10)
            stopped = 1 if spec == 64 else 2
            assert (expected[0][stopped, 4:] == expected[0][stopped, 4]).all()


def test_equal_for_any_number_of_threads(world):
    _, m = world
    control = np.random.default_rng(0).standard_normal((17, 10, 2))
    one = rollout(m, MjData(m), start(world[0], 17), control)
    for other in (
        rollout(m, MjData(m), start(world[0], 17), control, nthread=3),
        rollout(m, [MjData(m), MjData(m)], start(world[0], 17), control),
    ):
        assert np.array_equal(one[0], other[0]) and np.array_equal(one[1], other[1])


def test_shapes_and_errors(world):
    rm, m = world
    n = start(rm, 1).shape[1]
    cases = [
        ((start(rm, 1)[0],), {}),
        ((start(rm, 1)[0], np.zeros((5, 2))), {}),
        ((start(rm, 3), np.zeros((1, 5, 2))), {}),
        ((start(rm, 3), np.zeros((2, 5, 2))), {}),
        ((start(rm, 3),), {"nstep": 4}),
        ((start(rm, 1),), {"nroll": 4}),
        ((start(rm, 3), np.zeros((3, 1, 2))), {"nstep": 4}),
        ((np.zeros((3, n + 1)),), {}),
        ((start(rm, 3),), {"nroll": 2}),
        ((start(rm, 3), np.zeros((3, 2, 3))), {}),
        ((start(rm, 2),), {"initial_warmstart": np.zeros((1, m.nv))}),
        ((start(rm, 2),), {"state": np.zeros((2, 3, n))}),
        ((start(rm, 2),), {"state": np.zeros((2, 3, n)), "nstep": 2}),
        (("abc",), {}),
        ((np.zeros((2, 2, n)),), {}),
        ((start(rm, 3),), {"control_spec": 2}),
        ((np.zeros((0, n)),), {}),
    ]
    for args, kwargs in cases:
        try:
            expected = [a.shape for a in mujoco.rollout.rollout(rm, mujoco.MjData(rm), *args, **kwargs)]
        except ValueError:
            with pytest.raises(ValueError):
                rollout(m, MjData(m), *args, **kwargs)
        else:
            assert [a.shape for a in rollout(m, MjData(m), *args, **kwargs)] == expected


def test_results_go_into_given_arrays(world):
    rm, m = world
    state = np.zeros((2, 3, start(rm, 1).shape[1]))
    got, _ = rollout(m, MjData(m), start(rm, 2), nstep=3, state=state)
    assert got is state and state[0, 2, 0] == pytest.approx(0.03)
