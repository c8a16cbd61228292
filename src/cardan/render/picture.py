"""From the triangles of a tile to its pixels."""

from __future__ import annotations

from math import sqrt

from cardan.jit import kernel
from cardan.render.calls import picture_stage
from cardan.render.geometry import COLORS
from cardan.render.kernel_views import Assets, Frame
from cardan.render.raster import LANES, cover_row, fill_triangle
from cardan.render.shading import shade_run
from cardan.render.single import HALF, ONE, ZERO, int32, single
from cardan.render.sky import ray_of, sky_run
from cardan.render.tiles import TILE, TILE_HEIGHT, TILE_WIDTH, tile_columns

NOTHING = -1
MIXED = -2
"""What a pixel shows whose samples show different things."""
WHITE = single(255.0)


@kernel
def samples_of(f: Frame, view: int, worker: int) -> int:
    """First sample of the worker's tile: the camera has one, all mirrors share another."""
    return (2 * worker + (1 if view > 0 else 0)) * f.nsample * TILE


@kernel
def pixels_of(f: Frame, view: int, worker: int) -> int:
    """First pixel of the worker's tile, of the camera or of a mirror."""
    return (worker * (1 + f.nmirror) + view) * TILE


@kernel
def farthest(f: Frame, view: int) -> float:
    """Nearness of the far plane."""
    return 1.0 / f.view_far[view] if f.view_perspective[view] else 0.0


@kernel
def clear_tile(f: Frame, view: int, samples: int, left: int, bottom: int) -> None:
    """Forget what a tile showed: what is beyond the far plane, or beyond the sky, is never nearer."""
    far = single(farthest(f, view))
    nothing = int32(NOTHING)
    for k in range(samples, samples + f.nsample * TILE):
        f.tile_near[k] = far
        f.tile_tri[k] = nothing
    if f.sky < 0 or f.mode != COLORS or not f.view_perspective[view]:
        return
    share = single(1.0 / f.sky_radius)
    for row in range(TILE_HEIGHT):
        square, double, step = 0.0, 0.0, 0.0
        first = ray_of(f, view, left, bottom + row + 0.5)
        for c in range(3):
            right = f.view_ray[view, 3 * c + 1]
            square += first[c] * first[c]
            double += 2.0 * first[c] * right
            step += right * right
        base = samples + (row * TILE_WIDTH << f.sample_shift)
        for block in range(TILE_WIDTH * f.nsample // LANES):
            x = block * LANES >> f.sample_shift
            start, slope, bend = single(square + x * (double + x * step)), single(double + 2.0 * x * step), single(step)
            for lane in range(LANES):
                right_by = f.lane_x[lane]
                distance = sqrt(start + right_by * (slope + right_by * bend))
                f.tile_near[base + block * LANES + lane] = max(far, share * distance)


@kernel
def fill_tile(f: Frame, view: int, tile: int, samples: int, left: int, bottom: int) -> None:
    """The nearest triangle of each sample of a tile; of colours, only what isn't seen through."""
    clear_tile(f, view, samples, left, bottom)
    first = f.view_binadr[view] + tile
    for k in range(f.bin_start[first], f.bin_start[first + 1]):
        tri = f.bin_tri[k]
        if f.mode != COLORS or not f.inst_blend[f.tri_inst[tri]]:
            fill_triangle(f, view, tri, samples, left, bottom)


@kernel
def find_keys(f: Frame, samples: int, row: int, worker: int) -> None:
    """What each pixel of a row of a tile shows, into `run_key`: a triangle, `NOTHING`, or `MIXED`."""
    base, key = samples + (row * TILE_WIDTH << f.sample_shift), worker * TILE_WIDTH
    if f.nsample == 1:
        for x in range(TILE_WIDTH):
            f.run_key[key + x] = f.tile_tri[base + x]
        return
    mixed = int32(MIXED)
    for x in range(TILE_WIDTH):
        k = base + 4 * x
        tri = f.tile_tri[k]
        same = (tri == f.tile_tri[k + 1]) & (tri == f.tile_tri[k + 2]) & (tri == f.tile_tri[k + 3])
        f.run_key[key + x] = tri if same else mixed


@kernel
def color_run(a: Assets, f: Frame, view: int, tri: int, worker: int, y: int, x0: int, count: int, k: int) -> None:
    """Colours of pixels that show a triangle, or nothing, into the worker's `run_color`."""
    if tri != NOTHING:
        shade_run(a, f, view, tri, worker, y, x0, count, k)
    elif view == 0:
        sky_run(a, f, view, y, x0, worker * TILE_WIDTH, count)
    else:
        for i in range(worker * TILE_WIDTH, worker * TILE_WIDTH + count):
            for c in range(4):
                f.run_color[i, c] = ZERO


@kernel
def shade_uniform(a: Assets, f: Frame, view: int, tri: int, worker: int, y: int, x0: int, count: int, k: int) -> None:
    """Colours of pixels that one triangle, or nothing, covers wholly; `k` is the first of them in the tile."""
    color_run(a, f, view, tri, worker, y, x0, count, k)
    target, run = pixels_of(f, view, worker) + k, worker * TILE_WIDTH
    for i in range(count):
        for c in range(4):
            f.tile_color[target + i, c] = f.run_color[run + i, c]


@kernel
def shade_mixed(a: Assets, f: Frame, view: int, worker: int, y: int, x: int, k: int) -> None:
    """Colour of a pixel whose samples show different triangles: the mean of theirs."""
    nsample = f.nsample
    base = samples_of(f, view, worker) + k * nsample
    target, run = pixels_of(f, view, worker) + k, worker * TILE_WIDTH
    for c in range(4):
        f.tile_color[target, c] = ZERO
    for s in range(nsample):
        tri = f.tile_tri[base + s]
        seen, count = 0, 0
        for t in range(nsample):
            if f.tile_tri[base + t] == tri:
                count += 1
                seen += 1 if t < s else 0
        if seen == 0:
            share = single(count / nsample)
            color_run(a, f, view, tri, worker, y, x, 1, k)
            for c in range(4):
                f.tile_color[target, c] += share * f.run_color[run, c]


@kernel
def shade_tile(a: Assets, f: Frame, view: int, worker: int, left: int, bottom: int) -> None:
    """Colours of the pixels of a tile."""
    key = worker * TILE_WIDTH
    columns = min(TILE_WIDTH, f.view_width[view] - left)
    for row in range(min(TILE_HEIGHT, f.view_height[view] - bottom)):
        find_keys(f, samples_of(f, view, worker), row, worker)
        x = 0
        while x < columns:
            tri = f.run_key[key + x]
            k = row * TILE_WIDTH + x
            if tri == MIXED:
                shade_mixed(a, f, view, worker, bottom + row, left + x, k)
                x += 1
            else:
                count = 1
                while x + count < columns and f.run_key[key + x + count] == tri:
                    count += 1
                shade_uniform(a, f, view, tri, worker, bottom + row, left + x, count, k)
                x += count


@kernel
def blend_triangle(a: Assets, f: Frame, view: int, tri: int, worker: int, left: int, bottom: int) -> None:
    """Draw a triangle over a tile, as transparent as its geom is (section 4.1.7, "Blending")."""
    samples = samples_of(f, view, worker)
    run = worker * TILE_WIDTH
    opacity = f.geom_opacity[f.inst_geom[f.tri_inst[tri]]]
    y0, y1 = max(f.tri_box[tri, 2], bottom), min(f.tri_box[tri, 3], bottom + TILE_HEIGHT - 1)
    for y in range(y0, y1 + 1):
        row = (y - bottom) * TILE_WIDTH
        first, end = cover_row(f, view, tri, worker, samples + (row << f.sample_shift), left, y)
        if first < end:
            shade_run(a, f, view, tri, worker, y, left + first, end - first, row + first)
        target = pixels_of(f, view, worker) + row
        for x in range(first, end):
            share = opacity * f.run_cover[run + x]
            keep = ONE if f.additive else ONE - share
            for c in range(4):
                color = keep * f.tile_color[target + x, c] + share * f.run_color[run + x - first, c]
                f.tile_color[target + x, c] = min(color, ONE)


@kernel
def blend_tile(a: Assets, f: Frame, view: int, tile: int, worker: int, left: int, bottom: int) -> None:
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
def shows_mirror(f: Frame, worker: int, geom: int) -> bool:
    """Whether a mirror is seen in the worker's tile."""
    first = samples_of(f, 0, worker)
    for k in range(first, first + f.nsample * TILE):
        tri = f.tile_tri[k]
        if tri != NOTHING and f.inst_geom[f.tri_inst[tri]] == geom:
            return True
    return False


@kernel
def store_colors(f: Frame, view: int, worker: int, left: int, bottom: int) -> None:
    """Put the colours of a tile into the picture."""
    columns = min(TILE_WIDTH, f.view_width[view] - left)
    for row in range(min(TILE_HEIGHT, f.view_height[view] - bottom)):
        source = pixels_of(f, view, worker) + row * TILE_WIDTH
        target = (bottom + row) * f.width + left
        for x in range(columns):
            for c in range(3):
                f.color[target + x, c] = int32(WHITE * f.tile_color[source + x, c] + HALF)


@kernel
def store_depths(f: Frame, view: int, worker: int, left: int, bottom: int) -> None:
    """Put depth, m, and geom of the first sample of each pixel into the picture."""
    columns = min(TILE_WIDTH, f.view_width[view] - left)
    base = samples_of(f, view, worker)
    for row in range(min(TILE_HEIGHT, f.view_height[view] - bottom)):
        for x in range(columns):
            k = base + (row * TILE_WIDTH + x << f.sample_shift)
            target = (bottom + row) * f.width + left + x
            tri = f.tile_tri[k]
            f.depth[target] = f.view_far[view]
            f.segment[target] = NOTHING
            if tri != NOTHING:
                near = f.tile_near[k]
                f.depth[target] = 1.0 / near if f.view_perspective[view] else f.view_far[view] - near
                f.segment[target] = f.inst_geom[f.tri_inst[tri]]


@picture_stage
def draw_tile(a: Assets, f: Frame, tile: int, worker: int) -> int:
    """One tile of the picture, from triangles to pixels; 0."""
    left = TILE_WIDTH * (tile % tile_columns(f, 0))
    bottom = TILE_HEIGHT * (tile // tile_columns(f, 0))
    fill_tile(f, 0, tile, samples_of(f, 0, worker), left, bottom)
    if f.mode != COLORS:
        store_depths(f, 0, worker, left, bottom)
        return 0
    for behind in range(1 + f.nmirror):  # mirrors, then the camera, whose code is the same: it is compiled once
        view = f.nmirror - behind
        seen = view == 0 or shows_mirror(f, worker, f.view_mirror[view])
        if view > 0 and seen:
            fill_tile(f, view, tile, samples_of(f, view, worker), left, bottom)
        if seen:
            shade_tile(a, f, view, worker, left, bottom)
            blend_tile(a, f, view, tile, worker, left, bottom)
    store_colors(f, 0, worker, left, bottom)
    return 0
