"""Shadow maps: what each light sees (Williams 1978, "Casting curved shadows on curved surfaces").

Only the backs of things are drawn into a map, so that lit surfaces don't shade themselves.
"""

from __future__ import annotations

from typing import Any

from cardan.jit import kernel
from cardan.render.calls import picture_stage
from cardan.render.geometry import project
from cardan.render.raster import span

TOLERANCE = 3e-3
"""Relative difference of distance at which two surfaces count as one."""


@kernel
def first_shadow(f: Any) -> int:
    """The view of the first light with shadows."""
    return 1 + f.nmirror


@kernel
def clear_map(f: Any, layer: int) -> None:
    """Empty the part of a map that was drawn into."""
    size = f.shadow_size
    base = layer * size * size
    for y in range(f.shadow_box[layer, 2], f.shadow_box[layer, 3] + 1):
        for x in range(f.shadow_box[layer, 0], f.shadow_box[layer, 1] + 1):
            f.shadow_near[base + y * size + x] = 0.0


@kernel
def bound_map(f: Any, view: int, layer: int) -> None:
    """Note which pixels of a map the triangles of a view may cover."""
    size = f.shadow_size
    x0, x1, y0, y1 = size, -1, size, -1
    for inst in range(f.ninst):
        first = f.view_triadr[view] + f.inst_triadr[inst]
        for tri in range(first, first + f.inst_trinum[f.view_instadr[view] + inst]):
            x0, x1 = min(x0, f.tri_box[tri, 0]), max(x1, f.tri_box[tri, 1])
            y0, y1 = min(y0, f.tri_box[tri, 2]), max(y1, f.tri_box[tri, 3])
    f.shadow_box[layer, 0] = x0
    f.shadow_box[layer, 1] = x1
    f.shadow_box[layer, 2] = y0
    f.shadow_box[layer, 3] = y1


@picture_stage
def begin_map(a: Any, f: Any, layer: int, unused: int) -> int:
    """Empty the map of a light, and find out which part of it will be in use; 0."""
    clear_map(f, layer)
    bound_map(f, first_shadow(f) + layer, layer)
    return 0


@kernel
def cast_triangle(f: Any, tri: int, base: int, y0: int, y1: int) -> None:
    """Draw a triangle into rows of the map that begins at `base`."""
    size = f.shadow_size
    slope = f.tri_near[tri, 0]
    x0, x1 = f.tri_box[tri, 0], f.tri_box[tri, 1]
    for y in range(max(f.tri_box[tri, 2], y0), min(f.tri_box[tri, 3] + 1, y1)):
        first, end = span(f, tri, y + 0.5, 0.5, x0, x1)
        origin = 0.5 * slope + f.tri_near[tri, 1] * (y + 0.5) + f.tri_near[tri, 2]
        row = base + y * size
        for x in range(first, end):
            near = origin + slope * x
            f.shadow_near[row + x] = max(f.shadow_near[row + x], near)


@picture_stage
def draw_map(a: Any, f: Any, layer: int, part: int) -> int:
    """Draw one of `SHADOW_PARTS` bands of rows of a light's map; 0."""
    view = first_shadow(f) + layer
    size = f.shadow_size
    low, rows = f.shadow_box[layer, 2], f.shadow_box[layer, 3] + 1 - f.shadow_box[layer, 2]
    y0, y1 = low + rows * part // SHADOW_PARTS, low + rows * (part + 1) // SHADOW_PARTS
    for inst in range(f.ninst):
        first = f.view_triadr[view] + f.inst_triadr[inst]
        for tri in range(first, first + f.inst_trinum[f.view_instadr[view] + inst]):
            cast_triangle(f, tri, layer * size * size, y0, y1)
    return 0


@kernel
def is_lit(f: Any, layer: int, p: Any) -> bool:
    """Whether the light of a layer reaches a point; what is beyond its map is lit."""
    view = first_shadow(f) + layer
    w = project(f, view, 2, p)
    if w <= 0.0:
        return True
    x, y = project(f, view, 0, p) / w, project(f, view, 1, p) / w
    if x < f.shadow_box[layer, 0] or x >= f.shadow_box[layer, 1] + 1.0:
        return True
    if y < f.shadow_box[layer, 2] or y >= f.shadow_box[layer, 3] + 1.0:
        return True
    if f.view_perspective[view]:
        limit = (1.0 + TOLERANCE) / w
    else:
        limit = f.view_far[view] - (1.0 - TOLERANCE) * project(f, view, 3, p)
    size = f.shadow_size
    found = f.shadow_near[layer * size * size + int(y) * size + int(x)]
    return found <= limit


SHADOW_PARTS = 4
"""Bands of rows into which the work on a shadow map is divided."""
