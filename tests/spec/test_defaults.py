"""Default classes: which class holds, what it inherits, compared with the reference's compiled values."""

from __future__ import annotations

from collections import deque

import numpy as np
import pytest

from cardan.mjcf.reader import read_string
from cardan.spec import Element, ModelTree

mujoco = pytest.importorskip("mujoco")

CLASSES = (
    '<default><default class="b"><geom size="4"/></default><default class="c"><geom size="5"/></default></default>'
)


def compiled_order(tree: ModelTree, tag: str) -> list[Element]:
    """Elements of a tag body by body, depth first, as they are compiled."""
    found: list[Element] = []
    bodies: deque[Element] = deque([tree.worldbody])
    while bodies:
        body = bodies.popleft()
        found.extend(element for element, _ in body.content(tag))
        bodies.extendleft([element for element, _ in body.content("body")][::-1])
    return found


SIZES = [
    # top-level classes add up, and the last one gives the name
    '<default><geom size="3"/></default><worldbody><geom/></worldbody>',
    '<default class="a"><geom size="3"/></default><default class="b"><geom size="4"/></default>'
    '<worldbody><geom class="b"/><geom/></worldbody>',
    '<default class="a"/><default/><worldbody><geom class="main" size="1"/></worldbody>',
    # a nested class takes what its parent holds when it is defined
    '<default><default class="b"><geom condim="1"/></default><geom size="7"/></default><worldbody><geom class="b"/>'
    "</worldbody>",
    '<default><geom size="5"/><default class="b"><geom condim="1"/></default></default><default><geom size="7"/>'
    "</default>"
    '<worldbody><geom class="b"/><geom/></worldbody>',
    # classes may come after their use
    '<worldbody><geom class="b"/></worldbody><default><default class="b"><geom size="2"/></default></default>',
    # childclass of bodies and frames
    CLASSES + '<worldbody><body childclass="b"><geom/><body><geom/><geom class="c"/></body></body></worldbody>',
    CLASSES
    + '<worldbody><body childclass="b"><frame childclass="c"><geom/><body><geom/></body><geom class="b"/></frame>'
    "<geom/></body></worldbody>",
    CLASSES
    + '<worldbody><body childclass="b"><frame childclass="c"><frame><geom/></frame><body><frame><geom/></frame></body>'
    "</frame></body></worldbody>",
    CLASSES + '<worldbody><replicate count="2" childclass="c"><geom/></replicate></worldbody>',
    # fewer values overwrite the first ones
    '<default><geom size="5 6 7" type="box"/></default><worldbody><geom size="1"/></worldbody>',
    '<default><geom size="5 6 7" type="box"/><default class="d"><geom size="1 2"/></default></default>'
    '<worldbody><geom class="d"/></worldbody>',
]


@pytest.mark.parametrize("content", SIZES)
def test_sizes_equal_the_reference(content: str) -> None:
    xml = f"<mujoco>{content}</mujoco>"
    theirs = mujoco.MjModel.from_xml_string(xml).geom_size
    own = [geom["size"] for geom in compiled_order(read_string(xml), "geom")]
    used = 3 if 'type="box"' in content else 1
    np.testing.assert_array_equal(np.array(own)[:, :used], theirs[:, :used])


def test_set_and_explicit() -> None:
    tree = read_string('<mujoco><default><geom size="3"/></default><worldbody><geom condim="1"/></worldbody></mujoco>')
    geom = tree.worldbody.children[0]
    assert geom.is_set("size") and not geom.is_explicit("size")
    assert geom.is_set("condim") and geom.is_explicit("condim")
    assert not geom.is_set("margin")


def test_fixed_tendon_takes_the_colour_of_its_class() -> None:
    tree = read_string(
        '<mujoco><default><tendon rgba="1 0 0 1" width="7"/></default><worldbody><body><joint name="j"/></body>'
        "</worldbody>"
        '<tendon><fixed><joint joint="j" coef="1"/></fixed></tendon></mujoco>'
    )
    values = tree.section("tendon").children[0].resolved()
    assert (values["rgba"], values["width"], values["material"]) == ((1.0, 0.0, 0.0, 1.0), 7.0, None)


AFFINE = '<general gainprm="3 2 1" biasprm="1 2 3 4" biastype="affine" gaintype="affine" dyntype="filter" dynprm="4"/>'
ACTUATORS = [
    ("", '<general joint="j" gainprm="2" biasprm="1 2 3"/>'),
    ("", '<motor joint="j"/>'),
    ("", '<position joint="j"/>'),
    ("", '<position joint="j" kp="3" kv="2" timeconst="0.2"/>'),
    ("", '<velocity joint="j" kv="-1"/>'),
    ('<position kp="5" kv="2"/>', '<position joint="j"/>'),
    ('<position kp="5" kv="2"/>', '<position joint="j" kp="6"/>'),
    ('<position kp="5" kv="2"/>', '<position joint="j" kv="6"/>'),
    ('<position kp="5"/>', '<general joint="j"/>'),
    ('<position kp="5"/>', '<motor joint="j"/>'),
    ('<position kp="5"/>', '<velocity joint="j"/>'),
    ('<velocity kv="2"/>', '<position joint="j"/>'),
    ('<velocity kv="2"/>', '<velocity joint="j"/>'),
    ('<position kp="3"/><general gainprm="8"/>', '<position joint="j"/>'),
    ('<general gainprm="8"/><position kp="3"/>', '<position joint="j"/>'),
    ('<position timeconst="0.3"/>', '<position joint="j"/>'),
    ('<position timeconst="0.3"/>', '<position joint="j" timeconst="0"/>'),
    ('<position timeconst="0.3"/>', '<velocity joint="j"/>'),
    ('<position timeconst="0.3" kp="3"/>', '<general joint="j" biasprm="9"/>'),
    ('<general dyntype="filter"/>', '<position joint="j" kp="2"/>'),
    ('<motor ctrlrange="-1 1"/><position kp="3" ctrlrange="-2 2"/>', '<motor joint="j"/>'),
    ('<default class="q"><position kp="5"/></default><motor ctrlrange="-1 1"/>', '<position class="q" joint="j"/>'),
    ('<position kp="5"/><default class="q"><velocity kv="4"/></default>', '<general class="q" joint="j"/>'),
    (AFFINE, '<velocity joint="j"/>'),
    (AFFINE, '<velocity joint="j" kv="7"/>'),
    (AFFINE, '<motor joint="j"/>'),
    (AFFINE, '<general joint="j" gear="2 3"/>'),
]


@pytest.mark.parametrize(("defaults", "actuator"), ACTUATORS)
def test_actuators_equal_the_reference(defaults: str, actuator: str) -> None:
    xml = (
        f'<mujoco><default>{defaults}</default><worldbody><body><joint name="j"/><geom size="1"/></body></worldbody>'
        f"<actuator>{actuator}</actuator></mujoco>"
    )
    m = mujoco.MjModel.from_xml_string(xml)
    element = read_string(xml).section("actuator").children[0]
    values = element.resolved()
    for name in ("gainprm", "biasprm", "dynprm", "gear", "ctrlrange", "forcerange"):
        np.testing.assert_allclose(values[name], getattr(m, f"actuator_{name}")[0], err_msg=name)
    for name in ("gaintype", "biastype", "dyntype"):
        assert element.code(name) == getattr(m, f"actuator_{name}")[0], name


def test_damping_ratio_is_kept_positive() -> None:
    tree = read_string(
        '<mujoco><worldbody><body><joint name="j"/></body></worldbody>'
        '<actuator><position joint="j" kp="4" dampratio="0.7"/></actuator></mujoco>'
    )
    assert tree.section("actuator").children[0]["biasprm"][:3] == (0.0, -4.0, 0.7)
