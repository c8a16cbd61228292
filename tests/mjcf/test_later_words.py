"""Words of later versions whose features are missing: read and kept; only models that use the features are refused."""

from pathlib import Path

import pytest
from later import later_run
from mjcf.later_words import BODY, CLASS, FLEX, GENERAL, GEOM, JOINT, MOTOR, NEEDED, SENSOR, TENDON, model

import cardan
from cardan.errors import MjcfError, UnsupportedFeature
from cardan.mjcf.reader import read_string
from cardan.mjcf.writer import write_tree
from cardan.spec.schema.language import walk

NEUTRAL = [
    MOTOR.format('nsample="-1" interp="linear" delay="-1" armature="0" damping="0 0"'),
    SENSOR.format('<jointpos joint="j" nsample="0" interval="0 0" interp="cubic"/>'),
    GENERAL.format('velrange="0 1" ffrange="0 1" input="pos"'),
    "<default><pid kp='3' slewmax='1'/><orientation input='quat'/></default>" + MOTOR.format(""),
    GEOM.format('surfacevel="0 0" adhesion="0" castshadow="true"'),
    JOINT.format('stiffness="1 0 0" damping="2 0" springyield="0"'),
    BODY.format('sleep="auto" simple="auto" fuse="auto"'),
    SENSOR.format('<rangefinder site="s" data=""/><rangefinder site="s" data="dist"/>'),
    TENDON.format('armature="0" stiffness="1" actuatorfrcrange="0 0"'),
    CLASS + TENDON.format(""),
    CLASS + TENDON.format('class="q" springyield="0"'),
    FLEX.format('dof="full"><elasticity young="0" damping="1"/></flexcomp>'),
    '<worldbody><frame scale="1"><geom size="1"/></frame></worldbody>',
]
"""Models with the same words that do not need them."""

WRONG = {
    MOTOR.format('delay="1"'): "delay: a delay needs a history: set nsample",
    GENERAL.format('input="foo"'): "input: 'foo' is not one of its words",
    GENERAL.format('input="vel pos"'): "in this order, found 'vel pos'",
    JOINT.format('stiffness="1 2 3 4"'): "stiffness: expected 1 to 3 numbers, found 4",
    BODY.format('sleep="foo"'): "sleep: 'foo' is not one of its keywords",
    SENSOR.format('<rangefinder site="s" data="point origin"/>'): "in this order, found 'point origin'",
    SENSOR.format('<rangefinder site="s" data="dist dist"/>'): "in this order, found 'dist dist'",
    SENSOR.format("<rangefinder/>"): "site: required attribute missing: give site, or camera",
    SENSOR.format('<rangefinder site="s" camera="cam"/>'): "site and camera exclude each other",
    SENSOR.format('<contact geom1="g" body1="a"/>'): "geom1 and body1 exclude each other",
    SENSOR.format('<contact geom1="g" num="0"/>'): "num: must be positive, found 0",
    SENSOR.format('<contact data="force found"/>'): "in this order, found 'force found'",
}
"""Models that no version accepts, with a part of the message."""


@pytest.mark.parametrize(("feature", "part"), [(name, part) for name, parts in NEEDED.items() for part in parts])
def test_needed(feature: str, part: str) -> None:
    """Reading and editing such a model works, compiling names the feature; the written tree has the same words."""
    spec = cardan.MjSpec.from_string(model(part))
    with pytest.raises(UnsupportedFeature, match=f"{feature}: this feature of MuJoCo is not supported yet"):
        spec.compile()
    text = write_tree(read_string(model(part)))
    assert write_tree(read_string(text)) == text
    with pytest.raises(UnsupportedFeature, match=feature):
        cardan.MjModel.from_xml_string(text)


@pytest.mark.parametrize("part", NEUTRAL)
def test_neutral(part: str) -> None:
    """Values that mean none need no feature; 4.0.0 accepts them, too."""
    assert cardan.MjModel.from_xml_string(model(part)).nv == later_run(
        "out = mujoco.MjModel.from_xml_string(xml).nv", xml=model(part)
    )


@pytest.mark.parametrize("part", WRONG)
def test_wrong(part: str) -> None:
    """Mistakes are reported when the text is read or compiled."""
    with pytest.raises(MjcfError) as caught:
        cardan.MjModel.from_xml_string(model(part))
    assert not isinstance(caught.value, UnsupportedFeature)
    assert WRONG[part] in str(caught.value)


@pytest.mark.parametrize("compat", ["3.1", "4.0"])
def test_polynomials_in_structs(compat: str) -> None:
    """A stiffness is a number under 3.1, and three coefficients under 4.0; both can be assigned."""
    spec = cardan.MjSpec.from_string(model(JOINT.format('name="j" stiffness="2"')), compat=compat)
    joint = spec.joints[0]
    assert list(joint.stiffness) == [2.0, 0.0, 0.0] if compat == "4.0" else joint.stiffness == 2.0
    joint.stiffness = 3.0
    joint.damping = [4.0, 0.0, 0.0]
    m = spec.compile()
    assert m.jnt_stiffness[0] == 3.0
    assert m.dof_damping[0] == 4.0
    joint.damping = [4.0, 0.0, 1.0]
    assert spec.compile().dof_dampingpoly.tolist() == [[0.0, 1.0]]


def test_objects_of_sensors() -> None:
    """Structs of missing sensors have an object and a reference; their type is missing."""
    contact = '<contact subtree1="a" geom2="g" data="found"/><contact site="s" body2="b"/>'
    more = '<rangefinder camera="cam"/><insidesite objtype="geom" objname="g" site="s2"/>'
    spec = cardan.MjSpec.from_string(model(SENSOR.format(contact + more)))
    found = [(s.objtype.name[6:], s.objname, s.reftype.name[6:], s.refname) for s in spec.sensors]
    assert found == [
        ("XBODY", "a", "GEOM", "g"),
        ("SITE", "s", "BODY", "b"),
        ("CAMERA", "cam", "UNKNOWN", ""),
        ("GEOM", "g", "SITE", "s2"),
    ]
    assert spec.sensors[3].type == cardan.mjtSensor.mjSENS_INSIDESITE
    spec.sensors[0].objname = "b"
    assert spec.sensors[0].element.attributes["subtree1"] == "b"
    assert spec.sensors[0].element.attributes["geom2"] == "g"


def test_status() -> None:
    """The table of features lists every missing feature of the language."""
    features = (Path(__file__).parents[2] / "docs/status.md").read_text()
    rows = [*walk()]
    words = [attribute for row in rows for attribute in row.attributes.values()]
    names = {row.later for row in rows} | {word.later for word in words}
    names.update(name for word in words for name in word.later_keywords.values())
    assert {name for name in names if name and name not in features} == set()


TARGETS = (
    '<mujoco><worldbody><body name="b"><joint name="h"/><geom size=".1"/><site name="s"/></body></worldbody><tendon>'
    '<fixed name="t"><joint joint="h" coef="1"/></fixed></tendon><actuator><general {}/></actuator></mujoco>'
)


@pytest.mark.parametrize(
    "targets",
    ['site="s" joint="h"', 'joint="h" tendon="t"', 'tendon="t" site="s"', 'joint="h" body="b"', 'site="s" body="b"',
     'joint="h" jointinparent="h"', 'tendon="t" cranksite="s" slidersite="s" cranklength="1"'],
)  # fmt: skip
def test_several_targets(targets: str) -> None:
    """In 4.0, the last one counts; 3.1.6 refuses them."""
    xml = TARGETS.format(targets)
    with pytest.warns(UserWarning, match="exclude each other: only [a-z]+ counts"):
        m = cardan.MjModel.from_xml_string(xml, compat="4.0")
    assert m.actuator_trntype[0] == later_run("out = mujoco.MjModel.from_xml_string(xml).actuator_trntype[0]", xml=xml)
    with pytest.raises(MjcfError, match="exclude each other: an actuator has one target"):
        cardan.MjModel.from_xml_string(xml, compat="3.1")
