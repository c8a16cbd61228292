"""Exact distances of convex geoms, with the points where they are closest, or deepest if they overlap.

A sphere is a point with a radius, a capsule a segment with a radius. The distance is that of these cores minus the
radii; the depth is that of the cores plus the radii.

Spec: programming, ``mj_geomDistance``; modelling, sensors ``distance``, ``normal``, ``fromto``.
"""

from __future__ import annotations

from cardan.collision.epa import find_deepest, polish
from cardan.collision.gjk import FAR, SEPARATED, find_closest
from cardan.collision.near import put_contact
from cardan.collision.stationary import settle, settle_on_flat
from cardan.collision.support import MINVAL, load_geom
from cardan.enums.codes import GEOM_CAPSULE, GEOM_CYLINDER, GEOM_ELLIPSOID, GEOM_SPHERE
from cardan.jit import collider, kernel
from cardan.maths.vector import add3, add_scaled3, get3, norm3, scale3, set3, sub3
from cardan.model.kernel_views import Data, Model


@kernel
def load_core(m: Model, d: Data, shape: int, geom: int) -> float:
    """Load the core of a geom as shape `shape` of the pair; return the radius around the core."""
    load_geom(m, d, shape, geom)
    if m.geom_type[geom] == GEOM_SPHERE or m.geom_type[geom] == GEOM_CAPSULE:
        d.work.shape_size[shape, 0] = 0.0
        return m.geom_size[geom, 0]
    return 0.0


@kernel
def is_curved(m: Model, geom: int) -> bool:
    """Whether the core of a geom has a curved surface."""
    return m.geom_type[geom] == GEOM_ELLIPSOID or m.geom_type[geom] == GEOM_CYLINDER


@kernel
def are_apart(d: Data, found: int) -> bool:
    """Whether the cores of the pair are apart, given the result `found` of their search."""
    return found == SEPARATED and norm3(sub3(get3(d.work.witness, 1), get3(d.work.witness, 0))) > MINVAL


@kernel
def set_gap(d: Data) -> None:
    """Write ``d.work.overlap_depth``, minus the distance, and ``overlap_normal`` of separate cores."""
    between = sub3(get3(d.work.witness, 1), get3(d.work.witness, 0))
    length = norm3(between)
    d.work.overlap_depth = -length
    set3(d.work.overlap_normal, 0, scale3(between, 1.0 / length))


@kernel
def improve(m: Model, d: Data, n: int) -> None:
    """Improve the result of a search for cores one of which is curved; its last simplex has `n` vertices."""
    if not settle(m, d):
        settle_on_flat(m, d, n)


@kernel
def smooth_gap(m: Model, d: Data, n: int) -> None:
    """Improve the gap of cores one of which is curved; the last simplex of the search has `n` vertices."""
    polish(m, d, get3(d.work.overlap_normal, 0))
    improve(m, d, n)


@kernel
def leave_cores(d: Data, radius1: float, radius2: float) -> float:
    """Move the closest points from the cores to the surfaces; return the signed distance of the surfaces."""
    normal = get3(d.work.overlap_normal, 0)
    set3(d.work.witness, 0, add_scaled3(get3(d.work.witness, 0), normal, radius1))
    set3(d.work.witness, 1, add_scaled3(get3(d.work.witness, 1), normal, -radius2))
    return -d.work.overlap_depth - radius1 - radius2


@kernel
def cores_distance(m: Model, d: Data, radius1: float, radius2: float, curved: bool, limit: float) -> float:
    """Signed distance of the two shapes in ``d.work.shape_*``, the cores of geoms, with a radius around each.

    Args:
        m: model.
        d: data.
        radius1: radius around the first core, m.
        radius2: radius around the second core.
        curved: whether one of the cores has a curved surface.
        limit: distance beyond which nothing more is wanted, m.

    Returns:
        The distance in m; more than `limit` if they are farther apart. Otherwise ``d.work.witness`` holds the closest
        points and ``d.work.overlap_normal`` the direction from the first to the second shape.
    """
    found, n = find_closest(m, d, limit + radius1 + radius2)
    if found == FAR:
        return 2.0 * abs(limit) + 1.0
    if are_apart(d, found):
        set_gap(d)
        if curved:
            smooth_gap(m, d, n)
    else:
        find_deepest(m, d, n)
        if curved:
            improve(m, d, 3)
    return leave_cores(d, radius1, radius2)


@kernel
def convex_distance(m: Model, d: Data, geom1: int, geom2: int, limit: float) -> float:
    """Signed distance of two convex geoms; more than `limit` if they are farther apart; writes as `cores_distance`."""
    d.work.shape_inflate = 0.0
    radius1 = load_core(m, d, 0, geom1)
    radius2 = load_core(m, d, 1, geom2)
    return cores_distance(m, d, radius1, radius2, is_curved(m, geom1) or is_curved(m, geom2), limit)


@kernel
def put_closest(d: Data, dist: float) -> int:
    """Write the only contact of two shapes, at their closest or deepest points, if it is within the margin."""
    if dist > d.work.near_margin:
        return 0
    middle = scale3(add3(get3(d.work.witness, 0), get3(d.work.witness, 1)), 0.5)
    put_contact(d, 0, dist, middle, get3(d.work.overlap_normal, 0))
    return 1


@collider
def exact_convex(m: Model, d: Data, geom1: int, geom2: int) -> int:
    """Find the contact of two convex geoms, at their closest or deepest points (``nativeccd``)."""
    return put_closest(d, convex_distance(m, d, geom1, geom2, d.work.near_margin))
