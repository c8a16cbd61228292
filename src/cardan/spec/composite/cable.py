"""Inextensible elastic rods: the type ``cable``, a chain of bodies between the vertices of a curve.

The x axis of each body goes along its piece of the curve. From piece to piece the frames turn without twist (Bishop,
"There is more than one way to frame a curve", American Mathematical Monthly 82, 1975): by the shortest rotation from
one tangent to the next.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from math import atan2, cos, pi, sin
from typing import TYPE_CHECKING, Any

from cardan.maths.pose import mat2quat, unit_quat
from cardan.maths.quaternion import axis_angle2quat, mul_quat, neg_quat, rot_vec_quat
from cardan.maths.vector import MINVAL, add3, cross, dot3, norm3, scale3
from cardan.spec.composite.plugin import add_plugin, plugin_of
from cardan.spec.composite.request import Part, difference, single, size_of_geom
from cardan.spec.composite.skin import BoneAt, is_finer, skin_sheet

if TYPE_CHECKING:
    from cardan.maths.pose import Quat
    from cardan.maths.types import Vec3
    from cardan.spec.composite.request import Composite
    from cardan.spec.element import Element

PARALLEL = 1e-14  # square of the sine between pieces that count as parallel

# coordinates of a curve by the word that the user writes: of the share along the curve and its three sizes
_CURVES: dict[str, Callable[[float, Vec3], float]] = {
    "s": lambda s, size: size[0] * s,
    "cos(s)": lambda s, size: size[1] * cos(pi * size[2] * s),
    "sin(s)": lambda s, size: size[1] * sin(pi * size[2] * s),
    "0": lambda s, size: 0.0,
}
_NOT_OF_FREE = ("axis", "stiffness", "damping", "armature", "frictionloss", "range", "margin")
_FIRST_JOINT = {"free": "free", "none": None}  # other words: a ball joint


def build_cable(composite: Composite) -> None:
    """The chain of bodies, with contacts between neighbours excluded."""
    macro, build = composite.macro, composite.build
    if composite.dimensions != 1:
        raise macro.error(f"a cable has one dimension, got the counts {composite.counts}", "count")
    if composite.spacing != 0.0:
        raise macro.error("a cable has no spacing: its vertices are given, or follow from the curve", "spacing")
    points = composite.points or _curve(composite)
    edges = [difference(first, second) for first, second in pairwise(points)]
    turns = _orientations(macro, edges)
    build.relation("custom", "text", name=f"composite_{build.prefix}", data=f"rope_{build.prefix}")
    bodies: list[Element] = []
    parent, pos = None, add3(composite.offset, points[0])
    for number, (edge, turn) in enumerate(zip(edges, turns, strict=True)):
        parent = _add_body(composite, parent, number, len(edges), pos, turn, norm3(edge))
        bodies.append(parent)
        pos = (norm3(edge), 0.0, 0.0)
    names = [body.name or "" for body in bodies]
    for first, second in pairwise(names):
        build.relation("contact", "exclude", body1=first, body2=second)
    if composite.geom.values.get("type") == "box":
        _add_skin(composite, names)
    plugin = plugin_of(composite)
    if plugin is not None:
        add_plugin(composite, plugin, bodies)


def _curve(composite: Composite) -> list[Vec3]:
    """Vertices on the curve whose coordinates the user named."""
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


# --- frames ----------------------------------------------------------------------------------------------------------


def _orientations(macro: Element, edges: list[Vec3]) -> list[Quat]:
    """Orientation of each piece in the frame of the one before; of the first one in the frame around.

    The first z axis is normal to the plane of the first two pieces. When these are parallel there is no such plane, and
    each piece is turned on its own, as in the reference.
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
    """The shortest rotation that takes the x axis to the tangent; for one backwards, after half a turn about z."""
    x, y, z = tangent
    return unit_quat((1.0 + x, 0.0, -z, y) if x > 0.0 else (y, z, 0.0, 1.0 - x))


def _without_twist(tangents: list[Vec3], normal: Vec3) -> list[Quat]:
    """Orientations that turn from one to the next by the shortest rotations; the first has its z axis along ``normal``.

    The y axis stays where it is between pieces that are parallel to rounding, as in the reference.
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


# --- bodies ----------------------------------------------------------------------------------------------------------


def _add_body(
    composite: Composite, parent: Element | None, number: int, count: int, pos: Vec3, quat: Quat, length: float
) -> Element:
    """One piece with its joint, its geom, and a site if it is the first or the last."""
    build = composite.build
    word = "_first" if number == 0 else "_last" if number == count - 1 else f"_{number}"
    body = build.body(parent, build.name(f"B{word}"), pos=pos, quat=quat)
    shape = "ball" if number else _FIRST_JOINT.get(composite.macro["initial"], "ball")
    if shape is not None:
        joint = composite.main_joint()
        left_out = _NOT_OF_FREE if shape == "free" else ("axis",)
        values = {name: value for name, value in joint.values.items() if name not in left_out}
        composite.build.part(body, "joint", joint.origin, {**values, "name": build.name(f"J{word}"), "type": shape})
    geom = composite.geom
    composite.build.part(
        body, "geom", geom.origin, {"name": build.name("G", number), **geom.values, **_shape(composite, length)}
    )
    if number in (0, count - 1):
        site = composite.site
        at = length if number == count - 1 else 0.0
        values = {"name": build.name(f"S{word}"), **site.values, "pos": (at, 0.0, 0.0)}
        composite.build.part(body, "site", site.origin, values)
    return body


def _shape(composite: Composite, length: float) -> dict[str, Any]:
    """Size and place of a geom along the x axis of its body."""
    if composite.geom.values.get("type") != "box":
        return {"fromto": (0.0, 0.0, 0.0, length, 0.0, 0.0)}
    size = size_of_geom(composite)
    return {"size": (0.5 * length, size[1], size[2]), "pos": (0.5 * length, 0.0, 0.0)}


def _add_skin(composite: Composite, names: list[str]) -> None:
    """The skin of a flat cable: across its width, with the thickness of the boxes.

    The last row of vertices is bound behind the last body's frame by twice the first size, as in the reference.
    """
    size = size_of_geom(composite)
    skin = composite.skin or Part(composite.macro, {})
    skin = Part(skin.origin, {**skin.values, "inflate": 2.0 * size[2]})
    across = (-size[1], 0.0, size[1]) if is_finer(skin) else (-size[1], size[1])
    rows = [(name, 0.0) for name in names] + [(names[-1], -2.0 * size[0])]
    skin_sheet(composite, skin, [[BoneAt(name, (x, y, 0.0)) for y in across] for name, x in rows])
