"""Rasterization: find the samples of a tile that each triangle covers, and where it is the nearest triangle.

The samples of a tile are stored row by row; the samples of a pixel are adjacent. *Blocks* of `LANES` samples are
processed at once: 16 pixels of one sample, or 4 of four samples. Positions within a block are small, so that single
precision suffices there.
"""

from __future__ import annotations

import numpy as np

from cardan.jit import kernel
from cardan.render.kernel_views import Frame
from cardan.render.kernels import ZERO, int32, single
from cardan.render.tiles import LANES, MOST_SAMPLES, TILE_HEIGHT, TILE_WIDTH

Block = tuple[float, ...]
LEAST = single(1e-45)
"""Smallest positive number in single precision."""
NONE, SOME, ALL = 0, 1, 2
"""Results of `part_of_tile`: how much of a tile a triangle covers."""


def lane_places(nsample: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the positions x and y, pixels, of the samples of a block.

    If a pixel has four samples, they are at x = 3, 7, 1, 5 eighths and y = 1, 3, 5, 7 eighths.
    """
    lane = np.arange(LANES)
    if nsample == 1:
        return lane + 0.5, np.full(LANES, 0.5)
    s = lane % nsample
    return lane // nsample + 0.125 + 0.25 * ((s + 2) // 2 % 2) + 0.5 * (s % 2), 0.125 + 0.25 * s


def row_places(nsample: int) -> np.ndarray:
    """Return x of all samples in a row of a tile, from the tile's left edge, pixels."""
    places, _ = lane_places(nsample)
    blocks = TILE_WIDTH * nsample // LANES
    return (places + LANES // nsample * np.arange(blocks)[:, None]).ravel()


@kernel
def edge_at(f: Frame, tri: int, k: int, x: int, y: int) -> float:
    """Value of an edge function at the lower left corner of a pixel."""
    return single(f.tri_edge[tri, 3 * k] * x + f.tri_edge[tri, 3 * k + 1] * y + f.tri_edge[tri, 3 * k + 2])


@kernel
def near_at(f: Frame, tri: int, x: int, y: int) -> float:
    """Inverse depth of a triangle at the lower left corner of a pixel."""
    return single(f.tri_near[tri, 0] * x + f.tri_near[tri, 1] * y + f.tri_near[tri, 2])


@kernel
def limit_at(f: Frame, view: int, x: int, y: int) -> float:
    """Largest visible inverse depth in a view at the lower left corner of a pixel."""
    return single(f.view_limit[view, 0] * x + f.view_limit[view, 1] * y + f.view_limit[view, 2])


@kernel
def owned_from(a: float, b: float) -> float:
    """Return the least value of an edge function for samples inside the triangle.

    Samples on left and lower edges are inside.
    """
    return ZERO if a > 0.0 or (a == 0.0 and b > 0.0) else LEAST


@kernel
def part_of_tile(f: Frame, tri: int, left: int, bottom: int) -> int:
    """Return how much of a tile is covered by triangle `tri`: `NONE`, `ALL`, or `SOME`.

    In uncertain cases, return `SOME`. The tile's lower left pixel is (`left`, `bottom`).
    """
    if f.tri_box[tri, 0] >= left and f.tri_box[tri, 1] < left + TILE_WIDTH - 1:
        return SOME  # most triangles are smaller than a tile
    least, most = 1.0, 1.0
    for k in range(3):
        a, b = f.tri_edge[tri, 3 * k], f.tri_edge[tri, 3 * k + 1]
        across, along = a * TILE_WIDTH, b * TILE_HEIGHT
        corner = a * left + b * bottom + f.tri_edge[tri, 3 * k + 2]
        low, high = corner + min(across, 0.0) + min(along, 0.0), corner + max(across, 0.0) + max(along, 0.0)
        least, most = min(least, low), min(most, high)
    if most < 0.0:
        return NONE
    return ALL if least > 0.0 else SOME


@kernel
def fill_whole(f: Frame, view: int, tri: int, samples: int, left: int, bottom: int) -> None:
    """Store a triangle that covers a tile completely in those samples where it is visible and the nearest so far."""
    shift, number = f.sample_shift, int32(tri)
    near_x, near_y = single(f.tri_near[tri, 0]), single(f.tri_near[tri, 1])
    limit_x, limit_y = single(f.view_limit[view, 0]), single(f.view_limit[view, 1])
    for row in range(TILE_HEIGHT):
        for block in range(TILE_WIDTH * f.nsample // LANES):
            x = left + (block * LANES >> shift)
            near, limit = near_at(f, tri, x, bottom + row), limit_at(f, view, x, bottom + row)
            base = samples + (row * TILE_WIDTH << shift) + block * LANES
            for lane in range(LANES):
                right, up = f.lane_x[lane], f.lane_y[lane]
                before, shown = f.tile_near[base + lane], f.tile_tri[base + lane]
                here = near + near_x * right + near_y * up
                closer = (here >= before) & (here <= limit + limit_x * right + limit_y * up)
                f.tile_near[base + lane] = here if closer else before
                f.tile_tri[base + lane] = number if closer else shown


@kernel
def block_of(f: Frame, view: int, tri: int, x: int, y: int) -> Block:
    """Return a triangle's linear functions for `test_sample`, relative to the block with lower left pixel (x, y)."""
    a0, a1, a2 = single(f.tri_edge[tri, 0]), single(f.tri_edge[tri, 3]), single(f.tri_edge[tri, 6])
    b0, b1, b2 = single(f.tri_edge[tri, 1]), single(f.tri_edge[tri, 4]), single(f.tri_edge[tri, 7])
    return (
        *(edge_at(f, tri, 0, x, y), a0, b0, owned_from(a0, b0)),
        *(edge_at(f, tri, 1, x, y), a1, b1, owned_from(a1, b1)),
        *(edge_at(f, tri, 2, x, y), a2, b2, owned_from(a2, b2)),
        *(near_at(f, tri, x, y), single(f.tri_near[tri, 0]), single(f.tri_near[tri, 1])),
        *(limit_at(f, view, x, y), single(f.view_limit[view, 0]), single(f.view_limit[view, 1])),
    )


@kernel
def test_sample(block: Block, right: float, up: float, near: float) -> tuple[float, bool]:
    """Return a triangle's inverse depth at a position in a block, and whether the triangle is visible there.

    `near` is the inverse depth of the nearest triangle so far. If both inverse depths are equal, the new triangle is
    visible.
    """
    e0, a0, b0, from0, e1, a1, b1, from1, e2, a2, b2, from2, here, near_x, near_y, limit, limit_x, limit_y = block
    here += near_x * right + near_y * up
    inside = (
        (e0 + a0 * right + b0 * up >= from0)
        & (e1 + a1 * right + b1 * up >= from1)
        & (e2 + a2 * right + b2 * up >= from2)
    )
    return (here, inside & (here >= near) & (here <= limit + limit_x * right + limit_y * up))


@kernel
def fill_triangle(f: Frame, view: int, tri: int, samples: int, left: int, bottom: int) -> None:
    """Store a triangle in those samples of a tile, from `samples` on, where it is visible and the nearest so far."""
    part = part_of_tile(f, tri, left, bottom)
    if part == ALL:
        fill_whole(f, view, tri, samples, left, bottom)
    if part != SOME:
        return
    shift, number = f.sample_shift, int32(tri)
    x0, x1 = max(f.tri_box[tri, 0] - left, 0), min(f.tri_box[tri, 1] - left, TILE_WIDTH - 1)
    y0, y1 = max(f.tri_box[tri, 2] - bottom, 0), min(f.tri_box[tri, 3] - bottom, TILE_HEIGHT - 1)
    for row in range(y0, y1 + 1):
        for first in range((x0 << shift) // LANES * LANES, (x1 << shift) + 1, LANES):
            base = samples + (row * TILE_WIDTH << shift) + first
            block = block_of(f, view, tri, left + (first >> shift), bottom + row)
            for lane in range(LANES):
                before, shown = f.tile_near[base + lane], f.tile_tri[base + lane]
                here, closer = test_sample(block, f.lane_x[lane], f.lane_y[lane], before)
                f.tile_near[base + lane] = here if closer else before
                f.tile_tri[base + lane] = number if closer else shown


@kernel
def cover_row(f: Frame, view: int, tri: int, worker: int, base: int, left: int, y: int) -> tuple[int, int]:
    """Store in the worker's `run_cover` the fraction of each pixel of a row in which a triangle is nearest.

    The row `y` of view `view` begins at pixel `left`, and `base` is its first sample. The triangle is `tri`.

    Returns:
        The first covered pixel, counted from `left`, and the pixel after the last one. If no pixel is covered, the
        first number is the larger one.
    """
    shift, nsample = f.sample_shift, f.nsample
    x0, x1 = max(f.tri_box[tri, 0] - left, 0), min(f.tri_box[tri, 1] - left, TILE_WIDTH - 1)
    hit, cover = worker * TILE_WIDTH * MOST_SAMPLES, worker * TILE_WIDTH
    part = single(1.0 / nsample)
    for first in range((x0 << shift) // LANES * LANES, (x1 << shift) + 1, LANES):
        block = block_of(f, view, tri, left + (first >> shift), y)
        for lane in range(LANES):
            near = f.tile_near[base + first + lane]
            _, closer = test_sample(block, f.lane_x[lane], f.lane_y[lane], near)
            f.run_hit[hit + first + lane] = part if closer else ZERO
    low, high = x1 + 1, x0
    for x in range(x0, x1 + 1):
        share = ZERO
        for k in range(hit + x * nsample, hit + (x + 1) * nsample):
            share += f.run_hit[k]
        f.run_cover[cover + x] = share
        if share > ZERO:
            low, high = min(low, x), x + 1
    return (low, high)
