"""Sensors of distances against the reference (shapes whose distances it finds exactly), and their checks."""

from __future__ import annotations

import mujoco
import numpy as np
import pytest

import cardan

MODEL = """
<mujoco><worldbody>
  <geom name="p" type="plane" size="1 1 1"/>
  <body name="b1" pos="0 0 1"><geom name="s" size=".1"/><geom name="s2" pos="0 0 .3" size=".1"/></body>
  <body name="b2" pos="{x} .03 1.02" euler="10 20 30"><freejoint/><geom name="c" type="capsule" size=".1 .2"/></body>
</worldbody><sensor>{sensors}</sensor></mujoco>"""
TAGS = ("distance", "normal", "fromto")
OBJECTS = ('body1="b1" body2="b2"', 'geom1="s" geom2="c"', 'geom1="c" geom2="p"', 'body1="b2" geom2="s2"')


@pytest.mark.parametrize("cutoff", [0, 0.1, 1, 3])
@pytest.mark.parametrize("x", [0.5, 0.25, 0.15])
def test_values(x, cutoff):
    sensors = "".join(f'<{tag} {objects} cutoff="{cutoff}"/>' for objects in OBJECTS for tag in TAGS)
    xml = MODEL.format(x=x, sensors=sensors)
    ref = mujoco.MjModel.from_xml_string(xml)
    ref_data = mujoco.MjData(ref)
    mujoco.mj_forward(ref, ref_data)
    m = cardan.MjModel.from_xml_string(xml)
    d = cardan.MjData(m)
    cardan.mj_forward(m, d)
    for name in ("type", "datatype", "needstage", "objtype", "objid", "reftype", "refid", "dim", "adr", "cutoff"):
        assert (getattr(m, f"sensor_{name}") == getattr(ref, f"sensor_{name}")).all(), name
    np.testing.assert_allclose(d.sensordata, ref_data.sensordata, atol=1e-9)


@pytest.mark.parametrize(
    ("attributes", "message"),
    [
        ('geom1="s"', "needs either geom2 or body2"),
        ('geom1="s" body1="b1" geom2="c"', "needs either geom1 or body1"),
        ('geom1="s" geom2="s"', "the two must be different"),
    ],
)
def test_errors(attributes, message):
    with pytest.raises(ValueError, match=message):
        cardan.MjModel.from_xml_string(MODEL.format(x=1, sensors=f"<distance {attributes}/>"))
