"""Broad phase: pairs of bodies whose geoms may touch.

Each body with geoms gets an axis-aligned box around the bounding spheres of its geoms, margins included. The boxes
are sorted along the axis on which they spread most, and swept: only boxes whose intervals on this axis overlap are
compared. The pairs come out in the order of their ids, so that the result depends on the state alone, not on the
order that the sort starts from.

Spec: computation, collision detection, generation and filtering. D. Baraff, Dynamic Simulation of Non-Penetrating
Rigid Bodies, PhD thesis, Cornell (1992), section 2.2: sweep with temporal coherence.
"""

from __future__ import annotations

from typing import Any

from cardan.collision.parameters import overridden
from cardan.enums import mjtDisableBit
from cardan.jit import kernel

FILTERPARENT = int(mjtDisableBit.mjDSBL_FILTERPARENT)
INFINITE = 1e10
SLACK = 1e-9
"""Relative enlargement of the boxes, far above rounding errors."""


@kernel
def set_body_box(m: Any, d: Any, body: int) -> None:
    """Box around the bounding spheres of a body's geoms and their margins; infinite if one of them is a plane."""
    low0, low1, low2 = INFINITE, INFINITE, INFINITE
    high0, high1, high2 = -INFINITE, -INFINITE, -INFINITE
    first = m.body_geomadr[body]
    for geom in range(first, first + m.body_geomnum[body]):
        margin = m.opt.o_margin if overridden(m) else m.geom_margin[geom]
        reach = m.geom_rbound[geom] * (1.0 + SLACK) + max(margin, 0.0)
        if m.geom_rbound[geom] <= 0.0:
            reach = 2.0 * INFINITE
        low0 = min(low0, d.geom_xpos[geom, 0] - reach)
        low1 = min(low1, d.geom_xpos[geom, 1] - reach)
        low2 = min(low2, d.geom_xpos[geom, 2] - reach)
        high0 = max(high0, d.geom_xpos[geom, 0] + reach)
        high1 = max(high1, d.geom_xpos[geom, 1] + reach)
        high2 = max(high2, d.geom_xpos[geom, 2] + reach)
    d.work.body_box[body, 0] = low0
    d.work.body_box[body, 1] = low1
    d.work.body_box[body, 2] = low2
    d.work.body_box[body, 3] = high0
    d.work.body_box[body, 4] = high1
    d.work.body_box[body, 5] = high2


@kernel
def spread(m: Any, d: Any, axis: int) -> float:
    """Variance of the middles of all finite boxes along an axis, times a common factor."""
    total = 0.0
    square = 0.0
    count = 0
    for k in range(len(m.aux.collision_body)):
        body = m.aux.collision_body[k]
        low = d.work.body_box[body, axis]
        high = d.work.body_box[body, axis + 3]
        if high - low < INFINITE:
            total += low + high
            square += (low + high) * (low + high)
            count += 1
    return square - total * total / max(count, 1)


@kernel
def widest_axis(m: Any, d: Any) -> int:
    """The axis along which the bodies are spread most."""
    widest = 0
    largest = -1.0
    for axis in range(3):
        size = spread(m, d, axis)
        if size > largest:
            widest = axis
            largest = size
    return widest


@kernel
def sort_with_gap(d: Any, n: int, gap: int) -> None:
    """Insertion sort of the sweep's keys and bodies, in `gap` interleaved lists."""
    for i in range(gap, n):
        key = d.work.sweep_key[i]
        body = d.work.sweep_body[i]
        j = i
        while j >= gap and d.work.sweep_key[j - gap] > key:
            d.work.sweep_key[j] = d.work.sweep_key[j - gap]
            d.work.sweep_body[j] = d.work.sweep_body[j - gap]
            j -= gap
        d.work.sweep_key[j] = key
        d.work.sweep_body[j] = body


@kernel
def sort_bodies(m: Any, d: Any, axis: int) -> None:
    """Sort the bodies by the lower ends of their boxes along `axis` (Shell's sort).

    The last order along the same axis is almost the new one: then a plain insertion sort does, and it takes linear
    time.
    """
    n = len(m.aux.collision_body)
    gap = 1
    if d.work.sweep_axis[0] != axis + 1:
        for k in range(n):
            d.work.sweep_body[k] = m.aux.collision_body[k]
        d.work.sweep_axis[0] = axis + 1
        while gap < n:
            gap = 3 * gap + 1
    for k in range(n):
        d.work.sweep_key[k] = d.work.body_box[d.work.sweep_body[k], axis]
    while gap >= 1:
        sort_with_gap(d, n, gap)
        gap //= 3


@kernel
def line_up_boxes(d: Any, n: int, axis: int) -> None:
    """Copy the boxes in the order of the sweep, with the sweep's axis first: low, high, then the other two axes."""
    axis1 = (axis + 1) % 3
    axis2 = (axis + 2) % 3
    for k in range(n):
        body = d.work.sweep_body[k]
        d.work.sweep_box[k, 0] = d.work.body_box[body, axis]
        d.work.sweep_box[k, 1] = d.work.body_box[body, axis + 3]
        d.work.sweep_box[k, 2] = d.work.body_box[body, axis1]
        d.work.sweep_box[k, 3] = d.work.body_box[body, axis1 + 3]
        d.work.sweep_box[k, 4] = d.work.body_box[body, axis2]
        d.work.sweep_box[k, 5] = d.work.body_box[body, axis2 + 3]


@kernel
def bodies_may_collide(m: Any, body1: int, body2: int) -> bool:
    """The filters between bodies: contype and conaffinity, same weld body, parent (other than the world) and child."""
    if not (m.body_contype[body1] & m.body_conaffinity[body2] or m.body_contype[body2] & m.body_conaffinity[body1]):
        return False
    weld1 = m.body_weldid[body1]
    weld2 = m.body_weldid[body2]
    if weld1 == weld2:
        return False
    if m.opt.disableflags & FILTERPARENT or weld1 == 0 or weld2 == 0:
        return True
    return weld1 != m.aux.body_weldparent[body2] and weld2 != m.aux.body_weldparent[body1]


@kernel
def sweep(m: Any, d: Any, n: int) -> int:
    """Find all pairs of overlapping boxes that pass the filters between bodies.

    Returns their number; those that fit are in ``d.work.bodypair``, lower id first, in the order of the sweep.
    """
    count = 0
    room = len(d.work.bodypair)
    for i in range(n):
        body1 = d.work.sweep_body[i]
        end = d.work.sweep_box[i, 1]
        low1, high1 = d.work.sweep_box[i, 2], d.work.sweep_box[i, 3]
        low2, high2 = d.work.sweep_box[i, 4], d.work.sweep_box[i, 5]
        j = i + 1
        while j < n and d.work.sweep_box[j, 0] <= end:
            if (
                d.work.sweep_box[j, 2] <= high1
                and d.work.sweep_box[j, 3] >= low1
                and d.work.sweep_box[j, 4] <= high2
                and d.work.sweep_box[j, 5] >= low2
            ):
                body2 = d.work.sweep_body[j]
                if bodies_may_collide(m, body1, body2):
                    if count < room:
                        d.work.bodypair[count, 0] = min(body1, body2)
                        d.work.bodypair[count, 1] = max(body1, body2)
                    count += 1
            j += 1
    return count


@kernel
def scatter_by(m: Any, d: Any, source: Any, target: Any, count: int, column: int) -> None:
    """Stable counting sort of the pairs in `source` by one of their two bodies, into `target`."""
    for body in range(m.nbody):
        d.work.bucket[body] = 0
    for k in range(count):
        d.work.bucket[source[k, column]] += 1
    start = 0
    for body in range(m.nbody):
        number = d.work.bucket[body]
        d.work.bucket[body] = start
        start += number
    for k in range(count):
        place = d.work.bucket[source[k, column]]
        d.work.bucket[source[k, column]] = place + 1
        target[place, 0] = source[k, 0]
        target[place, 1] = source[k, 1]


@kernel
def find_body_pairs(m: Any, d: Any) -> int:
    """Find the pairs of bodies whose geoms may touch.

    Returns:
        The number of pairs; if there is room for all, they are in ``d.work.bodypair``, sorted by their ids.
    """
    n = len(m.aux.collision_body)
    for k in range(n):
        set_body_box(m, d, m.aux.collision_body[k])
    axis = widest_axis(m, d)
    sort_bodies(m, d, axis)
    line_up_boxes(d, n, axis)
    npair = sweep(m, d, n)
    if npair <= len(d.work.bodypair):
        scatter_by(m, d, d.work.bodypair, d.work.bodypair_by2, npair, 1)
        scatter_by(m, d, d.work.bodypair_by2, d.work.bodypair, npair, 0)
    return npair
