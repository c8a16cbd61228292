"""Lists of records stored as one array for each member: ``d.contact[0].dist`` is ``d.contact.dist[0]``."""

from __future__ import annotations

import operator
from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from cardan.jit.memory.fields import Field, Struct, dimension
from cardan.jit.memory.struct import StructMemory
from cardan.model.attributes import listing, not_settable, number_of

Columns = dict[str, np.ndarray]
"""Arrays of the members, by the names of their fields (``contact.dist``)."""


def _properties(cls: type) -> tuple[str, ...]:
    """Return the names of all properties of a class, including inherited ones, sorted."""
    names = (name for name in dir(cls) if not name.startswith("_"))
    return tuple(name for name in names if isinstance(getattr(cls, name), property))


class Record:
    """Element of a list of records.

    A record made without arguments is all zero and does not belong to a list. Each subclass defines its structure
    (`_struct`) and the prefix of its fields (`_prefix`).

    Args:
        columns: the arrays of the list.
        row: row of the record in these arrays.
    """

    __slots__ = ("__weakref__", "_columns", "_row", "_views")

    _struct: ClassVar[Struct]
    _prefix: ClassVar[str]
    fields: ClassVar[tuple[str, ...]] = ()
    _shown: ClassVar[tuple[str, ...]] = ()

    _columns: Columns
    _row: int
    _views: dict[str, tuple[np.ndarray, np.ndarray]]  # for each array member used so far: the column, and its row

    if TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any: ...

    def __init_subclass__(cls) -> None:
        """Give a new subclass one property for each member of its records."""
        if "_struct" in cls.__dict__:
            members = cls._struct.members(cls._prefix)
            cls.fields = tuple(f.name.removeprefix(cls._prefix) for f in members)
            for name, field in zip(cls.fields, members, strict=True):
                setattr(cls, name, _member(name, field))
            cls._shown = _properties(cls)

    def __init__(self, columns: Columns | None = None, row: int = 0) -> None:
        if columns is None:
            columns = {}
            for field in self._struct.members(self._prefix):
                shape = [n for n in field.inner if isinstance(n, int)]
                columns[field.name] = np.zeros((1, *shape), field.numpy_dtype)
        elif not isinstance(columns, dict):
            raise TypeError(f"{type(self).__name__}() takes no arguments")
        self._columns = columns
        self._row = row
        self._views = {}

    def __copy__(self) -> Self:
        """Return a copy that does not belong to a list, so that the simulation does not change the copy."""
        names = [self._prefix + name for name in self.fields]
        return type(self)({name: np.array([self._columns[name][self._row]]) for name in names})

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        return self.__copy__()

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.__copy__()._columns,)

    def __dir__(self) -> list[str]:
        return [*_properties(type(self))]

    def __repr__(self) -> str:
        return listing(self, type(self).__name__, self._shown)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Record):
            return NotImplemented
        return all(np.array_equal(getattr(self, n), getattr(other, n)) for n in self.fields)

    __hash__ = None  # type: ignore[assignment]


def _member(name: str, field: Field) -> property:
    """Make the property of a record that reads and writes one member."""
    full, kind = field.name, field.numpy_dtype.kind

    def number(record: Record) -> Any:
        return record._columns[full].item(record._row)

    def put_number(record: Record, value: Any) -> None:
        record._columns[full][record._row] = number_of(name, value, kind)

    def array(record: Record) -> Any:
        column = record._columns[full]
        view = record._views.get(full)
        if view is None or view[0] is not column:  # the arena has grown
            view = record._views[full] = column, column[record._row]
        return view[1]

    def put_array(record: Record, value: Any) -> None:
        record._columns[full][record._row] = value

    return property(array, put_array, doc=field.doc) if field.inner else property(number, put_number, doc=field.doc)


@cache
def _column(field: Field) -> property:
    """Make the property of a list of records that returns the array of one member."""
    name = field.name

    def get(records: RecordList) -> np.ndarray:
        array = records._columns[name][: records._length()]
        return array if records._rows is None else array[records._rows]

    return property(get, doc=field.doc)


class RecordList:
    """List of records, stored as one array for each member. Each index always returns the same record object.

    There is no ``__iter__``: a loop requests one element after the other until IndexError, so that the number of
    elements may change during the loop.
    """

    record_class: ClassVar[type[Record]] = Record
    fields: ClassVar[tuple[str, ...]] = ()
    _shown: ClassVar[tuple[str, ...]] = ()

    _memory: StructMemory
    _columns: Columns
    _length: Callable[[], int]  # returns the current number of records; by default, the rows of the arrays
    _rows: slice | list[int] | None  # the rows of this list; None: all
    _records: dict[int, Any]  # records that were requested before, by their rows

    if TYPE_CHECKING:

        def __getattr__(self, name: str) -> np.ndarray: ...

    def __init_subclass__(cls) -> None:
        """Add a property for each member of the records to a new subclass."""
        cls.fields = cls.record_class.fields
        for field in cls.record_class._struct.members(cls.record_class._prefix):
            setattr(cls, field.name.removeprefix(cls.record_class._prefix), _column(field))
        cls._shown = _properties(cls)

    def __init__(
        self,
        memory: StructMemory,
        length: Callable[[], int] | None = None,
        rows: slice | list[int] | None = None,
        records: dict[int, Any] | None = None,
    ) -> None:
        if length is None:
            first = self.record_class._struct.members(self.record_class._prefix)[0]
            room = dimension(first.shape[0], memory.sizes)
            length = lambda: room  # noqa: E731
        self.__dict__.update(_memory=memory, _columns=memory.arrays, _length=length, _rows=rows)
        self.__dict__["_records"] = {} if records is None else records

    def __setattr__(self, name: str, value: Any) -> None:
        if name in self._shown:
            kind = type(self).__name__
            raise AttributeError(f"{kind}.{name} can't be replaced; assign to its elements: {name}[:] = ...")
        raise not_settable(self, name)

    def __dir__(self) -> list[str]:
        return [*_properties(type(self))]

    def __len__(self) -> int:
        return self._length() if self._rows is None else len(self._used())

    def _used(self) -> range | list[int]:
        """Return the array rows that this list contains."""
        if isinstance(self._rows, list):
            return self._rows
        return range(self._length()) if self._rows is None else range(self._length())[self._rows]

    def __getitem__(self, index: Any) -> Any:
        if index.__class__ is int and self._rows is None and 0 <= index < self._length():
            return self._records.get(index) or self._record(index)  # the usual case
        if isinstance(index, slice):
            return type(self)(self._memory, self._length, self._part(index), self._records)
        try:
            i = operator.index(index)
        except TypeError:
            raise TypeError(f"{type(self).__name__} takes an integer or a slice, got {index!r}") from None
        used = self._used()
        if not -len(used) <= i < len(used):
            raise IndexError(f"index {i} out of range for {len(used)} records")
        return self._records.get(used[i]) or self._record(used[i])

    def _record(self, row: int) -> Any:
        """Return the stored record of a row. At the first request, make the record."""
        return self._records.setdefault(row, self.record_class(self._columns, row))

    def _part(self, index: slice) -> slice | list[int]:
        """Convert a slice of this list to a slice, or a list, of the rows of the arrays."""
        part = self._used()[index]
        if isinstance(part, list):
            return part
        return slice(part.start, part.stop if part.stop >= 0 else None, part.step)

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        return all(np.array_equal(getattr(self, name), getattr(other, name)) for name in self.fields)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return listing(self, f"_{type(self).__name__}", self._shown)
