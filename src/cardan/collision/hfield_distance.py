"""Distance of a height field and a convex geom: the smallest signed distance of the geom and any prism of the field.

All happens in the frame of the field. The prisms below the geom come first. Their distance bounds that of the field, so
that of the others only those within this distance along the axes of the field are looked at more closely.

Spec: modelling, sensors ``distance``, ``normal``, ``fromto``.
"""

from __future__ import annotations

from typing import Any

from cardan.collision.capsule import clamp
from cardan.collision.distance import cores_distance, is_curved, load_core
from cardan.collision.hfield import bound_in_field, cell_range, load_prism, to_field, top_elevation
from cardan.enums.codes import GEOM_HFIELD
from cardan.jit import kernel
from cardan.maths.vector import add3, get3, get9, mul_mat_vec3, norm3, set3
from cardan.model.kernel_views import Data, Model

ORIGIN = (0.0, 0.0, 0.0)
NOTHING = (ORIGIN, ORIGIN)


@kernel
def cells_near(low: float, high: float, radius: float, n: int) -> Any:
    """Cells of a side of the field that an interval touches, first and end: of one beyond the field, the nearest cell.

    Arguments: see `cell_range`.
    """
    first, end = cell_range(clamp(low, -radius, radius), clamp(high, -radius, radius), radius, n)
    first = min(first, n - 2)
    return first, max(end, first + 1)


@kernel
def rectangle_near(m: Model, d: Data, hfield: int, reach: float) -> Any:
    """Cells within `reach` of the bounds of shape 1 along x and y: first row, end row, first column, end column."""
    x, y = m.hfield_size[hfield, 0], m.hfield_size[hfield, 1]
    low, high = -d.work.field_reach[0] - reach, d.work.field_reach[1] + reach
    first_col, end_col = cells_near(low, high, x, m.hfield_ncol[hfield])
    low, high = -d.work.field_reach[2] - reach, d.work.field_reach[3] + reach
    first_row, end_row = cells_near(low, high, y, m.hfield_nrow[hfield])
    return first_row, end_row, first_col, end_col


@kernel
def gap(low1: float, high1: float, low2: float, high2: float) -> float:
    """Distance of two intervals; 0 if they overlap."""
    return max(0.0, low1 - high2, low2 - high1)


@kernel
def least_distance(m: Model, d: Data, hfield: int, row: int, col: int, half: int) -> float:
    """Distance of the bounds of a prism and of shape 1 in the frame of the field, m; 0 if these overlap."""
    dx = 2.0 * m.hfield_size[hfield, 0] / (m.hfield_ncol[hfield] - 1)
    dy = 2.0 * m.hfield_size[hfield, 1] / (m.hfield_nrow[hfield] - 1)
    x, y = dx * col - m.hfield_size[hfield, 0], dy * row - m.hfield_size[hfield, 1]
    top, bottom = top_elevation(m, hfield, row, col, half), -m.hfield_size[hfield, 3]
    along_x = gap(x, x + dx, -d.work.field_reach[0], d.work.field_reach[1])
    along_y = gap(y, y + dy, -d.work.field_reach[2], d.work.field_reach[3])
    along_z = gap(bottom, top, -d.work.field_reach[4], d.work.field_reach[5])
    return norm3((along_x, along_y, along_z))


@kernel
def visit_cells(m: Model, d: Data, field: int, core: Any, cells: Any, without: Any, dist: float, points: Any) -> Any:
    """Look for prisms that are nearer to shape 1 than `dist`.

    Args:
        m: model.
        d: data with the core of a geom as shape 1, in the frame of the field.
        field: id of the geom with the height field.
        core: radius around the core, m, and whether it is curved.
        cells: the cells to look at (`rectangle_near`).
        without: cells among them that have been looked at.
        dist: smallest signed distance so far, m.
        points: closest or deepest points that belong to it, on the field and on the geom, in the frame of the field.

    Returns:
        The smallest signed distance and its points.
    """
    hfield, radius = m.geom_dataid[field], core[0]
    for row in range(cells[0], cells[1]):
        for half_col in range(2 * cells[2], 2 * cells[3]):
            col, half = half_col // 2, half_col % 2
            known = without[0] <= row < without[1] and without[2] <= col < without[3]
            apart = least_distance(m, d, hfield, row, col, half)
            if not known and (apart == 0.0 or apart - radius <= dist):
                load_prism(m, d, hfield, row, col, half)
                found = cores_distance(m, d, 0.0, radius, core[1], dist)
                if found <= dist:
                    dist, points = found, (get3(d.work.witness, 0), get3(d.work.witness, 1))
    return dist, points


@kernel
def field_distance(m: Model, d: Data, field: int, geom: int, limit: float) -> float:
    """Signed distance of a height field and a convex geom; more than `limit` if they are farther apart.

    Unless they are, ``d.work.witness`` gets the closest or deepest points of the field and of the geom.
    """
    d.work.shape_inflate = 0.0
    core = (load_core(m, d, 1, geom), is_curved(m, geom))
    to_field(d, field, geom)
    bound_in_field(m, d)
    d.work.shape_type[0] = GEOM_HFIELD
    hfield, beyond = m.geom_dataid[field], limit + 1.0
    below = rectangle_near(m, d, hfield, core[0])
    dist, points = visit_cells(m, d, field, core, below, (0, 0, 0, 0), limit, NOTHING)
    around = rectangle_near(m, d, hfield, core[0] + max(0.0, dist))
    dist, points = visit_cells(m, d, field, core, around, below, dist, points)
    if points[0] == points[1] and dist == limit:
        return beyond
    pos, xmat = get3(d.geom_xpos, field), get9(d.geom_xmat, field)
    set3(d.work.witness, 0, add3(pos, mul_mat_vec3(xmat, points[0])))
    set3(d.work.witness, 1, add3(pos, mul_mat_vec3(xmat, points[1])))
    return dist
