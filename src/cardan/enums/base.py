"""The base class of all enumerations: an `IntEnum` that behaves like the enumerations of MuJoCo's Python package."""

import enum
from typing import Any


class MjEnum(enum.IntEnum):
    """An integer with a name.

    Members equal and hash like their values, do arithmetic and bit operations as plain integers, and index arrays.
    As in MuJoCo's package, `str` gives `mjtGeom.mjGEOM_BOX`, every member is true (also the one with value 0), and
    `mjtGeom(99)` raises ValueError, `mjtGeom("box")` TypeError.
    """

    def __str__(self) -> str:
        return f"{type(self).__name__}.{self.name}"

    def __format__(self, format_spec: str) -> str:
        return format(self.value, format_spec) if format_spec else str(self)

    def __bool__(self) -> bool:
        return True

    @classmethod
    def _missing_(cls, value: object) -> Any:
        if not hasattr(value, "__index__"):
            raise TypeError(f"{cls.__name__}(value) takes an integer, not {value!r}")
        valid = ", ".join(f"{member.value} ({name})" for name, member in cls.__members__.items())
        raise ValueError(f"Invalid int value for {cls.__name__}: {value}; valid values are {valid}")
