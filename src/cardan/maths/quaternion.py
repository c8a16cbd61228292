"""Unit quaternions (w, x, y, z) as tuples; they represent rotations in 3D (spec: computation, floating objects).

Rotation vectors are axis times angle (rad). The derivatives of the exponential map of rotations and of its inverse are
*right* Jacobians: perturbations are rotation vectors in the frame of the rotated body (Sola, Deray and Atchuthan 2018,
appendix B).
"""

from __future__ import annotations

from math import atan2, cos, pi, sin, sqrt

from cardan.jit import kernel
from cardan.maths.types import Mat3, Quat, Vec3
from cardan.maths.vector import MINVAL, norm3, normalize3, scale3


@kernel
def mul_quat(a: Quat, b: Quat) -> Quat:
    """Hamilton product a b: the rotation by b, followed by the rotation by a."""
    return (
        a[0] * b[0] - a[1] * b[1] - a[2] * b[2] - a[3] * b[3],
        a[0] * b[1] + a[1] * b[0] + a[2] * b[3] - a[3] * b[2],
        a[0] * b[2] - a[1] * b[3] + a[2] * b[0] + a[3] * b[1],
        a[0] * b[3] + a[1] * b[2] - a[2] * b[1] + a[3] * b[0],
    )


@kernel
def neg_quat(q: Quat) -> Quat:
    """Conjugate: the inverse rotation."""
    return (q[0], -q[1], -q[2], -q[3])


@kernel
def normalize4(q: Quat) -> Quat:
    """Normalise a quaternion; return the identity if `q` is shorter than `MINVAL`.

    If the length of `q` is 1 to rounding, the result is exactly `q`, so that repeated normalisation changes nothing.
    The derivatives of the result are still those of the normalisation.
    """
    n = sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3])
    if n < MINVAL:
        return (1.0, 0.0, 0.0, 0.0)
    if abs(n - 1.0) <= MINVAL:  # make n exactly 1; integers carry no derivatives, so n keeps its own
        n -= int((n - 1.0) * 2.0**53) * 2.0**-53
    s = 1.0 / n
    return (q[0] * s, q[1] * s, q[2] * s, q[3] * s)


@kernel
def rot_vec_quat(v: Vec3, q: Quat) -> Vec3:
    """Rotate the vector `v` by the unit quaternion `q`."""
    w, x, y, z = q
    tx = w * v[0] + y * v[2] - z * v[1]
    ty = w * v[1] + z * v[0] - x * v[2]
    tz = w * v[2] + x * v[1] - y * v[0]
    return (v[0] + 2.0 * (y * tz - z * ty), v[1] + 2.0 * (z * tx - x * tz), v[2] + 2.0 * (x * ty - y * tx))


@kernel
def quat2mat(q: Quat) -> Mat3:
    """Rotation matrix of a unit quaternion: nine numbers, row by row."""
    w, x, y, z = q
    return (
        w * w + x * x - y * y - z * z,
        2.0 * (x * y - w * z),
        2.0 * (x * z + w * y),
        2.0 * (x * y + w * z),
        w * w - x * x + y * y - z * z,
        2.0 * (y * z - w * x),
        2.0 * (x * z - w * y),
        2.0 * (y * z + w * x),
        w * w - x * x - y * y + z * z,
    )


@kernel
def axis_angle2quat(axis: Vec3, angle: float) -> Quat:
    """Quaternion of the rotation by `angle` (rad) around the unit vector `axis`."""
    s = sin(0.5 * angle)
    return (cos(0.5 * angle), axis[0] * s, axis[1] * s, axis[2] * s)


@kernel
def turning_angle(w: float, s: float) -> float:
    """Rotation angle in (-pi, pi] of a quaternion with the real part `w` and a vector part of length `s`."""
    angle = 2.0 * atan2(s, w)
    return angle - 2.0 * pi if angle > pi else angle


@kernel
def quat2vel(q: Quat, dt: float) -> Vec3:
    """Angular velocity (rad/s, body frame) of a rotation by `q` in the time `dt` (s); the angle is in (-pi, pi].

    Rotations below `MINVAL` are computed to first order, so that derivatives at rest are correct.
    """
    axis = (q[1], q[2], q[3])
    s = norm3(axis)
    if s < MINVAL:
        return scale3(axis, (2.0 if q[0] >= 0.0 else -2.0) / dt)
    return scale3(axis, turning_angle(q[0], s) / (s * dt))


@kernel
def sub_quat(a: Quat, b: Quat) -> Vec3:
    """Rotation vector in the frame of `b` that takes the orientation `b` to `a`."""
    return quat2vel(mul_quat(neg_quat(b), a), 1.0)


@kernel
def integrate_quat(q: Quat, velocity: Vec3, dt: float) -> Quat:
    """Rotate the orientation `q` for `dt` (s) with the angular `velocity` (rad/s, body frame); normalise the result."""
    speed = norm3(velocity)
    if speed < MINVAL:  # to first order, so that derivatives at rest are correct
        half = 0.5 * dt
        return normalize4(mul_quat(q, (1.0, half * velocity[0], half * velocity[1], half * velocity[2])))
    turned = mul_quat(q, axis_angle2quat(scale3(velocity, 1.0 / speed), speed * dt))
    return normalize4(turned)


SMALL_ANGLE = 1e-3  # below it, the first two terms of a series are exact to rounding


@kernel
def rotation_matrix(w: Vec3) -> Mat3:
    """Rotation matrix of the rotation vector `w`."""
    return quat2mat(axis_angle2quat(normalize3(w), norm3(w)))


@kernel
def _quadratic(w: Vec3, a: float, b: float) -> Mat3:
    """Return I + a [w] + b [w]^2, where [w] is the matrix of the cross product with w."""
    x, y, z = w
    return (
        1.0 - b * (y * y + z * z),
        b * x * y - a * z,
        b * x * z + a * y,
        b * x * y + a * z,
        1.0 - b * (z * z + x * x),
        b * y * z - a * x,
        b * x * z - a * y,
        b * y * z + a * x,
        1.0 - b * (x * x + y * y),
    )


@kernel
def exp_jacobian(w: Vec3) -> Mat3:
    """Right Jacobian of the exponential map at `w`: rotation in the body frame per change of `w`."""
    angle = norm3(w)
    square = angle * angle
    if angle < SMALL_ANGLE:
        return _quadratic(w, -0.5 + square / 24.0, 1.0 / 6.0 - square / 120.0)
    return _quadratic(w, (cos(angle) - 1.0) / square, (angle - sin(angle)) / (square * angle))


@kernel
def log_jacobian(w: Vec3) -> Mat3:
    """Inverse of the right Jacobian at `w`: change of `w` per further rotation in the body frame."""
    angle = norm3(w)
    square = angle * angle
    if angle < SMALL_ANGLE:
        return _quadratic(w, 0.5, 1.0 / 12.0 + square / 720.0)
    half = 0.5 * angle
    return _quadratic(w, 0.5, (1.0 - half * cos(half) / sin(half)) / square)
