"""The kinematic tree: bodies in depth-first order, with the objects of each (spec: modeling, "Kinematic tree")."""

from __future__ import annotations

from collections.abc import Iterable
from functools import reduce
from itertools import accumulate
from operator import or_
from typing import TYPE_CHECKING, Any, cast

from cardan.compiler.nodes import Body
from cardan.compiler.orientation import element_pose, element_poses
from cardan.compiler.resolved import Resolved
from cardan.maths.pose import IDENTITY
from cardan.spec.repeated import OWN
from cardan.spec.tree import WORLD

if TYPE_CHECKING:
    from cardan.compiler.build import Build
    from cardan.spec.element import Element
    from cardan.spec.repeated import Pattern, Repeated


def add_bodies(build: Build) -> None:
    """Add all bodies, depth first, in the user's order, with their poses relative to their parents.

    If ``build.fuses`` is set, static bodies are not added: their parents absorb them.
    """
    body = world = Body(build.tree.worldbody, 0, None)
    bodies = build.bodies
    bodies.append(world)
    names: list[str | None] = [WORLD]
    stack = [(placed, world) for placed in reversed(world.sort_content())]
    frames: list[tuple[Element, ...]] = [()]  # around each body
    while stack:
        (element, around), parent = stack.pop()
        if build.fuses and _is_static(element):
            stack.extend((placed, parent) for placed in reversed(parent.absorb((element, around))))
            build.sizes["nuser_body"] = max(build.sizes.get("nuser_body", 0), len(element["user"] or ()))
            continue
        before, body = body, Body(element, len(bodies), parent)
        names.append(element.name)
        parent.children.append(body)
        bodies.append(body)
        frames.append(around)
        inside = body.sort_content(before)
        if inside:
            stack.extend([(placed, body) for placed in reversed(inside)])
    build.enter_all("body", names)
    _place_all(build, frames)


def _is_static(element: Element) -> bool:
    """Return whether a body can be fused with its parent: it has no joints and is not a mocap body."""
    joints = any(placed[0].row.kind == "joint" for placed in element.content())
    return not joints and not element["mocap"]


def _repeated_values(element: Element, pattern: Pattern, known: dict[Pattern, dict[str, Any]]) -> dict[str, Any]:
    """Return the resolved values of a repeated element. ``known`` caches values of models and is updated."""
    values = known.get(pattern)
    if values is None:
        values = known[pattern] = pattern.model.resolved()
    for (number, name), value in zip(pattern.blanks, cast("Repeated", element).values, strict=True):
        if number == OWN:
            values[name] = value
    return values


def _place_all(build: Build, frames: list[tuple[Element, ...]]) -> None:
    """Set poses and own attributes of all bodies; ``frames`` are those around each."""
    bodies, count = build.bodies, len(build.bodies)
    mocap, gravcomp, user = [False] * count, [0.0] * count, [()] * count
    plain = [body for body in bodies[1:] if body.element.pattern is None]
    resolved = Resolved([body.element for body in plain])
    poses = element_poses(build, resolved, [frames[body.id] for body in plain])
    columns = resolved["mocap"], resolved["gravcomp"], build.users("body", resolved)
    for body, pose, drawn, factor, own in zip(plain, poses, *columns, strict=True):
        body.pos, body.quat = pose
        number = body.id
        mocap[number], gravcomp[number], user[number] = drawn, factor, own
    if len(plain) < count - 1:
        _place_repeated(build, frames, (mocap, gravcomp, user))
    build.columns.update(body_mocapid=_mocap_ids(build, mocap), body_gravcomp=gravcomp, body_user=user)


def _place_repeated(build: Build, frames: list[tuple[Element, ...]], columns: tuple[list[Any], ...]) -> None:
    """Set poses and own attributes of repeated bodies."""
    own: dict[Pattern, dict[str, Any]] = {}
    before = build.bodies[0]
    for body in build.bodies:
        element = body.element
        pattern = element.pattern
        if pattern is not None:
            number = body.id
            if frames[number] or pattern is not before.element.pattern or not pattern.moves_only:
                values = _repeated_values(element, pattern, own)
                body.pos, body.quat = element_pose(build, element, values, frames[number])
                row = values["mocap"], values["gravcomp"], build.checked_user("body", element, values["user"])
            else:
                body.pos, body.quat = cast("Any", element.given("pos")), before.quat
                row = tuple(column[before.id] for column in columns)
            for column, value in zip(columns, row, strict=True):
                column[number] = value
        before = body


def _mocap_ids(build: Build, mocap: list[bool]) -> list[int]:
    """Return the numbers of the bodies among the mocap bodies, or -1."""
    if True not in mocap:
        return [-1] * len(mocap)
    for body in build.bodies:
        if not mocap[body.id]:
            continue
        if body.parent is None or body.parent.id:
            raise body.element.error("a mocap body must be a child of the world", "mocap")
        if "joint" in body.content:
            raise body.element.error("a mocap body cannot have joints", "mocap")
    build.sizes["nmocap"] = sum(mocap)
    return [before if driven else -1 for driven, before in zip(mocap, accumulate(mocap, initial=0), strict=False)]


def put_bodies(build: Build) -> None:
    """Fill the columns of all bodies, after their joints, geoms and inertias are known."""
    # as in the reference, a negative compensation acts only if another body has a positive one
    build.sizes["ngravcomp"] = sum(1 for value in build.columns["body_gravcomp"] if value > 0.0)
    bodies = build.bodies
    joints, geoms = [body.joints for body in bodies], [body.geoms for body in bodies]
    build.columns.update(
        body_parentid=[body.parent.id if body.parent is not None else 0 for body in bodies],
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
        body_plugin=[body.plugin for body in bodies],
        body_contype=[own[0].contype if len(own) == 1 else _union(geom.contype for geom in own) for own in geoms],
        body_conaffinity=[
            own[0].conaffinity if len(own) == 1 else _union(geom.conaffinity for geom in own) for own in geoms
        ],
        body_margin=[
            own[0].margin if len(own) == 1 else max([geom.margin for geom in own], default=0.0) for own in geoms
        ],
    )


def _union(bits: Iterable[int]) -> int:
    """Return the union of the bits of all numbers."""
    return reduce(or_, bits, 0)
