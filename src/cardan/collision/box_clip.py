"""Collisions of two boxes as in MuJoCo 4.0: find the axis of least overlap, and clip a face by a face of the other box.

The axis is the normal of a face, or the common perpendicular of two edges. A perpendicular that is close to the best
face normal is chosen only if the overlap along it is smaller by at least the share `ADVANTAGE`. If the axis is a face
normal, the opposite face of the other box is clipped by the sides of this face. The contacts are those corners of the
clipped face that are within the margin. Two edges have one contact, between their closest points.

Sources: S. Gottschalk, M. Lin, D. Manocha, OBBTree, SIGGRAPH 1996 (the 15 axes); C. Ericson, Real-Time Collision
Detection (2005), sections 4.4.1 and 8.3.4. The preference between axes follows numerical results of MuJoCo 4.0.0.
"""

from __future__ import annotations

from math import inf

from cardan.collision.box import NSCRATCH, ROTATION, component, edge_overlap, put_edge_contact
from cardan.collision.capsule import axis_of
from cardan.collision.contact import put_contact
from cardan.collision.manifold import clip_polygon
from cardan.jit import collider, exact, kernel, stack_array
from cardan.maths.types import Array1, Vec3
from cardan.maths.vector import (
    add_scaled3,
    cross,
    dot3,
    get3,
    get9,
    mul_mat_t_vec3,
    normalize3,
    scale3,
    set3,
    sub3,
)
from cardan.model.fields_work import OUTLINE
from cardan.model.kernel_views import Data, Model

CLOSE = 0.99
"""Cosine above which the perpendicular of two edges counts as close to the normal of a face."""
ADVANTAGE = 0.05
"""Share of the overlap by which a perpendicular close to a face normal must be better than the face normal."""
NO_AXIS = -1


@kernel
def face_separation(w: Array1, t: Vec3, t2: Vec3, size1: Vec3, size2: Vec3, axis: int) -> float:
    """Separation (m) of two boxes along a face normal of the first box (`axis` 0 to 2) or of the second (3 to 5).

    As `box.face_overlap`, but summed in another order. If boxes just touch, or if two faces are parallel, the last bit
    decides.
    """
    if axis < 3:
        row = ROTATION + 3 * axis
        reach = abs(w[row]) * size2[0] + abs(w[row + 1]) * size2[1] + abs(w[row + 2]) * size2[2]
        return abs(component(t, axis)) - component(size1, axis) - reach
    j = axis - 3
    column = ROTATION + j
    reach = abs(w[column]) * size1[0] + abs(w[column + 3]) * size1[1] + abs(w[column + 6]) * size1[2]
    return abs(component(t2, j)) - component(size2, j) - reach


@kernel
def best_face(w: Array1, t: Vec3, t2: Vec3, size1: Vec3, size2: Vec3, margin: float) -> tuple[int, float]:
    """Find the face normal of largest separation: axis 0 to 2 of the first box, or 3 to 5 of the second.

    Return the axis and the separation. If a separation is more than the margin, return `NO_AXIS` and this separation.
    Arguments: see `box.find_axis`.
    """
    best, largest = 0, -inf
    for axis in range(6):
        separation = face_separation(w, t, t2, size1, size2, axis)
        if separation > margin:
            return NO_AXIS, separation
        if separation > largest:
            best, largest = axis, separation
    return best, largest


@kernel
def best_edges(w: Array1, t: Vec3, size1: Vec3, size2: Vec3, least: float) -> tuple[int, float]:
    """Find the pair of edges (3 i + j) whose perpendicular has the largest separation.

    Return the pair and the separation.

    If no separation is more than `least`, return `NO_AXIS` and `least`.
    """
    best, largest = NO_AXIS, least
    for pair in range(9):
        separation = edge_overlap(w, t, size1, size2, pair // 3, pair % 3, largest)
        if separation > largest:
            best, largest = pair, separation
    return best, largest


@kernel
def towards_second(axis: Vec3, between: Vec3) -> Vec3:
    """Return the axis or its opposite, whichever points to the second box."""
    return axis if dot3(axis, between) >= 0.0 else scale3(axis, -1.0)


@kernel
def largest_axis(d: Data, geom: int, direction: Vec3) -> int:
    """Index (0 to 2) of the box axis that is most nearly parallel to a direction."""
    x = abs(dot3(axis_of(d, geom, 0), direction))
    y = abs(dot3(axis_of(d, geom, 1), direction))
    z = abs(dot3(axis_of(d, geom, 2), direction))
    if x >= y and x >= z:
        return 0
    return 1 if y >= z else 2


@kernel
def put_face_corners(m: Model, d: Data, geom: int, axis: int, facing: Vec3) -> None:
    """Write the corners of a box's face, in order, to `d.work.outline`.

    The face is perpendicular to the box's axis `axis`, on the side towards `facing`.
    """
    i, j = (axis + 1) % 3, (axis + 2) % 3
    outward = axis_of(d, geom, axis)
    side = m.geom_size[geom, axis] if dot3(outward, facing) >= 0.0 else -m.geom_size[geom, axis]
    center = add_scaled3(get3(d.geom_xpos, geom), outward, side)
    half_i, half_j = (
        scale3(axis_of(d, geom, i), m.geom_size[geom, i]),
        scale3(axis_of(d, geom, j), m.geom_size[geom, j]),
    )
    for k in range(4):
        corner = add_scaled3(center, half_i, 1.0 if k == 0 or k == 3 else -1.0)
        set3(d.work.outline, k, add_scaled3(corner, half_j, 1.0 if k < 2 else -1.0))


@kernel
def touch_face(m: Model, d: Data, reference: int, incident: int, axis: int, out: Vec3, normal: Vec3) -> int:
    """Write the contacts of the box `incident` with a face of the box `reference`; return their number.

    `out` is the outward normal of the face, along axis `axis` of this box; `normal` is the contact normal.
    """
    put_face_corners(m, d, incident, largest_axis(d, incident, out), scale3(out, -1.0))
    center, n, half = get3(d.geom_xpos, reference), 4, 0
    for k in range(4):
        across = (axis + 1 + k // 2) % 3
        outward = scale3(axis_of(d, reference, across), -1.0 if k % 2 == 0 else 1.0)
        if n > 0:
            side = add_scaled3(center, outward, m.geom_size[reference, across])
            n = clip_polygon(d, half, n, side, outward, True)
            half = 1 - half
    ncon, plane = 0, add_scaled3(center, out, m.geom_size[reference, axis])
    for k in range(n):
        point = get3(d.work.outline, OUTLINE * half + k)
        dist = dot3(sub3(point, plane), out)
        if dist <= d.work.near_margin:
            put_contact(d, ncon, dist, add_scaled3(point, out, -0.5 * dist), normal)
            ncon += 1
    return ncon


@collider
@exact
def box_box_clip(m: Model, d: Data, geom1: int, geom2: int) -> int:
    """Write up to eight contacts of two boxes, and return their number. All have the same normal.

    The normal is the axis of least overlap.
    """
    w = stack_array(NSCRATCH)
    between = sub3(get3(d.geom_xpos, geom2), get3(d.geom_xpos, geom1))
    xmat1 = get9(d.geom_xmat, geom1)
    for j in range(3):
        column = mul_mat_t_vec3(xmat1, axis_of(d, geom2, j))
        w[ROTATION + j], w[ROTATION + 3 + j], w[ROTATION + 6 + j] = column[0], column[1], column[2]
    size1, size2 = get3(m.geom_size, geom1), get3(m.geom_size, geom2)
    t, t2 = mul_mat_t_vec3(xmat1, between), mul_mat_t_vec3(get9(d.geom_xmat, geom2), between)

    # the best face, unless two edges are better
    axis, separation = best_face(w, t, t2, size1, size2, d.work.near_margin)
    if axis == NO_AXIS:
        return 0
    first = axis < 3
    normal = towards_second(axis_of(d, geom1 if first else geom2, axis % 3), between)
    pair, across = best_edges(w, t, size1, size2, separation)
    if pair != NO_AXIS:
        if across > d.work.near_margin:
            return 0
        perpendicular = normalize3(cross(axis_of(d, geom1, pair // 3), axis_of(d, geom2, pair % 3)))
        perpendicular = towards_second(perpendicular, between)
        least = ADVANTAGE * abs(separation) if dot3(perpendicular, normal) > CLOSE else 0.0
        if across - separation > least:
            return put_edge_contact(m, d, geom1, geom2, pair, perpendicular, across)
    if first:
        return touch_face(m, d, geom1, geom2, axis % 3, normal, normal)
    return touch_face(m, d, geom2, geom1, axis % 3, scale3(normal, -1.0), normal)
