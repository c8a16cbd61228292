"""Shapes of the convex collision functions, defined by their support functions.

The support function of a convex shape maps a direction to the shape's point that is farthest in this direction. The
convex algorithms (`mpr`, `gjk`, `epa`) use a pair of shapes only through the support function of their Minkowski
difference, the set of all p1 - p2. The Minkowski difference contains the origin if the shapes overlap.

The two shapes of the pair are stored in ``d.work.shape_*``, rows 0 and 1: type, pose, sizes, and for a mesh its
vertices and the graph of its hull. Each shape is enlarged by ``d.work.shape_inflate`` in all directions.

Sources: G. van den Bergen, Collision Detection in Interactive 3D Environments (2003), section 4.3.4 (support
functions and hill climbing); spec: computation, collision detection, collision checking.
"""

from __future__ import annotations

from math import sqrt

from cardan.collision.hull_search import mesh_vertex, prepare_hull, scan_hull, scan_vertices, search_hull
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
from cardan.maths.types import ConstArray2, Vec3
from cardan.maths.vector import (
    MINVAL,
    add3,
    add_scaled3,
    dot3,
    get3,
    get9,
    mul3,
    mul_mat_t_vec3,
    mul_mat_vec3,
    scale3,
    set3,
    set9,
    sub3,
)
from cardan.model.kernel_views import Data, Model


@kernel
def signed(value: float, sign: float) -> float:
    """Return `value` with the sign of `sign`; 0 if `sign` is 0."""
    return value if sign > 0.0 else (-value if sign < 0.0 else 0.0)


@kernel
def load_geom(m: Model, d: Data, shape: int, geom: int) -> None:
    """Load a geom, at its current pose, as shape `shape` (0 or 1); for a signed-distance shape, load its mesh."""
    d.work.shape_type[shape] = m.geom_type[geom]
    set3(d.work.shape_pos, shape, get3(d.geom_xpos, geom))
    set3(d.work.shape_size, shape, get3(m.geom_size, geom))
    set9(d.work.shape_mat, shape, get9(d.geom_xmat, geom))
    if m.geom_type[geom] == GEOM_MESH or m.geom_type[geom] == GEOM_SDF:
        d.work.shape_type[shape] = GEOM_MESH
        mesh = m.geom_dataid[geom]
        graph = m.mesh_graphadr[mesh]
        d.work.shape_vertadr[shape] = m.mesh_vertadr[mesh]
        d.work.shape_graphadr[shape] = graph
        d.work.shape_nvert[shape] = m.mesh_graph[graph] if graph >= 0 else m.mesh_vertnum[mesh]
        prepare_hull(m, d, shape, mesh, m.geom_rbound[geom])


@kernel
def support_mesh(m: Model, d: Data, shape: int, direction: Vec3) -> Vec3:
    """Support point of a mesh: a vertex of its hull (of the mesh if it has no hull).

    The index of this vertex is stored in ``d.work.shape_vertex``.
    """
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
    scaled = mul3(direction, size)
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
def farthest_of(points: ConstArray2, first: int, count: int, direction: Vec3) -> Vec3:
    """Return the point, among `count` rows from row `first` on, that is farthest in a direction."""
    best = first
    farthest = dot3(get3(points, first), direction)
    for k in range(first + 1, first + count):
        reach = dot3(get3(points, k), direction)
        if reach > farthest:
            farthest = reach
            best = k
    return get3(points, best)


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
    """Support point of an enlarged shape of the pair (0 or 1) for a unit direction, in the frame of the shapes' poses.

    This frame is the world frame, or the height field's frame if shape 0 is a prism.
    """
    if d.work.shape_type[shape] == GEOM_HFIELD:
        # a prism: a vertex of its base for downward directions, else of its top
        point = farthest_of(d.work.prism, 3 if direction[2] >= 0.0 else 0, 3, direction)
        return add_scaled3(point, direction, d.work.shape_inflate)
    if d.work.shape_type[shape] == GEOM_FLEX:
        point = farthest_of(d.work.element, 4 * shape, d.work.shape_nvert[shape], direction)
        return add_scaled3(point, direction, d.work.shape_size[shape, 0] + d.work.shape_inflate)
    xmat = get9(d.work.shape_mat, shape)
    local = support_local(m, d, shape, mul_mat_t_vec3(xmat, direction))
    point = add3(get3(d.work.shape_pos, shape), mul_mat_vec3(xmat, local))
    return add_scaled3(point, direction, d.work.shape_inflate)


@kernel
def support_difference(m: Model, d: Data, row: int, direction: Vec3) -> Vec3:
    """Compute the support point of the Minkowski difference, and store it as vertex `row` of the simplex.

    Write ``d.work.simplex`` (the difference), ``d.work.simplex1`` and ``d.work.simplex2``; return the difference.
    """
    for shape in range(2):  # a loop, so that the support functions are compiled in once
        point = support(m, d, shape, direction if shape == 0 else scale3(direction, -1.0))
        if shape == 0:
            set3(d.work.simplex1, row, point)
        else:
            set3(d.work.simplex2, row, point)
    difference = sub3(get3(d.work.simplex1, row), get3(d.work.simplex2, row))
    set3(d.work.simplex, row, difference)
    return difference
