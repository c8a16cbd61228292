"""Elements of flexes in collisions: as convex shapes with a support function, and as capsules.

An element is the set of points within the radius of its flex of a segment, a triangle or a tetrahedron.
"""

from __future__ import annotations

from cardan.enums.codes import GEOM_FLEX
from cardan.jit import kernel
from cardan.maths.types import Mat3, Vec3
from cardan.maths.vector import add3, get3, mul_mat_t_vec3, scale3, set3, sub3
from cardan.model.kernel_views import Data, Model
from cardan.soft.flex import element_vertex


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
