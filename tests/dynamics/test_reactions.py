"""Forces between bodies due to tendons and welds, by the rules of both versions of MuJoCo."""

from __future__ import annotations

import numpy as np
import pytest
from later import later_run

import cardan

ARM = """<mujoco><worldbody><site name="w" pos="0 0 1"/><body pos=".5 0 0"><joint name="j" axis="0 1 0"/>
<geom name="g" size=".1"/><site name="s" pos="0 .1 .1"/><site name="side" pos="0 0 -.3"/>
<body pos=".5 0 0"><joint axis="0 1 0"/><geom size=".1"/><site name="t" pos="0 0 .1"/></body></body></worldbody>
<tendon><spatial name="T" {spring}><site site="w"/>{path}<site site="t"/></spatial>
<fixed name="F" stiffness="5"><joint joint="j" coef="1"/></fixed></tendon>{others}
<sensor><force site="s"/><torque site="s"/><force site="t"/></sensor></mujoco>"""
SPRING = 'stiffness="10" springlength=".5"'
COUPLED = '<equality><tendon tendon1="{0}" tendon2="{1}" polycoef=".1 1 2 0 0"/></equality>'
PULLEY = '<site site="s"/><pulley divisor="2"/><site site="w"/>'
WELDED = """<mujoco><worldbody><site name="w"/><body name="a" pos=".5 0 0" euler="10 20 30"><freejoint/>
<geom size=".1"/><site name="s"/><body name="b" pos=".3 .1 0" euler="10 40 0"><geom size=".1" pos=".1 .2 0"/>
<site name="t" euler="20 0 0"/></body></body>
<body name="c" pos="1 0 0"><joint axis="0 1 1"/><geom size=".1" pos=".1 0 0"/>
<site name="u" euler="1 2 30"/></body></worldbody>
<equality><weld body1="b" body2="c" torquescale="2.5" relpose="0 .1 .2 1 .2 .3 0"/>
<connect body1="a" body2="c" anchor="0 0 .2"/>{sites}</equality>
<sensor><force site="s"/><torque site="t"/><force site="t"/></sensor></mujoco>"""


def arm(spring: str = "", path: str = "", others: str = "") -> str:
    """An arm of two links, with a tendon from the world to the second link."""
    return ARM.format(spring=spring, path=path, others=others)


CASES = {
    "spring": arm(SPRING),
    "damper": arm('damping="10"'),
    "through a site": arm(SPRING, '<site site="s"/>'),
    "around a geom": arm(SPRING, '<geom geom="g" sidesite="side"/>'),
    "pulley": arm(SPRING, PULLEY),
    "upper limit": arm('range="0 .5" limited="true"'),
    "lower limit": arm('range="5 6" limited="true"'),
    "friction loss": arm('frictionloss="2"'),
    "motor": arm(others='<actuator><motor tendon="T" gear="2"/></actuator>'),
    "coupled, first": arm(others=COUPLED.format("T", "F")),
    "coupled, second": arm(others=COUPLED.format("F", "T")),
    "without springs": arm(SPRING + ' damping="3"', others='<option><flag passive="disable"/></option>'),
    "welds": WELDED.format(sites=""),
}
FIELDS = "cfrc_ext", "cfrc_int", "sensordata"
SCRIPT = """
m = mujoco.MjModel.from_xml_string(xml)
d = mujoco.MjData(m)
d.qvel[:], d.ctrl[:] = 0.1 + 0.3 * np.arange(m.nv), 3.0
mujoco.mj_forward(m, d)
mujoco.mj_rnePostConstraint(m, d)
out = {name: getattr(d, name).copy() for name in fields}
"""


def reactions(engine: object, text: str, **settings: str) -> dict[str, np.ndarray]:
    """Forces on and between bodies, computed by a module with MuJoCo's interface."""
    m = engine.MjModel.from_xml_string(text, **settings)
    d = engine.MjData(m)
    d.qvel[:], d.ctrl[:] = 0.1 + 0.3 * np.arange(m.nv), 3.0
    engine.mj_forward(m, d)
    engine.mj_rnePostConstraint(m, d)
    return {name: getattr(d, name).copy() for name in FIELDS}


@pytest.mark.parametrize("name", [*CASES, "welds of sites"])
def test_forces_as_in_4_0(name: str) -> None:
    """All forces that a tendon can have, and the torque of a weld."""
    text = CASES.get(name) or WELDED.format(sites='<weld site1="t" site2="u" torquescale=".3"/>')
    text = text.replace('passive="disable"', 'spring="disable"')
    there = later_run(SCRIPT, xml=text, fields=FIELDS)
    for field, value in reactions(cardan, text, compat="4.0").items():
        np.testing.assert_allclose(value, there[field], rtol=1e-6, atol=1e-6, err_msg=field)


@pytest.mark.parametrize("name", CASES)
def test_forces_as_in_3_1(name: str) -> None:
    """All forces that a tendon can have, and the torque of a weld."""
    mujoco = pytest.importorskip("mujoco")
    there = reactions(mujoco, CASES[name])
    for field, value in reactions(cardan, CASES[name]).items():
        np.testing.assert_allclose(value, there[field], rtol=1e-6, atol=1e-6, err_msg=field)


def test_force_sensor_holds_the_tendon() -> None:
    """The force at a joint of a massless link is that of the tendon, which pulls at the link."""
    text = """<mujoco><option gravity="0 0 0"/><worldbody><site name="w" pos="0 0 1"/><body><site name="s"/>
    <joint axis="1 0 0"/><inertial pos="0 0 0" mass="1e-9" diaginertia="1 1 1"/></body></worldbody>
    <tendon><spatial stiffness="10" springlength=".4"><site site="w"/><site site="s"/></spatial></tendon>
    <sensor><force site="s"/></sensor></mujoco>"""
    m = cardan.MjModel.from_xml_string(text, compat="4.0")
    d = cardan.MjData(m)
    cardan.mj_forward(m, d)
    np.testing.assert_allclose(d.sensordata, [0.0, 0.0, -6.0], atol=1e-6)
