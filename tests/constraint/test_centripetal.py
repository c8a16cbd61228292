"""References of connect and weld constraints in motion, by the rules of both versions of MuJoCo."""

import numpy as np
import pytest
from derivatives_compared import assert_same_jacobians
from later import later_states

import cardan

LOOPS = """<mujoco><option timestep="0.002" jacobian="{jacobian}"><flag contact="disable"/></option><worldbody>
<body name="a" pos="0 0 1"><joint axis="0 1 0" pos="-.1 0 0"/><joint type="slide" axis="1 2 3"/><geom size=".1"/>
<body name="b" pos=".5 0 0" euler="10 20 30"><joint type="ball" pos=".1 .2 .3"/>
<geom type="capsule" fromto="0 0 0 .4 0 .1" size=".04"/>
<body name="b2" pos=".1 .2 .3"><joint name="j" axis="1 1 0"/>
<geom type="box" size=".1 .2 .05" pos=".1 0 0"/></body></body></body>
<body name="c" pos="2 0 1"><freejoint/><geom type="box" size=".1 .2 .3" pos=".1 .1 0"/>
<body name="c2" pos="0 .3 0"><joint name="k" axis="0 0 1"/><geom size=".1"/></body></body>
<body name="fixed" pos="1 1 1"/></worldbody>
<equality><connect body1="b2" body2="c" anchor=".4 0 .1"/><weld body1="b" body2="c2" torquescale="2.5"/>
<joint joint1="j" joint2="k"/><weld body1="a" relpose=".1 .2 .3 1 .2 .3 .4"/><connect body1="fixed" anchor="0 0 0"/>
<weld body1="fixed" body2="c" anchor="1 2 3" torquescale=".3"/><connect body1="a" body2="b2" anchor="0 1 0"/></equality>
</mujoco>"""
VELOCITY = [1.0, 0.3, 2.0, -3.0, 1.0, 4.0, 0.5, -0.4, 0.3, 3.0, -2.0, 5.0, 6.0]


def moving(compat: str, jacobian: str) -> tuple[cardan.MjModel, cardan.MjData]:
    """The model, and its data in motion away from the initial configuration."""
    m = cardan.MjModel.from_xml_string(LOOPS.format(jacobian=jacobian), compat=compat)
    d = cardan.MjData(m)
    cardan.mj_integratePos(m, d.qpos, np.array(VELOCITY), 0.1)
    d.qvel[:] = VELOCITY
    return m, d


@pytest.mark.parametrize("jacobian", ["dense", "sparse"])
def test_reference_as_in_4_0(jacobian: str) -> None:
    """Bodies of several trees, of one tree, and fixed ones."""
    m, d = moving("4.0", jacobian)
    state = {"qpos": d.qpos.copy(), "qvel": VELOCITY}
    there = later_states(LOOPS.format(jacobian=jacobian), 0, state, ("efc_aref",))["efc_aref"]
    cardan.mj_forward(m, d)
    assert len(there) == d.nefc
    np.testing.assert_allclose(d.efc_aref, there, rtol=1e-11, atol=1e-9)


@pytest.mark.parametrize("jacobian", ["dense", "sparse"])
def test_reference_as_in_3_1(jacobian: str) -> None:
    """Bodies of several trees, of one tree, and fixed ones."""
    mujoco = pytest.importorskip("mujoco")
    reference = mujoco.MjModel.from_xml_string(LOOPS.format(jacobian=jacobian))
    there = mujoco.MjData(reference)
    m, d = moving("3.1", jacobian)
    there.qpos[:], there.qvel[:] = d.qpos, d.qvel
    mujoco.mj_forward(reference, there)
    cardan.mj_forward(m, d)
    np.testing.assert_allclose(d.efc_aref, there.efc_aref, rtol=1e-11, atol=1e-9)


def test_is_the_rate_of_velocities() -> None:
    """The difference between the versions is the change of J qvel along the motion with constant qvel."""
    m, d = moving("4.0", "dense")
    old, there = moving("3.1", "dense")
    cardan.mj_forward(m, d)
    cardan.mj_forward(old, there)
    velocities = []
    for time in (1e-5, -1e-5):
        moved = cardan.MjData(m)
        moved.qpos[:], moved.qvel[:] = d.qpos, d.qvel
        cardan.mj_integratePos(m, moved.qpos, d.qvel, time)
        cardan.mj_forward(m, moved)
        velocities.append(moved.efc_vel.copy())
    rate = (velocities[0] - velocities[1]) / 2e-5
    np.testing.assert_allclose(there.efc_aref - d.efc_aref, rate, rtol=0.0, atol=1e-6)
    assert np.abs(rate).max() > 10.0


def test_derivatives() -> None:
    """Exact derivatives of the step equal differences."""
    assert_same_jacobians(*moving("4.0", "dense"))
