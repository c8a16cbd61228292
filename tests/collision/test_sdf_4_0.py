"""Searches for overlaps of signed-distance shapes as in MuJoCo 4.0 (``compat="4.0"``)."""

from __future__ import annotations

import numpy as np
import pytest
from later import later_run

import cardan
from cardan.jit import jit_enabled

pytestmark = pytest.mark.skipif(not jit_enabled, reason="meshes of shapes take a million distances")

XML = """
<mujoco>
  <option sdf_iterations="10" sdf_initpoints="30"/>
  <extension><plugin plugin="mujoco.sdf.torus"><instance name="torus">
    <config key="radius1" value="0.35"/><config key="radius2" value="0.15"/>
  </instance></plugin></extension>
  <asset><mesh name="torus"><plugin instance="torus"/></mesh></asset>
  <worldbody>
    <geom type="cylinder" size=".1" fromto="1 0 1 -1 0 3"/>
    <body pos="-1 0 3"><freejoint/><geom type="sdf" mesh="torus" mass="1"><plugin instance="torus"/></geom></body>
  </worldbody>
</mujoco>
"""
CONTACTS = """
m = mujoco.MjModel.from_xml_string(xml)
d = mujoco.MjData(m)
mujoco.mj_forward(m, d)
out = np.array(d.contact.dist), np.array(d.contact.pos), np.array(d.contact.frame)
"""


def test_contacts_of_a_torus_and_a_cylinder():
    m = cardan.MjModel.from_xml_string(XML, compat="4.0")
    d = cardan.MjData(m)
    cardan.mj_forward(m, d)
    dist, pos, frame = later_run(CONTACTS, xml=XML)
    assert d.ncon == len(dist) > 10
    np.testing.assert_allclose(d.contact.dist, dist, atol=1e-8)
    np.testing.assert_allclose(d.contact.pos, pos, atol=1e-7)
    np.testing.assert_allclose(d.contact.frame, frame, atol=1e-6)


def test_the_last_step_and_the_side_of_the_contact_depend_on_the_version():
    found = []
    for compat in ("3.1", "4.0"):
        m = cardan.MjModel.from_xml_string(XML, compat=compat)
        d = cardan.MjData(m)
        cardan.mj_forward(m, d)
        found.append(d.contact.dist[:10].copy())
    assert 1e-5 < np.abs(found[0] - found[1]).max() < 1e-2
