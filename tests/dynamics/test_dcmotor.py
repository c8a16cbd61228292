"""DC motors: parameters against MuJoCo 4.0.0, and physics that can be worked out by hand."""

from __future__ import annotations

from math import sqrt

import numpy as np
import pytest
from later import later_run

import cardan
from cardan.errors import MjcfError

MODEL = """<mujoco>{}<worldbody><body><joint name="h" axis="0 1 0" damping=".01"/>
<geom size=".1" mass="1" pos=".3 0 0"/></body></worldbody><actuator>{}</actuator>{}</mujoco>"""
GIVEN = 'motorconst=".05" resistance="2" '
PARAMETERS = [
    *("", 'cogging=".01 8 .3"', 'inductance=".001"', 'inductance="0 .01"', 'inductance=".001 .01"'),
    *('thermal="10 5"', 'thermal="10 0 40"', 'thermal="0 5 40"', 'thermal="10 5 40"', 'thermal="10 5 0 .004 25 20"'),
    *('saturation=".1"', 'saturation="0 3"', 'saturation=".1 3 50" inductance=".001"', 'saturation=".1 -3 -1"'),
    *('lugre="100 .5 .02 .03 .1"', 'lugre="100"', 'lugre="0 .5 .02"', 'lugre="-1 5"', 'thermal="0 0 0 .004 25 25"'),
    *('input="pos" controller="5 1 .2 3 .4 12"', 'input="vel" controller="5 0 .2"', 'input="none"'),
    *('input="pos vel ff voltage" controller="1" ctrlrange="-1 1"', 'input=""', 'input="vel" controller="0 0 1 3"'),
    *('thermal="10 5 0 .004 25 -20"', 'thermal="10 5 0 -.004 -3 20"'),
    'input="pos" controller="1 2" thermal="10 5" lugre="100 .5 .02 .03 .1" inductance=".001"',
]
NOMINAL = [
    *('nominal="12 .3 200"', 'nominal="12 .3 200" resistance="3"', 'nominal="12 .3 200" motorconst=".05"'),
    *('nominal="12 .3 200" resistance="3" motorconst=".05"', 'nominal="12 0 200" resistance="3"'),
    *('nominal="12 .3" motorconst=".05"', 'nominal="12 .3 200" motorconst=".05 .08"', 'input="none" resistance="2"'),
    *('nominal="12 .3 200" damping="1e-4"', 'nominal="12 .3 200" resistance="3" damping="1e-4 2"'),
    *('nominal="12 .3 200" motorconst=".05" damping="1e-4"', 'nominal="12 .3 200" damping="1"'),
    *('nominal="12 .3 200" motorconst="0 .08"', 'motorconst="0 .08" resistance="2"'),
]
DEFAULTS = [
    ("", ""),
    ('thermal="10 5" saturation=".1" lugre="100 .5 .02 .03 .1"', 'inductance=".001"'),
    *[('saturation=".1"', 'saturation="0"'), ('saturation=".1 0 5"', 'saturation=".2"')],
    *[('inductance=".001"', 'inductance="0"'), ('inductance=".001"', 'resistance="4"')],
    *[('thermal="10 5 0 .004 20 20"', 'thermal="20"'), ('thermal="10 5 0 .004 20 20"', 'thermal="0 0 0 .003"')],
    *[('lugre="100 .5 .02 .03 .1"', 'lugre="50"'), ('lugre="100 .5 .02 .03 .1"', 'lugre="0"')],
    *[('cogging=".1 3 .2"', 'cogging=".2"'), ('controller="1 2 3 4 5 6" input="pos"', 'controller="7"')],
    *[('controller="1 2 3 4 5 6" input="pos"', 'input="pos vel"'), ("", 'nominal="12 .3 200"')],
]
FIELDS = ("dynprm", "gainprm", "biasprm", "actnum", "ctrlnum", "ctrlspec", "ctrlrange", "ctrllimited", "forcerange")
FIELDS += ("forcelimited", "actearly", "actlimited")
_READ = """
out = []
for xml in texts:
    m = mujoco.MjModel.from_xml_string(xml)
    out.append([np.array(getattr(m, "actuator_" + name)) for name in names])
"""


def _texts() -> list[str]:
    texts = [MODEL.format("", f'<dcmotor joint="h" {GIVEN}{more}/>', "") for more in PARAMETERS]
    texts += [MODEL.format("", f'<dcmotor joint="h" {more}/>', "") for more in NOMINAL]
    for base, own in DEFAULTS:
        entry = f"<default><dcmotor {GIVEN}{base}/></default>"
        texts.append(MODEL.format(entry, f'<dcmotor joint="h" {own}/>', ""))
    entry = '<default><position kp="5" kv="2" forcerange="-1 1" ctrlrange="-2 2"/></default>'
    texts.append(MODEL.format(entry, f'<dcmotor joint="h" {GIVEN}/>', ""))
    entry = '<default><general gaintype="dcmotor" gainprm="2 .05" dynprm="0 0 10 5" biasprm=".1 3"/></default>'
    return [*texts, MODEL.format(entry, '<dcmotor joint="h"/>', "")]


def test_parameters() -> None:
    texts = _texts()
    for text, wanted in zip(texts, later_run(_READ, texts=texts, names=FIELDS), strict=True):
        for compat in ("3.1", "4.0"):
            m = cardan.MjModel.from_xml_string(text, compat=compat)
            for name, values in zip(FIELDS, wanted, strict=True):
                found = getattr(m, f"actuator_{name}")
                np.testing.assert_allclose(found, values, rtol=1e-14, err_msg=f"{name}: {text}")


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        ("", "motor constant"),
        ('motorconst=".05"', "resistance"),
        ('resistance="2"', "motor constant"),
        ('motorconst="-.05" resistance="2"', "motorconst"),
        (GIVEN + 'thermal="10"', "thermal"),
        (GIVEN + 'thermal="10 -5"', "must not be negative, found -5"),
        (GIVEN + 'thermal="0 0 40"', "thermal"),
        (GIVEN + 'inductance="-1"', "inductance"),
        (GIVEN + 'controller="5"', "needs one of the inputs"),
        (GIVEN + 'input="vel" controller="5 1"', "needs the input pos"),
        (GIVEN + 'input="vel pos"', "in this order"),
        (GIVEN + 'input="pressure"', "has the inputs"),
        (GIVEN + 'input="none pos"', "not one of its words"),
    ],
)
def test_bad_input(words: str, reason: str) -> None:
    with pytest.raises(MjcfError, match=reason):
        cardan.MjModel.from_xml_string(MODEL.format("", f'<dcmotor joint="h" {words}/>', ""))


@pytest.mark.parametrize(
    ("words", "reason"),
    [('dyntype="dcmotor"', "all three types"), ('gaintype="dcmotor"', "all three types")],
)
def test_bad_types(words: str, reason: str) -> None:
    with pytest.raises(MjcfError, match=reason):
        cardan.MjModel.from_xml_string(MODEL.format("", f'<general joint="h" {words}/>', ""))


def _run(words: str, voltage: float, time: float, timestep: float = 1e-3) -> cardan.MjData:
    m = cardan.MjModel.from_xml_string(MODEL.format("", f'<dcmotor joint="h" {words}/>', ""))
    m.opt.gravity[:], m.opt.timestep = 0, timestep
    d = cardan.MjData(m)
    d.ctrl[:] = voltage
    for _ in range(round(time / timestep)):
        cardan.mj_step(m, d)
    return d


def test_speed_without_load() -> None:
    """At constant voltage, the motor reaches the speed V K / (K^2 + R B)."""
    d = _run('motorconst=".5" resistance="2" inductance=".01"', 12.0, 20.0, 5e-3)
    np.testing.assert_allclose(d.qvel[0], 12.0 * 0.5 / (0.25 + 2.0 * 0.01), rtol=1e-6)


def test_temperature_at_rest() -> None:
    """A motor that cannot move heats up until it loses as much heat as its current makes."""
    words = 'motorconst="1e-6" resistance="2" thermal="3 2 0 .004 25 20"'
    d = _run(words, 4.0, 100.0, 1e-2)
    # T = Rth V^2 / (R0 (1 + alpha (T + Ta - T0)))
    a, b, c = 2.0 * 0.004, 2.0 * (1.0 - 0.004 * 5.0), -3.0 * 16.0
    np.testing.assert_allclose(d.act[0], (-b + sqrt(b * b - 4.0 * a * c)) / (2.0 * a), rtol=1e-6)


def test_friction_holds() -> None:
    """A torque below static friction bends the bristles, and the joint stops; one above it moves the joint."""
    words = GIVEN + 'lugre="100 5 .2 .3 .1"'
    held, moved = _run(words, 0.1 / 0.05 * 2.0, 5.0), _run(words, 0.5 / 0.05 * 2.0, 5.0)
    assert abs(held.qvel[0]) < 1e-6
    np.testing.assert_allclose(100.0 * held.act[0], 0.1, rtol=1e-3)
    assert moved.qvel[0] > 1.0


def test_edited_parameters() -> None:
    """A parameter that needs another activation, which the model lacks, stops the motor."""
    m = cardan.MjModel.from_xml_string(MODEL.format("", f'<dcmotor joint="h" {GIVEN}/>', ""))
    d = cardan.MjData(m)
    d.ctrl[0] = 3.0
    cardan.mj_forward(m, d)
    assert d.actuator_force[0] == pytest.approx(0.05 * 3.0 / 2.0)
    m.actuator_dynprm[0, 0] = 0.01
    cardan.mj_forward(m, d)
    assert d.actuator_force[0] == 0.0


def test_no_resistance_at_run_time() -> None:
    """A resistance that is edited to 0 or falls below 0 in the cold is a tiny one: without voltage, nothing is NaN."""
    for motor in (f"<dcmotor joint='h' {GIVEN}/>", f"<dcmotor joint='h' {GIVEN} thermal='1 2 0 .01 200 0'/>"):
        m = cardan.MjModel.from_xml_string(MODEL.format("", motor, ""))
        d = cardan.MjData(m)
        m.actuator_gainprm[0, 0] = 0.0
        cardan.mj_forward(m, d)
        assert d.actuator_force[0] == 0.0
