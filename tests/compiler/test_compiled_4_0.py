"""Compiled fields whose values, or existence, depend on the version."""

from typing import Any

import numpy as np
import pytest
from later import later_run

import cardan

COMPILED = """
m = mujoco.MjModel.from_xml_string(xml)
d = mujoco.MjData(m)
mujoco.mj_forward(m, d)
out = {name: np.array(getattr(m, name)) for name in fields}, np.array(d.sensordata)
"""


def both(xml: str, *fields: str) -> tuple[cardan.MjModel, dict[str, Any], np.ndarray]:
    """Compile a model with compat 4.0; return it, fields by 4.0.0, and its sensor data there in the initial state."""
    m = cardan.MjModel.from_xml_string(xml, compat="4.0")
    return m, *later_run(COMPILED, xml=xml, fields=fields)


@pytest.mark.parametrize("cutoff", ["", 'cutoff=".4"', 'cutoff="3"'])
@pytest.mark.parametrize("height", ["-2", "2"])
def test_rangefinders(height: str, cutoff: str) -> None:
    """Values are real: if nothing is seen, the value is -1, which a cutoff bounds."""
    xml = f"""<mujoco><worldbody><geom size=".5"/><site name="s" pos="0 0 {height}"/></worldbody>
    <sensor><rangefinder site="s" {cutoff}/></sensor></mujoco>"""
    m, there, data = both(xml, "sensor_datatype", "sensor_cutoff")
    np.testing.assert_array_equal(m.sensor_datatype, there["sensor_datatype"])
    d = cardan.MjData(m)
    cardan.mj_forward(m, d)
    np.testing.assert_allclose(d.sensordata, data, rtol=0.0, atol=1e-12)
    assert cardan.MjModel.from_xml_string(xml).sensor_datatype[0] == cardan.mjtDataType.mjDATATYPE_POSITIVE


@pytest.mark.parametrize("dim, count", [("1", "5 1 1"), ("2", "4 4 1"), ("3", "3 3 3")])
def test_flexes_that_cannot_collide_have_trees(dim: str, count: str) -> None:
    """The trees are those of flexes that collide."""
    contact = '<contact contype="0" conaffinity="0" selfcollide="none"/>'
    xml = f"""<mujoco><worldbody><flexcomp name="f" type="grid" count="{count}" spacing=".1 .1 .1" dim="{dim}"
    mass="1" radius=".01">{contact}</flexcomp></worldbody></mujoco>"""
    fields = ("nbvh", "nbvhdynamic", "flex_bvhadr", "flex_bvhnum", "bvh_nodeid", "bvh_child")
    m, there, _ = both(xml, *fields)
    for name in fields:
        np.testing.assert_array_equal(getattr(m, name), there[name], err_msg=name)
    assert cardan.MjModel.from_xml_string(xml).nbvh == 0
