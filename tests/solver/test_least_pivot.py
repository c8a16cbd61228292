"""Pivots of stiff problems whose Hessian has more digits than numbers do."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
from solver.test_rank_one import factored

SIZE = 9


def solve(d: SimpleNamespace, b: np.ndarray) -> np.ndarray:
    """H^-1 b with the factor of `factor_dense`, as `solve_dense` computes it."""
    n, x = len(b), b.copy()
    L = d.work.L.reshape(n, n)
    for i in range(n - 1, -1, -1):
        x[i] *= L[i, i]
        x[:i] -= x[i] * L[i, :i]
    for i in range(n):
        x[i] -= (L[i, :i] @ x[:i]) * L[i, i]
    return x


def stiff(seed: int, weight: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """An inertia matrix, its pivots from the last dof to the first, and a Hessian with two stiff rows."""
    rng = np.random.default_rng(seed)
    factor = rng.normal(size=(SIZE, SIZE)) + 2.0 * np.eye(SIZE)
    inertia = factor.T @ factor
    pivots = np.linalg.cholesky(inertia[::-1, ::-1]).diagonal()[::-1] ** 2
    rows = np.where(np.arange(SIZE) < 4, 0.0, rng.normal(size=(2, SIZE)))
    return inertia, pivots, inertia + weight * rows.T @ rows


@pytest.mark.parametrize("weight", [1e15, 1e16, 1e17, 1e19])
def test_rows_make_no_direction_longer(weight: float) -> None:
    """H >= M, so b' H^-1 b is at most b' M^-1 b, also where elimination leaves no digit."""
    right = np.random.default_rng(0).normal(size=(20, SIZE))
    for seed in range(30):
        inertia, pivots, hessian = stiff(seed, weight)
        d = factored(hessian, pivots)
        most = np.array([b @ np.linalg.solve(inertia, b) for b in right])
        assert (np.abs([b @ solve(d, b) for b in right]) < 20.0 * most).all()


def test_sound_matrices_keep_their_factor() -> None:
    """Where no digits are lost, the bounds change no bit."""
    for seed in range(10):
        inertia, pivots, hessian = stiff(seed, 1e3)
        assert (factored(hessian, pivots).work.L == factored(hessian).work.L).all()
        assert (factored(inertia, pivots).work.L == factored(inertia).work.L).all()
