"""Points of triangles, segments and tetrahedra that are closest to the origin, by their barycentric coordinates.

Source: C. Ericson, Real-Time Collision Detection (2005), sections 5.1.5 (triangle) and 5.1.6 (tetrahedron).
"""

from __future__ import annotations

from cardan.jit import kernel
from cardan.maths.types import Vec3, Vec4
from cardan.maths.vector import add_scaled3, cross, dot3, scale3, sub3


@kernel
def triangle_weights(a: Vec3, b: Vec3, c: Vec3) -> Vec3:
    """Barycentric coordinates of the point of the triangle a, b, c that is closest to the origin."""
    ab, ac = sub3(b, a), sub3(c, a)
    a1, a2 = -dot3(ab, a), -dot3(ac, a)
    if a1 <= 0.0 and a2 <= 0.0:
        return (1.0, 0.0, 0.0)
    b1, b2 = -dot3(ab, b), -dot3(ac, b)
    if b1 >= 0.0 and b2 <= b1:
        return (0.0, 1.0, 0.0)
    vc = a1 * b2 - b1 * a2
    if vc <= 0.0 and a1 >= 0.0 and b1 <= 0.0:
        t = a1 / (a1 - b1)
        return (1.0 - t, t, 0.0)
    c1, c2 = -dot3(ab, c), -dot3(ac, c)
    if c2 >= 0.0 and c1 <= c2:
        return (0.0, 0.0, 1.0)
    vb = c1 * a2 - a1 * c2
    if vb <= 0.0 and a2 >= 0.0 and c2 <= 0.0:
        t = a2 / (a2 - c2)
        return (1.0 - t, 0.0, t)
    va = b1 * c2 - c1 * b2
    if va <= 0.0 and b2 - b1 >= 0.0 and c1 - c2 >= 0.0:
        t = (b2 - b1) / ((b2 - b1) + (c1 - c2))
        return (0.0, 1.0 - t, t)
    total = va + vb + vc
    return (va / total, vb / total, vc / total)


@kernel
def segment_weights(a: Vec3, b: Vec3) -> Vec3:
    """Barycentric coordinates of the point of the segment a, b that is closest to the origin; the third is 0."""
    ab = sub3(b, a)
    along = -dot3(ab, a)
    length2 = dot3(ab, ab)
    if along <= 0.0:
        return (1.0, 0.0, 0.0)
    if along >= length2:
        return (0.0, 1.0, 0.0)
    return (1.0 - along / length2, along / length2, 0.0)


@kernel
def weighted_sum(a: Vec3, b: Vec3, c: Vec3, weights: Vec3) -> Vec3:
    """Point of the triangle with corners `a`, `b` and `c` that has the barycentric coordinates `weights`."""
    return add_scaled3(add_scaled3(scale3(a, weights[0]), b, weights[1]), c, weights[2])


@kernel
def tetrahedron_weights(a: Vec3, b: Vec3, c: Vec3, d: Vec3) -> Vec4:
    """Barycentric coordinates of the point of the tetrahedron a, b, c, d that is closest to the origin."""
    ab, ac, ad = sub3(b, a), sub3(c, a), sub3(d, a)
    volume = dot3(ab, cross(ac, ad))
    if volume != 0.0:
        wb = -dot3(a, cross(ac, ad)) / volume
        wc = -dot3(a, cross(ad, ab)) / volume
        wd = -dot3(a, cross(ab, ac)) / volume
        if wb >= 0.0 and wc >= 0.0 and wd >= 0.0 and wb + wc + wd <= 1.0:
            return (1.0 - wb - wc - wd, wb, wc, wd)
    best = (1.0, 0.0, 0.0, 0.0)
    least = dot3(a, a)
    w = triangle_weights(a, b, c)
    p = weighted_sum(a, b, c, w)
    if dot3(p, p) < least:
        least, best = dot3(p, p), (w[0], w[1], w[2], 0.0)
    w = triangle_weights(a, c, d)
    p = weighted_sum(a, c, d, w)
    if dot3(p, p) < least:
        least, best = dot3(p, p), (w[0], 0.0, w[1], w[2])
    w = triangle_weights(a, d, b)
    p = weighted_sum(a, d, b, w)
    if dot3(p, p) < least:
        least, best = dot3(p, p), (w[0], w[2], 0.0, w[1])
    w = triangle_weights(b, c, d)
    p = weighted_sum(b, c, d, w)
    if dot3(p, p) < least:
        least, best = dot3(p, p), (0.0, w[0], w[1], w[2])
    return best
