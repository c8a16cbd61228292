"""Rays (spec: programming, API reference, "Ray collisions").

A ray is the set of points pnt + x * vec with x >= 0. All functions return the smallest x at which it meets a surface,
in units of `vec`, or -1. Rays that start inside a geom meet the surface where they leave it.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from cardan.api.array_arguments import numbers, require, target_vector, vector_of
from cardan.api.single import run_stage
from cardan.collision.ray import MISS, is_primitive, ray_in_frame, ray_primitive
from cardan.collision.ray_mesh import ray_triangle
from cardan.collision.ray_scene import NGROUP, TOO_SHORT, cast_at_geom, cast_ray, cast_rays
from cardan.constants import mjMINVAL
from cardan.enums import mjtGeom
from cardan.errors import FatalError
from cardan.model.mjdata import MjData
from cardan.model.mjmodel import MjModel
from cardan.soft.rays import EDGES, FACES_SEEN, SKIN, VERTICES, cast_at_flex

__all__ = ["mj_multiRay", "mj_ray", "mj_rayHfield", "mj_rayMesh", "mju_rayFlex", "mju_rayGeom", "mju_raySkin"]


def _put3(name: str, line: np.ndarray, start: int, value: Any) -> None:
    """Store three numbers; arrays of the right shape, which are the rule, go the short way."""
    if value.__class__ is not np.ndarray or value.shape != (3,):
        value = vector_of(name, value, 3)
    line[start : start + 3] = value


def _put_line(work: dict[str, np.ndarray], pnt: Any, vec: Any) -> None:
    """Store point and direction of a ray."""
    line = work["work.ray_line"]
    _put3("pnt", line, 0, pnt)
    _put3("vec", line, 3, vec)


def _put_options(work: dict[str, np.ndarray], geomgroup: Any, flg_static: int, bodyexclude: int) -> None:
    """Store which geoms the rays see."""
    option = work["work.ray_option"]
    option[0] = geomgroup is not None
    option[1] = flg_static
    option[2] = bodyexclude
    if geomgroup is not None:
        work["work.ray_group"][:] = vector_of("geomgroup", geomgroup, NGROUP)


def _distance(name: str, work: dict[str, np.ndarray]) -> float:
    """The distance that a stage has found; raises FatalError if it found the direction too short."""
    dist = work["work.ray_dist"].item()
    if dist == TOO_SHORT:
        raise FatalError(f"{name}: vector length is too small")
    return dist


def mj_ray(
    m: MjModel, d: MjData, pnt: Any, vec: Any, geomgroup: Any, flg_static: int, bodyexclude: int, geomid: np.ndarray
) -> float:
    """Distance along a ray to the nearest visible geom.

    Args:
        m: model.
        d: data; ``geom_xpos`` and ``geom_xmat`` are read.
        pnt: start of the ray (3,), global frame, m.
        vec: its direction (3,).
        geomgroup: which of the 6 groups are seen; None: all.
        flg_static: whether geoms of bodies fixed to the world are seen.
        bodyexclude: id of a body whose geoms are not seen; -1: none.
        geomid: int32 array of size 1 that gets the id of the geom, or -1.

    Returns:
        The distance in units of `vec`, or -1 if no geom is met.

    Raises:
        FatalError: `vec` is 0.
        TypeError: an array has a wrong size or type.
    """
    work = d._memory.arrays
    if (
        geomid.__class__ is not np.ndarray
        or geomid.dtype != np.int32
        or geomid.shape != (1,)
        or not geomid.flags.writeable
    ):
        geomid = target_vector("geomid", geomid, np.int32)
        require(geomid.size == 1, f"geomid should be of size 1, got size {geomid.size}")
    _put_line(work, pnt, vec)
    _put_options(work, geomgroup, flg_static, bodyexclude)
    run_stage(cast_ray, m, d)
    dist = _distance("mj_ray", work)
    geomid[0] = work["work.ray_option"][3]
    return dist


def mj_multiRay(
    m: MjModel,
    d: MjData,
    pnt: Any,
    vec: Any,
    geomgroup: Any,
    flg_static: int,
    bodyexclude: int,
    geomid: np.ndarray,
    dist: np.ndarray,
    nray: int,
    cutoff: float,
) -> None:
    """Distances along several rays that start at one point; other arguments as in `mj_ray`.

    Args:
        m: model.
        d: data.
        pnt: start of the rays (3,), global frame, m.
        vec: their directions, one after the other (3 * nray,).
        geomgroup: which groups are seen, or None.
        flg_static: whether static geoms are seen.
        bodyexclude: id of a body that is not seen, or -1.
        geomid: int32 array (nray,) that gets the ids of the geoms, or -1.
        dist: array (nray,) that gets the distances in units of the directions, or -1.
        nray: number of rays.
        cutoff: distance from `pnt` beyond which planes, and the bounding spheres of other geoms, are not seen, m.

    Raises:
        FatalError: a direction is 0.
        TypeError: an array has a wrong size or type.
    """
    distances = target_vector("dist", dist)
    ids = target_vector("geomid", geomid, np.int32)
    require(distances.size == ids.size == nray, f"dist and geomid should be of size nray ({nray})")
    directions = vector_of("vec", vec, 3 * nray, "3*nray")
    lengths = np.linalg.norm(directions.reshape(-1, 3), axis=1)
    if (lengths < mjMINVAL).any():
        raise FatalError(f"mj_multiRay: direction {int(np.argmin(lengths))} is too short")
    memory = d._memory
    _put3("pnt", memory.arrays["work.ray_line"], 0, pnt)
    _put_options(memory.arrays, geomgroup, flg_static, bodyexclude)
    memory.scalars["work.ray_cutoff"][0] = cutoff
    for name, array in (("vec", directions), ("dists", distances), ("geoms", ids)):
        memory.attach(f"work.ray_{name}", array)
    d.__dict__.pop("_view", None)
    run_stage(cast_rays, m, d)


def _ray_at(name: str, kind: mjtGeom, m: MjModel, d: MjData, geomid: int, pnt: Any, vec: Any) -> float:
    """Distance along a ray to one geom of the type `kind`."""
    if not 0 <= geomid < m.ngeom or m.geom_type[geomid] != kind:
        raise FatalError(f"{name}: geom with {kind.name[7:].lower()} type expected, geom {geomid} is none")
    work = d._memory.arrays
    _put_line(work, pnt, vec)
    work["work.ray_option"][3] = geomid
    run_stage(cast_at_geom, m, d)
    return _distance(name, work)


def mj_rayMesh(m: MjModel, d: MjData, geomid: int, pnt: Any, vec: Any) -> float:
    """Distance along a ray to the faces of a mesh geom, or -1; point and direction (3,) in the global frame.

    Raises:
        FatalError: the geom is no mesh, or `vec` is 0.
    """
    return _ray_at("mj_rayMesh", mjtGeom.mjGEOM_MESH, m, d, geomid, pnt, vec)


def mj_rayHfield(m: MjModel, d: MjData, geomid: int, pnt: Any, vec: Any) -> float:
    """Distance along a ray to a height field geom, or -1; point and direction (3,) in the global frame.

    Raises:
        FatalError: the geom is no height field, or `vec` is 0.
    """
    return _ray_at("mj_rayHfield", mjtGeom.mjGEOM_HFIELD, m, d, geomid, pnt, vec)


def mju_rayGeom(pos: Any, mat: Any, size: Any, pnt: Any, vec: Any, geomtype: int) -> float:
    """Distance along a ray to a primitive shape, or -1.

    Args:
        pos: centre of the shape (3,), m.
        mat: its orientation (9,).
        size: its sizes (3,), as ``geom_size``.
        pnt: start of the ray (3,), m.
        vec: its direction (3,).
        geomtype: plane, sphere, capsule, ellipsoid, cylinder or box (mjtGeom).

    Raises:
        FatalError: there is no primitive of this type.
    """
    if not is_primitive(int(geomtype)):
        raise FatalError(f"mju_rayGeom: unexpected geom type {int(geomtype)}")
    p, v = ray_in_frame(numbers("pos", pos, 3), numbers("mat", mat, 9), numbers("pnt", pnt, 3), numbers("vec", vec, 3))
    return float(ray_primitive(int(geomtype), numbers("size", size, 3), p, v))


def _one_id(name: str, target: np.ndarray) -> np.ndarray:
    """An int32 array of size 1 that gets an id."""
    ids = target_vector(name, target, np.int32)
    require(ids.size == 1, f"{name} should be of size 1, got size {ids.size}")
    return ids


def mju_rayFlex(
    m: MjModel,
    d: MjData,
    flex_layer: int,
    flg_vert: int,
    flg_edge: int,
    flg_face: int,
    flg_skin: int,
    flexid: int,
    pnt: Any,
    vec: Any,
    vertid: np.ndarray,
) -> float:
    """Distance along a ray to a flex, or -1.

    Args:
        m: model.
        d: data; ``flexvert_xpos`` is read.
        flex_layer: layer of the tetrahedra whose faces are met.
        flg_vert: whether vertices, spheres of the flex's radius, are met.
        flg_edge: whether edges, capsules of the flex's radius, are met.
        flg_face: whether the faces of elements are met.
        flg_skin: whether all three are met, faces of the outer layer; not of a flex of segments.
        flexid: id of the flex.
        pnt: start of the ray (3,), global frame, m.
        vec: its direction (3,).
        vertid: int32 array of size 1 that gets the vertex of the flex closest to the point hit; kept if there is none.

    Raises:
        FatalError: there is no such flex.
        TypeError: an array has a wrong size or type.
    """
    if not 0 <= flexid < m.nflex:
        raise FatalError(f"mju_rayFlex: there is no flex {flexid}; the model has {m.nflex}")
    ids, work = _one_id("vertid", vertid), d._memory.arrays
    _put_line(work, pnt, vec)
    flags = ((flg_vert, VERTICES), (flg_edge, EDGES), (flg_face, FACES_SEEN), (flg_skin, SKIN))
    work["work.arg_id"][:3] = flexid, flex_layer, sum(bit for flag, bit in flags if flag)
    run_stage(cast_at_flex, m, d)
    if work["work.arg_id"][3] >= 0:
        ids[0] = work["work.arg_id"][3]
    return float(work["work.ray_dist"][0])


def mju_raySkin(nface: int, nvert: int, face: Any, vert: Any, pnt: Any, vec: Any, vertid: np.ndarray) -> float:
    """Distance along a ray to the triangles of a skin, or -1.

    Args:
        nface: number of triangles.
        nvert: number of vertices.
        face: vertices of the triangles (3 * nface,).
        vert: positions of the vertices (3 * nvert,), m.
        pnt: start of the ray (3,).
        vec: its direction (3,).
        vertid: int32 array of size 1 that gets the vertex closest to the point hit; kept if there is none.

    Raises:
        TypeError: an array has a wrong size or type, or a triangle has a vertex that does not exist.
    """
    ids = _one_id("vertid", vertid)
    faces = vector_of("face", face, 3 * nface, "3*nface").astype(int).reshape(-1, 3)
    points = vector_of("vert", vert, 3 * nvert, "3*nvert").reshape(-1, 3)
    require(not faces.size or (faces.min() >= 0 and faces.max() < nvert), "face should hold ids from 0 to nvert - 1")
    p, v = numbers("pnt", pnt, 3), numbers("vec", vec, 3)
    best, hit = MISS, -1
    for k, corners in enumerate(points[faces].tolist()):
        x = ray_triangle(corners[0], corners[1], corners[2], p, v)
        if x >= 0.0 and (hit < 0 or x < best):
            best, hit = x, k
    if hit >= 0:
        point = np.asarray(p) + best * np.asarray(v)
        ids[0] = faces[hit][np.argmin(np.linalg.norm(points[faces[hit]] - point, axis=1))]
    return float(best)
