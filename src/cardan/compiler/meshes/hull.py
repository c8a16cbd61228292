"""Convex hulls of meshes (Qhull through SciPy) and the graph of their edges that collision detection walks.

The graph is ``numvert, numface, vert_edgeadr[numvert], vert_globalid[numvert], edge_localid[numvert + 3 numface],
face_globalid[3 numface]``: for each hull vertex its neighbours, ended by -1, and its number in the mesh.
"""

from __future__ import annotations

import numpy as np

from cardan.compiler.meshes.raw import MeshDataError


def hull_faces(vertex: np.ndarray) -> np.ndarray:
    """Triangles of the convex hull, counter-clockwise from outside: (n, 3) vertex numbers.

    Raises:
        MeshDataError: the points lie in a plane.
    """
    from scipy.spatial import ConvexHull, QhullError

    try:
        hull = ConvexHull(vertex.astype(np.float64), qhull_options="Qt")
    except QhullError:
        raise MeshDataError("the mesh has no convex hull: its vertices lie in a plane, or nearly") from None
    face = hull.simplices.astype(np.int32)
    a, b, c = (vertex[face[:, k]].astype(np.float64) for k in range(3))
    inward = (np.cross(b - a, c - a) * hull.equations[:, :3]).sum(axis=1) < 0.0
    face[inward] = face[inward][:, [1, 0, 2]]
    return face


def hull_graph(face: np.ndarray) -> np.ndarray:
    """The graph of a hull's triangles, int32."""
    globalid, local = np.unique(face, return_inverse=True)
    local = local.reshape(-1, 3)
    count = len(globalid)
    # each edge twice, once in each direction
    edges = np.unique(np.concatenate([local[:, [0, 1]], local[:, [1, 2]], local[:, [2, 0]]]), axis=0)
    degree = np.bincount(edges[:, 0], minlength=count)
    adr = np.cumsum(degree + 1) - degree - 1
    neighbours = np.full(len(edges) + count, -1)
    neighbours[np.arange(len(edges)) + edges[:, 0]] = edges[:, 1]
    parts = ([count, len(face)], adr, globalid, neighbours, face.ravel())
    return np.concatenate(parts).astype(np.int32)
