"""Conversion of the geoms of a scene to those of a picture: shapes, opacity, the order of drawing."""

from __future__ import annotations

from cardan.enums.codes import GEOM_BOX, GEOM_FLEX, GEOM_HFIELD, GEOM_MESH, GEOM_PLANE, GEOM_SDF, GEOM_SKIN
from cardan.jit import kernel
from cardan.render.calls import picture_stage
from cardan.render.kernel_views import Assets, Frame
from cardan.visual.append import (
    DATAID,
    EMISSION,
    IS_TRANSPARENT,
    MAT,
    OBJID,
    POS,
    REFLECTANCE,
    RGBA,
    SHININESS,
    SIZE,
    SPECULAR,
    TEXCOORD,
    TEXID,
    TEXREPEAT,
    TEXUNIFORM,
    TYPE,
)

BACK_OPACITY = 0.3
"""Opacity of each of the two layers in which a plane is drawn if it is seen from behind."""
NONE = -1
PART_FACES = 4096
"""Approximate largest number of triangles of an instance."""


@kernel
def shape_of(a: Assets, kind: int, dataid: int, objid: int) -> int:
    """Return the shape in the assets for a geom; -1 if its type has none, or the object does not exist."""
    shape = NONE
    if kind in (GEOM_MESH, GEOM_SDF):
        if 0 <= dataid // 2 < len(a.mesh_shape):
            shape = a.mesh_shape[dataid // 2, dataid % 2]
    elif kind == GEOM_HFIELD:
        if 0 <= dataid < len(a.hfield_shape):
            shape = a.hfield_shape[dataid]
    elif kind == GEOM_FLEX:
        if 0 <= objid < len(a.flex_shape):
            shape = a.flex_shape[objid]
    elif kind == GEOM_SKIN and 0 <= objid < len(a.skin_shape):
        shape = a.skin_shape[objid]
    return shape


@kernel
def opacity_of(f: Frame, geom: int) -> float:
    """Opacity with which a geom is drawn."""
    opacity = float(f.scene_f[geom, RGBA + 3])
    kind = f.scene_i[geom, TYPE]
    height = 0.0
    for k in range(3):
        height += (f.eye[k] - f.scene_f[geom, POS + k]) * f.scene_f[geom, MAT + 3 * k + 2]
    if kind == GEOM_PLANE and height < 0.0:
        opacity = 1.0 - (1.0 - BACK_OPACITY * opacity) ** 2
    if kind in (GEOM_SKIN, GEOM_MESH):  # their fronts are drawn twice, as in the reference
        opacity = 1.0 - (1.0 - opacity) ** 2
    return opacity


@kernel
def take_material(a: Assets, f: Frame, geom: int) -> None:
    """Copy the appearance of a geom."""
    tex = f.scene_i[geom, TEXID]
    f.geom_texid[geom] = tex if 0 <= tex < len(a.tex_type) else NONE
    f.geom_texuniform[geom] = f.scene_i[geom, TEXUNIFORM]
    f.geom_texcoord[geom] = f.scene_i[geom, TEXCOORD]
    for k in range(2):
        f.geom_texrepeat[geom, k] = f.scene_f[geom, TEXREPEAT + k]
    for k in range(4):
        f.geom_rgba[geom, k] = f.scene_f[geom, RGBA + k]
    f.geom_emission[geom] = f.scene_f[geom, EMISSION]
    f.geom_specular[geom] = f.scene_f[geom, SPECULAR]
    f.geom_shininess[geom] = f.scene_f[geom, SHININESS]
    f.geom_reflectance[geom] = f.scene_f[geom, REFLECTANCE]
    opacity = opacity_of(f, geom)
    blend = 1 if opacity < 1.0 else 0
    f.geom_opacity[geom] = opacity
    f.geom_transparent[geom] = blend
    f.scene_i[geom, IS_TRANSPARENT] = blend


@kernel
def take_place(a: Assets, f: Frame, geom: int) -> None:
    """Copy the pose of a geom, and its shape."""
    kind = f.scene_i[geom, TYPE]
    soft = kind in (GEOM_FLEX, GEOM_SKIN)
    f.geom_type[geom] = kind
    f.geom_dataid[geom] = f.scene_i[geom, OBJID] if kind == GEOM_FLEX else f.scene_i[geom, DATAID]
    f.geom_shape[geom] = shape_of(a, kind, f.scene_i[geom, DATAID], f.scene_i[geom, OBJID])
    f.geom_flat[geom] = 0
    f.geom_mirror[geom] = NONE
    for k in range(3):
        f.geom_size[geom, k] = f.scene_f[geom, SIZE + k]
        # vertices of soft bodies are in the world frame
        f.geom_pos[geom, k] = 0.0 if soft else f.scene_f[geom, POS + k]
    for k in range(9):
        straight = 1.0 if k % 4 == 0 else 0.0
        f.geom_mat[geom, k] = straight if soft else f.scene_f[geom, MAT + k]


@kernel
def count_geom(a: Assets, f: Frame, geom: int) -> None:
    """Collect properties of a picture's geoms: reflecting, soft and large geoms, and the first infinite plane."""
    kind = f.geom_type[geom]
    if f.geom_shape[geom] != NONE:
        f.nsplit += a.shape_facenum[f.geom_shape[geom]] // PART_FACES
    if kind in (GEOM_PLANE, GEOM_BOX) and f.geom_reflectance[geom] > 0.0 and not f.geom_transparent[geom]:
        f.geom_reflecting[f.nreflect] = geom
        f.nreflect += 1
    if kind in (GEOM_FLEX, GEOM_SKIN):
        f.nsoft += 1
    if kind == GEOM_PLANE and min(f.geom_size[geom, 0], f.geom_size[geom, 1]) <= 0.0 and f.haze_geom == NONE:
        f.haze_geom = geom


@kernel
def square_to(f: Frame, geom: int) -> float:
    """Square of a geom's distance from the camera, m²."""
    square = 0.0
    for k in range(3):
        away = f.scene_f[geom, POS + k] - f.eye[k]
        square += away * away
    return square


@picture_stage
def take_geoms(a: Assets, f: Frame, i: int, j: int) -> int:
    """Copy the geoms of a scene, transparent ones last; return the number of transparent geoms."""
    f.nreflect = 0
    f.nsoft = 0
    f.nsplit = 0
    f.haze_geom = NONE
    solid = 0
    for geom in range(f.ngeom):
        take_place(a, f, geom)
        take_material(a, f, geom)
        count_geom(a, f, geom)
        if not f.geom_transparent[geom]:
            f.geom_order[solid] = geom
            solid += 1
    clear = solid
    for geom in range(f.ngeom):
        f.geom_square[geom] = square_to(f, geom)
        if f.geom_transparent[geom]:
            f.geom_order[clear] = geom
            clear += 1
    if f.haze_geom == NONE:
        f.haze = 0.0
    return clear - solid
