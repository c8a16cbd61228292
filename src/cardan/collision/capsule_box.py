"""Collisions of a capsule and a box.

The distance of a point of the capsule's segment to the box is a convex function of its place on the segment. Contacts
are those of spheres at the places where it is smallest: at both ends of an interval if the segment is parallel to
the box there, else at one place and at the other end of the part of the segment before the same face.
"""

from __future__ import annotations

from typing import Any

from cardan.collision.capsule import axis_z, clamp
from cardan.collision.sphere import sphere_box_contact
from cardan.jit import collider, kernel, stack_array
from cardan.maths.vector import add_scaled3, get3, get9, mul_mat_t_vec3, scale3, sub3

FLAT = 1e-10
"""Slope of the squared distance, relative to the segment's squared length, below which it counts as constant."""
APART = 1e-6
"""Least distance of two contacts, as a share of the segment's half length."""


@kernel
def beyond(x: float, half: float) -> float:
    """By how much a coordinate is outside of [-half, half]."""
    return x - clamp(x, -half, half)


@kernel
def slope(center: Any, half: Any, size: Any, t: float) -> float:
    """Half of the derivative by `t` of the squared distance of the point center + t half to a box."""
    return (
        half[0] * beyond(center[0] + t * half[0], size[0])
        + half[1] * beyond(center[1] + t * half[1], size[1])
        + half[2] * beyond(center[2] + t * half[2], size[2])
    )


@kernel
def put_breaks(w: Any, n: int, center: float, half: float, size: float) -> int:
    """Append the places in (-1, 1) where a coordinate of the segment passes a side of the box."""
    for end in range(2):
        line = size if end else -size
        if abs(line - center) < abs(half):
            w[n] = (line - center) / half
            n += 1
    return n


@kernel
def nearest_places(center: Any, half: Any, size: Any) -> Any:
    """The interval of places t in [-1, 1] where the segment center + t half is nearest to a box, in its frame.

    The slope never falls with t and is linear between the places where a coordinate passes a side of the box.
    """
    w = stack_array(6)
    n = put_breaks(w, 0, center[0], half[0], size[0])
    n = put_breaks(w, n, center[1], half[1], size[1])
    n = put_breaks(w, n, center[2], half[2], size[2])
    flat = FLAT * (half[0] * half[0] + half[1] * half[1] + half[2] * half[2])

    # bracket: the slope is negative at `low` and positive at `high`, or these are the ends
    low, high = -1.0, 1.0
    slope_low, slope_high = slope(center, half, size, low), slope(center, half, size, high)
    for k in range(n):
        value = slope(center, half, size, w[k])
        if value < -flat and w[k] > low:
            low, slope_low = w[k], value
        if value > flat and w[k] < high:
            high, slope_high = w[k], value

    # places within the bracket where it is flat
    first, last = high, low
    for k in range(n):
        if low <= w[k] <= high and abs(slope(center, half, size, w[k])) <= flat:
            first, last = min(first, w[k]), max(last, w[k])
    if slope_low >= -flat:
        first, last = low, max(last, low)
    if slope_high <= flat:
        first, last = min(first, high), high
    if first > last:
        first = low - slope_low * (high - low) / (slope_high - slope_low)
        last = first
    return first, last


@kernel
def clip_interval(low: float, high: float, center: float, half: float, size: float) -> Any:
    """The part of an interval of places where a coordinate of the segment is within a box."""
    if abs(half) < 1e-15:
        return low, high
    one, two = (-size - center) / half, (size - center) / half
    return max(low, min(one, two)), min(high, max(one, two))


@kernel
def other_place(center: Any, half: Any, size: Any, t: float) -> float:
    """The end, farther from `t`, of the part of the segment before the face that the place `t` is nearest to."""
    out0 = abs(beyond(center[0] + t * half[0], size[0]))
    out1 = abs(beyond(center[1] + t * half[1], size[1]))
    out2 = abs(beyond(center[2] + t * half[2], size[2]))
    low, high = -1.0, 1.0
    if out0 < out1 or out0 < out2:
        low, high = clip_interval(low, high, center[0], half[0], size[0])
    if out1 <= out0 or out1 < out2:
        low, high = clip_interval(low, high, center[1], half[1], size[1])
    if out2 <= out0 or out2 <= out1:
        low, high = clip_interval(low, high, center[2], half[2], size[2])
    if low > high:
        return t
    return low if t - low > high - t else high


@kernel
def within(center: Any, half: Any, size: Any, t: float) -> bool:
    """Whether a place on the segment is inside of the box."""
    return (
        abs(center[0] + t * half[0]) < size[0]
        and abs(center[1] + t * half[1]) < size[1]
        and abs(center[2] + t * half[2]) < size[2]
    )


@collider
def capsule_box(m: Any, d: Any, geom1: int, geom2: int) -> int:
    """A capsule and a box: up to two contacts."""
    xmat = get9(d.geom_xmat, geom2)
    center = get3(d.geom_xpos, geom1)
    axis = scale3(axis_z(d.geom_xmat, geom1), m.geom_size[geom1, 1])
    local = mul_mat_t_vec3(xmat, sub3(center, get3(d.geom_xpos, geom2)))
    half = mul_mat_t_vec3(xmat, axis)
    size = get3(m.geom_size, geom2)
    radius = m.geom_size[geom1, 0]

    # an end within the box is the only contact
    for end in range(2):
        t = 1.0 if end else -1.0
        if within(local, half, size, t):
            return sphere_box_contact(m, d, 0, add_scaled3(center, axis, t), radius, geom2)

    # nearest places of the segment; one that pierces the box is flat within it, where one contact does
    first, second = nearest_places(local, half, size)
    if second - first > APART and within(local, half, size, 0.5 * (first + second)):
        first = 0.5 * (first + second)
        second = first
    if second - first <= APART:
        second = other_place(local, half, size, first)
    ncon = sphere_box_contact(m, d, 0, add_scaled3(center, axis, first), radius, geom2)
    if ncon > 0 and abs(second - first) > APART:
        ncon = sphere_box_contact(m, d, ncon, add_scaled3(center, axis, second), radius, geom2)
    return ncon
