"""Euler angles to quaternion, in the sequence and unit that the model's compiler settings give."""

from __future__ import annotations

from math import radians

from cardan.maths.quaternion import axis_angle2quat, mul_quat

_AXES = {"x": (1.0, 0.0, 0.0), "y": (0.0, 1.0, 0.0), "z": (0.0, 0.0, 1.0)}


def euler_quat(angles: tuple[float, ...], sequence: str, degrees: bool) -> tuple[float, float, float, float]:
    """Quaternion of three rotations (spec: modeling, "Frame orientations").

    ``sequence`` holds the axes: lower case turns about the moving axis, upper case about the fixed one.
    """
    quat = (1.0, 0.0, 0.0, 0.0)
    for angle, letter in zip(angles, sequence, strict=True):
        turn = axis_angle2quat(_AXES[letter.lower()], radians(angle) if degrees else angle)
        quat = mul_quat(quat, turn) if letter.islower() else mul_quat(turn, quat)
    return quat
