"""Kinematics of flexes: vertices, boxes of elements, bounding trees (spec: mj_flex); elements as collision shapes.

A flex consists of points (vertices), which are fixed to bodies, and of elements between them: segments, triangles or
tetrahedra, enlarged by a radius. Edges are handled in `soft.edges`. In collisions, elements are convex shapes with a
support function, or capsules.

The mid phase finds the elements whose boxes overlap a given box. Trees are stored depth first, with links to the node
after each subtree, so that traversal needs no stack (B. Smits, Efficiency Issues for Ray Tracing, Journal of Graphics
Tools 3(2), 1998).
"""

from __future__ import annotations

from cardan.enums.codes import GEOM_FLEX
from cardan.jit import OK, kernel, stage
from cardan.maths.types import ConstArray2, Mat3, Vec3
from cardan.maths.vector import add3, get3, get9, mul_mat_t_vec3, mul_mat_vec3, scale3, set3, sub3
from cardan.model.kernel_views import AnyModel, Data, Model


def has_flexes(m: AnyModel) -> bool:
    """Return whether the model has flexes."""
    return m.nflex > 0


@kernel
def vertex_position(m: Model, d: Data, vertex: int, centered: bool) -> Vec3:
    """Position of a vertex in the world frame. In a `centered` flex, each vertex is at the origin of its body."""
    body = m.flex_vertbodyid[vertex]
    if centered:
        return get3(d.xpos, body)
    return add3(get3(d.xpos, body), mul_mat_vec3(get9(d.xmat, body), get3(m.flex_vert, vertex)))


@kernel
def element_vertex(m: Model, flex: int, element: int, k: int) -> int:
    """Vertex `k` of an element of a flex, numbered over all flexes."""
    adr = m.flex_elemdataadr[flex] + element * (m.flex_dim[flex] + 1)
    return m.flex_vertadr[flex] + m.flex_elem[adr + k]


@stage
def flex(m: Model, d: Data) -> int:
    """Compute the vertices, element boxes and bounding trees of all flexes.

    Reads xpos, xmat; writes flexvert_xpos (nflexvert, 3), flexelem_aabb (nflexelem, 6), bvh_aabb_dyn (nbvhdynamic, 6).
    """
    for f in range(m.nflex):
        centered = m.flex_centered[f] != 0
        for vertex in range(m.flex_vertadr[f], m.flex_vertadr[f] + m.flex_vertnum[f]):
            set3(d.flexvert_xpos, vertex, vertex_position(m, d, vertex, centered))
        # boxes of the elements
        for element in range(m.flex_elemnum[f]):
            radius = m.flex_radius[f]
            low = get3(d.flexvert_xpos, element_vertex(m, f, element, 0))
            high = low
            for k in range(1, m.flex_dim[f] + 1):
                p = get3(d.flexvert_xpos, element_vertex(m, f, element, k))
                low = (min(low[0], p[0]), min(low[1], p[1]), min(low[2], p[2]))
                high = (max(high[0], p[0]), max(high[1], p[1]), max(high[2], p[2]))
            row = m.flex_elemadr[f] + element
            for k in range(3):
                d.flexelem_aabb[row, k] = 0.5 * (low[k] + high[k])
                d.flexelem_aabb[row, 3 + k] = 0.5 * (high[k] - low[k]) + radius
        # boxes of the bounding tree, from the leaves up; children come after their parents
        start = m.flex_bvhadr[f]
        first = start - m.nbvhstatic
        for k in range(m.flex_bvhnum[f] - 1, -1, -1):
            element = m.bvh_nodeid[start + k]
            if element >= 0:
                for i in range(6):
                    d.bvh_aabb_dyn[first + k, i] = d.flexelem_aabb[m.flex_elemadr[f] + element, i]
            else:
                left = first + m.bvh_child[start + k, 0]
                right = first + m.bvh_child[start + k, 1]
                box = d.bvh_aabb_dyn
                for i in range(3):
                    lower = min(box[left, i] - box[left, 3 + i], box[right, i] - box[right, 3 + i])
                    upper = max(box[left, i] + box[left, 3 + i], box[right, i] + box[right, 3 + i])
                    box[first + k, i] = 0.5 * (lower + upper)
                    box[first + k, 3 + i] = 0.5 * (upper - lower)
    return OK


@kernel
def element_point(m: Model, d: Data, flex: int, element: int, k: int) -> Vec3:
    """Position of vertex `k` of an element, world frame."""
    return get3(d.flexvert_xpos, element_vertex(m, flex, element, k))


@kernel
def load_element(m: Model, d: Data, shape: int, flex: int, element: int) -> None:
    """Load an element into ``d.work`` as `shape` (0 or 1) of a pair.

    The shape's centre is the centre of the element's box.
    """
    count = m.flex_dim[flex] + 1
    for k in range(count):
        set3(d.work.element, 4 * shape + k, element_point(m, d, flex, element, k))
    d.work.shape_type[shape] = GEOM_FLEX
    d.work.shape_nvert[shape] = count
    d.work.shape_size[shape, 0] = m.flex_radius[flex]
    row = m.flex_elemadr[flex] + element
    for k in range(3):
        d.work.shape_pos[shape, k] = d.flexelem_aabb[row, k]


@kernel
def place_element(d: Data, shape: int, place: Vec3, mat: Mat3) -> None:
    """Transform the element loaded as shape `shape` from the world frame to the frame with the pose `place`, `mat`."""
    for k in range(4 * shape, 4 * shape + d.work.shape_nvert[shape]):
        set3(d.work.element, k, mul_mat_t_vec3(mat, sub3(get3(d.work.element, k), place)))
    set3(d.work.shape_pos, shape, mul_mat_t_vec3(mat, sub3(get3(d.work.shape_pos, shape), place)))


@kernel
def segment_middle(m: Model, d: Data, flex: int, element: int) -> Vec3:
    """Midpoint of a segment (an element of a 1D flex), world frame."""
    return scale3(add3(element_point(m, d, flex, element, 0), element_point(m, d, flex, element, 1)), 0.5)


@kernel
def segment_half(m: Model, d: Data, flex: int, element: int) -> Vec3:
    """Vector from the midpoint of a segment (an element of a 1D flex) to its first vertex, world frame."""
    return scale3(sub3(element_point(m, d, flex, element, 0), element_point(m, d, flex, element, 1)), 0.5)


@kernel
def on_body(m: Model, flex: int, element: int, body: int) -> bool:
    """Return whether any vertex of an element is fixed to a body."""
    for k in range(m.flex_dim[flex] + 1):
        if m.flex_vertbodyid[element_vertex(m, flex, element, k)] == body:
            return True
    return False


@kernel
def share_body(m: Model, flex1: int, element1: int, flex2: int, element2: int) -> bool:
    """Return whether `element1` of `flex1` and `element2` of `flex2` have vertices fixed to the same body."""
    for k in range(m.flex_dim[flex1] + 1):
        if on_body(m, flex2, element2, m.flex_vertbodyid[element_vertex(m, flex1, element1, k)]):
            return True
    return False


@kernel
def geom_center(m: Model, d: Data, geom: int) -> Vec3:
    """Centre of the box around a geom, world frame."""
    local = (m.geom_aabb[geom, 0], m.geom_aabb[geom, 1], m.geom_aabb[geom, 2])
    return add3(get3(d.geom_xpos, geom), mul_mat_vec3(get9(d.geom_xmat, geom), local))


@kernel
def geom_half(m: Model, d: Data, geom: int, margin: float) -> Vec3:
    """Half sizes of the world-aligned box around a geom, enlarged by `margin` on each side."""
    x, y, z = m.geom_aabb[geom, 3], m.geom_aabb[geom, 4], m.geom_aabb[geom, 5]
    r = get9(d.geom_xmat, geom)
    return (
        abs(r[0]) * x + abs(r[1]) * y + abs(r[2]) * z + margin,
        abs(r[3]) * x + abs(r[4]) * y + abs(r[5]) * z + margin,
        abs(r[6]) * x + abs(r[7]) * y + abs(r[8]) * z + margin,
    )


@kernel
def meets_row(boxes: ConstArray2, row: int, center: Vec3, half: Vec3) -> bool:
    """Return whether a box (centre `center`, half sizes `half`) overlaps the box in row `row` of `boxes` (n, 6)."""
    return (
        abs(center[0] - boxes[row, 0]) <= half[0] + boxes[row, 3]
        and abs(center[1] - boxes[row, 1]) <= half[1] + boxes[row, 4]
        and abs(center[2] - boxes[row, 2]) <= half[2] + boxes[row, 5]
    )


@kernel
def is_active(m: Model, flex: int, element: int) -> bool:
    """Return whether an element is in a layer that collides: one of the first ``flex_activelayers`` layers."""
    return m.flex_elemlayer[m.flex_elemadr[flex] + element] < m.flex_activelayers[flex]


@kernel
def find_elements(m: Model, d: Data, flex: int, center: Vec3, half: Vec3) -> int:
    """List the active elements of a `flex` whose boxes overlap a given box; return their number.

    The given box has the centre `center` and half sizes `half` (m, world frame). The elements are listed in ascending
    order in ``d.work.found_element``. Overlapping nodes of the flex's bounding tree are marked in ``bvh_active``.
    """
    n = 0
    node = m.flex_bvhadr[flex] - m.nbvhstatic
    if m.flex_bvhnum[flex] > 0 and m.aux.flex_bvh_next[node] >= 0:
        end = node + m.flex_bvhnum[flex]
        while node < end:
            if meets_row(d.bvh_aabb_dyn, node, center, half):
                element = m.bvh_nodeid[m.nbvhstatic + node]
                d.bvh_active[m.nbvhstatic + node] = 1
                if element >= 0 and is_active(m, flex, element):
                    d.work.found_element[n] = element
                    n += 1
                node += 1
            else:
                node = m.aux.flex_bvh_next[node]
        # Shell sort
        gap = 1
        while 3 * gap + 1 < n:
            gap = 3 * gap + 1
        while gap >= 1:
            for i in range(gap, n):
                element = d.work.found_element[i]
                j = i
                while j >= gap and d.work.found_element[j - gap] > element:
                    d.work.found_element[j] = d.work.found_element[j - gap]
                    j -= gap
                d.work.found_element[j] = element
            gap //= 3
        return n
    for element in range(m.flex_elemnum[flex]):
        row = m.flex_elemadr[flex] + element
        if is_active(m, flex, element) and meets_row(d.flexelem_aabb, row, center, half):
            d.work.found_element[n] = element
            n += 1
    return n


@kernel
def find_near_element(m: Model, d: Data, flex: int, element: int, other: int, margin: float) -> int:
    """List the active elements of flex `other` with boxes within `margin` of an element's box; see `find_elements`."""
    row, box = m.flex_elemadr[flex] + element, d.flexelem_aabb
    half = (box[row, 3] + margin, box[row, 4] + margin, box[row, 5] + margin)
    return find_elements(m, d, other, (box[row, 0], box[row, 1], box[row, 2]), half)
