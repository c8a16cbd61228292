"""Functions shared by the modules that write the canonical tree: reading the model, adding elements."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import accumulate
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from cardan.errors import MjcfError
from cardan.model import internals
from cardan.model.named import NAME_FIELDS, SHORT_KINDS, read_names
from cardan.model.tables import MODEL
from cardan.spec.element import Element
from cardan.spec.layout import bodies_of
from cardan.spec.schema.keywords import TRISTATE, Words
from cardan.spec.schema.rows import Attribute, ElementRow, Type, counted
from cardan.spec.tree import ModelTree

if TYPE_CHECKING:
    from cardan.model.mjmodel import MjModel

Values = dict[str, Any]

_LONG_KINDS = {short: kind for kind, short in SHORT_KINDS.items()}


def fields(prefix: str, names: str, **other: str) -> dict[str, str]:
    """Return a table that maps attributes to fields of the model, whose names begin with ``prefix``.

    For attributes in ``names``, the prefix is followed by the attribute's own name. For the keys of ``other``, the
    prefix is followed by the given value.
    """
    return {name: prefix + other.get(name, name) for name in (*names.split(), *other)}


class Scribe:
    """Writer of one model's canonical tree.

    Attributes:
        m: the compiled model.
        source: the tree from which the model was compiled.
        origins: the elements of ``source`` by kind and id.
        tree: the canonical tree, to which elements are added.
        names: names of the model's objects by kind, in order of their ids.
        pieces: the field ``geom_piece``: 0 or, for a convex piece, the offset of its id from the id of its geom.
    """

    def __init__(self, m: MjModel, source: ModelTree) -> None:
        self.m = m
        self.source = source
        self.tree = ModelTree(source.source, source.folder, source.assets, source.compat, source.archived)
        self.names = {_LONG_KINDS.get(kind, kind): read_names(m, kind) for kind in NAME_FIELDS}
        self.pieces = m.geom_piece.tolist()
        self.origins = Origins(source, self.names, self.pieces)

    def name(self, kind: str, number: int) -> str | None:
        """Return the name of an object, or None if it has none or ``number`` is negative.

        A convex piece of a geom has the name of the geom.
        """
        if kind == "geom" and number >= 0:
            number -= self.pieces[number]
        return self.names[kind][number] or None if number >= 0 else None

    def has_pieces(self, geom: int) -> bool:
        """Return whether a geom has convex pieces, which collide in its place."""
        return self.pieces[geom + 1 : geom + 2] == [1]

    def is_first(self, geom: int) -> bool:
        """Return whether a geom is not a convex piece, or is the first convex piece of another geom."""
        return self.pieces[geom] < 2

    def read(self, row: ElementRow, fields: Mapping[str, str], number: int) -> Values:
        """Read the attribute values of object ``number`` from the model. ``fields`` maps attributes to fields."""
        values: Values = {}
        for name, field in fields.items():
            attribute = row.attributes.get(name) or ModelTree.entry_attribute(row, name)
            value = plain(internals.array(self.m, field)[number])
            if attribute.polynomial:
                value = counted(attribute, (value, *plain(internals.array(self.m, field + "poly")[number])))
            elif attribute.type is Type.REFERENCE:
                value = self.name(attribute.kind or "", value)
            elif attribute.type is Type.BOOL or attribute.keywords is TRISTATE:
                value = bool(value)
            elif attribute.type is Type.KEYWORD:
                value = word_of(attribute, value)
            values[name] = value
        return values

    def put(
        self,
        parent: Element,
        tag: str,
        values: Mapping[str, Any],
        origin: Element | None = None,
        keep: tuple[str, ...] = (),
    ) -> Element:
        """Add an element of the same default class as ``origin``, with the values that differ from this class.

        Return the element. The value None means the default. Tri-state attributes (``auto``, ``true``, ``false``) are
        given as bool. Attributes in ``keep`` are always written.
        """
        element = Element(parent.row.children[tag], self.tree, parent)
        parent.children.append(element)
        if origin is not None and element.row.entry:
            wanted = origin.default_class.name
            if wanted != element.default_class.name:
                element.attributes["class"] = wanted
        inferred = element.resolved()
        for name, row in element.row.attributes.items():
            value = values.get(name)
            if value is None:
                continue
            if row.keywords is TRISTATE and isinstance(value, bool):
                # the automatic word is kept if it gives the same result
                bounds, word = values[name.replace("limited", "range")], inferred[name]
                means = bounds[0] < bounds[1] if word == "auto" else word == "true"
                value = word if means == value else "true" if value else "false"
            if row.required or name in keep or value != inferred.get(name):
                below, count = inferred.get(name), len(value) if isinstance(value, tuple) else 0
                if row.partial and count and name not in keep and below is not None and count == len(below):
                    # without the tail that is inferred when it is left out
                    while count > row.low and value[count - 1] == below[count - 1]:
                        count -= 1
                    value = value[:count]
                element.attributes[name] = value
        return element

    def copy_children(self, origin: Element, into: Element) -> None:
        """Copy the content of ``origin``, an element of the source, to the end of ``into``."""
        for child in origin.children:
            copy = Element(child.row, self.tree, into, dict(child.attributes))
            into.children.append(copy)
            self.copy_children(child, copy)

    def put_choice(self, section: Element, values: Values, origin: Element | None, instance: int) -> Element:
        """Add an actuator or a sensor of a plugin; return the new element.

        The settings of an unnamed instance are copied from ``origin``. Raises MjcfError if ``origin`` is then None.
        """
        name = self.name("plugin", instance)
        plugin = internals.plugins(self.m)[instance]
        element = self.put(section, "plugin", {**values, "plugin": plugin, "instance": name}, origin)
        if not name:
            if origin is None:
                raise element.error("can't be saved: its plugin instance has no name, and its source is not known")
            self.copy_children(origin, element)
        return element

    def put_plugin(self, origin: Element | None, into: Element, instance: int) -> None:
        """Add the ``plugin`` child of an element.

        The child gives the name of the plugin instance or, if the instance has no name, the settings in the source.

        Raises:
            MjcfError: the instance is unnamed, and the element of the source is not known.
        """
        name = self.name("plugin", instance)
        if name:
            self.put(into, "plugin", {"instance": name})
        elif instance >= 0:
            source = origin.child("plugin") if origin is not None else None
            if source is None:
                raise into.error("can't be saved: its plugin instance has no name, and its bodies were fused", "plugin")
            self.copy_children(source, into.append("plugin", dict(source.attributes), source))

    def put_user(self, values: Values, field: str, number: int) -> None:
        """Set ``user`` in ``values`` to the user values of an object, or to None if all of them are 0."""
        user = plain(internals.array(self.m, field)[number])
        values["user"] = user if any(user) else None


def word_of(row: Attribute, number: int) -> str:
    """Return the keyword of an attribute with the given number. Raises MjcfError if there is none."""
    assert isinstance(row.keywords, Words)
    word = row.keywords.words.get(number)
    if word is None:
        raise MjcfError(f"the model holds {number}, which is not the number of a keyword", attribute=row.name)
    return word


def plain(value: Any) -> Any:
    """Convert a field's value to Python numbers or tuples.

    A single-precision number becomes the double with the same shortest decimal text.
    """
    array = np.asarray(value)
    if array.dtype == np.float32:
        array = np.array([float(str(item)) for item in array.ravel()]).reshape(array.shape)
    found = array.tolist()
    return tuple(found) if isinstance(found, list) else found


def statistics(m: MjModel) -> dict[str, Any]:
    """Return the fields of ``m.stat`` by name, as Python numbers or tuples, for `canonical_tree`."""
    memory = internals.memory(m)
    return {
        short: memory.scalars[name].item() if is_scalar else tuple(memory.arrays[name].tolist())
        for short, name, is_scalar in _STATISTICS
    }


_STATISTICS = [(field.name.removeprefix("stat."), field.name, field.is_scalar) for field in MODEL.members("stat.")]


# --- origins ----------------------------------------------------------------------------------------------------------

_SECTIONS = dict.fromkeys(("texture", "material", "mesh", "hfield", "skin"), "asset") | {
    "pair": "contact", "equality": "equality", "tendon": "tendon", "actuator": "actuator", "sensor": "sensor",
    "key": "keyframe", "flex": "deformable",
}  # fmt: skip
# sections whose objects the compiler sorts
_SORTED = ("pair",)


class Origins:
    """Elements of a source tree by kind and id."""

    def __init__(self, source: ModelTree, names: dict[str, list[str]], pieces: list[int]) -> None:
        self._source = source
        self._names = names
        self._places = [*accumulate((not piece for piece in pieces), initial=0)]  # of geoms, without convex pieces
        self._in_order: dict[str, list[Element]] = {}
        elements: list[Element] = []
        for body in bodies_of(source):
            elements.append(body)
            elements += [part for part, _ in body.content() if part.tag != "body"]
        for kind, section in _SECTIONS.items():
            elements += [element for element in source.section(section).children if element.row.kind == kind]
        for element in elements:
            kind = "body" if element.tag == "worldbody" else element.row.kind
            if kind:
                self._in_order.setdefault(kind, []).append(element)

    def find(self, kind: str, number: int) -> Element | None:
        """Return the source element of an object, given by kind and id, or None if the element is not known."""
        names, elements = self._names[kind], self._in_order.get(kind, [])
        if names[number]:
            found = self._source.find(kind, names[number])
            if found is not None:
                return found
        places = self._places if kind == "geom" else range(len(names) + 1)
        return None if places[-1] != len(elements) or kind in _SORTED else elements[places[number]]


def asset_name(element: Element) -> str | None:
    """Return the name of an asset: the given name, or its file's name without folder and extension."""
    path = element.attributes.get("file")
    return element.name or (Path(path.replace("\\", "/")).stem if path else None)
