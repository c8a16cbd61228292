"""Mid phase of flexes: search for the elements that may touch a box, and overlap tests of boxes.

Trees are stored depth first, with links to the node after each subtree, so that traversal needs no stack: B. Smits,
Efficiency Issues for Ray Tracing, Journal of Graphics Tools 3(2), 1998.
"""

from __future__ import annotations

from cardan.jit import kernel
from cardan.maths.types import ConstArray2, Vec3
from cardan.maths.vector import add3, get3, get9, mul_mat_vec3
from cardan.model.kernel_views import Data, Model


@kernel
def geom_center(m: Model, d: Data, geom: int) -> Vec3:
    """Centre of the box around a geom, world frame."""
    local = (m.geom_aabb[geom, 0], m.geom_aabb[geom, 1], m.geom_aabb[geom, 2])
    return add3(get3(d.geom_xpos, geom), mul_mat_vec3(get9(d.geom_xmat, geom), local))


@kernel
def geom_half(m: Model, d: Data, geom: int, margin: float) -> Vec3:
    """Half sizes of a box around a geom along the world axes, with a margin on each side."""
    x, y, z = m.geom_aabb[geom, 3], m.geom_aabb[geom, 4], m.geom_aabb[geom, 5]
    r = get9(d.geom_xmat, geom)
    return (
        abs(r[0]) * x + abs(r[1]) * y + abs(r[2]) * z + margin,
        abs(r[3]) * x + abs(r[4]) * y + abs(r[5]) * z + margin,
        abs(r[6]) * x + abs(r[7]) * y + abs(r[8]) * z + margin,
    )


@kernel
def meets_row(boxes: ConstArray2, row: int, center: Vec3, half: Vec3) -> bool:
    """Whether a box overlaps the box in a row of an (n, 6) array."""
    return (
        abs(center[0] - boxes[row, 0]) <= half[0] + boxes[row, 3]
        and abs(center[1] - boxes[row, 1]) <= half[1] + boxes[row, 4]
        and abs(center[2] - boxes[row, 2]) <= half[2] + boxes[row, 5]
    )


@kernel
def is_active(m: Model, flex: int, element: int) -> bool:
    """Whether an element is in one of the layers that collide."""
    return m.flex_elemlayer[m.flex_elemadr[flex] + element] < m.flex_activelayers[flex]


@kernel
def sort_found(d: Data, n: int) -> None:
    """Sort the first `n` found elements (Shell sort)."""
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


@kernel
def find_elements(m: Model, d: Data, flex: int, center: Vec3, half: Vec3) -> int:
    """Find the elements of a flex that can collide and whose boxes overlap a box.

    Returns:
        The number of elements found; ``d.work.found_element`` lists them in ascending order.
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
        sort_found(d, n)
        return n
    for element in range(m.flex_elemnum[flex]):
        row = m.flex_elemadr[flex] + element
        if is_active(m, flex, element) and meets_row(d.flexelem_aabb, row, center, half):
            d.work.found_element[n] = element
            n += 1
    return n


@kernel
def find_near_element(m: Model, d: Data, flex: int, element: int, other: int, margin: float) -> int:
    """Find the elements of another flex within a margin of the box of an element (`find_elements`)."""
    row, box = m.flex_elemadr[flex] + element, d.flexelem_aabb
    half = (box[row, 3] + margin, box[row, 4] + margin, box[row, 5] + margin)
    return find_elements(m, d, other, (box[row, 0], box[row, 1], box[row, 2]), half)
