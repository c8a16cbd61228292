"""Chains of bodies: inextensible elastic rods along a curve (``cable``), closed chains (``loop``).

The x axis of each body of a cable is along its segment of the curve. From segment to segment the frames turn without
twist, by the shortest rotation from one tangent to the next (Bishop, "There is more than one way to frame a curve",
American Mathematical Monthly 82, 1975).

The body in which a loop is defined is one of its links; the body's name contains the number of the link. From this
body, two chains of bodies lead along a circle in opposite directions. A constraint connects their ends (spec: modeling,
"Composite objects").
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable
from itertools import pairwise
from math import atan2, cos, pi, sin
from typing import TYPE_CHECKING, Any

from cardan.errors import MjcfError
from cardan.maths.pose import mat2quat, unit_quat
from cardan.maths.quaternion import axis_angle2quat, mul_quat, neg_quat, rot_vec_quat
from cardan.maths.vector import MINVAL, add3, cross, dot3, norm3, scale3
from cardan.spec.composite.request import STIFF, Part, difference, single
from cardan.spec.composite.skin import Bone, is_finer, skin_sheet
from cardan.spec.macro_plugin import give_plugin, plugin_of

if TYPE_CHECKING:
    from cardan.maths.types import Quat, Vec3
    from cardan.spec.composite.request import Composite
    from cardan.spec.element import Element

PARALLEL = 1e-14  # square of the sine between pieces that count as parallel
ALONG_X = (0.7071067811865476, 0.0, 0.7071067811865476, 0.0)  # takes the z axis to the x axis

# coordinates of a curve by keyword: functions of the fraction along the curve (0 to 1) and of its three sizes
_CURVES: dict[str, Callable[[float, Vec3], float]] = {
    "s": lambda s, size: size[0] * s,
    "cos(s)": lambda s, size: size[1] * cos(pi * size[2] * s),
    "sin(s)": lambda s, size: size[1] * sin(pi * size[2] * s),
    "0": lambda s, size: 0.0,
}
_NOT_OF_FREE = ("axis", "stiffness", "damping", "armature", "frictionloss", "range", "margin")
_FIRST_JOINT = {"free": "free", "none": None}  # other words: a ball joint

# joints of a link of a loop: kind, first part of the name, type, axis
_LINK_JOINTS = (
    ("main", "J0_", "hinge", (0.0, 1.0, 0.0)),
    ("main", "J1_", "hinge", (0.0, 0.0, 1.0)),
    ("twist", "JT", "hinge", (1.0, 0.0, 0.0)),
    ("stretch", "JS", "slide", (1.0, 0.0, 0.0)),
)


# --- cables ----------------------------------------------------------------------------------------------------------


def build_cable(composite: Composite) -> None:
    """Add the chain of bodies of a cable, its skin and its plugin, and exclude contacts between neighbours."""
    macro, prefix = composite.macro, composite.prefix
    if composite.dimensions != 1:
        raise macro.error(f"a cable has one dimension, got the counts {composite.counts}", "count")
    if composite.spacing != 0.0:
        raise macro.error("a cable has no spacing: its vertices are given, or follow from the curve", "spacing")
    points = composite.points or _curve(composite)
    edges = [difference(first, second) for first, second in pairwise(points)]
    turns = _orientations(macro, edges)
    composite.relation("custom", "text", name=f"composite_{prefix}", data=f"rope_{prefix}")
    bodies: list[Element] = []
    parent, pos = None, add3(composite.offset, points[0])
    for number, (edge, turn) in enumerate(zip(edges, turns, strict=True)):
        parent = _add_body(composite, parent, number, len(edges), pos, turn, norm3(edge))
        bodies.append(parent)
        pos = (norm3(edge), 0.0, 0.0)
    names = [body.name or "" for body in bodies]
    for first, second in pairwise(names):
        composite.relation("contact", "exclude", body1=first, body2=second)
    if composite.geom.values.get("type") == "box":
        _add_skin(composite, names)
    plugin = plugin_of(macro)
    if plugin is not None:
        give_plugin(plugin, f"composite{prefix}", bodies)


def _curve(composite: Composite) -> list[Vec3]:
    """Return the vertices (m) of the curve that the user specified by one to three coordinate functions.

    Raises:
        MjcfError: a function is unknown.
    """
    macro = composite.macro
    words = (macro["curve"] or "").split()
    if not 1 <= len(words) <= 3:
        raise macro.error(f"one to three functions are needed, got {len(words)}", "curve")
    unknown = next((word for word in words if word not in _CURVES), None)
    if unknown is not None:
        raise macro.error(f"'{unknown}' is none of {', '.join(_CURVES)}", "curve")
    size: Vec3 = macro["size"]
    functions = [_CURVES[word] for word in (words + ["0", "0"])[:3]]
    last = composite.counts[0] - 1
    places = [[single(function(i / last, size)) for function in functions] for i in range(last + 1)]
    return [(x, y, z) for x, y, z in places]


def _orientations(macro: Element, edges: list[Vec3]) -> list[Quat]:
    """Return the orientation of each segment in the previous segment's frame. The first is in the enclosing frame.

    The z axis of the first segment is normal to the plane of the first two segments. If these are parallel, they do not
    define a plane, and each segment is oriented independently, as in the reference.
    """
    lengths = [norm3(edge) for edge in edges]
    if min(lengths) < MINVAL:
        raise macro.error("two neighbouring vertices are at the same place", "vertex" if macro["vertex"] else "curve")
    tangents = [scale3(edge, 1.0 / length) for edge, length in zip(edges, lengths, strict=True)]
    normal = cross(tangents[0], tangents[min(1, len(tangents) - 1)])
    if dot3(normal, normal) < PARALLEL:
        quats = [_toward(tangent) for tangent in tangents]
    else:
        quats = _without_twist(tangents, normal)
    return [quats[0], *(mul_quat(neg_quat(outer), inner) for outer, inner in pairwise(quats))]


def _toward(tangent: Vec3) -> Quat:
    """Return a rotation from the x axis to the tangent: the shortest one if the tangent's x > 0.

    Otherwise, it is half a turn about z, followed by the shortest rotation from the -x axis to the tangent.
    """
    x, y, z = tangent
    return unit_quat((1.0 + x, 0.0, -z, y) if x > 0.0 else (y, z, 0.0, 1.0 - x))


def _without_twist(tangents: list[Vec3], normal: Vec3) -> list[Quat]:
    """Return orientations of segments, each turned from the previous one by the shortest rotation.

    The first z axis is along ``normal``. If two segments are parallel up to rounding errors, the y axis does not
    change, as in the reference.
    """
    y = cross(scale3(normal, 1.0 / norm3(normal)), tangents[0])
    quats = [mat2quat(tangents[0], y, cross(tangents[0], y))]
    for first, second in pairwise(tangents):
        axis = cross(first, second)
        sine = norm3(axis)
        if sine * sine >= PARALLEL:
            y = rot_vec_quat(y, axis_angle2quat(scale3(axis, 1.0 / sine), atan2(sine, dot3(first, second))))
        quats.append(mat2quat(second, y, cross(second, y)))
    return quats


def _add_body(
    composite: Composite, parent: Element | None, number: int, count: int, pos: Vec3, quat: Quat, length: float
) -> Element:
    """Add one segment: a body with its joint, its geom, and a site if it is the first or the last. Return the body."""
    name = composite.name
    word = "_first" if number == 0 else "_last" if number == count - 1 else f"_{number}"
    body = composite.body(parent, name(f"B{word}"), pos=pos, quat=quat)
    shape = "ball" if number else _FIRST_JOINT.get(composite.macro["initial"], "ball")
    if shape is not None:
        joint = composite.main_joint()
        left_out = _NOT_OF_FREE if shape == "free" else ("axis",)
        values = {name: value for name, value in joint.values.items() if name not in left_out}
        composite.add(body, "joint", Part(joint.origin, values), name=name(f"J{word}"), type=shape)
    place: dict[str, Any] = {"fromto": (0.0, 0.0, 0.0, length, 0.0, 0.0)}
    if composite.geom.values.get("type") == "box":
        size = composite.geom_size
        place = {"size": (0.5 * length, size[1], size[2]), "pos": (0.5 * length, 0.0, 0.0)}
    composite.add(body, "geom", composite.geom, name=name("G", number), **place)
    if number in (0, count - 1):
        at = length if number == count - 1 else 0.0
        composite.add(body, "site", composite.site, name=name(f"S{word}"), pos=(at, 0.0, 0.0))
    return body


def _add_skin(composite: Composite, names: list[str]) -> None:
    """Add the skin of a cable of boxes, with the width and thickness of the boxes.

    The last row of vertices is bound to the last body at x = -2 times the first size of the boxes, as in the reference.
    """
    size = composite.geom_size
    skin = composite.skin or Part(composite.macro, {})
    skin = Part(skin.origin, {**skin.values, "inflate": 2.0 * size[2]})
    across = (-size[1], 0.0, size[1]) if is_finer(skin) else (-size[1], size[1])
    rows = [(name, 0.0) for name in names] + [(names[-1], -2.0 * size[0])]
    skin_sheet(composite, skin, [[Bone(name, (x, y, 0.0)) for y in across] for name, x in rows])


# --- loops -----------------------------------------------------------------------------------------------------------


def build_loop(composite: Composite) -> None:
    """Add the links of a loop, and the constraint that connects the ends of the two chains."""
    macro, count = composite.macro, composite.counts[0]
    if composite.dimensions != 1:
        raise macro.error(f"a loop has one dimension, got the counts {composite.counts}", "count")
    reason = "composites of the type 'loop' are deprecated: use 'cable'"
    warnings.warn(str(MjcfError(reason, macro.source, macro.line, "composite")), stacklevel=2)
    root = next((around for around in macro.around() if around.tag != "frame"), None)
    root_name = (root.name if root is not None else None) or ""
    # the name of the body around holds its number
    start = composite.name("B")
    found = re.fullmatch(r"\s*([+-]?\d+).*", root_name.removeprefix(start), re.DOTALL)
    if not root_name.startswith(start) or found is None:
        message = f"the body around a loop is one of its links: its name must be '{start}' and the link's number"
        raise macro.error(f"{message}, got '{root_name}'")
    first = int(found[1])
    if not 0 <= first < count:
        raise macro.error(f"there is no link {first} in a loop of {count}", "count")
    names = [composite.name("B", number) for number in range(count)]
    names[first] = root_name
    composite.add_geom_here(name=composite.name("G", first), quat=ALONG_X)
    for numbers, side in ((range(first + 1, count), 1.0), (range(first - 1, -1, -1), -1.0)):
        parent = None
        for number in numbers:
            parent = _add_link(composite, parent, number, side)
    composite.relation("contact", "exclude", body1=names[0], body2=names[-1])
    ends = {"body1": names[0], "body2": names[-1], "anchor": (-0.5 * composite.spacing, 0.0, 0.0)}
    composite.relation("equality", "connect", **ends, **composite.smooth(STIFF))


def _add_link(composite: Composite, parent: Element | None, number: int, side: float) -> Element:
    """Add a link at the end of a chain that leads away from the root in the direction ``side`` (1 or -1).

    Return the body of the link.
    """
    name, half = composite.name, 0.5 * composite.spacing
    angle = 2.0 * pi / composite.counts[0]
    pos: Vec3 = (side * half * (1.0 + cos(angle)), half * sin(angle), 0.0)
    quat = (cos(0.5 * angle), 0.0, 0.0, side * sin(0.5 * angle))
    body = composite.body(parent, name("B", number), pos=pos, quat=quat)
    anchor = (-side * half, 0.0, 0.0)
    for kind, start, shape, axis in _LINK_JOINTS:
        joint = composite.main_joint() if kind == "main" else composite.joint(kind)
        if joint is not None:
            composite.add(body, "joint", joint, name=name(start, number), type=shape, axis=axis, pos=anchor)
            if kind != "main":
                composite.relation("equality", "joint", joint.origin, joint1=name(start, number))
    composite.add(body, "geom", composite.geom, name=name("G", number), quat=ALONG_X)
    return body
