"""Copies of whole trees."""

from __future__ import annotations

from cardan.spec.defaults import DefaultClass
from cardan.spec.element import Element
from cardan.spec.tree import ModelTree


def copy_into(source: Element, target: Element) -> None:
    """Copy attributes, source location and content of an element to another element of the same row."""
    stack = [(source, target)]
    while stack:
        old, new = stack.pop()
        new.attributes = dict(old.attributes)
        new.source, new.line = old.source, old.line
        new.children = [Element(child.row, new.tree, new) for child in old.children]
        stack.extend(zip(old.children, new.children, strict=True))


def copied_tree(tree: ModelTree) -> ModelTree:
    """Return a copy of a model tree that shares no element with it."""
    made = ModelTree(tree.source, tree.folder, tree.assets)
    made.include_folders = dict(tree.include_folders)
    made.macro_instances = set(tree.macro_instances)
    copy_into(tree.root, made.root)
    made.adopt_sections()
    _copy_defaults(tree, made)
    return made


def _copy_defaults(tree: ModelTree, made: ModelTree) -> None:
    """Copy all default classes."""
    made.defaults.rename_main(tree.defaults.main.name)
    made.defaults.main.copy_entries(tree.defaults.main.entries)
    stack: list[DefaultClass] = list(tree.defaults.main.children)
    while stack:
        cls = stack.pop(0)
        assert cls.parent is not None
        made.defaults.add(cls.name, made.defaults[cls.parent.name]).copy_entries(cls.entries)
        stack.extend(cls.children)
