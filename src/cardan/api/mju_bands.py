"""The `mju_*` functions of band-dense matrices (spec: programming, utility functions).

A band-dense matrix is symmetric, or the lower triangle of a Cholesky factor. It has `ntotal` rows. Each of the first
`ntotal - ndense` rows stores `nband` numbers: the elements left of the diagonal, then the diagonal element. The last
`ndense` rows are stored completely.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from cardan.api.arguments import matrix, require, target_matrix, target_of, target_vector, vector, vector_of
from cardan.api.mju_matrices import solve_factored
from cardan.constants import mjMINVAL

_SIZE = "(ntotal-ndense)*nband + ndense*ntotal"


def _size(ntotal: int, nband: int, ndense: int) -> int:
    require(ntotal >= 0 and nband >= 0, "ntotal and nband should not be negative")
    require(0 <= ndense <= ntotal, "ndense should be between 0 and ntotal")
    return (ntotal - ndense) * nband + ndense * ntotal


def _lower(ntotal: int, nband: int, ndense: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Row, column and address of each stored number of the lower triangle."""
    rows, columns = np.tril_indices(ntotal)
    first_dense = ntotal - ndense
    stored = (rows >= first_dense) | (rows - columns < nband)
    rows, columns = rows[stored], columns[stored]
    in_band = rows * nband + nband - 1 - (rows - columns)
    in_dense = first_dense * nband + (rows - first_dense) * ntotal + columns
    return rows, columns, np.where(rows < first_dense, in_band, in_dense)


def _unpacked(mat: np.ndarray, ntotal: int, nband: int, ndense: int) -> np.ndarray:
    """Return a band-dense matrix as a dense matrix (ntotal, ntotal) with zeros above the diagonal."""
    rows, columns, address = _lower(ntotal, nband, ndense)
    dense = np.zeros((ntotal, ntotal))
    dense[rows, columns] = mat[address]
    return dense


def _symmetric(lower: np.ndarray) -> np.ndarray:
    return lower + np.tril(lower, -1).T


def mju_bandDiag(i: int, ntotal: int, nband: int, ndense: int) -> int:
    """Address of the diagonal element `i` of a band-dense matrix."""
    first_dense = ntotal - ndense
    if i < first_dense:
        return i * nband + nband - 1
    return first_dense * nband + (i - first_dense) * ntotal + i


def mju_band2Dense(res: np.ndarray, mat: Any, ntotal: int, nband: int, ndense: int, flg_sym: int) -> None:
    """Unpack a band-dense matrix into `res` (ntotal, ntotal), with 0 above the diagonal unless `flg_sym` is set."""
    out, values = target_matrix("res", res), vector("mat", mat)
    require(values.size == _size(ntotal, nband, ndense), f"mat should have size {_SIZE}")
    require(out.shape == (ntotal, ntotal), "res should have ntotal rows and columns")
    lower = _unpacked(values, ntotal, nband, ndense)
    out[...] = _symmetric(lower) if flg_sym else lower


def mju_dense2Band(res: np.ndarray, mat: Any, ntotal: int, nband: int, ndense: int) -> None:
    """Pack the lower triangle of a matrix (ntotal, ntotal) into a band-dense matrix `res`; drop other elements."""
    out, a = target_vector("res", res), matrix("mat", mat)
    require(out.size == _size(ntotal, nband, ndense), f"res should have size {_SIZE}")
    require(a.shape == (ntotal, ntotal), "mat should have ntotal rows and columns")
    rows, columns, address = _lower(ntotal, nband, ndense)
    out[address] = a[rows, columns]


def mju_bandMulMatVec(
    res: np.ndarray, mat: Any, vec: Any, ntotal: int, nband: int, ndense: int, nvec: int, flg_sym: int
) -> None:
    """Compute res = mat vec, for a band-dense matrix and `nvec` vectors.

    Args:
        res: results, one in each column: (ntotal, nvec), or (ntotal,) for one vector.
        mat: the matrix, in any shape.
        vec: vectors, one in each column (ntotal, nvec).
        ntotal: number of rows.
        nband: width of the band.
        ndense: number of dense rows.
        nvec: number of vectors.
        flg_sym: whether the matrix is symmetric; if not, its upper triangle is taken as zero.
    """
    values = vector("mat", mat) if np.ndim(mat) == 1 else matrix("mat", mat).reshape(-1)
    v = vector("vec", vec)[:, None] if np.ndim(vec) == 1 else matrix("vec", vec)
    require(values.size == _size(ntotal, nband, ndense), f"mat should have size {_SIZE}")
    require(v.shape == (ntotal, nvec), "vec should have ntotal rows and nvec columns")
    single = np.ndim(res) == 1
    out = target_vector("res", res)[:, None] if single else target_matrix("res", res)
    require(out.shape == (ntotal, nvec), "res should have ntotal rows and nvec columns")
    lower = _unpacked(values, ntotal, nband, ndense)
    out[...] = (_symmetric(lower) if flg_sym else lower) @ v


def mju_cholFactorBand(mat: np.ndarray, ntotal: int, nband: int, ndense: int, diagadd: float, diagmul: float) -> float:
    """Factorise a band-dense matrix in place by Cholesky's method (Golub and Van Loan, 4.3.5).

    Args:
        mat: the matrix, overwritten by its factor L (mat = L L').
        ntotal: number of rows.
        nband: width of the band.
        ndense: number of dense rows.
        diagadd: number that is added to the diagonal first.
        diagmul: factor; the diagonal times this factor is added to the diagonal first.

    Returns:
        The smallest squared diagonal element of L; 0 if the matrix is not positive definite.
    """
    values = target_vector("mat", mat)
    require(values.size == _size(ntotal, nband, ndense), f"mat should have size {_SIZE}")
    rows, columns, address = _lower(ntotal, nband, ndense)
    a = _unpacked(values, ntotal, nband, ndense)
    diagonal = np.diagonal(a)
    a[np.diag_indices(ntotal)] = diagonal + diagadd + diagmul * diagonal
    smallest = np.inf
    for j in range(ntotal):
        pivot = a[j, j] - a[j, :j] @ a[j, :j]
        if not pivot >= mjMINVAL:
            return 0.0
        smallest = min(smallest, pivot)
        a[j, j] = np.sqrt(pivot)
        a[j + 1 :, j] = (a[j + 1 :, j] - a[j + 1 :, :j] @ a[j, :j]) / a[j, j]
    values[address] = a[rows, columns]
    return float(smallest) if ntotal else 0.0


def mju_cholSolveBand(res: np.ndarray, mat: Any, vec: Any, ntotal: int, nband: int, ndense: int) -> None:
    """Compute res = (L L')^-1 vec, with the band-dense Cholesky factor L in `mat`."""
    values = vector("mat", mat)
    require(values.size == _size(ntotal, nband, ndense), f"mat should have size {_SIZE}")
    out, v = target_of("res", res, ntotal, "ntotal"), vector_of("vec", vec, ntotal, "ntotal")
    lower = _unpacked(values, ntotal, nband, ndense)
    out[:] = solve_factored(lower, v)


__all__ = ["mju_band2Dense", "mju_bandDiag", "mju_bandMulMatVec", "mju_cholFactorBand", "mju_cholSolveBand"]
__all__ += ["mju_dense2Band"]
