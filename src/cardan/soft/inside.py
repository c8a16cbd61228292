"""Self-contacts of a flex.

*Internal* contacts prevent elements from being turned inside out. A vertex of a tetrahedron collides with the face
opposite to it. A vertex of a segment or triangle collides with the adjacent elements that the compiler listed. All
other self-contacts are contacts of elements whose vertices have no body in common. Three methods find these contacts:

- a test of all pairs of elements;
- a sweep along the axis on which the flex is longest (sweep and prune, with bins across the axis);
- a traversal of the bounding tree against itself.

The order of the contacts, and of the two elements of each contact, is as in the reference.

Sources: D. Baraff, Dynamic Simulation of Non-Penetrating Rigid Bodies, PhD thesis, Cornell (1992), section 2.2 (sweep);
S. Gottschalk, M. Lin, D. Manocha, OBBTree, SIGGRAPH 1996 (trees against each other).
"""

from __future__ import annotations

from math import inf

from cardan.collision.capsule import closest_on_half, spheres_contact
from cardan.collision.contact import flex_side, put_contact
from cardan.enums.codes import FLEXSELF_AUTO, FLEXSELF_BVH, FLEXSELF_NARROW, FLEXSELF_NONE
from cardan.jit import OK, kernel, stack_int_array
from cardan.maths.types import IntArray1, Vec3
from cardan.maths.vector import add_scaled3, cross, dot3, get3, normalize3, sub3
from cardan.model.kernel_views import Data, Model
from cardan.soft.flex import (
    element_point,
    element_vertex,
    is_active,
    meets_row,
    segment_half,
    segment_middle,
    share_body,
)
from cardan.soft.near import NO_GEOM, append_contacts, element_element, point_triangle

DEEPEST_TREE = 60
STACK = 256
NODE = 2**32
"""Base that encodes a pair of nodes as one integer on the stack: `NODE` times the first node, plus the second node."""
SLACK = 1.0 - 1e-9
ROUND = 1.0 + 1e-9
"""Relative safety margins against rounding errors: `SLACK` in `is_thick`, `ROUND` for the widths of bins."""
FACES = ((0, 1, 2), (0, 2, 3), (0, 3, 1), (1, 3, 2))
OPPOSITE = (3, 1, 2, 0)
"""Corners of the faces of a tetrahedron, oriented outwards, and the vertex opposite to each face."""


@kernel
def append_inside(
    m: Model, d: Data, found: int, flex: int, element1: int, vertex1: int, element2: int, vertex2: int
) -> int:
    """Append `found` contacts between parts of a flex; return a status. Ids that do not apply are -1.

    Margin and gap of these contacts are 0, so contacts of parts that do not penetrate are excluded.
    """
    first, side = d.ncon, flex_side(flex)
    status = append_contacts(m, d, found, side, element1, vertex1, side, element2, vertex2)
    for con in range(first, d.ncon):
        d.contact.includemargin[con] = 0.0
        d.contact.exclude[con] = 1 if d.contact.dist[con] >= 0.0 else 0
    return status


# internal -----------------------------------------------------------------------


@kernel
def vertex_face(m: Model, d: Data, flex: int, element: int, face: int) -> int:
    """Write the contact of a face (0 to 3) of a tetrahedron with its opposite vertex, if there is one.

    Returns:
        The number of contacts (0 or 1).
    """
    a = element_point(m, d, flex, element, FACES[face][0])
    b = element_point(m, d, flex, element, FACES[face][1])
    c = element_point(m, d, flex, element, FACES[face][2])
    point = element_point(m, d, flex, element, OPPOSITE[face])
    inward = normalize3(cross(sub3(c, a), sub3(b, a)))
    height = dot3(sub3(point, a), inward)
    dist = height - 2.0 * m.flex_radius[flex]
    if dist > d.work.near_margin:
        return 0
    put_contact(d, 0, dist, add_scaled3(point, inward, -0.5 * height), inward)
    return 1


@kernel
def is_thick(a: Vec3, b: Vec3, c: Vec3, e: Vec3, reach: float) -> bool:
    """Return True if a quick test proves that all heights of a tetrahedron are more than `reach`.

    The height of a vertex above its opposite face is six times the volume, divided by twice the area of this face.
    """
    ab, ac, ae = sub3(b, a), sub3(c, a), sub3(e, a)
    volume = dot3(cross(ac, ab), ae)
    if volume <= 0.0:
        return False
    bound = SLACK * volume * volume
    square = reach * reach
    bc, be = sub3(c, b), sub3(e, b)
    n0, n1, n2, n3 = cross(ab, ac), cross(ac, ae), cross(ae, ab), cross(bc, be)
    largest = max(dot3(n0, n0), dot3(n1, n1), dot3(n2, n2), dot3(n3, n3))
    return bound > square * largest


@kernel
def collide_tetrahedra(m: Model, d: Data, flex: int) -> int:
    """Append the frictionless contacts of all vertices of tetrahedra with their opposite faces; return a status."""
    reach = 2.0 * m.flex_radius[flex] + d.work.near_margin
    for element in range(m.flex_elemnum[flex]):
        a, b = element_point(m, d, flex, element, 0), element_point(m, d, flex, element, 1)
        c, e = element_point(m, d, flex, element, 2), element_point(m, d, flex, element, 3)
        if is_thick(a, b, c, e, reach):
            continue
        for face in range(4):
            found = vertex_face(m, d, flex, element, face)
            if found > 0:
                vertex = element_vertex(m, flex, element, OPPOSITE[face]) - m.flex_vertadr[flex]
                first = d.ncon
                status = append_inside(m, d, found, flex, element, -1, -1, vertex)
                if d.ncon > first:
                    d.contact.dim[first] = 1
                if status != OK:
                    return status
    return OK


@kernel
def vertex_element(m: Model, d: Data, flex: int, vertex: int, element: int) -> int:
    """Write the contacts of a vertex with a segment or triangle `element` of the same `flex`; return their number."""
    point = get3(d.flexvert_xpos, m.flex_vertadr[flex] + vertex)
    radius = m.flex_radius[flex]
    if m.flex_dim[flex] == 2:
        return point_triangle(m, d, point, radius, flex, element)
    middle, half = segment_middle(m, d, flex, element), segment_half(m, d, flex, element)
    return spheres_contact(d, 0, NO_GEOM, point, radius, NO_GEOM, closest_on_half(middle, half, point), radius)


@kernel
def collide_listed(m: Model, d: Data, flex: int) -> int:
    """Append the contacts of the pairs of elements and vertices that the compiler listed; return a status."""
    for pair in range(m.flex_evpairadr[flex], m.flex_evpairadr[flex] + m.flex_evpairnum[flex]):
        element, vertex = m.flex_evpair[pair, 0], m.flex_evpair[pair, 1]
        found = vertex_element(m, d, flex, vertex, element)
        status = append_inside(m, d, found, flex, -1, vertex, element, -1)
        if status != OK:
            return status
    return OK


# pairs of elements --------------------------------------------------------------


@kernel
def collide_elements(m: Model, d: Data, flex: int, element1: int, element2: int) -> int:
    """Append the contacts of two elements with overlapping boxes, unless they have a common body; return a status."""
    if share_body(m, flex, element1, flex, element2):
        return OK
    found = element_element(m, d, flex, element1, flex, element2)
    return append_inside(m, d, found, flex, element1, -1, element2, -1)


# sweep --------------------------------------------------------------------------


@kernel
def extent(m: Model, d: Data, flex: int, axis: int) -> float:
    """Extent of a flex along an axis."""
    box, first = d.flexelem_aabb, m.flex_elemadr[flex]
    low, high = inf, -inf
    for row in range(first, first + m.flex_elemnum[flex]):
        low = min(low, box[row, axis] - box[row, 3 + axis])
        high = max(high, box[row, axis] + box[row, 3 + axis])
    return high - low


@kernel
def sweep_axis(m: Model, d: Data, flex: int) -> int:
    """Axis along which the extent of a flex is largest."""
    x, y, z = extent(m, d, flex, 0), extent(m, d, flex, 1), extent(m, d, flex, 2)
    if x >= y and x >= z:
        return 0
    return 1 if y >= z else 2


@kernel
def begins_later(d: Data, i: int, key: float, element: int) -> bool:
    """Return whether the element at position `i` begins after `key`, or at `key` and has an id > `element`."""
    other = d.work.element_key[i]
    return other > key or (other == key and d.work.element_order[i] > element)


@kernel
def sort_elements(m: Model, d: Data, flex: int, n: int, axis: int) -> None:
    """Sort the `n` elements in ``work.element_order`` by their lower ends along an axis, then by id (Shell sort).

    The lower ends are stored in ``work.element_key``.
    """
    for i in range(n):
        element = d.work.element_order[i]
        low = inf
        for k in range(m.flex_dim[flex] + 1):
            low = min(low, d.flexvert_xpos[element_vertex(m, flex, element, k), axis])
        d.work.element_key[i] = low - m.flex_radius[flex]
    gap = 1
    while 3 * gap + 1 < n:
        gap = 3 * gap + 1
    while gap >= 1:
        for i in range(gap, n):
            key, element = d.work.element_key[i], d.work.element_order[i]
            j = i
            while j >= gap and begins_later(d, j - gap, key, element):
                d.work.element_key[j] = d.work.element_key[j - gap]
                d.work.element_order[j] = d.work.element_order[j - gap]
                j -= gap
            d.work.element_key[j] = key
            d.work.element_order[j] = element
        gap //= 3


@kernel
def lay_bins(d: Data, n: int, side: int) -> tuple[float, float, int]:
    """Create empty bins along an axis perpendicular to the sweep; return lowest end, bin width and number of bins.

    `side` is the column of ``element_bounds`` with the elements' lower ends on this axis. No element's box is longer
    than a bin. If a value is not finite, there is only one bin.
    """
    bounds = d.work.element_bounds
    low, high, width = inf, -inf, 0.0
    for i in range(n):
        low, high = min(low, bounds[i, side]), max(high, bounds[i, side + 1])
        width = max(width, bounds[i, side + 1] - bounds[i, side])
    width *= ROUND
    number = int((high - low) / width) + 1 if high - low < width * (n - 1) else 1
    for k in range(number):
        d.work.bin_element[k] = -1
    return low, width, number


@kernel
def bin_at(place: float, low: float, width: float, number: int) -> int:
    """Index of the bin that contains a coordinate; coordinates beyond the bins belong to the first or last bin."""
    if number == 1:
        return 0
    steps = (place - low) / width
    if not steps > 0.0:
        return 0
    return number - 1 if steps >= number - 1 else int(steps)


@kernel
def look_into_bin(d: Data, i: int, k: int, hits: int) -> int:
    """Add the elements in bin `k` that overlap the element at position `i` of the sweep to the list of hits.

    ``d.work.element_active`` lists the positions of the `hits` found so far, in descending order. Elements that end
    before the element at position `i` begins are removed from the bin. Return the new number of hits.
    """
    start = d.work.element_key[i]
    before, j = -1, d.work.bin_element[k]
    while j >= 0:
        after = d.work.element_next[j]
        if d.work.element_bounds[j, 0] < start:
            if before < 0:
                d.work.bin_element[k] = after
            else:
                d.work.element_next[before] = after
        else:
            before = j
            bounds = d.work.element_bounds
            if (
                bounds[j, 1] <= bounds[i, 2]
                and bounds[j, 2] >= bounds[i, 1]
                and bounds[j, 3] <= bounds[i, 4]
                and bounds[j, 4] >= bounds[i, 3]
            ):
                at = hits
                while at > 0 and d.work.element_active[at - 1] < j:
                    d.work.element_active[at] = d.work.element_active[at - 1]
                    at -= 1
                d.work.element_active[at] = j
                hits += 1
        j = after
    return hits


@kernel
def collide_sweep(m: Model, d: Data, flex: int) -> int:
    """Append the contacts of pairs of elements by a sweep along an axis; return a status.

    Each element is compared with the elements in nearby bins (`lay_bins`) that begin before this element and do not end
    before it begins.
    """
    n = 0
    for element in range(m.flex_elemnum[flex]):
        if is_active(m, flex, element):
            d.work.element_order[n] = element
            n += 1
    if n < 2:
        return OK
    axis = sweep_axis(m, d, flex)
    sort_elements(m, d, flex, n, axis)
    # boxes in the order of the sweep: upper end on its axis, then lower and upper ends on the two others
    box, first = d.flexelem_aabb, m.flex_elemadr[flex]
    y, z = (axis + 1) % 3, (axis + 2) % 3
    for i in range(n):
        row = first + d.work.element_order[i]
        d.work.element_bounds[i, 0] = box[row, axis] + box[row, 3 + axis]
        d.work.element_bounds[i, 1] = box[row, y] - box[row, 3 + y]
        d.work.element_bounds[i, 2] = box[row, y] + box[row, 3 + y]
        d.work.element_bounds[i, 3] = box[row, z] - box[row, 3 + z]
        d.work.element_bounds[i, 4] = box[row, z] + box[row, 3 + z]
    side = 1 if extent(m, d, flex, (axis + 1) % 3) >= extent(m, d, flex, (axis + 2) % 3) else 3
    low, width, number = lay_bins(d, n, side)
    for i in range(n):
        lower, upper = d.work.element_bounds[i, side], d.work.element_bounds[i, side + 1]
        hits = 0
        for k in range(bin_at(lower - width, low, width, number), bin_at(upper, low, width, number) + 1):
            hits = look_into_bin(d, i, k, hits)
        for k in range(hits - 1, -1, -1):
            j = d.work.element_active[k]
            status = collide_elements(m, d, flex, d.work.element_order[j], d.work.element_order[i])
            if status != OK:
                return status
        k = bin_at(lower, low, width, number)
        d.work.element_next[i] = d.work.bin_element[k]
        d.work.bin_element[k] = i
    return OK


# tree ---------------------------------------------------------------------------


@kernel
def spread_measure(d: Data, node: int) -> float:
    """Size of a node. The larger of two nodes is opened first, which affects only the order of contacts.

    As in the reference, the row of the box (centre, half sizes) is read as if it held the lower and upper corners.
    """
    box = d.bvh_aabb_dyn
    x, y, z = box[node, 3] - box[node, 0], box[node, 4] - box[node, 1], box[node, 5] - box[node, 2]
    return x * y + y * z + z * x


@kernel
def nodes_meet(d: Data, node1: int, node2: int) -> bool:
    """Return whether the boxes of two nodes of dynamic bounding trees overlap."""
    box = d.bvh_aabb_dyn
    center = (box[node1, 0], box[node1, 1], box[node1, 2])
    return meets_row(box, node2, center, (box[node1, 3], box[node1, 4], box[node1, 5]))


@kernel
def push(stack: IntArray1, n: int, node1: int, node2: int) -> int:
    """Push a pair of nodes on the stack; return the new height of the stack."""
    stack[n] = node1 * NODE + node2
    return n + 1


@kernel
def open_nodes(m: Model, d: Data, first: int, stack: IntArray1, n: int, node1: int, node2: int) -> int:
    """Replace a pair of nodes: push each child of one node, paired with the other node; return the stack's height.

    If both are the same node, push the pairs of its children. At least one of the nodes must not be a leaf.
    """
    child = m.bvh_child
    static = m.nbvhstatic
    if node1 == node2:
        left, right = first + child[static + node1, 0], first + child[static + node1, 1]
        n = push(stack, n, left, left)
        n = push(stack, n, left, right)
        return push(stack, n, right, right)
    leaf1, leaf2 = m.bvh_nodeid[static + node1] >= 0, m.bvh_nodeid[static + node2] >= 0
    if leaf2 or (not leaf1 and spread_measure(d, node1) > spread_measure(d, node2)):
        n = push(stack, n, first + child[static + node1, 0], node2)
        return push(stack, n, first + child[static + node1, 1], node2)
    n = push(stack, n, node1, first + child[static + node2, 0])
    return push(stack, n, node1, first + child[static + node2, 1])


@kernel
def collide_tree(m: Model, d: Data, flex: int) -> int:
    """Append the contacts of pairs of elements by a traversal of the flex's tree against itself; return a status.

    Nodes that are opened are marked in ``bvh_active``.
    """
    stack = stack_int_array(STACK)
    first = m.flex_bvhadr[flex] - m.nbvhstatic
    n = push(stack, 0, first, first)
    while n > 0:
        n -= 1
        node1, node2 = stack[n] // NODE, stack[n] % NODE
        element1, element2 = m.bvh_nodeid[m.nbvhstatic + node1], m.bvh_nodeid[m.nbvhstatic + node2]
        if element1 >= 0 and element2 >= 0:
            if (
                node1 != node2
                and is_active(m, flex, element1)
                and is_active(m, flex, element2)
                and nodes_meet(d, node1, node2)
            ):
                status = collide_elements(m, d, flex, element1, element2)
                if status != OK:
                    return status
        elif node1 == node2 or nodes_meet(d, node1, node2):
            d.bvh_active[m.nbvhstatic + node1] = 1
            d.bvh_active[m.nbvhstatic + node2] = 1
            n = open_nodes(m, d, first, stack, n, node1, node2)
    return OK


# choice of the method ------------------------------------------------------------


@kernel
def collide_itself(m: Model, d: Data, flex: int) -> int:
    """Append all self-contacts of a flex, internal contacts first; return a status.

    A flex that is rigid, or whose contype and conaffinity have no common bit, has none. The margin of the flex is
    ignored, so parts must overlap to touch.
    """
    if m.flex_rigid[flex] != 0 or not m.flex_contype[flex] & m.flex_conaffinity[flex]:
        return OK
    d.work.near_margin = 0.0
    if m.flex_internal[flex] != 0:
        status = collide_tetrahedra(m, d, flex) if m.flex_dim[flex] == 3 else collide_listed(m, d, flex)
        if status != OK:
            return status
    method = m.flex_selfcollide[flex]
    if method == FLEXSELF_NONE:
        return OK
    if method == FLEXSELF_NARROW:
        for element1 in range(m.flex_elemnum[flex]):
            if is_active(m, flex, element1):
                for element2 in range(element1 + 1, m.flex_elemnum[flex]):
                    row1, row2 = m.flex_elemadr[flex] + element1, m.flex_elemadr[flex] + element2
                    box = d.flexelem_aabb
                    center = (box[row1, 0], box[row1, 1], box[row1, 2])
                    half = (box[row1, 3], box[row1, 4], box[row1, 5])
                    if is_active(m, flex, element2) and meets_row(box, row2, center, half):
                        status = collide_elements(m, d, flex, element1, element2)
                        if status != OK:
                            return status
        return OK
    has_tree = m.flex_bvhnum[flex] > 0 and m.aux.flex_bvh_depth[flex] <= DEEPEST_TREE
    if has_tree and (method == FLEXSELF_BVH or (method == FLEXSELF_AUTO and m.flex_dim[flex] == 3)):
        return collide_tree(m, d, flex)
    return collide_sweep(m, d, flex)
