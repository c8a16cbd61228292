"""Changes to whole trees: removal of elements with everything that refers to them, copies."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cardan.spec.element import Element
from cardan.spec.schema.keywords import OBJECT_KIND
from cardan.spec.tree import ModelTree

if TYPE_CHECKING:
    from collections.abc import Iterable

    from cardan.spec.defaults import DefaultClass
    from cardan.spec.schema.rows import Attribute

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
        _drop_appearances(tree, names)
        gone = _referring(tree, names)
    tree.changed()


def names_of(elements: Iterable[Element]) -> Named:
    """Return kinds and names of the objects among some elements and what is inside them."""
    every = (part for element in elements for part in (element, *element.descendants()))
    return {(part.row.kind, part.name) for part in every if part.row.kind and part.name}


def referred(element: Element, row: Attribute) -> tuple[str, str] | None:
    """Return kind and name of the object that an attribute of an element refers to, or None."""
    name, kind = element.attributes.get(row.name), row.kind or ""
    if not name:
        return None
    if kind.startswith("@"):
        kind = OBJECT_KIND.get(element.attributes.get(kind[1:], ""), "")
    return kind, name


def listed(element: Element) -> Named:
    """Return kinds and names of the objects in an element's lists of names."""
    lists = element.row.lists
    return {(row.kind or "", name) for row in lists for name in element.attributes.get(row.name, "").split()}


def _drop_appearances(tree: ModelTree, names: Named) -> None:
    """Remove references to materials and textures that no longer exist."""
    lost = {name for name in names if name[0] in _APPEARANCE}
    if not lost:
        return
    for element in tree.root.descendants():
        for row in element.row.references:
            if referred(element, row) in lost:
                del element.attributes[row.name]
    for cls in tree.defaults:
        for entry, values in list(cls.entries.items()):
            for kind in _APPEARANCE:
                if (kind, values.get(kind)) in lost:
                    cls.remove(entry, kind)


def _referring(tree: ModelTree, names: Named) -> list[Element]:
    """Return the elements that refer to one of the names; for parts of a tendon, tuple or skin the whole element."""
    found: dict[Element, None] = {}
    for element in tree.root.descendants():
        if any(referred(element, row) in names for row in element.row.references) or listed(element) & names:
            whole = element
            while whole.row.kind is None and whole.parent is not None:
                whole = whole.parent
            found[whole] = None
    return list(found)


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
