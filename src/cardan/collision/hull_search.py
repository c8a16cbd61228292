"""Farthest vertices of meshes: searches along the edges of their convex hulls.

A search moves from a vertex to its farthest neighbour until no neighbour is farther. If two vertices are equally far,
the start decides where the search ends, and this may change contact points. To make results independent of earlier
computations (and equal to the reference's), the result is always that of a search from the first vertex of the hull. A
search from a nearby vertex is much shorter, however. This short search is therefore made first. Its result is used if
the full search can only end at the same vertex, which two conditions ensure:

- The vertex leads all its neighbours by far more than the roughness of the hull, or each of the few other vertices
  about as far has a farther neighbour.
- None of the few vertices around which the hull is not convex is a false peak, where searches get stuck.

Good starts are the end of the previous search, and the end of the corresponding search for the same pair of geoms in
the previous call.

Exact collisions (`cardan.collision.distance`) do not need the result of a full search. With ``d.work.takes_highest``,
the farthest of the vertices about as far is the result, and the first one of those equally far.

Up to about a hundred vertices, a scan of all is faster than a search, whose branches are unpredictable. The vertices of
such hulls are stored side by side (``aux.hull_point``). Integers of 22 bits, computed in single precision, show which
vertices are about as far as the farthest one. Usually, there is only one such vertex. The result is again that of a
search from the first vertex, under the same conditions. If these are not met, the full search is made.

Source: G. van den Bergen, Collision Detection in Interactive 3D Environments (2003), section 4.3.4 (hill climbing).
"""

from __future__ import annotations

from math import floor
from typing import Any

from numpy import float32, int32

from cardan.jit import kernel
from cardan.maths.types import Vec3
from cardan.maths.vector import MINVAL, dot3
from cardan.model.fields_work import MOST_TIED, RECALLED, SCAN_WIDTH
from cardan.model.kernel_views import Data, Model

LEAD = 1e-5
"""Lead of a peak over its neighbours, relative to the bounding sphere's radius, above which it is the only peak."""
NEVER = 1e10
"""Lead (m) greater than that of any vertex."""
MOST_UNCERTAIN = 24
"""Number of uncertain vertices (around which a hull is not convex) up to which testing them all saves time."""
STRIDE = 31
"""Number of cache rows between the pairs of one geom and the pairs of the next geom."""
NO_VERTEX = -1
LOWEST = -1e300
UNITS = 2.0**22
"""Number of integer units of a scan per bounding sphere radius; single precision cannot resolve more."""
WINDOW = int(LEAD * UNITS) + 16
"""`LEAD` in the integer units of a scan, plus a tolerance for rounding."""
FEWEST = -(2**31)
LONGEST = 2.0
"""Squared length at or above which a direction is invalid."""
ONE_FOUND = 2**20
"""Number added to a sum of vertex indices to count one vertex; larger than any such sum."""


@kernel
def vertex_row(m: Model, d: Data, shape: int, k: int) -> int:
    """Row of ``mesh_vert`` that holds vertex `k` of a mesh's hull, or of the mesh itself if it has no hull."""
    graph = d.work.shape_graphadr[shape]
    local = k
    if graph >= 0:
        local = m.mesh_graph[graph + 2 + d.work.shape_nvert[shape] + k]
    return d.work.shape_vertadr[shape] + local


@kernel
def row_extent(m: Model, row: int, direction: Vec3) -> float:
    """Scalar product of the vertex in a row of ``mesh_vert`` and a direction, both in the mesh's frame."""
    return m.mesh_vert[row, 0] * direction[0] + m.mesh_vert[row, 1] * direction[1] + m.mesh_vert[row, 2] * direction[2]


@kernel
def mesh_vertex(m: Model, d: Data, shape: int, k: int) -> Vec3:
    """Position of vertex `k` of a mesh (see `vertex_row`), in the mesh's frame."""
    return mesh_point(m, vertex_row(m, d, shape, k))


@kernel
def mesh_point(m: Model, row: int) -> Vec3:
    """Position in row `row` of ``mesh_vert``, converted to float64."""
    return (1.0 * m.mesh_vert[row, 0], 1.0 * m.mesh_vert[row, 1], 1.0 * m.mesh_vert[row, 2])


@kernel
def extent(m: Model, d: Data, shape: int, k: int, direction: Vec3) -> float:
    """Scalar product of vertex `k` of a mesh and a direction, both in the mesh's frame."""
    return row_extent(m, vertex_row(m, d, shape, k), direction)


@kernel
def scan_vertices(m: Model, d: Data, shape: int, direction: Vec3) -> int:
    """Vertex of a mesh that is farthest in a direction, found by a scan of all vertices."""
    best = 0
    farthest = extent(m, d, shape, 0, direction)
    for k in range(1, d.work.shape_nvert[shape]):
        reach = extent(m, d, shape, k, direction)
        if reach > farthest:
            farthest = reach
            best = k
    return best


@kernel
def edges_of(m: Model, d: Data, shape: int, k: int) -> int:
    """Address in ``m.mesh_graph`` of the list of neighbours of vertex `k` of a hull; the list ends with -1."""
    graph = d.work.shape_graphadr[shape]
    return graph + 2 + 2 * d.work.shape_nvert[shape] + m.mesh_graph[graph + 2 + k]


@kernel
def climb_hull(m: Model, d: Data, shape: int, direction: Vec3, start: int) -> tuple[int, float]:
    """Move along the edges of a hull, from vertex `start`, until no neighbour is farther in a direction.

    The hull is that of a mesh loaded as shape 0 or 1; the direction is a unit vector in the mesh's frame. Return the
    index of the last vertex on the hull, and its lead over its neighbours (m).
    """
    best = start
    place = 0
    first = edges_of(m, d, shape, start)
    farthest = extent(m, d, shape, start, direction)
    second = farthest
    while place >= 0:
        place = -1
        second = LOWEST
        k = first
        while m.aux.hull_neighbour[k, 0] >= 0:
            reach = row_extent(m, m.aux.hull_neighbour[k, 0], direction)
            place = k if reach > farthest else place
            farthest = max(farthest, reach)
            second = max(second, reach)
            k += 1
        if place >= 0:
            best = m.mesh_graph[place]
            first = m.aux.hull_neighbour[place, 1]
    return best, farthest - second


@kernel
def is_peak(m: Model, d: Data, shape: int, direction: Vec3, k: int) -> bool:
    """Return whether a search that reaches vertex `k` of a hull ends there."""
    height = extent(m, d, shape, k, direction)
    edge = edges_of(m, d, shape, k)
    while m.aux.hull_neighbour[edge, 0] >= 0:
        if row_extent(m, m.aux.hull_neighbour[edge, 0], direction) > height:
            return False
        edge += 1
    return True


@kernel
def may_get_stuck(m: Model, d: Data, shape: int, direction: Vec3, peak: int) -> bool:
    """Return whether any uncertain vertex of a hull except `peak` is a peak."""
    for k in range(d.work.shape_uncertain[shape, 0], d.work.shape_uncertain[shape, 1]):
        vertex = m.aux.uncertain[k]
        if vertex != peak and is_peak(m, d, shape, direction, vertex):
            return True
    return False


@kernel
def is_tied(d: Data, count: int, k: int) -> bool:
    """Return whether vertex `k` of a hull is among the first `count` of ``d.work.tied``."""
    for i in range(count):
        if d.work.tied[i] == k:
            return True
    return False


@kernel
def is_only_peak(m: Model, d: Data, shape: int, direction: Vec3, peak: int) -> bool:
    """Return whether `peak`, where a search has ended, is the only peak among the vertices that are about as far.

    A vertex is about as far if it is at most the hull's required lead behind `peak`, and a chain of such vertices
    connects it to `peak`. Up to `MOST_TIED` vertices, including `peak`, are tested; if there are more, the result is
    False.
    """
    floor = extent(m, d, shape, peak, direction) - d.work.shape_lead[shape]
    d.work.tied[0] = peak
    count, place = 1, 0
    while place < count:
        vertex = d.work.tied[place]
        height = extent(m, d, shape, vertex, direction)
        ends = place > 0
        k = edges_of(m, d, shape, vertex)
        while m.aux.hull_neighbour[k, 0] >= 0:
            reach = row_extent(m, m.aux.hull_neighbour[k, 0], direction)
            ends = ends and reach <= height
            if reach >= floor and not is_tied(d, count, m.mesh_graph[k]):
                if count == MOST_TIED:
                    return False
                d.work.tied[count] = m.mesh_graph[k]
                count += 1
            k += 1
        if ends:
            return False
        place += 1
    return True


@kernel
def highest_of_tied(m: Model, d: Data, shape: int, direction: Vec3, peak: int) -> int:
    """Return the farthest vertex among those about as far as `peak`, the first of equal ones; -1 if there are too many.

    Vertices are about as far as in `is_only_peak`.
    """
    best, highest = peak, extent(m, d, shape, peak, direction)
    floor = highest - d.work.shape_lead[shape]
    d.work.tied[0] = peak
    count, place = 1, 0
    while place < count:
        k = edges_of(m, d, shape, d.work.tied[place])
        while m.aux.hull_neighbour[k, 0] >= 0:
            reach = row_extent(m, m.aux.hull_neighbour[k, 0], direction)
            vertex = m.mesh_graph[k]
            if reach >= floor and not is_tied(d, count, vertex):
                if count == MOST_TIED:
                    return NO_VERTEX
                d.work.tied[count] = vertex
                count += 1
                if reach > highest or (reach == highest and vertex < best):
                    best, highest = vertex, reach
            k += 1
        place += 1
    return best


@kernel
def settle_tie(m: Model, d: Data, shape: int, direction: Vec3, peak: int, lead: float) -> int:
    """Return the farthest vertex of a hull, where a search has ended at `peak`; -1 if it has to be searched from 0."""
    if d.work.shape_lead[shape] == NEVER or may_get_stuck(m, d, shape, direction, peak):
        return NO_VERTEX
    return peak if lead >= d.work.shape_lead[shape] else highest_of_tied(m, d, shape, direction, peak)


@kernel
def is_certain(m: Model, d: Data, shape: int, direction: Vec3, peak: int, lead: float) -> bool:
    """Return whether every search ends at `peak`.

    One search has ended there, with the lead `lead` over the neighbours.
    """
    if d.work.shape_lead[shape] == NEVER:
        return False
    if lead < d.work.shape_lead[shape] and not is_only_peak(m, d, shape, direction, peak):
        return False
    return not may_get_stuck(m, d, shape, direction, NO_VERTEX)


@kernel
def prepare_hull(m: Model, d: Data, shape: int, mesh: int, radius: float) -> None:
    """Load the data for searches of a mesh's hull, and clear cached results.

    `radius` is the radius of the mesh's bounding sphere (m).
    """
    first, end = m.aux.uncertain_adr[mesh], m.aux.uncertain_adr[mesh + 1]
    few = end - first <= MOST_UNCERTAIN
    d.work.shape_uncertain[shape, 0] = first
    d.work.shape_uncertain[shape, 1] = end
    d.work.shape_lead[shape] = LEAD * radius if few else NEVER
    d.work.shape_scan[shape] = m.aux.hull_scan[mesh] if few else -1
    d.work.shape_scale[shape] = 1.0 / max(radius, MINVAL)
    d.work.shape_vertex[shape] = 0
    d.work.recall_row = -1
    d.work.takes_highest = 0


@kernel
def pair_key(geom1: int, geom2: int) -> int:
    """Unique key of a pair of geoms, never 0."""
    return ((geom1 + 1) << 32) + geom2


@kernel
def recall_pair(d: Data, geom1: int, geom2: int) -> None:
    """Let searches for two geoms start where the corresponding searches ended in the previous call."""
    key = pair_key(geom1, geom2)
    row = (geom1 * STRIDE + geom2) % len(d.work.recall_pair)
    if d.work.recall_pair[row] != key:
        d.work.recall_pair[row] = key
        for k in range(2 * RECALLED):
            d.work.recall_vertex[row, k] = 0
    d.work.recall_row = row
    d.work.recall_count[0] = 0
    d.work.recall_count[1] = 0


@kernel
def search_hull(m: Model, d: Data, shape: int, direction: Vec3) -> int:
    """Vertex of a hull that is farthest in a direction (mesh frame), as found by a search from the first vertex."""
    place = -1  # position in the cache for the end of this search
    if d.work.recall_row >= 0:
        count = d.work.recall_count[shape]
        d.work.recall_count[shape] = min(count + 1, RECALLED - 1)
        place = RECALLED * shape + count
    # start at the end of the last search on this shape, or at the cached vertex if that is farther
    start = d.work.shape_vertex[shape]
    if place >= 0:
        recalled = d.work.recall_vertex[d.work.recall_row, place]
        if recalled != start and recalled < d.work.shape_nvert[shape]:
            if extent(m, d, shape, recalled, direction) > extent(m, d, shape, start, direction):
                start = recalled
    vertex, lead = climb_hull(m, d, shape, direction, start)
    if d.work.takes_highest == 1:
        vertex = settle_tie(m, d, shape, direction, vertex, lead)
    elif start != 0 and not is_certain(m, d, shape, direction, vertex, lead):
        vertex = NO_VERTEX
    if vertex < 0:
        vertex, _ = climb_hull(m, d, shape, direction, 0)
    if place >= 0:
        d.work.recall_vertex[d.work.recall_row, place] = vertex
    return vertex


@kernel
def measure_hull(m: Model, d: Data, first: int, width: int, along: Any) -> Any:
    """Write the extents of a hull's vertices along a direction to ``d.work.hull_reach``; return the largest extent.

    The `width` points begin at `first` in ``m.aux.hull_point``. `along` is the search direction, scaled to the mesh's
    integer units per metre (float32).
    """
    x, y, z = along
    farthest = int32(FEWEST)
    for k in range(width):
        point = first + k
        reach: Any = int32(
            m.aux.hull_point[point] * x + m.aux.hull_point[point + width] * y + m.aux.hull_point[point + 2 * width] * z
        )
        d.work.hull_reach[k] = reach
        farthest = max(farthest, reach)
    return farthest


@kernel
def only_peak_of(m: Model, d: Data, shape: int, direction: Vec3, least: Any, count: int) -> int:
    """Return the only peak among the `count` vertices with ``d.work.hull_reach`` >= `least`; -1 if none or several."""
    peak, k = -1, 0
    while count > 0:
        if d.work.hull_reach[k] >= least:
            count -= 1
            if k >= d.work.shape_nvert[shape]:
                return -1
            if is_peak(m, d, shape, direction, k):
                if peak >= 0:
                    return -1
                peak = k
        k += 1
    return peak


@kernel
def highest_of_scan(m: Model, d: Data, shape: int, direction: Vec3, least: Any, count: int) -> int:
    """Return the farthest of the `count` vertices with ``d.work.hull_reach`` >= `least`, the first of equal ones."""
    best, highest, k = NO_VERTEX, LOWEST, 0
    while count > 0:
        if d.work.hull_reach[k] >= least:
            count -= 1
            if k < d.work.shape_nvert[shape]:
                reach = extent(m, d, shape, k, direction)
                if reach > highest:
                    best, highest = k, reach
        k += 1
    return best


@kernel
def is_unchanged(m: Model, d: Data, shape: int, width: int, vertex: int) -> bool:
    """Return whether a vertex of a hull still has the position stored by the compiler. Users may edit mesh vertices."""
    row, point = vertex_row(m, d, shape, vertex), d.work.shape_scan[shape] + vertex
    return (
        m.mesh_vert[row, 0] == m.aux.hull_point[point]
        and m.mesh_vert[row, 1] == m.aux.hull_point[point + width]
        and m.mesh_vert[row, 2] == m.aux.hull_point[point + 2 * width]
    )


@kernel
def candidate(m: Model, d: Data, shape: int, direction: Vec3, width: int) -> int:
    """Return the only peak among the vertices about as far as the farthest one; -1 if there may be others.

    With ``d.work.takes_highest``, return the farthest one.
    """
    if not dot3(direction, direction) < LONGEST:
        return -1  # NaN or too long
    # integers: the result does not depend smoothly on the direction, and single precision has no derivatives
    x, y, z = floor(UNITS * direction[0]), floor(UNITS * direction[1]), floor(UNITS * direction[2])
    scale = d.work.shape_scale[shape]
    along = float32(scale * x), float32(scale * y), float32(scale * z)
    least = int32(measure_hull(m, d, d.work.shape_scan[shape], width, along) - WINDOW)
    # number of the vertices that are about as far, and the sum of their indices
    both: Any = int32(0)
    for k in range(width):
        both += int32(k + ONE_FOUND) if d.work.hull_reach[k] >= least else int32(0)
    count, total = both // ONE_FOUND, both % ONE_FOUND
    if count == 1:
        return total if total < d.work.shape_nvert[shape] else -1
    if d.work.takes_highest == 1:
        return highest_of_scan(m, d, shape, direction, least, count)
    return only_peak_of(m, d, shape, direction, least, count) if count <= MOST_TIED else -1


@kernel
def scan_hull(m: Model, d: Data, shape: int, direction: Vec3) -> int:
    """Vertex of a small hull that is farthest in a direction, as found by a search from the first vertex."""
    width = (d.work.shape_nvert[shape] + SCAN_WIDTH - 1) & -SCAN_WIDTH
    vertex = candidate(m, d, shape, direction, width)
    if vertex >= 0 and is_unchanged(m, d, shape, width, vertex):
        if d.work.takes_highest == 1 or not may_get_stuck(m, d, shape, direction, vertex):
            return vertex
    return climb_hull(m, d, shape, direction, 0)[0]
