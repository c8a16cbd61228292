"""Resolved values of many elements, one attribute at a time.

Most elements give few attributes and share a default class with others. A column of values is therefore cheap: an
attribute that no element gives has one value, or one for each class.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from cardan.spec.defaults import DefaultClass
    from cardan.spec.element import Element


class Resolved:
    """Values of attributes of several elements: explicit, else from the default class, else from the language.

    Attributes of actuators are not converted to the general form.

    Args:
        elements: the elements, which must not change meanwhile.
        bases: values of every attribute of each element that does not give it, if not those of the default classes.

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
        """Return the values of an attribute, one for each element; all elements must have the attribute."""
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
        """Return vectors at full length: a shorter one replaces the first values of the default (`overlay`)."""
        for i, value in enumerate(column):
            below = self._bases[i][name]
            if below is not None and value is not None and len(value) < len(below):
                column[i] = value + below[len(value) :]
        return column

    def get(self, name: str, missing: Any) -> list[Any]:
        """Return the values of an attribute, one for each element; ``missing`` for elements without it."""
        if name not in self._explicit and not any(name in base for base in self._distinct):
            return [missing] * len(self._bases)
        return [
            given[name] if name in given else base.get(name, missing)
            for given, base in zip(self.given, self._bases, strict=True)
        ]

    def any(self, name: str) -> bool:
        """Return False only if the attribute has a false value in all elements (True may be a false alarm)."""
        return name in self._explicit or any(base[name] for base in self._distinct)

    def any_but(self, name: str, value: Any) -> bool:
        """Return False only if the attribute equals `value` in all elements (True may be a false alarm)."""
        return name in self._explicit or any(base[name] != value for base in self._distinct)

    def one(self, number: int) -> dict[str, Any]:
        """Return the values of all attributes of one element."""
        return self.elements[number].resolved()


def bases_of(
    elements: Sequence[Element], defaults: Mapping[str, dict[str, Any]] = MappingProxyType({})
) -> list[dict[str, Any]]:
    """Return the default values of every attribute, for each element.

    ``defaults`` holds, by tag, values for elements without default classes that replace those of the language.
    """
    bases: list[dict[str, Any]] = []
    for element, cls in zip(elements, classes_of(elements), strict=True):
        row = element.row
        bases.append(defaults.get(row.tag, row.defaults) if cls is None else cls.base(row))
    return bases


def classes_of(elements: Sequence[Element]) -> list[DefaultClass | None]:
    """Return the default classes of elements; None for elements that cannot have one."""
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
