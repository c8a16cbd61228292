"""Reader of composite elements, and functions that add the elements to replace them.

The added elements do not inherit from default classes, as in the reference: their attributes have the values that the
composite gives, or else the defaults of the language.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from struct import pack, unpack
from typing import TYPE_CHECKING, Any

from cardan.maths.types import Vec3
from cardan.spec.defaults import overlay
from cardan.spec.element import Element
from cardan.spec.repeated import OWN, TIE, repeated
from cardan.spec.schema.body import BODY
from cardan.spec.schema.shared import SOLIMP, SOLREF

if TYPE_CHECKING:
    from cardan.spec.defaults import DefaultClass

Values = dict[str, Any]

COVERED = {"group": 3}  # group of elements that a skin covers; it is not shown
STIFF: Values = {"solref": (0.01, 1.0), "solimp": (0.99, 0.99)}

_SOLVER = frozenset(("solref", "solimp"))
# ``limited`` has no effect, as in the reference: joints and tendons with a range are limited
_NOT_OF_PARTS = frozenset(("kind", "solreffix", "solimpfix", "limited"))


def single(value: float) -> float:
    """Round a number to single precision. The reference stores vertices in single precision."""
    return unpack("f", pack("f", value))[0]


def difference(first: Vec3, second: Vec3) -> Vec3:
    """Return the vector from ``first`` to ``second``, rounded to single precision."""
    return single(second[0] - first[0]), single(second[1] - first[1]), single(second[2] - first[2])


@dataclass(frozen=True)
class Part:
    """Attributes of one kind of element of a composite, and the element of the text that gives them.

    For tendons, ``fix`` contains ``solref`` and ``solimp`` of the constraint that keeps the length of each tendon.
    """

    origin: Element
    values: Values
    fix: Values = field(default_factory=dict)


@dataclass
class Composite:
    """One composite element, and the elements that replace it."""

    macro: Element
    counts: tuple[int, int, int]  # number of bodies in each dimension
    spacing: float  # distance between neighbours, m
    offset: Vec3  # offset of the object from the surrounding frame, m
    points: list[Vec3] | None  # positions of the user's vertices, m; None if the counts determine them
    joints: Mapping[str, list[Part]]  # joints by kind, each in the user's order
    tendons: Mapping[str, Part]  # tendons by kind
    geom: Part
    site: Part
    skin: Part | None
    pins: set[tuple[int, int]]  # grid coordinates of bodies without joints
    members: list[Element] = field(default_factory=list)  # bodies and geoms that replace the composite, in order

    # --- values ------------------------------------------------------------------------------------------------------

    @property
    def dimensions(self) -> int:
        """Number of dimensions with more than one body."""
        return sum(count > 1 for count in self.counts)

    @property
    def geom_size(self) -> Vec3:
        """Size of the geoms as three numbers. Numbers that are not given are 0."""
        x, y, z = (*self.geom.values.get("size", ()), 0.0, 0.0, 0.0)[:3]
        return x, y, z

    def joint(self, kind: str) -> Part | None:
        """Return the first joint of a kind, or None if no joint of this kind is given."""
        return next(iter(self.joints.get(kind, ())), None)

    def main_joint(self) -> Part:
        """Return the attributes of the joint that every body has."""
        return self.joint("main") or Part(self.macro, dict(COVERED))

    def main_tendon(self) -> Part:
        """Return the attributes of the tendons between neighbours."""
        return self.tendons.get("main") or Part(self.macro, {}, {})

    def smooth(self, base: Values) -> Values:
        """Return ``solref`` and ``solimp`` of the constraints between neighbours. ``base`` has the defaults."""
        return _solver(self.macro, "smooth", base)

    @cached_property
    def prefix(self) -> str:
        """Prefix of the names of all elements."""
        return self.macro["prefix"] or ""

    def name(self, *parts: object) -> str:
        """Compose the name of an element from the prefix, a letter and numbers, like ``B0_2``."""
        return f"{self.prefix}{parts[0]}" + "_".join(map(str, parts[1:]))

    # --- elements ----------------------------------------------------------------------------------------------------

    def body(self, parent: Element | None, name: str, **given: Any) -> Element:
        """Add a body inside ``parent``, or in place of the composite if ``parent`` is None. Return the body."""
        if parent is not None:
            return parent.append("body", {"name": name, **given}, self.macro)
        body = self.model_body(name, **given)
        self.members.append(body)
        return body

    def model_body(self, name: str, **given: Any) -> Element:
        """Return a body that is not added yet: a template for bodies in place of the composite."""
        return self._inside(self.macro.parent, "body", self.macro, {"name": name, **given})

    def _inside(self, parent: Element | None, tag: str, origin: Element, given: Mapping[str, Any]) -> Element:
        """Return a new element whose parent is set, but which is not yet among the parent's children."""
        assert parent is not None
        return Element(parent.row.children[tag], parent.tree, parent, dict(given), origin.source, origin.line)

    @cached_property
    def _set_entries(self) -> set[str | None]:
        """Entries (kinds of elements) for which at least one default class sets attributes."""
        return {entry for cls in self.macro.tree.defaults for entry in cls.entries}

    @cached_property
    def _class_inside(self) -> DefaultClass:
        """Default class that applies inside all bodies of the composite."""
        body = self.model_body("")
        return Element(BODY.children["geom"], body.tree, body).default_class

    def add(self, body: Element, tag: str, part: Part, **given: Any) -> None:
        """Add a joint, geom or site with the values of ``part`` to a body. ``given`` values replace the part's."""
        element = body.append(tag, {**part.values, **given}, part.origin)
        if element.row.entry in self._set_entries:
            _cover_class(element, self._class_inside)

    def add_geom_here(self, **given: Any) -> None:
        """Add a geom in place of the composite, to the surrounding body."""
        geom = self._inside(self.macro.parent, "geom", self.geom.origin, {**self.geom.values, **given})
        _cover_class(geom, geom.default_class)
        self.members.append(geom)

    def relation(self, section: str, tag: str, origin: Element | None = None, **given: Any) -> Element:
        """Add an element at the end of a section (a tendon, an equality constraint, a skin, ...) and return it."""
        element = self.macro.tree.section(section).append(tag, given, origin or self.macro)
        if element.row.entry in self._set_entries:
            _cover_class(element, element.default_class)
        return element

    def held_tendons(self, ties: Sequence[tuple[str, str, str]], tendon: Part, given: Mapping[str, Any]) -> None:
        """Add spatial tendons between pairs of sites, and equality constraints that keep their lengths constant.

        ``ties`` has each tendon's name and the names of its two sites. ``given`` has the attributes of the tendons,
        ``tendon.fix`` the solver parameters of the constraints.
        """
        if not ties:
            return
        name, *sites = ties[0]
        tree, origin = self.macro.tree, tendon.origin
        model = self.relation("tendon", "spatial", origin, name=name, **given)
        for site in sites:
            model.append("site", {"site": site}, origin)
        tree.section("tendon").children[-1:] = repeated(model, TIE, ties)
        model = self.relation("equality", "tendon", origin, tendon1=name, **tendon.fix)
        tree.section("equality").children[-1:] = repeated(model, ((OWN, "tendon1"),), ((tie[0],) for tie in ties))


def _cover_class(element: Element, cls: DefaultClass) -> None:
    """Neutralise a default class for an element: reset attributes that the class changes, unless they are given."""
    row, given = element.row, element.attributes
    changed = cls.changes(row)
    if not changed:
        return
    if row.partial.isdisjoint(given):
        given.update({name: row.defaults[name] for name in changed if name not in given})
    else:
        plain = overlay(row.defaults, given, row.partial)
        given.update({name: plain[name] for name in changed})


# --- reading ---------------------------------------------------------------------------------------------------------


def _solver(element: Element, suffix: str, base: Values) -> Values:
    """Return ``solref`` and ``solimp`` from the attributes ``solref<suffix>``, ... ``base`` has the defaults."""
    given = {name: element.attributes.get(name + suffix) for name in _SOLVER}
    given = {name: value for name, value in given.items() if value is not None}
    return overlay({"solref": SOLREF, "solimp": SOLIMP, **base} if given else base, given, _SOLVER)


def read_composite(macro: Element, geom: Values, tendon_fix: Values, covers: bool) -> Composite:
    """Read a composite element ``macro``. Raises MjcfError for invalid or contradictory values.

    ``geom``, ``tendon_fix`` and ``covers`` are attributes of the composite's type (`Kind`).
    """
    skin = macro.child("skin")
    hidden = COVERED if skin is not None and covers else {}
    tendons = {"main": Part(macro, dict(hidden), tendon_fix)}
    for element in macro.all("tendon"):
        kind = element["kind"]
        before = tendons.get(kind) or Part(macro, dict(hidden))
        tendons[kind] = _part(element, before.values, _solver(element, "fix", before.fix))
    joints: dict[str, list[Part]] = {}
    for element in macro.all("joint"):
        kind = element["kind"]
        if kind in joints and macro["type"] != "particle":
            raise element.error(f"there is another '{kind}' joint: only particles may have several", "kind")
        joints.setdefault(kind, []).append(_part(element, COVERED))
    values = macro.resolved()
    counts, points = _counts(macro, values), _points(macro)
    if points is not None:
        counts = (len(points), 1, 1)
    return Composite(
        macro,
        counts,
        values["spacing"] or 0.0,
        values["offset"],
        points,
        joints,
        tendons,
        _part(macro.child("geom") or macro, {**hidden, **geom}),
        _part(macro.child("site") or macro, COVERED),
        None if skin is None else _part(skin, {}),
        {((*element["coord"], 0)[0], (*element["coord"], 0)[1]) for element in macro.all("pin")},
    )


def _part(element: Element, base: Mapping[str, Any], fix: Values | None = None) -> Part:
    """Return the `Part` of a sub-element: the values in ``base``, replaced by those that the sub-element gives.

    If ``element`` is the composite itself, there is no sub-element, and no value is replaced.
    """
    given = element.attributes.items() if element.tag != "composite" else ()
    return Part(element, {**base, **{name: value for name, value in given if name not in _NOT_OF_PARTS}}, fix or {})


def _counts(macro: Element, values: Values) -> tuple[int, int, int]:
    """Return the number of bodies in each dimension. Raises MjcfError for counts below 1, or above 1 after a 1."""
    padded = (*values["count"], 1, 1)
    counts = (padded[0], padded[1], padded[2])
    if min(counts) < 1:
        raise macro.error(f"counts must be positive, got {counts}", "count")
    for first, second in pairwise(counts):
        if first == 1 and second > 1:
            raise macro.error(f"counts of 1 must come last, got {counts}", "count")
    return counts


def _points(macro: Element) -> list[Vec3] | None:
    """Return the user's vertices (m), or None if there are none. An incomplete last vertex is ignored."""
    numbers = macro["vertex"]
    if not numbers:
        return None
    if len(numbers) < 3:
        raise macro.error(f"three numbers a vertex are needed, got {len(numbers)}", "vertex")
    if any(count > 1 for count in macro["count"]):
        raise macro.error("give the vertices or their count, not both", "vertex")
    numbers = [single(number) for number in numbers]
    return [(x, y, z) for x, y, z in zip(numbers[::3], numbers[1::3], numbers[2::3], strict=False)]


def cells_of(counts: tuple[int, int, int]) -> list[tuple[int, int, int]]:
    """Return the grid coordinates of all bodies. The last coordinate varies fastest."""
    rows, columns, layers = counts
    return [(i, j, k) for i in range(rows) for j in range(columns) for k in range(layers)]
