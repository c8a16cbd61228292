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
    """One body: place in the tree, inertia, and what is attached to it."""

    element: Element
    id: int
    parent: Body | None
    pos: Vec3 = (0.0, 0.0, 0.0)
    quat: Quat = (1.0, 0.0, 0.0, 0.0)
    mass: float = 0.0
    inertia: Vec3 = (0.0, 0.0, 0.0)
    ipos: Vec3 = (0.0, 0.0, 0.0)
    iquat: Quat = (1.0, 0.0, 0.0, 0.0)
    inertial: Placed | None = None
    children: list[Body] = field(default_factory=list)
    joints: list[Joint] = field(default_factory=list)
    geoms: list[Geom] = field(default_factory=list)
    content: dict[str, list[Placed]] = field(default_factory=dict)

    def sort_content(self) -> list[Placed]:
        """Note what belongs to the body by kind; return its child bodies."""
        children: list[Placed] = []
        for placed in self.element.content():
            tag = placed[0].row.tag
            if tag == "body":
                children.append(placed)
            elif tag == "inertial":
                self.inertial = placed
            else:
                self.content.setdefault(placed[0].row.kind or tag, []).append(placed)
        return children
