"""Culling of pairs of convex geoms that are certainly apart: bounding boxes, and cached separating axes.

Each geom has an oriented bounding box. Two boxes are apart if they are apart along one of 15 axes: the normals of the
faces of both, and the perpendiculars of their edges.

For a pair of geoms that were apart, the cache holds the direction that separated them, in the frame of the first geom.
It also holds the vertices of both hulls that were farthest along this direction. While the geoms move little, the
direction still separates them, and a few steps along the hulls from these vertices prove that it does. Results do not
depend on the cache. An axis is accepted only if its gap is so large that portal refinement can't miss it, and if the
vertices found are certainly the farthest ones.

Sources: S. Gottschalk, M. Lin, D. Manocha, OBBTree: a hierarchical structure for rapid interference detection (1996),
section 5; G. van den Bergen, Collision Detection in Interactive 3D Environments (2003), section 4.3.7 (frame
coherence); spec: computation, collision detection, generation and filtering.
"""

from __future__ import annotations

from cardan.collision.capsule import from_geom
from cardan.collision.hull_search import STRIDE, climb_hull, pair_key, row_extent, vertex_row
from cardan.collision.support import support_local
from cardan.enums.codes import GEOM_BOX, GEOM_CAPSULE, GEOM_CYLINDER, GEOM_ELLIPSOID, GEOM_MESH, GEOM_SPHERE
from cardan.jit import kernel
from cardan.maths.types import Vec3
from cardan.maths.vector import column3, dot3, get3, get9, mul_mat_t_vec3, mul_mat_vec3, scale3, set3, sub3
from cardan.model.kernel_views import Data, Model

SLACK = 1e-9
"""Relative enlargement of the boxes, far above rounding error."""
GAP = 1e-4
"""Smallest accepted gap, relative to the sum of the radii of both bounding spheres."""
UNKNOWN = 1e10
"""Result of `reach` (m) for a hull on which the search may have got stuck."""


@kernel
def half_sizes(m: Model, geom: int) -> Vec3:
    """Half sizes (m) of the box around a geom, aligned with the geom."""
    kind = m.geom_type[geom]
    size = get3(m.geom_size, geom)
    if kind in (GEOM_BOX, GEOM_ELLIPSOID):
        return size
    if kind == GEOM_SPHERE:
        return (size[0], size[0], size[0])
    if kind == GEOM_CAPSULE:
        return (size[0], size[0], size[0] + size[1])
    if kind == GEOM_CYLINDER:
        return (size[0], size[0], size[1])
    return (m.geom_aabb[geom, 3], m.geom_aabb[geom, 4], m.geom_aabb[geom, 5])


@kernel
def box_center(m: Model, d: Data, geom: int) -> Vec3:
    """Centre of the box around a geom, world frame; it differs from the geom's position only for meshes."""
    if m.geom_type[geom] <= GEOM_BOX:
        return get3(d.geom_xpos, geom)
    return from_geom(d, geom, (m.geom_aabb[geom, 0], m.geom_aabb[geom, 1], m.geom_aabb[geom, 2]))


@kernel
def apart_along_edges(between: Vec3, a: Vec3, b: Vec3, x: Vec3, y: Vec3, z: Vec3, slack: float) -> bool:
    """Return whether two boxes are apart by `slack` along a perpendicular of two of their edges.

    The boxes have the half sizes `a` and `b`. All vectors are in the frame of the first box: `between` leads from its
    centre to that of the second box; `x`, `y` and `z` are the axes of the second box.
    """
    for j in range(3):
        # for an edge of the second box and axis i of the first, only the other two axes of each box have extents
        u = x if j == 0 else (y if j == 1 else z)
        v = y if j == 0 else (z if j == 1 else x)
        w = z if j == 0 else (x if j == 1 else y)
        bv = b[1] if j == 0 else (b[2] if j == 1 else b[0])
        bw = b[2] if j == 0 else (b[0] if j == 1 else b[1])
        reach = a[1] * abs(u[2]) + a[2] * abs(u[1]) + bv * abs(w[0]) + bw * abs(v[0]) + slack
        if abs(between[2] * u[1] - between[1] * u[2]) > reach:
            return True
        reach = a[2] * abs(u[0]) + a[0] * abs(u[2]) + bv * abs(w[1]) + bw * abs(v[1]) + slack
        if abs(between[0] * u[2] - between[2] * u[0]) > reach:
            return True
        reach = a[0] * abs(u[1]) + a[1] * abs(u[0]) + bv * abs(w[2]) + bw * abs(v[2]) + slack
        if abs(between[1] * u[0] - between[0] * u[1]) > reach:
            return True
    return False


@kernel
def boxes_apart(m: Model, d: Data, geom1: int, geom2: int, margin: float) -> bool:
    """Return whether the bounding boxes of two geoms are farther apart than `margin` (m) along one of the 15 axes.

    The boxes are aligned with the geoms. `geom1` and `geom2` are ids.
    """
    a, b = half_sizes(m, geom1), half_sizes(m, geom2)
    slack = margin + SLACK * (a[0] + a[1] + a[2] + b[0] + b[1] + b[2])
    mat1, mat2 = get9(d.geom_xmat, geom1), get9(d.geom_xmat, geom2)
    between = mul_mat_t_vec3(mat1, sub3(box_center(m, d, geom2), box_center(m, d, geom1)))
    x = mul_mat_t_vec3(mat1, column3(mat2, 0))
    y = mul_mat_t_vec3(mat1, column3(mat2, 1))
    z = mul_mat_t_vec3(mat1, column3(mat2, 2))

    # faces of the first
    if abs(between[0]) > a[0] + b[0] * abs(x[0]) + b[1] * abs(y[0]) + b[2] * abs(z[0]) + slack:
        return True
    if abs(between[1]) > a[1] + b[0] * abs(x[1]) + b[1] * abs(y[1]) + b[2] * abs(z[1]) + slack:
        return True
    if abs(between[2]) > a[2] + b[0] * abs(x[2]) + b[1] * abs(y[2]) + b[2] * abs(z[2]) + slack:
        return True

    # faces of the second
    if abs(dot3(between, x)) > b[0] + a[0] * abs(x[0]) + a[1] * abs(x[1]) + a[2] * abs(x[2]) + slack:
        return True
    if abs(dot3(between, y)) > b[1] + a[0] * abs(y[0]) + a[1] * abs(y[1]) + a[2] * abs(y[2]) + slack:
        return True
    if abs(dot3(between, z)) > b[2] + a[0] * abs(z[0]) + a[1] * abs(z[1]) + a[2] * abs(z[2]) + slack:
        return True
    return apart_along_edges(between, a, b, x, y, z, slack)


@kernel
def slot_of(d: Data, geom1: int, geom2: int) -> int:
    """Slot of the cache for a pair of geoms. If several pairs share a slot, the most recent pair occupies it."""
    return (geom1 * STRIDE + geom2) % len(d.work.axis_pair)


@kernel
def reach(m: Model, d: Data, shape: int, direction: Vec3, start: int) -> float:
    """Extent of a shape of the pair along a unit direction, measured from the world origin (m), without the margin.

    A mesh's hull is searched from vertex `start`, and the vertex found is stored in ``d.work.shape_vertex``. If this
    vertex is not certain to be the farthest, `UNKNOWN` is used as its extent.
    """
    local = mul_mat_t_vec3(get9(d.work.shape_mat, shape), direction)
    if d.work.shape_type[shape] == GEOM_MESH and d.work.shape_graphadr[shape] >= 0:
        k, _ = climb_hull(m, d, shape, local, start if start < d.work.shape_nvert[shape] else 0)
        d.work.shape_vertex[shape] = k
        vertex = vertex_row(m, d, shape, k)
        extent = row_extent(m, vertex, local) if m.aux.vertex_certain[vertex] else UNKNOWN
    else:
        extent = dot3(support_local(m, d, shape, local), local)
    return dot3(get3(d.work.shape_pos, shape), direction) + extent


@kernel
def axis_separates(m: Model, d: Data, geom1: int, geom2: int) -> bool:
    """Return whether the cached axis of two geoms, loaded as shapes 0 and 1, separates them by more than the margin.

    If it does, cache the farthest vertices found, as starts of the next search.
    """
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
    """Cache the direction along which the search has just found two geoms to be apart, and their farthest vertices."""
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
