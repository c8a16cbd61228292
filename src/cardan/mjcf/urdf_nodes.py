"""URDF text to nodes: the elements in the table of the language, with typed values. All other elements are skipped."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from functools import cache
from typing import Any

from cardan.errors import MjcfError, suggestion
from cardan.mjcf.events import make_parser, run_parser
from cardan.mjcf.values import known_values, parse_value
from cardan.spec.schema.rows import ElementRow, Type

_SETTINGS = ("compiler", "option", "size")


_NOTHING: dict[str, Any] = {}


class Node:
    """One element.

    Attributes:
        row: its row of the table.
        texts: the texts of its attributes.
        source, line: file and line of the element.
        children: the elements inside it.
        checked: whether it has been checked.
        given: typed values of the attributes that are present in the file, available after the check.
        values: the value of every attribute, given or default.
    """

    __slots__ = ("checked", "children", "given", "line", "row", "source", "texts", "values")

    def __init__(self, row: ElementRow, texts: dict[str, str], source: str, line: int) -> None:
        self.row = row
        self.texts = texts
        self.source = source
        self.line = line
        self.children: list[Node] = []
        self.checked = False
        self.given = _NOTHING
        self.values = row.defaults

    def child(self, tag: str) -> Node | None:
        """Return the first child with a tag, or None if there is none."""
        for child in self.children:
            if child.row.tag == tag:
                return child
        return None

    def all(self, *tags: str) -> Iterator[Node]:
        """Return the children whose tag is one of `tags`."""
        return (child for child in self.children if child.row.tag in tags)

    def descendants(self) -> Iterator[Node]:
        """Return all elements inside this one, in the order of the file."""
        stack = self.children[::-1]
        while stack:
            node = stack.pop()
            yield node
            stack.extend(node.children[::-1])

    def error(self, message: str, attribute: str | None = None) -> MjcfError:
        """Return an error about this element, to be raised by the caller."""
        return MjcfError(message, self.source, self.line, self.row.tag, attribute)

    def check(self, skip: tuple[str, str] = ("", "")) -> None:
        """Check and convert the attributes of this element and of all elements inside it.

        Elements whose parent's tag and own tag are ``skip`` are not checked. Raises MjcfError.
        """
        stack: list[Node] = [self]
        while stack:
            node = stack.pop()
            if node.checked:
                continue
            node.checked = True
            if node.texts:
                node._check_values()
            for name in node.row.required:
                if name not in node.given:
                    raise node.error("required attribute missing", name)
            node._check_children(skip)
            stack.extend(child for child in node.children[::-1] if (node.row.tag, child.row.tag) != skip)

    def _check_values(self) -> None:
        """Convert the attributes to typed values."""
        known, self.given = known_values(self.row), {}
        for name, text in self.texts.items():
            value = known[name].read(text) if name in known else None
            if value is not None:
                self.given[name] = value
            else:
                self._look_closer(name, text)
        self.values = {**self.row.defaults, **self.given}

    def _look_closer(self, name: str, text: str) -> None:
        """Convert an attribute that is unknown or not in simple notation."""
        attribute = self.row.attributes.get(name)
        if attribute is None:
            if self.row.tag in _SETTINGS:
                hint = suggestion(name, self.row.attributes)
                warnings.warn(f"{self.error('unknown attribute is ignored' + hint, name)}", stacklevel=2)
            return
        try:
            self.given[name] = parse_value(attribute, text)
        except ValueError as error:
            raise self.error(str(error), name) from None
        if attribute.type is Type.FILE and not text:
            raise self.error("the file name must not be empty", name)

    def _check_children(self, skip: tuple[str, str]) -> None:
        """Check that each kind of child occurs as often as its row requires and allows."""
        seen: set[str] = set()
        for child in self.children:
            row = child.row
            if row.tag in seen and (row.multiplicity in "!?" or row.merged):
                raise child.error(f"may stand only once inside <{self.row.tag}>")
            seen.add(row.tag)
        for tag in _required(self.row):
            if tag not in seen and (self.row.tag, tag) != skip:
                raise self.error(f"required element <{tag}> missing")


@cache
def _required(row: ElementRow) -> tuple[str, ...]:
    """Return the tags of the required children of a row."""
    return tuple(tag for tag, child in row.children.items() if child.multiplicity == "!")


def read_nodes(text: str | bytes, source: str, root: ElementRow) -> Node:
    """Return the nodes of a document, not checked yet. Raises NotWellFormed if the text is not well-formed."""
    top = Node(root, {}, source, 1)
    stack: list[Node | None] = []  # None represents an element that is skipped

    def start(tag: str, attributes: dict[str, str]) -> None:
        around = stack[-1] if stack else None
        row = (around.row.children.get(tag) if around else None) if stack else root
        node = Node(row, attributes, source, parser.CurrentLineNumber) if row else None
        if around is not None and node is not None:
            around.children.append(node)
        elif not stack and node is not None:
            top.texts, top.line = node.texts, node.line
            node = top
        stack.append(node)

    def end(tag: str) -> None:
        stack.pop()

    parser = make_parser(text, source, start, end)
    run_parser(parser, text, source)
    return top
