"""Tables derived from the structure of the body tree (spec: computation, "Physics simulation", sparse inertia)."""

from __future__ import annotations

from itertools import accumulate
from typing import TYPE_CHECKING

from cardan.compiler.nodes import ELEMENT_OF
from cardan.maths.pose import IDENTITY
from cardan.spec.repeated import runs

if TYPE_CHECKING:
    from cardan.compiler.build import Build
    from cardan.compiler.nodes import Body


_ALONG = 1e-14  # an axis is along a coordinate axis if its other components are at most this, as in the reference


def put_topology(build: Build) -> None:
    """Set root, weld and tree ids of bodies, parents and addresses of degrees of freedom, sizes of sparse matrices."""
    bodies, counts = build.bodies, build.columns["body_dofnum"]
    rootid, weldid, treeid, lastdof = [0], [0], [-1], [-1]
    ntree = 0
    for body in bodies[1:]:
        parent = body.parent.id if body.parent else 0
        moves = bool(body.joints)
        rootid.append(rootid[parent] if parent else body.id)
        weldid.append(body.id if moves else weldid[parent])
        treeid.append(treeid[parent])
        if moves and treeid[parent] < 0:
            treeid[-1] = ntree
            ntree += 1
        lastdof.append(body.joints[0].dofadr + counts[body.id] - 1 if moves else lastdof[parent])
    simple: list[int] = []
    for run in runs(bodies, ELEMENT_OF):
        pattern = run[0].element.pattern
        if pattern is None or pattern.varied:
            simple += [_simple(body, weldid) for body in run]
        else:
            simple += [_simple(run[0], weldid)] * len(run)
    build.columns.update(body_rootid=rootid, body_weldid=weldid, body_treeid=treeid, body_simple=simple)
    build.sizes["ntree"] = ntree
    _put_dofs(build, lastdof, treeid, simple)
    build.sizes["nB"] = _body_dof_count(build)


def _put_dofs(build: Build, lastdof: list[int], treeid: list[int], simple: list[int]) -> None:
    """Set parents, trees, addresses in the sparse inertia, and runs of simple degrees of freedom."""
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
    simplenum: list[int] = []
    run = 0
    for body in reversed(bodyid):
        run = run + 1 if simple[body] else 0
        simplenum.append(run)
    build.columns.update(
        dof_parentid=parentid,
        dof_Madr=adr,
        dof_treeid=[treeid[body] for body in bodyid],
        dof_simplenum=simplenum[::-1],
    )
    build.sizes.update(nM=total, nD=2 * total - len(bodyid))


def _simple(body: Body, weldid: list[int]) -> int:
    """Return 1 if the inertia is diagonal in every configuration, 2 if the body only slides, else 0 (body_simple)."""
    if body.parent is None:
        return 1
    if body.parent.parent is not None and body.parent.parent.id:
        return 0  # as in the reference, also for children of two static bodies
    if body.children or weldid[body.parent.id] or (body.ipos, body.iquat) != IDENTITY:
        return 0
    for joint in body.joints:
        if joint.type == "free":
            continue
        if joint.pos != IDENTITY[0] or sum(abs(x) > _ALONG for x in joint.axis) != 1:
            return 0
        if joint.type != "slide" and joint is not body.joints[-1]:
            return 0
    return 2 if body.joints and {joint.type for joint in body.joints} == {"slide"} else 1


def _body_dof_count(build: Build) -> int:
    """Return the number of pairs of a body and a degree of freedom above or below it in the tree (mjModel.nB)."""
    own = build.columns["body_dofnum"]
    above, below = list(own), list(own)
    for body in build.bodies[1:]:
        above[body.id] += above[body.parent.id] if body.parent else 0
    for body in reversed(build.bodies[1:]):
        below[body.parent.id if body.parent else 0] += below[body.id]
    return sum(above) + sum(below) - sum(own)
