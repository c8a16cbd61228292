"""Flexes in space: vertices, boxes of elements, bounding trees (spec: mj_flex); elements as shapes of collisions.

A flex is a set of points (vertices), which are fixed to bodies, and of elements between them: segments, triangles or
tetrahedra, enlarged by a radius. Edges are handled in `soft.edges`. In collisions, elements are convex shapes with a
support function, or capsules.
"""

from __future__ import annotations

from typing import Any

from cardan.enums.codes import GEOM_FLEX
from cardan.jit import OK, kernel, stage
from cardan.maths.types import Mat3, Vec3
from cardan.maths.vector import add3, get3, get9, mul_mat_t_vec3, mul_mat_vec3, scale3, set3, sub3
from cardan.model.kernel_views import Data, Model


def has_flexes(m: Any) -> bool:
    """Whether the model has flexes."""
    return m.nflex > 0


@kernel
def vertex_position(m: Model, d: Data, vertex: int, centered: bool) -> Vec3:
    """Position of a vertex in the world frame; in a `centered` flex, it is the origin of its body."""
    body = m.flex_vertbodyid[vertex]
    if centered:
        return get3(d.xpos, body)
    return add3(get3(d.xpos, body), mul_mat_vec3(get9(d.xmat, body), get3(m.flex_vert, vertex)))


@kernel
def element_vertex(m: Model, flex: int, element: int, k: int) -> int:
    """Vertex `k` of an element of a flex, numbered over all flexes."""
    adr = m.flex_elemdataadr[flex] + element * (m.flex_dim[flex] + 1)
    return m.flex_vertadr[flex] + m.flex_elem[adr + k]


@kernel
def set_element_box(m: Model, d: Data, flex: int, element: int) -> None:
    """Compute the box around an element, including the radius."""
    radius = m.flex_radius[flex]
    low = get3(d.flexvert_xpos, element_vertex(m, flex, element, 0))
    high = low
    for k in range(1, m.flex_dim[flex] + 1):
        p = get3(d.flexvert_xpos, element_vertex(m, flex, element, k))
        low = (min(low[0], p[0]), min(low[1], p[1]), min(low[2], p[2]))
        high = (max(high[0], p[0]), max(high[1], p[1]), max(high[2], p[2]))
    row = m.flex_elemadr[flex] + element
    for k in range(3):
        d.flexelem_aabb[row, k] = 0.5 * (low[k] + high[k])
        d.flexelem_aabb[row, 3 + k] = 0.5 * (high[k] - low[k]) + radius


@kernel
def unite_boxes(d: Data, node: int, left: int, right: int) -> None:
    """Compute the box of a node of a dynamic tree from the boxes of its two children."""
    box = d.bvh_aabb_dyn
    for k in range(3):
        low = min(box[left, k] - box[left, 3 + k], box[right, k] - box[right, 3 + k])
        high = max(box[left, k] + box[left, 3 + k], box[right, k] + box[right, 3 + k])
        box[node, k] = 0.5 * (low + high)
        box[node, 3 + k] = 0.5 * (high - low)


@kernel
def set_tree_boxes(m: Model, d: Data, flex: int) -> None:
    """Compute the boxes of a flex's bounding tree, from the leaves up; children come after their parents."""
    start = m.flex_bvhadr[flex]
    first = start - m.nbvhstatic
    for k in range(m.flex_bvhnum[flex] - 1, -1, -1):
        element = m.bvh_nodeid[start + k]
        if element >= 0:
            for i in range(6):
                d.bvh_aabb_dyn[first + k, i] = d.flexelem_aabb[m.flex_elemadr[flex] + element, i]
        else:
            unite_boxes(d, first + k, first + m.bvh_child[start + k, 0], first + m.bvh_child[start + k, 1])


@stage
def flex(m: Model, d: Data) -> int:
    """Compute vertices, boxes and bounding trees of all flexes.

    Reads xpos, xmat; writes flexvert_xpos (nflexvert, 3), flexelem_aabb (nflexelem, 6), bvh_aabb_dyn (nbvhdynamic, 6).
    """
    for f in range(m.nflex):
        centered = m.flex_centered[f] != 0
        for vertex in range(m.flex_vertadr[f], m.flex_vertadr[f] + m.flex_vertnum[f]):
            set3(d.flexvert_xpos, vertex, vertex_position(m, d, vertex, centered))
        for element in range(m.flex_elemnum[f]):
            set_element_box(m, d, f, element)
        set_tree_boxes(m, d, f)
    return OK


@kernel
def element_point(m: Model, d: Data, flex: int, element: int, k: int) -> Vec3:
    """Position of vertex `k` of an element, world frame."""
    return get3(d.flexvert_xpos, element_vertex(m, flex, element, k))


@kernel
def load_element(m: Model, d: Data, shape: int, flex: int, element: int) -> None:
    """Load an element as shape `shape` (0 or 1) of the pair; its centre is the centre of its box."""
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
    """Transform the element loaded as shape `shape` to the frame with the origin `place` and the rotation `mat`."""
    for k in range(4 * shape, 4 * shape + d.work.shape_nvert[shape]):
        set3(d.work.element, k, mul_mat_t_vec3(mat, sub3(get3(d.work.element, k), place)))
    set3(d.work.shape_pos, shape, mul_mat_t_vec3(mat, sub3(get3(d.work.shape_pos, shape), place)))


@kernel
def segment_middle(m: Model, d: Data, flex: int, element: int) -> Vec3:
    """Middle of an element of a flex of segments."""
    return scale3(add3(element_point(m, d, flex, element, 0), element_point(m, d, flex, element, 1)), 0.5)


@kernel
def segment_half(m: Model, d: Data, flex: int, element: int) -> Vec3:
    """Vector from the middle of an element of a flex of segments to its first vertex."""
    return scale3(sub3(element_point(m, d, flex, element, 0), element_point(m, d, flex, element, 1)), 0.5)


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
