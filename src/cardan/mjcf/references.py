"""References: every name that an element mentions belongs to an object of the right kind."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

from cardan.errors import MjcfError, suggestion
from cardan.spec.schema.keywords import OBJECT_KIND
from cardan.spec.schema.language import entry_element
from cardan.spec.schema.rows import Attribute, ElementRow

if TYPE_CHECKING:
    from cardan.spec.element import Element
    from cardan.spec.tree import ModelTree

# sections whose names are not objects of the model; a class is checked through the elements that use it
_NOT_CHECKED = ("default",)
# plan of objects that compiler discardvisual drops, so that nobody misses them
_DISCARDED = ("material",)


def resolve(element: Element, row: Attribute, name: str) -> Element | None:
    """The object that the attribute ``row`` of an element means by ``name``, None when there is none."""
    return element.tree.find(referred_kind(element, row), name)


def referred_kind(element: Element, row: Attribute) -> str:
    """Kind of the object that the attribute refers to; raises MjcfError when the attribute with the kind is missing."""
    kind = row.kind or ""
    if not kind.startswith("@"):
        return kind
    holder = kind[1:]
    word = element.attributes.get(holder)
    if word is None:
        raise element.error(f"{row.name} needs {holder}", holder)
    return OBJECT_KIND[word]


def check_references(tree: ModelTree) -> None:
    """Check names and references of a whole tree. Raises MjcfError for a repeated name or an unknown one."""
    elements = tree.named()
    discarded = _DISCARDED if tree.section("compiler")["discardvisual"] else ()
    entries = _doubtful(tree)
    for element in elements:
        row, given = element.row, element.attributes
        if not row.references:
            continue
        plan = _plan(row)
        inherits = row.entry in entries
        if (not inherits and plan.mentioned.isdisjoint(given)) or _is_apart(element):
            continue
        # default classes first, since other values come from them
        if "class" in given or "childclass" in given:
            _check_classes(element)
        if inherits:
            _check_element(element, plan, _inherited(element), discarded)
        elif not _is_fine(tree, plan, given):
            _check_element(element, plan, {}, discarded)


def _is_apart(element: Element) -> bool:
    """Whether an element stands in a section that isn't checked."""
    return element.parent is not None and element.parent.row.tag in _NOT_CHECKED


class _Plan(NamedTuple):
    """The references of a row.

    Attributes:
        rows: those to others than default classes.
        kinds: name and kind of each of them.
        mentioned: names of the attributes without which there is nothing to check.
    """

    rows: tuple[Attribute, ...]
    kinds: tuple[tuple[str, str], ...]
    mentioned: frozenset[str]


@cache
def _plan(row: ElementRow) -> _Plan:
    """The plan of a row."""
    rows = tuple(reference for reference in row.references if reference.kind != "default")
    kinds = tuple((reference.name, reference.kind or "") for reference in rows)
    return _Plan(rows, kinds, frozenset(("class", "childclass", *(reference.name for reference in rows))))


def _is_fine(tree: ModelTree, plan: _Plan, given: Mapping[str, Any]) -> bool:
    """Whether all references among the attributes are surely right: the usual case, which needs no closer look."""
    for name, kind in plan.kinds:
        referred = given.get(name)
        if referred is not None and referred not in tree.names(kind):
            return False
    return True


def _doubtful(tree: ModelTree) -> set[str]:
    """Entries for which some default class names an object that isn't there, so that elements must be looked at."""
    return {
        entry
        for cls in tree.defaults
        for entry, values in cls.entries.items()
        for reference in _plan(entry_element(entry)).rows
        if values.get(reference.name) and tree.find(reference.kind or "", values[reference.name]) is None
    }


def _check_element(element: Element, plan: _Plan, inherited: dict[str, str], discarded: tuple[str, ...]) -> None:
    """Check the references of one element, but for those to plan of objects that are ``discarded``.

    ``inherited`` are values of its default class.
    """
    given, row = element.attributes, element.row
    for reference in plan.rows:
        name = given.get(reference.name)
        if reference.kind in discarded:
            continue
        if name or (name is not None and (reference.required or row.kind == "sensor")):
            _check_name(element, reference, name)
        elif name is None and inherited.get(reference.name):
            origin = f" (from default class '{element.default_class.name}')"
            _check_name(element, reference, inherited[reference.name], origin)


def _check_classes(element: Element) -> None:
    """Raise unless the default classes exist that an element names."""
    known = element.tree.defaults
    for name in ("class", "childclass"):
        cls = element.attributes.get(name)
        if cls is not None and cls not in known and _is_class(element, name):
            raise element.error(f"unknown default class '{cls}'" + suggestion(cls, known.names()), name)


def _is_class(element: Element, name: str) -> bool:
    """Whether an attribute names a default class."""
    row = element.row.attributes.get(name)
    return row is not None and row.kind == "default"


def _inherited(element: Element) -> dict[str, str]:
    """What the element's default class sets; raises MjcfError when that class does not exist."""
    try:
        return element.default_class.entries.get(element.row.entry or "", {})
    except KeyError as missing:
        return _unknown_class(element, str(missing.args[0]))


def _unknown_class(element: Element, name: str) -> dict[str, str]:
    """Raise for a class that does not exist, at the element which names it."""
    at: Element | None = element
    while at is not None:
        for attribute in ("class", "childclass"):
            if at.attributes.get(attribute) == name:
                known = suggestion(name, element.tree.defaults.names())
                raise at.error(f"unknown default class '{name}'{known}", attribute)
        at = at.parent
    raise MjcfError(f"unknown default class '{name}'")


def _check_name(element: Element, row: Attribute, name: str, origin: str = "") -> None:
    """Raise unless the object exists."""
    if resolve(element, row, name) is None:
        kind = referred_kind(element, row)
        hint = suggestion(name, element.tree.names(kind))
        raise element.error(f"there is no {kind} named '{name}'{origin}{hint}", row.name)
