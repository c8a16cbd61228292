"""Candidates: pairs of geoms that go to the near phase.

They come from two sources, merged in the order of their bodies: pairs of bodies found by the broad phase, less
those that the user excluded, and the explicit pairs of the model. All have to pass the bounding-sphere test;
contype and conaffinity matter only to those of the first source.

Spec: computation, collision detection, generation and filtering.
"""

from __future__ import annotations

from typing import Any

from cardan.collision.capsule import axis_z
from cardan.collision.parameters import explicit_pair_margin, geom_pair_margin
from cardan.enums import mjtDisableBit, mjtGeom
from cardan.jit import kernel
from cardan.maths.vector import dot3, get3, sub3

PLANE = int(mjtGeom.mjGEOM_PLANE)
NO_MIDPHASE = int(mjtDisableBit.mjDSBL_MIDPHASE)
NO_PAIR = -1


@kernel
def spheres_apart(m: Any, d: Any, geom1: int, geom2: int, margin: float) -> bool:
    """The bounding-sphere test: whether two geoms are certainly farther apart than `margin`.

    A geom without bounding sphere is a plane: then the other sphere is compared with it.
    """
    radius1 = m.geom_rbound[geom1]
    radius2 = m.geom_rbound[geom2]
    between = sub3(get3(d.geom_xpos, geom2), get3(d.geom_xpos, geom1))
    if radius1 > 0.0 and radius2 > 0.0:
        reach = radius1 + radius2 + margin
        return dot3(between, between) > reach * reach
    if m.geom_type[geom1] == PLANE and radius2 > 0.0:
        return dot3(between, axis_z(d.geom_xmat, geom1)) > radius2 + margin
    return False


@kernel
def put_candidate(d: Any, n: int, geom1: int, geom2: int, pair: int) -> None:
    """Write candidate `n`, if there is room for it."""
    if n < len(d.work.candidate):
        d.work.candidate[n, 0] = geom1
        d.work.candidate[n, 1] = geom2
        d.work.candidate[n, 2] = pair


@kernel
def add_explicit_pair(m: Any, d: Any, n: int, pair: int) -> int:
    """Add the geoms of an explicit pair; returns the number of candidates now."""
    geom1 = m.pair_geom1[pair]
    geom2 = m.pair_geom2[pair]
    if m.geom_type[geom1] > m.geom_type[geom2]:
        geom1, geom2 = geom2, geom1
    if spheres_apart(m, d, geom1, geom2, explicit_pair_margin(m, pair)):
        return n
    put_candidate(d, n, geom1, geom2, pair)
    return n + 1


@kernel
def is_explicit(m: Any, geom1: int, geom2: int, first_pair: int, end_pair: int) -> bool:
    """Whether two geoms are one of the explicit pairs `first_pair` to `end_pair` (exclusive)."""
    for pair in range(first_pair, end_pair):
        if m.pair_geom1[pair] == geom1 and m.pair_geom2[pair] == geom2:
            return True
        if m.pair_geom1[pair] == geom2 and m.pair_geom2[pair] == geom1:
            return True
    return False


@kernel
def geoms_pass(m: Any, d: Any, geom1: int, geom2: int, first_pair: int, end_pair: int) -> bool:
    """Whether two geoms, the one of lower type first, pass the filters between geoms and are no explicit pair."""
    if not (m.geom_contype[geom1] & m.geom_conaffinity[geom2] or m.geom_contype[geom2] & m.geom_conaffinity[geom1]):
        return False
    if spheres_apart(m, d, geom1, geom2, geom_pair_margin(m, geom1, geom2)):
        return False
    return not is_explicit(m, geom1, geom2, first_pair, end_pair)


@kernel
def add_bodies(m: Any, d: Any, n: int, body1: int, body2: int, first_pair: int, end_pair: int) -> int:
    """Add the pairs of geoms of two bodies (`body1` < `body2`) that pass the filters; returns the new number.

    They are ordered by the ids of their geoms, the one of lower type first; so a second round finds those whose
    lower type stands on `body2`. With the mid phase disabled, there is one round, in the order of the geoms of
    `body1`, then of `body2`.
    """
    by_body = (m.opt.disableflags & NO_MIDPHASE) != 0
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
def body_pair_key(body1: int, body2: int) -> int:
    """Position of two bodies, lower id first, in the order of body pairs."""
    return (body1 << 32) + body2


@kernel
def explicit_pair_key(m: Any, pair: int) -> int:
    """Position of the bodies of an explicit pair in the order of body pairs."""
    body1 = m.geom_bodyid[m.pair_geom1[pair]]
    body2 = m.geom_bodyid[m.pair_geom2[pair]]
    return body_pair_key(min(body1, body2), max(body1, body2))


@kernel
def gather_candidates(m: Any, d: Any, npair: int) -> int:
    """Merge the first `npair` rows of ``d.work.bodypair`` with the explicit pairs, in order.

    Returns:
        The number of candidates; those that fit are in ``d.work.candidate``.
    """
    n = 0
    pair = 0
    first_pair = 0
    exclude = 0
    for k in range(npair + 1):
        # the next bodies; after the last ones, what is left of the explicit pairs
        body1 = d.work.bodypair[k, 0] if k < npair else m.nbody
        body2 = d.work.bodypair[k, 1] if k < npair else m.nbody
        key = body_pair_key(body1, body2)

        # explicit pairs of bodies up to these
        while pair < m.npair and explicit_pair_key(m, pair) <= key:
            if explicit_pair_key(m, first_pair) < key:
                first_pair = pair
            n = add_explicit_pair(m, d, n, pair)
            pair += 1

        # the bodies themselves
        signature = (body1 << 16) + body2
        while exclude < m.nexclude and m.exclude_signature[exclude] < signature:
            exclude += 1
        if k < npair and (exclude == m.nexclude or m.exclude_signature[exclude] != signature):
            n = add_bodies(m, d, n, body1, body2, first_pair, pair)
    return n
