"""Resolved values of many elements, an attribute at a time.

Most elements give few attributes, and share a default class with others. So a column of values costs little: that of an
attribute which no element gives is one value, or one a class.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from cardan.spec.defaults import DefaultClass
    from cardan.spec.element import Element


class Resolved:
    """Values of attributes of several elements: explicit, else of the default class, else of the language.

    Actuators don't come in their general form.

    Args:
        elements: the elements, which nobody changes meanwhile.
        bases: values of every attribute of each element when it gives none, if the default classes don't tell.

    Attributes:
        elements: the elements.
        given: their explicit attributes.
    """

    __slots__ = ("_bases", "_distinct", "_explicit", "_partial", "elements", "given")

    def __init__(self, elements: Sequence[Element], bases: list[dict[str, Any]] | None = None) -> None:
        self.elements = elements
        self.given = [element.attributes for element in elements]
        self._bases = bases_of(elements) if bases is None else bases
        self._distinct = [*{id(base): base for base in self._bases}.values()]
        self._explicit: set[str] = set().union(*self.given)
        rows = {element.row for element in elements}
        self._partial: frozenset[str] = frozenset().union(*(row.partial for row in rows))

    def __len__(self) -> int:
        return len(self.elements)

    def __getitem__(self, name: str) -> list[Any]:
        """Values of an attribute, one for each element; it must be one of all of them."""
        bases = self._bases
        if name not in self._explicit:
            if len(self._distinct) == 1:
                return [bases[0][name]] * len(bases)
            return [base[name] for base in bases]
        if len(self._distinct) == 1:
            default = bases[0][name]
            column = [given.get(name, default) for given in self.given]
        else:
            column = [
                given[name] if name in given else base[name] for given, base in zip(self.given, bases, strict=True)
            ]
        return self._completed(name, column) if name in self._partial else column

    def _completed(self, name: str, column: list[Any]) -> list[Any]:
        """Vectors at full length: one that is given in part overwrites the first values of the default (`overlay`)."""
        for i, value in enumerate(column):
            below = self._bases[i][name]
            if below is not None and value is not None and len(value) < len(below):
                column[i] = value + below[len(value) :]
        return column

    def get(self, name: str, missing: Any) -> list[Any]:
        """Values of an attribute, one for each element; ``missing`` for elements that have no such attribute."""
        if name not in self._explicit and not any(name in base for base in self._distinct):
            return [missing] * len(self._bases)
        return [
            given[name] if name in given else base.get(name, missing)
            for given, base in zip(self.given, self._bases, strict=True)
        ]

    def any(self, name: str) -> bool:
        """Whether the attribute may have a value that isn't false in some element; if not, it surely has none."""
        return name in self._explicit or any(base[name] for base in self._distinct)

    def any_but(self, name: str, value: Any) -> bool:
        """Whether the attribute may have another value than this in some element; if not, it surely has none."""
        return name in self._explicit or any(base[name] != value for base in self._distinct)

    def one(self, number: int) -> dict[str, Any]:
        """Values of all attributes of one element."""
        return self.elements[number].resolved()


def bases_of(
    elements: Sequence[Element], defaults: Mapping[str, dict[str, Any]] = MappingProxyType({})
) -> list[dict[str, Any]]:
    """Values of every attribute when elements give none, for each of them.

    ``defaults`` are those of elements without default classes, by tag, where the language's won't do.
    """
    bases: list[dict[str, Any]] = []
    for element, cls in zip(elements, classes_of(elements), strict=True):
        row = element.row
        bases.append(defaults.get(row.tag, row.defaults) if cls is None else cls.base(row))
    return bases


def classes_of(elements: Sequence[Element]) -> list[DefaultClass | None]:
    """The default classes of elements; None for those that can have none."""
    classes: list[DefaultClass | None] = []
    around: Element | None = None
    inherited: DefaultClass | None = None
    for element in elements:
        if not element.row.entry:
            classes.append(None)
        elif element.attributes.get("class"):
            classes.append(element.default_class)
        else:
            if element.parent is not around or inherited is None:
                around, inherited = element.parent, element.default_class
            classes.append(inherited)
    return classes
