"""Adding what a composite object is made of to the tree.

What a composite makes takes nothing from default classes, as in the reference: its elements have the values which the
composite gives, and the language's own ones.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

from cardan.spec.element import Element
from cardan.spec.overlay import overlay
from cardan.spec.repeated import OWN, TIE, repeated
from cardan.spec.schema.body import BODY

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from cardan.spec.composite.request import Part
    from cardan.spec.defaults import DefaultClass
    from cardan.spec.schema.rows import ElementRow


def add_plain(parent: Element, tag: str, origin: Element, given: Mapping[str, Any]) -> Element:
    """Add a child element whose values no default class changes; errors about it are reported at ``origin``."""
    element = _child(parent, parent.row.children[tag], origin, given)
    parent.children.append(element)
    if element.row.entry:
        _cover_class(element, element.default_class)
    return element


def _child(parent: Element, row: ElementRow, origin: Element, given: Mapping[str, Any]) -> Element:
    """A new element that belongs inside ``parent``."""
    return Element(row, parent.tree, parent, dict(given), origin.source, origin.line)


def _cover_class(element: Element, cls: DefaultClass) -> None:
    """Give the element the language's value of each attribute that the default class in force sets otherwise."""
    row, given = element.row, element.attributes
    changed = cls.changes(row)
    if not changed:
        return
    if row.partial.isdisjoint(given):
        given.update({name: row.defaults[name] for name in changed if name not in given})
    else:
        plain = overlay(row.defaults, given, row.partial)
        given.update({name: plain[name] for name in changed})


class Builder:
    """Collects the elements that take the place of one composite.

    Attributes:
        macro: the composite's element.
        members: bodies and geoms that will stand in its place, in order.
        prefix: what the names of all elements begin with.
    """

    def __init__(self, macro: Element) -> None:
        self.macro = macro
        self.members: list[Element] = []
        self.prefix: str = macro["prefix"] or ""

    def name(self, *parts: object) -> str:
        """Name of an element: the prefix, a letter and numbers: ``B0_2``."""
        return f"{self.prefix}{parts[0]}" + "_".join(map(str, parts[1:]))

    def body(self, parent: Element | None, name: str, **given: Any) -> Element:
        """A body inside another one, or in the composite's place."""
        if parent is not None:
            return add_plain(parent, "body", self.macro, {"name": name, **given})
        body = self.model_body(name, **given)
        self.members.append(body)
        return body

    def model_body(self, name: str, **given: Any) -> Element:
        """A body of which there will be repeated ones in the composite's place, but not itself."""
        assert self.macro.parent is not None
        return _child(self.macro.parent, BODY, self.macro, {"name": name, **given})

    @cached_property
    def _set_entries(self) -> set[str | None]:
        """The entries of which some default class sets attributes."""
        return {entry for cls in self.macro.tree.defaults for entry in cls.entries}

    @cached_property
    def _class_inside(self) -> DefaultClass:
        """The default class in force inside all of the composite's bodies, however deep."""
        assert self.macro.parent is not None
        body = _child(self.macro.parent, BODY, self.macro, {})
        return _child(body, BODY.children["geom"], self.macro, {}).default_class

    def part(self, body: Element, tag: str, origin: Element, given: Mapping[str, Any]) -> None:
        """Add a joint, a geom or a site to one of the composite's bodies; see ``add_plain``."""
        element = _child(body, body.row.children[tag], origin, given)
        body.children.append(element)
        if element.row.entry in self._set_entries:
            _cover_class(element, self._class_inside)

    def geom_here(self, given: Mapping[str, Any], origin: Element) -> Element:
        """A geom in the composite's place, which belongs to the body around."""
        around = self.macro.parent
        assert around is not None
        geom = _child(around, around.row.children["geom"], origin, given)
        _cover_class(geom, geom.default_class)
        self.members.append(geom)
        return geom

    def relation(self, section: str, tag: str, origin: Element | None = None, **given: Any) -> Element:
        """An element at the end of a section: a tendon, an equality constraint, a skin, ..."""
        around, origin = self.macro.tree.section(section), origin or self.macro
        element = Element(around.row.children[tag], around.tree, around, given, origin.source, origin.line)
        around.children.append(element)
        if element.row.entry in self._set_entries:
            _cover_class(element, element.default_class)
        return element

    def site_tendon(self, name: str, sites: tuple[str, ...], given: Mapping[str, Any], origin: Element) -> Element:
        """A spatial tendon through sites."""
        tendon = self.relation("tendon", "spatial", origin, name=name, **given)
        row, tree, source, line = tendon.row.children["site"], tendon.tree, origin.source, origin.line
        tendon.children = [Element(row, tree, tendon, {"site": site}, source, line) for site in sites]
        return tendon

    def held_tendons(self, ties: Sequence[tuple[str, str, str]], tendon: Part, given: Mapping[str, Any]) -> None:
        """Spatial tendons between two sites each, and constraints that hold their lengths.

        Args:
            ties: names of each tendon and of its sites.
            tendon: where they come from, and what their constraints give.
            given: values of the tendons.
        """
        if not ties:
            return
        name, *sites = ties[0]
        tree, origin = self.macro.tree, tendon.origin
        model = self.site_tendon(name, (*sites,), given, origin)
        tree.section("tendon").children[-1:] = repeated(model, TIE, ties)
        model = self.relation("equality", "tendon", origin, tendon1=name, **tendon.fix)
        tree.section("equality").children[-1:] = repeated(model, ((OWN, "tendon1"),), ((tie[0],) for tie in ties))
