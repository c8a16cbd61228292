"""Normals of surfaces at the points that rays hit. They point out of the shape, whichever side a ray comes from.

Meshes and height fields have the normals of their triangles.
"""

from __future__ import annotations

from math import sqrt

from cardan.collision.hfield import prism_top
from cardan.collision.ray import ray_in_geom
from cardan.collision.ray_mesh import HUGE, first_cell, mesh_point, ray_face, ray_triangle
from cardan.enums.codes import (
    GEOM_BOX,
    GEOM_CAPSULE,
    GEOM_CYLINDER,
    GEOM_ELLIPSOID,
    GEOM_HFIELD,
    GEOM_PLANE,
    GEOM_SPHERE,
)
from cardan.jit import kernel
from cardan.maths.types import Vec3
from cardan.maths.vector import add_scaled3, cross, get3, get9, mul_mat_vec3, normalize3, sub3
from cardan.model.kernel_views import Data, Model

SAME = 1e-6
"""Tolerance for two computations of the distance to the same triangle, relative."""


@kernel
def face_of_box(size: Vec3, q: Vec3) -> Vec3:
    """Normal of that face of a box of half sizes `size` which is nearest to a point."""
    x, y, z = abs(abs(q[0]) - size[0]), abs(abs(q[1]) - size[1]), abs(abs(q[2]) - size[2])
    if x <= y and x <= z:
        return (1.0 if q[0] > 0.0 else -1.0, 0.0, 0.0)
    if y <= z:
        return (0.0, 1.0 if q[1] > 0.0 else -1.0, 0.0)
    return (0.0, 0.0, 1.0 if q[2] > 0.0 else -1.0)


@kernel
def normal_of_primitive(kind: int, size: Vec3, q: Vec3) -> Vec3:
    """Normal of a primitive shape at a point of its surface, in its frame."""
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
    """Normal of the face that a ray hits at the distance `x`, or nearest to it if rounding moved it."""
    best, found = HUGE, 0
    for face in range(m.mesh_facenum[mesh]):
        at = ray_face(m, mesh, face, p, v)
        if at >= 0.0 and abs(at - x) < best:
            best, found = abs(at - x), face
    row, first = m.mesh_faceadr[mesh] + found, m.mesh_vertadr[mesh]
    a = mesh_point(m, first + m.mesh_face[row, 0])
    b = mesh_point(m, first + m.mesh_face[row, 1])
    c = mesh_point(m, first + m.mesh_face[row, 2])
    return normalize3(cross(sub3(b, a), sub3(c, a)))


@kernel
def normal_of_hfield(m: Model, hfield: int, p: Vec3, v: Vec3, x: float) -> Vec3:
    """Normal of a height field: of its surface if the ray hits it, else of the box around it."""
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

    Args:
        m: model.
        d: data with ``geom_xpos`` and ``geom_xmat``.
        geom: id of the geom, or -1.
        point: start of the ray, world frame (m).
        vec: direction of the ray.
        x: distance in units of the length of `vec`.
    """
    if geom < 0:
        return (0.0, 0.0, 0.0)
    p, v = ray_in_geom(d, geom, point, vec)
    kind = m.geom_type[geom]
    if kind == GEOM_PLANE or GEOM_SPHERE <= kind <= GEOM_BOX:
        normal = normal_of_primitive(kind, get3(m.geom_size, geom), add_scaled3(p, v, x))
    elif kind == GEOM_HFIELD:
        normal = normal_of_hfield(m, m.geom_dataid[geom], p, v, x)
    else:
        normal = normal_of_mesh(m, m.geom_dataid[geom], p, v, x)
    return mul_mat_vec3(get9(d.geom_xmat, geom), normal)
