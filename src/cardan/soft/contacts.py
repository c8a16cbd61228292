"""Contacts of flexes with geoms and with each other: selection of pairs, and storage of the contacts found.

If a geom is a plane, it collides with the vertices of a flex, otherwise with its elements. Two flexes collide by their
elements. Elements that share a body with the other side are left out.

Spec: modelling, deformable objects; XML reference, flex/contact.
"""

from __future__ import annotations

from cardan.collision.capsule import axis_z
from cardan.collision.detection import complete_contact, take_room
from cardan.collision.filters import bits_match
from cardan.collision.near import put_contact
from cardan.collision.parameters import flex_side, pair_margin
from cardan.collision.plane import plane_height
from cardan.enums.codes import GEOM_PLANE
from cardan.jit import OK, kernel
from cardan.maths.types import Vec3
from cardan.maths.vector import add_scaled3, get3
from cardan.model.kernel_views import Data, Model
from cardan.model.tables import GROW_CON
from cardan.soft.boxes import find_elements, find_near_element, geom_center, geom_half, is_active
from cardan.soft.flex import element_vertex
from cardan.soft.near import element_element, geom_element


@kernel
def append_contacts(
    m: Model, d: Data, found: int, side1: int, element1: int, vertex1: int, side2: int, element2: int, vertex2: int
) -> int:
    """Append contacts of the near phase; element and vertex ids that do not apply are -1. Return a status."""
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


@kernel
def geom_meets_flex(m: Model, geom: int, flex: int) -> bool:
    """Whether the contact bits of a geom and a flex let them collide."""
    contype, conaffinity = m.geom_contype[geom], m.geom_conaffinity[geom]
    return bits_match(contype, conaffinity, m.flex_contype[flex], m.flex_conaffinity[flex])


@kernel
def flexes_meet(m: Model, flex1: int, flex2: int) -> bool:
    """Whether the contact bits of two flexes let them collide."""
    contype, conaffinity = m.flex_contype[flex1], m.flex_conaffinity[flex1]
    return bits_match(contype, conaffinity, m.flex_contype[flex2], m.flex_conaffinity[flex2])


@kernel
def on_body(m: Model, flex: int, element: int, body: int) -> bool:
    """Whether any vertex of an element is fixed to a body."""
    for k in range(m.flex_dim[flex] + 1):
        if m.flex_vertbodyid[element_vertex(m, flex, element, k)] == body:
            return True
    return False


@kernel
def share_body(m: Model, flex1: int, element1: int, flex2: int, element2: int) -> bool:
    """Whether two elements have vertices fixed to the same body."""
    for k in range(m.flex_dim[flex1] + 1):
        if on_body(m, flex2, element2, m.flex_vertbodyid[element_vertex(m, flex1, element1, k)]):
            return True
    return False


@kernel
def plane_vertex(m: Model, d: Data, plane: int, flex: int, vertex: int, normal: Vec3) -> int:
    """Find the contact of a plane with the given normal and a vertex of a flex; return the number of contacts."""
    radius = m.flex_radius[flex]
    point = get3(d.flexvert_xpos, m.flex_vertadr[flex] + vertex)
    dist = plane_height(d, plane, point) - radius
    if dist > d.work.near_margin:
        return 0
    put_contact(d, 0, dist, add_scaled3(point, normal, -radius - 0.5 * dist), normal)
    return 1


@kernel
def collide_plane(m: Model, d: Data, plane: int, flex: int) -> int:
    """Append the contacts of a plane and a flex's vertices within its margin; return a status."""
    normal = axis_z(d.geom_xmat, plane)
    for vertex in range(m.flex_vertnum[flex]):
        found = plane_vertex(m, d, plane, flex, vertex, normal)
        if found > 0:
            status = append_contacts(m, d, found, plane, -1, -1, flex_side(flex), -1, vertex)
            if status != OK:
                return status
    return OK


@kernel
def collide_geom(m: Model, d: Data, geom: int, flex: int) -> int:
    """Append all contacts of a geom with a flex; return a status."""
    side = flex_side(flex)
    d.work.near_margin = pair_margin(m, geom, side)
    if m.geom_type[geom] == GEOM_PLANE:
        return collide_plane(m, d, geom, flex)
    n = find_elements(m, d, flex, geom_center(m, d, geom), geom_half(m, d, geom, d.work.near_margin))
    for i in range(n):
        element = d.work.found_element[i]
        if not on_body(m, flex, element, m.geom_bodyid[geom]):
            found = geom_element(m, d, geom, flex, element)
            status = append_contacts(m, d, found, geom, -1, -1, side, element, -1)
            if status != OK:
                return status
    return OK


@kernel
def collide_body(m: Model, d: Data, body: int, flex: int) -> int:
    """Append all contacts of a body's geoms with a flex, in the order of the geoms; return a status."""
    for geom in range(m.body_geomadr[body], m.body_geomadr[body] + m.body_geomnum[body]):
        if geom_meets_flex(m, geom, flex):
            status = collide_geom(m, d, geom, flex)
            if status != OK:
                return status
    return OK


@kernel
def collide_flexes(m: Model, d: Data, flex1: int, flex2: int) -> int:
    """Append all contacts of two flexes, ordered by element of the first, then of the second; return a status."""
    if not flexes_meet(m, flex1, flex2):
        return OK
    side1, side2 = flex_side(flex1), flex_side(flex2)
    d.work.near_margin = pair_margin(m, side1, side2)
    for element1 in range(m.flex_elemnum[flex1]):
        if is_active(m, flex1, element1):
            n = find_near_element(m, d, flex1, element1, flex2, d.work.near_margin)
            for i in range(n):
                element2 = d.work.found_element[i]
                if not share_body(m, flex1, element1, flex2, element2):
                    found = element_element(m, d, flex1, element1, flex2, element2)
                    status = append_contacts(m, d, found, side1, element1, -1, side2, element2, -1)
                    if status != OK:
                        return status
    return OK
