"""Table of collision functions, by pairs of geom types.

`COLLIDERS` is the specification's table of geom type × geom type. A model gets the addresses of the functions that its
geoms can need (`collider_functions`). If a later edit of the model makes another pair of types collide, the stage
requests the missing function (`attach_missing_collider`). User functions replace functions of the table.

Spec: computation, collision detection, filtering.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from itertools import combinations_with_replacement, product
from types import MappingProxyType
from typing import Any

import numpy as np

from cardan.collision import capsule, plane
from cardan.collision.box import box_box
from cardan.collision.box_clip import box_box_clip
from cardan.collision.broadphase import are_parent_and_child, bits_match
from cardan.collision.capsule_box import capsule_box
from cardan.collision.convex import convex_convex
from cardan.collision.distance import exact_convex, exact_hfield
from cardan.collision.hfield import hfield_convex
from cardan.collision.plane_polygon import plane_mesh_polygon
from cardan.collision.sdf.descent import sdf_descent
from cardan.collision.sdf.triangles import mesh_sdf
from cardan.enums import mjtGeom
from cardan.enums.codes import (
    DSBL_FILTERPARENT,
    ENBL_NATIVECCD,
    GEOM_BOX,
    GEOM_CAPSULE,
    GEOM_CYLINDER,
    GEOM_ELLIPSOID,
    GEOM_HFIELD,
    GEOM_MESH,
    GEOM_PLANE,
    GEOM_SDF,
    GEOM_SPHERE,
)
from cardan.model import internals
from cardan.model.derived import NO_COLLIDER, NTYPES
from cardan.model.mjdata import MjData
from cardan.model.mjmodel import MjModel

BLOCK = 1 << 20
"""Maximum number of pairs of geoms that are checked together."""
FIRST_BLOCK = 1 << 10
"""Number of pairs of geoms that are checked first."""

CONVEX = (GEOM_SPHERE, GEOM_CAPSULE, GEOM_ELLIPSOID, GEOM_CYLINDER, GEOM_BOX, GEOM_MESH)
COLLIDERS: dict[tuple[int, int], Callable[..., Any]] = {
    **dict.fromkeys(combinations_with_replacement(CONVEX, 2), convex_convex),
    **dict.fromkeys(product([GEOM_HFIELD], CONVEX), hfield_convex),
    **dict.fromkeys(product([*CONVEX, GEOM_SDF], [GEOM_SDF]), sdf_descent),
    (GEOM_PLANE, GEOM_SPHERE): plane.plane_sphere,
    (GEOM_PLANE, GEOM_CAPSULE): plane.plane_capsule,
    (GEOM_PLANE, GEOM_ELLIPSOID): plane.plane_ellipsoid,
    (GEOM_PLANE, GEOM_CYLINDER): plane.plane_cylinder,
    (GEOM_PLANE, GEOM_BOX): plane.plane_box,
    (GEOM_PLANE, GEOM_MESH): plane.plane_mesh,
    (GEOM_PLANE, GEOM_SDF): plane.plane_mesh,
    (GEOM_SPHERE, GEOM_SPHERE): capsule.sphere_sphere,
    (GEOM_SPHERE, GEOM_CAPSULE): capsule.sphere_capsule,
    (GEOM_SPHERE, GEOM_CYLINDER): capsule.sphere_cylinder,
    (GEOM_SPHERE, GEOM_BOX): capsule.sphere_box,
    (GEOM_CAPSULE, GEOM_CAPSULE): capsule.capsule_capsule,
    (GEOM_CAPSULE, GEOM_BOX): capsule_box,
    (GEOM_BOX, GEOM_BOX): box_box,
    (GEOM_MESH, GEOM_SDF): mesh_sdf,
}
"""Collision functions by the types of two geoms, the lower type first; later rows replace earlier ones."""

EXACT = {convex_convex: exact_convex, hfield_convex: exact_hfield}
"""Replacements for collision functions if the flag ``nativeccd`` is set in ``opt.enableflags``."""
LATER = {box_box: box_box_clip, plane.plane_mesh: plane_mesh_polygon}
"""Replacements for collision functions in models with the behaviour of MuJoCo 4.0."""

Types = tuple[int, int]
Own = Mapping[Types, "Callable[..., Any] | int"]
"""User collision functions by pair of geom types, the lower type first: entries, or addresses of native functions."""


def collider_functions(m: MjModel, own: Own = MappingProxyType({})) -> dict[int, Callable[..., Any] | int]:
    """Return the collision functions that a model needs; keys are indices in the table ``aux.collider``.

    The result depends on contype, conaffinity and the disable flags, which determine what can collide. It includes all
    user functions (`own`). Raises ValueError if two geoms can collide without a function for their types.
    """
    found = {types: own.get(types) or _stock(m, types, geoms) for types, geoms in _colliding_types(m)}
    return {types[0] * NTYPES + types[1]: function for types, function in (found | dict(own)).items()}


def attach_missing_collider(m: MjModel, d: MjData, own: Own = MappingProxyType({})) -> None:
    """Load or compile the function that was missing when collision detection stopped with `COLLIDER_MISSING`.

    Raises:
        ValueError: there is no collision function for these types.
    """
    geom1, geom2 = (int(geom) for geom in internals.array(d, "work.missing_geom"))
    types = int(m.geom_type[geom1]), int(m.geom_type[geom2])
    function = own.get(types) or _stock(m, types, (geom1, geom2))
    m.put_function("aux.collider", types[0] * NTYPES + types[1], function)


def stock_function(m: MjModel, types: Types) -> Callable[..., Any] | None:
    """Return the collision function of two types for the model's version and flags, or None if there is none."""
    function = COLLIDERS.get(types)
    if function is not None and m.is_4_0:
        function = LATER.get(function, function)
    if function is not None and internals.number(m, "opt.enableflags") & ENBL_NATIVECCD:
        function = EXACT.get(function, function)
    return function


def _stock(m: MjModel, types: Types, geoms: tuple[int, int]) -> Callable[..., Any]:
    """Return the engine's collision function of a pair of types; if there is none, raise an error about two `geoms`."""
    function = stock_function(m, types)
    if function is None:
        first, second = (f"{mjtGeom(m.geom_type[g]).name[7:].lower()} {_label(m, g)}" for g in geoms)
        raise ValueError(f"collision between {first} and {second} is not supported yet")
    return function


def variants(function: Callable[..., Any]) -> tuple[Callable[..., Any], ...]:
    """Return a collision function of `COLLIDERS` and its possible replacements."""
    return (function, *(table[function] for table in (EXACT, LATER) if function in table))


def _label(m: MjModel, geom: int) -> str:
    """Return the name of a geom in quotes, or its id if it has no name."""
    start = int(m.name_geomadr[geom])
    name = m.names[start : m.names.index(b"\0", start)].decode()
    return repr(name) if name else f"of id {geom}"


def _colliding_types(m: MjModel) -> Iterator[tuple[tuple[int, int], tuple[int, int]]]:
    """Yield the pairs of geom types that can collide, with the ids of two such geoms."""
    table = internals.array(m, "aux.collider")
    # distinct rows of what the filters use, and one geom of each row
    rows = np.stack([m.geom_type, m.geom_bodyid, m.geom_contype, m.geom_conaffinity], axis=1)
    kinds, representative = np.unique(rows, axis=0, return_index=True)
    present = np.flatnonzero(np.bincount(m.geom_type))
    explicit: dict[Types, tuple[int, int]] = {}
    for pair in zip(m.pair_geom1.tolist(), m.pair_geom2.tolist(), strict=True):
        geom1, geom2 = sorted(pair, key=lambda geom: int(m.geom_type[geom]))
        explicit.setdefault((int(m.geom_type[geom1]), int(m.geom_type[geom2])), (geom1, geom2))
    for i, type1 in enumerate(present):
        for type2 in present[i:]:
            if table[type1 * NTYPES + type2] == NO_COLLIDER:
                continue
            found = explicit.get((int(type1), int(type2))) or _first_pair(
                m, representative[kinds[:, 0] == type1], representative[kinds[:, 0] == type2]
            )
            if found:
                yield (int(type1), int(type2)), found


def _first_pair(m: MjModel, geoms1: np.ndarray, geoms2: np.ndarray) -> tuple[int, int] | None:
    """Find two geoms, one of each list, that pass the filters between geoms and bodies; None if there are none.

    Pairs are tested in blocks of growing size, since usually some of the first pairs pass.
    """
    start, step = 0, max(1, FIRST_BLOCK // max(1, len(geoms2)))
    while start < len(geoms1):
        block = geoms1[start : start + step]
        rows, columns = np.nonzero(_passing(m, block[:, None], geoms2[None, :]))
        if len(rows):
            return int(block[rows[0]]), int(geoms2[columns[0]])
        start, step = start + step, min(4 * step, max(1, BLOCK // max(1, len(geoms2))))
    return None


def _passing(m: MjModel, geom1: np.ndarray, geom2: np.ndarray) -> np.ndarray:
    """Return a mask of the pairs that pass the filters for non-explicit pairs; `geom1` and `geom2` are broadcast."""
    body1, body2 = m.geom_bodyid[geom1], m.geom_bodyid[geom2]
    weld1, weld2 = m.body_weldid[body1], m.body_weldid[body2]
    passing = (weld1 != weld2) & ((m.body_dofnum[weld1] > 0) | (m.body_dofnum[weld2] > 0))
    for contype, conaffinity, a, b in (
        (m.geom_contype, m.geom_conaffinity, geom1, geom2),
        (m.body_contype, m.body_conaffinity, body1, body2),
    ):
        passing = passing & bits_match(contype[a], conaffinity[a], contype[b], conaffinity[b])
    if not internals.number(m, "opt.disableflags") & DSBL_FILTERPARENT:
        parent = internals.array(m, "aux.body_weldparent")
        passing &= ~are_parent_and_child(weld1, weld2, parent[body1], parent[body2])
    signature = (np.minimum(body1, body2).astype(np.int64) << 16) + np.maximum(body1, body2)
    return passing & ~_are_excluded(m, signature)


def _are_excluded(m: MjModel, signature: np.ndarray) -> np.ndarray:
    """Return a mask of the body pairs that the model excludes. `np.isin` is avoided: its imports take 25 ms."""
    known = np.append(np.sort(m.exclude_signature), np.iinfo(np.int64).max)
    return known[np.searchsorted(known, signature)] == signature
