"""Orientations in the formats of MJCF, converted to quaternions (spec: modeling, "Frame orientations")."""

from __future__ import annotations

from collections.abc import Mapping
from math import isfinite, pi
from typing import TYPE_CHECKING, Any

from cardan.errors import with_article
from cardan.maths.pose import IDENTITY, euler2quat, mat2quat, unit_quat, z2quat
from cardan.maths.quaternion import axis_angle2quat
from cardan.maths.types import Pose, Quat, Vec3, Vec6
from cardan.maths.vector import add3, cross, dot3, norm3, scale3, sub3

if TYPE_CHECKING:
    from cardan.spec.element import Element

SHORTEST = 1e-7
"""Upper bound of the length of vectors that count as zero and therefore have no direction."""


_LONG = ("capsule", "cylinder")
_SOLID = ("box", "ellipsoid")


def unit(element: Element, vector: Vec3, attribute: str) -> Vec3:
    """Return the unit vector along ``vector``. Raises MjcfError, at ``attribute`` of ``element``, for a zero vector."""
    length = norm3(vector)
    if length <= SHORTEST:
        raise element.error("an axis of zero length has no direction", attribute)
    return (vector[0] / length, vector[1] / length, vector[2] / length)


def _radians(settings: Mapping[str, Any], element: Element, angle: float, attribute: str) -> float:
    """Convert an angle in the file's unit to radians. Raises MjcfError if the angle is not finite.

    The order of operations matches MuJoCo to the last bit, because comparisons of nearly equal values depend on it.
    """
    if not isfinite(angle):
        raise element.error(f"an angle must be finite, found {angle:g}", attribute)
    return angle / 180.0 * pi if settings["angle"] == "degree" else angle


def orientation(settings: Mapping[str, Any], element: Element, values: Mapping[str, Any]) -> Quat:
    """Return the orientation of an element as a quaternion. Raises MjcfError if the values define no orientation.

    ``values`` are the resolved values of the element, with the orientation in one of five formats. ``settings`` are the
    values of ``compiler``: unit of angles, sequence of Euler angles.
    """
    if values.get("axisangle") is not None:
        value = values["axisangle"]
        return axis_angle2quat(
            unit(element, value[:3], "axisangle"), _radians(settings, element, value[3], "axisangle")
        )
    if values.get("xyaxes") is not None:
        # the y axis is made orthogonal to the x axis
        value = values["xyaxes"]
        x = unit(element, (value[0], value[1], value[2]), "xyaxes")
        y = sub3(value[3:], scale3(x, dot3(x, value[3:])))
        if norm3(y) <= SHORTEST:
            raise element.error("the Y axis must not be parallel to the X axis", "xyaxes")
        y = unit(element, y, "xyaxes")
        return mat2quat(x, y, cross(x, y))
    if values.get("zaxis") is not None:
        return z2quat(unit(element, values["zaxis"], "zaxis"), SHORTEST)
    if values.get("euler") is not None:
        first, second, third = (_radians(settings, element, angle, "euler") for angle in values["euler"])
        if set(settings["eulerseq"]) - set("xyzXYZ"):
            raise element.error(f"compiler eulerseq '{settings['eulerseq']}' has other letters than x, y, z", "euler")
        return unit_quat(euler2quat((first, second, third), settings["eulerseq"]))
    quat = values["quat"]
    return quat if quat == IDENTITY[1] else unit_quat(quat)


def segment_pose(element: Element, fromto: Vec6) -> tuple[Pose, float]:
    """Return pose and half length of a shape whose axis joins two points. The z axis points to the first point."""
    start, end = fromto[:3], fromto[3:]
    direction = sub3(start, end)
    length = norm3(direction)
    if length <= SHORTEST:
        raise element.error("the two points must not coincide", "fromto")
    return (scale3(add3(start, end), 0.5), z2quat(unit(element, direction, "fromto"), SHORTEST)), 0.5 * length


def size_from_segment(element: Element, kind: str, size: Vec3, half: float) -> Vec3:
    """Return the sizes (m) of a shape given by ``fromto``. Raises MjcfError if shapes of this type have no ``fromto``.

    ``kind`` is the type of the shape, and ``size`` contains the given sizes. ``half`` is half the distance between the
    two points.
    """
    if kind in _LONG:
        return (size[0], half, size[2])
    if kind in _SOLID:
        return (size[0], size[0], half)
    raise element.error(
        f"{with_article(kind)} cannot be given by two points: use {', '.join(_LONG + _SOLID)}", "fromto"
    )
