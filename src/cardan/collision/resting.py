"""Broad phase of models in which some trees sleep: pairs of bodies of which at least one can move at present.

Bodies that are awake, and those that belong to no tree, are swept as in `broadphase`. The boxes of bodies that sleep
don't change. They are sorted when the set of these bodies has changed, along axes that are kept until then. Each of
the other bodies finds the boxes that overlap its own by bisection. The rows of ``work.sweep_box`` and
``work.sweep_body`` first contain the bodies that are not asleep, then those that sleep, each group in its order.

For bisection, ``work.sweep_key`` of a body that sleeps is the largest upper end of all boxes up to its own.
"""

from __future__ import annotations

from cardan.collision.broadphase import (
    FEW_BODIES,
    FEW_GEOMS,
    FIRST_ITERATIONS,
    START,
    bodies_may_collide,
    find_body_pairs,
    principal_axis,
    scatter_by,
    set_axes,
    set_body_box,
    sort_bodies,
    spread_matrix,
    store_boxes,
    sweep,
)
from cardan.dynamics.awake import BROAD_UNSETTLED, is_active, settle, sleeps
from cardan.jit import kernel
from cardan.maths.vector import set3
from cardan.model.kernel_views import Data, Model

FEW_PAIRS = 16
"""Pairs are sorted by comparison if there are fewer than one for this number of bodies."""


@kernel
def find_active_pairs(m: Model, d: Data) -> int:
    """Find the pairs of bodies whose geoms may touch, without pairs of bodies that sleep; see `find_body_pairs`."""
    n = len(m.aux.collision_body)
    few = n <= FEW_BODIES and m.ngeom <= FEW_GEOMS
    if d.work.unsettled & BROAD_UNSETTLED != 0 and not few:
        if d.work.nrest > 0:
            sort_resting(m, d)
        else:
            set3(d.work.sweep_axis, 0, (0.0, 0.0, 0.0))  # start the search again
        settle(d, BROAD_UNSETTLED)
    if d.work.nrest == 0 or few:
        return find_body_pairs(m, d)
    fresh = int(d.work.nfresh)
    for k in range(fresh):
        set_body_box(m, d, d.work.sweep_body[k])
    sort_bodies(d, fresh)
    store_boxes(d, 0, fresh)
    npair = sweep_over_resting(m, d, fresh, sweep(m, d, fresh))
    if npair <= len(d.work.bodypair):
        sort_pairs(m, d, npair)
    return npair


@kernel
def sort_resting(m: Model, d: Data) -> None:
    """Find the axes of the sweep, list the bodies, and sort the boxes of those that sleep."""
    set_axes(d, principal_axis(spread_matrix(m, d, 0), START, FIRST_ITERATIONS))
    fresh, n = 0, len(m.aux.collision_body)
    resting = n
    for k in range(n):
        body = m.aux.collision_body[k]
        if sleeps(d, int(m.body_treeid[body])):
            resting -= 1
            d.work.sweep_body[resting] = body
            set_body_box(m, d, body)
        else:
            d.work.sweep_body[fresh] = body
            fresh += 1
    d.work.nfresh = fresh
    sort_by_low_end(d, fresh, n)
    store_boxes(d, fresh, n)
    top = -1e300
    for k in range(fresh, n):
        top = max(top, d.work.sweep_box[k, 1])
        d.work.sweep_key[k] = top


@kernel
def sort_by_low_end(d: Data, start: int, end: int) -> None:
    """Sort the bodies in the places `start` to `end` (exclusive) by the lower ends of their boxes (Shell sort)."""
    gap = 1
    while 3 * gap + 1 < end - start:
        gap = 3 * gap + 1
    while gap >= 1:
        for i in range(start + gap, end):
            body = d.work.sweep_body[i]
            j = i
            while j >= start + gap and d.work.body_low[d.work.sweep_body[j - gap], 0] > d.work.body_low[body, 0]:
                d.work.sweep_body[j] = d.work.sweep_body[j - gap]
                j -= gap
            d.work.sweep_body[j] = body
        gap //= 3


@kernel
def first_reaching(d: Data, start: int, end: int, low: float) -> int:
    """Return the first place from `start` to `end` up to which some box reaches `low` along the axis, else `end`."""
    while start < end:
        middle = (start + end) // 2
        if d.work.sweep_key[middle] >= low:
            end = middle
        else:
            start = middle + 1
    return start


@kernel
def sweep_over_resting(m: Model, d: Data, fresh: int, count: int) -> int:
    """Add the pairs of a body that can move, among the first `fresh`, with one that sleeps, to `count` pairs.

    Return the number of all pairs; those that fit in memory are in ``work.bodypair``, lower id first.
    """
    n, box = len(m.aux.collision_body), d.work.sweep_box
    for i in range(fresh):
        body1 = d.work.sweep_body[i]
        if not is_active(m, d, body1):
            continue
        end = box[i, 1]
        j = first_reaching(d, fresh, n, box[i, 0])
        while j < n and box[j, 0] <= end:
            if (
                box[j, 1] >= box[i, 0]
                and box[j, 2] <= box[i, 3]
                and box[j, 3] >= box[i, 2]
                and box[j, 4] <= box[i, 5]
                and box[j, 5] >= box[i, 4]
            ):
                body2 = d.work.sweep_body[j]
                if bodies_may_collide(m, body1, body2):
                    if count < len(d.work.bodypair):
                        d.work.bodypair[count, 0] = min(body1, body2)
                        d.work.bodypair[count, 1] = max(body1, body2)
                    count += 1
            j += 1
    return count


@kernel
def sort_pairs(m: Model, d: Data, npair: int) -> None:
    """Sort the first `npair` pairs of bodies by their ids: by insertion if there are few, else by counting."""
    if npair * FEW_PAIRS > m.nbody:
        scatter_by(m, d, d.work.bodypair, d.work.bodypair_by2, npair, 1)
        scatter_by(m, d, d.work.bodypair_by2, d.work.bodypair, npair, 0)
        return
    for i in range(1, npair):
        body1, body2 = d.work.bodypair[i, 0], d.work.bodypair[i, 1]
        j = i
        while j > 0 and (d.work.bodypair[j - 1, 0], d.work.bodypair[j - 1, 1]) > (body1, body2):
            d.work.bodypair[j, 0] = d.work.bodypair[j - 1, 0]
            d.work.bodypair[j, 1] = d.work.bodypair[j - 1, 1]
            j -= 1
        d.work.bodypair[j, 0] = body1
        d.work.bodypair[j, 1] = body2
