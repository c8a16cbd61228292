"""Base class of the structures of the abstract scene. A table with one row for each member defines a structure.

Attributes of an object read and write the members of one NumPy structure.
"""

from __future__ import annotations

import operator
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Self

import numpy as np

from cardan.visual.flags import in_process, points_in_process


class Member(NamedTuple):
    """One member of a structure: its name in MuJoCo's structure, and its meaning and unit in a few words (`doc`).

    `dtype` is NumPy's code of the element type (``"f4"``); ``"S100"`` is text of at most 99 bytes. The shape of a
    scalar is empty. The `default` is the value after construction; None means 0 or empty.
    """

    name: str
    dtype: str
    shape: tuple[int, ...]
    doc: str
    default: Any = None
    since: str | None = None  # version of MuJoCo that introduced the member, if that was later than 3.1


def dtype_of(table: tuple[Member, ...]) -> np.dtype:
    """Return the NumPy structure with the members of a table, in their order, aligned as in C."""
    return np.dtype([(row.name, row.dtype, row.shape) for row in table], align=True)


def words_of(dtype: np.dtype) -> dict[str, int]:
    """Return the index of the 32-bit word in which each member of a structure begins, by name."""
    return {name: offset // 4 for name, (_, offset, *_) in (dtype.fields or {}).items()}


class VisualRecord:
    """Base of the structures of the abstract scene.

    Scalars are Python numbers, arrays are views, texts are strings. Values are stored in one NumPy structure, `values`,
    which may be an element of an array, such as the geoms of a scene.
    """

    table: ClassVar[tuple[Member, ...]] = ()
    dtype: ClassVar[np.dtype]
    default: ClassVar[np.ndarray]
    values: np.ndarray

    if TYPE_CHECKING:  # members come from the table

        def __getattr__(self, name: str) -> Any: ...

    def __init__(self) -> None:
        object.__setattr__(self, "values", self.default.copy())

    def __init_subclass__(cls) -> None:
        if "table" not in cls.__dict__:
            return
        cls.dtype = dtype_of(cls.table)
        cls.default = np.zeros((), cls.dtype)
        for row in cls.table:
            if row.default is not None:
                cls.default[row.name] = row.default
            kind = _array if row.shape else (_text if row.dtype.startswith("S") else _scalar)
            setattr(cls, row.name, kind(row))

    @classmethod
    def at(cls, values: np.ndarray) -> Self:
        """Make a structure over existing memory: `values`, a NumPy structure of shape ()."""
        record = cls.__new__(cls)
        object.__setattr__(record, "values", values)
        return record

    def names(self) -> Iterator[str]:
        """Yield the names of all members."""
        return (row.name for row in self.table)

    def __setattr__(self, name: str, value: Any) -> None:
        # a class with a table has only its members; classes that a program derives from it accept any attribute
        if "table" in type(self).__dict__ and not hasattr(self, name):
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        object.__setattr__(self, name, value)

    def __copy__(self) -> Self:
        new = type(self).__new__(type(self))
        new.__dict__.update(self.__dict__)
        object.__setattr__(new, "values", self.values.copy())
        return new

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        return self.__copy__()

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, type(self)):
            return NotImplemented
        pairs = ((getattr(self, name), getattr(other, name)) for name in self.names())
        return all(np.array_equal(a, b) if isinstance(a, np.ndarray) else bool(a == b) for a, b in pairs)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        lines = [f"  {name}: {getattr(self, name)!r}" for name in sorted(self.names())]
        return "\n".join([f"<{type(self).__name__}", *lines, ">"])


def _array(row: Member) -> property:
    def put(record: VisualRecord, value: Any) -> None:
        getattr(record, row.name)[...] = value

    if row.name == "flags":
        return property(lambda record: in_process(record.values["flags"]), put, doc=row.doc)
    if row.name == "linedata":
        return property(lambda record: points_in_process(record.values["linedata"]), put, doc=row.doc)
    return property(lambda record: record.values[row.name], put, doc=row.doc)


def _text(row: Member) -> property:
    most = int(row.dtype[1:]) - 1

    def put(record: VisualRecord, value: str | bytes) -> None:
        encoded = value.encode() if isinstance(value, str) else value
        if not isinstance(encoded, bytes):
            raise TypeError(f"{row.name} should be a string, got {value!r}")
        if len(encoded) > most:
            raise ValueError(f"len({row.name}) cannot exceed {most}: got length {len(encoded)}")
        record.values[row.name] = encoded

    return property(lambda record: record.values[row.name].item().decode(), put, doc=row.doc)


def _scalar(row: Member) -> property:
    convert = float if row.dtype.startswith("f") else operator.index

    def put(record: VisualRecord, value: Any) -> None:
        try:
            record.values[row.name] = convert(value)
        except (TypeError, ValueError, OverflowError):
            wanted = "a number" if convert is float else "an integer"
            raise TypeError(f"{row.name} should be {wanted}, got {value!r}") from None

    return property(lambda record: record.values[row.name].item(), put, doc=row.doc)
