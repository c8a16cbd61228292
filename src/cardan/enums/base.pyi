"""What type checkers see of the enumerations: members are known by name, and go wherever an integer does."""

import enum

class MjEnumType(enum.EnumMeta): ...

class MjEnum(enum.IntEnum, metaclass=MjEnumType):
    def __setstate__(self, value: int) -> None: ...

def numbers(early: int | None, later: int | None) -> int: ...
