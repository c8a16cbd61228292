"""Shadow maps: the views of lights (Williams 1978, "Casting curved shadows on curved surfaces").

Only back faces are drawn into a map, so that lit surfaces don't shadow themselves.
"""

from __future__ import annotations

from cardan.jit import kernel
from cardan.render.kernel_views import Assets, Frame
from cardan.render.kernels import ONE, ZERO, int32, picture_stage, single
from cardan.render.tiles import fill_bins

Block = tuple[float, float, float, float, float, float, float, float]
MAP_LANES = 16
"""Number of pixels of a map that are processed at once."""
HALF_LANES = MAP_LANES // 2
SMALL_ROWS = 32
"""Number of rows, counted from a triangle's first row, over which single precision suffices."""
NOWHERE = int32(-1)
TINY = single(1e-20)
TOLERANCE = single(3e-3)
"""Relative difference of the distances to a light up to which two surfaces count as the same surface."""


@kernel
def first_shadow(f: Frame) -> int:
    """Return the index of the view of the first light with shadows."""
    return 1 + f.nmirror


@picture_stage
def bound_maps(a: Assets, f: Frame, layers: int, unused: int) -> int:
    """Store, for each shadow map, the range of pixels that the last picture used and the range that this picture uses.

    `layers` is the number of maps; `unused` is ignored. Return the number of pixels of the largest range in use.
    """
    most = 0
    for layer in range(layers):
        size, view = f.shadow_size, first_shadow(f) + layer
        for k in range(4):
            f.shadow_old[layer, k] = f.shadow_box[layer, k]
        x0, x1, y0, y1 = size, -1, size, -1
        for k in range(f.view_instadr[view], f.view_instadr[view] + f.ninst):
            if f.inst_trinum[k] > 0:
                x0, x1 = min(x0, f.inst_box[k, 0]), max(x1, f.inst_box[k, 1])
                y0, y1 = min(y0, f.inst_box[k, 2]), max(y1, f.inst_box[k, 3])
        # one more pixel on each side: single precision may find a triangle there
        f.shadow_box[layer, 0] = max(x0 - 1, 0)
        f.shadow_box[layer, 1] = min(x1 + 1, size - 1)
        f.shadow_box[layer, 2] = max(y0 - 1, 0)
        f.shadow_box[layer, 3] = min(y1 + 1, size - 1)
        columns = f.shadow_box[layer, 1] - f.shadow_box[layer, 0] + 1
        most = max(most, columns * (f.shadow_box[layer, 3] - f.shadow_box[layer, 2] + 1))
    return most


@kernel
def cast_lane(f: Frame, block: Block, base: int, lane: int) -> None:
    """Store a triangle's inverse depth in pixel `base` + `lane` of a map, if the triangle is the nearest one there."""
    e0, a0, e1, a1, e2, a2, near, slope = block
    x = single(lane)
    inside = (e0 + a0 * x >= ZERO) & (e1 + a1 * x >= ZERO) & (e2 + a2 * x >= ZERO)
    here = near + slope * x
    found = f.shadow_near[base + lane]
    f.shadow_near[base + lane] = here if inside & (here > found) else found


@kernel
def cast_block(f: Frame, block: Block, base: int) -> None:
    """Store a triangle's inverse depth in `MAP_LANES` pixels of a map, from pixel `base` on (see `cast_lane`)."""
    for lane in range(MAP_LANES):
        cast_lane(f, block, base, lane)


@kernel
def map_block(f: Frame, tri: int, x: int, y: int) -> Block:
    """Return a triangle's edge functions and inverse depth at a pixel's centre, each with its step to the right."""
    px, py = x + 0.5, y + 0.5
    return (
        single(f.tri_edge[tri, 0] * px + f.tri_edge[tri, 1] * py + f.tri_edge[tri, 2]),
        single(f.tri_edge[tri, 0]),
        single(f.tri_edge[tri, 3] * px + f.tri_edge[tri, 4] * py + f.tri_edge[tri, 5]),
        single(f.tri_edge[tri, 3]),
        single(f.tri_edge[tri, 6] * px + f.tri_edge[tri, 7] * py + f.tri_edge[tri, 8]),
        single(f.tri_edge[tri, 6]),
        single(f.tri_near[tri, 0] * px + f.tri_near[tri, 1] * py + f.tri_near[tri, 2]),
        single(f.tri_near[tri, 0]),
    )


@kernel
def shifted(block: Block, right: float, up: float, slopes: tuple[float, float, float, float]) -> Block:
    """Return a block for a pixel `right` and `up` pixels away; `slopes` are the upward steps of its four values."""
    e0, a0, e1, a1, e2, a2, near, slope = block
    b0, b1, b2, rise = slopes
    return (
        *(e0 + a0 * right + b0 * up, a0, e1 + a1 * right + b1 * up, a1),
        *(e2 + a2 * right + b2 * up, a2, near + slope * right + rise * up, slope),
    )


@kernel
def cast_small(f: Frame, tri: int, base: int, y0: int, y1: int) -> None:
    """Draw rows `y0` to `y1` (exclusive) of a triangle at most two blocks wide, extrapolating from row `y0`."""
    stride = f.shadow_stride
    wide = f.tri_box[tri, 1] - f.tri_box[tri, 0] >= MAP_LANES
    x = min(f.tri_box[tri, 0], stride - (2 * MAP_LANES if wide else MAP_LANES))
    narrow = f.tri_box[tri, 1] < x + HALF_LANES
    first = map_block(f, tri, x, y0)
    slopes = (
        *(single(f.tri_edge[tri, 1]), single(f.tri_edge[tri, 4]), single(f.tri_edge[tri, 7])),
        single(f.tri_near[tri, 1]),
    )
    for k in range(y1 - y0):
        row = base + (y0 + k) * stride + x
        block = shifted(first, ZERO, single(k), slopes)
        if narrow:
            for lane in range(HALF_LANES):
                cast_lane(f, block, row, lane)
        else:
            cast_block(f, block, row)
        if wide:
            cast_block(f, shifted(block, single(MAP_LANES), ZERO, slopes), row + MAP_LANES)


@kernel
def row_span(f: Frame, tri: int, y: int) -> tuple[int, int]:
    """Return the first and last pixel of a map's row that a triangle may cover, extended by one pixel on each side.

    If the triangle covers no pixel of the row, return (0, -1).
    """
    first, py = f.tri_box[tri, 0], y + 0.5
    last = f.tri_box[tri, 1] - first
    low, high = 0.0, float(last)
    for k in range(3):
        slope = f.tri_edge[tri, 3 * k]
        value = slope * (first + 0.5) + f.tri_edge[tri, 3 * k + 1] * py + f.tri_edge[tri, 3 * k + 2]
        if slope > 0.0:  # value + slope x is not negative between low and high
            low = max(low, -value / slope)
        elif slope < 0.0:
            high = min(high, -value / slope)
    if low > high + 2.0:
        return (0, -1)
    return (first + max(int(min(low, float(last))) - 1, 0), first + min(int(max(high, 0.0)) + 1, last))


@kernel
def cast_triangle(f: Frame, tri: int, base: int, low: int, high: int) -> None:
    """Draw a triangle into rows `low` to `high` (exclusive) of the map that begins at `base`."""
    y0, y1 = max(f.tri_box[tri, 2], low), min(f.tri_box[tri, 3] + 1, high)
    if y1 - y0 <= SMALL_ROWS and f.tri_box[tri, 1] - f.tri_box[tri, 0] < 2 * MAP_LANES:
        cast_small(f, tri, base, y0, y1)
    else:
        stride = f.shadow_stride
        for y in range(y0, y1):
            first, last = row_span(f, tri, y)
            first -= first % MAP_LANES
            for number in range((last - first) // MAP_LANES + 1):
                x = first + number * MAP_LANES
                cast_block(f, map_block(f, tri, x, y), base + y * stride + x)


@picture_stage
def draw_map_or_fill(a: Assets, f: Frame, part: int, bands: int) -> int:
    """Draw a band of a shadow map if `part` < `bands`; else list a share's triangles in each tile of a view. Return 0.

    One stage runs both kinds of tasks, because they are independent. Bands come first, because they take longer.
    """
    if part < bands:
        layer, band, stride = part // f.shadow_parts, part % f.shadow_parts, f.shadow_stride
        view, base = first_shadow(f) + layer, layer * f.shadow_size * stride
        # the rows of the band, in use now or before; those of the last picture are cleared
        begin = min(f.shadow_box[layer, 2], f.shadow_old[layer, 2])
        rows = max(f.shadow_box[layer, 3], f.shadow_old[layer, 3]) + 1 - begin
        low, high = begin + rows * band // f.shadow_parts, begin + rows * (band + 1) // f.shadow_parts
        for y in range(max(low, f.shadow_old[layer, 2]), min(high, f.shadow_old[layer, 3] + 1)):
            for x in range(f.shadow_old[layer, 0], f.shadow_old[layer, 1] + 1):
                f.shadow_near[base + y * stride + x] = ZERO
        for inst in range(f.ninst):
            total, first = f.view_instadr[view] + inst, f.view_triadr[view] + f.inst_triadr[inst]
            if f.inst_trinum[total] > 0 and f.inst_box[total, 2] < high and f.inst_box[total, 3] >= low:
                for tri in range(first, first + f.inst_trinum[total]):
                    cast_triangle(f, tri, base, low, high)
    else:
        fill_bins(f, (part - bands) // f.nshare, (part - bands) % f.nshare)
    return 0


@kernel
def row_line(f: Frame, entry: int, row: int, px: float, py: float) -> tuple[float, float, float, float]:
    """Multiply row `row` of a light's matrix by the rays of a row of pixels that begins at (`px`, `py`).

    Return two values with their steps per pixel: the product with the first ray's origin, and with its vector.
    """
    k = 6 * row
    return (
        single(f.light_line[entry, k] + f.light_line[entry, k + 1] * px + f.light_line[entry, k + 2] * py),
        single(f.light_line[entry, k + 1]),
        single(f.light_line[entry, k + 3] + f.light_line[entry, k + 4] * px + f.light_line[entry, k + 5] * py),
        single(f.light_line[entry, k + 4]),
    )


@kernel
def find_texels(f: Frame, view: int, layer: int, y: int, left: int, run: int, count: int) -> None:
    """Store each pixel's texel in a light's map, or -1, and the inverse depth above which the map shadows the pixel."""
    lit = first_shadow(f) + layer
    px, py = left + 0.5, y + 0.5
    entry = view * f.nlayer + layer
    bx, bdx, rx, rdx = row_line(f, entry, 0, px, py)
    by, bdy, ry, rdy = row_line(f, entry, 1, px, py)
    bw, bdw, rw, rdw = row_line(f, entry, 2, px, py)
    bz, bdz, rz, rdz = row_line(f, entry, 3, px, py)
    x0, x1 = single(f.shadow_box[layer, 0]), single(f.shadow_box[layer, 1] + 1)
    y0, y1 = single(f.shadow_box[layer, 2]), single(f.shadow_box[layer, 3] + 1)
    stride = int32(f.shadow_stride)
    central, far = f.view_perspective[lit] != 0, single(f.view_far[lit])
    for i in range(count):
        k, depth = single(f.run_place[run + i]), f.run_depth[run + i]
        w = bw + bdw * k + depth * (rw + rdw * k)
        scale = ONE / (w if w > TINY else TINY)
        x = (bx + bdx * k + depth * (rx + rdx * k)) * scale
        y_map = (by + bdy * k + depth * (ry + rdy * k)) * scale
        z = bz + bdz * k + depth * (rz + rdz * k)
        on_map = (w > TINY) & (x >= x0) & (x < x1) & (y_map >= y0) & (y_map < y1)
        column, row = int32(x if on_map else ZERO), int32(y_map if on_map else ZERO)
        f.run_texel[run + i] = int32(int32(row * stride) + column) if on_map else NOWHERE
        f.run_limit[run + i] = (ONE + TOLERANCE) * scale if central else far - (ONE - TOLERANCE) * z


@kernel
def shadow_run(f: Frame, view: int, layer: int, target: int, y: int, left: int, run: int, count: int) -> None:
    """Add a light's colours, stored from `run_layer[target]` on, to those pixels of a batch that the light reaches.

    `layer` is the number of the light's map. The batch has `count` pixels of row `y` of view `view`, with entries from
    `run` on; the row begins at pixel `left`.
    """
    find_texels(f, view, layer, y, left, run, count)
    base = layer * f.shadow_size * f.shadow_stride
    for i in range(count):
        texel = f.run_texel[run + i]
        if texel < 0 or f.shadow_near[base + texel] <= f.run_limit[run + i]:
            for c in range(4):
                f.run_color[run + i, c] += f.run_layer[target + i, c]
