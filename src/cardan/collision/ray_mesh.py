"""Rays against meshes: the faces themselves, not the convex hull, found by the mesh's tree of bounding boxes.

Sources: T. Möller and B. Trumbore, Fast, minimum storage ray/triangle intersection (1997); C. Ericson, Real-Time
Collision Detection (2005), section 5.3.3 (ray and box), section 6.3 (traversal of trees).
"""

from __future__ import annotations

from cardan.collision.ray import MISS, nearer
from cardan.jit import kernel, stack_array, stack_int_array
from cardan.maths.types import Vec3
from cardan.maths.vector import cross, dot3, sub3
from cardan.model.kernel_views import Model

STACK = 64
"""Number of nodes that the stack can hold: one per level of a tree (trees are balanced), plus one."""
HUGE = 1e300
"""Value used as the reciprocal of 0."""
SLACK = 1e-12
"""Relative enlargement of boxes and triangles, so that rounding opens no gaps between them."""


@kernel
def ray_triangle(a: Vec3, b: Vec3, c: Vec3, p: Vec3, v: Vec3) -> float:
    """Ray and triangle, from both sides; rays in its plane miss it."""
    u, w = sub3(b, a), sub3(c, a)
    normal = cross(v, w)
    determinant = dot3(u, normal)
    if determinant == 0.0:
        return MISS
    from_a = sub3(p, a)
    beta = dot3(from_a, normal) / determinant
    if beta < -SLACK or beta > 1.0 + SLACK:
        return MISS
    across = cross(from_a, u)
    gamma = dot3(v, across) / determinant
    if gamma < -SLACK or beta + gamma > 1.0 + SLACK:
        return MISS
    return dot3(w, across) / determinant


@kernel
def mesh_point(m: Model, vertex: int) -> Vec3:
    """Vertex of a mesh in float64."""
    return (1.0 * m.mesh_vert[vertex, 0], 1.0 * m.mesh_vert[vertex, 1], 1.0 * m.mesh_vert[vertex, 2])


@kernel
def ray_face(m: Model, mesh: int, face: int, p: Vec3, v: Vec3) -> float:
    """Ray and face `face` of a mesh."""
    row = m.mesh_faceadr[mesh] + face
    first = m.mesh_vertadr[mesh]
    return ray_triangle(
        mesh_point(m, first + m.mesh_face[row, 0]),
        mesh_point(m, first + m.mesh_face[row, 1]),
        mesh_point(m, first + m.mesh_face[row, 2]),
        p,
        v,
    )


@kernel
def reciprocal(value: float) -> float:
    """Reciprocal of a number, bounded."""
    return 1.0 / value if abs(value) > 1.0 / HUGE else HUGE


@kernel
def box_entry(m: Model, node: int, p: Vec3, inverse: Vec3, best: float) -> float:
    """Distance at which a ray enters the box of a node, 0 if it starts inside; `MISS` if it does not, or beyond `best`.

    Args:
        m: model.
        node: row of ``bvh_aabb``.
        p: start of the ray, in the frame of the tree.
        inverse: reciprocals of the components of the ray's direction.
        best: largest distance of interest; negative means no bound.
    """
    enter = 0.0
    leave = best if best >= 0.0 else HUGE
    for k in range(3):
        to_center = (m.bvh_aabb[node, k] - p[k]) * inverse[k]
        half = m.bvh_aabb[node, k + 3] * abs(inverse[k])
        slack = SLACK * (abs(to_center) + half)
        enter = max(enter, to_center - half - slack)
        leave = min(leave, to_center + half + slack)
    return enter if enter <= leave else MISS


@kernel
def ray_mesh(m: Model, mesh: int, p: Vec3, v: Vec3) -> float:
    """Ray and mesh: distance to the nearest face, with the ray in the frame of the geom."""
    if m.mesh_bvhnum[mesh] <= 0:
        return MISS
    nodes = stack_int_array(STACK)
    entries = stack_array(STACK)
    first = m.mesh_bvhadr[mesh]
    inverse = (reciprocal(v[0]), reciprocal(v[1]), reciprocal(v[2]))
    best = MISS
    nodes[0] = first
    entries[0] = box_entry(m, first, p, inverse, best)
    n = 1 if entries[0] >= 0.0 else 0
    while n > 0:
        n -= 1
        node = nodes[n]
        if best < 0.0 or entries[n] <= best:
            if m.bvh_nodeid[node] >= 0:
                best = nearer(ray_face(m, mesh, m.bvh_nodeid[node], p, v), best)
            else:
                # visit the nearer child first
                near = first + m.bvh_child[node, 0]
                far = first + m.bvh_child[node, 1]
                near_entry = box_entry(m, near, p, inverse, best)
                far_entry = box_entry(m, far, p, inverse, best)
                if far_entry < near_entry:
                    near, far = far, near
                    near_entry, far_entry = far_entry, near_entry
                if far_entry >= 0.0 and n < STACK:
                    nodes[n] = far
                    entries[n] = far_entry
                    n += 1
                if near_entry >= 0.0 and n < STACK:
                    nodes[n] = near
                    entries[n] = near_entry
                    n += 1
    return best
