"""Texture coordinates of vertices (spec: XML reference, asset/material: texrepeat, texuniform)."""

from __future__ import annotations

from cardan.enums.codes import TEXTURE_2D
from cardan.jit import kernel
from cardan.render.kernel_views import Assets, Frame


@kernel
def texture_unit(f: Frame, geom: int, axis: int) -> float:
    """Length of one texture unit along an axis of a geom: its size, unless the texture is mapped uniformly."""
    size = f.geom_size[geom, axis]
    return 1.0 if f.geom_texuniform[geom] or size <= 0.0 else size


@kernel
def vertex_texcoord(a: Assets, f: Frame, inst: int, vertex: int, v: int) -> None:
    """Set the texture coordinates of a vertex: its own if it has any, else from its position in the geom."""
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
