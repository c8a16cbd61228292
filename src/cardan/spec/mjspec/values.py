"""Values of struct attributes: conversion from the tree's tuples and words to arrays and enumerations, and back.

Assigning to entries of an array or list changes the element, as in ``geom.size[0] = 1``.
"""

from __future__ import annotations

from collections.abc import Callable
from math import isnan
from operator import index
from typing import Any

import numpy as np

from cardan.enums import numbering
from cardan.errors import suggestion
from cardan.spec.schema.rows import OWN, Attribute, Type, counted

_INT_BOUND = 2**31


def shown(enumeration: Any, number: int) -> Any:
    """Return the member of an enumeration with a number of the engine, as the process's version of MuJoCo has it."""
    if not numbering.is_later():
        return enumeration(number)
    there = numbering.outward(enumeration).get(number)
    return enumeration(number) if there is None else numbering.shown(enumeration)(there)


def engine_number(enumeration: Any, value: Any) -> Any:
    """Return the number in the engine for a member, or for a number of the process's version of MuJoCo.

    Other values are returned as they are.
    """
    if isinstance(value, str) or enumeration is None or type(value) is enumeration or not numbering.is_later():
        return value
    return numbering.inward(enumeration).get(value, value)


class LiveArray(np.ndarray):
    """An array of an element's values. Assigning to entries or slices changes the element."""

    _whole: np.ndarray | None = None
    _write: Callable[[Any], None] | None = None

    def __array_finalize__(self, obj: Any) -> None:
        # views share the memory of the whole array; results of computations own theirs
        if isinstance(obj, LiveArray) and self.base is not None:
            self._whole, self._write = obj._whole, obj._write

    def __setitem__(self, key: Any, value: Any) -> None:
        super().__setitem__(key, value)
        if self._write is not None and self._whole is not None and np.shares_memory(self, self._whole):
            self._write(np.array(self._whole))


class MjDoubleVec(LiveArray):
    """Any number of real numbers."""


class MjFloatVec(LiveArray):
    """Any number of real numbers in single precision."""


class MjIntVec(LiveArray):
    """Any number of integers."""


class MjByteVec(LiveArray):
    """Any number of bytes."""


_BY_DTYPE: dict[Any, type[LiveArray]] = {np.float64: MjDoubleVec, np.float32: MjFloatVec, np.int32: MjIntVec}
"""Classes of arrays whose length is not fixed, by the type of their numbers."""


def live_array(values: Any, dtype: type, write: Callable[[Any], None], fixed: bool = True) -> LiveArray:
    """Return an array of the values, whose length is ``fixed`` or not. An assignment calls ``write`` with all values.

    Numbers in single precision are written as the shortest decimal number that is rounded to them.
    """
    array = np.array(values, dtype).view(LiveArray if fixed else _BY_DTYPE[dtype])
    array._whole, array._write = array, write if dtype is not np.float32 else lambda new: write(_shortest(new))
    return array


def as_single(value: Any) -> Any:
    """Return numbers in single precision as the shortest decimal numbers. Other values are returned as they are.

    A float that single precision represents counts as such a number.
    """
    if isinstance(value, float) and value == np.float32(value):
        return float(str(np.float32(value)))
    return _shortest(value) if isinstance(value, np.ndarray) and value.dtype == np.float32 else value


def _shortest(values: np.ndarray) -> list[float]:
    """Return the shortest decimal numbers that single precision rounds to the values."""
    return [float(str(value)) for value in values.ravel()]


class LiveList(list[Any]):
    """A list of an element's values. Assigning to entries and `append` change the element."""

    def __init__(self, values: Any, write: Callable[[list[Any]], None]) -> None:
        super().__init__(values)
        self._write = write

    def __setitem__(self, key: Any, value: Any) -> None:
        super().__setitem__(key, value)
        self._write(list(self))

    def append(self, value: Any) -> None:
        """Add a value at the end, and change the element."""
        super().append(value)
        self._write(list(self))


class MjStringVec(LiveList):
    """A list of names."""


class FixedList(MjStringVec):
    """A list of fixed length. Its indices must not be negative."""

    def __getitem__(self, key: Any) -> Any:
        return super().__getitem__(self._checked(key))

    def __setitem__(self, key: Any, value: Any) -> None:
        super().__setitem__(self._checked(key), value)

    def append(self, value: Any) -> None:
        """Raise TypeError: the length is fixed."""
        raise TypeError("the length of this list is fixed")

    def _checked(self, key: Any) -> Any:
        if isinstance(key, slice):
            return key
        place = index(key)
        if not 0 <= place < len(self):
            raise IndexError(f"Index out of range: {place}; expected 0 to {len(self) - 1}")
        return place


class MjCharVec(FixedList):
    """A list of letters."""


def letters_property(row: Attribute, count: int, exact: bool = False) -> property:
    """Return a property for a text of at most ``count`` letters, whose value is a list of letters.

    Letters that are not given are NUL characters. If ``exact`` is true, keyword arguments need all letters.
    """

    def get(self: Any) -> MjCharVec:
        text = (self.read(row) or "").ljust(count, "\0")
        return MjCharVec(text, lambda new: put(self, new))

    def put(self: Any, value: Any) -> None:
        given = list(value)
        if not all(isinstance(letter, str) and len(letter) == 1 for letter in given):
            raise ValueError(f"{row.name}: list elements must be single characters")
        if len(given) > count:
            raise ValueError(f"{row.name} may have at most {count} characters, got {len(given)}")
        self.write(row, row.name, "".join(given).rstrip("\0"))

    made = property(get, put, doc=row.meaning)
    if exact:
        EXACT_LENGTHS[made] = count
    return made


VECTORS = (MjDoubleVec, MjFloatVec, MjIntVec, MjByteVec, MjStringVec, MjCharVec)
"""Classes of arrays and lists."""

EXACT_LENGTHS: dict[property, int] = {}
"""Properties whose values need a fixed length in keyword arguments, with this length."""


# --- tree to user ----------------------------------------------------------------------------------------------------


def to_user(row: Attribute, value: Any, write: Callable[[Any], None], single: bool = False, plain: bool = False) -> Any:
    """Convert the tree's ``value`` of an attribute to the user's form. Arrays call ``write`` on assignment.

    Undefined real numbers become NaN, undefined integers 0, undefined names empty texts. Keywords with an enumeration
    become its members, or numbers if it has no member for them. Other keywords of MuJoCo become numbers, and those of
    Cardan remain words.

    Args:
        row: row of the attribute.
        value: its value in the tree.
        write: function that sets the attribute.
        single: whether real numbers have single precision.
        plain: whether keywords and truth values are plain numbers, as in structures that models have, too.
    """
    if row.type in (Type.REAL, Type.INT):
        blank = np.nan if row.type is Type.REAL else 0
        kind = np.int32 if row.type is Type.INT else np.float32 if single else np.float64
        if row.scalar or (row.polynomial and not isinstance(value, tuple)):
            return blank if value is None else float(np.float32(value)) if kind is np.float32 else value
        return live_array((blank,) * (row.high or 0) if value is None else value, kind, write, row.high is not None)
    if plain and row.type is Type.BOOL:
        return int(value)
    if row.type is Type.KEYWORD and value is not None:
        if row.since == OWN:
            return value
        enumeration = getattr(row.keywords, "enumeration", None)
        if plain or enumeration is None:
            return row.keywords[value]
        # some words of missing features have no number
        number = row.keywords.get(value, value) if enumeration else value
        return shown(enumeration, number) if enumeration and number in enumeration._names else number
    return "" if value is None else value


# --- user to tree ----------------------------------------------------------------------------------------------------


def to_tree(row: Attribute, value: Any) -> Any:
    """Convert a user's value of an attribute to the tree's form. None means "undefined".

    Raises:
        ValueError: the value is wrong. The message contains the expected form.
        TypeError: the value has a wrong type.
    """
    return None if value is None else _CONVERTERS[row.type](row, value)


def _reals(row: Attribute, value: Any) -> Any:
    """Convert to real numbers. NaN means "undefined" if the attribute can be undefined."""
    if isinstance(value, str | bytes):
        raise TypeError(f"expected numbers, found {value!r}")
    try:
        numbers = tuple(np.asarray(value, np.float64).ravel().tolist())
    except (TypeError, ValueError):
        raise TypeError(f"expected numbers, found {value!r}") from None
    # keyframes may leave out single entries; elsewhere NaN can only mean that nothing is given
    if any(map(isnan, numbers)) and row.high is not None:
        if row.default is None:
            return None
        raise ValueError("NaN is not a usable number")
    return _counted(row, numbers)


def _integers(row: Attribute, value: Any) -> Any:
    """Convert to 32-bit integers."""
    try:
        numbers = tuple(index(number) for number in np.ravel(np.asarray(value)).tolist())
    except TypeError:
        raise TypeError(f"expected integers, found {value!r}") from None
    if any(not -_INT_BOUND <= number < _INT_BOUND for number in numbers):
        raise ValueError("integers have 32 bits")
    return _counted(row, numbers)


def _counted(row: Attribute, numbers: tuple[Any, ...]) -> Any:
    """Check the number of values. Return them as a tuple, or a bare value if the attribute is a scalar."""
    low, high = row.low, row.high
    if high is not None and not low <= len(numbers) <= high:
        wanted = str(high) if low == high else f"{low} to {high}"
        raise ValueError(f"expected {wanted} number{'s' * (high > 1)}, found {len(numbers)}")
    if row.repeat and high is not None and 1 < len(numbers) < high:
        raise ValueError(f"expected 1 or {high} numbers, found {len(numbers)}")
    return counted(row, numbers)


def _truth(row: Attribute, value: Any) -> bool:
    """Convert True, False, 1 or 0 to bool. Raises TypeError for other values."""
    if isinstance(value, str) or value not in (0, 1):
        raise TypeError(f"expected True or False, found {value!r}")
    return value != 0  # members of enumerations are always true


def _word(row: Attribute, value: Any) -> str:
    """Return the keyword for ``value``: a keyword or a number of the attribute's enumeration."""
    if isinstance(value, str):
        if value not in row.keywords:
            raise TypeError(f"'{value}' is not one of its keywords" + suggestion(value, row.keywords))
        return value
    enumeration = getattr(row.keywords, "enumeration", None)
    wanted = engine_number(enumeration, value)
    word = next((word for word, number in row.keywords.items() if number == wanted), None)
    if word is None:
        names = getattr(enumeration, "_names", {})
        known = ", ".join(names.get(n, w) for w, n in row.keywords.items())
        raise ValueError(f"{value!r} is not one of its values; expected one of {known}")
    return word


def _words(row: Attribute, value: Any) -> tuple[str, ...] | None:
    """Convert a text or a sequence of keywords to a tuple of keywords. An empty value means "undefined"."""
    words = tuple(value.split() if isinstance(value, str) else value)
    return tuple(_word(row, word) for word in words) or None


def _text(row: Attribute, value: Any) -> str | None:
    """Return a text, or the name of a struct. An empty text means "undefined"."""
    name = getattr(value, "name", value)
    if not isinstance(name, str):
        raise TypeError(f"expected text, found {value!r}")
    return name or ("" if row.required and row.type is Type.STRING else None)


_CONVERTERS: dict[Type, Callable[[Attribute, Any], Any]] = {
    Type.REAL: _reals,
    Type.INT: _integers,
    Type.BOOL: _truth,
    Type.KEYWORD: _word,
    Type.KEYWORDS: _words,
    **dict.fromkeys((Type.STRING, Type.REFERENCE, Type.FILE), _text),
    Type.MEMORY: lambda row, value: index(value),  # bytes, or -1
}
