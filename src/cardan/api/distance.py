"""Distances between geoms (spec: programming, API reference, "Support")."""

from __future__ import annotations

from typing import Any

import numpy as np

from cardan.api.array_arguments import valid_id
from cardan.api.native_call import native_by
from cardan.collision.distance import geom_distance
from cardan.enums.codes import GEOM_SDF
from cardan.jit import kernel
from cardan.jit.binding.arguments import Number, element, target
from cardan.model.kernel_views import Data, Model
from cardan.model.mjdata import MjData
from cardan.model.mjmodel import MjModel

__all__ = ["mj_geomDistance"]


SIGNED_DISTANCE = -1e300
"""Result for signed-distance shapes, for which distances are not computed."""


@kernel
def distance_of_geoms(m: Model, d: Data, geom1: int, geom2: int, distmax: float, fromto: Any) -> float:
    """Compute the result of `mj_geomDistance`; `SIGNED_DISTANCE` if one of the geoms is a signed-distance shape."""
    if m.geom_type[geom1] == GEOM_SDF or m.geom_type[geom2] == GEOM_SDF:
        return SIGNED_DISTANCE
    dist = geom_distance(m, d, geom1, geom2, distmax)
    for row in range(len(fromto)):
        for k in range(3):
            fromto[row, k] = d.work.witness[0, k]
            fromto[row, 3 + k] = d.work.witness[1, k]
    return dist


def _check_shapes(m: MjModel, geom1: int, geom2: int, **_: Any) -> None:
    for geom in (valid_id("geom", geom1, m.ngeom), valid_id("geom", geom2, m.ngeom)):
        if m.geom_type[geom] == GEOM_SDF:
            raise ValueError(f"mj_geomDistance: geom {geom} is a signed-distance shape, which has no distance")


@native_by(
    distance_of_geoms,
    check=_check_shapes,
    failure=(SIGNED_DISTANCE, "a geom is a signed-distance shape"),
    releases=True,
    geom1=element("geom", "ngeom"),
    geom2=element("geom", "ngeom"),
    distmax=Number(),
    fromto=target(6, optional=True),
)
def mj_geomDistance(m: MjModel, d: MjData, geom1: int, geom2: int, distmax: float, fromto: np.ndarray | None) -> float:
    """Smallest signed distance between two geoms, at their current poses.

    Args:
        m: model.
        d: data; ``geom_xpos`` and ``geom_xmat`` are read.
        geom1: id of the first geom: plane, height field, sphere, capsule, ellipsoid, cylinder, box or mesh (its convex
            hull). A height field is the union of convex prisms: the distance is the smallest one of any prism.
        geom2: id of the second geom.
        distmax: largest distance of interest, m. Larger distances are not computed.
        fromto: None, or an array of 6 numbers, written: the closest points (the deepest points if the geoms overlap) on
            the first and the second geom, world frame; zeros if the geoms are farther apart than `distmax`.

    Returns:
        The distance in m, negative if the geoms overlap, at most `distmax`. Pairs without a convex geom (of planes and
        height fields) get `distmax`.

    Raises:
        IndexError: a geom does not exist.
        TypeError: `fromto` is not a writable array of 6 numbers.
        ValueError: one of the geoms is a signed-distance shape.
    """
    ...
