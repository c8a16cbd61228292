"""The kinematic tree: bodies in depth-first order, and tables derived from the structure of the tree.

Spec: modeling, "Kinematic tree"; computation, "Physics simulation", sparse inertia.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import reduce
from itertools import accumulate
from operator import or_
from typing import TYPE_CHECKING, Any, cast

from cardan.compiler.columns import Resolved
from cardan.compiler.nodes import ELEMENT_OF, Body
from cardan.compiler.orientation import element_pose, element_poses, frame_tolerance, is_same_frame, same_frame
from cardan.maths.pose import IDENTITY
from cardan.spec.repeated import OWN, runs
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
        if build.fuses and element not in build.kept and _is_fused(element):
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


def _is_fused(element: Element) -> bool:
    """Return whether a body can be fused with its parent.

    The body must have no joints, must not be a mocap body, and its ``fuse`` must not be "false".
    """
    if element["mocap"] or element["fuse"] == "false":
        return False
    return not any(part.row.kind == "joint" for part, _ in element.content())


def _place_all(build: Build, frames: list[tuple[Element, ...]]) -> None:
    """Set the poses and attributes of all bodies. ``frames[i]`` holds the ``frame`` elements that enclose body i."""
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
    """Set the poses and attributes of repeated bodies; ``columns`` holds mocap, gravcomp and user values."""
    own: dict[Pattern, dict[str, Any]] = {}  # values of the models, with those of the last element
    before = build.bodies[0]
    for body in build.bodies:
        element = body.element
        pattern = element.pattern
        if pattern is not None:
            number = body.id
            if frames[number] or pattern is not before.element.pattern or not pattern.moves_only:
                if pattern not in own:
                    own[pattern] = pattern.model.resolved()
                values = own[pattern]
                for (place, name), value in zip(pattern.blanks, cast("Repeated", element).values, strict=True):
                    if place == OWN:
                        values[name] = value
                body.pos, body.quat = element_pose(build, element, values, frames[number])
                row = values["mocap"], values["gravcomp"], build.checked_user("body", element, values["user"])
            else:
                body.pos, body.quat = cast("Any", element.given("pos")), before.quat
                row = tuple(column[before.id] for column in columns)
            for column, value in zip(columns, row, strict=True):
                column[number] = value
        before = body


def _mocap_ids(build: Build, mocap: list[bool]) -> list[int]:
    """Return the mocap id of each body, or -1, and set ``nmocap``.

    Raises:
        MjcfError: a mocap body has joints or is not a child of the world.
    """
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
    """Fill the columns of all bodies. Their joints, geoms and inertias must be complete."""
    # as in the reference, a negative compensation acts only if another body has a positive one
    build.sizes["ngravcomp"] = sum(1 for value in build.columns["body_gravcomp"] if value > 0.0)
    bodies, tolerance = build.bodies, frame_tolerance(build)
    joints, geoms = [body.joints for body in bodies], [body.geoms for body in bodies]
    build.columns.update(
        body_parentid=[body.parent.id if body.parent is not None else 0 for body in bodies],
        body_jntnum=[*map(len, joints)],
        body_jntadr=[own[0].id if own else -1 for own in joints],
        body_dofnum=[body.dofnum for body in bodies],
        body_dofadr=[own[0].dofadr if own else -1 for own in joints],
        body_geomnum=[*map(len, geoms)],
        body_geomadr=[own[0].id if own else -1 for own in geoms],
        body_sameframe=[same_frame((body.ipos, body.iquat), (IDENTITY,), tolerance) for body in bodies],
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
            own[0].reach if len(own) == 1 else max([geom.reach for geom in own], default=0.0) for own in geoms
        ],
    )


def _union(bits: Iterable[int]) -> int:
    return reduce(or_, bits, 0)


_ALONG = 1e-14  # an axis is along a coordinate axis if its other components are at most this, as in the reference


def put_topology(build: Build) -> None:
    """Set root, weld and tree ids of bodies, parents and addresses of dofs, and sizes of sparse matrices."""
    bodies, counts = build.bodies, build.columns["body_dofnum"]
    mocapid, own_groups = build.columns["body_mocapid"], build.tree.compat == "4.0"
    rootid, weldid, treeid, lastdof = [0], [0], [-1], [-1]
    ntree = 0
    for body in bodies[1:]:
        parent = body.parent.id if body.parent else 0
        moves = bool(body.joints)
        rootid.append(rootid[parent] if parent else body.id)
        apart = moves or (own_groups and mocapid[body.id] >= 0)
        weldid.append(body.id if apart else weldid[parent])
        treeid.append(treeid[parent])
        if moves and treeid[parent] < 0:
            treeid[-1] = ntree
            ntree += 1
        lastdof.append(body.joints[0].dofadr + counts[body.id] - 1 if moves else lastdof[parent])
    moving = [counts[weld] > 0 for weld in weldid]
    tolerance = frame_tolerance(build)
    simple: list[int] = []
    for run in runs(bodies, ELEMENT_OF):
        pattern = run[0].element.pattern
        if pattern is None or pattern.varied:
            simple += [_simple(body, moving, tolerance) for body in run]
        else:
            simple += [_simple(run[0], moving, tolerance)] * len(run)
    build.columns.update(body_rootid=rootid, body_weldid=weldid, body_treeid=treeid, body_simple=simple)
    build.sizes["ntree"] = ntree
    _put_dofs(build, lastdof, treeid)
    # pairs of a body and a degree of freedom above or below it in the tree
    above, below = list(counts), list(counts)
    for body in bodies[1:]:
        above[body.id] += above[body.parent.id] if body.parent else 0
    for body in reversed(bodies[1:]):
        below[body.parent.id if body.parent else 0] += below[body.id]
    build.sizes["nB"] = sum(above) + sum(below) - sum(counts)


def _put_dofs(build: Build, lastdof: list[int], treeid: list[int]) -> None:
    """Set, for each degree of freedom, its parent, tree, address in the sparse inertia, and ``dof_simplenum``."""
    bodyid = build.columns["dof_bodyid"]
    parentid: list[int] = []
    depth: list[int] = []
    for body, count in zip(build.bodies, build.columns["body_dofnum"], strict=True):
        if count:  # dofs of a body are consecutive
            above, first = lastdof[body.parent.id if body.parent else 0], len(parentid)
            parentid += above, *range(first, first + count - 1)
            over = depth[above] if above >= 0 else 0
            depth += range(over + 1, over + 1 + count)
    *adr, total = accumulate(depth, initial=0)
    build.columns.update(dof_parentid=parentid, dof_Madr=adr, dof_treeid=[treeid[body] for body in bodyid])
    build.sizes.update(nM=total, nD=2 * total - len(bodyid))
    put_simple_runs(build)


def put_simple_runs(build: Build) -> None:
    """Set ``dof_simplenum``, the number of consecutive dofs of simple bodies from each dof on."""
    simple, numbers, run = build.columns["body_simple"], [], 0
    for body in reversed(build.columns["dof_bodyid"]):
        run = run + 1 if simple[body] else 0
        numbers.append(run)
    build.columns["dof_simplenum"] = numbers[::-1]


def _simple(body: Body, moving: list[bool], tolerance: float) -> int:
    """Return ``body_simple``: 0 if the dofs of the body may be coupled, 2 if all its joints are slides, else 1.

    The result is also 0 if the element's ``simple`` is "false".
    """
    if body.parent is None:
        return 1
    if body.element.given("simple") == "false":
        return 0
    if body.parent.parent is not None and body.parent.parent.id:
        return 0  # as in the reference, also for children of two static bodies
    if body.children or moving[body.parent.id] or not is_same_frame((body.ipos, body.iquat), IDENTITY, tolerance):
        return 0
    for joint in body.joints:
        if joint.type == "free":
            continue
        if joint.pos != IDENTITY[0] or sum(abs(x) > _ALONG for x in joint.axis) != 1:
            return 0
        if joint.type != "slide" and joint is not body.joints[-1]:
            return 0
    return 2 if body.joints and {joint.type for joint in body.joints} == {"slide"} else 1
