"""Poses of copies under both versions of MuJoCo."""

import numpy as np
import pytest
from later import later_run

import cardan

XML = """<mujoco><worldbody><replicate count="5" offset=".6 0 .1" euler="10 0 17"><body>
<geom size=".1"/></body></replicate></worldbody></mujoco>"""
READ = "m = mujoco.MjModel.from_xml_string(xml); out = np.array(m.body_pos), np.array(m.body_quat)"


def test_offsets_with_rotation() -> None:
    """The offset to the next copy is in the frame of the previous copy, as in 4.0.0."""
    pos, quat = later_run(READ, xml=XML)
    m = cardan.MjModel.from_xml_string(XML, compat="4.0")
    np.testing.assert_allclose(m.body_pos, pos, rtol=0.0, atol=1e-12)
    np.testing.assert_allclose(m.body_quat, quat, rtol=0.0, atol=1e-12)


def test_offsets_with_rotation_in_3_1() -> None:
    """3.1.6 is one rotation behind."""
    mujoco = pytest.importorskip("mujoco")
    expected = mujoco.MjModel.from_xml_string(XML)
    m = cardan.MjModel.from_xml_string(XML)
    np.testing.assert_allclose(m.body_pos, expected.body_pos, rtol=0.0, atol=1e-12)
    np.testing.assert_allclose(m.body_quat, expected.body_quat, rtol=0.0, atol=1e-12)
