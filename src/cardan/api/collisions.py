"""Collision functions and contacts of the user (spec: programming, collision functions; modeling, plugins)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from cardan.api.arguments import check_model, check_pair
from cardan.enums import mjtGeom
from cardan.model import internals
from cardan.model.derived import NTYPES
from cardan.model.fields_arena import MAX_CONDIM
from cardan.model.mjdata import MjContact, MjData
from cardan.model.mjmodel import MjModel
from cardan.model.tables import bytes_of_one
from cardan.step.collision_hooks import put_contact
from cardan.step.hooks import Hooks, hooks, hooks_of

Collider = Callable[..., Any]


def _types(function: str, type1: int, type2: int) -> tuple[int, int]:
    """Order two geom types as in the collision table, the lower first; raise ValueError if a type does not collide."""
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
    """Replace the collision function of two geom types (``mjCOLLISIONFUNC``); None restores the engine's function.

    Args:
        type1: type of one geom (`mjtGeom`).
        type2: type of the other geom.
        function: takes model, data, the ids of two geoms (the one of lower type first) and the margin: a distance below
            the margin makes a contact. A Python function returns the contacts: `MjContact` objects, of which only
            ``dist``, ``pos`` and ``frame`` are used, or tuples of distance, position (3,) and normal (3,), which points
            from the first to the second geom. A Numba function, or one marked with `cardan.kernel`, writes them with
            `cardan.put_contact` and returns their number; it runs without the GIL.
        m: the model for which the function is used, instead of the function for all models; None: all models.

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
    """Return the function that `set_collider` installed for two geom types, for a model or for all models, or None."""
    hook = _holder("get_collider", m).colliders.get(_types("get_collider", type1, type2))
    return hook.function if hook else None


def mj_addContact(m: MjModel, d: MjData, con: MjContact) -> int:
    """Add a contact to the contacts of the data; `mj_makeConstraint` makes constraints of it.

    Args:
        m: the model.
        d: the data; ``ncon`` grows by 1.
        con: the contact; all of its fields are copied.

    Returns:
        0; or 1 if the memory limit of the model is reached, so that nothing was added.

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


__all__ = ["get_collider", "mj_addContact", "put_contact", "set_collider"]
