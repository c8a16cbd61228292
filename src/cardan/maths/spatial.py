"""Spatial vectors (rotation, translation) as tuples of six, and spatial inertias as tuples of ten.

A spatial inertia is kept as in MuJoCo's `cinert`: Ixx, Iyy, Izz, Ixy, Ixz, Iyz, m rx, m ry, m rz, m, about the origin
of the frame, with r the vector to the centre of mass (Featherstone 2008, chapter 2).
"""

from __future__ import annotations

from typing import Any

from cardan.jit import kernel


@kernel
def get6(a: Any, i: int) -> Any:
    """Row `i` of an (n, 6) array."""
    return (a[i, 0], a[i, 1], a[i, 2], a[i, 3], a[i, 4], a[i, 5])


@kernel
def set6(a: Any, i: int, v: Any) -> None:
    """Store the six numbers `v` in row `i` of an (n, 6) array."""
    a[i, 0] = v[0]
    a[i, 1] = v[1]
    a[i, 2] = v[2]
    a[i, 3] = v[3]
    a[i, 4] = v[4]
    a[i, 5] = v[5]


@kernel
def get10(a: Any, i: int) -> Any:
    """Row `i` of an (n, 10) array."""
    return (a[i, 0], a[i, 1], a[i, 2], a[i, 3], a[i, 4], a[i, 5], a[i, 6], a[i, 7], a[i, 8], a[i, 9])


@kernel
def set10(a: Any, i: int, v: Any) -> None:
    """Store the ten numbers `v` in row `i` of an (n, 10) array."""
    set6(a, i, v)
    a[i, 6] = v[6]
    a[i, 7] = v[7]
    a[i, 8] = v[8]
    a[i, 9] = v[9]


@kernel
def add6(a: Any, b: Any) -> Any:
    """A + b."""
    return (a[0] + b[0], a[1] + b[1], a[2] + b[2], a[3] + b[3], a[4] + b[4], a[5] + b[5])


@kernel
def add_scaled6(a: Any, b: Any, s: float) -> Any:
    """A + s b."""
    return (
        a[0] + b[0] * s,
        a[1] + b[1] * s,
        a[2] + b[2] * s,
        a[3] + b[3] * s,
        a[4] + b[4] * s,
        a[5] + b[5] * s,
    )


@kernel
def dot6(a: Any, b: Any) -> float:
    """Scalar product of a motion and a force vector."""
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2] + a[3] * b[3] + a[4] * b[4] + a[5] * b[5]


@kernel
def mul_inertia(i: Any, v: Any) -> Any:
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
def cross_motion(v: Any, m: Any) -> Any:
    """V x m: rate of change of a motion vector that moves with velocity v."""
    return (
        -v[2] * m[1] + v[1] * m[2],
        v[2] * m[0] - v[0] * m[2],
        -v[1] * m[0] + v[0] * m[1],
        -v[2] * m[4] + v[1] * m[5] - v[5] * m[1] + v[4] * m[2],
        v[2] * m[3] - v[0] * m[5] + v[5] * m[0] - v[3] * m[2],
        -v[1] * m[3] + v[0] * m[4] - v[4] * m[0] + v[3] * m[1],
    )


@kernel
def cross_force(v: Any, f: Any) -> Any:
    """V x* f: rate of change of a force vector that moves with velocity v."""
    return (
        -v[2] * f[1] + v[1] * f[2] - v[5] * f[4] + v[4] * f[5],
        v[2] * f[0] - v[0] * f[2] + v[5] * f[3] - v[3] * f[5],
        -v[1] * f[0] + v[0] * f[1] - v[4] * f[3] + v[3] * f[4],
        -v[2] * f[4] + v[1] * f[5],
        v[2] * f[3] - v[0] * f[5],
        -v[1] * f[3] + v[0] * f[4],
    )
