"""Colours of planes: those of the nodes of a grid, found when a pixel first needs them.

A plane has grid lines at multiples of its cell size from its middle, and at its edges (spec: XML reference, geom/size).
A plane without bounds has forty thousand nodes, of which a picture shows few.
"""

from __future__ import annotations

from math import floor

from cardan.jit import kernel
from cardan.render.kernel_views import Frame
from cardan.render.lighting import light_vertex
from cardan.render.single import ONE, ZERO, single
from cardan.render.tiles import TILE_WIDTH


@kernel
def node_place(f: Frame, inst: int, axis: int, number: int) -> float:
    """Coordinate of a grid line, m; the last ones are the edges of the plane."""
    half = f.inst_scale[inst, axis]
    return min(max((number - f.inst_cells[inst, axis]) * f.inst_cell[inst, axis], -half), half)


@kernel
def node_color(f: Frame, view: int, inst: int, worker: int, i: int, j: int) -> int:
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
def light_place(f: Frame, view: int, inst: int, v: int, x: float, y: float) -> None:
    """Colours of a place on a plane, into entry `v` of `vert_color`."""
    p = (
        f.inst_pose[inst, 0] * x + f.inst_pose[inst, 1] * y + f.inst_pose[inst, 9],
        f.inst_pose[inst, 3] * x + f.inst_pose[inst, 4] * y + f.inst_pose[inst, 10],
        f.inst_pose[inst, 6] * x + f.inst_pose[inst, 7] * y + f.inst_pose[inst, 11],
    )
    n = (f.inst_pose[inst, 2], f.inst_pose[inst, 5], f.inst_pose[inst, 8])
    light_vertex(f, view, f.inst_geom[inst], v, p, n)


@kernel
def cell_of(f: Frame, inst: int, axis: int, x: float) -> tuple[int, float, float]:
    """Number of the cell of a coordinate, and the coordinates of its lower and upper edge, m."""
    cells = f.inst_cells[inst, axis]
    number = floor(x / f.inst_cell[inst, axis]) + cells
    number = min(max(number, 0), 2 * cells - 1)
    return (number, node_place(f, inst, axis, number), node_place(f, inst, axis, number + 1))


@kernel
def share_of(x: float, low: float, scale: float) -> float:
    """Place between two edges, from 0 to 1; `scale` is 1 over their distance."""
    return min(max((x - low) * scale, ZERO), ONE)


@kernel
def over(length: float) -> float:
    """1 over a length, or 0."""
    return single(1.0 / length) if length > 0.0 else ZERO


@kernel
def blend_cell(f: Frame, target: int, run: int, count: int, layer: int, corner: int, right: int, up: int) -> None:
    """Colours by one light of pixels in one triangle of a cell, between those of its three nodes."""
    c = 4 * layer
    for k in range(count):
        u, v = f.run_right[run + k], f.run_up[run + k]
        rest = ONE - u - v
        f.run_layer[target + k, 0] = (
            rest * f.vert_color[corner, c] + u * f.vert_color[right, c] + v * f.vert_color[up, c]
        )
        f.run_layer[target + k, 1] = (
            rest * f.vert_color[corner, c + 1] + u * f.vert_color[right, c + 1] + v * f.vert_color[up, c + 1]
        )
        f.run_layer[target + k, 2] = (
            rest * f.vert_color[corner, c + 2] + u * f.vert_color[right, c + 2] + v * f.vert_color[up, c + 2]
        )
        f.run_layer[target + k, 3] = (
            rest * f.vert_color[corner, c + 3] + u * f.vert_color[right, c + 3] + v * f.vert_color[up, c + 3]
        )


@kernel
def cell_run(f: Frame, view: int, inst: int, worker: int, first: int, count: int) -> int:
    """Colours by light of the pixels from `first` on that lie in the same triangle of a cell; returns how many."""
    run = worker * TILE_WIDTH
    i, left, right = cell_of(f, inst, 0, f.run_s[run + first])
    j, bottom, top = cell_of(f, inst, 1, f.run_t[run + first])
    x0, x1, y0, y1 = single(left), single(right), single(bottom), single(top)
    across, along = over(right - left), over(top - bottom)
    # each cell is two triangles, on this side or beyond the diagonal
    near = share_of(f.run_s[run + first], x0, across) + share_of(f.run_t[run + first], y0, along) <= ONE
    k = first
    inside = True
    while inside:
        u, v = share_of(f.run_s[run + k], x0, across), share_of(f.run_t[run + k], y0, along)
        f.run_right[run + k] = u if near else ONE - v
        f.run_up[run + k] = v if near else ONE - u
        k += 1
        inside = k < count
        if inside:
            x, y = f.run_s[run + k], f.run_t[run + k]
            diagonal = share_of(x, x0, across) + share_of(y, y0, along) <= ONE
            inside = x0 <= x < x1 and y0 <= y < y1 and diagonal == near
    corner = node_color(f, view, inst, worker, i, j) if near else node_color(f, view, inst, worker, i + 1, j + 1)
    lower_right = node_color(f, view, inst, worker, i + 1, j)
    upper_left = node_color(f, view, inst, worker, i, j + 1)
    target = run * (1 + f.nlayer) + first
    for layer in range(1 + f.nlayer):
        blend_cell(f, target + layer * TILE_WIDTH, run + first, k - first, layer, corner, lower_right, upper_left)
    return k - first


@kernel
def grid_run(f: Frame, view: int, inst: int, worker: int, count: int) -> None:
    """Colours by light of a run of pixels of a plane, whose coordinates, m, stand in `run_s` and `run_t`."""
    first = 0
    while first < count:
        first += cell_run(f, view, inst, worker, first, count)
