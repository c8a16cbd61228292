"""Collisions between a capsule and a box.

The capsule's segment is center + t half in the frame of the box, for parameters t in [-1, 1]. The first contact is
between the box and a sphere at the point of the segment nearest to the box: an end in front of a face, or the closest
point to one of the twelve edges. The second contact is between the box and a sphere at the last point of the segment
beside the same feature.

A feature of the box is described by three signs, `side`. One of them is not 0 for a face, two for an edge, and three
for a corner.

Sources: C. Ericson, Real-Time Collision Detection (2005), sections 5.1.4 (point and box) and 5.1.9 (two segments).
Direction and distance of the second contact follow numerical results of MuJoCo; see docs/differences.md.
"""

from __future__ import annotations

from math import inf

from cardan.collision.capsule import clamp, component, half_axis, sphere_box_contact, to_geom
from cardan.jit import collider, exact, kernel
from cardan.maths.types import Vec3
from cardan.maths.vector import MINVAL, add_scaled3, dot3, get3, get9, mul_mat_t_vec3
from cardan.model.kernel_views import Data, Model

STEEP = 0.5
"""Squared cosine of the angle between segment and box axis above which the segment counts as along this axis."""


@kernel
def sign_beyond(x: float, half: float) -> float:
    """Return 0 if a coordinate is in [-half, half], else the side on which it is outside: -1 or 1."""
    if x > half:
        return 1.0
    return -1.0 if x < -half else 0.0


@kernel
def end_before_face(center: Vec3, half: Vec3, size: Vec3, t: float) -> tuple[float, Vec3]:
    """Return the squared distance of a segment's end from the box, and the `side` of the face next to the end.

    If the end is inside the box, `side` is 0. If it is beside an edge or a corner, the distance is infinite.
    """
    end = add_scaled3(center, half, t)
    side = (sign_beyond(end[0], size[0]), sign_beyond(end[1], size[1]), sign_beyond(end[2], size[2]))
    if dot3(side, side) > 1.0:
        return inf, side
    outside = abs(side[0]) * (abs(end[0]) - size[0])
    outside += abs(side[1]) * (abs(end[1]) - size[1]) + abs(side[2]) * (abs(end[2]) - size[2])
    return outside * outside, side


@kernel
def nearest_to_edge(
    center: Vec3, half: Vec3, size: Vec3, axis: int, side1: float, side2: float
) -> tuple[float, float, Vec3]:
    """Find the point of the segment that is nearest to an edge of the box.

    The edge is along `axis`, on the sides `side1` and `side2` of the next two axes in cyclic order.

    Returns:
        Squared distance, parameter of the point, and the feature of the box: the edge, or the corner at its end. If the
        edge is parallel to the segment, the distance is infinite, because other edges are then equally close.
    """
    axis1, axis2 = (axis + 1) % 3, (axis + 2) % 3
    half1, half2, length = component(half, axis1), component(half, axis2), component(size, axis)
    across = half1 * half1 + half2 * half2
    if across * length * length < MINVAL:
        return inf, 0.0, half

    # closest points of the two lines; beyond the end of the edge, the closest point of the segment to the corner
    out1 = component(center, axis1) - side1 * component(size, axis1)
    out2 = component(center, axis2) - side2 * component(size, axis2)
    middle, slope = component(center, axis), component(half, axis)
    t = -(out1 * half1 + out2 * half2) / across
    end = sign_beyond(middle + t * slope, length)
    if end != 0.0:
        t = ((end * length - middle) * slope - out1 * half1 - out2 * half2) / (across + slope * slope)

    # beyond the end of the segment, the closest point of the edge to that end
    if t > 1.0 or t < -1.0:
        t = clamp(t, -1.0, 1.0)
        beyond = sign_beyond(middle + t * slope, length)
        end = beyond if beyond != 0.0 else end
        place = clamp(middle + t * slope, -length, length)
    else:
        place = end * length if end != 0.0 else middle + t * slope
    gap = (middle + t * slope - place, out1 + t * half1, out2 + t * half2)
    if axis == 0:
        return dot3(gap, gap), t, (end, side1, side2)
    return dot3(gap, gap), t, (side2, end, side1) if axis == 1 else (side1, side2, end)


@kernel
def nearest_place(center: Vec3, half: Vec3, size: Vec3) -> tuple[float, float, Vec3]:
    """Find the point of the segment nearest to the box, and the nearest feature of the box.

    Returns:
        Squared distance, parameter of the point, and the feature (`side`).
    """
    best, place = inf, 0.0
    side = (0.0, 0.0, 0.0)
    for end in range(2):
        t = 2.0 * end - 1.0
        square, found = end_before_face(center, half, size, t)
        if square < best:
            best, place, side = square, t, found
    if best > 0.0:
        for axis in range(3):
            for corner in range(4):
                side1 = 1.0 if corner & 2 else -1.0
                side2 = 1.0 if corner & 1 else -1.0
                square, t, found = nearest_to_edge(center, half, size, axis, side1, side2)
                if square < best - MINVAL:
                    best, place, side = square, t, found
    return best, place, side


@kernel
def way_to_side(x: float, step: float, size: float) -> float:
    """Number of steps (a real number) after which coordinate `x` leaves [-size, size]; infinite if `step` is 0."""
    if step > 0.0:
        return (size - x) / step
    return (-size - x) / step if step < 0.0 else inf


@kernel
def way_across(step: float, size: float) -> float:
    """Number of steps of length `step` that cross the whole box along an axis; infinite if `step` is 0."""
    return inf if step == 0.0 else 2.0 * size / abs(step)


@kernel
def outward(half: Vec3, side: Vec3, axis: int) -> bool:
    """Return whether the segment's direction `half` points away from the box along `axis`, on the side `side`."""
    return (component(half, axis) > 0.0) == (component(side, axis) > 0.0)


@kernel
def way_before_face(center: Vec3, half: Vec3, size: Vec3, t: float, side: Vec3) -> float:
    """Change of the parameter from an end in front of a face to the last point in front of this face."""
    direction = -t
    end = add_scaled3(center, half, t)
    way = 2.0
    for axis in range(3):
        if component(side, axis) == 0.0:
            step = direction * component(half, axis)
            way = min(way, way_to_side(component(end, axis), step, component(size, axis)))
    return direction * way


@kernel
def way_beside_edge(center: Vec3, half: Vec3, size: Vec3, t: float, side: Vec3) -> tuple[bool, float]:
    """Compute where the second contact is if the first is beside an edge.

    The segment passes over the less steep of the edge's two faces, at most across the box.

    Returns:
        Whether there is a second contact, and the change of the parameter from the first to the second. There is none
        if the direction of the segment is outward for both faces, or inward for both.
    """
    axis = 0 if side[0] == 0.0 else (1 if side[1] == 0.0 else 2)
    axis1, axis2 = (axis + 1) % 3, (axis + 2) % 3
    if outward(half, side, axis1) == outward(half, side, axis2):
        return False, 0.0
    over = axis1 if abs(component(half, axis1)) > abs(component(half, axis2)) else axis2
    direction = -1.0 if outward(half, side, over) else 1.0
    place = component(center, axis) + t * component(half, axis)
    way = min(
        1.0 - direction * t,
        way_across(component(half, over), component(size, over)),
        way_to_side(place, direction * component(half, axis), component(size, axis)),
    )
    return True, direction * way


@kernel
def way_from_corner(half: Vec3, size: Vec3, t: float, side: Vec3) -> tuple[bool, float]:
    """Compute where the second contact is if the first is beside a corner.

    The segment's direction is inward or outward along each axis, and one axis differs from the other two. If the
    segment is steep along this axis, it passes along the edge parallel to the axis. Otherwise, it passes over the face
    that the other two axes span.

    Returns:
        Whether there is a second contact, and the change of the parameter from the first to the second. There is none
        if the direction is inward along all axes, or outward along all.
    """
    out0, out1, out2 = outward(half, side, 0), outward(half, side, 1), outward(half, side, 2)
    if out0 == out1 and out1 == out2:
        return False, 0.0
    odd = 2 if out0 == out1 else (1 if out0 == out2 else 0)
    along = component(half, odd)
    steep = along * along > STEEP * dot3(half, half)
    direction = 1.0 if outward(half, side, odd) != steep else -1.0
    way = 1.0 - direction * t
    for axis in range(3):
        if (axis == odd) == steep:
            way = min(way, way_across(component(half, axis), component(size, axis)))
    return True, direction * way


@kernel
def capsule_box_contacts(m: Model, d: Data, middle: Vec3, axis: Vec3, radius: float, box: int) -> int:
    """Write up to two contacts between a box and any capsule, the nearest contact first; return their number.

    The capsule is a geom or a part of another shape. `middle` is the middle of the capsule's segment in the world frame
    (m), `axis` the vector from there to its end.
    """
    center, half = to_geom(d, box, middle), mul_mat_t_vec3(get9(d.geom_xmat, box), axis)
    size = get3(m.geom_size, box)

    # far apart along one of the box's axes
    reach = radius + d.work.near_margin
    for k in range(3):
        if abs(component(center, k)) - abs(component(half, k)) - component(size, k) > reach:
            return 0

    square, t, side = nearest_place(center, half, size)
    if square == inf:
        return sphere_box_contact(m, d, 0, middle, radius, box)
    ncon = sphere_box_contact(m, d, 0, add_scaled3(middle, axis, t), radius, box)
    parts = dot3(side, side)
    found, way = False, 0.0
    if parts > 2.0:
        found, way = way_from_corner(half, size, t, side)
    elif parts > 1.0:
        found, way = way_beside_edge(center, half, size, t, side)
    elif parts > 0.0:
        found, way = True, way_before_face(center, half, size, t, side)
    if found:
        ncon = sphere_box_contact(m, d, ncon, add_scaled3(middle, axis, t + way), radius, box)
    return ncon


@collider
@exact
def capsule_box(m: Model, d: Data, geom1: int, geom2: int) -> int:
    """Write up to two contacts between a capsule and a box, the nearest contact first; return their number."""
    return capsule_box_contacts(m, d, get3(d.geom_xpos, geom1), half_axis(m, d, geom1), m.geom_size[geom1, 0], geom2)
