"""Broad phase: pairs of bodies whose geoms may touch.

Each body with geoms gets a box around the bounding spheres of its geoms, margins included. All boxes have the same
axes. The first is the axis along which the centres of the geoms spread most: the principal eigenvector of the centres'
covariance. The boxes are sorted along this axis and swept: only boxes with overlapping intervals on the axis are
compared. The pairs are then sorted by their ids. Each call starts from the axis and the order of the previous call, but
its result depends only on the state.

Spec: computation, collision detection, generation and filtering. D. Baraff, Dynamic Simulation of Non-Penetrating
Rigid Bodies, PhD thesis, Cornell (1992), section 2.2: sweep with temporal coherence.
"""

from __future__ import annotations

from typing import Any

from numpy import float32

from cardan.collision.capsule import unit_axis
from cardan.collision.contact import default_tangent, geom_reach
from cardan.enums.codes import DSBL_FILTERPARENT
from cardan.jit import kernel
from cardan.maths.types import IntArray2, Vec2, Vec3, Vec6
from cardan.maths.vector import MINVAL, cross, dot3, get3, norm3, scale3, set3
from cardan.model.kernel_views import Data, Model

INFINITE = 1e10
SLACK = 1e-9
"""Relative enlargement of the boxes, far above rounding error."""
HUGE = 1e100
START = (0.6, 0.64, 0.48)
"""Initial unit vector of the search for the principal axis."""
FIRST_ITERATIONS = 20
ITERATIONS = 1
"""Steps of power iteration, in the first call and in later calls."""
UNTILTED = 1e-12
"""Largest covariance, and difference of variances, that counts as zero, m^2."""
FEW_BODIES, FEW_GEOMS = 3, 8
"""Up to this number of bodies and geoms, all pairs of bodies are candidates."""
MOVES = 8
"""Largest number of moves per body with which a list counts as almost sorted."""


@kernel
def bits_match(contype1: Any, conaffinity1: Any, contype2: Any, conaffinity2: Any) -> Any:
    """Return whether two geoms, bodies or flexes may collide: the contype of one matches the conaffinity of the other.

    `contype1` and `conaffinity1` are bit masks of the first object, `contype2` and `conaffinity2` of the second. They
    are integers, or arrays of integers that are compared element by element.
    """
    return ((contype1 & conaffinity2) | (contype2 & conaffinity1)) != 0


@kernel
def are_parent_and_child(weld1: Any, weld2: Any, parent1: Any, parent2: Any) -> Any:
    """Return whether one of two bodies is the parent of the other; the world does not count as a parent.

    Bodies welded together count as one. `weld1` and `weld2` are the bodies' ``body_weldid``; `parent1` and `parent2`
    are the ``body_weldid`` of the parents of bodies `weld1` and `weld2`.
    """
    return ((weld1 == parent2) | (weld2 == parent1)) & (weld1 != 0) & (weld2 != 0)


@kernel
def spread_matrix(m: Model, d: Data, first: int) -> Vec6:
    """Unnormalised covariance of the centres of all geoms from id `first` on, except planes: xx, yy, zz, xy, xz, yz."""
    n = 0
    x, y, z = 0.0, 0.0, 0.0
    xx, yy, zz, xy, xz, yz = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    for geom in range(first, m.ngeom):
        if m.geom_rbound[geom] > 0.0:  # not a plane
            a, b, c = d.geom_xpos[geom, 0], d.geom_xpos[geom, 1], d.geom_xpos[geom, 2]
            n += 1
            x += a
            y += b
            z += c
            xx += a * a
            yy += b * b
            zz += c * c
            xy += a * b
            xz += a * c
            yz += b * c
    s = 1.0 / max(n, 1)
    return xx - s * x * x, yy - s * y * y, zz - s * z * z, xy - s * x * y, xz - s * x * z, yz - s * y * z


@kernel
def principal_axis(spread: Vec6, axis: Vec3, iterations: int) -> Vec3:
    """Compute the principal unit eigenvector of a matrix from `spread_matrix`, by power iteration from `axis`.

    Iterations without a finite result leave the axis unchanged: any axis is correct, but the sweep may be slower.
    """
    xx, yy, zz, xy, xz, yz = spread
    for _ in range(iterations):
        product = (
            xx * axis[0] + xy * axis[1] + xz * axis[2],
            xy * axis[0] + yy * axis[1] + yz * axis[2],
            xz * axis[0] + yz * axis[1] + zz * axis[2],
        )
        length = norm3(product)
        if MINVAL < length < HUGE:
            axis = scale3(product, 1.0 / length)
    return axis


@kernel
def set_body_box(m: Model, d: Data, body: int) -> None:
    """Compute the box of a body, along the axes of the sweep, around its geoms' bounding spheres and margins.

    The box is stored in `d.work.body_low` and `d.work.body_high`. If one of the geoms is a plane, the box is infinite.
    """
    axis0, axis1, axis2 = get3(d.work.sweep_axis, 0), get3(d.work.sweep_axis, 1), get3(d.work.sweep_axis, 2)
    low, high = (INFINITE, INFINITE, INFINITE), (-INFINITE, -INFINITE, -INFINITE)
    first = m.body_geomadr[body]
    for geom in range(first, first + m.body_geomnum[body]):
        reach = m.geom_rbound[geom] * (1.0 + SLACK) + max(geom_reach(m, geom), 0.0)
        if m.geom_rbound[geom] <= 0.0:
            reach = 2.0 * INFINITE
        center = get3(d.geom_xpos, geom)
        x, y, z = dot3(axis0, center), dot3(axis1, center), dot3(axis2, center)
        low = (min(low[0], x - reach), min(low[1], y - reach), min(low[2], z - reach))
        high = (max(high[0], x + reach), max(high[1], y + reach), max(high[2], z + reach))
    set3(d.work.body_low, body, low)
    set3(d.work.body_high, body, high)


@kernel
def sort_with_gap(d: Data, n: int, gap: int, limit: int) -> bool:
    """Sort the sweep's bodies by their keys, as `gap` interleaved lists, by insertion: one pass of Shell sort.

    Returns:
        True if at most `limit` moves were enough; otherwise, the lists are only partly sorted.
    """
    moves = 0
    for i in range(gap, n):
        key = d.work.sweep_key[i]
        body = d.work.sweep_body[i]
        j = i
        while j >= gap and d.work.sweep_key[j - gap] > key:
            d.work.sweep_key[j] = d.work.sweep_key[j - gap]
            d.work.sweep_body[j] = d.work.sweep_body[j - gap]
            j -= gap
            moves += 1
        d.work.sweep_key[j] = key
        d.work.sweep_body[j] = body
        if moves > limit:
            return False
    return True


@kernel
def sort_bodies(d: Data, n: int) -> None:
    """Sort the first `n` bodies of the sweep by the lower ends of their boxes along the first axis.

    Sorting starts from the previous order, which is usually almost right: insertion sort then takes linear time. If too
    many moves are needed, Shell sort takes over.
    """
    for k in range(n):
        d.work.sweep_key[k] = d.work.body_low[d.work.sweep_body[k], 0]
    if sort_with_gap(d, n, 1, MOVES * n):
        return
    gap = 1
    while 3 * gap + 1 < n:
        gap = 3 * gap + 1
    while gap >= 1:
        sort_with_gap(d, n, gap, n * n)
        gap //= 3


@kernel
def bodies_may_collide(m: Model, body1: int, body2: int) -> bool:
    """Return whether two bodies pass all filters between bodies.

    Their contype and conaffinity must match, they must not be welded together, and at least one must have degrees of
    freedom. Unless the flag filterparent is disabled, they must not be parent (except the world) and child.
    """
    contype, conaffinity = m.body_contype, m.body_conaffinity
    if not bits_match(contype[body1], conaffinity[body1], contype[body2], conaffinity[body2]):
        return False
    weld1 = m.body_weldid[body1]
    weld2 = m.body_weldid[body2]
    if weld1 == weld2 or (m.body_dofnum[weld1] == 0 and m.body_dofnum[weld2] == 0):
        return False
    if m.opt.disableflags & DSBL_FILTERPARENT:
        return True
    return not are_parent_and_child(weld1, weld2, m.aux.body_weldparent[body1], m.aux.body_weldparent[body2])


@kernel
def sweep(m: Model, d: Data, n: int) -> int:
    """Find all pairs of overlapping boxes that pass the filters between bodies; return their number.

    The pairs that fit in memory are in ``d.work.bodypair``, lower id first, in the order of the sweep.
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
def scatter_by(m: Model, d: Data, source: IntArray2, target: IntArray2, count: int, column: int) -> None:
    """Copy the first `count` pairs of `source` to `target`, sorted by the body in `column` (stable counting sort)."""
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
def reference_axis(m: Model, d: Data) -> Vec3:
    """Axis along which MuJoCo sorts bodies, if the principal axes of the geoms' centres are the world axes.

    MuJoCo uses the first row, not the first column, of the matrix of principal axes. In all other cases, the result is
    (0, 0, 0).
    """
    xx, yy, zz, xy, xz, yz = spread_matrix(m, d, m.body_geomnum[0])
    if max(abs(xy), abs(xz), abs(yz)) > UNTILTED:
        return (0.0, 0.0, 0.0)
    larger = (1 if yy > xx + UNTILTED else 0) + (1 if zz > xx + UNTILTED else 0)
    if larger == 0:
        return (1.0, 0.0, 0.0)
    return (0.0, -1.0, 0.0) if larger == 1 else (0.0, 0.0, 1.0)


@kernel
def ends_along(m: Model, d: Data, body: int, axis: Vec3) -> Vec2:
    """Ends of the interval that a body's bounding spheres, margins included, cover along an axis."""
    low, high = INFINITE, -INFINITE
    first = m.body_geomadr[body]
    for geom in range(first, first + m.body_geomnum[body]):
        reach = m.geom_rbound[geom] + geom_reach(m, geom) if m.geom_rbound[geom] > 0.0 else 2.0 * INFINITE
        center = dot3(axis, get3(d.geom_xpos, geom))
        low, high = min(low, center - reach), max(high, center + reach)
    return low, high


@kernel
def lost_in_sweep(m: Model, d: Data, body1: int, body2: int) -> bool:
    """Return whether MuJoCo's sweep misses a pair of bodies that just touch; `body1` has the lower id.

    MuJoCo stores the ends of bodies along the axis of its sweep (`reference_axis`) in single precision. If two ends are
    equal, the end of the body with the lower id comes first. If `body1` comes first along the axis, an overlap of up to
    about 1e-8 m is missed. A pair that is separate along another world axis is missed, too.
    """
    axis = reference_axis(m, d)
    if body1 == 0 or dot3(axis, axis) == 0.0:
        return False
    low1, high1 = ends_along(m, d, body1, axis)
    low2, high2 = ends_along(m, d, body2, axis)
    if float32(high1) <= float32(low2):
        return True
    for k in range(3):
        across = unit_axis(k)
        if dot3(across, axis) == 0.0:
            low1, high1 = ends_along(m, d, body1, across)
            low2, high2 = ends_along(m, d, body2, across)
            if high1 < low2 or high2 < low1:
                return True
    return False


@kernel
def pairs_of_few(m: Model, d: Data) -> int:
    """List all pairs of bodies that pass the filters between bodies; see `find_body_pairs` for the result.

    If there are few geoms, this is faster than computing boxes.
    """
    count = 0
    n = len(m.aux.collision_body)
    for i in range(n):
        for j in range(i + 1, n):
            body1, body2 = m.aux.collision_body[i], m.aux.collision_body[j]
            if bodies_may_collide(m, body1, body2):
                if count < len(d.work.bodypair):
                    d.work.bodypair[count, 0] = body1
                    d.work.bodypair[count, 1] = body2
                count += 1
    return count


@kernel
def set_axes(d: Data, axis: Vec3) -> None:
    """Set the axes of the sweep: `axis`, and two axes perpendicular to it."""
    across = default_tangent(axis)
    set3(d.work.sweep_axis, 0, axis)
    set3(d.work.sweep_axis, 1, across)
    set3(d.work.sweep_axis, 2, cross(axis, across))


@kernel
def store_boxes(d: Data, first: int, stop: int) -> None:
    """Copy the boxes of the bodies in the places `first` to `stop` (exclusive) of the sweep, in its order."""
    for k in range(first, stop):
        body = d.work.sweep_body[k]
        for i in range(3):
            d.work.sweep_box[k, 2 * i] = d.work.body_low[body, i]
            d.work.sweep_box[k, 2 * i + 1] = d.work.body_high[body, i]


@kernel
def find_body_pairs(m: Model, d: Data) -> int:
    """Find the pairs of bodies whose geoms may touch.

    Returns:
        The number of pairs; if all fit, they are in ``d.work.bodypair``, sorted by their ids.
    """
    n = len(m.aux.collision_body)
    if n <= FEW_BODIES and m.ngeom <= FEW_GEOMS:
        return pairs_of_few(m, d)
    # axes of the sweep: the principal axis of the geoms' centres, and two axes perpendicular to it
    axis = get3(d.work.sweep_axis, 0)
    first = axis == (0.0, 0.0, 0.0)
    spread = spread_matrix(m, d, 0)
    axis = principal_axis(spread, START if first else axis, FIRST_ITERATIONS if first else ITERATIONS)
    set_axes(d, axis)
    for k in range(n):
        set_body_box(m, d, m.aux.collision_body[k])
    if first:
        for k in range(n):
            d.work.sweep_body[k] = m.aux.collision_body[k]
    sort_bodies(d, n)
    store_boxes(d, 0, n)
    npair = sweep(m, d, n)
    if npair <= len(d.work.bodypair):
        scatter_by(m, d, d.work.bodypair, d.work.bodypair_by2, npair, 1)
        scatter_by(m, d, d.work.bodypair_by2, d.work.bodypair, npair, 0)
    return npair
