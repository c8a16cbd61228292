"""Triangles with a radius: contacts with a sphere, and a test whether two triangles are apart.

Source: C. Ericson, Real-Time Collision Detection (2005), sections 5.1.5 (closest point of a triangle)
and 5.2.1 (separating axes).
"""

from __future__ import annotations

from cardan.collision.near import put_contact
from cardan.jit import kernel
from cardan.maths.types import Vec3
from cardan.maths.vector import MINVAL, add_scaled3, cross, dot3, norm3, scale3, sub3
from cardan.model.kernel_views import Data


@kernel
def closest_on_triangle(p: Vec3, a: Vec3, b: Vec3, c: Vec3) -> Vec3:
    """Point of the triangle (a, b, c) closest to `p`, by the Voronoi regions of corners, sides and face."""
    ab, ac, ap = sub3(b, a), sub3(c, a), sub3(p, a)
    d1, d2 = dot3(ab, ap), dot3(ac, ap)
    if d1 <= 0.0 and d2 <= 0.0:
        return a
    bp = sub3(p, b)
    d3, d4 = dot3(ab, bp), dot3(ac, bp)
    if d3 >= 0.0 and d4 <= d3:
        return b
    vc = d1 * d4 - d3 * d2
    if vc <= 0.0 and d1 >= 0.0 and d3 <= 0.0:
        return add_scaled3(a, ab, d1 / (d1 - d3))
    cp = sub3(p, c)
    d5, d6 = dot3(ab, cp), dot3(ac, cp)
    if d6 >= 0.0 and d5 <= d6:
        return c
    vb = d5 * d2 - d1 * d6
    if vb <= 0.0 and d2 >= 0.0 and d6 <= 0.0:
        return add_scaled3(a, ac, d2 / (d2 - d6))
    va = d3 * d6 - d5 * d4
    if va <= 0.0 and d4 >= d3 and d5 >= d6:
        return add_scaled3(b, sub3(c, b), (d4 - d3) / ((d4 - d3) + (d5 - d6)))
    scale = 1.0 / (va + vb + vc)
    return add_scaled3(add_scaled3(a, ab, vb * scale), ac, vc * scale)


@kernel
def sphere_triangle(d: Data, center: Vec3, radius: float, a: Vec3, b: Vec3, c: Vec3, thickness: float) -> int:
    """Find the contact of a sphere with the triangle (a, b, c) enlarged by `thickness`; return the number of contacts.

    The normal points from the sphere to the triangle. If the centre is on the triangle, the normal is the x axis.
    """
    between = sub3(closest_on_triangle(center, a, b, c), center)
    length = norm3(between)
    dist = length - radius - thickness
    if dist > d.work.near_margin:
        return 0
    normal = scale3(between, 1.0 / length) if length >= MINVAL else (1.0, 0.0, 0.0)
    put_contact(d, 0, dist, add_scaled3(center, normal, radius + 0.5 * dist), normal)
    return 1


@kernel
def separates(axis: Vec3, a: Vec3, b: Vec3, c: Vec3, e: Vec3, f: Vec3, g: Vec3, reach: float) -> bool:
    """Whether two triangles are farther apart along `axis` (of any length) than `reach`."""
    a_, b_, c_ = dot3(axis, a), dot3(axis, b), dot3(axis, c)
    e_, f_, g_ = dot3(axis, e), dot3(axis, f), dot3(axis, g)
    gap = max(min(e_, f_, g_) - max(a_, b_, c_), min(a_, b_, c_) - max(e_, f_, g_))
    return gap > 0.0 and gap * gap > reach * reach * dot3(axis, axis)


@kernel
def apart_beside(a: Vec3, b: Vec3, c: Vec3, e: Vec3, f: Vec3, g: Vec3, reach: float) -> bool:
    """Whether two triangles are apart along the normal of the first, or a normal of one of its sides in its plane."""
    ab, bc, ca = sub3(b, a), sub3(c, b), sub3(a, c)
    normal = cross(ab, bc)
    return (
        separates(cross(normal, ab), a, b, c, e, f, g, reach)
        or separates(cross(normal, bc), a, b, c, e, f, g, reach)
        or separates(cross(normal, ca), a, b, c, e, f, g, reach)
        or separates(normal, a, b, c, e, f, g, reach)
    )


@kernel
def triangles_apart(a: Vec3, b: Vec3, c: Vec3, e: Vec3, f: Vec3, g: Vec3, reach: float) -> bool:
    """Whether two triangles are certainly farther apart than `reach`, as a quick test before the convex collision."""
    return apart_beside(a, b, c, e, f, g, reach) or apart_beside(e, f, g, a, b, c, reach)
