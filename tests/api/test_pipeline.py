"""Arguments of the pipeline's public functions, features that are refused, and the state as a vector."""

import copy

import mujoco
import numpy as np
import pytest
from reference import model_from_reference

from cardan.api import pipeline, state
from cardan.api.callbacks import set_callback
from cardan.api.support import mj_jacBody
from cardan.enums.codes import ENBL_NATIVECCD
from cardan.errors import FatalError
from cardan.model import MjData
from cardan.step.hooks import hooks

XML = '<mujoco><worldbody><body><joint/><geom size=".1" pos=".3 0 0"/></body></worldbody></mujoco>'
INTEGRATION = int(mujoco.mjtState.mjSTATE_INTEGRATION)


def vector(m, d):
    """The state of integration."""
    found = np.empty(state.mj_stateSize(m, INTEGRATION))
    state.mj_getState(m, d, found, INTEGRATION)
    return found


def world(xml=XML):
    m = model_from_reference(mujoco.MjModel.from_xml_string(xml))
    return m, MjData(m)


SLIDING = """<mujoco><option cone="elliptic"><flag override="enable"/></option><worldbody>
<geom type="plane" size="1 1 1"/>
<body pos="0 0 .12"><freejoint/><geom type="ellipsoid" size=".1 .2 .15"/></body>
<body pos="0 .3 .12"><freejoint/><geom type="cylinder" size=".1 .1"/></body></worldbody></mujoco>"""
NUMBERS = {
    "timestep": 0.01,
    "impratio": 5.0,
    "tolerance": 0.1,
    "ls_tolerance": 0.9,
    "noslip_tolerance": 0.1,
    "mpr_tolerance": 0.01,
    "iterations": 1,
    "ls_iterations": 1,
    "mpr_iterations": 1,
    "o_margin": 0.1,
}


@pytest.mark.parametrize(
    ("option", "value"), [*NUMBERS.items(), ("integrator", 2), ("disableflags", 64), ("solver", 1)]
)
def test_options_hold_from_the_next_step_on(option, value):
    m, d = world(SLIDING)
    other = copy.copy(m)
    twin = MjData(other)
    pipeline.mj_step(m, d, 50)
    twin.qpos[:], twin.qvel[:], twin.qacc_warmstart[:] = d.qpos, d.qvel, d.qacc_warmstart
    setattr(m.opt, option, value)
    setattr(other.opt, option, value)
    assert bool(m._programs) == (option in NUMBERS)
    pipeline.mj_step(m, d, 3)
    pipeline.mj_step(other, twin, 3)
    np.testing.assert_array_equal(d.qpos, twin.qpos)


TOGGLES = {
    "disableflags": (0, 64, 1),
    "enableflags": (ENBL_NATIVECCD, 0),
    "integrator": (2, 0),
    "solver": (0, 2),
    "noslip_iterations": (3, 0),
}


def test_options_that_are_set_and_set_back_keep_the_programs():
    m, d = world(SLIDING)
    programs = {}
    for _ in range(3):
        for option, values in TOGGLES.items():
            for value in values:
                setattr(m.opt, option, value)
                other = copy.copy(m)  # a copy has no programs
                twin = MjData(other)
                state.mj_setState(other, twin, vector(m, d), INTEGRATION)
                pipeline.mj_step(m, d)
                pipeline.mj_step(other, twin)
                np.testing.assert_array_equal(d.qpos, twin.qpos)
                np.testing.assert_array_equal(m._memory.arrays["aux.collider"], other._memory.arrays["aux.collider"])
                key = m.settings()
                made = m._programs.get("mj_step", hooks.version)
                assert programs.setdefault(key, made) is made


def test_a_function_of_the_user_counts_after_options_are_set_back():
    m, d = world(SLIDING)
    pipeline.mj_step(m, d)
    m.opt.disableflags = 64
    pipeline.mj_step(m, d)
    set_callback(m, "control", lambda m, d: d.qfrc_applied.fill(1.0))
    m.opt.disableflags = 0
    pipeline.mj_step(m, d)
    assert d.qfrc_applied[0] == 1.0


def test_number_of_steps():
    m, d = world()
    pipeline.mj_step(m, d, nstep=np.int64(3))
    pipeline.mj_step(m=m, d=d)
    pipeline.mj_step(m, d, 0)
    pipeline.mj_step(m, d, -2)
    assert d.time == pytest.approx(4 * m.opt.timestep)


@pytest.mark.parametrize(
    "arguments",
    [
        (lambda m, d: (d, m)),
        (lambda m, d: (m, None)),
        (lambda m, d: (m, d, "a")),
        (lambda m, d: (m, d, 1.5)),
        (lambda m, d: (m,)),
        (lambda m, d: (m, d, 1, 2)),
    ],
)
def test_wrong_arguments(arguments):
    with pytest.raises(TypeError):
        pipeline.mj_step(*arguments(*world()))


def test_data_of_another_model():
    m, _ = world()
    _, d = world("<mujoco/>")
    with pytest.raises(ValueError, match="sizes"):
        pipeline.mj_step(m, d)
    with pytest.raises(ValueError, match="sizes"):
        mj_jacBody(m, d, np.zeros((3, m.nv)), None, 0)


@pytest.mark.parametrize("option", ["solver", "integrator"])
def test_options_that_do_not_exist(option):
    m, d = world()
    pipeline.mj_step(m, d)
    setattr(m.opt, option, 7)
    with pytest.raises(FatalError, match=f"{option}.* 7"):
        pipeline.mj_step(m, d)
    pipeline.mj_kinematics(m, d)


def test_runge_kutta_order_and_implicit():
    m, d = world()
    pipeline.mj_forward(m, d)
    with pytest.raises(FatalError):
        pipeline.mj_RungeKutta(m, d, 3)
    with pytest.raises(FatalError):
        pipeline.mj_implicit(m, d)


def test_state_round_trip():
    m, d = world()
    d.qvel[0] = 2
    pipeline.mj_step(m, d, 3)
    vector = np.zeros(state.mj_stateSize(m, INTEGRATION))
    state.mj_getState(m, d, vector, INTEGRATION)
    e = MjData(m)
    state.mj_setState(m, e, vector, INTEGRATION)
    pipeline.mj_step(m, d)
    pipeline.mj_step(m, e)
    assert d.time == e.time and np.array_equal(d.qpos, e.qpos) and np.array_equal(d.qvel, e.qvel)


def test_bad_states():
    m, d = world()
    with pytest.raises(FatalError):
        state.mj_stateSize(m, 1 << 14)
    for bad in (np.zeros(3), [0.0], np.zeros(1, np.float32)):
        with pytest.raises(TypeError):
            state.mj_getState(m, d, bad, 2)


def test_rne():
    m, d = world()
    d.qvel[0] = 1
    pipeline.mj_forward(m, d)
    result = np.zeros(1)
    pipeline.mj_rne(m, d, 0, result)
    assert result[0] == d.qfrc_bias[0]
    with pytest.raises(TypeError):
        pipeline.mj_rne(m, d, 0, np.zeros(2))
