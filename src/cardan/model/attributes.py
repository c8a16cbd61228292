"""Python attributes made from the tables of fields: scalars, arrays, and groups of fields (``m.opt``)."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache
from typing import Any, Self

import numpy as np

from cardan.jit.memory.fields import Field, Struct
from cardan.jit.memory.struct import StructMemory
from cardan.model.fields_later import FLAGS


def number_of(name: str, value: Any, kind: str) -> Any:
    """Convert `value` to a number for the scalar field `name`; raise TypeError if that is impossible.

    `kind` is "i", "u" or "f". Integers stay exact. Arrays are accepted only if they have no dimensions.
    """
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
    """Make a property that reads and writes a scalar field of an object with a `_memory`.

    If ``watched``, the object's `_changed` is called with the name after each assignment.
    """
    name, kind = field.name, field.numpy_dtype.kind
    usual = float if kind == "f" else int
    is_flag = name in FLAGS

    def get(self: Any) -> Any:
        value = self._memory.scalars[name].item()
        return value != 0 if is_flag else value

    def put(self: Any, value: Any) -> None:
        if value.__class__ is not usual and value.__class__ is not int:
            value = number_of(name, value, kind)
        self._memory.scalars[name][0] = value
        if watched:
            self._changed(name)

    return property(get, put, doc=field.doc)


def set_array(array: np.ndarray, name: str, value: Any) -> None:
    """Assign to an array attribute: copy `value` into the field `array`, whose shape must fit.

    Raises:
        ValueError: the shape does not fit; the error states the attribute's `name`.
    """
    try:
        array[...] = value
    except ValueError as error:
        raise ValueError(f"{name}: {error}") from None


def not_settable(owner: Any, name: str) -> AttributeError:
    """Make the error for an assignment to an attribute that is read-only or does not exist."""
    kind = type(owner).__name__
    if hasattr(owner, name):
        return AttributeError(f"property {name!r} of {kind!r} object has no setter")
    return AttributeError(f"{kind!r} object has no attribute {name!r}")


class ArrayAttribute:
    """Class attribute that makes an array field visible to ``dir`` and ``help``; instances store the array itself."""

    def __init__(self, name: str, doc: str) -> None:
        self.name = name
        self.__doc__ = doc

    def __get__(self, owner: Any, cls: type) -> ArrayAttribute:
        if owner is None:
            return self
        raise AttributeError(self.name)


def _ignore(name: str) -> None:
    """Do nothing: the default callback for groups with scalars that have no side effects."""


class FieldGroup:
    """Base class of groups: the attributes of a group are fields of a structure with one prefix (``m.opt``).

    A copy of a group is independent of the model: changing the copy does not change the model.
    """

    _struct: Struct
    _prefix: str
    _names: tuple[str, ...] = ()
    _setters: Mapping[str, Callable[[Any, Any], None]] = {}
    _memory: StructMemory

    def __init__(self) -> None:
        raise TypeError(f"{type(self).__qualname__}: groups are made by models; copy one with copy.copy")

    @classmethod
    def _of(cls, memory: StructMemory, changed: Callable[[str], None] = _ignore) -> Self:
        """Make a group over the memory of a structure. When a scalar is set, `changed` is called with its name."""
        new = object.__new__(cls)
        new._show(memory, changed)
        return new

    def _show(self, memory: StructMemory, changed: Callable[[str], None] = _ignore) -> None:
        attributes = self.__dict__
        attributes["_memory"] = memory
        attributes["_changed"] = changed
        for field in memory.struct.members(self._prefix):
            if not field.is_scalar:
                attributes[field.name[len(self._prefix) :]] = memory.arrays[field.name]

    def __copy__(self) -> Self:
        return restored_group(type(self), {name: getattr(self, name) for name in self._names})

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        return self.__copy__()

    def __reduce__(self) -> tuple[Any, ...]:
        return restored_group, (type(self), {name: getattr(self, name) for name in self._names})

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        return all(np.array_equal(getattr(self, name), getattr(other, name)) for name in self._names)

    __hash__ = None  # type: ignore[assignment]

    def __setattr__(self, name: str, value: Any) -> None:
        put = self._setters.get(name)
        if put is not None:
            put(self, value)
            return
        array = self.__dict__.get(name)
        if isinstance(array, np.ndarray):
            set_array(array, self._prefix + name, value)
        elif isinstance(getattr(type(self), name, None), property):
            object.__setattr__(self, name, value)
        else:
            raise not_settable(self, name)

    def __repr__(self) -> str:
        return listing(self, type(self).__name__, sorted(self._names))


def copy_group(target: Any, source: Any) -> None:
    """Copy all values of the group `source` (such as the options) to `target`, a group of the same class."""
    for name in source._names:
        setattr(target, name, getattr(source, name))


def assign_group(target: Any, value: Any, name: str) -> None:
    """Copy the values of a group of options, or of all visual options, to those of a model.

    Raises:
        TypeError: `value` is of another class; the message contains the attribute's `name`.
    """
    if not isinstance(value, type(target)):
        raise TypeError(f"{name} should be a {type(target).__name__}, got {type(value).__name__}")
    if isinstance(target, FieldGroup):
        copy_group(target, value)
    else:
        target._take(value)


def listing(instance: Any, title: str, names: Iterable[str]) -> str:
    """Return the `repr` of `instance`: the `title`, then one line for each of the attributes `names`."""
    return "\n".join([f"<{title}", *(f"  {name}: {getattr(instance, name)!r}" for name in names), ">"])


def restored_group(cls: type[FieldGroup], values: Mapping[str, Any]) -> Any:
    """Make a group that does not belong to a model, with the given values."""
    new = cls._of(standalone_memory(cls._struct))
    for name, value in values.items():
        setattr(new, name, value)
    return new


def standalone_memory(struct: Struct, sizes: Mapping[str, int] | None = None) -> StructMemory:
    """Make memory for a structure outside any model. All sizes that are not in `sizes` are 0."""
    return StructMemory(struct, dict.fromkeys(_sizes_of(struct), 0) | dict(sizes or {}))


@lru_cache
def _sizes_of(struct: Struct) -> frozenset[str]:
    """Return the names of all sizes in the shapes of a structure's fields."""
    shapes = [dim for field in struct.fields for dim in field.shape if isinstance(dim, str)]
    return frozenset(factor for dim in shapes for factor in dim.split("*"))


def group_class(name: str, struct: Struct, prefix: str, doc: str) -> type[FieldGroup]:
    """Make the class of groups `name`; its attributes are the fields of `struct` whose names start with `prefix`."""
    members = struct.members(prefix)
    names = tuple(f.name[len(prefix) :] for f in members)
    body: dict[str, Any] = {"__doc__": doc, "_struct": struct, "_prefix": prefix, "_names": names}
    for short, field in zip(names, members, strict=True):
        body[short] = scalar_property(field) if field.is_scalar else ArrayAttribute(short, field.doc)
    body["_setters"] = {short: member.fset for short, member in body.items() if isinstance(member, property)}
    return type(name, (FieldGroup,), body)
