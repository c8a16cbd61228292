"""Batches over several GPUs give, bit by bit, what one GPU gives; against a fake of the driver."""

from __future__ import annotations

import numpy as np
import pytest
from tests.batch.test_gpu import FIELDS, NONE, XML
from tests.fake_gpu import lent

import cardan
from cardan.batch import Batch
from cardan.batch.gpu.split import SplitBackEnd
from cardan.enums import mjtState, mjtWarning
from cardan.jit import jit_enabled
from cardan.jit.driver.cuda import CudaError
from cardan.step.report import SimulationWarning

pytestmark = pytest.mark.skipif(not jit_enabled, reason="about native code")
GPUS = ["cuda:0", "cuda:2", "cuda:1"]
COUNT = 7


@pytest.fixture
def driver(monkeypatch):
    with lent(monkeypatch, count=3) as driver:
        yield driver


@pytest.fixture(scope="module")
def model() -> cardan.MjModel:
    return cardan.MjModel.from_xml_string(XML)


@pytest.fixture
def batches(driver, model):
    """The same worlds on one and on three GPUs."""
    pair = Batch(model, COUNT, device="cuda"), Batch(model, COUNT, device=GPUS)
    rng = np.random.default_rng(0)
    qvel, ctrl = 0.3 * rng.normal(size=(COUNT, model.nv)), rng.uniform(-0.1, 0.1, (COUNT, model.nu))
    for batch in pair:
        batch.qvel[:] = qvel
        batch.ctrl = ctrl
    yield pair
    for batch in pair:
        batch.close()


def assert_same(one, several, fields=(*FIELDS, "state")) -> None:
    for name in fields:
        np.testing.assert_array_equal(np.asarray(getattr(several, name)), np.asarray(getattr(one, name)), name)


def test_worlds_are_split(driver, batches):
    _, several = batches
    assert isinstance(several, Batch) and isinstance(several._worlds, SplitBackEnd) and len(several) == COUNT
    assert [part.nsim for part in several.parts] == [2, 2, 3]
    assert [part.qpos.__dlpack_device__()[1] for part in several.parts] == [0, 2, 1]
    assert driver.names().count("cuDevicePrimaryCtxRetain") == 1 + 3


def test_calls_for_all_and_for_some_worlds(batches):
    mask = np.arange(COUNT) % 3 == 1
    for batch in batches:
        batch.step(5)
        batch.step(mask=mask, nstep=2)
        batch.step([3])
        batch.reset([2, 5], [0, -1], stage=NONE)
        batch.qpos[4:, 2] = 0.7
        batch.qvel[[0, 6]] = 0.5
        batch.time[3] = 9.0
        batch.forward()
    assert_same(*batches)
    one, several = batches
    for world in range(COUNT):
        np.testing.assert_array_equal(several.data(world).contact.dist, one.data(world).contact.dist)
    np.testing.assert_array_equal(several.body("low").xpos, np.asarray(one.body("low").xpos))
    np.testing.assert_array_equal(several.qpos[3:5], np.asarray(one.qpos)[3:5])
    np.testing.assert_array_equal(several.random(3, 1, ids=[1, 6]), one.random(3, 1, ids=[1, 6]))


def test_models_states_rollouts_and_questions(batches):
    one, several = batches
    spec, found = int(mjtState.mjSTATE_FULLPHYSICS), []
    control = np.random.default_rng(1).uniform(-0.1, 0.1, (COUNT, 4, 1))
    for batch in batches:
        mass = batch.expand("body_mass")
        mass[:] = np.linspace(1, 2, COUNT)[:, None] * np.asarray(mass)
        batch.set_const()
        batch.geom(1).friction = [0.5, 0.01, 0.001]
        batch.step(2)
        batch.set_state(np.asarray(batch.get_state(spec, [1, 5])), spec, [4, 6])
        recorded = batch.rollout(4, control, record=["qpos", "ncon"], every=2)
        found.append([*recorded.values(), *batch.jac(2, [0.1, 0.2, 0.3]), *batch.ray([1, 0, 3], [0, 0, -1])])
    assert_same(one, several)
    for a, b in zip(*found, strict=True):
        np.testing.assert_array_equal(np.asarray(a), np.asarray(b))
    assert set(several.parts[0]._worlds.models.values) == set(one._worlds.models.values)
    assert several.get_model(6).body_mass[1] == one.get_model(6).body_mass[1]
    assert several.expanded("body_mass").shape == (COUNT, one.model.nbody)


def test_trouble_names_the_world(batches):
    _, several = batches
    several.qvel[5, 1] = np.nan
    with pytest.warns(SimulationWarning, match="World 5"):
        several.step()
    assert several.diverged.tolist() == [0, 0, 0, 0, 0, 1 << int(mjtWarning.mjWARN_BADQVEL), 0]
    assert "qvel[1]" in several.diagnosis(5)


def test_bad_devices(driver, model):
    with pytest.raises(CudaError, match="no GPU number 7"):
        Batch(model, 4, device=["cuda:0", "cuda:7"])
    with pytest.raises(ValueError, match="between 1 and 2 GPUs"):
        Batch(model, 2, device=GPUS)
    with pytest.raises(ValueError, match="no device 'cpu'"):
        Batch(model, 2, device=["cuda:0", "cpu"])
