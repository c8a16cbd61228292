"""Broken MJCF: what the reader refuses, with the message that says what is wrong and where.

Each row: a snippet inside ``<mujoco>``, and words of the message. The reference must refuse the snippet too, unless the
row is in ``ONLY_HERE``, where this reader is stricter on purpose (see the reader's docstring).
"""

from __future__ import annotations

import re

import pytest

from cardan.errors import MjcfError
from cardan.mjcf.reader import read_string

BODY = '<worldbody><body name="b"><joint name="j"/><geom name="g" size="1"/><site name="s"/></body></worldbody>'


def world(content: str) -> str:
    """Content of the world body."""
    return f"<worldbody>{content}</worldbody>"


def body(content: str) -> str:
    """Content of a moving body."""
    return world(f'<body name="b"><geom size="1"/>{content}</body>')


BROKEN: list[tuple[str, tuple[str, ...]]] = [
    # elements
    ("<foo/>", ("<foo>", "unknown element")),
    (world("<Geom size='1'/>"), ("<Geom>", "did you mean 'geom'")),
    ("<geom/>", ("<geom>", "not allowed inside <mujoco>")),
    (world('<geom size="1"><joint/></geom>'), ("<joint>", "not allowed inside <geom>")),
    ("<worldbody><worldbody/></worldbody>", ("<worldbody>", "not allowed inside <worldbody>")),
    ("<option><flag/><flag/></option>", ("<flag>", "only once inside <option>")),
    ("<visual><global/><global/></visual>", ("<global>", "only once inside <visual>")),
    (body('<inertial pos="0 0 0" mass="1"/><inertial pos="0 0 0" mass="1"/>'), ("<inertial>", "only once")),
    ("<default><geom/><geom/></default>", ("<geom>", "only once inside <default>")),
    ("<default><freejoint/></default>", ("<freejoint>", "not allowed inside <default>")),
    (world("<joint/>"), ("<joint>", "world body cannot have joints")),
    (world("<freejoint/>"), ("<freejoint>", "world body cannot have joints")),
    (world("<frame><joint/></frame>"), ("<joint>", "world body cannot have joints")),
    (world('<inertial pos="0 0 0" mass="1"/>'), ("<inertial>", "world body cannot have inertia")),
    # attributes
    (world('<geom size="1" colour="1 0 0 1"/>'), ("<geom> colour", "unknown attribute")),
    (world('<geom size="1" condimm="3"/>'), ("<geom> condimm", "did you mean 'condim'")),
    ("<worldbody name='w'/>", ("<worldbody> name", "no attributes")),
    ('<default><geom name="e"/></default>', ("<geom> name", "unknown attribute")),
    ('<option timestp="1"/>', ("<option> timestp", "did you mean 'timestep'")),
    (body('<freejoint damping="1"/>'), ("<freejoint> damping", "unknown attribute")),
    (body("<inertial mass='1'/>"), ("<inertial> pos", "required attribute missing")),
    (BODY + '<equality><connect body1="b"/></equality>', ("<connect> anchor", "required")),
    ("<sensor><jointpos/></sensor>", ("<jointpos> joint", "required")),
    ('<custom><text name="t"/></custom>', ("<text name='t'> data", "required")),
    ('<asset><texture type="2d" builtin="flat" width="1" height="1"/></asset>', ("<texture> name", "required")),
    # values
    (world('<geom size="1 2 3 4"/>'), ("<geom> size", "expected 1 to 3 numbers, found 4")),
    (world('<geom size=""/>'), ("<geom> size", "found none")),
    (world('<geom size="1,2,3"/>'), ("<geom> size", "not commas")),
    (world('<geom size="one"/>'), ("<geom> size", "'one' is not a number")),
    (world('<geom size="1_0"/>'), ("<geom> size", "'1_0' is not a number")),
    (world('<geom size="1e400"/>'), ("<geom> size", "out of range")),
    (world('<geom size="1" pos="1 2"/>'), ("<geom> pos", "expected 3 numbers, found 2")),
    (world('<geom size="1" rgba="1 1 1"/>'), ("<geom> rgba", "expected 4 numbers")),
    (world('<geom size="1" condim="3.5"/>'), ("<geom> condim", "'3.5' is not an integer")),
    (world('<geom size="1" group="99999999999"/>'), ("<geom> group", "32 bits")),
    (world('<geom size="1" type="Sphere"/>'), ("<geom> type", "'Sphere'", "did you mean 'sphere'")),
    (body('<joint type="spherical"/>'), ("<joint> type", "'spherical'", "free", "ball", "hinge")),
    (body('<joint limited="maybe"/>'), ("<joint> limited", "'maybe'", "auto")),
    ('<option><flag contact="true"/></option>', ("<flag> contact", "'true'", "enable", "disable")),
    ('<option solver="newton"/>', ("<option> solver", "did you mean 'Newton'")),
    ('<option gravity="0 0"/>', ("<option> gravity", "expected 3 numbers")),
    ('<option actuatorgroupdisable="31"/>', ("<option> actuatorgroupdisable", "0 to 30")),
    ('<size memory="10x"/>', ("<size> memory", "'10x'")),
    ('<size memory="99999999999999999999"/>', ("<size> memory", "too large")),
    ('<size nuser_body="-2"/>', ("<size> nuser_body", "at least -1")),
    ('<compiler eulerseq="xy"/>', ("<compiler> eulerseq", "'xy'")),
    ('<compiler coordinate="global"/>', ("<compiler> coordinate", "local")),
    ('<statistic extent="0"/>', ("<statistic> extent", "positive")),
    ('<custom><numeric name="n" data="1 2 3" size="2"/></custom>', ("<numeric", "data", "more than the size")),
    ('<custom><numeric name="n"/></custom>', ("<numeric", "size", "between 1 and 500")),
    ('<custom><tuple name="t"/></custom>', ("<tuple", "<element>")),
    ('<keyframe><key qpos="1 a"/></keyframe>', ("<key> qpos", "'a' is not a number")),
    # attributes together
    (world('<body quat="1 0 0 0" euler="0 0 0"/>'), ("<body> euler", "exclude each other")),
    (world('<body quat="0 0 0 0"/>'), ("<body> quat", "zero length")),
    (body('<inertial pos="0 0 0" mass="1" fullinertia="1 1 1 0 0 0" quat="1 0 0 0"/>'), ("quat", "exclude each other")),
    (world('<camera focal="1 1"/>'), ("<camera> sensorsize", "required")),
    (world('<camera sensorsize="1 1" resolution="2 2" fovy="40"/>'), ("<camera> fovy", "exclude each other")),
    (BODY + '<actuator><motor joint="j" site="s"/></actuator>', ("<motor> site", "exclude each other")),
    (BODY + "<actuator><motor/></actuator>", ("<motor>", "no target")),
    (BODY + '<actuator><position joint="j" kv="1" dampratio="1"/></actuator>', ("dampratio", "exclude")),
    (BODY + '<sensor><framepos objtype="body" objname="b" reftype="body"/></sensor>', ("refname", "reftype needs")),
    (BODY + '<sensor><framepos objtype="body" objname="b" refname="b"/></sensor>', ("reftype", "refname needs")),
    # names, classes, references
    (world('<geom name="a" size="1"/><geom name="a" size="1"/>'), ("name='a'", "repeated name 'a'", "line 1")),
    (world('<body name="world"/>'), ("repeated name 'world'",)),
    ('<custom><numeric name="a" data="1"/><numeric name="a" data="1"/></custom>', ("repeated name 'a'",)),
    (world('<geom class="q" size="1"/>'), ("<geom> class", "unknown default class 'q'", "main")),
    (world('<body childclass="q"/>'), ("<body> childclass", "unknown default class 'q'")),
    ("<default><default/></default>", ("<default> class", "required")),
    ('<default><default class="a"/><default class="a"/></default>', ("<default> class", "'a' is defined twice")),
    ('<default><default class="main"/></default>', ("<default> class", "'main' is defined twice")),
    (BODY + '<actuator><motor joint="jj"/></actuator>', ("<motor> joint", "no joint named 'jj'", "did you mean 'j'")),
    (BODY + '<contact><pair geom1="g" geom2="h"/></contact>', ("<pair> geom2", "no geom named 'h'")),
    (BODY + '<contact><exclude body1="b" body2="c"/></contact>', ("<exclude> body2", "no body named 'c'")),
    (BODY + '<equality><weld body1="c"/></equality>', ("<weld> body1", "no body named 'c'")),
    (BODY + '<sensor><gyro site="t"/></sensor>', ("<gyro> site", "no site named 't'")),
    (BODY + '<sensor><framepos objtype="site" objname="b"/></sensor>', ("objname", "no site named 'b'")),
    ('<asset><material name="m" texture="t"/></asset>', ("texture", "no texture named 't'")),
    ('<default><geom material="m"/></default>' + BODY, ("material", "no material named 'm'", "default class 'main'")),
    (BODY + '<tendon><fixed><joint joint="k" coef="1"/></fixed></tendon>', ("<joint> joint", "no joint named 'k'")),
    (world('<light mode="targetbody" target="x"/>'), ("<light> target", "no body named 'x'")),
    # XML
    ('<include file="nowhere.xml"/>', ("<include> file", "nowhere.xml", "tried")),
    ("<include/>", ("<include> file", "required")),
    (world('<geom size="1" size="2"/>'), ("not well-formed",)),
    ("<worldbody>", ("not well-formed",)),
]

ONLY_HERE: list[tuple[str, tuple[str, ...]]] = []


def model(content: str) -> str:
    """A whole model."""
    return f"<mujoco>{content}</mujoco>"


@pytest.mark.parametrize(("content", "words"), BROKEN + ONLY_HERE)
def test_error_says_what_and_where(content: str, words: tuple[str, ...]) -> None:
    with pytest.raises(MjcfError) as caught:
        read_string(model(content))
    message = str(caught.value)
    assert message.startswith("XML string, line 1: "), message
    for word in words:
        assert word in message, message


@pytest.mark.parametrize("content", [content for content, _ in BROKEN])
def test_reference_refuses_it_too(content: str) -> None:
    mujoco = pytest.importorskip("mujoco")
    with pytest.raises(ValueError):
        mujoco.MjModel.from_xml_string(model(content))


LINE = re.compile(r"[Ll][Ii][Nn][Ee]\s*[:=]?\s*(\d+)")
"""How dm_control looks for the line in the text of an error."""


@pytest.mark.parametrize("content", [content for content, words in BROKEN if "only once" not in " ".join(words)])
def test_errors_of_strings_tell_the_line_as_in_the_reference(content: str) -> None:
    """Of an element that stands twice the reference names the parent, this reader the second one."""
    mujoco = pytest.importorskip("mujoco")
    text = model(content).replace("><", ">\n<")
    with pytest.raises(ValueError) as theirs:
        mujoco.MjModel.from_xml_string(text)
    expected = LINE.search(str(theirs.value))
    with pytest.raises(MjcfError) as ours:
        read_string(text)
    found = LINE.search(str(ours.value))
    assert found is not None
    assert expected is None or found.group(1) == expected.group(1)


@pytest.mark.parametrize(
    ("xml", "word"),
    [
        ("", "not well-formed"),
        ("<Mujoco/>", "root element must be <mujoco>"),
        ("<mujocoinclude/>", "root element must be <mujoco>"),
        ("<robot><link/></robot>", "required attribute missing"),
        ('<mujoco x="1"/>', "unknown attribute"),
        (b"\xff\xfe\xfd", "not well-formed"),
        ("folder/model.xml", "line 1: not well-formed .*; if this is the path of a file, read it with from_xml_path"),
    ],
)
def test_document_level_errors(xml: str | bytes, word: str) -> None:
    with pytest.raises(MjcfError, match=word):
        read_string(xml)


def test_error_carries_its_parts() -> None:
    with pytest.raises(MjcfError) as caught:
        read_string('<mujoco>\n<worldbody>\n<geom size="x"/>\n</worldbody>\n</mujoco>')
    error = caught.value
    assert (error.source, error.line, error.element, error.attribute) == ("XML string", 3, "geom", "size")
