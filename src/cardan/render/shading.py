"""Colours of pixels side by side that show one triangle (OpenGL 1.5, chapter 3).

What varies over a triangle is, divided by w, linear in the picture: its value at the first pixel of a run is found in
double precision; from there on, steps are single.
"""

from __future__ import annotations

from math import sqrt
from typing import Any

from cardan.jit import kernel
from cardan.render.grids import grid_run
from cardan.render.kernel_views import Assets, Frame
from cardan.render.sampling import FLAT_SIDE, multiply_cube, multiply_texture
from cardan.render.shadows import shadow_run
from cardan.render.single import HALF, ONE, ZERO, single
from cardan.render.sky import add_haze
from cardan.render.texturing import FLAT, unit
from cardan.render.tiles import TILE, TILE_WIDTH

Weights = tuple[float, float, float, float, float, float]
"""Weights of the corners of a triangle at the first pixel of a run, and their steps from pixel to pixel; they give what
varies over it divided by w, up to a factor of the triangle."""
FARTHEST = single(1e6)
"""Largest texture coordinate."""
SMALL = single(1e-30)


@kernel
def weights_at(f: Frame, tri: int, x: int, y: int) -> Weights:
    """The weights at the centre of a pixel."""
    px, py = x + 0.5, y + 0.5
    return (
        f.tri_edge[tri, 0] * px + f.tri_edge[tri, 1] * py + f.tri_edge[tri, 2],
        f.tri_edge[tri, 3] * px + f.tri_edge[tri, 4] * py + f.tri_edge[tri, 5],
        f.tri_edge[tri, 6] * px + f.tri_edge[tri, 7] * py + f.tri_edge[tri, 8],
        f.tri_edge[tri, 0],
        f.tri_edge[tri, 3],
        f.tri_edge[tri, 6],
    )


@kernel
def line_of(weights: Weights, k0: float, k1: float, k2: float) -> tuple[float, float]:
    """Value at the first pixel and step of what has some values at the corners."""
    w0, w1, w2, d0, d1, d2 = weights
    return (single(k0 * w0 + k1 * w1 + k2 * w2), single(k0 * d0 + k1 * d1 + k2 * d2))


@kernel
def scale_run(f: Frame, weights: Weights, run: int, count: int) -> None:
    """Factors of perspective of a run of pixels."""
    start, step = line_of(weights, 1.0, 1.0, 1.0)
    for i in range(count):
        value = start + step * f.ramp[i]
        f.run_scale[run + i] = ONE / (value if value > SMALL else SMALL)


@kernel
def color_run_of(
    f: Frame, tri: int, weights: Weights, layer: int, colors: Any, target: int, run: int, count: int
) -> None:
    """Colours by one light of a run of pixels, between those of the corners, into rows of `colors` from `target` on."""
    v0, v1, v2 = f.tri_vert[tri, 0], f.tri_vert[tri, 1], f.tri_vert[tri, 2]
    c = 4 * layer
    r, dr = line_of(weights, f.vert_color[v0, c], f.vert_color[v1, c], f.vert_color[v2, c])
    g, dg = line_of(weights, f.vert_color[v0, c + 1], f.vert_color[v1, c + 1], f.vert_color[v2, c + 1])
    b, db = line_of(weights, f.vert_color[v0, c + 2], f.vert_color[v1, c + 2], f.vert_color[v2, c + 2])
    for i in range(count):
        step, scale = f.ramp[i], f.run_scale[run + i]
        colors[target + i, 0] = (r + dr * step) * scale
        colors[target + i, 1] = (g + dg * step) * scale
        colors[target + i, 2] = (b + db * step) * scale
        colors[target + i, 3] = ZERO


@kernel
def tex_line(f: Frame, tri: int, weights: Weights, k: int) -> tuple[float, float]:
    """Value at the first pixel and step of a texture coordinate; of planes, of a coordinate, m."""
    v0, v1, v2 = f.tri_vert[tri, 0], f.tri_vert[tri, 1], f.tri_vert[tri, 2]
    return line_of(weights, f.vert_tex[v0, k], f.vert_tex[v1, k], f.vert_tex[v2, k])


@kernel
def place_run(f: Frame, tri: int, weights: Weights, run: int, count: int) -> None:
    """Texture coordinates of a run of pixels; of planes, coordinates, m."""
    s, ds = tex_line(f, tri, weights, 0)
    t, dt = tex_line(f, tri, weights, 1)
    for i in range(count):
        step, scale = f.ramp[i], f.run_scale[run + i]
        u, v = (s + ds * step) * scale, (t + dt * step) * scale
        f.run_s[run + i] = u if abs(u) < FARTHEST else ZERO
        f.run_t[run + i] = v if abs(v) < FARTHEST else ZERO


@kernel
def third_run(f: Frame, tri: int, weights: Weights, run: int, count: int) -> None:
    """The third texture coordinate of a run of pixels, of cube textures."""
    r, dr = tex_line(f, tri, weights, 2)
    for i in range(count):
        w = (r + dr * f.ramp[i]) * f.run_scale[run + i]
        f.run_r[run + i] = w if abs(w) < FARTHEST else ZERO


@kernel
def slope_at(value: float, scale: float, right: float, up: float, one_right: float, one_up: float) -> float:
    """How much a coordinate changes from pixel to pixel, to the right or upwards, whichever is more.

    `right` and `up` are the steps of the coordinate divided by w, `one_right` and `one_up` those of 1 / w.
    """
    return max(abs(right - value * one_right), abs(up - value * one_up)) * scale


@kernel
def tex_up(f: Frame, tri: int, k: int) -> float:
    """Step of a texture coordinate, divided by w, from a row of pixels to the next."""
    v0, v1, v2 = f.tri_vert[tri, 0], f.tri_vert[tri, 1], f.tri_vert[tri, 2]
    return single(
        f.vert_tex[v0, k] * f.tri_edge[tri, 1]
        + f.vert_tex[v1, k] * f.tri_edge[tri, 4]
        + f.vert_tex[v2, k] * f.tri_edge[tri, 7]
    )


@kernel
def size_run(f: Frame, tri: int, weights: Weights, width: float, height: float, run: int, count: int) -> None:
    """Sizes of a run of pixels in texels of a flat texture: the longer of their sides (section 3.8.8).

    `width` and `height` are texels for each unit of the coordinates.
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
    """Sizes of a run of pixels in units of a direction: the largest change of one of its coordinates."""
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
def tex_scale(a: Assets, f: Frame, geom: int, axis: int) -> float:
    """Texture coordinate for each metre of a plane along an axis; the second one of flat textures points down."""
    if a.tex_type[f.geom_texid[geom]] != FLAT:
        return 1.0 / unit(f, geom, axis)
    sign = 1.0 if axis == 0 else -1.0
    return sign * 0.5 * f.geom_texrepeat[geom, axis] / unit(f, geom, axis)


@kernel
def from_metres(f: Frame, scale_s: float, scale_t: float, shift: float, run: int, count: int) -> None:
    """Make texture coordinates of places on a plane."""
    for k in range(run, run + count):
        f.run_s[k] = shift + scale_s * f.run_s[k]
        f.run_t[k] = shift + scale_t * f.run_t[k]


@kernel
def texture_run(a: Assets, f: Frame, tri: int, weights: Weights, run: int, count: int) -> None:
    """Multiply the colours of a run of pixels by the texture of their triangle.

    Of planes, coordinates stand in `run_s` and `run_t` already.
    """
    inst = f.tri_inst[tri]
    geom = f.inst_geom[inst]
    tex = f.geom_texid[geom]
    flat = a.tex_type[tex] == FLAT
    plane = f.inst_gridadr[inst] >= 0 and f.inst_line[inst] <= 0.0
    scale_s, scale_t = 1.0, 1.0
    if plane:
        scale_s, scale_t = tex_scale(a, f, geom, 0), tex_scale(a, f, geom, 1)
    else:
        place_run(f, tri, weights, run, count)
    width, height = abs(scale_s), abs(scale_t)
    if flat:
        width, height = width * a.tex_width[tex], height * a.tex_height[tex]
    if flat:
        size_run(f, tri, weights, single(width), single(height), run, count)
    else:
        third_run(f, tri, weights, run, count)
        cube_size_run(f, tri, weights, single(width), single(height), run, count)
    if plane:
        from_metres(f, single(scale_s), single(scale_t), HALF if flat else ZERO, run, count)
    if flat:
        multiply_texture(a, f, tex, FLAT_SIDE, run, count)
    else:
        multiply_cube(a, f, tex, run, count)


@kernel
def reflects(a: Assets, f: Frame, tri: int) -> bool:
    """Whether a triangle of the camera's view is part of a mirror: of boxes, the upper side is."""
    inst = f.tri_inst[tri]
    if f.geom_mirror[f.inst_geom[inst]] < 0 or f.inst_line[inst] > 0.0:
        return False
    vertex = a.shape_vertadr[f.inst_shape[inst]] + f.tri_vert[tri, 0] - f.inst_vertadr[inst] - f.view_vertadr[0]
    return a.normal[vertex, 2] > 0.5


@kernel
def add_mirror(f: Frame, geom: int, worker: int, k: int, run: int, count: int) -> None:
    """Add what a mirror shows to the colours of a run of pixels, the first of which is pixel `k` of the tile."""
    source = (worker * (1 + f.nmirror) + 1 + f.geom_mirror[geom]) * TILE + k
    for i in range(count):
        for c in range(4):
            f.run_color[run + i, c] += f.tile_color[source + i, c]


@kernel
def clamp_colors(f: Frame, run: int, count: int) -> None:
    """Keep colours between 0 and 1."""
    for k in range(run, run + count):
        for c in range(4):
            f.run_color[k, c] = min(max(f.run_color[k, c], ZERO), ONE)


@kernel
def depth_line(f: Frame, tri: int, x: int, y: int) -> tuple[float, float]:
    """Nearness of a triangle at the centre of a pixel, and its step to the right."""
    slope = f.tri_near[tri, 0]
    return (single(slope * (x + 0.5) + f.tri_near[tri, 1] * (y + 0.5) + f.tri_near[tri, 2]), single(slope))


@kernel
def depth_run(f: Frame, view: int, tri: int, y: int, x0: int, run: int, count: int) -> None:
    """Depths of a run of pixels, m; at most that of the far plane."""
    start, step = depth_line(f, tri, x0, y)
    far = single(f.view_far[view])
    least = ONE / far
    if f.view_perspective[view]:
        for i in range(count):
            f.run_depth[run + i] = ONE / max(start + step * f.ramp[i], least)
    else:
        for i in range(count):
            f.run_depth[run + i] = far - (start + step * f.ramp[i])


@kernel
def add_fog(f: Frame, run: int, count: int) -> None:
    """Blend fog over the colours of a run of pixels: linear in the depth (section 3.10)."""
    start, scale = single(f.fog_start), single(1.0 / (f.fog_end - f.fog_start))
    for k in range(run, run + count):
        share = min(max((f.run_depth[k] - start) * scale, ZERO), ONE)
        for c in range(4):
            f.run_color[k, c] += share * (f.fog_color[c] - f.run_color[k, c])


@kernel
def light_run(f: Frame, view: int, tri: int, weights: Weights, worker: int, y: int, x0: int, count: int) -> None:
    """Colours of a run of pixels by all lights that reach them, without textures."""
    run = worker * TILE_WIDTH
    inst = f.tri_inst[tri]
    layers = run * f.nlayer
    if f.inst_gridadr[inst] >= 0 and f.inst_line[inst] <= 0.0:
        place_run(f, tri, weights, run, count)
        grid_run(f, view, inst, worker, count)
    else:
        color_run_of(f, tri, weights, 0, f.run_color, run, run, count)
        for layer in range(f.nlayer):
            color_run_of(f, tri, weights, layer + 1, f.run_layer, layers + layer * TILE_WIDTH, run, count)
    for layer in range(f.nlayer):
        shadow_run(f, view, layer, layers + layer * TILE_WIDTH, y, x0, run, count)


@kernel
def shade_run(a: Assets, f: Frame, view: int, tri: int, worker: int, y: int, x0: int, count: int, k: int) -> None:
    """Colours of pixels `x0`, `x0` + 1, ... of row `y`, seen at their centres, into the worker's `run_color`.

    The first is pixel `k` of the tile.
    """
    run = worker * TILE_WIDTH
    geom = f.inst_geom[f.tri_inst[tri]]
    weights = weights_at(f, tri, x0, y)
    scale_run(f, weights, run, count)
    if f.nlayer > 0 or f.fog:
        depth_run(f, view, tri, y, x0, run, count)
    light_run(f, view, tri, weights, worker, y, x0, count)
    if f.textured and f.geom_texid[geom] >= 0:
        texture_run(a, f, tri, weights, run, count)
    if view == 0 and reflects(a, f, tri):
        add_mirror(f, geom, worker, k, run, count)
    clamp_colors(f, run, count)
    if f.fog:
        add_fog(f, run, count)
    if f.haze > 0.0 and f.sky >= 0 and geom == f.haze_geom and view == 0:
        add_haze(f, view, y, x0, run, count)
