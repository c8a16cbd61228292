"""Tables that follow from the shape of the body tree (spec: computation, "Physics simulation", sparse inertia)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cardan.compiler.nodes import ELEMENT_OF
from cardan.maths.pose import IDENTITY
from cardan.spec.repeated import runs

if TYPE_CHECKING:
    from cardan.compiler.build import Build
    from cardan.compiler.nodes import Body


def put_topology(build: Build) -> None:
    """Root, weld and tree ids of bodies, parents and addresses of degrees of freedom, sizes of sparse matrices."""
    bodies = build.bodies
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
        lastdof.append(body.joints[0].dofadr + body.dofnum - 1 if moves else lastdof[parent])
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
    """Parents, trees, addresses in the sparse inertia, and runs of simple degrees of freedom."""
    bodyid = build.columns["dof_bodyid"]
    nv = len(bodyid)
    parentid, depth, adr, total = [], [], [], 0
    for dof, body in enumerate(bodyid):
        first = dof == 0 or bodyid[dof - 1] != body
        parent = build.bodies[body].parent
        above = lastdof[parent.id if parent else 0] if first else dof - 1
        parentid.append(above)
        depth.append(depth[above] + 1 if above >= 0 else 1)
        adr.append(total)
        total += depth[-1]
    simplenum = [0] * (nv + 1)
    for dof in reversed(range(nv)):
        simplenum[dof] = simplenum[dof + 1] + 1 if simple[bodyid[dof]] else 0
    build.columns.update(
        dof_parentid=parentid,
        dof_Madr=adr,
        dof_treeid=[treeid[body] for body in bodyid],
        dof_simplenum=simplenum[:nv],
    )
    build.sizes.update(nM=total, nD=2 * total - nv)


def _simple(body: Body, weldid: list[int]) -> int:
    """Whether the inertia is diagonal whatever the position: 1, or 2 when the body only slides (body_simple)."""
    if body.parent is None:
        return 1
    if body.parent.parent is not None and body.parent.parent.id:
        return 0  # as in the reference, also below two bodies that do not move
    if body.children or weldid[body.parent.id] or (body.ipos, body.iquat) != IDENTITY:
        return 0
    for joint in body.joints:
        if joint.type == "free":
            continue
        if joint.pos != IDENTITY[0] or sum(1 for value in joint.axis if value) != 1:
            return 0
        if joint.type != "slide" and joint is not body.joints[-1]:
            return 0
    return 2 if body.joints and all(joint.type == "slide" for joint in body.joints) else 1


def _body_dof_count(build: Build) -> int:
    """Number of pairs of a body and a degree of freedom above or below it in the tree (mjModel.nB)."""
    own = [body.dofnum for body in build.bodies]
    above, below = list(own), list(own)
    for body in build.bodies[1:]:
        above[body.id] += above[body.parent.id] if body.parent else 0
    for body in reversed(build.bodies[1:]):
        below[body.parent.id if body.parent else 0] += below[body.id]
    return sum(above) + sum(below) - sum(own)
