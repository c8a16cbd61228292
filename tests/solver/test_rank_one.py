"""Rank-one changes of the Newton factor against factors computed anew."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cardan.solver.dense import factor_dense
from cardan.solver.jacobian import LONE
from cardan.solver.rank_one import change_dense_factor, change_sparse_factor

SIZE = 9


def factored(h: np.ndarray, inertia_pivots: np.ndarray | None = None) -> SimpleNamespace:
    """Data with the factor of a matrix in ``work.L``; the inertia matrix alone has some pivots."""
    n = len(h)
    work = SimpleNamespace(
        H=h.flatten(), L=np.zeros(n * n), J=np.zeros(n), has_cone=0, factor_nnz=0, island_ndof=np.array([n])
    )
    work.row_adr, work.row_nnz = np.zeros(1, int), np.array([n])
    work.island_dof, work.dof_at = np.zeros(1, int), np.arange(n)
    m = SimpleNamespace(aux=SimpleNamespace(M_rowadr=np.arange(n)))
    d = SimpleNamespace(work=work, qLD=np.zeros(n) if inertia_pivots is None else inertia_pivots)
    factor_dense(m, d, 0)
    return d


def sparse_copy(d: SimpleNamespace, n: int) -> SimpleNamespace:
    """The same factor as rows of a sparse one, with true pivots on the diagonal, without the entries that are 0."""
    rows = d.work.L.reshape(n, n)
    pattern = [[k for k in range(i) if rows[i, k] != 0.0] + [i] for i in range(n)]
    values = [[rows[i, k] for k in row[:-1]] + [1.0 / rows[i, i]] for i, row in enumerate(pattern)]
    lengths = [len(row) for row in pattern]
    work = SimpleNamespace(
        L=np.array([x for row in values for x in row]),
        L_col=np.array([k for row in pattern for k in row]),
        L_nnz=np.array(lengths),
        L_adr=np.cumsum([0, *lengths[:-1]]),
        Ldiag_inv=rows.diagonal().copy(),
        dense_row=np.zeros(n),
        row_adr=np.array([0]),
    )
    return SimpleNamespace(work=work)


def random_problem(seed: int) -> tuple[np.ndarray, np.ndarray]:
    """A matrix with the zeros of two chains that meet at the root, and a row along one of them."""
    rng = np.random.default_rng(seed)
    reach = np.zeros((SIZE, SIZE), bool)
    for i in range(SIZE):
        reach[i, i] = reach[i, 0] = True
        reach[i, [k for k in range(i) if k % 2 == i % 2]] = True
    factor = np.where(reach, rng.normal(size=(SIZE, SIZE)), 0.0) + 2 * np.eye(SIZE)
    row = np.where(reach[rng.integers(1, SIZE)], rng.normal(size=SIZE), 0.0)
    return factor.T @ factor, row


@settings(max_examples=50, deadline=None, derandomize=True)
@given(seed=st.integers(0, 2**20), weight=st.floats(0.01, 100.0))
def test_entering_and_leaving(seed: int, weight: float):
    h, row = random_problem(seed)
    expected = factored(h + weight * np.outer(row, row))
    dense, sparse = factored(h), sparse_copy(factored(h), SIZE)
    dense.work.J[:] = row
    columns = np.flatnonzero(row)
    sparse.work.J, sparse.work.J_col, sparse.work.row_nnz = row[columns], columns, np.array([len(columns)])
    assert change_dense_factor(dense, 0, SIZE, weight)
    assert change_sparse_factor(sparse, 0, weight)
    lower = np.tril_indices(SIZE)
    np.testing.assert_allclose(
        dense.work.L.reshape(SIZE, SIZE)[lower], expected.work.L.reshape(SIZE, SIZE)[lower], rtol=1e-9, atol=1e-10
    )
    wanted = sparse_copy(expected, SIZE)
    np.testing.assert_allclose(sparse.work.Ldiag_inv, wanted.work.Ldiag_inv, rtol=1e-9)
    assert not sparse.work.dense_row.any()
    back = sparse.work
    for i in range(SIZE):
        for k in range(back.L_adr[i], back.L_adr[i] + back.L_nnz[i] - 1):
            assert back.L[k] == pytest.approx(expected.work.L[i * SIZE + back.L_col[k]], rel=1e-9, abs=1e-10)


def test_leaving_brings_back_the_factor():
    h, row = random_problem(3)
    d = factored(h)
    before = d.work.L.copy()
    d.work.J[:] = row
    assert change_dense_factor(d, 0, SIZE, 5.0)
    assert change_dense_factor(d, 0, SIZE, -5.0)
    np.testing.assert_allclose(d.work.L, before, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("column", [0, 4, SIZE - 1])
def test_a_row_of_one_entry_is_a_row_of_zeros_else(column: int):
    h, _ = random_problem(4)
    full, lone = factored(h), factored(h)
    full.work.J[column] = 0.7
    lone.work.J, lone.work.J_col = np.array([0.7]), np.array([column])
    lone.work.row_nnz[0] = LONE
    assert change_dense_factor(full, 0, SIZE, 5.0)
    assert change_dense_factor(lone, 0, SIZE, 5.0)
    np.testing.assert_array_equal(lone.work.L, full.work.L)


def test_a_lost_pivot_is_reported():
    h, row = random_problem(3)
    d = factored(h + 1e6 * np.outer(row, row))
    d.work.J[:] = row
    assert not change_dense_factor(d, 0, SIZE, -1e6)
