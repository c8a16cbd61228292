"""Worlds over a Ray cluster of several processes on this machine: the results of one process, bit by bit, also when a
worker is killed in the middle; sweeps; errors that name worlds."""

import os
import signal
import subprocess
import sys

import numpy as np
import pytest

import cardan
from cardan.batch import Batch, SimulationError
from cardan.jit.cache.progress import Progress
from cardan.rollout import rollout

XML = """
<mujoco><option timestep="0.005"/>
  <worldbody><geom type="plane" size="5 5 1"/>
    <body name="a" pos="0 0 .3"><freejoint/><geom name="g" size=".1 .2" type="capsule"/>
      <body name="b" pos="0 0 .2"><joint name="j" axis="0 1 0"/><geom size=".1" pos=".2 0 0"/></body></body></worldbody>
  <actuator><motor joint="j"/></actuator><sensor><jointpos joint="j"/></sensor>
</mujoco>
"""


@pytest.fixture(scope="module")
def model():
    return cardan.MjModel.from_xml_string(XML)


@pytest.fixture(scope="module")
def cluster(model):
    """Two workers on a cluster of its own."""
    ray = pytest.importorskip("ray", reason="ray is not installed (extra cardan[ray])")
    from cardan.batch.ray import Cluster

    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"  # tests tell nobody that they run
    ray.init(num_cpus=2, include_dashboard=False, logging_level="ERROR", log_to_driver=False, object_store_memory=10**8)
    with Cluster(model, 2, progress=False) as workers:
        yield workers
    ray.shutdown()


def inputs(model, nroll, nstep, seed=0):
    """Initial states and controls."""
    rng = np.random.default_rng(seed)
    rows = np.tile(np.concatenate([[0.0], model.qpos0, np.zeros(model.nv)]), (nroll, 1))
    rows[:, 3] += 0.2 * rng.random(nroll)
    return rows, rng.standard_normal((nroll, nstep, model.nu))


def same(got, expected):
    for a, b in zip(got, expected, strict=True):
        np.testing.assert_array_equal(a, b)


def test_rollouts_are_those_of_one_process(model, cluster):
    initial, control = inputs(model, 21, 30)
    expected = rollout(model, cardan.MjData(model), initial, control)
    same(cluster.rollout(initial, control), expected)
    same(cluster.rollout(initial, control, block=4), expected)
    # dimensions of 1 are repeated
    expected = rollout(model, cardan.MjData(model), initial[0], control[:, :1], nstep=3)
    same(cluster.rollout(initial[0], control[:, :1], nstep=3), expected)


def test_a_killed_worker_is_replaced_and_its_worlds_are_done_again(model, cluster, monkeypatch):
    initial, control = inputs(model, 24, 200, seed=1)
    before = cluster.pids()

    def kill_one(bar, count):
        bar.done += count
        if bar.done == 2 * count:  # two blocks of twelve are done; four are with the workers
            os.kill(before[0], signal.SIGKILL)

    monkeypatch.setattr(Progress, "advance", kill_one)
    same(cluster.rollout(initial, control, block=2), rollout(model, cardan.MjData(model), initial, control))
    after = cluster.pids()
    assert before[0] not in after and before[1] in after


def test_a_sweep_is_a_batch_with_expanded_fields(model, cluster):
    nworld, nstep = 9, 20
    mass = np.tile(model.body_mass, (nworld, 1)) * np.linspace(0.5, 2, nworld)[:, None]
    initial, control = inputs(model, nworld, nstep)
    batch = Batch(model, nworld)
    batch.expand("body_mass")[...] = mass
    batch.set_const()
    batch.reset()
    batch.set_state(initial, cardan.mjtState.mjSTATE_FULLPHYSICS)
    expected = batch.rollout(nstep, control, record=["qpos", "xpos"], every=5)
    got = cluster.sweep(
        {"body_mass": mass}, nstep, initial_state=initial, control=control, record=["qpos", "xpos"], every=5, block=2
    )
    np.testing.assert_array_equal(got.values["body_mass"], mass)
    for name, rows in expected.items():
        np.testing.assert_array_equal(got.records[name], rows)


def test_sampled_values_belong_to_worlds(model, cluster):
    def sample(m, rng):
        return {"geom_friction": m.geom_friction * rng.uniform(0.5, 1.5)}

    one = cluster.sweep(sample, 10, 7, seed=3, control=np.ones((10, 1)))
    other = cluster.sweep(sample, 10, 7, seed=3, control=np.ones((10, 1)), block=3)
    np.testing.assert_array_equal(one.values["geom_friction"], other.values["geom_friction"])
    np.testing.assert_array_equal(one.records["qpos"], other.records["qpos"])
    assert len(np.unique(one.values["geom_friction"][:, 0, 0])) == 7
    longer = cluster.sweep(sample, 1, 9, seed=3).values["geom_friction"]
    np.testing.assert_array_equal(longer[:7], one.values["geom_friction"])


def test_errors_name_what_is_wrong(model, cluster):
    initial, control = inputs(model, 5, 3)
    with pytest.raises(ValueError, match="trailing dimension of control"):
        cluster.rollout(initial, control[:, :, [0, 0]])
    with pytest.raises(ValueError, match="'body_masss' is not a field") as caught:
        cluster.sweep({"body_masss": np.ones((5, 3))}, 2)
    assert caught.value.__notes__[-1].startswith("in worlds ")
    with pytest.raises(ValueError, match="nworld is needed"):
        cluster.sweep(lambda m, rng: {}, 2)
    with pytest.raises(ValueError, match="numbers of worlds differ"):
        cluster.sweep({"body_mass": np.ones((5, 3)), "geom_friction": np.ones((4, 3, 3))}, 2)
    with pytest.raises(ValueError, match="initial_state has 4 rows for 5 worlds"):
        cluster.sweep({"body_mass": np.ones((5, 3))}, 2, initial_state=initial[:4])
    integrator = np.zeros(6, np.int32)
    integrator[4] = 99
    with pytest.raises(SimulationError, match=r"world 4: .*integrator") as failed:
        cluster.sweep({"opt.integrator": integrator}, 2, block=2)
    assert failed.value.ids == [4]


def test_import_of_the_package_leaves_ray_alone():
    program = "import sys, cardan, cardan.batch; cardan.Batch; sys.exit('ray' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0


def test_without_ray_the_extra_is_named():
    program = """
import sys; sys.modules['ray'] = None
from cardan.cli.compile import all_entries
all_entries()  # what compiles all kernels asks for nothing
try: import cardan.batch.ray
except ImportError as e: print(e)"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert "pip install 'cardan[ray]'" in done.stdout


def test_callbacks_do_not_travel_and_that_is_said(model, cluster):
    @cardan.kernel
    def control(m: cardan.MjModel, d: cardan.MjData) -> None:
        d.ctrl[0] = 1.0

    initial, inputs_ = inputs(model, 4, 3)
    cardan.set_mjcb_control(control)
    try:
        with pytest.raises(ValueError, match="mjcb_control"):
            cluster.rollout(initial, inputs_)
    finally:
        cardan.set_mjcb_control(None)
