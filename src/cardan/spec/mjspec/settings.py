"""Structs for settings (physics options, compiler, visual settings, statistics) and for default classes."""

from __future__ import annotations

from operator import index
from typing import TYPE_CHECKING, Any

from cardan.enums.flags import flags_inward, flags_outward
from cardan.errors import MjcfError
from cardan.spec.mjspec.struct import Form, Named, Struct, fields, struct_class
from cardan.spec.mjspec.values import letters_property
from cardan.spec.schema.keywords import DISABLE_FLAGS, ENABLE_FLAGS, Words
from cardan.spec.schema.language import DEFAULT
from cardan.spec.schema.relations import EQUALITY_SHARED
from cardan.spec.schema.rows import ElementRow, element
from cardan.spec.schema.settings import COMPILER, FLAG, LENGTH_RANGE_ROW, OPTION, STATISTIC, VISUAL

if TYPE_CHECKING:
    from cardan.spec.defaults import DefaultClass
    from cardan.spec.mjspec.specification import Specification
    from cardan.spec.tree import ModelTree


def _engine_flags(option: Struct) -> tuple[int, int]:
    """Return ``disableflags`` and ``enableflags`` of the options, in bits of the engine."""
    flags = option.element.child("flag").resolved()
    disable = sum(bit for flag, bit in DISABLE_FLAGS.items() if not flags[flag])
    return disable, sum(bit for flag, bit in ENABLE_FLAGS.items() if flags[flag])


def _unknown(option: Struct, name: str, flags: Words, bits: int) -> MjcfError:
    """Return an error about bits without a flag, or about the missing feature of the first of these bits."""
    members = getattr(flags.enumeration, "_members", {})
    words = [key[len("mjXXXX_") :].lower() for key, member in members.items() if int(member) & bits]
    row = next((FLAG.attributes[word] for word in words if word in FLAG.attributes), None)
    if row is not None and row.later:
        return option.element.unsupported(row.later, name)
    return option.element.error(f"unknown bits {bits:#x}", name)


def _flags(name: str, doc: str) -> property:
    """Return the property for ``disableflags`` or ``enableflags``, in bits that programs see."""
    place = ("disableflags", "enableflags").index(name)

    def get(self: Struct) -> int:
        return flags_outward(*_engine_flags(self))[place]

    def put(self: Struct, value: int) -> None:
        seen, before = list(flags_outward(*_engine_flags(self))), _engine_flags(self)
        seen[place] = index(value)
        try:
            after = flags_inward(*seen)
        except ValueError as error:
            raise self.element.error(str(error), name) from None
        for flags, old, new, truth in zip((DISABLE_FLAGS, ENABLE_FLAGS), before, after, (False, True), strict=True):
            unknown = new & ~old & ~sum(flags.values())
            if unknown:
                raise _unknown(self, name, flags, unknown)
            for flag, bit in flags.items():
                if (old ^ new) & bit:
                    self.write(FLAG.attributes[flag], name, (new & bit != 0) is truth, "flag")

    return property(get, put, doc=doc)


def _groups_of(bits: int) -> tuple[int, ...] | None:
    return tuple(group for group in range(31) if bits >> group & 1) or None


@fields(
    OPTION,
    actuatorgroupdisable=Form("disableactuator", lambda groups: sum(1 << group for group in groups or ()), _groups_of),
)
class MjsOption(Struct):
    """Physics options, with the names of ``mjOption``. ``disableactuator`` has one bit for each actuator group."""

    plain = True
    disableflags = _flags("disableflags", "Bits (``mjtDisableBit``) of the disabled features.")
    enableflags = _flags("enableflags", "Bits (``mjtEnableBit``) of the enabled features.")


def _section(struct: type[Struct], row: ElementRow) -> property:
    """Return a property for a part of a section. Its value is a struct."""
    return property(lambda self: struct(self.spec, self.element.child(row.tag)), doc=row.meaning)


MjsLROpt = struct_class("MjsLROpt", LENGTH_RANGE_ROW, Struct, plain=True)
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


VISUAL_GROUPS: dict[str, type[Struct]] = {}
"""Classes of the groups of visual settings, by name."""

for _tag, _row in VISUAL.children.items():
    _group = struct_class("MjVisual" + _tag.capitalize(), _row, Struct, plain=True, single=tuple(_row.attributes))
    setattr(MjsVisual, _tag, _section(_group, _row))
    VISUAL_GROUPS[_group.__name__] = _group
setattr(MjsVisual, "global_", vars(MjsVisual)["global"])  # noqa: B010


# --- default classes -------------------------------------------------------------------------------------------------


@fields(element("equality", "", EQUALITY_SHARED))
class EqualityDefault(Named):
    """Attributes that all types of equality constraints share. Default classes can set these."""

    absent = dict.fromkeys(
        ("type", "objtype", "name1", "name2", "data"), "default classes have what all equality constraints share"
    )


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

    def __getattr__(self, name: str) -> Any:
        if name == "flex":
            raise AttributeError("MjsDefault.flex is not supported: MJCF has no defaults of flexes")
        raise AttributeError(f"MjsDefault has no attribute '{name}'")

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
