"""Orientation servos: parameters and errors, neutral controls, and the orientations that they reach."""

from __future__ import annotations

import numpy as np
import pytest
from later import later_run

import cardan
from cardan.errors import MjcfError

MODEL = """<mujoco>{}<worldbody><body><joint name="ball" type="ball"/><geom type="box" size=".1 .2 .3" mass="1"/>
<site name="site" euler="10 20 30"/></body><body pos="3 0 0"><freejoint name="free"/><geom size=".1"/></body>
<body pos="5 0 0"><joint name="hinge"/><geom size=".1"/></body><site name="fixed"/></worldbody>
<actuator>{}</actuator>{}</mujoco>"""
SERVO = '<orientation name="servo" joint="ball" {}/>'
FIELDS = ("dynprm", "gainprm", "biasprm", "actnum", "ctrlnum", "ctrlspec", "ctrlrange", "ctrllimited", "forcerange")
FIELDS += ("forcelimited", "outnum", "trntype", "trnid", "gear", "acc0", "actadr")
_READ = """
out = []
for xml in texts:
    m = mujoco.MjModel.from_xml_string(xml)
    out.append([np.array(getattr(m, "actuator_" + name)) for name in names])
"""
ACTUATORS = [
    ("", SERVO.format("")),
    ("", SERVO.format('input="quat" kp="3" kv="2"')),
    ("", SERVO.format('dampratio="1" kp="3"')),
    ("", SERVO.format('ctrlrange="-1 1" forcerange="0 2"')),
    ("", '<orientation site="site" refsite="fixed" dampratio=".5"/>'),
    ('<default><orientation kp="3" kv="2" input="quat"/></default>', SERVO.format("")),
    ('<default><position kp="3" kv="2" ctrlrange="-1 1"/></default>', SERVO.format("")),
    ('<default><general gaintype="so3" gainprm="4" biasprm="0 -5 -6"/></default>', SERVO.format("")),
    ("", '<general joint="ball" gaintype="so3" biastype="so3" dyntype="integrator" biasprm="0 -1"/>'),
]


def test_parameters() -> None:
    texts = [MODEL.format(entry, actuator, "") for entry, actuator in ACTUATORS]
    for text, wanted in zip(texts, later_run(_READ, texts=texts, names=FIELDS), strict=True):
        for compat in ("3.1", "4.0"):
            m = cardan.MjModel.from_xml_string(text, compat=compat)
            for name, values in zip(FIELDS, wanted, strict=True):
                found = getattr(m, f"actuator_{name}")
                np.testing.assert_allclose(found, values, rtol=1e-12, err_msg=f"{name}: {text}")


@pytest.mark.parametrize(
    ("actuator", "reason"),
    [
        (SERVO.format('forcerange="-1 2"'), "must begin at 0"),
        ('<orientation joint="hinge"/>', "ball joint"),
        ('<orientation joint="free"/>', "ball joint"),
        ('<orientation site="site"/>', "refsite"),
        ('<general joint="ball" gaintype="so3"/>', "must both be"),
        ('<general joint="ball" biastype="so3"/>', "must both be"),
        ('<general joint="ball" gaintype="so3" biastype="so3" biasprm="0 -2"/>', "biasprm"),
        ('<general joint="ball" gaintype="so3" biastype="so3" biasprm="0 -1" dyntype="filter"/>', "integrator"),
        (SERVO.format('input="pos"'), "expmap or quat"),
        (SERVO.format('kv="-1"'), "negative"),
    ],
)
def test_bad_input(actuator: str, reason: str) -> None:
    with pytest.raises(MjcfError, match=reason):
        cardan.MjModel.from_xml_string(MODEL.format("", actuator, ""))


def test_neutral_controls() -> None:
    """Controls are zero after a reset; quaternions are the identity."""
    text = MODEL.format("", SERVO.format('input="quat"') + '<orientation joint="ball"/>', "")
    wanted = later_run("m = mujoco.MjModel.from_xml_string(xml); out = mujoco.MjData(m).ctrl.copy()", xml=text)
    m = cardan.MjModel.from_xml_string(text)
    d = cardan.MjData(m)
    np.testing.assert_array_equal(d.ctrl, wanted)
    for reset in (cardan.mj_resetCtrl, cardan.mj_resetData):
        d.ctrl[:] = 3.0
        reset(m, d)
        np.testing.assert_array_equal(d.ctrl, wanted)


@pytest.mark.parametrize("chart", ["expmap", "quat"])
def test_reaches_the_command(chart: str) -> None:
    """The servo settles at the commanded orientation, whatever its axis."""
    m = cardan.MjModel.from_xml_string(MODEL.format("", SERVO.format(f'kp="5" dampratio="1" input="{chart}"'), ""))
    m.opt.gravity[:] = 0
    d = cardan.MjData(m)
    turn = np.array([0.5, -1.2, 0.9])
    quat = np.zeros(4)
    cardan.mju_axisAngle2Quat(quat, turn / np.linalg.norm(turn), np.linalg.norm(turn))
    d.ctrl[:] = turn if chart == "expmap" else -2.0 * quat
    for _ in range(1500):
        cardan.mj_step(m, d)
    np.testing.assert_allclose(abs(quat @ d.qpos[:4]), 1.0, atol=1e-9)


def test_limit() -> None:
    """The limit shortens the torque and keeps its direction."""
    made = []
    for limit in ("", 'forcerange="0 .2"'):
        m = cardan.MjModel.from_xml_string(MODEL.format("", SERVO.format('kp="3" ' + limit), ""))
        d = cardan.MjData(m)
        d.ctrl[:] = 0.5, -1.2, 0.9
        cardan.mj_forward(m, d)
        made.append(d.actuator_force.copy())
    np.testing.assert_allclose(made[1], 0.2 * made[0] / np.linalg.norm(made[0]), rtol=1e-12)


def test_named_access() -> None:
    m = cardan.MjModel.from_xml_string(MODEL.format("", '<motor joint="hinge"/>' + SERVO.format('input="quat"'), ""))
    d = cardan.MjData(m)
    assert m.actuator("servo").ctrlrange.shape == (4, 2)
    assert m.actuator("servo").gear.shape == (3, 6)
    assert m.actuator(0).gear.shape == (6,)
    d.actuator("servo").ctrl = [1, 2, 3, 4]
    np.testing.assert_array_equal(d.ctrl, [0, 1, 2, 3, 4])
    assert d.actuator("servo").force.shape == (3,)


def test_names_of_inputs() -> None:
    actuators = SERVO.format('input="quat"') + '<orientation joint="ball"/><motor joint="hinge"/><pid joint="hinge"/>'
    actuators += '<dcmotor joint="hinge" motorconst="1" resistance="1" input="none"/>'
    actuators += '<pid joint="hinge" input="vel ff"/>'
    m = cardan.MjModel.from_xml_string(MODEL.format("", actuators, ""))
    names = [
        [cardan.mj_actuatorInputName(m, i, k) for k in range(m.actuator_ctrlnum[i] + 1)] for i in range(m.nactuator)
    ]
    wanted = [["qw", "qx", "qy", "qz"], ["rx", "ry", "rz"], [None], ["pos", "vel"], [], ["vel", "ff"]]
    assert names == [[*known, None] for known in wanted]
    assert cardan.mj_actuatorInputName(m, 99, 0) is None


@pytest.mark.parametrize("actuator", ['<motor joint="hinge"/>', '<pid joint="hinge" input="pos vel ff"/>'])
def test_edited_types(actuator: str) -> None:
    """An actuator that becomes a servo or acts on an orientation at run time has no room for it: it has no force."""
    m = cardan.MjModel.from_xml_string(MODEL.format("", actuator, ""))
    d = cardan.MjData(m)
    d.ctrl[:] = 1.0
    m.actuator_gaintype[0] = cardan.mjtGain.mjGAIN_SO3
    m.actuator_trntype[0] = cardan.mjtTrn.mjTRN_SO3
    cardan.mj_step(m, d)
    assert d.actuator_force.tolist() == [0.0]
    assert d.actuator_length.tolist() == [0.0]
    assert d.qfrc_actuator.tolist() == [0.0] * m.nv


def test_stiffness_at_the_limit() -> None:
    """At its limit, a servo without damping has no stiffness for the integrator discrete, like one with damping."""
    speeds = []
    for damping, integrator in ((0.0, "Euler"), (0.0, "discrete"), (1e-9, "discrete")):
        option = f'<option integrator="{integrator}" timestep=".01" gravity="0 0 0"/>'
        servo = SERVO.format(f'kp="50" kv="{damping}" forcerange="0 .05"')
        m = cardan.MjModel.from_xml_string(MODEL.format(option, servo, ""))
        d = cardan.MjData(m)
        d.ctrl[:] = 0.3, 0.2, -0.4
        cardan.mj_step(m, d)
        speeds.append(d.qvel[:3].copy())
    np.testing.assert_allclose(speeds[1:], [speeds[0]] * 2, rtol=1e-9)
