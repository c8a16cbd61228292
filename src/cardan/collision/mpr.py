"""Minkowski portal refinement: whether two convex shapes overlap, how deep, and where.

The *origin ray* goes from a point inside the Minkowski difference of the shapes through the origin and on. The shapes
overlap if it meets the origin before it leaves the difference. A *portal* is a triangle of support points that the ray
passes through. There are three phases, and each round of each asks for one support point:

- `ENCLOSE` turns a candidate about the ray until the ray passes through it;
- `ADVANCE` moves the portal outwards until the origin lies behind it, so that the shapes overlap;
- `SETTLE` moves it on until it lies on the surface: its distance from the origin is the depth.

The first two end with `APART` as soon as a support point shows a plane that separates the shapes. A portal that the
newest point is at most ``opt.mpr_tolerance`` beyond is taken to lie on the surface. In the last phase,
``opt.mpr_iterations`` is the largest number of times that the portal is moved.

Row 0 of ``d.work.simplex`` is the interior point. A portal is a tuple of the four other rows: its corners a, b and c,
which turn clockwise for an eye at the interior point, and a spare row for the next support point. So a point that
takes the place of a corner is not copied: the two rows change roles.

Sources: G. Snethen, XenoCollide: complex collision made simple, in Game Programming Gems 7 (2008), section 2.5;
spec: computation, collision detection, collision checking. The thresholds are those that the reference's numbers show.
"""

from __future__ import annotations

from typing import Any

from cardan.collision.simplex import segment_weights, triangle_weights, weighted_sum
from cardan.collision.support import support_difference
from cardan.jit import kernel
from cardan.maths.vector import add3, add_scaled3, cross, dot3, get3, norm3, scale3, set3, sub3
from cardan.model.kernel_views import Data, Model

EPSILON = 2.220446049250313e-16
"""Numbers below this are taken for 0: heights over planes in m, volumes in m^3, and squares of areas in m^4. So on
shapes of millimetres a triangle with sides of 0.1 mm is one without area, as in the reference."""
OFF_CENTER = 10.0 * EPSILON
"""By how much the interior point is moved along x if it coincides with the origin, m."""

ENCLOSE, ADVANCE, SETTLE, APART, PIERCED, SETTLED = range(6)
"""Three phases and three ends: the shapes don't overlap; the ray leaves through the first vertex; through a portal."""

MOST_ROUNDS = 1000
"""Rounds after which the first two phases are given up; they end by themselves but for rounding, mostly within 10."""

FIRST_ROWS = (1, 2, 3, 4)
"""The portal that all searches start with."""


@kernel
def unit(v: Any) -> Any:
    """The vector divided by its length, or itself if it is 0."""
    length = norm3(v)
    if length == 0.0:
        return v
    return scale3(v, 1.0 / length)


@kernel
def triangle_normal(a: Any, b: Any, c: Any) -> Any:
    """Unit normal of a triangle, on the side from which a, b, c turn counter-clockwise; 0 if it has no area."""
    return unit(cross(sub3(b, a), sub3(c, a)))


@kernel
def volume(a: Any, b: Any, c: Any) -> float:
    """Six times the signed volume of the tetrahedron of the origin and three points."""
    return dot3(cross(a, b), c)


@kernel
def corners(d: Data, portal: Any) -> Any:
    """The corners of a portal."""
    return get3(d.work.simplex, portal[0]), get3(d.work.simplex, portal[1]), get3(d.work.simplex, portal[2])


@kernel
def with_newest(portal: Any, corner: int) -> Any:
    """The portal with the point in the spare row at a corner (0, 1, 2); that of the corner is spare now."""
    a, b, c, spare = portal
    if corner == 0:
        return (spare, b, c, a)
    if corner == 1:
        return (a, spare, c, b)
    return (a, b, spare, c)


@kernel
def set_interior(d: Data) -> Any:
    """Write the interior point, the difference of the centres of both shapes; returns it."""
    center1, center2 = get3(d.work.shape_pos, 0), get3(d.work.shape_pos, 1)
    interior = sub3(center1, center2)
    if norm3(interior) < EPSILON:
        interior = (interior[0] + OFF_CENTER, interior[1], interior[2])
    set3(d.work.simplex1, 0, center1)
    set3(d.work.simplex2, 0, center2)
    set3(d.work.simplex, 0, interior)
    return interior


@kernel
def ask(m: Model, d: Data, row: int, direction: Any) -> Any:
    """The support point in a direction, which goes to a row; returns it."""
    set3(d.work.asked, 0, direction)
    return support_difference(m, d, row, direction)


@kernel
def aim(m: Model, d: Data) -> Any:
    """Find a first candidate: the corners a and b of a portal.

    Returns:
        (`ENCLOSE`, portal); or `APART` or `PIERCED` with a portal whose first corner is the first vertex.
    """
    interior = set_interior(d)

    # the first vertex lies towards the origin
    direction = unit(scale3(interior, -1.0))
    first = ask(m, d, FIRST_ROWS[0], direction)
    if dot3(first, direction) < EPSILON:
        return APART, FIRST_ROWS

    # the second one across the plane of first vertex and ray
    normal = cross(interior, first)
    if dot3(normal, normal) < EPSILON:
        return PIERCED, FIRST_ROWS
    direction = unit(normal)
    second = ask(m, d, FIRST_ROWS[1], direction)
    if dot3(second, direction) < EPSILON:
        return APART, FIRST_ROWS

    # the origin has to be on the outer side of the triangle of the interior point and both
    if dot3(triangle_normal(interior, first, second), interior) > 0.0:
        return ENCLOSE, (FIRST_ROWS[1], FIRST_ROWS[0], FIRST_ROWS[2], FIRST_ROWS[3])
    return ENCLOSE, FIRST_ROWS


@kernel
def facing(d: Data, phase: int, portal: Any) -> Any:
    """The unit vector along which the next support point is looked for.

    That is the outward normal of the portal, or of the side of a candidate that the origin lies beyond.
    """
    a, b, c = corners(d, portal)
    if phase == ENCLOSE:
        return triangle_normal(get3(d.work.simplex, 0), a, b)
    return triangle_normal(a, b, c)


@kernel
def corner_to_enclose(d: Data, portal: Any) -> int:
    """The corner of a candidate that gives way to the newest point; 2 if the ray then passes through."""
    interior, newest = get3(d.work.simplex, 0), get3(d.work.simplex, portal[3])
    a, b, _ = corners(d, portal)
    if volume(a, newest, interior) < -EPSILON:
        return 1
    if volume(newest, b, interior) < -EPSILON:
        return 0
    return 2


@kernel
def corner_to_advance(d: Data, portal: Any) -> int:
    """The corner of a portal that gives way to the newest point, so that the ray still passes through.

    The planes through the ray, the newest point and each corner cut the portal in three: the ray passes through one.
    """
    a, b, c = corners(d, portal)
    plane = cross(get3(d.work.simplex, portal[3]), get3(d.work.simplex, 0))
    if dot3(a, plane) > 0.0:
        return 0 if dot3(b, plane) > 0.0 else 2
    return 1 if dot3(c, plane) > 0.0 else 0


@kernel
def lies_on_surface(m: Model, d: Data, portal: Any, direction: Any) -> bool:
    """Whether the newest point is no farther out than one of the corners, up to the tolerance."""
    a, b, c = corners(d, portal)
    reach = max(dot3(a, direction), dot3(b, direction), dot3(c, direction))
    return dot3(get3(d.work.simplex, portal[3]), direction) - reach <= m.opt.mpr_tolerance


@kernel
def next_round(m: Model, d: Data, phase: int, portal: Any) -> Any:
    """One support point, and what it makes of phase and portal; returns both."""
    direction = facing(d, phase, portal)
    if phase == ADVANCE and dot3(direction, get3(d.work.simplex, portal[0])) > -EPSILON:
        phase = SETTLE
    height = dot3(ask(m, d, portal[3], direction), direction)

    if phase == ENCLOSE:
        if height < EPSILON:
            return APART, portal
        corner = corner_to_enclose(d, portal)
        return ADVANCE if corner == 2 else ENCLOSE, with_newest(portal, corner)
    if phase == ADVANCE and height < -EPSILON:
        return APART, portal
    if lies_on_surface(m, d, portal, direction):
        return SETTLED if phase == SETTLE else APART, portal
    return phase, with_newest(portal, corner_to_advance(d, portal))


@kernel
def search(m: Model, d: Data) -> Any:
    """Go through the phases; returns the end (`APART`, `PIERCED`, `SETTLED`) and the last portal."""
    phase, portal = aim(m, d)
    rounds = 0
    while phase < SETTLE and rounds < MOST_ROUNDS:
        phase, portal = next_round(m, d, phase, portal)
        rounds += 1
    rounds = 0
    while phase == SETTLE:
        if rounds == m.opt.mpr_iterations:
            return SETTLED, portal
        phase, portal = next_round(m, d, phase, portal)
        rounds += 1
    return phase if phase > SETTLE else APART, portal


@kernel
def nearer(p: Any, q: Any) -> Any:
    """The one of two points that is closer to the origin."""
    return q if dot3(q, q) < dot3(p, p) else p


@kernel
def nearest_of_segment(a: Any, b: Any) -> Any:
    """The point of a segment that is closest to the origin."""
    weights = segment_weights(a, b)
    return add_scaled3(scale3(a, weights[0]), b, weights[1])


@kernel
def nearest_of_triangle(a: Any, b: Any, c: Any) -> Any:
    """The point of a triangle that is closest to the origin; of one without area, the point of its sides."""
    normal = cross(sub3(b, a), sub3(c, a))
    if dot3(normal, normal) < EPSILON:
        return nearer(nearer(nearest_of_segment(a, b), nearest_of_segment(b, c)), nearest_of_segment(c, a))
    return weighted_sum(a, b, c, triangle_weights(a, b, c))


@kernel
def middle(d: Data, row: int) -> Any:
    """The point midway between those of both shapes that belong to a vertex."""
    return scale3(add3(get3(d.work.simplex1, row), get3(d.work.simplex2, row)), 0.5)


@kernel
def origin_weights(d: Data, portal: Any) -> Any:
    """Barycentric coordinates of the origin in the tetrahedron of interior point and portal, but for a common factor.

    They are volumes; in a flat tetrahedron, areas as the portal's normal sees them.
    """
    interior = get3(d.work.simplex, 0)
    a, b, c = corners(d, portal)
    w0, w1 = volume(a, b, c), volume(c, b, interior)
    w2, w3 = volume(interior, a, c), volume(b, a, interior)
    if w0 + w1 + w2 + w3 <= 0.0:
        direction = triangle_normal(a, b, c)
        w0, w1, w2, w3 = 0.0, volume(b, c, direction), volume(c, a, direction), volume(a, b, direction)
    return w0, w1, w2, w3


@kernel
def origin_between_shapes(d: Data, portal: Any) -> Any:
    """The point midway between the points of both shapes whose difference is the origin."""
    w0, w1, w2, w3 = origin_weights(d, portal)
    point = scale3(middle(d, 0), w0)
    point = add_scaled3(point, middle(d, portal[0]), w1)
    point = add_scaled3(point, middle(d, portal[1]), w2)
    point = add_scaled3(point, middle(d, portal[2]), w3)
    return scale3(point, 1.0 / (w0 + w1 + w2 + w3))


@kernel
def portal_refinement(m: Model, d: Data) -> bool:
    """Whether the two shapes in ``d.work.shape_*`` overlap; shapes that just touch do not.

    If they do, writes depth, contact position and normal (``d.work.overlap_*``): the first shape has to move by the
    depth against the normal, to touch the second.
    """
    end, portal = search(m, d)
    if end == APART:
        return False
    a, b, c = corners(d, portal)
    if end == PIERCED:
        exit_point = a
        point = middle(d, portal[0])
    else:
        exit_point = nearest_of_triangle(a, b, c)
        point = origin_between_shapes(d, portal)
    depth = norm3(exit_point)
    if depth < EPSILON:
        return False
    d.work.overlap_depth = depth
    set3(d.work.overlap_pos, 0, point)
    set3(d.work.overlap_normal, 0, scale3(exit_point, 1.0 / depth))
    return True
