"""Colours of planes: those of the nodes of a grid, found when a pixel first needs them.

A plane has grid lines at multiples of its cell size from its middle, and at its edges (spec: XML reference, geom/size).
A plane without bounds has forty thousand nodes, of which a picture shows few.
"""

from __future__ import annotations

from math import floor
from typing import Any

from cardan.jit import kernel
from cardan.render.lighting import light_vertex


@kernel
def node_place(f: Any, inst: int, axis: int, number: int) -> float:
    """Coordinate of a grid line, m; the last ones are the edges of the plane."""
    half = f.inst_scale[inst, axis]
    return min(max((number - f.inst_cells[inst, axis]) * f.inst_cell[inst, axis], -half), half)


@kernel
def node_color(f: Any, view: int, inst: int, worker: int, i: int, j: int) -> int:
    """Entry of `vert_color` with the colours of node (i, j) of a plane."""
    lit_views = 1 + f.nmirror
    width = 2 * f.inst_cells[inst, 0] + 1
    node = (worker * lit_views + view) * f.nnode + f.inst_gridadr[inst] + j * width + i
    v = f.nodeadr + node
    if f.node_epoch[node] != f.epoch:
        light_place(f, view, inst, v, node_place(f, inst, 0, i), node_place(f, inst, 1, j))
        f.node_epoch[node] = f.epoch
    return v


@kernel
def light_place(f: Any, view: int, inst: int, v: int, x: float, y: float) -> None:
    """Colours of a place on a plane, into entry `v` of `vert_color`."""
    p = (
        f.inst_pose[inst, 0] * x + f.inst_pose[inst, 1] * y + f.inst_pose[inst, 9],
        f.inst_pose[inst, 3] * x + f.inst_pose[inst, 4] * y + f.inst_pose[inst, 10],
        f.inst_pose[inst, 6] * x + f.inst_pose[inst, 7] * y + f.inst_pose[inst, 11],
    )
    n = (f.inst_pose[inst, 2], f.inst_pose[inst, 5], f.inst_pose[inst, 8])
    light_vertex(f, view, f.inst_geom[inst], v, p, n)


@kernel
def cell_of(f: Any, inst: int, axis: int, x: float) -> Any:
    """Number of the cell of a coordinate, and the coordinates of its lower and upper edge, m."""
    cells = f.inst_cells[inst, axis]
    number = floor(x / f.inst_cell[inst, axis]) + cells
    number = min(max(number, 0), 2 * cells - 1)
    return (number, node_place(f, inst, axis, number), node_place(f, inst, axis, number + 1))


@kernel
def share_of(x: float, low: float, high: float) -> float:
    """Place between two edges, from 0 to 1."""
    return min(max((x - low) / (high - low), 0.0), 1.0) if high > low else 0.0


@kernel
def grid_run(f: Any, view: int, inst: int, worker: int, run: int, count: int) -> None:
    """Colours by light of pixels of a plane; the places, m, stand in the first two of the colours."""
    ncolor = f.ncolor
    x0, x1, y0, y1 = 1.0, 0.0, 1.0, 0.0  # edges of the cell of the pixel before: none yet
    lower_left, lower_right, upper_left, upper_right = 0, 0, 0, 0
    for k in range(count):
        at = (run + k) * ncolor
        x, y = float(f.run_layer[at]), float(f.run_layer[at + 1])
        if x < x0 or x >= x1 or y < y0 or y >= y1:
            i, x0, x1 = cell_of(f, inst, 0, x)
            j, y0, y1 = cell_of(f, inst, 1, y)
            lower_left = node_color(f, view, inst, worker, i, j)
            lower_right = node_color(f, view, inst, worker, i + 1, j)
            upper_left = node_color(f, view, inst, worker, i, j + 1)
            upper_right = node_color(f, view, inst, worker, i + 1, j + 1)
        u, v = share_of(x, x0, x1), share_of(y, y0, y1)
        # each cell is two triangles, on this side or beyond the diagonal
        near = u + v <= 1.0
        corner = lower_left if near else upper_right
        right, up = (u, v) if near else (1.0 - v, 1.0 - u)
        rest = 1.0 - right - up
        for c in range(ncolor):
            f.run_layer[at + c] = (
                rest * f.vert_color[corner, c] + right * f.vert_color[lower_right, c] + up * f.vert_color[upper_left, c]
            )
