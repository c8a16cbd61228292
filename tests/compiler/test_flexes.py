"""Flexes: broken and absurd elements are refused, with the place and the reason; invariants of what is compiled."""

from __future__ import annotations

import numpy as np
import pytest

import cardan
from cardan.api.loading import load_string
from cardan.errors import MjcfError

BODIES = "".join(
    f'<body name="{name}" pos="{x} 0 {x * x}"><joint/><geom size=".1"/></body>' for x, name in enumerate("abcd")
)


def model(flex: str, rest: str = "") -> str:
    """A model with four bodies and a flex."""
    return f"<mujoco><worldbody>{BODIES}</worldbody><deformable>{flex}</deformable>{rest}</mujoco>"


@pytest.mark.parametrize(
    ("flex", "words"),
    [
        ('<flex element="0 1"/>', "<flex> body: required attribute missing"),
        ('<flex body="a b"/>', "<flex> element: required attribute missing"),
        ('<flex dim="1" body="" element="0 1"/>', "body: at least one body must be named"),
        ('<flex dim="1" body="a bb" element="0 1"/>', "body: there is no body named 'bb'; did you mean 'b'"),
        ('<flex dim="0" body="a b" element="0 1"/>', "dim: must be 1, 2 or 3, found 0"),
        ('<flex dim="2" body="a b" element="0 1 1"/>', "a flex of dimension 2 needs at least 3 vertices, found 2"),
        ('<flex dim="1" body="a b" element="0 1 0"/>', "elements have 2 vertices each: expected a multiple of that"),
        ('<flex dim="1" body="a b" element="0 2"/>', "element 0: vertices are 0 to 1, found 2"),
        ('<flex dim="1" body="a b" element="0 1 1 -1"/>', "element 1: vertices are 0 to 1, found -1"),
        ('<flex dim="1" body="a b" element="0 1 1 1"/>', "element 1 names a vertex twice"),
        ('<flex dim="1" body="a b c" vertex="0 0 0 1 1 1" element="0 1"/>', "found 3 bodies for 2 vertices"),
        (
            '<flex dim="1" body="a b" vertex="0 0 0 1" element="0 1"/>',
            "vertex: the number of values must be a multiple of 3",
        ),
        ('<flex dim="1" body="a b" texcoord="0 0 0" element="0 1"/>', "texcoord: the number of values must be"),
        ('<flex dim="1" body="a b" texcoord="0 0" element="0 1"/>', "texcoord: expected two numbers for each vertex"),
        (
            '<flex dim="2" body="a b c" element="0 1 2"><edge stiffness="1"/></flex>',
            "springs of edges are only for dim 1",
        ),
        ('<flex name="f" dim="1" body="a b" element="0 1"/>' * 2, "repeated name 'f'"),
        ('<flex dim="1" body="a b" element="0 1" material="m"/>', "there is no material named 'm'"),
        ('<flex dim="1" body="a b" element="0 1"><contact selfcollide="no"/></flex>', "<contact> selfcollide"),
    ],
)
def test_bad_input(flex: str, words: str) -> None:
    with pytest.raises(MjcfError) as caught:
        load_string(model(flex))
    assert words in str(caught.value), caught.value


def test_constraints_need_edges_that_can_change() -> None:
    flex = '<flex name="f" dim="1" body="a" vertex="0 0 0 1 1 1" element="0 1"/>'
    with pytest.raises(MjcfError, match="all vertices of this flex are on one body"):
        load_string(model(flex, '<equality><flex flex="f"/></equality>'))
    with pytest.raises(MjcfError, match="there is no flex named 'g'"):
        load_string(model(flex, '<equality><flex flex="g"/></equality>'))


def test_texture_coordinates_are_kept() -> None:
    m = load_string(model('<flex dim="1" body="a b" texcoord="0 1 0.5 0.25" element="0 1"/>'))
    assert m.flex_texcoord.tolist() == [[0.0, 1.0], [0.5, 0.25]]
    assert m.flex_texcoordadr.tolist() == [0]


def test_world_positions_follow_the_bodies() -> None:
    m = load_string(model('<flex dim="1" body="b c" vertex="1 2 3 4 5 6" element="0 1"/>'))
    assert m.flex_xvert0.tolist() == [[2.0, 2.0, 4.0], [6.0, 5.0, 10.0]]
    assert m.flexedge_length0[0] == pytest.approx(np.sqrt(16 + 9 + 36))


@pytest.mark.parametrize("dim", [1, 2, 3])
def test_topology_of_random_flexes(dim: int) -> None:
    rng = np.random.default_rng(dim)
    count = 12
    elem = np.array([rng.choice(count, dim + 1, replace=False) for _ in range(20)])
    vertex = " ".join(map(repr, rng.uniform(-1, 1, 3 * count).tolist()))
    flex = f'<flex dim="{dim}" body="a" vertex="{vertex}" element="{" ".join(map(str, elem.ravel()))}"/>'
    m = load_string(model(flex))
    rows = [set(row) for row in m.flex_elem.reshape(-1, dim + 1).tolist()]
    assert rows == [set(row) for row in elem.tolist()]
    # every pair of vertices of an element is one edge, and there are no others
    pairs = {(i, j) for row in rows for i in row for j in row if i < j}
    assert sorted(pairs) == sorted(map(tuple, m.flex_edge.tolist()))
    # fragments of the shell belong to one element
    for fragment in m.flex_shell.reshape(-1, dim).tolist():
        assert sum(set(fragment) <= row for row in rows) == 1
    # leaves of the tree are the elements that can collide, each once
    leaves = m.flex_bvhadr[0] + np.arange(m.flex_bvhnum[0])
    found = m.bvh_nodeid[leaves][m.bvh_nodeid[leaves] >= 0]
    active = np.flatnonzero(m.flex_elemlayer < 1) if dim == 3 else np.arange(len(rows))
    assert np.array_equal(np.sort(found), active)


def test_solids_have_one_orientation() -> None:
    vertex = "0 0 0 1 0 0 0 1 0 0 0 1"
    for element in ("0 1 2 3", "0 2 1 3", "3 2 1 0"):
        m = load_string(model(f'<flex dim="3" body="a" vertex="{vertex}" element="{element}"/>'))
        corner = m.flex_vert[m.flex_elem]
        assert np.linalg.det(corner[1:] - corner[0]) < 0.0


def test_discarded_visuals_keep_what_flexes_show() -> None:
    material = '<asset><material name="silk"/><material name="none"/></asset><compiler discardvisual="true"/>'
    m = load_string(model('<flex dim="1" body="a b" element="0 1" material="silk"/>', material))
    assert (m.nmat, m.flex_matid[0]) == (1, 0)


def test_new_data_takes_no_room_for_what_is_not_used() -> None:
    cloth = '<flexcomp name="f" count="30 30 1"/>'
    m = cardan.MjModel.from_xml_string(f"<mujoco><worldbody>{cloth}</worldbody></mujoco>")
    assert cardan.MjData(m).flexedge_J.shape == (m.nflexedge, m.nv)
