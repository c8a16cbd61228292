"""The `mju_*` functions of matrices (spec: programming, utility functions). Results go into `res`."""

from __future__ import annotations

from math import nan, sqrt
from typing import Any

import numpy as np

from cardan.api.arguments import matrix, require, target_matrix, target_vector, vector
from cardan.api.native_call import native
from cardan.constants import mjMINVAL
from cardan.jit.binding.arguments import ANY, Integer, Number, source, target

# --- products


def _check_mul_mat_vec(res: Any, mat: Any, vec: Any) -> None:
    out, a, v = target_vector("res", res), matrix("mat", mat), vector("vec", vec)
    require(out.size == a.shape[0], "size of res should equal the number of rows in mat")
    require(v.size == a.shape[1], "size of vec should equal the number of columns in mat")


@native(check=_check_mul_mat_vec, res=target(ANY, apart=True), mat=source("res", ANY), vec=source("mat.columns"))
def mju_mulMatVec(res: np.ndarray, mat: Any, vec: Any) -> None:
    """Compute res = mat vec."""
    for i in range(len(res)):
        total = 0.0
        for k in range(len(vec)):
            total += mat[i, k] * vec[k]
        res[i] = total


def _check_mul_mat_t_vec(res: Any, mat: Any, vec: Any) -> None:
    out, a, v = target_vector("res", res), matrix("mat", mat), vector("vec", vec)
    require(out.size == a.shape[1], "size of res should equal the number of columns in mat")
    require(v.size == a.shape[0], "size of vec should equal the number of rows in mat")


@native(check=_check_mul_mat_t_vec, res=target(ANY, apart=True), mat=source(ANY, "res"), vec=source("mat"))
def mju_mulMatTVec(res: np.ndarray, mat: Any, vec: Any) -> None:
    """Compute res = mat' vec."""
    for j in range(len(res)):
        res[j] = 0.0
    for k in range(len(vec)):
        for j in range(len(res)):
            res[j] += mat[k, j] * vec[k]


def _check_mul_vec_mat_vec(vec1: Any, mat: Any, vec2: Any) -> None:
    a, m, b = vector("vec1", vec1), matrix("mat", mat), vector("vec2", vec2)
    require(a.size == b.size, "size of vec1 should equal the size of vec2")
    require(a.size == m.shape[0] == m.shape[1], "size of vectors should equal the number of columns in mat")


@native(check=_check_mul_vec_mat_vec, vec1=source(ANY), mat=source("vec1", "vec1"), vec2=source("vec1"))
def mju_mulVecMatVec(vec1: Any, mat: Any, vec2: Any) -> float:
    """Return vec1' mat vec2, for a square matrix."""
    total = 0.0
    for i in range(len(vec1)):
        row = 0.0
        for k in range(len(vec2)):
            row += mat[i, k] * vec2[k]
        total += vec1[i] * row
    return total


def _multiply(res: Any, mat1: Any, mat2: Any, turned1: bool = False, turned2: bool = False) -> None:
    """Compute res = mat1 mat2; `turned1` and `turned2` specify which of the two matrices are transposed first."""
    a, b = matrix("mat1", mat1), matrix("mat2", mat2)
    outer1, inner1 = ("columns", "rows") if turned1 else ("rows", "columns")
    inner2, outer2 = ("columns", "rows") if turned2 else ("rows", "columns")
    a, b = a.T if turned1 else a, b.T if turned2 else b
    of_rows = f"#rows in res should equal #{outer1} in mat1"
    of_columns = f"#columns in res should equal #{outer2} in mat2"
    if turned1:
        require(np.shape(res)[:1] == a.shape[:1], of_rows)
    if turned2:
        require(np.shape(res)[-1:] == b.shape[1:], of_columns)
    out = target_matrix("res", res)
    require(a.shape[1] == b.shape[0], f"#{inner1} in mat1 should equal #{inner2} in mat2")
    require(out.shape[0] == a.shape[0], of_rows)
    require(out.shape[1] == b.shape[1], of_columns)
    out[...] = a @ b


def mju_mulMatMat(res: np.ndarray, mat1: Any, mat2: Any) -> None:
    """Compute res = mat1 mat2."""
    _multiply(res, mat1, mat2)


def mju_mulMatMatT(res: np.ndarray, mat1: Any, mat2: Any) -> None:
    """Compute res = mat1 mat2'."""
    _multiply(res, mat1, mat2, turned2=True)


def mju_mulMatTMat(res: np.ndarray, mat1: Any, mat2: Any) -> None:
    """Compute res = mat1' mat2."""
    _multiply(res, mat1, mat2, turned1=True)


def _check_sqr_mat_t_d(res: Any, mat: Any, diag: Any) -> None:
    out, a = target_matrix("res", res), matrix("mat", mat)
    require(out.shape[0] == a.shape[1], "#rows in res should equal #columns in mat")
    require(out.shape[1] == a.shape[1], "#columns in res should equal #columns in mat")
    if diag is not None:
        require(target_vector("diag", diag).size == a.shape[0], "size of diag should equal the number of rows in mat")


@native(
    check=_check_sqr_mat_t_d,
    res=target(ANY, "res", apart=True),
    mat=source(ANY, "res"),
    diag=target("mat", optional=True),
)
def mju_sqrMatTD(res: np.ndarray, mat: Any, diag: Any) -> None:
    """Compute res = mat' diag(diag) mat or, if `diag` is None, res = mat' mat."""
    n = len(res)
    for i in range(n):
        for j in range(n):
            res[i, j] = 0.0
    for k in range(len(mat)):
        weight = diag[k] if len(diag) > 0 else 1.0
        for i in range(n):
            factor = weight * mat[k, i]
            for j in range(n):
                res[i, j] += factor * mat[k, j]


# --- one matrix


def _check_transpose(res: Any, mat: Any) -> None:
    out, a = target_matrix("res", res), matrix("mat", mat)
    require(out.shape[1] == a.shape[0], "#columns in res should equal #rows in mat")
    require(out.shape[0] == a.shape[1], "#rows in res should equal #columns in mat")


@native(check=_check_transpose, res=target(ANY, ANY, apart=True), mat=source("res.columns", "res"))
def mju_transpose(res: np.ndarray, mat: Any) -> None:
    """Compute res = mat'."""
    for i in range(len(res)):
        for j in range(len(mat)):
            res[i, j] = mat[j, i]


def _check_symmetrize(res: Any, mat: Any) -> None:
    out, a = target_matrix("res", res), matrix("mat", mat)
    require(a.shape[0] == a.shape[1], "mat should be square")
    require(out.shape == a.shape, "res and mat should have the same shape")


@native(check=_check_symmetrize, res=target(ANY, "res", apart=True), mat=source("res", "res"))
def mju_symmetrize(res: np.ndarray, mat: Any) -> None:
    """Compute res = (mat + mat') / 2, for a square matrix."""
    n = len(res)
    for i in range(n):
        for j in range(n):
            res[i, j] = 0.5 * (mat[i, j] + mat[j, i])


def _check_eye(mat: Any) -> None:
    out = target_matrix("mat", mat)
    require(out.shape[0] == out.shape[1], "mat should be square")


@native(check=_check_eye, mat=target(ANY, "mat"))
def mju_eye(mat: np.ndarray) -> None:
    """Set mat to the identity matrix."""
    for i in range(len(mat)):
        for j in range(len(mat)):
            mat[i, j] = 1.0 if i == j else 0.0


# --- Cholesky factors


def _check_square(mat: Any, **_: Any) -> None:
    a = target_matrix("mat", mat)
    require(a.shape[0] == a.shape[1], "mat should be a square matrix")


@native(check=_check_square, mat=target(ANY, "mat"), mindiag=Number())
def mju_cholFactor(mat: np.ndarray, mindiag: float) -> int:
    """Replace the lower triangle of mat = L L' by its Cholesky factor L; return the rank.

    Squared diagonal elements of L below `mindiag` are set to `mindiag`; each of them reduces the rank by 1.
    """
    n = len(mat)
    rank = n
    for j in range(n):
        pivot = mat[j, j]
        for k in range(j):
            pivot -= mat[j, k] * mat[j, k]
        if pivot < mindiag:
            pivot = mindiag
            rank -= 1
        mat[j, j] = sqrt(pivot)
        for i in range(j + 1, n):
            value = mat[i, j]
            for k in range(j):
                value -= mat[i, k] * mat[j, k]
            mat[i, j] = value / mat[j, j]
    return rank


def solve_factored(factor: np.ndarray, right: np.ndarray) -> np.ndarray:
    """Return (L L')^-1 right, with L in the lower triangle of `factor`. If L is singular, the result is not finite."""
    x = np.empty(right.size)
    mju_cholSolve(x, np.ascontiguousarray(factor), right)
    return x


def _check_chol_solve(res: Any, mat: Any, vec: Any) -> None:
    out, a, v = target_vector("res", res), matrix("mat", mat), vector("vec", vec)
    require(a.shape[0] == a.shape[1], "mat should be a square matrix")
    require(out.size == a.shape[0], "size of res should equal the number of rows in mat")
    require(v.size == a.shape[0], "size of vec should equal the number of rows in mat")


@native(check=_check_chol_solve, res=target(ANY, apart=True), mat=source("res", "res"), vec=source("res"))
def mju_cholSolve(res: np.ndarray, mat: Any, vec: Any) -> None:
    """Compute res = (L L')^-1 vec, with the factor L in the lower triangle of `mat`.

    If L is singular, the result is not finite.
    """
    n = len(res)
    for i in range(n):
        value = vec[i]
        for k in range(i):
            value -= mat[i, k] * res[k]
        res[i] = value / mat[i, i] if mat[i, i] != 0.0 else nan
    for i in range(n - 1, -1, -1):
        value = res[i]
        for k in range(i + 1, n):
            value -= mat[k, i] * res[k]
        res[i] = value / mat[i, i] if mat[i, i] != 0.0 else nan


def _check_chol_update(mat: Any, x: Any, **_: Any) -> None:
    a, v = target_matrix("mat", mat), target_vector("x", x)
    require(a.shape[0] == a.shape[1], "mat should be a square matrix")
    require(v.size == a.shape[0], "size of x should equal the number of rows in mat")


@native(check=_check_chol_update, mat=target(ANY, "mat"), x=target("mat"), flg_plus=Integer())
def mju_cholUpdate(mat: np.ndarray, x: np.ndarray, flg_plus: int) -> int:
    """Update the Cholesky factor L to the factor of L L' + x x' (`flg_plus`) or L L' - x x'; return the rank.

    Source: Golub and Van Loan, 6.5.4. `x` is overwritten. Squared diagonal elements that would fall below mjMINVAL are
    set to mjMINVAL; each of them reduces the rank by 1.
    """
    n = len(mat)
    sign = 1.0 if flg_plus != 0 else -1.0
    rank = n
    for k in range(n):
        if x[k] == 0.0:
            continue
        square = mat[k, k] * mat[k, k] + sign * x[k] * x[k]
        if square < mjMINVAL:
            square = mjMINVAL
            rank -= 1
        r = sqrt(square)
        c = r / mat[k, k]
        s = x[k] / mat[k, k]
        mat[k, k] = r
        for i in range(k + 1, n):
            mat[i, k] = (mat[i, k] + sign * s * x[i]) / c
            x[i] = c * x[i] - s * mat[i, k]
    return rank


__all__ = ["mju_cholFactor", "mju_cholSolve", "mju_cholUpdate", "mju_eye", "mju_mulMatMat", "mju_mulMatMatT"]
__all__ += ["mju_mulMatTMat", "mju_mulMatTVec", "mju_mulMatVec", "mju_mulVecMatVec", "mju_sqrMatTD", "mju_symmetrize"]
__all__ += ["mju_transpose"]
