"""Damping of position servos from their damping ratio, by the rules of both versions of MuJoCo."""

import numpy as np
import pytest
from later import later_run

import cardan

ARM = """<mujoco><worldbody><body><joint name="j1" axis="0 1 0"/><joint type="slide" axis="1 0 0"/>
<geom type="capsule" fromto="0 0 0 .5 0 0" size=".05"/>
<body pos=".5 0 0"><joint name="j2" axis="0 1 0" armature=".01"/>
<geom type="capsule" fromto="0 0 0 .4 .1 0" size=".04"/>
<site name="s" pos=".4 0 0"/>
<body pos=".4 .1 0"><joint name="ball" type="ball"/>
<geom size=".1 .05 .03" type="box" pos=".1 0 0"/></body></body></body>
<site name="w"/><body><geom size=".1"/><site name="still"/></body></worldbody>
<tendon><fixed name="t"><joint joint="j1" coef="1"/><joint joint="j2" coef="-.3"/></fixed>
<spatial name="sp"><site site="w"/><site site="s"/></spatial></tendon>
<actuator><position joint="j1" kp="20" dampratio="1"/><position joint="j2" kp="3" dampratio=".5" gear="2"/>
<position tendon="t" kp="10" dampratio="1"/><position tendon="sp" kp="10" dampratio="1"/>
<position site="s" refsite="w" gear="1 2 3 0 1 0" kp="20" dampratio="1"/>
<position joint="ball" gear="1 2 .3" kp="7" dampratio=".7"/>
<intvelocity joint="j1" kp="3" dampratio="1" actrange="-1 1"/>
<position site="still" refsite="w" gear="1 0 0 0 0 0" kp="20" dampratio="1"/>
<general joint="j1" gainprm="5" biastype="affine" biasprm="0 -5 .3"/>
<general joint="j1" gainprm="5" biastype="affine" biasprm="0 -5.1 .3"/>
</actuator></mujoco>"""


def damping(compat: str) -> np.ndarray:
    """The damping of all actuators."""
    return cardan.MjModel.from_xml_string(ARM, compat=compat).actuator_biasprm[:, 2]


def test_damping_as_in_4_0() -> None:
    """Joints, tendons, sites; a target that cannot move."""
    there = later_run("out = mujoco.MjModel.from_xml_string(xml).actuator_biasprm[:, 2]", xml=ARM)
    np.testing.assert_allclose(damping("4.0"), there, rtol=1e-12)


def test_damping_as_in_3_1() -> None:
    """Joints, tendons, sites; a target that cannot move."""
    mujoco = pytest.importorskip("mujoco")
    np.testing.assert_allclose(damping("3.1"), mujoco.MjModel.from_xml_string(ARM).actuator_biasprm[:, 2], rtol=1e-12)


def test_damping_is_critical() -> None:
    """With the ratio 1, the damping is twice the root of stiffness times the mass that the joint moves alone."""
    m = cardan.MjModel.from_xml_string(ARM, compat="4.0")
    mass = 1.0 / m.dof_invweight0[0]
    assert -m.actuator_biasprm[0, 2] == pytest.approx(2.0 * np.sqrt(20.0 * mass), rel=1e-12)
