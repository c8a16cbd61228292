"""Tables derived from the convex hulls of a model's meshes, for searches along their edges.

Source: R. Seidel, Convex hull computations, in Handbook of Discrete and Computational Geometry (2004): a closed surface
is convex if it is so at all its edges.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from cardan.model.mjmodel import MjModel

TOLERANCE = 1e-6
"""Height of a neighbour above a face, relative to the mesh's size, up to which they count as convex or flat."""
LEAST_AREA = 1e-12
"""Area of a face, relative to the square of the mesh's size, below which its normal means nothing."""


def vertex_certain(m: MjModel) -> np.ndarray:
    """For each vertex of a mesh, 1 if a search that ends there has found the farthest vertex of the hull, else 0.

    That is so where the hull is convex around the vertex. It need not be: hulls of surfaces with many points in a plane
    have slivers that fold over their neighbours, and searches get stuck there.
    """
    certain = np.zeros(max(1, m.nmeshvert), np.uint8)
    for mesh in range(m.nmesh):
        graph, first = int(m.mesh_graphadr[mesh]), int(m.mesh_vertadr[mesh])
        if graph >= 0:
            faces = _hull_faces(m, graph)
            vertices = m.mesh_vert[first : first + m.mesh_vertnum[mesh]].astype(np.float64)
            on_hull = np.zeros(len(vertices), bool)
            on_hull[faces] = True
            on_hull[faces[~_convex_faces(vertices, faces)]] = False
            certain[first : first + len(vertices)] = on_hull
    return certain


def uncertain_adr(m: MjModel) -> np.ndarray:
    """For each mesh, the first of its entries of `uncertain`; at the end, the number of all."""
    return np.cumsum([0, *map(len, _uncertain(m))]).astype(np.int32)


def uncertain(m: MjModel) -> np.ndarray:
    """Numbers on their hulls of the vertices that are not certain, mesh by mesh."""
    return np.concatenate([np.zeros(0, np.int32), *_uncertain(m)]).astype(np.int32)


def _uncertain(m: MjModel) -> list[np.ndarray]:
    """Numbers of the uncertain vertices of each mesh's hull."""
    certain = m._memory.arrays["aux.vertex_certain"]
    found = []
    for mesh in range(m.nmesh):
        graph = int(m.mesh_graphadr[mesh])
        nvert = int(m.mesh_graph[graph]) if graph >= 0 else 0
        vertices = m.mesh_vertadr[mesh] + m.mesh_graph[graph + 2 + nvert : graph + 2 + 2 * nvert]
        found.append(np.flatnonzero(certain[vertices[:nvert]] == 0))
    return found


def _hull_faces(m: MjModel, graph: int) -> np.ndarray:
    """Faces of the hull that starts at `graph` in ``mesh_graph``, vertex numbers in the mesh (n, 3)."""
    nvert, nface = (int(n) for n in m.mesh_graph[graph : graph + 2])
    start = graph + 2 + 3 * nvert + 3 * nface
    return m.mesh_graph[start : start + 3 * nface].reshape(-1, 3)


def _convex_faces(vertices: np.ndarray, faces: np.ndarray) -> np.ndarray:
    """Which faces (n, 3) of a closed surface have all three neighbouring faces below them, or in their plane."""
    corner = vertices[faces]
    normal = np.cross(corner[:, 1] - corner[:, 0], corner[:, 2] - corner[:, 0])
    length = np.linalg.norm(normal, axis=1)
    size = np.ptp(corner.reshape(-1, 3), axis=0).max()
    convex = length > LEAST_AREA * size * size
    normal /= np.where(convex, length, 1.0)[:, None]

    # for each side of each face: the vertex opposite to it in the face on the other side
    count = len(vertices)
    start, end, third = (np.roll(faces, -k, axis=1).ravel().astype(np.int64) for k in range(3))
    order = np.argsort(start * count + end)
    keys = (start * count + end)[order]
    place = np.minimum(np.searchsorted(keys, end * count + start), len(keys) - 1)
    found = keys[place] == end * count + start
    opposite = third[order[place]]
    face = np.repeat(np.arange(len(faces)), 3)
    height = ((vertices[opposite] - vertices[start]) * normal[face]).sum(axis=1)

    # outward is the side without the middle of the surface
    inward = ((corner[:, 0] - corner.reshape(-1, 3).mean(axis=0)) * normal).sum(axis=1) < 0.0
    height = np.where(inward[face], -height, height)
    return convex & (found & (height <= TOLERANCE * size)).reshape(-1, 3).all(axis=1)
