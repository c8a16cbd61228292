"""Checks of whole trees: references to objects by name and, for trees that a program built, all rules."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from functools import cache
from typing import TYPE_CHECKING

from cardan.errors import MjcfError, suggestion
from cardan.mjcf.rules import CLOSING_RULES, rules_of
from cardan.spec.schema.keywords import OBJECT_KIND
from cardan.spec.schema.language import entry_element
from cardan.spec.schema.rows import Attribute, ElementRow

if TYPE_CHECKING:
    from cardan.spec.element import Element
    from cardan.spec.repeated import Pattern, Repeated
    from cardan.spec.tree import ModelTree


# sections whose names are not objects of the model; classes are checked through the elements that use them
_NOT_CHECKED = ("default",)
# kinds of objects that compiler discardvisual drops; references to them are not checked
_DISCARDED = ("material",)


def resolve(element: Element, row: Attribute, name: str) -> Element | None:
    """Return the object named ``name`` to which the attribute ``row`` of an element refers, or None."""
    return element.tree.find(referred_kind(element, row), name)


def referred_kind(element: Element, row: Attribute) -> str:
    """Return the kind of the object that the attribute refers to. Raises MjcfError if the element gives no kind."""
    kind = row.kind or ""
    if not kind.startswith("@"):
        return kind
    holder = kind[1:]
    word = element.attributes.get(holder)
    if word is None:
        raise element.error(f"{row.name} needs {holder}", holder)
    return OBJECT_KIND[word]


def check_references(tree: ModelTree) -> None:
    """Check all names and references of a tree. Raises MjcfError for a repeated or an unknown name."""
    if not _all_fine(tree):
        _check_each(tree)


def _all_fine(tree: ModelTree) -> bool:
    """Return whether a fast check finds all names and references valid. If not, they may still be valid."""
    rows, repeats = tree.by_row()
    names = tree.take_names(rows, repeats)
    if names is None or _doubtful(tree):
        return False
    for row, elements in rows.items():
        for reference in () if row.is_entry else row.references:
            kind, name = reference.kind or "", reference.name
            if kind.startswith("@"):
                # another attribute holds the kind of the object
                for element in elements:
                    found = element.referred(reference)
                    if found is None and element.attributes.get(name) is None:
                        continue
                    if found is None or found[1] not in names.get(found[0], ()):
                        return False
                continue
            referred = {word for element in elements if (word := element.attributes.get(name)) is not None}
            if reference.many:
                referred = {word for words in referred for word in words.split()}
            if reference.later:
                referred = {word for word in referred if not reference.missing_feature(word)}
            known = tree.defaults if kind == "default" else names.get(kind, ())
            if not all(word in known for word in referred):
                return False
    return all(_are_there(tree, names, *repeat) for repeat in repeats.items())


def _are_there(
    tree: ModelTree, names: Mapping[str, Collection[str]], pattern: Pattern, elements: list[Repeated]
) -> bool:
    """Return whether all objects and default classes named by the references of repeated elements exist."""
    for number, part in pattern.parts():
        for reference in part.row.references:
            name = part.attributes.get(reference.name)
            if name is None:
                continue
            kind, place = referred_kind(part, reference), pattern.place(number, reference.name)
            known = tree.defaults if kind == "default" else names.get(kind, ())
            referred = {name} if place is None else {one.values[place] for one in elements}
            if not all(word in known for word in referred):
                return False
    return True


def _check_each(tree: ModelTree) -> None:
    """Check elements one by one in the order of the text, so that the first mistake in the text is reported."""
    elements = tree.named()
    discarded = _DISCARDED if tree.section("compiler")["discardvisual"] else ()
    entries = _doubtful(tree)
    for element in elements:
        row = element.row
        if not row.references or (element.parent and element.parent.row.tag in _NOT_CHECKED):
            continue
        # default classes first, since other values depend on them
        for reference in row.references:
            cls = element.attributes.get(reference.name) if reference.kind == "default" else None
            if cls is not None and cls not in tree.defaults:
                known = suggestion(cls, tree.defaults.names())
                raise element.error(f"unknown default class '{cls}'{known}", reference.name)
        inherited = _inherited(element) if row.entry in entries else {}
        for reference in _plan(row):
            name, origin = element.attributes.get(reference.name), ""
            if name is None and inherited.get(reference.name):
                name, origin = inherited[reference.name], f" (from default class '{element.default_class.name}')"
            if reference.kind in discarded or name is None or reference.missing_feature(name):
                continue
            for word in name.split() if reference.many else (name,):
                if (word or reference.required or row.kind == "sensor") and resolve(element, reference, word) is None:
                    kind = referred_kind(element, reference)
                    hint = suggestion(word, tree.names(kind))
                    raise element.error(f"there is no {kind} named '{word}'{origin}{hint}", reference.name)


@cache
def _plan(row: ElementRow) -> tuple[Attribute, ...]:
    """Return the attributes of a row that are references, except references to default classes."""
    return tuple(reference for reference in row.references if reference.kind != "default")


def _doubtful(tree: ModelTree) -> set[str]:
    """Return the kinds of elements (such as "geom") for which a default class refers to an unknown object.

    Elements of these kinds must be checked one by one.
    """
    return {
        entry
        for cls in tree.defaults
        for entry, values in cls.entries.items()
        for reference in _plan(entry_element(entry))
        if values.get(reference.name) and tree.find(reference.kind or "", values[reference.name]) is None
    }


def _inherited(element: Element) -> dict[str, str]:
    """Return the values of the element's default class.

    Raises:
        MjcfError: the class does not exist; the error is reported at the element that names it.
    """
    try:
        return element.default_class.entries.get(element.row.entry or "", {})
    except KeyError as missing:
        name = str(missing.args[0])
    at: Element | None = element
    while at is not None:
        for attribute in ("class", "childclass"):
            if at.attributes.get(attribute) == name:
                known = suggestion(name, element.tree.defaults.names())
                raise at.error(f"unknown default class '{name}'{known}", attribute)
        at = at.parent
    raise MjcfError(f"unknown default class '{name}'")


def check_tree(tree: ModelTree) -> None:
    """Check required attributes, rules, names and references of all elements. Raises MjcfError."""
    tree.section("keyframe")  # rewrites keyframes after changes
    for section in tree.root.children:
        if section.tag != "default":
            for element in (section, *section.descendants()):
                for name in element.row.required:
                    if name not in element.attributes:
                        raise element.error("required attribute missing", name)
                closing = CLOSING_RULES.get(element.tag)
                for rule in (*rules_of(element.row), *([closing] if closing else [])):
                    rule(element)
    check_references(tree)


def check_supported(tree: ModelTree) -> None:
    """Check that no element of a tree, and no default class of an element, needs a feature that Cardan lacks.

    Raises:
        UnsupportedFeature: the message names the feature, the element and the attribute.
    """
    for element in tree.root.descendants():
        row = element.row
        if row.is_entry or row.tag == "default":
            continue
        if row.later:
            raise element.unsupported(row.later)
        for name, value in {**(_inherited(element) if row.entry else {}), **element.attributes}.items():
            attribute = row.attributes.get(name)
            feature = attribute.missing_feature(value) if attribute else None
            if feature:
                raise element.unsupported(feature, name)
