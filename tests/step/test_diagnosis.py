"""A state that goes bad: what the warning says, and the last good state."""

from __future__ import annotations

import ctypes
import warnings
from typing import Any

import numpy as np
import pytest

import cardan
from cardan.step.report import SimulationWarning

XML = """<mujoco><worldbody><geom name="floor" type="plane" size="1 1 1"/>
<body name="ball" pos="0 0 .09"><joint name="lift" type="slide" axis="0 0 1"/><geom name="skin" size=".1"/>
 <body name="arm" pos=".3 0 0"><joint name="turn" axis="0 1 0"/><geom size=".05" pos=".1 0 0"/></body></body>
</worldbody><actuator><general name="servo" joint="turn" dyntype="integrator"/></actuator></mujoco>"""
FULL = int(cardan.mjtState.mjSTATE_FULLPHYSICS)


def world() -> tuple[Any, Any]:
    m = cardan.MjModel.from_xml_string(XML)
    d = cardan.MjData(m)
    cardan.mj_step(m, d, 5)
    return m, d


def state_of(m: Any, d: Any) -> np.ndarray:
    state = np.zeros(cardan.mj_stateSize(m, FULL))
    cardan.mj_getState(m, d, state, FULL)
    return state


def spoil_model(name: str, index: Any, value: float) -> Any:
    def spoil(m: Any, d: Any) -> None:
        getattr(m, name)[index] = value

    return spoil


def spoil_data(name: str, index: Any, value: float) -> Any:
    def spoil(m: Any, d: Any) -> None:
        getattr(d, name)[index] = value

    return spoil


CAUSES = {
    "applied force": (spoil_data("qfrc_applied", 1, np.nan), "qfrc_applied[1] = nan (dof 1, joint 1 'turn' of body"),
    "external force": (spoil_data("xfrc_applied", (2, 0), np.inf), "xfrc_applied[2][0] = inf (body 2 'arm'), an input"),
    "activation": (spoil_data("act", 0, np.nan), "act[0] = nan (actuator 0 'servo')"),
    "stiffness": (spoil_model("jnt_stiffness", 1, np.nan), "from the stage passive"),
    "body": (spoil_model("body_pos", (2, 1), np.nan), "(body 2 'arm'), from the stage kinematics"),
    "gear": (spoil_model("actuator_gear", (0, 0), np.nan), "(actuator 0 'servo'), from the stage transmission"),
    "velocity": (spoil_data("qvel", 1, 1e11), "qvel[1] = 1e+11 (dof 1, joint 1 'turn' of body 2 'arm')"),
    "position": (spoil_data("qpos", 0, np.nan), "qpos[0] = nan (dof 0, joint 0 'lift' of body 1 'ball')"),
}  # fmt: skip


@pytest.mark.parametrize("cause", CAUSES)
def test_the_warning_names_the_first_bad_number(cause: str) -> None:
    m, d = world()
    spoil, words = CAUSES[cause]
    spoil(m, d)
    time = d.time
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        cardan.mj_step(m, d)
    text = str(caught[0].message)
    assert words in text
    assert f"Time = {time:.4f}." in text


def test_the_last_good_state() -> None:
    m, d = world()
    assert cardan.last_good_state(d) is None
    before = state_of(m, d)
    d.qfrc_applied[0] = np.nan
    with pytest.warns(SimulationWarning):
        cardan.mj_step(m, d, 4)
    np.testing.assert_array_equal(cardan.last_good_state(d), before)
    cardan.mj_setState(m, d, cardan.last_good_state(d), FULL)
    cardan.mj_forward(m, d)
    assert np.isfinite(d.qacc).all()
    with pytest.raises(TypeError):
        cardan.last_good_state(m)


def test_a_state_set_bad_leaves_the_start_of_the_step_before() -> None:
    m, d = world()
    before = state_of(m, d)
    cardan.mj_step(m, d)
    d.qpos[1] = np.inf
    with pytest.warns(SimulationWarning):
        cardan.mj_step(m, d)
    np.testing.assert_array_equal(cardan.last_good_state(d), before)


def test_users_get_the_text() -> None:
    m, d = world()
    texts: list[str] = []
    cardan.set_mju_user_warning(texts.append)
    assert cardan.get_mju_user_warning() is not None
    try:
        d.ctrl[0] = np.nan
        cardan.mj_step(m, d)
        cardan.set_mju_user_warning(lambda text: 1 / 0)
        d.qpos[0] = np.nan
        with pytest.raises(ZeroDivisionError):
            cardan.mj_step(m, d)
    finally:
        cardan.set_mju_user_warning(None)
    assert texts == ["Nan, Inf or huge value in CTRL at ACTUATOR 0. The simulation is unstable. Time = 0.0100."]


def test_c_functions_get_the_text_as_bytes() -> None:
    m, d = world()
    texts: list[bytes] = []
    handler = ctypes.CFUNCTYPE(None, ctypes.c_char_p)(texts.append)
    cardan.set_mju_user_warning(handler)
    assert cardan.get_mju_user_warning() is handler
    try:
        d.ctrl[0] = np.nan
        cardan.mj_step(m, d)
    finally:
        cardan.set_mju_user_warning(None)
    assert texts == [b"Nan, Inf or huge value in CTRL at ACTUATOR 0. The simulation is unstable. Time = 0.0100."]


def test_a_warm_start_with_nan_is_none() -> None:
    m, d = world()
    other = cardan.mj_copyData(cardan.MjData(m), m, d)
    d.qacc_warmstart[:], other.qacc_warmstart[:] = np.nan, 0
    for data in (d, other):
        cardan.mj_step(m, data)
    np.testing.assert_allclose(d.qpos, other.qpos, rtol=1e-12)


def test_every_stage_of_the_table_of_fields_has_its_place() -> None:
    """The order comes from the pipeline; fields that it doesn't compute, or later, have other words there."""
    from cardan.model.tables import DATA
    from cardan.step.diagnosis import STAGES

    elsewhere = {"", "inverse dynamics", "sensor stages", "implicitfast_derivatives", "energy_pos, energy_vel"}
    named = {field.stage for field in DATA.fields if field.dtype == "f8" and field.shape} - elsewhere
    assert named <= set(STAGES)
    assert STAGES.index("kinematics") < STAGES.index("collision") < STAGES.index("make_constraint")
    assert STAGES.index("transmission") < STAGES.index("rne") < STAGES.index("solve") < STAGES.index("integration")
