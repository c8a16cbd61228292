"""Checks of a tree that a program built; the reader performs the same checks while it reads."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cardan.mjcf.references import check_references
from cardan.mjcf.rules import CLOSING_RULES, rules_of

if TYPE_CHECKING:
    from cardan.spec.element import Element
    from cardan.spec.tree import ModelTree


def check_tree(tree: ModelTree) -> None:
    """Check required attributes, the rules of each element, names and references. Raises MjcfError."""
    for section in tree.root.children:
        if section.tag != "default":
            _check(section)
            for element in section.descendants():
                _check(element)
    check_references(tree)


def _check(element: Element) -> None:
    """Check one element by its row in the table of the language."""
    for name in element.row.required:
        if name not in element.attributes:
            raise element.error("required attribute missing", name)
    for rule in rules_of(element.row):
        rule(element)
    closing = CLOSING_RULES.get(element.tag)
    if closing is not None:
        closing(element)
