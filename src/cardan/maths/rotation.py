"""Derivatives of the exponential map of rotations and of its inverse (Sola, Deray and Atchuthan 2018, appendix B).

Rotation vectors are axis times angle (rad). Perturbations are rotation vectors in the frame of the rotated body: the
*right* Jacobians. Matrices are nine numbers, row by row.
"""

from __future__ import annotations

from math import cos, sin

from cardan.jit import kernel
from cardan.maths.quaternion import axis_angle2quat, quat2mat
from cardan.maths.types import Mat3, Vec3
from cardan.maths.vector import norm3, normalize3

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
