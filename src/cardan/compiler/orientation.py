"""Orientations and poses as MJCF writes them (spec: modeling, "Frame orientations" and "frame")."""

from __future__ import annotations

from collections.abc import Mapping
from math import atan2, sqrt
from typing import TYPE_CHECKING, Any

from cardan.constants import mjMINVAL
from cardan.maths.quaternion import axis_angle2quat, mul_quat, normalize4, rot_vec_quat
from cardan.maths.vector import add3, cross, dot3, norm3, scale3, sub3

if TYPE_CHECKING:
    from cardan.compiler.build import Build
    from cardan.spec.element import Element

Vec3 = tuple[float, float, float]
Quat = tuple[float, float, float, float]
Pose = tuple[Vec3, Quat]

IDENTITY: Pose = ((0.0, 0.0, 0.0), (1.0, 0.0, 0.0, 0.0))
_AXES: dict[str, Vec3] = {"x": (1.0, 0.0, 0.0), "y": (0.0, 1.0, 0.0), "z": (0.0, 0.0, 1.0)}


def z2quat(axis: Vec3) -> Quat:
    """The smallest rotation that takes the z axis to ``axis``; half a turn about x for -z."""
    x, y, z = axis
    side = sqrt(x * x + y * y)
    turn = (1.0, 0.0, 0.0) if side < mjMINVAL else (-y / side, x / side, 0.0)
    return axis_angle2quat(turn, atan2(side, z))


def euler2quat(angles: Vec3, sequence: str) -> Quat:
    """Orientation from three angles (rad); lower-case axes turn with the frame, upper-case ones stay."""
    quat: Quat = (1.0, 0.0, 0.0, 0.0)
    for angle, letter in zip(angles, sequence, strict=True):
        turn = axis_angle2quat(_AXES[letter.lower()], angle)
        quat = mul_quat(quat, turn) if letter.islower() else mul_quat(turn, quat)
    return quat


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
    return normalize4(quat)


def _unit(element: Element, vector: Vec3, attribute: str) -> Vec3:
    """The unit vector along ``vector``; raises when it has no direction."""
    length = norm3(vector)
    if length < mjMINVAL:
        raise element.error("an axis of zero length has no direction", attribute)
    return scale3(vector, 1.0 / length)


def _from_xyaxes(element: Element, value: tuple[float, ...]) -> Quat:
    """Orientation with the given x axis, and the y axis made orthogonal to it."""
    x = _unit(element, (value[0], value[1], value[2]), "xyaxes")
    y = sub3(value[3:], scale3(x, dot3(x, value[3:])))
    if norm3(y) < mjMINVAL:
        raise element.error("the Y axis must not be parallel to the X axis", "xyaxes")
    y = scale3(y, 1.0 / norm3(y))
    return mat2quat(x, y, cross(x, y))


def _from_quat(element: Element, value: Quat) -> Quat:
    return normalize4(value)


def orientation(build: Build, element: Element, values: Mapping[str, Any]) -> Quat:
    """Orientation of an element from whichever of the five formats its (resolved) values give."""
    if values.get("axisangle") is not None:
        value = values["axisangle"]
        return axis_angle2quat(_unit(element, value[:3], "axisangle"), value[3] * build.angle)
    if values.get("xyaxes") is not None:
        return _from_xyaxes(element, values["xyaxes"])
    if values.get("zaxis") is not None:
        return z2quat(_unit(element, values["zaxis"], "zaxis"))
    if values.get("euler") is not None:
        return normalize4(euler2quat(scale3(values["euler"], build.angle), build.eulerseq))
    quat = values["quat"]
    return quat if quat == IDENTITY[1] else normalize4(quat)


def compose(outer: Pose, inner: Pose) -> Pose:
    """The pose ``inner``, given in the frame ``outer``, in the frame in which ``outer`` is given."""
    if outer is IDENTITY:
        return inner
    return add3(outer[0], rot_vec_quat(inner[0], outer[1])), normalize4(mul_quat(outer[1], inner[1]))


def frames_pose(build: Build, frames: tuple[Element, ...]) -> Pose:
    """Pose of the innermost of nested frames in the body (spec: modeling, "frame")."""
    if not frames:
        return IDENTITY
    known = build.frame_poses.get(frames[-1])
    if known is None:
        frame = frames[-1]
        own = frame.resolved()
        pose = (own["pos"], orientation(build, frame, own))
        known = build.frame_poses[frame] = compose(frames_pose(build, frames[:-1]), pose)
    return known


def element_pose(build: Build, element: Element, values: Mapping[str, Any], frames: tuple[Element, ...]) -> Pose:
    """Pose of an element in its body, frames included."""
    return compose(frames_pose(build, frames), (values["pos"], orientation(build, element, values)))


def segment_pose(element: Element, fromto: tuple[float, ...]) -> tuple[Pose, float]:
    """Pose and half length of a shape whose axis runs between two points; z points from the second to the first."""
    start, end = fromto[:3], fromto[3:]
    direction = sub3(start, end)
    length = norm3(direction)
    if length < mjMINVAL:
        raise element.error("the two points must not coincide", "fromto")
    return (scale3(add3(start, end), 0.5), z2quat(scale3(direction, 1.0 / length))), 0.5 * length
