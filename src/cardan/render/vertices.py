"""Vertices of instances: positions in the world, and colours."""

from __future__ import annotations

from math import sqrt

from cardan.enums.codes import TEXTURE_2D
from cardan.jit import kernel
from cardan.maths.types import Vec3
from cardan.render import lighting as lit
from cardan.render.kernel_views import Assets, Frame
from cardan.render.lighting import LIT_NUMBERS, MOST_LIT, light_vertices


@kernel
def texture_unit(f: Frame, geom: int, axis: int) -> float:
    """Return the length of a texture unit along an axis of a geom: the geom's size along the axis.

    Return 1 m if the texture is uniform, or the geom is infinite along the axis.
    """
    size = f.geom_size[geom, axis]
    return 1.0 if f.geom_texuniform[geom] or size <= 0.0 else size


@kernel
def vertex_texcoord(a: Assets, f: Frame, inst: int, vertex: int, v: int) -> None:
    """Set a vertex's texture coordinates, if its geom has a texture.

    If the texture is flat and the mesh has texture coordinates, use the mesh's. Otherwise, compute them from the
    position.
    """
    geom = f.inst_geom[inst]
    if f.geom_texid[geom] < 0:
        return
    flat = a.tex_type[f.geom_texid[geom]] == TEXTURE_2D
    if flat and f.geom_texcoord[geom]:
        f.vert_tex[v, 0] = a.texcoord[vertex, 0]
        f.vert_tex[v, 1] = a.texcoord[vertex, 1]
        return
    x = a.vert[vertex, 0] * f.inst_scale[inst, 0] / texture_unit(f, geom, 0)
    y = a.vert[vertex, 1] * f.inst_scale[inst, 1] / texture_unit(f, geom, 1)
    if flat:
        f.vert_tex[v, 0] = 0.5 + 0.5 * f.geom_texrepeat[geom, 0] * x
        f.vert_tex[v, 1] = 0.5 - 0.5 * f.geom_texrepeat[geom, 1] * y
        return
    z = a.vert[vertex, 2] * f.inst_scale[inst, 2] + a.vert[vertex, 3] * f.inst_scale[inst, 3]
    f.vert_tex[v, 0] = x
    f.vert_tex[v, 1] = y
    f.vert_tex[v, 2] = z / texture_unit(f, geom, 2)


NO_NORMAL = 1e-30
COLORS = 0
"""Drawing mode for colours."""


@kernel
def placed(f: Frame, inst: int, x: float, y: float, z: float) -> Vec3:
    """World position, m, of the point (`x`, `y`, `z`) in the frame of instance `inst`."""
    return (
        f.inst_pose[inst, 0] * x + f.inst_pose[inst, 1] * y + f.inst_pose[inst, 2] * z + f.inst_pose[inst, 9],
        f.inst_pose[inst, 3] * x + f.inst_pose[inst, 4] * y + f.inst_pose[inst, 5] * z + f.inst_pose[inst, 10],
        f.inst_pose[inst, 6] * x + f.inst_pose[inst, 7] * y + f.inst_pose[inst, 8] * z + f.inst_pose[inst, 11],
    )


@kernel
def place(a: Assets, f: Frame, inst: int, vertex: int) -> Vec3:
    """World position of a vertex of an instance."""
    x = a.vert[vertex, 0] * f.inst_scale[inst, 0]
    y = a.vert[vertex, 1] * f.inst_scale[inst, 1]
    z = a.vert[vertex, 2] * f.inst_scale[inst, 2] + a.vert[vertex, 3] * f.inst_scale[inst, 3]
    return placed(f, inst, x, y, z)


@kernel
def turn_normal(a: Assets, f: Frame, inst: int, vertex: int) -> Vec3:
    """Return the unit normal of an instance's vertex, world frame, corrected for the instance's scales."""
    x, y, z = float(a.normal[vertex, 0]), float(a.normal[vertex, 1]), float(a.normal[vertex, 2])
    sx, sy, sz = f.inst_scale[inst, 0], f.inst_scale[inst, 1], f.inst_scale[inst, 2]
    if (sx != 1.0) | (sy != 1.0) | (sz != 1.0):  # meshes and height fields aren't scaled: this saves three divisions
        x, y, z = x / sx, y / sy, z / sz
    scale = 1.0 / sqrt(max(x * x + y * y + z * z, NO_NORMAL))
    return (
        (f.inst_pose[inst, 0] * x + f.inst_pose[inst, 1] * y + f.inst_pose[inst, 2] * z) * scale,
        (f.inst_pose[inst, 3] * x + f.inst_pose[inst, 4] * y + f.inst_pose[inst, 5] * z) * scale,
        (f.inst_pose[inst, 6] * x + f.inst_pose[inst, 7] * y + f.inst_pose[inst, 8] * z) * scale,
    )


@kernel
def begin_lit(f: Frame, table: int, k: int, v: int, p: Vec3, n: Vec3) -> None:
    """Store position `p` and normal `n` of vertex `v` of the picture as entry `k` of a table of vertices to be lit."""
    i = table * LIT_NUMBERS + k
    f.lit[i + lit.PLACE + lit.FIRST] = p[0]
    f.lit[i + lit.PLACE + lit.SECOND] = p[1]
    f.lit[i + lit.PLACE + lit.THIRD] = p[2]
    f.lit[i + lit.NORMAL + lit.FIRST] = n[0]
    f.lit[i + lit.NORMAL + lit.SECOND] = n[1]
    f.lit[i + lit.NORMAL + lit.THIRD] = n[2]
    f.lit_vert[table * MOST_LIT + k] = v


@kernel
def begin_vertex(a: Assets, f: Frame, table: int, k: int, inst: int, vertex: int, v: int) -> None:
    """Store a vertex of an instance for lighting (see `begin_lit`), and compute its texture coordinates."""
    begin_lit(f, table, k, v, place(a, f, inst, vertex), turn_normal(a, f, inst, vertex))
    if f.textured:
        vertex_texcoord(a, f, inst, vertex, v)


@kernel
def color_vertex(a: Assets, f: Frame, view: int, share: int, inst: int, k: int) -> None:
    """Compute colours and texture coordinates of vertex `k` of instance `inst`, unless this picture has them already.

    `view` is the view; `share` is the number of the share of the work, as for `color_part`.
    """
    v = f.view_vertadr[view] + f.inst_vertadr[inst] + k
    if f.vert_epoch[v] != f.epoch:
        f.vert_epoch[v] = f.epoch
        table = view * f.nshare + share
        begin_vertex(a, f, table, 0, inst, a.shape_vertadr[f.inst_shape[inst]] + k, v)
        light_vertices(f, view, f.inst_geom[inst], table, 1)


@kernel
def color_part(a: Assets, f: Frame, view: int, share: int, inst: int) -> None:
    """Compute colours and texture coordinates of the marked vertices of instance `inst` in view `view`.

    If several instances are parts of one shape, each processes a part of the vertices. `share` is the number of the
    share of the work; each share has its own table of vertices to be lit.
    """
    if f.mode != COLORS or f.view_shadow[view]:
        return
    if f.inst_gridadr[inst] >= 0:
        # coordinates, m, as texture coordinates; the colours of a plane come from a grid
        shape = f.inst_shape[inst]
        first, target = a.shape_vertadr[shape], f.view_vertadr[view] + f.inst_vertadr[inst]
        for k in range(a.shape_vertnum[shape]):
            for axis in range(2):
                f.vert_tex[target + k, axis] = a.vert[first + k, axis] * f.inst_scale[inst, axis]
        return
    shape, part, parts = f.inst_shape[inst], f.inst_part[inst], f.inst_parts[inst]
    first, number = a.shape_vertadr[shape], a.shape_vertnum[shape]
    target, table, geom = f.view_vertadr[view] + f.inst_vertadr[inst], view * f.nshare + share, f.inst_geom[inst]
    count = 0
    for k in range(number * part // parts, number * (part + 1) // parts):
        if f.vert_epoch[target + k] == f.epoch:
            begin_vertex(a, f, table, count, inst, first + k, target + k)
            count += 1
            if count == MOST_LIT:
                light_vertices(f, view, geom, table, count)
                count = 0
    if count > 0:
        light_vertices(f, view, geom, table, count)
