"""Separating axes: shapes that were apart are first tested along the direction that separated them before.

For a pair of geoms, the cache holds the last separating direction, in the frame of the first geom, and the vertices of
both hulls that were farthest along it. While the geoms move little, the direction still separates them, and a few steps
along the hulls from these vertices prove it. Results do not depend on the cache: an axis is accepted only if its gap is
so large that portal refinement can't miss it, and if the vertices found are certainly the farthest ones.

Source: G. van den Bergen, Collision Detection in Interactive 3D Environments (2003), section 4.3.7 (frame coherence).
"""

from __future__ import annotations

from cardan.collision.hull_search import STRIDE, climb_hull, pair_key
from cardan.collision.support import support_local
from cardan.enums.codes import GEOM_MESH
from cardan.jit import kernel
from cardan.maths.types import Vec3
from cardan.maths.vector import dot3, get3, get9, mul_mat_t_vec3, mul_mat_vec3, scale3, set3
from cardan.model.kernel_views import Data, Model

GAP = 1e-4
"""Smallest accepted gap, relative to the sum of the radii of both bounding spheres."""
UNKNOWN = 1e10
"""Value for the reach of a hull on which the search may be stuck, m."""


@kernel
def slot_of(d: Data, geom1: int, geom2: int) -> int:
    """Slot of the cache for a pair of geoms; if pairs share a slot, the last pair occupies it."""
    return (geom1 * STRIDE + geom2) % len(d.work.axis_pair)


@kernel
def reach_of_hull(m: Model, d: Data, shape: int, direction: Vec3, start: int) -> float:
    """Reach of a hull in a direction of its frame, searched from vertex `start`; `UNKNOWN` if it is not certain."""
    graph, nvert = d.work.shape_graphadr[shape], d.work.shape_nvert[shape]
    local, _ = climb_hull(m, d, shape, direction, start if start < nvert else 0)
    vertex = d.work.shape_vertadr[shape] + m.mesh_graph[graph + 2 + nvert + local]
    d.work.shape_vertex[shape] = local
    if not m.aux.vertex_certain[vertex]:
        return UNKNOWN
    return (
        m.mesh_vert[vertex, 0] * direction[0]
        + m.mesh_vert[vertex, 1] * direction[1]
        + m.mesh_vert[vertex, 2] * direction[2]
    )


@kernel
def reach(m: Model, d: Data, shape: int, direction: Vec3, start: int) -> float:
    """Reach of a shape of the pair, not enlarged, in a unit direction from the world origin, m."""
    local = mul_mat_t_vec3(get9(d.work.shape_mat, shape), direction)
    if d.work.shape_type[shape] == GEOM_MESH and d.work.shape_graphadr[shape] >= 0:
        extent = reach_of_hull(m, d, shape, local, start)
    else:
        extent = dot3(support_local(m, d, shape, local), local)
    return dot3(get3(d.work.shape_pos, shape), direction) + extent


@kernel
def axis_separates(m: Model, d: Data, geom1: int, geom2: int) -> bool:
    """Whether the cached axis of two geoms, the shapes of the pair, separates them by more than the margin."""
    slot = slot_of(d, geom1, geom2)
    if d.work.axis_pair[slot] != pair_key(geom1, geom2):
        return False
    axis = mul_mat_vec3(get9(d.work.shape_mat, 0), get3(d.work.axis, slot))
    gap = d.work.near_margin + GAP * (m.geom_rbound[geom1] + m.geom_rbound[geom2])
    depth = reach(m, d, 0, axis, d.work.axis_vertex[slot, 0])
    depth += reach(m, d, 1, scale3(axis, -1.0), d.work.axis_vertex[slot, 1])
    if depth < -gap:
        d.work.axis_vertex[slot, 0] = d.work.shape_vertex[0]
        d.work.axis_vertex[slot, 1] = d.work.shape_vertex[1]
        return True
    return False


@kernel
def keep_axis(d: Data, geom1: int, geom2: int) -> None:
    """Cache the direction at which portal refinement found two geoms apart."""
    slot = slot_of(d, geom1, geom2)
    d.work.axis_pair[slot] = pair_key(geom1, geom2)
    set3(d.work.axis, slot, mul_mat_t_vec3(get9(d.work.shape_mat, 0), get3(d.work.asked, 0)))
    d.work.axis_vertex[slot, 0] = d.work.shape_vertex[0]
    d.work.axis_vertex[slot, 1] = d.work.shape_vertex[1]


@kernel
def forget_axis(d: Data, geom1: int, geom2: int) -> None:
    """Remove the cached axis of two geoms that touch."""
    slot = slot_of(d, geom1, geom2)
    if d.work.axis_pair[slot] == pair_key(geom1, geom2):
        d.work.axis_pair[slot] = 0
