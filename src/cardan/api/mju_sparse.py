"""The `mju_*` functions of sparse matrices and 3 by 3 matrices that came with MuJoCo 4.0 (Python).

``mat`` contains the values of all rows of a sparse matrix, one after the other, and ``colind`` their columns.
``rownnz`` is the number of values of each row, ``rowadr`` the address of its first value.
"""

from __future__ import annotations

from math import sqrt
from typing import Any

import numpy as np

from cardan.api.arguments import matrix, numbers, require, target_matrix, target_of, vector, vector_of
from cardan.maths.quaternion import axis_angle2quat, mul_quat, normalize4, quat2mat


def _pattern(nrow: int, size: int, ncol: int, rownnz: Any, rowadr: Any, colind: Any) -> tuple[np.ndarray, ...]:
    """Return row, column and address of each stored value; raise TypeError if an array does not fit the others."""
    length = vector_of("rownnz", rownnz, nrow, "the number of rows", np.int32)
    start = vector_of("rowadr", rowadr, nrow, "the number of rows", np.int32)
    columns = vector("colind", colind, np.int32)
    rows = np.repeat(np.arange(nrow), length)
    address = np.concatenate([np.arange(a, a + n) for a, n in zip(start, length, strict=True)] or [np.zeros(0, int)])
    inside = not address.size or (address.min() >= 0 and address.max() < min(size, columns.size))
    require(inside, "rownnz and rowadr should address elements of mat and colind")
    column = columns[address.astype(int)]
    require(not column.size or (column.min() >= 0 and column.max() < ncol), f"colind should be from 0 to {ncol - 1}")
    return rows, column, address.astype(int)


def mju_sparse2dense(res: np.ndarray, mat: Any, rownnz: Any, rowadr: Any, colind: Any) -> None:
    """Convert a sparse matrix to the dense matrix `res` (nr, nc)."""
    out, values = target_matrix("res", res), vector("mat", mat)
    rows, columns, address = _pattern(len(out), values.size, out.shape[1], rownnz, rowadr, colind)
    out[...] = 0.0
    out[rows, columns] = values[address]


def mju_sym2dense(res: np.ndarray, mat: Any, rownnz: Any, rowadr: Any, colind: Any) -> None:
    """Convert the lower triangle of a symmetric sparse matrix to the dense matrix `res` (n, n)."""
    out, values = target_matrix("res", res), vector("mat", mat)
    require(out.shape[0] == out.shape[1], f"res should be a square matrix, got {out.shape}")
    rows, columns, address = _pattern(len(out), values.size, len(out), rownnz, rowadr, colind)
    out[...] = 0.0
    out[rows, columns] = values[address]
    out[columns, rows] = values[address]


def mju_dense2sparse(res: np.ndarray, mat: Any, rownnz: np.ndarray, rowadr: np.ndarray, colind: np.ndarray) -> int:
    """Convert a dense matrix to a sparse one; return 1 if `res` or `colind` is too short, else 0.

    Args:
        res: values that are not 0, row by row, written.
        mat: matrix (nr, nc).
        rownnz: int32 array (nr,), written: number of values of each row.
        rowadr: int32 array (nr,), written: address of the first value of each row.
        colind: int32 array of the length of `res`, written: column of each value.
    """
    dense = matrix("mat", mat)
    values = target_of("res", res, np.size(res))
    length = target_of("rownnz", rownnz, len(dense), "the number of rows", np.int32)
    start = target_of("rowadr", rowadr, len(dense), "the number of rows", np.int32)
    columns = target_of("colind", colind, values.size, "the size of res", np.int32)
    rows, found = np.nonzero(dense)
    if len(rows) > values.size:
        return 1
    length[:] = np.bincount(rows, minlength=len(dense))
    start[:] = np.cumsum(length) - length
    values[: len(rows)] = dense[rows, found]
    columns[: len(rows)] = found
    return 0


def mju_mulMatVec3(res: np.ndarray, mat: Any, vec: Any) -> None:
    """Compute res = mat vec, for a matrix (9,) and vectors (3,)."""
    target_of("res", res, 3)[:] = np.reshape(numbers("mat", mat, 9), (3, 3)) @ numbers("vec", vec, 3)


def mju_mulMatTVec3(res: np.ndarray, mat: Any, vec: Any) -> None:
    """Compute res = mat' vec, for a matrix (9,) and vectors (3,)."""
    target_of("res", res, 3)[:] = np.reshape(numbers("mat", mat, 9), (3, 3)).T @ numbers("vec", vec, 3)


_MOST_ROTATIONS, _SMALLEST_ANGLE = 500, 1e-9


def mju_mat2Rot(quat: np.ndarray, mat: Any) -> int:
    """Extract the rotation of an arbitrary 3 by 3 matrix, by refining a quaternion until it does not change.

    Source: Müller, Bender, Chentanez, Macklin, "A Robust Method to Extract the Rotational Part of Deformations",
    MIG 2016.

    Args:
        quat: first guess (4,), a quaternion; replaced by the result.
        mat: the matrix (9,).

    Returns:
        The number of iterations, at most 500.
    """
    result, a = target_of("quat", quat, 4), np.reshape(numbers("mat", mat, 9), (3, 3))
    turn = normalize4(tuple(result.tolist()))
    iteration = 0
    for iteration in range(_MOST_ROTATIONS):
        r = np.reshape(quat2mat(turn), (3, 3))
        omega = sum(np.cross(r[:, k], a[:, k]) for k in range(3)) / (abs((r * a).sum()) + _SMALLEST_ANGLE)
        angle = sqrt(float(omega @ omega))
        if angle < _SMALLEST_ANGLE:
            break
        axis = tuple((omega / angle).tolist())
        turn = normalize4(mul_quat(axis_angle2quat(axis, angle), turn))
    result[:] = turn
    return iteration


__all__ = ["mju_dense2sparse", "mju_mat2Rot", "mju_mulMatTVec3", "mju_mulMatVec3", "mju_sparse2dense", "mju_sym2dense"]
