"""Exact signed distance of a mesh and its gradient, by the tree over its triangles.

The search for a contact evaluates thousands of distances, of which only the last matters. It uses a grid of distances
(`cardan.collision.sdf.grid`); the contact is computed from the exact distances.

The triangles are stored in ``m.aux.sdf_face``, `STRIDE` numbers each: three corners, then the pseudonormals of the
seven features (`cardan.collision.sdf.nearest`), in the mesh's own frame. The search goes down the tree, nearer child
first, and skips boxes farther away than the best triangle so far. It starts with the triangle that the previous search
found on the same side: in a descent, this is nearly always the nearest one, so that the others are skipped at once.
"""

from __future__ import annotations

from math import sqrt
from typing import TYPE_CHECKING

import numpy as np

from cardan.collision.sdf.grid import grid_distance
from cardan.collision.sdf.nearest import nearest_on_triangle, pseudonormals, square_from_box
from cardan.collision.sdf.shapes import MAX_ATTRIBUTES
from cardan.jit import collider, exact, kernel, stack_array, stack_int_array
from cardan.maths.quaternion import quat2mat
from cardan.maths.types import ConstArray1, ConstArray2, ConstIntArray1, ConstIntArray2, Vec3
from cardan.maths.vector import dot3, get3, mul_mat_t_vec3, mul_mat_vec3, scale3, set3, sub3
from cardan.model.kernel_views import Data, Model

if TYPE_CHECKING:
    from cardan.model.mjmodel import MjModel

STRIDE = 30
"""Numbers per triangle: corners (9), pseudonormals (21)."""
DEPTH = 128
"""Maximum number of nodes on the stack: one per level of the tree."""
NEAR = 1e-12
"""Below this distance, the gradient is the normal of the surface, m."""


# --- evaluation -------------------------------------------------------------------------------------------------------


@kernel
def triple(table: ConstArray1, at: int) -> Vec3:
    """Three consecutive numbers of a table."""
    return table[at], table[at + 1], table[at + 2]


@kernel
def square_to_face(faces: ConstArray1, at: int, p: Vec3) -> float:
    """Squared distance of a point from the triangle at an address of the table."""
    found = nearest_on_triangle(p, triple(faces, at), triple(faces, at + 3), triple(faces, at + 6))
    between = sub3(p, found[0])
    return dot3(between, between)


@kernel
def nearest_face(
    faces: ConstArray1,
    start: int,
    tree: tuple[ConstIntArray2, ConstIntArray1, ConstArray2],
    root: int,
    p: Vec3,
    guess: int,
) -> int:
    """Find the triangle that is nearest to a point.

    Args:
        faces: the table of triangles.
        start: address of the mesh's first triangle.
        tree: children, triangles (-1 for nodes with children) and boxes of the nodes.
        root: the first node of the mesh.
        p: point in the mesh's own frame.
        guess: triangle with which the search starts.
    """
    child, nodeid, aabb = tree
    nodes = stack_int_array(DEPTH)
    squares = stack_array(DEPTH)
    best, face = square_to_face(faces, start + STRIDE * guess, p), guess
    nodes[0] = 0
    squares[0] = 0.0
    n = 1
    while n > 0:
        n -= 1
        if squares[n] < best:
            node = root + nodes[n]
            if nodeid[node] >= 0:
                square = square_to_face(faces, start + STRIDE * nodeid[node], p)
                if square < best:
                    best, face = square, nodeid[node]
            elif n + 2 <= DEPTH:
                near, far = child[node, 0], child[node, 1]
                close, apart = square_from_box(aabb, root + near, p), square_from_box(aabb, root + far, p)
                if apart < close:
                    near, far, close, apart = far, near, apart, close
                nodes[n] = far
                squares[n] = apart
                nodes[n + 1] = near
                squares[n + 1] = close
                n += 2
    return face


@kernel
def from_face(faces: ConstArray1, at: int, p: Vec3) -> tuple[float, Vec3]:
    """Signed distance of a point from the mesh, and its gradient; `at` is the address of the nearest triangle."""
    point, feature = nearest_on_triangle(p, triple(faces, at), triple(faces, at + 3), triple(faces, at + 6))
    between = sub3(p, point)
    normal = triple(faces, at + 9 + 3 * feature)
    distance = sqrt(dot3(between, between))
    if distance < NEAR:
        return 0.0, scale3(normal, 1.0 / sqrt(dot3(normal, normal)))
    value = distance if dot3(between, normal) >= 0.0 else -distance
    return value, scale3(between, 1.0 / value)


@kernel
def mesh_distance(m: Model, d: Data, side: int, mesh: int, start: int, p: Vec3) -> tuple[float, Vec3]:
    """Signed distance of a point in the mesh's own frame, and its gradient."""
    tree = (m.bvh_child, m.bvh_nodeid, m.bvh_aabb)
    face = nearest_face(m.aux.sdf_face, start, tree, m.mesh_bvhadr[mesh], p, d.work.sdf_nearest[side])
    d.work.sdf_nearest[side] = face
    return from_face(m.aux.sdf_face, start + STRIDE * face, p)


@collider
@exact
def mesh_entry(m: Model, d: Data, side: int, gradient: int) -> int:
    """Native entry of meshes: compute distance and gradient at ``d.work.sdf_point`` of one side of the pair.

    During the search for contacts (``d.work.sdf_rough``), the distance is taken from a grid.
    """
    attribute = MAX_ATTRIBUTES * d.work.sdf_instance[side]
    mesh = int(m.aux.sdf_attr[attribute])
    mat = quat2mat((m.mesh_quat[mesh, 0], m.mesh_quat[mesh, 1], m.mesh_quat[mesh, 2], m.mesh_quat[mesh, 3]))
    local = mul_mat_t_vec3(mat, sub3(get3(d.work.sdf_point, side), get3(m.mesh_pos, mesh)))
    if d.work.sdf_rough:
        value, slope = grid_distance(m, int(m.aux.sdf_attr[attribute + 2]), local)
    else:
        value, slope = mesh_distance(m, d, side, mesh, int(m.aux.sdf_attr[attribute + 1]), local)
    d.work.sdf_value[side] = value
    if gradient:
        set3(d.work.sdf_gradient, side, mul_mat_vec3(mat, slope))
    return 0


# --- construction -----------------------------------------------------------------------------------------------------


def mesh_faces(m: MjModel, mesh: int) -> np.ndarray:
    """Return the triangles of a mesh in the format of the table, (m * `STRIDE`,).

    Raises:
        ValueError: the mesh has no faces, or no tree over its faces.
    """
    rows = slice(int(m.mesh_vertadr[mesh]), int(m.mesh_vertadr[mesh] + m.mesh_vertnum[mesh]))
    vertex = m.mesh_vert[rows].astype(float)
    face = m.mesh_face[int(m.mesh_faceadr[mesh]) :][: int(m.mesh_facenum[mesh])].astype(np.int64)
    if not len(face) or not m.mesh_bvhnum[mesh]:
        raise ValueError(f"mesh {mesh} has no faces, so that there is no distance from it")
    normals = pseudonormals(vertex, face)
    return np.concatenate([vertex[face].reshape(-1, 9), normals.reshape(-1, 21)], axis=1).ravel()
