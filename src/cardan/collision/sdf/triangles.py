"""Collisions of meshes with signed-distance shapes, triangle by triangle.

On each triangle the distance is minimised by the Frank-Wolfe method: from the centroid, ``sdf_iterations`` steps go
towards the corner to which the linearised distance falls most, with step lengths 2 / (k + 2).

Source: M. Macklin, K. Erleben, M. Mueller, N. Chentanez, S. Jeschke, Z. Corse, Local optimization for robust signed
distance field collision (2020).
"""

from __future__ import annotations

from typing import Any

from cardan.collision.near import MAXCONPAIR, put_contact
from cardan.collision.sdf.field import evaluate, load_side
from cardan.jit import collider, kernel
from cardan.maths.vector import add3, add_scaled3, dot3, get3, get9, mul_mat_vec3, norm3, normalize3, scale3, sub3

SAME = 1e-9
"""Contacts closer than this are one, m: corners and edges that triangles share."""


@kernel
def corner(m: Any, d: Any, geom: int, face: int, k: int) -> Any:
    """Corner `k` of a face (row of ``mesh_face``) of a mesh geom, global frame."""
    mesh = m.geom_dataid[geom]
    vertex = m.mesh_vertadr[mesh] + m.mesh_face[face, k]
    local = (1.0 * m.mesh_vert[vertex, 0], 1.0 * m.mesh_vert[vertex, 1], 1.0 * m.mesh_vert[vertex, 2])
    return add3(get3(d.geom_xpos, geom), mul_mat_vec3(get9(d.geom_xmat, geom), local))


@kernel
def lowest_corner(d: Any, a: Any, b: Any, c: Any) -> Any:
    """The corner to which the distance of side 1 falls most, by its gradient."""
    gradient = get3(d.work.sdf_gradient, 1)
    va, vb, vc = dot3(gradient, a), dot3(gradient, b), dot3(gradient, c)
    if va <= vb and va <= vc:
        return a
    return b if vb <= vc else c


@kernel
def deepest_point(m: Any, d: Any, a: Any, b: Any, c: Any, point: Any) -> Any:
    """The point of a triangle at which the Frank-Wolfe method ends that starts at `point`."""
    for k in range(m.opt.sdf_iterations):
        evaluate(m, d, 1, point, 1)
        target = lowest_corner(d, a, b, c)
        point = add_scaled3(point, sub3(target, point), 2.0 / (k + 2.0))
    return point


@kernel
def is_known(d: Any, ncon: int) -> bool:
    """Whether the last contact of the pair, number `ncon`, stands where an earlier one does."""
    for i in range(ncon):
        if norm3(sub3(get3(d.work.near_pos, i), get3(d.work.near_pos, ncon))) < SAME:
            return True
    return False


@kernel
def collide_face(m: Any, d: Any, geom: int, face: int, ncon: int) -> int:
    """Add the contact of one face, if its deepest point lies inside; returns the number of contacts now."""
    a, b, c = corner(m, d, geom, face, 0), corner(m, d, geom, face, 1), corner(m, d, geom, face, 2)
    center = scale3(add3(add3(a, b), c), 1.0 / 3.0)
    reach = max(norm3(sub3(a, center)), norm3(sub3(b, center)), norm3(sub3(c, center)))
    if evaluate(m, d, 1, center, 0) > reach:
        return ncon
    point = deepest_point(m, d, a, b, c, center)
    depth = evaluate(m, d, 1, point, 1)
    if depth >= 0.0:
        return ncon
    normal = scale3(normalize3(get3(d.work.sdf_gradient, 1)), -1.0)
    put_contact(d, ncon, depth, add_scaled3(point, normal, -0.5 * depth), normal)
    return ncon if is_known(d, ncon) else ncon + 1


@collider
def mesh_sdf(m: Any, d: Any, geom1: int, geom2: int) -> int:
    """A mesh (`geom1`) and a signed-distance shape: one contact a face whose deepest point lies inside the shape."""
    load_side(m, d, 1, geom2)
    mesh = m.geom_dataid[geom1]
    ncon = 0
    for face in range(m.mesh_faceadr[mesh], m.mesh_faceadr[mesh] + m.mesh_facenum[mesh]):
        if ncon < MAXCONPAIR:
            ncon = collide_face(m, d, geom1, face, ncon)
    return ncon
