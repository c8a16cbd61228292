"""The base of all structs: attributes made from the table of the language, errors that suggest names."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from cardan.errors import MjcfError, suggestion
from cardan.spec.mjspec.values import to_tree, to_user

if TYPE_CHECKING:
    from cardan.spec.element import Element
    from cardan.spec.mjspec.defaults import DefaultEntry
    from cardan.spec.mjspec.specification import Specification
    from cardan.spec.schema.rows import Attribute, ElementRow

AnyStruct = TypeVar("AnyStruct")

# attributes of the language that structs represent in another way
_HANDLED = frozenset({"name", "class", "axisangle", "xyaxes", "zaxis", "euler"})
# assigned before others, whose meaning depends on them
_FIRST = ("type", "trntype", "objtype", "reftype")


class Field:
    """An attribute of a struct that is one attribute of the element."""

    def __init__(self, row: Attribute, name: str) -> None:
        self.row = row
        self.name = name
        self.__doc__ = row.meaning

    def __get__(self, struct: Struct | None, owner: type | None = None) -> Any:
        if struct is None:
            return self
        value = struct.read(self.row)
        return to_user(self.row, value, lambda new: struct.write(self.row, self.name, new))

    def __set__(self, struct: Struct, value: Any) -> None:
        struct.write(self.row, self.name, value)


def fields(row: ElementRow, drop: tuple[str, ...] = (), **names: str) -> Callable[[type[AnyStruct]], type[AnyStruct]]:
    """Class decorator: add a field for each attribute of ``row`` that the class does not define.

    ``names`` maps names of the language to names of MuJoCo's struct, ``drop`` are attributes with another form.
    """
    names.setdefault("user", "userdata")

    def decorate(cls: type[AnyStruct]) -> type[AnyStruct]:
        for attribute in row.attributes.values():
            name = names.get(attribute.name, attribute.name)
            if attribute.name not in _HANDLED and attribute.name not in drop and not hasattr(cls, name):
                setattr(cls, name, Field(attribute, name))
        return cls

    return decorate


class Struct:
    """One element of a model specification, with MuJoCo's attribute names.

    ``element`` is the corresponding element of the tree, ``spec`` the specification that contains it.
    """

    element: Any  # the tree's Element, or a DefaultEntry
    spec: Specification

    def __init__(self, spec: Specification, element: Element | DefaultEntry) -> None:
        object.__setattr__(self, "spec", spec)
        object.__setattr__(self, "element", element)

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.element!r}>"

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(self._no_attribute(name))

    def __setattr__(self, name: str, value: Any) -> None:
        if not hasattr(type(self), name):
            raise AttributeError(self._no_attribute(name))
        object.__setattr__(self, name, value)

    def _no_attribute(self, name: str) -> str:
        return f"{type(self).__name__} has no attribute '{name}'" + suggestion(name, self.attribute_names())

    @classmethod
    def attribute_names(cls) -> list[str]:
        """Names of the attributes that can be set."""
        names = {name: item for base in cls.__mro__ for name, item in vars(base).items()}
        return sorted(n for n, item in names.items() if isinstance(item, Field | property) and not n.startswith("_"))

    def read(self, row: Attribute) -> Any:
        """Return the resolved value of an attribute of the element, in the tree's form."""
        return self.element.resolved().get(row.name, row.default)

    def write(self, row: Attribute, name: str, value: Any) -> None:
        """Set an attribute of the element; ``name`` is the struct's name for it. Raises MjcfError for a bad value."""
        if row.name not in self.element.row.attributes:
            raise self.element.error(f"this kind of element has no {row.name}", name)
        try:
            converted = to_tree(row, value)
        except (TypeError, ValueError) as error:
            raise self.element.error(str(error), name) from None
        feature = row.later or (row.later_keywords.get(_written(row, converted)) if row.later_keywords else None)
        if feature and converted is not None:
            raise self.element.unsupported(feature, name)
        self.element[row.name] = converted

    def assign(self, values: Mapping[str, Any]) -> None:
        """Set several attributes; None leaves one unchanged. Raises TypeError for an unknown attribute."""
        known = type(self).attribute_names()
        for name in values:
            if name not in known and name not in _HANDLED:
                raise TypeError(self._no_attribute(name))
        for name in sorted(values, key=lambda name: name not in _FIRST):
            if values[name] is not None:
                target = self.alt if name in _HANDLED and name not in known else self
                setattr(target, name, values[name])

    def pending(self) -> MjcfError | None:
        """An error, to be raised by the caller, about missing parts of an incomplete element; else None."""
        return None


def _written(row: Attribute, value: Any) -> str:
    """Return the text of a value in MJCF."""
    if isinstance(value, bool):
        return next(word for word, truth in row.keywords.items() if truth is value)
    return str(value)


class Named(Struct):
    """A struct with a name and, if the language defines it, a default class."""

    @property
    def name(self) -> str:
        """Name of the element, empty if it has none."""
        return self.element.attributes.get("name") or ""

    @name.setter
    def name(self, value: str) -> None:
        if not isinstance(value, str):
            raise self.element.error(f"expected text, found {value!r}", "name")
        self.element["name"] = value or None

    @property
    def classname(self) -> Any:
        """The default class in use (``MjsDefault``); can be set to another class or its name."""
        return self.spec.find_default(self.element.default_class.name)

    @classname.setter
    def classname(self, value: Any) -> None:
        name = getattr(value, "name", value)
        if name not in self.spec.tree.defaults:
            known = suggestion(str(name), self.spec.tree.defaults.names())
            raise self.element.error(f"there is no default class '{name}'{known}", "classname")
        self.element["class"] = name

    @property
    def info(self) -> str:
        """File and line of the element's definition; empty if a program made it."""
        line = self.element.line
        return "" if line is None else f"{self.element.source}:{line}"

    @property
    def id(self) -> int:
        """Id of the element in the model compiled last, or -1 if that model does not contain it."""
        return self.spec.id_of(self.element)
