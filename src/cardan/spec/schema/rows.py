"""Types of the rows of the MJCF table: a row describes one attribute or one element.

The table itself is in the other modules of this package. It is written with the short constructors at the end of this
file, and assembled in ``language``. Reader, tree, error messages and documentation are all driven by the table (spec:
modeling, "MJCF").
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any

OWN = "Cardan"
"""Value of ``since`` for elements and attributes that exist only in Cardan."""


class Type(StrEnum):
    """Type of an attribute's text, and of its Python value in the tree."""

    REAL = "real"  # float, or tuple of floats if more than one is allowed
    INT = "int"  # int, or tuple of ints if more than one is allowed
    BOOL = "bool"  # bool, written true/false (or disable/enable for flags)
    KEYWORD = "keyword"  # str, one of the attribute's keywords
    STRING = "string"  # str
    REFERENCE = "reference"  # str, the name of an object of the attribute's kind
    FILE = "file"  # str, a path
    KEYWORDS = "keywords"  # tuple of different words among the attribute's keywords, separated by spaces
    MEMORY = "memory"  # int, bytes; a number with a suffix K, M, G, T, P or E (-1: not given)


class _Same:
    """Marker value of `Attribute.default_4_0`: the default is equal in all versions."""

    def __repr__(self) -> str:
        return "SAME"


SAME = _Same()


@dataclass(frozen=True, slots=True)
class Attribute:
    """One attribute of an element.

    ``low`` and ``high`` bound the number of values (``high=None``: any number). If ``low < high`` and the default is a
    tuple of ``high`` values, fewer given values replace the first ones of the default. ``default`` None means
    "undefined": the compiler infers the value. ``keywords`` maps each word to its number in the engine's enumerations
    (for BOOL: to a bool). ``kind`` is the kind of object that a REFERENCE names; ``@x`` means that the sibling
    attribute ``x`` holds the kind. ``later`` is the name of a missing feature. If the function ``needs`` is given,
    values for which it returns True need this feature. Otherwise, all values except the default need it.
    ``many``: a REFERENCE may name several objects, separated by white space.
    ``later_keywords`` has the missing features of single words. ``scales``: values other than the default scale the
    content of the element. ``repeat``: a single value means ``high`` equal values.
    ``polynomial``: the values are coefficients; zeros at the end are dropped, and a single one is a bare value.
    ``since`` is the version of MuJoCo that introduced the attribute, ``until`` the last version that had it (None: both
    3.1 and 4.0 have it). ``default_4_0`` is the default in 4.0, if different. ``alias`` is another name of the
    attribute, under which the tree holds the value. ``means`` maps values of this attribute to the values under the
    other name, if they differ.
    """

    name: str
    type: Type
    meaning: str
    low: int = 1
    high: int | None = 1
    default: Any = None
    required: bool = False
    keywords: Mapping[str, Any] = field(default_factory=dict)
    kind: str | None = None
    later: str | None = None
    later_keywords: Mapping[str, str] = field(default_factory=dict)
    since: str | None = None
    until: str | None = None
    repeat: bool = False
    default_4_0: Any = SAME
    alias: str | None = None
    needs: Callable[[Any], bool] | None = None
    polynomial: bool = False
    means: Mapping[Any, Any] | None = None
    scales: bool = False
    many: bool = False

    def from_alias(self, value: Any) -> Any:
        """Return this attribute's value for a value of the attribute ``alias``, or False if there is none."""
        if self.means is None:
            return value
        return next((own for own, other in self.means.items() if other == value), False)

    def missing_feature(self, value: Any) -> str | None:
        """Return the name of the missing feature that a value of the attribute needs, or None."""
        if self.later and value is not None and self._is_needed(value):
            return self.later
        return self.later_keywords.get(value) if isinstance(value, str) else None

    def is_noted(self, value: Any) -> bool:
        """Return whether a value must be noted in the tree: it needs a missing feature, or scales content."""
        return self.missing_feature(value) is not None or (self.scales and value is not None and value != self.default)

    def _is_needed(self, value: Any) -> bool:
        """Return whether a value needs the missing feature ``later``."""
        if self.needs is not None:
            return self.needs(value)
        if self.partial:
            return value != self.default[: len(value)]
        return value != self.default

    @property
    def has_later(self) -> bool:
        """Whether at least one value of the attribute needs a missing feature."""
        return self.later is not None or bool(self.later_keywords)

    @property
    def scalar(self) -> bool:
        """Whether the attribute has exactly one value. The tree then holds a bare value, not a tuple."""
        return self.high == 1

    @property
    def partial(self) -> bool:
        """Whether the attribute may have fewer values than its default.

        Given values then replace the first values of the default.
        """
        return self.high is not None and self.low < self.high and isinstance(self.default, tuple)


@dataclass(slots=True, eq=False)
class ElementRow:
    """One element of the language, inside a given parent.

    ``multiplicity`` is the allowed number in the parent: ``!`` once, ``?`` at most once, ``*`` any number, ``R`` any
    number, also inside itself. ``defaults`` and ``references`` include attributes that only the row of the ``entry``
    has. ``defaults`` are the values in 3.1; `defaults_in` returns the values in a given version.
    """

    tag: str
    meaning: str
    attributes: dict[str, Attribute] = field(default_factory=dict)
    children: dict[str, ElementRow] = field(default_factory=dict)
    multiplicity: str = "*"
    kind: str | None = None  # object kind that the element defines (names of one kind are distinct)
    entry: str | None = None  # tag of the entry in <default> from which undefined attributes are taken
    merged: bool = False  # whether attributes and children of a repeated element are added to the first one
    later: str | None = None  # name of the missing feature, if the element cannot be used yet
    since: str | None = None  # version of MuJoCo that introduced the element, if later than 3.1
    until: str | None = None  # last version of MuJoCo with the element, if earlier than 4.0
    is_entry: bool = False  # whether this is an entry of <default>, not an object
    defaults: dict[str, Any] = field(init=False)  # value of every attribute if nothing sets it (None: undefined)
    changed: dict[str, Any] = field(init=False)  # defaults in 4.0 that differ from 3.1
    aliases: dict[str, str] = field(init=False)  # name in the tree of each attribute with a second name
    second_names: dict[str, Attribute] = field(init=False)  # rows of the second names, by name in the tree
    partial: frozenset[str] = field(init=False)  # names of the vectors that may be given without their last values
    required: tuple[str, ...] = field(init=False)  # names of the attributes that must be given
    references: tuple[Attribute, ...] = field(init=False)  # rows of the attributes that name other objects
    lists: tuple[Attribute, ...] = field(init=False)  # rows of attributes with several names, separated by white space

    def __post_init__(self) -> None:
        self.defaults = {name: row.default for name, row in self.attributes.items() if row.alias is None}
        self.changed = {name: row.default_4_0 for name, row in self.attributes.items() if row.default_4_0 is not SAME}
        self.aliases = {name: row.alias for name, row in self.attributes.items() if row.alias is not None}
        self.second_names = {row.alias: row for row in self.attributes.values() if row.alias is not None}
        self.partial = frozenset(name for name, row in self.attributes.items() if row.partial)
        self.required = tuple(name for name, row in self.attributes.items() if row.required)
        self.references = tuple(row for row in self.attributes.values() if row.type is Type.REFERENCE)
        self.lists = tuple(row for row in self.attributes.values() if row.type is Type.STRING and row.kind)

    def defaults_in(self, version: str) -> dict[str, Any]:
        """Return the defaults of all attributes in version ``"3.1"`` or ``"4.0"``. Do not change the dict."""
        if not self.changed or version == "3.1":
            return self.defaults
        return {**self.defaults, **self.changed}

    def names_in(self, version: str) -> list[str]:
        """Return the names, in the tree, of a version's attributes. Attributes added after 3.1 are always included."""
        kept = self.aliases.values()
        return [
            name
            for name in self.defaults
            if version == "3.1" or name in kept or name not in self.attributes or self.attributes[name].until is None
        ]

    def named(self, values: Mapping[str, Any], version: str) -> Iterator[tuple[str, Attribute, Any]]:
        """Yield name (in a version), row and value of each attribute that has a value, in the order of the table."""
        for name, row in self.attributes.items():
            value = values.get(name)
            if value is not None:
                other = self.second_names.get(name)
                yield _in_version(row, other, value, version) if other else (name, row, value)

    def put_alias(self, name: str, value: Any) -> tuple[str, Any]:
        """Convert an attribute's name and value to the name and value that the tree holds."""
        row = self.attributes.get(name)
        if row is None or row.alias is None:
            return name, value
        return row.alias, value if row.means is None or value is None else row.means[value]

    def get_alias(self, name: str, values: Mapping[str, Any]) -> Any:
        """Return the value of an attribute from the ``values`` in the tree. The name may be a second name."""
        alias = self.aliases.get(name)
        return values[name] if alias is None else self.attributes[name].from_alias(values[alias])


def _in_version(row: Attribute, other: Attribute, value: Any, version: str) -> tuple[str, Attribute, Any]:
    """Return name, row and value of an attribute in a version. ``other`` is the row of the attribute's second name."""
    lost = (row.since if version == "3.1" else row.until) is not None
    there = (other.since if version == "3.1" else other.until) is None
    if lost and there and (other.means is None or value in other.means.values()):
        return other.name, other, other.from_alias(value)
    return row.name, row, value


# --- constructors of attribute rows ----------------------------------------------------------------------------------


def real(name: str, default: float | None, meaning: str, **more: Any) -> Attribute:
    """Return the row of a real-valued attribute. ``name``, ``default``, ``meaning`` are as in ``Attribute``."""
    return Attribute(name, Type.REAL, meaning, default=default, **more)


def reals(
    name: str, count: int | tuple[int, int | None], default: tuple[float, ...] | None, meaning: str, **more: Any
) -> Attribute:
    """Return the row of an attribute with ``count`` (or ``count[0]`` to ``count[1]``; None: no bound) real numbers.

    ``name``, ``default`` and ``meaning`` are as in ``Attribute``.
    """
    low, high = (count, count) if isinstance(count, int) else count
    return Attribute(name, Type.REAL, meaning, low, high, default, **more)


def integer(name: str, default: int | None, meaning: str, **more: Any) -> Attribute:
    """Return the row of an attribute with a 32-bit integer.

    ``name``, ``default`` and ``meaning`` are as in ``Attribute``.
    """
    return Attribute(name, Type.INT, meaning, default=default, **more)


def integers(
    name: str, count: int | tuple[int, int | None], default: tuple[int, ...] | None, meaning: str, **more: Any
) -> Attribute:
    """Return the row of an attribute with several integers. ``name``, ``default``, ``meaning`` are as in ``Attribute``.

    ``count`` is as for ``reals``.
    """
    low, high = (count, count) if isinstance(count, int) else count
    return Attribute(name, Type.INT, meaning, low, high, default, **more)


def boolean(name: str, default: bool | None, meaning: str, **more: Any) -> Attribute:
    """Return the row of a Boolean attribute. ``name``, ``default``, ``meaning`` are as in ``Attribute``."""
    return Attribute(name, Type.BOOL, meaning, default=default, keywords={"false": False, "true": True}, **more)


def switch(name: str, default: bool, meaning: str, **more: Any) -> Attribute:
    """Return the row of an attribute with the value ``enable`` or ``disable``.

    ``name``, ``default`` and ``meaning`` are as in ``Attribute``.
    """
    return Attribute(name, Type.BOOL, meaning, default=default, keywords={"disable": False, "enable": True}, **more)


def keyword(name: str, words: Mapping[str, int], default: str | None, meaning: str, **more: Any) -> Attribute:
    """Return the row of an attribute with one keyword. ``name``, ``default``, ``meaning`` are as in ``Attribute``."""
    return Attribute(name, Type.KEYWORD, meaning, default=default, keywords=words, **more)


def keywords(
    name: str, words: Mapping[str, int], default: tuple[str, ...] | None, meaning: str, **more: Any
) -> Attribute:
    """Return the row of an attribute with several different words among ``words``, separated by spaces.

    ``name``, ``default`` and ``meaning`` are as in ``Attribute``.
    """
    return Attribute(name, Type.KEYWORDS, meaning, high=None, default=default, keywords=words, **more)


def text(name: str, meaning: str, default: str | None = None, **more: Any) -> Attribute:
    """Return the row of an attribute with free text. ``name``, ``meaning``, ``default`` are as in ``Attribute``."""
    return Attribute(name, Type.STRING, meaning, default=default, **more)


def reference(name: str, kind: str, meaning: str, **more: Any) -> Attribute:
    """Return the row of an attribute that names another object.

    ``kind`` is the object's kind, or ``@`` and the name of the sibling attribute that holds the kind.
    """
    return Attribute(name, Type.REFERENCE, meaning, kind=kind, **more)


def file(name: str, meaning: str, **more: Any) -> Attribute:
    """Return the row of an attribute with a path, relative to the folder that the compiler settings specify."""
    return Attribute(name, Type.FILE, meaning, **more)


def coefficients(name: str, meaning: str) -> Attribute:
    """Return the row of an attribute with 1 to 3 coefficients of a polynomial without constant term, linear first.

    ``name`` and ``meaning`` are as in ``Attribute``.
    """
    return Attribute(name, Type.REAL, meaning, 1, 3, 0.0, polynomial=True)


def is_positive(value: Any) -> bool:
    """Return whether a value is positive. Use it as ``needs`` if other values switch the missing feature off."""
    return value > 0


def counted(row: Attribute, values: tuple[Any, ...]) -> Any:
    """Return numbers in the form of the tree: a bare value for scalars and linear polynomials, otherwise a tuple.

    Zeros at the end of polynomials are dropped. If the attribute has ``repeat``, a single value is repeated.
    """
    if row.polynomial:
        while len(values) > 1 and values[-1] == 0:
            values = values[:-1]
    if values and (row.scalar or (row.polynomial and len(values) == 1)):
        return values[0]
    return values * (row.high or 1) if row.repeat and len(values) == 1 else values


# --- constructors of element rows ------------------------------------------------------------------------------------


def table(*rows: Attribute | Iterable[Attribute]) -> dict[str, Attribute]:
    """Return attribute rows by name. If several rows have the same name, the last one is used."""
    found: dict[str, Attribute] = {}
    for row in rows:
        for attribute in (row,) if isinstance(row, Attribute) else row:
            found[attribute.name] = attribute
    return found


def element(
    tag: str, meaning: str, *rows: Attribute | Iterable[Attribute], children: Iterable[ElementRow] = (), **more: Any
) -> ElementRow:
    """Return an element's row with the given attributes (``rows``) and child elements.

    See ``ElementRow`` for the other arguments.
    """
    return ElementRow(tag, meaning, table(*rows), {child.tag: child for child in children}, **more)


def renamed(name: str, row: Attribute, since: str) -> Attribute:
    """Return a row for the new name of an attribute, in use since version ``since``. 4.0 has only the new name."""
    return replace(row, name=name, since=since, until=None, alias=row.name)


def add_entry_defaults(row: ElementRow, entry: ElementRow) -> None:
    """Add to an element's row the defaults and references that only the row of its ``<default>`` entry has."""
    row.defaults = {**entry.defaults, **row.defaults}
    row.changed = {**entry.changed, **row.changed}
    row.partial |= entry.partial
    row.references += tuple(ref for ref in entry.references if ref.name not in row.attributes)


def entry_row(
    row: ElementRow,
    tag: str,
    drop: Iterable[str] = (),
    keep: Iterable[str] | None = None,
    since: str | None = None,
    children: Iterable[ElementRow] = (),
) -> ElementRow:
    """Return the entry ``tag`` of ``<default>`` for the element of ``row``: without names, classes and references.

    ``drop`` are attributes to leave out, and ``keep`` are the attributes to keep (None: all). ``children`` are the rows
    of child elements.
    """
    left_out = {"name", "class", *drop}
    kept = row.attributes if keep is None else {name: row.attributes[name] for name in keep}
    return ElementRow(
        tag,
        f"defaults of {tag}",
        {n: replace(a, required=False) for n, a in kept.items() if n not in left_out},
        {child.tag: child for child in children},
        "?",
        later=row.later,
        since=since or row.since,
        until=row.until,
        is_entry=True,
    )
