"""What the compiler knows of bodies, and of the joints and geoms on them, while it builds a model."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from cardan.maths.pose import Quat, Vec3

if TYPE_CHECKING:
    from cardan.spec.element import Element

Placed = tuple["Element", tuple["Element", ...]]  # an element with the frames around it, outermost first


@dataclass(slots=True)
class Geom:
    """What a geom means for its body: shape, pose in the body, mass, bounds."""

    id: int
    group: int
    pos: Vec3
    quat: Quat
    mass: float
    inertia: Vec3
    centre: Vec3  # of its bounding box, in its frame
    half: Vec3  # half sides of that box
    contype: int
    conaffinity: int
    margin: float

    @property
    def collides(self) -> bool:
        """Whether it can collide by its type bits."""
        return bool(self.contype or self.conaffinity)


@dataclass(slots=True)
class Joint:
    """What a joint means for its body: type word, pose in the body, address."""

    id: int
    type: str
    pos: Vec3
    axis: Vec3
    dofadr: int
    dofnum: int


@dataclass(slots=True)
class Body:
    """One body: place in the tree, inertia, what is attached to it, and the bodies that were fused with it."""

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
    fused: list[Placed] = field(default_factory=list)
    children: list[Body] = field(default_factory=list)
    joints: list[Joint] = field(default_factory=list)
    geoms: list[Geom] = field(default_factory=list)
    content: dict[str, list[Placed]] = field(default_factory=dict)

    def sort_content(self) -> list[Placed]:
        """Note what belongs to the body by kind; return its child bodies."""
        return self._sort(self.element, ())

    def absorb(self, placed: Placed) -> list[Placed]:
        """Take over what belongs to a body that is fused with this one: it counts as a frame. Return its children."""
        element, frames = placed
        self.fused.append(placed)
        return self._sort(element, (*frames, element))

    def _sort(self, element: Element, around: tuple[Element, ...]) -> list[Placed]:
        """Note the content of an element, which stands in frames of this body; return its child bodies."""
        children: list[Placed] = []
        for part, frames in element.content():
            placed = (part, (*around, *frames))
            tag = part.row.tag
            if tag == "body":
                children.append(placed)
            elif tag != "inertial":
                self.content.setdefault(part.row.kind or tag, []).append(placed)
            elif element is self.element:
                self.inertial = placed
        return children
