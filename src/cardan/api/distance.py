"""Distances of geoms (spec: programming, API reference, "Support")."""

from __future__ import annotations

from functools import cache

import numpy as np

from cardan.api.arguments import writable_vector
from cardan.api.array_arguments import valid_id
from cardan.collision.distance import geom_distance
from cardan.enums import mjtGeom
from cardan.jit import OK, Program, stage
from cardan.model.kernel_views import Data, Model
from cardan.model.mjdata import MjData
from cardan.model.mjmodel import MjModel

__all__ = ["mj_geomDistance"]


@stage
def distance_of_geoms(m: Model, d: Data) -> int:
    """Distance of the geoms `arg_id[0]` and `arg_id[1]`, at most `arg_point[0]`, into `arg_point[0]`."""
    d.work.arg_point[0] = geom_distance(m, d, d.work.arg_id[0], d.work.arg_id[1], d.work.arg_point[0])
    return OK


@cache
def _program() -> Program:
    return Program([distance_of_geoms])


def mj_geomDistance(m: MjModel, d: MjData, geom1: int, geom2: int, distmax: float, fromto: np.ndarray | None) -> float:
    """Smallest signed distance of two geoms, at their present poses.

    Args:
        m: model.
        d: data; ``geom_xpos`` and ``geom_xmat`` are read.
        geom1: id of the first geom: plane, sphere, capsule, ellipsoid, cylinder, box or mesh (its convex hull).
        geom2: id of the second geom.
        distmax: distance beyond which the geoms are not looked at more closely, m.
        fromto: None, or an array of 6 that gets the closest points (the deepest ones of geoms that overlap) on the
            first and the second geom, global frame; zeros if they are farther apart than `distmax`.

    Returns:
        The distance in m, negative if the geoms overlap, at most `distmax` (which two planes get as well).

    Raises:
        IndexError: there is no such geom.
        TypeError: `fromto` is not a writeable array of 6 numbers.
        ValueError: one of the geoms is a height field or a signed-distance shape, which are not convex.
    """
    for geom in (valid_id("geom", geom1, m.ngeom), valid_id("geom", geom2, m.ngeom)):
        if m.geom_type[geom] in (mjtGeom.mjGEOM_HFIELD, mjtGeom.mjGEOM_SDF):
            raise ValueError(f"mj_geomDistance: geom {geom} is a height field or signed-distance shape, not convex")
    if fromto is not None:
        writable_vector("mj_geomDistance", "fromto", fromto, 6, "6")
    work = d._memory.arrays
    work["work.arg_id"][:2] = geom1, geom2
    work["work.arg_point"][0] = distmax
    _program().run(m, d)
    if fromto is not None:
        fromto.reshape(6)[:] = work["work.witness"].reshape(6)
    return float(work["work.arg_point"][0])
