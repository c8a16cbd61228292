"""Base class of all enumerations: named numbers that behave like the enumerations of MuJoCo's Python package.

The standard library's enumerations differ from those: their members are integers, can be iterated and ordered, and take
four times as long to look up. Type checkers read ``base.pyi``.
"""

import operator
from collections.abc import Callable
from typing import Any, ClassVar

Operation = Callable[[Any, Any], Any]

UNKNOWN = "???"
"""Name of a number that is not a member of the enumeration."""


class _Members:
    """Descriptor of ``__members__``: returns a new dictionary of the members by name, for the class and for members."""

    def __get__(self, member: Any, enumeration: Any) -> dict[str, Any]:
        return dict(enumeration._members)


class Number(int):
    """Number of a member that has another number in MuJoCo 4.0, or belongs to one of the two versions only.

    The integer itself is the number in the engine, which is that of MuJoCo 3.1.6. Members that 3.1.6 lacks have numbers
    of Cardan's own if theirs of 4.0 are taken.
    """

    later: int | None
    early: int | None


def numbers(early: int | None, later: int | None) -> Number:
    """Return the number of a member: `early` in MuJoCo 3.1 and in the engine, `later` in 4.0; None: no such member."""
    number = Number(-1 if early is None else early)
    number.early, number.later = early, later
    return number


class _MemberOfOne:
    """Descriptor in place of a member that only the other version of MuJoCo has. Reading it raises AttributeError."""

    def __init__(self, name: str, version: str) -> None:
        self.name, self.version = name, version

    def __get__(self, member: Any, enumeration: Any) -> Any:
        raise AttributeError(
            f"{enumeration.__name__} has no member {self.name} in this version of MuJoCo: only with compat "
            f"{self.version}"
        )


class MjEnumType(type):
    """Metaclass that turns the integers in the body of an enumeration into its members.

    If members have other numbers in MuJoCo 4.0, the attribute `_later` is the enumeration with those numbers; otherwise
    it is the enumeration itself. Its attribute `_early` is the enumeration with the numbers of the engine.
    """

    _names: dict[int, str]
    _members: dict[str, Any]
    _later: "MjEnumType"
    _early: "MjEnumType"

    def __new__(mcs, name: str, bases: tuple[type, ...], body: dict[str, Any]) -> "MjEnumType":
        """Create a class: the base class, an enumeration, or a class derived from an enumeration."""
        if not any(type(base) is MjEnumType and not base._names for base in bases):
            return super().__new__(mcs, name, bases, body)
        # from Python 3.13 on, class bodies contain the number of their first line
        given = {key: value for key, value in body.items() if isinstance(value, int) and key[:2] != "__"}
        rest = {key: value for key, value in body.items() if key not in given}
        early = {key: n.early if isinstance(n, Number) else n for key, n in given.items()}
        later = {key: n.later if isinstance(n, Number) else n for key, n in given.items()}
        enumeration = mcs._with_members(name, bases, rest, early)
        enumeration._later = enumeration if later == early else mcs._with_members(name, bases, rest, later)
        enumeration._later._later = enumeration._later
        enumeration._early = enumeration._later._early = enumeration
        for owner, members, other in ((enumeration, early, "4.0"), (enumeration._later, later, "3.1")):
            for key in (key for key, value in members.items() if value is None):
                setattr(owner, key, _MemberOfOne(key, other))
        return enumeration

    @classmethod
    def _with_members(
        mcs, name: str, bases: tuple[type, ...], body: dict[str, Any], given: dict[str, int | None]
    ) -> "MjEnumType":
        """Create an enumeration with the given members, except those without a number."""
        members = {key: value for key, value in given.items() if value is not None}
        names: dict[int, str] = {}
        for key, value in members.items():
            names.setdefault(value, key)
        enumeration = super().__new__(mcs, name, bases, {"__slots__": (), "_names": names} | body)
        enumeration._members = {key: enumeration(value) for key, value in members.items()}
        for key, member in enumeration._members.items():
            setattr(enumeration, key, member)
        return enumeration

    def __dir__(cls) -> list[str]:
        """List the names of the class, except members of the other version."""
        return [name for name in super().__dir__() if not isinstance(vars(cls).get(name), _MemberOfOne)]


class MjEnum(metaclass=MjEnumType):
    """Number with a name.

    Members equal and hash like their values, can index sequences, and give plain numbers in arithmetic and bit
    operations. As in MuJoCo's package, they are not instances of `int`, have no order, and are always true (also the
    member of value 0). Their `str` is ``mjtGeom.mjGEOM_BOX``, and their `repr` is ``<mjtGeom.mjGEOM_BOX: 6>``.
    ``mjtGeom(6)`` returns a member by its number, and
    ``mjtGeom.__members__`` is the dictionary of all members by name. The class itself cannot be iterated.

    Args:
        value: number of the member, or an object that `int` converts, except strings and floating-point numbers.

    Raises:
        ValueError: no member has this number.
        TypeError: not a number.
    """

    __slots__ = ("__weakref__", "_value")

    _names: ClassVar[dict[int, str]] = {}
    _members: ClassVar[dict[str, Any]] = {}
    __members__ = _Members()

    def __init__(self, value: Any) -> None:
        number = value if type(value) is int else _integer(value)
        if number is None:
            raise TypeError(f"{type(self).__name__}(value) takes an integer, not {value!r}")
        if number not in self._names:
            valid = ", ".join(f"{number} ({name})" for number, name in self._names.items())
            raise ValueError(f"Invalid int value for {type(self).__name__}: {value}; valid values are {valid}")
        if not hasattr(self, "_value"):  # members never change
            self._value = number

    name = property(lambda self: self._names.get(self._value, UNKNOWN), doc="Name of the member.")
    value = property(operator.attrgetter("_value"), doc="Number of the member.")

    def __repr__(self) -> str:
        return f"<{type(self).__name__}.{self.name}: {self._value}>"

    def __str__(self) -> str:
        return f"{type(self).__name__}.{self.name}"

    def __hash__(self) -> int:
        return self._value

    def __eq__(self, other: object) -> bool:
        return bool(self._value == other)

    def __int__(self) -> int:
        return self._value

    __index__ = __int__

    def __neg__(self) -> int:
        return -self._value

    def __reduce__(self) -> tuple[Any, tuple[Any, ...]]:
        cls = type(self)
        if cls is cls._later and cls is not cls._early:
            return _later_member, (cls._early, self.name)
        return cls, (self._value,)

    def __getstate__(self) -> int:
        return self._value

    def __setstate__(self, value: int) -> None:
        """Restore a member from a pickle that MuJoCo's package wrote."""
        self.__init__(value)


def _later_member(enumeration: Any, name: str) -> MjEnum:
    """Return the member with a name in the numbering of MuJoCo 4.0, as pickles contain it."""
    return enumeration._later._members[name]


def _integer(value: Any) -> int | None:
    """Return an operand as an integer, or None if it cannot be converted (strings, floats, arrays with dimensions)."""
    kind = type(value)
    if isinstance(value, float) or getattr(value, "ndim", 0):
        return None
    return int(value) if hasattr(kind, "__int__") or hasattr(kind, "__index__") else None


def _real(value: Any) -> float | None:
    """Return an operand of a division as a float, or None if it cannot be converted."""
    kind = type(value)
    if (hasattr(kind, "__float__") or hasattr(kind, "__index__")) and not getattr(value, "ndim", 0):
        return float(value)
    return _integer(value)


def _number(value: Any) -> int | float | None:
    """Return an operand as a number, or None if it cannot be converted.

    Floats remain floats. All other operands are truncated to integers if possible.
    """
    if isinstance(value, float):
        return float(value)
    number = _integer(value)
    return _real(value) if number is None else number


def _method(operate: Operation, convert: Callable[[Any], Any]) -> Operation:
    def method(self: MjEnum, other: Any) -> Any:
        number = other if type(other) is int else convert(other)
        return NotImplemented if number is None else operate(self._value, number)

    return method


def _reflected(operate: Operation) -> Operation:
    return lambda right, left: operate(left, right)


def _add_arithmetic() -> None:
    """Add the operators of MuJoCo's enumerations to the base class: all except powers.

    Shifts are only added for a member on the left.
    """
    operators = dict.fromkeys(("add", "sub", "mul", "floordiv", "mod"), _number)
    operators |= {"truediv": _real} | dict.fromkeys(("and", "or", "xor"), _integer)
    for name, convert in operators.items():
        operate = getattr(operator, f"__{name}__")
        setattr(MjEnum, f"__{name}__", _method(operate, convert))
        setattr(MjEnum, f"__r{name}__", _method(_reflected(operate), convert))
    for name in ("lshift", "rshift"):
        setattr(MjEnum, f"__{name}__", _method(getattr(operator, name), _integer))


_add_arithmetic()
