"""Collisions of height fields with convex geoms.

A height field is a grid of elevations over a rectangle, on a base of constant thickness. Each cell is split along its
diagonal into two triangles. The volume under a triangle is a prism between three elevations and three base points. Each
prism under the bounding box of the other geom is passed as shape 0 of the pair to a convex collision function
(`cardan.collision.mpr`; with the flag ``nativeccd``, `cardan.collision.distance`). All computations are in the frame of
the field.

If two support points are equally far, the choice between them decides to which part of a flat face the depth is
measured. Rounding determines this choice. To give the same results as the reference, operations have the reference's
order: vertices are in the frame of the field, the vertices of the base come first, and the mean of all vertices is
their sum, divided at the end.

Spec: computation, collision detection, collision checking.
"""

from __future__ import annotations

from collections.abc import Callable
from math import floor

from cardan.collision.capsule import from_geom, to_geom
from cardan.collision.contact import MAXCONPAIR, put_contact
from cardan.collision.convex import collide_shapes
from cardan.collision.culling import GAP
from cardan.collision.midphase import ROUND
from cardan.collision.support import load_geom, support
from cardan.enums.codes import GEOM_HFIELD
from cardan.jit import collider, exact, kernel
from cardan.maths.types import Vec3
from cardan.maths.vector import (
    add3,
    column3,
    cross,
    dot3,
    get3,
    get9,
    mul_mat_t_vec3,
    mul_mat_vec3,
    norm3,
    scale3,
    set3,
    sub3,
)
from cardan.model.kernel_views import Data, Model


@kernel
def to_field(d: Data, field: int, geom: int) -> None:
    """Transform the pose of shape 1, loaded from a geom, to the frame of the height field geom `field`."""
    field_mat = get9(d.geom_xmat, field)
    geom_mat = get9(d.geom_xmat, geom)
    set3(d.work.shape_pos, 1, to_geom(d, field, get3(d.geom_xpos, geom)))
    for k in range(3):
        axis = mul_mat_t_vec3(field_mat, column3(geom_mat, k))
        d.work.shape_mat[1, k], d.work.shape_mat[1, 3 + k], d.work.shape_mat[1, 6 + k] = axis


@kernel
def bound_in_field(m: Model, d: Data) -> None:
    """Write the extents of shape 1 from the field's origin along -x, x, -y, y, -z, z to ``field_reach``."""
    for side in range(6):
        sign = 2.0 * (side % 2) - 1.0
        axis = side // 2
        direction = (sign if axis == 0 else 0.0, sign if axis == 1 else 0.0, sign if axis == 2 else 0.0)
        d.work.field_reach[side] = dot3(support(m, d, 1, direction), direction)


@kernel
def cell_range(low: float, high: float, radius: float, n: int) -> tuple[int, int]:
    """First and last (exclusive) cell, along one side of the field, that an interval touches.

    `low` and `high` are measured from the middle of the side, whose half length is `radius`; the side has `n`
    elevations.
    """
    spacing = 2.0 * radius / (n - 1)
    first = max(floor((low + radius) / spacing), 0.0)
    end = min(floor((high + radius) / spacing) + 1.0, n - 1.0)
    return int(min(first, end)), int(end)


@kernel
def elevation(m: Model, hfield: int, row: int, col: int) -> float:
    """Height (m) of grid point (`row`, `col`) of height field `hfield` above the origin of the field's frame."""
    return m.hfield_data[m.hfield_adr[hfield] + row * m.hfield_ncol[hfield] + col] * m.hfield_size[hfield, 2]


@kernel
def grid_point(m: Model, hfield: int, row: int, col: int) -> Vec3:
    """Position (m) of a grid point in the frame of the field."""
    x = 2.0 * m.hfield_size[hfield, 0] / (m.hfield_ncol[hfield] - 1) * col - m.hfield_size[hfield, 0]
    y = 2.0 * m.hfield_size[hfield, 1] / (m.hfield_nrow[hfield] - 1) * row - m.hfield_size[hfield, 1]
    return (x, y, elevation(m, hfield, row, col))


@kernel
def prism_top(m: Model, hfield: int, row: int, col: int, half: int) -> tuple[Vec3, Vec3, Vec3]:
    """Upper triangle of a prism, in the frame of the field (m).

    The prism is below one half of the cell at `row` and `col` of height field `hfield`. If `half` is 0, this half of
    the cell contains the grid point (row + 1, col), otherwise (row, col + 1).
    """
    corner = grid_point(m, hfield, row, col)
    opposite = grid_point(m, hfield, row + 1, col + 1)
    if half == 0:
        return grid_point(m, hfield, row + 1, col), corner, opposite
    return corner, opposite, grid_point(m, hfield, row, col + 1)


@kernel
def top_elevation(m: Model, hfield: int, row: int, col: int, half: int) -> float:
    """Largest elevation (m) of a prism; `hfield`, `row`, `col` and `half` are those of `prism_top`."""
    diagonal = max(elevation(m, hfield, row, col), elevation(m, hfield, row + 1, col + 1))
    return max(diagonal, elevation(m, hfield, row + 1 - half, col + half))


@kernel
def is_over_prism(m: Model, d: Data, hfield: int, row: int, col: int, half: int, gap: float) -> bool:
    """Return whether shape 1 is more than the margin and `gap` (m) above the plane of a prism's upper triangle.

    The pose of the shape is in the frame of the field; the other arguments are those of `prism_top`.
    """
    a, b, c = prism_top(m, hfield, row, col, half)
    normal = cross(sub3(b, a), sub3(c, a))
    normal = scale3(normal, (1.0 if normal[2] > 0.0 else -1.0) / norm3(normal))
    d.work.shape_inflate = d.work.near_margin
    lowest = support(m, d, 1, scale3(normal, -1.0))
    return dot3(sub3(lowest, a), normal) > gap


@kernel
def load_prism(m: Model, d: Data, hfield: int, row: int, col: int, half: int) -> None:
    """Load a prism as shape 0 of the pair: its vertices, base first, and their mean, in the frame of the field.

    `hfield`, `row`, `col` and `half` are those of `prism_top`.
    """
    top = prism_top(m, hfield, row, col, half)
    bottom = -m.hfield_size[hfield, 3]
    total = (0.0, 0.0, 0.0)
    for k in range(3):
        base = (top[k][0], top[k][1], bottom)
        set3(d.work.prism, k, base)
        set3(d.work.prism, k + 3, top[k])
        total = add3(total, base)
    for k in range(3):
        total = add3(total, top[k])
    set3(d.work.shape_pos, 0, scale3(total, 1.0 / 6.0))


@kernel
def collide_prisms(m: Model, d: Data, field: int, convex_contact: Callable[[Model, Data, int], int]) -> int:
    """Write the contacts of a height field with shape 1, whose pose and bounds are in the field's frame.

    `convex_contact` is a collision function of the two shapes of the pair, with the arguments of `collide_shapes`.
    Returns the number of contacts.
    """
    hfield = m.geom_dataid[field]
    d.work.shape_type[0] = GEOM_HFIELD
    low_x, high_x = -d.work.field_reach[0], d.work.field_reach[1]
    low_y, high_y = -d.work.field_reach[2], d.work.field_reach[3]
    low_z, high_z = -d.work.field_reach[4], d.work.field_reach[5]
    first_col, end_col = cell_range(low_x, high_x, m.hfield_size[hfield, 0], m.hfield_ncol[hfield])
    first_row, end_row = cell_range(low_y, high_y, m.hfield_size[hfield, 1], m.hfield_nrow[hfield])
    if high_z < -m.hfield_size[hfield, 3]:
        return 0

    # prisms that are high enough to touch the shape
    ncon = 0
    gap = GAP * max(high_x - low_x, high_y - low_y, high_z - low_z)
    for row in range(first_row, end_row):
        for half_col in range(2 * first_col, 2 * end_col):
            col, half = half_col // 2, half_col % 2
            high = ncon < MAXCONPAIR and top_elevation(m, hfield, row, col, half) >= low_z
            if high and not is_over_prism(m, d, hfield, row, col, half, gap):
                load_prism(m, d, hfield, row, col, half)
                ncon = convex_contact(m, d, ncon)

    # to the world frame
    for k in range(ncon):
        normal = mul_mat_vec3(get9(d.geom_xmat, field), get3(d.work.near_frame, k))
        put_contact(d, k, d.work.near_dist[k], from_geom(d, field, get3(d.work.near_pos, k)), normal)
    return ncon


@kernel
def is_off_field(m: Model, d: Data, field: int, geom: int) -> bool:
    """Return whether the bounding sphere of a geom is farther than the margin from all prisms of a height field.

    Elevations are read, because programs may write elevations that exceed the size of the field.
    """
    hfield = m.geom_dataid[field]
    x, y, z = to_geom(d, field, get3(d.geom_xpos, geom))
    reach = ROUND * (m.geom_rbound[geom] + d.work.near_margin)
    size_x, size_y = m.hfield_size[hfield, 0], m.hfield_size[hfield, 1]
    if abs(x) > size_x + reach or abs(y) > size_y + reach or z < -m.hfield_size[hfield, 3] - reach:
        return True
    first_col, end_col = cell_range(x - reach, x + reach, size_x, m.hfield_ncol[hfield])
    first_row, end_row = cell_range(y - reach, y + reach, size_y, m.hfield_nrow[hfield])
    for row in range(first_row, end_row + 1):
        for col in range(first_col, end_col + 1):
            if elevation(m, hfield, row, col) >= z - reach:
                return False
    return True


@collider
@exact
def hfield_convex(m: Model, d: Data, geom1: int, geom2: int) -> int:
    """Write the contacts of a height field and a convex geom; return their number.

    Each prism that overlaps the geom has one contact. At most `MAXCONPAIR` contacts are written.
    """
    if is_off_field(m, d, geom1, geom2):
        return 0
    load_geom(m, d, 1, geom2)
    to_field(d, geom1, geom2)
    d.work.shape_inflate = d.work.near_margin
    bound_in_field(m, d)
    return collide_prisms(m, d, geom1, collide_shapes)
