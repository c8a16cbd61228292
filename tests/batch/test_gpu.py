"""Worlds on a GPU, against a fake of the driver that runs the same stages on this processor: what single worlds do,
memory that grows, masks, what is refused, leaks."""

from __future__ import annotations

import ctypes
import os
from functools import cache
from types import SimpleNamespace

import numpy as np
import pytest
from jit.fake_cuda import FakeDriver

import cardan
from cardan.batch import SimulationError
from cardan.batch import gpu as on_gpu
from cardan.batch.gpu import THREADS, GpuWorlds
from cardan.jit import jit_enabled
from cardan.jit.driver import cuda
from cardan.jit.driver.cuda import Gpu, GpuMemoryError
from cardan.jit.driver.loader import Address, ctypes_function, target_machine
from cardan.jit.front.form import INTERLEAVED, SINGLE, WORLD_COUNT, WORLD_INDEX, Form
from cardan.jit.front.stage import entry_of
from cardan.jit.target.ptx import KERNEL, Code, PtxError, find_libdevice, kernel_text, module_texts
from cardan.step.checks import clear_energy
from cardan.step.pipeline import PROGRAMS

pytestmark = pytest.mark.skipif(not jit_enabled, reason="about native code")
FULL = bool(os.environ.get("CARDAN_FULL_TESTS"))

XML = """
<mujoco><option timestep="0.005" {option}/>
  <worldbody><geom type="plane" size="5 5 1"/>
    <body name="a" pos="0 0 .13"><freejoint/><geom size=".1"/>
      <body name="b" pos=".3 0 0"><joint name="j" axis="0 1 0"/><geom size=".1"/></body></body></worldbody>
  <actuator><motor joint="j"/></actuator>
</mujoco>
"""
POSITION = (*PROGRAMS["mj_kinematics"], *PROGRAMS["mj_comPos"], *PROGRAMS["mj_collision"])

LANES = f"""
@cardan_fake_lane = internal global [2 x i64] zeroinitializer
define i64 @{WORLD_INDEX}() {{
  %w = load i64, ptr @cardan_fake_lane
  ret i64 %w
}}
define i64 @{WORLD_COUNT}() {{
  %at = getelementptr i64, ptr @cardan_fake_lane, i64 1
  %n = load i64, ptr %at
  ret i64 %n
}}
define void @cardan_fake_grid(i64 %count, i64 %m, i64 %d, i64 %stage, i64 %following, ptr %rows) {{
entry:
  %at = getelementptr i64, ptr @cardan_fake_lane, i64 1
  store i64 %count, ptr %at
  br label %loop
loop:
  %w = phi i64 [ 0, %entry ], [ %next, %loop ]
  store i64 %w, ptr @cardan_fake_lane
  call void @{KERNEL}(i64 %m, i64 %d, i64 %stage, i64 %following, ptr %rows)
  %next = add i64 %w, 1
  %more = icmp slt i64 %next, %count
  br i1 %more, label %loop, label %done
done:
  ret void
}}
"""


@cache
def text_of(function, form):
    from cardan.jit.front.compile import linked_module

    return linked_module(entry_of(function), form)


@cache
def grid(function, form, called):
    """A function that runs a stage in all worlds one after the other, as the threads of a launch do."""
    import llvmlite.binding as llvm

    from cardan.jit.front.compile import only

    symbol = entry_of(function).symbol
    code = Code(symbol, text_of(function, form), tuple(Code(entry_of(f).symbol, text_of(f, form)) for f in called))
    first, *others = (llvm.parse_assembly(text) for text in (*module_texts(code), kernel_text(symbol) + LANES))
    for other in others:
        first.link_in(other)
    machine = target_machine()
    only(("cardan_fake_grid",), first)
    passes = llvm.create_pass_builder(machine, llvm.create_pipeline_tuning_options(speed_level=1))
    passes.getModulePassManager().run(first, passes)
    engine = llvm.create_mcjit_compiler(first, machine)
    engine.finalize_object()
    address = Address(engine.get_function_address("cardan_fake_grid"), engine)
    return ctypes_function(address, None, *[ctypes.c_int64] * 6)


class Lanes(FakeDriver):
    """A driver whose launches run stages on this processor."""

    def __init__(self, **kwargs):
        super().__init__(run=self.launch, **kwargs)
        self.entries = {}

    def source(self, entry, form, called):
        """What stands for the PTX of a stage."""
        self.entries[entry.name] = entry.function, form, tuple(e.function for e in called)
        return f"// {entry.name}\n.visible .entry cardan_kernel(\n)"

    def launch(self, name, blocks, threads, words):
        grid(*self.entries[name])(blocks * threads, *words)


@pytest.fixture(autouse=True)
def no_cache(monkeypatch):
    """What stands for machine code here must not stay on disk."""
    nothing = SimpleNamespace(read=lambda name, key: None, write=lambda *stored: None)
    monkeypatch.setattr(cuda, "disk", nothing)


@pytest.fixture
def driver():
    driver = Lanes()
    yield driver
    assert driver.left() == {}


@pytest.fixture
def gpu(driver):
    gpu = Gpu(interface=driver)
    yield gpu
    gpu.close()


def model(option=""):
    return cardan.MjModel.from_xml_string(XML.format(option=option))


def starts(m, count):
    rows = np.tile(m.qpos0, (count, 1))
    rows[:, 2] += 0.02 * np.arange(count) - 0.04  # the first ones touch the plane
    return rows


def single(m, qpos, run):
    """The data of single worlds."""
    datas = []
    for row in qpos:
        d = cardan.MjData(m)
        d.qpos[:] = row
        run(m, d)
        datas.append(d)
    return datas


def test_positions_and_contacts_are_those_of_single_worlds(gpu, driver):
    m = model()
    qpos = starts(m, 5)
    worlds = GpuWorlds(m, 5, gpu, items=POSITION, source=driver.source)
    worlds.write("qpos", qpos)
    np.testing.assert_array_equal(worlds.read("qpos"), qpos)
    worlds.step()

    def position(m, d):
        cardan.mj_kinematics(m, d)
        cardan.mj_comPos(m, d)
        cardan.mj_collision(m, d)

    expected = single(m, qpos, position)
    for name in ("xpos", "xquat", "xipos", "geom_xpos", "geom_xmat", "subtree_com", "cinert", "cdof"):
        rows = np.array([getattr(d, name) for d in expected])
        np.testing.assert_allclose(worlds.read(name), rows, rtol=1e-12, atol=1e-14, err_msg=name)
    assert worlds.read("ncon").tolist() == [d.ncon for d in expected]
    assert sum(d.ncon for d in expected) > 1
    for world, d in enumerate(expected):
        dist = worlds.read("contact.dist")[world, : d.ncon]
        np.testing.assert_allclose(dist, d.contact.dist, rtol=1e-12, atol=1e-14)
    worlds.close()


def test_memory_grows_and_worlds_go_on_where_they_stopped(gpu, driver):
    m = model()
    qpos = starts(m, 5)
    worlds = GpuWorlds(m, 5, gpu, items=POSITION, source=driver.source, capacities={"ncon": 1, "ncandidate": 0})
    worlds.write("qpos", qpos)
    before = driver.names().count("cuGraphLaunch")
    worlds.step()
    assert driver.names().count("cuGraphLaunch") > before + 1
    assert worlds._lanes.sizes["ncon"] > 1
    expected = single(m, qpos, lambda m, d: (cardan.mj_kinematics(m, d), cardan.mj_collision(m, d)))
    assert worlds.read("ncon").tolist() == [d.ncon for d in expected]
    worlds.close()


def test_worlds_outside_a_mask_stay(gpu, driver):
    m = model()
    worlds = GpuWorlds(m, 3, gpu, items=PROGRAMS["mj_kinematics"], source=driver.source)
    worlds.write("xpos", 7.0)
    worlds.step(mask=np.array([True, False, True]))
    seven = (worlds.read("xpos") == 7.0).all(axis=(1, 2))
    assert seven.tolist() == [False, True, False]
    worlds.close()


def test_one_graph_is_captured_and_launched_for_each_step(gpu, driver):
    m = model()
    worlds = GpuWorlds(m, THREADS + 1, gpu, items=PROGRAMS["mj_kinematics"], source=driver.source)
    worlds.step(3)
    assert driver.names().count("cuStreamBeginCapture") == 1
    assert driver.names().count("cuGraphLaunch") == 3
    sizes = {arguments[1:7] for name, arguments in driver.calls if name == "cuLaunchKernel"}
    assert sizes == {(2, 1, 1, THREADS, 1, 1)}
    assert worlds.read("qpos").shape == (THREADS + 1, m.nq)
    worlds.close()


def test_worlds_that_fail_are_named(gpu, driver):
    m = model()
    worlds = GpuWorlds(m, 3, gpu, items=PROGRAMS["mj_checkPos"], source=driver.source)
    qpos = starts(m, 3)
    qpos[1, 0] = np.nan
    worlds.write("qpos", qpos)
    with pytest.raises(SimulationError, match=r"world 1: step\.checks\.check_pos found a bad number") as caught:
        worlds.step()
    assert caught.value.ids == [1]
    worlds.close()


def test_what_would_fit_is_said():
    driver = Lanes(memory=3 * 2**20)
    gpu = Gpu(interface=driver)
    with pytest.raises(GpuMemoryError, match=r"500 worlds were asked for, \d+ would fit"):
        GpuWorlds(model(), 500, gpu, items=PROGRAMS["mj_kinematics"], source=driver.source)
    assert "memory" not in driver.left()
    gpu.close()


def test_code_is_made_once(tmp_path, monkeypatch):
    try:
        find_libdevice()
    except PtxError:
        pytest.skip("libdevice is not installed (wheel nvidia-nvvm)")
    monkeypatch.setenv("CARDAN_CACHE_DIR", str(tmp_path))
    entry, form = entry_of(clear_energy), Form(INTERLEAVED, SINGLE)
    first = on_gpu.gpu_source(entry, form, ())
    assert f".entry {KERNEL}(" in first
    assert ".f64" not in first
    monkeypatch.setattr(on_gpu, "ptx", None)  # it is not called again
    assert on_gpu.gpu_source(entry, form, ()) == first
    with pytest.raises(TypeError):
        on_gpu.gpu_source(entry, Form(INTERLEAVED), ())


def test_what_is_not_there_yet_is_named(gpu, driver):
    limited = XML.format(option="").replace("<mujoco>", '<mujoco><size memory="1M"/>')
    with pytest.raises(ValueError, match="not supported on the GPU yet: a limit on memory"):
        GpuWorlds(cardan.MjModel.from_xml_string(limited), 2, gpu, source=driver.source)


@pytest.mark.skipif(not FULL, reason="CARDAN_FULL_TESTS=1: compiles all stages of a step")
@pytest.mark.parametrize("option", ["", 'integrator="implicitfast" cone="elliptic"'])
def test_steps_are_those_of_single_worlds(gpu, driver, option):
    m = model(option)
    qpos = starts(m, 5)
    worlds = GpuWorlds(m, 5, gpu, source=driver.source)
    worlds.write("qpos", qpos)
    worlds.write("ctrl", 0.1)
    worlds.step(20)

    def run(m, d):
        d.ctrl[:] = 0.1
        cardan.mj_step(m, d, 20)

    expected = single(m, qpos, run)
    for name in ("qpos", "qvel", "qacc", "time", "qfrc_constraint"):
        rows = np.array([getattr(d, name) for d in expected])
        np.testing.assert_allclose(worlds.read(name), rows, rtol=1e-9, atol=1e-9, err_msg=name)
    worlds.close()
