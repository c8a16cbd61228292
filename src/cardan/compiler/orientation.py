"""Poses as MJCF writes them (spec: modeling, "Frame orientations" and "frame")."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from cardan.maths.pose import IDENTITY, Pose, compose, unit_quat, z2quat
from cardan.maths.vector import add3, norm3, scale3, sub3
from cardan.spec.orientation import SHORTEST, orientation, unit

if TYPE_CHECKING:
    from cardan.compiler.build import Build
    from cardan.spec.element import Element


def frames_pose(build: Build, frames: tuple[Element, ...]) -> Pose:
    """Pose of the innermost of nested frames in the body (spec: modeling, "frame")."""
    if not frames:
        return IDENTITY
    known = build.frame_poses.get(frames[-1])
    if known is None:
        frame = frames[-1]
        own = frame.resolved()
        pose = (own["pos"], unit_quat(orientation(build.settings, frame, own)))
        known = build.frame_poses[frame] = compose(frames_pose(build, frames[:-1]), pose)
    return known


def element_pose(build: Build, element: Element, values: Mapping[str, Any], frames: tuple[Element, ...]) -> Pose:
    """Pose of an element in its body, frames included."""
    return compose(frames_pose(build, frames), (values["pos"], orientation(build.settings, element, values)))


def segment_pose(element: Element, fromto: tuple[float, ...]) -> tuple[Pose, float]:
    """Pose and half length of a shape whose axis runs between two points; z points from the second to the first."""
    start, end = fromto[:3], fromto[3:]
    direction = sub3(start, end)
    length = norm3(direction)
    if length <= SHORTEST:
        raise element.error("the two points must not coincide", "fromto")
    return (scale3(add3(start, end), 0.5), z2quat(unit(element, direction, "fromto"), SHORTEST)), 0.5 * length
