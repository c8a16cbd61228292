"""Convex hulls of meshes (Qhull through SciPy) and the graph of their edges that collision detection walks.

The graph is ``numvert, numface, vert_edgeadr[numvert], vert_globalid[numvert], edge_localid[numvert + 3 numface],
face_globalid[3 numface]``: for each hull vertex its number in the mesh, and its neighbours in order of faces, ended
by -1.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from cardan.formats.raw import MeshDataError


class Hull(NamedTuple):
    """Triangles of a convex hull.

    Attributes:
        face: vertex numbers, counter-clockwise from outside (n, 3).
        listed: the same faces with their vertices in Qhull's order, which decides about the order of neighbours.
    """

    face: np.ndarray
    listed: np.ndarray


def convex_hull(vertex: np.ndarray) -> Hull:
    """The convex hull of points (n, 3).

    Raises:
        MeshDataError: the points lie in a plane.
    """
    from scipy.spatial import ConvexHull, QhullError

    try:
        hull = ConvexHull(vertex.astype(np.float64), qhull_options="Qt")
    except QhullError:
        raise MeshDataError("the mesh has no convex hull: its vertices lie in a plane, or nearly") from None
    listed = hull.simplices.astype(np.int32)
    a, b, c = (vertex[listed[:, k]].astype(np.float64) for k in range(3))
    inward = (np.cross(b - a, c - a) * hull.equations[:, :3]).sum(axis=1) < 0.0
    face = listed.copy()
    face[inward] = listed[inward][:, [1, 0, 2]]
    return Hull(face, listed)


def hull_graph(hull: Hull, *, mirrored: bool = False) -> np.ndarray:
    """The graph of a hull, int32; `mirrored` turns its faces around."""
    face = hull.face[:, [0, 2, 1]] if mirrored else hull.face
    globalid, local = np.unique(hull.listed, return_inverse=True)
    local = local.reshape(-1, 3)
    count = len(globalid)
    # each edge twice, once in each direction, at the first face that has it: a vertex's neighbours in order of faces
    start, end = local[:, [0, 0, 1, 1, 2, 2]].ravel(), local[:, [1, 2, 0, 2, 0, 1]].ravel()
    first = np.sort(np.unique(start * count + end, return_index=True)[1])
    first = first[np.argsort(start[first], kind="stable")]
    start, end = start[first], end[first]
    degree = np.bincount(start, minlength=count)
    adr = np.cumsum(degree + 1) - degree - 1
    neighbours = np.full(len(start) + count, -1)
    neighbours[np.arange(len(start)) + start] = end
    parts = ([count, len(face)], adr, globalid, neighbours, face.ravel())
    return np.concatenate(parts).astype(np.int32)
