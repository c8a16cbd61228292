"""How far convex objects jut out of a site: the directed Hausdorff distance (spec 4.0: XML reference, insidesite).

The distance is the largest signed distance of a point of the object from the site's shape. The signed distance from a
convex shape is a convex function, so that its maximum over a polytope is at a vertex. Spheres and capsules are a point
and a segment with a radius. Over cylinders and ellipsoids, the maximum is found by steps to the point of the object
that is farthest along the gradient. Each step increases a convex function. The steps begin at several points.

Sources: O. Mangasarian, Machine learning via polyhedral concave minimization (1996), for the steps; D. Eberly, Distance
from a point to an ellipse, an ellipsoid, or a hyperellipsoid (2013).
"""

from __future__ import annotations

from math import cos, inf, pi, sin, sqrt

from cardan.collision.sdf.field import primitive_distance, primitive_gradient
from cardan.collision.sdf.mesh_distance import nearest_on_triangle
from cardan.collision.support import support_cylinder, support_ellipsoid
from cardan.enums.codes import GEOM_BOX, GEOM_CAPSULE, GEOM_CYLINDER, GEOM_ELLIPSOID, GEOM_MESH, GEOM_SPHERE
from cardan.jit import kernel
from cardan.maths.quaternion import quat2mat
from cardan.maths.types import Mat3, Vec3
from cardan.maths.vector import (
    add3,
    dot3,
    get3,
    get4,
    get9,
    mul_mat_t_vec3,
    mul_mat_vec3,
    norm3,
    normalize3,
    scale3,
    sub3,
)
from cardan.model.kernel_views import Data, Model

Frame = tuple[Vec3, Mat3]
Shape = tuple[int, Vec3, int]
"""Type (mjtGeom), sizes and mesh of a shape; the mesh is -1 for primitives."""

STARTS = 16
"""Number of points at which a search on a cylinder or an ellipsoid begins."""
STEPS = 200
"""Greatest number of steps of a search."""
ROOT_STEPS = 100
TINY = 1e-10
"""Smallest coordinate of a point, relative to the shortest semi-axis of an ellipsoid, in the search for its nearest
point. It keeps the equation regular on planes of symmetry."""


@kernel
def nearest_on_ellipsoid(size: Vec3, p: Vec3) -> tuple[Vec3, float]:
    """Return the point of an ellipsoid that is nearest to `p`, and the signed distance of `p`; frame of the ellipsoid.

    With semi-axes e, the nearest point is e_i^2 p_i / (e_i^2 + t). Newton's method finds t from below.
    """
    least = min(size[0], size[1], size[2])
    e = (size[0], size[1], size[2])
    floor = TINY * least
    y = (max(abs(p[0]), floor), max(abs(p[1]), floor), max(abs(p[2]), floor))
    # s = t + least^2 is positive
    a = (e[0] * e[0] - least * least, e[1] * e[1] - least * least, e[2] * e[2] - least * least)
    s = 0.0
    for k in range(3):
        s = max(s, e[k] * y[k] - a[k])
    for _ in range(ROOT_STEPS):
        value, slope = -1.0, 0.0
        for k in range(3):
            share = e[k] * y[k] / (s + a[k])
            value += share * share
            slope -= 2.0 * share * share / (s + a[k])
        if value <= 0.0 or s - value / slope == s:
            break
        s -= value / slope
    x = (
        e[0] * e[0] * y[0] / (s + a[0]) * (1.0 if p[0] >= 0.0 else -1.0),
        e[1] * e[1] * y[1] / (s + a[1]) * (1.0 if p[1] >= 0.0 else -1.0),
        e[2] * e[2] * y[2] / (s + a[2]) * (1.0 if p[2] >= 0.0 else -1.0),
    )
    distance = norm3(sub3(x, p))
    return x, distance if s > least * least else -distance


@kernel
def ellipsoid_distance(size: Vec3, p: Vec3) -> tuple[float, Vec3]:
    """Return the exact signed distance of a point from an ellipsoid, and its gradient."""
    x, distance = nearest_on_ellipsoid(size, p)
    normal = (x[0] / (size[0] * size[0]), x[1] / (size[1] * size[1]), x[2] / (size[2] * size[2]))
    return distance, normalize3(normal)


@kernel
def hull_distance(m: Model, mesh: int, p: Vec3) -> tuple[float, Vec3]:
    """Return the signed distance of a point from the hull of a mesh, and its gradient, in the mesh's own frame."""
    highest, gradient = -inf, (0.0, 0.0, 1.0)
    for polygon in range(m.aux.polygon_adr[mesh], m.aux.polygon_adr[mesh + 1]):
        normal = get3(m.aux.polygon_normal, polygon)
        height = dot3(normal, sub3(p, get3(m.mesh_vert, m.aux.polygon_vert[m.aux.polygon_vertadr[polygon]])))
        if height > highest:
            highest, gradient = height, normal
    if highest > 0.0:
        nearest = inf
        for polygon in range(m.aux.polygon_adr[mesh], m.aux.polygon_adr[mesh + 1]):
            first, end = m.aux.polygon_vertadr[polygon], m.aux.polygon_vertadr[polygon + 1]
            a = get3(m.mesh_vert, m.aux.polygon_vert[first])
            for k in range(first + 1, end - 1):
                b, c = get3(m.mesh_vert, m.aux.polygon_vert[k]), get3(m.mesh_vert, m.aux.polygon_vert[k + 1])
                near, _ = nearest_on_triangle(p, a, b, c)
                line = sub3(p, near)
                length = norm3(line)
                if length < nearest:
                    nearest = length
                    if length > 0.0:
                        gradient = scale3(line, 1.0 / length)
        highest = nearest
    return highest, gradient


@kernel
def shape_distance(m: Model, shape: Shape, p: Vec3) -> tuple[float, Vec3]:
    """Return the exact signed distance of a point from a convex shape, and its gradient; all in the shape's frame."""
    kind, size, mesh = shape
    if kind == GEOM_MESH:
        return hull_distance(m, mesh, p)
    if kind == GEOM_ELLIPSOID:
        return ellipsoid_distance(size, p)
    return primitive_distance(kind, size, p), primitive_gradient(kind, size, p)


@kernel
def _at(outer: Frame, inner: Frame, p: Vec3) -> Vec3:
    """Return the coordinates, in the frame `outer`, of a point `p` of the frame `inner`."""
    return mul_mat_t_vec3(outer[1], sub3(add3(inner[0], mul_mat_vec3(inner[1], p)), outer[0]))


@kernel
def _start(kind: int, size: Vec3, k: int) -> Vec3:
    """Return point `k` of the `STARTS` points of a cylinder's rims or of an ellipsoid."""
    if kind == GEOM_CYLINDER:
        angle = 2.0 * pi * (k % 8) / 8.0
        return (size[0] * cos(angle), size[0] * sin(angle), size[1] if k < 8 else -size[1])
    if k < 8:
        third = sqrt(1.0 / 3.0)
        x, y, z = third * (1 - 2 * (k % 2)), third * (1 - 2 * (k // 2 % 2)), third * (1 - 2 * (k // 4))
        return (size[0] * x, size[1] * y, size[2] * z)
    side = 1.0 if k % 2 == 0 else -1.0
    axis = (k - 8) // 2 % 3
    return (
        side * size[0] if axis == 0 else 0.0,
        side * size[1] if axis == 1 else 0.0,
        side * size[2] if axis == 2 else 0.0,
    )


@kernel
def _corner(m: Model, shape: Shape, k: int) -> Vec3:
    """Return point `k` of those at which a search on a shape begins, or of its corners, which need no search."""
    kind, size, mesh = shape
    if kind in (GEOM_CYLINDER, GEOM_ELLIPSOID):
        return _start(kind, size, k)
    if kind == GEOM_CAPSULE:
        return (0.0, 0.0, size[1] * (1 - 2 * k))
    if kind == GEOM_BOX:
        return (size[0] * (1 - 2 * (k % 2)), size[1] * (1 - 2 * (k // 2 % 2)), size[2] * (1 - 2 * (k // 4)))
    if kind == GEOM_MESH:
        return get3(m.mesh_vert, m.mesh_vertadr[mesh] + k)
    return (0.0, 0.0, 0.0)


@kernel
def _number_of_corners(m: Model, kind: int, mesh: int) -> int:
    """Return the number of points of `_corner`."""
    if kind in (GEOM_CYLINDER, GEOM_ELLIPSOID):
        return STARTS
    if kind == GEOM_CAPSULE:
        return 2
    if kind == GEOM_BOX:
        return 8
    return int(m.mesh_vertnum[mesh]) if kind == GEOM_MESH else 1


@kernel
def _farthest_along(kind: int, size: Vec3, direction: Vec3, point: Vec3) -> Vec3:
    """Return the point of a cylinder or an ellipsoid that is farthest in a direction.

    Along the axis of a cylinder, all points of a disc are as far; `point` is moved to the disc.
    """
    if kind == GEOM_ELLIPSOID:
        return support_ellipsoid(size, direction)
    if direction[0] * direction[0] + direction[1] * direction[1] > 0.0:
        return support_cylinder(size, direction)
    return (point[0], point[1], size[1] if direction[2] > 0.0 else -size[1])


@kernel
def protrusion(m: Model, site: Shape, outer: Frame, shape: Shape, inner: Frame) -> float:
    """Return how far a convex shape juts out of a site, m; negative if it is inside.

    Args:
        m: model.
        site: the site's shape.
        outer: position and orientation of the site.
        shape: the other shape.
        inner: its position and orientation.
    """
    kind, size, mesh = shape
    farthest = -inf
    for k in range(_number_of_corners(m, kind, mesh)):
        point, best = _corner(m, shape, k), -inf
        for _ in range(STEPS if kind in (GEOM_CYLINDER, GEOM_ELLIPSOID) else 1):
            value, gradient = shape_distance(m, site, _at(outer, inner, point))
            if value <= best:
                break
            best = value
            direction = mul_mat_t_vec3(inner[1], mul_mat_vec3(outer[1], gradient))
            point = _farthest_along(kind, size, direction, point)
        farthest = max(farthest, best)
    return farthest + size[0] if kind in (GEOM_SPHERE, GEOM_CAPSULE) else farthest


@kernel
def frame_of_site(m: Model, d: Data, site: int) -> Frame:
    """Return position and orientation of a site's shape: of the site, or of the own frame of its mesh."""
    pos, mat, mesh = get3(d.site_xpos, site), get9(d.site_xmat, site), m.site_dataid[site]
    if m.site_type[site] != GEOM_MESH or mesh < 0:
        return pos, mat
    turn = quat2mat(get4(m.mesh_quat, mesh))
    x = mul_mat_t_vec3(turn, (mat[0], mat[1], mat[2]))
    y = mul_mat_t_vec3(turn, (mat[3], mat[4], mat[5]))
    z = mul_mat_t_vec3(turn, (mat[6], mat[7], mat[8]))
    pos = add3(pos, mul_mat_vec3(mat, get3(m.mesh_pos, mesh)))
    return pos, (x[0], x[1], x[2], y[0], y[1], y[2], z[0], z[1], z[2])


@kernel
def site_shape(m: Model, site: int) -> Shape:
    """Return the shape of a site."""
    return int(m.site_type[site]), get3(m.site_size, site), int(m.site_dataid[site])


@kernel
def geom_shape(m: Model, geom: int) -> Shape:
    """Return the shape of a geom."""
    return int(m.geom_type[geom]), get3(m.geom_size, geom), int(m.geom_dataid[geom])
