"""Parity, level 1 (compile): where a length, a mass or an inertia is too small to count, in both engines."""

from __future__ import annotations

import mujoco
import numpy as np
import pytest

import cardan
from cardan.errors import MjcfError

SMALL = (1e-16, 1e-15, 5e-15, 1e-14, 1e-13, 1e-12, 1e-10, 1e-9, 9e-8, 1e-7, 1.1e-7, 1e-6)
SNIPPETS = (
    '<site axisangle="0 0 {0} 30"/>',
    '<site zaxis="0 0 {0}"/>',
    '<site zaxis="0 {0} -1"/>',
    '<site zaxis="0 {0} 1"/>',
    '<site xyaxes="{0} 0 0 0 1 0"/>',
    '<site xyaxes="1 0 0 1 {0} 0"/>',
    '<geom type="capsule" size=".1" fromto="0 0 0 0 {0} 0"/>',
    '<light dir="0 0 {0}"/>',
    '<geom size="{0}"/>',
    '<body mocap="true" pos="{0} 0 0"/>',
    '<body><joint axis="0 0 {0}"/><geom size="1"/></body>',
    '<body><joint/><geom size="1" mass="{0}"/></body>',
    '<body><geom size="1" mass="{0}"/><geom size="1" mass="0"/></body>',
    '<body><joint/><inertial pos="0 0 0" mass="{0}" diaginertia="1 1 1"/></body>',
    '<body><joint/><inertial pos="0 0 0" mass="1" diaginertia="{0} {0} {0}"/></body>',
    '<body><joint/><inertial pos="0 0 0" mass="1" fullinertia="{0} {0} {0} 0 0 0"/></body>',
    '<body><freejoint/><geom type="box" size=".1 .2 .3" euler="0 0 {0}"/><geom size=".1" pos="{0} 0 0"/></body>',
)


@pytest.mark.parametrize("snippet", SNIPPETS)
def test_small_numbers(snippet: str) -> None:
    for value in SMALL:
        xml = f"<mujoco><worldbody>{snippet.format(value)}</worldbody></mujoco>"
        try:
            expected = mujoco.MjModel.from_xml_string(xml)
        except ValueError:
            with pytest.raises(MjcfError):
                cardan.MjModel.from_xml_string(xml)
            continue
        m = cardan.MjModel.from_xml_string(xml)
        for name in ("site_quat", "geom_quat", "light_dir", "jnt_axis", "body_mass", "body_inertia", "body_iquat"):
            assert np.allclose(getattr(m, name), getattr(expected, name), rtol=1e-9, atol=1e-12), (name, value)
        assert m.stat.extent == pytest.approx(expected.stat.extent, rel=1e-9), value
