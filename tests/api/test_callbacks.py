"""Callbacks: Python and native, order of calls, exceptions, removal."""

import copy
import ctypes
import gc
import sys

import mujoco
import numpy as np
import pytest
from reference import model_from_reference

import cardan
from cardan.api import callbacks, pipeline
from cardan.jit import kernel
from cardan.model import MjData, MjModel
from cardan.visual import MjvScene

XML = (
    '<mujoco><worldbody><body><joint axis="0 1 0" damping="1"/><geom size=".1" pos=".3 0 0"/></body></worldbody>'
    '<actuator><motor joint="j"/></actuator></mujoco>'.replace("<joint axis", '<joint name="j" axis')
)


FALLING = "<mujoco><worldbody><body><freejoint/><geom size='.1'/></body></worldbody></mujoco>"


@pytest.fixture
def world():
    m = model_from_reference(mujoco.MjModel.from_xml_string(XML))
    yield m, MjData(m)
    callbacks.mj_resetCallbacks()


@kernel
def native_control(m, d):
    for i in range(m.nu):
        d.ctrl[i] = 0.7 * d.qvel[i] + 0.1


def test_python_and_native_callbacks_do_the_same(world):
    m, d = world
    results = []
    seen = []

    def control(model, data):
        seen.append(model is m and data is d)
        data.ctrl[:] = 0.7 * data.qvel + 0.1

    for function in (control, native_control):
        callbacks.set_mjcb_control(function)
        assert callbacks.get_mjcb_control() is function
        pipeline.mj_resetData(m, d)
        pipeline.mj_step(m, d, 5)
        results.append(d.qpos[0])
    assert results[0] == results[1] != 0.0
    assert seen == [True] * 5


def test_passive_callback_adds_forces(world):
    m, d = world

    def passive(model, data):
        data.qfrc_passive[0] += 2.5

    callbacks.set_mjcb_passive(passive)
    pipeline.mj_forward(m, d)
    assert d.qfrc_passive[0] == 2.5
    callbacks.mj_resetCallbacks()
    pipeline.mj_forward(m, d)
    assert d.qfrc_passive[0] == 0.0


def test_exceptions_come_out_of_the_step(world):
    m, d = world

    def control(model, data):
        raise KeyError("no")

    callbacks.set_mjcb_control(control)
    with pytest.raises(KeyError, match="no"):
        pipeline.mj_step(m, d, 3)
    callbacks.set_mjcb_control(None)
    pipeline.mj_step(m, d)


def test_bad_and_absent_callbacks():
    with pytest.raises(TypeError):
        callbacks.set_mjcb_control(3)
    with pytest.raises(TypeError, match="C function pointer"):
        callbacks.set_mju_user_malloc(print)
    callbacks.set_mju_user_malloc(None)
    assert callbacks.get_mju_user_malloc() is None


@pytest.mark.skipif(sys.platform == "win32", reason="the C library of the process is found by name only on POSIX")
@pytest.mark.parametrize("frees", [True, False])
def test_memory_from_functions_of_the_user(frees: bool):
    """Models, data and scenes are in memory from `malloc`, and give it back with their last array."""
    library, taken, freed = ctypes.CDLL(None), [], []
    library.malloc.restype, library.malloc.argtypes = ctypes.c_void_p, [ctypes.c_size_t]
    library.free.argtypes = [ctypes.c_void_p]

    @ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_size_t)
    def malloc(nbytes: int) -> int:
        taken.append(library.malloc(nbytes))
        return taken[-1]

    @ctypes.CFUNCTYPE(None, ctypes.c_void_p)
    def free(address: int) -> None:
        freed.append(address)
        library.free(address)

    results = []
    for function in (malloc, None):
        callbacks.set_mju_user_malloc(function)
        callbacks.set_mju_user_free(free if function and frees else None)
        assert callbacks.get_mju_user_malloc() is function
        m = MjModel.from_xml_string(FALLING)
        d, scene = MjData(m), MjvScene(m, 10)
        pipeline.mj_step(m, d, 20)
        results.append(d.qpos.copy())
        if function:
            start = d.qpos.ctypes.data
            assert any(address <= start < address + 2**20 for address in taken) and len(taken) >= 4
            kept = d.qvel
            del m, d, scene
            gc.collect()
            assert len(freed) < len(taken)
            assert kept[2] < 0.0
            del kept
            gc.collect()
            assert sorted(freed) == (sorted(taken) if frees else [])
    np.testing.assert_array_equal(results[0], results[1])


def test_callbacks_of_one_model_win(world):
    m, d = world
    other = copy.copy(m)
    callbacks.set_mjcb_control(lambda model, data: data.ctrl.fill(1))
    callbacks.set_callback(m, "control", lambda model, data: data.ctrl.fill(2))
    d2 = MjData(other)
    pipeline.mj_forward(m, d)
    pipeline.mj_forward(other, d2)
    assert (d.ctrl[0], d2.ctrl[0]) == (2, 1)
    callbacks.set_callback(m, "control", None)
    assert callbacks.get_callback(m, "control") is None
    pipeline.mj_forward(m, d)
    assert d.ctrl[0] == 1
    callbacks.mj_resetCallbacks()
    callbacks.set_callback(m, "control", native_control)
    assert callbacks.get_callback(m, "control") is native_control
    d.ctrl[:] = 5
    pipeline.mj_forward(m, d)
    assert d.ctrl[0] == 0.1
    with pytest.raises(ValueError, match="unknown callback 'contrl'"):
        callbacks.set_callback(m, "contrl", print)
    with pytest.raises(TypeError):
        callbacks.set_callback(d, "control", print)
    with pytest.raises(TypeError):
        callbacks.set_callback(m, "control", 3)


SENSORS = """<mujoco><worldbody><body pos="0 0 .09"><freejoint/><geom size=".1"/><site name="s"/></body></worldbody>
<sensor><user dim="2" needstage="pos" cutoff="0.5" noise="0.1"/><framepos objtype="site" objname="s"/>
<user dim="3" needstage="vel"/><user dim="1" datatype="positive" cutoff="1"/><user dim="1"/><clock/></sensor>
</mujoco>"""


@kernel
def native_sensor(m, d, stage):
    for i in range(m.nsensordata):
        d.sensordata[i] = i - 2.5 + d.time


def sense(m, d, stage):
    d.sensordata[:] = np.arange(len(d.sensordata)) - 2.5 + d.time


def test_user_sensors():
    results = []
    for engine, function in ((mujoco, sense), (cardan, sense), (cardan, native_sensor)):
        m = engine.MjModel.from_xml_string(SENSORS)
        d = engine.MjData(m)
        stages = []
        d.sensordata[:] = -7
        engine.mj_forward(m, d)
        rows = [d.sensordata.copy()]
        engine.set_mjcb_sensor(function)
        for step in (engine.mj_forward, engine.mj_step, engine.mj_inverse):
            step(m, d)
            rows.append(d.sensordata.copy())
        engine.set_mjcb_sensor(lambda model, data, stage, stages=stages: stages.append(int(stage)))
        engine.mj_step(m, d)
        engine.set_mjcb_sensor(None)
        results.append((np.array(rows), stages, m.sensor_noise[0]))
    for rows, stages, noise in results[1:]:
        np.testing.assert_allclose(rows, results[0][0], atol=1e-14)
        assert stages == results[0][1] == [1, 2, 3]
        assert noise == 0.1


@pytest.mark.parametrize("native", [False, True])
@pytest.mark.parametrize("nthread", [1, 4])
def test_callbacks_in_rollouts_on_threads(world, native, nthread):
    m, d = world
    start = np.zeros((16, 3))
    start[:, 1] = np.linspace(-1, 1, 16)

    def control(model, data):
        data.ctrl[:] = 0.7 * data.qvel + 0.1

    callbacks.set_callback(m, "control", native_control if native else control)
    states, _ = cardan.rollout.rollout(m, d, start, nstep=20, nthread=nthread)
    for row in (0, 7, 15):
        single = MjData(m)
        single.qpos[:] = start[row, 1]
        pipeline.mj_step(m, single, 20)
        np.testing.assert_array_equal(states[row, -1, 1:], [single.qpos[0], single.qvel[0]])


def test_errors_come_out_of_rollouts(world):
    m, d = world

    def control(model, data):
        raise KeyError("no")

    callbacks.set_mjcb_control(control)
    with pytest.raises(KeyError, match="no"):
        cardan.rollout.rollout(m, d, np.zeros((8, 3)), nstep=5, nthread=3)


def test_a_clock_may_be_a_c_function(world):
    m, d = world
    clock = ctypes.CFUNCTYPE(ctypes.c_double)(iter(range(1000)).__next__)
    callbacks.set_mjcb_time(clock)
    assert callbacks.get_mjcb_time() is clock
    pipeline.mj_step(m, d)
    assert d.timer[0].duration > 0


@pytest.mark.parametrize("name", ["control", "passive", "act_dyn", "act_gain", "act_bias", "contactfilter", "sensor"])
def test_c_functions_of_structures_are_refused(world, name):
    function = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p)(lambda m, d: None)
    with pytest.raises(TypeError, match=f"set_mjcb_{name}: a C function takes pointers"):
        getattr(callbacks, f"set_mjcb_{name}")(function)
    with pytest.raises(TypeError, match="a C function takes pointers"):
        callbacks.set_callback(world[0], name, function)
    assert getattr(callbacks, f"get_mjcb_{name}")() is None
