"""Mid phase: candidates, which are pairs of geoms that may touch.

Candidates come from two sources, merged in the order of their bodies: pairs of bodies found by the broad phase, except
excluded pairs, and the explicit pairs of the model. All must pass the bounding-sphere test; contype and conaffinity
apply only to candidates of the first source.

Bodies with few geoms are compared geom by geom. A body with many geoms has a tree of boxes, aligned with its inertial
frame, which the compiler has built. Each geom of the other body is tested against this tree.

Spec: computation, collision detection, generation and filtering. The trees are stored depth first, with links to the
node after each subtree, so that traversal needs no stack: B. Smits, Efficiency Issues for Ray Tracing, Journal of
Graphics Tools 3(2), 1998.
"""

from __future__ import annotations

from cardan.collision.broadphase import bits_match
from cardan.collision.capsule import axis_z
from cardan.collision.contact import explicit_pair_margin, geom_pair_margin, geom_reach, joined
from cardan.collision.culling import box_center, half_sizes
from cardan.enums.codes import DSBL_MIDPHASE, GEOM_HFIELD, GEOM_MESH, GEOM_PLANE
from cardan.jit import kernel
from cardan.maths.types import Vec3
from cardan.maths.vector import add_scaled3, column3, dot3, get3, get9, mul_mat_t_vec3, sub3
from cardan.model.kernel_views import Data, Model

NO_PAIR = -1
INFINITE = 1e10
ROUND = 1.0 + 1e-9
"""Enlargement of bounding spheres and boxes against rounding."""
LEAST_GEOMS = 4
"""Smallest number of geoms of a body whose tree is used."""
LEAST_PAIRS = 16
"""Smallest number of pairs of geoms of two bodies for which a tree is used."""


@kernel
def spheres_apart(m: Model, d: Data, geom1: int, geom2: int, margin: float) -> bool:
    """Return whether `geom1` and `geom2` are certainly farther apart than `margin` (m), by their bounding spheres.

    A geom without bounding sphere is a plane; the other sphere is then compared with the plane.
    """
    radius1 = m.geom_rbound[geom1]
    radius2 = m.geom_rbound[geom2]
    between = sub3(get3(d.geom_xpos, geom2), get3(d.geom_xpos, geom1))
    if radius1 > 0.0 and radius2 > 0.0:
        reach = radius1 + radius2 + margin
        return dot3(between, between) > reach * reach
    if m.geom_type[geom1] == GEOM_PLANE and radius2 > 0.0:
        return dot3(between, axis_z(d.geom_xmat, geom1)) > radius2 + margin
    return False


@kernel
def put_candidate(d: Data, n: int, geom1: int, geom2: int, pair: int) -> None:
    """Write candidate `n`, if there is room for it."""
    if n < len(d.work.candidate):
        d.work.candidate[n, 0] = geom1
        d.work.candidate[n, 1] = geom2
        d.work.candidate[n, 2] = pair


@kernel
def geoms_pass(m: Model, d: Data, geom1: int, geom2: int, first_pair: int, end_pair: int) -> bool:
    """Return whether two geoms, the one of lower type first, pass all filters between geoms.

    They pass if their contact bits match (or a callback filters them instead), their bounding spheres are within the
    margin, and they are not one of the explicit pairs `first_pair` to `end_pair` (exclusive).
    """
    contype, conaffinity = m.geom_contype, m.geom_conaffinity
    if not (
        bits_match(contype[geom1], conaffinity[geom1], contype[geom2], conaffinity[geom2])
        or (m.aux.contact_filter[0] and m.opt.disableflags & DSBL_MIDPHASE)
    ):
        return False
    if spheres_apart(m, d, geom1, geom2, geom_pair_margin(m, geom1, geom2)):
        return False
    for pair in range(first_pair, end_pair):
        one, other = m.pair_geom1[pair], m.pair_geom2[pair]
        if (one == geom1 and other == geom2) or (one == geom2 and other == geom1):
            return False
    return True


@kernel
def tree_serves(m: Model, body: int) -> bool:
    """Return whether a body's tree can be used.

    The body must have many geoms, and the tree must contain all geoms that can collide.

    The compiler leaves geoms without contype and conaffinity out of the tree; the user may set these bits later.
    """
    if m.body_geomnum[body] < LEAST_GEOMS or m.body_bvhnum[body] < 1 or m.aux.bvh_next[m.body_bvhadr[body]] < 0:
        return False
    for geom in range(m.body_geomadr[body], m.body_geomadr[body] + m.body_geomnum[body]):
        if (m.geom_contype[geom] | m.geom_conaffinity[geom]) != 0 and m.aux.geom_in_tree[geom] == 0:
            return False
    return True


@kernel
def largest_reach(m: Model, body: int) -> float:
    """Largest `geom_reach` of a body's geoms."""
    reach = 0.0
    for geom in range(m.body_geomadr[body], m.body_geomadr[body] + m.body_geomnum[body]):
        reach = max(reach, geom_reach(m, geom))
    return reach


@kernel
def box_in_frame(m: Model, d: Data, geom: int, body: int, margin: float) -> tuple[Vec3, Vec3]:
    """Centre and half sides of a box around a geom, enlarged by `margin`, and aligned with a body's inertial frame.

    The box contains the geom's own box if this is certain to contain the geom; otherwise its bounding sphere.
    """
    ximat = get9(d.ximat, body)
    if not GEOM_HFIELD < m.geom_type[geom] <= GEOM_MESH or m.geom_rbound[geom] <= 0.0:
        reach = m.geom_rbound[geom] * ROUND + margin if m.geom_rbound[geom] > 0.0 else INFINITE
        return mul_mat_t_vec3(ximat, sub3(get3(d.geom_xpos, geom), get3(d.xipos, body))), (reach, reach, reach)
    half, xmat = half_sizes(m, geom), get9(d.geom_xmat, geom)
    sides = (margin, margin, margin)
    for k in range(3):
        axis = mul_mat_t_vec3(ximat, column3(xmat, k))
        length = ROUND * (half[0] if k == 0 else (half[1] if k == 1 else half[2]))
        sides = add_scaled3(sides, (abs(axis[0]), abs(axis[1]), abs(axis[2])), length)
    return mul_mat_t_vec3(ximat, sub3(box_center(m, d, geom), get3(d.xipos, body))), sides


@kernel
def add_by_tree(m: Model, d: Data, n: int, geom: int, body: int, margin: float, first_pair: int, end_pair: int) -> int:
    """Add the pairs of a geom with geoms of a body, found in the body's tree; return the new number of candidates."""
    center, reach = box_in_frame(m, d, geom, body, margin)
    node = m.body_bvhadr[body]
    end = node + m.body_bvhnum[body]
    while node < end:
        if (
            abs(center[0] - m.bvh_aabb[node, 0]) > m.bvh_aabb[node, 3] + reach[0]
            or abs(center[1] - m.bvh_aabb[node, 1]) > m.bvh_aabb[node, 4] + reach[1]
            or abs(center[2] - m.bvh_aabb[node, 2]) > m.bvh_aabb[node, 5] + reach[2]
        ):
            node = m.aux.bvh_next[node]
        else:
            other = m.bvh_nodeid[node]
            node += 1
            if other >= 0:
                in_order = (m.geom_type[geom], geom) < (m.geom_type[other], other)
                first, second = (geom, other) if in_order else (other, geom)
                if geoms_pass(m, d, first, second, first_pair, end_pair):
                    put_candidate(d, n, first, second, NO_PAIR)
                    n += 1
    return n


@kernel
def sort_candidates(d: Data, start: int, end: int) -> None:
    """Sort candidates `start` to `end` by the ids of their geoms (Shell sort)."""
    gap = 1
    while 3 * gap + 1 < end - start:
        gap = 3 * gap + 1
    while gap >= 1:
        for i in range(start + gap, end):
            geom1, geom2 = d.work.candidate[i, 0], d.work.candidate[i, 1]
            j = i
            while j >= start + gap:
                before1, before2 = d.work.candidate[j - gap, 0], d.work.candidate[j - gap, 1]
                if (before1, before2) <= (geom1, geom2):
                    break
                d.work.candidate[j, 0], d.work.candidate[j, 1] = before1, before2
                j -= gap
            d.work.candidate[j, 0] = geom1
            d.work.candidate[j, 1] = geom2
        gap //= 3


@kernel
def add_all(m: Model, d: Data, n: int, body1: int, body2: int, first_pair: int, end_pair: int, by_body: bool) -> int:
    """Compare all geoms of two bodies; arguments, order of candidates and result are those of `add_bodies`."""
    for swapped in range(1 if by_body else 2):
        outer, inner = (body2, body1) if swapped else (body1, body2)
        for geom1 in range(m.body_geomadr[outer], m.body_geomadr[outer] + m.body_geomnum[outer]):
            for geom2 in range(m.body_geomadr[inner], m.body_geomadr[inner] + m.body_geomnum[inner]):
                difference = m.geom_type[geom2] - m.geom_type[geom1]
                if by_body or difference > 0 or (difference == 0 and not swapped):
                    first, second = (geom1, geom2) if difference >= 0 else (geom2, geom1)
                    if geoms_pass(m, d, first, second, first_pair, end_pair):
                        put_candidate(d, n, first, second, NO_PAIR)
                        n += 1
    return n


@kernel
def add_bodies(m: Model, d: Data, n: int, body1: int, body2: int, first_pair: int, end_pair: int) -> int:
    """Add the geom pairs of two bodies (`body1` < `body2`) that pass the filters; return the new number of candidates.

    `n` is the number of candidates so far. The filters reject explicit pairs `first_pair` to `end_pair` (exclusive).

    The pairs are ordered by the ids of their geoms, the geom of lower type first. A second pass therefore finds the
    pairs whose geom of lower type is on `body2`. If the mid phase is disabled, there is one pass, in the order of the
    geoms of `body1`, then of `body2`.
    """
    by_body = (m.opt.disableflags & DSBL_MIDPHASE) != 0
    few, many = (body2, body1) if m.body_geomnum[body1] >= m.body_geomnum[body2] else (body1, body2)
    pairs = m.body_geomnum[body1] * m.body_geomnum[body2]
    if by_body or d.work.body_tree[many] == 0 or pairs < LEAST_PAIRS:
        return add_all(m, d, n, body1, body2, first_pair, end_pair, by_body)

    start = n
    margin = joined(m, largest_reach(m, body1), largest_reach(m, body2))
    for geom in range(m.body_geomadr[few], m.body_geomadr[few] + m.body_geomnum[few]):
        if (m.geom_contype[geom] | m.geom_conaffinity[geom]) != 0:
            n = add_by_tree(m, d, n, geom, many, margin, first_pair, end_pair)
    if n <= len(d.work.candidate):
        sort_candidates(d, start, n)
    return n


@kernel
def explicit_pair_key(m: Model, pair: int) -> int:
    """Sort key of an explicit pair in the order of body pairs: first by the lower body id, then by the higher."""
    body1 = m.geom_bodyid[m.pair_geom1[pair]]
    body2 = m.geom_bodyid[m.pair_geom2[pair]]
    return (min(body1, body2) << 32) + max(body1, body2)


@kernel
def find_trees(m: Model, d: Data) -> None:
    """Find for each body whether its tree can be used; write ``work.body_tree``."""
    for k in range(len(m.aux.collision_body)):
        body = m.aux.collision_body[k]
        d.work.body_tree[body] = 1 if tree_serves(m, body) else 0


@kernel
def find_trees_of_pairs(m: Model, d: Data, npair: int) -> None:
    """Do as `find_trees`, for the bodies of the first `npair` pairs."""
    for k in range(npair):
        for side in range(2):
            body = d.work.bodypair[k, side]
            d.work.body_tree[body] = 1 if tree_serves(m, body) else 0


@kernel
def gather_candidates(m: Model, d: Data, npair: int) -> int:
    """Find the candidates of the first `npair` body pairs in ``d.work.bodypair`` and of the explicit pairs, in order.

    Reads ``work.body_tree`` of the bodies of these pairs.

    Returns:
        The number of candidates; those that fit are in ``d.work.candidate``.
    """
    n, pair, first_pair, exclude = 0, 0, 0, 0
    for k in range(npair + 1):
        # the next bodies; after the last bodies, the remaining explicit pairs
        body1 = d.work.bodypair[k, 0] if k < npair else m.nbody
        body2 = d.work.bodypair[k, 1] if k < npair else m.nbody
        key = (body1 << 32) + body2

        # explicit pairs up to these bodies
        while pair < m.npair and explicit_pair_key(m, pair) <= key:
            if explicit_pair_key(m, first_pair) < key:
                first_pair = pair
            geom1, geom2 = m.pair_geom1[pair], m.pair_geom2[pair]
            if m.geom_type[geom1] > m.geom_type[geom2]:
                geom1, geom2 = geom2, geom1
            if not spheres_apart(m, d, geom1, geom2, explicit_pair_margin(m, pair)):
                put_candidate(d, n, geom1, geom2, pair)
                n += 1
            pair += 1

        # the pairs of geoms of these bodies
        signature = (body1 << 16) + body2
        while exclude < m.nexclude and m.exclude_signature[exclude] < signature:
            exclude += 1
        if k < npair and (exclude == m.nexclude or m.exclude_signature[exclude] != signature):
            n = add_bodies(m, d, n, body1, body2, first_pair, pair)
    return n
