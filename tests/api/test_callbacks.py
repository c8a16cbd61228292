"""Callbacks: Python and native, order of calls, exceptions, removal."""

import mujoco
import pytest
from reference import model_from_reference

from cardan.api import callbacks, pipeline
from cardan.jit import kernel
from cardan.model import MjData

XML = (
    '<mujoco><worldbody><body><joint axis="0 1 0" damping="1"/><geom size=".1" pos=".3 0 0"/></body></worldbody>'
    '<actuator><motor joint="j"/></actuator></mujoco>'.replace("<joint axis", '<joint name="j" axis')
)


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
    with pytest.raises(TypeError, match="NumPy"):
        callbacks.set_mju_user_malloc(print)
    callbacks.set_mju_user_malloc(None)
    assert callbacks.get_mju_user_malloc() is None
