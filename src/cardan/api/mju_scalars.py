"""The remaining `mju_*` functions: scalars, names of types, friction pyramids, eigenvalues, printing.

Spec: programming, utility functions.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from cardan.api.arguments import matrix, require, target_of, target_vector, text, vector, vector_of
from cardan.constants import mjMAXVAL, mjMINVAL
from cardan.enums import mjtObj
from cardan.maths.pose import principal_axes
from cardan.maths.quaternion import quat2mat


def mju_min(a: float, b: float) -> float:
    """Return the smaller number."""
    return float(min(a, b))


def mju_max(a: float, b: float) -> float:
    """Return the larger number."""
    return float(max(a, b))


def mju_clip(x: float, min: float, max: float) -> float:
    """Return `x`, clamped to [min, max]."""
    return float(min if x < min else max if x > max else x)


def mju_sign(x: float) -> float:
    """Return the sign of `x`: 1, 0 or -1."""
    return float((x > 0) - (x < 0))


def mju_round(x: float) -> int:
    """Return the nearest integer; halves are rounded up."""
    return math.floor(x + 0.5)


def mju_isBad(x: float) -> int:
    """Return 1 if `x` is NaN or its magnitude exceeds mjMAXVAL, else 0."""
    return int(not -mjMAXVAL <= x <= mjMAXVAL)


def mju_sigmoid(x: float) -> float:
    """Return 6 x^5 - 15 x^4 + 10 x^3, clamped: a step from 0 at x = 0 to 1 at x = 1, twice differentiable."""
    if x <= 0:
        return 0.0
    if x >= 1:
        return 1.0
    return float(x * x * x * (3 * x * (2 * x - 5) + 10))


def mju_Halton(index: int, base: int) -> float:
    """Return element `index` of Halton's sequence (1960): `index` in `base`, its digits mirrored at the radix point."""
    require(index >= 0 and base > 1, "index should not be negative, and base at least 2")
    value, scale = 0.0, 1.0 / base
    while index > 0:
        index, digit = divmod(index, base)
        value += digit * scale
        scale /= base
    return value


def mju_springDamper(pos0: float, vel0: float, Kp: float, Kv: float, dt: float) -> float:
    """Return the position after time `dt` of a unit mass on a spring (Kp) and damper (Kv), from pos0 and vel0."""
    half, rest = 0.5 * Kv, 0.25 * Kv * Kv - Kp
    decay = math.exp(-half * dt)
    push = vel0 + half * pos0
    if rest > mjMINVAL:
        rate = math.sqrt(rest)
        return decay * (pos0 * math.cosh(rate * dt) + push / rate * math.sinh(rate * dt))
    if rest < -mjMINVAL:
        rate = math.sqrt(-rest)
        return decay * (pos0 * math.cos(rate * dt) + push / rate * math.sin(rate * dt))
    return decay * (pos0 + push * dt)


_NORMAL = np.random.default_rng()


def mju_standardNormal(num2: np.ndarray | None) -> float:
    """Return a normally distributed random number; write a second one into `num2` (1,), if given."""
    if num2 is not None:
        target_of("num2", num2, 1)[0] = _NORMAL.standard_normal()
    return float(_NORMAL.standard_normal())


_TYPE_NAMES = {
    obj.value: name.removeprefix("mjOBJ_").lower()
    for name, obj in mjtObj.__members__.items()
    if name.startswith("mjOBJ_") and obj.value > 0
}


def mju_type2Str(type: int) -> str | None:
    """Return the name of an object type (`mjtObj`) in the modelling language, or None."""
    return _TYPE_NAMES.get(int(type))


def mju_str2Type(str: str | bytes) -> int:
    """Return the object type (`mjtObj`) whose MJCF name is `str`, such as "body"; 0 (unknown) if there is none."""
    word = text("mju_str2Type", "str", str)
    return next((number for number, name in _TYPE_NAMES.items() if name == word), 0)


def _check_pyramid(pyramid: np.ndarray, force: np.ndarray, mu: np.ndarray) -> None:
    require(pyramid.size == 2 * mu.size, "size of pyramid should be twice as large as size of mu")
    require(force.size == mu.size + 1, "size of force should be exactly one larger than size of mu")


def mju_encodePyramid(pyramid: np.ndarray, force: Any, mu: Any) -> None:
    """Convert a contact force (normal, then tangents) to edge forces of a friction pyramid; see `mju_decodePyramid`."""
    edges, f, friction = target_vector("pyramid", pyramid), vector("force", force), vector("mu", mu)
    _check_pyramid(edges, f, friction)
    share = f[0] / friction.size
    along = np.minimum(share, f[1:] / friction)
    edges[0::2] = 0.5 * (share + along)
    edges[1::2] = 0.5 * (share - along)


def mju_decodePyramid(force: np.ndarray, pyramid: Any, mu: Any) -> None:
    """Convert edge forces of a friction pyramid to a contact force (normal, tangents); spec: computation, contact."""
    f, edges, friction = target_vector("force", force), vector("pyramid", pyramid), vector("mu", mu)
    _check_pyramid(edges, f, friction)
    f[0] = edges.sum()
    f[1:] = (edges[0::2] - edges[1::2]) * friction


def mju_eig3(eigval: np.ndarray, eigvec: np.ndarray, quat: np.ndarray, mat: Any) -> int:
    """Compute the eigenvalues of a symmetric 3 x 3 matrix and its eigenvectors.

    Args:
        eigval: eigenvalues (3,), largest first, written.
        eigvec: eigenvectors as columns of a rotation matrix (9,), written.
        quat: quaternion of the same rotation (4,), written.
        mat: the matrix (9,).

    Returns:
        0, always. MuJoCo returns a number of iterations here.
    """
    a = vector_of("mat", mat, 9).tolist()
    values, rotation = principal_axes((a[0], a[4], a[8], a[1], a[2], a[5]))
    target_of("eigval", eigval, 3)[:] = values
    target_of("quat", quat, 4)[:] = rotation
    target_of("eigvec", eigvec, 9)[:] = quat2mat(rotation)
    return 0


def mju_printMat(mat: Any) -> None:
    """Print a matrix, one row in each line."""
    for row in matrix("mat", mat):
        print(" ".join(f"{value:.8f}" for value in row))
    print()


def mju_printMatSparse(mat: Any, rownnz: Any, rowadr: Any, colind: Any) -> None:
    """Print a matrix in compressed-row storage, one row in each line; each value follows its column in brackets."""
    values, columns = vector("mat", mat), vector("colind", colind, np.int32)
    counts, starts = vector("rownnz", rownnz, np.int32), vector("rowadr", rowadr, np.int32)
    for count, start in zip(counts, starts, strict=True):
        print(" ".join(f"({columns[k]}) {values[k]:9.6f}" for k in range(start, start + count)))
    print()


__all__ = ["mju_Halton", "mju_clip", "mju_decodePyramid", "mju_eig3", "mju_encodePyramid", "mju_isBad", "mju_max"]
__all__ += ["mju_min", "mju_printMat", "mju_printMatSparse", "mju_round", "mju_sigmoid", "mju_sign"]
__all__ += ["mju_springDamper", "mju_standardNormal", "mju_str2Type", "mju_type2Str"]
