"""Collisions of height fields with convex geoms.

A height field is a grid of elevations over a rectangle, on a base of constant thickness. Each cell is cut along its
diagonal into two triangles, and the volume under each is a prism: three elevations above, three points of the base
below. The prisms under the bounding box of the other geom, taken in the frame of the field, go one by one to the
convex collision function (`cardan.collision.mpr`) as shape 0 of the pair.

Spec: computation, collision detection, collision checking.
"""

from __future__ import annotations

from math import floor
from typing import Any

from cardan.collision.convex import collide_shapes
from cardan.collision.near import MAXCONPAIR
from cardan.collision.support import HFIELD, load_geom, support
from cardan.jit import collider, kernel
from cardan.maths.vector import add3, dot3, get3, get9, mul_mat_vec3, set3, set9, sub3


@kernel
def bound_in_field(m: Any, d: Any, field: int) -> None:
    """How far shape 1 reaches along -x, x, -y, y, -z, z of the geom `field`, from its centre, into ``field_reach``."""
    for side in range(6):
        sign = 2.0 * (side % 2) - 1.0
        direction = (
            sign * d.geom_xmat[field, side // 2],
            sign * d.geom_xmat[field, 3 + side // 2],
            sign * d.geom_xmat[field, 6 + side // 2],
        )
        d.work.field_reach[side] = dot3(sub3(support(m, d, 1, direction), get3(d.geom_xpos, field)), direction)


@kernel
def cell_range(low: float, high: float, radius: float, n: int) -> Any:
    """The cells, first and end (exclusive), of a side of the field that an interval touches.

    Args:
        low: lower end of the interval, from the middle of the field, m.
        high: upper end.
        radius: half the length of the side, m.
        n: number of elevations along it.
    """
    spacing = 2.0 * radius / (n - 1)
    first = max(floor((low + radius) / spacing), 0.0)
    end = min(floor((high + radius) / spacing) + 1.0, n - 1.0)
    return int(min(first, end)), int(end)


@kernel
def elevation(m: Any, hfield: int, row: int, col: int) -> float:
    """Height of a grid point above the field's frame, m."""
    data = m.hfield_data[m.hfield_adr[hfield] + row * m.hfield_ncol[hfield] + col]
    return data * m.hfield_size[hfield, 2]


@kernel
def grid_point(m: Any, hfield: int, row: int, col: int) -> Any:
    """A grid point in the frame of the field, m."""
    x = 2.0 * m.hfield_size[hfield, 0] / (m.hfield_ncol[hfield] - 1) * col - m.hfield_size[hfield, 0]
    y = 2.0 * m.hfield_size[hfield, 1] / (m.hfield_nrow[hfield] - 1) * row - m.hfield_size[hfield, 1]
    return (x, y, elevation(m, hfield, row, col))


@kernel
def prism_top(m: Any, hfield: int, row: int, col: int, half: int) -> Any:
    """The upper triangle of a prism: half 0 of a cell lies beyond its diagonal, half 1 before it."""
    corner = grid_point(m, hfield, row, col)
    opposite = grid_point(m, hfield, row + 1, col + 1)
    if half == 0:
        return grid_point(m, hfield, row + 1, col), corner, opposite
    return corner, opposite, grid_point(m, hfield, row, col + 1)


@kernel
def top_elevation(m: Any, hfield: int, row: int, col: int, half: int) -> float:
    """Largest elevation of a prism."""
    diagonal = max(elevation(m, hfield, row, col), elevation(m, hfield, row + 1, col + 1))
    return max(diagonal, elevation(m, hfield, row + 1 - half, col + half))


@kernel
def load_prism(m: Any, d: Any, field: int, row: int, col: int, half: int) -> None:
    """Make a prism shape 0 of the pair: its vertices relative to its centre, and its centre.

    Its orientation is that of the geom `field`, which has been noted before.
    """
    top = prism_top(m, m.geom_dataid[field], row, col, half)
    bottom = -m.hfield_size[m.geom_dataid[field], 3]
    total = add3(add3(top[0], top[1]), top[2])
    center = (total[0] / 3.0, total[1] / 3.0, 0.5 * (total[2] / 3.0 + bottom))
    for k in range(3):
        vertex = sub3(top[k], center)
        set3(d.work.prism, k, vertex)
        set3(d.work.prism, k + 3, (vertex[0], vertex[1], bottom - center[2]))
    set3(d.work.shape_pos, 0, add3(get3(d.geom_xpos, field), mul_mat_vec3(get9(d.geom_xmat, field), center)))


@collider
def hfield_convex(m: Any, d: Any, geom1: int, geom2: int) -> int:
    """A height field and a convex geom: one contact for each prism that overlaps the geom, up to `MAXCONPAIR`."""
    hfield = m.geom_dataid[geom1]
    load_geom(m, d, 1, geom2)
    d.work.shape_type[0] = HFIELD
    set9(d.work.shape_mat, 0, get9(d.geom_xmat, geom1))

    # cells under the geom, with the margin
    d.work.shape_inflate = d.work.near_margin
    bound_in_field(m, d, geom1)
    low_x, high_x = -d.work.field_reach[0], d.work.field_reach[1]
    low_y, high_y = -d.work.field_reach[2], d.work.field_reach[3]
    low_z, high_z = -d.work.field_reach[4], d.work.field_reach[5]
    first_col, end_col = cell_range(low_x, high_x, m.hfield_size[hfield, 0], m.hfield_ncol[hfield])
    first_row, end_row = cell_range(low_y, high_y, m.hfield_size[hfield, 1], m.hfield_nrow[hfield])
    if high_z < -m.hfield_size[hfield, 3]:
        return 0

    # prisms that reach up to the geom
    ncon = 0
    for row in range(first_row, end_row):
        for half_col in range(2 * first_col, 2 * end_col):
            if ncon < MAXCONPAIR and top_elevation(m, hfield, row, half_col // 2, half_col % 2) >= low_z:
                load_prism(m, d, geom1, row, half_col // 2, half_col % 2)
                ncon = collide_shapes(m, d, ncon)
    return ncon
