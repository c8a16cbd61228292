"""Conversion of numbers of members between the engine and the version of MuJoCo that the process uses.

Arrays, options and files of the engine contain numbers of MuJoCo 3.1.6. In a process with compat 4.0, programs see and
set the numbers of 4.0.0, so that they equal the members of the enumerations that the program imports.
"""

from __future__ import annotations

from functools import cache
from typing import Any

from cardan.compat import VERSIONS, get_compat
from cardan.enums.base import MjEnum


def is_later() -> bool:
    """Return whether the process uses the numbers of MuJoCo 4.0 (see `cardan.set_compat`)."""
    return get_compat() != VERSIONS[0]


def later(enumeration: type[MjEnum]) -> Any:
    """Return the enumeration with the numbers of MuJoCo 4.0."""
    return enumeration._later  # type: ignore[attr-defined]


def shown(enumeration: type[MjEnum]) -> type[Any]:
    """Return the enumeration with the numbers that the process uses; the argument has those of the engine."""
    return later(enumeration) if is_later() else enumeration


@cache
def outward(enumeration: Any) -> dict[int, int]:
    """Return the number in MuJoCo 4.0 by the number in the engine, for members that both have."""
    numbers: dict[int, int] = {}
    for before, after in _pairs(enumeration):
        numbers.setdefault(before, after)
    return numbers


@cache
def inward(enumeration: Any) -> dict[int, int]:
    """Return the number in the engine by the number in MuJoCo 4.0, for members that both have."""
    numbers: dict[int, int] = {}
    for before, after in _pairs(enumeration):
        numbers.setdefault(after, before)
    return numbers


def _pairs(enumeration: Any) -> list[tuple[int, int]]:
    """Return the numbers, in the engine and in MuJoCo 4.0, of members that both have.

    Counts of members, such as `mjNENABLE`, are last and may equal the number of a member.
    """
    members = later(enumeration)._members
    return [(int(member), int(members[key])) for key, member in enumeration._members.items() if key in members]


def bits_inward(enumeration: Any, bits: int) -> int:
    """Convert a combination of bits from MuJoCo 4.0 to the engine; raise ValueError for bits without a member."""
    table = inward(enumeration)
    unknown = bits & ~sum(bit for bit in table if bit & (bit - 1) == 0)
    if unknown:
        raise ValueError(f"{enumeration.__name__} has no members with the bits {unknown:#x}")
    return _bits(table, bits)


def bits_outward(enumeration: Any, bits: int) -> int:
    """Convert a combination of bits from the engine to MuJoCo 4.0; bits that 4.0 lacks are left out."""
    return _bits(outward(enumeration), bits)


def bits_of(enumeration: Any, value: Any) -> int:
    """Convert a member, or a combination of bits in the numbers of the process, to the bits of the engine.

    Raises:
        ValueError: the enumeration has no members with some of the bits.
    """
    if isinstance(value, MjEnum) and value.name in enumeration._members:
        return int(enumeration._members[value.name])
    return bits_inward(enumeration, int(value)) if is_later() else int(value)


def _bits(table: dict[int, int], bits: int) -> int:
    return sum(other for bit, other in table.items() if bit & (bit - 1) == 0 and bits & bit)
