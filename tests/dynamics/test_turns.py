"""Setpoints of servos that rotate, by the rules of both versions of MuJoCo."""

from __future__ import annotations

import numpy as np
import pytest
from derivatives_compared import assert_same_jacobians
from later import later_states

import cardan

SERVOS = """<mujoco><worldbody><site name="w"/><body pos="0 0 1"><joint name="b" type="ball"/>
<geom size=".1" pos=".1 0 0"/><site name="s" euler="10 20 30"/></body><body pos="1 0 1"><joint name="h"/>
<geom size=".1" pos=".1 0 0"/></body></worldbody>
<actuator><position joint="b" gear="{gear}" kp="2" kv=".1"/><position jointinparent="b" gear="{gear}" kp="2"/>
<position site="s" refsite="w" gear="0 0 0 {gear}" kp="3"/><position site="s" refsite="w" gear="1 0 0 {gear}" kp="3"/>
<position site="s" gear="0 0 0 {gear}" kp="3"/><position joint="h" kp="2"/>
<general joint="b" gear="{gear}" gainprm="2" biastype="affine" biasprm="0 -1 0"/>
<general joint="b" gear="{gear}" gaintype="affine" gainprm="2 0 0" biastype="affine" biasprm="0 -2 0"/>
<intvelocity joint="b" gear="{gear}" kp="2" actrange="-20 20"/><position joint="b" gear="{gear}" kp="2" timeconst=".1"/>
<motor joint="b" gear="{gear}"/></actuator></mujoco>"""
CASES = [(gear, ctrl) for gear in ("0 0 1", "0 0 -2", "1 2 2") for ctrl in (-12.0, -4.0, 2.0, 5.0, 13.0)]


def state(ctrl: float) -> dict[str, object]:
    """A rotated ball, and all setpoints at one value."""
    quat = np.array([0.9, 0.1, 0.2, 0.3]) / np.sqrt(0.95)
    return {"qpos": [*quat, 0.3], "ctrl": [ctrl] * 11, "act": [ctrl] * 2}


def moved(gear: str, ctrl: float, compat: str) -> tuple[cardan.MjModel, cardan.MjData]:
    """Model and data in that state."""
    m = cardan.MjModel.from_xml_string(SERVOS.format(gear=gear), compat=compat)
    d = cardan.MjData(m)
    for name, value in state(ctrl).items():
        getattr(d, name)[:] = value
    return m, d


@pytest.mark.parametrize(("gear", "ctrl"), CASES)
def test_forces_as_in_4_0(gear: str, ctrl: float) -> None:
    """Position servos of pure rotations take the shortest way."""
    there = later_states(SERVOS.format(gear=gear), 0, state(ctrl), ("actuator_force",))["actuator_force"]
    m, d = moved(gear, ctrl, "4.0")
    cardan.mj_forward(m, d)
    np.testing.assert_allclose(d.actuator_force, there, rtol=0.0, atol=1e-12)


@pytest.mark.parametrize(("gear", "ctrl"), CASES)
def test_forces_in_3_1(gear: str, ctrl: float) -> None:
    """All forces are linear in the setpoint."""
    m, d = moved(gear, ctrl, "3.1")
    cardan.mj_forward(m, d)
    forces = d.actuator_force.copy()
    d.ctrl[:], d.act[:] = 0.0, 0.0
    cardan.mj_forward(m, d)
    np.testing.assert_allclose(forces - d.actuator_force, ctrl * m.actuator_gainprm[:, 0], rtol=0.0, atol=1e-12)


def test_derivatives() -> None:
    """Exact derivatives of the step equal differences."""
    assert_same_jacobians(*moved("0 0 1", 5.0, "4.0"))
