"""Repeated elements: elements that a macro makes many times, stored as one model and the values that differ.

A sheet of some hundred particles has some thousand elements, which differ only in names and positions. Until a program
accesses the attributes or children of such an element, the element is a pattern and a few values. The compiler fills
its columns from these values and reads the model once. On first access, the element gets ordinary attributes and
children.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeVar, cast

from cardan.spec.element import Element

OWN = -1
"""Number of the element itself among the parts of a pattern."""
TIE = (OWN, "name"), (0, "site"), (1, "site")
"""Blanks of a tendon between two sites."""


class Pattern:
    """Common content of repeated elements: a model with *blanks*, which are attributes that differ between elements.

    The model itself is part `OWN`; the elements inside it are the other parts, by index.

    Attributes:
        model: an element with its content. Its parent is that of the repeated elements, but the model is not among the
            parent's children. Elements inside it have no content; an ``inertial`` has no blanks.
        blanks: for each blank, the number of its part and the name of the attribute.
        names: for parts whose names differ, the index of the name among the values of an element.
        varied: numbers of parts that differ in more than names.
        moves_only: whether elements, without their parts, differ only in name and position.
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
        """Return the index of a part's attribute among the values of an element; None if it is not a blank."""
        return self._places.get((part, name))

    def part(self, number: int) -> Element:
        """Return a part of the model, or the model itself (`OWN`)."""
        return self.model if number == OWN else self.model.children[number]

    def varies(self, part: Element) -> bool:
        """Return whether a part differs between elements in more than its name."""
        return any(self.part(number) is part for number in self.varied)

    def parts(self) -> list[tuple[int, Element]]:
        """Return the model and its content, with their numbers."""
        return [(OWN, self.model), *enumerate(self.model.children)]


class Repeated(Element):
    """An element that repeats a pattern.

    Attributes:
        pattern: the pattern; None after the first access to attributes or children.
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
        """Return those parts of this element that differ in more than names, by the model's corresponding parts."""
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
    """Return the explicit value of one attribute, or None, for each element of a run (see `runs`)."""
    pattern = run[0].pattern
    place = None if pattern is None else pattern.place(OWN, name)
    if place is None:
        return [run[0].given(name)] * len(run)
    return [cast("Repeated", element).values[place] for element in run]


def repeated(model: Element, blanks: Sequence[tuple[int, str]], rows: Iterable[tuple[Any, ...]]) -> list[Element]:
    """Make one repeated element for each of ``rows``, which have one value for each of ``blanks``.

    ``model`` is the common content, and ``blanks`` are the attributes that differ (see `Pattern`).
    """
    pattern = Pattern(model, blanks)
    return [Repeated(pattern, row) for row in rows]


Item = TypeVar("Item")


def runs(items: Iterable[Item], element_of: Callable[[Item], Element]) -> list[list[Item]]:
    """Group consecutive items whose elements repeat the same pattern; any other item is a group of its own."""
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
