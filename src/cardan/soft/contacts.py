"""Collision detection with flexes: selection of the pairs of geoms, flexes and elements to check.

The stage checks pairs in this order: each body with the bodies after it and then with all flexes; pairs of different
flexes; each flex with itself. Bodies and flexes are in the order of their ids. A plane collides with the vertices of a
flex; any other geom collides with its elements. Two flexes collide by their elements. Two elements with vertices on the
same body do not collide. An element with a vertex on the body of a geom does not collide with this geom.

Spec: modelling, deformable objects; XML reference, flex/contact.
"""

from __future__ import annotations

from cardan.collision.broadphase import bits_match
from cardan.collision.capsule import axis_z
from cardan.collision.contact import flex_side, pair_margin, put_contact
from cardan.collision.detection import NO_CONTACT, collide_candidate, find_candidates
from cardan.collision.plane import plane_height
from cardan.enums.codes import GEOM_PLANE
from cardan.jit import OK, exact, kernel, stage
from cardan.maths.types import Vec3
from cardan.maths.vector import add_scaled3, get3
from cardan.model.kernel_views import Data, Model
from cardan.soft.flex import find_elements, find_near_element, geom_center, geom_half, is_active, on_body, share_body
from cardan.soft.inside import collide_itself
from cardan.soft.near import append_contacts, element_element, geom_element


@kernel
def geom_meets_flex(m: Model, geom: int, flex: int) -> bool:
    """Return whether the contact bits (contype, conaffinity) of a geom and a flex let the two collide."""
    contype, conaffinity = m.geom_contype[geom], m.geom_conaffinity[geom]
    return bits_match(contype, conaffinity, m.flex_contype[flex], m.flex_conaffinity[flex])


@kernel
def flexes_meet(m: Model, flex1: int, flex2: int) -> bool:
    """Return whether the contact bits (contype, conaffinity) of two flexes let the two collide."""
    contype, conaffinity = m.flex_contype[flex1], m.flex_conaffinity[flex1]
    return bits_match(contype, conaffinity, m.flex_contype[flex2], m.flex_conaffinity[flex2])


@kernel
def plane_vertex(m: Model, d: Data, plane: int, flex: int, vertex: int, normal: Vec3) -> int:
    """Write the contact of geom `plane` (unit normal `normal`) and a vertex of a flex, if there is one.

    Return the number of contacts (0 or 1).
    """
    radius = m.flex_radius[flex]
    point = get3(d.flexvert_xpos, m.flex_vertadr[flex] + vertex)
    dist = plane_height(d, plane, point) - radius
    if dist > d.work.near_margin:
        return 0
    put_contact(d, 0, dist, add_scaled3(point, normal, -radius - 0.5 * dist), normal)
    return 1


@kernel
def collide_geom(m: Model, d: Data, geom: int, flex: int) -> int:
    """Append all contacts of a geom with a flex; return a status."""
    side = flex_side(flex)
    d.work.near_margin = pair_margin(m, geom, side)
    if m.geom_type[geom] == GEOM_PLANE:
        normal = axis_z(d.geom_xmat, geom)
        for vertex in range(m.flex_vertnum[flex]):
            found = plane_vertex(m, d, geom, flex, vertex, normal)
            if found > 0:
                status = append_contacts(m, d, found, geom, -1, -1, flex_side(flex), -1, vertex)
                if status != OK:
                    return status
        return OK
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
def collide_flexes(m: Model, d: Data, flex1: int, flex2: int) -> int:
    """Append all contacts of two flexes, ordered by the element of `flex1`, then of `flex2`; return a status."""
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


@kernel
def collide_with_bodies(m: Model, d: Data, ncandidate: int) -> int:
    """Append all contacts between geoms, and between geoms and flexes; return a status.

    The first `ncandidate` rows of ``work.candidate`` are the pairs of geoms to check.
    """
    k, pair = 0, d.work.candidate
    for body in range(m.nbody):
        while k < ncandidate and min(m.geom_bodyid[pair[k, 0]], m.geom_bodyid[pair[k, 1]]) <= body:
            status = collide_candidate(m, d, pair[k, 0], pair[k, 1], pair[k, 2])
            if status != OK:
                return status
            k += 1
        if m.body_geomnum[body] > 0:
            for flex in range(m.nflex):
                for geom in range(m.body_geomadr[body], m.body_geomadr[body] + m.body_geomnum[body]):
                    if geom_meets_flex(m, geom, flex):
                        status = collide_geom(m, d, geom, flex)
                        if status != OK:
                            return status
    return OK


@stage
@exact
def soft_collision(m: Model, d: Data) -> int:
    """Find all contacts of geoms and flexes (``mj_collision``); return a status.

    Reads geom_xpos, geom_xmat, flexvert_xpos, flexelem_aabb, bvh_aabb_dyn. Writes ncon, contact, and the elements of
    bvh_active (nbvh,) that belong to the nodes of flexes.
    """
    d.ncon = 0
    for node in range(m.nbvhstatic, m.nbvh):
        d.bvh_active[node] = 0
    if m.opt.disableflags & NO_CONTACT or m.nconmax == 0:
        return OK
    status, ncandidate = find_candidates(m, d, False)
    if status == OK:
        status = collide_with_bodies(m, d, ncandidate)
    if status != OK:
        return status
    for flex1 in range(m.nflex):
        for flex2 in range(flex1 + 1, m.nflex):
            status = collide_flexes(m, d, flex1, flex2)
            if status != OK:
                return status
    for flex in range(m.nflex):
        status = collide_itself(m, d, flex)
        if status != OK:
            return status
    return OK
