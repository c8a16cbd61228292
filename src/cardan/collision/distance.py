"""Signed distances between geoms, and their closest points, or deepest points if they overlap.

Convex geoms are *cores* with a radius: a sphere is a point with a radius, a capsule a segment with a radius. The
distance between two geoms is the distance between their cores minus the radii; their depth is the depth of the cores
plus the radii.

The distance between a height field and a geom is the smallest distance between the geom and a prism of the field. All
computations are in the frame of the field. The prisms below the geom come first. Their smallest distance is an upper
bound; the other prisms are considered only if they are within this bound along the axes of the field.

Spec: programming, ``mj_geomDistance``; modelling, sensors ``distance``, ``normal``, ``fromto``.
"""

from __future__ import annotations

from cardan.collision.capsule import axis_z, clamp, from_geom
from cardan.collision.contact import put_contact
from cardan.collision.culling import axis_separates, boxes_apart, forget_axis, keep_axis
from cardan.collision.epa import TOLERANCE, expand_polytope, is_deepest, polish, start_polytope
from cardan.collision.facing import has_faces, touches_face
from cardan.collision.gjk import FAR, SEPARATED, approach, copy_vertex
from cardan.collision.gjk import TOLERANCE as ACCURATE
from cardan.collision.hfield import (
    bound_in_field,
    cell_range,
    collide_prisms,
    is_off_field,
    load_prism,
    to_field,
    top_elevation,
)
from cardan.collision.hull_search import recall_pair
from cardan.collision.manifold import find_manifold
from cardan.collision.plane import plane_height
from cardan.collision.stationary import (
    flat_side,
    found_point,
    is_smooth,
    settle,
    settle_about,
    settle_on_flat,
    settle_on_lines,
    settle_over_face,
    touches_smoothly,
)
from cardan.collision.support import load_geom, support
from cardan.enums.codes import (
    ENBL_MULTICCD,
    GEOM_CAPSULE,
    GEOM_CYLINDER,
    GEOM_ELLIPSOID,
    GEOM_HFIELD,
    GEOM_MESH,
    GEOM_PLANE,
    GEOM_SPHERE,
)
from cardan.jit import collider, kernel
from cardan.maths.types import Vec3
from cardan.maths.vector import MINVAL, add3, add_scaled3, get3, norm3, scale3, set3, sub3
from cardan.model.kernel_views import Data, Model

ROUGH = 3e-4
"""Relative accuracy of the first search for the depth of curved shapes."""
ORIGIN = (0.0, 0.0, 0.0)
NOTHING = (ORIGIN, ORIGIN)
Cells = tuple[int, int, int, int]
"""Rectangle of cells of a height field: first row, end row, first column, end column; the ends are exclusive."""


@kernel
def shrink_to_core(m: Model, d: Data, shape: int, geom: int) -> float:
    """Replace shape `shape` of the pair, loaded from a geom, by its core; return the radius around the core."""
    if m.geom_type[geom] == GEOM_SPHERE or m.geom_type[geom] == GEOM_CAPSULE:
        d.work.shape_size[shape, 0] = 0.0
        return m.geom_size[geom, 0]
    return 0.0


@kernel
def load_core(m: Model, d: Data, shape: int, geom: int) -> float:
    """Load the core of a geom as shape `shape` of the pair; return the radius around the core."""
    load_geom(m, d, shape, geom)
    return shrink_to_core(m, d, shape, geom)


@kernel
def is_curved(m: Model, geom: int) -> bool:
    """Return whether the core of a geom has a curved surface."""
    return m.geom_type[geom] == GEOM_ELLIPSOID or m.geom_type[geom] == GEOM_CYLINDER


@kernel
def are_apart(d: Data, found: int) -> bool:
    """Return whether the cores of the pair are apart, from the outcome `found` of their search (`find_closest`)."""
    return found == SEPARATED and norm3(sub3(get3(d.work.witness, 1), get3(d.work.witness, 0))) > MINVAL


@kernel
def set_gap(d: Data) -> None:
    """Set ``d.work.overlap_depth`` (minus the distance) and ``overlap_normal`` for cores that are apart."""
    between = sub3(get3(d.work.witness, 1), get3(d.work.witness, 0))
    length = norm3(between)
    d.work.overlap_depth = -length
    set3(d.work.overlap_normal, 0, scale3(between, 1.0 / length))


@kernel
def improve(m: Model, d: Data, n: int) -> None:
    """Improve distance, normal and points if one of the cores is curved; the search's last simplex has `n` vertices."""
    if not settle(m, d):
        settle_on_flat(m, d, n)


@kernel
def line_at_contact(d: Data, line: int, flat: int, n: int) -> tuple[int, Vec3, Vec3, tuple[float, float]]:
    """Return candidate `line` (0 to 4) of the lines on which a rough contact may be.

    Lines 0 and 1 are the axes of shapes 0 and 1, if the shape is a cylinder. Lines 2 to 4 are edges of shape `flat`:
    the sides of the triangle of the `n` vertices of the last simplex. To return line 4, the function overwrites vertex
    0 of the simplex.

    Returns:
        The shape, or -1 if there is no such line; a point and the direction of the line; the line's ends, as in
        `settle_about`.
    """
    if line < 2:
        half = d.work.shape_size[line, 1]
        axis = (d.work.shape_mat[line, 2], d.work.shape_mat[line, 5], d.work.shape_mat[line, 8])
        side = line if d.work.shape_type[line] == GEOM_CYLINDER else -1
        return side, get3(d.work.shape_pos, line), axis, (-half, half)
    if flat < 0 or n < (2 if line == 2 else 3):
        return -1, ORIGIN, ORIGIN, (0.0, 0.0)
    if line == 4:
        copy_vertex(d, 1, 0)
    a = found_point(d, flat, 0)
    along = sub3(found_point(d, flat, 1 if line == 2 else 2), a)
    length = norm3(along)
    return flat if length > 0.0 else -1, a, scale3(along, 1.0 / max(length, MINVAL)), (0.0, length)


@kernel
def settle_roughly(m: Model, d: Data, n: int) -> bool:
    """Improve an overlap of low accuracy, as `improve` does; return whether it is exact now.

    A polytope touches at one of the features that the `n` vertices found span: a corner, the face, or one of three
    edges.
    """
    if settle(m, d):
        return True
    flat = flat_side(d)
    if flat >= 0 and n == 3 and settle_over_face(m, d, flat):
        return True
    for line in range(5):
        side, a, along, ends = line_at_contact(d, line, flat, n)
        if side >= 0 and (settle_about(m, d, side, a, along, ends) or settle_on_lines(m, d, side, a, along, ends)):
            return True
    return False


@kernel
def smooth_gap(m: Model, d: Data, n: int) -> None:
    """Improve the distance between two cores, one of them curved; the search's last simplex has `n` vertices."""
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
    """Signed distance between two geoms with the cores in ``d.work.shape_*`` and the radii `radius1`, `radius2`.

    If the geoms are farther apart than `limit`, the result is more than `limit`. Otherwise ``d.work.witness`` holds the
    closest points and ``d.work.overlap_normal`` the direction from the first to the second shape. `curved` specifies
    whether one of the cores has a curved surface.
    """
    for attempt in range(2):  # roughly, then accurately
        rough = curved and attempt == 0
        found, n = approach(m, d, limit + radius1 + radius2, ROUGH if rough else ACCURATE)
        if found == FAR:
            return 2.0 * abs(limit) + 1.0
        apart, nface, nvertex, gap = are_apart(d, found), 4, 4, 0.0
        if apart:
            set_gap(d)
        elif start_polytope(m, d, n):
            nface, nvertex, gap = expand_polytope(m, d, nface, nvertex, ROUGH if rough else TOLERANCE)
            n = 3
        else:
            break
        if not rough and (gap > TOLERANCE or (curved and apart)):
            polish(m, d, get3(d.work.overlap_normal, 0))
        if not curved or (settle_roughly(m, d, n) and (apart or not rough or is_deepest(m, d, nface, nvertex))):
            break
    return leave_cores(d, radius1, radius2)


@kernel
def convex_distance(m: Model, d: Data, geom1: int, geom2: int, limit: float) -> float:
    """Signed distance between two convex geoms; results as for `cores_distance`."""
    d.work.shape_inflate = 0.0
    radius1 = load_core(m, d, 0, geom1)
    radius2 = load_core(m, d, 1, geom2)
    return cores_distance(m, d, radius1, radius2, is_curved(m, geom1) or is_curved(m, geom2), limit)


@kernel
def put_closest(d: Data, k: int, dist: float) -> int:
    """Write contact `k` of two shapes, at their closest or deepest points, if it is within the margin.

    Returns the new number of contacts.
    """
    if dist > d.work.near_margin:
        return k
    middle = scale3(add3(get3(d.work.witness, 0), get3(d.work.witness, 1)), 0.5)
    put_contact(d, k, dist, middle, get3(d.work.overlap_normal, 0))
    return k + 1


@collider
def exact_convex(m: Model, d: Data, geom1: int, geom2: int) -> int:
    """Write the contact of two convex geoms, at their closest or deepest points (``nativeccd``).

    If ``multiccd`` is also enabled, faces and edges that nearly touch have up to four contacts. Returns the number of
    contacts.
    """
    margin = d.work.near_margin
    if boxes_apart(m, d, geom1, geom2, margin):
        return 0
    load_geom(m, d, 0, geom1)
    load_geom(m, d, 1, geom2)
    if axis_separates(m, d, geom1, geom2):
        return 0
    recall_pair(d, geom1, geom2)
    d.work.takes_highest = 1
    d.work.shape_inflate = 0.0
    radius1, radius2 = shrink_to_core(m, d, 0, geom1), shrink_to_core(m, d, 1, geom2)
    limit = margin + radius1 + radius2
    found = is_smooth(d, 0) and is_smooth(d, 1) and touches_smoothly(m, d, limit)
    if has_faces(d, 0) or has_faces(d, 1):
        found = touches_face(m, d, geom1, geom2, limit)
    if found:
        dist = leave_cores(d, radius1, radius2)
    else:
        dist = cores_distance(m, d, radius1, radius2, is_curved(m, geom1) or is_curved(m, geom2), margin)
    if dist > margin:
        keep_axis(d, geom1, geom2)
        return 0
    forget_axis(d, geom1, geom2)
    if m.opt.enableflags & ENBL_MULTICCD:
        d.work.takes_highest = 0  # which corner of a face is found decides about the order of contacts
        ncon = find_manifold(m, d, get3(d.work.overlap_normal, 0), radius1, radius2)
        if ncon > 0:
            return ncon
    return put_closest(d, 0, dist)


@kernel
def touch_prism(m: Model, d: Data, k: int) -> int:
    """Write contact `k` of a prism, shape 0, and a geom, shape 1; arguments and result as for `collide_shapes`.

    The geom's core has the radius ``d.work.core_radius`` around it.
    """
    size, radius = d.work.shape_size[1, 0], d.work.core_radius
    curved = d.work.shape_type[1] == GEOM_ELLIPSOID or d.work.shape_type[1] == GEOM_CYLINDER
    d.work.shape_inflate = 0.0
    d.work.shape_size[1, 0] = size - radius
    k = put_closest(d, k, cores_distance(m, d, 0.0, radius, curved, d.work.near_margin))
    d.work.shape_size[1, 0] = size
    return k


@collider
def exact_hfield(m: Model, d: Data, geom1: int, geom2: int) -> int:
    """Write the contacts of a height field and a convex geom, at closest or deepest points (``nativeccd``).

    Each prism within the margin has one contact. At most `MAXCONPAIR` contacts are written. Returns their number.
    """
    if is_off_field(m, d, geom1, geom2):
        return 0
    d.work.core_radius = load_core(m, d, 1, geom2)
    d.work.shape_size[1, 0] += d.work.core_radius
    to_field(d, geom1, geom2)
    d.work.shape_inflate = d.work.near_margin
    bound_in_field(m, d)
    return collide_prisms(m, d, geom1, touch_prism)


@kernel
def cells_near(low: float, high: float, radius: float, n: int) -> tuple[int, int]:
    """First and last (exclusive) cell, along one side of the field, that an interval touches.

    If the interval is outside the field, the result is the nearest cell. Arguments as for `cell_range`.
    """
    first, end = cell_range(clamp(low, -radius, radius), clamp(high, -radius, radius), radius, n)
    first = min(first, n - 2)
    return first, max(end, first + 1)


@kernel
def rectangle_near(m: Model, d: Data, hfield: int, reach: float) -> Cells:
    """Cells within `reach` of the bounds of shape 1 along x and y."""
    x, y = m.hfield_size[hfield, 0], m.hfield_size[hfield, 1]
    low, high = -d.work.field_reach[0] - reach, d.work.field_reach[1] + reach
    first_col, end_col = cells_near(low, high, x, m.hfield_ncol[hfield])
    low, high = -d.work.field_reach[2] - reach, d.work.field_reach[3] + reach
    first_row, end_row = cells_near(low, high, y, m.hfield_nrow[hfield])
    return first_row, end_row, first_col, end_col


@kernel
def gap(low1: float, high1: float, low2: float, high2: float) -> float:
    """Distance between two intervals; 0 if they overlap."""
    return max(0.0, low1 - high2, low2 - high1)


@kernel
def least_distance(m: Model, d: Data, hfield: int, row: int, col: int, half: int) -> float:
    """Distance (m) between the bounding boxes of a prism and shape 1 in the field's frame; 0 if the boxes overlap."""
    dx = 2.0 * m.hfield_size[hfield, 0] / (m.hfield_ncol[hfield] - 1)
    dy = 2.0 * m.hfield_size[hfield, 1] / (m.hfield_nrow[hfield] - 1)
    x, y = dx * col - m.hfield_size[hfield, 0], dy * row - m.hfield_size[hfield, 1]
    top, bottom = top_elevation(m, hfield, row, col, half), -m.hfield_size[hfield, 3]
    along_x = gap(x, x + dx, -d.work.field_reach[0], d.work.field_reach[1])
    along_y = gap(y, y + dy, -d.work.field_reach[2], d.work.field_reach[3])
    along_z = gap(bottom, top, -d.work.field_reach[4], d.work.field_reach[5])
    return norm3((along_x, along_y, along_z))


@kernel
def visit_cells(
    m: Model,
    d: Data,
    field: int,
    core: tuple[float, bool],
    cells: Cells,
    without: Cells,
    dist: float,
    points: tuple[Vec3, Vec3],
) -> tuple[float, tuple[Vec3, Vec3]]:
    """Search `cells`, except the cells `without`, for prisms that are nearer to shape 1 than `dist`.

    Shape 1 is the core of a geom in the frame of the field. `core` holds the radius around the core, and whether the
    core is curved. `points` are the closest or deepest points at the distance `dist`, on the field and on the geom.

    Returns:
        The smallest signed distance and its points.
    """
    hfield, radius = m.geom_dataid[field], core[0]
    for row in range(cells[0], cells[1]):
        for half_col in range(2 * cells[2], 2 * cells[3]):
            col, half = half_col // 2, half_col % 2
            known = without[0] <= row < without[1] and without[2] <= col < without[3]
            apart = least_distance(m, d, hfield, row, col, half)
            if not known and (apart == 0.0 or apart - radius <= dist):
                load_prism(m, d, hfield, row, col, half)
                found = cores_distance(m, d, 0.0, radius, core[1], dist)
                if found <= dist:
                    dist, points = found, (get3(d.work.witness, 0), get3(d.work.witness, 1))
    return dist, points


@kernel
def field_distance(m: Model, d: Data, field: int, geom: int, limit: float) -> float:
    """Signed distance between a height field and a convex geom; more than `limit` if they are farther apart.

    If the distance is at most `limit`, ``d.work.witness`` gets the closest or deepest points of the field and the geom.
    """
    d.work.shape_inflate = 0.0
    core = (load_core(m, d, 1, geom), is_curved(m, geom))
    to_field(d, field, geom)
    bound_in_field(m, d)
    d.work.shape_type[0] = GEOM_HFIELD
    hfield = m.geom_dataid[field]
    below = rectangle_near(m, d, hfield, core[0])
    dist, points = visit_cells(m, d, field, core, below, (0, 0, 0, 0), limit, NOTHING)
    around = rectangle_near(m, d, hfield, core[0] + max(0.0, dist))
    dist, points = visit_cells(m, d, field, core, around, below, dist, points)
    if points[0] == points[1] and dist == limit:
        return limit + 1.0
    set3(d.work.witness, 0, from_geom(d, field, points[0]))
    set3(d.work.witness, 1, from_geom(d, field, points[1]))
    return dist


@kernel
def has_pieces(m: Model, geom: int) -> bool:
    """Return whether a geom has convex pieces, which collide in its place. Their ids follow the geom's."""
    return geom + 1 < m.ngeom and m.geom_piece[geom + 1] == 1


@kernel
def with_pieces(m: Model, geom: int) -> tuple[int, int]:
    """First and last (exclusive) id of a geom and its convex pieces."""
    end = geom + 1
    while end < m.ngeom and m.geom_piece[end] == end - geom:
        end += 1
    return geom, end


@kernel
def smallest_distance(m: Model, d: Data, range1: tuple[int, int], range2: tuple[int, int], limit: float) -> float:
    """Smallest distance between the geoms of two ranges of ids (first, last exclusive), at most `limit` (m).

    If a geom has convex pieces, only the pieces count. The closest points are written as `geom_distance` does.
    """
    best, start, end = limit, ORIGIN, ORIGIN
    for geom1 in range(range1[0], range1[1]):
        for geom2 in range(range2[0], range2[1]):
            if has_pieces(m, geom1) or has_pieces(m, geom2):
                continue
            dist = geom_distance(m, d, geom1, geom2, best)
            if dist < best:
                best = dist
                start = get3(d.work.witness, 0)
                end = get3(d.work.witness, 1)
    set3(d.work.witness, 0, start)
    set3(d.work.witness, 1, end)
    return best


@kernel
def geom_distance(m: Model, d: Data, geom1: int, geom2: int, limit: float) -> float:
    """Signed distance between geoms `geom1` and `geom2` (ids), at most `limit` (m).

    The closest points are written to ``d.work.witness``. If the geoms are farther apart than `limit`, or no distance is
    defined for their types, the result is `limit`, and the points are 0.
    """
    dist = limit + 1.0
    # one of them must be convex, the other a plane, a height field or convex
    if GEOM_HFIELD < max(m.geom_type[geom1], m.geom_type[geom2]) <= GEOM_MESH:
        swapped = m.geom_type[geom2] <= GEOM_HFIELD
        if swapped:
            geom1, geom2 = geom2, geom1
        if m.geom_type[geom1] == GEOM_PLANE:
            normal = axis_z(d.geom_xmat, geom1)
            load_geom(m, d, 1, geom2)
            d.work.shape_inflate = 0.0
            lowest = support(m, d, 1, scale3(normal, -1.0))
            dist = plane_height(d, geom1, lowest)
            set3(d.work.witness, 0, add_scaled3(lowest, normal, -dist))
            set3(d.work.witness, 1, lowest)
        elif m.geom_type[geom1] == GEOM_HFIELD:
            dist = field_distance(m, d, geom1, geom2, limit)
        else:
            dist = convex_distance(m, d, geom1, geom2, limit)
        if swapped:
            first = get3(d.work.witness, 0)
            set3(d.work.witness, 0, get3(d.work.witness, 1))
            set3(d.work.witness, 1, first)
    if dist <= limit:
        return dist
    set3(d.work.witness, 0, ORIGIN)
    set3(d.work.witness, 1, ORIGIN)
    return limit
