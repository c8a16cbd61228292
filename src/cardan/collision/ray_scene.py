"""Rays against all geoms of a scene.

A ray can hit all geoms except invisible geoms (alpha 0), geoms of an excluded body, geoms of a hidden group, and, if
requested, static geoms. Geoms whose bounding sphere the ray misses, or hits too late, are skipped.

Spec: programming, API reference, "Ray collisions".
"""

from __future__ import annotations

from cardan.collision.capsule import axis_z
from cardan.collision.ray import MINVAL, MISS, is_primitive, nearer, ray_in_geom, ray_shape
from cardan.collision.ray_mesh import ray_hfield, ray_mesh
from cardan.enums import mjtGeom
from cardan.enums.codes import GEOM_PLANE
from cardan.jit import OK, kernel
from cardan.maths.types import Array1, ConstArray1, ConstArray2, ConstIntArray2, IntArray1, IntArray2, Vec3
from cardan.maths.vector import add_scaled3, dot3, get3, get9, norm3, sub3
from cardan.model.kernel_views import Data, Model

HFIELD, MESH = int(mjtGeom.mjGEOM_HFIELD), int(mjtGeom.mjGEOM_MESH)
NGROUP = 6
ROUND = 1.0 + 1e-9
"""Enlargement of bounding spheres against rounding."""
NO_BODY = -1
NO_GEOM = -1
REFUSED = -2.0
"""Returned instead of a distance if an argument is invalid."""


@kernel
def is_visible(m: Model, geom: int) -> bool:
    """Whether the alpha of a geom's material, or else of its own colour, is not 0."""
    material = m.geom_matid[geom]
    return m.mat_rgba[material, 3] != 0.0 if material >= 0 else m.geom_rgba[geom, 3] != 0.0


@kernel
def group_shown(m: Model, d: Data, geom: int) -> bool:
    """Whether the group of a geom is enabled in ``d.work.ray_group``; groups out of range count as the nearest."""
    return d.work.ray_group[min(max(m.geom_group[geom], 0), NGROUP - 1)] != 0


@kernel
def is_seen(m: Model, d: Data, geom: int, by_group: bool, static: bool, bodyexclude: int) -> bool:
    """Whether rays can hit a geom; arguments as for `ray_scene`."""
    body = m.geom_bodyid[geom]
    if body == bodyexclude or (not static and m.body_weldid[body] == 0):
        return False
    if by_group and not group_shown(m, d, geom):
        return False
    return is_visible(m, geom)


@kernel
def sphere_missed(m: Model, d: Data, geom: int, point: Vec3, vec: Vec3, best: float) -> bool:
    """Whether a ray misses a geom's bounding sphere, or hits it beyond the distance `best` (negative: no bound)."""
    radius = m.geom_rbound[geom] * ROUND
    if radius <= 0.0 or m.geom_type[geom] == HFIELD:
        return False
    to_center = sub3(get3(d.geom_xpos, geom), point)
    vv = dot3(vec, vec)
    along = dot3(to_center, vec)
    closest = max(along / vv, 0.0)
    offset = add_scaled3(to_center, vec, -closest)
    if dot3(offset, offset) > radius * radius:
        return True
    if best < 0.0:
        return False
    behind = along - best * vv
    return behind > 0.0 and behind * behind > radius * radius * vv


@kernel
def ray_geom(m: Model, d: Data, geom: int, point: Vec3, vec: Vec3) -> float:
    """Ray and one geom of any type, or `MISS`; point and direction are in the world frame."""
    kind = m.geom_type[geom]
    if is_primitive(kind):
        size = get3(m.geom_size, geom)
        return ray_shape(kind, size, get3(d.geom_xpos, geom), get9(d.geom_xmat, geom), point, vec)
    p, v = ray_in_geom(d, geom, point, vec)
    if kind == HFIELD:
        return ray_hfield(m, m.geom_dataid[geom], p, v)
    return ray_mesh(m, m.geom_dataid[geom], p, v) if m.geom_dataid[geom] >= 0 else MISS


@kernel
def beyond_cutoff(m: Model, d: Data, geom: int, point: Vec3, cutoff: float) -> bool:
    """Whether a plane, or the bounding sphere of another geom, is farther from a point than `cutoff`."""
    offset = sub3(point, get3(d.geom_xpos, geom))
    if m.geom_type[geom] == GEOM_PLANE:
        return abs(dot3(offset, axis_z(d.geom_xmat, geom))) > cutoff
    return norm3(offset) > cutoff + m.geom_rbound[geom]


@kernel
def nearer_geom(m: Model, d: Data, geom: int, point: Vec3, vec: Vec3, best: float) -> float:
    """Distance to a geom if it is smaller than `best`, else `best`."""
    if sphere_missed(m, d, geom, point, vec, best):
        return best
    return nearer(ray_geom(m, d, geom, point, vec), best)


@kernel
def ray_scene(
    m: Model, d: Data, point: Vec3, vec: Vec3, by_group: bool, static: bool, bodyexclude: int
) -> tuple[float, int]:
    """Find the nearest geom that a ray hits.

    Args:
        m: model.
        d: data with ``geom_xpos`` and ``geom_xmat``.
        point: start of the ray, world frame (m).
        vec: direction of the ray; need not have unit length, but must not be 0.
        by_group: whether only geoms of the groups in ``d.work.ray_group`` can be hit.
        static: whether geoms fixed to the world can be hit.
        bodyexclude: id of the body whose geoms cannot be hit, or `NO_BODY`.

    Returns:
        Distance in units of the length of `vec`, or `MISS`; and the id of the geom, or `NO_GEOM`.
    """
    best = MISS
    hit = NO_GEOM
    for geom in range(m.ngeom):
        if is_seen(m, d, geom, by_group, static, bodyexclude):
            x = nearer_geom(m, d, geom, point, vec, best)
            if x != best:
                best = x
                hit = geom
    return best, hit


@kernel
def show_groups(d: Data, geomgroup: ConstIntArray2) -> bool:
    """Store the groups that rays can hit in ``d.work.ray_group``; return whether `geomgroup` (n, 6) has a row."""
    for row in range(len(geomgroup)):
        for k in range(NGROUP):
            d.work.ray_group[k] = geomgroup[row, k]
    return len(geomgroup) > 0


@kernel
def cast_ray(
    m: Model,
    d: Data,
    pnt: ConstArray2,
    vec: ConstArray2,
    geomgroup: ConstIntArray2,
    flg_static: int,
    bodyexclude: int,
    geomid: IntArray2,
) -> float:
    """Distance to the nearest geom, or `REFUSED` if `vec` is 0; writes its id to `geomid`. See `mj_ray`."""
    direction = get3(vec, 0)
    if norm3(direction) < MINVAL:
        return REFUSED
    by_group = show_groups(d, geomgroup)
    dist, geom = ray_scene(m, d, get3(pnt, 0), direction, by_group, flg_static != 0, bodyexclude)
    geomid[0, 0] = geom
    return dist


@kernel
def cast_rays_at(m: Model, d: Data, geom: int, point: Vec3, vec: ConstArray1, geomid: IntArray1, dist: Array1) -> None:
    """Cast several rays at one geom; update the distances and ids of those that hit it before anything else."""
    for i in range(len(dist)):
        x = nearer_geom(m, d, geom, point, (vec[3 * i], vec[3 * i + 1], vec[3 * i + 2]), dist[i])
        if x != dist[i]:
            dist[i] = x
            geomid[i] = geom


@kernel
def cast_rays(
    m: Model,
    d: Data,
    pnt: ConstArray2,
    vec: ConstArray1,
    geomgroup: ConstIntArray2,
    flg_static: int,
    bodyexclude: int,
    geomid: IntArray1,
    dist: Array1,
    nray: int,
    cutoff: float,
) -> int:
    """Cast several rays from one point, see `mj_multiRay`; return the number, from 1 on, of a direction that is 0."""
    for i in range(nray):
        if norm3((vec[3 * i], vec[3 * i + 1], vec[3 * i + 2])) < MINVAL:
            return i + 1
    by_group, point = show_groups(d, geomgroup), get3(pnt, 0)
    for i in range(nray):
        dist[i] = MISS
        geomid[i] = NO_GEOM
    for geom in range(m.ngeom):
        if is_seen(m, d, geom, by_group, flg_static != 0, bodyexclude):
            if not beyond_cutoff(m, d, geom, point, cutoff):
                cast_rays_at(m, d, geom, point, vec, geomid, dist)
    return OK


@kernel
def cast_at_geom(m: Model, d: Data, geomid: int, pnt: ConstArray2, vec: ConstArray2, kind: int) -> float:
    """Distance to one geom of type `kind`, or `REFUSED` if it has another type, or does not exist."""
    if geomid < 0 or geomid >= m.ngeom or m.geom_type[geomid] != kind:
        return REFUSED
    return ray_geom(m, d, geomid, get3(pnt, 0), get3(vec, 0))


@kernel
def cast_at_mesh(m: Model, d: Data, geomid: int, pnt: ConstArray2, vec: ConstArray2) -> float:
    """Distance to a mesh geom, or `REFUSED` if the geom is not a mesh."""
    return cast_at_geom(m, d, geomid, pnt, vec, MESH)


@kernel
def cast_at_hfield(m: Model, d: Data, geomid: int, pnt: ConstArray2, vec: ConstArray2) -> float:
    """Distance to a height field geom, or `REFUSED` if the geom is not a height field."""
    return cast_at_geom(m, d, geomid, pnt, vec, HFIELD)


@kernel
def cast_at_shape(
    pos: ConstArray2, mat: ConstArray2, size: ConstArray2, pnt: ConstArray2, vec: ConstArray2, geomtype: int
) -> float:
    """Distance to a primitive shape, or `REFUSED` for other types: see `cardan.api.rays.mju_rayGeom`."""
    if not is_primitive(geomtype):
        return REFUSED
    return ray_shape(geomtype, get3(size, 0), get3(pos, 0), get9(mat, 0), get3(pnt, 0), get3(vec, 0))
