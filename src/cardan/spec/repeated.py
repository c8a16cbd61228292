"""Repeated elements: elements that a macro makes many times, stored as one template and the values that differ.

A sheet of several hundred particles has several thousand elements that differ only in names and positions. Until a
program accesses the attributes or children of such an element, the element consists of a pattern and a few values. The
compiler fills its columns from these values, and reads the pattern's template (``model``) once. On first access, the
element gets ordinary attributes and children.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeVar, cast

from cardan.spec.element import Element

OWN = -1
"""Number of the element itself among the parts of a pattern."""
TIE = (OWN, "name"), (0, "site"), (1, "site")
"""Blanks of a tendon between two sites: the name of the tendon, and the names of the sites."""


class Pattern:
    """Common content of repeated elements: a template with *blanks*, which are attributes that differ between elements.

    The *parts* of the template are the template itself (number `OWN`) and its children (numbers from 0).

    Attributes:
        model: the template, an element with its children. Its parent is the parent of the repeated elements, but does
            not list it as a child. The children have no content; an ``inertial`` has no blanks.
        blanks: for each blank, the number of its part and the name of the attribute.
        names: children whose names differ, with the index of the name among the values of a repeated element.
        varied: numbers of children that differ in more than names.
        moves_only: whether the repeated elements themselves differ in name and position, and in nothing else.
    """

    __slots__ = ("_places", "blanks", "model", "moves_only", "names", "varied")

    def __init__(self, model: Element, blanks: Sequence[tuple[int, str]]) -> None:
        self.model = model
        self.blanks = tuple(blanks)
        self._places = {blank: place for place, blank in enumerate(self.blanks)}
        inside = [(self.part(number), place) for (number, name), place in self._places.items() if name == "name"]
        self.names = {part: place for part, place in inside if part is not model}
        self.moves_only = {name for number, name in self.blanks if number == OWN} == {"name", "pos"}
        self.varied = {number for number, name in self.blanks if number != OWN and name != "name"}

    def place(self, part: int, name: str) -> int | None:
        """Return the index of a part's attribute among an element's values, or None if the attribute is not a blank."""
        return self._places.get((part, name))

    def part(self, number: int) -> Element:
        """Return the part of the template with this number."""
        return self.model if number == OWN else self.model.children[number]

    def varies(self, part: Element) -> bool:
        """Return whether a child of the template differs between elements in more than its name."""
        return any(self.part(number) is part for number in self.varied)

    def parts(self) -> list[tuple[int, Element]]:
        """Return the template and its children, each with its number."""
        return [(OWN, self.model), *enumerate(self.model.children)]


class Repeated(Element):
    """An element that repeats a pattern.

    Attributes:
        pattern: the pattern, or None after the first access to attributes or children.
        values: a value for each blank of the pattern.
    """

    __slots__ = ("values",)

    def __init__(self, pattern: Pattern, values: tuple[Any, ...]) -> None:
        model = pattern.model
        self.row, self.tree, self.parent = model.row, model.tree, model.parent
        self.source, self.line = model.source, model.line
        self.pattern, self.values = pattern, values

    def __getattr__(self, name: str) -> Any:
        """Create attributes and children on first access."""
        if name not in ("attributes", "children") or self.pattern is None:
            raise AttributeError(f"'{type(self).__name__}' has no '{name}' here")
        pattern, tree, model = self.pattern, self.tree, self.pattern.model
        self.attributes = dict(model.attributes)
        self.children = [
            Element(part.row, tree, self, dict(part.attributes), part.source, part.line) for part in model.children
        ]
        self.pattern = None
        for (number, blank), value in zip(pattern.blanks, self.values, strict=True):
            part = self if number == OWN else self.children[number]
            part.attributes[blank] = value
        return getattr(self, name)

    def varied_parts(self) -> dict[Element, Element]:
        """Return new copies of this element's children that differ in more than names.

        The keys are the template's children. The element keeps its pattern.
        """
        pattern = self.pattern
        assert pattern is not None
        own: dict[Element, Element] = {}
        for (number, name), value in zip(pattern.blanks, self.values, strict=True):
            if number in pattern.varied:
                part = pattern.part(number)
                if part not in own:
                    attributes = dict(part.attributes)
                    own[part] = Element(part.row, part.tree, pattern.model, attributes, part.source, part.line)
                own[part].attributes[name] = value
        return own

    def given(self, name: str) -> Any:
        """Return the explicit value of one attribute, or None if there is none."""
        pattern = self.pattern
        if pattern is None:
            return self.attributes.get(name)
        place = pattern.place(OWN, name)
        return pattern.model.attributes.get(name) if place is None else self.values[place]

    @property
    def name(self) -> str | None:
        """Name of the object, None if it has none."""
        return self.given("name") or None


def given_by(run: Sequence[Element], name: str) -> list[Any]:
    """Return, for each element of a run (see `runs`), the explicit value of one attribute, or None."""
    pattern = run[0].pattern
    place = None if pattern is None else pattern.place(OWN, name)
    if place is None:
        return [run[0].given(name)] * len(run)
    return [cast("Repeated", element).values[place] for element in run]


def repeated(model: Element, blanks: Sequence[tuple[int, str]], rows: Iterable[tuple[Any, ...]]) -> list[Element]:
    """Make one repeated element from each row of values. A row has one value for each of ``blanks``.

    ``model`` is the template, and ``blanks`` are the attributes that differ (see `Pattern`).
    """
    pattern = Pattern(model, blanks)
    return [Repeated(pattern, row) for row in rows]


Item = TypeVar("Item")


def runs(items: Iterable[Item], element_of: Callable[[Item], Element]) -> list[list[Item]]:
    """Group consecutive items whose elements repeat the same pattern. Any other item forms a group alone."""
    found: list[list[Item]] = []
    last: Pattern | None = None
    for item in items:
        pattern = element_of(item).pattern
        if pattern is not None and pattern is last:
            found[-1].append(item)
        else:
            found.append([item])
        last = pattern
    return found
