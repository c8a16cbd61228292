"""Vectors of three numbers as tuples, and access to small blocks of field arrays.

Tuples live in registers; arrays are for storage. ``get3(a, i)`` reads row `i` of an array of shape (n, 3).
"""

from __future__ import annotations

from math import sqrt
from typing import Any

from cardan.constants import mjMINVAL
from cardan.jit import kernel

MINVAL = mjMINVAL


@kernel
def get2(a: Any, i: int) -> Any:
    """Row `i` of an (n, 2) array."""
    return (a[i, 0], a[i, 1])


@kernel
def get3(a: Any, i: int) -> Any:
    """Row `i` of an (n, 3) array."""
    return (a[i, 0], a[i, 1], a[i, 2])


@kernel
def get4(a: Any, i: int) -> Any:
    """Row `i` of an (n, 4) array."""
    return (a[i, 0], a[i, 1], a[i, 2], a[i, 3])


@kernel
def get9(a: Any, i: int) -> Any:
    """Row `i` of an (n, 9) array: a 3 x 3 matrix, row by row."""
    return (a[i, 0], a[i, 1], a[i, 2], a[i, 3], a[i, 4], a[i, 5], a[i, 6], a[i, 7], a[i, 8])


@kernel
def set3(a: Any, i: int, v: Any) -> None:
    """Store `v` in row `i` of an (n, 3) array."""
    a[i, 0] = v[0]
    a[i, 1] = v[1]
    a[i, 2] = v[2]


@kernel
def set4(a: Any, i: int, v: Any) -> None:
    """Store `v` in row `i` of an (n, 4) array."""
    a[i, 0] = v[0]
    a[i, 1] = v[1]
    a[i, 2] = v[2]
    a[i, 3] = v[3]


@kernel
def set9(a: Any, i: int, v: Any) -> None:
    """Store the nine numbers `v` in row `i` of an (n, 9) array."""
    a[i, 0] = v[0]
    a[i, 1] = v[1]
    a[i, 2] = v[2]
    a[i, 3] = v[3]
    a[i, 4] = v[4]
    a[i, 5] = v[5]
    a[i, 6] = v[6]
    a[i, 7] = v[7]
    a[i, 8] = v[8]


@kernel
def add3(a: Any, b: Any) -> Any:
    """A + b."""
    return (a[0] + b[0], a[1] + b[1], a[2] + b[2])


@kernel
def sub3(a: Any, b: Any) -> Any:
    """A - b."""
    return (a[0] - b[0], a[1] - b[1], a[2] - b[2])


@kernel
def scale3(a: Any, s: float) -> Any:
    """S a."""
    return (a[0] * s, a[1] * s, a[2] * s)


@kernel
def mul3(a: Any, b: Any) -> Any:
    """Products of the elements of a and b."""
    return (a[0] * b[0], a[1] * b[1], a[2] * b[2])


@kernel
def add_scaled3(a: Any, b: Any, s: float) -> Any:
    """A + s b."""
    return (a[0] + b[0] * s, a[1] + b[1] * s, a[2] + b[2] * s)


@kernel
def dot3(a: Any, b: Any) -> float:
    """Scalar product."""
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


@kernel
def cross(a: Any, b: Any) -> Any:
    """Vector product a x b."""
    return (a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0])


@kernel
def norm3(a: Any) -> float:
    """Euclidean length."""
    return sqrt(a[0] * a[0] + a[1] * a[1] + a[2] * a[2])


@kernel
def normalize3(a: Any) -> Any:
    """Unit vector along `a`; the x axis if `a` is shorter than `MINVAL`."""
    n = norm3(a)
    if n < MINVAL:
        return (1.0, 0.0, 0.0)
    s = 1.0 / n
    return (a[0] * s, a[1] * s, a[2] * s)


@kernel
def mul_mat_vec3(m: Any, v: Any) -> Any:
    """M v for a 3 x 3 matrix of nine numbers."""
    return (
        m[0] * v[0] + m[1] * v[1] + m[2] * v[2],
        m[3] * v[0] + m[4] * v[1] + m[5] * v[2],
        m[6] * v[0] + m[7] * v[1] + m[8] * v[2],
    )


@kernel
def mul_mat_t_vec3(m: Any, v: Any) -> Any:
    """M' v for a 3 x 3 matrix of nine numbers."""
    return (
        m[0] * v[0] + m[3] * v[1] + m[6] * v[2],
        m[1] * v[0] + m[4] * v[1] + m[7] * v[2],
        m[2] * v[0] + m[5] * v[1] + m[8] * v[2],
    )


@kernel
def column3(m: Any, k: int) -> Any:
    """Column `k` of a 3 x 3 matrix of nine numbers."""
    return (m[k], m[k + 3], m[k + 6])
