"""The macro ``flexcomp``: what it expands to, and what it refuses."""

from __future__ import annotations

import numpy as np
import pytest

from cardan.errors import MjcfError
from cardan.mjcf.reader import read_string
from cardan.spec.tree import ModelTree


def expanded(content: str) -> ModelTree:
    """The tree of a model with this content of its world."""
    return read_string(f"<mujoco><worldbody>{content}</worldbody></mujoco>")


def test_expands_to_bodies_and_a_flex() -> None:
    tree = expanded('<flexcomp name="f" dim="1" count="3 1 1" mass="3" spacing="0.2 0.2 0.2"><pin id="0"/></flexcomp>')
    bodies = list(tree.worldbody.all("body"))
    assert [body.name for body in bodies] == ["f_1", "f_2"]
    assert [[child.tag for child in body.children] for body in bodies] == [["inertial", "joint", "joint", "joint"]] * 2
    assert [body["pos"][0] for body in bodies] == pytest.approx([0.0, 0.2])
    (flex,) = tree.section("deformable").children
    assert flex["body"] == "world f_1 f_2"
    assert flex["vertex"] == pytest.approx([-0.2] + 8 * [0.0])
    assert flex["element"] == (0, 1, 1, 2)
    assert not tree.section("equality").children
    assert tree.worldbody.child("flexcomp") is None


def test_frames_move_free_and_pinned_points() -> None:
    comp = '<flexcomp name="f" dim="1" count="2 1 1" spacing="2 2 2" pos="0 0 1"><pin id="0"/></flexcomp>'
    tree = expanded(f'<frame pos="5 0 0" euler="0 0 90">{comp}</frame>')
    (flex,) = tree.section("deformable").children
    assert flex["vertex"][:3] == pytest.approx([5.0, -1.0, 1.0])
    (frame,) = tree.worldbody.children
    assert frame.children[0]["pos"] == pytest.approx((1.0, 0.0, 1.0))


def test_copies_of_flexcomps_have_names_of_their_own() -> None:
    tree = expanded('<replicate count="2" offset="0 0 1"><flexcomp name="f" dim="1" count="2 1 1"/></replicate>')
    assert [flex.name for flex in tree.section("deformable").children] == ["f0", "f1"]
    assert tree.names("body").keys() >= {"f0_0", "f0_1", "f1_0", "f1_1"}


def test_points_of_no_element_are_left_out() -> None:
    tree = expanded('<flexcomp name="f" type="direct" dim="1" mass="4" point="0 0 0 1 0 0 2 0 0 3 0 0" element="1 3"/>')
    assert [body.name for body in tree.worldbody.children] == ["f_1", "f_3"]
    (flex,) = tree.section("deformable").children
    assert flex["element"] == (0, 1)
    assert tree.worldbody.children[0].children[0]["mass"] == 1.0


@pytest.mark.parametrize("count", [(2, 2, 2), (3, 4, 5), (5, 2, 3)])
@pytest.mark.parametrize("kind", ["box", "cylinder", "ellipsoid"])
def test_surfaces_are_closed(kind: str, count: tuple[int, int, int]) -> None:
    text = " ".join(map(str, count))
    tree = expanded(f'<flexcomp name="f" type="{kind}" dim="3" count="{text}" rigid="true"/>')
    (flex,) = tree.section("deformable").children
    vertex, elem = np.reshape(flex["vertex"], (-1, 3)), np.reshape(flex["element"], (-1, 4))
    assert len(vertex) == 1 + np.prod(count) - np.prod(np.maximum(np.array(count) - 2, 0))
    # every edge of the surface belongs to two triangles, in opposite directions
    edges = np.concatenate([elem[:, [1, 2]], elem[:, [2, 3]], elem[:, [3, 1]]])
    assert {tuple(edge) for edge in edges.tolist()} == {tuple(edge[::-1]) for edge in edges.tolist()}
    assert len(np.unique(edges, axis=0)) == len(edges)
    sides = vertex[elem[:, 1:]] - vertex[elem[:, :1]]
    assert (np.linalg.det(sides) < 0.0).all() or (np.linalg.det(sides) > 0.0).all()


@pytest.mark.parametrize(
    ("attributes", "content", "words"),
    [
        ('dim="4"', "", "<flexcomp name='f'> dim: must be 1, 2 or 3, found 4"),
        ('mass="0"', "", "mass: must be positive and finite, found 0"),
        ('inertiabox="-1"', "", "inertiabox: must be positive"),
        ('mass="inf"', "", "mass: must be positive and finite, found inf"),
        ('pos="0 inf 0"', "", "the position of point 0 is not finite"),
        ('scale="1 0 1"', "", "scale: scales must be positive, found 0"),
        ('count="3 1 1"', "", "count: a grid of dimension 2 needs 2 points along each axis, found 1"),
        ('count="0 3 1"', "", "count: numbers of points must be at least 1, found 0"),
        ('count="3 3"', "", "count: expected 3 integers"),
        ('count="9999 9999 1"', "", "count: more than"),
        (
            'count="3 3 1" spacing=".009 1 1"',
            "",
            "spacing: points must be at least two radii and the margin apart",
        ),
        ('type="direct"', "", "point: required attribute missing (type direct needs it)"),
        ('type="direct" point="0 0"', "", "element: required attribute missing (type direct needs it)"),
        (
            'type="direct" point="0 0" element="0 1 2"',
            "",
            "point: the number of values must be a multiple of 3",
        ),
        ('type="direct" point="0 0 0" element="0 1"', "", "element: the number of values must be a multiple of 3"),
        ('type="direct" point="0 0 0" element="0 1 2"', "", "element 0 must name points 0 to 0, found 1"),
        ('type="mesh"', "", "file: required attribute missing (type mesh needs it)"),
        ('type="gmsh"', "", "file: required attribute missing (type gmsh needs it)"),
        ('type="mesh" file="nowhere.obj"', "", "file: file 'nowhere.obj' not found; tried"),
        ('type="mesh" file="nowhere.obj" dim="3"', "", "origin: required attribute missing"),
        ('type="mesh" file="a.xyz"', "", "file: file 'a.xyz' not found"),
        ('type="box" dim="3" count="2 2 1"', "", "count: numbers of points must be at least 2, found 1"),
        ('type="disc" count="1 2 1"', "", "count: a disc needs 2 points along each axis, found 1"),
        ('count="3 3 1" texcoord="0 1 2"', "", "texcoord: expected two numbers for each point, found 3 for 9 points"),
        ('count="3 3 1"', '<contact margin=".1"/>', "two radii and the margin apart (0.11), found 0.02"),
        ('count="3 3 1"', '<pin id="9"/>', "<pin> id: points are 0 to 8, found 9"),
        ('count="3 3 1"', '<pin id="-1"/>', "<pin> id: points are 0 to 8, found -1"),
        ('count="3 3 1"', '<pin range="0 1 2"/>', "<pin> range: the number of values must be a multiple of 2, found 3"),
        ('count="3 3 1"', '<pin range="0 9"/>', "<pin> range: points are 0 to 8, found 9"),
        ('count="3 3 1"', '<pin grid="1"/>', "<pin> grid: the number of values must be a multiple of 2, found 1"),
        ('count="3 3 1"', '<pin grid="1 3"/>', "<pin> grid: the grid has points 0 to 2 along axis 1, found 3"),
        ('count="3 3 1"', '<pin gridrange="0 0 3 1"/>', "the grid has points 0 to 2 along axis 0, found 3"),
        ('count="3 1 1" dim="1"', '<pin grid="1"/>', "grid coordinates are for flexcomps of type grid with dim 2 or 3"),
        ('count="3 3 3" dim="3" type="box"', '<pin grid="1 1 1"/>', "this one is of type box and dim 3"),
    ],
)
def test_bad_input(attributes: str, content: str, words: str) -> None:
    with pytest.raises(MjcfError) as caught:
        expanded(f'<flexcomp name="f" {attributes}>{content}</flexcomp>')
    assert words in str(caught.value), caught.value
    assert str(caught.value).startswith("XML string, line 1:")


@pytest.mark.parametrize(
    ("pin", "words"),
    [
        ('id="9 -5"', "<pin> id: points are 0 to 8, found -5; ignored, all points of a rigid flexcomp are pinned"),
        ('range="3 9"', "<pin> range: points are 0 to 8, found 9; ignored"),
        ('grid="0 9"', "<pin> grid: the grid has points 0 to 2 along axis 1, found 9; ignored"),
        ('gridrange="0 0 9 9"', "<pin> gridrange: the grid has points 0 to 2 along axis 0, found 9; ignored"),
    ],
)
def test_points_that_are_not_there_are_ignored_where_all_are_pinned(pin: str, words: str) -> None:
    comp = f'<flexcomp name="f" count="3 3 1" rigid="true"><pin {pin}/></flexcomp>'
    with pytest.warns(UserWarning) as caught:
        assert not list(expanded(comp).worldbody.all("body"))
    assert words in str(caught[0].message)


def test_rows_of_pins_are_whole_in_rigid_flexcomps_too() -> None:
    with pytest.raises(MjcfError, match="a multiple of 2, found 3"):
        expanded('<flexcomp name="f" count="3 3 1" rigid="true"><pin range="0 1 2"/></flexcomp>')


def test_the_body_around_needs_a_name() -> None:
    with pytest.raises(MjcfError, match="needs a name"):
        expanded('<body><flexcomp name="f" count="2 2 1"/></body>')
