"""Largest numbers of contacts of pairs of geoms, and the cache of assets.

Manual of MuJoCo 4.0: functions, "Components" and "Cache".
"""

from __future__ import annotations

from cardan.api.arguments import check_model, integer
from cardan.enums import mjtEnableBit, mjtGeom
from cardan.model import internals
from cardan.model.mjmodel import MjModel

# kinds of geoms that have a face or an edge, so that convex pairs of them may have several contacts
_FLAT = ("CYLINDER", "BOX", "MESH")
_PLANE = {"SPHERE": 1, "CAPSULE": 2, "ELLIPSOID": 1, "CYLINDER": 4, "BOX": 4, "MESH": 4, "SDF": 50}
"""Largest number of contacts with a plane."""
_SPECIAL = {("CAPSULE", "CAPSULE"): 2, ("CAPSULE", "BOX"): 4, ("BOX", "BOX"): 8}
"""The same for pairs of other shapes that have a collision function of their own."""
_SAMPLED = 50
"""The same for pairs with a height field or a signed distance."""
_PERTURBED = 5
"""Largest number of contacts if portal refinement looks for more contacts by small rotations."""
_FACES, _EDGE = 4, 2
"""The same for exact distances: between faces, and between a face and an edge."""


def mj_maxContact(m: MjModel, g1: int, g2: int, has_margin: int) -> int:
    """Return the largest number of contacts that a pair of geoms can have with the options of the model.

    Args:
        m: the model.
        g1: id of the first geom.
        g2: id of the second geom.
        has_margin: whether the geoms have a positive margin; -1: as in the model. The number does not depend on it.

    Raises:
        TypeError: an argument has another type.
        ValueError: a geom does not exist.
    """
    check_model("mj_maxContact", m)
    integer("mj_maxContact", "has_margin", has_margin)
    kinds = []
    for name, number in (("g1", g1), ("g2", g2)):
        if not 0 <= integer("mj_maxContact", name, number) < m.ngeom:
            raise ValueError(f"mj_maxContact: {name} is {number}; the model has geoms 0 to {m.ngeom - 1}")
        kinds.append(int(m.geom_type[number]))
    first, second = (mjtGeom(kind).name.removeprefix("mjGEOM_") for kind in sorted(kinds))
    if first in ("PLANE", "HFIELD") and second in ("PLANE", "HFIELD"):
        return 0
    if first == "PLANE":
        return _PLANE[second]
    if first == "HFIELD" or second == "SDF":
        return _SAMPLED
    if "SPHERE" in (first, second) or "ELLIPSOID" in (first, second):
        return 1
    return _SPECIAL.get((first, second)) or _of_convex(m, first, second)


def _of_convex(m: MjModel, first: str, second: str) -> int:
    """Return the largest number of contacts of two shapes that collide by the general convex collider."""
    flags = internals.number(m, "opt.enableflags")
    if not flags & int(mjtEnableBit.mjENBL_MULTICCD):
        return 1
    if not flags & int(mjtEnableBit.mjENBL_NATIVECCD):
        return _PERTURBED
    return _FACES if first in _FLAT and second in _FLAT else _EDGE


# --- cache of assets -------------------------------------------------------------------------------------------------


class _Cache:
    """The cache of assets of MuJoCo, which Cardan does not need: it is empty and only keeps a capacity."""

    capacity = 500 * 2**20


_cache = _Cache()


def _check_cache(function: str, cache: object) -> None:
    if not isinstance(cache, _Cache):
        raise TypeError(f"{function}: expected the result of mj_getCache(), got {type(cache).__name__}")


def mj_getCache() -> _Cache:
    """Return the cache of assets. Cardan reads files anew for each model, so that it is always empty."""
    return _cache


def mj_clearCache(cache: _Cache) -> None:
    """Remove all assets from the cache: it is always empty."""
    _check_cache("mj_clearCache", cache)


def mj_getCacheSize(cache: _Cache) -> int:
    """Return the number of bytes in the cache: 0."""
    _check_cache("mj_getCacheSize", cache)
    return 0


def mj_getCacheCapacity(cache: _Cache) -> int:
    """Return the capacity of the cache in bytes, which has no effect."""
    _check_cache("mj_getCacheCapacity", cache)
    return cache.capacity


def mj_setCacheCapacity(cache: _Cache, size: int) -> int:
    """Set the capacity of the cache in bytes, which has no effect. Return the new capacity."""
    _check_cache("mj_setCacheCapacity", cache)
    cache.capacity = integer("mj_setCacheCapacity", "size", size)
    return cache.capacity


__all__ = ["mj_clearCache", "mj_getCache", "mj_getCacheCapacity", "mj_getCacheSize", "mj_maxContact"]
__all__ += ["mj_setCacheCapacity"]
