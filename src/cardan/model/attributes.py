"""From rows to Python attributes: scalars, groups (``m.opt``) and lists of records (``d.contact``)."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from typing import Any, Self

import numpy as np

from cardan.jit.fields import Field
from cardan.jit.struct import Struct, StructMemory


def number_of(name: str, value: Any, kind: str) -> Any:
    """`value` as a number for a scalar field: integers stay exact, arrays are refused unless they have no dimension."""
    if value.__class__ is int or (value.__class__ is float and kind == "f"):
        return value
    try:
        if isinstance(value, (str, bytes)) or np.ndim(value):
            raise TypeError
        return operator.index(value) if kind in "iu" else float(value)
    except (TypeError, ValueError):
        wanted = "an integer" if kind in "iu" else "a number"
        raise TypeError(f"{name} should be {wanted}, got {value!r}") from None


def scalar_property(field: Field, watched: bool = True) -> property:
    """A property that reads and writes a scalar field of an object with a `_memory`.

    Args:
        field: the field.
        watched: whether the object is told when it was set.
    """
    name, kind = field.name, field.numpy_dtype.kind

    def get(self: Any) -> Any:
        return self._memory.scalars[name].item()

    def put(self: Any, value: Any) -> None:
        if value.__class__ is not int:
            value = number_of(name, value, kind)
        self._memory.scalars[name][0] = value
        if watched:
            self._changed(name)

    return property(get, put, doc=field.doc)


def set_array(array: np.ndarray, name: str, value: Any) -> None:
    """Assign to an array attribute: the values are copied into the field, whose shape must fit."""
    try:
        array[...] = value
    except ValueError as error:
        raise ValueError(f"{name}: {error}") from None


class ArrayAttribute:
    """Shows an array field on the class, for ``dir`` and ``help``; instances keep their array under the same name."""

    def __init__(self, name: str, doc: str) -> None:
        self.name = name
        self.__doc__ = doc

    def __get__(self, owner: Any, cls: type) -> ArrayAttribute:
        if owner is None:
            return self
        raise AttributeError(self.name)


def _ignore(name: str) -> None:
    """Nothing depends on the scalar that was set."""


class FieldGroup:
    """Base of the classes whose attributes are the fields of one group of a structure (``m.opt``).

    A copy of a group stands alone: changing it does not change the model.
    """

    _names: tuple[str, ...] = ()
    _memory: StructMemory
    _prefix: str

    def __init__(self, memory: StructMemory, prefix: str, changed: Callable[[str], None] | None = None) -> None:
        attributes = self.__dict__
        attributes["_memory"] = memory
        attributes["_prefix"] = prefix
        attributes["_changed"] = changed or _ignore
        for field in memory.struct.members(prefix):
            if not field.is_scalar:
                attributes[field.name[len(prefix) :]] = memory.arrays[field.name]

    def __copy__(self) -> Self:
        struct, prefix = self._memory.struct, self._prefix
        new = object.__new__(type(self))
        FieldGroup.__init__(new, standalone_memory(struct), prefix)
        for name in self._names:
            setattr(new, name, getattr(self, name))
        return new

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        return self.__copy__()

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        return all(np.array_equal(getattr(self, name), getattr(other, name)) for name in self._names)

    __hash__ = None  # type: ignore[assignment]

    def __setattr__(self, name: str, value: Any) -> None:
        array = self.__dict__.get(name)
        if isinstance(array, np.ndarray):
            set_array(array, self._prefix + name, value)
        elif isinstance(getattr(type(self), name, None), property):
            object.__setattr__(self, name, value)
        else:
            raise AttributeError(f"{type(self).__name__} has no attribute {name!r}")

    def __repr__(self) -> str:
        lines = [f"  {name}: {getattr(self, name)!r}" for name in self._names]
        return "\n".join([f"<{type(self).__name__}", *lines, ">"])


def standalone_memory(struct: Struct, sizes: Mapping[str, int] | None = None) -> StructMemory:
    """Memory of a structure without elements: all sizes are 0, but for those given."""
    dims = {factor for f in struct.fields for dim in f.shape if isinstance(dim, str) for factor in dim.split("*")}
    return StructMemory(struct, dict.fromkeys(dims, 0) | dict(sizes or {}))


def group_class(name: str, struct: Struct, prefix: str, doc: str) -> type[FieldGroup]:
    """Make the class of a group from the rows whose names start with `prefix`."""
    members = struct.members(prefix)
    body: dict[str, Any] = {"__doc__": doc, "_names": tuple(f.name[len(prefix) :] for f in members)}
    for field in members:
        if field.is_scalar:
            body[field.name[len(prefix) :]] = scalar_property(field)
    return type(name, (FieldGroup,), body)
