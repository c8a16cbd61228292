"""Plans are plain values: equal for equal settings, other for others, and making one changes nothing."""

from __future__ import annotations

import numpy as np
import pytest

import cardan
from cardan.collision.plane import plane_sphere
from cardan.step.pipeline import FWD_POSITION, STEP
from cardan.step.plan import plan_of
from cardan.step.programs import step_program

BALL = """
<mujoco>
  <worldbody>
    <geom type="plane" size="1 1 1"/>
    <body pos="0 0 1"><freejoint/><geom size=".1"/></body>
  </worldbody>
</mujoco>
"""


@pytest.fixture
def model() -> cardan.MjModel:
    return cardan.MjModel.from_xml_string(BALL)


def test_equal_settings_have_equal_plans(model: cardan.MjModel) -> None:
    assert plan_of(model, STEP) == plan_of(cardan.MjModel.from_xml_string(BALL), STEP)


def test_an_option_changes_the_plan_and_back(model: cardan.MjModel) -> None:
    before = plan_of(model, STEP)
    model.opt.integrator = cardan.mjtIntegrator.mjINT_IMPLICIT
    assert plan_of(model, STEP) != before
    model.opt.integrator = cardan.mjtIntegrator.mjINT_EULER
    assert plan_of(model, STEP) == before


def test_a_plan_writes_nothing(model: cardan.MjModel) -> None:
    before = {name: array.copy() for name, array in model._memory.arrays.items()}
    plan_of(model, STEP)
    for name, array in before.items():
        np.testing.assert_array_equal(model._memory.arrays[name], array, err_msg=name)


def test_a_program_writes_the_tables_of_its_plan(model: cardan.MjModel) -> None:
    program = step_program(model)
    tables = dict(program.plan.tables)
    places = [place for place, function in tables["aux.collider"] if function is plane_sphere]
    assert len(places) == 1
    assert np.flatnonzero(model._memory.arrays["aux.collider"] > 0).tolist() == [p for p, _ in tables["aux.collider"]]


def test_only_lists_that_detect_contacts_have_collision_functions(model: cardan.MjModel) -> None:
    model.opt.disableflags |= cardan.mjtDisableBit.mjDSBL_CONTACT
    assert dict(plan_of(model, FWD_POSITION).tables)["aux.collider"]
    (kinematics,) = (item for item in plan_of(model, FWD_POSITION).stages if item.__name__ == "kinematics")
    assert "aux.collider" not in dict(plan_of(model, (kinematics,)).tables)


def test_a_callback_is_part_of_the_plan(model: cardan.MjModel) -> None:
    before = plan_of(model, STEP)
    cardan.set_mjcb_control(lambda m, d: None)
    try:
        plan = plan_of(model, STEP)
        assert plan.needs_objects and not before.needs_objects
        assert "Python function" in str(plan)
    finally:
        cardan.set_mjcb_control(None)
    assert plan_of(model, STEP) == before


def test_names_of_stages_can_be_printed(model: cardan.MjModel) -> None:
    lines = str(plan_of(model, STEP)).splitlines()
    assert lines[:3] == ["check_pos", "check_vel", "kinematics"]
    assert any(line.startswith("aux.collider[") and line.endswith("plane_sphere") for line in lines)
