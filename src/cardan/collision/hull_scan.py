"""Farthest vertices of small hulls, found by a scan of all vertices, many at once.

Up to about a hundred vertices, a scan is faster than a search along edges, whose branches are unpredictable. The
vertices of such hulls are stored side by side (``aux.hull_point``). Integers of 22 bits, computed in single precision,
show which vertices are about as far as the farthest one; mostly, only one is. The result is that of a search from the
first vertex, under the same conditions as in `cardan.collision.hull_search`. If these are not met, that search is made.
"""

from __future__ import annotations

from math import floor
from typing import Any

from numpy import float32, int32

from cardan.collision.hull_search import LEAD, MOST_UNCERTAIN, climb_hull, is_peak, may_get_stuck, vertex_row
from cardan.constants import mjMINVAL
from cardan.jit import kernel
from cardan.maths.types import Vec3
from cardan.maths.vector import dot3
from cardan.model.fields_work import MOST_TIED, SCAN_WIDTH
from cardan.model.kernel_views import Data, Model

UNITS = 2.0**22
"""Units of a scan per radius of the bounding sphere, limited by the resolution of single precision."""
WINDOW = int(LEAD * UNITS) + 16
"""The lead in these units, plus a tolerance for rounding."""
FEWEST = -(2**31)
LONGEST = 2.0
"""Squared length from which a direction is invalid."""
ONE_FOUND = 2**20
"""Increment that counts a vertex, above the largest sum of vertex indices."""


@kernel
def measure_hull(m: Model, d: Data, first: int, width: int, along: Any) -> Any:
    """Write the extents of a hull's vertices in a direction to ``d.work.hull_reach``; return the largest extent.

    Args:
        m: model.
        d: data.
        first: index of the hull's first vertex in ``m.aux.hull_point``.
        width: number of vertices, rounded up to a multiple of `SCAN_WIDTH`.
        along: search direction, scaled to the mesh's integer units per metre (float32).
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
def find_beyond(d: Data, width: int, least: Any) -> Any:
    """Number of the vertices whose ``d.work.hull_reach`` is at least `least`, and the sum of their indices."""
    both = int32(0)
    for k in range(width):
        both += int32(k + ONE_FOUND) if d.work.hull_reach[k] >= least else int32(0)
    return both // ONE_FOUND, both % ONE_FOUND


@kernel
def only_peak_of(m: Model, d: Data, shape: int, direction: Vec3, least: Any, count: int) -> int:
    """Return the only peak among the `count` vertices whose ``d.work.hull_reach`` is at least `least`, else -1."""
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
def is_unchanged(m: Model, d: Data, shape: int, width: int, vertex: int) -> bool:
    """Whether a vertex of a hull is where the compiler put it; users may scale meshes."""
    row, point = vertex_row(m, d, shape, vertex), d.work.shape_scan[shape] + vertex
    return (
        m.mesh_vert[row, 0] == m.aux.hull_point[point]
        and m.mesh_vert[row, 1] == m.aux.hull_point[point + width]
        and m.mesh_vert[row, 2] == m.aux.hull_point[point + 2 * width]
    )


@kernel
def candidate(m: Model, d: Data, shape: int, direction: Vec3, width: int) -> int:
    """Return the only possible peak among the vertices about as far as the farthest one; -1 if it is not certain."""
    if not dot3(direction, direction) < LONGEST:
        return -1  # NaN or too long
    # integers: the result does not depend smoothly on the direction, and single precision has no derivatives
    x, y, z = floor(UNITS * direction[0]), floor(UNITS * direction[1]), floor(UNITS * direction[2])
    scale = d.work.shape_scale[shape]
    along = float32(scale * x), float32(scale * y), float32(scale * z)
    least = int32(measure_hull(m, d, d.work.shape_scan[shape], width, along) - WINDOW)
    count, total = find_beyond(d, width, least)
    if count == 1:
        return total if total < d.work.shape_nvert[shape] else -1
    return only_peak_of(m, d, shape, direction, least, count) if count <= MOST_TIED else -1


@kernel
def scan_hull(m: Model, d: Data, shape: int, direction: Vec3) -> int:
    """Vertex of a small hull at which a search from the first vertex ends: the farthest in a direction."""
    width = (d.work.shape_nvert[shape] + SCAN_WIDTH - 1) & -SCAN_WIDTH
    vertex = candidate(m, d, shape, direction, width)
    if vertex >= 0 and is_unchanged(m, d, shape, width, vertex) and not may_get_stuck(m, d, shape, direction, vertex):
        return vertex
    return climb_hull(m, d, shape, direction, 0)[0]


@kernel
def prepare_scan(m: Model, d: Data, shape: int, mesh: int, radius: float) -> None:
    """Store what scans of a mesh's hull need, or that it is too large; `radius` is its bounding sphere's."""
    uncertain = m.aux.uncertain_adr[mesh + 1] - m.aux.uncertain_adr[mesh]
    d.work.shape_scan[shape] = m.aux.hull_scan[mesh] if uncertain <= MOST_UNCERTAIN else -1
    d.work.shape_scale[shape] = 1.0 / max(radius, mjMINVAL)
