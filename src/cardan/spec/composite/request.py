"""What a composite element asks for: its numbers, and the values of the elements that it will be made of."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from struct import pack, unpack
from typing import TYPE_CHECKING, Any

from cardan.maths.types import Vec3
from cardan.spec.composite.builder import Builder
from cardan.spec.overlay import overlay
from cardan.spec.schema.shared import SOLIMP, SOLREF

if TYPE_CHECKING:
    from cardan.spec.element import Element

Values = dict[str, Any]

COVERED = {"group": 3}  # where what a skin covers goes: a group that is not shown
STIFF: Values = {"solref": (0.01, 1.0), "solimp": (0.99, 0.99)}

_SOLVER = frozenset(("solref", "solimp"))
# ``limited`` has no effect, as in the reference: joints and tendons with a range are limited
_NOT_OF_PARTS = frozenset(("kind", "solreffix", "solimpfix", "limited"))


def single(value: float) -> float:
    """A number rounded to single precision, in which the reference keeps vertices."""
    return unpack("f", pack("f", value))[0]


def difference(first: Vec3, second: Vec3) -> Vec3:
    """The vector between two vertices, in single precision like these."""
    return single(second[0] - first[0]), single(second[1] - first[1]), single(second[2] - first[2])


@dataclass(frozen=True)
class Part:
    """Values of one kind of element that a composite is made of.

    Attributes:
        origin: the sub-element that gave them, or the composite itself.
        values: attributes of the elements.
        fix: ``solref`` and ``solimp`` of the equality constraint that holds each of them.
    """

    origin: Element
    values: Values
    fix: Values = field(default_factory=dict)


@dataclass
class Composite:
    """One composite element, read.

    Attributes:
        macro: the element.
        build: where its elements are added.
        counts: number of bodies a dimension.
        spacing: distance between neighbours, m.
        offset: of the object from the frame around, m.
        points: positions of the vertices that the user gave, m; None when the counts say where bodies are.
        joints: joints by kind, each in the user's order.
        tendons: tendons by kind.
        geom, site: of each body.
        skin: values of the skin, None when there is none.
    """

    macro: Element
    build: Builder
    counts: tuple[int, int, int]
    spacing: float
    offset: Vec3
    points: list[Vec3] | None
    joints: Mapping[str, list[Part]]
    tendons: Mapping[str, Part]
    geom: Part
    site: Part
    skin: Part | None
    pins: set[tuple[int, int]]

    @property
    def dimensions(self) -> int:
        """Number of dimensions in which there is more than one body."""
        return sum(count > 1 for count in self.counts)

    def joint(self, kind: str) -> Part | None:
        """The joints of a kind of which there may be one only, None when there are none."""
        return next(iter(self.joints.get(kind, ())), None)

    def main_joint(self) -> Part:
        """The joints that every body has."""
        return self.joint("main") or Part(self.macro, dict(COVERED))

    def main_tendon(self) -> Part:
        """The tendons between neighbours."""
        return self.tendons.get("main") or Part(self.macro, {}, {})

    def smooth(self, base: Values) -> Values:
        """``solref`` and ``solimp`` of the constraints between neighbours, over those of ``base``."""
        return _solver(self.macro, "smooth", base)


def _solver(element: Element, suffix: str, base: Values) -> Values:
    """``solref`` and ``solimp`` as an element gives them under names with a suffix, over those of ``base``."""
    given = {name: element.attributes.get(name + suffix) for name in _SOLVER}
    given = {name: value for name, value in given.items() if value is not None}
    return overlay({"solref": SOLREF, "solimp": SOLIMP, **base} if given else base, given, _SOLVER)


def read_composite(macro: Element, geom: Values, tendon_fix: Values, covers: bool) -> Composite:
    """Read a composite's element.

    Args:
        macro: the element.
        geom: values of its type's geoms, where they are not the language's.
        tendon_fix: ``solref`` and ``solimp`` of the constraint that holds its main tendons.
        covers: whether a skin puts geoms and tendons into a group that is not shown.

    Raises:
        MjcfError: the element breaks a rule of composites.
    """
    skin = macro.child("skin")
    hidden = COVERED if skin is not None and covers else {}
    tendons = {"main": Part(macro, dict(hidden), tendon_fix)}
    for element in macro.all("tendon"):
        kind = element["kind"]
        before = tendons.get(kind) or Part(macro, dict(hidden))
        tendons[kind] = _part(element, before.values, _solver(element, "fix", before.fix))
    values = macro.resolved()
    counts, points = _counts(macro, values), _points(macro)
    if points is not None:
        counts = (len(points), 1, 1)
    return Composite(
        macro,
        Builder(macro),
        counts,
        values["spacing"] or 0.0,
        values["offset"],
        points,
        _joints(macro),
        tendons,
        _part(macro.child("geom") or macro, {**hidden, **geom}),
        _part(macro.child("site") or macro, COVERED),
        None if skin is None else _part(skin, {}),
        {_pin(element) for element in macro.all("pin")},
    )


def _part(element: Element, base: Mapping[str, Any], fix: Values | None = None) -> Part:
    """What a sub-element gives, over the ``base`` values; the base alone for the composite itself."""
    if element.tag == "composite":
        return Part(element, dict(base), fix or {})
    given = {name: value for name, value in element.attributes.items() if name not in _NOT_OF_PARTS}
    return Part(element, {**base, **given}, fix or {})


def _joints(macro: Element) -> dict[str, list[Part]]:
    """The joints by kind."""
    joints: dict[str, list[Part]] = {}
    for element in macro.all("joint"):
        kind = element["kind"]
        if kind in joints and macro["type"] != "particle":
            raise element.error(f"there is another '{kind}' joint: only particles may have several", "kind")
        joints.setdefault(kind, []).append(_part(element, COVERED))
    return joints


def _pin(element: Element) -> tuple[int, int]:
    """Grid coordinates of a pinned body."""
    coordinates = element["coord"]
    return (coordinates[0], coordinates[1] if len(coordinates) > 1 else 0)


def _counts(macro: Element, values: Values) -> tuple[int, int, int]:
    """Number of bodies a dimension; raises MjcfError unless they are positive, those of 1 last."""
    given = values["count"]
    padded = (*given, 1, 1)
    counts = (padded[0], padded[1], padded[2])
    if min(counts) < 1:
        raise macro.error(f"counts must be positive, got {counts}", "count")
    for first, second in pairwise(counts):
        if first == 1 and second > 1:
            raise macro.error(f"counts of 1 must come last, got {counts}", "count")
    return counts


def _points(macro: Element) -> list[Vec3] | None:
    """The user's vertices, None when there are none; numbers beyond the last full triple are left out."""
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
    """Grid coordinates of all bodies, the last coordinate changing first."""
    rows, columns, layers = counts
    return [(i, j, k) for i in range(rows) for j in range(columns) for k in range(layers)]


def size_of_geom(composite: Composite) -> Vec3:
    """The three numbers of the geoms' size, 0 where none is given."""
    x, y, z = (*composite.geom.values.get("size", ()), 0.0, 0.0, 0.0)[:3]
    return x, y, z
