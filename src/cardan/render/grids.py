"""Colours of planes, computed at the nodes of a grid when a pixel first needs a node.

A plane has grid lines at multiples of its cell size from its centre, and at its edges (spec: XML reference, geom/size).
An infinite plane has forty thousand nodes, of which a picture shows few.
"""

from __future__ import annotations

from cardan.jit import kernel
from cardan.maths.types import Array2
from cardan.render.kernel_views import Frame
from cardan.render.kernels import HALF, ONE, ZERO, int32, single
from cardan.render.lighting import MOST_LIT, light_vertices
from cardan.render.tiles import TILE_WIDTH
from cardan.render.vertices import begin_lit, placed

FIRST, SECOND, TWO_TRIANGLES = int32(0), int32(1), int32(2)
TINY = single(1e-20)
NO_CELL = -1


@kernel
def node_place(f: Frame, inst: int, axis: int, number: int) -> float:
    """Return the coordinate, m, of line `number` of a plane's grid. The first and last lines are the plane's edges."""
    half = f.inst_scale[inst, axis]
    return min(max((number - f.inst_cells[inst, axis]) * f.inst_cell[inst, axis], -half), half)


@kernel
def first_node(f: Frame, view: int, inst: int, worker: int) -> int:
    """Return the index of the first node of a plane, in the memory that `worker` uses for `view`."""
    return (worker * (1 + f.nmirror) + view) * f.nnode + f.inst_gridadr[inst]


@kernel
def need_node(f: Frame, view: int, inst: int, worker: int, first: int, number: int, count: int) -> int:
    """Add node `number` (counted row by row) of a plane to `count` nodes to be lit together; return the new count.

    If the table of nodes is full, first light its nodes.
    """
    f.node_epoch[first + number] = f.epoch
    if count == MOST_LIT:
        light_vertices(f, view, f.inst_geom[inst], worker, count)
        count = 0
    width = 2 * f.inst_cells[inst, 0] + 1
    j = number // width
    x, y = node_place(f, inst, 0, number - j * width), node_place(f, inst, 1, j)
    n = (f.inst_pose[inst, 2], f.inst_pose[inst, 5], f.inst_pose[inst, 8])
    begin_lit(f, worker, count, f.nodeadr + first + number, placed(f, inst, x, y, 0.0), n)
    return count + 1


@kernel
def nodes_of(cell: int, width: int) -> tuple[int, int, int]:
    """Return the nodes of triangle `cell` in a grid: the corner opposite the diagonal, and the diagonal's ends."""
    right, up = cell // 2 + 1, cell // 2 + width
    return (right - 1 if cell % 2 == 0 else up + 1, right, up)


@kernel
def fill_up(f: Frame, view: int, inst: int, worker: int, first: int, count: int) -> int:
    """Fill the table of `count` nodes to be lit with neighbours that the next rows will need; return the new count."""
    width, height = 2 * f.inst_cells[inst, 0] + 1, 2 * f.inst_cells[inst, 1] + 1
    lit = count
    for k in range(count):
        number = f.lit_vert[worker * MOST_LIT + k] - f.nodeadr - first
        for side in range(4):
            step = 1 if side < 2 else width
            beside = number + (step if side % 2 == 0 else -step)
            if lit < MOST_LIT and 0 <= beside < width * height and f.node_epoch[first + beside] != f.epoch:
                lit = need_node(f, view, inst, worker, first, beside, lit)
    return lit


@kernel
def color_nodes(f: Frame, view: int, inst: int, worker: int, begin: int, end: int) -> None:
    """Compute the missing colours of the nodes that the pixels from `begin` to `end` (exclusive) of a run need."""
    run, first, width = worker * TILE_WIDTH, first_node(f, view, inst, worker), 2 * f.inst_cells[inst, 0] + 1
    last, lit, epoch = NO_CELL, 0, f.epoch
    for k in range(run + begin, run + end):
        cell = f.run_cell[k]
        if cell != last:
            last = cell
            corner, right, up = nodes_of(cell, width)
            if f.node_epoch[first + corner] != epoch:
                lit = need_node(f, view, inst, worker, first, corner, lit)
            if f.node_epoch[first + right] != epoch:
                lit = need_node(f, view, inst, worker, first, right, lit)
            if f.node_epoch[first + up] != epoch:
                lit = need_node(f, view, inst, worker, first, up, lit)
    if lit > 0:
        lit = fill_up(f, view, inst, worker, first, lit)
        light_vertices(f, view, f.inst_geom[inst], worker, lit)


@kernel
def cell_share(x: float, size: float, scale: float, cells: float, half: float) -> tuple[int, float]:
    """Return the index of the cell that contains a coordinate `x`, and the position within the cell, from 0 to 1.

    `size` is the size of a cell, and `scale` is 1 / `size`. `cells` is the number of cells on one side of the centre,
    and `half` is the distance of the plane's edges from the centre.
    """
    number = int32(min(max(x * scale + cells, ZERO), cells + cells - HALF))
    away = single(number) - cells
    low, high = max(away * size, -half), min((away + ONE) * size, half)
    return (number, min(max((x - low) / max(high - low, TINY), ZERO), ONE))


@kernel
def color_of(f: Frame, v: int, channel: int) -> tuple[float, float, float, float]:
    """Return a colour of vertex `v`, from column `channel` on, as four numbers, which fill a vector register."""
    return (
        f.vert_color[v, channel],
        f.vert_color[v, channel + 1],
        f.vert_color[v, channel + 2],
        f.vert_color[v, channel + 3],
    )


@kernel
def blend_cell(
    f: Frame, colors: Array2, target: int, run: int, count: int, layer: int, nodes: tuple[int, int, int]
) -> None:
    """Interpolate colours over `count` pixels in one triangle of a cell; store them in `colors` from row `target` on.

    Layer 0 contains the colours due to all lights without shadows; each other `layer` is a light with shadows.
    """
    r0, g0, b0, o0 = color_of(f, nodes[0], 4 * layer)
    r1, g1, b1, o1 = color_of(f, nodes[1], 4 * layer)
    r2, g2, b2, o2 = color_of(f, nodes[2], 4 * layer)
    for k in range(count):
        u, v = f.run_right[run + k], f.run_up[run + k]
        rest = ONE - u - v
        colors[target + k, 0] = rest * r0 + u * r1 + v * r2
        colors[target + k, 1] = rest * g0 + u * g1 + v * g2
        colors[target + k, 2] = rest * b0 + u * b1 + v * b2
        colors[target + k, 3] = rest * o0 + u * o1 + v * o2


@kernel
def grid_run(f: Frame, view: int, inst: int, worker: int, count: int) -> None:
    """Compute the colours of a run of `count` pixels of a plane. Their coordinates, m, are in `run_s` and `run_t`.

    The plane is instance `inst` in view `view`, and the run is that of worker `worker`. A diagonal divides each cell
    into two triangles, numbered 2 n and 2 n + 1, where n is the cell's lower left node.
    """
    run = worker * TILE_WIDTH
    size_x, size_y = single(f.inst_cell[inst, 0]), single(f.inst_cell[inst, 1])
    scale_x, scale_y = single(1.0 / f.inst_cell[inst, 0]), single(1.0 / f.inst_cell[inst, 1])
    cells_x, cells_y = single(f.inst_cells[inst, 0]), single(f.inst_cells[inst, 1])
    half_x, half_y = single(f.inst_scale[inst, 0]), single(f.inst_scale[inst, 1])
    row = int32(2 * f.inst_cells[inst, 0] + 1)
    for k in range(run, run + count):
        i, u = cell_share(f.run_s[k], size_x, scale_x, cells_x, half_x)
        j, v = cell_share(f.run_t[k], size_y, scale_y, cells_y, half_y)
        rest = ONE - u - v  # negative beyond the diagonal, where the weights are 1 - v and 1 - u
        f.run_right[k] = u + min(rest, ZERO)
        f.run_up[k] = v + min(rest, ZERO)
        second = SECOND if rest < ZERO else FIRST
        f.run_cell[k] = int32(int32(int32(int32(j * row) + i) * TWO_TRIANGLES) + second)
    width, node = 2 * f.inst_cells[inst, 0] + 1, first_node(f, view, inst, worker)
    adr, epoch = f.nodeadr + node, f.epoch
    first = 0
    while first < count:
        cell = f.run_cell[run + first]
        end = first + 1
        while end < count and f.run_cell[run + end] == cell:
            end += 1
        corner, right, up = nodes_of(cell, width)
        lacking = (
            (f.node_epoch[node + corner] != epoch)
            | (f.node_epoch[node + right] != epoch)
            | (f.node_epoch[node + up] != epoch)
        )
        if lacking:  # most nodes were computed for previous rows
            color_nodes(f, view, inst, worker, first, count)
        nodes = (adr + corner, adr + right, adr + up)
        blend_cell(f, f.run_color, run + first, run + first, end - first, 0, nodes)
        for layer in range(1, 1 + f.nlayer):
            target = run * f.nlayer + (layer - 1) * TILE_WIDTH + first
            blend_cell(f, f.run_layer, target, run + first, end - first, layer, nodes)
        first = end
