"""Tables of flexes against slow, obvious ones."""

import numpy as np
import pytest
from soft.flex_models import edge_models

import cardan
from cardan.model.sparsity import BOTH, FIRST, SECOND, edge_colind, edge_rowadr, edge_side, edge_threes

MODELS = {name: text for name, text in edge_models() if "Euler" in name}


def chain(m: cardan.MjModel, body: int) -> list[int]:
    """Dofs that move a body."""
    dofs: list[int] = []
    while body:
        dofs += range(m.body_dofadr[body], m.body_dofadr[body] + m.body_dofnum[body])
        body = m.body_parentid[body]
    return sorted(dofs)


def rows(m: cardan.MjModel) -> list[dict[int, int]]:
    """For each edge, the dofs that move its vertices, and which they move."""
    found = []
    for flex in range(m.nflex):
        for edge in range(m.flex_edgeadr[flex], m.flex_edgeadr[flex] + m.flex_edgenum[flex]):
            one, two = (chain(m, m.flex_vertbodyid[m.flex_vertadr[flex] + k]) for k in m.flex_edge[edge])
            sides = dict.fromkeys(one, FIRST) | dict.fromkeys(two, SECOND) | dict.fromkeys({*one} & {*two}, BOTH)
            found.append(dict(sorted(sides.items())))
    return found


def is_in_threes(m: cardan.MjModel, row: dict[int, int]) -> bool:
    """Whether a row is made of chains of three dofs, each of which moves one vertex."""
    blocks = [list(row.items())[k : k + 3] for k in range(0, len(row), 3)]
    for block in blocks:
        dofs, sides = zip(*block, strict=True)
        if dofs != tuple(range(dofs[0], dofs[0] + 3)) or len(set(sides)) > 1 or sides[0] == BOTH:
            return False
        if [m.dof_parentid[dof] for dof in dofs[1:]] != list(dofs[:2]):
            return False
    return len({block[0][1] for block in blocks}) == len(blocks) > 0


@pytest.mark.parametrize("name", MODELS)
def test_rows_of_edges(name: str) -> None:
    m = cardan.MjModel.from_xml_string(MODELS[name])
    expected, adr = rows(m), edge_rowadr(m)
    np.testing.assert_array_equal(np.diff(adr), [len(row) for row in expected])
    np.testing.assert_array_equal(edge_colind(m), [dof for row in expected for dof in row])
    np.testing.assert_array_equal(edge_side(m), [side for row in expected for side in row.values()])
    slides = m.jnt_type[m.dof_jntid] == cardan.mjtJoint.mjJNT_SLIDE
    threes = [is_in_threes(m, row) * (2 if all(slides[list(row)]) else 1) for row in expected]
    np.testing.assert_array_equal(edge_threes(m), threes)


def test_there_are_edges_of_each_kind() -> None:
    kinds = {kind for text in MODELS.values() for kind in edge_threes(cardan.MjModel.from_xml_string(text)).tolist()}
    assert kinds == {0, 1, 2}
