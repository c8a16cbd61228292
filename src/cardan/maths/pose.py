"""Poses, and conversions of orientations to quaternions (spec: modeling, "Frame orientations").

A pose is the position and orientation (unit quaternion w, x, y, z) of a frame relative to another frame.
"""

from __future__ import annotations

from functools import lru_cache
from math import atan2, sqrt

from cardan.jit import kernel
from cardan.maths.quaternion import axis_angle2quat, mul_quat, quat2mat
from cardan.maths.types import Pose, Quat, Vec3
from cardan.maths.vector import MINVAL, add3, mul_mat_vec3

IDENTITY: Pose = ((0.0, 0.0, 0.0), (1.0, 0.0, 0.0, 0.0))
AXES: dict[str, Vec3] = {"x": (1.0, 0.0, 0.0), "y": (0.0, 1.0, 0.0), "z": (0.0, 0.0, 1.0)}
"""Unit vector of each axis letter."""


@kernel
def unit_quat(quat: Quat) -> Quat:
    """Normalise a quaternion; return the identity if its length is below `MINVAL`.

    Rounding is as in the reference, because ties depend on the last bit.
    """
    length = sqrt(quat[0] * quat[0] + quat[1] * quat[1] + quat[2] * quat[2] + quat[3] * quat[3])
    if length < MINVAL:
        return (1.0, 0.0, 0.0, 0.0)
    return (quat[0] / length, quat[1] / length, quat[2] / length, quat[3] / length)


@kernel
def z2quat(axis: Vec3, least: float = MINVAL) -> Quat:
    """Return the smallest rotation that takes the z axis to the unit vector `axis`; for -z, half a turn about x.

    If the sine of the angle is below `least`, it is taken as 0.
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
