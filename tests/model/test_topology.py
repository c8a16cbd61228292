"""Tables of the kinematic tree: rows of patterns, and models whose arrays contradict one another."""

from __future__ import annotations

import numpy as np
import pytest

from cardan import MjModel

TREE = """<mujoco><worldbody>
 <body><freejoint/><geom size=".1"/>
  <body pos="1 0 0"><joint/><geom size=".1"/><geom size=".1" pos=".3 0 0"/></body>
  <body pos="0 1 0"><joint axis="0 1 0"/><joint axis="1 0 0"/><geom size=".1"/><body><geom size=".1"/></body></body>
 </body>
 <body pos="3 0 0"><joint type="ball"/><geom size=".1"/></body>
</worldbody></mujoco>"""


@pytest.fixture
def tree() -> MjModel:
    return MjModel.from_xml_string(TREE)


def chain(m: MjModel, dof: int) -> list[int]:
    """The dof and its ancestors, towards the root."""
    return [] if dof < 0 else [dof, *chain(m, int(m.dof_parentid[dof]))]


def row(m: MjModel, name: str, number: int) -> list[int]:
    """One row of a pattern."""
    adr, columns = (m._memory.arrays[f"aux.{name}_{part}"] for part in ("rowadr", "colind"))
    return columns[adr[number] : adr[number + 1]].tolist()


def test_rows_of_the_inertia_are_chains(tree: MjModel) -> None:
    for dof in range(tree.nv):
        assert row(tree, "M", dof) == chain(tree, dof)


def test_rows_of_the_derivatives_are_symmetric(tree: MjModel) -> None:
    for dof in range(tree.nv):
        related = [other for other in range(tree.nv) if dof in chain(tree, other) or other in chain(tree, dof)]
        assert row(tree, "D", dof) == related


def test_rows_of_bodies_hold_what_is_above_and_below(tree: MjModel) -> None:
    last = tree._memory.arrays["aux.body_lastdof"]
    assert row(tree, "B", 0) == list(range(tree.nv))
    assert row(tree, "B", 2) == [0, 1, 2, 3, 4, 5, 6]
    assert row(tree, "B", 4) == [0, 1, 2, 3, 4, 5, 7, 8]
    np.testing.assert_array_equal(last, [-1, 5, 6, 8, 8, 11])


def test_trees_of_boxes_are_linked(tree: MjModel) -> None:
    following = tree._memory.arrays["aux.bvh_next"]
    start, number = int(tree.body_bvhadr[2]), int(tree.body_bvhnum[2])
    assert number == 3
    assert following[start] == start + 3
    assert following[start + 1] == start + 2


@pytest.mark.parametrize(
    ("name", "index", "value", "message"),
    [
        ("body_parentid", 2, 3, r"body_parentid\[2\] is 3: a parent must come before its children"),
        ("body_parentid", 2, -1, r"body_parentid\[2\] is -1"),
        ("dof_parentid", 1, 1, r"dof_parentid\[1\] is 1: a parent must come before its children"),
        ("dof_parentid", 8, -1, "dof_Madr, nM and nD don't fit dof_parentid"),
        ("dof_Madr", 3, 0, "dof_Madr, nM and nD don't fit dof_parentid"),
        ("body_dofnum", 2, 9, "degrees of freedom are not numbered"),
        ("body_dofadr", 2, 7, "degrees of freedom are not numbered"),
    ],
)
def test_contradictions_are_refused(tree: MjModel, name: str, index: int, value: int, message: str) -> None:
    getattr(tree, name)[index] = value
    with pytest.raises(ValueError, match=message):
        tree.finalize()
