"""Limits of the total actuator force on a tendon, by formulas and against MuJoCo 4.0.0."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pytest
from derivatives_compared import assert_same_jacobians
from later import later_states
from tests.fake_gpu import lent

import cardan
from cardan.jit import jit_enabled

DAMPER = '<general tendon="t" biastype="affine" biasprm="0 0 -2" {}/>'
MOTOR = '<motor tendon="t" {}/>'
BUSHING = '<general joint="j1" biastype="affine" biasprm="0 0 -1"/>'


class Case(NamedTuple):
    """Actuators on a tendon with forces from -3 to 2, and their controls."""

    actuators: str
    ctrl: list[float]
    integrator: str = "implicitfast"
    limit: str = 'actuatorfrcrange="-3 2"'

    @property
    def text(self) -> str:
        """The model."""
        return f"""<mujoco><option timestep="0.01" integrator="{self.integrator}" actuatorgroupdisable="3"/><worldbody>
        <body><joint name="j1" axis="0 1 0"/><geom type="capsule" fromto="0 0 0 .5 0 0" size=".05" mass="1"/>
        <body pos=".5 0 0"><joint name="j2" axis="0 1 0"/><geom size=".04" pos=".4 0 0" mass="1"/></body></body>
        </worldbody><tendon><fixed name="t" {self.limit}><joint joint="j1" coef="1"/><joint joint="j2" coef="-.3"/>
        </fixed></tendon><actuator>{self.actuators}</actuator><sensor><tendonactuatorfrc tendon="t"/>
        <actuatorfrc actuator="first"/></sensor></mujoco>""".replace("<general", '<general name="first"', 1)

    def data(self, compat: str = "4.0") -> tuple[cardan.MjModel, cardan.MjData]:
        """Model and data."""
        m = cardan.MjModel.from_xml_string(self.text, compat=compat)
        d = cardan.MjData(m)
        d.ctrl[:], d.qvel[:] = self.ctrl, 0.1
        return m, d


TWO = DAMPER.format("") + MOTOR.format("")
CASES = {
    "free": Case(DAMPER.format(""), [1.0]),
    "above": Case(DAMPER.format(""), [5.0]),
    "below": Case(DAMPER.format(""), [-5.0]),
    "geared": Case(DAMPER.format('gear="3"'), [9.0]),
    "exactly at the limit": Case(DAMPER.format(""), [2.14]),
    "within rounding of the limit": Case(DAMPER.format(""), [2.14 - 1e-11]),
    "almost at the limit": Case(DAMPER.format(""), [2.14 - 1e-8]),
    "shared": Case(TWO, [1.0, 3.7]),
    "opposed, free": Case(TWO, [5.0, -5.0]),
    "opposed, limited": Case(TWO, [9.0, -5.0]),
    "own limit afterwards": Case(DAMPER.format("") + MOTOR.format('forcerange="-1 1"'), [1.0, 30.0]),
    "beside a joint's actuator": Case(DAMPER.format("") + BUSHING, [7.0, -5.0]),
    "disabled": Case(DAMPER.format("") + MOTOR.format('group="3" forcerange="-1 2"'), [1.0, -9.0]),
    "implicit": Case(TWO, [1.0, 3.7], "implicit"),
    "Euler": Case(TWO, [1.0, 3.7], "Euler"),
    "no limit": Case(TWO, [1.0, 3.7], limit='actuatorfrcrange="-3 2" actuatorfrclimited="false"'),
    "one side": Case(TWO, [-1.0, -3.7], limit='actuatorfrcrange="0 2" actuatorfrclimited="true"'),
}
FIELDS = ("actuator_force", "qfrc_actuator", "sensordata", "qacc", "qvel")


@pytest.mark.parametrize("name", CASES)
def test_as_in_4_0(name: str) -> None:
    """One step, and the matrix of derivatives."""
    case = CASES[name]
    m, d = case.data()
    cardan.mj_step(m, d)
    fields = FIELDS if case.integrator == "Euler" else (*FIELDS, "qDeriv")
    for field, values in later_states(case.text, 1, {"ctrl": case.ctrl, "qvel": [0.1, 0.1]}, fields).items():
        np.testing.assert_allclose(getattr(d, field), values, rtol=1e-11, atol=1e-11, err_msg=field)


def test_formula() -> None:
    """All forces on the tendon have the same factor; the sum is at the limit."""
    m, d = Case(DAMPER.format("") + MOTOR.format("") * 3, [1.0, 2.0, -1.0, 4.0]).data("3.1")
    d.qvel[:] = 0.0
    cardan.mj_forward(m, d)
    np.testing.assert_allclose(d.actuator_force, np.array([1.0, 2.0, -1.0, 4.0]) * 2.0 / 6.0, rtol=1e-14)
    np.testing.assert_allclose(d.qfrc_actuator, [2.0, -0.6], rtol=1e-14)
    assert abs(d.sensordata[0] - 2.0) < 1e-14


@pytest.mark.skipif(not jit_enabled, reason="exact derivatives need native code")
@pytest.mark.parametrize("name", ["shared", "opposed, free", "Euler", "own limit afterwards"])
def test_derivatives(name: str) -> None:
    assert_same_jacobians(*CASES[name].data())


@pytest.mark.skipif(not jit_enabled, reason="exact derivatives need native code")
def test_derivatives_with_many_actuators() -> None:
    """Forces on one tendon depend on each other's controls, so that directions are not shared."""
    m, d = Case(DAMPER.format("") + MOTOR.format("") * 11, [0.3] * 12, "Euler").data()
    cardan.mj_forward(m, d)
    assert abs(d.sensordata[0] - 2.0) < 1e-12
    assert_same_jacobians(m, d)


def test_edits_count() -> None:
    """A limit that a program sets acts in the next step."""
    m, d = CASES["no limit"].data()
    cardan.mj_forward(m, d)
    assert d.sensordata[0] > 4.0
    m.tendon_actfrclimited[0], m.tendon_actfrcrange[0] = 1, (-1.0, 0.5)
    cardan.mj_forward(m, d)
    assert abs(d.sensordata[0] - 0.5) < 1e-14


@pytest.mark.skipif(not jit_enabled, reason="about native code")
def test_other_forms(monkeypatch: pytest.MonkeyPatch) -> None:
    """Single precision and GPU code give the same as threads."""
    m, d = CASES["shared"].data()
    with lent(monkeypatch):
        batches = [cardan.Batch(m, 2, dtype=dtype) for dtype in ("float64", "float32")]
        batches.append(cardan.Batch(m, 2, device="cuda"))
        for batch in batches:
            batch.qvel[:], batch.ctrl[:] = d.qvel, d.ctrl
            for _ in range(5):
                batch.step()
        for batch, tolerance in zip(batches[1:], (1e-4, 1e-12), strict=True):
            np.testing.assert_allclose(np.asarray(batch.qvel), np.asarray(batches[0].qvel), atol=tolerance)
        batches[2].close()
