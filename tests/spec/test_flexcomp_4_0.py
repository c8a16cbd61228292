"""Flexcomps of MuJoCo 3.2 to 4.0: circles, degrees of freedom of points, lines and solids from OBJ files."""

import numpy as np
import pytest
from later import later_run

import cardan
from cardan.errors import MjcfError

MODEL = (
    '<mujoco><worldbody><body name="q" pos="0 0 1"><flexcomp name="f" radius=".001" {}/></body></worldbody></mujoco>'
)
FETCH = """
m = mujoco.MjModel.from_xml_string(xml, files)
out = {name: np.array(getattr(m, name), float).ravel() for name in fields}
"""
FIELDS = (
    *("body_pos", "body_mass", "jnt_axis", "jnt_bodyid", "flex_elem", "flex_vertbodyid", "flex_vert", "flex_dim"),
    *("flex_rigid", "flexedge_length0", "flex_edge"),
)
SPACED = 'spacing=".1 .2 .3"'
TYPES = {
    "circle": f'type="circle" dim="1" count="8 1 1" {SPACED}',
    "smallest circle": f'type="circle" dim="1" count="4 3 2" {SPACED}',
    "rigid circle": f'type="circle" dim="1" count="6 1 1" rigid="true" {SPACED}',
    "box": f'type="box" dim="3" count="3 4 3" {SPACED}',
    "cylinder": f'type="cylinder" dim="3" count="4 4 3" {SPACED}',
    "ellipsoid": f'type="ellipsoid" dim="3" count="4 3 4" {SPACED}',
    "disc": f'type="disc" dim="2" count="5 4 1" {SPACED}',
    "grid": f'type="grid" dim="2" count="4 3 1" {SPACED} pos=".5 0 0"',
}


def assert_as_in_4_0(xml: str, files: dict[str, bytes] | None = None) -> cardan.MjModel:
    """Compare bodies, joints and the flex with those of 4.0.0."""
    there = later_run(FETCH, xml=xml, fields=FIELDS, files=files or {})
    m = cardan.MjModel.from_xml_string(xml, files, compat="4.0")
    for name in FIELDS:
        found = np.asarray(getattr(m, name), float).ravel()
        np.testing.assert_allclose(found, there[name], rtol=1e-9, atol=1e-12, err_msg=name)
    return m


@pytest.mark.parametrize("dof", ["", 'dof="full"', 'dof="radial"', 'dof="2d"'])
@pytest.mark.parametrize("name", TYPES)
def test_freedom(name: str, dof: str) -> None:
    """Points move in all directions, along rays, or in the plane of x and y."""
    assert_as_in_4_0(MODEL.format(f"{TYPES[name]} {dof}"))


@pytest.mark.parametrize("name", ["box", "cylinder", "ellipsoid"])
def test_closed_surfaces_of_3_1(name: str) -> None:
    """Without ``dof``, their points move along rays."""
    plain, radial = (MODEL.format(f"{TYPES[name]} {dof}") for dof in ("", 'dof="radial"'))
    one, other = (cardan.MjModel.from_xml_string(xml, compat="3.1") for xml in (plain, radial))
    np.testing.assert_array_equal(one.jnt_axis, other.jnt_axis)
    assert one.nv < cardan.MjModel.from_xml_string(plain, compat="4.0").nv


POINTS = b"v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 1\n"
LINES = {
    "two lines": POINTS + b"l 1 2 3\nl 3 4\n",
    "unused point": POINTS + b"v 5 5 5\nl 1 2\nl 4 3 1\n",
    "same place": b"v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 0 0\nl 1 2 3 4\n",
    "negative": POINTS + b"l -4 -3 -2 -1\n",
}
SOLID = b"v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n"


@pytest.mark.parametrize("name", LINES)
@pytest.mark.parametrize("more", ["", 'scale="1 2 3" rigid="true"'])
def test_lines(name: str, more: str) -> None:
    """Lines of an OBJ file are elements of one dimension."""
    assert_as_in_4_0(MODEL.format(f'type="mesh" file="l.obj" dim="1" {more}'), {"l.obj": LINES[name]})


@pytest.mark.parametrize("more", ["", 'scale="2 2 2" pos="1 1 1"', 'rigid="true"'])
@pytest.mark.parametrize("origin", [".1 .1 .1", "0 0 0"])
def test_solids(origin: str, more: str) -> None:
    """Triangles and the origin make tetrahedra."""
    assert_as_in_4_0(MODEL.format(f'type="mesh" file="s.obj" dim="3" origin="{origin}" {more}'), {"s.obj": SOLID})


def test_mass() -> None:
    """Points of no element have a share of the mass in 3.1, but not in 4.0."""
    xml = MODEL.format('type="direct" dim="1" mass="4" point="0 0 0 1 0 0 2 0 0 3 0 0" element="1 3"')
    assert assert_as_in_4_0(xml).body_mass[2] == 2.0
    assert cardan.MjModel.from_xml_string(xml, compat="3.1").body_mass[2] == 1.0


def test_internal_contacts() -> None:
    """A vertex close to the face of its own tetrahedron touches it in 3.1, but not in 4.0."""
    points = 'type="direct" point="0 0 0 1 0 0 0 1 0 .3 .3 .06" element="0 1 2 3"'
    xml = MODEL.replace(".001", ".05").format(f'dim="3" {points}')
    code = "m = mujoco.MjModel.from_xml_string(xml); d = mujoco.MjData(m); mujoco.mj_forward(m, d); out = d.ncon"
    there = later_run(code, xml=xml)
    counts = {}
    for compat in ("3.1", "4.0"):
        m = cardan.MjModel.from_xml_string(xml, compat=compat)
        d = cardan.MjData(m)
        cardan.mj_forward(m, d)
        counts[compat] = d.ncon
    assert counts == {"3.1": 1, "4.0": there}
    assert there == 0


WRONG = {
    'type="circle" dim="2" count="5 1 1"': "a circle is a line: dim must be 1, found 2",
    'type="circle" dim="1" count="3 1 1"': "a circle needs at least 3 points and the first one again",
    'type="mesh" file="s.obj" dim="3"': "origin: required attribute missing",
    'type="mesh" file="s.obj" dim="1"': "the mesh has no lines",
    'type="mesh" file="wrong.obj" dim="1"': "a line names a vertex that does not exist; there are 1",
    'type="mesh" file="short.obj" dim="1"': "a line is not complete: 'v 1 2'",
}


@pytest.mark.parametrize("words", WRONG)
def test_wrong(words: str) -> None:
    """Errors say what would be right."""
    files = {"s.obj": SOLID, "wrong.obj": b"v 0 0 0\nl 1 2\n", "short.obj": b"v 1 2\n"}
    with pytest.raises(MjcfError, match=WRONG[words]):
        cardan.MjModel.from_xml_string(MODEL.format(words), files)
