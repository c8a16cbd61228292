"""Contacts at a distance, which are used only in derivatives (``contacts="smooth"``; docs/derivatives.md has the law).

In the model that is differentiated, and only there, pairs of sides within a distance ``reach`` repel each other weakly.
A side is a geom or a flex. Pairs that touch are unchanged. A pair at a distance r beyond its margin, 0 < r < reach, has
contacts at its nearest points. Their impedance is ``NEAR (1 - r / reach)^2``, their depth ``reach - r``, and they have
no damping. Reference acceleration, regulariser and friction cones are those of the constraint model. Distances,
positions and normals have tangents, like those of real contacts (`derive.contact`).

A pair with a flex has contacts of the nearest elements (with a plane, of the nearest vertices). A pair that touches
anywhere is unchanged. There are no contacts at a distance within a flex.
"""

from __future__ import annotations

from collections.abc import Callable

from cardan.collision.broadphase import bits_match, bodies_may_collide
from cardan.collision.capsule import axis_z
from cardan.collision.contact import explicit_pair_margin, flex_side, geom_pair_margin, pair_margin
from cardan.collision.detection import NO_CONTACT, collision, complete_contact, find_collider, take_room
from cardan.collision.distance import are_apart, is_curved, leave_cores, load_core, put_closest, set_gap, smooth_gap
from cardan.collision.gjk import find_closest
from cardan.collision.midphase import spheres_apart
from cardan.constraint.contact import contact_rows
from cardan.constraint.rows import MIN_IMPEDANCE, set_regularizer
from cardan.enums.codes import GEOM_BOX, GEOM_CAPSULE, GEOM_HFIELD, GEOM_PLANE, GEOM_SPHERE
from cardan.jit import CALLBACK_FAILED, OK, call_collider, exact, kernel, stage
from cardan.maths.types import ConstArray1
from cardan.model.kernel_views import Data, Model
from cardan.model.tables import GROW_CON
from cardan.soft.contacts import flexes_meet, geom_meets_flex, on_body, plane_vertex, share_body, soft_collision
from cardan.soft.flex import find_elements, find_near_element, geom_center, geom_half, is_active, load_element
from cardan.soft.near import element_element, geom_element

IntPair = tuple[int, int]
Scan = Callable[..., tuple[int, float]]

NEAR = 0.1
"""Impedance of a contact at a distance just before its sides touch: the largest that it can have."""
SLACK = 0.05
"""Largest distance of a pair's contacts beyond its nearest contact, as a fraction of the reach."""
SEARCHES = 4
"""Maximum number of searches for the nearest contacts, with smaller and smaller margins."""
FAR = 1e300
"""Distance that means that no contact was found."""


# pairs: two sides, each a geom or `flex_side` of a flex


@kernel
def is_pair(m: Model, pair: int, geom1: int, geom2: int) -> bool:
    """Return whether the explicit pair `pair` consists of `geom1` and `geom2`, in either order."""
    first, second = m.pair_geom1[pair], m.pair_geom2[pair]
    return (first == geom1 and second == geom2) or (first == geom2 and second == geom1)


@kernel
def is_distant(d: Data, con: int) -> bool:
    """Return whether a contact is at a distance, and not a contact in the gap of a margin."""
    return d.contact.exclude[con] == 0 and d.contact.dist[con] >= d.contact.includemargin[con]


@kernel
def side_of(d: Data, con: int, side: int) -> int:
    """Number of a side of a contact: the geom's id, or `flex_side` of the flex."""
    geom = int(d.contact.geom[con, side])
    return geom if geom >= 0 else flex_side(int(d.contact.flex[con, side]))


@kernel
def have_contact(d: Data, count: int, side1: int, side2: int) -> bool:
    """Return whether any of the first `count` contacts is between `side1` and `side2`, in either order."""
    for con in range(count):
        a, b = side_of(d, con, 0), side_of(d, con, 1)
        if (a == side1 and b == side2) or (a == side2 and b == side1):
            return True
    return False


@kernel
def least_distance(distances: ConstArray1, begin: int, end: int) -> float:
    """Smallest of the distances from index `begin` to `end` - 1."""
    least = distances[begin]
    for k in range(begin + 1, end):
        least = min(least, distances[k])
    return least


@kernel
def distant_margin(d: Data, con: int, end: int) -> float:
    """Margin at which the contacts `con` to `end` - 1 of a pair at a distance were found."""
    return least_distance(d.contact.dist, con, end) + SLACK * d.work.reach


@kernel
def distant_pair_margin(d: Data, side1: int, side2: int) -> float:
    """Margin at which the contacts at a distance between a flex and another side were found."""
    least = FAR
    for con in range(d.ncon):
        if is_distant(d, con) and side_of(d, con, 0) == side1 and side_of(d, con, 1) == side2:
            least = min(least, d.contact.dist[con])
    return least + SLACK * d.work.reach


@kernel
def note(
    m: Model, d: Data, found: int, append: bool, sides: IntPair, pair: int, elements: IntPair, vertex: int
) -> tuple[int, float]:
    """Return a status and the smallest distance among the `found` contacts of a pair.

    If `append` is set, also append to ``d.contact`` those contacts whose distance exceeds their margin. Return GROW_CON
    if they do not fit. `sides`, `pair`, `elements` and `vertex` identify the pair and are stored with its contacts.
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
        complete_contact(m, d, con, k, sides[0], sides[1], pair)
        if d.contact.dist[con] > d.contact.includemargin[con]:
            d.contact.exclude[con] = 0
            d.contact.elem[con, 0], d.contact.elem[con, 1] = elements
            d.contact.vert[con, 1] = vertex
            d.ncon = con + 1
    return OK, least


@kernel
def add_nearest(m: Model, d: Data, scan: Scan, side1: int, side2: int, pair: int, address: int, margin: float) -> int:
    """Append contacts at the nearest points of two sides that don't touch but are within reach. Return a status.

    A collision function finds some contacts within a margin, not always the nearest. For convex shapes, distances are
    more accurate if the margin is smaller. The search is therefore repeated with smaller margins, starting from
    `margin` plus the reach. `scan` searches for contacts within ``work.near_margin``; for two geoms, it calls the
    function at `address`.
    """
    least, nearest = FAR, margin + d.work.reach
    for _ in range(SEARCHES):
        d.work.near_margin = nearest
        status, nearer = scan(m, d, side1, side2, pair, address, False)
        if status != OK:
            return status
        if nearer >= least:
            break
        least = nearer
        within = least + SLACK * d.work.reach
        nearest = within if side2 >= 0 else min(nearest, within)
    if least == FAR:
        return OK
    d.work.near_margin = nearest
    status, _ = scan(m, d, side1, side2, pair, address, True)
    return status


# geoms


@kernel
def scan_geoms(m: Model, d: Data, geom1: int, geom2: int, pair: int, address: int, append: bool) -> tuple[int, float]:
    """Run the collision function of two geoms. If `append` is set, append the contacts. Results as for `note`."""
    found = call_collider(address, m, d, geom1, geom2)
    if found < 0:
        return CALLBACK_FAILED, FAR
    return note(m, d, found, append, (geom1, geom2), pair, (-1, -1), -1)


@kernel
def add_geoms(m: Model, d: Data, count: int, geom1: int, geom2: int, pair: int) -> int:
    """Append the contacts at a distance between `geom1` and `geom2`. Return a status.

    The first `count` contacts are not at a distance. `pair` is the explicit pair, or -1.
    """
    if m.geom_type[geom1] > m.geom_type[geom2]:
        geom1, geom2 = geom2, geom1
    margin = explicit_pair_margin(m, pair) if pair >= 0 else geom_pair_margin(m, geom1, geom2)
    if spheres_apart(m, d, geom1, geom2, margin + d.work.reach) or have_contact(d, count, geom1, geom2):
        return OK
    status, address = find_collider(m, d, geom1, geom2, pair)
    if status != OK or address == 0:
        return status
    return add_nearest(m, d, scan_geoms, geom1, geom2, pair, address, margin)


@kernel
def geoms_may_meet(m: Model, geom1: int, geom2: int) -> bool:
    """Return whether two geoms pass the filters for bodies and contact bits.

    If their bodies are excluded, or the geoms are an explicit pair, the result is false.
    """
    body1, body2 = int(m.geom_bodyid[geom1]), int(m.geom_bodyid[geom2])
    if not bits_match(
        m.geom_contype[geom1], m.geom_conaffinity[geom1], m.geom_contype[geom2], m.geom_conaffinity[geom2]
    ):
        return False
    if not bodies_may_collide(m, body1, body2):
        return False
    signature = (min(body1, body2) << 16) + max(body1, body2)
    for k in range(m.nexclude):
        if m.exclude_signature[k] == signature:
            return False
    for pair in range(m.npair):
        if is_pair(m, pair, geom1, geom2):
            return False
    return True


@kernel
def distant_contacts(m: Model, d: Data) -> int:
    """Append the contacts of all pairs of geoms that don't touch but are within ``work.reach``. Return a status."""
    while d.ncon > 0 and is_distant(d, d.ncon - 1):
        d.ncon -= 1  # left over from a run that was stopped
    count = int(d.ncon)
    if m.opt.disableflags & NO_CONTACT or m.nconmax == 0:
        return OK
    for pair in range(m.npair):
        status = add_geoms(m, d, count, int(m.pair_geom1[pair]), int(m.pair_geom2[pair]), pair)
        if status != OK:
            return status
    for geom1 in range(m.ngeom):
        for geom2 in range(geom1 + 1, m.ngeom):
            if geoms_may_meet(m, geom1, geom2):
                status = add_geoms(m, d, count, geom1, geom2, -1)
                if status != OK:
                    return status
    return OK


# flexes


@kernel
def load_points(m: Model, d: Data, shape: int, flex: int, element: int) -> float:
    """Load a flex element as shape `shape` of the pair, with radius 0. Return the flex's radius."""
    load_element(m, d, shape, flex, element)
    d.work.shape_size[shape, 0] = 0.0
    return m.flex_radius[flex]


@kernel
def has_formula(kind: int, dim: int) -> bool:
    """Return whether elements of dimension `dim` collide with geoms of type `kind` (not planes) by a formula.

    The result is also true for height fields, with which elements collide cell by cell.
    """
    formula = (dim == 1 and kind in (GEOM_SPHERE, GEOM_CAPSULE, GEOM_BOX)) or (dim == 2 and kind == GEOM_SPHERE)
    return formula or kind == GEOM_HFIELD


@kernel
def find_gap(m: Model, d: Data, radii: float) -> int:
    """Compute the nearest points of the cores in ``d.work.shape_*``, if they are within the margin plus `radii`.

    Return the number of vertices of the last simplex, or 0 if the cores overlap or are farther apart.
    """
    d.work.shape_inflate = 0.0
    found, n = find_closest(m, d, d.work.near_margin + radii)
    if not are_apart(d, found):
        return 0
    set_gap(d)
    return n


@kernel
def convex_apart(m: Model, d: Data, geom: int, flex: int, element: int) -> int:
    """Compute the contact at the nearest points of a convex geom and an element that don't touch. Return 0 or 1."""
    radius1 = load_core(m, d, 0, geom)
    radius2 = load_points(m, d, 1, flex, element)
    n = find_gap(m, d, radius1 + radius2)
    if n == 0:
        return 0
    if is_curved(m, geom):
        smooth_gap(m, d, n)
    return put_closest(d, 0, leave_cores(d, radius1, radius2))


@kernel
def elements_apart(m: Model, d: Data, flex1: int, element1: int, flex2: int, element2: int) -> int:
    """Compute the contact at the nearest points of two elements that don't touch. Return the number of contacts.

    `element1` is an element of flex `flex1`, `element2` of flex `flex2`.
    """
    radius1 = load_points(m, d, 0, flex1, element1)
    radius2 = load_points(m, d, 1, flex2, element2)
    if find_gap(m, d, radius1 + radius2) == 0:
        return 0
    return put_closest(d, 0, leave_cores(d, radius1, radius2))


@kernel
def scan_plane(m: Model, d: Data, plane: int, flex: int, append: bool) -> tuple[int, float]:
    """Compute the contacts of a flex's vertices within ``work.near_margin`` of a plane.

    If `append` is set, append the contacts. Results as for `note`.
    """
    normal, least = axis_z(d.geom_xmat, plane), FAR
    for vertex in range(m.flex_vertnum[flex]):
        found = plane_vertex(m, d, plane, flex, vertex, normal)
        status, distance = note(m, d, found, append, (plane, flex_side(flex)), -1, (-1, -1), vertex)
        if status != OK:
            return status, least
        least = min(least, distance)
    return OK, least


@kernel
def scan_geom(m: Model, d: Data, geom: int, flex: int, append: bool) -> tuple[int, float]:
    """Compute the contacts of a flex's elements within ``work.near_margin`` of a geom.

    If `append` is set, append the contacts. Results as for `note`.
    """
    least = FAR
    n = find_elements(m, d, flex, geom_center(m, d, geom), geom_half(m, d, geom, d.work.near_margin))
    for i in range(n):
        element = d.work.found_element[i]
        if not on_body(m, flex, element, m.geom_bodyid[geom]):
            if has_formula(m.geom_type[geom], m.flex_dim[flex]):
                found = geom_element(m, d, geom, flex, element)
            else:
                found = convex_apart(m, d, geom, flex, element)
            status, distance = note(m, d, found, append, (geom, flex_side(flex)), -1, (-1, element), -1)
            if status != OK:
                return status, least
            least = min(least, distance)
    return OK, least


@kernel
def scan_flexes(m: Model, d: Data, flex1: int, flex2: int, append: bool) -> tuple[int, float]:
    """Compute the contacts between elements of two flexes that are within ``work.near_margin`` of each other.

    If `append` is set, append the contacts. Results as for `note`.
    """
    least, sides = FAR, (flex_side(flex1), flex_side(flex2))
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
                    status, distance = note(m, d, found, append, sides, -1, (element1, element2), -1)
                    if status != OK:
                        return status, least
                    least = min(least, distance)
    return OK, least


@kernel
def scan_flex(m: Model, d: Data, side1: int, side2: int, pair: int, address: int, append: bool) -> tuple[int, float]:
    """Compute the contacts within ``work.near_margin`` of a pair whose second side is a flex.

    If `append` is set, append the contacts. Results as for `note`.
    """
    flex = flex_side(side2)
    if side1 < 0:
        return scan_flexes(m, d, flex_side(side1), flex, append)
    if m.geom_type[side1] == GEOM_PLANE:
        return scan_plane(m, d, side1, flex, append)
    return scan_geom(m, d, side1, flex, append)


@kernel
def add_flex(m: Model, d: Data, count: int, side1: int, flex: int) -> int:
    """Append the contacts at a distance between `side1` (a geom or a flex) and another flex. Return a status."""
    side2 = flex_side(flex)
    if have_contact(d, count, side1, side2):
        return OK
    return add_nearest(m, d, scan_flex, side1, side2, -1, 0, pair_margin(m, side1, side2))


@kernel
def distant_soft_contacts(m: Model, d: Data, count: int) -> int:
    """Append contacts at a distance of all pairs with flexes; `count` contacts exist already. Return a status."""
    for flex in range(m.nflex):
        for geom in range(m.ngeom):
            if geom_meets_flex(m, geom, flex):
                status = add_flex(m, d, count, geom, flex)
                if status != OK:
                    return status
        for flex1 in range(flex):
            if flexes_meet(m, flex1, flex):
                status = add_flex(m, d, count, flex_side(flex1), flex)
                if status != OK:
                    return status
    return OK


# stages


@stage
def collision_with_distance(m: Model, d: Data) -> int:
    """Run `collision`, and then append the contacts at a distance."""
    status = collision(m, d)
    return distant_contacts(m, d) if status == OK else status


@stage
@exact
def soft_collision_with_distance(m: Model, d: Data) -> int:
    """Run `soft_collision`, and then append the contacts at a distance."""
    status = soft_collision(m, d)
    if status != OK or m.opt.disableflags & NO_CONTACT or m.nconmax == 0:
        return status
    count = int(d.ncon)
    status = distant_contacts(m, d)
    return distant_soft_contacts(m, d, count) if status == OK else status


@stage
def soften_distant(m: Model, d: Data) -> int:
    """Set impedance, depth and regulariser of the rows of contacts at a distance, and set their damping to 0."""
    reach = d.work.reach
    for con in range(d.ncon):
        row = int(d.contact.efc_address[con])
        if row >= 0 and is_distant(d, con):
            beyond = d.contact.dist[con] - d.contact.includemargin[con]
            share = max(1.0 - beyond / reach, 0.0)
            impedance = max(NEAR * share * share, MIN_IMPEDANCE)
            before = d.efc_KBIP[row, 2]
            scale = (1.0 - impedance) / impedance * before / (1.0 - before)
            for i in range(row, row + contact_rows(m, d, con)[1]):
                d.efc_KBIP[i, 1] = 0.0
                d.efc_KBIP[i, 2] = impedance
                d.efc_margin[i] = d.contact.includemargin[con] + reach
                set_regularizer(d, i, scale * d.efc_R[i])
    return OK
