"""Rays (spec: programming, API reference, "Ray collisions").

A ray is the set of points pnt + x * vec with x >= 0. All functions compute the smallest x at which the ray hits a
surface, in units of the length of `vec`, or -1 if the ray hits nothing. A ray that starts inside a geom hits the
surface where it leaves the geom.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from cardan.api.arguments import numbers, require, target_of, vector_of
from cardan.api.native_call import native_by
from cardan.api.ray_normals import geom_normal, shape_normal
from cardan.collision.inside import inside_site
from cardan.collision.ray import MISS
from cardan.collision.ray_mesh import ray_triangle
from cardan.collision.ray_scene import (
    NGROUP,
    REFUSED,
    cast_at_hfield,
    cast_at_mesh,
    cast_at_shape,
    cast_ray,
    cast_rays,
)
from cardan.errors import UnsupportedFeature
from cardan.jit import kernel
from cardan.jit.binding.arguments import Integer, Number, element, source, target
from cardan.maths.vector import get3
from cardan.model.kernel_views import Data, Model
from cardan.model.mjdata import MjData
from cardan.model.mjmodel import MjModel
from cardan.soft.rays import cast_at_flex

GROUPS = source(NGROUP, dtype="u1", optional=True)
ONE_ID = target(1, dtype="i4")


def _takes_normal(number: int) -> Callable[..., bool]:
    """Make a function that tells whether a call has the argument `normal`; without it, there are `number` arguments."""
    return lambda *given, **named: "normal" in named or len(given) + len(named) > number


def _ray_4_0(
    m: MjModel,
    d: MjData,
    pnt: Any,
    vec: Any,
    geomgroup: Any,
    flg_static: int,
    bodyexclude: int,
    geomid: np.ndarray | None = None,
    normal: np.ndarray | None = None,
) -> float:
    """Distance along a ray, as `mj_ray`; also write the normal (3,) of the surface there, or 0."""
    ids = np.zeros(1, np.int32) if geomid is None else geomid
    x = mj_ray(m, d, pnt, vec, geomgroup, flg_static, bodyexclude, ids)
    if normal is not None:
        out = target_of("normal", normal, 3)
        out[:] = 0.0 if x < 0.0 else geom_normal(m, d, int(ids[0]), np.asarray(pnt) + x * np.asarray(vec))
    return x


@native_by(
    cast_ray,
    other=(_takes_normal(8), _ray_4_0),
    failure=(REFUSED, "vector length is too small"),
    releases=True,
    pnt=source(3),
    vec=source(3),
    geomgroup=GROUPS,
    flg_static=Integer(),
    bodyexclude=Integer(),
    geomid=ONE_ID,
)
def mj_ray(
    m: MjModel, d: MjData, pnt: Any, vec: Any, geomgroup: Any, flg_static: int, bodyexclude: int, geomid: np.ndarray
) -> float:
    """Distance along a ray to the nearest visible geom.

    Args:
        m: model.
        d: data; ``geom_xpos`` and ``geom_xmat`` are read.
        pnt: start of the ray (3,), world frame, m.
        vec: direction of the ray (3,).
        geomgroup: flags (6,) of the geom groups that the ray can hit; None: all.
        flg_static: whether the ray can hit geoms of bodies fixed to the world.
        bodyexclude: id of a body whose geoms the ray passes through; -1: none.
        geomid: int32 array (1,), written: id of the geom that the ray hits, or -1.

    Returns:
        The distance in units of `vec`, or -1 if the ray hits no geom.

    Raises:
        FatalError: `vec` is 0.
        TypeError: an array has a wrong size or type.

    As in MuJoCo 4.0, a ninth argument, `normal`, may be an array (3,), which gets the normal of the surface, or None.
    """
    ...


def _check_sizes(geomid: Any, dist: Any, nray: int, **_: Any) -> None:
    require(np.size(dist) == np.size(geomid) == nray, f"dist and geomid should be of size nray ({nray})")


def _rays_4_0(
    m: MjModel,
    d: MjData,
    pnt: Any,
    vec: Any,
    geomgroup: Any,
    flg_static: int,
    bodyexclude: int,
    geomid: np.ndarray,
    dist: np.ndarray,
    normal: np.ndarray | None,
    nray: int,
    cutoff: float,
) -> None:
    """Distances along several rays, as `mj_multiRay`; also write the normals (3 * nray,) of the surfaces."""
    mj_multiRay(m, d, pnt, vec, geomgroup, flg_static, bodyexclude, geomid, dist, nray, cutoff)
    if normal is not None:
        rows = target_of("normal", normal, 3 * nray, "3*nray").reshape(-1, 3)
        for row, direction, x, geom in zip(rows, np.reshape(vec, (-1, 3)), dist, geomid, strict=True):
            row[:] = 0.0 if x < 0.0 else geom_normal(m, d, int(geom), np.asarray(pnt) + x * direction)


@native_by(
    cast_rays,
    other=(_takes_normal(11), _rays_4_0),
    check=_check_sizes,
    refuses="vector length is too small, of number {status} of {nray}",
    releases=True,
    pnt=source(3),
    vec=source("3*nray"),
    geomgroup=GROUPS,
    flg_static=Integer(),
    bodyexclude=Integer(),
    geomid=target("nray", dtype="i4"),
    dist=target("nray"),
    nray=Integer(),
    cutoff=Number(),
)
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
    """Distances along several rays from one point.

    Args:
        m: model.
        d: data; ``geom_xpos`` and ``geom_xmat`` are read.
        pnt: start of the rays (3,), world frame, m.
        vec: directions of the rays, one after the other (3 * nray,).
        geomgroup: flags (6,) of the geom groups that the rays can hit; None: all.
        flg_static: whether the rays can hit geoms of bodies fixed to the world.
        bodyexclude: id of a body whose geoms the rays pass through; -1: none.
        geomid: int32 array (nray,), written: id of the geom that each ray hits, or -1.
        dist: array (nray,), written: distances in units of the directions, or -1.
        nray: number of rays.
        cutoff: distance from `pnt` beyond which planes, and the bounding spheres of other geoms, are ignored, m.

    Raises:
        FatalError: a direction is 0.
        TypeError: an array has a wrong size or type.
    """
    ...


@native_by(
    cast_at_mesh,
    failure=(REFUSED, "geom with mesh type expected, geom {geomid} is none"),
    releases=True,
    geomid=Integer(),
    pnt=source(3),
    vec=source(3),
)
def mj_rayMesh(m: MjModel, d: MjData, geomid: int, pnt: Any, vec: Any) -> float:
    """Distance along a ray to the faces of a mesh geom, or -1; point and direction (3,) in the world frame.

    Raises:
        FatalError: the geom is not a mesh.
    """
    ...


@native_by(
    cast_at_hfield,
    failure=(REFUSED, "geom with hfield type expected, geom {geomid} is none"),
    releases=True,
    geomid=Integer(),
    pnt=source(3),
    vec=source(3),
)
def mj_rayHfield(m: MjModel, d: MjData, geomid: int, pnt: Any, vec: Any) -> float:
    """Distance along a ray to a height field geom, or -1; point and direction (3,) in the world frame.

    Raises:
        FatalError: the geom is not a height field.
    """
    ...


def _ray_geom_4_0(
    pos: Any, mat: Any, size: Any, pnt: Any, vec: Any, geomtype: int, normal: np.ndarray | None = None
) -> float:
    """Distance along a ray, as `mju_rayGeom`; also write the normal (3,) of the surface there, or 0."""
    x = mju_rayGeom(pos, mat, size, pnt, vec, geomtype)
    if normal is not None:
        out, turn = target_of("normal", normal, 3), np.reshape(numbers("mat", mat, 9), (3, 3))
        local = (np.asarray(pnt, float) + x * np.asarray(vec, float) - np.asarray(pos, float)) @ turn
        out[:] = 0.0 if x < 0.0 else turn @ shape_normal(int(geomtype), np.asarray(size, float), local)
    return x


@native_by(
    cast_at_shape,
    other=(_takes_normal(6), _ray_geom_4_0),
    failure=(REFUSED, "unexpected geom type {geomtype}"),
    pos=source(3),
    mat=source(9),
    size=source(3),
    pnt=source(3),
    vec=source(3),
    geomtype=Integer(),
)
def mju_rayGeom(pos: Any, mat: Any, size: Any, pnt: Any, vec: Any, geomtype: int) -> float:
    """Distance along a ray to a primitive shape, or -1.

    Args:
        pos: centre of the shape (3,), m.
        mat: orientation of the shape (9,).
        size: sizes of the shape (3,), as ``geom_size``.
        pnt: start of the ray (3,), m.
        vec: direction of the ray (3,).
        geomtype: plane, sphere, capsule, ellipsoid, cylinder or box (mjtGeom).

    Raises:
        FatalError: `geomtype` is not a primitive shape.
    """
    ...


@native_by(
    cast_at_flex,
    releases=True,
    flex_layer=Integer(),
    flg_vert=Integer(),
    flg_edge=Integer(),
    flg_face=Integer(),
    flg_skin=Integer(),
    flexid=element("flex", "nflex"),
    pnt=source(3),
    vec=source(3),
    vertid=ONE_ID,
)
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
        flex_layer: layer of the tetrahedra whose faces the ray can hit.
        flg_vert: whether the ray can hit vertices, which are spheres of the flex's radius.
        flg_edge: whether the ray can hit edges, which are capsules of the flex's radius.
        flg_face: whether the ray can hit faces of elements.
        flg_skin: whether the ray can hit vertices, edges and faces of the outer layer; ignored for a flex of segments.
        flexid: id of the flex.
        pnt: start of the ray (3,), world frame, m.
        vec: direction of the ray (3,).
        vertid: int32 array (1,), written if the ray hits: id of the flex's vertex closest to the hit point.

    Raises:
        IndexError: the flex does not exist.
        TypeError: an array has a wrong size or type.
    """
    ...


def _faces_near_line(corners: np.ndarray, p: np.ndarray, v: np.ndarray) -> np.ndarray:
    """Return the indices of those triangles `corners` (n, 3, 3) that a line through `p` along `v` may hit.

    A triangle is dropped if all its corners are on the same side of one of two planes through the line.
    """
    size = float(np.linalg.norm(v))
    if size == 0.0:
        return np.arange(len(corners))
    across = np.cross(v, np.eye(3)[np.abs(v).argmin()])
    keep = np.ones(len(corners), bool)
    for normal in (across, np.cross(v, across)):
        side = (corners - p) @ normal
        slack = 1e-9 * float(np.linalg.norm(normal)) * (1.0 + float(np.abs(side).max(initial=0.0)))
        keep &= (side.min(axis=1) <= slack) & (side.max(axis=1) >= -slack)
    return np.flatnonzero(keep)


def mju_raySkin(nface: int, nvert: int, face: Any, vert: Any, pnt: Any, vec: Any, vertid: np.ndarray | None) -> float:
    """Distance along a ray to the triangles of a skin, or -1.

    Args:
        nface: number of triangles.
        nvert: number of vertices.
        face: vertices of the triangles (3 * nface,).
        vert: positions of the vertices (3 * nvert,), m.
        pnt: start of the ray (3,).
        vec: direction of the ray (3,).
        vertid: int32 array (1,), written if the ray hits: id of the vertex closest to the hit point; or None.

    Raises:
        TypeError: an array has a wrong size or type.
        ValueError: a number is negative, or a triangle has a vertex that does not exist.
    """
    ids = np.zeros(1, np.int32) if vertid is None else target_of("vertid", vertid, 1, dtype=np.int32)
    if min(nface, nvert) < 0:
        raise ValueError(f"nface and nvert must not be negative, got {nface} and {nvert}")
    faces = vector_of("face", np.ravel(face), 3 * nface, "3*nface").astype(int).reshape(-1, 3)
    points = vector_of("vert", np.ravel(vert), 3 * nvert, "3*nvert").reshape(-1, 3)
    if faces.size and (faces.min() < 0 or faces.max() >= nvert):
        raise ValueError("face should hold ids from 0 to nvert - 1")
    p, v = numbers("pnt", pnt, 3), numbers("vec", vec, 3)
    best, hit = MISS, -1
    for k in _faces_near_line(points[faces], np.asarray(p), np.asarray(v)):
        corners = points[faces[k]].tolist()
        x = ray_triangle(corners[0], corners[1], corners[2], p, v)
        if x >= 0.0 and (hit < 0 or x < best):
            best, hit = x, int(k)
    if hit >= 0:
        point = np.asarray(p) + best * np.asarray(v)
        ids[0] = faces[hit][np.argmin(np.linalg.norm(points[faces[hit]] - point, axis=1))]
    return float(best)


def mj_rayFlex(
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
    vertid: np.ndarray | None = None,
    normal: np.ndarray | None = None,
) -> float:
    """Distance along a ray to a flex, or -1: `mju_rayFlex` under its name in MuJoCo 4.0.

    Raises:
        UnsupportedFeature: `normal` is given; normals of flexes are not computed.
    """
    if normal is not None:
        raise UnsupportedFeature("mj_rayFlex: normals of flexes are not computed; leave out the argument normal")
    ids = np.zeros(1, np.int32) if vertid is None else vertid
    return mju_rayFlex(m, d, flex_layer, flg_vert, flg_edge, flg_face, flg_skin, flexid, pnt, vec, ids)


@kernel
def _inside_site(m: Model, d: Data, siteid: int, point: Any) -> int:
    return 1 if inside_site(m, d, siteid, get3(point, 0)) else 0


@native_by(_inside_site, siteid=element("site", "nsite"), point=source(3))
def mj_insideSite(m: MjModel, d: MjData, siteid: int, point: Any) -> int:
    """Return 1 if a point (3,), world frame, is inside a site (its convex hull if it has a mesh), otherwise 0."""
    ...


__all__ = [
    "mj_insideSite",
    "mj_multiRay",
    "mj_ray",
    "mj_rayFlex",
    "mj_rayHfield",
    "mj_rayMesh",
    "mju_rayFlex",
    "mju_rayGeom",
    "mju_raySkin",
]
