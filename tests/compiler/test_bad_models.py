"""Models that the compiler refuses: what the message must say. The reference must refuse each of them too."""

from __future__ import annotations

import mujoco
import pytest

from cardan.api.loading import load_string
from cardan.errors import MjcfError

BALL = '<body><joint name="k" type="ball"/><geom size="1"/></body>'


def world(content: str, rest: str = "") -> str:
    """A model with content of the world body."""
    return f"<mujoco><worldbody>{content}</worldbody>{rest}</mujoco>"


def body(content: str) -> str:
    """A model with one body that has a geom."""
    return world(f'<body name="b">{content}<geom name="g" size="1"/></body>')


def joint(attributes: str = "") -> str:
    """A body with one joint."""
    return f'<body name="b"><joint name="j" {attributes}/><geom name="g" size="1"/></body>'


def related(rest: str) -> str:
    """A model with a hinge, a ball and a tendon, and a section about them."""
    tendon = '<tendon><fixed name="t"><joint joint="j" coef="1"/></fixed></tendon>'
    return world(joint() + BALL + '<geom name="h" size="1"/>', tendon + rest)


def actuator(content: str) -> str:
    return related(f"<actuator>{content}</actuator>")


def sensor(content: str) -> str:
    return related(f"<sensor>{content}</sensor>")


BROKEN: list[tuple[str, tuple[str, ...]]] = [
    # shapes
    (world('<geom size="0"/>'), ("<geom> size", "size 1 of a sphere must be positive", "found 0")),
    (world('<geom type="ellipsoid" size="1 0 1"/>'), ("<geom> size", "size 2 of an ellipsoid must be positive")),
    (world('<geom type="capsule" size="1"/>'), ("size 2 of a capsule",)),
    (world('<geom type="box" size="1 1"/>'), ("size 3 of a box",)),
    (world('<geom type="plane" size="1 1 0"/>'), ("size 3 of a plane",)),
    (world('<site size="-1"/>'), ("<site> size", "found -1")),
    (world('<geom size="1" fromto="0 0 0 0 0 1"/>'), ("fromto", "capsule, cylinder, box, ellipsoid")),
    (world('<geom type="capsule" size="1" fromto="0 0 0 0 0 0"/>'), ("fromto", "coincide")),
    (world('<geom size="1" condim="2"/>'), ("condim", "1, 3, 4 or 6")),
    (body('<joint/><geom type="plane" size="1 1 1"/>'), ("plane", "does not move")),
    # orientations
    (world('<body xyaxes="1 0 0 2 0 0"/>'), ("<body> xyaxes", "parallel")),
    (world('<body zaxis="0 0 0"/>'), ("zaxis", "zero length")),
    (world('<body axisangle="0 0 0 1"/>'), ("axisangle", "zero length")),
    (world('<light dir="0 0 0"/>'), ("<light> dir", "zero length")),
    (world('<camera fovy="180"/>'), ("<camera> fovy", "below 180")),
    # inertia
    (world("<body><joint/></body>"), ("<body>", "mass and inertia of a moving body", "<inertial>")),
    (world('<body><joint/><inertial pos="0 0 0" mass="1"/></body>'), ("mass and inertia",)),
    (world('<body><joint/><inertial pos="0 0 0" mass="0" diaginertia="1 1 1"/></body>'), ("mass and inertia",)),
    (world('<body><joint/><body><body><geom size="1"/></body></body></body>'), ("mass and inertia",)),
    (
        world('<body><inertial pos="0 0 0" mass="1" diaginertia="1 1 3"/></body>'),
        ("<inertial>", "balanceinertia", "1 1 3"),
    ),
    (
        world('<body><inertial pos="0 0 0" mass="1" fullinertia="1 1 1 2 0 0"/></body>'),
        ("fullinertia", "positive definite"),
    ),
    # joints
    (
        world('<body><geom size="1"/><body><freejoint/><geom size="1"/></body></body>'),
        ("free joint", "child of the world"),
    ),
    (body("<freejoint/><joint/>"), ("free joint cannot have other joints",)),
    (body('<joint type="ball"/><joint/>'), ("ball joint", "another rotation")),
    (body("<joint/>" * 7), ("more than 6 degrees of freedom",)),
    (world(joint('range="0 0" limited="true"')), ("<joint name='j'> range", "below the upper", "0 0")),
    (world(joint('type="ball" range="10 20"')), ("ball joint must start at 0",)),
    (world(joint('axis="0 0 0"')), ("axis", "zero length")),
    (world(joint('springdamper="0 1"')), ("springdamper", "positive")),
    (world(joint('actuatorfrclimited="true"')), ("actuatorfrcrange",)),
    (world(joint('range="0 1"'), '<compiler autolimits="false"/>'), ("limited", "autolimits")),
    (world('<body><body mocap="true"/></body>'), ("mocap", "child of the world")),
    (body("<joint/>").replace('name="b"', 'mocap="true"'), ("mocap", "joints")),
    # actuators
    (actuator('<motor joint="j" ctrllimited="true"/>'), ("<motor> ctrlrange",)),
    (actuator('<general joint="j" actrange="0 1"/>'), ("actrange", "dyntype")),
    (actuator('<general joint="j" dyntype="integrator" actdim="2"/>'), ("actdim", "found 2")),
    (actuator('<general joint="j" dyntype="integrator" actdim="0"/>'), ("actdim", "must not be 0")),
    (actuator('<position joint="k" inheritrange="1"/>'), ("inheritrange", "hinge and slide")),
    (actuator('<position joint="j" inheritrange="1"/>'), ("inheritrange", "no range")),
    (actuator('<position joint="j" kv="-1"/>'), ("kv", "negative")),
    (actuator('<position joint="j" timeconst="-1"/>'), ("timeconst", "negative")),
    (actuator('<position joint="j" dampratio="-1"/>'), ("dampratio", "negative")),
    # relations
    (world(joint(), '<tendon><fixed limited="true"><joint joint="j" coef="1"/></fixed></tendon>'), ("<fixed> range",)),
    (
        world(joint(), '<tendon><fixed springlength="1 .5"><joint joint="j" coef="1"/></fixed></tendon>'),
        ("springlength",),
    ),
    (related('<equality><joint joint1="k"/></equality>'), ("joint1", "hinge and slide")),
    (related('<equality><connect body1="b" body2="b" anchor="0 0 0"/></equality>'), ("body2", "same body")),
    (related('<equality><joint joint1="j" joint2="j"/></equality>'), ("joint2", "same joint")),
    (related('<contact><pair geom1="g" geom2="h" condim="2"/></contact>'), ("<pair> condim",)),
    (related('<keyframe><key qpos="1 2 3 4 5 6"/></keyframe>'), ("<key> qpos", "6 values", "model has 5")),
    (related('<keyframe><key ctrl="1"/></keyframe>'), ("<key> ctrl", "model has 0")),
    # sensors
    (sensor('<jointpos joint="k"/>'), ("<jointpos>", "slide, hinge", "not ball")),
    (sensor('<ballquat joint="j"/>'), ("<ballquat>", "not hinge")),
    (sensor('<jointlimitpos joint="j"/>'), ("no limits",)),
    (sensor('<tendonlimitpos tendon="t"/>'), ("no limits",)),
    (sensor('<framequat objtype="body" objname="b" cutoff="1"/>'), ("cutoff",)),
    (sensor('<clock noise="-1"/>'), ("noise", "negative")),
    (sensor('<clock cutoff="-1"/>'), ("cutoff", "negative")),
    # the rest
    (world('<geom size="1" user="1 2"/>', '<size nuser_geom="1"/>'), ("user", "nuser_geom")),
    (world("", '<asset><texture name="t" builtin="flat" width="0" height="2"/></asset>'), ("<texture name='t'>",)),
]


@pytest.mark.parametrize(("xml", "words"), BROKEN, ids=lambda value: None if isinstance(value, str) else value[0])
def test_message(xml: str, words: tuple[str, ...]) -> None:
    with pytest.raises(MjcfError) as caught:
        load_string(xml)
    for word in ("XML string, line 1", *words):
        assert word in str(caught.value)
    with pytest.raises(ValueError):
        mujoco.MjModel.from_xml_string(xml)
