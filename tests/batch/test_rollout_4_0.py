"""Rollouts of MuJoCo 4.0: sequences of models, thread pools, chunks; compared with 4.0.0."""

from __future__ import annotations

import threading

import numpy as np
import pytest
from later import later_run

import cardan
from cardan.rollout import Rollout, rollout, shutdown_persistent_pool

XML = """
<mujoco><option timestep="0.01"/>
  <worldbody><geom type="plane" size="5 5 1"/>
    <body name="a" pos="0 0 .3"><freejoint/><geom size=".1 .2" type="capsule" mass="{mass}"/>
      <body pos="0 0 .2"><joint name="j" axis="0 1 0"/><geom size=".1" pos=".2 0 0"/></body></body>
    <body name="target" mocap="true" pos="0 {mass} .5"/></worldbody>
  <equality><weld body1="a" body2="target" active="{active}"/></equality>
  <actuator><general joint="j" dyntype="filter" dynprm=".1"/><motor joint="j"/></actuator>
  <sensor><jointpos joint="j"/><clock/><framepos objtype="body" objname="target"/></sensor>
</mujoco>
"""
TEXTS = [XML.format(mass=mass, active=active) for mass, active in ((1, "false"), (2, "true"), (2, "true"), (5, "true"))]
FULL = cardan.mjtState.mjSTATE_FULLPHYSICS
LATER = """
from mujoco import rollout
m = [mujoco.MjModel.from_xml_string(text) for text in texts]
d = [mujoco.MjData(m[0]) for _ in range(2)]
out = rollout.rollout(m, d, start, control, **others)
"""


@pytest.fixture(scope="module")
def models() -> list[cardan.MjModel]:
    return [cardan.MjModel.from_xml_string(text, compat="4.0") for text in TEXTS]


def start(m: cardan.MjModel, count: int) -> np.ndarray:
    row = np.zeros(cardan.mj_stateSize(m, FULL))
    cardan.mj_getState(m, cardan.MjData(m), row, FULL)
    rows = np.repeat(row[None], count, axis=0)
    rows[:, 3] += 0.1 * np.arange(count)
    return rows


def controls(count: int, steps: int) -> np.ndarray:
    return np.random.default_rng(0).standard_normal((count, steps, 2))


def pair(m: cardan.MjModel) -> list[cardan.MjData]:
    return [cardan.MjData(m), cardan.MjData(m)]


def test_models_agree_with_the_reference(models):
    args = (start(models[0], 4), controls(4, 20))
    expected = later_run(LATER, texts=TEXTS, start=args[0], control=args[1], others={"chunk_size": 3})
    got = rollout(models, pair(models[0]), *args, chunk_size=3)
    for ours, theirs in zip(got, expected, strict=True):
        np.testing.assert_allclose(ours, theirs, atol=1e-9)


def test_one_state_is_repeated_for_each_model(models):
    expected = later_run(LATER, texts=TEXTS, start=start(models[0], 1), control=None, others={"nstep": 5})
    got = rollout(models, cardan.MjData(models[0]), start(models[0], 1), nstep=5)
    for ours, theirs in zip(got, expected, strict=True):
        np.testing.assert_allclose(ours, theirs, atol=1e-9)


def test_results_depend_neither_on_threads_nor_on_chunks(models):
    many = [models[k % 4] for k in range(17)]
    args = (start(models[0], 17), controls(17, 10))
    expected = [
        np.concatenate(parts)
        for parts in zip(
            *(rollout(m, cardan.MjData(m), args[0][k], args[1][k]) for k, m in enumerate(many)), strict=True
        )
    ]
    with Rollout(nthread=2) as pool:
        ways = [
            rollout(many, cardan.MjData(models[0]), *args),
            rollout(many, cardan.MjData(models[0]), *args, chunk_size=1),
            rollout(tuple(many), pair(models[0]), *args, chunk_size=5, persistent_pool=True),
            rollout(many, pair(models[0]), *args, persistent_pool=True),
            pool.rollout(many, pair(models[0]), *args),
            pool.rollout(many, pair(models[0]), *args, nstep=10, skip_checks=True),
        ]
    shutdown_persistent_pool()
    shutdown_persistent_pool()
    for got in ways:
        assert np.array_equal(got[0], expected[0])
        assert np.array_equal(got[1], expected[1])


def test_no_steps(models):
    """4.0 makes no steps for ``nstep=0``; 3.1.6 makes one (`tests/batch/test_rollout.py` compares shapes)."""
    state, sensordata = rollout(models[0], cardan.MjData(models[0]), start(models[0], 3), nstep=0)
    assert state.shape == (3, 0, start(models[0], 1).size) and sensordata.shape == (3, 0, 5)
    old = cardan.MjModel.from_xml_string(TEXTS[0], compat="3.1")
    assert rollout(old, cardan.MjData(old), start(old, 3), nstep=0)[0].shape[1] == 1


def test_a_pool_keeps_its_threads(models):
    def helpers() -> set[int]:
        return {thread.ident for thread in threading.enumerate() if thread.name == "cardan-rollout"}

    args = (models[0], pair(models[0]), start(models[0], 40))
    with Rollout(nthread=2) as pool:
        pool.rollout(*args, nstep=5)
        first = helpers()
        pool.rollout(*args, nstep=5)
        assert first and helpers() == first


def test_errors(models):
    m, d, rows = models[0], cardan.MjData(models[0]), start(models[0], 4)
    other = cardan.MjModel.from_xml_string(TEXTS[0].replace('<motor joint="j"/>', ""))
    for model, data, others, message in (
        ([], d, {}, "list of models is empty"),
        ([m] * 3, d, {}, "dimension 0 inferred as 3 but initial_state has 4"),
        ([m, other] * 2, d, {}, "not compatible: nu of model 1 is 1, that of model 0 2"),
        (m, [], {}, "The list of data instances is empty"),
        (m, [d, d], {}, "more than once"),
        (m, d, {"nstep": -1}, "nstep must be non-negative"),
        (m, d, {"nstep": True}, "nstep must be an integer"),
        (m, d, {"chunk_size": 0}, "chunk_size must be a positive integer"),
        (m, d, {"chunk_size": 1.5}, "chunk_size must be an integer"),
        (m, d, {"skip_checks": True}, "skip_checks needs"),
        ([m, m], d, {"skip_checks": True, "nstep": 1}, "4 rollouts but 2 models"),
    ):
        with pytest.raises(ValueError, match=message):
            rollout(model, data, rows, **others)
    with pytest.raises(TypeError, match="must be an MjModel, not int"):
        rollout([1, 2], d, rows)


def test_errors_of_pools(models):
    m, d, rows = models[0], cardan.MjData(models[0]), start(models[0], 4)
    with pytest.raises(ValueError, match="nthread must be an integer"):
        Rollout(nthread=1.5)
    for count, data, message in ((0, pair(m), "configured to run on main thread"), (2, d, "1 not equal to nthread: 2")):
        with Rollout(nthread=count) as pool, pytest.raises(ValueError, match=message):
            pool.rollout(m, data, rows)
    pool.close()
    with pytest.raises(RuntimeError, match="after thread pool shutdown"):
        pool.rollout(m, pair(m), rows)
