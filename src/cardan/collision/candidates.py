"""Candidates: pairs of geoms for the near phase.

They come from two sources, merged in the order of their bodies: pairs of bodies found by the broad phase, except
excluded pairs, and the explicit pairs of the model. All must pass the bounding-sphere test; contype and conaffinity
apply only to candidates of the first source.

Spec: computation, collision detection, generation and filtering.
"""

from __future__ import annotations

from cardan.collision.midphase import add_bodies, put_candidate, spheres_apart
from cardan.collision.parameters import explicit_pair_margin
from cardan.jit import kernel
from cardan.model.kernel_views import Data, Model


@kernel
def add_explicit_pair(m: Model, d: Data, n: int, pair: int) -> int:
    """Add the geoms of an explicit pair; return the new number of candidates."""
    geom1 = m.pair_geom1[pair]
    geom2 = m.pair_geom2[pair]
    if m.geom_type[geom1] > m.geom_type[geom2]:
        geom1, geom2 = geom2, geom1
    if spheres_apart(m, d, geom1, geom2, explicit_pair_margin(m, pair)):
        return n
    put_candidate(d, n, geom1, geom2, pair)
    return n + 1


@kernel
def body_pair_key(body1: int, body2: int) -> int:
    """Position of two bodies, lower id first, in the order of body pairs."""
    return (body1 << 32) + body2


@kernel
def explicit_pair_key(m: Model, pair: int) -> int:
    """Position of the bodies of an explicit pair in the order of body pairs."""
    body1 = m.geom_bodyid[m.pair_geom1[pair]]
    body2 = m.geom_bodyid[m.pair_geom2[pair]]
    return body_pair_key(min(body1, body2), max(body1, body2))


@kernel
def gather_candidates(m: Model, d: Data, npair: int) -> int:
    """Merge the first `npair` rows of ``d.work.bodypair`` with the explicit pairs, in order.

    Returns:
        The number of candidates; those that fit are in ``d.work.candidate``.
    """
    n = 0
    pair = 0
    first_pair = 0
    exclude = 0
    for k in range(npair + 1):
        # the next bodies; after the last bodies, the remaining explicit pairs
        body1 = d.work.bodypair[k, 0] if k < npair else m.nbody
        body2 = d.work.bodypair[k, 1] if k < npair else m.nbody
        key = body_pair_key(body1, body2)

        # explicit pairs up to these bodies
        while pair < m.npair and explicit_pair_key(m, pair) <= key:
            if explicit_pair_key(m, first_pair) < key:
                first_pair = pair
            n = add_explicit_pair(m, d, n, pair)
            pair += 1

        # the pairs of geoms of these bodies
        signature = (body1 << 16) + body2
        while exclude < m.nexclude and m.exclude_signature[exclude] < signature:
            exclude += 1
        if k < npair and (exclude == m.nexclude or m.exclude_signature[exclude] != signature):
            n = add_bodies(m, d, n, body1, body2, first_pair, pair)
    return n
