"""Orientations given at several places: by a class, a class below it, an element; by the rules of both versions."""

from __future__ import annotations

import numpy as np
import pytest
from later import later_run

import cardan

MODEL = """<mujoco><default><default class="a"><geom {above}/><site {above}/><camera {above}/>
<default class="b"><geom {below}/><site {below}/><camera {below}/></default></default></default><worldbody>
<body childclass="b"><joint/><geom size=".1 .2 .3" type="box" {own}/><site {own}/><camera {own}/></body></worldbody>
</mujoco>"""
QUAT, EULER, AXIS, Z = 'quat="1 0 1 0"', 'euler="0 0 30"', 'axisangle="1 0 0 50"', 'zaxis="1 1 1"'
CASES = [
    (EULER, "", QUAT),
    (EULER, QUAT, ""),
    (EULER, QUAT, AXIS),
    (QUAT, EULER, ""),
    (QUAT, EULER, QUAT),
    (EULER, "", AXIS),
    (AXIS, "", EULER),
    (Z, EULER, ""),
    (EULER, AXIS, Z),
    (EULER, "", ""),
]
FIELDS = "geom_quat", "site_quat", "cam_quat"


def model(places: tuple[str, str, str]) -> str:
    """A geom, a site and a camera with orientations at three places."""
    above, below, own = places
    return MODEL.format(above=above, below=below, own=own)


@pytest.mark.parametrize("places", CASES)
def test_orientations_as_in_4_0(places: tuple[str, str, str]) -> None:
    """The nearest orientation holds, also if it is a quaternion."""
    code = "m = mujoco.MjModel.from_xml_string(xml); out = {name: getattr(m, name) for name in fields}"
    there = later_run(code, xml=model(places), fields=FIELDS)
    m = cardan.MjModel.from_xml_string(model(places), compat="4.0")
    for field, value in there.items():
        np.testing.assert_allclose(getattr(m, field), value, atol=1e-12, err_msg=field)


@pytest.mark.parametrize("places", CASES)
def test_orientations_as_in_3_1(places: tuple[str, str, str]) -> None:
    """A quaternion never replaces another orientation."""
    mujoco = pytest.importorskip("mujoco")
    there, m = mujoco.MjModel.from_xml_string(model(places)), cardan.MjModel.from_xml_string(model(places))
    for field in FIELDS:
        np.testing.assert_allclose(getattr(m, field), getattr(there, field), atol=1e-12, err_msg=field)


@pytest.mark.parametrize("compat", ["3.1", "4.0"])
@pytest.mark.parametrize("places", CASES)
def test_saved_models_are_equal(places: tuple[str, str, str], compat: str) -> None:
    """A saved specification has the same orientations."""
    spec = cardan.MjSpec.from_string(model(places), compat=compat)
    m = spec.compile()
    again = cardan.MjModel.from_xml_string(spec.to_xml(), compat=compat)
    for field in FIELDS:
        np.testing.assert_allclose(getattr(again, field), getattr(m, field), atol=1e-6, err_msg=field)
