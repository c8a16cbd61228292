"""Convex hulls of meshes and the graph of their edges that collision detection walks.

The graph is ``numvert, numface, vert_edgeadr[numvert], vert_globalid[numvert], edge_localid[numvert + 3 numface],
face_globalid[3 numface]``. For each hull vertex, the graph contains the vertex's index in the mesh and the vertex's
neighbours, terminated by -1. The neighbours are in Qhull's order of the faces around the vertex (see `qhull`).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from cardan.compiler.meshes.qhull import facets_of
from cardan.jit import Field, Struct, StructMemory, kernel
from cardan.jit.driver.program import call, native_over


@dataclass(frozen=True, eq=False)
class Hull:
    """Triangles of a convex hull. The arrays must not be changed."""

    face: np.ndarray  # vertex indices, counter-clockwise from outside (n, 3)
    listed: np.ndarray  # the same with vertices in Qhull's order, which determines the order of neighbours
    order: np.ndarray  # indices of the hull's vertices, in Qhull's order
    around: tuple[np.ndarray, np.ndarray] | None  # as in `Facets`

    @cached_property
    def graph(self) -> np.ndarray:
        """Graph of the hull (see the module), int32."""
        return _graph_of(self)


FACETS = Struct(
    "HullFacets",
    [
        Field("face", "i4", ("any", 3), "vertex indices of the faces in the mesh, in Qhull's order"),
        Field("order", "i4", ("any",), "indices of the hull's vertices in the mesh"),
        Field("local", "i4", ("any",), "index on the hull of each vertex of the mesh"),
        Field("around", "i4", ("any",), "faces around each vertex, concatenated"),
        Field("begin", "i4", ("any", 2), "first index in `around` and number of the faces around each vertex"),
    ],
    readonly=False,
)

GRAPH = Struct(
    "HullGraph",
    [
        Field("seen", "i4", ("any",), "scratch: last vertex in whose list each vertex was entered"),
        Field("adr", "i4", ("any",), "start in `neighbour` of each vertex's list"),
        Field("neighbour", "i4", ("any",), "neighbours, each list ended by -1"),
    ],
    readonly=False,
)


def convex_hull(vertex: np.ndarray, most: int = -1) -> Hull:
    """Compute the convex hull of points (n, 3), with at most ``most`` vertices if this is not -1.

    Raises:
        MeshDataError: the points lie in a plane, or are not finite.
    """
    found = facets_of(vertex.astype(np.float64), most)
    face = found.facet.copy()
    face[found.inward] = found.facet[found.inward][:, [1, 0, 2]]
    return Hull(face, found.facet, found.vertex, found.around)


def _graph_of(hull: Hull) -> np.ndarray:
    """Return the graph of a hull (see the module), int32."""
    nvert, ncorner = len(hull.order), hull.face.size
    facets, graph = StructMemory(FACETS, {}), StructMemory(GRAPH, {})
    facets.attach("face", hull.listed)
    facets.attach("order", hull.order)
    facets.attach("local", np.zeros(hull.order.max() + 1, np.int32))
    around, begin = hull.around or (np.empty(ncorner, np.int32), np.zeros((nvert, 2), np.int32))
    facets.attach("around", around)
    facets.attach("begin", begin)
    adr, neighbour = np.empty(nvert, np.int32), np.empty(2 * ncorner + nvert, np.int32)
    graph.attach("seen", np.full(nvert, -1, np.int32))
    graph.attach("adr", adr)
    graph.attach("neighbour", neighbour)
    count = call(link_vertices, facets, graph, hull.around is None)
    sizes = np.array([nvert, len(hull.face)], np.int32)
    return np.concatenate((sizes, adr, hull.order, neighbour[:count], hull.face.ravel()))


@kernel
def _gather_faces(h: Any) -> None:
    """Collect the faces around each vertex, in the order of ``h.face``."""
    for face in range(len(h.face)):
        for k in range(3):
            h.begin[h.local[h.face[face, k]], 1] += 1
    start = 0
    for vertex in range(len(h.order)):
        h.begin[vertex, 0] = start
        start += h.begin[vertex, 1]
        h.begin[vertex, 1] = 0
    for face in range(len(h.face)):
        for k in range(3):
            vertex = h.local[h.face[face, k]]
            h.around[h.begin[vertex, 0] + h.begin[vertex, 1]] = face
            h.begin[vertex, 1] += 1


@native_over("HullFacets", "HullGraph")
def link_vertices(h: Any, g: Any, listed: int, _unused: int) -> int:
    """Write each vertex's neighbours, in the order of the faces around the vertex; return the number of entries.

    If `listed` is set, first collect the faces around each vertex, in the order of ``h.face``.
    """
    for k in range(len(h.order)):
        h.local[h.order[k]] = k
    if listed:
        _gather_faces(h)
    at = 0
    for vertex in range(len(h.order)):
        g.adr[vertex] = at
        start = h.begin[vertex, 0]
        for place in range(start, start + h.begin[vertex, 1]):
            for k in range(3):
                other = h.local[h.face[h.around[place], k]]
                if other != vertex and g.seen[other] != vertex:
                    g.seen[other] = vertex
                    g.neighbour[at] = other
                    at += 1
        g.neighbour[at] = -1
        at += 1
    return at
