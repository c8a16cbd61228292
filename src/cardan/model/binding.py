"""Views of a model or data for elements of a specification: ``m.bind(spec.geom("foot")).size``."""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import blake2b
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from cardan.model.mjmodel import MjModel

_STRUCTURE = ("body_parentid", "jnt_bodyid", "geom_bodyid", "site_bodyid", "cam_bodyid", "light_bodyid", "names")


def signature(m: MjModel) -> int:
    """Return a number (64 bits) that identifies the structure of a model: its sizes, its tree and the names.

    Models that differ only in the values of other fields have the same signature.
    """
    found = m.__dict__.get("_signature")
    if found is None:
        digest = blake2b(digest_size=8)
        for name in ("nbody", "njnt", "ngeom", "nsite", "ncam", "nlight", "nflex", "nmesh", "nskin", "nhfield", "ntex",
                     "nmat", "npair", "nexclude", "neq", "ntendon", "nactuator", "nsensor", "nnumeric", "ntext",
                     "ntuple", "nkey", "nplugin"):  # fmt: skip
            digest.update(int(getattr(m, name)).to_bytes(8, "little"))
        for name in _STRUCTURE:
            digest.update(m.names if name == "names" else np.ascontiguousarray(getattr(m, name)).tobytes())
        found = m.__dict__["_signature"] = int.from_bytes(digest.digest(), "little") or 1
    return found


class ElementGroup:
    """Views of several elements. An attribute is the list of all values of the elements' attributes.

    Assigning to an attribute takes one value for each element.
    """

    __slots__ = ("_views",)

    def __init__(self, views: Sequence[Any]) -> None:
        object.__setattr__(self, "_views", list(views))

    def __getattr__(self, name: str) -> list[Any]:
        found: list[Any] = []
        for view in self._views:
            value = getattr(view, name)
            found.extend(np.ravel(value) if isinstance(value, np.ndarray) else [value])
        return found

    def __setattr__(self, name: str, value: Any) -> None:
        values = value if isinstance(value, Sequence | np.ndarray) and not isinstance(value, str) else None
        if values is None or len(values) != len(self._views):
            got = f"non-iterable {type(value).__name__}" if values is None else len(values)
            raise ValueError(f"{name}: expected {len(self._views)} values, one for each element, got {got}")
        for view, one in zip(self._views, values, strict=True):
            setattr(view, name, one)

    def __len__(self) -> int:
        return len(self._views)

    def __iter__(self) -> Any:
        return iter(self._views)


def bound(owner: Any, m: MjModel, elements: Any) -> Any:
    """Return the view of an element of a specification, or an `ElementGroup` for a sequence of elements.

    Args:
        owner: the model, or the data of the model, whose fields the views show.
        m: the model.
        elements: a struct of the specification (``MjsBody``, ...), or a sequence of structs.

    Raises:
        ValueError: the specification was changed since it was compiled to the model, or has another structure.
        IndexError: the model does not contain the element.
        TypeError: an argument is not an element of a specification, or its kind has no fields here.
    """
    element: Any = elements
    if isinstance(elements, Sequence | np.ndarray) and not isinstance(elements, str):
        return ElementGroup([bound(owner, m, one) for one in elements])
    kind = getattr(elements, "kind", None)
    if kind is None:
        raise TypeError(f"bind takes elements of a MjSpec, got {type(elements).__name__}")
    access = getattr(owner, kind, None)
    if access is None:
        raise TypeError(f"{type(owner).__name__} has no fields of a {kind}")
    if element.signature != signature(m):
        raise ValueError("The mjSpec does not match mjModel. Please recompile the mjSpec.")
    number = element.id
    if number < 0:
        raise IndexError(f"Invalid index {number}: the model does not contain this {kind}")
    return access(number)
