"""From rows to Python attributes: scalars, groups (``m.opt``) and lists of records (``d.contact``)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from cardan.jit.struct import Struct, StructMemory


def scalar_property(name: str, doc: str) -> property:
    """A property that reads and writes the scalar field `name` of an object with a `_memory`."""

    def get(self: Any) -> Any:
        return self._memory.scalars[name].item()

    def put(self: Any, value: Any) -> None:
        self._memory.scalars[name][0] = value
        self._changed(name)

    return property(get, put, doc=doc)


def set_array(array: np.ndarray, name: str, value: Any) -> None:
    """Assign to an array attribute: the values are copied into the field, whose shape must fit."""
    try:
        array[...] = value
    except ValueError:
        raise ValueError(f"{name}: expected shape {array.shape}, got {np.shape(value)}") from None


class FieldGroup:
    """Base of the classes whose attributes are the fields of one group of a structure."""

    _names: tuple[str, ...] = ()
    _memory: StructMemory
    _prefix: str

    def __init__(self, memory: StructMemory, prefix: str, changed: Callable[[str], None]) -> None:
        attributes = self.__dict__
        attributes["_memory"] = memory
        attributes["_prefix"] = prefix
        attributes["_changed"] = changed
        for field in memory.struct.members(prefix):
            if not field.is_scalar:
                attributes[field.name[len(prefix) :]] = memory.arrays[field.name]

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


def group_class(name: str, struct: Struct, prefix: str, doc: str) -> type[FieldGroup]:
    """Make the class of a group from the rows whose names start with `prefix`."""
    members = struct.members(prefix)
    body: dict[str, Any] = {"__doc__": doc, "_names": tuple(f.name[len(prefix) :] for f in members)}
    for field in members:
        if field.is_scalar:
            body[field.name[len(prefix) :]] = scalar_property(field.name, field.doc)
    return type(name, (FieldGroup,), body)


class Record:
    """One element of a list of records: ``d.contact[0].dist``."""

    _fields: tuple[str, ...] = ()

    def __init__(self, owner: RecordList, index: int) -> None:
        self.__dict__["_owner"] = owner
        self.__dict__["_index"] = index

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        value = getattr(self._owner, name)[self._index]
        return value if isinstance(value, np.ndarray) else value.item()

    def __setattr__(self, name: str, value: Any) -> None:
        column = getattr(self._owner, name)
        column[self._index] = value

    def __dir__(self) -> list[str]:
        return list(self._owner.fields)

    def __repr__(self) -> str:
        lines = [f"  {name}: {getattr(self, name)!r}" for name in self._owner.fields]
        return "\n".join([f"<{type(self).__name__}", *lines, ">"])

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Record):
            return NotImplemented
        return all(np.array_equal(getattr(self, n), getattr(other, n)) for n in self._owner.fields)

    __hash__ = None  # type: ignore[assignment]


class RecordList:
    """Records kept as one array a member: ``d.contact[i].dist`` and ``d.contact.dist[i]`` are the same number."""

    record_class: type[Record] = Record

    def __init__(self, memory: StructMemory, prefix: str, length: Callable[[], int | None]) -> None:
        self._memory = memory
        self._prefix = prefix
        self._length = length

    @property
    def fields(self) -> tuple[str, ...]:
        """Names of the members of a record."""
        return tuple(f.name[len(self._prefix) :] for f in self._memory.struct.members(self._prefix))

    def __getattr__(self, name: str) -> np.ndarray:
        if name.startswith("_"):
            raise AttributeError(name)
        try:
            return self._memory.arrays[self._prefix + name][: self._length()]
        except KeyError:
            raise AttributeError(f"{type(self).__name__} has no attribute {name!r}") from None

    def __dir__(self) -> list[str]:
        return list(self.fields)

    def __len__(self) -> int:
        return len(getattr(self, self.fields[0]))

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return [self[i] for i in range(*index.indices(len(self)))]
        i = int(index)
        n = len(self)
        if not -n <= i < n:
            raise IndexError(f"index {i} out of range for {n} records")
        return self.record_class(self, i % n)

    def __iter__(self) -> Iterator[Any]:
        return (self[i] for i in range(len(self)))

    def __repr__(self) -> str:
        lines = [f"  {name}: {getattr(self, name)!r}" for name in self.fields]
        return "\n".join([f"<{type(self).__name__}", *lines, ">"])
