"""Signed distance from a mesh, and its gradient: exact, by a tree of triangles, or from a grid of distances.

The search for a contact evaluates thousands of distances, and only the last one must be exact. The search therefore
uses the grid; the contact is then computed from exact distances.

The triangles are stored in ``m.aux.sdf_face``, `STRIDE` values each: three corners, then the pseudonormals of the seven
features (face, edges, corners), in the mesh's own frame. The pseudonormal of the feature that contains the nearest
point gives the sign of the distance. The search goes down the tree, nearer child first, and skips boxes farther away
than the best triangle so far. The search starts with the triangle that the previous search found on the same side: in a
descent, this is nearly always the nearest one, so that the others are skipped at once.

The grid is made when the model first collides. It is stored in ``m.aux.sdf_grid`` after a header of `HEAD` values:
numbers of points (3), lower corner (3), spacing. The grid is in the mesh's own frame. For a point outside the grid, the
result is the distance at the nearest point of the grid's box, plus the distance to the box.

Sources: C. Ericson, Real-Time Collision Detection (2005), section 5.1.5: closest point on a triangle; J. A. Baerentzen,
H. Aanaes, Signed distance computation using the angle weighted pseudonormal (2005).
"""

from __future__ import annotations

from math import sqrt
from typing import TYPE_CHECKING

import numpy as np

from cardan.collision.capsule import clamp
from cardan.collision.sdf.field import MAX_ATTRIBUTES
from cardan.jit import collider, exact, kernel, stack_array, stack_int_array
from cardan.maths.quaternion import quat2mat
from cardan.maths.types import ConstArray1, ConstArray2, ConstIntArray1, ConstIntArray2, Vec3
from cardan.maths.vector import add3, add_scaled3, dot3, get3, mul_mat_t_vec3, mul_mat_vec3, scale3, set3, sub3
from cardan.model.kernel_views import Data, Model

if TYPE_CHECKING:
    from cardan.model.mjmodel import MjModel

HEAD = 7
CELLS = 64
"""Cells along the longest side of the grid."""
BORDER = 2
"""Cells between the mesh and the edge of the grid."""
FACE, EDGES, CORNERS = 0, 1, 4
"""Features of a triangle, as rows of the table of pseudonormals: face, edges ab, bc, ca, corners a, b, c."""
STRIDE = 30
"""Values per triangle: corners (9), pseudonormals (21)."""
DEPTH = 128
"""Maximum number of nodes on the stack: one per level of the tree."""
NEAR = 1e-12
"""Distance (m) below which the gradient is the normal of the surface."""


@kernel
def nearest_on_triangle(p: Vec3, a: Vec3, b: Vec3, c: Vec3) -> tuple[Vec3, int]:
    """Point of a triangle nearest to `p`, and the feature that contains it."""
    ab, ac, ap = sub3(b, a), sub3(c, a), sub3(p, a)
    d1, d2 = dot3(ab, ap), dot3(ac, ap)
    if d1 <= 0.0 and d2 <= 0.0:
        return a, CORNERS
    bp = sub3(p, b)
    d3, d4 = dot3(ab, bp), dot3(ac, bp)
    if d3 >= 0.0 and d4 <= d3:
        return b, CORNERS + 1
    vc = d1 * d4 - d3 * d2
    if vc <= 0.0 and d1 >= 0.0 and d3 <= 0.0:
        return add_scaled3(a, ab, d1 / (d1 - d3)), EDGES
    cp = sub3(p, c)
    d5, d6 = dot3(ab, cp), dot3(ac, cp)
    if d6 >= 0.0 and d5 <= d6:
        return c, CORNERS + 2
    vb = d5 * d2 - d1 * d6
    if vb <= 0.0 and d2 >= 0.0 and d6 <= 0.0:
        return add_scaled3(a, ac, d2 / (d2 - d6)), EDGES + 2
    va = d3 * d6 - d5 * d4
    if va <= 0.0 and d4 - d3 >= 0.0 and d5 - d6 >= 0.0:
        return add_scaled3(b, sub3(c, b), (d4 - d3) / ((d4 - d3) + (d5 - d6))), EDGES + 1
    share = 1.0 / (va + vb + vc)
    return add3(a, add3(scale3(ab, vb * share), scale3(ac, vc * share))), FACE


@kernel
def square_from_box(aabb: ConstArray2, node: int, p: Vec3) -> float:
    """Squared distance from a point to the box of a tree node; 0 inside the box."""
    total = 0.0
    for k in range(3):
        out = max(abs(p[k] - aabb[node, k]) - aabb[node, 3 + k], 0.0)
        total += out * out
    return total


@kernel
def vector_at(table: ConstArray1, at: int) -> Vec3:
    """Vector stored at an address of a table."""
    return table[at], table[at + 1], table[at + 2]


@kernel
def square_to_face(faces: ConstArray1, at: int, p: Vec3) -> float:
    """Squared distance of a point from the triangle at an address of the table."""
    found = nearest_on_triangle(p, vector_at(faces, at), vector_at(faces, at + 3), vector_at(faces, at + 6))
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
    """Find the triangle that is nearest to a point in the mesh's own frame; the search starts with triangle `guess`.

    The first triangle of the mesh is at the address `start`, the first node of its tree is `root`. `tree` consists of
    children, triangles (-1 for nodes with children) and boxes of the nodes.
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
    """Signed distance of the point `p` from the mesh (m, mesh frame), and its gradient.

    `faces` is the table of triangles ``aux.sdf_face``; `at` is the address of the triangle nearest to the point.
    """
    point, feature = nearest_on_triangle(p, vector_at(faces, at), vector_at(faces, at + 3), vector_at(faces, at + 6))
    between = sub3(p, point)
    normal = vector_at(faces, at + 9 + 3 * feature)
    distance = sqrt(dot3(between, between))
    if distance < NEAR:
        return 0.0, scale3(normal, 1.0 / sqrt(dot3(normal, normal)))
    value = distance if dot3(between, normal) >= 0.0 else -distance
    return value, scale3(between, 1.0 / value)


@kernel
def mesh_distance(m: Model, d: Data, side: int, mesh: int, start: int, p: Vec3) -> tuple[float, Vec3]:
    """Exact signed distance of a point in the mesh's own frame, and its gradient."""
    tree = (m.bvh_child, m.bvh_nodeid, m.bvh_aabb)
    face = nearest_face(m.aux.sdf_face, start, tree, m.mesh_bvhadr[mesh], p, d.work.sdf_nearest[side])
    d.work.sdf_nearest[side] = face
    return from_face(m.aux.sdf_face, start + STRIDE * face, p)


@kernel
def cell_of(x: float, count: int) -> int:
    """Index of the cell that contains a coordinate inside the grid (in units of cells)."""
    return min(int(x), count - 2)


@kernel
def interpolated(m: Model, start: int, p: Vec3) -> tuple[float, Vec3]:
    """Interpolate distance and gradient (per cell) at a point inside the grid, given in units of cells."""
    nx, ny, nz = int(m.aux.sdf_grid[start]), int(m.aux.sdf_grid[start + 1]), int(m.aux.sdf_grid[start + 2])
    i, j, k = cell_of(p[0], nx), cell_of(p[1], ny), cell_of(p[2], nz)
    x, y, z = p[0] - i, p[1] - j, p[2] - k
    value, gx, gy, gz = 0.0, 0.0, 0.0, 0.0
    for corner in range(8):
        a, b, c = corner & 1, corner >> 1 & 1, corner >> 2
        found = m.aux.sdf_grid[start + HEAD + ((i + a) * ny + j + b) * nz + k + c]
        wx, wy, wz = x if a else 1.0 - x, y if b else 1.0 - y, z if c else 1.0 - z
        value += found * wx * wy * wz
        gx += found * (1.0 if a else -1.0) * wy * wz
        gy += found * wx * (1.0 if b else -1.0) * wz
        gz += found * wx * wy * (1.0 if c else -1.0)
    return value, (gx, gy, gz)


@kernel
def grid_distance(m: Model, start: int, p: Vec3) -> tuple[float, Vec3]:
    """Signed distance of a point from the mesh, and its gradient, interpolated in the grid.

    Point and gradient are in the mesh's own frame. `start` is the index of the grid's header in ``aux.sdf_grid``.
    """
    spacing = m.aux.sdf_grid[start + 6]
    cells = scale3(sub3(p, vector_at(m.aux.sdf_grid, start + 3)), 1.0 / spacing)
    inside = (
        clamp(cells[0], 0.0, m.aux.sdf_grid[start] - 1.0),
        clamp(cells[1], 0.0, m.aux.sdf_grid[start + 1] - 1.0),
        clamp(cells[2], 0.0, m.aux.sdf_grid[start + 2] - 1.0),
    )
    value, slope = interpolated(m, start, inside)
    beyond = scale3(sub3(cells, inside), spacing)
    out = sqrt(beyond[0] * beyond[0] + beyond[1] * beyond[1] + beyond[2] * beyond[2])
    if out > 0.0:
        return value + out, scale3(beyond, 1.0 / out)
    return value, scale3(slope, 1.0 / spacing)


@collider
@exact
def mesh_entry(m: Model, d: Data, side: int, gradient: int) -> int:
    """Native entry of meshes: compute distance and gradient at ``d.work.sdf_point`` of one side of the pair.

    During the search for contacts (``d.work.sdf_rough``), the distance is taken from a grid. The gradient is written
    only if `gradient` is not 0. Returns 0.
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


def pseudonormals(vertex: np.ndarray, face: np.ndarray) -> np.ndarray:
    """Normals of the seven features of each triangle (m, 7, 3): face, edges, corners.

    The normal of an edge is the sum of its two faces' normals. The normal of a corner is the sum of the normals of all
    faces that meet there, weighted by the faces' angles at the corner.
    """
    corner = vertex[face]
    normal = _unit(np.cross(corner[:, 1] - corner[:, 0], corner[:, 2] - corner[:, 0]))
    table = np.empty((len(face), 7, 3))
    table[:, FACE] = normal
    ends = np.sort(np.stack([face, np.roll(face, -1, axis=1)], axis=2), axis=2).reshape(-1, 2)
    _, edge = np.unique(ends, axis=0, return_inverse=True)
    total = np.zeros((edge.max() + 1, 3))
    np.add.at(total, edge.ravel(), np.repeat(normal, 3, axis=0))
    table[:, EDGES:CORNERS] = total[edge.reshape(-1, 3)]
    around = np.zeros((len(vertex), 3))
    for k in range(3):
        to_next = _unit(corner[:, (k + 1) % 3] - corner[:, k])
        to_last = _unit(corner[:, (k + 2) % 3] - corner[:, k])
        angle = np.arccos(np.clip((to_next * to_last).sum(axis=1), -1.0, 1.0))
        np.add.at(around, face[:, k], angle[:, None] * normal)
    table[:, CORNERS:] = around[face]
    return table


def _unit(vectors: np.ndarray) -> np.ndarray:
    return vectors / np.maximum(np.linalg.norm(vectors, axis=1), 1e-300)[:, None]


def mesh_faces(m: MjModel, mesh: int) -> np.ndarray:
    """Return the triangles of a mesh in the format of ``aux.sdf_face``: `STRIDE` values for each triangle.

    If the mesh is turned inside out (negative volume), as mirrored meshes may be, the triangles are reversed.

    Raises:
        ValueError: the mesh has no faces.
    """
    rows = slice(int(m.mesh_vertadr[mesh]), int(m.mesh_vertadr[mesh] + m.mesh_vertnum[mesh]))
    vertex = m.mesh_vert[rows].astype(float)
    face = m.mesh_face[int(m.mesh_faceadr[mesh]) :][: int(m.mesh_facenum[mesh])].astype(np.int64)
    if not len(face) or not m.mesh_bvhnum[mesh]:
        raise ValueError(f"mesh {mesh} has no faces, so that there is no distance from it")
    corner = vertex[face]
    if np.einsum("ij,ij->", corner[:, 0], np.cross(corner[:, 1], corner[:, 2])) < 0.0:
        face = face[:, ::-1]
    normals = pseudonormals(vertex, face)
    return np.concatenate([vertex[face].reshape(-1, 9), normals.reshape(-1, 21)], axis=1).ravel()
