"""Poses, conversions of orientations to quaternions (spec: modeling, "Frame orientations"), principal axes.

A pose is the position and orientation (unit quaternion w, x, y, z) of a frame relative to another frame. All
quaternions rotate from the inner to the outer frame.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from math import atan2, sqrt

from cardan.constants import mjMINVAL
from cardan.jit import kernel
from cardan.maths.quaternion import axis_angle2quat, mul_quat, normalize4, quat2mat
from cardan.maths.types import Pose, Quat, Vec3
from cardan.maths.vector import MINVAL, add3, mul_mat_vec3

IDENTITY: Pose = ((0.0, 0.0, 0.0), (1.0, 0.0, 0.0, 0.0))
AXES: dict[str, Vec3] = {"x": (1.0, 0.0, 0.0), "y": (0.0, 1.0, 0.0), "z": (0.0, 0.0, 1.0)}
"""Unit vector of each axis letter."""


@kernel
def unit_quat(quat: Quat) -> Quat:
    """Normalise a quaternion; return the identity if its length is below `MINVAL`.

    The operations are in MuJoCo's order, because later comparisons of equal numbers depend on the last bit.
    """
    length = sqrt(quat[0] * quat[0] + quat[1] * quat[1] + quat[2] * quat[2] + quat[3] * quat[3])
    if length < MINVAL:
        return (1.0, 0.0, 0.0, 0.0)
    return (quat[0] / length, quat[1] / length, quat[2] / length, quat[3] / length)


@kernel
def z2quat(axis: Vec3, least: float = MINVAL) -> Quat:
    """Return the shortest rotation that takes the z axis to the unit vector `axis`; for -z, a half turn about x.

    If the sine of the rotation angle is below `least`, it is taken as 0.
    """
    x, y, z = axis
    side = sqrt(x * x + y * y)
    if side < least:
        side = 0.0
    turn = (1.0, 0.0, 0.0) if side == 0.0 else (-y / side, x / side, 0.0)
    return axis_angle2quat(turn, atan2(side, z))


@lru_cache(maxsize=4096)
def euler2quat(angles: Vec3, sequence: str) -> Quat:
    """Convert Euler angles (rad) to a quaternion.

    `sequence` names the three axes: lower-case letters are axes of the rotating frame, upper-case letters fixed axes.
    Results are cached, because copied elements have the same angles.
    """
    quat = IDENTITY[1]
    for angle, letter in zip(angles, sequence, strict=True):
        turn = axis_angle2quat(AXES[letter.lower()], angle)
        quat = unit_quat(mul_quat(quat, turn) if letter.islower() else mul_quat(turn, quat))
    return quat


@kernel
def mat2quat(x: Vec3, y: Vec3, z: Vec3) -> Quat:
    """Convert the rotation matrix with the columns x, y, z (Shepperd, J. Guidance and Control 1, 1978)."""
    trace = x[0] + y[1] + z[2]
    if trace > 0.0:
        quat = (1.0 + trace, y[2] - z[1], z[0] - x[2], x[1] - y[0])
    elif x[0] > y[1] and x[0] > z[2]:
        quat = (y[2] - z[1], 1.0 + x[0] - y[1] - z[2], x[1] + y[0], z[0] + x[2])
    elif y[1] > z[2]:
        quat = (z[0] - x[2], x[1] + y[0], 1.0 - x[0] + y[1] - z[2], y[2] + z[1])
    else:
        quat = (x[1] - y[0], z[0] + x[2], y[2] + z[1], 1.0 - x[0] - y[1] + z[2])
    return unit_quat(quat)


def compose(outer: Pose, inner: Pose) -> Pose:
    """Compose two poses: `inner` is relative to `outer`; the result is relative to the parent frame of `outer`."""
    if outer is IDENTITY:
        return inner
    return add3(outer[0], mul_mat_vec3(quat2mat(outer[1]), inner[0])), unit_quat(mul_quat(outer[1], inner[1]))


def compose_as_is(outer: Pose, inner: Pose) -> Pose:
    """Compose two poses as `compose` does, without normalising the quaternion."""
    return add3(outer[0], mul_mat_vec3(quat2mat(outer[1]), inner[0])), mul_quat(outer[1], inner[1])


_EPS = 1e-12
_LARGEST_COUNT = 500
_HALF = 0.707106781186548  # sqrt(1/2), rounded as in MuJoCo
# for each axis: the plane (i, j) in which its rotation turns, and the sign of the rotation
_PLANES = ((1, 2, 1.0), (0, 2, -1.0), (0, 1, 1.0))


def rotate_symmetric(full: tuple[float, ...], quat: Quat) -> tuple[float, ...]:
    """Return R' A R for a symmetric matrix A = (xx, yy, zz, xy, xz, yz), where R is the rotation matrix of ``quat``."""
    r = quat2mat(quat)
    xx, yy, zz, xy, xz, yz = full
    (a, b, c), (d, e, f), (g, h, i) = (r[0], r[3], r[6]), (r[1], r[4], r[7]), (r[2], r[5], r[8])
    # images of the columns
    ax, ay, az = xx * a + xy * b + xz * c, xy * a + yy * b + yz * c, xz * a + yz * b + zz * c
    dx, dy, dz = xx * d + xy * e + xz * f, xy * d + yy * e + yz * f, xz * d + yz * e + zz * f
    gx, gy, gz = xx * g + xy * h + xz * i, xy * g + yy * h + yz * i, xz * g + yz * h + zz * i
    return (
        ax * a + ay * b + az * c,
        dx * d + dy * e + dz * f,
        gx * g + gy * h + gz * i,
        ax * d + ay * e + az * f,
        ax * g + ay * h + az * i,
        dx * g + dy * h + dz * i,
    )


def _unit(quat: Quat) -> Quat:
    """Normalise a quaternion. If its length differs from 1 by at most `mjMINVAL`, return it unchanged."""
    w, x, y, z = quat
    return normalize4(quat) if abs(sqrt(w * w + x * x + y * y + z * z) - 1.0) > mjMINVAL else quat


def _as_is(quat: Quat) -> Quat:
    """Return the quaternion. MuJoCo 4.0 does not normalise the product of the rotations."""
    return quat


def _rotation(tau: float, axis: int, sign: float) -> Quat | None:
    """Return the Jacobi rotation about an axis as a quaternion, or None if its angle is negligible.

    ``tau`` is the cotangent of twice the rotation angle; ``sign`` is the sense of rotation.
    """
    tangent = 1.0 / (abs(tau) + sqrt(1.0 + tau * tau))
    cosine = 1.0 / sqrt(1.0 + tangent * tangent)
    if cosine > 1.0 - _EPS:
        return None
    half = sqrt(0.5 - 0.5 * cosine)
    quat = [sqrt(1.0 - half * half), 0.0, 0.0, 0.0]
    quat[1 + axis] = (-sign if tau >= 0.0 else sign) * half
    return quat[0], quat[1], quat[2], quat[3]


def _largest_off_diagonal(full: tuple[float, ...]) -> tuple[int, tuple[int, int, float], float]:
    """Find the off-diagonal element of the largest magnitude.

    Return the axis that is not in its index, the plane (`_PLANES`), and the element. If several elements are equally
    large, take the last one.
    """
    size_xy, size_xz, size_yz = abs(full[3]), abs(full[4]), abs(full[5])
    axis = 2 if size_xy > size_xz and size_xy > size_yz else 1 if size_xz > size_yz else 0
    return axis, _PLANES[axis], full[5 - axis]


def principal_axes(full: tuple[float, ...]) -> tuple[Vec3, Quat]:
    """Compute the principal axes of a symmetric matrix (xx, yy, zz, xy, xz, yz).

    Return the eigenvalues, largest first, and the quaternion of the rotation whose columns are the eigenvectors. Each
    Jacobi rotation eliminates the largest off-diagonal element (Golub and Van Loan, Matrix Computations, section 8.5).
    The axes of round bodies depend on the last bit, so the operations have the same order as in MuJoCo.
    """
    quat: Quat = (1.0, 0.0, 0.0, 0.0)
    turned = full
    for _ in range(_LARGEST_COUNT):
        axis, (i, j, sign), element = _largest_off_diagonal(turned)
        if abs(element) < _EPS:
            break
        rotation = _rotation((turned[j] - turned[i]) / (2.0 * element), axis, sign)
        if rotation is None:
            break
        quat = _unit(mul_quat(quat, rotation))
        turned = rotate_symmetric(full, quat)
    return _sorted(turned, quat, _EPS, _unit)


def _sorted(turned: tuple[float, ...], quat: Quat, equal: float, unit: Callable[[Quat], Quat]) -> tuple[Vec3, Quat]:
    """Sort the eigenvalues, the diagonal of `turned`, in descending order; rotate the frame `quat` accordingly.

    Eigenvalues that differ by at most `equal` keep their order. `unit` normalises quaternions.
    """
    values = [turned[0], turned[1], turned[2]]
    for k in (0, 1, 0):
        if values[k] + equal < values[k + 1]:
            values[k], values[k + 1] = values[k + 1], values[k]
            turn = [_HALF, 0.0, 0.0, 0.0]
            turn[1 + (k + 2) % 3] = _HALF
            quat = unit(mul_quat(quat, (turn[0], turn[1], turn[2], turn[3])))
    return (values[0], values[1], values[2]), quat


def principal_axes_4_0(full: tuple[float, ...], least: float = 4e-15, equal: float = 1e-12) -> tuple[Vec3, Quat]:
    """Compute the principal axes of a symmetric matrix as MuJoCo 4.0 does; see `principal_axes`.

    Thresholds are relative to the largest element, and small rotations are not neglected. All operations have the same
    order as in 4.0, since the axes of round bodies depend on the last bit.

    Args:
        full: the matrix (xx, yy, zz, xy, xz, yz).
        least: largest off-diagonal element that is taken as 0, relative to the largest element of the matrix.
        equal: eigenvalues that differ by at most this are not sorted; relative to the largest element of the matrix.
    """
    largest = max(map(abs, full))
    quat: Quat = (1.0, 0.0, 0.0, 0.0)
    turned = full
    for _ in range(_LARGEST_COUNT):
        axis, (i, j, sign), element = _largest_off_diagonal(turned)
        if not abs(element) > least * largest:
            break
        tau = (turned[j] - turned[i]) / (2.0 * element)
        tangent = 1.0 / (abs(tau) + sqrt(1.0 + tau * tau))
        half = tangent / (1.0 + sqrt(1.0 + tangent * tangent))  # tangent of half the angle
        cosine = 1.0 / sqrt(1.0 + half * half)
        turn = [cosine, 0.0, 0.0, 0.0]
        turn[1 + axis] = (-sign if tau >= 0.0 else sign) * (half * cosine)
        quat = mul_quat(quat, (turn[0], turn[1], turn[2], turn[3]))
        turned = rotate_symmetric(full, quat)
    return _sorted(turned, quat, equal * largest, _as_is)
