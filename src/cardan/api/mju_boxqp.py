"""Box-constrained quadratic programs by projected Newton steps (Tassa, Mansard and Todorov 2014, section III.B).

In each iteration, a variable at a bound is held if the cost would decrease outside the box. A Newton step is computed
for the other variables. Then a line search with Armijo's rule shortens the step; its points are clipped to the box.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from cardan.api.arguments import matrix, require, target_matrix, target_vector, vector_of
from cardan.errors import FatalError

_ITERATIONS = 100
_GRADIENT = 1e-16  # squared gradient of the free variables below which it is taken as zero
_BACKTRACK = 0.5
_SHORTEST = 1e-22
_ARMIJO = 0.1
_EXTRA = 7  # the C library requires n (n + 7) numbers in R


def _search(
    h: np.ndarray, g: np.ndarray, x: np.ndarray, step: np.ndarray, gradient: np.ndarray, box: tuple[Any, Any]
) -> np.ndarray | None:
    """Return a point along `step`, clipped to the box, that satisfies Armijo's rule; None if no point does."""
    cost = 0.5 * x @ h @ x + g @ x
    length = 1.0
    while length > _SHORTEST:
        point = np.clip(x + length * step, *box)
        gain = gradient @ (x - point)
        if cost - (0.5 * point @ h @ point + g @ point) >= _ARMIJO * gain and gain > 0:
            return point
        length *= _BACKTRACK
    return None


def _solve(
    h: np.ndarray, g: np.ndarray, x: np.ndarray, box: tuple[Any, Any]
) -> tuple[np.ndarray, np.ndarray, np.ndarray | None]:
    """Return the solution, the ids of the free variables, and the Cholesky factor of their block of H.

    The factor is None if the block isn't positive definite.
    """
    x = np.clip(x, *box)
    factor, free = np.zeros((0, 0)), np.zeros(0, np.intp)
    for iteration in range(_ITERATIONS):
        gradient = h @ x + g
        held = ((x <= box[0]) & (gradient > 0)) | ((x >= box[1]) & (gradient < 0))
        now = np.flatnonzero(~held)
        if iteration == 0 or not np.array_equal(now, free):
            free = now
            try:
                factor = np.linalg.cholesky(h[np.ix_(free, free)])
            except np.linalg.LinAlgError:
                return x, free, None
        if gradient[free] @ gradient[free] < _GRADIENT**2 or free.size == 0:
            break
        step = np.zeros_like(x)
        step[free] = -np.linalg.solve(factor.T, np.linalg.solve(factor, gradient[free]))
        point = _search(h, g, x, step, gradient, box)
        if point is None:
            break
        x = point
    return x, free, factor


def mju_boxQP(res: np.ndarray, R: np.ndarray, index: Any, H: Any, g: Any, lower: Any, upper: Any) -> int:
    """Minimise 0.5 x'H x + x'g within lower <= x <= upper.

    Args:
        res: solution (n,), written; its initial value is the starting point.
        R: scratch memory for n (n + 7) numbers; the first nfree * nfree become the Cholesky factor of the free
            variables' block of H, row by row, lower triangle.
        index: ids of the free variables (n,), written; or None.
        H: symmetric positive definite matrix (n, n), of which the lower triangle is read.
        g: linear term (n,).
        lower: lower bounds (n,), or None.
        upper: upper bounds (n,), or None.

    Returns:
        nfree, the number of variables that are not held at a bound; -1 if H isn't positive definite.

    Raises:
        FatalError: a lower bound is not below the upper bound.
    """
    out = target_vector("res", res)
    n = out.size
    room, h = target_matrix("R", R).reshape(-1), matrix("H", H)
    require(room.size == n * (n + _EXTRA), "size of R should be n*(n+7)")
    require(h.shape == (n, n), "H should be of shape (n, n)")
    linear = vector_of("g", g, n, "n")
    low = np.full(n, -np.inf) if lower is None else vector_of("lower", lower, n, "n")
    high = np.full(n, np.inf) if upper is None else vector_of("upper", upper, n, "n")
    ids = None if index is None else target_vector("index", index, np.int32)
    require(ids is None or ids.size == n, "size of index should equal n")
    if not (low < high).all():
        raise FatalError("mju_boxQP: upper bounds must be strictly larger than lower bounds")
    start = np.where(np.isfinite(out), out, 0.0)
    symmetric = np.tril(h) + np.tril(h, -1).T
    out[:], free, factor = _solve(symmetric, linear, start, (low, high))
    if factor is None:
        return -1
    block = room[: free.size**2].reshape(free.size, free.size)
    rows, columns = np.tril_indices(free.size)
    block[rows, columns] = factor[rows, columns]
    if ids is not None:
        ids[: free.size] = free
    return int(free.size)


__all__ = ["mju_boxQP"]
