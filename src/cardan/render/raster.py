"""Filling triangles: which samples of a tile each covers, and whether it is nearest there."""

from __future__ import annotations

from math import ceil
from typing import Any

from cardan.jit import kernel
from cardan.render.tiles import TILE, TILE_HEIGHT, TILE_WIDTH

CENTRE = 0.5
FAR_AWAY = 1e9


@kernel
def sample_x(s: int, nsample: int) -> float:
    """Where sample `s` stands in a pixel, along x: the usual pattern of four is 3, 7, 1 and 5 eighths."""
    if nsample == 1:
        return CENTRE
    return 0.125 + 0.25 * ((s + 2) // 2 % 2) + 0.5 * (s % 2)


@kernel
def sample_y(s: int, nsample: int) -> float:
    """Where sample `s` stands in a pixel, along y: 1, 3, 5 and 7 eighths."""
    return CENTRE if nsample == 1 else 0.125 + 0.25 * s


@kernel
def narrow(a: float, rest: float, b: float, lo: float, hi: float) -> Any:
    """The part of a row from `lo` to `hi` where ``a x + rest >= 0``; level edges own the samples above."""
    if a > 0.0:
        return (max(lo, -rest / a), hi)
    if a < 0.0:
        return (lo, min(hi, -rest / a))
    if rest > 0.0 or (rest == 0.0 and b > 0.0):
        return (lo, hi)
    return (FAR_AWAY, -FAR_AWAY)


@kernel
def span(f: Any, tri: int, y: float, shift: float, x0: int, x1: int) -> Any:
    """Pixels, first and one past the last, of a row whose samples a triangle covers, between `x0` and `x1`."""
    lo, hi = float(x0), float(x1) + 1.0
    for k in range(3):
        b = f.tri_edge[tri, 3 * k + 1]
        rest = b * y + f.tri_edge[tri, 3 * k + 2]
        lo, hi = narrow(f.tri_edge[tri, 3 * k], rest, b, lo, hi)
    if lo >= hi:
        return (0, 0)
    return (max(x0, ceil(lo - shift)), min(x1 + 1, ceil(hi - shift)))


@kernel
def fill_row(f: Any, tri: int, base: int, x0: int, x1: int, near: Any, limit: Any) -> None:
    """Make a triangle the nearest of a row of samples where it is so.

    Nearness, and the limit that it may not exceed, are linear: the value at x = 0 and the slope.
    """
    for x in range(x0, x1):
        here = near[0] + near[1] * x
        k = base + x
        closer = here > f.tile_near[k] and here <= limit[0] + limit[1] * x
        f.tile_near[k] = here if closer else f.tile_near[k]
        f.tile_tri[k] = tri if closer else f.tile_tri[k]


@kernel
def along_row(slope: float, a: float, b: float, dx: float, y: float) -> Any:
    """A linear function of the picture along a row of samples: value at x = 0, and slope."""
    return (slope * dx + a * y + b, slope)


@kernel
def fill_triangle(f: Any, view: int, tri: int, samples: int, left: int, bottom: int) -> None:
    """Put a triangle into the tile whose lower left pixel is (left, bottom), and whose samples begin at `samples`."""
    x0, x1 = max(f.tri_box[tri, 0], left), min(f.tri_box[tri, 1], left + TILE_WIDTH - 1)
    y0, y1 = max(f.tri_box[tri, 2], bottom), min(f.tri_box[tri, 3], bottom + TILE_HEIGHT - 1)
    nsample = f.nsample
    for s in range(nsample):
        dx, dy = sample_x(s, nsample), sample_y(s, nsample)
        base = samples + s * TILE - left
        for y in range(y0, y1 + 1):
            first, end = span(f, tri, y + dy, dx, x0, x1)
            if first < end:
                near = along_row(f.tri_near[tri, 0], f.tri_near[tri, 1], f.tri_near[tri, 2], dx, y + dy)
                limit = along_row(f.view_limit[view, 0], f.view_limit[view, 1], f.view_limit[view, 2], dx, y + dy)
                fill_row(f, tri, base + (y - bottom) * TILE_WIDTH, first, end, near, limit)


@kernel
def cover_row(f: Any, view: int, tri: int, samples: int, left: int, y: int, row: int, cover: int) -> Any:
    """Shares of the samples of a row of pixels in which a triangle is nearer than what is drawn.

    The shares stand in `run_cover` from `cover` on, by pixel of the tile. Returns the first pixel that is covered, and
    the one past the last.
    """
    x0, x1 = max(f.tri_box[tri, 0], left), min(f.tri_box[tri, 1], left + TILE_WIDTH - 1)
    for k in range(cover, cover + TILE_WIDTH):
        f.run_cover[k] = 0.0
    nsample = f.nsample
    low, high = x1 + 1, x0
    for s in range(nsample):
        dx, dy = sample_x(s, nsample), sample_y(s, nsample)
        first, end = span(f, tri, y + dy, dx, x0, x1)
        near = along_row(f.tri_near[tri, 0], f.tri_near[tri, 1], f.tri_near[tri, 2], dx, y + dy)
        limit = along_row(f.view_limit[view, 0], f.view_limit[view, 1], f.view_limit[view, 2], dx, y + dy)
        base = samples + s * TILE + row * TILE_WIDTH - left
        for x in range(first, end):
            here = near[0] + near[1] * x
            if here > f.tile_near[base + x] and here <= limit[0] + limit[1] * x:
                f.run_cover[cover + x - left] += 1.0 / nsample
                low, high = min(low, x), max(high, x + 1)
    return (low, high)
