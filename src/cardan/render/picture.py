"""Drawing of tiles: find visible triangles, shade and blend them, and store the pixels in the picture."""

from __future__ import annotations

from math import sqrt

from cardan.jit import kernel
from cardan.maths.types import Array2
from cardan.render.kernel_views import Assets, Frame
from cardan.render.kernels import HALF, ONE, ZERO, int32, picture_stage, single
from cardan.render.raster import ALL, NONE, cover_row, fill_triangle, part_of_tile
from cardan.render.shading import reflects, shade_batch, take_places, take_run
from cardan.render.sky import ray_of, sky_run
from cardan.render.tiles import MOST_SAMPLES, TILE, TILE_HEIGHT, TILE_WIDTH, bin_begin, tile_columns, tile_rows
from cardan.render.vertices import COLORS

Batch = tuple[int, bool, int]
"""Pixels of a row that are shaded together: their instance or `NOTHING`, whether they are in a mirror, and their
number."""
NOTHING = -1
MIXED = -2
"""Content of a pixel or tile if its samples show different triangles."""
WHITE = single(255.0)
QUARTER = single(0.25)
MARGIN = 1e-5
"""Relative difference of inverse depths above which single precision reliably finds the nearer triangle."""


@kernel
def samples_of(f: Frame, view: int, worker: int) -> int:
    """Return the address of the first sample of a worker's tile in a view.

    The camera (view 0) has one set of samples; all mirrors share another.
    """
    return (2 * worker + (1 if view > 0 else 0)) * f.nsample * TILE


@kernel
def pixels_of(f: Frame, view: int, worker: int) -> int:
    """Return the address of the first pixel of a worker's tile in the view of the camera or of a mirror."""
    return (worker * (1 + f.nmirror) + view) * TILE


@kernel
def farthest(f: Frame, view: int) -> float:
    """Return the inverse depth of the far plane; 0 in an orthographic view (see `View.limit`)."""
    return 1.0 / f.view_far[view] if f.view_perspective[view] else 0.0


@kernel
def sky_hides(f: Frame, view: int) -> bool:
    """Return whether a view shows a sky, which hides all geoms beyond it."""
    return f.sky >= 0 and f.mode == COLORS and f.view_perspective[view] != 0


@kernel
def ray_squares(f: Frame, view: int, x: float, y: float) -> tuple[float, float, float]:
    """Return the coefficients of the squared length of rays for a depth of 1 m: a quadratic polynomial along a row.

    The row begins at (`x`, `y`), pixels. The coefficients are those of 1, s and s^2, where s is the distance in pixels
    from the beginning of the row.
    """
    square, double, step = 0.0, 0.0, 0.0
    first = ray_of(f, view, x, y)
    for c in range(3):
        right = f.view_ray[view, 3 * c + 1]
        square += first[c] * first[c]
        double += 2.0 * first[c] * right
        step += right * right
    return (square, double, step)


@kernel
def nearest_sky(f: Frame, view: int, left: int, bottom: int) -> float:
    """Return the largest inverse depth of the background in a tile.

    It occurs at a corner, because the length of a ray for a depth of 1 m is a convex function of the pixel position.
    """
    most = farthest(f, view)
    if sky_hides(f, view):
        for corner in range(4):
            x, y = left + TILE_WIDTH * (corner % 2), bottom + TILE_HEIGHT * (corner // 2)
            most = max(most, sqrt(ray_squares(f, view, x, y)[0]) / f.sky_radius)
    return most


@kernel
def fills_tile(f: Frame, view: int, tri: int, left: int, bottom: int) -> bool:
    """Return whether a triangle covers a tile and is visible everywhere in it.

    A triangle is visible where it is neither too near nor behind the background.
    """
    if part_of_tile(f, tri, left, bottom) != ALL:
        return False
    a, b = f.tri_near[tri, 0], f.tri_near[tri, 1]
    near = a * left + b * bottom + f.tri_near[tri, 2]
    least = near + min(a * TILE_WIDTH, 0.0) + min(b * TILE_HEIGHT, 0.0)
    room_x, room_y = f.view_limit[view, 0] - a, f.view_limit[view, 1] - b
    limit = f.view_limit[view, 0] * left + f.view_limit[view, 1] * bottom + f.view_limit[view, 2]
    room = limit - near + min(room_x * TILE_WIDTH, 0.0) + min(room_y * TILE_HEIGHT, 0.0)
    return room > MARGIN * abs(limit) and least > (1.0 + MARGIN) * nearest_sky(f, view, left, bottom)


@kernel
def only_triangle(f: Frame, view: int, tile: int, left: int, bottom: int) -> int:
    """Return the only triangle of a tile if it fills the tile; `NOTHING` if the tile is empty; `MIXED` otherwise."""
    found = NOTHING
    for k in range(bin_begin(f, view, tile), bin_begin(f, view, tile + 1)):
        tri = f.bin_tri[k]
        if part_of_tile(f, tri, left, bottom) != NONE:
            if found != NOTHING or f.inst_blend[f.tri_inst[tri]] or not fills_tile(f, view, tri, left, bottom):
                return MIXED
            found = tri
    return found


@kernel
def fill_tile(f: Frame, view: int, tile: int, samples: int, left: int, bottom: int) -> None:
    """Find the nearest triangle for each sample of a tile. In mode `COLORS`, transparent triangles are ignored."""
    far, nothing = single(farthest(f, view)), int32(NOTHING)
    for k in range(samples, samples + f.nsample * TILE):
        f.tile_near[k] = far
        f.tile_tri[k] = nothing
    if sky_hides(f, view):  # the sky hides all geoms beyond it
        share, width = single(1.0 / f.sky_radius), TILE_WIDTH << f.sample_shift
        for row in range(TILE_HEIGHT):
            square, double, step = ray_squares(f, view, left, bottom + row + 0.5)
            start, slope, bend = single(square), single(double), single(step)
            base = samples + row * width
            for k in range(width):
                x = f.sample_x[k]
                f.tile_near[base + k] = max(far, share * single(sqrt(start + x * (slope + x * bend))))
    for k in range(bin_begin(f, view, tile), bin_begin(f, view, tile + 1)):
        tri = f.bin_tri[k]
        if f.mode != COLORS or not f.inst_blend[f.tri_inst[tri]]:
            fill_triangle(f, view, tri, samples, left, bottom)


@kernel
def find_keys(f: Frame, base: int, key: int) -> None:
    """Store in `run_key`, from `key` on, the content of each pixel of a row: a triangle, `NOTHING`, or `MIXED`."""
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
def color_batch(
    a: Assets, f: Frame, view: int, batch: Batch, worker: int, left: int, y: int, row: int, alone: bool
) -> None:
    """Store the colours of a batch in the worker's `run_color`; for `alone`, see `shade_batch`."""
    inst, mirror, count = batch
    if inst != NOTHING:
        shade_batch(a, f, view, inst, mirror, worker, left, y, row, count, alone)
    elif view == 0:
        sky_run(a, f, view, y, left, worker * TILE_WIDTH, count)
    else:
        for i in range(worker * TILE_WIDTH, worker * TILE_WIDTH + count):
            for c in range(4):
                f.run_color[i, c] = ZERO


@kernel
def add_batch(a: Assets, f: Frame, view: int, batch: Batch, worker: int, left: int, y: int, row: int) -> None:
    """Shade a batch, and add its colours to the tile, weighted by the fraction of each pixel that is covered."""
    if batch[2] == 0:
        return
    color_batch(a, f, view, batch, worker, left, y, row, False)
    run, target = worker * TILE_WIDTH, pixels_of(f, view, worker) + row
    for k in range(run, run + batch[2]):
        share, place = f.run_cover[k], target + f.run_place[k]
        for c in range(4):
            f.tile_color[place, c] += share * f.run_color[k, c]


@kernel
def take(a: Assets, f: Frame, view: int, tri: int, worker: int, left: int, y: int, x: int, count: int, at: int) -> None:
    """Add pixels `x` to `x` + `count` - 1 of a row to the worker's batch from entry `at` on; `tri` may be `NOTHING`."""
    if tri == NOTHING:
        take_places(f, worker, x, count, at)
    else:
        take_run(a, f, view, tri, worker, left, y, x, count, at)


@kernel
def batch_of(a: Assets, f: Frame, view: int, tri: int, count: int) -> Batch:
    """Make a batch of `count` pixels that show triangle `tri`, or `NOTHING`."""
    if tri == NOTHING:
        return (NOTHING, False, count)
    return (f.tri_inst[tri], view == 0 and reflects(a, f, tri), count)


@kernel
def shown_share(f: Frame, samples: int, key: int, x: int, tri: int) -> float:
    """Return the fraction of pixel `x` that shows `tri` or `NOTHING`; the row begins at entries `samples` and `key`."""
    number = f.run_key[key + x]
    if number != MIXED:
        return ONE if number == tri else ZERO
    share = ZERO
    for k in range(samples + 4 * x, samples + 4 * x + 4):
        share += QUARTER if f.tile_tri[k] == tri else ZERO
    return share


@kernel
def color_from(
    a: Assets,
    f: Frame,
    view: int,
    tri: int,
    worker: int,
    left: int,
    y: int,
    row: int,
    x: int,
    columns: int,
    batch: Batch,
) -> Batch:
    """Add the adjacent pixels of a row, from pixel `x` on, that show triangle `tri` (or `NOTHING`) to a batch.

    Return the batch. If the pixels don't fit into the batch, or show another geom, the batch is drawn first, and a new
    one begins. A pixel whose samples show several triangles gets the mean of their colours.
    """
    key = worker * TILE_WIDTH
    samples = samples_of(f, view, worker) + (row << f.sample_shift)
    hit = key * MOST_SAMPLES
    share = shown_share(f, samples, key, x, tri)
    count = 0
    while share > ZERO:
        f.run_hit[hit + count] = share
        count += 1
        share = shown_share(f, samples, key, x + count, tri) if x + count < columns else ZERO
    more = batch_of(a, f, view, tri, count)
    # pixels are shaded together if they show the same geom, and are part of a mirror or not
    if batch[0] == NOTHING or more[0] == NOTHING:
        alike = batch[0] == more[0]
    else:
        alike = f.inst_geom[batch[0]] == f.inst_geom[more[0]] and batch[1] == more[1]
    if not (alike and batch[2] + more[2] <= TILE_WIDTH):
        add_batch(a, f, view, batch, worker, left, y, row)
        batch = (more[0], more[1], 0)
    at = batch[2]
    for i in range(count):
        f.run_cover[key + at + i] = f.run_hit[hit + i]
    take(a, f, view, tri, worker, left, y, x, count, at)
    return (batch[0], batch[1], at + count)


@kernel
def starts_at(f: Frame, samples: int, key: int, x: int, s: int, tri: int) -> bool:
    """Return whether sample `s` of pixel `x` is the first to show `tri`, and the pixel to the left does not show it."""
    for before in range(s):
        if f.tile_tri[samples + 4 * x + before] == tri:
            return False
    return x == 0 or shown_share(f, samples, key, x - 1, tri) == ZERO


@kernel
def shade_tile(a: Assets, f: Frame, view: int, worker: int, left: int, bottom: int) -> None:
    """Compute the colours of a tile's pixels from its samples, which `fill_tile` has set."""
    columns = min(TILE_WIDTH, f.view_width[view] - left)
    target = pixels_of(f, view, worker)
    for row in range(min(TILE_HEIGHT, f.view_height[view] - bottom)):
        first = row * TILE_WIDTH
        for i in range(target + first, target + first + columns):
            for c in range(4):
                f.tile_color[i, c] = ZERO
        y = bottom + row
        key = worker * TILE_WIDTH
        samples = samples_of(f, view, worker) + (first << f.sample_shift)
        find_keys(f, samples, key)
        batch = (NOTHING, False, 0)
        x = 0
        while x < columns:
            tri = f.run_key[key + x]
            several = tri == MIXED
            for s in range(4 if several else 1):
                if several:
                    tri = f.tile_tri[samples + 4 * x + s]
                if starts_at(f, samples, key, x, s, tri):
                    batch = color_from(a, f, view, tri, worker, left, y, first, x, columns, batch)
            x += 1
            while not several and x < columns and f.run_key[key + x] == tri:
                x += 1
        add_batch(a, f, view, batch, worker, left, y, first)


@kernel
def split_colors(f: Frame, colors: Array2, source: int, run: int, columns: int) -> None:
    """Copy a row of colours of a tile to one array per channel, so that loops over pixels can be vectorised."""
    for x in range(columns):
        k = source + x
        r, g, b, o = colors[k, 0], colors[k, 1], colors[k, 2], colors[k, 3]
        f.run_s[run + x] = r
        f.run_t[run + x] = g
        f.run_r[run + x] = b
        f.run_size[run + x] = o


@kernel
def store_row(f: Frame, worker: int, left: int, y: int, columns: int) -> None:
    """Clamp a row of colours, split by `split_colors`, to the range 0 to 1, and store the row in the picture."""
    run = worker * TILE_WIDTH
    target = (f.height - 1 - y if f.highest_first else y) * f.width + left
    for x in range(columns):
        f.color[target + x, 0] = int32(WHITE * min(max(f.run_s[run + x], ZERO), ONE) + HALF)
        f.color[target + x, 1] = int32(WHITE * min(max(f.run_t[run + x], ZERO), ONE) + HALF)
        f.color[target + x, 2] = int32(WHITE * min(max(f.run_r[run + x], ZERO), ONE) + HALF)


@kernel
def shade_whole(a: Assets, f: Frame, view: int, tri: int, worker: int, left: int, bottom: int) -> None:
    """Compute the colours of a tile that is empty or filled by one triangle. In view 0, store them in the picture."""
    columns, run = min(TILE_WIDTH, f.view_width[view] - left), worker * TILE_WIDTH
    for row in range(min(TILE_HEIGHT, f.view_height[view] - bottom)):
        first = row * TILE_WIDTH
        target = pixels_of(f, view, worker) + first
        take(a, f, view, tri, worker, left, bottom + row, 0, columns, 0)
        color_batch(a, f, view, batch_of(a, f, view, tri, columns), worker, left, bottom + row, first, view == 0)
        if view == 0:
            split_colors(f, f.run_color, run, run, columns)
            store_row(f, worker, left, bottom + row, columns)
        else:
            for i in range(columns):
                for c in range(4):
                    f.tile_color[target + i, c] = f.run_color[run + i, c]


@kernel
def blend_triangle(a: Assets, f: Frame, view: int, tri: int, worker: int, left: int, bottom: int) -> None:
    """Blend a transparent triangle over a tile, with the opacity of its geom (section 4.1.7, "Blending")."""
    samples = samples_of(f, view, worker)
    run = worker * TILE_WIDTH
    opacity = f.geom_opacity[f.inst_geom[f.tri_inst[tri]]]
    y0, y1 = max(f.tri_box[tri, 2], bottom), min(f.tri_box[tri, 3], bottom + TILE_HEIGHT - 1)
    for y in range(y0, y1 + 1):
        row = (y - bottom) * TILE_WIDTH
        first, end = cover_row(f, view, tri, worker, samples + (row << f.sample_shift), left, y)
        if first < end:
            take(a, f, view, tri, worker, left, y, first, end - first, 0)
            color_batch(a, f, view, batch_of(a, f, view, tri, end - first), worker, left, y, row, False)
        target = pixels_of(f, view, worker) + row
        for x in range(first, end):
            share = opacity * f.run_cover[run + x]
            keep = ONE if f.additive else ONE - share
            for c in range(4):
                color = keep * f.tile_color[target + x, c] + share * f.run_color[run + x - first, c]
                f.tile_color[target + x, c] = min(color, ONE)


@kernel
def shows_mirror(f: Frame, worker: int, only: int, geom: int) -> bool:
    """Return whether mirror `geom` is visible in the worker's tile. `only` is the tile's result of `only_triangle`."""
    if only != MIXED:
        return only != NOTHING and f.inst_geom[f.tri_inst[only]] == geom
    first = samples_of(f, 0, worker)
    for k in range(first, first + f.nsample * TILE):
        tri = f.tile_tri[k]
        if tri != NOTHING and f.inst_geom[f.tri_inst[tri]] == geom:
            return True
    return False


@kernel
def store_depths(f: Frame, view: int, worker: int, left: int, bottom: int) -> None:
    """Store, in the picture, the depth, m, and the geom that the first sample of each pixel shows."""
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


@kernel
def draw_tile(a: Assets, f: Frame, tile: int, worker: int) -> None:
    """Draw one tile of the picture: find the visible triangles, shade pixels, blend, and store the result."""
    left = TILE_WIDTH * (tile % tile_columns(f, 0))
    bottom = TILE_HEIGHT * (tile // tile_columns(f, 0))
    if f.mode != COLORS:
        fill_tile(f, 0, tile, samples_of(f, 0, worker), left, bottom)
        store_depths(f, 0, worker, left, bottom)
        return
    shown = only_triangle(f, 0, tile, left, bottom)
    if shown == MIXED:
        fill_tile(f, 0, tile, samples_of(f, 0, worker), left, bottom)
    for behind in range(1 + f.nmirror):  # mirrors, then the camera: one loop, so that the code is compiled once
        view = f.nmirror - behind
        seen = view == 0 or shows_mirror(f, worker, shown, f.view_mirror[view])
        only = shown
        if view > 0 and seen:
            only = only_triangle(f, view, tile, left, bottom)
            if only == MIXED:
                fill_tile(f, view, tile, samples_of(f, view, worker), left, bottom)
        if seen and only != MIXED:
            shade_whole(a, f, view, only, worker, left, bottom)
        elif seen:
            shade_tile(a, f, view, worker, left, bottom)
            begin, end = bin_begin(f, view, tile), bin_begin(f, view, tile + 1)
            for k in range(end - begin):
                tri = f.bin_tri[end - 1 - k]
                if f.inst_blend[f.tri_inst[tri]] and f.tri_back[tri]:
                    blend_triangle(a, f, view, tri, worker, left, bottom)
            for k in range(begin, end):
                tri = f.bin_tri[k]
                if f.inst_blend[f.tri_inst[tri]] and not f.tri_back[tri]:
                    blend_triangle(a, f, view, tri, worker, left, bottom)
    if shown == MIXED:
        columns = min(TILE_WIDTH, f.width - left)
        for row in range(min(TILE_HEIGHT, f.height - bottom)):
            split_colors(f, f.tile_color, pixels_of(f, 0, worker) + row * TILE_WIDTH, worker * TILE_WIDTH, columns)
            store_row(f, worker, left, bottom + row, columns)


@picture_stage
def draw_tiles(a: Assets, f: Frame, share: int, worker: int) -> int:
    """Draw tiles `share`, `share` + `tile_shares`, ... in the order of drawing; return 0."""
    k = share
    while k < tile_columns(f, 0) * tile_rows(f, 0):
        draw_tile(a, f, f.tile_order[k], worker)
        k += f.tile_shares
    return 0
