"""Faces and edges of convex shapes near a normal, from which contact manifolds are clipped.

The contact normal points out of a shape at one of its features: inside a face, on an edge, or at a corner. The faces
and edges at this feature are the candidates of a manifold. They are numbered from 0:

- box: the three faces towards the normal; its three axes are the directions of edges;
- mesh: the polygons around the farthest vertex; the edge that leaves this vertex along each of them;
- cylinder: the disc towards the normal, a polygon of `RIM` corners; the line on its side that is farthest along a
  direction;
- capsule: no face; its segment (without the radius) is the edge.

Other shapes have no candidates.
"""

from __future__ import annotations

from math import cos, pi, sin

from cardan.collision.hull_search import mesh_point, vertex_row
from cardan.collision.support import support
from cardan.enums.codes import GEOM_BOX, GEOM_CAPSULE, GEOM_CYLINDER, GEOM_MESH
from cardan.jit import kernel
from cardan.maths.types import Vec3
from cardan.maths.vector import (
    MINVAL,
    add3,
    dot3,
    get3,
    get9,
    mul_mat_t_vec3,
    mul_mat_vec3,
    norm3,
    scale3,
    set3,
    sub3,
)
from cardan.model.fields_work import FACETS
from cardan.model.kernel_views import Data, Model

RIM = 16
"""Number of corners of the polygon that approximates the disc of a cylinder."""
NEAR_X, NEAR_Y = cos(pi / 8.0), sin(pi / 8.0)
MIDDLE = cos(pi / 4.0)
ALIGNED = 1e-10
"""Largest value of 1 - cosine with which the contact normal counts as parallel to a face's normal."""
ACROSS = 1e-5
"""Largest cosine with which an edge counts as perpendicular to the contact normal, or to the normal of a face."""
INSIDE_FACE, ON_EDGE, AT_CORNER, NO_FEATURE = range(4)
"""Kinds of features of a shape at which a contact normal can point outwards."""
Feature = tuple[int, int, int, int]
"""Kind of feature, index of its face or edge, and numbers of candidate faces and edges."""


@kernel
def to_world(d: Data, shape: int, local: Vec3) -> Vec3:
    """Rotate a vector from the frame of a shape to the world frame."""
    return mul_mat_vec3(get9(d.work.shape_mat, shape), local)


@kernel
def place(d: Data, shape: int, local: Vec3) -> Vec3:
    """Transform a point from the frame of a shape to the world frame."""
    return add3(get3(d.work.shape_pos, shape), to_world(d, shape, local))


@kernel
def shape_axis(d: Data, shape: int, k: int) -> Vec3:
    """Axis `k` of a shape's frame, as a vector in the world frame."""
    return d.work.shape_mat[shape, k], d.work.shape_mat[shape, 3 + k], d.work.shape_mat[shape, 6 + k]


@kernel
def axis_vector(k: int, length: float) -> Vec3:
    """Vector of a given length along axis `k` of a frame."""
    return (length if k == 0 else 0.0, length if k == 1 else 0.0, length if k == 2 else 0.0)


@kernel
def rim_corner(corner: int) -> tuple[float, float]:
    """Coordinates of a corner of a regular polygon of `RIM` corners on the unit circle; corner 0 is on the x axis."""
    k = corner % 4
    x = 1.0 if k == 0 else (NEAR_X if k == 1 else (MIDDLE if k == 2 else NEAR_Y))
    y = 0.0 if k == 0 else (NEAR_Y if k == 1 else (MIDDLE if k == 2 else NEAR_X))
    quarter = corner // 4
    if quarter == 0:
        return x, y
    if quarter == 1:
        return -y, x
    return (-x, -y) if quarter == 2 else (y, -x)


@kernel
def count_candidates(m: Model, d: Data, shape: int) -> tuple[int, int]:
    """Numbers of candidate faces and edges of a shape, after the search for its farthest vertex."""
    kind = d.work.shape_type[shape]
    if kind == GEOM_BOX:
        return 3, 3
    if kind == GEOM_CYLINDER:
        return 1, 1
    if kind == GEOM_CAPSULE:
        return 0, 1
    if kind == GEOM_MESH and d.work.shape_graphadr[shape] >= 0:
        row = vertex_row(m, d, shape, d.work.shape_vertex[shape])
        n = m.aux.around_adr[row + 1] - m.aux.around_adr[row]
        return n, n
    return 0, 0


@kernel
def polygon_of(m: Model, d: Data, shape: int, k: int) -> int:
    """Id of the mesh polygon that is candidate `k`."""
    return m.aux.around[m.aux.around_adr[vertex_row(m, d, shape, d.work.shape_vertex[shape])] + k]


@kernel
def face_normal(m: Model, d: Data, shape: int, k: int, out: Vec3) -> Vec3:
    """Outward normal of candidate face `k`, world frame; `out` is the outward contact normal."""
    if d.work.shape_type[shape] == GEOM_MESH:
        return to_world(d, shape, get3(m.aux.polygon_normal, polygon_of(m, d, shape, k)))
    axis = shape_axis(d, shape, 2 if d.work.shape_type[shape] == GEOM_CYLINDER else k)
    return axis if dot3(axis, out) >= 0.0 else scale3(axis, -1.0)


@kernel
def edge_ends(m: Model, d: Data, shape: int, k: int, out: Vec3) -> tuple[Vec3, Vec3]:
    """Ends of candidate edge `k`, world frame. If a shape has several parallel edges, take the farthest along `out`."""
    kind, size = d.work.shape_type[shape], get3(d.work.shape_size, shape)
    if kind == GEOM_MESH:
        row = vertex_row(m, d, shape, d.work.shape_vertex[shape])
        polygon = polygon_of(m, d, shape, k)
        begin, end = m.aux.polygon_vertadr[polygon], m.aux.polygon_vertadr[polygon + 1]
        following = m.aux.polygon_vert[begin]
        for i in range(begin, end - 1):
            if m.aux.polygon_vert[i] == row:
                following = m.aux.polygon_vert[i + 1]
        return place(d, shape, mesh_point(m, row)), place(d, shape, mesh_point(m, following))
    local = mul_mat_t_vec3(get9(d.work.shape_mat, shape), out)
    middle, half = (0.0, 0.0, 0.0), (0.0, 0.0, size[1])
    if kind == GEOM_BOX:
        half = axis_vector(k, size[0] if k == 0 else (size[1] if k == 1 else size[2]))
        middle = (
            0.0 if k == 0 else (size[0] if local[0] >= 0.0 else -size[0]),
            0.0 if k == 1 else (size[1] if local[1] >= 0.0 else -size[1]),
            0.0 if k == 2 else (size[2] if local[2] >= 0.0 else -size[2]),
        )
    elif kind == GEOM_CYLINDER:
        radial = norm3((local[0], local[1], 0.0))
        if radial > MINVAL:
            middle = (size[0] * local[0] / radial, size[0] * local[1] / radial, 0.0)
    return place(d, shape, sub3(middle, half)), place(d, shape, add3(middle, half))


@kernel
def edge_direction(m: Model, d: Data, shape: int, k: int, out: Vec3) -> Vec3:
    """Unit vector along candidate edge `k` of `shape` (0 or 1), world frame; 0 if the edge has no length.

    `out` is the outward contact normal.
    """
    if d.work.shape_type[shape] != GEOM_MESH:
        return shape_axis(d, shape, k if d.work.shape_type[shape] == GEOM_BOX else 2)
    a, b = edge_ends(m, d, shape, k, out)
    along = sub3(b, a)
    return scale3(along, 1.0 / max(norm3(along), MINVAL))


@kernel
def find_feature(m: Model, d: Data, shape: int, out: Vec3) -> Feature:
    """Find the feature of a shape at which the contact normal `out` points outwards.

    Search for the farthest vertex along `out`. Write the normals of its candidate faces and, unless the normal points
    out of a face, the directions of its candidate edges. Row `FACETS` * `shape` + k of ``d.work.facet_normal`` and
    ``d.work.facet_edge`` is candidate k.

    Returns:
        The kind of feature, the index of its face or edge, and the numbers of candidate faces and edges.
    """
    support(m, d, shape, out)
    nface, nedge = count_candidates(m, d, shape)
    nface, nedge = min(nface, FACETS), min(nedge, FACETS)
    if nface + nedge == 0:
        return NO_FEATURE, 0, 0, 0
    inside = -1
    for k in range(nface):
        normal = face_normal(m, d, shape, k, out)
        set3(d.work.facet_normal, FACETS * shape + k, normal)
        if inside < 0 and dot3(normal, out) >= 1.0 - ALIGNED:
            inside = k
    if inside >= 0:
        return INSIDE_FACE, inside, nface, nedge
    along = -1
    for k in range(nedge):
        direction = edge_direction(m, d, shape, k, out)
        set3(d.work.facet_edge, FACETS * shape + k, direction)
        if along < 0 and abs(dot3(direction, out)) <= ACROSS:
            along = k
    return (ON_EDGE, along, nface, nedge) if along >= 0 else (AT_CORNER, 0, nface, nedge)


@kernel
def face_counts(d: Data, shape: int, feature: Feature, k: int) -> bool:
    """Return whether candidate face `k` touches a feature, that is, whether the face contains the feature.

    At a corner, all candidate faces touch the feature.
    """
    if feature[0] == ON_EDGE:
        edge = get3(d.work.facet_edge, FACETS * shape + feature[1])
        return abs(dot3(edge, get3(d.work.facet_normal, FACETS * shape + k))) <= ACROSS
    return feature[0] == AT_CORNER or k == feature[1]


@kernel
def edge_counts(feature: Feature, k: int) -> bool:
    """Return whether candidate edge `k` touches a feature, that is, whether the feature is this edge or the corner."""
    return feature[0] == AT_CORNER or (feature[0] == ON_EDGE and k == feature[1])


@kernel
def count_corners(m: Model, d: Data, shape: int, k: int) -> int:
    """Number of corners of candidate face `k`."""
    kind = d.work.shape_type[shape]
    if kind == GEOM_MESH:
        polygon = polygon_of(m, d, shape, k)
        return m.aux.polygon_vertadr[polygon + 1] - m.aux.polygon_vertadr[polygon]
    return RIM if kind == GEOM_CYLINDER else 4


@kernel
def box_face_corner(k: int, corner: int, side: float, size: Vec3) -> Vec3:
    """Corner number `corner` of a box's face across axis `k`, on the side `side` (1 or -1), in the frame of the box.

    The corners are clockwise as seen from outside.
    """
    a = -1.0 if corner == 0 or corner == 3 else 1.0
    b = 1.0 if corner < 2 else -1.0
    if k == 0:
        return (side * size[0], b * size[1], -side * a * size[2])
    if k == 1:
        return (a * size[0], side * size[1], -side * b * size[2])
    return (side * a * size[0], b * size[1], side * size[2])


@kernel
def face_corner(m: Model, d: Data, shape: int, k: int, corner: int, out: Vec3) -> Vec3:
    """Corner number `corner` of candidate face `k`, in the world frame (m).

    The corners are clockwise as seen from outside. Each face starts at the corner at which MuJoCo 4.0.0 starts.
    `shape` is the side of the pair (0 or 1), and `out` the outward contact normal.
    """
    kind, size = d.work.shape_type[shape], get3(d.work.shape_size, shape)
    if kind == GEOM_MESH:
        last = m.aux.polygon_vertadr[polygon_of(m, d, shape, k) + 1] - 1
        return place(d, shape, mesh_point(m, m.aux.polygon_vert[last - corner]))
    normal = mul_mat_t_vec3(get9(d.work.shape_mat, shape), face_normal(m, d, shape, k, out))
    if kind == GEOM_CYLINDER:
        x, y = rim_corner(corner)
        return place(d, shape, (size[0] * x, -size[0] * y if normal[2] > 0.0 else size[0] * y, size[1] * normal[2]))
    side = 1.0 if (normal[0] if k == 0 else (normal[1] if k == 1 else normal[2])) > 0.0 else -1.0
    return place(d, shape, box_face_corner(k, corner, side, size))
