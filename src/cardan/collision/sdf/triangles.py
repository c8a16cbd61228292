"""Collisions of meshes with signed-distance shapes, triangle by triangle.

On each triangle, the Frank-Wolfe method minimises the distance. It starts at the centroid and makes ``sdf_iterations``
steps towards the corner to which the linearised distance falls most; step k has the length 2 / (k + 2). The search
skips a box of the mesh's tree if the distance of the box's centre from the shape is more than half the box's diagonal.

Source: M. Macklin, K. Erleben, M. Mueller, N. Chentanez, S. Jeschke, Z. Corse, Local optimization for robust signed
distance field collision (2020).
"""

from __future__ import annotations

from cardan.collision.capsule import from_geom
from cardan.collision.contact import MAXCONPAIR, put_contact
from cardan.collision.ray_mesh import mesh_triangle
from cardan.collision.sdf.field import evaluate, has_distance, load_side
from cardan.constants import mjMAXTREEDEPTH
from cardan.jit import collider, exact, kernel, stack_int_array
from cardan.maths.types import Vec3
from cardan.maths.vector import add3, add_scaled3, dot3, get3, get9, norm3, normalize3, scale3, set3, set9, sub3
from cardan.model.kernel_views import Data, Model

STACK = 2 * mjMAXTREEDEPTH
SAME = 1e-9
"""Distance (m) below which contacts are merged. Such contacts come from corners and edges that triangles share."""


@kernel
def deepest_point(m: Model, d: Data, a: Vec3, b: Vec3, c: Vec3, point: Vec3) -> Vec3:
    """Find the point of triangle abc that is deepest in the shape, by the Frank-Wolfe method from `point`."""
    for k in range(m.opt.sdf_iterations):
        evaluate(m, d, 1, point, 1)
        # the corner to which the linearised distance falls most
        gradient = get3(d.work.sdf_gradient, 1)
        va, vb, vc = dot3(gradient, a), dot3(gradient, b), dot3(gradient, c)
        target = a if va <= vb and va <= vc else (b if vb <= vc else c)
        point = add_scaled3(point, sub3(target, point), 2.0 / (k + 2.0))
    return point


@kernel
def copy_row(d: Data, source: int, target: int) -> None:
    """Copy contact `source` of the pair to row `target`."""
    d.work.near_dist[target] = d.work.near_dist[source]
    set3(d.work.near_pos, target, get3(d.work.near_pos, source))
    set9(d.work.near_frame, target, get9(d.work.near_frame, source))


@kernel
def insert_contact(d: Data, ncon: int, depth: float, pos: Vec3, normal: Vec3) -> int:
    """Insert a contact into the rows, which are sorted by depth, the deepest first; return the new number of contacts.

    If there are more than `MAXCONPAIR` contacts, only the deepest are kept.
    """
    if ncon == MAXCONPAIR and depth >= d.work.near_dist[ncon - 1]:
        return ncon
    row = min(ncon, MAXCONPAIR - 1)
    while row > 0 and d.work.near_dist[row - 1] > depth:
        copy_row(d, row - 1, row)
        row -= 1
    put_contact(d, row, depth, pos, normal)
    return min(ncon + 1, MAXCONPAIR)


@kernel
def without_copies(d: Data, ncon: int) -> int:
    """Remove contacts at repeated positions; return the new number of contacts."""
    kept = 0
    for row in range(ncon):
        known = False
        for i in range(kept):
            known = known or norm3(sub3(get3(d.work.near_pos, i), get3(d.work.near_pos, row))) < SAME
        if not known:
            copy_row(d, row, kept)
            kept += 1
    return kept


@kernel
def collide_face(m: Model, d: Data, geom: int, face: int, ncon: int) -> int:
    """Add the contact of a mesh's face if its deepest point is inside the shape; return the new number of contacts."""
    a, b, c = mesh_triangle(m, m.geom_dataid[geom], face)
    a, b, c = from_geom(d, geom, a), from_geom(d, geom, b), from_geom(d, geom, c)
    center = scale3(add3(add3(a, b), c), 1.0 / 3.0)
    reach = max(norm3(sub3(a, center)), norm3(sub3(b, center)), norm3(sub3(c, center)))
    if evaluate(m, d, 1, center, 0) > reach:
        return ncon
    point = deepest_point(m, d, a, b, c, center)
    depth = evaluate(m, d, 1, point, 1)
    if depth >= 0.0:
        return ncon
    normal = scale3(normalize3(get3(d.work.sdf_gradient, 1)), -1.0)
    return insert_contact(d, ncon, depth, add_scaled3(point, normal, -0.5 * depth), normal)


@kernel
def collide_tree(m: Model, d: Data, geom: int, mesh: int) -> int:
    """Add the contacts of all faces whose boxes may reach the shape; return the number of contacts."""
    nodes = stack_int_array(STACK)
    nodes[0] = m.mesh_bvhadr[mesh]
    n = 1
    ncon = 0
    while n > 0:
        n -= 1
        node = nodes[n]
        # a box is outside if the distance of its centre is more than its half diagonal
        local = (m.bvh_aabb[node, 0], m.bvh_aabb[node, 1], m.bvh_aabb[node, 2])
        reach = norm3((m.bvh_aabb[node, 3], m.bvh_aabb[node, 4], m.bvh_aabb[node, 5]))
        if not evaluate(m, d, 1, from_geom(d, geom, local), 0) > reach:
            if m.bvh_nodeid[node] >= 0:
                ncon = collide_face(m, d, geom, m.bvh_nodeid[node], ncon)
            elif n + 2 <= STACK:
                for k in range(2):
                    nodes[n + k] = m.mesh_bvhadr[mesh] + m.bvh_child[node, 1 - k]
                n += 2
    return ncon


@collider
@exact
def mesh_sdf(m: Model, d: Data, geom1: int, geom2: int) -> int:
    """Write contacts between a mesh (`geom1`) and a signed-distance shape (`geom2`); return their number.

    A face has one contact if its deepest point is inside the shape. The deepest `MAXCONPAIR` contacts are kept; of
    contacts at the same position, only one remains.
    """
    if not has_distance(m, geom2):
        return 0
    load_side(m, d, 1, geom2)
    mesh = m.geom_dataid[geom1]
    return without_copies(d, collide_tree(m, d, geom1, mesh) if m.mesh_bvhnum[mesh] > 0 else 0)
