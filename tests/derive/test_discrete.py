"""Exact derivatives of the integrator discrete against extrapolated differences."""

from __future__ import annotations

import numpy as np
import pytest
from derivatives_compared import assert_same_jacobians

import cardan

COUPLED = """<mujoco><option integrator="discrete" timestep="0.01" tolerance="1e-14" {option}/><worldbody>
<geom type="plane" size="3 3 1" solimp="0 .95 .02"/>
<body pos="0 0 .095"><joint name="a" axis="0 0 1" damping="3" type="slide"/>
<joint axis="1 0 0" type="slide" name="b"/><geom size=".1" solimp="0 .95 .02"/></body>
<body pos="1 0 {height}"><joint type="slide"/><joint axis="1 0 0" type="slide" name="c" stiffness="5 2 30"/>
<geom size=".1" solimp="0 .95 .02"/></body></worldbody>
<tendon><fixed name="T" stiffness="100" damping="5" springlength=".01"><joint joint="a" coef=".1"/>
<joint joint="b" coef=".2"/><joint joint="c" coef="-.1"/></fixed></tendon>
<actuator><position tendon="T" kp="500" kv="10"/></actuator></mujoco>"""
FREE = """<mujoco><option integrator="discrete" timestep="0.01" density="30" viscosity=".1"/><worldbody>
<body><freejoint/><geom type="ellipsoid" size=".1 .2 .3" pos=".03 .1 0" euler="9 8 7" fluidshape="ellipsoid"/></body>
<body pos="1 0 0"><freejoint/><geom type="box" size=".1 .2 .3"/>
<body pos=".1 0 0"><joint axis="1 1 0"/><geom size=".1" pos=".2 0 0"/></body></body></worldbody></mujoco>"""


@pytest.mark.parametrize("height", [0.095, 2.0])
@pytest.mark.parametrize("option", ["", 'jacobian="sparse"', 'solver="PGS" iterations="2000"'])
def test_couplings_of_branches(option: str, height: float) -> None:
    """A tendon that couples two bodies, of which one or both are in contact."""
    m = cardan.MjModel.from_xml_string(COUPLED.format(option=option, height=height), compat="4.0")
    d = cardan.MjData(m)
    d.qpos[:], d.qvel[:], d.ctrl[:] = (0.0, 0.02, 0.001, 0.03), (0.1, 0.3, -0.2, 0.4), 0.1
    assert_same_jacobians(m, d, 1e-5)


def test_couplings_without_contacts() -> None:
    m = cardan.MjModel.from_xml_string(COUPLED.format(option="", height=2.0), compat="4.0")
    m.opt.disableflags |= cardan.mjtDisableBit.mjDSBL_CONTACT
    d = cardan.MjData(m)
    d.qpos[:], d.qvel[:], d.ctrl[:] = (0.0, 0.02, 0.001, 0.03), (0.1, 0.3, -0.2, 0.4), 0.1
    assert_same_jacobians(m, d)


def test_free_bodies() -> None:
    m = cardan.MjModel.from_xml_string(FREE, compat="4.0")
    d = cardan.MjData(m)
    d.qvel[:] = np.random.default_rng(0).normal(0.0, 2.0, m.nv)
    assert_same_jacobians(m, d, 1e-5)


def test_no_slip_is_refused() -> None:
    m = cardan.MjModel.from_xml_string(COUPLED.format(option='noslip_iterations="3"', height=2.0))
    A = np.zeros((2 * m.nv, 2 * m.nv))
    with pytest.raises(NotImplementedError, match="no-slip"):
        cardan.mjd_transition(m, cardan.MjData(m), A, None, None, None)
