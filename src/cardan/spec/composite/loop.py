"""Closed chains of bodies: the type ``loop``.

The body around is one of the links: its name tells which. From it, two open chains of bodies lead along a circle, in
both directions; the first and the last link are connected (spec: modeling, "Composite objects").
"""

from __future__ import annotations

import re
import warnings
from math import cos, pi, sin
from typing import TYPE_CHECKING

from cardan.errors import MjcfError
from cardan.spec.composite.request import STIFF

if TYPE_CHECKING:
    from cardan.maths.types import Vec3
    from cardan.spec.composite.request import Composite
    from cardan.spec.element import Element

ALONG_X = (0.7071067811865476, 0.0, 0.7071067811865476, 0.0)  # takes the z axis to the x axis
# joints of a link: kind, first part of the name, type, axis
_BENDS = (("J0_", (0.0, 1.0, 0.0)), ("J1_", (0.0, 0.0, 1.0)))
_OTHERS = (("twist", "JT", "hinge"), ("stretch", "JS", "slide"))


def build_loop(composite: Composite) -> None:
    """The links of the loop, and what closes it."""
    macro, build = composite.macro, composite.build
    if composite.dimensions != 1:
        raise macro.error(f"a loop has one dimension, got the counts {composite.counts}", "count")
    where = MjcfError(
        "composites of the type 'loop' are deprecated: use 'cable'", macro.source, macro.line, "composite"
    )
    warnings.warn(str(where), stacklevel=2)
    root = _body_around(macro)
    count = composite.counts[0]
    first = _root_number(composite, root)
    names = [build.name("B", number) for number in range(count)]
    names[first] = root.name or ""
    geom = composite.geom
    build.geom_here({"name": build.name("G", first), **geom.values, "quat": ALONG_X}, geom.origin)
    for numbers, side in ((range(first + 1, count), 1.0), (range(first - 1, -1, -1), -1.0)):
        parent = None
        for number in numbers:
            parent = _add_link(composite, parent, number, side)
    build.relation("contact", "exclude", body1=names[0], body2=names[-1])
    anchor = (-0.5 * composite.spacing, 0.0, 0.0)
    build.relation("equality", "connect", body1=names[0], body2=names[-1], anchor=anchor, **composite.smooth(STIFF))


def _body_around(macro: Element) -> Element:
    """The body in which the composite stands."""
    around = macro.parent
    while around is not None and around.tag == "frame":
        around = around.parent
    assert around is not None
    return around


def _root_number(composite: Composite, root: Element) -> int:
    """Which link the body around is. Raises MjcfError unless its name says so."""
    start = f"{composite.build.prefix}B"
    found = re.fullmatch(r"\s*([+-]?\d+).*", (root.name or "").removeprefix(start), re.DOTALL)
    if not (root.name or "").startswith(start) or found is None:
        message = f"the body around a loop is one of its links: its name must be '{start}' and the link's number"
        raise composite.macro.error(f"{message}, got '{root.name or ''}'")
    number = int(found[1])
    if not 0 <= number < composite.counts[0]:
        raise composite.macro.error(f"there is no link {number} in a loop of {composite.counts[0]}", "count")
    return number


def _add_link(composite: Composite, parent: Element | None, number: int, side: float) -> Element:
    """A link at the end of a chain that leads away from the root, in the direction of ``side``."""
    build, half = composite.build, 0.5 * composite.spacing
    angle = 2.0 * pi / composite.counts[0]
    pos: Vec3 = (side * half * (1.0 + cos(angle)), half * sin(angle), 0.0)
    quat = (cos(0.5 * angle), 0.0, 0.0, side * sin(0.5 * angle))
    body = build.body(parent, build.name("B", number), pos=pos, quat=quat)
    anchor = (-side * half, 0.0, 0.0)
    joint = composite.main_joint()
    for start, axis in _BENDS:
        name = build.name(start, number)
        composite.build.part(
            body, "joint", joint.origin, {**joint.values, "name": name, "type": "hinge", "axis": axis, "pos": anchor}
        )
    for kind, start, shape in _OTHERS:
        other = composite.joint(kind)
        if other is not None:
            name = build.name(start, number)
            values = {**other.values, "name": name, "type": shape, "axis": (1.0, 0.0, 0.0), "pos": anchor}
            composite.build.part(body, "joint", other.origin, values)
            build.relation("equality", "joint", other.origin, joint1=name)
    geom = composite.geom
    composite.build.part(body, "geom", geom.origin, {"name": build.name("G", number), **geom.values, "quat": ALONG_X})
    return body
