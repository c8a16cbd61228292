"""Values of attributes of many elements, an attribute at a time: the same as each element's own."""

from __future__ import annotations

from cardan.compiler.columns import Resolved
from cardan.mjcf.reader import read_string
from cardan.spec.element import Element

CLASSES = """<mujoco><default><geom size=".1" friction=".5"/><default class="a"><geom rgba="1 0 0 1" size=".2 .3"/>
<joint damping="2"/></default><default class="b"><geom type="box" size=".1 .2 .3" solimp=".8"/></default></default>
<worldbody><geom/><body childclass="a"><freejoint/><geom name="g"/><geom class="b" friction="1 .1"/></body>
<body><joint range="0 1"/><geom type="capsule" size=".4 .5"/><body childclass="b"><joint/><geom size="1"/></body>
<frame childclass="a"><geom solimp=".7 .8"/></frame></body></worldbody></mujoco>"""


def elements_of(text: str, kind: str) -> list[Element]:
    """The elements of a kind of objects, in the order of the text."""
    return [element for element in read_string(text).root.descendants() if element.row.kind == kind]


def test_columns_are_what_each_element_says() -> None:
    geoms = elements_of(CLASSES, "geom")
    resolved = Resolved(geoms)
    assert len(resolved) == len(geoms) == 6
    for name in geoms[0].row.attributes:
        if name not in ("name", "class"):
            assert resolved[name] == [geom[name] for geom in geoms], name
    assert [resolved.one(k)["size"] for k in range(6)] == resolved["size"]


def test_vectors_given_in_part_keep_the_rest_of_the_default() -> None:
    geoms = elements_of(CLASSES, "geom")
    assert Resolved(geoms)["friction"][2] == (1.0, 0.1, 0.0001)
    assert Resolved(geoms)["size"][4] == (1.0, 0.2, 0.3)


def test_what_no_element_and_no_class_gives_is_surely_not_there() -> None:
    geoms = elements_of(CLASSES, "geom")
    resolved = Resolved(geoms)
    assert not resolved.any("fromto")
    assert not resolved.any_but("condim", 3)
    assert resolved.any_but("type", "sphere")
    assert resolved.any("size")


def test_attributes_that_some_elements_do_not_have() -> None:
    joints = elements_of(CLASSES, "joint")
    assert Resolved(joints).get("range", None) == [None, (0.0, 1.0), (0.0, 0.0)]
    assert Resolved(joints).get("nothing", 7) == [7, 7, 7]


def test_no_elements() -> None:
    assert Resolved([])["size"] == []
