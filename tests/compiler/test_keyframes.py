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
