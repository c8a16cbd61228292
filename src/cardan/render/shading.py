"""Shading: colours of those pixels of a row that show one geom (OpenGL 1.5, chapter 3).

Pixels are collected in a *batch*. For each *run* of adjacent pixels of a triangle, `take_run` adds the values that vary
over the triangle. `shade_batch` then processes the whole batch at once, so that triangles with few pixels cost little.
The arrays of a batch are the fields of `Frame` with the prefix ``run_``; they have `TILE_WIDTH` entries for each
worker.

Values that vary over a triangle are linear in the picture if divided by w. The value at the first pixel of a run is
computed in double precision; the steps from pixel to pixel use single precision.
"""

from __future__ import annotations

from math import sqrt

from cardan.enums.codes import TEXTURE_2D
from cardan.jit import kernel
from cardan.maths.types import Array2
from cardan.render.grids import color_of, grid_run
from cardan.render.kernel_views import Assets, Frame
from cardan.render.kernels import HALF, ONE, ZERO, int32, single
from cardan.render.sampling import FLAT_SIDE, multiply_cube, multiply_texture
from cardan.render.shadows import shadow_run
from cardan.render.sky import add_haze, haze_line, is_hazy
from cardan.render.tiles import TILE, TILE_WIDTH
from cardan.render.vertices import texture_unit

Weights = tuple[float, float, float, float, float, float]
"""Weights of a triangle's three corners at the first pixel of a run, then the steps of the weights per pixel. They
apply to values divided by w."""
FARTHEST = single(1e6)
"""Largest texture coordinate."""
SMALL = single(1e-30)


@kernel
def line_of(weights: Weights, k0: float, k1: float, k2: float) -> tuple[float, float]:
    """Interpolate a quantity over a run of pixels. Return its value at the first pixel and its step per pixel.

    `k0`, `k1` and `k2` are the values at the triangle's corners. Both results are divided by w.
    """
    w0, w1, w2, d0, d1, d2 = weights
    return (single(k0 * w0 + k1 * w1 + k2 * w2), single(k0 * d0 + k1 * d1 + k2 * d2))


@kernel
def color_run_of(
    f: Frame, tri: int, weights: Weights, layer: int, colors: Array2, target: int, run: int, count: int
) -> None:
    """Interpolate colours over a run of pixels; store them in `colors` from row `target` on.

    Layer 0 contains the colours due to all lights without shadows; each other `layer` is a light with shadows.
    """
    c = 4 * layer
    r0, g0, b0, o0 = color_of(f, f.tri_vert[tri, 0], c)
    r1, g1, b1, o1 = color_of(f, f.tri_vert[tri, 1], c)
    r2, g2, b2, o2 = color_of(f, f.tri_vert[tri, 2], c)
    w0, w1, w2 = single(weights[0]), single(weights[1]), single(weights[2])
    d0, d1, d2 = single(weights[3]), single(weights[4]), single(weights[5])
    for i in range(count):
        step, scale = f.ramp[i], f.run_scale[run + i]
        u, v, w = (w0 + d0 * step) * scale, (w1 + d1 * step) * scale, (w2 + d2 * step) * scale
        colors[target + i, 0] = u * r0 + v * r1 + w * r2
        colors[target + i, 1] = u * g0 + v * g1 + w * g2
        colors[target + i, 2] = u * b0 + v * b1 + w * b2
        colors[target + i, 3] = u * o0 + v * o1 + w * o2


@kernel
def tex_line(f: Frame, tri: int, weights: Weights, k: int) -> tuple[float, float]:
    """Interpolate texture coordinate `k` (or a plane's coordinate, m) over a run of pixels; see `line_of`."""
    v0, v1, v2 = f.tri_vert[tri, 0], f.tri_vert[tri, 1], f.tri_vert[tri, 2]
    return line_of(weights, f.vert_tex[v0, k], f.vert_tex[v1, k], f.vert_tex[v2, k])


@kernel
def place_run(f: Frame, tri: int, weights: Weights, run: int, count: int) -> None:
    """Compute the texture coordinates of a run of pixels; for planes, the coordinates in m."""
    s, ds = tex_line(f, tri, weights, 0)
    t, dt = tex_line(f, tri, weights, 1)
    for i in range(count):
        step, scale = f.ramp[i], f.run_scale[run + i]
        u, v = (s + ds * step) * scale, (t + dt * step) * scale
        f.run_s[run + i] = u if abs(u) < FARTHEST else ZERO
        f.run_t[run + i] = v if abs(v) < FARTHEST else ZERO


@kernel
def slope_at(value: float, scale: float, right: float, up: float, one_right: float, one_up: float) -> float:
    """Return the largest change of a coordinate `value` from pixel to pixel, to the right or upwards.

    `right` and `up` are the steps of the coordinate divided by w; `one_right` and `one_up` are the steps of 1 / w;
    `scale` is w.
    """
    return max(abs(right - value * one_right), abs(up - value * one_up)) * scale


@kernel
def tex_up(f: Frame, tri: int, k: int) -> float:
    """Return the step of texture coordinate `k`, divided by w, from a row of pixels to the row above."""
    v0, v1, v2 = f.tri_vert[tri, 0], f.tri_vert[tri, 1], f.tri_vert[tri, 2]
    return single(
        f.vert_tex[v0, k] * f.tri_edge[tri, 1]
        + f.vert_tex[v1, k] * f.tri_edge[tri, 4]
        + f.vert_tex[v2, k] * f.tri_edge[tri, 7]
    )


@kernel
def size_run(f: Frame, tri: int, weights: Weights, width: float, height: float, run: int, count: int) -> None:
    """Compute the sizes of pixels in texels of a flat texture: the longer of a pixel's two sides (section 3.8.8).

    `width` and `height` are the numbers of texels for each unit of the coordinates.
    """
    one_right = line_of(weights, 1.0, 1.0, 1.0)[1]
    one_up = single(f.tri_edge[tri, 1] + f.tri_edge[tri, 4] + f.tri_edge[tri, 7])
    s, t = width * tex_line(f, tri, weights, 0)[1], height * tex_line(f, tri, weights, 1)[1]
    s_up, t_up = width * tex_up(f, tri, 0), height * tex_up(f, tri, 1)
    for k in range(run, run + count):
        x, y = width * f.run_s[k], height * f.run_t[k]
        across, along = s - x * one_right, t - y * one_right
        across_up, along_up = s_up - x * one_up, t_up - y * one_up
        right, up = across * across + along * along, across_up * across_up + along_up * along_up
        f.run_size[k] = f.run_scale[k] * single(sqrt(right if right > up else up))


@kernel
def cube_size_run(f: Frame, tri: int, weights: Weights, width: float, height: float, run: int, count: int) -> None:
    """Compute the sizes of pixels for a cube texture: the largest change of a direction's coordinate between pixels."""
    one_right = line_of(weights, 1.0, 1.0, 1.0)[1]
    one_up = single(f.tri_edge[tri, 1] + f.tri_edge[tri, 4] + f.tri_edge[tri, 7])
    s, t, r = (
        tex_line(f, tri, weights, 0)[1],
        tex_line(f, tri, weights, 1)[1],
        tex_line(f, tri, weights, 2)[1],
    )
    s_up, t_up, r_up = tex_up(f, tri, 0), tex_up(f, tri, 1), tex_up(f, tri, 2)
    for k in range(run, run + count):
        scale = f.run_scale[k]
        across = width * slope_at(f.run_s[k], scale, s, s_up, one_right, one_up)
        along = height * slope_at(f.run_t[k], scale, t, t_up, one_right, one_up)
        through = slope_at(f.run_r[k], scale, r, r_up, one_right, one_up)
        f.run_size[k] = max(across, along, through)


@kernel
def is_plane(f: Frame, inst: int) -> bool:
    """Return whether an instance is a plane whose colours come from a grid; False if only its edges are drawn."""
    return f.inst_gridadr[inst] >= 0 and f.inst_line[inst] <= 0.0


@kernel
def is_textured(f: Frame, geom: int) -> bool:
    """Return whether a geom has a texture that is drawn."""
    return f.textured != 0 and f.geom_texid[geom] >= 0


@kernel
def tex_scales(a: Assets, f: Frame, geom: int, plane: bool) -> tuple[float, float]:
    """Return texture coordinates per metre of a plane; for other geoms, 1: their vertices have texture coordinates."""
    if not plane:
        return (1.0, 1.0)
    unit_x, unit_y = texture_unit(f, geom, 0), texture_unit(f, geom, 1)
    if a.tex_type[f.geom_texid[geom]] != TEXTURE_2D:
        return (1.0 / unit_x, 1.0 / unit_y)
    # the second coordinate of flat textures points down
    return (0.5 * f.geom_texrepeat[geom, 0] / unit_x, -0.5 * f.geom_texrepeat[geom, 1] / unit_y)


@kernel
def apply_texture(a: Assets, f: Frame, geom: int, plane: bool, run: int, count: int) -> None:
    """Multiply the colours of a batch by the texture of its geom."""
    tex = f.geom_texid[geom]
    flat = a.tex_type[tex] == TEXTURE_2D
    if plane:
        scale_s, scale_t = tex_scales(a, f, geom, plane)
        s_scale, t_scale, shift = single(scale_s), single(scale_t), HALF if flat else ZERO
        for k in range(run, run + count):
            f.run_s[k] = shift + s_scale * f.run_s[k]
            f.run_t[k] = shift + t_scale * f.run_t[k]
    if flat:
        multiply_texture(a, f, tex, FLAT_SIDE, run, count)
    else:
        multiply_cube(a, f, tex, run, count)


@kernel
def reflects(a: Assets, f: Frame, tri: int) -> bool:
    """Return whether triangle `tri` of the camera's view of picture `f` is part of a mirror.

    Only the upper side of a box reflects.
    """
    inst = f.tri_inst[tri]
    if f.geom_mirror[f.inst_geom[inst]] < 0 or f.inst_line[inst] > 0.0:
        return False
    vertex = a.shape_vertadr[f.inst_shape[inst]] + f.tri_vert[tri, 0] - f.inst_vertadr[inst] - f.view_vertadr[0]
    return a.normal[vertex, 2] > 0.5


@kernel
def depth_run(f: Frame, view: int, tri: int, y: int, x0: int, run: int, count: int) -> None:
    """Compute the depths of a run of pixels, m.

    In a perspective view, depths are at most the depth of the far plane.
    """
    slope = f.tri_near[tri, 0]
    start, step = single(slope * (x0 + 0.5) + f.tri_near[tri, 1] * (y + 0.5) + f.tri_near[tri, 2]), single(slope)
    far = single(f.view_far[view])
    least = ONE / far
    if f.view_perspective[view]:
        for i in range(count):
            f.run_depth[run + i] = ONE / max(start + step * f.ramp[i], least)
    else:
        for i in range(count):
            f.run_depth[run + i] = far - (start + step * f.ramp[i])


@kernel
def take_places(f: Frame, worker: int, x: int, count: int, at: int) -> None:
    """Assign pixels `x`, `x` + 1, ... of a row of a tile to the entries of the worker's batch from `at` on."""
    first = int32(x)
    for i in range(count):
        f.run_place[worker * TILE_WIDTH + at + i] = int32(first + int32(i))


@kernel
def take_run(
    a: Assets, f: Frame, view: int, tri: int, worker: int, left: int, y: int, x: int, count: int, at: int
) -> None:
    """Add `count` pixels of a triangle, with all values that vary over the triangle, to a batch, from entry `at` on.

    The pixels are in row `y`, from pixel `left` + `x` on.
    """
    run = worker * TILE_WIDTH + at
    inst = f.tri_inst[tri]
    geom, plane = f.inst_geom[inst], is_plane(f, inst)
    px, py = left + x + 0.5, y + 0.5
    weights = (
        f.tri_edge[tri, 0] * px + f.tri_edge[tri, 1] * py + f.tri_edge[tri, 2],
        f.tri_edge[tri, 3] * px + f.tri_edge[tri, 4] * py + f.tri_edge[tri, 5],
        f.tri_edge[tri, 6] * px + f.tri_edge[tri, 7] * py + f.tri_edge[tri, 8],
        *(f.tri_edge[tri, 0], f.tri_edge[tri, 3], f.tri_edge[tri, 6]),
    )
    take_places(f, worker, x, count, at)
    start, step = line_of(weights, 1.0, 1.0, 1.0)
    for i in range(count):
        value = start + step * f.ramp[i]
        f.run_scale[run + i] = ONE / (value if value > SMALL else SMALL)
    if f.nlayer > 0 or f.fog:
        depth_run(f, view, tri, y, left + x, run, count)
    if not plane:
        color_run_of(f, tri, weights, 0, f.run_color, run, run, count)
        layers = worker * TILE_WIDTH * f.nlayer + at
        for layer in range(f.nlayer):
            color_run_of(f, tri, weights, layer + 1, f.run_layer, layers + layer * TILE_WIDTH, run, count)
    if plane or is_textured(f, geom):
        place_run(f, tri, weights, run, count)
    if is_textured(f, geom):
        tex = f.geom_texid[geom]
        width, height = tex_scales(a, f, geom, plane)
        if a.tex_type[tex] == TEXTURE_2D:
            width, height = abs(width) * a.tex_width[tex], abs(height) * a.tex_height[tex]
            size_run(f, tri, weights, single(width), single(height), run, count)
        else:
            r, dr = tex_line(f, tri, weights, 2)
            for i in range(count):
                w = (r + dr * f.ramp[i]) * f.run_scale[run + i]
                f.run_r[run + i] = w if abs(w) < FARTHEST else ZERO
            cube_size_run(f, tri, weights, single(abs(width)), single(abs(height)), run, count)


@kernel
def shade_batch(
    a: Assets,
    f: Frame,
    view: int,
    inst: int,
    mirror: bool,
    worker: int,
    left: int,
    y: int,
    row: int,
    count: int,
    alone: bool,
) -> None:
    """Compute the colours of a batch of `count` pixels that show the geom of `inst`; store them in `run_color`.

    If the geom is not a plane, `inst` may be any of its instances. The row begins at pixel `left` of the picture and at
    pixel `row` of the tile. Set `mirror` if the pixels are part of a mirror. Set `alone` if their colours go directly
    into the picture, where they are clamped.
    """
    run = worker * TILE_WIDTH
    geom, plane = f.inst_geom[inst], is_plane(f, inst)
    if plane:
        grid_run(f, view, inst, worker, count)
    for layer in range(f.nlayer):
        shadow_run(f, view, layer, (run * f.nlayer) + layer * TILE_WIDTH, y, left, run, count)
    if is_textured(f, geom):
        apply_texture(a, f, geom, plane, run, count)
    if mirror:
        source = (worker * (1 + f.nmirror) + 1 + f.geom_mirror[geom]) * TILE + row
        for k in range(run, run + count):
            place = source + f.run_place[k]
            for c in range(4):
                f.run_color[k, c] += f.tile_color[place, c]
    hazy = f.haze > 0.0 and f.sky >= 0 and geom == f.haze_geom and view == 0
    hazy = hazy and is_hazy(f, haze_line(f, view, y, left))
    if f.fog or hazy or not alone:
        for k in range(run, run + count):
            for c in range(4):
                f.run_color[k, c] = min(max(f.run_color[k, c], ZERO), ONE)
    if f.fog:
        # fog is linear in the depth (section 3.10)
        start, scale = single(f.fog_start), single(1.0 / (f.fog_end - f.fog_start))
        for k in range(run, run + count):
            share = min(max((f.run_depth[k] - start) * scale, ZERO), ONE)
            for c in range(4):
                f.run_color[k, c] += share * (f.fog_color[c] - f.run_color[k, c])
    if hazy:
        add_haze(f, view, y, left, run, count)
