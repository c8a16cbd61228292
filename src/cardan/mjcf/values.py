"""Conversion of attribute text to typed values (numbers, words, names), as specified by the attribute's row."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from math import inf, isinf
from typing import Any

from cardan.errors import suggestion
from cardan.spec.schema.rows import Attribute, ElementRow, Type, counted

_PLAIN_REAL = "0123456789+-.eE \t\r\n"  # text of only these characters is either read correctly by `float` or wrong
_PLAIN_INT = "0123456789+- \t\r\n"
_INT_BOUND = 2**31
_SIZE_BOUND = 2**63
_SUFFIX = {suffix: 1024**power for power, suffix in enumerate("KMGTPE", start=1)}


def parse_value(row: Attribute, text: str) -> Any:
    """Return the typed value of an attribute from its text. Raises ValueError with the expected form."""
    return _PARSERS[row.type](row, text)


_SHORT = 40  # longest text, in characters, whose value is cached
_MANY = 2000  # number of cached values for each attribute


class Known(dict[str, Any]):
    """Cache of an attribute's values, by their text. Only short texts are cached.

    Values that are not in the cache are read by the fast reader of the attribute (see `known_values`).
    """

    __slots__ = ("_reader",)

    def __init__(self, reader: Callable[[str], Any]) -> None:
        self._reader = reader

    def __missing__(self, text: str) -> Any:
        """Read and cache the value of a text. Raises KeyError if the fast reader cannot read it."""
        value = self._reader(text)
        if value is None:
            raise KeyError(text)
        if len(text) <= _SHORT:
            if len(self) >= _MANY:
                self.clear()
            self[text] = value
        return value

    def read(self, text: str) -> Any:
        """Return the value of a text, or None if the fast reader cannot read it."""
        try:
            return self[text]
        except KeyError:
            return None


@cache
def known_values(row: ElementRow) -> dict[str, Known]:
    """Return caches of values by attribute name, for the attributes of an element that have a fast reader.

    Fast readers accept only simple notation and return None for any other text. `parse_value` then finds the value or
    raises an error.
    """
    return {
        name: Known(_PLAIN[attribute.type](attribute))
        for name, attribute in row.attributes.items()
        if attribute.type in _PLAIN
        and not (attribute.alias or attribute.repeat or attribute.scales or attribute.has_later)
    }


def _plain_real(row: Attribute) -> Callable[[str], Any]:
    """Return a fast reader of real numbers. For a polynomial, the reader accepts only a single coefficient."""
    low, high, scalar = max(row.low, 1), row.high, row.scalar or row.polynomial

    def read(text: str) -> Any:
        if text.strip(_PLAIN_REAL):
            return None
        try:
            values = (float(text),) if scalar else tuple(map(float, text.split()))
        except ValueError:
            return None
        if inf in values or -inf in values:  # overflow
            return None
        if scalar:
            return values[0]
        return values if low <= len(values) and (high is None or len(values) <= high) else None

    return read


_PLAIN: dict[Type, Callable[[Attribute], Callable[[str], Any]]] = {
    Type.REAL: _plain_real,
    # a single integer with few digits
    Type.INT: lambda row: (
        lambda text: int(text) if row.scalar and text.isdecimal() and text.isascii() and len(text) < 9 else None
    ),
    Type.BOOL: lambda row: row.keywords.get,
    Type.KEYWORD: lambda row: {word: word for word in row.keywords}.get,
    # texts that are not empty
    **dict.fromkeys((Type.STRING, Type.REFERENCE, Type.FILE), lambda row: lambda text: text or None),
}


def _parse_real(row: Attribute, text: str) -> float | tuple[float, ...]:
    """Parse real numbers that are separated by white space."""
    tokens = text.split()
    try:
        values = () if text.strip(_PLAIN_REAL) else tuple(map(float, tokens))
    except ValueError:
        values = ()
    if not values or inf in values or -inf in values:
        values = tuple(_real(token) for token in tokens)
    return _counted(row, values, "number")


def _real(token: str) -> float:
    """Parse one real number: decimal, hexadecimal, inf or nan."""
    word = token.lower().lstrip("+-")
    if word in ("inf", "nan"):
        return float(token)
    if "," in token:
        raise ValueError(f"'{token}' is not a number; numbers are separated by spaces, not commas")
    try:
        if "_" in token or not token.isascii():
            raise ValueError
        value = float.fromhex(token) if word.startswith("0x") else float(token)
    except (ValueError, OverflowError):
        raise ValueError(f"'{token}' is not a number") from None
    if isinf(value):
        reason = "a number is expected" if "inf" in word else "it is too large"
        raise ValueError(f"'{token}' is out of range: {reason}")
    return value


def _parse_int(row: Attribute, text: str) -> int | tuple[int, ...]:
    """Parse 32-bit integers that are separated by white space, or one of the attribute's keywords."""
    if text in row.keywords:
        return row.keywords[text]
    tokens = text.split()
    if text.strip(_PLAIN_INT):
        bad = next((token for token in tokens if token.strip(_PLAIN_INT)), text)
        raise ValueError(f"'{bad}' is not an integer")
    values = []
    for token in tokens:
        try:
            values.append(int(token))
        except ValueError:
            raise ValueError(f"'{token[:40]}' is not an integer") from None
        if not -_INT_BOUND <= values[-1] < _INT_BOUND:
            raise ValueError(f"{token} is out of range: integers have 32 bits")
    return _counted(row, tuple(values), "integer")


def _counted(row: Attribute, values: tuple[Any, ...], noun: str) -> Any:
    """Check the number of values. Return them as a tuple, or a bare value if the attribute is a scalar.

    Raises:
        ValueError: the number is wrong; the message gives the expected number.
    """
    count, low, high = len(values), row.low, row.high
    if count < max(low, 1) or (high is not None and count > high):
        if high is None:
            wanted = f"at least {max(low, 1)} {noun}s" if low > 1 else f"one or more {noun}s"
        elif low == high:
            wanted = f"{high} {noun}" + "s" * (high > 1)
        else:
            wanted = f"{low} to {high} {noun}s"
        raise ValueError(f"expected {wanted}, found {count or 'none'}")
    return counted(row, values)


def _parse_keyword(row: Attribute, text: str) -> str:
    """Parse one of the attribute's keywords."""
    if text not in row.keywords:
        raise ValueError(f"'{text}' is not one of its keywords" + suggestion(text, row.keywords))
    return text


def _parse_keywords(row: Attribute, text: str) -> tuple[str, ...]:
    """Parse several of the attribute's keywords. No keyword may occur twice. An empty text means the default."""
    words = tuple(text.split())
    for place, word in enumerate(words):
        _parse_keyword(row, word)
        if word in words[:place]:
            raise ValueError(f"'{word}' occurs twice")
    return words or row.default


def _parse_memory(row: Attribute, text: str) -> int:
    """Parse a number of bytes with an optional unit suffix. -1 means automatic."""
    token = text.strip()
    if token == "-1":
        return -1
    suffix = token[-1:].upper()
    scale = _SUFFIX.get(suffix, 1)
    digits = token[:-1] if suffix in _SUFFIX else token
    if not (digits.isascii() and digits.isdigit()):
        raise ValueError(f"'{text}' is not a memory size; expected a whole number with an optional K, M, G, T, P or E")
    # a number of more than 19 digits is too large with any suffix
    if len(digits) > 19 or int(digits) * scale >= _SIZE_BOUND:
        raise ValueError(f"'{text}' is too large for a memory size")
    return int(digits) * scale


_PARSERS: dict[Type, Callable[[Attribute, str], Any]] = {
    Type.REAL: _parse_real,
    Type.INT: _parse_int,
    Type.BOOL: lambda row, text: row.keywords[_parse_keyword(row, text)],
    Type.KEYWORD: _parse_keyword,
    Type.KEYWORDS: _parse_keywords,
    **dict.fromkeys((Type.STRING, Type.REFERENCE, Type.FILE), lambda row, text: text),
    Type.MEMORY: _parse_memory,
}
