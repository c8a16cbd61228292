"""Rays against the primitive shapes.

A ray is the set of points p + x v with x >= 0. Each function takes point and direction in the frame of the shape, and
returns the smallest x at which the ray hits the surface, or `MISS`. If a ray starts inside a shape, it hits the surface
where it leaves the shape. Directions need not have unit length: x is in units of their length.

Sources: C. Ericson, Real-Time Collision Detection (2005), section 5.3; P. Shirley and S. Marschner, Fundamentals of
Computer Graphics (2009), section 4.4.
"""

from __future__ import annotations

from math import sqrt

from cardan.collision.capsule import to_geom
from cardan.enums.codes import GEOM_BOX, GEOM_CAPSULE, GEOM_CYLINDER, GEOM_ELLIPSOID, GEOM_PLANE, GEOM_SPHERE
from cardan.jit import kernel
from cardan.maths.types import Mat3, Vec2, Vec3
from cardan.maths.vector import MINVAL, dot3, get9, mul_mat_t_vec3, sub3
from cardan.model.kernel_views import Data

MISS = -1.0


@kernel
def nearer(x: float, best: float) -> float:
    """Smaller of two distances along a ray; a negative distance is a miss."""
    return x if x >= 0.0 and (best < 0.0 or x < best) else best


@kernel
def roots(a: float, b: float, c: float) -> Vec2:
    """Both roots of a x^2 + 2 b x + c, the smaller first; `MISS` twice if there are no two distinct roots or a <= 0."""
    discriminant = b * b - a * c
    if discriminant < MINVAL or a <= 0.0:
        return MISS, MISS
    root = sqrt(discriminant)
    return (-b - root) / a, (-b + root) / a


@kernel
def smaller_root(a: float, b: float, c: float) -> float:
    """Smallest non-negative root of a x^2 + 2 b x + c, or `MISS`."""
    x0, x1 = roots(a, b, c)
    return x0 if x0 >= 0.0 else nearer(x1, MISS)


@kernel
def ray_plane(size: Vec3, p: Vec3, v: Vec3) -> float:
    """Distance along a ray to a plane. Only hits from above count. Positive half sizes limit the plane."""
    if v[2] > -MINVAL:
        return MISS
    x = -p[2] / v[2]
    inside = (size[0] <= 0.0 or abs(p[0] + x * v[0]) <= size[0]) and (size[1] <= 0.0 or abs(p[1] + x * v[1]) <= size[1])
    return x if x >= 0.0 and inside else MISS


@kernel
def ray_sphere(radius: float, p: Vec3, v: Vec3) -> float:
    """Distance along a ray from `p` with direction `v` to a sphere of radius `radius` (m) about the origin."""
    return smaller_root(dot3(v, v), dot3(v, p), dot3(p, p) - radius * radius)


@kernel
def ray_ellipsoid(size: Vec3, p: Vec3, v: Vec3) -> float:
    """Distance along a ray to an ellipsoid. Dividing all coordinates by its semi-axes gives a unit sphere."""
    if size[0] <= 0.0 or size[1] <= 0.0 or size[2] <= 0.0:
        return MISS
    q = (p[0] / size[0], p[1] / size[1], p[2] / size[2])
    w = (v[0] / size[0], v[1] / size[1], v[2] / size[2])
    return smaller_root(dot3(w, w), dot3(w, q), dot3(q, q) - 1.0)


@kernel
def ray_tube(radius: float, half_length: float, p: Vec3, v: Vec3) -> float:
    """Distance along a ray to the lateral surface of a cylinder along z."""
    a = v[0] * v[0] + v[1] * v[1]
    b = v[0] * p[0] + v[1] * p[1]
    c = p[0] * p[0] + p[1] * p[1] - radius * radius
    x0, x1 = roots(a, b, c)
    best = nearer(x0, MISS) if abs(p[2] + x0 * v[2]) <= half_length else MISS
    return nearer(x1, best) if abs(p[2] + x1 * v[2]) <= half_length else best


@kernel
def ray_cap(radius: float, z: float, side: float, p: Vec3, v: Vec3) -> float:
    """Distance along a ray to a hemisphere about (0, 0, z), above z (`side` 1) or below (-1)."""
    q = (p[0], p[1], p[2] - z)
    x0, x1 = roots(dot3(v, v), dot3(v, q), dot3(q, q) - radius * radius)
    best = nearer(x0, MISS) if side * (q[2] + x0 * v[2]) >= 0.0 else MISS
    return nearer(x1, best) if side * (q[2] + x1 * v[2]) >= 0.0 else best


@kernel
def ray_capsule(size: Vec3, p: Vec3, v: Vec3) -> float:
    """Distance along a ray from `p` with direction `v` to a capsule along z.

    The capsule is a tube of radius `size[0]` and half-length `size[1]` (m) with two caps.
    """
    best = ray_tube(size[0], size[1], p, v)
    for end in range(2):
        side = 2.0 * end - 1.0
        best = nearer(ray_cap(size[0], side * size[1], side, p, v), best)
    return best


@kernel
def ray_cylinder(size: Vec3, p: Vec3, v: Vec3) -> float:
    """Distance along a ray to a cylinder along z: a tube of half-length size[1] with two discs."""
    best = ray_tube(size[0], size[1], p, v)
    if abs(v[2]) > MINVAL:
        for end in range(2):
            x = ((2.0 * end - 1.0) * size[1] - p[2]) / v[2]
            across = p[0] + x * v[0]
            along = p[1] + x * v[1]
            if across * across + along * along <= size[0] * size[0]:
                best = nearer(x, best)
    return best


@kernel
def ray_box(size: Vec3, p: Vec3, v: Vec3) -> float:
    """Distance along a ray from `p` with direction `v` to a box of half sizes `size` (m) about the origin."""
    best = MISS
    for axis in range(3):
        j, k = (axis + 1) % 3, (axis + 2) % 3
        if abs(v[axis]) > MINVAL:
            for end in range(2):
                x = ((2.0 * end - 1.0) * size[axis] - p[axis]) / v[axis]
                if abs(p[j] + x * v[j]) <= size[j] and abs(p[k] + x * v[k]) <= size[k]:
                    best = nearer(x, best)
    return best


@kernel
def is_primitive(kind: int) -> bool:
    """Return whether a geom type is a primitive shape, which `ray_primitive` handles."""
    return kind == GEOM_PLANE or GEOM_SPHERE <= kind <= GEOM_BOX


@kernel
def ray_primitive(kind: int, size: Vec3, p: Vec3, v: Vec3) -> float:
    """Distance along a ray to a primitive shape of type `kind` (mjtGeom) and sizes `size`."""
    if kind == GEOM_BOX:
        return ray_box(size, p, v)
    if kind == GEOM_SPHERE:
        return ray_sphere(size[0], p, v)
    if kind == GEOM_CAPSULE:
        return ray_capsule(size, p, v)
    if kind == GEOM_CYLINDER:
        return ray_cylinder(size, p, v)
    if kind == GEOM_ELLIPSOID:
        return ray_ellipsoid(size, p, v)
    return ray_plane(size, p, v)


@kernel
def ray_shape(kind: int, size: Vec3, pos: Vec3, mat: Mat3, point: Vec3, vec: Vec3) -> float:
    """Distance along a ray to a primitive shape.

    `kind` is the shape's type (mjtGeom), `size` its sizes as in ``geom_size``. The ray's start `point` and direction
    `vec` are in the same frame as the shape's pose (`pos`, `mat`).
    """
    start = sub3(point, pos)
    if kind == GEOM_SPHERE:
        return ray_sphere(size[0], start, vec)
    return ray_primitive(kind, size, mul_mat_t_vec3(mat, start), mul_mat_t_vec3(mat, vec))


@kernel
def ray_in_geom(d: Data, geom: int, point: Vec3, vec: Vec3) -> tuple[Vec3, Vec3]:
    """Transform point and direction of a ray to the frame of a geom."""
    return to_geom(d, geom, point), mul_mat_t_vec3(get9(d.geom_xmat, geom), vec)
