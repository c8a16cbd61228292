"""Closest or deepest points of curved surfaces, exact to rounding: Newton's method on the support function.

The accuracy of searches by simplices and polytopes is limited by the size of their triangles. If the distance has a
relative error of 1e-10, the normal has an error of 1e-5, and jumps by as much from one pose to the next. On smooth
surfaces, the unit normal n is a stationary point of the support function h of the Minkowski difference: the gradient of
h, which is the support point s(n), is along n. From the result of a search, Newton's method finds n in two or three
steps. It also gives the derivatives of distance, normal and points with respect to the poses, because a Newton step at
the solution applies the implicit function theorem.

Source: R. Schneider, Convex Bodies: The Brunn-Minkowski Theory (2014), section 2.5 (the second differential of the
support function is the inverse of the curvature of the surface).
"""

from __future__ import annotations

from math import sqrt

from cardan.collision.support import support, support_difference
from cardan.enums.codes import (
    GEOM_BOX,
    GEOM_CAPSULE,
    GEOM_CYLINDER,
    GEOM_ELLIPSOID,
    GEOM_FLEX,
    GEOM_HFIELD,
    GEOM_MESH,
    GEOM_SPHERE,
)
from cardan.jit import kernel
from cardan.maths.types import Vec3
from cardan.maths.vector import (
    MINVAL,
    add3,
    add_scaled3,
    cross,
    dot3,
    get3,
    get9,
    mul3,
    mul_mat_t_vec3,
    mul_mat_vec3,
    norm3,
    scale3,
    set3,
    sub3,
)
from cardan.model.kernel_views import Data, Model

STEPS = 4
"""Maximum number of steps of Newton's method."""
TURNED = 1e-3
"""Largest change of a unit normal (1 - cosine) for which it stays on the same part of the surface."""
SLANTED = sqrt(2.0 * TURNED)
"""Cosine of the angle between normal and line above which making them perpendicular would exceed `TURNED`."""
EXACT_ALONG = 1e-11
"""A support point is along the normal if its perpendicular component, divided by its length, is below this."""
ROUGH_STEPS = 12
"""Maximum number of Newton steps from the direction between the centres."""
LONGEST = 0.5
"""Largest change of the unit normal in one of these steps."""
NEAR = 1e-3
"""These steps end if the support point is along the normal up to this share of the sizes of both shapes."""
APART = 1e-6
"""Relative distance above which points found by a search count as different corners."""
EXACT_FLAT = 1e-12
"""Relative height below which a point is in a face, or on an edge."""


@kernel
def bend_ellipsoid(size: Vec3, direction: Vec3, turn: Vec3) -> Vec3:
    """Change of the support point of an ellipsoid if `direction` changes by `turn`."""
    scaled = mul3(direction, size)
    length = norm3(scaled)
    if length < MINVAL:
        return (0.0, 0.0, 0.0)
    moved = mul3(turn, size)
    along = dot3(scaled, moved) / (length * length)
    return scale3(mul3(add_scaled3(moved, scaled, -along), size), 1.0 / length)


@kernel
def bend_cylinder(size: Vec3, direction: Vec3, turn: Vec3) -> Vec3:
    """Change of the support point of a cylinder, on the rim of a disc, if `direction` changes by `turn`."""
    x, y = direction[0], direction[1]
    length = sqrt(x * x + y * y)
    if length < MINVAL:
        return (0.0, 0.0, 0.0)
    around = size[0] * (x * turn[1] - y * turn[0]) / (length * length * length)
    return (-y * around, x * around, 0.0)


@kernel
def bend(d: Data, shape: int, direction: Vec3, turn: Vec3) -> Vec3:
    """Change of a shape's support point if the unit vector `direction` changes by the perpendicular vector `turn`.

    This is the second derivative of the support function times `turn`. Corners and edges without a radius contribute 0.
    """
    kind = d.work.shape_type[shape]
    size = get3(d.work.shape_size, shape)
    change = scale3(turn, d.work.shape_inflate)
    if kind in (GEOM_SPHERE, GEOM_CAPSULE):
        return add_scaled3(change, turn, size[0])
    if kind != GEOM_ELLIPSOID and kind != GEOM_CYLINDER:
        return change
    xmat = get9(d.work.shape_mat, shape)
    local, local_turn = mul_mat_t_vec3(xmat, direction), mul_mat_t_vec3(xmat, turn)
    if kind == GEOM_ELLIPSOID:
        bent = bend_ellipsoid(size, local, local_turn)
    else:
        bent = bend_cylinder(size, local, local_turn)
    return add3(change, mul_mat_vec3(xmat, bent))


@kernel
def bend_difference(d: Data, normal: Vec3, turn: Vec3) -> Vec3:
    """Change of the support point of the Minkowski difference if `normal` changes by `turn`."""
    return add3(bend(d, 0, normal, turn), bend(d, 1, scale3(normal, -1.0), turn))


@kernel
def tangent_of(normal: Vec3) -> Vec3:
    """Unit vector perpendicular to a unit vector."""
    x, y, z = abs(normal[0]), abs(normal[1]), abs(normal[2])
    if x <= y and x <= z:
        v = cross(normal, (1.0, 0.0, 0.0))
    elif y <= z:
        v = cross(normal, (0.0, 1.0, 0.0))
    else:
        v = cross(normal, (0.0, 0.0, 1.0))
    return scale3(v, 1.0 / norm3(v))


@kernel
def newton_turn(d: Data, normal: Vec3, point: Vec3) -> tuple[Vec3, bool]:
    """Newton step of a unit normal towards the stationary point, and whether the support function is convex there.

    `point` is the support point of the Minkowski difference in the direction of the normal.
    """
    reach = dot3(point, normal)
    one = tangent_of(normal)
    two = cross(normal, one)
    bent1, bent2 = bend_difference(d, normal, one), bend_difference(d, normal, two)
    a, b, c = dot3(one, bent1) - reach, dot3(one, bent2), dot3(two, bent2) - reach
    determinant = a * c - b * b
    if a <= 0.0 or determinant <= 1e-12 * a * a:
        return (0.0, 0.0, 0.0), False
    slope1, slope2 = dot3(one, point), dot3(two, point)
    x, y = (b * slope2 - c * slope1) / determinant, (b * slope1 - a * slope2) / determinant
    return add_scaled3(scale3(one, x), two, y), True


@kernel
def settle(m: Model, d: Data) -> bool:
    """Improve ``d.work.overlap_depth``, ``overlap_normal`` and ``witness`` if both surfaces are smooth.

    Separate shapes have a negative depth. If the result depends on an edge, a face or a corner, nothing is changed.

    Returns:
        Whether the values were improved.
    """
    start = get3(d.work.overlap_normal, 0)
    normal = start
    point = support_difference(m, d, 4, normal)
    for _ in range(STEPS):
        turn, convex = newton_turn(d, normal, point)
        if not convex:
            return False
        normal = add3(normal, turn)
        normal = scale3(normal, 1.0 / norm3(normal))
        if dot3(normal, start) < 1.0 - TURNED:
            return False
        point = support_difference(m, d, 4, normal)
    reach = dot3(point, normal)
    if norm3(add_scaled3(point, normal, -reach)) > EXACT_ALONG * norm3(get3(d.work.simplex1, 4)) + 1e-14:
        return False
    d.work.overlap_depth = reach
    set3(d.work.overlap_normal, 0, normal)
    set3(d.work.witness, 0, get3(d.work.simplex1, 4))
    set3(d.work.witness, 1, get3(d.work.simplex2, 4))
    return True


@kernel
def is_smooth(d: Data, shape: int) -> bool:
    """Return whether a shape (0 or 1) of the pair is an ellipsoid or the core of a sphere."""
    return d.work.shape_type[shape] == GEOM_ELLIPSOID or d.work.shape_type[shape] == GEOM_SPHERE


@kernel
def least_radius(d: Data, shape: int) -> float:
    """Smallest radius of curvature (m) of a smooth shape's surface; 0 for a point."""
    size = get3(d.work.shape_size, shape)
    if d.work.shape_type[shape] != GEOM_ELLIPSOID:
        return size[0]
    shortest = min(size[0], size[1], size[2])
    return shortest * shortest / max(size[0], size[1], size[2], MINVAL)


@kernel
def touches_smoothly(m: Model, d: Data, limit: float) -> bool:
    """Find the signed distance of two smooth shapes (`is_smooth`) by Newton's method, without a search.

    The method starts with the direction between the centres. A ball whose radius is the sum of the smallest radii of
    curvature rolls freely inside the Minkowski difference (Blaschke; Schneider, section 3.2). A stationary normal of at
    most this depth is therefore that of the least depth. If the shapes are apart, every stationary normal is the only
    one.

    Write ``d.work.overlap_depth``, ``overlap_normal`` and ``witness``. If the shapes are farther apart than `limit`
    (m), the depth is minus a lower bound of their distance, and the normal is also written to ``d.work.asked``. Return
    False if the method fails or the shapes overlap more.
    """
    normal = sub3(get3(d.work.shape_pos, 1), get3(d.work.shape_pos, 0))
    length = norm3(normal)
    if length < MINVAL:
        return False
    normal = scale3(normal, 1.0 / length)
    near = NEAR * (norm3(get3(d.work.shape_size, 0)) + norm3(get3(d.work.shape_size, 1)))
    for _ in range(ROUGH_STEPS):
        point = support_difference(m, d, 4, normal)
        reach = dot3(point, normal)
        set3(d.work.overlap_normal, 0, normal)
        d.work.overlap_depth = reach
        if -reach > limit:
            set3(d.work.asked, 0, normal)
            return True
        if norm3(add_scaled3(point, normal, -reach)) < near:
            return settle(m, d) and d.work.overlap_depth <= least_radius(d, 0) + least_radius(d, 1)
        turn, convex = newton_turn(d, normal, point)
        if not convex:
            return False
        normal = add_scaled3(normal, turn, min(1.0, LONGEST / max(norm3(turn), MINVAL)))
        normal = scale3(normal, 1.0 / norm3(normal))
    return False


@kernel
def flat_side(d: Data) -> int:
    """Index (0 or 1) of the shape that is a polytope, if the other shape is curved; -1 otherwise.

    The core of a capsule, a segment, is also a polytope.
    """
    kind0, kind1 = d.work.shape_type[0], d.work.shape_type[1]
    if kind0 in (GEOM_HFIELD, GEOM_CAPSULE, GEOM_BOX, GEOM_MESH, GEOM_FLEX) and kind1 in (
        GEOM_ELLIPSOID,
        GEOM_CYLINDER,
    ):
        return 0
    if kind1 in (GEOM_CAPSULE, GEOM_BOX, GEOM_MESH, GEOM_FLEX) and kind0 in (GEOM_ELLIPSOID, GEOM_CYLINDER):
        return 1
    return -1


@kernel
def found_point(d: Data, side: int, row: int) -> Vec3:
    """Point of shape `side` that belongs to vertex `row` of the simplex."""
    return get3(d.work.simplex1, row) if side == 0 else get3(d.work.simplex2, row)


@kernel
def distinct_row(d: Data, side: int, n: int, line: bool) -> int:
    """Find the first of `n` simplex vertices whose point of shape `side` differs from vertex 0's point; -1 if none.

    If `line` is set, the point must be off the line through the points of vertices 0 and 1.
    """
    a = found_point(d, side, 0)
    size = norm3(a) + norm3(found_point(d, side, n - 1))
    for row in range(1, n):
        off = sub3(found_point(d, side, row), a)
        if line:
            along = sub3(found_point(d, side, 1), a)
            off = scale3(cross(along, off), 1.0 / norm3(along))
        if norm3(off) > APART * size:
            return row
    return -1


@kernel
def curved_point(m: Model, d: Data, side: int, normal: Vec3) -> Vec3:
    """Support point of the shape other than `side`, for a normal from the first to the second shape."""
    return support(m, d, 1 - side, scale3(normal, -1.0) if side == 0 else normal)


@kernel
def between(side: int, flat: Vec3, curved: Vec3) -> Vec3:
    """Point of the Minkowski difference: `flat` is a point of shape `side`, `curved` a point of the other shape."""
    return sub3(flat, curved) if side == 0 else sub3(curved, flat)


@kernel
def is_extreme(m: Model, d: Data, side: int, normal: Vec3, point: Vec3) -> bool:
    """Return whether no point of a polytope is farther than `point` along a normal, up to `EXACT_FLAT`."""
    out = normal if side == 0 else scale3(normal, -1.0)
    farthest = support(m, d, side, out)
    return dot3(sub3(farthest, point), out) <= EXACT_FLAT * (norm3(farthest) + norm3(point))


@kernel
def take_flat(d: Data, side: int, normal: Vec3, flat: Vec3, curved: Vec3) -> None:
    """Write the overlap between point `flat` of a polytope's face or edge and point `curved` of the curved shape."""
    depth = dot3(between(side, flat, curved), normal)
    d.work.overlap_depth = depth
    set3(d.work.overlap_normal, 0, normal)
    set3(d.work.witness, side, add_scaled3(curved, normal, depth if side == 0 else -depth))
    set3(d.work.witness, 1 - side, curved)


@kernel
def settle_on_face(m: Model, d: Data, side: int) -> bool:
    """Improve the overlap as `settle` does, for a curved shape and the face through three points of polytope `side`."""
    a, start = found_point(d, side, 0), get3(d.work.overlap_normal, 0)
    normal = cross(sub3(found_point(d, side, 1), a), sub3(found_point(d, side, 2), a))
    normal = scale3(normal, (1.0 if dot3(normal, start) > 0.0 else -1.0) / norm3(normal))
    if dot3(normal, start) < 1.0 - TURNED or not is_extreme(m, d, side, normal, a):
        return False
    take_flat(d, side, normal, a, curved_point(m, d, side, normal))
    return True


@kernel
def settle_over_face(m: Model, d: Data, side: int) -> bool:
    """Call `settle_on_face` if the curved shape's point is over the triangle of the vertices; if not, return False."""
    if distinct_row(d, side, 3, False) != 1 or distinct_row(d, side, 3, True) != 2:
        return False
    a, b, c = found_point(d, side, 0), found_point(d, side, 1), found_point(d, side, 2)
    normal = cross(sub3(b, a), sub3(c, a))
    out = scale3(normal, (1.0 if dot3(normal, get3(d.work.overlap_normal, 0)) > 0.0 else -1.0) / norm3(normal))
    point = curved_point(m, d, side, out)
    if dot3(cross(sub3(b, a), sub3(point, a)), normal) < 0.0 or dot3(cross(sub3(c, b), sub3(point, b)), normal) < 0.0:
        return False
    return dot3(cross(sub3(a, c), sub3(point, c)), normal) >= 0.0 and settle_on_face(m, d, side)


@kernel
def settle_on_edge(m: Model, d: Data, side: int, other: int) -> bool:
    """Improve the overlap as `settle` does, for a curved shape and an edge of a polytope.

    The edge passes through the polytope's points that belong to vertices 0 and `other` of the simplex. The normal is
    perpendicular to the edge: Newton's method rotates the normal about the edge.
    """
    a = found_point(d, side, 0)
    side_vector = sub3(found_point(d, side, other), a)
    length = norm3(side_vector)
    return settle_about(m, d, side, a, scale3(side_vector, 1.0 / length), (0.0, length))


@kernel
def line_point(d: Data, side: int, a: Vec3, normal: Vec3) -> Vec3:
    """Return a point of the line along which shape `side` touches the other shape.

    For an edge, this is `a`. For a cylinder, `a` is on the axis; the result is `a` moved to the surface: along `normal`
    for side 0, against it for side 1.
    """
    if d.work.shape_type[side] != GEOM_CYLINDER:
        return a
    return add_scaled3(a, normal, d.work.shape_size[side, 0] if side == 0 else -d.work.shape_size[side, 0])


@kernel
def settle_about(m: Model, d: Data, side: int, a: Vec3, edge: Vec3, ends: tuple[float, float]) -> bool:
    """Improve the overlap as `settle` does, for a line of shape `side`: an edge, or the side of a cylinder.

    The line passes through `a` (see `line_point`) along the unit vector `edge`; `ends` are the distances of its two
    ends from `a`.
    """
    start = get3(d.work.overlap_normal, 0)
    if abs(dot3(start, edge)) > SLANTED:
        return False
    normal = add_scaled3(start, edge, -dot3(start, edge))
    normal = scale3(normal, 1.0 / norm3(normal))
    for _ in range(STEPS):
        point = between(side, line_point(d, side, a, normal), curved_point(m, d, side, normal))
        around = cross(edge, normal)
        second = dot3(around, bend_difference(d, normal, around)) - dot3(point, normal)
        if second <= 0.0:
            return False
        normal = add_scaled3(normal, around, -dot3(around, point) / second)
        normal = scale3(normal, 1.0 / norm3(normal))
        if dot3(normal, start) < 1.0 - TURNED:
            return False
    curved, flat = curved_point(m, d, side, normal), line_point(d, side, a, normal)
    point = between(side, flat, curved)
    if abs(dot3(cross(edge, normal), point)) > EXACT_ALONG * norm3(curved) + 1e-14:
        return False
    along = dot3(edge, sub3(curved, a))
    if along < ends[0] or along > ends[1]:
        return False
    if d.work.shape_type[side] != GEOM_CYLINDER and not is_extreme(m, d, side, normal, a):
        return False
    take_flat(d, side, normal, flat, curved)
    return True


@kernel
def settle_on_lines(m: Model, d: Data, side: int, a: Vec3, edge: Vec3, ends: tuple[float, float]) -> bool:
    """Improve the overlap as `settle` does, for a line of shape `side` and a line on the side of a cylinder.

    The cylinder is the other shape. The normal is perpendicular to both lines. Arguments as for `settle_about`.
    """
    other = 1 - side
    if d.work.shape_type[other] != GEOM_CYLINDER:
        return False
    axis = (d.work.shape_mat[other, 2], d.work.shape_mat[other, 5], d.work.shape_mat[other, 8])
    start, normal = get3(d.work.overlap_normal, 0), cross(edge, axis)
    length = norm3(normal)
    if length < APART:
        return False
    normal = scale3(normal, (1.0 if dot3(normal, start) > 0.0 else -1.0) / length)
    if dot3(normal, start) < 1.0 - TURNED:
        return False
    mine, theirs = line_point(d, side, a, normal), line_point(d, other, get3(d.work.shape_pos, other), normal)
    gap = sub3(theirs, mine)
    # the places on both lines that are opposite each other, along the normal
    across = cross(axis, normal)
    along = dot3(gap, across) / dot3(edge, across)
    across = cross(edge, normal)
    along_other = -dot3(gap, across) / dot3(axis, across)
    if along < ends[0] or along > ends[1] or abs(along_other) > d.work.shape_size[other, 1]:
        return False
    if d.work.shape_type[side] != GEOM_CYLINDER and not is_extreme(m, d, side, normal, a):
        return False
    take_flat(d, side, normal, add_scaled3(mine, edge, along), add_scaled3(theirs, axis, along_other))
    return True


@kernel
def settle_on_flat(m: Model, d: Data, n: int) -> bool:
    """Improve the overlap as `settle` does, for a curved shape and a face or an edge of a polytope.

    The first `n` vertices of the simplex, with which the search has ended, determine the face or edge.

    Returns:
        Whether depth, normal and witnesses were improved.
    """
    side = flat_side(d)
    if side < 0 or n < 2:
        return False
    other = distinct_row(d, side, n, False)
    if other < 0:
        return False
    if other == 1 and n > 2 and distinct_row(d, side, n, True) == 2:
        return settle_on_face(m, d, side)
    return settle_on_edge(m, d, side, other)
