"""Structs for settings (physics options, compiler, visual settings, statistics) and for default classes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from cardan.enums.numbering import bits_of
from cardan.errors import MjcfError
from cardan.spec.mjspec.struct import Form, Named, Struct, fields, struct_class
from cardan.spec.mjspec.values import letters_property, shown_bits
from cardan.spec.schema.keywords import DISABLE_FLAGS, ENABLE_FLAGS, Words
from cardan.spec.schema.language import DEFAULT
from cardan.spec.schema.relations import EQUALITY_SHARED
from cardan.spec.schema.rows import ElementRow, element
from cardan.spec.schema.settings import COMPILER, FLAG, LENGTH_RANGE_ROW, OPTION, STATISTIC, VISUAL

if TYPE_CHECKING:
    from cardan.spec.defaults import DefaultClass
    from cardan.spec.mjspec.specification import Specification
    from cardan.spec.tree import ModelTree


def _flags(bits: Words, truth: bool, name: str, doc: str) -> property:
    """Return a property that combines flags into one number. ``bits`` has the bit of each flag.

    A bit is set if the value of its flag is ``truth``.
    """

    def get(self: Struct) -> int:
        flags = self.element.child("flag").resolved()
        return shown_bits(bits.enumeration, sum(bit for flag, bit in bits.items() if flags[flag] is truth))

    def put(self: Struct, value: int) -> None:
        number = bits_of(bits.enumeration, value)
        if number & ~sum(bits.values()):
            raise self.element.error(f"unknown bits in {number:#x}", name)
        for flag, bit in bits.items():
            self.write(FLAG.attributes[flag], name, (number & bit != 0) is truth, "flag")

    return property(get, put, doc=doc)


def _groups_of(bits: int) -> tuple[int, ...] | None:
    return tuple(group for group in range(31) if bits >> group & 1) or None


@fields(
    OPTION,
    actuatorgroupdisable=Form("disableactuator", lambda groups: sum(1 << group for group in groups or ()), _groups_of),
)
class MjsOption(Struct):
    """Physics options, with the names of ``mjOption``. ``disableactuator`` has one bit for each actuator group."""

    disableflags = _flags(DISABLE_FLAGS, False, "disableflags", "Bits (``mjtDisableBit``) of the disabled features.")
    enableflags = _flags(ENABLE_FLAGS, True, "enableflags", "Bits (``mjtEnableBit``) of the enabled features.")


def _section(struct: type[Struct], row: ElementRow) -> property:
    """Return a property for a part of a section. Its value is a struct."""
    return property(lambda self: struct(self.spec, self.element.child(row.tag)), doc=row.meaning)


MjsLROpt = struct_class("MjsLROpt", LENGTH_RANGE_ROW, Struct)
MjsStatistic = struct_class("MjsStatistic", STATISTIC, Struct)  # NaN: computed


@fields(COMPILER, angle=Form("degree", lambda word: word == "degree", lambda truth: "degree" if truth else "radian"))
class MjsCompiler(Struct):
    """Compiler settings."""

    eulerseq = letters_property(COMPILER.attributes["eulerseq"], 3)

    @property
    def authored(self) -> int:
        """Bits of the compiler settings that the file gives (see `MjsAuthored`)."""
        return self.spec._compiler_bits

    LRopt = _section(MjsLROpt, LENGTH_RANGE_ROW)


class MjsVisual(Struct):
    """Visual settings, in groups: ``global_``, ``quality``, ``headlight``, ``map``, ``scale``, ``rgba``."""


for _tag, _row in VISUAL.children.items():
    _group = struct_class("MjsVisual" + _tag.capitalize(), _row, Struct)
    setattr(MjsVisual, _tag, _section(_group, _row))
setattr(MjsVisual, "global_", vars(MjsVisual)["global"])  # noqa: B010


# --- default classes -------------------------------------------------------------------------------------------------


@fields(element("equality", "", EQUALITY_SHARED))
class EqualityDefault(Named):
    """Attributes that all types of equality constraints share. Default classes can set these."""


class DefaultEntry:
    """One entry of a default class, with the interface of an element. Structs can read and write entries."""

    def __init__(self, tree: ModelTree, cls: DefaultClass, tag: str) -> None:
        self.tree = tree
        self.cls = cls
        self.row = DEFAULT.children[tag]
        self.parent = None
        self.children: tuple[()] = ()
        self.source = self.line = None

    def __repr__(self) -> str:
        return f"default class '{self.cls.name}' {self.row.tag}"

    @property
    def attributes(self) -> dict[str, Any]:
        """Values that the class or one of its ancestors sets."""
        return self.cls.entries.get(self.row.tag, {})

    @property
    def default_class(self) -> DefaultClass:
        """Default class that contains this entry."""
        return self.cls

    def resolved(self) -> dict[str, Any]:
        """Return the values of all attributes for an element of this class without explicit attributes."""
        return {**self.row.defaults_in(self.tree.compat), **self.attributes}

    def __setitem__(self, name: str, value: Any) -> None:
        """Set the value of an attribute. None removes the value."""
        if value is not None:
            self.cls.set(self.row, {name: value})
        elif name in self.attributes:
            self.cls.remove(self.row.tag, name)

    def error(self, message: str, attribute: str | None = None) -> MjcfError:
        """Return an error about this entry, to be raised by the caller."""
        return MjcfError(message, None, None, f"default class='{self.cls.name}': {self.row.tag}", attribute)


class MjsDefault:
    """A default class: ``default.geom.rgba = ...``. Changes take effect when elements of the class are compiled."""

    def __init__(self, spec: Specification, cls: DefaultClass) -> None:
        self.spec = spec
        self.cls = cls

    def __repr__(self) -> str:
        return f"<MjsDefault {self.cls.name!r}>"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, MjsDefault) and other.cls is self.cls

    def __hash__(self) -> int:
        return hash(id(self.cls))

    @property
    def name(self) -> str:
        """Name of the class. Only the global class can be renamed."""
        return self.cls.name

    @name.setter
    def name(self, value: str) -> None:
        if self.cls.parent is not None:
            raise MjcfError(f"default class '{self.cls.name}' is in use: only the global class can be renamed")
        self.spec.tree.defaults.rename_main(value)


def default_entry(name: str, tag: str, struct: type[Struct]) -> property:
    """Return a property for the defaults of one kind of element. ``tag`` is the tag of its entry in ``<default>``."""

    def get(self: MjsDefault) -> Struct:
        return struct(self.spec, DefaultEntry(self.spec.tree, self.cls, tag))

    return property(get, doc=f"Defaults of {name} elements.")
