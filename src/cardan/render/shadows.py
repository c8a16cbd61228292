"""Shadow maps: what each light sees (Williams 1978, "Casting curved shadows on curved surfaces").

Only the backs of things are drawn into a map, so that lit surfaces don't shade themselves.
"""

from __future__ import annotations

from cardan.jit import kernel
from cardan.render.calls import picture_stage
from cardan.render.kernel_views import Assets, Frame
from cardan.render.single import ONE, ZERO, int32, single

Block = tuple[float, float, float, float, float, float, float, float]
MAP_LANES = 16
"""Pixels of a map that are looked at at once."""
NOWHERE = int32(-1)
TINY = single(1e-20)
TOLERANCE = single(3e-3)
"""Relative difference of distance at which two surfaces count as one."""


@kernel
def first_shadow(f: Frame) -> int:
    """The view of the first light with shadows."""
    return 1 + f.nmirror


@kernel
def band_of(f: Frame, layer: int, part: int) -> tuple[int, int]:
    """First row of one of `shadow_parts` bands of the rows of a map that are in use, and the one past the last."""
    low, rows = f.shadow_box[layer, 2], f.shadow_box[layer, 3] + 1 - f.shadow_box[layer, 2]
    return (low + rows * part // f.shadow_parts, low + rows * (part + 1) // f.shadow_parts)


@picture_stage
def clear_map(a: Assets, f: Frame, layer: int, part: int) -> int:
    """Empty one of `shadow_parts` bands of what was drawn into the map of a light; 0."""
    stride = f.shadow_stride
    base = layer * f.shadow_size * stride
    y0, y1 = band_of(f, layer, part)
    for y in range(y0, y1):
        for x in range(f.shadow_box[layer, 0], f.shadow_box[layer, 1] + 1):
            f.shadow_near[base + y * stride + x] = ZERO
    return 0


@picture_stage
def bound_map(a: Assets, f: Frame, layer: int, unused: int) -> int:
    """Note which pixels of the map of a light its instances may cover; 0."""
    size, view = f.shadow_size, first_shadow(f) + layer
    x0, x1, y0, y1 = size, -1, size, -1
    for k in range(f.view_instadr[view], f.view_instadr[view] + f.ninst):
        if f.inst_trinum[k] > 0:
            x0, x1 = min(x0, f.inst_box[k, 0]), max(x1, f.inst_box[k, 1])
            y0, y1 = min(y0, f.inst_box[k, 2]), max(y1, f.inst_box[k, 3])
    # one pixel more on each side: single precision may see a triangle there
    f.shadow_box[layer, 0] = max(x0 - 1, 0)
    f.shadow_box[layer, 1] = min(x1 + 1, size - 1)
    f.shadow_box[layer, 2] = max(y0 - 1, 0)
    f.shadow_box[layer, 3] = min(y1 + 1, size - 1)
    return 0


@kernel
def cast_block(f: Frame, block: Block, base: int) -> None:
    """Note the nearness of a triangle in `MAP_LANES` pixels of a map, from pixel `base` on, where it is nearest."""
    e0, a0, e1, a1, e2, a2, near, slope = block
    for lane in range(MAP_LANES):
        x = single(lane)
        inside = (e0 + a0 * x >= ZERO) & (e1 + a1 * x >= ZERO) & (e2 + a2 * x >= ZERO)
        here = near + slope * x
        found = f.shadow_near[base + lane]
        f.shadow_near[base + lane] = here if inside & (here > found) else found


@kernel
def cast_triangle(f: Frame, tri: int, base: int, y0: int, y1: int) -> None:
    """Draw a triangle into rows of the map that begins at `base`."""
    stride = f.shadow_stride
    first, last = f.tri_box[tri, 0] // MAP_LANES, f.tri_box[tri, 1] // MAP_LANES
    for y in range(max(f.tri_box[tri, 2], y0), min(f.tri_box[tri, 3] + 1, y1)):
        for number in range(first, last + 1):
            x = number * MAP_LANES
            py, px = y + 0.5, x + 0.5
            block = (
                single(f.tri_edge[tri, 0] * px + f.tri_edge[tri, 1] * py + f.tri_edge[tri, 2]),
                single(f.tri_edge[tri, 0]),
                single(f.tri_edge[tri, 3] * px + f.tri_edge[tri, 4] * py + f.tri_edge[tri, 5]),
                single(f.tri_edge[tri, 3]),
                single(f.tri_edge[tri, 6] * px + f.tri_edge[tri, 7] * py + f.tri_edge[tri, 8]),
                single(f.tri_edge[tri, 6]),
                single(f.tri_near[tri, 0] * px + f.tri_near[tri, 1] * py + f.tri_near[tri, 2]),
                single(f.tri_near[tri, 0]),
            )
            cast_block(f, block, base + y * stride + x)


@picture_stage
def draw_map(a: Assets, f: Frame, layer: int, part: int) -> int:
    """Draw one of `shadow_parts` bands of rows of a light's map; 0."""
    view = first_shadow(f) + layer
    y0, y1 = band_of(f, layer, part)
    for inst in range(f.ninst):
        first = f.view_triadr[view] + f.inst_triadr[inst]
        for tri in range(first, first + f.inst_trinum[f.view_instadr[view] + inst]):
            cast_triangle(f, tri, layer * f.shadow_size * f.shadow_stride, y0, y1)
    return 0


@kernel
def row_line(f: Frame, entry: int, row: int, px: float, py: float) -> tuple[float, float, float, float]:
    """A row of a light's matrix along a run of pixels, of where rays begin and of rays: values and steps."""
    k = 6 * row
    return (
        single(f.light_line[entry, k] + f.light_line[entry, k + 1] * px + f.light_line[entry, k + 2] * py),
        single(f.light_line[entry, k + 1]),
        single(f.light_line[entry, k + 3] + f.light_line[entry, k + 4] * px + f.light_line[entry, k + 5] * py),
        single(f.light_line[entry, k + 4]),
    )


@kernel
def find_texels(f: Frame, view: int, layer: int, y: int, left: int, run: int, count: int) -> None:
    """The pixel of a light's map in which each pixel of a batch lies, or -1, and the nearness at which it is lit."""
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
    """Add the colours of a light, from `run_layer[target]` on, to a batch where it reaches its pixels.

    What is beyond its map is lit.
    """
    find_texels(f, view, layer, y, left, run, count)
    base = layer * f.shadow_size * f.shadow_stride
    for i in range(count):
        texel = f.run_texel[run + i]
        if texel < 0 or f.shadow_near[base + texel] <= f.run_limit[run + i]:
            for c in range(4):
                f.run_color[run + i, c] += f.run_layer[target + i, c]
