"""The table of composite types."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from cardan.spec.composite.cable import build_cable
from cardan.spec.composite.grid import build_grid
from cardan.spec.composite.loop import build_loop
from cardan.spec.composite.particle import build_particle
from cardan.spec.composite.request import STIFF, Composite, Values
from cardan.spec.composite.shell import build_box, build_cylinder, build_ellipsoid

MOST_NESTED = 5000

ROUND = ("sphere", "capsule", "ellipsoid")
ROD = ("capsule", "cylinder", "box")


@dataclass(frozen=True)
class Kind:
    """One type of composite.

    Attributes:
        build: adds its elements.
        shapes: types that its geoms may have, empty for all.
        geom: values of its geoms that are not the language's.
        tendon_fix: ``solref`` and ``solimp`` of the constraint that holds its main tendons.
        covers: whether a skin puts geoms and tendons into a group that is not shown.
        spaced: whether the spacing must be at least the size of the geoms.
        skinned: whether a finer skin needs at least 3 by 3 bodies.
        most: largest number of bodies.
        elastic: whether a plugin may act on its bodies.
    """

    build: Callable[[Composite], None]
    shapes: tuple[str, ...] = ROUND
    geom: Values = field(default_factory=dict)
    tendon_fix: Values = field(default_factory=lambda: STIFF)
    covers: bool = True
    spaced: bool = False
    skinned: bool = True
    most: int = 50_000
    elastic: bool = False


_SHELL: Values = {"contype": 0}

KINDS: dict[str, Kind] = {
    "particle": Kind(build_particle, (), {"condim": 1, "priority": 1}, {}, covers=False, spaced=True, elastic=True),
    "grid": Kind(build_grid, spaced=True),
    "loop": Kind(build_loop, covers=False, most=MOST_NESTED),
    "cable": Kind(build_cable, ROD, covers=False, skinned=False, most=MOST_NESTED, elastic=True),
    "box": Kind(build_box, geom=_SHELL),
    "cylinder": Kind(build_cylinder, geom=_SHELL),
    "ellipsoid": Kind(build_ellipsoid, geom=_SHELL),
}

# types that the reference does not make any more, and what it says to use
REMOVED: dict[str, str] = {"rope": "cable", "cloth": "flexcomp"}
