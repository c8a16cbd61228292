"""Minkowski portal refinement: whether two convex shapes overlap, how deep, and where.

The *portal* is a triangle of points on the surface of the Minkowski difference through which the ray from an interior
point of the difference to the origin leaves it. It is first discovered, then moved outwards until either the origin
lies within it (the shapes overlap) or no point of the difference lies beyond the plane of the portal through the
origin (they don't). Where they overlap, the portal is refined further until it lies on the surface, up to
``opt.mpr_tolerance``: its distance from the origin is the depth.

The vertices are rows of ``d.work.simplex``: row 0 is the interior point, rows 1 to 3 are the portal, row 4 is the
newest point.

Sources: G. Snethen, XenoCollide: complex collision made simple, in Game Programming Gems 7 (2008), section 2.5;
spec: computation, collision detection, collision checking.
"""

from __future__ import annotations

from math import sqrt
from typing import Any

from cardan.collision.simplex import copy_vertex, triangle_weights, weighted_sum
from cardan.collision.support import support_difference
from cardan.jit import kernel
from cardan.maths.vector import add3, add_scaled3, cross, dot3, get3, norm3, scale3, set3, sub3

EPSILON = 2.220446049250313e-16
"""Numbers up to this are taken for 0."""

APART, TOUCH, ON_SEGMENT, PORTAL = range(4)
"""Outcomes of discovering a portal."""


@kernel
def unit(v: Any) -> Any:
    """The vector divided by its length, or itself if it is 0."""
    length = norm3(v)
    if length == 0.0:
        return v
    return scale3(v, 1.0 / length)


@kernel
def set_interior(d: Any) -> None:
    """Row 0: the difference of the centres of both shapes, moved off the origin if they coincide."""
    center1 = get3(d.work.shape_pos, 0)
    center2 = get3(d.work.shape_pos, 1)
    set3(d.work.simplex1, 0, center1)
    set3(d.work.simplex2, 0, center2)
    difference = sub3(center1, center2)
    if norm3(difference) < EPSILON:
        difference = (10.0 * EPSILON, 0.0, 0.0)
    set3(d.work.simplex, 0, difference)


@kernel
def side_normal(d: Any, row1: int, row2: int) -> Any:
    """Unit normal of the plane through the interior point and two vertices."""
    v0 = get3(d.work.simplex, 0)
    return unit(cross(sub3(get3(d.work.simplex, row1), v0), sub3(get3(d.work.simplex, row2), v0)))


@kernel
def discover_portal(m: Any, d: Any) -> int:
    """Find three points on the surface that the ray from the interior point to the origin passes between.

    Returns:
        `APART`: the shapes don't overlap; `TOUCH`: the origin is vertex 1; `ON_SEGMENT`: it lies between interior
        point and vertex 1; `PORTAL`: rows 1 to 3 are a portal.
    """
    set_interior(d)
    v0 = get3(d.work.simplex, 0)

    # first vertex: towards the origin
    direction = unit(scale3(v0, -1.0))
    v1 = support_difference(m, d, 1, direction)
    if dot3(v1, direction) < EPSILON:
        return APART

    # second vertex: across the plane of interior point, first vertex, and origin
    normal = cross(v0, v1)
    if dot3(normal, normal) < EPSILON * EPSILON:
        return TOUCH if dot3(v1, v1) < EPSILON * EPSILON else ON_SEGMENT
    direction = unit(normal)
    v2 = support_difference(m, d, 2, direction)
    if dot3(v2, direction) < EPSILON:
        return APART

    # orient the side so that its normal points to the origin
    direction = side_normal(d, 1, 2)
    if dot3(direction, v0) > 0.0:
        copy_vertex(d, 1, 4)
        copy_vertex(d, 2, 1)
        copy_vertex(d, 4, 2)
        direction = scale3(direction, -1.0)

    # third vertex: replace one of the others until the ray passes between all three
    for _ in range(m.opt.mpr_iterations):
        v3 = support_difference(m, d, 3, direction)
        if dot3(v3, direction) < EPSILON:
            return APART
        if dot3(cross(get3(d.work.simplex, 1), v3), v0) < -EPSILON:
            copy_vertex(d, 3, 2)
        elif dot3(cross(v3, get3(d.work.simplex, 2)), v0) < -EPSILON:
            copy_vertex(d, 3, 1)
        else:
            return PORTAL
        direction = side_normal(d, 1, 2)
    return APART


@kernel
def portal_direction(d: Any) -> Any:
    """Unit normal of the portal, away from the interior point."""
    v1 = get3(d.work.simplex, 1)
    return unit(cross(sub3(get3(d.work.simplex, 2), v1), sub3(get3(d.work.simplex, 3), v1)))


@kernel
def portal_reaches(m: Any, d: Any, direction: Any) -> bool:
    """Whether the newest point is no farther out than the portal, up to the tolerance."""
    newest = dot3(get3(d.work.simplex, 4), direction)
    nearest = newest - dot3(get3(d.work.simplex, 1), direction)
    for row in range(2, 4):
        nearest = min(nearest, newest - dot3(get3(d.work.simplex, row), direction))
    return nearest <= m.opt.mpr_tolerance


@kernel
def expand_portal(d: Any) -> None:
    """Replace one vertex of the portal by the newest point, so that the ray still passes through."""
    v4v0 = cross(get3(d.work.simplex, 4), get3(d.work.simplex, 0))
    if dot3(get3(d.work.simplex, 1), v4v0) > 0.0:
        replaced = 1 if dot3(get3(d.work.simplex, 2), v4v0) > 0.0 else 3
    else:
        replaced = 2 if dot3(get3(d.work.simplex, 3), v4v0) > 0.0 else 1
    copy_vertex(d, 4, replaced)


@kernel
def refine_portal(m: Any, d: Any) -> bool:
    """Move the portal outwards until the origin lies inside (true), or is known to lie outside (false)."""
    for _ in range(m.opt.mpr_iterations):
        direction = portal_direction(d)
        if dot3(direction, get3(d.work.simplex, 1)) > -EPSILON:
            return True
        v4 = support_difference(m, d, 4, direction)
        if dot3(v4, direction) < -EPSILON or portal_reaches(m, d, direction):
            return False
        expand_portal(d)
    return False


@kernel
def refine_to_surface(m: Any, d: Any) -> None:
    """Move the portal outwards until it lies on the surface of the difference."""
    for _ in range(m.opt.mpr_iterations + 1):
        direction = portal_direction(d)
        support_difference(m, d, 4, direction)
        if portal_reaches(m, d, direction):
            return
        expand_portal(d)


@kernel
def middle(d: Any, row: int) -> Any:
    """The point midway between those of both shapes that belong to a vertex."""
    return scale3(add3(get3(d.work.simplex1, row), get3(d.work.simplex2, row)), 0.5)


@kernel
def portal_middle(d: Any) -> Any:
    """The point midway between both shapes where the origin lies in the tetrahedron of interior point and portal.

    The barycentric coordinates of the origin are ratios of volumes; in a flat tetrahedron, of areas of the portal.
    """
    v0, v1 = get3(d.work.simplex, 0), get3(d.work.simplex, 1)
    v2, v3 = get3(d.work.simplex, 2), get3(d.work.simplex, 3)
    b0 = dot3(cross(v1, v2), v3)
    b1 = dot3(cross(v3, v2), v0)
    b2 = dot3(cross(v0, v1), v3)
    b3 = dot3(cross(v2, v1), v0)
    total = b0 + b1 + b2 + b3
    if total <= 0.0:
        direction = portal_direction(d)
        b0 = 0.0
        b1 = dot3(cross(v2, v3), direction)
        b2 = dot3(cross(v3, v1), direction)
        b3 = dot3(cross(v1, v2), direction)
        total = b1 + b2 + b3
    point = scale3(middle(d, 0), b0)
    point = add_scaled3(point, middle(d, 1), b1)
    point = add_scaled3(point, middle(d, 2), b2)
    point = add_scaled3(point, middle(d, 3), b3)
    return scale3(point, 1.0 / total)


@kernel
def portal_refinement(m: Any, d: Any) -> bool:
    """Whether the two shapes in ``d.work.shape_*`` overlap.

    If so, writes depth, contact position and normal (``d.work.overlap_*``): the first shape has to move by the depth
    against the normal, to touch the second.
    """
    found = discover_portal(m, d)
    if found == APART:
        return False
    if found == PORTAL:
        if not refine_portal(m, d):
            return False
        refine_to_surface(m, d)
        v1, v2, v3 = get3(d.work.simplex, 1), get3(d.work.simplex, 2), get3(d.work.simplex, 3)
        direction = weighted_sum(v1, v2, v3, triangle_weights(v1, v2, v3))
        point = portal_middle(d)
    else:
        direction = get3(d.work.simplex, 1)
        point = middle(d, 1)
    depth = sqrt(dot3(direction, direction))
    if found == TOUCH:
        depth = 0.0
    elif depth < EPSILON:
        direction = portal_direction(d)
    d.work.overlap_depth = depth
    set3(d.work.overlap_pos, 0, point)
    set3(d.work.overlap_normal, 0, unit(direction))
    return True
