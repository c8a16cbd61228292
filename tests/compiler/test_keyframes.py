"""Keyframes with fewer entries than the model's state, as MuJoCo 4.0 reads them."""

import numpy as np
import pytest
from later import later_run

import cardan

XML = """<mujoco><worldbody><body mocap="true" pos="3 4 5"/><body mocap="true" pos="6 4 5"/>
<body pos="0 0 9"><freejoint/><geom size=".1"/></body>
<body><joint name="h" ref="30"/><geom size=".1"/></body></worldbody>
<actuator><general joint="h" dyntype="filter"/><motor joint="h"/></actuator>
<keyframe><key {key}/></keyframe></mujoco>"""
FIELDS = ("key_qpos", "key_qvel", "key_act", "key_ctrl", "key_mpos", "key_mquat")
CASES = (
    'qpos="1 2"',
    'qpos="1 2 3 0 1 0 0"',
    'qvel="1"',
    'ctrl="1"',
    'mpos="1 2"',
    'mpos="1 2 7 8"',
    'mquat="0 1 0 0"',
)


@pytest.mark.parametrize("key", CASES)
def test_missing_entries(key: str) -> None:
    """Missing entries are initial values, with a warning; mocap poses are given for whole bodies."""
    xml = XML.format(key=key)
    with pytest.warns(UserWarning, match="the others are initial values"):
        m = cardan.MjModel.from_xml_string(xml)
    code = "m = mujoco.MjModel.from_xml_string(xml); out = {name: np.array(getattr(m, name)) for name in fields}"
    for name, values in later_run(code, xml=xml, fields=FIELDS).items():
        np.testing.assert_allclose(getattr(m, name), values, rtol=0.0, atol=1e-12, err_msg=name)


CONTROLLED = """<mujoco><worldbody><body><joint name="h"/><geom size=".1"/><body><joint name="ball" type="ball"/>
<geom size=".1"/></body></body></worldbody><actuator><motor name="first" joint="h"/>
<pid name="pid" joint="h" kp="1" ki="1" slewmax="1" input="pos vel ff"/>
<dcmotor joint="h" motorconst="1" resistance="1" inductance=".1"/>
<dcmotor joint="h" motorconst="1" resistance="1" input="none"/><orientation joint="ball" kp="1" input="quat"/>
<general joint="ball" gaintype="so3" biastype="so3" dyntype="integrator" biasprm="0 -1"/>
<general joint="h" dyntype="filter"/></actuator>{keyframes}</mujoco>"""
CTRL, ACT = np.arange(1.0, 14.0), np.arange(1.0, 8.0)


def controlled() -> str:
    """Return a model with several controls and activations of an actuator, and a keyframe with all of them."""
    words = [" ".join(map(str, values)) for values in (CTRL, ACT)]
    return CONTROLLED.format(keyframes='<keyframe><key ctrl="{}" act="{}"/></keyframe>'.format(*words))


def test_several_controls() -> None:
    """Keyframes have each control of each actuator, also in saved models, and also if `nkey` makes the keyframe."""
    m = cardan.MjModel.from_xml_string(controlled())
    code = "m = mujoco.MjModel.from_xml_string(xml); out = np.array(m.key_ctrl), np.array(m.key_act)"
    ctrl, act = later_run(code, xml=controlled())
    for found in (m, cardan.MjModel.from_xml_string(cardan.MjSpec.from_string(controlled()).to_xml())):
        np.testing.assert_array_equal(found.key_ctrl, ctrl)
        np.testing.assert_array_equal(found.key_act, act)
    bare = cardan.MjModel.from_xml_string(CONTROLLED.format(keyframes='<size nkey="2"/>'))
    np.testing.assert_array_equal(bare.key_ctrl, np.zeros((2, 13)))


def test_edited_controls() -> None:
    """Keyframes and states keep the values of the actuators that stay, when another one is deleted."""
    spec = cardan.MjSpec.from_string(controlled())
    m = spec.compile()
    d = cardan.MjData(m)
    d.ctrl, d.act = CTRL, ACT
    spec.delete(spec.actuator("pid"))
    m, d = spec.recompile(m, d)
    for ctrl in (m.key_ctrl[0], d.ctrl):
        np.testing.assert_array_equal(ctrl, CTRL[[0, *range(4, 13)]])
    for act in (m.key_act[0], d.act):
        np.testing.assert_array_equal(act, ACT[2:])


def test_unfinished_actuator() -> None:
    """A tree with an actuator that is not yet valid can be edited; the keyframes of the others are kept."""
    spec = cardan.MjSpec.from_string(controlled())
    servo = spec.add_actuator(name="new", target="h", trntype=cardan.mjtTrn.mjTRN_JOINT)
    servo.dyntype = cardan.mjtDyn.mjDYN_PID
    spec.delete(spec.actuator("pid"))
    spec.delete(spec.actuator("new"))
    np.testing.assert_array_equal(spec.compile().key_ctrl[0], CTRL[[0, *range(4, 13)]])
