"""Flexcomps made of mesh assets, materials of flex elements, texture coordinates of their corners: as in 4.0.0."""

import numpy as np
import pytest
from later import later_run

import cardan
from cardan.errors import MjcfError, UnsupportedFeature

MESH = (
    '<asset><mesh name="A" vertex="0 0 0 1 0 0 0 1 0 0 0 1" face="0 2 1 0 1 3 0 3 2 1 2 3" {}/>'
    '<mesh name="P" builtin="plate" params="2 2"/><mesh name="C" vertex="0 0 0 1 0 0 0 1 0 0 0 1"/>'
    '<material name="r" rgba="1 0 0 1"/><material name="g"/></asset>'
)
COMP = "<mujoco>{}<worldbody><flexcomp name='f' radius='.01' {}/></worldbody></mujoco>"
FLEX = (
    '<mujoco><asset><material name="r"/><material name="g"/></asset><worldbody><body name="a"/><body name="b" '
    'pos="1 0 0"/><body name="c" pos="0 1 0"/><body name="d" pos="1 1 0"/></worldbody><deformable><flex name="f" '
    'dim="2" body="a b c d" element="0 1 2 1 2 3" {}/></deformable></mujoco>'
)
FETCH = "m = mujoco.MjModel.from_xml_string(xml); out = {n: np.array(getattr(m, n)) for n in fields}"
FIELDS = ("body_pos", "flex_elem", "flex_vertbodyid")


@pytest.mark.parametrize(
    ("asset", "flexcomp"),
    [
        ("", 'mesh="A" type="mesh" dim="2"'),
        ('scale="2 3 4"', 'mesh="A" dim="2"'),
        ('refpos="1 0 0" refquat="1 1 0 0"', 'mesh="A" dim="2" scale="2 2 2"'),
        ("", 'mesh="A" dim="3" origin=".1 .1 .1"'),
        ("", 'mesh="A" dim="1"'),
        ("", 'mesh="P" dim="2" pos="1 0 0" euler="0 0 30"'),
    ],
)
def test_flexcomp_of_a_mesh(asset: str, flexcomp: str) -> None:
    xml = COMP.format(MESH.format(asset), flexcomp)
    there = later_run(FETCH, xml=xml, fields=FIELDS)
    m = cardan.MjModel.from_xml_string(xml, compat="4.0")
    for name in FIELDS:
        # 4.0.0 takes vertices of the compiled mesh, in single precision
        np.testing.assert_allclose(getattr(m, name), there[name], rtol=1e-6, atol=1e-6, err_msg=name)


def test_texture_coordinates_of_a_mesh() -> None:
    mesh = 'vertex="0 0 0 1 0 0 0 1 0 0 0 1" face="0 2 1 0 1 3" texcoord="0 0 1 0 0 1 1 1"'
    xml = COMP.format(f'<asset><mesh name="A" {mesh}/></asset>', 'mesh="A" dim="2"')
    there = later_run(FETCH, xml=xml, fields=("flex_texcoord",))
    np.testing.assert_array_equal(cardan.MjModel.from_xml_string(xml).flex_texcoord, there["flex_texcoord"])


@pytest.mark.parametrize(
    "given",
    [
        'material="r g"',
        'material="g"',
        'texcoord="0 0 1 0 0 1 1 1" elemtexcoord="0 1 2 1 2 3"',
        'texcoord="0 0 1 0" elemtexcoord="0 1 0 1 0 1"',
    ],
)
def test_parts_of_elements(given: str) -> None:
    """They are saved; 4.0.0 reads them back as they were."""
    xml = FLEX.format(given)
    m = cardan.MjModel.from_xml_string(xml, compat="4.0")
    code = "m = mujoco.MjModel.from_xml_string(xml); out = [m.flex_matid, m.flex_elemtexcoord, m.flex_texcoord]"
    for found, wanted in zip(later_run(code, xml=m.to_xml()), later_run(code, xml=xml), strict=True):
        np.testing.assert_array_equal(found, wanted)
    assert m.flex_matid[0] == {'material="r g"': 0, 'material="g"': 1}.get(given, -1)


def test_attached_materials() -> None:
    child = cardan.MjSpec.from_string(FLEX.format('material="r g"'))
    spec = cardan.MjSpec()
    spec.attach(child, prefix="x-", frame=spec.worldbody.add_frame())
    assert 'material="x-r x-g"' in spec.to_xml()


@pytest.mark.parametrize(
    ("xml", "words"),
    [
        (FLEX.format('material="r g r"'), "expected one material, or one for each of 2 elements; found 3"),
        (FLEX.format('material="r x"'), "there is no material named 'x'"),
        (FLEX.format('elemtexcoord="0 1 2 1 2 3"'), "elemtexcoord: needs texcoord"),
        (FLEX.format('texcoord="0 0 1 0" elemtexcoord="0 1"'), "expected one number for each corner, 6; found 2"),
        (FLEX.format('texcoord="0 0 1 0" elemtexcoord="0 1 0 1 0 9"'), "texture coordinates are 0 to 1, found 9"),
        (COMP.format(MESH.format(""), 'mesh="B"'), "there is no mesh named 'B'"),
        (COMP.format(MESH.format(""), 'mesh="A" file="a.obj"'), "file and mesh exclude each other"),
        (COMP.format(MESH.format(""), 'mesh="A" type="grid"'), "a flexcomp of type grid has no mesh"),
        (COMP.format(MESH.format(""), 'mesh="A" dim="3"'), "required attribute missing: tetrahedra"),
    ],
)
def test_errors(xml: str, words: str) -> None:
    with pytest.raises(MjcfError, match=words):
        cardan.MjModel.from_xml_string(xml)


def test_tetrahedra_of_assets() -> None:
    with pytest.raises(UnsupportedFeature, match="flexcomps made of the tetrahedra of a mesh asset"):
        cardan.MjModel.from_xml_string(COMP.format(MESH.format(""), 'mesh="A" type="gmsh"'))
