"""Tables derived from the convex hulls of a model's meshes, for searches along hull edges.

They rely on this fact: a closed surface is convex if it is locally convex at all its edges. Source: R. Seidel, Convex
hull computations, in Handbook of Discrete and Computational Geometry (2004).
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import accumulate
from math import inf
from typing import TYPE_CHECKING, Any

import numpy as np

from cardan.jit import Field, Struct, StructMemory, kernel
from cardan.jit.driver.program import call, native_over
from cardan.maths.vector import cross, dot3, get3, norm3, scale3, set3, sub3
from cardan.model.fields_work import LARGEST_SCAN, SCAN_WIDTH
from cardan.model.kernel_views import Model
from cardan.model.sparsity import once

if TYPE_CHECKING:
    from cardan.model.mjmodel import MjModel

TOLERANCE = 1e-6
"""Largest height of an adjacent vertex above a face at which the edge counts as convex, relative to the mesh's size."""
LEAST_AREA = 1e-12
"""Twice the area of a face, relative to the square of the mesh's size, up to which the face has no valid normal."""


FOLDS = Struct(
    "HullFolds",
    [
        Field("certain", "u1", ("any",), "for each vertex of a mesh, whether the hull is convex around it"),
        Field("begin", "i4", ("any",), "of one hull: address of each vertex in the list of faces around vertices"),
        Field("number", "i4", ("any",), "number of the faces around each vertex"),
        Field("around", "i4", ("any",), "faces around vertices"),
        Field("normal", "f8", ("any", 3), "outward unit normals of faces, or 0"),
        Field("sums", "f8", ("any", 3), "middle, least and largest coordinates (3, 3)"),
    ],
    readonly=False,
)


def vertex_certain(m: MjModel) -> np.ndarray:
    """Return a flag for each mesh vertex (nmeshvert,): whether a search for the farthest vertex may safely end there.

    The flag is 1 if the vertex is on a hull that is convex around it, else 0. Hulls of surfaces with many coplanar
    points may contain slivers that fold over their neighbours; there, a search can end too early.

    Raises:
        ValueError: the graph of a hull is missing or invalid.
    """
    certain = np.zeros(max(1, m.nmeshvert), np.uint8)
    if not m.nmeshgraph:
        return certain
    memory, faces = StructMemory(FOLDS, {}), m.nmeshgraph // 3  # a hull cannot have more
    memory.attach("certain", certain)
    memory.attach_new({"begin": m.nmeshvert, "number": m.nmeshvert, "around": 3 * faces})
    memory.attach_new({"normal": faces, "sums": 3})
    wrong = call(find_folds, m._memory, memory)
    if wrong:
        raise ValueError(f"mesh_graphadr[{wrong - 1}] is not the address of a hull in mesh_graph")
    return certain


def uncertain_adr(m: MjModel) -> np.ndarray:
    """Return the start of each mesh's entries in `uncertain`, followed by the number of entries (nmesh + 1,)."""
    return np.array([*accumulate(map(len, _uncertain(m)), initial=0)], np.int32)


def uncertain(m: MjModel) -> np.ndarray:
    """Return the hull indices of all vertices at which a search may end too early, mesh by mesh."""
    return np.concatenate([np.zeros(0, np.int32), *_uncertain(m)]).astype(np.int32)


def hull_scan(m: MjModel) -> np.ndarray:
    """Return the address of each mesh's hull vertices in `hull_point` (nmesh,); -1 for missing or large hulls."""
    sizes = [points.size for points in _small_hulls(m)]
    starts = accumulate(sizes, initial=0)
    return np.array([start if size else -1 for start, size in zip(starts, sizes, strict=False)], np.int32)


def hull_point(m: MjModel) -> np.ndarray:
    """Return the coordinates of the vertices of small hulls, hull by hull: all x, then all y, then all z."""
    return np.concatenate([np.zeros(0, np.float32), *map(np.ravel, _small_hulls(m))])


@once
def _small_hulls(m: MjModel) -> list[np.ndarray]:
    """Return an array for each mesh, with hull vertices as columns; empty for more than `LARGEST_SCAN` vertices.

    Each array is padded to a multiple of `SCAN_WIDTH` columns with the centre of the vertices, which is never farthest.
    """
    found, vertices = [], m.mesh_vert
    for rows in hull_rows(m):
        width = len(rows) if len(rows) <= LARGEST_SCAN else 0
        table = np.empty((3, width + -width % SCAN_WIDTH), vertices.dtype)
        if width:
            points = vertices[rows].T
            table[:, :width] = points
            table[:, width:] = points.mean(axis=1, keepdims=True)
        found.append(table)
    return found


@once
def _graphs(m: MjModel) -> tuple[list[int], list[int], list[int]]:
    """Return three lists over all meshes: address of the graph (or -1), number of hull vertices, first mesh vertex."""
    graphs, numbers = m.mesh_graphadr.tolist(), m.mesh_graph
    return graphs, [int(numbers[graph]) if graph >= 0 else 0 for graph in graphs], m.mesh_vertadr.tolist()


def hull_rows(m: MjModel) -> Iterator[np.ndarray]:
    """Yield, for each mesh, the rows of ``mesh_vert`` that contain the hull's vertices, in the hull's order."""
    numbers = m.mesh_graph
    for graph, nvert, first in zip(*_graphs(m), strict=True):
        yield first + numbers[graph + 2 + nvert : graph + 2 + 2 * nvert]


@once
def _uncertain(m: MjModel) -> list[np.ndarray]:
    """Return, for each mesh, the hull indices of the vertices at which a search may end too early."""
    certain = m._memory.arrays["aux.vertex_certain"]
    if certain.all():
        return [np.zeros(0, np.int64)] * m.nmesh
    return [np.flatnonzero(certain[rows] == 0) for rows in hull_rows(m)]


def hull_neighbour(m: MjModel) -> np.ndarray:
    """Return a table (nmeshgraph, 2) for hull searches, with one row for each entry of ``mesh_graph``.

    If the entry is a neighbour, the row contains the index of this vertex in ``mesh_vert``, and the address of this
    vertex's own list of neighbours. In all other rows, the first number is -1, which also marks the end of a list.
    """
    table = np.full((max(1, m.nmeshgraph), 2), -1, np.int32)
    numbers = m.mesh_graph
    for graph, nvert, first in zip(*_graphs(m), strict=True):
        if graph < 0:
            continue
        nface = int(numbers[graph + 1])
        middle, here = graph + 2 + nvert, graph + 2 + 2 * nvert
        end = here + nvert + 3 * nface
        start, vertices, edges = numbers[graph + 2 : middle], numbers[middle:here], numbers[here:end]
        rows = table[here:end]
        rows[:, 0] = np.where(edges < 0, -1, first + vertices[edges])
        rows[:, 1] = here + start[edges]
    return table


# --- kernels ---------------------------------------------------------------------------------------------------------


@kernel
def hull_corner(m: Model, first: int, vertex: int) -> Any:
    """Return the coordinates of a vertex of the mesh whose vertices begin at row `first`."""
    return m.mesh_vert[first + vertex, 0], m.mesh_vert[first + vertex, 1], m.mesh_vert[first + vertex, 2]


@kernel
def list_faces(m: Model, h: Any, nvert: int, nface: int, faces: int) -> None:
    """List in `h` the faces around each of `nvert` vertices.

    The hull's `nface` faces are at `faces` in ``mesh_graph``.
    """
    for vertex in range(nvert):
        h.number[vertex] = 0
    for k in range(3 * nface):
        h.number[m.mesh_graph[faces + k]] += 1
    start = 0
    for vertex in range(nvert):
        h.begin[vertex] = start
        start += h.number[vertex]
        h.number[vertex] = 0
    for k in range(3 * nface):
        vertex = m.mesh_graph[faces + k]
        h.around[h.begin[vertex] + h.number[vertex]] = k // 3
        h.number[vertex] += 1


@kernel
def measure_hull(m: Model, h: Any, nface: int, faces: int, first: int) -> float:
    """Return the longest side of the hull's bounding box, m.

    Store the mean of all faces' corners and the corners of the box in `h.sums`. The hull's `nface` faces are listed at
    `faces` in ``mesh_graph``. The mesh's vertices begin at row `first`.
    """
    for axis in range(3):
        h.sums[0, axis], h.sums[1, axis], h.sums[2, axis] = 0.0, inf, -inf
    for k in range(3 * nface):
        vertex = m.mesh_graph[faces + k]
        for axis in range(3):
            x = m.mesh_vert[first + vertex, axis]
            h.sums[0, axis] += x / (3.0 * nface)
            h.sums[1, axis] = min(h.sums[1, axis], x)
            h.sums[2, axis] = max(h.sums[2, axis], x)
    return max(h.sums[2, 0] - h.sums[1, 0], h.sums[2, 1] - h.sums[1, 1], h.sums[2, 2] - h.sums[1, 2])


@kernel
def find_normals(m: Model, h: Any, nface: int, faces: int, first: int, size: float) -> None:
    """Store the faces' unit normals, which point away from the centre, in `h.normal`; 0 for faces without area.

    `measure_hull` must run before, with the same `nface`, `faces` and `first`; `size` is its result.
    """
    for face in range(nface):
        a = hull_corner(m, first, m.mesh_graph[faces + 3 * face])
        b = hull_corner(m, first, m.mesh_graph[faces + 3 * face + 1])
        c = hull_corner(m, first, m.mesh_graph[faces + 3 * face + 2])
        normal = cross(sub3(b, a), sub3(c, a))
        length = norm3(normal)
        scale = 1.0 / length if length > LEAST_AREA * size * size else 0.0
        outward = dot3(sub3(a, get3(h.sums, 0)), normal) >= 0.0
        set3(h.normal, face, scale3(normal, scale if outward else -scale))


@kernel
def _across(m: Model, h: Any, faces: int, start: int, end: int) -> int:
    """Return the third vertex of the face with the side from `end` to `start`, or -1 if no face has this side."""
    near = start if h.number[start] < h.number[end] else end
    for place in range(h.begin[near], h.begin[near] + h.number[near]):
        face = faces + 3 * h.around[place]
        for k in range(3):
            if m.mesh_graph[face + k] == end and m.mesh_graph[face + (k + 1) % 3] == start:
                return m.mesh_graph[face + (k + 2) % 3]
    return -1


@kernel
def _is_convex(m: Model, h: Any, face: int, faces: int, first: int, height: float) -> bool:
    """Return whether none of a face's three neighbours is more than `height` above the face's plane.

    Also return False if the face has no area, or no neighbour across one of its sides.
    """
    normal = get3(h.normal, face)
    if dot3(normal, normal) == 0.0:
        return False
    for k in range(3):
        start, end = m.mesh_graph[faces + 3 * face + k], m.mesh_graph[faces + 3 * face + (k + 1) % 3]
        opposite = _across(m, h, faces, start, end)
        if opposite < 0:
            return False
        if dot3(sub3(hull_corner(m, first, opposite), hull_corner(m, first, start)), normal) > height:
            return False
    return True


@kernel
def _is_hull(m: Model, mesh: int) -> bool:
    """Return whether a mesh's graph and vertices are within their arrays, and faces refer only to these vertices."""
    graph, first, count = m.mesh_graphadr[mesh], m.mesh_vertadr[mesh], m.mesh_vertnum[mesh]
    if graph + 2 > m.nmeshgraph or first < 0 or count < 0 or first + count > m.nmeshvert:
        return False
    nvert, nface = m.mesh_graph[graph], m.mesh_graph[graph + 1]
    faces = graph + 2 + 3 * nvert + 3 * nface
    if nvert < 0 or nface < 0 or faces + 3 * nface > m.nmeshgraph:
        return False
    for k in range(3 * nface):
        if m.mesh_graph[faces + k] < 0 or m.mesh_graph[faces + k] >= count:
            return False
    return True


@native_over("Model", "HullFolds")
def find_folds(m: Model, h: Any, _unused: int, _neither: int) -> int:
    """Mark the vertices of all hulls as certain, except for vertices of faces at which the hull isn't convex.

    Return 0, or 1 + the id of a mesh whose graph is invalid.
    """
    for mesh in range(m.nmesh):
        graph, first = m.mesh_graphadr[mesh], m.mesh_vertadr[mesh]
        if graph < 0:
            continue
        if not _is_hull(m, mesh):
            return mesh + 1
        nvert, nface = m.mesh_graph[graph], m.mesh_graph[graph + 1]
        faces = graph + 2 + 3 * nvert + 3 * nface
        list_faces(m, h, m.mesh_vertnum[mesh], nface, faces)
        size = measure_hull(m, h, nface, faces, first)
        find_normals(m, h, nface, faces, first, size)
        for k in range(3 * nface):
            h.certain[first + m.mesh_graph[faces + k]] = 1
        for face in range(nface):
            if not _is_convex(m, h, face, faces, first, TOLERANCE * size):
                for k in range(3):
                    h.certain[first + m.mesh_graph[faces + 3 * face + k]] = 0
    return 0
