"""Batches on a GPU, against a fake of the driver that runs the same stages on this processor.

``CARDAN_FULL_TESTS=1`` takes steps of models of real size; else one small model is stepped, since all is compiled anew.
"""

from __future__ import annotations

import gc
import warnings
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from benchmarks import models
from models import PATHS, there
from tests.fake_gpu import lent
from tests.verdicts import FULL

import cardan
from cardan.batch import Batch, SimulationError
from cardan.batch.gpu import arrays
from cardan.batch.gpu.arrays import DeviceArray
from cardan.batch.gpu.back_end import GpuBackEnd
from cardan.batch.gpu.memory import BLOCKS, block_size
from cardan.enums import mjtStage, mjtState, mjtWarning
from cardan.jit import jit_enabled
from cardan.jit.cache import gpu_code
from cardan.jit.driver.cuda import CudaError, GpuMemoryError
from cardan.jit.front.stage import INTERLEAVED, SINGLE, Form
from cardan.jit.target.ptx import KERNEL, PtxError, find_libdevice
from cardan.step.checks import clear_energy
from cardan.step.report import SimulationWarning

pytestmark = pytest.mark.skipif(not jit_enabled, reason="about native code")

XML = """
<mujoco>
  <worldbody>
    <geom type="plane" size="1 1 .1"/>
    <body name="low" pos="0 0 .095">
      <freejoint/>
      <geom size=".1"/>
      <body name="high" pos="0 0 .3"><joint name="hinge" axis="0 1 0"/><geom size=".1"/></body>
    </body>
  </worldbody>
  <actuator><motor joint="hinge"/></actuator>
  <keyframe><key time="2" qpos="0 0 1 1 0 0 0 0.5" ctrl="0.25"/></keyframe>
</mujoco>
"""
FIELDS = ("qpos", "qvel", "qacc", "xpos", "geom_xmat", "qfrc_constraint", "cvel", "time", "ncon", "nefc")
NONE = mjtStage.mjSTAGE_NONE


@pytest.fixture
def driver(monkeypatch):
    with lent(monkeypatch) as driver:
        yield driver


@pytest.fixture(scope="module")
def model() -> cardan.MjModel:
    return cardan.MjModel.from_xml_string(XML)


def two(m, count=4, seed=0, **options) -> tuple[Batch, Batch]:
    """Batches on the GPU and on threads, with the same states."""
    batches = Batch(m, count, device="cuda", **options), Batch(m, count, 1)
    rng = np.random.default_rng(seed)
    qvel, ctrl = 0.3 * rng.normal(size=(count, m.nv)), rng.uniform(-0.1, 0.1, (count, m.nu))
    for batch in batches:
        batch.qvel[:] = qvel
        batch.ctrl[:] = ctrl
    return batches


def assert_same(on_gpu: Batch, on_threads: Batch, tolerance: float = 1e-9, fields=FIELDS) -> None:
    for name in fields:
        expected = getattr(on_threads, name)
        found = np.asarray(getattr(on_gpu, name))
        assert found.shape == expected.shape, name
        scale = max(1.0, np.abs(expected).max(initial=0))
        assert np.abs(found - expected).max(initial=0) <= tolerance * scale, name


def test_steps_are_those_of_a_batch_on_threads(driver, model):
    on_gpu, on_threads = two(model)
    for batch in (on_gpu, on_threads):
        batch.step(25)
    assert on_threads.ncon.min() > 0
    assert_same(on_gpu, on_threads)
    # contacts and rows of a world, in an MjData
    for world in range(4):
        d, expected = on_gpu.data(world), on_threads.data(world)
        np.testing.assert_allclose(d.contact.dist, expected.contact.dist, atol=1e-9)
        np.testing.assert_allclose(d.efc_force, expected.efc_force, atol=1e-7)
        assert d.solver_niter[0] == expected.solver_niter[0]
    cardan.mj_step(d.model, d)  # a data like any other
    # a graph for the step, two for the state; one launch of it a step
    assert driver.names().count("cuStreamBeginCapture") == 1 + 1 + 2
    assert on_gpu.body("low").xpos.shape == (4, 3)
    np.testing.assert_allclose(np.asarray(on_gpu.body("low").xpos), on_threads.body("low").xpos, atol=1e-9)
    on_gpu.close()


def test_worlds_are_chosen_by_ids_and_masks(driver, model):
    on_gpu, on_threads = two(model, 5)
    mask = np.array([True, False, True, True, False])
    for batch in (on_gpu, on_threads):
        batch.step(3, mask=mask)
        batch.step([1], nstep=2)
        batch.forward([0, 1], stage=mjtStage.mjSTAGE_POS)
        batch.reset(mask=~mask, keyframe=0, stage=NONE)
    assert_same(on_gpu, on_threads, fields=("qpos", "qvel", "time", "ctrl"))
    assert np.asarray(on_gpu.time)[[1, 4]].tolist() == [2, 2]
    on_gpu.step(mask=np.asarray(on_gpu.time) == 2)
    assert np.asarray(on_gpu.time)[1] == pytest.approx(2.002)
    on_gpu.close()


def test_resets_clear_integers_too_and_cost_what_their_worlds_cost(driver, model):
    count = 3 * BLOCKS[0]
    on_gpu, _ = two(model, count)
    on_gpu.step(2)
    before = np.asarray(on_gpu.state)
    counts = np.asarray(on_gpu._worlds.memories.view("timer.number"))
    assert counts.any()
    start = len(driver.calls)
    on_gpu.reset([5, 200], stage=NONE)
    moved = [a[9][0] for name, a in driver.calls[start:] if name == "cuLaunchKernel" and len(a[9][0]) > 5]
    elements = sum(int(np.prod(words[5:8])) for words in moved)
    assert elements * 100 < count * on_gpu.memory_per_world / 8
    after = np.asarray(on_gpu.state)
    others = np.setdiff1d(np.arange(count), [5, 200])
    np.testing.assert_array_equal(after[others], before[others])
    assert np.asarray(on_gpu.qpos)[[5, 200]].tolist() == [model.qpos0.tolist()] * 2
    cleared = np.asarray(on_gpu._worlds.memories.view("timer.number"))
    assert not cleared[[5, 200]].any()
    np.testing.assert_array_equal(cleared[others], counts[others])
    on_gpu.close()


def test_memory_grows_and_results_do_not_depend_on_it(driver, model, monkeypatch):
    on_gpu, on_threads = two(model)
    small = {"ncon": 1, "nefc": 1, "nnzJ": 1, "ncandidate": 1, "nJ": 1, "nH": 1}
    monkeypatch.setattr(GpuBackEnd, "_first_capacities", lambda self: small)
    tight = Batch(model, 4, device="cuda")
    tight.state[:] = on_gpu.state
    for batch in (on_gpu, on_threads, tight):
        batch.step(20)
    assert tight._worlds.memories.sizes["nefc"] > 1
    for name in FIELDS:
        np.testing.assert_array_equal(np.asarray(getattr(tight, name)), np.asarray(getattr(on_gpu, name)), name)
    assert driver.names().count("cuStreamBeginCapture") == 2 * 4 + 0  # growing leaves graphs valid
    tight.close()
    on_gpu.close()


def test_growing_beyond_the_gpu_fails_the_worlds_that_need_it(driver, model, monkeypatch):
    monkeypatch.setattr(GpuBackEnd, "_first_capacities", lambda self: {"ncon": 0})
    batch = Batch(model, 2, device="cuda")
    batch.qpos[1, 2] = 5.0  # far above the plane
    driver.total = sum(a.nbytes for a in driver.open["memory"].values()) + 300_000
    with pytest.raises(SimulationError, match=r"ncon grow from 0 to \d+"):
        batch.forward()
    assert batch.status.tolist() == [1, 0]
    # in a rollout the others go on; those keep the state that they had before
    batch.qpos[0, 2] = 0.12
    batch.qvel[0, 2] = -1.5
    before = batch.state.numpy()
    with pytest.raises(SimulationError, match=r"rollout failed in 1 of 2 simulations \(0\)"):
        batch.rollout(20, np.zeros((2, 20, 1)))
    assert batch.status.tolist() == [1, 0] and batch.time.numpy().tolist() == pytest.approx([0, 0.04])
    np.testing.assert_array_equal(batch.state.numpy()[0], before[0])
    batch.close()


def test_worlds_that_diverge_are_reset_and_diagnosed(driver, model):
    on_gpu, on_threads = two(model)
    for batch in (on_gpu, on_threads):
        batch.qvel[2, 1] = np.nan
        with pytest.warns(SimulationWarning, match="World 2"):
            batch.step(3)
    bit = 1 << int(mjtWarning.mjWARN_BADQVEL)
    assert on_gpu.diverged.tolist() == [0, 0, bit, 0]
    assert "qvel[1]" in on_gpu.diagnosis(2) and "body 1 'low'" in on_gpu.diagnosis(2)
    assert on_gpu.diagnosis(2) == on_threads.diagnosis(2)
    lost = [cardan.last_good_state(batch.data(2)) for batch in (on_gpu, on_threads)]
    np.testing.assert_array_equal(*lost)
    assert_same(on_gpu, on_threads)
    on_gpu.reset([2], stage=NONE)
    assert not on_gpu.diverged.any()
    on_gpu.close()


def test_fields_of_the_model_that_differ_between_worlds(driver, model):
    on_gpu, on_threads = two(model, 3)
    on_gpu.step()
    captured = driver.names().count("cuStreamBeginCapture")
    for batch in (on_gpu, on_threads):
        if batch is on_threads:
            batch.step()
        mass, gravity, step = batch.expand("body_mass", "opt.gravity", "opt.timestep")
        mass[:] = np.array([[1.0], [2.0], [3.0]]) * model.body_mass
        gravity[1] = [0, 0, -3]
        step[2] = 0.004
        batch.set_const()
        batch.geom(1).friction = [0.5, 0.01, 0.001]
        batch.step(10)
    assert_same(on_gpu, on_threads)
    assert driver.names().count("cuStreamBeginCapture") == captured  # graphs stay valid
    assert set(on_gpu._worlds.models.values) == set(on_threads._worlds.models.values)
    assert on_gpu.get_model(1).body_mass[1] == pytest.approx(2 * model.body_mass[1])
    np.testing.assert_allclose(np.asarray(on_gpu.expanded("body_subtreemass")), on_threads.expanded("body_subtreemass"))
    on_gpu.close()


def test_models_of_the_caller(driver, model):
    heavy = cardan.MjModel.from_xml_string(XML.replace('size=".1"', 'size=".1" mass="9"'))
    on_gpu, on_threads = two(model, 3)
    for batch in (on_gpu, on_threads):
        batch.set_models([model, heavy, model])
        batch.step(5)
    assert_same(on_gpu, on_threads)
    on_gpu.set_models(None)
    on_threads.set_models(None)
    on_gpu.step(2)
    on_threads.step(2)
    assert_same(on_gpu, on_threads)
    on_gpu.close()


def test_models_that_are_set_again_and_again(driver, model):
    """Python gives the ids of models that are gone to new ones; what was on the GPU goes with them."""
    on_gpu, on_threads = two(model, 2)
    used = []
    for k in range(6):
        text = XML.replace('size=".1"', f'size=".1" mass="{k + 1}"')
        if k % 2:
            text = text.replace("<worldbody>", "<option integrator='RK4'/><worldbody>", 1)
        for batch in (on_gpu, on_threads):
            batch.set_models(cardan.MjModel.from_xml_string(text))
            batch.step(2)
        gc.collect()
        used.append(sum(memory.nbytes for memory in on_gpu._worlds.gpu.memory))
        assert_same(on_gpu, on_threads)
    assert used[-1] == used[-3]
    on_gpu.close()


def test_states_questions_and_random_numbers(driver, model):
    on_gpu, on_threads = two(model, 3)
    spec = int(mjtState.mjSTATE_FULLPHYSICS)
    for batch in (on_gpu, on_threads):
        batch.step(4)
        kept = batch.get_state(spec)
        batch.step(4)
        batch.set_state(kept[1:], spec, [1, 2])
        batch.set_state(np.asarray(kept)[0], spec, [0])
    np.testing.assert_allclose(np.asarray(on_gpu.get_state(spec)), on_threads.get_state(spec), atol=1e-12)
    for found, expected in zip(on_gpu.jac(2, [0.1, 0.2, 0.3]), on_threads.jac(2, [0.1, 0.2, 0.3]), strict=True):
        np.testing.assert_allclose(found, expected, atol=1e-12)
    np.testing.assert_array_equal(on_gpu.random(5, 7), on_threads.random(5, 7))
    np.testing.assert_array_equal(on_gpu.get_data(1).qpos, np.asarray(on_gpu.qpos)[1])
    with pytest.raises(ValueError, match="shape"):
        on_gpu.set_state(np.zeros(2), spec)
    on_gpu.close()


@pytest.mark.filterwarnings("ignore::cardan.step.report.SimulationWarning")
def test_rollouts_stay_on_the_gpu(driver, model):
    control = np.random.default_rng(1).uniform(-0.1, 0.1, (3, 6, 1))
    record = ["qpos", "ncon", int(mjtState.mjSTATE_PHYSICS), "eq_active", "time"]
    on_gpu, on_threads = two(model, 3)
    for batch in (on_gpu, on_threads):
        batch.qvel[1, 0] = np.inf  # a world that stops with a warning
    with pytest.warns(SimulationWarning):
        expected = on_threads.rollout(6, control, record=record, every=2)
    start = len(driver.calls)
    with pytest.warns(SimulationWarning):
        found = on_gpu.rollout(6, control, record=record, every=2)
    copied = max(a[2] for name, a in driver.calls[start:] if name == "cuMemcpyDtoHAsync")
    assert copied < 10 * on_gpu.memory_per_world  # of the world that diverged, and counts of warnings
    for item in record:
        assert found[item].shape == expected[item].shape and found[item].dtype == expected[item].dtype
        np.testing.assert_allclose(np.asarray(found[item]), expected[item], atol=1e-9)
    force = np.zeros((3, 6, model.nv))
    force[1, 2] = 1e300  # the same world again, which is told once only and whose counters don't rise
    spec = int(mjtState.mjSTATE_QFRC_APPLIED)
    for _ in range(2):
        expected = on_threads.rollout(6, force, control_spec=spec, record=["time"])["time"]
        found = on_gpu.rollout(6, force, control_spec=spec, record=["time"])["time"]
        np.testing.assert_array_equal(np.asarray(found), expected)
        assert (expected[1, 2:] == model.opt.timestep).all() and expected[0, 5] > expected[0, 4]
    on_gpu.close()


def test_arrays_are_shown_to_other_libraries(driver, model, monkeypatch):
    batch = Batch(model, 3, device="cuda")
    shown = batch.qpos.__cuda_array_interface__
    assert (
        shown["shape"] == (3, model.nq) and shown["typestr"] == "<f8" and shown["data"] == (batch.qpos.address, False)
    )
    assert shown["strides"] == (8, 8 * BLOCKS[-1])  # the world first, worlds side by side
    assert batch.xpos.__cuda_array_interface__["data"][1]  # read-only
    assert batch.qpos.__dlpack_device__() == (2, 0)
    # an array of another library, on its own stream
    other = SimpleNamespace(__cuda_array_interface__=batch.qvel.__cuda_array_interface__ | {"stream": 7})
    batch.qvel[:] = 0.5
    batch.qfrc_applied[:] = other
    assert (np.asarray(batch.qfrc_applied) == 0.5).all()
    assert "cuStreamWaitEvent" in driver.names()
    # the memory itself: here it is that of this machine, and NumPy takes it when told so
    elsewhere = SimpleNamespace(**vars(other), __dlpack_device__=lambda: (2, 1))
    with pytest.raises(ValueError, match="is on GPU 1, the batch on GPU 0"):
        batch.qvel[:] = elsewhere
    monkeypatch.setattr(DeviceArray, "__dlpack_device__", lambda self: (1, 0))
    view = np.from_dlpack(batch.qpos)
    batch.qpos[1, 2] = 5.0
    assert view.shape == (3, model.nq) and view[1, 2] == 5.0 and view.flags.writeable
    assert not np.from_dlpack(batch.xpos).flags.writeable
    assert np.from_dlpack(batch.xmat[:, 1:]).shape == (3, model.nbody - 1, 9)
    with pytest.raises(BufferError, match="only be shown where it is"):
        batch.qpos.__dlpack__(copy=True)
    del view
    gc.collect()
    assert arrays._lent == {}
    batch.close()


def test_arrays_take_values_and_views(driver, model):
    batch = Batch(model, 4, device="cuda")
    batch.qvel[[1, 3]] = [[1.0] * 7, [2.0] * 7]
    batch.qvel[:, 2:4] = 9.0
    assert np.asarray(batch.qvel)[:, 0].tolist() == [0, 1, 0, 2]
    assert np.asarray(batch.qvel[[3]][0, 1:4]).tolist() == [2, 9, 9]
    assert np.asarray(batch.xmat.reshape(4, model.nbody, 3, 3)).shape == (4, model.nbody, 3, 3)
    assert batch.qvel[np.array([False, True, False, True])].shape == (2, 7)
    for bad, error in (
        (lambda: batch.xpos.__setitem__(slice(None), 0), "read-only"),
        (lambda: batch.qvel.__setitem__(slice(None), np.zeros(3)), "broadcast"),
        (lambda: batch.qvel.__setitem__(slice(None), batch.ncon), "convert it"),
        (lambda: batch.qvel[0, 0, 0], "too many indices"),
        (lambda: batch.qvel[9], "out of bounds"),
        (lambda: batch.qvel[[9]], "rows should be in"),
        (lambda: batch.qvel["a"], "from_dlpack"),
        (lambda: np.array(batch.qvel, copy=False), "without a copy"),
    ):
        with pytest.raises((ValueError, IndexError), match=error):
            bad()
    batch.close()


def test_stages_may_be_launched_together_and_blocks_have_any_size(driver, model):
    one, many = (Batch(model, 2, device="cuda", stages_per_launch=n) for n in (1, 0))
    for batch in (one, many):
        batch.qvel[:, 0] = 0.1, -0.2
        batch.step(5)
    np.testing.assert_array_equal(np.asarray(one.state), np.asarray(many.state))
    blocks = Batch(model, 100, device="cuda", threads_per_block=64), Batch(model, 100, device="cuda")
    assert [batch._worlds.memories.worlds for batch in blocks] == [128, 128]
    assert [batch._worlds.memories.threads for batch in blocks] == [64, 32]
    for batch in blocks:
        batch.qvel[:2, 0] = 0.1, -0.2
        batch.step(5)
        np.testing.assert_array_equal(np.asarray(batch.state)[:2], np.asarray(one.state))
        batch.close()
    with pytest.raises(ValueError, match="threads_per_block should be one of"):
        Batch(model, 2, device="cuda", threads_per_block=48)
    assert [block_size(n, 132) for n in (1, 8192, 2 * 132 * 64, 65536)] == [32, 32, 64, 128]
    assert len(many._worlds.gpu_programs) == len(one._worlds.gpu_programs)
    assert max(len(p._launches) for p in many._worlds.gpu_programs.values()) == 1
    for batch in (one, many):
        batch.close()


def test_single_precision(driver, model):
    on_gpu = Batch(model, 2, device="cuda", dtype="float32")
    on_threads = Batch(model, 2, 1, dtype="float32")
    for batch in (on_gpu, on_threads):
        batch.qvel[:, 1] = 0.1, 0.2
        batch.forward(stage=mjtStage.mjSTAGE_POS)
    assert on_gpu.qpos.dtype == np.float32
    assert_same(on_gpu, on_threads, 1e-6, ("qpos", "xpos", "xmat", "cinert"))
    on_gpu.close()


@pytest.mark.filterwarnings("ignore")
def test_limits_on_memory_hold_for_each_world_alone(driver):
    """Worlds with one contact and with two, with room for the rows of one, or for one contact."""
    for memory in (4000, 1024):
        m = cardan.MjModel.from_xml_string(XML.replace("<mujoco>", f'<mujoco><size memory="{memory}"/>'))
        batches = Batch(m, 3, device="cuda"), Batch(m, 3, 1)
        for batch in batches:
            batch.qpos[1, 3:7] = 0.5**0.5, 0, 0.5**0.5, 0  # it lies on both balls
            batch.step(2)
        assert_same(*batches)
        overflow = batches[1].overflow
        assert (np.asarray(batches[0].overflow) == overflow).all()
        assert overflow.astype(bool).tolist() == [memory == 1024, True, memory == 1024]
        assert all(batches[0].data(i).maxuse_arena <= memory for i in range(3))
        batches[0].close()


def test_what_can_not_be_done_is_said(driver, model, monkeypatch):
    for device, words in (("cuda:7", "no GPU number 7"), ("cuda:x", "no device 'cuda:x'"), ("tpu", "'tpu'")):
        with pytest.raises((CudaError, ValueError), match=words):
            Batch(model, 2, device=device)
    driver.total = 3 * 2**20
    with pytest.raises(GpuMemoryError, match=r"500 worlds were asked for, \d+ would fit"):
        Batch(model, 500, device="cuda")


def test_without_a_gpu_the_error_says_so(model):
    try:
        Batch(model, 2, device="cuda").close()
    except CudaError as error:
        assert "driver" in str(error) or "no GPU" in str(error) or "cardan[cuda]" in str(error)


def test_everything_is_freed_with_the_batch(driver, model):
    batch = Batch(model, 2, device="cuda")
    batch.forward(stage=mjtStage.mjSTAGE_POS)
    qpos = batch.qpos
    del batch
    gc.collect()
    assert driver.left()["memory"] >= 1  # what the array shows
    assert np.asarray(qpos).shape == (2, model.nq)


def test_code_is_made_once(tmp_path, monkeypatch):
    try:
        find_libdevice()
    except PtxError:
        pytest.skip("libdevice is not installed (wheel nvidia-nvvm)")
    monkeypatch.setenv("CARDAN_CACHE_DIR", str(tmp_path))
    form = Form(INTERLEAVED, SINGLE)
    first = gpu_code.gpu_source([clear_energy], form, ())
    assert f".entry {KERNEL}(" in first
    assert ".f64" not in first
    monkeypatch.setattr(gpu_code, "ptx", None)  # it is not called again
    assert gpu_code.gpu_source([clear_energy], form, ()) == first
    with pytest.raises(TypeError):
        gpu_code.gpu_source([clear_energy], Form(INTERLEAVED), ())


REAL: dict[str, Any] = {
    **{name: PATHS[name] for name in ("humanoid", "muscle_arm", "slider_crank", "ant", "quadruped", "barkour")},
    "quadruped on terrain": models.quadruped,
    "hand with meshes": PATHS["shadow_hand"],
}


@pytest.mark.skipif(not FULL, reason="CARDAN_FULL_TESTS=1: compiles all stages of all these models")
@pytest.mark.parametrize("name", REAL)
def test_models_of_real_size(driver, name):
    source = REAL[name]
    m = (
        cardan.MjModel.from_xml_path(str(there(source)))
        if isinstance(source, Path)
        else cardan.MjModel.from_xml_string(source())
    )
    on_gpu, on_threads = two(m, 3)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for batch in (on_gpu, on_threads):
            batch.step(20)
    assert_same(on_gpu, on_threads)
    on_gpu.close()
