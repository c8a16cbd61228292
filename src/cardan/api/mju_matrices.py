"""The `mju_*` functions of matrices (spec: programming, utility functions). Results go into `res`; see `arguments`."""

from __future__ import annotations

from typing import Any

import numpy as np

from cardan.api.array_arguments import matrix, require, target_matrix, target_vector, vector


def mju_mulMatVec(res: np.ndarray, mat: Any, vec: Any) -> None:
    """Res = mat vec."""
    out, a, v = target_vector("res", res), matrix("mat", mat), vector("vec", vec)
    require(out.size == a.shape[0], "size of res should equal the number of rows in mat")
    require(v.size == a.shape[1], "size of vec should equal the number of columns in mat")
    out[:] = a @ v


def mju_mulMatTVec(res: np.ndarray, mat: Any, vec: Any) -> None:
    """Res = mat' vec."""
    out, a, v = target_vector("res", res), matrix("mat", mat), vector("vec", vec)
    require(out.size == a.shape[1], "size of res should equal the number of columns in mat")
    require(v.size == a.shape[0], "size of vec should equal the number of rows in mat")
    out[:] = a.T @ v


def mju_mulVecMatVec(vec1: Any, mat: Any, vec2: Any) -> float:
    """vec1' mat vec2, for a square matrix."""
    a, m, b = vector("vec1", vec1), matrix("mat", mat), vector("vec2", vec2)
    require(a.size == b.size, "size of vec1 should equal the size of vec2")
    require(a.size == m.shape[0] == m.shape[1], "size of vectors should equal the number of columns in mat")
    return float(a @ m @ b)


def mju_transpose(res: np.ndarray, mat: Any) -> None:
    """Res = mat'."""
    out, a = target_matrix("res", res), matrix("mat", mat)
    require(out.shape[1] == a.shape[0], "#columns in res should equal #rows in mat")
    require(out.shape[0] == a.shape[1], "#rows in res should equal #columns in mat")
    out[...] = a.T.copy()


def mju_symmetrize(res: np.ndarray, mat: Any) -> None:
    """Res = (mat + mat') / 2, for a square matrix."""
    out, a = target_matrix("res", res), matrix("mat", mat)
    require(a.shape[0] == a.shape[1], "mat should be square")
    require(out.shape == a.shape, "res and mat should have the same shape")
    out[...] = 0.5 * (a + a.T)


def mju_eye(mat: np.ndarray) -> None:
    """Mat = the identity."""
    out = target_matrix("mat", mat)
    require(out.shape[0] == out.shape[1], "mat should be square")
    out[...] = np.eye(out.shape[0])


def _multiply(res: Any, a: np.ndarray, b: np.ndarray, texts: tuple[str, str, str]) -> None:
    out = target_matrix("res", res)
    require(a.shape[1] == b.shape[0], texts[0])
    require(out.shape[0] == a.shape[0], texts[1])
    require(out.shape[1] == b.shape[1], texts[2])
    out[...] = a @ b


def mju_mulMatMat(res: np.ndarray, mat1: Any, mat2: Any) -> None:
    """Res = mat1 mat2."""
    texts = (
        "#columns in mat1 should equal #rows in mat2",
        "#rows in res should equal #rows in mat1",
        "#columns in res should equal #columns in mat2",
    )
    _multiply(res, matrix("mat1", mat1), matrix("mat2", mat2), texts)


def mju_mulMatMatT(res: np.ndarray, mat1: Any, mat2: Any) -> None:
    """Res = mat1 mat2'."""
    texts = (
        "#columns in mat1 should equal #columns in mat2",
        "#rows in res should equal #rows in mat1",
        "#columns in res should equal #rows in mat2",
    )
    a, b = matrix("mat1", mat1), matrix("mat2", mat2)
    require(np.shape(res)[-1:] == b.shape[:1], texts[2])
    _multiply(res, a, b.T, texts)


def mju_mulMatTMat(res: np.ndarray, mat1: Any, mat2: Any) -> None:
    """Res = mat1' mat2."""
    texts = (
        "#rows in mat1 should equal #rows in mat2",
        "#rows in res should equal #columns in mat1",
        "#columns in res should equal #columns in mat2",
    )
    a, b = matrix("mat1", mat1), matrix("mat2", mat2)
    require(np.shape(res)[:1] == a.shape[1:], texts[1])
    _multiply(res, a.T, b, texts)


def mju_sqrMatTD(res: np.ndarray, mat: Any, diag: Any) -> None:
    """Res = mat' diag mat; `diag` None counts as the identity."""
    out, a = target_matrix("res", res), matrix("mat", mat)
    require(out.shape[0] == a.shape[1], "#rows in res should equal #columns in mat")
    require(out.shape[1] == a.shape[1], "#columns in res should equal #columns in mat")
    weights = np.ones(a.shape[0]) if diag is None else target_vector("diag", diag)
    require(weights.size == a.shape[0], "size of diag should equal the number of rows in mat")
    out[...] = a.T @ (weights[:, None] * a)


def mju_cholFactor(mat: np.ndarray, mindiag: float) -> int:
    """Cholesky factor L of mat = L L' in place, in the lower triangle; returns the rank.

    Diagonal values below `mindiag` are raised to it, and lower the rank.
    """
    a = target_matrix("mat", mat)
    require(a.shape[0] == a.shape[1], "mat should be a square matrix")
    rank = a.shape[0]
    for j in range(a.shape[0]):
        pivot = a[j, j] - a[j, :j] @ a[j, :j]
        if pivot < mindiag:
            pivot = mindiag
            rank -= 1
        a[j, j] = np.sqrt(pivot)
        a[j + 1 :, j] = (a[j + 1 :, j] - a[j + 1 :, :j] @ a[j, :j]) / a[j, j]
    return rank


def solve_factored(factor: np.ndarray, right: np.ndarray) -> np.ndarray:
    """(L L')^-1 right, with L in the lower triangle of `factor`; not finite where L is singular."""
    n = right.size
    x = right.copy()
    with np.errstate(divide="ignore", invalid="ignore"):
        for i in range(n):
            x[i] = (x[i] - factor[i, :i] @ x[:i]) / factor[i, i]
        for i in range(n - 1, -1, -1):
            x[i] = (x[i] - factor[i + 1 :, i] @ x[i + 1 :]) / factor[i, i]
    return x


def mju_cholSolve(res: np.ndarray, mat: Any, vec: Any) -> None:
    """Res = (L L')^-1 vec, with the factor L in the lower triangle of `mat`."""
    out, a, v = target_vector("res", res), matrix("mat", mat), vector("vec", vec)
    require(a.shape[0] == a.shape[1], "mat should be a square matrix")
    require(out.size == a.shape[0], "size of res should equal the number of rows in mat")
    require(v.size == a.shape[0], "size of vec should equal the number of rows in mat")
    out[:] = solve_factored(a, v)


def mju_cholUpdate(mat: np.ndarray, x: np.ndarray, flg_plus: int) -> int:
    """Factor of L L' + x x' (`flg_plus`) or L L' - x x' in place of L (Golub and Van Loan, 6.5.4); returns the rank.

    `x` is used up. Diagonal values that would come below mjMINVAL are kept at it, and lower the rank.
    """
    from cardan.constants import mjMINVAL

    a, v = target_matrix("mat", mat), target_vector("x", x)
    require(a.shape[0] == a.shape[1], "mat should be a square matrix")
    require(v.size == a.shape[0], "size of x should equal the number of rows in mat")
    sign = 1.0 if flg_plus else -1.0
    rank = a.shape[0]
    for k in range(a.shape[0]):
        if v[k] == 0.0:
            continue
        square = a[k, k] ** 2 + sign * v[k] ** 2
        if square < mjMINVAL:
            square = mjMINVAL
            rank -= 1
        r = np.sqrt(square)
        c, s = r / a[k, k], v[k] / a[k, k]
        a[k, k] = r
        a[k + 1 :, k] = (a[k + 1 :, k] + sign * s * v[k + 1 :]) / c
        v[k + 1 :] = c * v[k + 1 :] - s * a[k + 1 :, k]
    return rank


__all__ = [
    "mju_cholFactor",
    "mju_cholSolve",
    "mju_cholUpdate",
    "mju_eye",
    "mju_mulMatMat",
    "mju_mulMatMatT",
    "mju_mulMatTMat",
    "mju_mulMatTVec",
    "mju_mulMatVec",
    "mju_mulVecMatVec",
    "mju_sqrMatTD",
    "mju_symmetrize",
    "mju_transpose",
]
