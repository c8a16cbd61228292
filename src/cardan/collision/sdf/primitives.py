"""Signed distances of the primitive shapes and their gradients, in the frame of the geom.

Sources: I. Quilez, Distance functions (2008-). Distances are exact for sphere, capsule, cylinder and box. For
ellipsoids, the first-order bound k0 (k0 - 1) / k1 is used, with k0 = |p / s| and k1 = |p / s^2|.
"""

from __future__ import annotations

from math import copysign, sqrt

from cardan.constants import mjMINVAL
from cardan.enums.codes import GEOM_BOX, GEOM_CAPSULE, GEOM_CYLINDER, GEOM_ELLIPSOID
from cardan.jit import kernel
from cardan.maths.types import Vec2, Vec3
from cardan.maths.vector import normalize3

MINVAL = mjMINVAL


@kernel
def length(x: float, y: float, z: float) -> float:
    """Euclidean length of the vector (x, y, z)."""
    return sqrt(x * x + y * y + z * z)


@kernel
def ellipsoid_terms(size: Vec3, p: Vec3) -> Vec2:
    """Lengths k0 of p / s and k1 of p / s^2; k1 is at least MINVAL."""
    x, y, z = p[0] / size[0], p[1] / size[1], p[2] / size[2]
    return length(x, y, z), max(length(x / size[0], y / size[1], z / size[2]), MINVAL)


@kernel
def primitive_distance(kind: int, size: Vec3, p: Vec3) -> float:
    """Signed distance of the point `p` from a primitive shape of type `kind`."""
    if kind == GEOM_CAPSULE:
        return length(p[0], p[1], p[2] - min(max(p[2], -size[1]), size[1])) - size[0]
    if kind == GEOM_ELLIPSOID:
        k0, k1 = ellipsoid_terms(size, p)
        return k0 * (k0 - 1.0) / k1
    if kind == GEOM_CYLINDER:
        across = length(p[0], p[1], 0.0) - size[0]
        along = abs(p[2]) - size[1]
        return min(max(across, along), 0.0) + length(max(across, 0.0), max(along, 0.0), 0.0)
    if kind == GEOM_BOX:
        x, y, z = abs(p[0]) - size[0], abs(p[1]) - size[1], abs(p[2]) - size[2]
        return min(max(x, y, z), 0.0) + length(max(x, 0.0), max(y, 0.0), max(z, 0.0))
    return length(p[0], p[1], p[2]) - size[0]


@kernel
def ellipsoid_gradient(size: Vec3, p: Vec3) -> Vec3:
    """Direction of the gradient of the bound on an ellipsoid's distance."""
    k0, k1 = ellipsoid_terms(size, p)
    out = (2.0 * k0 - 1.0) / (max(k0, MINVAL) * k1)
    turn = k0 * (k0 - 1.0) / (k1 * k1 * k1)
    sx, sy, sz = size[0] * size[0], size[1] * size[1], size[2] * size[2]
    return normalize3((p[0] / sx * (out - turn / sx), p[1] / sy * (out - turn / sy), p[2] / sz * (out - turn / sz)))


@kernel
def cylinder_gradient(size: Vec3, p: Vec3) -> Vec3:
    """Gradient of a cylinder's distance."""
    radius = max(length(p[0], p[1], 0.0), MINVAL)
    across = radius - size[0]
    along = abs(p[2]) - size[1]
    if across <= 0.0 and along <= 0.0:
        across, along = (1.0, 0.0) if across > along else (0.0, 1.0)
    across, along = max(across, 0.0), max(along, 0.0)
    return normalize3((across * p[0] / radius, across * p[1] / radius, copysign(along, p[2])))


@kernel
def box_gradient(size: Vec3, p: Vec3) -> Vec3:
    """Gradient of a box's distance: inside, towards the nearest face; outside, away from the nearest point."""
    x, y, z = abs(p[0]) - size[0], abs(p[1]) - size[1], abs(p[2]) - size[2]
    if max(x, y, z) <= 0.0:
        if x >= y and x >= z:
            x, y, z = 1.0, 0.0, 0.0
        elif y >= z:
            x, y, z = 0.0, 1.0, 0.0
        else:
            x, y, z = 0.0, 0.0, 1.0
    x, y, z = max(x, 0.0), max(y, 0.0), max(z, 0.0)
    return normalize3((copysign(x, p[0]), copysign(y, p[1]), copysign(z, p[2])))


@kernel
def primitive_gradient(kind: int, size: Vec3, p: Vec3) -> Vec3:
    """Gradient of `primitive_distance`, normalised."""
    if kind == GEOM_CAPSULE:
        return normalize3((p[0], p[1], p[2] - min(max(p[2], -size[1]), size[1])))
    if kind == GEOM_ELLIPSOID:
        return ellipsoid_gradient(size, p)
    if kind == GEOM_CYLINDER:
        return cylinder_gradient(size, p)
    if kind == GEOM_BOX:
        return box_gradient(size, p)
    return normalize3(p)
