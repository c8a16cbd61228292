"""Bounding volumes in the scene (stages)."""

from __future__ import annotations

from typing import Any

from cardan.jit import OK, kernel, stage
from cardan.maths.vector import add3, get3, get9, mul_mat_vec3
from cardan.model.kernel_views import Data, Model
from cardan.visual.append import EYE, GEOM_LINEBOX, UNKNOWN, decorate, rgba_of, shown_group
from cardan.visual.geoms import MESH, SDF
from cardan.visual.memory import BVH_DEPTH, FLEXGROUP


@kernel
def _is_drawn(m: Model, d: Data, node: int) -> bool:
    """Whether a node is at the requested depth, or a leaf above it."""
    depth = m.bvh_depth[node]
    if depth == d.work.scn_state[BVH_DEPTH]:
        return True
    return depth < d.work.scn_state[BVH_DEPTH] and m.bvh_child[node, 0] == -1 and m.bvh_child[node, 1] == -1


@kernel
def volume_rgba(m: Model, d: Data, node: int) -> Any:
    """Colour of a node; nodes that the last collision detection visited have another colour."""
    if d.bvh_active[node] != 0:
        return rgba_of(m.vis.rgba.bvactive)
    return rgba_of(m.vis.rgba.bv)


@kernel
def _box(m: Model, d: Data, node: int, pos: Any, mat: Any) -> None:
    """Add the box of a node of a static tree, given in a frame."""
    aabb = m.bvh_aabb
    centre = (aabb[node, 0], aabb[node, 1], aabb[node, 2])
    size = (aabb[node, 3], aabb[node, 4], aabb[node, 5])
    place = add3(pos, mul_mat_vec3(mat, centre))
    decorate(d, UNKNOWN, node, GEOM_LINEBOX, size, place, mat, volume_rgba(m, d, node))


@stage
def add_body_volumes(m: Model, d: Data) -> int:
    """Add boxes of the bodies' trees: of leaves in the frame of their geom, of others in the inertial frame."""
    for body in range(m.nbody):
        for node in range(m.body_bvhadr[body], m.body_bvhadr[body] + m.body_bvhnum[body]):
            if not _is_drawn(m, d, node):
                continue
            geom = m.bvh_nodeid[node]
            if geom < 0:
                _box(m, d, node, get3(d.xipos, body), get9(d.ximat, body))
                continue
            mat = get9(d.geom_xmat, geom)
            aabb = m.geom_aabb
            centre = (aabb[geom, 0], aabb[geom, 1], aabb[geom, 2])
            size = (aabb[geom, 3], aabb[geom, 4], aabb[geom, 5])
            pos = add3(get3(d.geom_xpos, geom), mul_mat_vec3(mat, centre))
            decorate(d, UNKNOWN, node, GEOM_LINEBOX, size, pos, mat, volume_rgba(m, d, node))
    return OK


@stage
def add_mesh_volumes(m: Model, d: Data) -> int:
    """Add boxes of the trees over the faces of meshes."""
    for geom in range(m.ngeom):
        mesh = m.geom_dataid[geom]
        if (m.geom_type[geom] != MESH and m.geom_type[geom] != SDF) or mesh < 0:
            continue
        for node in range(m.mesh_bvhadr[mesh], m.mesh_bvhadr[mesh] + m.mesh_bvhnum[mesh]):
            if _is_drawn(m, d, node):
                _box(m, d, node, get3(d.geom_xpos, geom), get9(d.geom_xmat, geom))
    return OK


@stage
def add_flex_volumes(m: Model, d: Data) -> int:
    """Add boxes of the flexes' trees, which are aligned with the world."""
    for flex in range(m.nflex):
        if not shown_group(d, FLEXGROUP, m.flex_group[flex]):
            continue
        for node in range(m.flex_bvhadr[flex], m.flex_bvhadr[flex] + m.flex_bvhnum[flex]):
            if _is_drawn(m, d, node):
                row, aabb = node - m.nbvhstatic, d.bvh_aabb_dyn
                centre = (aabb[row, 0], aabb[row, 1], aabb[row, 2])
                size = (aabb[row, 3], aabb[row, 4], aabb[row, 5])
                decorate(d, UNKNOWN, node, GEOM_LINEBOX, size, centre, EYE, volume_rgba(m, d, node))
    return OK
