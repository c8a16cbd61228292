"""Tiles: which triangles each rectangle of a picture needs."""

from __future__ import annotations

from cardan.jit import kernel
from cardan.render.calls import picture_stage
from cardan.render.kernel_views import Assets, Frame

TILE_WIDTH = 128
TILE_HEIGHT = 16
TILE = TILE_WIDTH * TILE_HEIGHT
"""Pixels of a tile."""
MOST_SAMPLES = 4


@kernel
def tile_columns(f: Frame, view: int) -> int:
    """Tiles side by side in a view."""
    return (f.view_width[view] + TILE_WIDTH - 1) // TILE_WIDTH


@kernel
def tile_rows(f: Frame, view: int) -> int:
    """Tiles one above the other in a view."""
    return (f.view_height[view] + TILE_HEIGHT - 1) // TILE_HEIGHT


@kernel
def _count(f: Frame, view: int, tri: int, first: int, columns: int) -> None:
    for row in range(f.tri_box[tri, 2] // TILE_HEIGHT, f.tri_box[tri, 3] // TILE_HEIGHT + 1):
        for column in range(f.tri_box[tri, 0] // TILE_WIDTH, f.tri_box[tri, 1] // TILE_WIDTH + 1):
            f.bin_start[first + row * columns + column + 1] += 1


@kernel
def _fill(f: Frame, view: int, tri: int, first: int, columns: int) -> None:
    for row in range(f.tri_box[tri, 2] // TILE_HEIGHT, f.tri_box[tri, 3] // TILE_HEIGHT + 1):
        for column in range(f.tri_box[tri, 0] // TILE_WIDTH, f.tri_box[tri, 1] // TILE_WIDTH + 1):
            tile = first + row * columns + column
            f.bin_tri[f.bin_start[tile]] = tri
            f.bin_start[tile] += 1


@picture_stage
def count_bins(a: Assets, f: Frame, view: int, begin: int) -> int:
    """Count the triangles of each tile of a view; entries of `bin_tri` from `begin` on. Returns where they end.

    `bin_start` of a view has one entry more than there are tiles, and one before.
    """
    columns = tile_columns(f, view)
    tiles = columns * tile_rows(f, view)
    first = f.view_binadr[view]
    for k in range(tiles + 2):
        f.bin_start[first + k] = 0
    for inst in range(f.ninst):
        tri = f.view_triadr[view] + f.inst_triadr[inst]
        for k in range(f.inst_trinum[f.view_instadr[view] + inst]):
            _count(f, view, tri + k, first + 1, columns)
    total = begin
    for k in range(tiles + 1):
        total += f.bin_start[first + 1 + k]
        f.bin_start[first + 1 + k] = total
    f.bin_start[first] = begin
    return total


@picture_stage
def fill_bins(a: Assets, f: Frame, view: int, unused: int) -> int:
    """List the triangles of each tile of a view, in the order of instances; 0.

    Afterwards tile k has the entries from ``bin_start[k]`` to ``bin_start[k + 1]``, relative to the view's first.
    """
    columns = tile_columns(f, view)
    first = f.view_binadr[view]
    for inst in range(f.ninst):
        tri = f.view_triadr[view] + f.inst_triadr[inst]
        for k in range(f.inst_trinum[f.view_instadr[view] + inst]):
            _fill(f, view, tri + k, first + 1, columns)
    return 0
