"""Minkowski portal refinement: whether two convex shapes overlap, how deep, and where.

The *origin ray* starts at a point inside the Minkowski difference of the shapes and passes through the origin. The
shapes overlap if the ray reaches the origin before it leaves the difference. A *portal* is a triangle of support points
through which the ray passes. There are three phases, and each iteration of a phase computes one support point:

- `ENCLOSE` rotates a candidate triangle about the ray until the ray passes through it;
- `ADVANCE` moves the portal outwards until the origin is behind it, so that the shapes overlap;
- `SETTLE` continues until the portal is on the surface: its distance from the origin is the depth.

The first two phases end with `APART` as soon as a support point proves that a plane separates the shapes. If the newest
point is at most ``opt.mpr_tolerance`` beyond a portal, the portal counts as on the surface.
``opt.mpr_iterations`` is the maximum number of times that the portal is moved in the last phase.

Row 0 of ``d.work.simplex`` is the interior point. A portal is a tuple of the four other rows: its corners a, b and c,
clockwise as seen from the interior point, and a spare row for the next support point. If a point replaces a corner, it
is not copied: the two rows change roles.

Sources: G. Snethen, XenoCollide: complex collision made simple, in Game Programming Gems 7 (2008), section 2.5;
spec: computation, collision detection, collision checking. The thresholds were derived from the reference's results.
"""

from __future__ import annotations

from cardan.collision.support import support_difference
from cardan.jit import kernel
from cardan.maths.simplex import segment_weights, triangle_weights, weighted_sum
from cardan.maths.types import Vec3
from cardan.maths.vector import add3, add_scaled3, cross, dot3, get3, norm3, scale3, set3, sub3
from cardan.model.kernel_views import Data, Model

Portal = tuple[int, int, int, int]
"""Rows of the corners a, b, c, and the spare row."""
EPSILON = 2.220446049250313e-16
"""Threshold below which numbers count as 0: heights over planes in m, volumes in m^3, and squares of areas in m^4.
The threshold is absolute: a triangle with sides of 0.1 mm counts as having no area, as in the reference."""
OFF_CENTER = 10.0 * EPSILON
"""Distance by which the interior point is moved along x if it coincides with the origin (m)."""

ENCLOSE, ADVANCE, SETTLE, APART, PIERCED, SETTLED = range(6)
"""Three phases, and three outcomes: no overlap; the ray leaves through the first vertex; it leaves through a portal."""

MOST_ROUNDS = 1000
"""Maximum number of iterations of the first two phases. Usually 10 are enough; rounding errors may require more."""

FIRST_ROWS = (1, 2, 3, 4)
"""Initial portal of all searches."""


@kernel
def unit(v: Vec3) -> Vec3:
    """Divide a vector by its length; return it unchanged if it is 0."""
    length = norm3(v)
    return scale3(v, 1.0 / length) if length != 0.0 else v


@kernel
def triangle_normal(a: Vec3, b: Vec3, c: Vec3) -> Vec3:
    """Unit normal of a triangle, on the side from which a, b, c are counter-clockwise; 0 if it has no area."""
    return unit(cross(sub3(b, a), sub3(c, a)))


@kernel
def volume(a: Vec3, b: Vec3, c: Vec3) -> float:
    """Six times the signed volume of the tetrahedron of the origin and three points."""
    return dot3(cross(a, b), c)


@kernel
def corners(d: Data, portal: Portal) -> tuple[Vec3, Vec3, Vec3]:
    """Corners of a portal."""
    return get3(d.work.simplex, portal[0]), get3(d.work.simplex, portal[1]), get3(d.work.simplex, portal[2])


@kernel
def with_newest(portal: Portal, corner: int) -> Portal:
    """Replace a corner (0, 1, 2) of a portal by the point in the spare row; the row of the corner becomes spare."""
    a, b, c, spare = portal
    if corner == 0:
        return (spare, b, c, a)
    return (a, spare, c, b) if corner == 1 else (a, b, spare, c)


@kernel
def ask(m: Model, d: Data, row: int, direction: Vec3) -> Vec3:
    """Compute the support point of the Minkowski difference in a direction, write it to a row, and return it."""
    set3(d.work.asked, 0, direction)
    return support_difference(m, d, row, direction)


@kernel
def aim(m: Model, d: Data) -> tuple[int, Portal]:
    """Find the interior point and the corners a and b of a first candidate triangle.

    Returns:
        Phase or outcome (`ENCLOSE`, `APART`, `PIERCED`), and a portal. If the outcome is `PIERCED`, the first corner of
        the portal is the vertex on the ray.
    """
    # the interior point is the difference of the centres of both shapes
    center1, center2 = get3(d.work.shape_pos, 0), get3(d.work.shape_pos, 1)
    interior = sub3(center1, center2)
    if norm3(interior) < EPSILON:
        interior = (interior[0] + OFF_CENTER, interior[1], interior[2])
    set3(d.work.simplex1, 0, center1)
    set3(d.work.simplex2, 0, center2)
    set3(d.work.simplex, 0, interior)

    # the first vertex is in the direction of the origin
    direction = unit(scale3(interior, -1.0))
    first = ask(m, d, FIRST_ROWS[0], direction)
    if dot3(first, direction) < EPSILON:
        return APART, FIRST_ROWS

    # the second vertex is perpendicular to the plane of first vertex and ray
    normal = cross(interior, first)
    if dot3(normal, normal) < EPSILON:
        return PIERCED, FIRST_ROWS
    direction = unit(normal)
    second = ask(m, d, FIRST_ROWS[1], direction)
    if dot3(second, direction) < EPSILON:
        return APART, FIRST_ROWS

    # the origin must be on the outer side of the triangle of the interior point and both vertices
    if dot3(triangle_normal(interior, first, second), interior) > 0.0:
        return ENCLOSE, (FIRST_ROWS[1], FIRST_ROWS[0], FIRST_ROWS[2], FIRST_ROWS[3])
    return ENCLOSE, FIRST_ROWS


@kernel
def facing(d: Data, phase: int, portal: Portal) -> Vec3:
    """Direction of the next support point.

    This is the outward unit normal of the portal. In phase `ENCLOSE`, it is the outward unit normal of the candidate's
    side beyond which the origin is.
    """
    a, b, c = corners(d, portal)
    return triangle_normal(get3(d.work.simplex, 0), a, b) if phase == ENCLOSE else triangle_normal(a, b, c)


@kernel
def corner_to_enclose(d: Data, portal: Portal) -> int:
    """Corner of a candidate triangle that the newest point replaces; 2 if the ray then passes through the triangle."""
    interior, newest = get3(d.work.simplex, 0), get3(d.work.simplex, portal[3])
    a, b, _ = corners(d, portal)
    if volume(a, newest, interior) < -EPSILON:
        return 1
    if volume(newest, b, interior) < -EPSILON:
        return 0
    return 2


@kernel
def corner_to_advance(d: Data, portal: Portal) -> int:
    """Corner of a portal that the newest point replaces, so that the ray still passes through the portal.

    The planes through the ray, the newest point and each corner divide the portal into three parts; the ray passes
    through one of them.
    """
    a, b, c = corners(d, portal)
    plane = cross(get3(d.work.simplex, portal[3]), get3(d.work.simplex, 0))
    if dot3(a, plane) > 0.0:
        return 0 if dot3(b, plane) > 0.0 else 2
    return 1 if dot3(c, plane) > 0.0 else 0


@kernel
def next_round(m: Model, d: Data, phase: int, portal: Portal) -> tuple[int, Portal]:
    """Compute one support point; return the next phase and portal."""
    a, b, c = corners(d, portal)
    direction = facing(d, phase, portal)
    if phase == ADVANCE and dot3(direction, a) > -EPSILON:
        phase = SETTLE
    height = dot3(ask(m, d, portal[3], direction), direction)

    if phase == ENCLOSE:
        if height < EPSILON:
            return APART, portal
        corner = corner_to_enclose(d, portal)
        return ADVANCE if corner == 2 else ENCLOSE, with_newest(portal, corner)
    if phase == ADVANCE and height < -EPSILON:
        return APART, portal
    # the portal is on the surface if the newest point is not farther out than one of the corners
    if height - max(dot3(a, direction), dot3(b, direction), dot3(c, direction)) <= m.opt.mpr_tolerance:
        return SETTLED if phase == SETTLE else APART, portal
    return phase, with_newest(portal, corner_to_advance(d, portal))


@kernel
def search(m: Model, d: Data) -> tuple[int, Portal]:
    """Run the phases; return the outcome (`APART`, `PIERCED`, `SETTLED`) and the last portal."""
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
def nearer(p: Vec3, q: Vec3) -> Vec3:
    """Return the point closer to the origin."""
    return q if dot3(q, q) < dot3(p, p) else p


@kernel
def nearest_of_segment(a: Vec3, b: Vec3) -> Vec3:
    """Point of a segment that is closest to the origin."""
    weights = segment_weights(a, b)
    return add_scaled3(scale3(a, weights[0]), b, weights[1])


@kernel
def nearest_of_triangle(a: Vec3, b: Vec3, c: Vec3) -> Vec3:
    """Point of a triangle closest to the origin; if the triangle has no area, the closest point of its sides."""
    normal = cross(sub3(b, a), sub3(c, a))
    if dot3(normal, normal) < EPSILON:
        return nearer(nearer(nearest_of_segment(a, b), nearest_of_segment(b, c)), nearest_of_segment(c, a))
    return weighted_sum(a, b, c, triangle_weights(a, b, c))


@kernel
def middle(d: Data, row: int) -> Vec3:
    """Midpoint between the two points, one of each shape, whose difference is a vertex of the simplex."""
    return scale3(add3(get3(d.work.simplex1, row), get3(d.work.simplex2, row)), 0.5)


@kernel
def origin_between_shapes(d: Data, portal: Portal) -> Vec3:
    """Midpoint between two points, one of each shape, whose difference is the origin.

    The weights are the barycentric coordinates, up to a common factor, of the origin in the tetrahedron of interior
    point and portal: volumes, or in a flat tetrahedron, areas projected along the portal's normal.
    """
    interior = get3(d.work.simplex, 0)
    a, b, c = corners(d, portal)
    w0, w1 = volume(a, b, c), volume(c, b, interior)
    w2, w3 = volume(interior, a, c), volume(b, a, interior)
    if w0 + w1 + w2 + w3 <= 0.0:
        direction = triangle_normal(a, b, c)
        w0, w1, w2, w3 = 0.0, volume(b, c, direction), volume(c, a, direction), volume(a, b, direction)
    point = scale3(middle(d, 0), w0)
    point = add_scaled3(point, middle(d, portal[0]), w1)
    point = add_scaled3(point, middle(d, portal[1]), w2)
    point = add_scaled3(point, middle(d, portal[2]), w3)
    return scale3(point, 1.0 / (w0 + w1 + w2 + w3))


@kernel
def portal_refinement(m: Model, d: Data) -> bool:
    """Return whether the two shapes in ``d.work.shape_*`` overlap; shapes that just touch do not.

    If they overlap, write depth, contact position and normal (``d.work.overlap_*``). To separate the shapes, the first
    has to move by the depth against the normal.
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
