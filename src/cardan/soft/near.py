"""Near phase of flexes: contacts of an element with a geom, with another element, and with a vertex.

Segments are treated as capsules. The contact of a sphere and a triangle is at the triangle's closest point (Ericson,
Real-Time Collision Detection, 2005, sections 5.1.5 and 5.2.1), as is, under compat 4.0, that of a sphere and a
tetrahedron. The convex collision function handles all other pairs.
The normal points from the first shape to the second.
"""

from __future__ import annotations

from cardan.collision.capsule import capsules_contact, closest_on_half, half_axis, spheres_contact
from cardan.collision.capsule_box import capsule_box_contacts
from cardan.collision.contact import put_contact
from cardan.collision.detection import complete_contact, take_room
from cardan.collision.hfield import bound_in_field, collide_prisms
from cardan.collision.mpr import portal_refinement
from cardan.collision.support import load_geom
from cardan.enums.codes import GEOM_BOX, GEOM_CAPSULE, GEOM_HFIELD, GEOM_SPHERE
from cardan.jit import OK, kernel
from cardan.maths.simplex import tetrahedron_weights, weighted_sum
from cardan.maths.types import Vec3
from cardan.maths.vector import MINVAL, add_scaled3, cross, dot3, get3, get9, norm3, normalize3, scale3, sub3
from cardan.model.kernel_views import Data, Model
from cardan.model.tables import GROW_CON
from cardan.soft.flex import element_point, load_element, place_element, segment_half, segment_middle


@kernel
def closest_on_triangle(p: Vec3, a: Vec3, b: Vec3, c: Vec3) -> Vec3:
    """Point of the triangle (a, b, c) closest to `p`, found by the Voronoi regions of its corners, sides and face."""
    ab, ac, ap = sub3(b, a), sub3(c, a), sub3(p, a)
    d1, d2 = dot3(ab, ap), dot3(ac, ap)
    if d1 <= 0.0 and d2 <= 0.0:
        return a
    bp = sub3(p, b)
    d3, d4 = dot3(ab, bp), dot3(ac, bp)
    if d3 >= 0.0 and d4 <= d3:
        return b
    vc = d1 * d4 - d3 * d2
    if vc <= 0.0 and d1 >= 0.0 and d3 <= 0.0:
        return add_scaled3(a, ab, d1 / (d1 - d3))
    cp = sub3(p, c)
    d5, d6 = dot3(ab, cp), dot3(ac, cp)
    if d6 >= 0.0 and d5 <= d6:
        return c
    vb = d5 * d2 - d1 * d6
    if vb <= 0.0 and d2 >= 0.0 and d6 <= 0.0:
        return add_scaled3(a, ac, d2 / (d2 - d6))
    va = d3 * d6 - d5 * d4
    if va <= 0.0 and d4 >= d3 and d5 >= d6:
        return add_scaled3(b, sub3(c, b), (d4 - d3) / ((d4 - d3) + (d5 - d6)))
    scale = 1.0 / (va + vb + vc)
    return add_scaled3(add_scaled3(a, ab, vb * scale), ac, vc * scale)


@kernel
def separates(axis: Vec3, a: Vec3, b: Vec3, c: Vec3, e: Vec3, f: Vec3, g: Vec3, reach: float) -> bool:
    """Return whether triangles (a, b, c) and (e, f, g) are more than `reach` apart along `axis` (of any length)."""
    a_, b_, c_ = dot3(axis, a), dot3(axis, b), dot3(axis, c)
    e_, f_, g_ = dot3(axis, e), dot3(axis, f), dot3(axis, g)
    gap = max(min(e_, f_, g_) - max(a_, b_, c_), min(a_, b_, c_) - max(e_, f_, g_))
    return gap > 0.0 and gap * gap > reach * reach * dot3(axis, axis)


@kernel
def apart_beside(a: Vec3, b: Vec3, c: Vec3, e: Vec3, f: Vec3, g: Vec3, reach: float) -> bool:
    """Return whether triangles (a, b, c) and (e, f, g) are more than `reach` apart along an axis of the first triangle.

    The axes are the triangle's normal, and the normals of its sides in its plane.
    """
    ab, bc, ca = sub3(b, a), sub3(c, b), sub3(a, c)
    normal = cross(ab, bc)
    return (
        separates(cross(normal, ab), a, b, c, e, f, g, reach)
        or separates(cross(normal, bc), a, b, c, e, f, g, reach)
        or separates(cross(normal, ca), a, b, c, e, f, g, reach)
        or separates(normal, a, b, c, e, f, g, reach)
    )


NO_GEOM = -1
ROUND = 1.0 + 1e-9
"""Factor that enlarges distances to be safe from rounding errors."""


@kernel
def convex_contact(m: Model, d: Data, k: int) -> int:
    """Write contact `k` of the two shapes in ``d.work.shape_*``, if there is one; return the new number of contacts.

    Unlike in `cardan.collision.convex.collide_shapes`, the normal is always that of the portal.
    """
    d.work.shape_inflate = 0.5 * d.work.near_margin
    if not portal_refinement(m, d):
        return k
    dist = d.work.near_margin - d.work.overlap_depth
    put_contact(d, k, dist, get3(d.work.overlap_pos, 0), get3(d.work.overlap_normal, 0))
    return k + 1


@kernel
def geom_segment(m: Model, d: Data, geom: int, flex: int, element: int) -> int:
    """Write the contacts of a sphere, capsule or box `geom` and a segment of a `flex`; return their number."""
    middle, half = segment_middle(m, d, flex, element), segment_half(m, d, flex, element)
    radius = m.flex_radius[flex]
    center, size = get3(d.geom_xpos, geom), m.geom_size[geom, 0]
    if m.geom_type[geom] == GEOM_SPHERE:
        return spheres_contact(d, 0, geom, center, size, NO_GEOM, closest_on_half(middle, half, center), radius)
    if m.geom_type[geom] == GEOM_CAPSULE:
        return capsules_contact(d, geom, center, half_axis(m, d, geom), size, NO_GEOM, middle, half, radius)
    n = capsule_box_contacts(m, d, middle, half, radius, geom)
    for k in range(n):
        put_contact(d, k, d.work.near_dist[k], get3(d.work.near_pos, k), scale3(get3(d.work.near_frame, k), -1.0))
    return n


@kernel
def hfield_element(m: Model, d: Data, geom: int, flex: int) -> int:
    """Write the contacts between a height field and the element loaded as shape 1; return their number.

    As in the reference, the element's radius is ignored when the cells below the element are selected.
    """
    place_element(d, 1, get3(d.geom_xpos, geom), get9(d.geom_xmat, geom))
    d.work.shape_size[1, 0] = 0.0
    d.work.shape_inflate = d.work.near_margin
    bound_in_field(m, d)
    d.work.shape_size[1, 0] = m.flex_radius[flex]
    d.work.field_reach[5] += m.flex_radius[flex]
    return collide_prisms(m, d, geom, convex_contact)


@kernel
def geom_element(m: Model, d: Data, geom: int, flex: int, element: int) -> int:
    """Write the contacts of a geom (not a plane) and an element; return their number."""
    kind, dim = m.geom_type[geom], m.flex_dim[flex]
    if dim == 1 and kind in (GEOM_SPHERE, GEOM_CAPSULE, GEOM_BOX):
        return geom_segment(m, d, geom, flex, element)
    if dim == 2 and kind == GEOM_SPHERE:
        return point_triangle(m, d, get3(d.geom_xpos, geom), m.geom_size[geom, 0], flex, element)
    if is_sphere_on_solid(m, geom, flex):
        return sphere_tetrahedron(m, d, geom, flex, element)
    load_element(m, d, 1, flex, element)
    if kind == GEOM_HFIELD:
        return hfield_element(m, d, geom, flex)
    load_geom(m, d, 0, geom)
    return convex_contact(m, d, 0)


@kernel
def point_triangle(m: Model, d: Data, center: Vec3, radius: float, flex: int, element: int) -> int:
    """Write the contact of a sphere and the triangle `element` of a `flex`, if there is one.

    The sphere has the given `center` (m, world frame) and `radius` (m). Return the number of contacts (0 or 1).
    """
    a, b = element_point(m, d, flex, element, 0), element_point(m, d, flex, element, 1)
    c = element_point(m, d, flex, element, 2)
    between = sub3(closest_on_triangle(center, a, b, c), center)
    length = norm3(between)
    dist = length - radius - m.flex_radius[flex]
    if dist > d.work.near_margin:
        return 0
    normal = scale3(between, 1.0 / length) if length >= MINVAL else (1.0, 0.0, 0.0)
    put_contact(d, 0, dist, add_scaled3(center, normal, radius + 0.5 * dist), normal)
    return 1


@kernel
def _height(point: Vec3, a: Vec3, b: Vec3, c: Vec3, opposite: Vec3) -> tuple[float, Vec3]:
    """Height of a point over the plane of a face (a, b, c), and the face's unit normal, away from corner `opposite`."""
    normal = normalize3(cross(sub3(b, a), sub3(c, a)))
    if dot3(normal, sub3(opposite, a)) > 0.0:
        normal = scale3(normal, -1.0)
    return dot3(normal, sub3(point, a)), normal


@kernel
def is_sphere_on_solid(m: Model, geom: int, flex: int) -> bool:
    """Return whether contacts of a geom and a flex are those of `sphere_tetrahedron`: under compat 4.0."""
    return m.is_4_0 != 0 and m.geom_type[geom] == GEOM_SPHERE and m.flex_dim[flex] == 3


@kernel
def sphere_tetrahedron(m: Model, d: Data, geom: int, flex: int, element: int) -> int:
    """Write the contact of a sphere and a tetrahedron of a flex, if there is one; return the number of contacts.

    If the centre is inside, the sphere leaves through the nearest face.
    """
    center, radius = get3(d.geom_xpos, geom), m.geom_size[geom, 0]
    p0, p1 = element_point(m, d, flex, element, 0), element_point(m, d, flex, element, 1)
    p2, p3 = element_point(m, d, flex, element, 2), element_point(m, d, flex, element, 3)
    a, b, c, e = sub3(p0, center), sub3(p1, center), sub3(p2, center), sub3(p3, center)
    w = tetrahedron_weights(a, b, c, e)
    between = add_scaled3(weighted_sum(a, b, c, (w[0], w[1], w[2])), e, w[3])
    length = norm3(between)
    if length >= MINVAL:
        normal, dist = scale3(between, 1.0 / length), length
    else:
        dist, outward = _height(center, p0, p1, p2, p3)
        height1, normal1 = _height(center, p0, p2, p3, p1)
        if height1 > dist:
            dist, outward = height1, normal1
        height2, normal2 = _height(center, p0, p3, p1, p2)
        if height2 > dist:
            dist, outward = height2, normal2
        height3, normal3 = _height(center, p1, p2, p3, p0)
        if height3 > dist:
            dist, outward = height3, normal3
        normal = scale3(outward, -1.0)
    dist -= radius + m.flex_radius[flex]
    if dist > d.work.near_margin:
        return 0
    put_contact(d, 0, dist, add_scaled3(center, normal, radius + 0.5 * dist), normal)
    return 1


@kernel
def are_apart(m: Model, d: Data, flex1: int, element1: int, flex2: int, element2: int) -> bool:
    """Return True if a quick test proves that two triangles (elements of flexes) are more than the margin apart."""
    a, b = element_point(m, d, flex1, element1, 0), element_point(m, d, flex1, element1, 1)
    e, f = element_point(m, d, flex2, element2, 0), element_point(m, d, flex2, element2, 1)
    c, g = element_point(m, d, flex1, element1, 2), element_point(m, d, flex2, element2, 2)
    reach = (m.flex_radius[flex1] + m.flex_radius[flex2] + d.work.near_margin) * ROUND
    return apart_beside(a, b, c, e, f, g, reach) or apart_beside(e, f, g, a, b, c, reach)


@kernel
def element_element(m: Model, d: Data, flex1: int, element1: int, flex2: int, element2: int) -> int:
    """Write the contacts of `element1` of `flex1` and `element2` of `flex2`; return their number."""
    if m.flex_dim[flex1] == 1 and m.flex_dim[flex2] == 1:
        middle1, half1 = segment_middle(m, d, flex1, element1), segment_half(m, d, flex1, element1)
        middle2, half2 = segment_middle(m, d, flex2, element2), segment_half(m, d, flex2, element2)
        radius1, radius2 = m.flex_radius[flex1], m.flex_radius[flex2]
        return capsules_contact(d, NO_GEOM, middle1, half1, radius1, NO_GEOM, middle2, half2, radius2)
    if m.flex_dim[flex1] == 2 and m.flex_dim[flex2] == 2 and are_apart(m, d, flex1, element1, flex2, element2):
        return 0
    load_element(m, d, 0, flex1, element1)
    load_element(m, d, 1, flex2, element2)
    return convex_contact(m, d, 0)


@kernel
def append_contacts(
    m: Model, d: Data, found: int, side1: int, element1: int, vertex1: int, side2: int, element2: int, vertex2: int
) -> int:
    """Append the `found` contacts of the near phase, as far as they fit; return a status.

    `side1` and `side2` are as for `complete_contact`. The element and vertex ids belong to the two flexes; ids that do
    not apply are -1.
    """
    found = take_room(m, d, found)
    if found < 0:
        return GROW_CON
    first = d.ncon
    for k in range(found):
        con = first + k
        complete_contact(m, d, con, k, side1, side2, -1)
        d.contact.elem[con, 0] = element1
        d.contact.elem[con, 1] = element2
        d.contact.vert[con, 0] = vertex1
        d.contact.vert[con, 1] = vertex2
    d.ncon = first + found
    return OK
