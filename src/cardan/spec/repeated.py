"""Elements that a macro makes many times: one model of them with blanks, and what stands in the blanks of each.

A sheet of some hundred particles is some thousand elements, which differ in names and places alone. As long as nobody
looks into such an element, it is a pattern and a few values: the compiler fills its columns from these, and reads the
model once. Whoever asks for its attributes or children finds them, like those of any other element: they are made then.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeVar, cast

from cardan.spec.element import Element

OWN = -1
"""Number of the element itself among the parts of a pattern."""
TIE = (OWN, "name"), (0, "site"), (1, "site")
"""Blanks of tendons between two sites."""


class Pattern:
    """What repeated elements have in common.

    Attributes:
        model: an element as they are, with its content; it stands beside them, but is no child of its parent. What is
            inside has no content of its own; an ``inertial`` has no blanks.
        blanks: which attributes differ: number of a part (`OWN`: the element itself) and name of the attribute.
        names: where among the values of an element the names of parts stand, for parts whose names differ.
        varied: numbers of parts that differ in more than names.
        moves_only: whether the element itself differs from others in name and place alone.
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
        """Where among the values of an element an attribute of a part stands; None where all have the model's."""
        return self._places.get((part, name))

    def part(self, number: int) -> Element:
        """A part of the model, or the model itself."""
        return self.model if number == OWN else self.model.children[number]

    def differences(self, part: Element) -> dict[str, int]:
        """In which attributes but the name a part differs, and where these stand among the values of an element."""
        return {
            name: place
            for (number, name), place in self._places.items()
            if name != "name" and self.part(number) is part
        }

    def varies(self, part: Element) -> bool:
        """Whether a part differs in more than its name."""
        return any(self.part(number) is part for number in self.varied)

    def parts(self) -> list[tuple[int, Element]]:
        """The model and its content, with their numbers."""
        return [(OWN, self.model), *enumerate(self.model.children)]


class Repeated(Element):
    """An element that repeats a pattern.

    Attributes:
        pattern: the pattern, until somebody asks for the attributes or children: None from then on.
        values: what stands in the blanks of the pattern.
    """

    __slots__ = ("values",)

    def __init__(self, pattern: Pattern, values: tuple[Any, ...]) -> None:
        model = pattern.model
        self.row, self.tree, self.parent = model.row, model.tree, model.parent
        self.source, self.line = model.source, model.line
        self.pattern, self.values = pattern, values

    def __getattr__(self, name: str) -> Any:
        """Make the attributes and children when they are asked for first."""
        if name not in ("attributes", "children") or self.pattern is None:
            raise AttributeError(f"'{type(self).__name__}' has no '{name}' here")
        self._write_out()
        return getattr(self, name)

    def _write_out(self) -> None:
        """Become an element like any other."""
        pattern, tree = self.pattern, self.tree
        assert pattern is not None
        model = pattern.model
        self.attributes = dict(model.attributes)
        self.children = [
            Element(part.row, tree, self, dict(part.attributes), part.source, part.line) for part in model.children
        ]
        self.pattern = None
        for (number, name), value in zip(pattern.blanks, self.values, strict=True):
            part = self if number == OWN else self.children[number]
            part.attributes[name] = value

    def varied_parts(self) -> dict[Element, Element]:
        """Parts of this element that differ from the model's in more than names, by those of the model."""
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
        """Explicit value of one attribute, None when the element gives none."""
        pattern = self.pattern
        if pattern is None:
            return self.attributes.get(name)
        place = pattern.place(OWN, name)
        return pattern.model.attributes.get(name) if place is None else self.values[place]

    @property
    def name(self) -> str | None:
        """Name of the object, None when it has none."""
        return self.given("name") or None


def given_by(run: Sequence[Element], name: str) -> list[Any]:
    """Explicit values of one attribute, None where there is none, of an element or of some that repeat one pattern."""
    pattern = run[0].pattern
    place = None if pattern is None else pattern.place(OWN, name)
    if place is None:
        return [run[0].given(name)] * len(run)
    return [cast("Repeated", element).values[place] for element in run]


def repeated(model: Element, blanks: Sequence[tuple[int, str]], rows: Iterable[tuple[Any, ...]]) -> list[Element]:
    """Elements like a model, one for each row of values that stand in its blanks.

    Args:
        model: see `Pattern`; its attributes that are blanks have any value.
        blanks: see `Pattern`.
        rows: a value for each blank, of each element.
    """
    pattern = Pattern(model, blanks)
    return [Repeated(pattern, row) for row in rows]


Item = TypeVar("Item")


def runs(items: Iterable[Item], element_of: Callable[[Item], Element]) -> list[list[Item]]:
    """Things that stand for elements, in their order: those that follow one another and repeat one pattern together.

    Others are alone.
    """
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
