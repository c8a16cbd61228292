"""Bodies whose inertia matrix is diagonal, where the axis of a joint comes out of a rotation."""

from __future__ import annotations

import mujoco
import pytest

import cardan

MODEL = "<mujoco><worldbody><body><geom type='box' size='.1 .2 .3'/>{}</body></worldbody></mujoco>"


@pytest.mark.parametrize(
    "joint",
    ["<frame euler='90 0 0'><joint axis='0 0 1'/></frame>", *(f"<joint axis='0 1 {e}'/>" for e in (9e-15, 1.1e-14))],
)
def test_an_axis_within_rounding_errors_is_simple(joint: str) -> None:
    there, here = (engine.MjModel.from_xml_string(MODEL.format(joint)) for engine in (mujoco, cardan))
    assert here.body_simple.tolist() == there.body_simple.tolist()
    assert here.dof_simplenum.tolist() == there.dof_simplenum.tolist()
