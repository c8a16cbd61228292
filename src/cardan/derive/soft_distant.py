"""Contacts of flexes at a distance, as `derive.distant` has those of geoms.

A *pair* is a geom and a flex, or two flexes. If they don't touch anywhere, the elements (with a plane, the vertices)
that are nearest have contacts at a distance; a flex that touches is as it is. Within a flex there are none.
"""

from __future__ import annotations

from typing import Any

from cardan.collision.capsule import axis_z
from cardan.collision.contact import flex_side, pair_margin
from cardan.collision.detection import NO_CONTACT, complete_contact, take_room
from cardan.collision.distance import are_apart, is_curved, leave_cores, load_core, put_closest, set_gap, smooth_gap
from cardan.collision.gjk import find_closest
from cardan.derive.distant import SEARCHES, SLACK, distant_contacts, is_distant, least_distance
from cardan.enums.codes import GEOM_BOX, GEOM_CAPSULE, GEOM_HFIELD, GEOM_PLANE, GEOM_SPHERE
from cardan.jit import OK, exact, kernel, stage
from cardan.model.kernel_views import Data, Model
from cardan.model.tables import GROW_CON
from cardan.soft.boxes import find_elements, find_near_element, geom_center, geom_half, is_active
from cardan.soft.contacts import flexes_meet, geom_meets_flex, on_body, plane_vertex, share_body, soft_collision
from cardan.soft.flex import load_element
from cardan.soft.near import element_element, geom_element

FAR = 1e300
"""Distance of what is not found."""


@kernel
def load_points(m: Model, d: Data, shape: int, flex: int, element: int) -> float:
    """Make an element without its radius, which is returned, shape `shape` of the pair."""
    load_element(m, d, shape, flex, element)
    d.work.shape_size[shape, 0] = 0.0
    return m.flex_radius[flex]


@kernel
def has_formula(m: Model, geom: int, flex: int) -> bool:
    """Whether a geom, other than a plane, and elements of a flex meet by a formula, or cell by cell."""
    kind, dim = m.geom_type[geom], m.flex_dim[flex]
    return (
        kind == GEOM_HFIELD
        or (dim == 1 and kind in (GEOM_SPHERE, GEOM_CAPSULE, GEOM_BOX))
        or (dim == 2 and kind == GEOM_SPHERE)
    )


@kernel
def find_gap(m: Model, d: Data, radii: float) -> int:
    """Find where the cores in ``d.work.shape_*`` are nearest, within the margin and the radii around them.

    Returns:
        The number of vertices of the last simplex; 0 if they are not apart, or farther apart.
    """
    d.work.shape_inflate = 0.0
    found, n = find_closest(m, d, d.work.near_margin + radii)
    if not are_apart(d, found):
        return 0
    set_gap(d)
    return n


@kernel
def convex_apart(m: Model, d: Data, geom: int, flex: int, element: int) -> int:
    """The contact of a convex geom and an element that are apart: where they are nearest, exactly."""
    radius1 = load_core(m, d, 0, geom)
    radius2 = load_points(m, d, 1, flex, element)
    n = find_gap(m, d, radius1 + radius2)
    if n == 0:
        return 0
    if is_curved(m, geom):
        smooth_gap(m, d, n)
    return put_closest(d, leave_cores(d, radius1, radius2))


@kernel
def elements_apart(m: Model, d: Data, flex1: int, element1: int, flex2: int, element2: int) -> int:
    """The contact of two elements that are apart: where they are nearest, exactly."""
    radius1 = load_points(m, d, 0, flex1, element1)
    radius2 = load_points(m, d, 1, flex2, element2)
    if find_gap(m, d, radius1 + radius2) == 0:
        return 0
    return put_closest(d, leave_cores(d, radius1, radius2))


@kernel
def is_of_pair(d: Data, con: int, side1: int, flex: int) -> bool:
    """Whether a contact is of a side (a geom, or `flex_side` of a flex) and a flex."""
    if d.contact.flex[con, 1] != flex:
        return False
    if side1 >= 0:
        return d.contact.geom[con, 0] == side1
    return d.contact.geom[con, 0] < 0 and d.contact.flex[con, 0] == flex_side(side1)


@kernel
def pair_touches(d: Data, count: int, side1: int, flex: int) -> bool:
    """Whether one of the first `count` contacts is of the pair."""
    for con in range(count):
        if is_of_pair(d, con, side1, flex):
            return True
    return False


@kernel
def note(
    m: Model, d: Data, found: int, append: bool, side1: int, flex: int, element1: int, element2: int, vertex: int
) -> Any:
    """Append what the near phase found as contacts at a distance, if that is wanted.

    Returns:
        A status, and the least of the distances.
    """
    if found <= 0:
        return OK, FAR
    least = least_distance(d.work.near_dist, 0, found)
    if not append:
        return OK, least
    found = take_room(m, d, found)
    if found < 0:
        return GROW_CON, least
    for k in range(found):
        con = int(d.ncon)
        complete_contact(m, d, con, k, side1, flex_side(flex), -1)
        if d.contact.dist[con] > d.contact.includemargin[con]:
            d.contact.exclude[con] = 0
            d.contact.elem[con, 0], d.contact.elem[con, 1] = element1, element2
            d.contact.vert[con, 0], d.contact.vert[con, 1] = -1, vertex
            d.ncon = con + 1
    return OK, least


@kernel
def scan_plane(m: Model, d: Data, plane: int, flex: int, append: bool) -> Any:
    """Look at the vertices of a flex within the margin of a plane: a status, and the least distance."""
    normal, least = axis_z(d.geom_xmat, plane), FAR
    for vertex in range(m.flex_vertnum[flex]):
        found = plane_vertex(m, d, plane, flex, vertex, normal)
        status, distance = note(m, d, found, append, plane, flex, -1, -1, vertex)
        if status != OK:
            return status, least
        least = min(least, distance)
    return OK, least


@kernel
def scan_geom(m: Model, d: Data, geom: int, flex: int, append: bool) -> Any:
    """Look at the elements of a flex within the margin of a geom: a status, and the least distance."""
    least = FAR
    n = find_elements(m, d, flex, geom_center(m, d, geom), geom_half(m, d, geom, d.work.near_margin))
    for i in range(n):
        element = d.work.found_element[i]
        if not on_body(m, flex, element, m.geom_bodyid[geom]):
            if has_formula(m, geom, flex):
                found = geom_element(m, d, geom, flex, element)
            else:
                found = convex_apart(m, d, geom, flex, element)
            status, distance = note(m, d, found, append, geom, flex, -1, element, -1)
            if status != OK:
                return status, least
            least = min(least, distance)
    return OK, least


@kernel
def scan_flexes(m: Model, d: Data, flex1: int, flex2: int, append: bool) -> Any:
    """Look at the elements of two flexes within the margin of each other: a status, and the least distance."""
    least = FAR
    for element1 in range(m.flex_elemnum[flex1]):
        if is_active(m, flex1, element1):
            n = find_near_element(m, d, flex1, element1, flex2, d.work.near_margin)
            for i in range(n):
                element2 = d.work.found_element[i]
                if not share_body(m, flex1, element1, flex2, element2):
                    if m.flex_dim[flex1] == 1 and m.flex_dim[flex2] == 1:
                        found = element_element(m, d, flex1, element1, flex2, element2)
                    else:
                        found = elements_apart(m, d, flex1, element1, flex2, element2)
                    status, distance = note(m, d, found, append, flex_side(flex1), flex2, element1, element2, -1)
                    if status != OK:
                        return status, least
                    least = min(least, distance)
    return OK, least


@kernel
def scan(m: Model, d: Data, side1: int, flex: int, append: bool) -> Any:
    """Look at a pair within ``work.near_margin``: a status, and the least distance."""
    if side1 < 0:
        return scan_flexes(m, d, flex_side(side1), flex, append)
    if m.geom_type[side1] == GEOM_PLANE:
        return scan_plane(m, d, side1, flex, append)
    return scan_geom(m, d, side1, flex, append)


@kernel
def nearest_margin(m: Model, d: Data, side1: int, flex: int) -> float:
    """The margin at which only the nearest of a pair is found; below 0 if there is nothing within reach.

    The margin is drawn in, since distances of convex shapes are the surer the nearer it is.
    """
    margin = pair_margin(m, side1, flex_side(flex)) + d.work.reach
    least = FAR
    for _ in range(SEARCHES):
        d.work.near_margin = margin
        _, nearer = scan(m, d, side1, flex, False)
        if nearer >= least:
            return margin if least < FAR else -1.0
        least = nearer
        margin = min(margin, least + SLACK * d.work.reach)
    return margin


@kernel
def add_distant_pair(m: Model, d: Data, count: int, side1: int, flex: int) -> int:
    """Append the contacts at a distance of a pair that does not touch; returns a status."""
    if pair_touches(d, count, side1, flex):
        return OK
    margin = nearest_margin(m, d, side1, flex)
    if margin < 0.0:
        return OK
    d.work.near_margin = margin
    status, _ = scan(m, d, side1, flex, True)
    return status


@kernel
def distant_soft_contacts(m: Model, d: Data, count: int) -> int:
    """Append the contacts at a distance of all pairs with flexes, of which the first `count` are made; a status."""
    for flex in range(m.nflex):
        for geom in range(m.ngeom):
            if geom_meets_flex(m, geom, flex):
                status = add_distant_pair(m, d, count, geom, flex)
                if status != OK:
                    return status
        for flex1 in range(flex):
            if flexes_meet(m, flex1, flex):
                status = add_distant_pair(m, d, count, flex_side(flex1), flex)
                if status != OK:
                    return status
    return OK


@kernel
def distant_pair_margin(d: Data, con: int) -> float:
    """The margin at which the pair of a contact at a distance was found."""
    side1, flex = int(d.contact.geom[con, 0]), d.contact.flex[con, 1]
    if side1 < 0:
        side1 = flex_side(int(d.contact.flex[con, 0]))
    first, end = con, con + 1
    while first > 0 and is_distant(d, first - 1) and is_of_pair(d, first - 1, side1, flex):
        first -= 1
    while end < d.ncon and is_distant(d, end) and is_of_pair(d, end, side1, flex):
        end += 1
    return least_distance(d.contact.dist, first, end) + SLACK * d.work.reach


@stage
@exact
def soft_collision_with_distance(m: Model, d: Data) -> int:
    """`soft_collision`, and then the contacts at a distance."""
    status = soft_collision(m, d)
    if status != OK or m.opt.disableflags & NO_CONTACT or m.nconmax == 0:
        return status
    count = int(d.ncon)
    status = distant_contacts(m, d)
    return distant_soft_contacts(m, d, count) if status == OK else status
