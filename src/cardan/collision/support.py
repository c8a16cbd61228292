"""Shapes of the convex collision functions, defined by their support functions.

The support function of a convex shape maps a direction to the point of the shape that is farthest in it. The convex
algorithms (`mpr`, `gjk`, `epa`) use a pair of shapes only through the support function of their Minkowski difference,
the set of all p1 - p2. It contains the origin if the shapes overlap.

The two shapes of the pair are stored in ``d.work.shape_*``, rows 0 and 1: type, pose, sizes, and for a mesh its
vertices and the graph of its hull. Each shape is enlarged by ``d.work.shape_inflate`` in all directions.

Sources: G. van den Bergen, Collision Detection in Interactive 3D Environments (2003), section 4.3.4 (support
functions and hill climbing); spec: computation, collision detection, collision checking.
"""

from __future__ import annotations

from math import sqrt

from cardan.collision.hull_search import mesh_vertex, prepare_hull, prepare_scan, scan_hull, scan_vertices, search_hull
from cardan.constants import mjMINVAL
from cardan.enums.codes import (
    GEOM_BOX,
    GEOM_CAPSULE,
    GEOM_CYLINDER,
    GEOM_ELLIPSOID,
    GEOM_FLEX,
    GEOM_HFIELD,
    GEOM_MESH,
    GEOM_SDF,
)
from cardan.jit import kernel
from cardan.maths.types import Vec3
from cardan.maths.vector import add3, add_scaled3, dot3, get3, get9, mul_mat_t_vec3, mul_mat_vec3, scale3, set3, sub3
from cardan.model.kernel_views import Data, Model

MINVAL = mjMINVAL


@kernel
def signed(value: float, sign: float) -> float:
    """Return `value` with the sign of `sign`; 0 if `sign` is 0."""
    return value if sign > 0.0 else (-value if sign < 0.0 else 0.0)


@kernel
def load_geom(m: Model, d: Data, shape: int, geom: int) -> None:
    """Load a geom, at its current pose, as shape `shape` (0 or 1); for a signed-distance shape, load its mesh."""
    d.work.shape_type[shape] = m.geom_type[geom]
    for i in range(3):
        d.work.shape_pos[shape, i] = d.geom_xpos[geom, i]
        d.work.shape_size[shape, i] = m.geom_size[geom, i]
    for i in range(9):
        d.work.shape_mat[shape, i] = d.geom_xmat[geom, i]
    if m.geom_type[geom] == GEOM_MESH or m.geom_type[geom] == GEOM_SDF:
        d.work.shape_type[shape] = GEOM_MESH
        load_mesh(m, d, shape, m.geom_dataid[geom])
        prepare_hull(m, d, shape, m.geom_dataid[geom], m.geom_rbound[geom])
        prepare_scan(m, d, shape, m.geom_dataid[geom], m.geom_rbound[geom])


@kernel
def load_mesh(m: Model, d: Data, shape: int, mesh: int) -> None:
    """Store the addresses of the vertices and the hull of a mesh."""
    d.work.shape_vertadr[shape] = m.mesh_vertadr[mesh]
    d.work.shape_graphadr[shape] = m.mesh_graphadr[mesh]
    if m.mesh_graphadr[mesh] >= 0:
        d.work.shape_nvert[shape] = m.mesh_graph[m.mesh_graphadr[mesh]]
    else:
        d.work.shape_nvert[shape] = m.mesh_vertnum[mesh]


@kernel
def support_mesh(m: Model, d: Data, shape: int, direction: Vec3) -> Vec3:
    """Support point of a mesh: a vertex of its hull."""
    if d.work.shape_graphadr[shape] < 0:
        vertex = scan_vertices(m, d, shape, direction)
    elif d.work.shape_scan[shape] >= 0:
        vertex = scan_hull(m, d, shape, direction)
    else:
        vertex = search_hull(m, d, shape, direction)
    d.work.shape_vertex[shape] = vertex
    return mesh_vertex(m, d, shape, vertex)


@kernel
def support_ellipsoid(size: Vec3, direction: Vec3) -> Vec3:
    """Support point of an ellipsoid: the point whose outward normal is `direction`."""
    scaled = (direction[0] * size[0], direction[1] * size[1], direction[2] * size[2])
    length = sqrt(scaled[0] * scaled[0] + scaled[1] * scaled[1] + scaled[2] * scaled[2])
    if length < MINVAL:
        return (0.0, 0.0, 0.0)
    return (scaled[0] * size[0] / length, scaled[1] * size[1] / length, scaled[2] * size[2] / length)


@kernel
def support_cylinder(size: Vec3, direction: Vec3) -> Vec3:
    """Support point of a cylinder: on the rim of one of its discs."""
    z = signed(size[1], direction[2])
    length = sqrt(direction[0] * direction[0] + direction[1] * direction[1])
    if length < MINVAL:
        return (0.0, 0.0, z)
    return (direction[0] * size[0] / length, direction[1] * size[0] / length, z)


@kernel
def support_prism(d: Data, direction: Vec3) -> Vec3:
    """Support point of a prism of a height field: a vertex of its base for downward directions, else of its top."""
    first = 3 if direction[2] >= 0.0 else 0
    best = first
    farthest = dot3(get3(d.work.prism, first), direction)
    for k in range(first + 1, first + 3):
        reach = dot3(get3(d.work.prism, k), direction)
        if reach > farthest:
            farthest = reach
            best = k
    return get3(d.work.prism, best)


@kernel
def support_element(d: Data, shape: int, direction: Vec3) -> Vec3:
    """Vertex of an element that is farthest in a direction."""
    first = 4 * shape
    best = first
    farthest = dot3(get3(d.work.element, first), direction)
    for k in range(first + 1, first + d.work.shape_nvert[shape]):
        reach = dot3(get3(d.work.element, k), direction)
        if reach > farthest:
            farthest = reach
            best = k
    return get3(d.work.element, best)


@kernel
def support_local(m: Model, d: Data, shape: int, direction: Vec3) -> Vec3:
    """Support point in the frame of the shape, for a unit direction in this frame."""
    kind = d.work.shape_type[shape]
    size = get3(d.work.shape_size, shape)
    if kind == GEOM_MESH:
        return support_mesh(m, d, shape, direction)
    if kind == GEOM_BOX:
        return (signed(size[0], direction[0]), signed(size[1], direction[1]), signed(size[2], direction[2]))
    if kind == GEOM_ELLIPSOID:
        return support_ellipsoid(size, direction)
    if kind == GEOM_CYLINDER:
        return support_cylinder(size, direction)
    point = scale3(direction, size[0])
    if kind == GEOM_CAPSULE:
        return (point[0], point[1], point[2] + signed(size[1], direction[2]))
    return point


@kernel
def support(m: Model, d: Data, shape: int, direction: Vec3) -> Vec3:
    """Support point of an enlarged shape of the pair, in the frame of the shapes' poses.

    This is the world frame, or the height field's frame if shape 0 is a prism.

    Args:
        m: model.
        d: data with the pair in ``d.work.shape_*``.
        shape: 0 or 1.
        direction: unit vector, in that frame.
    """
    if d.work.shape_type[shape] == GEOM_HFIELD:
        return add_scaled3(support_prism(d, direction), direction, d.work.shape_inflate)
    if d.work.shape_type[shape] == GEOM_FLEX:
        reach = d.work.shape_size[shape, 0] + d.work.shape_inflate
        return add_scaled3(support_element(d, shape, direction), direction, reach)
    xmat = get9(d.work.shape_mat, shape)
    local = support_local(m, d, shape, mul_mat_t_vec3(xmat, direction))
    point = add3(get3(d.work.shape_pos, shape), mul_mat_vec3(xmat, local))
    return add_scaled3(point, direction, d.work.shape_inflate)


@kernel
def support_difference(m: Model, d: Data, row: int, direction: Vec3) -> Vec3:
    """Compute the support point of the Minkowski difference, and store it as vertex `row` of the simplex.

    Writes ``d.work.simplex`` (the difference), ``d.work.simplex1`` and ``d.work.simplex2``, and returns the difference.
    """
    for shape in range(2):
        point = support(m, d, shape, direction if shape == 0 else scale3(direction, -1.0))
        if shape == 0:
            set3(d.work.simplex1, row, point)
        else:
            set3(d.work.simplex2, row, point)
    difference = sub3(get3(d.work.simplex1, row), get3(d.work.simplex2, row))
    set3(d.work.simplex, row, difference)
    return difference
