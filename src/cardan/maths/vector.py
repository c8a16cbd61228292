"""Vectors of three numbers as tuples, and access to small blocks of field arrays.

Native code keeps tuples in registers; arrays are storage. ``get3(a, i)`` reads row `i` of an array of shape (n, 3).
"""

from __future__ import annotations

from math import sqrt

from cardan.constants import mjMINVAL
from cardan.jit import kernel
from cardan.maths.types import Array2, ConstArray2, Mat3, Vec2, Vec3, Vec4

MINVAL = mjMINVAL


@kernel
def get2(a: ConstArray2, i: int) -> Vec2:
    """Row `i` of an (n, 2) array."""
    return (a[i, 0], a[i, 1])


@kernel
def get3(a: ConstArray2, i: int) -> Vec3:
    """Row `i` of an (n, 3) array."""
    return (a[i, 0], a[i, 1], a[i, 2])


@kernel
def get4(a: ConstArray2, i: int) -> Vec4:
    """Row `i` of an (n, 4) array."""
    return (a[i, 0], a[i, 1], a[i, 2], a[i, 3])


@kernel
def get9(a: ConstArray2, i: int) -> Mat3:
    """Row `i` of an (n, 9) array: a 3 x 3 matrix in row-major order."""
    return (a[i, 0], a[i, 1], a[i, 2], a[i, 3], a[i, 4], a[i, 5], a[i, 6], a[i, 7], a[i, 8])


@kernel
def set3(a: Array2, i: int, v: Vec3) -> None:
    """Store `v` in row `i` of an (n, 3) array."""
    a[i, 0] = v[0]
    a[i, 1] = v[1]
    a[i, 2] = v[2]


@kernel
def set4(a: Array2, i: int, v: Vec4) -> None:
    """Store `v` in row `i` of an (n, 4) array."""
    a[i, 0] = v[0]
    a[i, 1] = v[1]
    a[i, 2] = v[2]
    a[i, 3] = v[3]


@kernel
def set9(a: Array2, i: int, v: Mat3) -> None:
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
def add3(a: Vec3, b: Vec3) -> Vec3:
    """Sum of two vectors."""
    return (a[0] + b[0], a[1] + b[1], a[2] + b[2])


@kernel
def sub3(a: Vec3, b: Vec3) -> Vec3:
    """Difference of two vectors: a - b."""
    return (a[0] - b[0], a[1] - b[1], a[2] - b[2])


@kernel
def scale3(a: Vec3, s: float) -> Vec3:
    """Vector `a` times the number `s`."""
    return (a[0] * s, a[1] * s, a[2] * s)


@kernel
def mul3(a: Vec3, b: Vec3) -> Vec3:
    """Element-wise product of two vectors."""
    return (a[0] * b[0], a[1] * b[1], a[2] * b[2])


@kernel
def add_scaled3(a: Vec3, b: Vec3, s: float) -> Vec3:
    """Return a + s b."""
    return (a[0] + b[0] * s, a[1] + b[1] * s, a[2] + b[2] * s)


@kernel
def dot3(a: Vec3, b: Vec3) -> float:
    """Scalar product of two vectors."""
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


@kernel
def cross(a: Vec3, b: Vec3) -> Vec3:
    """Cross product a x b."""
    return (a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0])


@kernel
def norm3(a: Vec3) -> float:
    """Euclidean length of a vector."""
    return sqrt(a[0] * a[0] + a[1] * a[1] + a[2] * a[2])


@kernel
def normalize3(a: Vec3) -> Vec3:
    """Normalise a vector; return the x axis if `a` is shorter than `MINVAL`."""
    n = norm3(a)
    if n < MINVAL:
        return (1.0, 0.0, 0.0)
    s = 1.0 / n
    return (a[0] * s, a[1] * s, a[2] * s)


@kernel
def mul_mat_vec3(m: Mat3, v: Vec3) -> Vec3:
    """Product of the 3 x 3 matrix `m` and a vector."""
    return (
        m[0] * v[0] + m[1] * v[1] + m[2] * v[2],
        m[3] * v[0] + m[4] * v[1] + m[5] * v[2],
        m[6] * v[0] + m[7] * v[1] + m[8] * v[2],
    )


@kernel
def mul_mat_t_vec3(m: Mat3, v: Vec3) -> Vec3:
    """Product of the transpose of the 3 x 3 matrix `m` and a vector."""
    return (
        m[0] * v[0] + m[3] * v[1] + m[6] * v[2],
        m[1] * v[0] + m[4] * v[1] + m[7] * v[2],
        m[2] * v[0] + m[5] * v[1] + m[8] * v[2],
    )


@kernel
def column3(m: Mat3, k: int) -> Vec3:
    """Column `k` of a 3 x 3 matrix."""
    return (m[k], m[k + 3], m[k + 6])
