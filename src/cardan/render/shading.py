"""Colours of pixels side by side that show one triangle (OpenGL 1.5, chapter 3)."""

from __future__ import annotations

from typing import Any

from cardan.jit import kernel
from cardan.render.grids import grid_run
from cardan.render.sampling import sample_cube, sample_flat
from cardan.render.shadows import is_lit
from cardan.render.sky import add_haze, place_of
from cardan.render.texturing import FLAT, unit
from cardan.render.tiles import TILE, TILE_WIDTH


@kernel
def attribute(f: Any, tri: int, k0: float, k1: float, k2: float) -> Any:
    """Coefficients of x, y and 1 of a vertex attribute divided by w, up to a factor of the triangle."""
    return (
        k0 * f.tri_edge[tri, 0] + k1 * f.tri_edge[tri, 3] + k2 * f.tri_edge[tri, 6],
        k0 * f.tri_edge[tri, 1] + k1 * f.tri_edge[tri, 4] + k2 * f.tri_edge[tri, 7],
        k0 * f.tri_edge[tri, 2] + k1 * f.tri_edge[tri, 5] + k2 * f.tri_edge[tri, 8],
    )


@kernel
def color_plane(f: Any, tri: int, channel: int) -> Any:
    """A colour of a triangle as `attribute`."""
    v0, v1, v2 = f.tri_vert[tri, 0], f.tri_vert[tri, 1], f.tri_vert[tri, 2]
    return attribute(f, tri, f.vert_color[v0, channel], f.vert_color[v1, channel], f.vert_color[v2, channel])


@kernel
def tex_plane(f: Any, tri: int, k: int) -> Any:
    """A texture coordinate of a triangle as `attribute`."""
    v0, v1, v2 = f.tri_vert[tri, 0], f.tri_vert[tri, 1], f.tri_vert[tri, 2]
    return attribute(f, tri, f.vert_tex[v0, k], f.vert_tex[v1, k], f.vert_tex[v2, k])


@kernel
def interpolate(f: Any, plane: Any, channel: int, x0: int, y: int, count: int, run: int) -> None:
    """Values of an attribute in a run of pixels, as one of their colours by light."""
    start = plane[0] * (x0 + 0.5) + plane[1] * (y + 0.5) + plane[2]
    ncolor = f.ncolor
    for i in range(count):
        f.run_layer[(run + i) * ncolor + channel] = (start + plane[0] * i) * f.run_scale[run + i]


@kernel
def collect_lights(f: Any, view: int, tri: int, y: int, x0: int, count: int, run: int) -> None:
    """Sum the colours by light of a run of pixels, without those that are in a shadow."""
    ncolor = f.ncolor
    for i in range(count):
        k = 3 * (run + i)
        at = (run + i) * ncolor
        r, g, b = f.run_layer[at], f.run_layer[at + 1], f.run_layer[at + 2]
        if f.nlayer > 0:
            p = place_of(f, view, x0 + i + 0.5, y + 0.5, depth_at(f, view, tri, x0 + i + 0.5, y + 0.5))
            for layer in range(f.nlayer):
                part = at + 3 * layer + 3
                dark = f.run_layer[part] + f.run_layer[part + 1] + f.run_layer[part + 2] <= 0.0
                if not dark and is_lit(f, layer, p):
                    r += f.run_layer[part]
                    g += f.run_layer[part + 1]
                    b += f.run_layer[part + 2]
        f.run_color[k] = r
        f.run_color[k + 1] = g
        f.run_color[k + 2] = b


@kernel
def depth_at(f: Any, view: int, tri: int, px: float, py: float) -> float:
    """Depth of a triangle at a place in the picture, m; at most that of the far plane."""
    near = f.tri_near[tri, 0] * px + f.tri_near[tri, 1] * py + f.tri_near[tri, 2]
    far = f.view_far[view]
    if f.view_perspective[view]:
        return 1.0 / max(near, 1.0 / far)
    return far - near


@kernel
def tex_scale(a: Any, f: Any, geom: int, axis: int) -> float:
    """Texture coordinate for each metre of a plane along an axis; the second one of flat textures points down."""
    if a.tex_type[f.geom_texid[geom]] != FLAT:
        return 1.0 / unit(f, geom, axis)
    sign = 1.0 if axis == 0 else -1.0
    return sign * 0.5 * f.geom_texrepeat[geom, axis] / unit(f, geom, axis)


@kernel
def texture_run(a: Any, f: Any, tri: int, one: Any, y: int, x0: int, count: int, run: int) -> None:
    """Multiply the colours of a run of pixels by the texture of their triangle."""
    inst = f.tri_inst[tri]
    geom = f.inst_geom[inst]
    tex = f.geom_texid[geom]
    flat = a.tex_type[tex] == FLAT
    scale_s, scale_t, shift = 1.0, 1.0, 0.0
    if f.inst_gridadr[inst] >= 0:
        scale_s, scale_t = tex_scale(a, f, geom, 0), tex_scale(a, f, geom, 1)
        shift = 0.5 if flat else 0.0
    s, t, r = tex_plane(f, tri, 0), tex_plane(f, tri, 1), tex_plane(f, tri, 2)
    width, height = abs(scale_s) * a.tex_width[tex], abs(scale_t) * a.tex_height[tex]
    py = y + 0.5
    for i in range(count):
        px = x0 + i + 0.5
        scale = f.run_scale[run + i]
        u = (s[0] * px + s[1] * py + s[2]) * scale
        v = (t[0] * px + t[1] * py + t[2]) * scale
        du = max(abs(s[0] - u * one[0]), abs(s[1] - u * one[1])) * abs(scale)
        dv = max(abs(t[0] - v * one[0]), abs(t[1] - v * one[1])) * abs(scale)
        k = 3 * (run + i)
        if flat:
            color = sample_flat(a, tex, shift + scale_s * u, shift + scale_t * v, max(du * width, dv * height))
        else:
            w = (r[0] * px + r[1] * py + r[2]) * scale
            dw = max(abs(r[0] - w * one[0]), abs(r[1] - w * one[1])) * abs(scale)
            color = sample_cube(a, tex, scale_s * u, scale_t * v, w, max(du * abs(scale_s), dv * abs(scale_t), dw))
        f.run_color[k] *= color[0]
        f.run_color[k + 1] *= color[1]
        f.run_color[k + 2] *= color[2]


@kernel
def add_mirror(f: Any, geom: int, worker: int, k: int, count: int, run: int) -> None:
    """Add what a mirror shows to the colours of a run of pixels, the first of which is pixel `k` of the tile."""
    source = 3 * ((worker * (1 + f.nmirror) + 1 + f.geom_mirror[geom]) * TILE + k)
    for i in range(3 * count):
        f.run_color[3 * run + i] += f.tile_color[source + i]


@kernel
def clamp_colors(f: Any, count: int, run: int) -> None:
    """Keep colours between 0 and 1."""
    for i in range(3 * run, 3 * (run + count)):
        f.run_color[i] = min(max(f.run_color[i], 0.0), 1.0)


@kernel
def add_fog(f: Any, view: int, tri: int, y: int, x0: int, count: int, run: int) -> None:
    """Blend fog over the colours of a run of pixels: linear in the depth (section 3.10)."""
    for i in range(count):
        depth = depth_at(f, view, tri, x0 + i + 0.5, y + 0.5)
        share = min(max((depth - f.fog_start) / (f.fog_end - f.fog_start), 0.0), 1.0)
        for c in range(3):
            k = 3 * (run + i) + c
            f.run_color[k] += share * (f.fog_color[c] - f.run_color[k])


@kernel
def shade_run(a: Any, f: Any, view: int, tri: int, worker: int, y: int, x0: int, count: int, k: int) -> None:
    """Colours of pixels `x0`, `x0` + 1, ... of row `y`, seen at their centres, into the worker's `run_color`.

    The first is pixel `k` of the tile.
    """
    run = worker * TILE_WIDTH
    inst = f.tri_inst[tri]
    geom = f.inst_geom[inst]
    one = attribute(f, tri, 1.0, 1.0, 1.0)
    start = one[0] * (x0 + 0.5) + one[1] * (y + 0.5) + one[2]
    for i in range(count):
        f.run_scale[run + i] = 1.0 / (start + one[0] * i)
    if f.inst_gridadr[inst] >= 0 and f.inst_line[inst] <= 0.0:
        interpolate(f, tex_plane(f, tri, 0), 0, x0, y, count, run)
        interpolate(f, tex_plane(f, tri, 1), 1, x0, y, count, run)
        grid_run(f, view, inst, worker, run, count)
    else:
        for channel in range(f.ncolor):
            interpolate(f, color_plane(f, tri, channel), channel, x0, y, count, run)
    collect_lights(f, view, tri, y, x0, count, run)
    if f.textured and f.geom_texid[geom] >= 0:
        texture_run(a, f, tri, one, y, x0, count, run)
    if view == 0 and f.geom_mirror[geom] >= 0:
        add_mirror(f, geom, worker, k, count, run)
    clamp_colors(f, count, run)
    if f.fog:
        add_fog(f, view, tri, y, x0, count, run)
    if f.haze > 0.0 and f.sky >= 0 and geom == f.haze_geom and view == 0:
        add_haze(f, view, y, x0, count, run)
