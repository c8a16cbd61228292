"""Content of frames that are stretched by different factors along their axes (spec: XML reference, "frame/scale")."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from cardan.spec.orientation import SHORTEST

if TYPE_CHECKING:
    from collections.abc import Mapping

    from cardan.spec.element import Element
    from cardan.spec.scaling.scale import Scale

_EQUAL = 1e-6  # relative difference of two factors that count as equal
_ROUND = ("capsule", "cylinder")
_ALIGNED = ("box", "ellipsoid", "plane", "hfield", *_ROUND)


def axis_factor(joint: Element, scale: Scale, axis: tuple[float, ...]) -> float:
    """Return the factor along the axis of a hinge or slide joint.

    Raises:
        MjcfError: the stretch would turn the axis.
    """
    vector = np.array(axis)
    length = np.linalg.norm(vector)
    factor = scale.along(vector / length) if length > SHORTEST else 1.0
    if factor is None:
        raise joint.error("must be aligned with the axes of the scale", "axis")
    return factor


def stretched_shape(
    element: Element, values: Mapping[str, Any], scale: Scale, rotation: np.ndarray
) -> tuple[float, ...]:
    """Return the sizes of a stretched geom or site.

    Args:
        element: the geom or site.
        values: its values before scaling.
        scale: scale of its surroundings, with a stretch.
        rotation: its rotation matrix, shape (3, 3). With ``fromto``, the third column is the direction.

    Raises:
        MjcfError: a geom of this shape cannot be stretched in this way.
    """
    size, kind = (*values["size"], 0.0, 0.0)[:3], values["type"]
    one_width = kind in _ROUND or values["fromto"] is not None
    along: list[float] = [scale.along(axis) or 0.0 for axis in rotation.T]
    if element.tag == "geom":
        _check_shape(element, kind, along, one_width)
    else:
        along = np.linalg.norm(scale.matrix @ rotation, axis=0).tolist()
    x, y, z = along
    if one_width:
        across = (x * y) ** 0.5
        return (size[0] * across, size[1] * z, size[2])
    if kind == "sphere":
        return (size[0] * scale.length, *size[1:])
    if kind == "plane":
        return (size[0] * x, size[1] * y, size[2] * scale.length)
    return (size[0] * x, size[1] * y, size[2] * z)


def _check_shape(geom: Element, kind: str, along: list[float], one_width: bool) -> None:
    """Raise MjcfError if a geom cannot be stretched by the factors ``along`` its axes; 0: the axis turns.

    ``one_width``: the geom has one size across its axis.
    """
    if kind == "sphere" and not _equal(*along):
        raise geom.error("a sphere can only be scaled equally in all directions; use an ellipsoid", "type")
    if kind in _ALIGNED and not all(along):
        raise geom.error(f"this {kind} is not aligned with the axes of the scale")
    if one_width and not _equal(*along[:2]):
        raise geom.error(f"this {kind} can only be scaled equally in all directions across its axis", "type")


def _equal(*factors: float) -> bool:
    """Return whether factors are equal."""
    return max(factors) - min(factors) <= _EQUAL * max(factors)


def stretched_asset(element: Element, scale: Scale, rotation: np.ndarray) -> tuple[float, ...]:
    """Return the factors of a mesh or height field along its own axes, for a geom or site with this rotation matrix.

    Raises:
        UnsupportedFeature: the mesh would be stretched along other axes than its own.
    """
    own = rotation.T @ scale.matrix @ rotation
    diagonal = np.diag(own)
    if np.abs(own - np.diag(diagonal)).max() > 1e-9 * diagonal.max():
        raise element.unsupported("meshes stretched along other axes than their own")
    return tuple(diagonal.tolist())


def stretched_inertia(values: Mapping[str, Any], scale: Scale, rotation: np.ndarray) -> dict[str, Any]:
    """Return the attributes of a stretched inertial element, with ``fullinertia`` in the frame of the body.

    The matrix of second moments is stretched as positions are, and the mass scaled.
    """
    full = values["fullinertia"]
    if full is None:
        inertia = rotation @ np.diag(values["diaginertia"]) @ rotation.T
    else:
        xx, yy, zz, xy, xz, yz = full
        inertia = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
    moments = 0.5 * np.trace(inertia) * np.eye(3) - inertia
    moments = scale.mass * scale.matrix @ moments @ scale.matrix.T
    made = np.trace(moments) * np.eye(3) - moments
    entries = (made[0, 0], made[1, 1], made[2, 2], made[0, 1], made[0, 2], made[1, 2])
    return {
        "pos": scale.moved(values["pos"]),
        "mass": values["mass"] * scale.mass,
        "fullinertia": tuple(float(entry) for entry in entries),
    }
