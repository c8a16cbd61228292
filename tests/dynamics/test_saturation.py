"""Velocity derivatives of actuators at a limit of force or control, by the rules of both versions of MuJoCo."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pytest
from derivatives_compared import assert_same_jacobians
from later import later_states

import cardan


class Case(NamedTuple):
    """An arm with actuators, and its controls and activations."""

    actuators: str
    ctrl: list[float]
    act: tuple[float, ...] = ()
    joint1: str = ""
    joint2: str = ""
    body: str = ""

    @property
    def text(self) -> str:
        """The model."""
        return f"""<mujoco><option timestep="0.01" integrator="implicitfast"/><worldbody><body {self.body}>
        <joint name="j1" axis="0 1 0" {self.joint1}/><geom type="capsule" fromto="0 0 0 .5 0 0" size=".05" mass="1"/>
        <body pos=".5 0 0"><joint name="j2" axis="0 1 0" {self.joint2}/>
        <geom type="capsule" fromto="0 0 0 .4 .1 0" size=".04" mass="1"/></body></body></worldbody>
        <tendon><fixed name="t"><joint joint="j1" coef="1"/><joint joint="j2" coef="-.3"/></fixed></tendon>
        <actuator>{self.actuators}</actuator></mujoco>"""

    def data(self, compat: str) -> tuple[cardan.MjModel, cardan.MjData]:
        """Model and data."""
        m = cardan.MjModel.from_xml_string(self.text, compat=compat)
        d = cardan.MjData(m)
        d.ctrl[:], d.act[:], d.qvel[:] = self.ctrl, self.act, 0.1
        return m, d


def damper(attributes: str = "", target: str = 'joint="j1"', damping: float = 2.0) -> str:
    """An actuator that damps its target."""
    return f'<general {target} biastype="affine" biasprm="0 0 -{damping}" {attributes}/>'


def servo(attributes: str) -> str:
    """An actuator whose gain falls with velocity."""
    return f'<general joint="j1" gaintype="affine" gainprm="1 0 -2" {attributes}/>'


MUSCLE = '<muscle joint="j1" lengthrange="-1 1" force="3" forcerange="-1 1"/>'
TENDON = 'tendon="t"'
LIMIT, COMPENSATED = 'actuatorfrcrange="-.5 .5"', 'actuatorfrcrange="-.5 .5" actuatorgravcomp="true"'
CASES = {
    "free": Case(damper('forcerange="-9 9"'), [1.0]),
    "force": Case(damper('forcerange="-.5 .5"'), [1.0]),
    "exactly at the limit": Case(damper('forcerange="-1 1"'), [-0.8]),
    "joint": Case(damper(), [1.0], joint1=LIMIT),
    "joint, in the parent's frame": Case(damper(target='jointinparent="j1"'), [1.0], joint1=LIMIT),
    "joint, by gravity compensation": Case(damper(), [0.0], joint1=COMPENSATED, body='gravcomp="1"'),
    "joint of a tendon": Case(damper(target=TENDON) + damper(damping=5.0), [1.0, 0.0], joint1=LIMIT),
    "control": Case(servo('ctrlrange="-1 1"'), [3.0]),
    "activation": Case(servo('dyntype="integrator"'), [3.0], (0.5,)),
    "next activation": Case(servo('dyntype="integrator" actearly="true"'), [3.0], (0.5,)),
    "next activation, limited": Case(servo('dyntype="integrator" actearly="true" actrange="0 .5"'), [3.0], (0.5,)),
    "muscle": Case(MUSCLE, [0.5], (0.7,)),
}


@pytest.mark.parametrize("name", CASES)
def test_limits_as_in_4_0(name: str) -> None:
    """One step of implicitfast, and the matrix of derivatives."""
    case = CASES[name]
    state = {"ctrl": case.ctrl, "act": case.act, "qvel": [0.1, 0.1]}
    there = later_states(case.text, 1, state, ("qvel", "qDeriv"))
    m, d = case.data("4.0")
    cardan.mj_step(m, d)
    np.testing.assert_allclose(d.qDeriv, there["qDeriv"], rtol=0.0, atol=1e-12)
    np.testing.assert_allclose(d.qvel, there["qvel"], rtol=0.0, atol=1e-12)


@pytest.mark.parametrize("name", CASES)
def test_limits_as_in_3_1(name: str) -> None:
    """One step of implicitfast."""
    mujoco = pytest.importorskip("mujoco")
    case = CASES[name]
    reference = mujoco.MjModel.from_xml_string(case.text)
    there = mujoco.MjData(reference)
    there.ctrl[:], there.act[:], there.qvel[:] = case.ctrl, case.act, 0.1
    mujoco.mj_step(reference, there)
    m, d = case.data("3.1")
    cardan.mj_step(m, d)
    np.testing.assert_allclose(d.qvel, there.qvel, rtol=0.0, atol=1e-12)


def test_saturated_force_is_constant() -> None:
    """The change of velocity under a saturated force is that of the force: it does not depend on the damping."""
    changes = []
    for damping in (1.0, 50.0):
        m, d = Case(damper('forcerange="-.5 .5"', damping=damping), [100.0]).data("4.0")
        cardan.mj_step(m, d)
        changes.append(d.qvel.copy())
    np.testing.assert_allclose(changes[0], changes[1], rtol=0.0, atol=1e-15)


def test_derivatives() -> None:
    """Exact derivatives of the step equal differences where a limit is active."""
    assert_same_jacobians(*CASES["joint of a tendon"].data("4.0"))
