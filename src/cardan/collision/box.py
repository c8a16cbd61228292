"""Collisions between two boxes: separating axes, then the overlap of two faces.

The axis of least overlap of two boxes is the normal of a face, or the common perpendicular of two edges. The contacts
are the corners of the polygon in which two faces overlap, seen along this axis: the points where their sides cross, and
the corners of each face inside the other. The box with the face normal along this axis is the *reference* box; the
other box is the *incident* box.

Sources: S. Gottschalk, M. Lin, D. Manocha, OBBTree, SIGGRAPH 1996 (the 15 axes); C. Ericson, Real-Time Collision
Detection (2005), sections 4.4.1 and 5.5.7. Details that the sources leave open follow MuJoCo: which part of a face is
used, the distances of face contacts, and which points are left out. See docs/differences.md.
"""

from __future__ import annotations

from math import inf, sqrt

from cardan.collision.capsule import axis_of, component, to_geom, unit_axis
from cardan.collision.contact import put_contact
from cardan.jit import collider, exact, kernel, stack_array
from cardan.maths.types import Array1, Vec3
from cardan.maths.vector import (
    add_scaled3,
    cross,
    dot3,
    get3,
    get9,
    mul_mat_t_vec3,
    mul_mat_vec3,
    normalize3,
    scale3,
    sub3,
)
from cardan.model.kernel_views import Data, Model

View = tuple[Vec3, Vec3, Vec3, Vec3]
"""View of a reference face: face normal n, divided by n . view direction; view direction; the face's two axes."""
PARALLEL = 1e-12
"""Squared sine of the angle between two edges below which they count as parallel."""
ROUNDING = 1e-9
"""Relative tolerance of separations, far above their rounding error."""
EDGE_ADVANTAGE = 1e-12
"""Relative amount by which the overlap along a perpendicular of two edges must be less than along a face normal."""
COINCIDENT = 1e-14
"""Difference of coordinates (m) below which two points of the overlap are merged."""
FACING = 0.5
"""Cosine above which a face counts as facing the other box. If several do, their common edge or corner is used."""
SLACK = 0.01
"""Share of a box's half size within which a point near the surface counts as neither inside nor outside."""
# layout of the scratch array: relative rotation, corners of the incident feature and points found (u, v, height)
ROTATION = 0
CORNERS = 9
POINTS = 21
NSCRATCH = 93


@kernel
def face_overlap(w: Array1, t: Vec3, t2: Vec3, size1: Vec3, size2: Vec3, axis: int) -> float:
    """Separation (m) of two boxes along a face normal of the first box (`axis` 0 to 2) or of the second (3 to 5).

    `t` and `t2` are the vector from centre to centre, in the frames of the first and the second box. `w`, `size1` and
    `size2` are as in `edge_overlap`. If boxes just touch, rounding decides the sign of the result, so the order of the
    sums matters.
    """
    if axis < 3:
        return (
            abs(component(t, axis))
            - component(size1, axis)
            - size2[0] * abs(w[ROTATION + 3 * axis])
            - size2[1] * abs(w[ROTATION + 3 * axis + 1])
            - size2[2] * abs(w[ROTATION + 3 * axis + 2])
        )
    j = axis - 3
    c0, c1, c2 = w[ROTATION + j], w[ROTATION + 3 + j], w[ROTATION + 6 + j]
    return abs(component(t2, j)) - component(size2, j) - size1[0] * abs(c0) - size1[1] * abs(c1) - size1[2] * abs(c2)


@kernel
def edge_overlap(w: Array1, t: Vec3, size1: Vec3, size2: Vec3, i: int, j: int, least: float) -> float:
    """Separation (m) of two boxes along the perpendicular of edge `i` of the first and edge `j` of the second box.

    `w` is the scratch array with the rotation between the boxes. `t` is the vector from centre to centre in the frame
    of the first box; `size1` and `size2` are the half sizes. The result is -inf if the edges are parallel, or if the
    separation is certainly below `least`.
    """
    cosine = w[ROTATION + 3 * i + j]
    if 1.0 - cosine * cosine < PARALLEL:
        return -inf
    i1, i2 = (i + 1) % 3, (i + 2) % 3
    j1, j2 = (j + 1) % 3, (j + 2) % 3
    across1, across2 = w[ROTATION + 3 * i1 + j], w[ROTATION + 3 * i2 + j]
    along1, along2 = w[ROTATION + 3 * i + j1], w[ROTATION + 3 * i + j2]
    length = sqrt(across1 * across1 + across2 * across2)
    reach = component(size1, i1) * abs(across2) + component(size1, i2) * abs(across1)
    reach += component(size2, j1) * abs(along2) + component(size2, j2) * abs(along1)
    if abs(component(t, i2) * across1 - component(t, i1) * across2) - reach < (least - ROUNDING * reach) * length:
        return -inf

    # divide first, so that where two faces touch, rounding does not make this separation larger than theirs
    across1, across2 = across1 / length, across2 / length
    reach1 = component(size1, i1) * abs(across2) + component(size1, i2) * abs(across1)
    reach2 = component(size2, j1) * abs(along2 / length) + component(size2, j2) * abs(along1 / length)
    return abs(component(t, i2) * across1 - component(t, i1) * across2) - (reach1 + reach2)


@kernel
def find_axis(w: Array1, t: Vec3, t2: Vec3, size1: Vec3, size2: Vec3, margin: float) -> tuple[int, float]:
    """Return the axis along which two boxes overlap least, and the separation along it (negative if they overlap).

    The search ends at the first axis whose separation is more than the margin. Axes 0 to 2 are normals of faces of the
    first box, 3 to 5 of the second; axis 6 + 3 i + j is the perpendicular of edge i of the first and edge j of the
    second. `t` and `t2` are the vector from centre to centre, in the frames of the first and the second box. `w`,
    `size1` and `size2` are as in `edge_overlap`.
    """
    best = 0
    largest = -inf
    for axis in range(6):
        separation = face_overlap(w, t, t2, size1, size2, axis)
        if separation > largest:
            best, largest = axis, separation
            if separation > margin:
                return best, largest
    for i in range(3):
        for j in range(3):
            separation = edge_overlap(w, t, size1, size2, i, j, largest)
            if separation > largest + EDGE_ADVANTAGE * abs(largest):
                best, largest = 6 + 3 * i + j, separation
                if separation > margin:
                    return best, largest
    return best, largest


@kernel
def sign(x: float) -> float:
    """Return -1 if the number is negative, else 1."""
    return 1.0 if x >= 0.0 else -1.0


@kernel
def towards(x: float) -> float:
    """Return 1 if the number is positive, else -1. The result selects the first side of the incident face."""
    return 1.0 if x > 0.0 else -1.0


@kernel
def largest_component(v: Vec3) -> int:
    """Index of the component with the largest magnitude."""
    if abs(v[0]) >= abs(v[1]):
        return 0 if abs(v[0]) >= abs(v[2]) else 2
    return 1 if abs(v[1]) >= abs(v[2]) else 2


@kernel
def incident_axis(w: Array1, k: int) -> Vec3:
    """Axis `k` of the incident box in the frame of the reference box."""
    return w[ROTATION + k], w[ROTATION + 3 + k], w[ROTATION + 6 + k]


@kernel
def put_feature(m: Model, w: Array1, geom: int, center: Vec3, facing: Vec3, view: View, whole: bool) -> int:
    """Project the part of a box that faces the other box: a face, an edge or a corner; return its number of corners.

    The corners are written in this order: the corner that is farthest in the direction `facing`, its two neighbours,
    then the last corner. Each corner has three coordinates: two along the axes of the reference face, and the height
    along the direction of view. `center` is the centre of the box in the frame of the reference box, relative to the
    middle of the reference face; `facing` is the direction towards the other box, in the box's frame.

    If `whole` is set, `facing` is perpendicular to an edge. Then the part is always the whole face whose normal is
    closest to `facing`, and the face's side parallel to this edge comes first. Otherwise, the side parallel to the
    lower of the face's two axes comes first.
    """
    face = largest_component(facing)
    k1, k2 = min((face + 1) % 3, (face + 2) % 3), max((face + 1) % 3, (face + 2) % 3)
    if whole and abs(component(facing, k1)) > abs(component(facing, k2)):
        k1, k2 = k2, k1
    outer = add_scaled3(center, incident_axis(w, face), sign(component(facing, face)) * m.geom_size[geom, face])
    along = 1.0 if whole else towards(component(facing, k1))
    half1 = scale3(incident_axis(w, k1), m.geom_size[geom, k1] * along)
    half2 = scale3(incident_axis(w, k2), m.geom_size[geom, k2] * towards(component(facing, k2)))
    n = 0
    for corner in range(4):
        side1 = -1.0 if corner & 1 else 1.0
        side2 = -1.0 if corner & 2 else 1.0
        if whole or (
            (side1 > 0.0 or abs(component(facing, k1)) <= FACING)
            and (side2 > 0.0 or abs(component(facing, k2)) <= FACING)
        ):
            point = add_scaled3(add_scaled3(outer, half1, side1), half2, side2)
            height = dot3(point, view[0])
            flat = add_scaled3(point, view[1], -height)
            w[CORNERS + 3 * n] = dot3(flat, view[2])
            w[CORNERS + 3 * n + 1] = dot3(flat, view[3])
            w[CORNERS + 3 * n + 2] = height
            n += 1
    return n


@kernel
def zone(m: Model, d: Data, geom: int, point: Vec3) -> int:
    """Return 1 if a point is inside a box enlarged by the margin, -1 if it is outside, 0 if it is near the surface.

    A point is near the surface if it is within the share `SLACK` of the half sizes.
    """
    local, size, margin = to_geom(d, geom, point), get3(m.geom_size, geom), d.work.near_margin
    x, y, z = abs(local[0]) - margin, abs(local[1]) - margin, abs(local[2]) - margin
    outer, inner = 1.0 + SLACK, 1.0 - SLACK
    if x > outer * size[0] or y > outer * size[1] or z > outer * size[2]:
        return -1
    if x < inner * size[0] and y < inner * size[1] and z < inner * size[2]:
        return 1
    return 0


@kernel
def put_point(w: Array1, n: int, u: float, v: float, height: float) -> int:
    """Append a point to the `n` points found so far, unless it coincides with one of them; return their new number."""
    for k in range(n):
        if abs(w[POINTS + 3 * k] - u) < COINCIDENT and abs(w[POINTS + 3 * k + 1] - v) < COINCIDENT:
            return n
    w[POINTS + 3 * n] = u
    w[POINTS + 3 * n + 1] = v
    w[POINTS + 3 * n + 2] = height
    return n + 1


@kernel
def add_crossings(w: Array1, n: int, ncorner: int, half_u: float, half_v: float) -> int:
    """Append the points where sides of the incident feature cross sides of the reference face, which is a rectangle.

    The sides go from corner 0 to 1, 0 to 2, 1 to 3 and 3 to 2. A side of the feature that ends on a line of the
    rectangle crosses this line; a side that starts on it does not. If edges coincide, this rule decides the order of
    contacts. Return the new number of points.
    """
    for side in range(4 if ncorner == 4 else ncorner - 1):
        a = CORNERS + 3 * (side - 1 if side > 1 else 0) + (3 if side == 3 else 0)
        b = CORNERS + 3 * (side + 1 if side < 3 else 2)
        for axis in range(2):
            half, other = (half_u, half_v) if axis == 0 else (half_v, half_u)
            for end in range(2):
                line = half if end else -half
                run = w[b + axis] - w[a + axis]
                share = (line - w[a + axis]) / run if run != 0.0 else 0.0
                if 0.0 < share <= 1.0:
                    across = w[a + 1 - axis] + share * (w[b + 1 - axis] - w[a + 1 - axis])
                    if abs(across) <= other:
                        height = w[a + 2] + share * (w[b + 2] - w[a + 2])
                        u, v = (line, across) if axis == 0 else (across, line)
                        n = put_point(w, n, u, v, height)
    return n


@kernel
def add_face_corners(w: Array1, n: int, half_u: float, half_v: float, only_first: bool) -> int:
    """Append the corners of the reference face that are inside the incident face, or only the first of them.

    The incident face is p0 + a (p1 - p0) + b (p2 - p0) for a and b in [0, 1], where p0, p1, p2 are its first three
    corners. Return the new number of points.
    """
    u0, v0, h0 = w[CORNERS], w[CORNERS + 1], w[CORNERS + 2]
    u1, v1, h1 = w[CORNERS + 3] - u0, w[CORNERS + 4] - v0, w[CORNERS + 5] - h0
    u2, v2, h2 = w[CORNERS + 6] - u0, w[CORNERS + 7] - v0, w[CORNERS + 8] - h0
    area = u1 * v2 - u2 * v1
    if area == 0.0:
        return n
    for corner in range(4):
        u = half_u if corner & 2 else -half_u
        v = half_v if corner & 1 else -half_v
        a = ((u - u0) * v2 - u2 * (v - v0)) / area
        b = (u1 * (v - v0) - (u - u0) * v1) / area
        if 0.0 < a < 1.0 and 0.0 < b < 1.0:
            n = put_point(w, n, u, v, h0 + a * h1 + b * h2)
            if only_first:
                return n
    return n


@kernel
def add_incident_corners(w: Array1, n: int, ncorner: int, half_u: float, half_v: float, with_deepest: bool) -> int:
    """Append the corners of the incident feature that are inside the reference face; return the new number of points.

    If `with_deepest` is set, the deepest corner is appended even if it is outside.
    """
    deepest = 0 if with_deepest else -1
    for k in range(1, ncorner if with_deepest else 1):
        if w[CORNERS + 3 * k + 2] < w[CORNERS + 3 * deepest + 2]:
            deepest = k
    for k in range(ncorner):
        u, v = w[CORNERS + 3 * k], w[CORNERS + 3 * k + 1]
        if k == deepest or (abs(u) <= half_u and abs(v) <= half_v):
            n = put_point(w, n, u, v, w[CORNERS + 3 * k + 2])
    return n


@kernel
def find_points(
    m: Model, d: Data, w: Array1, geom1: int, geom2: int, center: Vec3, direction: Vec3, edges: bool
) -> tuple[int, Vec3, Vec3, Vec3]:
    """Write the corners of the overlap of two faces that face each other, seen along `direction`, to `w`.

    All computations are in the frame of the reference box `geom1`, so that points of faces that just touch have the
    height 0. `center` is the centre of the incident box, `direction` the unit vector towards it. `edges` specifies
    whether the direction is the perpendicular of two edges instead of a face normal of the first box.

    Returns:
        The number of points, the middle of the reference face in the world frame, and its two axes.
    """
    # reference face
    face = largest_component(direction)
    side, size = sign(component(direction, face)), m.geom_size[geom1, face]
    outward = unit_axis(face)
    if not edges:
        direction = scale3(outward, side)
    cosine = component(direction, face)
    # its axes: x and y, after the rotation about x or y that takes the z face to this face
    axis_u = (0.0, 0.0, -side) if face == 0 else ((1.0, 0.0, 0.0) if face == 1 else (side, 0.0, 0.0))
    axis_v = (0.0, 0.0, -side) if face == 1 else (0.0, 1.0, 0.0)
    half_u = m.geom_size[geom1, 2 if face == 0 else 0]
    half_v = m.geom_size[geom1, 2 if face == 1 else 1]

    # incident feature, and the corners of the overlap
    view = (scale3(outward, 1.0 / cosine), direction, axis_u, axis_v)
    facing = (
        -dot3(incident_axis(w, 0), direction),
        -dot3(incident_axis(w, 1), direction),
        -dot3(incident_axis(w, 2), direction),
    )
    # subtract the face's distance first: the order of sums decides the heights of boxes that just touch
    center = add_scaled3(center, outward, -side * size)
    ncorner = put_feature(m, w, geom2, center, facing, view, edges)
    n = 0
    if ncorner > 1:
        n = add_crossings(w, n, ncorner, half_u, half_v)
    if ncorner == 4:
        n = add_face_corners(w, n, half_u, half_v, edges)
    n = add_incident_corners(w, n, ncorner, half_u, half_v, not edges)
    middle = add_scaled3(get3(d.geom_xpos, geom1), axis_of(d, geom1, face), side * size)
    xmat = get9(d.geom_xmat, geom1)
    return n, middle, mul_mat_vec3(xmat, axis_u), mul_mat_vec3(xmat, axis_v)


@kernel
def keep_contacts(
    m: Model, d: Data, w: Array1, npoint: int, geom1: int, geom2: int, place: tuple[Vec3, ...], factor: float
) -> int:
    """Write a contact for each found point that qualifies; return the number of contacts.

    The height of a point above the reference face must be within the margin. If the point is outside one box, it must
    be well inside the other (`zone`). `place` holds the middle of the reference face, its two axes, the direction of
    view, and the contact normal. The distance of a contact is `factor` times the height.
    """
    ncon = 0
    for k in range(npoint):
        height = w[POINTS + 3 * k + 2]
        if height <= d.work.near_margin:
            point = add_scaled3(place[0], place[1], w[POINTS + 3 * k])
            point = add_scaled3(point, place[2], w[POINTS + 3 * k + 1])
            point = add_scaled3(point, place[3], 0.5 * height)
            if zone(m, d, geom1, point) + zone(m, d, geom2, point) >= 0:
                put_contact(d, ncon, factor * height, point, place[4])
                ncon += 1
    return ncon


@kernel
def middle_of_edge(m: Model, d: Data, geom: int, axis: int, direction: Vec3) -> Vec3:
    """Middle of the box edge that is parallel to axis `axis` of the box and farthest in a direction, world frame."""
    point = get3(d.geom_xpos, geom)
    for k in range(1, 3):
        other = (axis + k) % 3
        across = axis_of(d, geom, other)
        point = add_scaled3(point, across, sign(dot3(across, direction)) * m.geom_size[geom, other])
    return point


@kernel
def put_edge_contact(m: Model, d: Data, geom1: int, geom2: int, pair: int, normal: Vec3, separation: float) -> int:
    """Write the contact midway between the closest points of two edges; return 1.

    The edges are parallel to axis i of `geom1` and axis j of `geom2`; `pair` is 3 i + j. `normal` is the contact normal
    from `geom1` to `geom2` (world frame), and `separation` the signed distance between the edges along the normal, m.
    """
    u, v = axis_of(d, geom1, pair // 3), axis_of(d, geom2, pair % 3)
    start = middle_of_edge(m, d, geom1, pair // 3, normal)
    between = sub3(middle_of_edge(m, d, geom2, pair % 3, scale3(normal, -1.0)), start)
    cosine, half = dot3(u, v), m.geom_size[geom1, pair // 3]
    s = (dot3(between, u) - cosine * dot3(between, v)) / (1.0 - cosine * cosine)
    point = add_scaled3(start, u, min(max(s, -half), half))
    put_contact(d, 0, separation, add_scaled3(point, normal, 0.5 * separation), normal)
    return 1


@collider
@exact
def box_box(m: Model, d: Data, geom1: int, geom2: int) -> int:
    """Write up to eight contacts of two boxes, and return their number. All have the same normal.

    The normal is the axis of least overlap.

    As in MuJoCo 3.1, the distance of a contact on a face is half its height above the face. If the axis is the
    perpendicular of two separated edges and no other contact is found, there is one contact, midway between the closest
    points of these edges.
    """
    w = stack_array(NSCRATCH)
    between = sub3(get3(d.geom_xpos, geom2), get3(d.geom_xpos, geom1))

    # axis of least overlap
    xmat1 = get9(d.geom_xmat, geom1)
    for j in range(3):
        column = mul_mat_t_vec3(xmat1, axis_of(d, geom2, j))
        w[ROTATION + j] = column[0]
        w[ROTATION + 3 + j] = column[1]
        w[ROTATION + 6 + j] = column[2]
    size1, size2 = get3(m.geom_size, geom1), get3(m.geom_size, geom2)
    t, t2 = mul_mat_t_vec3(xmat1, between), mul_mat_t_vec3(get9(d.geom_xmat, geom2), between)
    axis, separation = find_axis(w, t, t2, size1, size2, d.work.near_margin)
    if separation > d.work.near_margin:
        return 0
    if axis < 6:
        normal = axis_of(d, geom1, axis) if axis < 3 else axis_of(d, geom2, axis - 3)
    else:
        normal = normalize3(cross(axis_of(d, geom1, (axis - 6) // 3), axis_of(d, geom2, (axis - 6) % 3)))
    if dot3(normal, between) < 0.0:
        normal = scale3(normal, -1.0)

    # overlap of two faces; if the axis is a face normal of the second box, the reference face is on that box
    edges = axis >= 6
    first, second = geom1, geom2
    center, direction = t, normal
    if 3 <= axis < 6:
        first, second = geom2, geom1
        center, direction = scale3(t2, -1.0), scale3(normal, -1.0)
        for i in range(3):  # transpose the rotation, which inverts it
            for j in range(i):
                w[ROTATION + 3 * i + j], w[ROTATION + 3 * j + i] = w[ROTATION + 3 * j + i], w[ROTATION + 3 * i + j]
    local = mul_mat_t_vec3(get9(d.geom_xmat, first), direction)
    npoint, middle, axis_u, axis_v = find_points(m, d, w, first, second, center, local, edges)
    place = (middle, axis_u, axis_v, direction, normal)
    ncon = keep_contacts(m, d, w, npoint, geom1, geom2, place, 1.0 if edges else 0.5)
    if ncon == 0 and edges and separation > 0.0:
        return put_edge_contact(m, d, geom1, geom2, axis - 6, normal, separation)
    return ncon
