"""Changes to whole trees: removal of elements with everything that refers to them, copies."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cardan.spec.element import Element
from cardan.spec.tree import ModelTree

if TYPE_CHECKING:
    from collections.abc import Iterable

    from cardan.spec.defaults import DefaultClass

Named = set[tuple[str, str]]  # kind and name

# optional kinds: elements that refer to them are kept
_APPEARANCE = ("material", "texture")


def remove(element: Element) -> None:
    """Remove an element, its content, and all elements that refer to them; references to appearances are dropped."""
    tree = element.tree
    gone = [element]
    while gone:
        names: Named = set()
        for part in gone:
            names |= names_of([part])
            if part.parent is not None and part in part.parent.children:
                part.parent.children.remove(part)
        lost = {name for name in names if name[0] in _APPEARANCE}
        for cls in tree.defaults if lost else ():
            for entry, values in list(cls.entries.items()):
                for kind in _APPEARANCE:
                    if (kind, values.get(kind)) in lost:
                        cls.remove(entry, kind)
        found: dict[Element, None] = {}
        for whole in tree.root.descendants():
            for row in whole.row.references if lost else ():
                if whole.referred(row) in lost:
                    del whole.attributes[row.name]
            if any(whole.referred(row) in names for row in whole.row.references) or listed(whole) & names:
                # for parts of a tendon, tuple or skin the whole element
                while whole.row.kind is None and whole.parent is not None:
                    whole = whole.parent
                found[whole] = None
        gone = list(found)
    tree.changed()


def names_of(elements: Iterable[Element]) -> Named:
    """Return kinds and names of the objects among some elements and what is inside them."""
    every = (part for element in elements for part in (element, *element.descendants()))
    return {(part.row.kind, part.name) for part in every if part.row.kind and part.name}


def listed(element: Element) -> Named:
    """Return kinds and names of the objects in an element's lists of names."""
    lists = element.row.lists
    return {(row.kind or "", name) for row in lists for name in element.attributes.get(row.name, "").split()}


# --- copies ----------------------------------------------------------------------------------------------------------


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
    made.defaults.rename_main(tree.defaults.main.name)
    made.defaults.main.copy_entries(tree.defaults.main.entries)
    stack: list[DefaultClass] = list(tree.defaults.main.children)
    while stack:
        cls = stack.pop(0)
        assert cls.parent is not None
        made.defaults.add(cls.name, made.defaults[cls.parent.name]).copy_entries(cls.entries)
        stack.extend(cls.children)
    return made
