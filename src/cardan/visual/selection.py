"""Selecting the object under the mouse by a ray from the camera (spec: programming, visualization, "Selection")."""

from __future__ import annotations

import numpy as np

from cardan.api.arguments import check_pair, require, target_of, target_vector
from cardan.api.rays import mj_ray, mju_rayFlex, mju_raySkin
from cardan.enums import mjtVisFlag
from cardan.model.mjdata import MjData
from cardan.model.mjmodel import MjModel
from cardan.visual.defaults import require_record
from cardan.visual.rooms import mjv_frustumHeight, model_camera
from cardan.visual.structs import MjvOption, MjvScene

STATIC, SKIN = int(mjtVisFlag.mjVIS_STATIC), int(mjtVisFlag.mjVIS_SKIN)
FLEX_FLAGS = [int(getattr(mjtVisFlag, f"mjVIS_FLEX{k}")) for k in ("VERT", "EDGE", "FACE", "SKIN")]


def _direction(scn: MjvScene, aspectratio: float, relx: float, rely: float) -> tuple[np.ndarray, np.ndarray]:
    """Return origin and unit direction of the ray through a point of the window."""
    pos, forward, up = model_camera("mjv_select", scn)
    height = mjv_frustumHeight(scn)
    right = np.cross(forward, up)
    vec = forward + (relx - 0.5) * height * aspectratio * right + (rely - 0.5) * height * up
    return pos, vec / np.linalg.norm(vec)


def _nearest_flex(m: MjModel, d: MjData, opt: MjvOption, pnt: np.ndarray, vec: np.ndarray) -> tuple[float, int, int]:
    """Return distance, flex and vertex of the nearest flex, or -1. If flexes are shown, all groups are considered."""
    vert, edge, face, skin = (int(opt.flags[k]) for k in FLEX_FLAGS)
    best, vertex = (-1.0, -1, -1), np.zeros(1, np.int32)
    for flex in range(m.nflex if vert or edge or face or skin else 0):
        dist = mju_rayFlex(m, d, opt.flex_layer, vert, edge, face, skin, flex, pnt, vec, vertex)
        if dist >= 0.0 and (best[0] < 0.0 or dist < best[0]):
            best = (dist, flex, int(vertex[0]))
    return best


def _nearest_skin(
    m: MjModel, opt: MjvOption, scn: MjvScene, pnt: np.ndarray, vec: np.ndarray
) -> tuple[float, int, int]:
    """Return distance, skin and vertex of the nearest skin, or -1. If skins are shown, all groups are considered."""
    best, vertex = (-1.0, -1, -1), np.zeros(1, np.int32)
    for skin in range(m.nskin if opt.flags[SKIN] else 0):
        first, faces = int(m.skin_vertadr[skin]), int(m.skin_faceadr[skin])
        corners = m.skin_face[faces : faces + m.skin_facenum[skin]].ravel()
        vertices = scn.skinvert[3 * first : 3 * (first + m.skin_vertnum[skin])]
        dist = mju_raySkin(int(m.skin_facenum[skin]), int(m.skin_vertnum[skin]), corners, vertices, pnt, vec, vertex)
        if dist >= 0.0 and (best[0] < 0.0 or dist < best[0]):
            best = (dist, skin, int(vertex[0]))
    return best


def _bone_body(m: MjModel, skin: int, vertex: int) -> int:
    """Return the body whose bone has the largest weight at a vertex of a skin."""
    body, most = -1, 0.0
    for bone in range(m.skin_boneadr[skin], m.skin_boneadr[skin] + m.skin_bonenum[skin]):
        first = m.skin_bonevertadr[bone]
        ids = m.skin_bonevertid[first : first + m.skin_bonevertnum[bone]]
        for k in np.flatnonzero(ids == vertex):
            if m.skin_bonevertweight[first + k] > most:
                body, most = int(m.skin_bonebodyid[bone]), float(m.skin_bonevertweight[first + k])
    return body


def mjv_select(
    m: MjModel,
    d: MjData,
    vopt: MjvOption,
    aspectratio: float,
    relx: float,
    rely: float,
    scn: MjvScene,
    selpnt: np.ndarray,
    geomid: np.ndarray,
    flexid: np.ndarray,
    skinid: np.ndarray,
) -> int:
    """Select geom, flex or skin with mouse, return bodyid; -1: none selected.

    Args:
        m: model.
        d: data.
        vopt: options; objects that aren't shown can't be selected.
        aspectratio: width of the window divided by its height.
        relx: position in the window, from 0 at the left to 1.
        rely: position in the window, from 0 at the bottom to 1.
        scn: scene.
        selpnt: hit point on a geom, or the nearest vertex of a flex or skin (3,), world frame, written.
        geomid: id of the geom (1,), or -1, written.
        flexid: id of the flex (1,), or -1, written.
        skinid: id of the skin (1,), or -1, written.

    Raises:
        FatalError: the cameras of the scene were never set.
    """
    check_pair("mjv_select", m, d)
    require_record("mjv_select", "vopt", vopt, MjvOption)
    point = target_of("selpnt", selpnt, 3)
    names = ("geomid", "flexid", "skinid")
    ids = [target_vector(name, v, np.int32) for name, v in zip(names, (geomid, flexid, skinid), strict=True)]
    for name, target in zip(names, ids, strict=True):
        require(target.size == 1, f"{name} should be of size 1, got size {target.size}")
    pnt, vec = _direction(scn, aspectratio, relx, rely)
    geom = np.full(1, -1, np.int32)
    found: list[tuple[float, int, int, int, np.ndarray]] = []  # distance, kind of object, id, body, point
    dist = mj_ray(m, d, pnt, vec, vopt.geomgroup, int(vopt.flags[STATIC]), -1, geom)
    if geom[0] >= 0:
        found.append((dist, 0, int(geom[0]), int(m.geom_bodyid[geom[0]]), pnt + dist * vec))
    dist, flex, vertex = _nearest_flex(m, d, vopt, pnt, vec)
    if flex >= 0:
        vertex += int(m.flex_vertadr[flex])
        found.append((dist, 1, flex, int(m.flex_vertbodyid[vertex]), d.flexvert_xpos[vertex]))
    dist, skin, vertex = _nearest_skin(m, vopt, scn, pnt, vec)
    if skin >= 0:
        first = 3 * (int(m.skin_vertadr[skin]) + vertex)
        found.append((dist, 2, skin, _bone_body(m, skin, vertex), scn.skinvert[first : first + 3]))
    for target in ids:
        target[0] = -1
    if not found:
        return -1
    _, kind, number, body, place = min(found, key=lambda entry: entry[0])
    ids[kind][0] = number
    point[:] = place
    return body


__all__ = ["mjv_select"]
