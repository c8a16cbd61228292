"""Jacobians of small models with many actuators, whose columns share lanes: against the same ones column by column."""

from __future__ import annotations

import numpy as np
import pytest
from models import model_path

import cardan
from cardan.derive.directions import lanes_are_shared
from cardan.enums import mjtDisableBit, mjtIntegrator

ARM = """<mujoco><option timestep="0.01"/><worldbody><body gravcomp=".3">
<joint name="h" axis="0 1 0" damping=".1" stiffness=".5" limited="true" range="-40 40" actuatorgravcomp="true"/>
<geom type="capsule" size=".02" fromto="0 0 0 0 0 -.5"/><body pos="0 0 -.5">
<joint name="s" type="slide" axis="1 0 .5" frictionloss=".1"/><geom size=".05" pos=".1 0 0"/></body></body></worldbody>
<tendon><fixed name="f"><joint joint="h" coef="1"/><joint joint="s" coef="-2"/></fixed></tendon><actuator>
<motor joint="h" gear="2" ctrllimited="true" ctrlrange="-.3 .3"/><position joint="s" kp="3"/>
<velocity tendon="f" kv=".2" forcelimited="true" forcerange="-.1 .1"/><muscle tendon="f" lengthrange="-1 1"/>
<general tendon="f" dyntype="filterexact" dynprm=".05" gainprm="3" biastype="affine" biasprm="0 -.3 -.1"/>
<intvelocity joint="s" kp="4" actrange="-.5 .5"/><general joint="h" dyntype="filter" dynprm=".1" actearly="true"/>
<general joint="s" dyntype="integrator" group="3"/></actuator></mujoco>"""


def jacobians(m: cardan.MjModel, d: cardan.MjData) -> tuple[np.ndarray, np.ndarray]:
    """A and B, computed together and, to compare with, each by itself."""
    nx = 2 * m.nv + m.na
    A, B, A_alone, B_alone = np.zeros((nx, nx)), np.zeros((nx, m.nu)), np.zeros((nx, nx)), np.zeros((nx, m.nu))
    cardan.mjd_transition(m, d, A_alone, None, None, None)
    cardan.mjd_transition(m, d, None, B_alone, None, None)
    for _ in range(2):  # by the function in Python, then natively
        A[...], B[...] = np.nan, np.nan
        cardan.mjd_transition(m, d, A, B, None, None)
    return np.hstack((A, B)), np.hstack((A_alone, B_alone))


def put_anywhere(m: cardan.MjModel, d: cardan.MjData, rng: np.random.Generator) -> None:
    d.qpos[:], d.qvel[:] = rng.uniform(-1.0, 1.0, m.nq), rng.standard_normal(m.nv)
    d.act[:], d.ctrl[:] = rng.uniform(-0.6, 0.9, m.na), rng.uniform(-0.5, 1.2, m.nu)


def assert_same(m: cardan.MjModel, states: int = 20) -> None:
    d, rng = cardan.MjData(m), np.random.default_rng(1)
    for _ in range(states):
        put_anywhere(m, d, rng)
        found, expected = jacobians(m, d)
        np.testing.assert_allclose(found, expected, rtol=1e-11, atol=1e-14)


def arm(text: str = ARM) -> cardan.MjModel:
    """A model whose columns share lanes."""
    m = cardan.MjModel.from_xml_string(text)
    assert lanes_are_shared(m)
    return m


def test_all_kinds_of_actuators() -> None:
    assert_same(arm())


def test_muscles_on_tendons_that_wrap() -> None:
    m = cardan.MjModel.from_xml_path(str(model_path("muscle_arm")))
    assert lanes_are_shared(m)
    assert_same(m)


def test_one_degree_of_freedom() -> None:
    motors = "".join(f'<motor joint="h" gear="{k}"/>' for k in range(1, 9))
    body = '<body><joint name="h" axis="0 1 0"/><geom size=".1" pos="0 0 1"/></body>'
    assert_same(arm(f"<mujoco><worldbody>{body}</worldbody><actuator>{motors}</actuator></mujoco>"))


def test_disabled_actuators() -> None:
    m = arm()
    m.opt.disableactuator = 8
    assert lanes_are_shared(m)
    assert_same(m)
    m.opt.disableflags |= mjtDisableBit.mjDSBL_ACTUATION
    assert_same(m)


def test_a_limit_of_the_force_on_a_joint() -> None:
    assert not lanes_are_shared(
        cardan.MjModel.from_xml_string(ARM.replace('"s" type', '"s" actuatorfrcrange="0 1" type'))
    )
    m = arm()
    d = cardan.MjData(m)
    jacobians(m, d)  # made without limits
    m.jnt_actfrcrange[:] = -0.2, 0.2
    m.jnt_actfrclimited[:] = 1
    assert_same(m)


@pytest.mark.parametrize("integrator", ["RK4", "IMPLICIT", "IMPLICITFAST"])
def test_other_integrators_go_on_as_before(integrator: str) -> None:
    m = arm()
    jacobians(m, cardan.MjData(m))
    m.opt.integrator = mjtIntegrator.__members__[f"mjINT_{integrator}"]
    assert not lanes_are_shared(m)
    assert_same(m, 2)


def test_gradient_of_a_trajectory() -> None:
    m = arm()
    d, steps = cardan.MjData(m), 5
    put_anywhere(m, d, np.random.default_rng(2))
    controls = np.random.default_rng(3).uniform(-0.2, 0.8, (steps, m.nu))
    tape = cardan.record(m, d, steps, controls)
    nx = 2 * m.nv + m.na
    by_state, by_controls = np.ones(nx), np.zeros((steps, m.nu))
    put_anywhere(m, d, np.random.default_rng(2))
    expected = []
    for k in range(steps):
        d.ctrl[:] = controls[k]
        expected.append(jacobians(m, d)[1])
        cardan.mj_step(m, d)
    for k in reversed(range(steps)):
        by_controls[k] = by_state @ expected[k][:, nx:]
        by_state = by_state @ expected[k][:, :nx]
    found = tape.gradient(np.ones(nx))
    np.testing.assert_allclose(found.state, by_state, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(found.controls, by_controls, rtol=1e-9, atol=1e-12)
