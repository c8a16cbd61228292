"""Tiles: lists of the triangles in each rectangle of a picture."""

from __future__ import annotations

from cardan.jit import kernel
from cardan.render.fields import NRANK
from cardan.render.kernel_views import Assets, Frame
from cardan.render.kernels import picture_stage

TILE_WIDTH = 128
TILE_HEIGHT = 16
TILE = TILE_WIDTH * TILE_HEIGHT
"""Number of pixels of a tile."""
MOST_SAMPLES = 4
LANES = 16
"""Number of samples in a block; the samples of a block are processed at once."""


@kernel
def share_begin(f: Frame, share: int) -> int:
    """Return the first instance of a share, which is also the end of the previous share.

    Shares follow the order of drawing and have similar numbers of triangles. An instance belongs to the share that
    contains its first triangle.
    """
    if share >= f.nshare:
        return f.ninst
    low, high = 0, f.ninst
    while low < high:
        middle = (low + high) // 2
        if f.inst_triadr[middle] * f.nshare < f.ntri * share:
            low = middle + 1
        else:
            high = middle
    return low


@kernel
def tile_columns(f: Frame, view: int) -> int:
    """Number of tiles side by side in a view."""
    return (f.view_width[view] + TILE_WIDTH - 1) // TILE_WIDTH


@kernel
def tile_rows(f: Frame, view: int) -> int:
    """Number of tiles one above the other in a view."""
    return (f.view_height[view] + TILE_HEIGHT - 1) // TILE_HEIGHT


@kernel
def bin_begin(f: Frame, view: int, tile: int) -> int:
    """Return the index in `bin_tri` of the first triangle of a tile, where the triangles of the previous tile end."""
    return f.bin_start[f.view_binadr[view] + tile * f.nshare]


@kernel
def count_instance(f: Frame, view: int, share: int, inst: int) -> None:
    """Count an instance's triangles in each tile of a view, in the counters of share `share`."""
    columns, first, step = tile_columns(f, view), f.view_binadr[view] + 2 + share, f.nshare
    tri = f.view_triadr[view] + f.inst_triadr[inst]
    for k in range(tri, tri + f.inst_trinum[f.view_instadr[view] + inst]):
        for row in range(f.tri_box[k, 2] // TILE_HEIGHT, f.tri_box[k, 3] // TILE_HEIGHT + 1):
            for column in range(f.tri_box[k, 0] // TILE_WIDTH, f.tri_box[k, 1] // TILE_WIDTH + 1):
                f.bin_start[first + (row * columns + column) * step] += 1


@picture_stage
def clear_bins(a: Assets, f: Frame, views: int, unused: int) -> int:
    """Reset the numbers of triangles in the tiles of the first `views` views; return 0.

    In `bin_start`, each view has one entry for each share of each tile, one entry before these, and one after.
    """
    begin = 0
    for view in range(views):
        f.view_binadr[view] = begin
        begin += tile_columns(f, view) * tile_rows(f, view) * f.nshare + 2
    for k in range(begin):
        f.bin_start[k] = 0
    return 0


@picture_stage
def place_bins(a: Assets, f: Frame, views: int, unused: int) -> int:
    """Convert the numbers of triangles in `bin_start` to addresses of first triangles; return the total number."""
    total = 0
    for view in range(views):
        first = f.view_binadr[view]
        f.bin_start[first] = total
        for k in range(first + 1, first + 2 + tile_columns(f, view) * tile_rows(f, view) * f.nshare):
            total += f.bin_start[k]
            f.bin_start[k] = total
    return total


@kernel
def fill_bins(f: Frame, view: int, share: int) -> None:
    """List, for each tile of a view, the triangles of the instances in a share, in the order of instances.

    Afterwards, the view's entries in `bin_start` are the addresses of the first triangle for each tile and share.
    """
    columns, first, step = tile_columns(f, view), f.view_binadr[view] + 1 + share, f.nshare
    for inst in range(share_begin(f, share), share_begin(f, share + 1)):
        tri = f.view_triadr[view] + f.inst_triadr[inst]
        for k in range(tri, tri + f.inst_trinum[f.view_instadr[view] + inst]):
            for row in range(f.tri_box[k, 2] // TILE_HEIGHT, f.tri_box[k, 3] // TILE_HEIGHT + 1):
                for column in range(f.tri_box[k, 0] // TILE_WIDTH, f.tri_box[k, 1] // TILE_WIDTH + 1):
                    entry = first + (row * columns + column) * step
                    f.bin_tri[f.bin_start[entry]] = k
                    f.bin_start[entry] += 1


@picture_stage
def fill_all(a: Assets, f: Frame, views: int, unused: int) -> int:
    """List, for each tile of the first `views` views, the triangles of all instances; return 0."""
    for view in range(views):
        for share in range(f.nshare):
            fill_bins(f, view, share)
    return 0


@kernel
def rank_of(f: Frame, tile: int) -> int:
    """Return the rank of a tile by its number of triangles; the tiles with the most triangles have the lowest ranks.

    Numbers below 8 have one rank each; for larger numbers, there are four ranks for each power of two.
    """
    number, steps = 0, 0
    for view in range(1 + f.nmirror):
        number += bin_begin(f, view, tile + 1) - bin_begin(f, view, tile)
    while number >= 8:
        number >>= 1
        steps += 4
    return NRANK - 1 - (number + steps)


@picture_stage
def order_tiles(a: Assets, f: Frame, count: int, unused: int) -> int:
    """Sort all tiles for drawing, approximately by decreasing number of triangles; return 0."""
    for rank in range(NRANK):
        f.tile_rank[rank] = 0
    for tile in range(count):
        f.tile_rank[rank_of(f, tile)] += 1
    begin = 0
    for rank in range(NRANK):
        number = f.tile_rank[rank]
        f.tile_rank[rank] = begin
        begin += number
    for tile in range(count):
        rank = rank_of(f, tile)
        f.tile_order[f.tile_rank[rank]] = tile
        f.tile_rank[rank] += 1
    return 0
