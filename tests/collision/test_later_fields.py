"""Height fields and convex geoms in MuJoCo 4.0 (``compat="4.0"``): exact contacts of each prism."""

from __future__ import annotations

import numpy as np
import pytest
from later import later_run

import cardan
from cardan.jit.front.stage import jit_enabled

SHAPES = {
    "sphere": 'type="sphere" size=".1"',
    "capsule": 'type="capsule" size=".05 .1"',
    "ellipsoid": 'type="ellipsoid" size=".1 .07 .05"',
    "cylinder": 'type="cylinder" size=".08 .06"',
    "box": 'type="box" size=".1 .07 .05"',
    "mesh": 'type="mesh" mesh="tent"',
}
FIELD = """
<mujoco><option ccd_tolerance="1e-14" ccd_iterations="1000"/>
<asset><hfield name="rough" nrow="3" ncol="3" size=".5 .5 .2 .1" elevation="0 .3 .1 .5 .2 .7 1 .3 .4"/>
<mesh name="tent" vertex="-.1 -.1 0 .1 -.1 0 -.1 .1 0 .1 .1 0 -.1 0 .1 .1 .02 .09"/></asset>
<worldbody><geom type="hfield" hfield="rough" margin="{margin}" euler="10 20 30"/>
<body><freejoint/><geom {shape}/></body></worldbody></mujoco>
"""
CONTACTS = """
m = mujoco.MjModel.from_xml_string(xml)
d = mujoco.MjData(m)
out = []
for pose in poses:
    d.qpos[:] = pose
    mujoco.mj_fwdPosition(m, d)
    out.append((np.array(d.contact.dist), np.array(d.contact.pos), np.array(d.contact.frame)[:, :3]))
"""
POSES = 60 if jit_enabled else 3


@pytest.mark.parametrize("margin", [1e-9, 0.02])
@pytest.mark.parametrize("kind", SHAPES)
def test_contacts_of_prisms(kind, margin):
    """Each prism within the margin has the exact contact, as in 4.0.0 if its searches do not end early."""
    xml = FIELD.format(shape=SHAPES[kind], margin=margin)
    m = cardan.MjModel.from_xml_string(xml, compat="4.0")
    d, number = cardan.MjData(m), 0
    rng = np.random.default_rng(1)
    places = np.column_stack([rng.uniform(-0.3, 0.3, (POSES, 2)), rng.uniform(0.0, 0.3, POSES)])
    turns = rng.normal(size=(POSES, 4))
    poses = np.column_stack([places, turns / np.linalg.norm(turns, axis=1)[:, None]])
    for qpos, (dist, pos, normal) in zip(poses, later_run(CONTACTS, xml=xml, poses=poses), strict=True):
        d.qpos[:] = qpos
        cardan.mj_fwdPosition(m, d)
        assert d.ncon == len(dist), qpos
        number += d.ncon
        np.testing.assert_allclose(d.contact.dist, dist, atol=1e-9)
        np.testing.assert_allclose(d.contact.frame[:, :3], normal, atol=1e-4)
        np.testing.assert_allclose(d.contact.pos, pos, atol=1e-4)
    assert number >= POSES // 3
