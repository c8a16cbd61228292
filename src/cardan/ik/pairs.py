"""Pairs of geoms that keep a distance."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import numpy as np

from cardan.collision.broadphase import bits_match, bodies_may_collide
from cardan.enums.codes import GEOM_HFIELD, GEOM_MESH
from cardan.ik.rows import element_id

if TYPE_CHECKING:
    from cardan.model import MjModel
    from cardan.model.kernel_views import Model

SELF = "self"


def pairs_of(m: MjModel, avoid: Any) -> np.ndarray:
    """Return pairs of geom ids, (npair, 2), from the argument `avoid` of `solve`.

    A geom with convex pieces is replaced by its pieces.

    Raises:
        ValueError: a geom does not exist, two geoms are the same, or no distance is defined for their types.
    """
    if isinstance(avoid, str):
        if avoid != SELF:
            raise ValueError(f"avoid: expected a list of pairs of geoms, or {SELF!r}, got {avoid!r}")
        return self_pairs(m)
    found: dict[tuple[int, int], None] = {}
    for pair in avoid:
        if isinstance(pair, str) or len(pair) != 2:
            raise ValueError(f"avoid: expected two geoms, or two groups of geoms, got {pair!r}")
        first, second = (group if isinstance(group, list | tuple | np.ndarray) else [group] for group in pair)
        for a in first:
            for b in second:
                ids = [element_id(m, "geom", name, "avoid") for name in (a, b)]
                if m.geom_bodyid[ids[0]] != m.geom_bodyid[ids[1]]:
                    found |= {(i, j): None for i in pieces(m, ids[0]) for j in pieces(m, ids[1])}
    for i, j in found:
        check_types(m, i, j)
    return np.array(list(found), np.int64).reshape(-1, 2)


def check_types(m: MjModel, geom1: int, geom2: int) -> None:
    """Check that a distance of two geoms is defined.

    Raises:
        ValueError: it is not.
    """
    kinds = sorted((int(m.geom_type[geom1]), int(m.geom_type[geom2])))
    if kinds[1] > GEOM_MESH or kinds[1] <= GEOM_HFIELD:
        names = f"{m.geom(geom1).name or geom1} and {m.geom(geom2).name or geom2}"
        raise ValueError(f"avoid: no distance is defined for geoms {names}: one must be convex, the other not an SDF")


def pieces(m: MjModel, geom: int) -> list[int]:
    """Return the ids of the convex pieces of a geom, or the geom's own id if it has none."""
    end = geom + 1
    while end < m.ngeom and m.geom_piece[end] == end - geom:
        end += 1
    return list(range(geom + 1, end)) or [geom]


def self_pairs(m: MjModel) -> np.ndarray:
    """Return all pairs of geoms that the model's filters let collide, and whose distance can change, (npair, 2).

    Bodies welded together, parents and their children, and bodies with an ``exclude`` element are left out.
    """
    excluded = {int(signature) for signature in m.exclude_signature}
    bodies = [b for b in range(m.nbody) if m.body_geomnum[b] > 0]
    found, view = [], cast("Model", m.view)
    for k, first in enumerate(bodies):
        for second in bodies[k + 1 :]:
            if (first << 16) + second in excluded or not bodies_may_collide(view, first, second):
                continue
            for i in geoms_of(m, first):
                for j in geoms_of(m, second):
                    if bits_match(*(int(x) for g in (i, j) for x in (m.geom_contype[g], m.geom_conaffinity[g]))):
                        found.append((i, j))
    kinds = np.sort(m.geom_type[np.array(found, np.int64).reshape(-1, 2)], axis=1)
    return np.array(found, np.int64).reshape(-1, 2)[(kinds[:, 1] <= GEOM_MESH) & (kinds[:, 1] > GEOM_HFIELD)]


def geoms_of(m: MjModel, body: int) -> list[int]:
    """Return the geoms of a body; those with convex pieces are left out, since their pieces are geoms of the body."""
    first = int(m.body_geomadr[body])
    return [g for g in range(first, first + int(m.body_geomnum[body])) if pieces(m, g) == [g]]
