"""Polygons of convex hulls, made by merging neighbouring coplanar triangles.

The vertices of a polygon are in order, counter-clockwise as seen from outside. The normal has the direction of the
polygon's area vector (Newell's method), which does not depend on how the polygon was divided into triangles.

Source: C. Ericson, Real-Time Collision Detection (2005), sections 12.4.2 (normals of polygons) and 12.4.4 (merging).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from cardan.jit import Field, Struct, StructMemory, kernel
from cardan.jit.driver.program import call, native_over
from cardan.maths.types import Vec3
from cardan.maths.vector import add3, cross, dot3, norm3, scale3, set3, sub3
from cardan.model.hulls import find_normals, list_faces, measure_hull
from cardan.model.kernel_views import Model
from cardan.model.sparsity import once

if TYPE_CHECKING:
    from cardan.model.mjmodel import MjModel

FLAT = 4e-7
"""Largest value of 1 - cos(angle between the normals) at which two triangles count as coplanar."""
LEAST_AREA = 1e-6
"""Limit for small triangles, which are the last to start polygons: twice the area, relative to the hull's size^2."""
FREE = -1

POLYGONS = Struct(
    "HullPolygons",
    [
        Field("begin", "i4", ("any",), "of one hull: address of each vertex in the list of faces around vertices"),
        Field("number", "i4", ("any",), "number of the faces around each vertex"),
        Field("around", "i4", ("any",), "faces around vertices"),
        Field("normal", "f8", ("any", 3), "outward unit normals of faces, or 0"),
        Field("sums", "f8", ("any", 3), "middle, least and largest coordinates (3, 3)"),
        Field("owner", "i4", ("any",), "polygon that contains each face, or `FREE`"),
        Field("queue", "i4", ("any",), "faces of the polygon that is being made"),
        Field("following", "i4", ("any",), "next vertex on the boundary of this polygon after each vertex, or `FREE`"),
        Field("adr", "i4", ("any",), "for each mesh: its first polygon; at the end, the number of polygons"),
        Field("vertadr", "i4", ("any",), "for each polygon: its first vertex; at the end, the number of vertices"),
        Field("vert", "i4", ("any",), "vertices of polygons, as rows of mesh_vert"),
        Field("plane", "f8", ("any", 3), "outward unit normals of polygons"),
    ],
    readonly=False,
)


@once
def _merged(m: MjModel) -> StructMemory:
    """Compute the polygons of all hulls of a model, and return the memory with their tables."""
    memory, faces = StructMemory(POLYGONS, {}), m.nmeshgraph // 3  # a hull cannot have more
    vertices = m.nmeshvert
    memory.attach_new({"begin": vertices, "number": vertices, "around": 3 * faces, "owner": faces, "queue": faces})
    memory.attach_new({"following": vertices, "adr": m.nmesh + 1, "vertadr": faces + 1, "vert": 3 * faces})
    memory.attach_new({"normal": faces, "sums": 3, "plane": faces})
    if faces:
        call(merge_faces, m._memory, memory)
    else:
        memory.arrays["adr"][:], memory.arrays["vertadr"][:] = 0, 0
    return memory


def _table(m: MjModel, name: str, last: int) -> np.ndarray:
    """Return a copy of the first `last` rows (at least one) of table `name` of the polygons."""
    return np.array(_merged(m).arrays[name][: max(1, last)])


def _count(m: MjModel) -> int:
    """Return the number of polygons of all hulls."""
    return int(_merged(m).arrays["adr"][m.nmesh])


def polygon_adr(m: MjModel) -> np.ndarray:
    """Return the first polygon of each mesh, followed by the number of polygons (nmesh + 1,)."""
    return _table(m, "adr", m.nmesh + 1)


def polygon_normal(m: MjModel) -> np.ndarray:
    """Return the outward unit normals of all polygons, in the meshes' frames (number of polygons, 3)."""
    return _table(m, "plane", _count(m))


def polygon_vertadr(m: MjModel) -> np.ndarray:
    """Return each polygon's first entry in `polygon_vert`, followed by the number of entries."""
    return _table(m, "vertadr", _count(m) + 1)


def polygon_vert(m: MjModel) -> np.ndarray:
    """Return the vertices of all polygons, polygon by polygon, as rows of ``mesh_vert``."""
    return _table(m, "vert", int(polygon_vertadr(m)[_count(m)]))


def around_adr(m: MjModel) -> np.ndarray:
    """Return, for each row of ``mesh_vert``, its first entry in `around`, followed by the number of entries."""
    entries = polygon_vert(m)[: int(polygon_vertadr(m)[_count(m)])]
    return np.append(0, np.cumsum(np.bincount(entries, minlength=m.nmeshvert))).astype(np.int32)


def around(m: MjModel) -> np.ndarray:
    """Return the polygons around each vertex (row of ``mesh_vert``), vertex by vertex. A 0 follows the last entry."""
    starts = polygon_vertadr(m)[: _count(m) + 1]
    owners = np.repeat(np.arange(_count(m), dtype=np.int32), np.diff(starts))
    order = np.argsort(polygon_vert(m)[: int(starts[-1])], kind="stable")
    return np.append(owners[order], np.int32(0)).astype(np.int32)


# --- kernels ---------------------------------------------------------------------------------------------------------


@kernel
def face_across(m: Model, h: Any, faces: int, start: int, end: int) -> int:
    """Return the face with the side from vertex `end` to vertex `start`, or -1 if no face has this side."""
    near = start if h.number[start] < h.number[end] else end
    for place in range(h.begin[near], h.begin[near] + h.number[near]):
        face = faces + 3 * h.around[place]
        for k in range(3):
            if m.mesh_graph[face + k] == end and m.mesh_graph[face + (k + 1) % 3] == start:
                return h.around[place]
    return -1


@kernel
def in_plane(h: Any, seed: int, face: int) -> bool:
    """Return whether a face is in the plane of the face `seed`. A face without area counts as being in the plane."""
    a = (h.normal[seed, 0], h.normal[seed, 1], h.normal[seed, 2])
    b = (h.normal[face, 0], h.normal[face, 1], h.normal[face, 2])
    return dot3(b, b) == 0.0 or dot3(a, b) >= 1.0 - FLAT


@kernel
def fill_polygon(m: Model, h: Any, faces: int, seed: int, polygon: int) -> int:
    """Assign the face `seed` and all connected free faces in its plane to `polygon`.

    List these faces in `h.queue`, and return their number.
    """
    h.owner[seed] = polygon
    h.queue[0] = seed
    here, count = 0, 1
    while here < count:
        face = h.queue[here]
        for k in range(3):
            start, end = m.mesh_graph[faces + 3 * face + k], m.mesh_graph[faces + 3 * face + (k + 1) % 3]
            other = face_across(m, h, faces, start, end)
            if other >= 0 and h.owner[other] == FREE and in_plane(h, seed, other):
                h.owner[other] = polygon
                h.queue[count] = other
                count += 1
        here += 1
    return count


@kernel
def walk_boundary(m: Model, h: Any, faces: int, first: int, count: int, polygon: int) -> int:
    """Append the boundary vertices of the `count` faces in `h.queue` to `h.vert`, in order around the polygon.

    The first vertex is the start of the first boundary side in the order of `h.queue`, as in MuJoCo 4.0.0.

    Return the new length of `h.vert`.
    """
    begin, length = -1, 0
    for place in range(count):
        face = h.queue[place]
        for k in range(3):
            start, end = m.mesh_graph[faces + 3 * face + k], m.mesh_graph[faces + 3 * face + (k + 1) % 3]
            other = face_across(m, h, faces, start, end)
            if other < 0 or h.owner[other] != polygon:
                h.following[start] = end
                begin = start if begin < 0 else begin
                length += 1
    adr = h.vertadr[polygon]
    vertex = begin
    while vertex >= 0 and length > 0:
        h.vert[adr] = first + vertex
        adr += 1
        length -= 1
        following = h.following[vertex]
        h.following[vertex] = FREE
        vertex = following if following != begin else -1
    for place in range(count):
        for k in range(3):
            h.following[m.mesh_graph[faces + 3 * h.queue[place] + k]] = FREE
    return adr


@kernel
def exact_corner(m: Model, row: int) -> Vec3:
    """Return the coordinates in a row of ``mesh_vert``, in double precision."""
    return (1.0 * m.mesh_vert[row, 0], 1.0 * m.mesh_vert[row, 1], 1.0 * m.mesh_vert[row, 2])


@kernel
def set_plane(m: Model, h: Any, polygon: int, end: int, seed: int) -> None:
    """Store the unit normal of a polygon, whose vertices in `h.vert` end before `end`.

    If the polygon has no area, store the normal of the face `seed`.
    """
    begin = h.vertadr[polygon]
    area = (0.0, 0.0, 0.0)
    a = exact_corner(m, h.vert[begin])
    for k in range(begin + 1, end - 1):
        b, c = exact_corner(m, h.vert[k]), exact_corner(m, h.vert[k + 1])
        area = add3(area, cross(sub3(b, a), sub3(c, a)))
    length = norm3(area)
    if length > 0.0:
        area = scale3(area, 1.0 / length)
    else:
        area = (h.normal[seed, 0], h.normal[seed, 1], h.normal[seed, 2])
    set3(h.plane, polygon, area)


@kernel
def twice_area(m: Model, faces: int, first: int, face: int) -> float:
    """Return twice the area of a face."""
    a = exact_corner(m, first + m.mesh_graph[faces + 3 * face])
    b = exact_corner(m, first + m.mesh_graph[faces + 3 * face + 1])
    c = exact_corner(m, first + m.mesh_graph[faces + 3 * face + 2])
    return norm3(cross(sub3(b, a), sub3(c, a)))


@native_over("Model", "HullPolygons")
def merge_faces(m: Model, h: Any, _unused: int, _neither: int) -> int:
    """Merge the triangles of all hulls into polygons; return 0.

    Start at large triangles, so that slivers don't define planes.
    """
    polygon = 0
    h.vertadr[0] = 0
    for vertex in range(m.nmeshvert):
        h.following[vertex] = FREE
    for mesh in range(m.nmesh):
        h.adr[mesh] = polygon
        graph, first = m.mesh_graphadr[mesh], m.mesh_vertadr[mesh]
        if graph < 0:
            continue
        nvert, nface = m.mesh_graph[graph], m.mesh_graph[graph + 1]
        faces = graph + 2 + 3 * nvert + 3 * nface
        list_faces(m, h, m.mesh_vertnum[mesh], nface, faces)
        size = measure_hull(m, h, nface, faces, first)
        find_normals(m, h, nface, faces, first, size)
        for face in range(nface):
            h.owner[face] = FREE
        for trial in range(2):
            for seed in range(nface):
                large = twice_area(m, faces, first, seed) > LEAST_AREA * size * size
                if h.owner[seed] == FREE and (large or trial == 1):
                    count = fill_polygon(m, h, faces, seed, polygon)
                    end = walk_boundary(m, h, faces, first, count, polygon)
                    set_plane(m, h, polygon, end, seed)
                    polygon += 1
                    h.vertadr[polygon] = end
    h.adr[m.nmesh] = polygon
    return 0
