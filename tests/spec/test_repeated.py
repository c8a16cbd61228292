"""Elements that repeat a pattern: others can't tell them from elements that were written one by one."""

from __future__ import annotations

import pytest

import cardan
from cardan.errors import MjcfError
from cardan.mjcf.reader import read_string
from cardan.spec.repeated import OWN, Repeated, repeated
from cardan.spec.tree import ModelTree

SHEET = """
<mujoco>
  <worldbody>
    <composite type="particle" count="3 3 1" spacing=".1" prefix="p"><geom size=".02"/></composite>
  </worldbody>
  {more}
</mujoco>
"""


def _bodies(count: int = 3) -> tuple[ModelTree, list[Repeated]]:
    """A tree with bodies that have a geom and a named site each; radii and names differ."""
    tree = ModelTree()
    model = tree.worldbody.add("body", name="b0", pos=(0.0, 0.0, 0.0))
    model.add("geom", size=(0.1, 0.0, 0.0))
    model.add("site", name="s0")
    blanks = (OWN, "name"), (0, "size"), (1, "name")
    made = repeated(model, blanks, [(f"b{i}", (0.1 + i, 0.0, 0.0), f"s{i}") for i in range(count)])
    tree.worldbody.children[:] = made
    tree.changed()
    return tree, [one for one in made if isinstance(one, Repeated)]


def test_content_is_made_when_asked_for() -> None:
    """Attributes and children follow from the pattern and the values of the blanks, and belong to the element alone."""
    _, bodies = _bodies()
    second = bodies[1]
    assert second.pattern is not None
    assert (second.name, second.given("name"), second.given("pos")) == ("b1", "b1", (0.0, 0.0, 0.0))
    assert second.pattern is not None  # still nobody looked inside
    assert second.attributes == {"name": "b1", "pos": (0.0, 0.0, 0.0)}
    assert [child.attributes for child in second.children] == [{"size": (1.1, 0.0, 0.0)}, {"name": "s1"}]
    assert all(child.parent is second for child in second.children)
    assert second.pattern is None
    second.children[0]["size"] = (5.0, 0.0, 0.0)
    assert bodies[2].children[0].attributes["size"] == (2.1, 0.0, 0.0)
    assert (second.name, second.given("mass")) == ("b1", None)


def test_other_names_are_no_attributes() -> None:
    """Only attributes and children are made."""
    _, bodies = _bodies()
    with pytest.raises(AttributeError, match="'Repeated' has no 'colour' here"):
        _ = bodies[0].colour


def test_names_inside_are_found() -> None:
    """A tree finds what is inside repeated elements by its name."""
    tree, bodies = _bodies()
    rows, repeats = tree.by_row()
    assert tree.take_names(rows, repeats) is not None
    assert tree.find("body", "b2") is bodies[2]
    assert bodies[2].pattern is not None
    site = tree.find("site", "s2")
    assert site is bodies[2].children[1]


def test_tree_rests_and_rises() -> None:
    """A tree that was laid down and taken up again is whole, models of patterns included."""
    tree, bodies = _bodies()
    first = bodies[0]
    first.attributes["pos"] = (1.0, 0.0, 0.0)
    tree.lay_down()
    with pytest.raises(AttributeError):
        _ = bodies[1].tree
    tree.take_up()
    assert bodies[1].parent is tree.worldbody
    assert bodies[1].children[1].tree is tree
    assert first.children[0].parent is first


def test_repeated_names_are_refused() -> None:
    """A name that is there twice is an error, whether both are repeated or only one is."""
    tree, _ = _bodies()
    tree.worldbody.add("site", name="s1")
    assert tree.take_names(*tree.by_row()) is None
    with pytest.raises(MjcfError, match="repeated name 's1'"):
        tree.names("site")
    tree, bodies = _bodies()
    bodies[1].values = ("b1", (1.0, 0.0, 0.0), "s0")
    assert tree.take_names(*tree.by_row()) is None


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ('<contact><exclude body1="pB0_0_0" body2="pB9"/></contact>', "there is no body named 'pB9'"),
        (
            '<tendon><spatial name="pT0_1"><site site="pS0"/><site site="pS4"/></spatial></tendon>',
            "repeated name 'pT0_1'",
        ),
        ('<sensor><framepos objtype="site" objname="pS9"/></sensor>', "there is no site named 'pS9'"),
    ],
)
def test_messages_are_about_the_elements(more: str, message: str) -> None:
    """Mistakes about elements of a composite are told as of any other."""
    with pytest.raises(MjcfError, match=message):
        read_string(SHEET.format(more=more))


def test_editing_a_repeated_body() -> None:
    """A program that edits one body of a sheet changes that body alone, and what it doesn't touch compiles the same."""
    spec = cardan.MjSpec.from_string(SHEET.format(more=""))
    before = spec.compile()
    body = next(body for body in spec.bodies if body.name == "pB1_1_0")
    body.pos = (1.0, 2.0, 3.0)
    body.geoms[0].size = (0.05, 0.0, 0.0)
    after = spec.compile()
    moved = cardan.mj_name2id(after, cardan.mjtObj.mjOBJ_BODY, "pB1_1_0")
    changed = (after.geom_size != before.geom_size).any(axis=1)
    assert tuple(after.body_pos[moved]) == (1.0, 2.0, 3.0)
    assert [int(after.geom_bodyid[i]) for i in changed.nonzero()[0]] == [moved]
    assert (after.tendon_rgba == before.tendon_rgba).all()
