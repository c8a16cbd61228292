"""Inertial frames of bodies whose geoms have no mass, by the rules of both versions of MuJoCo."""

from __future__ import annotations

import numpy as np
import pytest
from later import later_run

import cardan

BODY = """<mujoco><worldbody><body pos="0 0 1"><joint axis="0 1 0"/><geom size=".1" pos=".1 0 0"/><frame pos="1 0 0">
<body pos=".2 .3 .4" euler="10 20 30">{geoms}<site pos=".1 .2 .3"/></body></frame></body></worldbody></mujoco>"""
BOX = '<geom type="box" size=".1 .2 .3" euler="10 20 30" pos=".1 0 0" mass="{0}"/>'
BALL = '<geom size=".1" pos=".1 .2 .3" mass="{0}"/>'
CASES = {
    "no mass": BODY.format(geoms=BALL.format(0)),
    "hardly any mass": BODY.format(geoms=BALL.format("9e-15")),
    "little mass": BODY.format(geoms=BALL.format("3e-14")),
    "one of two": BODY.format(geoms=BALL.format(0) + BOX.format(2)),
    "none": BODY.format(geoms=""),
}
TWO = BODY.format(geoms=BALL.format(0) + BOX.format(0))
FIELDS = "body_ipos", "body_iquat", "body_mass", "body_inertia", "body_invweight0"
SCRIPT = "m = mujoco.MjModel.from_xml_string(xml); out = {name: getattr(m, name) for name in fields}"


@pytest.mark.parametrize("text", [*CASES.values(), TWO], ids=[*CASES, "two without mass"])
def test_frames_as_in_4_0(text: str) -> None:
    """The frame is that of a body without geoms."""
    there = later_run(SCRIPT, xml=text, fields=FIELDS)
    m = cardan.MjModel.from_xml_string(text, compat="4.0")
    for field, value in there.items():
        np.testing.assert_allclose(getattr(m, field), value, rtol=1e-9, atol=1e-12, err_msg=field)


@pytest.mark.parametrize("name", CASES)
def test_frames_as_in_3_1(name: str) -> None:
    """The frame is that of the geom; several geoms need a mass."""
    mujoco = pytest.importorskip("mujoco")
    there, m = mujoco.MjModel.from_xml_string(CASES[name]), cardan.MjModel.from_xml_string(CASES[name])
    for field in FIELDS:
        np.testing.assert_allclose(getattr(m, field), getattr(there, field), rtol=1e-9, atol=1e-12, err_msg=field)


def test_two_geoms_without_mass_in_3_1() -> None:
    """Their centre of mass is not defined."""
    with pytest.raises(ValueError, match="no mass"):
        cardan.MjModel.from_xml_string(TWO)
