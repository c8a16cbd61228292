"""Default classes of a tree, written as elements."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from cardan.spec.defaults import GLOBAL_CLASS
from cardan.spec.element import Element
from cardan.spec.schema.language import DEFAULT

if TYPE_CHECKING:
    from cardan.spec.defaults import DefaultClass, Defaults
    from cardan.spec.schema.rows import Attribute
    from cardan.spec.tree import ModelTree

Keep = Callable[[str, "Attribute", Any], bool]


def put_defaults(tree: ModelTree, defaults: Defaults, keep: Keep) -> None:
    """Add default classes to a tree, as elements, and define those that the tree does not have.

    Args:
        tree: the tree.
        defaults: the classes.
        keep: function of the name, row and value of an attribute, which returns whether the value is written.
    """
    top = Element(DEFAULT, tree, tree.root)
    stack: list[tuple[DefaultClass, Element]] = [(defaults.main, top)]
    while stack:
        cls, section = stack.pop()
        section.attributes["class"] = cls.name
        _put_class(cls, section, keep)
        for child in cls.children:
            inside = Element(DEFAULT, tree, section)
            section.children.append(inside)
            stack.append((child, inside))
    if top.children:
        tree.root.children.append(top)
    if tree.defaults is not defaults:
        tree.defaults.define(top)
    if tree.compat == "4.0" and defaults.main.name == GLOBAL_CLASS:
        del top.attributes["class"]  # not written by MuJoCo 4.0


def _put_class(cls: DefaultClass, section: Element, keep: Keep) -> None:
    """Add the values of one class that differ from those of its parent class."""
    below = cls.parent.entries if cls.parent else {}
    for entry in DEFAULT.children:
        own, inherited = cls.entries.get(entry, {}), below.get(entry, {})
        row = DEFAULT.children[entry]
        # undo values that the parent received after this class was made
        defaults = row.defaults_in(cls.version)
        values = {name: defaults.get(name) for name in inherited.keys() - own.keys()} | {
            name: value for name, value in own.items() if name not in inherited or inherited[name] != value
        }
        kept = {}
        for name, attribute in row.attributes.items():
            value = values.get(name)
            if value is not None and keep(name, attribute, value):
                kept[name] = value
        if kept:
            section.children.append(Element(row, section.tree, section, kept))
