"""Elements of the source tree from which the objects of the compiled model come.

Only data that does not change the model depends on these origins: default classes and densities. If tree and model do
not correspond (bodies were fused, visual elements discarded), objects are found by name, and unnamed ones have no
origin.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from cardan.spec.element import Element
from cardan.spec.tree import ModelTree

_SECTIONS = {
    "pair": "contact",
    "equality": "equality",
    "tendon": "tendon",
    "actuator": "actuator",
    "sensor": "sensor",
    "key": "keyframe",
    "texture": "asset",
    "material": "asset",
    "mesh": "asset",
    "hfield": "asset",
    "skin": "asset",
}
# sections whose objects the compiler sorts
_SORTED = ("pair",)


class Origins:
    """Elements of a source tree by kind and id."""

    def __init__(self, source: ModelTree, names: dict[str, list[str]]) -> None:
        self._source = source
        self._names = names
        self._in_order: dict[str, list[Element]] = {}
        for element in _bodies(source.worldbody):
            self._enter(element)
            for part, _ in element.content():
                if part.tag != "body":
                    self._enter(part)
        for kind, section in _SECTIONS.items():
            for element in source.section(section).children:
                if element.row.kind == kind:
                    self._enter(element)

    def _enter(self, element: Element) -> None:
        """Append an element to those of its kind."""
        kind = "body" if element.tag == "worldbody" else element.row.kind
        if kind:
            self._in_order.setdefault(kind, []).append(element)

    def find(self, kind: str, number: int) -> Element | None:
        """Return the element of an object, or None if it is not known."""
        names, elements = self._names[kind], self._in_order.get(kind, [])
        if names[number]:
            found = self._source.find(kind, names[number])
            if found is not None:
                return found
        if len(names) != len(elements) or kind in _SORTED:
            return None
        return elements[number]

    def all(self, kind: str) -> list[Element]:
        """Return all elements of a kind, in the order of the source."""
        return self._in_order.get(kind, [])


def _bodies(world: Element) -> Iterator[Element]:
    """Return the world and all bodies, depth first."""
    stack = [world]
    while stack:
        body = stack.pop()
        yield body
        stack.extend([child for child, _ in body.content("body")][::-1])


def asset_name(element: Element) -> str | None:
    """Return the name of an asset: the given name, or the name of its file without folder and extension."""
    path = element.attributes.get("file")
    return element.name or (Path(path.replace("\\", "/")).stem if path else None)
