"""Static bodies that 4.0 fuses with their parents: all to which nothing refers. 3.1 fuses none if anything may."""

import numpy as np
import pytest
from later import later_run

import cardan

MODEL = """<mujoco><compiler fusestatic="true"/>{}<worldbody><body name="m"><joint name="j"/><geom size=".1"/>
<body name="s1" pos="1 0 0" euler="0 0 30" {}><geom name="g1" size=".1"/><site name="t1" pos="0 .1 0"/>
<camera name="c1" pos="0 0 .2" euler="10 0 0"/>
<body name="s2" pos="0 1 0"><geom name="g2" size=".2"/><light name="l" pos="0 0 1" dir="1 0 -1"/></body></body></body>
<body name="st" pos="0 0 3" gravcomp=".2"><geom name="gs" size=".1"/></body></worldbody>{}</mujoco>"""
CASES = {
    "nothing": ("", "", ""),
    "fuse": ("", 'fuse="false"', ""),
    "actuator": ("", "", '<actuator><motor joint="j"/></actuator>'),
    "site": ("", "", '<sensor><framepos objtype="site" objname="t1"/></sensor>'),
    "force": ("", "", '<sensor><force site="t1"/></sensor>'),
    "sensor of a body": ("", "", '<sensor><framepos objtype="xbody" objname="s2"/></sensor>'),
    "exclude": ("", "", '<contact><exclude body1="m" body2="s1"/></contact>'),
    "weld": ("", "", '<equality><weld body1="s1"/></equality>'),
    "pair": ("", "", '<contact><pair geom1="g1" geom2="gs"/></contact>'),
    "fluid": ('<option density="1"/>', "", ""),
    "gravcomp": ("", 'gravcomp=".5"', ""),
    "tuple": ("", "", '<custom><tuple name="t"><element objtype="body" objname="s1"/></tuple></custom>'),
}
FIELDS = (
    *("geom_pos", "geom_quat", "geom_bodyid", "site_pos", "site_bodyid", "cam_pos", "cam_bodyid", "light_bodyid"),
    *("body_mass", "body_inertia", "body_ipos", "body_gravcomp", "light_pos"),
)
FETCH = """
m = mujoco.MjModel.from_xml_string(xml)
out = {name: np.array(getattr(m, name), float) for name in fields}
out["bodies"] = [m.body(i).name for i in range(m.nbody)]
"""


@pytest.mark.parametrize("name", CASES)
def test_as_in_4_0(name: str) -> None:
    """Fusing leaves the bodies that 4.0.0 leaves, with equal content and inertia."""
    xml = MODEL.format(*CASES[name])
    there = later_run(FETCH, xml=xml, fields=FIELDS)
    m = cardan.MjModel.from_xml_string(xml, compat="4.0")
    assert [m.body(i).name for i in range(m.nbody)] == there["bodies"]
    for field in FIELDS:
        np.testing.assert_allclose(
            np.asarray(getattr(m, field), float), there[field], rtol=1e-9, atol=1e-12, err_msg=field
        )


@pytest.mark.parametrize("name", CASES)
def test_as_in_3_1(name: str) -> None:
    """Cameras and lights may refer to bodies."""
    assert cardan.MjModel.from_xml_string(MODEL.format(*CASES[name]), compat="3.1").nbody == 5
