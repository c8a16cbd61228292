"""Rays against flexes (spec: programming, mju_rayFlex).

A ray can hit spheres around the vertices of a flex, capsules around its edges, and the triangles of its elements.
Spheres and capsules have the radius of the flex; triangles have no thickness. Points of rays are ``p + x v``, x >= 0.
"""

from __future__ import annotations

from cardan.collision.contact import default_tangent
from cardan.collision.ray import MISS, ray_capsule, ray_sphere
from cardan.collision.ray_mesh import ray_triangle
from cardan.jit import kernel
from cardan.maths.types import ConstArray2, IntArray2, Vec3
from cardan.maths.vector import add3, add_scaled3, cross, dot3, get3, norm3, normalize3, scale3, sub3
from cardan.model.kernel_views import Data, Model
from cardan.soft.edges import edge_vertex
from cardan.soft.flex import element_point, element_vertex
from cardan.soft.inside import FACES

Hit = tuple[float, int]
"""Distance along the ray (`MISS` if nothing is hit), and the vertex closest to the hit point."""
VERTICES, EDGES, FACES_SEEN, SKIN = 1, 2, 4, 8
"""Bits for the parts of a flex that a ray can hit."""
NO_VERTEX = -1
OUTER_LAYER = 0


@kernel
def closer(point: Vec3, a: Vec3, b: Vec3) -> bool:
    """Return whether `point` is closer to `a` than to `b`."""
    return norm3(sub3(a, point)) < norm3(sub3(b, point))


@kernel
def ray_edges(m: Model, d: Data, flex: int, p: Vec3, v: Vec3, hit: Hit) -> Hit:
    """Return the nearer of `hit` (distance, vertex) and the ray's first hit on the capsules around a flex's edges."""
    best, vertex = hit
    for edge in range(m.flex_edgeadr[flex], m.flex_edgeadr[flex] + m.flex_edgenum[flex]):
        first, second = edge_vertex(m, flex, edge, 0), edge_vertex(m, flex, edge, 1)
        a, b = get3(d.flexvert_xpos, first), get3(d.flexvert_xpos, second)
        axis = normalize3(sub3(b, a))
        across = default_tangent(axis)
        y = cross(axis, across)
        start = sub3(p, scale3(add3(a, b), 0.5))
        size = (m.flex_radius[flex], 0.5 * norm3(sub3(b, a)), 0.0)
        x = ray_capsule(
            size, (dot3(across, start), dot3(y, start), dot3(axis, start)), (dot3(across, v), dot3(y, v), dot3(axis, v))
        )
        if x >= 0.0 and (best < 0.0 or x < best):
            best, vertex = x, first if closer(add_scaled3(p, v, x), a, b) else second
    return best, vertex


@kernel
def ray_face(m: Model, d: Data, flex: int, element: int, face: int, p: Vec3, v: Vec3, hit: Hit) -> Hit:
    """Return the nearer of `hit` (distance, vertex) and the ray's hit on face `face` of an element.

    For a triangle, `face` is 0.
    """
    best, vertex = hit
    i, j, k = FACES[face][0], FACES[face][1], FACES[face][2]
    a, b = element_point(m, d, flex, element, i), element_point(m, d, flex, element, j)
    c = element_point(m, d, flex, element, k)
    x = ray_triangle(a, b, c, p, v)
    if x >= 0.0 and (best < 0.0 or x < best):
        best = x
        point = add_scaled3(p, v, x)
        corner = i if closer(point, a, b) else j
        if closer(point, c, a if corner == i else b):
            corner = k
        vertex = element_vertex(m, flex, element, corner)
    return best, vertex


@kernel
def ray_elements(m: Model, d: Data, flex: int, layer: int, p: Vec3, v: Vec3, hit: Hit) -> Hit:
    """Return the nearer of `hit` (distance, vertex) and the ray's first hit on triangles or tetrahedra.

    Of the tetrahedra, only those in `layer` are tested.
    """
    dim = m.flex_dim[flex]
    for element in range(m.flex_elemnum[flex]):
        if dim == 2:
            hit = ray_face(m, d, flex, element, 0, p, v, hit)
        elif dim == 3 and m.flex_elemlayer[m.flex_elemadr[flex] + element] == layer:
            for face in range(4):
                hit = ray_face(m, d, flex, element, face, p, v, hit)
    return hit


@kernel
def ray_flex(m: Model, d: Data, flex: int, layer: int, seen: int, p: Vec3, v: Vec3) -> Hit:
    """Return the first hit of a ray on a flex.

    Args:
        m: model.
        d: data with ``flexvert_xpos``.
        flex: id of the flex.
        layer: layer of the tetrahedra whose faces can be hit, if `SKIN` is not set.
        seen: sum of `VERTICES`, `EDGES`, `FACES_SEEN` and `SKIN`. The skin of triangles or tetrahedra consists of the
            vertices, the edges, and the faces of the outer layer.
        p: start of the ray, world frame (m).
        v: direction of the ray.

    Returns:
        Distance in units of `v` or `MISS`, and the vertex closest to the hit (numbered over all flexes) or `NO_VERTEX`.
    """
    skin = (seen & SKIN) != 0 and m.flex_dim[flex] > 1
    hit = (MISS, NO_VERTEX)
    if skin or seen & VERTICES:
        best, vertex = hit
        for k in range(m.flex_vertadr[flex], m.flex_vertadr[flex] + m.flex_vertnum[flex]):
            x = ray_sphere(m.flex_radius[flex], sub3(p, get3(d.flexvert_xpos, k)), v)
            if x >= 0.0 and (best < 0.0 or x < best):
                best, vertex = x, k
        hit = best, vertex
    if skin or seen & EDGES:
        hit = ray_edges(m, d, flex, p, v, hit)
    if skin:
        hit = ray_elements(m, d, flex, OUTER_LAYER, p, v, hit)
    elif seen & FACES_SEEN:
        hit = ray_elements(m, d, flex, layer, p, v, hit)
    return hit


@kernel
def cast_at_flex(
    m: Model,
    d: Data,
    flex_layer: int,
    flg_vert: int,
    flg_edge: int,
    flg_face: int,
    flg_skin: int,
    flexid: int,
    pnt: ConstArray2,
    vec: ConstArray2,
    vertid: IntArray2,
) -> float:
    """Return the distance along a ray to a flex (see `cardan.api.rays.mju_rayFlex`), or `MISS`.

    The arguments are those of `mju_rayFlex`, except for shapes and types: `pnt` and `vec` are (1, 3), the result
    `vertid` is (1, 1), and `flex_layer`, `flexid` and the flags are integers. If nothing is hit, `vertid` is left
    unchanged.
    """
    seen = VERTICES if flg_vert != 0 else 0
    seen |= EDGES if flg_edge != 0 else 0
    seen |= FACES_SEEN if flg_face != 0 else 0
    seen |= SKIN if flg_skin != 0 else 0
    dist, vertex = ray_flex(m, d, flexid, flex_layer, seen, get3(pnt, 0), get3(vec, 0))
    if vertex >= 0:
        vertid[0, 0] = vertex - m.flex_vertadr[flexid]
    return dist
