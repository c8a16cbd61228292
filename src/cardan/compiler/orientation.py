"""Orientations and poses as MJCF writes them (spec: modeling, "Frame orientations" and "frame")."""

from __future__ import annotations

from collections.abc import Mapping
from math import pi
from typing import TYPE_CHECKING, Any

from cardan.maths.pose import IDENTITY, Pose, Quat, Vec3, compose, euler2quat, mat2quat, unit_quat, z2quat
from cardan.maths.quaternion import axis_angle2quat
from cardan.maths.vector import add3, cross, dot3, norm3, scale3, sub3

if TYPE_CHECKING:
    from cardan.compiler.build import Build
    from cardan.spec.element import Element


SHORTEST = 1e-7
"""Vectors up to this length give no direction."""


def _unit(element: Element, vector: Vec3, attribute: str) -> Vec3:
    """The unit vector along ``vector``; raises when it has no direction."""
    length = norm3(vector)
    if length <= SHORTEST:
        raise element.error("an axis of zero length has no direction", attribute)
    return (vector[0] / length, vector[1] / length, vector[2] / length)


def _from_xyaxes(element: Element, value: tuple[float, ...]) -> Quat:
    """Orientation with the given x axis, and the y axis made orthogonal to it."""
    x = _unit(element, (value[0], value[1], value[2]), "xyaxes")
    y = sub3(value[3:], scale3(x, dot3(x, value[3:])))
    if norm3(y) <= SHORTEST:
        raise element.error("the Y axis must not be parallel to the X axis", "xyaxes")
    y = _unit(element, y, "xyaxes")
    return mat2quat(x, y, cross(x, y))


def _from_quat(element: Element, value: Quat) -> Quat:
    return unit_quat(value)


def _radians(build: Build, angle: float) -> float:
    """An angle of the file in radians, rounded as in the reference, since ties between geoms depend on it."""
    return angle / 180.0 * pi if build.settings["angle"] == "degree" else angle


def orientation(build: Build, element: Element, values: Mapping[str, Any]) -> Quat:
    """Orientation of an element from whichever of the five formats its (resolved) values give."""
    if values.get("axisangle") is not None:
        value = values["axisangle"]
        return axis_angle2quat(_unit(element, value[:3], "axisangle"), _radians(build, value[3]))
    if values.get("xyaxes") is not None:
        return _from_xyaxes(element, values["xyaxes"])
    if values.get("zaxis") is not None:
        return z2quat(_unit(element, values["zaxis"], "zaxis"), SHORTEST)
    if values.get("euler") is not None:
        first, second, third = values["euler"]
        angles = (_radians(build, first), _radians(build, second), _radians(build, third))
        return unit_quat(euler2quat(angles, build.eulerseq))
    quat = values["quat"]
    return quat if quat == IDENTITY[1] else unit_quat(quat)


def frames_pose(build: Build, frames: tuple[Element, ...]) -> Pose:
    """Pose of the innermost of nested frames in the body (spec: modeling, "frame")."""
    if not frames:
        return IDENTITY
    known = build.frame_poses.get(frames[-1])
    if known is None:
        frame = frames[-1]
        own = frame.resolved()
        pose = (own["pos"], unit_quat(orientation(build, frame, own)))
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
    if length <= SHORTEST:
        raise element.error("the two points must not coincide", "fromto")
    return (scale3(add3(start, end), 0.5), z2quat(_unit(element, direction, "fromto"), SHORTEST)), 0.5 * length
