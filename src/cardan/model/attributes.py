"""From rows to Python attributes: scalars, groups (``m.opt``) and lists of records (``d.contact``)."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from typing import Any, Self

import numpy as np

from cardan.jit.struct import Struct, StructMemory


def _number(name: str, value: Any, kind: str) -> Any:
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


def scalar_property(name: str, doc: str) -> property:
    """A property that reads and writes the scalar field `name` of an object with a `_memory`."""

    def get(self: Any) -> Any:
        return self._memory.scalars[name].item()

    def put(self: Any, value: Any) -> None:
        scalar = self._memory.scalars[name]
        scalar[0] = _number(name, value, scalar.dtype.kind)
        self._changed(name)

    return property(get, put, doc=doc)


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
            body[field.name[len(prefix) :]] = scalar_property(field.name, field.doc)
    return type(name, (FieldGroup,), body)


def _own_properties(instance: Record | RecordList) -> list[str]:
    """Attributes that a class of records has beside the fields."""
    return [name for name, value in vars(type(instance)).items() if isinstance(value, property)]


class Record:
    """One element of a list of records: ``d.contact[0].dist``.

    Without arguments it is all zero and belongs to no list. A class of records names its structure and the prefix of
    its fields.
    """

    _struct: Struct
    _prefix: str

    def __init__(self, owner: RecordList | DetachedRecord | None = None, index: int = 0) -> None:
        if owner is None:
            owner = DetachedRecord(_blank_columns(self._struct, self._prefix))
        elif not isinstance(owner, (RecordList, DetachedRecord)):
            raise TypeError(f"{type(self).__name__}() takes no arguments")
        self.__dict__["_owner"] = owner
        self.__dict__["_index"] = index

    def __copy__(self) -> Self:
        columns = {name: np.array([getattr(self._owner, name)[self._index]]) for name in self._owner.fields}
        return type(self)(DetachedRecord(columns), 0)

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        return self.__copy__()

    def __reduce__(self) -> tuple[Any, ...]:
        columns = self.__copy__()._owner.columns
        return type(self), (DetachedRecord(columns), 0)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        value = getattr(self._owner, name)[self._index]
        return value if isinstance(value, np.ndarray) else value.item()

    def __setattr__(self, name: str, value: Any) -> None:
        column = getattr(self._owner, name)
        column[self._index] = _number(name, value, column.dtype.kind) if column.ndim == 1 else value

    def __dir__(self) -> list[str]:
        return [*self._owner.fields, *_own_properties(self)]

    def __repr__(self) -> str:
        lines = [f"  {name}: {getattr(self, name)!r}" for name in self._owner.fields]
        return "\n".join([f"<{type(self).__name__}", *lines, ">"])

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Record):
            return NotImplemented
        return all(np.array_equal(getattr(self, n), getattr(other, n)) for n in self._owner.fields)

    __hash__ = None  # type: ignore[assignment]


def _blank_columns(struct: Struct, prefix: str) -> dict[str, np.ndarray]:
    """The members of one record, all zero."""
    columns = {}
    for field in struct.members(prefix):
        shape = [n for n in field.shape[1:] if isinstance(n, int)]
        columns[field.name.removeprefix(prefix)] = np.zeros((1, *shape), field.numpy_dtype)
    return columns


class DetachedRecord:
    """The members of one record that belongs to no list: a copy, which the simulation no longer changes."""

    def __init__(self, columns: dict[str, np.ndarray]) -> None:
        self.columns = columns

    @property
    def fields(self) -> tuple[str, ...]:
        """Names of the members."""
        return tuple(self.columns)

    def __getattr__(self, name: str) -> np.ndarray:
        try:
            return self.__dict__["columns"][name]
        except KeyError:
            raise AttributeError(name) from None


@cache
def _names_of_members(struct: Struct, prefix: str) -> tuple[str, ...]:
    """Names of the members of a record."""
    return tuple(f.name.removeprefix(prefix) for f in struct.members(prefix))


class RecordList:
    """Records kept as one array a member: ``d.contact[i].dist`` and ``d.contact.dist[i]`` are the same number."""

    record_class: type[Record] = Record
    _memory: StructMemory
    _prefix: str
    _length: Callable[[], int | None]
    _rows: slice
    fields: tuple[str, ...]

    def __init__(
        self, memory: StructMemory, prefix: str, length: Callable[[], int | None], rows: slice = slice(None)
    ) -> None:
        attributes = self.__dict__
        attributes["_memory"] = memory
        attributes["_prefix"] = prefix
        attributes["_length"] = length
        attributes["_rows"] = rows
        attributes["fields"] = _names_of_members(memory.struct, prefix)

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError(f"{type(self).__name__}.{name} can't be replaced; assign to its elements: {name}[:] = ...")

    def __getattr__(self, name: str) -> np.ndarray:
        if name.startswith("_"):
            raise AttributeError(name)
        try:
            return self._memory.arrays[self._prefix + name][: self._length()][self._rows]
        except KeyError:
            raise AttributeError(f"{type(self).__name__} has no attribute {name!r}") from None

    def __dir__(self) -> list[str]:
        return [*self.fields, *_own_properties(self)]

    def __len__(self) -> int:
        return len(self._used()[self._rows])

    def _used(self) -> range:
        """Numbers of the rows in use, of the whole list."""
        return range(len(self._memory.arrays[self._prefix + self.fields[0]]))[: self._length()]

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return type(self)(self._memory, self._prefix, self._length, self._part(index))
        try:
            i = operator.index(index)
        except TypeError:
            raise TypeError(f"{type(self).__name__} takes an integer or a slice, got {index!r}") from None
        n = len(self)
        if not -n <= i < n:
            raise IndexError(f"index {i} out of range for {n} records")
        return self.record_class(self, i % n)

    def _part(self, index: slice) -> slice:
        """The rows of a part of the list, among all rows in use."""
        part = self._used()[self._rows][index]
        return slice(part.start, part.stop if part.stop >= 0 else None, part.step)

    def __iter__(self) -> Iterator[Any]:
        return (self[i] for i in range(len(self)))

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        return all(np.array_equal(getattr(self, name), getattr(other, name)) for name in self.fields)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        lines = [f"  {name}: {getattr(self, name)!r}" for name in self.fields]
        return "\n".join([f"<{type(self).__name__}", *lines, ">"])
