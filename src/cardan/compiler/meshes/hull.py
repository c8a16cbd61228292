"""Convex hulls of meshes and the graph of their edges that collision detection walks.

The graph is ``numvert, numface, vert_edgeadr[numvert], vert_globalid[numvert], edge_localid[numvert + 3 numface],
face_globalid[3 numface]``: for each hull vertex its number in the mesh, and its neighbours in the order of the faces
around it, ended by -1. The order is Qhull's (`cardan.compiler.meshes.qhull`).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from cardan.compiler.meshes.qhull import facets_of


class Hull(NamedTuple):
    """Triangles of a convex hull.

    Attributes:
        face: vertex numbers, counter-clockwise from outside (n, 3).
        listed: the same faces with their vertices in Qhull's order, which decides about the order of neighbours.
        order: the vertices.
        around: all pairs of a vertex and a face at it, two arrays of 3 n; the faces of a vertex in Qhull's order.
    """

    face: np.ndarray
    listed: np.ndarray
    order: np.ndarray
    around: tuple[np.ndarray, np.ndarray]


def convex_hull(vertex: np.ndarray) -> Hull:
    """The convex hull of points (n, 3).

    Raises:
        MeshDataError: the points lie in a plane.
    """
    found = facets_of(vertex.astype(np.float64))
    listed = found.facet.astype(np.int32)
    a, b, c = (vertex[listed[:, k]].astype(np.float64) for k in range(3))
    inward = (np.cross(b - a, c - a) * found.plane[:, :3]).sum(axis=1) < 0.0
    face = listed.copy()
    face[inward] = listed[inward][:, [1, 0, 2]]
    return Hull(face, listed, found.vertex, found.around)


def hull_graph(hull: Hull) -> np.ndarray:
    """The graph of a hull, int32."""
    count = len(hull.order)
    local = np.zeros(hull.order.max() + 1, np.int64)
    local[hull.order] = np.arange(count)
    # each edge at the first face around its start that has it
    at, around = local[hull.around[0]], local[hull.listed][hull.around[1]]
    start, end = np.repeat(at, 2), around[around != at[:, None]]
    first = np.sort(np.unique(start * count + end, return_index=True)[1])
    first = first[np.argsort(start[first], kind="stable")]
    start, end = start[first], end[first]
    degree = np.bincount(start, minlength=count)
    adr = np.cumsum(degree + 1) - degree - 1
    neighbours = np.full(len(start) + count, -1)
    neighbours[np.arange(len(start)) + start] = end
    parts = ([count, len(hull.face)], adr, hull.order, neighbours, hull.face.ravel())
    return np.concatenate(parts).astype(np.int32)
