"""Rays against all geoms of a scene, and the normals of surfaces at the points that rays hit.

A ray can hit all geoms except invisible geoms (alpha 0), convex pieces of geoms, geoms of an excluded body, geoms of a
hidden group, and, if requested, static geoms. A geom is skipped if the ray misses its bounding sphere, or hits the
sphere only beyond the nearest hit so far. Normals point out of the shape, whichever side a ray comes from; meshes and
height fields have the normals of their triangles.

Spec: programming, API reference, "Ray collisions".
"""

from __future__ import annotations

from math import sqrt

from cardan.collision.capsule import axis_z
from cardan.collision.hfield import prism_top
from cardan.collision.ray import MISS, is_primitive, nearer, ray_in_geom, ray_shape
from cardan.collision.ray_mesh import HUGE, first_cell, mesh_triangle, ray_face, ray_hfield, ray_mesh, ray_triangle
from cardan.enums.codes import (
    GEOM_CAPSULE,
    GEOM_CYLINDER,
    GEOM_ELLIPSOID,
    GEOM_HFIELD,
    GEOM_MESH,
    GEOM_PLANE,
    GEOM_SPHERE,
)
from cardan.jit import OK, kernel
from cardan.maths.types import Array1, ConstArray1, ConstArray2, ConstIntArray2, IntArray1, IntArray2, Vec3
from cardan.maths.vector import MINVAL, add_scaled3, cross, dot3, get3, get9, mul_mat_vec3, norm3, normalize3, sub3
from cardan.model.kernel_views import Data, Model

NGROUP = 6
ROUND = 1.0 + 1e-9
"""Enlargement of bounding spheres against rounding."""
NO_BODY = -1
NO_GEOM = -1
REFUSED = -2.0
"""Value returned in place of a distance if an argument is invalid."""
SAME = 1e-6
"""Relative tolerance within which two distances count as hits of the same triangle."""


@kernel
def is_seen(m: Model, d: Data, geom: int, by_group: bool, static: bool, bodyexclude: int) -> bool:
    """Return whether a ray can hit a geom at all; arguments as for `ray_scene`."""
    body = m.geom_bodyid[geom]
    if m.geom_piece[geom] > 0:
        return False
    if body == bodyexclude or (not static and m.body_weldid[body] == 0):
        return False
    # groups out of range count as the nearest
    if by_group and d.work.ray_group[min(max(m.geom_group[geom], 0), NGROUP - 1)] == 0:
        return False
    # whether the alpha of a geom's material, or else of its own colour, is not 0
    material = m.geom_matid[geom]
    return m.mat_rgba[material, 3] != 0.0 if material >= 0 else m.geom_rgba[geom, 3] != 0.0


@kernel
def sphere_missed(m: Model, d: Data, geom: int, point: Vec3, vec: Vec3, best: float) -> bool:
    """Return whether a ray misses a geom's bounding sphere, or hits it beyond the distance `best`.

    If `best` is negative, the distance is not bounded.
    """
    radius = m.geom_rbound[geom] * ROUND
    if radius <= 0.0 or m.geom_type[geom] == GEOM_HFIELD:
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
    """Distance along a ray in the world frame to one geom of any type, or `MISS`."""
    kind = m.geom_type[geom]
    if is_primitive(kind):
        size = get3(m.geom_size, geom)
        return ray_shape(kind, size, get3(d.geom_xpos, geom), get9(d.geom_xmat, geom), point, vec)
    p, v = ray_in_geom(d, geom, point, vec)
    if kind == GEOM_HFIELD:
        return ray_hfield(m, m.geom_dataid[geom], p, v)
    return ray_mesh(m, m.geom_dataid[geom], p, v) if m.geom_dataid[geom] >= 0 else MISS


@kernel
def nearer_geom(m: Model, d: Data, geom: int, point: Vec3, vec: Vec3, best: float) -> float:
    """Distance along a ray to a geom if the ray hits the geom before `best`, else `best`.

    If `best` is negative, the distance is not bounded.
    """
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
    """Store in ``d.work.ray_group`` which groups rays can hit; return False if `geomgroup` (n, 6) has no rows."""
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
    """Find the nearest geom on a ray; return its distance, or `REFUSED` if `vec` is 0.

    The start `pnt` and direction `vec` of the ray are (1, 3), world frame. `geomgroup` (1, 6) contains flags of the
    groups that the ray can hit; if `geomgroup` has no rows, the ray can hit all groups. `flg_static` and `bodyexclude`
    are as for `mj_ray`. The id of the geom, or -1, is written to `geomid` (1, 1).
    """
    direction = get3(vec, 0)
    if norm3(direction) < MINVAL:
        return REFUSED
    by_group = show_groups(d, geomgroup)
    dist, geom = ray_scene(m, d, get3(pnt, 0), direction, by_group, flg_static != 0, bodyexclude)
    geomid[0, 0] = geom
    return dist


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
    """Cast several rays from one point (see `mj_multiRay`); return 0, or the number (from 1) of a zero direction.

    `pnt`, `geomgroup`, `flg_static` and `bodyexclude` are as for `cast_ray`. The directions `vec` are (3 * nray,); the
    results `geomid` and `dist` are (nray,). `nray` is the number of rays. Geoms beyond the distance `cutoff` (m) are
    skipped.
    """
    for i in range(nray):
        if norm3((vec[3 * i], vec[3 * i + 1], vec[3 * i + 2])) < MINVAL:
            return i + 1
    by_group, point = show_groups(d, geomgroup), get3(pnt, 0)
    for i in range(nray):
        dist[i] = MISS
        geomid[i] = NO_GEOM
    for geom in range(m.ngeom):
        # planes, and bounding spheres of other geoms, beyond the cutoff are skipped
        offset = sub3(point, get3(d.geom_xpos, geom))
        if m.geom_type[geom] == GEOM_PLANE:
            beyond = abs(dot3(offset, axis_z(d.geom_xmat, geom))) > cutoff
        else:
            beyond = norm3(offset) > cutoff + m.geom_rbound[geom]
        seen = not beyond and is_seen(m, d, geom, by_group, flg_static != 0, bodyexclude)
        for i in range(len(dist) if seen else 0):
            x = nearer_geom(m, d, geom, point, (vec[3 * i], vec[3 * i + 1], vec[3 * i + 2]), dist[i])
            if x != dist[i]:
                dist[i] = x
                geomid[i] = geom
    return OK


@kernel
def cast_at_geom(m: Model, d: Data, geomid: int, pnt: ConstArray2, vec: ConstArray2, kind: int) -> float:
    """Distance along a ray to geom `geomid`, or `REFUSED` if the geom does not exist or its type is not `kind`."""
    if geomid < 0 or geomid >= m.ngeom or m.geom_type[geomid] != kind:
        return REFUSED
    return ray_geom(m, d, geomid, get3(pnt, 0), get3(vec, 0))


@kernel
def cast_at_mesh(m: Model, d: Data, geomid: int, pnt: ConstArray2, vec: ConstArray2) -> float:
    """Distance along a ray to geom `geomid`, or `REFUSED` if it is not a mesh; `pnt`, `vec` as for `cast_ray`."""
    return cast_at_geom(m, d, geomid, pnt, vec, GEOM_MESH)


@kernel
def cast_at_hfield(m: Model, d: Data, geomid: int, pnt: ConstArray2, vec: ConstArray2) -> float:
    """Distance along a ray to height field geom `geomid`, or `REFUSED`; `pnt` and `vec` as for `cast_ray`."""
    return cast_at_geom(m, d, geomid, pnt, vec, GEOM_HFIELD)


@kernel
def cast_at_shape(
    pos: ConstArray2, mat: ConstArray2, size: ConstArray2, pnt: ConstArray2, vec: ConstArray2, geomtype: int
) -> float:
    """Distance along a ray to a primitive shape, or `REFUSED` for other types (see `cardan.api.rays.mju_rayGeom`).

    The arrays are rows: `pos`, `size`, `pnt` and `vec` have the shape (1, 3), `mat` has the shape (1, 9).
    """
    if not is_primitive(geomtype):
        return REFUSED
    return ray_shape(geomtype, get3(size, 0), get3(pos, 0), get9(mat, 0), get3(pnt, 0), get3(vec, 0))


@kernel
def face_of_box(size: Vec3, q: Vec3) -> Vec3:
    """Normal of the face that is nearest to a point, for a box with half sizes `size`."""
    x, y, z = abs(abs(q[0]) - size[0]), abs(abs(q[1]) - size[1]), abs(abs(q[2]) - size[2])
    if x <= y and x <= z:
        return (1.0 if q[0] > 0.0 else -1.0, 0.0, 0.0)
    if y <= z:
        return (0.0, 1.0 if q[1] > 0.0 else -1.0, 0.0)
    return (0.0, 0.0, 1.0 if q[2] > 0.0 else -1.0)


@kernel
def normal_of_primitive(kind: int, size: Vec3, q: Vec3) -> Vec3:
    """Normal of a primitive shape at the point `q` of its surface, both in the shape's frame."""
    if kind == GEOM_PLANE:
        return (0.0, 0.0, 1.0)
    if kind == GEOM_SPHERE:
        return normalize3(q)
    if kind == GEOM_ELLIPSOID:
        a, b, c = size[0] * size[0], size[1] * size[1], size[2] * size[2]
        return normalize3((q[0] / a, q[1] / b, q[2] / c))
    if kind == GEOM_CAPSULE:
        return normalize3((q[0], q[1], q[2] - min(max(q[2], -size[1]), size[1])))
    if kind == GEOM_CYLINDER:
        side = abs(sqrt(q[0] * q[0] + q[1] * q[1]) - size[0])
        if side <= abs(abs(q[2]) - size[1]):
            return normalize3((q[0], q[1], 0.0))
        return (0.0, 0.0, 1.0 if q[2] > 0.0 else -1.0)
    return face_of_box(size, q)


@kernel
def normal_of_mesh(m: Model, mesh: int, p: Vec3, v: Vec3, x: float) -> Vec3:
    """Normal of the face that a ray hits at the distance `x`, or at the distance closest to `x`."""
    best, found = HUGE, 0
    for face in range(m.mesh_facenum[mesh]):
        at = ray_face(m, mesh, face, p, v)
        if at >= 0.0 and abs(at - x) < best:
            best, found = abs(at - x), face
    a, b, c = mesh_triangle(m, mesh, found)
    return normalize3(cross(sub3(b, a), sub3(c, a)))


@kernel
def normal_of_hfield(m: Model, hfield: int, p: Vec3, v: Vec3, x: float) -> Vec3:
    """Normal of a height field where a ray hits it: of its upper surface, or of the box around it."""
    q = add_scaled3(p, v, x)
    width, height = m.hfield_size[hfield, 0], m.hfield_size[hfield, 1]
    ncol, nrow = m.hfield_ncol[hfield] - 1, m.hfield_nrow[hfield] - 1
    col = first_cell(q[0] + width, 0.0, 0.0, 2.0 * width / ncol, ncol)
    row = first_cell(q[1] + height, 0.0, 0.0, 2.0 * height / nrow, nrow)
    for half in range(2):
        a, b, c = prism_top(m, hfield, row, col, half)
        at = ray_triangle(a, b, c, p, v)
        if at >= 0.0 and abs(at - x) <= SAME * (1.0 + x):
            n = normalize3(cross(sub3(b, a), sub3(c, a)))
            return n if n[2] > 0.0 else (-n[0], -n[1], -n[2])
    base = m.hfield_size[hfield, 3]
    if q[2] > 0.0:  # a side above the base
        return face_of_box((width, height, HUGE), q)
    return face_of_box((width, height, 0.5 * base), (q[0], q[1], q[2] + 0.5 * base))


@kernel
def normal_at(m: Model, d: Data, geom: int, point: Vec3, vec: Vec3, x: float) -> Vec3:
    """Normal, in the world frame, of a geom that a ray hits at the distance `x`; 0 if `geom` is negative.

    The ray starts at `point` in the world frame (m); `x` is in units of the length of its direction `vec`.
    """
    if geom < 0:
        return (0.0, 0.0, 0.0)
    p, v = ray_in_geom(d, geom, point, vec)
    kind = m.geom_type[geom]
    if is_primitive(kind):
        normal = normal_of_primitive(kind, get3(m.geom_size, geom), add_scaled3(p, v, x))
    elif kind == GEOM_HFIELD:
        normal = normal_of_hfield(m, m.geom_dataid[geom], p, v, x)
    else:
        normal = normal_of_mesh(m, m.geom_dataid[geom], p, v, x)
    return mul_mat_vec3(get9(d.geom_xmat, geom), normal)
