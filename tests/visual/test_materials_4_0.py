"""Materials of the geoms in a scene, as in MuJoCo 4.0."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from later import later_run

import cardan

XML = """
<mujoco>
  <asset><texture name="t" builtin="flat" type="2d" width="10" height="10"/><material name="plain"/>
    <material name="textured" texture="t"/></asset>
  <worldbody><geom size=".1"/><geom size=".1" material="plain"/><geom type="plane" size="1 1 1" material="textured"/>
    <site material="textured"/></worldbody>
</mujoco>
"""
SHOWN = """
m = mujoco.MjModel.from_xml_string(xml)
d = mujoco.MjData(m)
mujoco.mj_forward(m, d)
scene, option = mujoco.MjvScene(m, 10), mujoco.MjvOption()
option.flags[mujoco.mjtVisFlag.mjVIS_TEXTURE] = textures
category = mujoco.mjtCatBit.mjCAT_ALL
mujoco.mjv_updateScene(m, d, option, mujoco.MjvPerturb(), mujoco.MjvCamera(), category, scene)
out = sorted((int(geom.objtype), int(geom.objid), int(geom.matid)) for geom in scene.geoms[:scene.ngeom])
"""


@pytest.mark.parametrize("textures", [0, 1])
def test_materials_of_geoms(textures: int) -> None:
    space: dict[str, Any] = {"mujoco": cardan, "np": np, "xml": XML, "textures": textures}
    exec(SHOWN, space)
    assert space["out"] == later_run(SHOWN, xml=XML, textures=textures)


def test_the_default_is_none() -> None:
    assert cardan.MjvGeom().matid == -1
