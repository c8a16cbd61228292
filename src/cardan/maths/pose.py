"""Poses, and the ways to write an orientation as a quaternion (spec: modeling, "Frame orientations").

A pose is a position and a unit quaternion (w, x, y, z): where a frame is and how it is turned, seen from another frame.
"""

from __future__ import annotations

from functools import lru_cache
from math import atan2, sqrt

from cardan.jit import kernel
from cardan.maths.quaternion import axis_angle2quat, mul_quat, quat2mat
from cardan.maths.vector import MINVAL, add3, mul_mat_vec3

Vec3 = tuple[float, float, float]
Quat = tuple[float, float, float, float]
Pose = tuple[Vec3, Quat]

IDENTITY: Pose = ((0.0, 0.0, 0.0), (1.0, 0.0, 0.0, 0.0))
AXES: dict[str, Vec3] = {"x": (1.0, 0.0, 0.0), "y": (0.0, 1.0, 0.0), "z": (0.0, 0.0, 1.0)}
"""Unit vector by the letter of its axis."""


@kernel
def unit_quat(quat: Quat) -> Quat:
    """The unit quaternion along `quat`, or the identity; rounded as in the reference, since ties depend on it."""
    length = sqrt(quat[0] * quat[0] + quat[1] * quat[1] + quat[2] * quat[2] + quat[3] * quat[3])
    if length < MINVAL:
        return (1.0, 0.0, 0.0, 0.0)
    return (quat[0] / length, quat[1] / length, quat[2] / length, quat[3] / length)


@kernel
def z2quat(axis: Vec3, least: float = MINVAL) -> Quat:
    """The smallest rotation that takes the z axis to the unit vector `axis`; half a turn about x for -z.

    A sine of the angle below `least` counts as 0.
    """
    x, y, z = axis
    side = sqrt(x * x + y * y)
    if side < least:
        side = 0.0
    turn = (1.0, 0.0, 0.0) if side == 0.0 else (-y / side, x / side, 0.0)
    return axis_angle2quat(turn, atan2(side, z))


@lru_cache(maxsize=4096)
def euler2quat(angles: Vec3, sequence: str) -> Quat:
    """Orientation from three angles (rad); lower-case axes turn with the frame, upper-case ones stay.

    Results are kept: what is copied is turned by the same angles again and again.
    """
    quat = IDENTITY[1]
    for angle, letter in zip(angles, sequence, strict=True):
        turn = axis_angle2quat(AXES[letter.lower()], angle)
        quat = unit_quat(mul_quat(quat, turn) if letter.islower() else mul_quat(turn, quat))
    return quat


@kernel
def mat2quat(x: Vec3, y: Vec3, z: Vec3) -> Quat:
    """Quaternion of the rotation matrix with the columns x, y, z (Shepperd, J. Guidance and Control 1, 1978)."""
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
    """The pose `inner`, given in the frame `outer`, in the frame in which `outer` is given."""
    if outer is IDENTITY:
        return inner
    return add3(outer[0], mul_mat_vec3(quat2mat(outer[1]), inner[0])), unit_quat(mul_quat(outer[1], inner[1]))
