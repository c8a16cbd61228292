"""Vectors of three numbers, spatial vectors and inertias as tuples, and access to small blocks of field arrays.

Native code keeps tuples in registers; arrays are storage. ``get3(a, i)`` reads row `i` of an array of shape (n, 3).
Spatial vectors (rotation, translation) have six numbers. A spatial inertia has ten, in the layout of MuJoCo's `cinert`:
Ixx, Iyy, Izz, Ixy, Ixz, Iyz, m rx, m ry, m rz, m. It is taken about the origin of the frame; r is the vector to the
centre of mass (Featherstone 2008, chapter 2).
"""

from __future__ import annotations

from math import sqrt

from cardan.constants import mjMINVAL
from cardan.jit import kernel
from cardan.maths.types import Array2, ConstArray2, Inertia, Mat3, Vec2, Vec3, Vec4, Vec6

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


@kernel
def get6(a: ConstArray2, i: int) -> Vec6:
    """Row `i` of an (n, 6) array."""
    return (a[i, 0], a[i, 1], a[i, 2], a[i, 3], a[i, 4], a[i, 5])


@kernel
def set6(a: Array2, i: int, v: Vec6 | Inertia) -> None:
    """Store the first six numbers of `v` in row `i` of an array of at least six columns."""
    a[i, 0] = v[0]
    a[i, 1] = v[1]
    a[i, 2] = v[2]
    a[i, 3] = v[3]
    a[i, 4] = v[4]
    a[i, 5] = v[5]


@kernel
def get10(a: ConstArray2, i: int) -> Inertia:
    """Row `i` of an (n, 10) array."""
    return (a[i, 0], a[i, 1], a[i, 2], a[i, 3], a[i, 4], a[i, 5], a[i, 6], a[i, 7], a[i, 8], a[i, 9])


@kernel
def set10(a: Array2, i: int, v: Inertia) -> None:
    """Store the ten numbers `v` in row `i` of an (n, 10) array."""
    set6(a, i, v)
    a[i, 6] = v[6]
    a[i, 7] = v[7]
    a[i, 8] = v[8]
    a[i, 9] = v[9]


@kernel
def add6(a: Vec6, b: Vec6) -> Vec6:
    """Sum of two spatial vectors."""
    return (a[0] + b[0], a[1] + b[1], a[2] + b[2], a[3] + b[3], a[4] + b[4], a[5] + b[5])


@kernel
def add_scaled6(a: Vec6, b: Vec6, s: float) -> Vec6:
    """Return a + s b."""
    return (a[0] + b[0] * s, a[1] + b[1] * s, a[2] + b[2] * s, a[3] + b[3] * s, a[4] + b[4] * s, a[5] + b[5] * s)


@kernel
def dot6(a: Vec6, b: Vec6) -> float:
    """Scalar product of a motion and a force vector."""
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2] + a[3] * b[3] + a[4] * b[4] + a[5] * b[5]


@kernel
def mul_inertia(i: Inertia, v: Vec6) -> Vec6:
    """Spatial momentum: inertia times motion vector."""
    return (
        i[0] * v[0] + i[3] * v[1] + i[4] * v[2] - i[8] * v[4] + i[7] * v[5],
        i[3] * v[0] + i[1] * v[1] + i[5] * v[2] + i[8] * v[3] - i[6] * v[5],
        i[4] * v[0] + i[5] * v[1] + i[2] * v[2] - i[7] * v[3] + i[6] * v[4],
        i[8] * v[1] - i[7] * v[2] + i[9] * v[3],
        i[6] * v[2] - i[8] * v[0] + i[9] * v[4],
        i[7] * v[0] - i[6] * v[1] + i[9] * v[5],
    )


@kernel
def cross_motion(v: Vec6, m: Vec6) -> Vec6:
    """Spatial cross product v x m: rate of change of a motion vector `m` fixed in a frame that moves with `v`."""
    return (
        -v[2] * m[1] + v[1] * m[2],
        v[2] * m[0] - v[0] * m[2],
        -v[1] * m[0] + v[0] * m[1],
        -v[2] * m[4] + v[1] * m[5] - v[5] * m[1] + v[4] * m[2],
        v[2] * m[3] - v[0] * m[5] + v[5] * m[0] - v[3] * m[2],
        -v[1] * m[3] + v[0] * m[4] - v[4] * m[0] + v[3] * m[1],
    )


@kernel
def cross_force(v: Vec6, f: Vec6) -> Vec6:
    """Spatial cross product v x* f: rate of change of a force vector `f` fixed in a frame that moves with `v`."""
    return (
        -v[2] * f[1] + v[1] * f[2] - v[5] * f[4] + v[4] * f[5],
        v[2] * f[0] - v[0] * f[2] + v[5] * f[3] - v[3] * f[5],
        -v[1] * f[0] + v[0] * f[1] - v[4] * f[3] + v[3] * f[4],
        -v[2] * f[4] + v[1] * f[5],
        v[2] * f[3] - v[0] * f[5],
        -v[1] * f[3] + v[0] * f[4],
    )


@kernel
def angular(spatial: Vec6) -> Vec3:
    """Rotational part of a spatial vector."""
    return (spatial[0], spatial[1], spatial[2])


@kernel
def linear(spatial: Vec6) -> Vec3:
    """Translational part of a spatial vector."""
    return (spatial[3], spatial[4], spatial[5])
