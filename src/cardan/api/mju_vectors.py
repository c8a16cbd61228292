"""The `mju_*` functions of vectors (spec: programming, utility functions). Results are written into `res`."""

from __future__ import annotations

from math import sqrt
from typing import Any

import numpy as np

from cardan.api.arguments import require, target_vector, vector
from cardan.api.native_call import native
from cardan.constants import mjMINVAL
from cardan.jit import kernel
from cardan.jit.binding.arguments import ANY, Number, source, target
from cardan.maths.vector import add3, add_scaled3, cross, dot3, get3, norm3, scale3, set3, sub3


@native(res=target(3))
def mju_zero3(res: np.ndarray) -> None:
    """Set res to 0 (3 numbers)."""
    set3(res, 0, (0.0, 0.0, 0.0))


@native(res=target(3), data=source(3))
def mju_copy3(res: np.ndarray, data: Any) -> None:
    """Compute res = data (3 numbers)."""
    set3(res, 0, get3(data, 0))


@native(res=target(3), vec=source(3), scl=Number())
def mju_scl3(res: np.ndarray, vec: Any, scl: float) -> None:
    """Compute res = scl vec (3 numbers)."""
    set3(res, 0, scale3(get3(vec, 0), scl))


@native(res=target(3), vec1=source(3), vec2=source(3))
def mju_add3(res: np.ndarray, vec1: Any, vec2: Any) -> None:
    """Compute res = vec1 + vec2 (3 numbers)."""
    set3(res, 0, add3(get3(vec1, 0), get3(vec2, 0)))


@native(res=target(3), vec1=source(3), vec2=source(3))
def mju_sub3(res: np.ndarray, vec1: Any, vec2: Any) -> None:
    """Compute res = vec1 - vec2 (3 numbers)."""
    set3(res, 0, sub3(get3(vec1, 0), get3(vec2, 0)))


@native(res=target(3), vec=source(3))
def mju_addTo3(res: np.ndarray, vec: Any) -> None:
    """Compute res += vec (3 numbers)."""
    set3(res, 0, add3(get3(res, 0), get3(vec, 0)))


@native(res=target(3), vec=source(3))
def mju_subFrom3(res: np.ndarray, vec: Any) -> None:
    """Compute res -= vec (3 numbers)."""
    set3(res, 0, sub3(get3(res, 0), get3(vec, 0)))


@native(res=target(3), vec=source(3), scl=Number())
def mju_addToScl3(res: np.ndarray, vec: Any, scl: float) -> None:
    """Compute res += scl vec (3 numbers)."""
    set3(res, 0, add_scaled3(get3(res, 0), get3(vec, 0), scl))


@native(res=target(3), vec1=source(3), vec2=source(3), scl=Number())
def mju_addScl3(res: np.ndarray, vec1: Any, vec2: Any, scl: float) -> None:
    """Compute res = vec1 + scl vec2 (3 numbers)."""
    set3(res, 0, add_scaled3(get3(vec1, 0), get3(vec2, 0), scl))


@kernel
def _normalize(vec: Any, n: int, slack: float) -> float:
    """Scale a vector to length 1 in place, or set it to (1, 0, ...) if it is too short; return the old length.

    If the length differs from 1 by at most `slack`, the vector is not changed.
    """
    length = _length(vec, n)
    if length < mjMINVAL:
        for k in range(n):
            vec[k] = 1.0 if k == 0 else 0.0
    elif abs(length - 1.0) > slack:
        for k in range(n):
            vec[k] /= length
    return length


@kernel
def _length(vec: Any, n: int) -> float:
    total = 0.0
    for k in range(n):
        total += vec[k] * vec[k]
    return sqrt(total)


@kernel
def _normalize_row(vec: Any, n: int, slack: float) -> float:
    """Normalise the first row of a table (see `_normalize`), and return its old length."""
    total = 0.0
    for k in range(n):
        total += vec[0, k] * vec[0, k]
    length = sqrt(total)
    for k in range(n):
        if length < mjMINVAL:
            vec[0, k] = 1.0 if k == 0 else 0.0
        elif abs(length - 1.0) > slack:
            vec[0, k] /= length
    return length


@native(vec=target(3))
def mju_normalize3(vec: np.ndarray) -> float:
    """Normalise 3 numbers in place ((1, 0, 0) if too short); return the previous length."""
    return _normalize_row(vec, 3, 0.0)


@native(vec=target(4))
def mju_normalize4(vec: np.ndarray) -> float:
    """Normalise 4 numbers in place ((1, 0, 0, 0) if too short); return the previous length."""
    return _normalize_row(vec, 4, mjMINVAL)


@native(res=target(ANY))
def mju_normalize(res: np.ndarray) -> float:
    """Normalise a vector in place ((1, 0, ...) if too short); return the previous length."""
    return _normalize(res, len(res), 0.0)


@native(vec=source(3))
def mju_norm3(vec: Any) -> float:
    """Euclidean length of 3 numbers."""
    return norm3(get3(vec, 0))


@native(res=source(ANY))
def mju_norm(res: Any) -> float:
    """Euclidean length of a vector."""
    return _length(res, len(res))


@native(vec1=source(3), vec2=source(3))
def mju_dot3(vec1: Any, vec2: Any) -> float:
    """Scalar product of two vectors of 3 numbers."""
    return dot3(get3(vec1, 0), get3(vec2, 0))


@native(pos1=source(3), pos2=source(3))
def mju_dist3(pos1: Any, pos2: Any) -> float:
    """Distance between two points."""
    return norm3(sub3(get3(pos1, 0), get3(pos2, 0)))


@native(res=target(3), a=source(3), b=source(3))
def mju_cross(res: np.ndarray, a: Any, b: Any) -> None:
    """Compute res = a x b."""
    set3(res, 0, cross(get3(a, 0), get3(b, 0)))


@native(res=target(4))
def mju_zero4(res: np.ndarray) -> None:
    """Set res to 0 (4 numbers)."""
    for k in range(4):
        res[0, k] = 0.0


@native(res=target(4))
def mju_unit4(res: np.ndarray) -> None:
    """Compute res = (1, 0, 0, 0)."""
    for k in range(4):
        res[0, k] = 1.0 if k == 0 else 0.0


@native(res=target(4), data=source(4))
def mju_copy4(res: np.ndarray, data: Any) -> None:
    """Compute res = data (4 numbers)."""
    for k in range(4):
        res[0, k] = data[0, k]


@native(res=target(ANY))
def mju_zero(res: np.ndarray) -> None:
    """Set res to 0."""
    for k in range(len(res)):
        res[k] = 0.0


@native(res=target(ANY), val=Number())
def mju_fill(res: np.ndarray, val: float) -> None:
    """Set all elements to `val`."""
    for k in range(len(res)):
        res[k] = val


@native(res=target(ANY), vec=source("res"))
def mju_copy(res: np.ndarray, vec: Any) -> None:
    """Compute res = vec."""
    for k in range(len(res)):
        res[k] = vec[k]


@native(vec=target(ANY))
def mju_sum(vec: np.ndarray) -> float:
    """Sum of the elements."""
    total = 0.0
    for k in range(len(vec)):
        total += vec[k]
    return total


@native(vec=target(ANY))
def mju_L1(vec: np.ndarray) -> float:
    """Sum of the absolute values."""
    total = 0.0
    for k in range(len(vec)):
        total += abs(vec[k])
    return total


@native(res=target(ANY), vec=source("res"), scl=Number())
def mju_scl(res: np.ndarray, vec: Any, scl: float) -> None:
    """Compute res = scl vec."""
    for k in range(len(res)):
        res[k] = vec[k] * scl


@native(res=target(ANY), vec1=source("res"), vec2=source("res"))
def mju_add(res: np.ndarray, vec1: Any, vec2: Any) -> None:
    """Compute res = vec1 + vec2."""
    for k in range(len(res)):
        res[k] = vec1[k] + vec2[k]


@native(res=target(ANY), vec1=source("res"), vec2=source("res"))
def mju_sub(res: np.ndarray, vec1: Any, vec2: Any) -> None:
    """Compute res = vec1 - vec2."""
    for k in range(len(res)):
        res[k] = vec1[k] - vec2[k]


@native(res=target(ANY), vec=source("res"))
def mju_addTo(res: np.ndarray, vec: Any) -> None:
    """Compute res += vec."""
    for k in range(len(res)):
        res[k] += vec[k]


@native(res=target(ANY), vec=source("res"))
def mju_subFrom(res: np.ndarray, vec: Any) -> None:
    """Compute res -= vec."""
    for k in range(len(res)):
        res[k] -= vec[k]


@native(res=target(ANY), vec=source("res"), scl=Number())
def mju_addToScl(res: np.ndarray, vec: Any, scl: float) -> None:
    """Compute res += scl vec."""
    for k in range(len(res)):
        res[k] += vec[k] * scl


@native(res=target(ANY), vec1=source("res"), vec2=source("res"), scl=Number())
def mju_addScl(res: np.ndarray, vec1: Any, vec2: Any, scl: float) -> None:
    """Compute res = vec1 + scl vec2."""
    for k in range(len(res)):
        res[k] = vec1[k] + vec2[k] * scl


@native(vec1=source(ANY), vec2=source("vec1"))
def mju_dot(vec1: Any, vec2: Any) -> float:
    """Scalar product of two vectors."""
    total = 0.0
    for k in range(len(vec1)):
        total += vec1[k] * vec2[k]
    return total


@native(vec=target(ANY))
def mju_isZero(vec: np.ndarray) -> int:
    """Return 1 if all elements are 0, else 0."""
    for k in range(len(vec)):
        if vec[k] != 0.0:
            return 0
    return 1


def mju_insertionSort(list: np.ndarray) -> None:
    """Sort numbers in place, the smallest first."""
    target_vector("list", list).sort(kind="stable")


def mju_insertionSortInt(list: np.ndarray) -> None:
    """Sort integers (int32) in place, the smallest first."""
    target_vector("list", list, np.int32).sort(kind="stable")


def _convert(res: Any, vec: Any, result: type, source: type) -> None:
    out, a = target_vector("res", res, result), vector("vec", vec, source)
    require(out.size == a.size, "res and vec should have the same size")
    out[:] = a


def mju_f2n(res: np.ndarray, vec: Any) -> None:
    """Copy single-precision numbers to the engine's precision (double)."""
    _convert(res, vec, np.float64, np.float32)


def mju_n2f(res: np.ndarray, vec: Any) -> None:
    """Copy numbers of the engine's precision (double) to single precision."""
    _convert(res, vec, np.float32, np.float64)


def mju_d2n(res: np.ndarray, vec: Any) -> None:
    """Copy double-precision numbers to the engine's precision, which is double, too."""
    _convert(res, vec, np.float64, np.float64)


def mju_n2d(res: np.ndarray, vec: Any) -> None:
    """Copy numbers of the engine's precision, which is double, to double precision."""
    _convert(res, vec, np.float64, np.float64)


__all__ = ["mju_L1", "mju_add", "mju_add3", "mju_addScl", "mju_addScl3", "mju_addTo", "mju_addTo3", "mju_addToScl"]
__all__ += ["mju_addToScl3", "mju_copy", "mju_copy3", "mju_copy4", "mju_cross", "mju_d2n", "mju_dist3", "mju_dot"]
__all__ += ["mju_dot3", "mju_f2n", "mju_fill", "mju_insertionSort", "mju_insertionSortInt", "mju_isZero", "mju_n2d"]
__all__ += ["mju_n2f", "mju_norm", "mju_norm3", "mju_normalize", "mju_normalize3", "mju_normalize4", "mju_scl"]
__all__ += ["mju_scl3", "mju_sub", "mju_sub3", "mju_subFrom", "mju_subFrom3", "mju_sum", "mju_unit4", "mju_zero"]
__all__ += ["mju_zero3", "mju_zero4"]
