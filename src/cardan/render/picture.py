"""From the triangles of a tile to its pixels."""

from __future__ import annotations

from math import sqrt
from typing import Any

from cardan.jit import kernel
from cardan.render.calls import picture_stage
from cardan.render.geometry import COLORS
from cardan.render.raster import cover_row, fill_triangle
from cardan.render.shading import shade_run
from cardan.render.sky import ray_of, sky_run
from cardan.render.tiles import TILE, TILE_HEIGHT, TILE_WIDTH, tile_columns

NOTHING = -1


@kernel
def samples_of(f: Any, view: int, worker: int) -> int:
    """First sample of the worker's tile: the camera has one, all mirrors share another."""
    return (2 * worker + (1 if view > 0 else 0)) * f.nsample * TILE


@kernel
def pixels_of(f: Any, view: int, worker: int) -> int:
    """First pixel of the worker's tile, of the camera or of a mirror."""
    return (worker * (1 + f.nmirror) + view) * TILE


@kernel
def farthest(f: Any, view: int) -> float:
    """Nearness of the far plane."""
    return 1.0 / f.view_far[view] if f.view_perspective[view] else 0.0


@kernel
def clear_tile(f: Any, view: int, samples: int, left: int, bottom: int) -> None:
    """Forget what a tile showed: what is beyond the far plane, or beyond the sky, is never nearer."""
    nsample = f.nsample
    far = farthest(f, view)
    for k in range(samples, samples + nsample * TILE):
        f.tile_near[k] = far
        f.tile_tri[k] = NOTHING
    if f.sky < 0 or f.mode != COLORS or not f.view_perspective[view]:
        return
    share = 1.0 / f.sky_radius
    for row in range(TILE_HEIGHT):
        for column in range(TILE_WIDTH):
            x, y, z = ray_of(f, view, left + column + 0.5, bottom + row + 0.5)
            f.tile_near[samples + row * TILE_WIDTH + column] = max(far, share * sqrt(x * x + y * y + z * z))
    for s in range(1, nsample):
        for k in range(TILE):
            f.tile_near[samples + s * TILE + k] = f.tile_near[samples + k]


@kernel
def fill_tile(f: Any, view: int, tile: int, samples: int, left: int, bottom: int) -> None:
    """The nearest triangle of each sample of a tile; of colours, only what isn't seen through."""
    clear_tile(f, view, samples, left, bottom)
    first = f.view_binadr[view] + tile
    for k in range(f.bin_start[first], f.bin_start[first + 1]):
        tri = f.bin_tri[k]
        if f.mode != COLORS or not f.inst_blend[f.tri_inst[tri]]:
            fill_triangle(f, view, tri, samples, left, bottom)


@kernel
def same_triangle(f: Any, base: int, k: int) -> bool:
    """Whether all samples of a pixel show the same triangle."""
    tri = f.tile_tri[base + k]
    same = True
    for s in range(1, f.nsample):
        same = same and f.tile_tri[base + s * TILE + k] == tri
    return same


@kernel
def color_run(a: Any, f: Any, view: int, tri: int, worker: int, y: int, x0: int, count: int, k: int) -> None:
    """Colours of pixels that show a triangle, or nothing, into the worker's `run_color`."""
    if tri == NOTHING:
        sky_run(a, f, view, y, x0, count, worker * TILE_WIDTH)
    else:
        shade_run(a, f, view, tri, worker, y, x0, count, k)


@kernel
def shade_uniform(a: Any, f: Any, view: int, tri: int, worker: int, y: int, x0: int, count: int, k: int) -> None:
    """Colours of pixels that one triangle, or nothing, covers wholly; `k` is the first of them in the tile."""
    target = 3 * (pixels_of(f, view, worker) + k)
    if tri == NOTHING and view > 0:
        for i in range(3 * count):
            f.tile_color[target + i] = 0.0
        return
    color_run(a, f, view, tri, worker, y, x0, count, k)
    run = 3 * worker * TILE_WIDTH
    for i in range(3 * count):
        f.tile_color[target + i] = f.run_color[run + i]


@kernel
def shade_mixed(a: Any, f: Any, view: int, worker: int, y: int, x: int, k: int) -> None:
    """Colour of a pixel whose samples show different triangles: the mean of theirs."""
    base = samples_of(f, view, worker) + k
    run = 3 * worker * TILE_WIDTH
    nsample = f.nsample
    r, g, b = 0.0, 0.0, 0.0
    for s in range(nsample):
        tri = f.tile_tri[base + s * TILE]
        seen, count = 0, 0
        for t in range(nsample):
            if f.tile_tri[base + t * TILE] == tri:
                count += 1
                seen += 1 if t < s else 0
        if seen == 0 and not (tri == NOTHING and view > 0):
            share = count / nsample
            color_run(a, f, view, tri, worker, y, x, 1, k)
            r += share * f.run_color[run]
            g += share * f.run_color[run + 1]
            b += share * f.run_color[run + 2]
    target = 3 * (pixels_of(f, view, worker) + k)
    f.tile_color[target] = r
    f.tile_color[target + 1] = g
    f.tile_color[target + 2] = b


@kernel
def shade_tile(a: Any, f: Any, view: int, worker: int, left: int, bottom: int) -> None:
    """Colours of the pixels of a tile."""
    base = samples_of(f, view, worker)
    columns = min(TILE_WIDTH, f.view_width[view] - left)
    for row in range(min(TILE_HEIGHT, f.view_height[view] - bottom)):
        x = 0
        while x < columns:
            k = row * TILE_WIDTH + x
            if same_triangle(f, base, k):
                tri = f.tile_tri[base + k]
                count = 1
                while x + count < columns and f.tile_tri[base + k + count] == tri and same_triangle(f, base, k + count):
                    count += 1
                shade_uniform(a, f, view, tri, worker, bottom + row, left + x, count, k)
                x += count
            else:
                shade_mixed(a, f, view, worker, bottom + row, left + x, k)
                x += 1


@kernel
def blend_triangle(a: Any, f: Any, view: int, tri: int, worker: int, left: int, bottom: int) -> None:
    """Draw a triangle over a tile, as transparent as its geom is (section 4.1.7, "Blending")."""
    samples = samples_of(f, view, worker)
    cover = worker * TILE_WIDTH
    opacity = f.geom_opacity[f.inst_geom[f.tri_inst[tri]]]
    y0, y1 = max(f.tri_box[tri, 2], bottom), min(f.tri_box[tri, 3], bottom + TILE_HEIGHT - 1)
    for y in range(y0, y1 + 1):
        row = y - bottom
        first, end = cover_row(f, view, tri, samples, left, y, row, cover)
        if first >= end:
            continue
        k = row * TILE_WIDTH + first - left
        shade_run(a, f, view, tri, worker, y, first, end - first, k)
        target = pixels_of(f, view, worker) + k
        for i in range(end - first):
            share = opacity * f.run_cover[cover + first - left + i]
            keep = 1.0 if f.additive else 1.0 - share
            for c in range(3):
                at = 3 * (target + i) + c
                f.tile_color[at] = min(keep * f.tile_color[at] + share * f.run_color[3 * (cover + i) + c], 1.0)


@kernel
def blend_tile(a: Any, f: Any, view: int, tile: int, worker: int, left: int, bottom: int) -> None:
    """Draw what is transparent over a tile: surfaces seen from inside, the nearest first, then the others in order."""
    first = f.view_binadr[view] + tile
    begin, end = f.bin_start[first], f.bin_start[first + 1]
    for k in range(end - begin):
        tri = f.bin_tri[end - 1 - k]
        if f.inst_blend[f.tri_inst[tri]] and f.tri_back[tri]:
            blend_triangle(a, f, view, tri, worker, left, bottom)
    for k in range(begin, end):
        tri = f.bin_tri[k]
        if f.inst_blend[f.tri_inst[tri]] and not f.tri_back[tri]:
            blend_triangle(a, f, view, tri, worker, left, bottom)


@kernel
def shows_mirror(f: Any, worker: int, geom: int) -> bool:
    """Whether a mirror is seen in the worker's tile."""
    first = samples_of(f, 0, worker)
    for k in range(first, first + f.nsample * TILE):
        tri = f.tile_tri[k]
        if tri != NOTHING and f.inst_geom[f.tri_inst[tri]] == geom:
            return True
    return False


@kernel
def store_colors(f: Any, view: int, worker: int, left: int, bottom: int) -> None:
    """Put the colours of a tile into the picture."""
    columns = min(TILE_WIDTH, f.view_width[view] - left)
    for row in range(min(TILE_HEIGHT, f.view_height[view] - bottom)):
        source = 3 * (pixels_of(f, view, worker) + row * TILE_WIDTH)
        target = 3 * ((bottom + row) * f.width + left)
        for k in range(3 * columns):
            f.color[target + k] = int(255.0 * f.tile_color[source + k] + 0.5)


@kernel
def store_depths(f: Any, view: int, worker: int, left: int, bottom: int) -> None:
    """Put depth, m, and geom of the first sample of each pixel into the picture."""
    columns = min(TILE_WIDTH, f.view_width[view] - left)
    base = samples_of(f, view, worker)
    for row in range(min(TILE_HEIGHT, f.view_height[view] - bottom)):
        for x in range(columns):
            k = base + row * TILE_WIDTH + x
            target = (bottom + row) * f.width + left + x
            tri = f.tile_tri[k]
            f.depth[target] = f.view_far[view]
            f.segment[target] = NOTHING
            if tri != NOTHING:
                near = f.tile_near[k]
                f.depth[target] = 1.0 / near if f.view_perspective[view] else f.view_far[view] - near
                f.segment[target] = f.inst_geom[f.tri_inst[tri]]


@picture_stage
def draw_tile(a: Any, f: Any, tile: int, worker: int) -> int:
    """One tile of the picture, from triangles to pixels; 0."""
    left = TILE_WIDTH * (tile % tile_columns(f, 0))
    bottom = TILE_HEIGHT * (tile // tile_columns(f, 0))
    fill_tile(f, 0, tile, samples_of(f, 0, worker), left, bottom)
    if f.mode != COLORS:
        store_depths(f, 0, worker, left, bottom)
        return 0
    for view in range(1, 1 + f.nmirror):
        if shows_mirror(f, worker, f.view_mirror[view]):
            fill_tile(f, view, tile, samples_of(f, view, worker), left, bottom)
            shade_tile(a, f, view, worker, left, bottom)
            blend_tile(a, f, view, tile, worker, left, bottom)
    shade_tile(a, f, 0, worker, left, bottom)
    blend_tile(a, f, 0, tile, worker, left, bottom)
    store_colors(f, 0, worker, left, bottom)
    return 0
