"""Skins in the scene (stages): vertices moved by bones (linear blend skinning), normals, and their geoms."""

from __future__ import annotations

from typing import Any

from cardan.enums import mjtGeom, mjtLabel, mjtObj
from cardan.jit import OK, kernel, stage
from cardan.maths.quaternion import mul_quat, neg_quat, quat2mat
from cardan.maths.vector import add3, cross, get3, get4, mul_mat_vec3, normalize3, sub3
from cardan.model.kernel_views import Data, Model
from cardan.visual.append import (
    DYNAMIC,
    EYE,
    colour,
    finish_soft,
    new_geom,
    put,
    shown_group,
)
from cardan.visual.memory import SKINGROUP, SKINSELECT

OBJ_SKIN, LABEL_SKIN, GEOM_SKIN = int(mjtObj.mjOBJ_SKIN), int(mjtLabel.mjLABEL_SKIN), int(mjtGeom.mjGEOM_SKIN)


@kernel
def _place(d: Data, vertex: int) -> Any:
    v = d.work.scn_skinvert
    return (v[3 * vertex], v[3 * vertex + 1], v[3 * vertex + 2])


@kernel
def _bend(m: Model, d: Data, skin: int, bone: int) -> None:
    """Add the contribution of one bone to the vertices that it moves."""
    body = m.skin_bonebodyid[bone]
    turn = mul_quat(get4(d.xquat, body), neg_quat(get4(m.skin_bonebindquat, bone)))
    mat = quat2mat(turn)
    shift = sub3(get3(d.xpos, body), mul_mat_vec3(mat, get3(m.skin_bonebindpos, bone)))
    first = m.skin_vertadr[skin]
    for k in range(m.skin_bonevertadr[bone], m.skin_bonevertadr[bone] + m.skin_bonevertnum[bone]):
        vertex, weight = first + m.skin_bonevertid[k], m.skin_bonevertweight[k]
        moved = add3(mul_mat_vec3(mat, get3(m.skin_vert, vertex)), shift)
        for c in range(3):
            d.work.scn_skinvert[3 * vertex + c] += weight * moved[c]


@kernel
def _normals(m: Model, d: Data, skin: int) -> None:
    """Compute unit normals at the vertices: normalised sums of the cross products of the adjacent faces."""
    first, count = m.skin_vertadr[skin], m.skin_vertnum[skin]
    normals = d.work.scn_skinnormal
    for k in range(3 * first, 3 * (first + count)):
        normals[k] = 0.0
    for face in range(m.skin_faceadr[skin], m.skin_faceadr[skin] + m.skin_facenum[skin]):
        a = _place(d, first + m.skin_face[face, 0])
        b = _place(d, first + m.skin_face[face, 1])
        c = _place(d, first + m.skin_face[face, 2])
        n = cross(sub3(b, a), sub3(c, a))
        for k in range(3):
            vertex = first + m.skin_face[face, k]
            for i in range(3):
                normals[3 * vertex + i] += n[i]
    for vertex in range(first, first + count):
        n = normalize3((normals[3 * vertex], normals[3 * vertex + 1], normals[3 * vertex + 2]))
        for i in range(3):
            normals[3 * vertex + i] = n[i]


@stage
def update_skins(m: Model, d: Data) -> int:
    """Update vertices and normals of all skins; inflated skins are moved along their normals."""
    for k in range(3 * m.nskinvert):
        d.work.scn_skinvert[k] = 0.0
    for skin in range(m.nskin):
        for bone in range(m.skin_boneadr[skin], m.skin_boneadr[skin] + m.skin_bonenum[skin]):
            _bend(m, d, skin, bone)
        _normals(m, d, skin)
        if m.skin_inflate[skin] != 0.0:
            for k in range(3 * m.skin_vertadr[skin], 3 * (m.skin_vertadr[skin] + m.skin_vertnum[skin])):
                d.work.scn_skinvert[k] += m.skin_inflate[skin] * d.work.scn_skinnormal[k]
    return OK


@stage
def add_skins(m: Model, d: Data) -> int:
    """Add a geom for each skin whose group is shown, at its first bone."""
    for skin in range(m.nskin):
        if not shown_group(d, SKINGROUP, m.skin_group[skin]):
            continue
        g = new_geom(d, DYNAMIC, OBJ_SKIN, skin)
        if g < 0:
            return OK
        put(d, g, GEOM_SKIN, (0.1, 0.1, 0.1), get3(d.xpos, m.skin_bonebodyid[m.skin_boneadr[skin]]), EYE)
        colour(m, d, g, m.skin_matid[skin], get4(m.skin_rgba, skin))
        finish_soft(m, d, g, skin, m.skin_texcoordadr[skin], d.work.scn_state[SKINSELECT], LABEL_SKIN)
    return OK
