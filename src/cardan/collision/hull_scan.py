"""Farthest vertices of small hulls: all vertices are looked at, many at once.

Up to some hundred vertices this is faster than a search along edges, whose way nobody can foresee. The vertices of such
hulls stand side by side (``aux.hull_point``). Numbers of 22 bits, computed in single precision, tell which of them are
about as far as the farthest one: mostly it is alone. The result is that of a search from the first vertex, on the same
conditions as in `cardan.collision.hull_search`; where they don't hold, that search is made.
"""

from __future__ import annotations

from math import floor
from typing import Any

from numpy import float32, int32

from cardan.collision.hull_search import LEAD, MOST_UNCERTAIN, climb_hull, is_peak, may_get_stuck, vertex_row
from cardan.constants import mjMINVAL
from cardan.jit import kernel
from cardan.maths.vector import dot3
from cardan.model.fields_work import MOST_TIED, SCAN_WIDTH
from cardan.model.kernel_views import Data, Model

UNITS = 2.0**22
"""Units of a scan in the radius of the bounding sphere: as many as single precision tells apart."""
WINDOW = int(LEAD * UNITS) + 16
"""The lead in these units, and some for rounding."""
FEWEST = -(2**31)
LONGEST = 2.0
"""Square of the length of a direction that is none."""
ONE_FOUND = 2**20
"""What counts a vertex beside the sum of numbers, which is less."""


@kernel
def measure_hull(m: Model, d: Data, first: int, width: int, along: Any) -> Any:
    """Write how far the vertices of a hull lie in a direction (``d.work.hull_reach``); returns the largest number.

    Args:
        m: model.
        d: data.
        first: where the hull's vertices start in ``m.aux.hull_point``.
        width: how many there are, rounded up to whole `SCAN_WIDTH`.
        along: the direction, as long as there are units in a metre of the mesh, in single precision.
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
    """The number of vertices whose ``d.work.hull_reach`` is at least `least`, and the sum of their numbers."""
    both = int32(0)
    for k in range(width):
        both += int32(k + ONE_FOUND) if d.work.hull_reach[k] >= least else int32(0)
    return both // ONE_FOUND, both % ONE_FOUND


@kernel
def only_peak_of(m: Model, d: Data, shape: int, direction: Any, least: Any, count: int) -> int:
    """The only peak among the `count` vertices whose ``d.work.hull_reach`` is at least `least`; -1 if not alone."""
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
    """Whether a vertex of a hull is where it was when the model was finished: users may scale meshes."""
    row, point = vertex_row(m, d, shape, vertex), d.work.shape_scan[shape] + vertex
    return (
        m.mesh_vert[row, 0] == m.aux.hull_point[point]
        and m.mesh_vert[row, 1] == m.aux.hull_point[point + width]
        and m.mesh_vert[row, 2] == m.aux.hull_point[point + 2 * width]
    )


@kernel
def candidate(m: Model, d: Data, shape: int, direction: Any, width: int) -> int:
    """The only vertex of a hull that may be a peak among those about as far as the farthest one; -1 if not certain."""
    if not dot3(direction, direction) < LONGEST:
        return -1  # not a number
    # whole numbers, so that nothing here depends on the direction smoothly: there are no tangents in single precision
    x, y, z = floor(UNITS * direction[0]), floor(UNITS * direction[1]), floor(UNITS * direction[2])
    scale = d.work.shape_scale[shape]
    along = float32(scale * x), float32(scale * y), float32(scale * z)
    least = int32(measure_hull(m, d, d.work.shape_scan[shape], width, along) - WINDOW)
    count, total = find_beyond(d, width, least)
    if count == 1:
        return total if total < d.work.shape_nvert[shape] else -1
    return only_peak_of(m, d, shape, direction, least, count) if count <= MOST_TIED else -1


@kernel
def scan_hull(m: Model, d: Data, shape: int, direction: Any) -> int:
    """The vertex of a small hull at which a search from the first vertex ends: the farthest in a direction."""
    width = (d.work.shape_nvert[shape] + SCAN_WIDTH - 1) & -SCAN_WIDTH
    vertex = candidate(m, d, shape, direction, width)
    if vertex >= 0 and is_unchanged(m, d, shape, width, vertex) and not may_get_stuck(m, d, shape, direction, vertex):
        return vertex
    return climb_hull(m, d, shape, direction, 0)[0]


@kernel
def prepare_scan(m: Model, d: Data, shape: int, mesh: int, radius: float) -> None:
    """Note what scans of the hull of a mesh, in a bounding sphere of a radius, need; it may be too large for them."""
    uncertain = m.aux.uncertain_adr[mesh + 1] - m.aux.uncertain_adr[mesh]
    d.work.shape_scan[shape] = m.aux.hull_scan[mesh] if uncertain <= MOST_UNCERTAIN else -1
    d.work.shape_scale[shape] = 1.0 / max(radius, mjMINVAL)
