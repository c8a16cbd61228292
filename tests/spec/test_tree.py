"""The tree built by a program, and the replicate macro."""

from __future__ import annotations

import gc
from weakref import ref

import pytest

from cardan.errors import MjcfError
from cardan.mjcf.reader import read_string
from cardan.spec import ModelTree

mujoco = pytest.importorskip("mujoco")


def test_build_by_program() -> None:
    tree = ModelTree()
    body = tree.worldbody.add("body", name="a", pos=(1.0, 2.0, 3.0))
    geom = body.add("geom", type="box", size=(1.0, 2.0))
    assert geom["size"] == (1.0, 2.0, 0.0) and geom.code("type") == 6
    assert tree.find("body", "a") is body and tree.find("body", "world") is tree.worldbody
    geom["size"] = None
    geom["friction"] = (2.0,)
    assert geom["size"] == (0.0, 0.0, 0.0) and geom["friction"] == (2.0, 0.005, 0.0001)


def test_programs_get_clear_errors() -> None:
    body = ModelTree().worldbody.add("body", name="a")
    with pytest.raises(MjcfError, match="<body name='a'>: <geomm> is not allowed here; did you mean 'geom'"):
        body.add("geomm")
    with pytest.raises(MjcfError, match="<geom> colour: unknown attribute"):
        body.add("geom", colour=1)
    with pytest.raises(MjcfError, match="unknown attribute; did you mean 'pos'"):
        body["posn"] = 1
    body.parent.add("body", name="a")  # type: ignore[union-attr]
    with pytest.raises(MjcfError, match="repeated name 'a'"):
        body.tree.names("body")


def test_frames_are_opened_in_order() -> None:
    tree = read_string(
        '<mujoco><worldbody><geom name="a" size="1"/><frame name="f"><geom name="b" size="1"/><frame name="h">'
        '<body name="c"><geom name="x" size="1"/></body></frame></frame><geom name="d" size="1"/></worldbody></mujoco>'
    )
    found = [(element.name, [frame.name for frame in frames]) for element, frames in tree.worldbody.content()]
    assert found == [("a", []), ("b", ["f"]), ("c", ["f", "h"]), ("d", [])]


ROW = (
    '<replicate count="2" sep="-"><body name="b"><geom name="g" size="1"/><joint name="j"/><joint name="i"/></body>'
    "</replicate>"
)
REPLICATED = [
    ROW,
    '<replicate count="11"><site name="s"/></replicate>',
    '<replicate count="10" sep="_"><site name="s"/></replicate>',
    '<replicate count="1"><geom name="g" size="1"/></replicate>',
    '<replicate count="0"><geom name="g" size="1"/></replicate>',
    '<replicate count="2" sep="-"><replicate count="2" sep="+"><site name="s"/></replicate></replicate>',
    '<geom name="a" size="1"/><replicate count="2"><geom name="b" size="1"/><geom name="c" size="1"/></replicate>'
    '<geom name="d" size="1"/>',
]
RELATED = [
    '<actuator><motor name="x" joint="k"/><motor name="m" joint="j"/><motor name="y" joint="k"/>'
    '<motor name="n" joint="i"/>'
    '<motor name="z" joint="j-1"/></actuator>',
    '<sensor><jointpos name="q" joint="j"/></sensor>',
    '<tendon><fixed name="t"><joint joint="j" coef="1"/><joint joint="i" coef="1"/></fixed></tendon>',
    '<equality><joint name="e" joint1="j" joint2="i"/></equality>',
]
SIZES = {
    "body": "nbody",
    "joint": "njnt",
    "geom": "ngeom",
    "site": "nsite",
    "tendon": "ntendon",
    "actuator": "nu",
    "sensor": "nsensor",
    "equality": "neq",
}
OTHER = '<body><joint name="k"/><geom size="1"/></body>'
XML = [f"<mujoco><worldbody>{part}</worldbody></mujoco>" for part in REPLICATED] + [
    f"<mujoco><worldbody>{ROW}{OTHER}</worldbody>{section}</mujoco>" for section in RELATED
]


@pytest.mark.parametrize("xml", XML)
def test_replicate_names_equal_the_reference(xml: str) -> None:
    model = mujoco.MjModel.from_xml_string(xml)
    tree = read_string(xml)
    for kind, size in SIZES.items():
        number = int(getattr(mujoco.mjtObj, f"mjOBJ_{kind.upper()}"))
        theirs = [mujoco.mj_id2name(model, number, i) for i in range(getattr(model, size))]
        assert list(tree.names(kind)) == [name for name in theirs if name], kind


def test_replicate_poses() -> None:
    tree = read_string(
        '<mujoco><worldbody><replicate count="3" offset="1 0 0" euler="0 0 90"><geom size="1"/></replicate>'
        "</worldbody></mujoco>"
    )
    poses = [frames[0].resolved() for _, frames in tree.worldbody.content("geom")]
    assert [pose["pos"] for pose in poses] == [(0.0, 0.0, 0.0), (1.0, 0.0, 0.0), (2.0, 0.0, 0.0)]
    assert [pose["euler"] for pose in poses] == [(0.0, 0.0, 0.0), (0.0, 0.0, 90.0), (0.0, 0.0, 180.0)]


def test_replicate_twice_with_relations() -> None:
    tree = read_string(
        '<mujoco><worldbody><replicate count="2" sep="-"><replicate count="2" sep="+"><body name="b">'
        '<joint name="j"/></body>'
        '</replicate></replicate></worldbody><actuator><motor name="m" joint="j"/></actuator></mujoco>'
    )
    assert list(tree.names("actuator")) == ["m+0-0", "m+1-0", "m+0-1", "m+1-1"]


def test_a_tree_that_was_laid_down_is_whole_again() -> None:
    xml = "<mujoco><default><default class='a'/></default><worldbody><body><geom size='1'/></body></worldbody></mujoco>"
    tree = read_string(xml)
    before = [(element, element.parent) for element in tree.root.descendants()]
    tree.lay_down()
    assert not hasattr(tree.worldbody, "parent")
    tree.take_up()
    assert [(element, element.parent) for element in tree.root.descendants()] == before
    assert all(element.tree is tree for element in (tree.root, *tree.root.descendants()))
    assert tree.defaults["a"].parent is tree.defaults.main


def test_a_tree_that_was_laid_down_ends_with_its_last_user() -> None:
    tree = read_string("<mujoco><worldbody><body><geom size='1'/></body></worldbody></mujoco>")
    tree.lay_down()
    end = ref(tree)
    gc.disable()
    try:
        del tree
        assert end() is None
    finally:
        gc.enable()
