"""Sites with the shape of a mesh (MuJoCo since 3.13)."""

import numpy as np
import pytest
from later import later_run

import cardan
from cardan.errors import MjcfError

MODEL = """<mujoco><asset><mesh name="m" vertex="-.5 -.5 0 .5 -.5 0 0 .8 0 0 0 1" scale="1 2 3"/></asset><worldbody>
<body pos="0 0 .1"><freejoint/><geom size=".1"/><site name="s" {}/></body></worldbody>{}</mujoco>"""
POSED = 'type="mesh" mesh="m" pos="1 2 3" quat="0.8 0 0.6 0" rgba="1 0 0 1"'
FETCH = """
m = mujoco.MjModel.from_xml_string(xml)
d = mujoco.MjData(m)
mujoco.mj_forward(m, d)
scene = mujoco.MjvScene(m, 100)
mujoco.mjv_updateScene(m, d, mujoco.MjvOption(), None, mujoco.MjvCamera(), mujoco.mjtCatBit.mjCAT_ALL, scene)
shown = scene.geoms[scene.ngeom - 1]
out = {name: np.array(getattr(m, "site_" + name)) for name in ("type", "dataid", "size", "pos", "quat")}
out |= {name: np.array(getattr(shown, name)) for name in ("objtype", "type", "size", "pos", "mat", "rgba")}
"""


@pytest.mark.parametrize("site", ['type="mesh" mesh="m"', POSED, 'type="mesh" mesh="m" size="3 3 3"'])
def test_fields_and_scene(site: str) -> None:
    """The size is that of a geom with the mesh; the site is drawn at its own frame."""
    xml = MODEL.format(site, "")
    there = later_run(FETCH, xml=xml)
    names = {"xml": xml, "mujoco": cardan, "np": np}
    exec(FETCH, names)
    for name, value in names["out"].items():
        np.testing.assert_allclose(np.ravel(value), np.ravel(there[name]), rtol=1e-6, atol=1e-7, err_msg=name)


def test_saved() -> None:
    """A saved model has the mesh; structs have its name."""
    spec = cardan.MjSpec.from_string(MODEL.format(POSED, ""))
    m = spec.compile()
    again = cardan.MjModel.from_xml_string(spec.to_xml())
    assert again.site_dataid.tolist() == [0]
    np.testing.assert_allclose(again.site_size, m.site_size, rtol=1e-6)
    np.testing.assert_allclose(again.site_pos, m.site_pos, rtol=1e-12)
    assert spec.sites[0].meshname == "m"


WRONG = {
    'type="mesh"': "mesh: required attribute missing",
    'mesh="m"': "only a site of type mesh has a mesh, not a sphere",
    'type="mesh" mesh="no"': "there is no mesh named 'no'",
    'type="mesh" mesh="m" fromto="0 0 0 1 1 1"': "fromto",
}


@pytest.mark.parametrize("site", WRONG)
def test_wrong(site: str) -> None:
    """The error says what would be right."""
    with pytest.raises(MjcfError, match=WRONG[site]):
        cardan.MjModel.from_xml_string(MODEL.format(site, ""))


def test_no_volume() -> None:
    """A touch sensor needs the volume of a primitive shape, as in 4.0.0."""
    with pytest.raises(MjcfError, match="the volume of the site must be a primitive shape"):
        cardan.MjModel.from_xml_string(MODEL.format(POSED, '<sensor><touch site="s"/></sensor>'))


def test_discardvisual() -> None:
    """A mesh that a site shows is kept."""
    xml = MODEL.format(POSED, '<compiler discardvisual="true"/>')
    assert cardan.MjModel.from_xml_string(xml).nmesh == 1
