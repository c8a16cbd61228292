"""Stages that add the model's geoms and sites, and bounding volumes, to the scene."""

from __future__ import annotations

from math import floor

from cardan.collision.distance import has_pieces
from cardan.enums.codes import (
    CAT_DECOR,
    CAT_DYNAMIC,
    GEOM_CAPSULE,
    GEOM_CYLINDER,
    GEOM_HFIELD,
    GEOM_MESH,
    GEOM_PLANE,
    GEOM_SDF,
    GEOM_SPHERE,
    OBJ_GEOM,
    OBJ_SITE,
    OBJ_UNKNOWN,
)
from cardan.jit import OK, kernel, stage
from cardan.maths.quaternion import mul_quat, quat2mat
from cardan.maths.types import ConstArray2, Mat3, Vec3
from cardan.maths.vector import add3, get3, get4, get9, mul_mat_t_vec3, mul_mat_vec3, sub3
from cardan.model.kernel_views import Data, Model
from cardan.visual.append import (
    DATAID,
    EYE,
    GEOM_LINEBOX,
    IS_TRANSPARENT,
    MODELRBOUND,
    POS,
    STATIC,
    TEXCOORD,
    colour,
    decorate,
    frame_axes,
    island_rgba,
    light_up,
    name_it,
    new_geom,
    opacity,
    put,
    rgba_of,
    shown_group,
    shows,
    wants,
)
from cardan.visual.cameras import camera_average
from cardan.visual.memory import BVH_DEPTH, CAMERA, FLEXGROUP, FRAME, FRAMES, GEOMGROUP, LABELS, SELECT, SITEGROUP, VIS

LABEL_GEOM, LABEL_SITE = LABELS["GEOM"], LABELS["SITE"]
FRAME_GEOM, FRAME_SITE = FRAMES["GEOM"], FRAMES["SITE"]
VIS_STATIC, VIS_ISLAND, VIS_CONVEXHULL = VIS["STATIC"], VIS["ISLAND"], VIS["CONVEXHULL"]
CAM_POS = CAMERA["pos"]
MAXPLANEGRID = 200
"""Largest number of divisions of the grid of a plane."""
PLAIN_TILE = 2.1 / (MAXPLANEGRID / 2 - 1)
"""Tile size of an infinite plane without material, relative to the distance of the far plane."""
TEXTURE_TILE = 4.0
"""Tile size, m, of an infinite plane with a material; it is divided by the repetitions of the material's texture."""


@kernel
def category_of(m: Model, body: int) -> int:
    """Return the category of a body's objects: dynamic if it is movable or a mocap body, static otherwise."""
    return STATIC if m.body_weldid[body] == 0 and m.body_mocapid[body] < 0 else CAT_DYNAMIC


@kernel
def is_shown(m: Model, d: Data, body: int) -> bool:
    """Return whether a body's objects are shown, that is, requested by category and, if static, not switched off."""
    category = category_of(m, body)
    return wants(d, category) and (category == CAT_DYNAMIC or shows(d, VIS_STATIC))


@kernel
def drawn_size(kind: int, size: Vec3) -> Vec3:
    """Return the sizes by which a renderer scales its unit shapes along x, y, z, for a geom of the model's `size`."""
    if kind == GEOM_SPHERE:
        return (size[0], size[0], size[0])
    if kind in (GEOM_CAPSULE, GEOM_CYLINDER):
        return (size[0], size[0], size[1])
    return size


@kernel
def glow(m: Model, d: Data, g: int, body: int) -> None:
    """Make a geom glow if its body is selected."""
    if body > 0 and d.work.scn_state[SELECT] == body:
        light_up(m, d, g)


@kernel
def _follow_camera(m: Model, d: Data, g: int, geom: int) -> None:
    """Move an infinite plane along its infinite axes towards the camera, by a whole number of tiles."""
    mat, origin = get9(d.geom_xmat, geom), get3(d.geom_xpos, geom)
    offset = mul_mat_t_vec3(mat, sub3(camera_average(d, CAM_POS), origin))
    material = m.geom_matid[geom]
    for k in range(2):
        if m.geom_size[geom, k] > 0.0:
            continue
        tile = PLAIN_TILE * m.vis.map.zfar * m.stat.extent
        if material >= 0 and m.mat_texrepeat[material, k] > 0.0:
            tile = TEXTURE_TILE / m.mat_texrepeat[material, k]
        shift = tile * floor(0.5 + offset[k] / tile) if tile > 0.0 else 0.0
        for c in range(3):
            d.work.scn_geom_f[g, POS + c] += shift * mat[3 * c + k]


@kernel
def appearance_of(m: Model, d: Data, geom: int) -> int:
    """Return the geom that provides the colour and material of a drawn geom, or -1 if the geom is not drawn.

    If convex hulls are shown, the convex pieces of a geom are drawn in its place, with its appearance. Otherwise, the
    pieces are not drawn.
    """
    if not shows(d, VIS_CONVEXHULL):
        return -1 if m.geom_piece[geom] > 0 else geom
    return -1 if has_pieces(m, geom) else geom - m.geom_piece[geom]


@stage
def add_geoms(m: Model, d: Data) -> int:
    """Add the geoms of the model whose groups are shown and that aren't fully transparent."""
    planes = 0
    for geom in range(m.ngeom):
        kind = m.geom_type[geom]
        plane = planes
        planes += kind == GEOM_PLANE
        body = m.geom_bodyid[geom]
        if not is_shown(m, d, body) or not shown_group(d, GEOMGROUP, m.geom_group[geom]):
            continue
        look = appearance_of(m, d, geom)
        if look < 0 or opacity(m, m.geom_matid[look], get4(m.geom_rgba, look)) == 0.0:
            continue
        g = new_geom(d, category_of(m, body), OBJ_GEOM, geom)
        if g < 0:
            return OK
        put(d, g, kind, drawn_size(kind, get3(m.geom_size, geom)), get3(d.geom_xpos, geom), get9(d.geom_xmat, geom))
        # the island of the body, if geoms are coloured by islands
        island, moving = -1, m.body_weldid[body]
        if shows(d, VIS_ISLAND) and d.nisland > 0 and m.body_dofnum[moving] > 0:
            island = d.dof_island[m.body_dofadr[moving]]
        if island >= 0:
            colour(m, d, g, -1, island_rgba(d, island))
        else:
            colour(m, d, g, m.geom_matid[look], get4(m.geom_rgba, look))
        if m.geom_castshadow[geom] == 0:
            d.work.scn_geom_i[g, IS_TRANSPARENT] = 0
        glow(m, d, g, body)
        d.work.scn_geom_f[g, MODELRBOUND] = m.geom_rbound[geom]
        if kind == GEOM_PLANE:
            d.work.scn_geom_i[g, DATAID] = plane
            _follow_camera(m, d, g, geom)
        elif kind == GEOM_HFIELD:
            d.work.scn_geom_i[g, DATAID] = m.geom_dataid[geom]
        elif kind in (GEOM_MESH, GEOM_SDF) and m.geom_dataid[geom] >= 0:
            # an even number, or the next odd number for the convex hull of a geom that can collide
            mesh = m.geom_dataid[geom]
            collides = (m.geom_contype[geom] | m.geom_conaffinity[geom]) != 0
            hull = shows(d, VIS_CONVEXHULL) and collides and m.mesh_graphadr[mesh] >= 0
            d.work.scn_geom_i[g, DATAID] = 2 * mesh + hull
            d.work.scn_geom_i[g, TEXCOORD] = m.mesh_texcoordadr[mesh] >= 0
        name_it(d, g, LABEL_GEOM, geom)
        if d.work.scn_state[FRAME] == FRAME_GEOM and wants(d, CAT_DECOR):
            frame_axes(m, d, geom, get3(d.geom_xpos, geom), get9(d.geom_xmat, geom), 1.0)
    return OK


@stage
def add_sites(m: Model, d: Data) -> int:
    """Add the sites whose groups are shown and that aren't fully transparent."""
    for site in range(m.nsite):
        body = m.site_bodyid[site]
        if not is_shown(m, d, body) or not shown_group(d, SITEGROUP, m.site_group[site]):
            continue
        if opacity(m, m.site_matid[site], get4(m.site_rgba, site)) == 0.0:
            continue
        g = new_geom(d, category_of(m, body), OBJ_SITE, site)
        if g < 0:
            return OK
        kind = m.site_type[site]
        pos, mat = get3(d.site_xpos, site), get9(d.site_xmat, site)
        if kind == GEOM_MESH:
            mesh = m.site_dataid[site]
            d.work.scn_geom_i[g, DATAID] = 2 * mesh
            d.work.scn_geom_i[g, TEXCOORD] = m.mesh_texcoordadr[mesh] >= 0
            # the mesh's own frame, in the frame of its file, which is that of the site
            pos = add3(pos, mul_mat_vec3(mat, get3(m.mesh_pos, mesh)))
            turn = mul_quat(get4(m.site_quat, site), get4(m.mesh_quat, mesh))
            mat = quat2mat(mul_quat(get4(d.xquat, body), turn))
        put(d, g, kind, drawn_size(kind, get3(m.site_size, site)), pos, mat)
        colour(m, d, g, m.site_matid[site], get4(m.site_rgba, site))
        glow(m, d, g, body)
        name_it(d, g, LABEL_SITE, site)
        if d.work.scn_state[FRAME] == FRAME_SITE and wants(d, CAT_DECOR):
            frame_axes(m, d, site, get3(d.site_xpos, site), get9(d.site_xmat, site), 1.0)
    return OK


@kernel
def _is_drawn(m: Model, d: Data, node: int) -> bool:
    """Return whether a node of a bounding tree is shown.

    The depth of the node must be the requested one, or smaller if the node is a leaf.
    """
    depth = m.bvh_depth[node]
    if depth == d.work.scn_state[BVH_DEPTH]:
        return True
    return depth < d.work.scn_state[BVH_DEPTH] and m.bvh_child[node, 0] == -1 and m.bvh_child[node, 1] == -1


@kernel
def center_of(aabb: ConstArray2, row: int) -> Vec3:
    """Return the centre of a bounding box: the first three numbers of its row."""
    return (aabb[row, 0], aabb[row, 1], aabb[row, 2])


@kernel
def size_of(aabb: ConstArray2, row: int) -> Vec3:
    """Return the half sizes of a bounding box: the last three numbers of its row."""
    return (aabb[row, 3], aabb[row, 4], aabb[row, 5])


@kernel
def _box(m: Model, d: Data, node: int, aabb: ConstArray2, row: int, pos: Vec3, mat: Mat3) -> None:
    """Add the bounding box of a node: row `row` of `aabb`, in the frame with position `pos` and orientation `mat`.

    Nodes that the last collision detection visited have another colour.
    """
    rgba = rgba_of(m.vis.rgba.bvactive) if d.bvh_active[node] != 0 else rgba_of(m.vis.rgba.bv)
    place = add3(pos, mul_mat_vec3(mat, center_of(aabb, row)))
    decorate(d, OBJ_UNKNOWN, node, GEOM_LINEBOX, size_of(aabb, row), place, mat, rgba)


@stage
def add_body_volumes(m: Model, d: Data) -> int:
    """Add the boxes of the bodies' bounding trees: leaves in the geom's frame, other nodes in the inertial frame."""
    for body in range(m.nbody):
        for node in range(m.body_bvhadr[body], m.body_bvhadr[body] + m.body_bvhnum[body]):
            if not _is_drawn(m, d, node):
                continue
            geom = m.bvh_nodeid[node]
            if geom < 0:
                _box(m, d, node, m.bvh_aabb, node, get3(d.xipos, body), get9(d.ximat, body))
            else:
                _box(m, d, node, m.geom_aabb, geom, get3(d.geom_xpos, geom), get9(d.geom_xmat, geom))
    return OK


@stage
def add_mesh_volumes(m: Model, d: Data) -> int:
    """Add the boxes of the meshes' bounding trees over faces."""
    for geom in range(m.ngeom):
        mesh = m.geom_dataid[geom]
        if m.geom_type[geom] not in (GEOM_MESH, GEOM_SDF) or mesh < 0:
            continue
        for node in range(m.mesh_bvhadr[mesh], m.mesh_bvhadr[mesh] + m.mesh_bvhnum[mesh]):
            if _is_drawn(m, d, node):
                _box(m, d, node, m.bvh_aabb, node, get3(d.geom_xpos, geom), get9(d.geom_xmat, geom))
    return OK


@stage
def add_flex_volumes(m: Model, d: Data) -> int:
    """Add the boxes of the flexes' bounding trees, which are aligned with the world frame."""
    for flex in range(m.nflex):
        if not shown_group(d, FLEXGROUP, m.flex_group[flex]):
            continue
        for node in range(m.flex_bvhadr[flex], m.flex_bvhadr[flex] + m.flex_bvhnum[flex]):
            if _is_drawn(m, d, node):
                _box(m, d, node, d.bvh_aabb_dyn, node - m.nbvhstatic, (0.0, 0.0, 0.0), EYE)
    return OK
