"""The `mju_*` functions of vectors (spec: programming, utility functions). Results go into `res`; see `arguments`."""

from __future__ import annotations

from typing import Any

import numpy as np

from cardan.api.array_arguments import same_size, target_of, target_vector, vector, vector_of
from cardan.constants import mjMINVAL


def mju_zero3(res: np.ndarray) -> None:
    """Res = 0 (3 numbers)."""
    target_of("res", res, 3)[:] = 0


def mju_copy3(res: np.ndarray, data: Any) -> None:
    """Res = data (3 numbers)."""
    target_of("res", res, 3)[:] = vector_of("data", data, 3)


def mju_scl3(res: np.ndarray, vec: Any, scl: float) -> None:
    """Res = scl vec (3 numbers)."""
    target_of("res", res, 3)[:] = vector_of("vec", vec, 3) * scl


def mju_add3(res: np.ndarray, vec1: Any, vec2: Any) -> None:
    """Res = vec1 + vec2 (3 numbers)."""
    target_of("res", res, 3)[:] = vector_of("vec1", vec1, 3) + vector_of("vec2", vec2, 3)


def mju_sub3(res: np.ndarray, vec1: Any, vec2: Any) -> None:
    """Res = vec1 - vec2 (3 numbers)."""
    target_of("res", res, 3)[:] = vector_of("vec1", vec1, 3) - vector_of("vec2", vec2, 3)


def mju_addTo3(res: np.ndarray, vec: Any) -> None:
    """Res += vec (3 numbers)."""
    target_of("res", res, 3)[:] += vector_of("vec", vec, 3)


def mju_subFrom3(res: np.ndarray, vec: Any) -> None:
    """Res -= vec (3 numbers)."""
    target_of("res", res, 3)[:] -= vector_of("vec", vec, 3)


def mju_addToScl3(res: np.ndarray, vec: Any, scl: float) -> None:
    """Res += scl vec (3 numbers)."""
    target_of("res", res, 3)[:] += vector_of("vec", vec, 3) * scl


def mju_addScl3(res: np.ndarray, vec1: Any, vec2: Any, scl: float) -> None:
    """Res = vec1 + scl vec2 (3 numbers)."""
    target_of("res", res, 3)[:] = vector_of("vec1", vec1, 3) + vector_of("vec2", vec2, 3) * scl


def _normalized(vec: np.ndarray, slack: float = 0) -> float:
    """Scale a vector to length 1 in place, or set it to (1, 0, ...) if it is too short; returns the old length.

    Lengths that differ from 1 by no more than `slack` count as 1.
    """
    length = float(np.sqrt(vec @ vec))
    if length < mjMINVAL:
        vec[:] = 0
        vec[:1] = 1
    elif abs(length - 1) > slack:
        vec /= length
    return length


def mju_normalize3(vec: np.ndarray) -> float:
    """Normalise 3 numbers in place ((1, 0, 0) if too short); returns the length before."""
    return _normalized(target_of("vec", vec, 3))


def mju_normalize4(vec: np.ndarray) -> float:
    """Normalise 4 numbers in place ((1, 0, 0, 0) if too short); returns the length before."""
    return _normalized(target_of("vec", vec, 4), mjMINVAL)


def mju_normalize(res: np.ndarray) -> float:
    """Normalise a vector in place ((1, 0, ...) if too short); returns the length before."""
    return _normalized(target_vector("res", res))


def mju_norm3(vec: Any) -> float:
    """Euclidean length of 3 numbers."""
    return float(np.linalg.norm(vector_of("vec", vec, 3)))


def mju_norm(res: Any) -> float:
    """Euclidean length of a vector."""
    return float(np.linalg.norm(vector("res", res)))


def mju_dot3(vec1: Any, vec2: Any) -> float:
    """Scalar product of 3 numbers."""
    return float(vector_of("vec1", vec1, 3) @ vector_of("vec2", vec2, 3))


def mju_dist3(pos1: Any, pos2: Any) -> float:
    """Distance of two points."""
    return float(np.linalg.norm(vector_of("pos1", pos1, 3) - vector_of("pos2", pos2, 3)))


def mju_cross(res: np.ndarray, a: Any, b: Any) -> None:
    """Res = a x b."""
    target_of("res", res, 3)[:] = np.cross(vector_of("a", a, 3), vector_of("b", b, 3))


def mju_zero4(res: np.ndarray) -> None:
    """Res = 0 (4 numbers)."""
    target_of("res", res, 4)[:] = 0


def mju_unit4(res: np.ndarray) -> None:
    """Res = (1, 0, 0, 0)."""
    target_of("res", res, 4)[:] = (1, 0, 0, 0)


def mju_copy4(res: np.ndarray, data: Any) -> None:
    """Res = data (4 numbers)."""
    target_of("res", res, 4)[:] = vector_of("data", data, 4)


def mju_zero(res: np.ndarray) -> None:
    """Res = 0."""
    target_vector("res", res)[:] = 0


def mju_fill(res: np.ndarray, val: float) -> None:
    """All elements = val."""
    target_vector("res", res)[:] = val


def _two(res: Any, name: str, vec: Any) -> tuple[np.ndarray, np.ndarray]:
    out, a = target_vector("res", res), vector(name, vec)
    same_size("res", out, name, a)
    return out, a


def _three(res: Any, vec1: Any, vec2: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    out, a = _two(res, "vec1", vec1)
    b = vector("vec2", vec2)
    same_size("res", out, "vec2", b)
    return out, a, b


def mju_copy(res: np.ndarray, vec: Any) -> None:
    """Res = vec."""
    out, a = _two(res, "vec", vec)
    out[:] = a


def mju_sum(vec: np.ndarray) -> float:
    """Sum of the elements."""
    return float(target_vector("vec", vec).sum())


def mju_L1(vec: np.ndarray) -> float:
    """Sum of the absolute values."""
    return float(np.abs(target_vector("vec", vec)).sum())


def mju_scl(res: np.ndarray, vec: Any, scl: float) -> None:
    """Res = scl vec."""
    out, a = _two(res, "vec", vec)
    out[:] = a * scl


def mju_add(res: np.ndarray, vec1: Any, vec2: Any) -> None:
    """Res = vec1 + vec2."""
    out, a, b = _three(res, vec1, vec2)
    out[:] = a + b


def mju_sub(res: np.ndarray, vec1: Any, vec2: Any) -> None:
    """Res = vec1 - vec2."""
    out, a, b = _three(res, vec1, vec2)
    out[:] = a - b


def mju_addTo(res: np.ndarray, vec: Any) -> None:
    """Res += vec."""
    out, a = _two(res, "vec", vec)
    out += a


def mju_subFrom(res: np.ndarray, vec: Any) -> None:
    """Res -= vec."""
    out, a = _two(res, "vec", vec)
    out -= a


def mju_addToScl(res: np.ndarray, vec: Any, scl: float) -> None:
    """Res += scl vec."""
    out, a = _two(res, "vec", vec)
    out += a * scl


def mju_addScl(res: np.ndarray, vec1: Any, vec2: Any, scl: float) -> None:
    """Res = vec1 + scl vec2."""
    out, a, b = _three(res, vec1, vec2)
    out[:] = a + b * scl


def mju_dot(vec1: Any, vec2: Any) -> float:
    """Scalar product."""
    a, b = vector("vec1", vec1), vector("vec2", vec2)
    same_size("vec1", a, "vec2", b)
    return float(a @ b)


def mju_isZero(vec: np.ndarray) -> int:
    """1 if all elements are 0, else 0."""
    return int(not target_vector("vec", vec).any())


def mju_insertionSort(list: np.ndarray) -> None:
    """Sort numbers in place, the smallest first."""
    target_vector("list", list).sort(kind="stable")


def mju_insertionSortInt(list: np.ndarray) -> None:
    """Sort integers (int32) in place, the smallest first."""
    target_vector("list", list, np.int32).sort(kind="stable")


def _convert(res: Any, vec: Any, result: type, source: type) -> None:
    out, a = target_vector("res", res, result), vector("vec", vec, source)
    same_size("res", out, "vec", a)
    out[:] = a


def mju_f2n(res: np.ndarray, vec: Any) -> None:
    """Single precision to the engine's numbers."""
    _convert(res, vec, np.float64, np.float32)


def mju_n2f(res: np.ndarray, vec: Any) -> None:
    """The engine's numbers to single precision."""
    _convert(res, vec, np.float32, np.float64)


def mju_d2n(res: np.ndarray, vec: Any) -> None:
    """Double precision to the engine's numbers (which are the same)."""
    _convert(res, vec, np.float64, np.float64)


def mju_n2d(res: np.ndarray, vec: Any) -> None:
    """The engine's numbers to double precision (which are the same)."""
    _convert(res, vec, np.float64, np.float64)


__all__ = [
    "mju_L1",
    "mju_add",
    "mju_add3",
    "mju_addScl",
    "mju_addScl3",
    "mju_addTo",
    "mju_addTo3",
    "mju_addToScl",
    "mju_addToScl3",
    "mju_copy",
    "mju_copy3",
    "mju_copy4",
    "mju_cross",
    "mju_d2n",
    "mju_dist3",
    "mju_dot",
    "mju_dot3",
    "mju_f2n",
    "mju_fill",
    "mju_insertionSort",
    "mju_insertionSortInt",
    "mju_isZero",
    "mju_n2d",
    "mju_n2f",
    "mju_norm",
    "mju_norm3",
    "mju_normalize",
    "mju_normalize3",
    "mju_normalize4",
    "mju_scl",
    "mju_scl3",
    "mju_sub",
    "mju_sub3",
    "mju_subFrom",
    "mju_subFrom3",
    "mju_sum",
    "mju_unit4",
    "mju_zero",
    "mju_zero3",
    "mju_zero4",
]
