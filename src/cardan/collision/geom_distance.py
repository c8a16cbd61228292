"""Distances of geoms of all kinds that have one: planes, height fields and convex geoms.

Spec: programming, ``mj_geomDistance``; modelling, sensors ``distance``, ``normal``, ``fromto``.
"""

from __future__ import annotations

from cardan.collision.capsule import axis_z
from cardan.collision.distance import convex_distance
from cardan.collision.hfield_distance import field_distance
from cardan.collision.plane import plane_height
from cardan.collision.support import load_geom, support
from cardan.enums.codes import GEOM_HFIELD, GEOM_MESH, GEOM_PLANE
from cardan.jit import kernel
from cardan.maths.vector import add_scaled3, get3, scale3, set3
from cardan.model.kernel_views import Data, Model


@kernel
def plane_distance(m: Model, d: Data, plane: int, geom: int) -> float:
    """Signed distance of a convex geom above a plane; writes ``d.work.witness``, the plane's point first."""
    normal = axis_z(d.geom_xmat, plane)
    load_geom(m, d, 1, geom)
    d.work.shape_inflate = 0.0
    lowest = support(m, d, 1, scale3(normal, -1.0))
    dist = plane_height(d, plane, lowest)
    set3(d.work.witness, 0, add_scaled3(lowest, normal, -dist))
    set3(d.work.witness, 1, lowest)
    return dist


@kernel
def has_distance(m: Model, geom1: int, geom2: int) -> bool:
    """Whether two geoms have a distance: one of them is convex, and the other a plane, a height field or convex."""
    type1, type2 = m.geom_type[geom1], m.geom_type[geom2]
    return max(type1, type2) <= GEOM_MESH and max(type1, type2) > GEOM_HFIELD


@kernel
def swap_witnesses(d: Data) -> None:
    """Swap the points of the first and the second shape."""
    first = get3(d.work.witness, 0)
    set3(d.work.witness, 0, get3(d.work.witness, 1))
    set3(d.work.witness, 1, first)


@kernel
def geom_distance(m: Model, d: Data, geom1: int, geom2: int, limit: float) -> float:
    """Signed distance of two geoms, at most `limit`.

    Writes the points where they are closest to ``d.work.witness``: zeros if they are farther apart than `limit`, or
    have no distance.
    """
    dist = limit + 1.0
    if has_distance(m, geom1, geom2):
        swapped = m.geom_type[geom2] <= GEOM_HFIELD
        if swapped:
            geom1, geom2 = geom2, geom1
        if m.geom_type[geom1] == GEOM_PLANE:
            dist = plane_distance(m, d, geom1, geom2)
        elif m.geom_type[geom1] == GEOM_HFIELD:
            dist = field_distance(m, d, geom1, geom2, limit)
        else:
            dist = convex_distance(m, d, geom1, geom2, limit)
        if swapped:
            swap_witnesses(d)
    if dist <= limit:
        return dist
    set3(d.work.witness, 0, (0.0, 0.0, 0.0))
    set3(d.work.witness, 1, (0.0, 0.0, 0.0))
    return limit
