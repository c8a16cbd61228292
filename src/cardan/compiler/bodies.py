"""The kinematic tree: bodies in depth-first order, with what belongs to each (spec: modeling, "Kinematic tree")."""

from __future__ import annotations

from functools import reduce
from operator import or_
from typing import TYPE_CHECKING, Any, cast

from cardan.compiler.nodes import Body
from cardan.compiler.orientation import element_pose
from cardan.maths.pose import IDENTITY
from cardan.spec.repeated import OWN
from cardan.spec.tree import WORLD

if TYPE_CHECKING:
    from cardan.compiler.build import Build
    from cardan.spec.element import Element
    from cardan.spec.repeated import Pattern, Repeated


def add_bodies(build: Build) -> None:
    """Enter all bodies, depth first, in the user's order; their poses in their parents.

    With ``build.fuses``, a static body is not entered: its parent absorbs it.
    """
    body = world = Body(build.tree.worldbody, build.enter("body", WORLD), None)
    build.user("body", world.element, ())
    own: dict[Pattern, dict[str, Any]] = {}
    build.bodies.append(world)
    stack = [(placed, world) for placed in reversed(world.sort_content())]
    while stack:
        (element, frames), parent = stack.pop()
        if build.fuses and _is_static(element):
            stack.extend((placed, parent) for placed in reversed(parent.absorb((element, frames))))
            build.sizes["nuser_body"] = max(build.sizes.get("nuser_body", 0), len(element["user"] or ()))
            continue
        before, body = body, Body(element, build.enter("body", element.name), parent)
        pattern = element.pattern
        if pattern is None:
            _place(build, body, element.resolved(), frames)
        elif frames or pattern is not before.element.pattern or not pattern.moves_only:
            _place(build, body, _repeated_values(element, pattern, own), frames)
        else:
            _place_like(build, body, before)
        parent.children.append(body)
        build.bodies.append(body)
        stack.extend((placed, body) for placed in reversed(body.sort_content(before)))


def _is_static(element: Element) -> bool:
    """Whether a body can be fused with its parent: it has no joints and isn't driven from outside."""
    joints = any(placed[0].row.kind == "joint" for placed in element.content())
    return not joints and not element["mocap"]


def _repeated_values(element: Element, pattern: Pattern, known: dict[Pattern, dict[str, Any]]) -> dict[str, Any]:
    """Resolved values of a repeated element; ``known`` has those of models, and is filled."""
    values = known.get(pattern)
    if values is None:
        values = known[pattern] = pattern.model.resolved()
    for (number, name), value in zip(pattern.blanks, cast("Repeated", element).values, strict=True):
        if number == OWN:
            values[name] = value
    return values


def _place(build: Build, body: Body, values: dict[str, Any], frames: tuple[Element, ...]) -> None:
    """Pose and own attributes of a body, of the given values."""
    body.pos, body.quat = element_pose(build, body.element, values, frames)
    mocapid = -1
    if values["mocap"]:
        if body.parent is None or body.parent.id:
            raise body.element.error("a mocap body must be a child of the world", "mocap")
        if "joint" in {placed[0].row.kind for placed in body.element.content()}:
            raise body.element.error("a mocap body cannot have joints", "mocap")
        mocapid = build.sizes.get("nmocap", 0)
        build.sizes["nmocap"] = mocapid + 1
    build.columns["mocapid"].append(mocapid)
    build.columns["gravcomp"].append(values["gravcomp"])
    build.user("body", body.element, values["user"])


def _place_like(build: Build, body: Body, before: Body) -> None:
    """Pose and own attributes of a body, outside of frames, that is like the one before but for its place."""
    body.pos, body.quat = body.element.given("pos"), before.quat
    for column in ("mocapid", "gravcomp", "body_user"):
        build.columns[column].append(build.columns[column][-1])


def put_bodies(build: Build) -> None:
    """Fill the columns of all bodies, when their joints, geoms and inertias are known."""
    mocapid = [-1, *build.columns.pop("mocapid", [])]
    gravcomp = [0.0, *build.columns.pop("gravcomp", [])]
    # as in the reference, a negative compensation acts only if another body has a positive one
    build.sizes["ngravcomp"] = sum(1 for value in gravcomp if value > 0.0)
    bodies = build.bodies
    joints, geoms = [body.joints for body in bodies], [body.geoms for body in bodies]
    build.columns.update(
        body_parentid=[body.parent.id if body.parent is not None else 0 for body in bodies],
        body_mocapid=mocapid,
        body_jntnum=[*map(len, joints)],
        body_jntadr=[own[0].id if own else -1 for own in joints],
        body_dofnum=[body.dofnum for body in bodies],
        body_dofadr=[own[0].dofadr if own else -1 for own in joints],
        body_geomnum=[*map(len, geoms)],
        body_geomadr=[own[0].id if own else -1 for own in geoms],
        body_sameframe=[(body.ipos, body.iquat) == IDENTITY for body in bodies],
        body_pos=[body.pos for body in bodies],
        body_quat=[body.quat for body in bodies],
        body_ipos=[body.ipos for body in bodies],
        body_iquat=[body.iquat for body in bodies],
        body_mass=[body.mass for body in bodies],
        body_inertia=[body.inertia for body in bodies],
        body_gravcomp=gravcomp,
        body_plugin=[body.plugin for body in bodies],
        body_contype=[_union([geom.contype for geom in own]) for own in geoms],
        body_conaffinity=[_union([geom.conaffinity for geom in own]) for own in geoms],
        body_margin=[max([geom.margin for geom in own], default=0.0) for own in geoms],
    )


def _union(bits: list[int]) -> int:
    """All bits that are set in one of the numbers."""
    return bits[0] if len(bits) == 1 else reduce(or_, bits, 0)
