"""Poses in the notations of MJCF (spec: modeling, "Frame orientations" and "frame")."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from cardan.enums import mjtSameFrame
from cardan.maths.pose import IDENTITY, compose, unit_quat
from cardan.maths.types import Pose, Quat
from cardan.spec.defaults import superseded
from cardan.spec.orientation import orientation
from cardan.spec.schema.shared import ORIENTATION

if TYPE_CHECKING:
    from cardan.compiler.build import Build
    from cardan.compiler.columns import Resolved
    from cardan.spec.element import Element

SAME_POSE, SAME_TURN = int(mjtSameFrame.mjSAMEFRAME_BODY), int(mjtSameFrame.mjSAMEFRAME_BODYROT)
_WAYS = tuple(row.name for row in ORIENTATION if row.default is None)
"""Attributes that give an orientation in place of ``quat``."""


def frames_pose(build: Build, frames: tuple[Element, ...]) -> Pose:
    """Return the pose of the innermost of nested frames (outermost first) relative to the body.

    If there are no frames, the result is `IDENTITY`.
    """
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
    """Return the pose of an element in its body; ``frames`` are the frames around the element, outermost first."""
    return compose(frames_pose(build, frames), (values["pos"], orientation(build.settings, element, values)))


def element_poses(
    build: Build, resolved: Resolved, frames: Sequence[tuple[Element, ...]], segments: Sequence[Any] | None = None
) -> list[Pose]:
    """Return the poses of elements in their bodies; ``frames`` holds the frames around each element, outermost first.

    ``segments`` holds each element's ``fromto`` or None. An element with ``fromto`` gets an arbitrary pose, which the
    caller must replace.
    """
    identity = IDENTITY[1]
    quats = [quat if quat == identity else unit_quat(quat) for quat in resolved["quat"]]
    columns = {name: resolved[name] for name in _WAYS if resolved.any(name)}
    for number, given in enumerate(zip(*columns.values(), strict=True)):
        if any(given) and not (segments and segments[number]):
            element, values = resolved.elements[number], dict(zip(columns, given, strict=True))
            for name in superseded(element.attributes, build.tree.compat):
                values.pop(name, None)
            if any(values.values()):
                quats[number] = orientation(build.settings, element, values)
    poses = [*zip(resolved["pos"], quats, strict=True)]
    for number, around in enumerate(frames):
        if around:
            poses[number] = compose(frames_pose(build, around), poses[number])
    return poses


def frame_tolerance(build: Build) -> float:
    """Return the difference below which two frames count as equal.

    In MuJoCo 3.1, the result is 0: frames must be identical.
    """
    return 1e-6 if build.tree.compat == "4.0" else 0.0


def is_near(numbers: Sequence[float], other: Sequence[float], tolerance: float) -> bool:
    """Return whether all numbers differ by less than a tolerance."""
    return all(abs(a - b) < tolerance for a, b in zip(numbers, other, strict=True))


def is_same_turn(quat: Quat, other: Quat, tolerance: float) -> bool:
    """Return whether two quaternions of a rotation, of any sign, are the same within a tolerance."""
    return is_near(quat, other, tolerance) or is_near(quat, [-number for number in other], tolerance)


def is_same_frame(pose: Pose, other: Pose, tolerance: float) -> bool:
    """Return whether two poses are equal, or differ by less than the tolerance of `frame_tolerance`."""
    if pose == other:
        return True
    return tolerance > 0.0 and is_near(pose[0], other[0], tolerance) and is_same_turn(pose[1], other[1], tolerance)


def same_frame(pose: Pose, frames: Sequence[Pose], tolerance: float) -> int:
    """Return the value of ``*_sameframe`` (mjtSameFrame) of a pose; ``frames`` are the body's frame and the inertia's.

    With MuJoCo 4.0 (a tolerance above 0), the first frame of the same orientation counts, also if it is elsewhere.
    """
    for number, frame in enumerate(frames):
        if is_same_frame(pose, frame, tolerance):
            return number + SAME_POSE
        if tolerance and is_same_turn(pose[1], frame[1], tolerance):
            return number + SAME_TURN
    return 0
