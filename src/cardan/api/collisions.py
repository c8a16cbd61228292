"""User-defined collision functions and contacts (spec: programming, collision functions; modeling, plugins)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from cardan.api.arguments import check_model, check_pair, valid_id
from cardan.api.native_call import native_by
from cardan.collision.distance import geom_distance, has_pieces, smallest_distance, with_pieces
from cardan.enums import mjtGeom
from cardan.enums.codes import GEOM_SDF
from cardan.jit import kernel
from cardan.jit.binding.arguments import Number, element, target
from cardan.model import internals
from cardan.model.derived import NTYPES
from cardan.model.fields_arena import MAX_CONDIM
from cardan.model.kernel_views import Data, Model
from cardan.model.mjdata import MjContact, MjData
from cardan.model.mjmodel import MjModel
from cardan.model.tables import bytes_of_one
from cardan.step.adapters import put_contact
from cardan.step.hooks import Hooks, hooks, hooks_of

Collider = Callable[..., Any]


def _types(function: str, type1: int, type2: int) -> tuple[int, int]:
    """Return two geom types in ascending order; raise ValueError if geoms of one of the types do not collide."""
    for kind in (type1, type2):
        if not 0 <= int(kind) < NTYPES:
            known = ", ".join(mjtGeom(number).name for number in range(NTYPES))
            raise ValueError(f"{function}: {kind} is not the type of a geom that collides; these types are {known}")
    return min(int(type1), int(type2)), max(int(type1), int(type2))


def _holder(function: str, m: MjModel | None) -> Hooks:
    if m is None:
        return hooks
    check_model(function, m)
    return hooks_of(m)


def set_collider(type1: int, type2: int, function: Collider | None, m: MjModel | None = None) -> None:
    """Replace the collision function of a pair of geom types (``mjCOLLISIONFUNC``); None restores the built-in one.

    Args:
        type1: type of one geom (`mjtGeom`).
        type2: type of the other geom.
        function: takes model, data, the ids of two geoms (the one of lower type first) and the margin. Geoms
            closer than the margin are in contact. A Python function returns the contacts: `MjContact` objects (only
            ``dist``, ``pos`` and ``frame`` are used), or tuples of distance, position (3,) and normal (3,), which
            points from the first to the second geom. A Numba function, or a function marked with `cardan.kernel`,
            writes the contacts with `cardan.put_contact` and returns their number; it runs without the GIL.
        m: the model for which `function` is used, in place of the function for all models; None: all models.

    Raises:
        ValueError: a type is unknown or does not collide.
        TypeError: `function` can't be called, or `m` is not a model.
        KernelError: `function` is a Numba function or a kernel, but can't be compiled.
    """
    types = _types("set_collider", type1, type2)
    if function is not None and not callable(function):
        raise TypeError("set_collider: function must be callable, or None")
    _holder("set_collider", m).set_collider(types, function)


def get_collider(type1: int, type2: int, m: MjModel | None = None) -> Collider | None:
    """Return the function that `set_collider` installed for two geom types of `m` (None: of all models), or None."""
    hook = _holder("get_collider", m).colliders.get(_types("get_collider", type1, type2))
    return hook.function if hook else None


def mj_addContact(m: MjModel, d: MjData, con: MjContact) -> int:
    """Append a contact to the contacts of the data; `mj_makeConstraint` then makes constraints from it.

    Args:
        m: the model.
        d: the data; ``ncon`` grows by 1.
        con: the contact; all of its fields are copied.

    Returns:
        0 if the contact was added, 1 if the memory limit of the model prevented it.

    Raises:
        TypeError: `con` is not a contact.
        ValueError: the dimension of the contact is invalid.
    """
    check_pair("mj_addContact", m, d)
    if not isinstance(con, MjContact):
        raise TypeError(f"mj_addContact: con must be an MjContact, not {type(con).__name__}")
    if not 1 <= con.dim <= MAX_CONDIM:
        raise ValueError(f"mj_addContact: con.dim is {con.dim}; a contact has 1 (no friction), 3, 4 or 6 dimensions")
    values = {name: getattr(con, name) for name in d.contact.fields}
    if 0 < m.narena < (d.ncon + 1) * bytes_of_one("ncon"):
        return 1
    if d.ncon >= internals.sizes(d)["ncon"]:
        d.grow("ncon", d.ncon + 1)
    d.ncon += 1
    for name, value in values.items():
        getattr(d.contact, name)[d.ncon - 1] = value
    return 0


SIGNED_DISTANCE = -1e300
"""Result if a geom is a signed-distance shape: distances of such shapes are not computed."""


@kernel
def distance_of_geoms(m: Model, d: Data, geom1: int, geom2: int, distmax: float, fromto: Any) -> float:
    """Return the distance of two geoms for `mj_geomDistance`. If `fromto` has a row, write the closest points to it.

    If one of the geoms is a signed-distance shape, return `SIGNED_DISTANCE` and write nothing.
    """
    if m.geom_type[geom1] == GEOM_SDF or m.geom_type[geom2] == GEOM_SDF:
        return SIGNED_DISTANCE
    if has_pieces(m, geom1) or has_pieces(m, geom2):
        dist = smallest_distance(m, d, with_pieces(m, geom1), with_pieces(m, geom2), distmax)
    else:
        dist = geom_distance(m, d, geom1, geom2, distmax)
    for row in range(len(fromto)):
        for k in range(3):
            fromto[row, k] = d.work.witness[0, k]
            fromto[row, 3 + k] = d.work.witness[1, k]
    return dist


def _check_shapes(m: MjModel, geom1: int, geom2: int, **_: Any) -> None:
    for geom in (valid_id("geom", geom1, m.ngeom), valid_id("geom", geom2, m.ngeom)):
        if m.geom_type[geom] == GEOM_SDF:
            raise ValueError(f"mj_geomDistance: geom {geom} is a signed-distance shape, which has no distance")


@native_by(
    distance_of_geoms,
    check=_check_shapes,
    failure=(SIGNED_DISTANCE, "a geom is a signed-distance shape"),
    releases=True,
    geom1=element("geom", "ngeom"),
    geom2=element("geom", "ngeom"),
    distmax=Number(),
    fromto=target(6, optional=True),
)
def mj_geomDistance(m: MjModel, d: MjData, geom1: int, geom2: int, distmax: float, fromto: np.ndarray | None) -> float:
    """Smallest signed distance between two geoms, at their current poses.

    Args:
        m: model.
        d: data; ``geom_xpos`` and ``geom_xmat`` are read.
        geom1: id of the first geom: plane, height field, sphere, capsule, ellipsoid, cylinder, box or mesh (its convex
            hull, or its convex pieces). The distance to a height field is the distance to the nearest of its convex
            prisms.
        geom2: id of the second geom.
        distmax: largest distance of interest, m. Larger distances are not computed.
        fromto: None, or an array of 6 numbers, written: the closest points (the deepest points if the geoms overlap) on
            the first and the second geom, world frame; zeros if the geoms are farther apart than `distmax`.

    Returns:
        The distance in m, at most `distmax`; negative if the geoms overlap. If neither geom is convex (both are planes
        or height fields), `distmax`.

    Raises:
        IndexError: a geom does not exist.
        TypeError: `fromto` is not a writable array of 6 numbers.
        ValueError: one of the geoms is a signed-distance shape.
    """
    ...


__all__ = ["get_collider", "mj_addContact", "mj_geomDistance", "put_contact", "set_collider"]
