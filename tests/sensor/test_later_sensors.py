"""Sensors of energy, of actuator forces on tendons and of objects in sites, against MuJoCo 4.0.0."""

from __future__ import annotations

import numpy as np
import pytest
from later import later_states

import cardan
from cardan.jit import jit_enabled

XML = """<mujoco><option><flag energy="{flag}"/></option><worldbody>
<body pos="0 0 1"><joint name="j" stiffness="3" axis="0 1 0"/><geom size=".1" pos=".2 0 0"/>
<body pos=".4 0 0"><joint name="k" axis="0 1 0"/><geom size=".05" pos=".2 0 0"/></body></body></worldbody>
<tendon><fixed name="t" stiffness="2"><joint joint="j" coef="1"/><joint joint="k" coef="-2"/></fixed>
<fixed name="u"><joint joint="k" coef="1"/></fixed></tendon>
<actuator><motor tendon="t" gear="2"/><position tendon="t" kp="3" forcerange="-.1 .1"/><motor tendon="u"/>
<motor joint="j"/></actuator>
<sensor><e_potential/><e_kinetic cutoff=".3"/><tendonactuatorfrc tendon="t"/><tendonactuatorfrc tendon="u"/>
<e_kinetic/></sensor></mujoco>"""
STATE = {"qpos": [0.3, -0.4], "qvel": [1.0, 2.0], "ctrl": [1.0, 2.0, -3.0, 4.0]}


@pytest.mark.parametrize("flag", ["enable", "disable"])
@pytest.mark.parametrize("compat", ["3.1", "4.0"])
@pytest.mark.parametrize("steps", [0, 5])
def test_values(flag: str, compat: str, steps: int) -> None:
    """Values and energies, with and without the flag ``energy``."""
    xml = XML.format(flag=flag)
    m = cardan.MjModel.from_xml_string(xml, compat=compat)
    d = cardan.MjData(m)
    for name, value in STATE.items():
        getattr(d, name)[:] = value
    if steps:
        cardan.mj_step(m, d, steps)
    else:
        cardan.mj_forward(m, d)
    expected = later_states(xml, steps, STATE, ("sensordata", "energy"))
    # with the flag, kinetic energies of 4.0.0 are those of the step before (docs/differences.md)
    late = [1, 4] if flag == "enable" and steps else []
    assert np.abs(np.delete(d.sensordata - expected["sensordata"], late)).max() < 1e-11
    assert abs(d.sensordata[4] - expected["energy"][1]) < 1e-11
    assert np.abs(d.energy - expected["energy"]).max() < 1e-11
    assert cardan.MjModel.from_xml_string(m.to_xml()).sensor_type.tolist() == m.sensor_type.tolist()


@pytest.mark.skipif(not jit_enabled, reason="exact derivatives need native code")
def test_derivatives() -> None:
    """Exact derivatives equal finite differences."""
    m = cardan.MjModel.from_xml_string(XML.format(flag="disable"))
    d = cardan.MjData(m)
    for name, value in STATE.items():
        getattr(d, name)[:] = value
    shapes = (m.nsensordata, 2 * m.nv), (m.nsensordata, m.nu)
    exact, near = ([np.zeros(shape) for shape in shapes] for _ in range(2))
    cardan.mjd_transition(m, d, None, None, *exact)
    cardan.mjd_transitionFD(m, d, 1e-6, 1, None, None, *near)
    for ours, theirs in zip(exact, near, strict=True):
        assert theirs.any()
        assert np.abs(ours - theirs).max() < 1e-7


SHAPES = {"sphere": ".11", "capsule": ".08 .15", "ellipsoid": ".11 .15 .09", "cylinder": ".09 .12", "box": ".08 .1 .14"}
KINDS = {"body": "b", "xbody": "b", "geom": "g", "site": "s", "camera": "c"}
INSIDE = """<mujoco><asset><mesh name="m" builtin="cone" params="7 .6" scale=".1 .12 .15"/></asset>
<worldbody>{sites}<body name="b" pos="0 0 1"><freejoint/>
<geom name="g" size=".02" pos=".03 0 0"/><geom size=".01" pos="0 .05 0"/><site name="s" pos="0 .02 0"/>
<camera name="c" pos="0 0 .05"/></body></worldbody><sensor>{sensors}</sensor></mujoco>"""


def test_insidesite() -> None:
    """Objects of all kinds in sites of all shapes, a mesh too, at random poses."""
    sites = "".join(
        f'<site name="{name}" type="{name}" size="{size}" pos="0 0 1" euler="20 -40 60"/>'
        for name, size in SHAPES.items()
    )
    sites += '<site name="mesh" type="mesh" mesh="m" pos="0 0 1" euler="10 20 30"/>'
    sensors = "".join(
        f'<insidesite site="{name}" objtype="{kind}" objname="{thing}"/>'
        for name in (*SHAPES, "mesh")
        for kind, thing in KINDS.items()
    )
    xml = INSIDE.format(sites=sites, sensors=sensors)
    m = cardan.MjModel.from_xml_string(xml)
    assert cardan.MjModel.from_xml_string(m.to_xml()).sensor_refid.tolist() == m.sensor_refid.tolist()
    d = cardan.MjData(m)
    rng = np.random.default_rng(0)
    total = np.zeros(m.nsensordata)
    for _ in range(60):
        d.qpos[:3] = (0, 0, 1) + rng.normal(0, 0.08, 3)
        d.qpos[3:] = rng.normal(size=4)
        d.qpos[3:] /= np.linalg.norm(d.qpos[3:])
        cardan.mj_forward(m, d)
        total += d.sensordata
        assert np.array_equal(
            d.sensordata, later_states(xml, 0, {"qpos": d.qpos.copy()}, ("sensordata",))["sensordata"]
        )
    assert 5 < total.min() <= total.max() < 55
