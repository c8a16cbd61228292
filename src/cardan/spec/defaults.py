"""Default classes: named sets of attribute values, each class starting as a copy of its parent's.

Spec: modeling, "Default settings". A class holds one flat dict per entry (``geom``, ``joint``, ``general``, ...) with
the values that it or its ancestors set. Values that a parent sets after a child was made do not affect the child.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from cardan.compat import VERSIONS
from cardan.spec.actuator import GAIN_TYPES, LATER_SHORTCUTS, PARAMETERS, SHORTCUTS, apply_shortcut
from cardan.spec.schema.shared import ORIENTATION

if TYPE_CHECKING:
    from cardan.spec.element import Element
    from cardan.spec.schema.rows import ElementRow

GLOBAL_CLASS = "main"


_WAYS = frozenset(row.name for row in ORIENTATION if row.default is None)
"""Attributes that give an orientation in place of ``quat``."""
_NOTHING: frozenset[str] = frozenset()


def overlay(base: Mapping[str, Any], given: Mapping[str, Any], partial: frozenset[str]) -> dict[str, Any]:
    """Return ``base`` updated by ``given`` (spec: modeling, "Default settings").

    If the name of a vector is in ``partial``, a given vector that is too short replaces only the first values of the
    vector in ``base``.
    """
    return {**base, **(given if partial.isdisjoint(given) else given_over(base, given, partial))}


def given_over(base: Mapping[str, Any], given: Mapping[str, Any], partial: frozenset[str]) -> dict[str, Any]:
    """Return the ``given`` values only, with short vectors completed from ``base`` as in `overlay`."""
    values = {**given}
    for name in given.keys() & partial:
        below, above = base.get(name), given[name]
        if below is not None and len(above) < len(below):
            values[name] = above + below[len(above) :]
    return values


def superseded(given: Mapping[str, Any], version: str) -> frozenset[str]:
    """Return the orientation attributes that do not apply because ``given`` has an orientation in another format.

    An element has only one orientation. A quaternion replaces other orientations only in MuJoCo 4.0.
    """
    if _WAYS.isdisjoint(given) and not (version == "4.0" and "quat" in given):
        return _NOTHING
    return _WAYS.difference(given)


class DefaultClass:
    """One default class: ``entries[entry][attribute]`` holds the values set by it or inherited from its ``parent``.

    ``version`` is the version of the language whose defaults apply if no class sets a value. ``actuator`` is the tag of
    the entry by which this class last set actuator defaults, or None if it sets none.
    """

    __slots__ = ("_bases", "_changes", "actuator", "children", "entries", "name", "parent", "version")

    def __init__(self, name: str, parent: DefaultClass | None = None, version: str = VERSIONS[0]) -> None:
        self.name = name
        self.version = version if parent is None else parent.version
        self.parent = parent
        self.children: list[DefaultClass] = []
        self.actuator: str | None = None
        self.entries: dict[str, dict[str, Any]] = {k: dict(v) for k, v in parent.entries.items()} if parent else {}
        self._bases: dict[ElementRow, dict[str, Any]] = {}
        self._changes: dict[ElementRow, list[str]] = {}
        if parent is not None:
            parent.children.append(self)

    def __repr__(self) -> str:
        return f"DefaultClass({self.name!r})"

    def set(self, row: ElementRow, given: Mapping[str, Any]) -> None:
        """Set attributes of one entry. ``row`` is the entry's row in ``<default>``, ``given`` has values by name."""
        if row.tag in SHORTCUTS:
            # the general form of an actuator of this row with these attributes
            own = self.entries.setdefault("general", {})
            below = {**row.defaults_in(self.version), **own}
            values = overlay(self._below(row), given, row.partial)
            apply_shortcut(row.tag, values, given, self.version)
            changed = set(given) | {name for name in values if values[name] != below.get(name)}
            own.update({name: values[name] for name in changed if name in values})
            self.actuator = row.tag
        else:
            own = self.entries.setdefault(row.tag, {})
            for name in superseded(given, self.version):
                own.pop(name, None)
            if row.partial.isdisjoint(given):
                own.update(given)
            else:
                own |= given_over({**row.defaults_in(self.version), **own}, given, row.partial)
        self._forget()

    def remove(self, entry: str, name: str) -> None:
        """Remove the value of an attribute from one entry, even if the class inherited it."""
        self.entries.get(entry, {}).pop(name, None)
        self._forget()

    def change_version(self, version: str) -> None:
        """Set the version whose defaults apply where no class sets a value."""
        self.version = version
        self._forget()

    def _forget(self) -> None:
        """Discard cached results derived from the values."""
        self._bases.clear()
        self._changes.clear()

    def names_inside(self) -> set[str]:
        """Return the names of this class and of its descendants."""
        return {self.name}.union(*(child.names_inside() for child in self.children))

    def copy_entries(self, entries: Mapping[str, Mapping[str, Any]], actuator: str | None) -> None:
        """Replace all values of this class by copies of another class's ``entries`` and ``actuator``."""
        self.actuator = actuator
        self.entries = {entry: dict(values) for entry, values in entries.items()}
        self._forget()

    def base(self, row: ElementRow) -> dict[str, Any]:
        """Return the values that an element of this class has without explicit attributes. Do not change the dict."""
        base = self._bases.get(row)
        if base is None:
            base = self._bases[row] = (
                self._below(row)
                if row.tag in SHORTCUTS
                else {**row.defaults_in(self.version), **self.entries.get(row.entry or "", {})}
            )
        return base

    def _below(self, row: ElementRow) -> dict[str, Any]:
        """Return the values of all attributes that an actuator, or a default entry, with this row leaves out.

        In 4.0, and for shortcuts that 3.1 does not have, a shortcut takes its parameters from the nearest class (this
        one or an ancestor) with suitable actuator defaults: set by the same shortcut, or by ``general`` with the
        shortcut's type of gain.
        """
        defaults, own = row.defaults_in(self.version), self.entries.get("general", {})
        if (self.version == VERSIONS[0] and row.tag not in LATER_SHORTCUTS) or row.tag == "general":
            return {**defaults, **own}
        cls: DefaultClass | None = self
        while cls is not None and not cls._gives_parameters(row.tag):
            cls = cls.parent
        found = cls.entries["general"] if cls is not None else {}
        # other shortcuts leave inheritrange as it is
        names = (*PARAMETERS, *(name for name in ("inheritrange", "input") if name in row.attributes))
        mechanical = {name: value for name, value in own.items() if name not in names}
        return {**defaults, **mechanical, **{name: found[name] for name in names if name in found}}

    def _gives_parameters(self, tag: str) -> bool:
        """Return whether this class sets actuator defaults from which the shortcut ``tag`` takes its parameters."""
        gain = self.entries.get("general", {}).get("gaintype", "fixed")
        return self.actuator == tag or (self.actuator == "general" and gain == GAIN_TYPES.get(tag, "fixed"))

    def changes(self, row: ElementRow) -> list[str]:
        """Return the attributes whose default in this class differs from the language's. Do not change the list."""
        changes = self._changes.get(row)
        if changes is None:
            own = self.entries.get(row.entry or "", {})
            defaults = row.defaults_in(self.version)
            changes = self._changes[row] = [name for name, value in own.items() if value != defaults.get(name)]
        return changes


class Defaults:
    """All default classes of a model: the global class ``main``, which the user may rename, and its descendants."""

    def __init__(self, version: str = VERSIONS[0]) -> None:
        self.main = DefaultClass(GLOBAL_CLASS, version=version)
        self._classes: dict[str, DefaultClass] = {GLOBAL_CLASS: self.main}

    def set_version(self, version: str) -> None:
        """Set the version of MuJoCo whose defaults apply where no class sets a value."""
        for cls in self:
            cls.change_version(version)

    def __iter__(self) -> Iterator[DefaultClass]:
        return iter(self._classes.values())

    def __getitem__(self, name: str) -> DefaultClass:
        return self._classes[name]

    def __contains__(self, name: str) -> bool:
        return name in self._classes

    def names(self) -> list[str]:
        """Return the names of all classes, the global one first."""
        return list(self._classes)

    def add(self, name: str, parent: DefaultClass | None = None) -> DefaultClass:
        """Add a class inside ``parent`` (default: the global class). Raises ValueError if the name is taken."""
        if name in self._classes:
            raise ValueError(f"default class '{name}' is defined twice")
        made = self._classes[name] = DefaultClass(name, parent or self.main)
        return made

    def remove(self, cls: DefaultClass) -> None:
        """Remove a class and its descendants. Raises ValueError for the global class."""
        if cls.parent is None:
            raise ValueError("the global default class can't be removed")
        for name in cls.names_inside():
            del self._classes[name]
        cls.parent.children.remove(cls)

    def define(self, section: Element) -> None:
        """Define the classes of a top-level ``<default>`` element.

        All top-level elements add to one global class, and the last one names it. Raises MjcfError for a class that is
        defined twice or has no name.
        """
        stack: list[tuple[Element, DefaultClass | None]] = [(section, None)]
        while stack:
            element, parent = stack.pop()
            name, cls = element.attributes.get("class"), self.main
            if parent is not None and not name:
                raise element.error("required attribute missing inside another default class", "class")
            try:
                if parent is not None:
                    cls = self.add(name or "", parent)
                else:
                    self.rename_main(name or GLOBAL_CLASS)
            except ValueError as error:
                raise element.error(str(error), "class") from None
            for child in element.children:
                if child.tag != section.tag:
                    cls.set(child.row, child.attributes)
            inside = [(child, cls) for child in element.all(section.tag)]
            stack.extend(inside[::-1])

    def rename_main(self, name: str) -> None:
        """Rename the global class. Raises ValueError if the name is taken."""
        if name == self.main.name:
            return
        if name in self._classes:
            raise ValueError(f"default class '{name}' is defined twice")
        others = {key: cls for key, cls in self._classes.items() if cls is not self.main}
        self.main.name = name
        self._classes = {name: self.main, **others}
