"""Bodies with their joints and geoms, in the form in which the compiler keeps them while it builds a model."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import chain
from operator import attrgetter
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar, cast

from cardan.maths.types import Quat, Vec3
from cardan.spec.repeated import runs

if TYPE_CHECKING:
    from cardan.spec.element import Element
    from cardan.spec.repeated import Pattern, Repeated

Row = TypeVar("Row", bound=NamedTuple)
Placed = tuple["Element", tuple["Element", ...]]  # an element with the frames around it, outermost first


class Geom(NamedTuple):
    """Properties of a geom that computations on its body need: pose in the body, mass, contact settings.

    ``reach`` is the distance below which the geom can have contacts: its margin, plus its gap in MuJoCo 4.0.
    """

    id: int
    group: int
    pos: Vec3
    quat: Quat
    mass: float
    inertia: Vec3
    contype: int
    conaffinity: int
    reach: float
    piece: int  # number of the convex piece, from 1; 0: not a piece


class Joint(NamedTuple):
    """Properties of a joint that computations on its body need: type, position and axis in the body, dofs."""

    id: int
    type: str
    pos: Vec3
    axis: Vec3
    dofadr: int
    dofnum: int


def from_columns(kind: type[Row], *columns: Iterable[Any]) -> list[Row]:
    """Make named tuples from columns, one per member. Calls of the constructor would take three times as long."""
    return [*map(partial(tuple.__new__, kind), zip(*columns, strict=True))]


@dataclass(slots=True)
class Body:
    """One body: position in the tree, inertia, attached objects, and the bodies that were fused with it."""

    element: Element
    id: int
    parent: Body | None
    pos: Vec3 = (0.0, 0.0, 0.0)
    quat: Quat = (1.0, 0.0, 0.0, 0.0)
    mass: float = 0.0
    inertia: Vec3 = (0.0, 0.0, 0.0)
    ipos: Vec3 = (0.0, 0.0, 0.0)
    iquat: Quat = (1.0, 0.0, 0.0, 0.0)
    plugin: int = -1
    inertial: Placed | None = None
    fused: tuple[Placed, ...] = ()
    children: list[Body] = field(default_factory=list)
    joints: Sequence[Joint] = ()
    geoms: Sequence[Geom] = ()
    content: dict[str, list[Placed]] = field(default_factory=dict)

    @property
    def dofnum(self) -> int:
        """Number of degrees of freedom of the body's joints."""
        joints = self.joints
        return joints[-1].dofadr + joints[-1].dofnum - joints[0].dofadr if joints else 0

    def sort_content(self, before: Body | None = None) -> list[Placed]:
        """Group the objects of the body by kind in ``content``; return its child bodies.

        A repeated body has the objects of its pattern's model. If the body ``before`` repeats the same pattern, both
        bodies share their groups.
        """
        pattern = self.element.pattern
        if pattern is None:
            return self._sort(self.element, ())
        if before is None or before.element.pattern is not pattern:
            return self._sort(pattern.model, ())
        self.content, self.inertial = before.content, before.inertial
        return []

    def parts(self, kind: str) -> list[Placed]:
        """Return the objects of one kind.

        In a repeated body, objects that differ from the pattern's are replaced by the body's own copies.
        """
        found = self.content.get(kind, [])
        pattern = self.element.pattern
        if pattern is None or not any(pattern.varies(part) for part, _ in found):
            return found
        own = cast("Repeated", self.element).varied_parts()
        return [(own.get(part, part), frames) for part, frames in found]

    def absorb(self, placed: Placed) -> list[Placed]:
        """Take over the objects of a static body that is fused with this one. Return the static body's children."""
        element, frames = placed
        self.fused += (placed,)
        return self._sort(element, (*frames, element))

    def _sort(self, element: Element, around: tuple[Element, ...]) -> list[Placed]:
        """Group the content of an element, inside the frames ``around``, by kind; return the child bodies."""
        children: list[Placed] = []
        content = self.content
        plain = "frame" not in [part.row.tag for part in element.children]
        parts = ((part, ()) for part in element.children) if plain else element.content()
        for part, inner in parts:
            frames = (*around, *inner) if inner else around
            row = part.row
            tag = row.tag
            if tag == "body":
                children.append((part, frames))
            elif tag != "inertial":
                content.setdefault(row.kind or tag, []).append((part, frames))
            elif not self.fused:
                self.inertial = part, frames
        return children


ELEMENT_OF = attrgetter("element")
"""Getter of the element of a body."""


class Attached(NamedTuple):
    """The objects of one kind on several bodies. Elements that repeated bodies share are stored once."""

    elements: list[Element]
    frames: list[tuple[Element, ...]]  # around each element
    marks: list[Any]  # values that the caller attached to their bodies
    which: list[int] | None  # index of the element of each object; None if each element is one object
    names: list[str | None]  # of each object
    bodies: list[Body]  # of each object
    counts: list[tuple[Body, int]]  # bodies that have such objects, with the number of objects

    def repeated(self, column: list[Any]) -> list[Any]:
        """Convert a column with one value per element (objects may share one) to a column with one value per object."""
        if self.which is None:
            return column
        return column * len(self.which) if len(column) == 1 else [*map(column.__getitem__, self.which)]


def attached(
    bodies: Iterable[Body], kind: str, discarded: Collection[Element] = (), mark: Callable[[Body], Any] | None = None
) -> Attached:
    """Collect the objects of one kind on bodies, except those in ``discarded``.

    The result of ``mark`` for a body is stored for each of its elements. Bodies that repeat a pattern share elements
    only if their marks are equal.
    """
    which: list[int] = []
    found = Attached([], [], [], which, [], [], [])
    elements, frames, marks, _, names, owners, counts = found
    places: dict[tuple[int, Any], int] = {}  # index of the parts of patterns
    for run in runs(bodies, ELEMENT_OF):
        body = run[0]
        if kind not in body.content:
            continue
        told = mark(body) if mark is not None else None
        if body.element.pattern is not None:
            _add_repeated(found, run, kind, discarded, told, places)
            continue
        placed = _kept(body.content[kind], discarded)
        counts.append((body, len(placed)))
        for element, around in placed:
            which.append(len(elements))
            elements.append(element)
            frames.append(around)
            marks.append(told)
            owners.append(body)
            names.append(element.attributes.get("name"))
    return found if len(elements) < len(which) else found._replace(which=None)


def _add_repeated(
    found: Attached,
    run: list[Body],
    kind: str,
    discarded: Collection[Element],
    told: Any,
    places: dict[tuple[int, Any], int],
) -> None:
    """Add the objects of bodies that repeat one pattern to ``found``.

    ``told`` is the mark of these bodies. ``places`` maps (id of an element, mark) to an index in ``found.elements``.
    """
    pattern, common = cast("Pattern", run[0].element.pattern), run[0].content[kind]
    varies = any(pattern.varies(part) for part, _ in common)
    rows = [_kept(body.parts(kind), discarded) for body in (run if varies else run[:1])]
    numbers: list[int] = []
    for part, around in chain.from_iterable(rows):
        place = places.setdefault((id(part), told), len(found.elements))
        if place == len(found.elements):
            found.elements.append(part)
            found.frames.append(around)
            found.marks.append(told)
        numbers.append(place)
    cast("list[int]", found.which).extend(numbers if varies else numbers * len(run))
    count = len(rows[0])
    found.counts.extend([(body, count) for body in run])
    found.bodies.extend([body for body in run for _ in rows[0]])
    origin = common if varies else rows[0]
    named = [(part.name, pattern.names.get(part)) for part, _ in origin]
    if any(place is not None for _, place in named):
        values = [cast("Repeated", body.element).values for body in run]
        found.names.extend([name if place is None else row[place] for row in values for name, place in named])
    else:
        found.names.extend([name for name, _ in named] * len(run))


def _kept(placed: list[Placed], discarded: Collection[Element]) -> list[Placed]:
    return [part for part in placed if part[0] not in discarded] if discarded else placed
