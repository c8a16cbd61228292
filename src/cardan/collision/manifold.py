"""Contact manifolds of convex shapes: several contacts from two faces, or an edge and a face, that nearly touch.

The exact contact has one point. If each shape has a face there, and the faces are parallel (`PARALLEL`), the contacts
are the corners of the faces' overlap. If an edge of one shape is parallel to a face of the other, the contacts are the
ends of the part of the edge above the face. All contacts share the normal of a face: the face of the second shape or,
if only the first shape's face is involved, that face. If there are more than `MOST` corners, those of a wide
quadrilateral are kept.

The overlap of two faces is found in the plane of the first: the second face is projected on this plane and clipped by
the sides of the first. Distances of corners are measured along the normal of the contacts.

Sources: C. Ericson, Real-Time Collision Detection (2005), section 8.3.4 (clipping a polygon by planes); spec:
computation, collision detection of MuJoCo 4.0, multiple contacts. Tolerances, the order of preference and the choice of
the normal, of the corners and of their order follow numerical results of MuJoCo 4.0.0.
"""

from __future__ import annotations

from math import inf

from cardan.collision.contact import put_contact
from cardan.collision.facets import (
    INSIDE_FACE,
    NO_FEATURE,
    Feature,
    count_corners,
    edge_counts,
    edge_direction,
    edge_ends,
    face_corner,
    face_counts,
    face_normal,
    find_feature,
)
from cardan.jit import kernel
from cardan.maths.types import Vec3
from cardan.maths.vector import add3, add_scaled3, cross, dot3, get3, scale3, set3, sub3
from cardan.model.fields_work import FACETS, OUTLINE
from cardan.model.kernel_views import Data, Model

PARALLEL = 0.0888
"""Largest sine of the angle with which a face counts as parallel to another face or to an edge."""
OPPOSITE = -((1.0 - PARALLEL * PARALLEL) ** 0.5)
"""Cosine of the angle between outward normals below which two faces count as parallel."""
TIE = 1e-6
"""Weight of the angle between edge and face, relative to the match of the face with the contact normal."""
MOST = 4
"""Maximum number of contacts of a pair of convex geoms."""


@kernel
def find_faces(d: Data, features: tuple[Feature, Feature], normal: Vec3) -> tuple[int, int]:
    """Find the parallel faces of both shapes that best match the normal; -1 and -1 if no two are parallel."""
    best, found1, found2 = -inf, -1, -1
    for i in range(features[0][2]):
        if face_counts(d, 0, features[0], i):
            face1 = get3(d.work.facet_normal, i)
            for j in range(features[1][2]):
                face2 = get3(d.work.facet_normal, FACETS + j)
                match = dot3(sub3(face1, face2), normal)
                if match > best and dot3(face1, face2) < OPPOSITE and face_counts(d, 1, features[1], j):
                    best, found1, found2 = match, i, j
    return found1, found2


@kernel
def find_edge_and_face(d: Data, side: int, features: tuple[Feature, Feature], normal: Vec3) -> tuple[int, int]:
    """Find an edge of shape `side` and a face of the other shape that are parallel; -1 and -1 if there are none.

    If there are several, choose the face that best matches the normal, and the edge most parallel to it.
    """
    against = normal if side == 1 else scale3(normal, -1.0)
    mine, other = features[0] if side == 0 else features[1], features[1] if side == 0 else features[0]
    best, edge, face = -inf, -1, -1
    for i in range(mine[3]):
        if edge_counts(mine, i):
            along = get3(d.work.facet_edge, FACETS * side + i)
            for j in range(other[2]):
                across = get3(d.work.facet_normal, FACETS * (1 - side) + j)
                sine = abs(dot3(along, across))
                match = dot3(across, against) - TIE * sine
                if sine <= PARALLEL and match > best and face_counts(d, 1 - side, other, j):
                    best, edge, face = match, i, j
    return edge, face


@kernel
def clip_polygon(d: Data, source: int, n: int, point: Vec3, outward: Vec3, keep_first: bool) -> int:
    """Clip a polygon by a plane; return the number of corners of the part behind it.

    The polygon's `n` corners are in half `source` (0 or 1) of ``d.work.outline``; the corners of the part are written
    to the other half. The plane passes through `point` and has the normal `outward`. If corner 0 is kept, it is the
    first corner of the part (`keep_first`) or the last.
    """
    base, target, count = OUTLINE * source, OUTLINE * (1 - source), 0
    before = get3(d.work.outline, base)
    height = dot3(sub3(before, point), outward)
    for k in range(n):
        here = get3(d.work.outline, base + (k + 1 if k + 1 < n else 0))
        next_height = dot3(sub3(here, point), outward)
        if keep_first and height <= 0.0 and count < OUTLINE:
            set3(d.work.outline, target + count, before)
            count += 1
        if (height < 0.0 < next_height or next_height < 0.0 < height) and count < OUTLINE:
            share = height / (height - next_height)
            set3(d.work.outline, target + count, add_scaled3(before, sub3(here, before), share))
            count += 1
        if not keep_first and next_height <= 0.0 and count < OUTLINE:
            set3(d.work.outline, target + count, here)
            count += 1
        before, height = here, next_height
    return count


@kernel
def clip_faces(m: Model, d: Data, face1: int, face2: int, normal: Vec3) -> tuple[int, int]:
    """Project a face of the second shape on a face of the first, and clip it by the sides of this face.

    Returns:
        The half of ``d.work.outline`` with the result, and its number of corners.
    """
    against = scale3(normal, -1.0)
    up = face_normal(m, d, 0, face1, normal)
    a = face_corner(m, d, 0, face1, 0, normal)
    n, half = min(count_corners(m, d, 1, face2), OUTLINE), 0
    for k in range(n):
        corner = face_corner(m, d, 1, face2, k, against)
        set3(d.work.outline, k, add_scaled3(corner, up, -dot3(sub3(corner, a), up)))
    nside = count_corners(m, d, 0, face1)
    for k in range(nside):
        b = face_corner(m, d, 0, face1, k + 1 if k + 1 < nside else 0, normal)
        if n > 0:
            n = clip_polygon(d, half, n, a, cross(up, sub3(b, a)), False)
            half = 1 - half
        a = b
    return half, n


@kernel
def keep_near(d: Data, half: int, n: int, plane: Vec3, normal: Vec3) -> int:
    """Keep the corners that are within the margin of a plane; return their number.

    The `n` corners are in half `half` of ``d.work.outline``. The plane passes through the point `plane`. The distances
    of the kept corners to the plane are written to ``d.work.outline_dist``.
    """
    base, count = OUTLINE * half, 0
    for k in range(n):
        point = get3(d.work.outline, base + k)
        dist = dot3(sub3(plane, point), normal)
        if dist <= d.work.near_margin:
            set3(d.work.outline, base + count, point)
            d.work.outline_dist[count] = dist
            count += 1
    return count


@kernel
def triangle(d: Data, base: int, i: int, j: int, k: int, normal: Vec3) -> float:
    """Twice the area of the triangle of corners `i`, `j` and `k`, projected along the normal."""
    a = get3(d.work.outline, base + i)
    return abs(dot3(cross(sub3(get3(d.work.outline, base + j), a), sub3(get3(d.work.outline, base + k), a)), normal))


@kernel
def wide_quadrilateral(d: Data, half: int, n: int, normal: Vec3) -> tuple[int, int, int, int]:
    """Find four of `n` corners of a convex polygon that span a large area, in order.

    Corner 0 is one of them. The others start at corners 1 to 3, and are moved along the polygon while this increases
    the area: the last, then the third as far as possible, then the second by one corner; again if the last moves.
    """
    base = OUTLINE * half
    second, third, last, before = 1, 2, 3, -1
    while last != before:
        before = last
        while last + 1 < n and triangle(d, base, 0, third, last + 1, normal) > triangle(
            d, base, 0, third, last, normal
        ):
            last += 1
        if last != before:
            while third + 1 < last and (
                triangle(d, base, second, third + 1, last, normal) > triangle(d, base, second, third, last, normal)
            ):
                third += 1
            if second + 1 < third and (
                triangle(d, base, 0, second + 1, third, normal) > triangle(d, base, 0, second, third, normal)
            ):
                second += 1
    return 0, second, third, last


@kernel
def put_corners(d: Data, half: int, n: int, normal: Vec3) -> int:
    """Write contacts at the `n` corners, or at `MOST` of them if there are more; return the number of contacts."""
    chosen = (0, 1, 2, 3)
    if n > MOST:
        chosen = wide_quadrilateral(d, half, n, normal)
    count = min(n, MOST)
    for k in range(count):
        row = chosen[0] if k == 0 else (chosen[1] if k == 1 else (chosen[2] if k == 2 else chosen[3]))
        dist = d.work.outline_dist[row]
        point = add_scaled3(get3(d.work.outline, OUTLINE * half + row), normal, 0.5 * dist)
        put_contact(d, k, dist, point, normal)
    return count


@kernel
def touch_faces(m: Model, d: Data, faces: tuple[int, int], normal: Vec3) -> int:
    """Write the contacts between two faces, one of each shape; return the number of contacts."""
    against = scale3(normal, -1.0)
    common = scale3(face_normal(m, d, 1, faces[1], against), -1.0)
    half, n = clip_faces(m, d, faces[0], faces[1], normal)
    n = keep_near(d, half, n, face_corner(m, d, 1, faces[1], 0, against), common)
    return put_corners(d, half, n, common)


@kernel
def clip_edge(m: Model, d: Data, side: int, face: int, ends: tuple[Vec3, Vec3], out: Vec3) -> tuple[float, float]:
    """Clip an edge by the sides of a face of shape `side`; return the start and end of the part inside.

    Both are fractions of the edge's length; if no part is inside, the start is larger. `out` is the outward contact
    normal of the face's shape.
    """
    up = face_normal(m, d, side, face, out)
    n = count_corners(m, d, side, face)
    a = face_corner(m, d, side, face, n - 1, out)
    centre = face_corner(m, d, side, face, n // 2, out)
    inner = scale3(add3(add3(a, centre), face_corner(m, d, side, face, n // 4, out)), 1.0 / 3.0)
    first, last = 0.0, 1.0
    for k in range(n):
        b = face_corner(m, d, side, face, k, out)
        outward = cross(up, sub3(b, a))
        if dot3(outward, sub3(inner, a)) > 0.0:
            outward = scale3(outward, -1.0)
        height1, height2 = dot3(sub3(ends[0], a), outward), dot3(sub3(ends[1], a), outward)
        if height1 > 0.0 and height2 > 0.0:
            return 1.0, 0.0
        if height1 > 0.0:
            first = max(first, height1 / (height1 - height2))
        elif height2 > 0.0:
            last = min(last, height1 / (height1 - height2))
        a = b
    return first, last


@kernel
def touch_edge(m: Model, d: Data, side: int, pair: tuple[int, int], normal: Vec3, radius: float, changed: bool) -> int:
    """Write the contacts of an edge of shape `side` with a face of the other shape; return the number of contacts.

    `pair` is the edge and the face; `radius` is the radius around the edge. `changed` specifies that the normal of the
    exact contact is not that of a face. If so, and if only one end of the edge is near, its contact is written twice,
    as in MuJoCo 4.0.0.
    """
    out = normal if side == 0 else scale3(normal, -1.0)
    against = scale3(out, -1.0)
    up = face_normal(m, d, 1 - side, pair[1], against)
    ends = edge_ends(m, d, side, pair[0], out)
    if radius > 0.0:
        along = edge_direction(m, d, side, pair[0], out)
        offset = scale3(add_scaled3(out, along, -dot3(out, along)), radius)
        ends = add3(ends[0], offset), add3(ends[1], offset)
    first, last = clip_edge(m, d, 1 - side, pair[1], ends, against)
    if first > last:
        return 0
    common = up if side == 1 else scale3(up, -1.0)
    base = face_corner(m, d, 1 - side, pair[1], 0, against)
    count = 0
    for k in range(2):
        point = add_scaled3(ends[0], sub3(ends[1], ends[0]), first if k == 0 else last)
        dist = dot3(sub3(point, base), up)
        if dist <= d.work.near_margin:
            put_contact(d, count, dist, add_scaled3(point, up, -0.5 * dist), common)
            count += 1
    if count == 1 and changed:
        put_contact(d, 1, d.work.near_dist[0], get3(d.work.near_pos, 0), common)
        count = 2
    return count


@kernel
def find_manifold(m: Model, d: Data, normal: Vec3, radius1: float, radius2: float) -> int:
    """Write several contacts of the two shapes in ``d.work.shape_*``; return the number of contacts.

    `normal` is the unit normal of the exact contact; `radius1` and `radius2` are the radii around the shapes. If the
    result is 0, the shapes have only the exact contact, which is not written here.
    """
    feature1 = find_feature(m, d, 0, normal)
    feature2 = find_feature(m, d, 1, scale3(normal, -1.0))
    if feature1[0] == NO_FEATURE or feature2[0] == NO_FEATURE:
        return 0
    features = (feature1, feature2)
    faces = find_faces(d, features, normal)
    if faces[0] >= 0:
        return touch_faces(m, d, faces, normal)
    changed = feature1[0] != INSIDE_FACE and feature2[0] != INSIDE_FACE
    pair = find_edge_and_face(d, 0, features, normal)
    if pair[0] >= 0:
        return touch_edge(m, d, 0, pair, normal, radius1, changed)
    pair = find_edge_and_face(d, 1, features, normal)
    if pair[0] >= 0:
        return touch_edge(m, d, 1, pair, normal, radius2, changed)
    return 0
