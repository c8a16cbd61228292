"""The order of elimination of sparse Newton matrices: little fill whatever the numbers of bodies, the same optimum."""

from __future__ import annotations

from types import SimpleNamespace

import mujoco
import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

import cardan
from cardan.solver.ordering import absorb, eliminate_trees, highest_bit, natural_links, number_of_bits

BOXES = 30
COUNT = 40


def table_xml(last: bool) -> str:
    """Boxes on a free slab, which is the first or the last body."""
    slab = '<body pos="0 0 .05"><freejoint/><geom type="box" size="1 1 .05" mass="50"/></body>'
    boxes = "".join(
        f'<body pos="{0.3 * (k % 6) - 0.75} {0.3 * (k // 6) - 0.6} .1995"><freejoint/>'
        f'<geom type="box" size=".1 .1 .1"/></body>'
        for k in range(BOXES)
    )
    return f"""<mujoco><option jacobian="sparse" cone="pyramidal"/><worldbody><geom type="plane" size="5 5 .1"/>
{boxes + slab if last else slab + boxes}</worldbody></mujoco>"""


def links_of(pairs: np.ndarray) -> SimpleNamespace:
    """Data with the links of a symmetric matrix as bits, and room for a copy."""
    words = (COUNT + 31) // 32
    bits = np.zeros(2 * COUNT * words, np.int64)
    for a, b in np.argwhere(pairs):
        bits[a * words + b // 32] |= 1 << int(b % 32)
    work = SimpleNamespace(L_col=bits, mark=np.zeros(COUNT, np.int64), row_head=np.zeros(COUNT, np.int64))
    return SimpleNamespace(work=work)


def eliminated(pairs: np.ndarray, order: list[int]) -> int:
    """Links of the factor, by elimination of a full matrix."""
    left, links = pairs.copy(), 0
    for a in order:
        near = np.flatnonzero(left[a])
        links += len(near)
        left[np.ix_(near, near)] = True
        left[a], left[:, a] = False, False
        np.fill_diagonal(left, False)
    return links


@settings(max_examples=20, deadline=None, derandomize=True)
@given(st.integers(0, 2**20), st.floats(0.01, 0.2))
def test_links_of_the_factor(seed: int, density: float):
    pairs = np.triu(np.random.default_rng(seed).random((COUNT, COUNT)) < density, 1)
    pairs = pairs | pairs.T
    d = links_of(pairs)
    assert natural_links(d, COUNT, 2) == eliminated(pairs, list(range(COUNT - 1, -1, -1)))
    left = pairs.copy()
    eliminate_trees(d, COUNT, 2)
    order = [int(a) for a in d.work.row_head]
    assert sorted(order) == list(range(COUNT))
    for k, a in enumerate(order):
        degrees = left.sum(axis=1)
        assert degrees[a] == min(degrees[b] for b in order[k:])
        near = np.flatnonzero(left[a])
        left[np.ix_(near, near)] = True
        left[a], left[:, a] = False, False
        np.fill_diagonal(left, False)


def test_bits():
    for word in (1, 2, 3, 0x80000000, 0xFFFFFFFF, 0x00FF00FF):
        assert number_of_bits(word) == word.bit_count()
        assert highest_bit(word) == word.bit_length() - 1
    d = links_of(np.zeros((COUNT, COUNT), bool))
    d.work.L_col[2 * 35] = 0b1011  # 35 with 0, 1, 3
    d.work.L_col[2 * 3 + 1] = 1 << 3
    absorb(d, 3, 35, 2)
    assert d.work.L_col[2 * 3] == 0b0011
    assert d.work.L_col[2 * 3 + 1] == 0


def test_fill_does_not_depend_on_numbers():
    """A slab that all boxes stand on is eliminated last, whatever its number; forces are the same."""
    found = []
    for last in (False, True):
        m = cardan.MjModel.from_xml_string(table_xml(last))
        d = cardan.MjData(m)
        for _ in range(3):
            cardan.mj_step(m, d)
        ref = mujoco.MjModel.from_xml_string(table_xml(last))
        rd = mujoco.MjData(ref)
        rd.qpos[:], rd.qvel[:], rd.qacc_warmstart[:] = d.qpos, d.qvel, d.qacc_warmstart
        cardan.mj_forward(m, d)
        mujoco.mj_forward(ref, rd)
        assert d.nefc == rd.nefc > 4 * 4 * BOXES
        np.testing.assert_allclose(d.qacc, rd.qacc, atol=1e-6 * max(1.0, float(np.abs(rd.qacc).max())))
        found.append(int(d.solver_nnz[0]))
    assert found[0] == found[1]
    assert found[1] < 40 * m.nv


def test_the_solver_arranges_rows_anew_when_find_islands_did_not():
    """The arrangement of `find_islands` serves one run of a solver, which reorders the dofs of the island."""
    m = cardan.MjModel.from_xml_string(table_xml(last=False), compat="4.0")
    d = cardan.MjData(m)
    cardan.mj_forward(m, d)
    first, islands = d.qacc.copy(), d.efc_island.copy()
    cardan.mj_fwdConstraint(m, d)
    np.testing.assert_array_equal(d.qacc, first)
    cardan.mj_makeConstraint(m, d)
    cardan.mj_referenceConstraint(m, d)
    cardan.mj_fwdConstraint(m, d)
    np.testing.assert_array_equal(d.qacc, first)
    cardan.mj_island(m, d)
    np.testing.assert_array_equal(d.efc_island, islands)
    cardan.mj_fwdConstraint(m, d)
    np.testing.assert_array_equal(d.qacc, first)
