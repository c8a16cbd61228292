"""Default classes as structs: one struct for each kind of element that takes defaults."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from cardan.errors import MjcfError, UnsupportedFeature
from cardan.spec.mjspec.actuator import MjsActuator
from cardan.spec.mjspec.assets import MjsMaterial, MjsMesh
from cardan.spec.mjspec.placed import MjsCamera, MjsGeom, MjsJoint, MjsLight, MjsSite
from cardan.spec.mjspec.relations import EqualityDefault, MjsPair, MjsTendon
from cardan.spec.mjspec.struct import Struct
from cardan.spec.schema.language import DEFAULT

if TYPE_CHECKING:
    from cardan.spec.defaults import DefaultClass
    from cardan.spec.mjspec.specification import Specification
    from cardan.spec.tree import ModelTree

# struct of each entry, by the name that MuJoCo's struct has for it
_STRUCTS: dict[str, tuple[str, type[Struct]]] = {
    "joint": ("joint", MjsJoint),
    "geom": ("geom", MjsGeom),
    "site": ("site", MjsSite),
    "camera": ("camera", MjsCamera),
    "light": ("light", MjsLight),
    "mesh": ("mesh", MjsMesh),
    "material": ("material", MjsMaterial),
    "pair": ("pair", MjsPair),
    "equality": ("equality", EqualityDefault),
    "tendon": ("tendon", MjsTendon),
    "actuator": ("general", MjsActuator),
}


class DefaultEntry:
    """One entry of a default class in the form of an element that structs can read and write."""

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
        """The class itself."""
        return self.cls

    def resolved(self) -> dict[str, Any]:
        """Value of every attribute of an element of this class that sets none itself."""
        return {**self.row.defaults, **self.attributes}

    def __setitem__(self, name: str, value: Any) -> None:
        """Set a value, or remove it (None)."""
        if value is not None:
            self.cls.set(self.row, {name: value})
        elif name in self.attributes:
            self.cls.remove(self.row.tag, name)

    def error(self, message: str, attribute: str | None = None) -> MjcfError:
        """An error about this entry."""
        return MjcfError(message, None, None, f"default class='{self.cls.name}': {self.row.tag}", attribute)

    def unsupported(self, feature: str, attribute: str | None = None) -> UnsupportedFeature:
        """Return an error about a feature that this entry needs and that is not supported yet."""
        return UnsupportedFeature(f"{feature} is not supported yet", None, None, f"default {self.row.tag}", attribute)


class MjsDefault:
    """A default class: ``default.geom.rgba = ...``. Changes apply to elements of the class when they are compiled."""

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
        """Name of the class; only the global class can be renamed."""
        return self.cls.name

    @name.setter
    def name(self, value: str) -> None:
        if self.cls.parent is not None:
            raise MjcfError(f"default class '{self.cls.name}' is in use: only the global class can be renamed")
        self.spec.tree.defaults.rename_main(value)


def _entry(name: str) -> property:
    """Return a property for one entry of a default class."""
    tag, struct = _STRUCTS[name]

    def get(self: MjsDefault) -> Struct:
        return struct(self.spec, DefaultEntry(self.spec.tree, self.cls, tag))

    return property(get, doc=f"Defaults of {name} elements.")


for _name in _STRUCTS:
    setattr(MjsDefault, _name, _entry(_name))
