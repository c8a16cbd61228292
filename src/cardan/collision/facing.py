"""Closest or deepest points of two convex shapes at a face of one of them, found without a search.

Most polytopes that touch do so at a face: a box lies on another box, or a corner of a mesh enters a side of a box. The
face is then usually that along which the bounding boxes of both geoms overlap least, or the face of the other shape
opposite to it. The vertex is the point of the other shape that is farthest behind the face. If it is in front of the
face, and its projection is in the face, both are the closest points. If it is behind the face, the depth e along the
face normal n must be proved to be the depth of the overlap: the support function h of the Minkowski difference, which
contains the origin, must not be less than e in any direction u. Let u have the angle a to n.

- The difference contains the face minus the vertex, and thus a disc of radius r around e n. Here r is the distance of
  the vertex from the sides of the face. Hence h(u) >= e if tan(a / 2) <= r / e.
- Support points in four directions around n are at least e - f high along n. Their projections across n surround a disc
  of radius R. Hence h(u) >= (e - f) cos a + R sin a up to a = 90 degrees, and h(u) >= e cos a + R sin a beyond it.
- The support point opposite to n is H below the origin, and w away from the line along n. Hence h(u) >= - H cos a -
  w sin a.

All of this holds up to the relative `TOLERANCE`. If the face is found, the result is that of a search (`gjk`, `epa`).

Sources: G. van den Bergen, Collision Detection in Interactive 3D Environments (2003), sections 4.2 and 4.3.8
(penetration depth and Minkowski difference); S. Gottschalk, M. Lin, D. Manocha, OBBTree, SIGGRAPH 1996 (overlap of
boxes along their axes).
"""

from __future__ import annotations

from math import inf, sqrt

from cardan.collision.contact import default_tangent
from cardan.collision.culling import box_center, half_sizes
from cardan.collision.facets import polygon_of, shape_axis, to_world
from cardan.collision.hull_search import mesh_point, vertex_row
from cardan.collision.support import support, support_difference
from cardan.enums.codes import GEOM_BOX, GEOM_CYLINDER, GEOM_MESH
from cardan.jit import kernel
from cardan.maths.types import Vec3
from cardan.maths.vector import (
    add_scaled3,
    column3,
    cross,
    dot3,
    get3,
    get9,
    mul_mat_t_vec3,
    norm3,
    scale3,
    set3,
    sub3,
)
from cardan.model.kernel_views import Data, Model

TILT = 0.02
"""Tangent of the angle between the face normal and the four directions around it."""
TURN = 0.3
"""Tangent of the angle by which these directions are turned, so that they are not along the sides of aligned boxes."""
ALONG, OPPOSITE = 0.9999, 0.9
"""Smallest cosines of the angles between an axis of the bounding box and the normal of the first face, and between
opposite faces."""
TOLERANCE = 1e-12
"""Accuracy of the depth, relative to the sizes of the shapes."""
FINEST = 500
"""Largest number of vertices of a hull whose faces are tried. Finer hulls are mostly round."""
NO_FACE = -1
APEX = 4
"""Row of ``work.simplex`` with the support point opposite to the normal."""


@kernel
def has_faces(d: Data, shape: int) -> bool:
    """Return whether a shape (0 or 1) of the pair is a box, a cylinder, or a mesh with a hull that is not too fine."""
    if d.work.shape_type[shape] == GEOM_MESH:
        return d.work.shape_graphadr[shape] >= 0 and d.work.shape_nvert[shape] <= FINEST
    return d.work.shape_type[shape] == GEOM_BOX or d.work.shape_type[shape] == GEOM_CYLINDER


@kernel
def extent_along(half: Vec3, x: Vec3, y: Vec3, z: Vec3, axis: Vec3) -> float:
    """Half the extent (m) along `axis` of a box with the half sizes `half` and the axes `x`, `y` and `z`."""
    return half[0] * abs(dot3(x, axis)) + half[1] * abs(dot3(y, axis)) + half[2] * abs(dot3(z, axis))


@kernel
def facing_axis(m: Model, d: Data, geom1: int, geom2: int) -> tuple[int, Vec3]:
    """Find the face normal along which the bounding boxes of two geoms overlap least.

    The geoms are loaded as shapes 0 and 1. At least one of them must have faces (`has_faces`).

    Returns:
        The shape with the face, 0 for the first geom or 1 for the second, and the outward normal of the face.
    """
    half1, half2 = half_sizes(m, geom1), half_sizes(m, geom2)
    mat1, mat2 = get9(d.geom_xmat, geom1), get9(d.geom_xmat, geom2)
    x1, y1, z1 = column3(mat1, 0), column3(mat1, 1), column3(mat1, 2)
    x2, y2, z2 = column3(mat2, 0), column3(mat2, 1), column3(mat2, 2)
    between = sub3(box_center(m, d, geom2), box_center(m, d, geom1))
    side, largest, chosen = 0, -inf, x1
    for k in range(0 if has_faces(d, 0) else 3, 6 if has_faces(d, 1) else 3):
        axis = x1 if k == 0 else (y1 if k == 1 else (z1 if k == 2 else (x2 if k == 3 else (y2 if k == 4 else z2))))
        along = dot3(between, axis)
        gap = abs(along) - extent_along(half1, x1, y1, z1, axis) - extent_along(half2, x2, y2, z2, axis)
        if gap > largest:
            side, largest = k // 3, gap
            chosen = scale3(axis, 1.0 if (along >= 0.0) == (k < 3) else -1.0)
    return side, chosen


@kernel
def face_towards(m: Model, d: Data, shape: int, out: Vec3, least: float) -> tuple[int, Vec3, Vec3]:
    """Find the face of a shape (0 or 1) whose outward normal is closest to the unit vector `out`.

    Of a mesh, only the faces around the vertex farthest along `out` are compared. The cosine of the angle between the
    normal and `out` must be above `least`.

    Returns:
        The face (the axis of a box or cylinder, the polygon of a mesh), or `NO_FACE` if no normal is close to `out`;
        its outward normal and one of its points, world frame.
    """
    face, best, normal, point = NO_FACE, least, out, out
    if d.work.shape_type[shape] == GEOM_MESH:
        point = support(m, d, shape, out)
        row = vertex_row(m, d, shape, d.work.shape_vertex[shape])
        for k in range(m.aux.around_adr[row + 1] - m.aux.around_adr[row]):
            polygon = polygon_of(m, d, shape, k)
            across = to_world(d, shape, get3(m.aux.polygon_normal, polygon))
            if dot3(across, out) > best:
                face, best, normal = int(polygon), dot3(across, out), across
        return face, normal, point
    cylinder = d.work.shape_type[shape] == GEOM_CYLINDER
    for k in range(2 if cylinder else 0, 3):
        axis = shape_axis(d, shape, k)
        along = dot3(axis, out)
        if abs(along) > best:
            face, best, normal = k, abs(along), scale3(axis, 1.0 if along >= 0.0 else -1.0)
            half = d.work.shape_size[shape, 1 if cylinder else k]
            point = add_scaled3(get3(d.work.shape_pos, shape), normal, half)
    return face, normal, point


@kernel
def depth_in_face(m: Model, d: Data, shape: int, face: int, point: Vec3) -> float:
    """Distance (m) of a point's projection on a face from the sides of the face; negative if it is outside.

    `face` is from `face_towards`.
    """
    local = mul_mat_t_vec3(get9(d.work.shape_mat, shape), sub3(point, get3(d.work.shape_pos, shape)))
    if d.work.shape_type[shape] == GEOM_CYLINDER:
        return d.work.shape_size[shape, 0] - sqrt(local[0] * local[0] + local[1] * local[1])
    if d.work.shape_type[shape] == GEOM_BOX:
        x, y = d.work.shape_size[shape, 0] - abs(local[0]), d.work.shape_size[shape, 1] - abs(local[1])
        z = d.work.shape_size[shape, 2] - abs(local[2])
        return min(y, z) if face == 0 else (min(x, z) if face == 1 else min(x, y))
    normal = get3(m.aux.polygon_normal, face)
    begin, end = m.aux.polygon_vertadr[face], m.aux.polygon_vertadr[face + 1]
    a, depth = mesh_point(m, m.aux.polygon_vert[end - 1]), inf
    for k in range(begin, end):
        b = mesh_point(m, m.aux.polygon_vert[k])
        along = sub3(b, a)
        inward = cross(normal, along)
        length = norm3(along)
        if length > 0.0:
            depth = min(depth, dot3(inward, sub3(local, a)) / length)
        if depth < 0.0:
            return depth
        a = b
    return depth


@kernel
def disc_around(d: Data, normal: Vec3) -> float:
    """Radius (m) of the disc around the line along `normal` through the origin that four corners surround.

    The corners, rows 0 to 3 of the simplex, are counter-clockwise about `normal`. The result is 0 if they do not
    surround the line.
    """
    radius = inf
    for k in range(4):
        corner = get3(d.work.simplex, k)
        along = sub3(get3(d.work.simplex, k + 1 if k < 3 else 0), corner)
        along = add_scaled3(along, normal, -dot3(along, normal))
        length = norm3(along)
        if length > 0.0:
            radius = min(radius, dot3(cross(corner, along), normal) / length)
    return max(radius, 0.0) if radius < inf else 0.0


@kernel
def is_depth(m: Model, d: Data, normal: Vec3, depth: float, inset: float, slack: float) -> bool:
    """Return whether the depth of two convex shapes is proved to be `depth` (m), along `normal`, the normal of a face.

    `normal` points from shape 0 to shape 1, and `inset` is the distance of the deepest vertex from the sides of the
    face, and `slack` the accuracy, both in m. See the module for the proof.
    """
    tangent = default_tangent(normal)
    other = cross(normal, tangent)
    u, v = add_scaled3(tangent, other, TURN), add_scaled3(other, tangent, -TURN)
    lost = 0.0
    for k in range(4):
        aside = u if k == 0 else (v if k == 1 else (scale3(u, -1.0) if k == 2 else scale3(v, -1.0)))
        corner = support_difference(m, d, k, add_scaled3(normal, aside, TILT))
        lost = max(lost, depth - dot3(corner, normal) - slack)
    radius = disc_around(d, normal)
    near = min(max(inset, 0.0) / depth, 1.0)
    if radius <= depth or 2.0 * radius * near < 2.0 * depth * near * near + lost * (1.0 - near * near):
        return False
    apex = support_difference(m, d, APEX, scale3(normal, -1.0))
    below = -dot3(apex, normal)
    away = sqrt(max(dot3(apex, apex) - below * below, 0.0))
    far = depth / radius
    return below * (1.0 - far * far) - 2.0 * far * away > depth * (1.0 + far * far)


@kernel
def set_points(d: Data, side: int, out: Vec3, vertex: Vec3, dist: float) -> None:
    """Set depth, normal and points of a vertex at the signed distance `dist` from a face of shape `side` (0 or 1).

    `out` is the outward normal of the face.
    """
    on_face = add_scaled3(vertex, out, -dist)
    d.work.overlap_depth = -dist
    set3(d.work.overlap_normal, 0, out if side == 0 else scale3(out, -1.0))
    set3(d.work.witness, 0, on_face if side == 0 else vertex)
    set3(d.work.witness, 1, vertex if side == 0 else on_face)


@kernel
def touches_face(m: Model, d: Data, geom1: int, geom2: int, limit: float) -> bool:
    """Find the signed distance of two convex shapes, loaded as shapes 0 and 1, if it is at a face that is guessed.

    Write ``d.work.overlap_depth`` (minus the distance), ``overlap_normal`` and ``witness``. If the shapes are found to
    be farther apart than `limit` (m), this is a lower bound of the distance, and the normal is also written to
    ``d.work.asked``. Return False if no face is found, or if the shapes may overlap less in another direction.
    """
    slack = TOLERANCE * (m.geom_rbound[geom1] + m.geom_rbound[geom2])
    side, out = facing_axis(m, d, geom1, geom2)
    for attempt in range(2):
        face, normal, point = face_towards(m, d, side, out, ALONG if attempt == 0 else OPPOSITE)
        if face == NO_FACE:
            side, out = 1 - side, scale3(out, -1.0)
            if attempt == 1 or d.work.shape_type[side] == GEOM_MESH or not has_faces(d, side):
                return False
            continue
        vertex = support(m, d, 1 - side, scale3(normal, -1.0))
        dist = dot3(sub3(vertex, point), normal)
        if dist > limit:
            set_points(d, side, normal, vertex, dist)
            set3(d.work.asked, 0, get3(d.work.overlap_normal, 0))
            return True
        inset = depth_in_face(m, d, side, face, vertex)
        if inset >= -slack:
            forward = normal if side == 0 else scale3(normal, -1.0)
            found = dist > 0.0 or (dist < 0.0 and is_depth(m, d, forward, -dist, inset, slack))
            if found:
                set_points(d, side, normal, vertex, dist)
            return found
        side, out = 1 - side, scale3(normal, -1.0)
        if not has_faces(d, side):
            return False
    return False
