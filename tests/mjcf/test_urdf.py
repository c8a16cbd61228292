"""URDF against the reference: every field of the compiled model, and the verdict on files that break a rule."""

from __future__ import annotations

import re
import warnings
from pathlib import Path

import mujoco
import numpy as np
import pytest
from fields_compared import MEMORY, differences
from models import SCENES

from cardan import MjModel
from cardan.errors import MjcfError
from cardan.model.tables import MODEL

KEEP = '<mujoco><compiler fusestatic="false" discardvisual="false"/></mujoco>'
ORIGIN = '<origin xyz="1 2 3" rpy=".1 .2 .3"/>'
SPHERE = "<geometry><sphere radius='1'/></geometry>"
RED = '<material name="red"><color rgba="1 0 0 .5"/></material>'
LIMIT = '<limit lower="-1" upper="2" effort="3" velocity="4"/><dynamics damping=".5" friction=".6"/>'


def link(name: str, inside: str = "") -> str:
    """A link with mass."""
    return f"""<link name="{name}"><inertial><origin xyz=".1 .2 .3"/><mass value="2"/>
        <inertia ixx=".1" iyy=".2" izz=".25" ixy=".01" ixz=".02" iyz=".03"/></inertial>{inside}</link>"""


def joint(
    kind: str, inside: str = "", name: str = "j", parent: str = "a", child: str = "b", axis: str = "0 1 0"
) -> str:
    """A joint between two links."""
    along = f'<axis xyz="{axis}"/>' if axis else ""
    return f"""<joint name="{name}" type="{kind}"><parent link="{parent}"/><child link="{child}"/>{ORIGIN}{along}
        {inside}</joint>"""


def robot(inside: str, extension: str = KEEP) -> str:
    """A whole file."""
    return f'<robot name="r">{extension}{inside}</robot>'


def both_shapes(shape: str) -> str:
    """A link with a visual and a collision shape."""
    inner = f"{ORIGIN}<geometry>{shape}</geometry>{RED}"
    return link("a", f'<visual name="v">{inner}</visual><collision name="c">{inner}</collision>')


AB = link("a") + link("b")
WORLD = '<link name="world"/>'

MODELS: dict[str, str] = {
    **{kind: robot(AB + joint(kind, LIMIT)) for kind in ("revolute", "continuous", "prismatic", "fixed", "planar")},
    "floating": robot(WORLD + link("b") + joint("floating", LIMIT, parent="world")),
    "no limit": robot(AB + joint("revolute")),
    "only effort": robot(AB + joint("revolute", '<limit effort="-2"/>')),
    "only lower": robot(AB + joint("revolute", '<limit lower="-2"/>')),
    "only upper": robot(AB + joint("prismatic", '<limit upper="2"/>')),
    "limits the wrong way round": robot(AB + joint("revolute", '<limit lower="2" upper="1"/>')),
    "equal limits": robot(AB + joint("revolute", '<limit lower="1" upper="1"/>')),
    "no axis": robot(AB + joint("revolute", axis="")),
    "long axis": robot(AB + joint("revolute", axis="0 3 4")),
    "planar without axis": robot(AB + joint("planar", axis="")),
    "planar about -z": robot(AB + joint("planar", axis="0 0 -1")),
    "planar about any": robot(AB + joint("planar", axis="1 2 3")),
    **{
        shape.split()[0]: robot(both_shapes(f"<{shape}/>"))
        for shape in ('box size="1 2 3"', 'cylinder radius=".1" length="2"', 'sphere radius=".5"',
                      'capsule radius=".1" length="2"')
    },
    "first shape of several": robot(both_shapes('<sphere radius=".5"/><cylinder radius=".1" length="2"/>')),
    "visuals dropped": robot(both_shapes('<sphere radius=".5"/>') + link("b") + joint("revolute"),
                             '<mujoco><compiler fusestatic="false"/></mujoco>'),
    "visuals dropped that make no sense": robot(
        link("a", f'<visual><geometry><box size="1"/></geometry></visual><collision>{SPHERE}</collision>')
        + link("b") + joint("revolute"), '<mujoco><compiler fusestatic="false"/></mujoco>'),
    "materials": robot(
        '<material name="g"><color rgba="0 1 0 1"/></material><material name="g"><color rgba="0 0 1 1"/></material>'
        + link("a", f'<visual>{SPHERE}<material name="g"/></visual><visual>{SPHERE}</visual><visual>{SPHERE}{RED}'
                    f'</visual><collision>{SPHERE}<material name="x"/></collision>')
        + link("b", f'<visual>{SPHERE}</visual><visual>{SPHERE}<material name="red"/></visual>') + joint("fixed")),
    "the first colour of a name counts, also of a later link": robot(
        link("a", f'<collision>{SPHERE}{RED}</collision><visual>{SPHERE}<material name="g"/></visual>')
        + link("b", f'<visual>{SPHERE}<material name="g"><color rgba="0 1 0 1"/></material></visual>'
                    f'<visual>{SPHERE}<material name="red"/></visual>') + joint("revolute")
        + '<material name="g"><color rgba="0 0 1 1"/></material>',
        '<mujoco><compiler discardvisual="false"/></mujoco>'),
    "material with a colour and no name": robot(
        link("a", f'<visual>{SPHERE}<material><color rgba="0 1 0 1"/></material></visual>'),
        '<mujoco><compiler discardvisual="false"/></mujoco>'),
    "material without colour": robot(
        '<material name="m"><texture filename="x.png"/></material>'
        + link("a", f'<visual>{SPHERE}<material name="m"/></visual>')),
    "repeated shape name": robot(link("a", f'<collision name="g">{SPHERE}</collision>' * 2)),
    "order": robot("".join(map(link, "abcde")) + joint("revolute", name="1", parent="d", child="b")
                   + joint("prismatic", name="2", parent="d", child="a")
                   + joint("fixed", name="3", child="e", parent="b")
                   + joint("revolute", name="4", parent="a", child="c")),
    "two roots": robot(AB),
    "world": robot(f'<link name="world"><collision>{SPHERE}</collision></link>' + AB + link("c")
                   + joint("floating", parent="world") + joint("revolute", name="k", parent="b", child="c")),
    "no name": robot(AB + joint("revolute")).replace(' name="r"', ""),
    "empty": robot(""),
    "no mass": robot(link("a") + '<link name="b"/>' + joint("fixed")),
    "mass below zero": robot(link("a") + """<link name="b"><inertial><mass value="-1"/><inertia ixx="1" iyy="1"
        izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>""" + joint("fixed")),
    "mass and inertia zero": robot(link("a") + """<link name="b"><inertial><mass value="0"/><inertia ixx="0" iyy="0"
        izz="0" ixy="0" ixz="0" iyz="0"/></inertial></link>""" + joint("fixed")),
    "settings": robot(AB + joint("revolute"), """<mujoco><compiler boundmass="3" boundinertia=".2" fusestatic="false"/>
        <option timestep=".1" gravity="0 0 -1" integrator="RK4"/><size nuserdata="3" memory="1M"/></mujoco>"""),
    "flags": robot(AB + joint("revolute"), '<mujoco><option><flag gravity="disable"/></option></mujoco>'),
    "degrees and Euler axes": robot(
        AB + joint("revolute", LIMIT), '<mujoco><compiler fusestatic="false" angle="degree" eulerseq="zyx"/></mujoco>'),
    "inertia from geoms": robot(
        AB.replace("</link>", f"<visual>{SPHERE}</visual><collision>{SPHERE}</collision></link>") + joint("revolute"),
        '<mujoco><compiler fusestatic="false" discardvisual="false" inertiafromgeom="true"/></mujoco>'),
    "other elements": robot(
        "<transmission name='t'><type>x</type></transmission><gazebo reference='a'><x/></gazebo>" + AB
        + joint("revolute", '<safety_controller k_velocity="1"/><calibration rising="1"/>')),
}  # fmt: skip

FUSED: dict[str, str] = {
    "fused to the world": robot(AB + joint("revolute", LIMIT), ""),
    "fused chain": robot(
        link("a") + link("b", f"<collision>{SPHERE}</collision>") + link("c", f"<collision>{SPHERE}</collision>")
        + link("d") + joint("revolute") + joint("fixed", name="f", parent="b", child="c")
        + joint("prismatic", name="g", parent="c", child="d"), ""),
    "fused with flags": robot(AB + joint("fixed"), "<mujoco><compiler discardvisual='false'/></mujoco>"),
}  # fmt: skip

MASSLESS = '<link name="a"><inertial>{}</inertial></link>'
BROKEN: dict[str, str] = {
    **{f"joint type {kind}": robot(AB + joint(kind)) for kind in ("spherical", "hinge", "Revolute", "")},
    "floating below": robot(AB + joint("floating")),
    "axis of length zero": robot(AB + joint("revolute", axis="0 0 0")),
    "short axis": robot(AB + joint("revolute", axis="1 0")),
    "axis without xyz": robot(AB + joint("revolute").replace(' xyz="0 1 0"', "")),
    "loop": robot(AB + joint("revolute") + joint("revolute", name="k", parent="b", child="a")),
    "own parent": robot(AB + joint("revolute", child="a")),
    "two parents": robot(AB + link("c") + joint("revolute") + joint("revolute", name="k", parent="c")),
    "unknown parent": robot(AB + joint("revolute", parent="x")),
    "unknown child": robot(AB + joint("revolute", child="x")),
    "no parent": robot(AB + joint("revolute").replace('<parent link="a"/>', "")),
    "no child": robot(AB + joint("revolute").replace('<child link="b"/>', "")),
    "no link in parent": robot(AB + joint("revolute").replace('parent link="a"', "parent")),
    "no joint name": robot(AB + joint("revolute").replace(' name="j"', "")),
    "no joint type": robot(AB + joint("revolute").replace(' type="revolute"', "")),
    "no link name": robot("<link/>"),
    "repeated link": robot(AB + link("a")),
    "repeated joint": robot(AB + link("c") + joint("revolute") + joint("revolute", child="c")),
    "no mass": robot(MASSLESS.format('<inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/>')),
    "mass without value": robot(MASSLESS.format('<mass/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/>')),
    "no inertia": robot(MASSLESS.format('<mass value="1"/>')),
    "half an inertia": robot(MASSLESS.format('<mass value="1"/><inertia ixx="1" iyy="1" izz="1"/>')),
    "inertia that no mass has": robot(
        MASSLESS.format('<mass value="1"/><inertia ixx="1" iyy="1" izz="3" ixy="0" ixz="0" iyz="0"/>')),
    "inertia below zero": robot(
        MASSLESS.format('<mass value="1"/><inertia ixx="-1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/>')),
    "two inertials": robot(link("a", MASSLESS.format('<mass value="1"/>')[15:-7])),
    "moving link without mass": robot(link("a") + '<link name="b"/>' + joint("revolute")),
    "short xyz": robot(AB + joint("revolute").replace('xyz="1 2 3"', 'xyz="1 2"')),
    "long xyz": robot(AB + joint("revolute").replace('xyz="1 2 3"', 'xyz="1 2 3 4"')),
    "xyz that is no number": robot(AB + joint("revolute").replace('xyz="1 2 3"', 'xyz="1 2 x"')),
    "limit that is no number": robot(AB + joint("revolute", '<limit lower="a"/>')),
    "two limits": robot(AB + joint("revolute", '<limit lower="1"/><limit lower="2"/>')),
    "two origins": robot(AB + joint("revolute", ORIGIN)),
    "no shape": robot(both_shapes("")),
    "unknown shape": robot(both_shapes('<ellipsoid size="1 1 1"/>')),
    "no geometry": robot(link("a", "<collision/>")),
    "two geometries": robot(link("a", f"<collision>{SPHERE}{SPHERE}</collision>")),
    "box without size": robot(both_shapes("<box/>")),
    "box below zero": robot(both_shapes('<box size="1 -1 1"/>')),
    "cylinder without length": robot(both_shapes('<cylinder radius="1"/>')),
    "sphere of size zero": robot(both_shapes('<sphere radius="0"/>')),
    "mesh without file": robot(both_shapes("<mesh/>")),
    "mesh that is missing": robot(both_shapes('<mesh filename="package://x/y.stl"/>')),
    "short colour": robot(link("a", f"<visual>{SPHERE}{RED.replace(' .5', '')}</visual>")),
    "material without name": robot(link("a", f"<visual>{SPHERE}<material/></visual>")),
    "two extensions": robot("", KEEP + KEEP),
    "two compilers": robot("", "<mujoco><compiler/><compiler/></mujoco>"),
    "setting that is no keyword": robot("", '<mujoco><compiler fusestatic="maybe"/></mujoco>'),
    "setting that is no number": robot("", '<mujoco><option timestep="x"/></mujoco>'),
    "ranges without autolimits": robot(
        AB + joint("revolute", LIMIT), '<mujoco><compiler autolimits="false"/></mujoco>'),
    "not well-formed": robot("<link>"),
}  # fmt: skip


# frames, bounding boxes and hulls of meshes have tests of their own: tests/parity, tests/compiler
MESH_FRAMES = re.compile(r"n?mesh_?.*|bvh_.*|geom_(pos|quat|size|aabb|rbound)|stat\..*")


def assert_equal(expected: mujoco.MjModel, found: MjModel, but: re.Pattern[str] | None = None) -> None:
    """All fields are the same, ``but`` for some."""
    skipped = [field.name for field in MODEL.fields if but is not None and but.fullmatch(field.name)]
    assert differences(expected, found, (*MEMORY, *skipped)) == []


def quiet(source: str | Path) -> MjModel:
    """Our model, without the warnings."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return MjModel.from_xml_path(str(source)) if isinstance(source, Path) else MjModel.from_xml_string(source)


@pytest.mark.parametrize("xml", [*MODELS.values(), *FUSED.values()], ids=[*MODELS, *FUSED])
def test_small_models_equal_the_reference(xml: str) -> None:
    assert_equal(mujoco.MjModel.from_xml_string(xml), quiet(xml))


@pytest.mark.parametrize("xml", BROKEN.values(), ids=BROKEN)
def test_broken_models_are_refused_with_their_place(xml: str) -> None:
    with pytest.raises(ValueError):
        mujoco.MjModel.from_xml_string(xml)
    with pytest.raises(MjcfError) as caught:
        quiet(xml)
    assert caught.value.line is not None
    assert caught.value.element is not None or "well-formed" in str(caught.value)


def test_the_place_of_an_error() -> None:
    xml = robot(AB + "\n\n" + joint("revolute", parent="aa"))
    with pytest.raises(MjcfError, match=r"<parent> link: there is no link 'aa'; did you mean 'a'") as caught:
        quiet(xml)
    assert caught.value.line == xml[: xml.index("<parent")].count("\n") + 1


@pytest.mark.parametrize("name", ["walker", "gripper_arm"])
def test_robots_equal_the_reference(name: str) -> None:
    path = SCENES[name]
    assert_equal(mujoco.MjModel.from_xml_path(str(path)), quiet(path), but=MESH_FRAMES)


def test_joints_that_mimic_become_constraints() -> None:
    text = robot(AB + link("c") + joint("revolute") + joint(
        "revolute", '<mimic joint="j" multiplier="2" offset=".1"/>', name="k", parent="b", child="c"))  # fmt: skip
    with pytest.warns(UserWarning, match="joint 'k' mimics 'j' by a soft equality constraint"):
        m = MjModel.from_xml_string(text)
    assert m.neq == 1 and (m.eq_obj1id[0], m.eq_obj2id[0]) == (m.joint("k").id, m.joint("j").id)
    np.testing.assert_array_equal(m.eq_data[0, :5], [0.1, 2, 0, 0, 0])


@pytest.mark.parametrize(
    ("mimic", "words"),
    [
        ('<mimic joint="jj"/>', "can't mimic 'jj', which does not exist; did you mean 'j'"),
        ("<mimic/>", "can't mimic '', which does not exist"),
        ('<mimic joint="j"/>', "can't mimic itself"),
    ],
)
def test_a_joint_that_mimics_none_is_free(mimic: str, words: str) -> None:
    with pytest.warns(UserWarning, match=words):
        m = MjModel.from_xml_string(robot(AB + joint("revolute", mimic)))
    assert m.neq == 0


def test_a_joint_can_only_mimic_a_joint() -> None:
    with pytest.warns(UserWarning, match="mimic is ignored"):
        m = MjModel.from_xml_string(robot(AB + link("c") + joint("revolute") + joint(
            "planar", '<mimic joint="j"/>', name="k", parent="b", child="c")))  # fmt: skip
    assert m.neq == 0


def test_inertia_is_turned_with_its_frame() -> None:
    # the reference forgets the orientation: docs/differences.md
    xml = robot("""<link name="a"><inertial><origin rpy="0 0 1.5707963267948966"/><mass value="1"/>
        <inertia ixx="1" iyy="1.2" izz="1.5" ixy="0" ixz="0" iyz="0"/></inertial></link>""")
    m = quiet(xml)
    rotation = np.zeros(9)
    mujoco.mju_quat2Mat(rotation, m.body_iquat[1])
    rotation = rotation.reshape(3, 3)
    matrix = rotation @ np.diag(m.body_inertia[1]) @ rotation.T
    np.testing.assert_allclose(matrix, np.diag([1.2, 1.0, 1.5]), atol=1e-12)


def test_the_world_stays_the_world() -> None:
    # the reference gives it the pose or the mass of the link: docs/differences.md
    with pytest.warns(UserWarning, match="link 'world' is the world, which no joint moves; joint 'j' is ignored"):
        m = MjModel.from_xml_string(robot(link("b") + WORLD + joint("fixed", parent="b", child="world")))
    assert m.nbody == 2 and not m.body_pos[0].any()
    assert quiet(robot(link("world") + link("b") + joint("revolute", parent="world"))).body_mass[0] == 0.0


def test_unknown_settings_are_told() -> None:
    with pytest.warns(
        UserWarning, match="<compiler> fusestatc: unknown attribute is ignored; did you mean 'fusestatic'"
    ):
        MjModel.from_xml_string(robot(AB, '<mujoco><compiler fusestatc="false"/></mujoco>'))
