"""Conversion of a scene's geoms to instances (shapes placed in the world), in the order of drawing."""

from __future__ import annotations

from enum import IntEnum
from math import ceil, pi, sqrt

from cardan.enums import codes
from cardan.jit import kernel
from cardan.maths.vector import get3, set9, sub3
from cardan.render.fields import NLOD
from cardan.render.geometry import project
from cardan.render.kernel_views import Assets, Frame
from cardan.render.kernels import picture_stage
from cardan.visual import append as word

BACK_OPACITY = 0.3
"""Opacity of each of the two layers in which the back of a plane is drawn, relative to the opacity of the plane."""
NONE = -1
PART_FACES = 4096
"""Approximate largest number of triangles of an instance."""


@kernel
def take_material(a: Assets, f: Frame, geom: int) -> None:
    """Copy the appearance of a geom from the scene to the picture, and determine whether the geom is transparent."""
    tex = f.scene_i[geom, word.TEXID]
    f.geom_texid[geom] = tex if 0 <= tex < len(a.tex_type) else NONE
    f.geom_texuniform[geom] = f.scene_i[geom, word.TEXUNIFORM]
    f.geom_texcoord[geom] = f.scene_i[geom, word.TEXCOORD]
    for k in range(2):
        f.geom_texrepeat[geom, k] = f.scene_f[geom, word.TEXREPEAT + k]
    for k in range(4):
        f.geom_rgba[geom, k] = f.scene_f[geom, word.RGBA + k]
    f.geom_emission[geom] = f.scene_f[geom, word.EMISSION]
    f.geom_specular[geom] = f.scene_f[geom, word.SPECULAR]
    f.geom_shininess[geom] = f.scene_f[geom, word.SHININESS]
    f.geom_reflectance[geom] = f.scene_f[geom, word.REFLECTANCE]
    opacity = float(f.scene_f[geom, word.RGBA + 3])
    kind = f.scene_i[geom, word.TYPE]
    height = 0.0
    for k in range(3):
        height += (f.eye[k] - f.scene_f[geom, word.POS + k]) * f.scene_f[geom, word.MAT + 3 * k + 2]
    if kind == codes.GEOM_PLANE and height < 0.0:
        opacity = 1.0 - (1.0 - BACK_OPACITY * opacity) ** 2
    if kind in (codes.GEOM_SKIN, codes.GEOM_MESH):  # their fronts are drawn twice, as in MuJoCo
        opacity = 1.0 - (1.0 - opacity) ** 2
    blend = 1 if opacity < 1.0 else 0
    f.geom_opacity[geom] = opacity
    f.geom_transparent[geom] = blend
    f.scene_i[geom, word.IS_TRANSPARENT] = blend | (f.scene_i[geom, word.IS_TRANSPARENT] & word.CASTS_SHADOW)


@kernel
def take_place(a: Assets, f: Frame, geom: int) -> None:
    """Copy the pose, size and shape of a geom from the scene to the picture."""
    kind = f.scene_i[geom, word.TYPE]
    soft = kind in (codes.GEOM_FLEX, codes.GEOM_SKIN)
    f.geom_type[geom] = kind
    f.geom_dataid[geom] = f.scene_i[geom, word.OBJID] if kind == codes.GEOM_FLEX else f.scene_i[geom, word.DATAID]
    dataid = f.scene_i[geom, word.DATAID]
    objid = f.scene_i[geom, word.OBJID]
    shape = NONE
    if kind in (codes.GEOM_MESH, codes.GEOM_SDF):
        if 0 <= dataid // 2 < len(a.mesh_shape):
            shape = a.mesh_shape[dataid // 2, dataid % 2]
    elif kind == codes.GEOM_HFIELD:
        if 0 <= dataid < len(a.hfield_shape):
            shape = a.hfield_shape[dataid]
    elif kind == codes.GEOM_FLEX:
        if 0 <= objid < len(a.flex_shape):
            shape = a.flex_shape[objid]
    elif kind == codes.GEOM_SKIN and 0 <= objid < len(a.skin_shape):
        shape = a.skin_shape[objid]
    f.geom_shape[geom] = shape
    f.geom_flat[geom] = 0
    f.geom_mirror[geom] = NONE
    for k in range(3):
        f.geom_size[geom, k] = f.scene_f[geom, word.SIZE + k]
        # vertices of soft bodies are in the world frame
        f.geom_pos[geom, k] = 0.0 if soft else f.scene_f[geom, word.POS + k]
    for k in range(9):
        straight = 1.0 if k % 4 == 0 else 0.0
        f.geom_mat[geom, k] = straight if soft else f.scene_f[geom, word.MAT + k]


@picture_stage
def take_geoms(a: Assets, f: Frame, i: int, j: int) -> int:
    """Copy the geoms of a scene to picture `f`, transparent ones last; return the number of transparent geoms.

    `a` contains the shapes of the geoms; `i` and `j` are unused.
    """
    f.nreflect = 0
    f.nsoft = 0
    f.nsplit = 0
    f.haze_geom = NONE
    solid = 0
    for geom in range(f.ngeom):
        take_place(a, f, geom)
        take_material(a, f, geom)
        kind = f.geom_type[geom]
        if f.geom_shape[geom] != NONE:
            f.nsplit += a.shape_facenum[f.geom_shape[geom]] // PART_FACES
        if (
            kind in (codes.GEOM_PLANE, codes.GEOM_BOX)
            and f.geom_reflectance[geom] > 0.0
            and not f.geom_transparent[geom]
        ):
            f.geom_reflecting[f.nreflect] = geom
            f.nreflect += 1
        if kind in (codes.GEOM_FLEX, codes.GEOM_SKIN):
            f.nsoft += 1
        if kind == codes.GEOM_PLANE and min(f.geom_size[geom, 0], f.geom_size[geom, 1]) <= 0.0 and f.haze_geom == NONE:
            f.haze_geom = geom
        if not f.geom_transparent[geom]:
            f.geom_order[solid] = geom
            solid += 1
    clear = solid
    for geom in range(f.ngeom):
        square = 0.0
        for k in range(3):
            away = f.scene_f[geom, word.POS + k] - f.eye[k]
            square += away * away
        f.geom_square[geom] = square
        if f.geom_transparent[geom]:
            f.geom_order[clear] = geom
            clear += 1
    if f.haze_geom == NONE:
        f.haze = 0.0
    return clear - solid


Builtin = IntEnum(
    "Builtin",
    ("SPHERE", "CAPSULE", "CYLINDER", "BOX", "PLANE", "CONE", "DISK", "TUBE", "LINE", "LINE_BOX", "TRIANGLE"),
    start=0,
)
"""Kinds of built-in shapes."""


SPHERE, CAPSULE, CYLINDER, BOX, PLANE, CONE, DISK, TUBE, LINE, LINE_BOX, TRIANGLE = (kind.value for kind in Builtin)
HEAD_WIDTH = 1.75
"""Radius of the head of an arrow, relative to the radius of its shaft."""
HEAD_SHARE = 1.0 / 3.0
"""Length of the head, relative to the length of the arrow."""
ARROW_SHARE = 0.5
"""Length of an arrow, relative to the geom's third size."""
BOX_LINE = 2.0
"""Width of the lines of a line box, pixels."""
MOST_OFF = 0.05
"""Largest accepted distance between a circle and the polygon that approximates it, pixels."""
MOST_PARTS = 6
"""Largest number of instances of a geom."""
MOST_CELLS = 200
"""Largest number of cells of a plane's grid along one axis; the number along infinite axes."""


@kernel
def detail(a: Assets, f: Frame, geom: int, radius: float) -> int:
    """Return the coarsest level of detail at which a geom's circles of a given `radius`, m, look round."""
    distance = project(f, 0, 3, (f.geom_pos[geom, 0], f.geom_pos[geom, 1], f.geom_pos[geom, 2]))
    if f.view_perspective[0] and distance < 4.0 * radius:
        return 0
    pixels = radius * f.focal / (distance if f.view_perspective[0] else 1.0)
    level = 0
    for k in range(1, NLOD):
        angle = pi / a.slices[k]
        if 0.5 * pixels * angle * angle < MOST_OFF:
            level = k
    return level


@kernel
def add_instance(a: Assets, f: Frame, geom: int, shape: int, sx: float, sy: float, sz: float, shift: float) -> int:
    """Append an instance of a shape in the frame of a geom; return its number.

    `sx`, `sy` and `sz` are the scales along the axes, and `shift` is the shift of the ends along z, m (see `shapes`).
    """
    inst = f.ninst
    f.inst_geom[inst] = geom
    f.inst_shape[inst] = shape
    f.inst_scale[inst, 0] = sx
    f.inst_scale[inst, 1] = sy
    f.inst_scale[inst, 2] = sz
    f.inst_scale[inst, 3] = shift
    for k in range(9):
        f.inst_pose[inst, k] = f.geom_mat[geom, k]
    for k in range(3):
        f.inst_pose[inst, 9 + k] = f.geom_pos[geom, k]
    f.inst_blend[inst] = f.geom_transparent[geom]
    f.inst_gridadr[inst] = -1
    f.inst_line[inst] = 1.0 if f.wireframe else 0.0
    f.inst_vertadr[inst] = f.nvert
    f.inst_triadr[inst] = f.ntri
    f.nvert += a.shape_vertnum[shape]
    if f.wireframe or a.shape_facenum[shape] == 0:  # each line is a rectangle of its own
        f.nvert += 4 * a.shape_edgenum[shape]
        f.ntri += 2 * a.shape_edgenum[shape]
    else:
        f.ntri += a.shape_facenum[shape]
    f.inst_part[inst] = 0
    f.inst_parts[inst] = 1
    f.ninst = inst + 1
    return inst


@kernel
def add_parts(a: Assets, f: Frame, geom: int, shape: int) -> None:
    """Append a geom's shape.

    A large shape is divided into several instances, so that several threads can process its triangles. The instances
    share the vertices.
    """
    faces, nvert, ntri = a.shape_facenum[shape], f.nvert, f.ntri
    parts = 1 if f.wireframe else faces // PART_FACES + 1
    for part in range(parts):
        f.nvert = nvert
        f.ntri = ntri
        inst = add_instance(a, f, geom, shape, 1.0, 1.0, 1.0, 0.0)
        f.inst_triadr[inst] += faces * part // parts
        f.inst_part[inst] = part
        f.inst_parts[inst] = parts


@kernel
def add_plane(a: Assets, f: Frame, geom: int) -> None:
    """Append a plane with its grid for lighting.

    Along an infinite axis, a cell is 1/100 of the drawn half size. Along a finite axis, it is twice the geom's third
    size, or 1/100 of the half size if that is larger.
    """
    reach = a.plane_reach
    if f.geom_texid[geom] >= 0:  # plus one repetition of its texture
        reach += 2.0 / max(min(f.geom_texrepeat[geom, 0], f.geom_texrepeat[geom, 1]), 1e-3)
    sx, sy = f.geom_size[geom, 0], f.geom_size[geom, 1]
    inst = add_instance(a, f, geom, a.builtin[PLANE, 0], sx if sx > 0.0 else reach, sy if sy > 0.0 else reach, 1.0, 0.0)
    f.inst_gridadr[inst] = f.nnode
    nodes = 1
    for axis in range(2):
        half = f.inst_scale[inst, axis]
        cell = 2.0 * half / MOST_CELLS
        if f.geom_size[geom, axis] > 0.0:
            cell = max(cell, 2.0 * f.geom_size[geom, 2])
        f.inst_cell[inst, axis] = cell
        f.inst_cells[inst, axis] = ceil(half / cell * (1.0 - 1e-6))
        nodes *= 2 * f.inst_cells[inst, axis] + 1
    f.nnode += nodes


@kernel
def shift_instance(f: Frame, inst: int, z: float) -> None:
    """Move an instance by `z`, m, along the z axis of its geom."""
    for k in range(3):
        f.inst_pose[inst, 9 + k] += z * f.inst_pose[inst, 3 * k + 2]


@kernel
def add_arrow_head(a: Assets, f: Frame, geom: int, width: float, length: float, z: float, sign: float) -> None:
    """Append a cone with its base at height `z`, m; it points up (`sign` 1) or down (-1) along the geom's z axis."""
    sx, sy = width * f.geom_size[geom, 0], width * f.geom_size[geom, 1]
    level = detail(a, f, geom, max(sx, sy))
    shift_instance(f, add_instance(a, f, geom, a.builtin[CONE, level], sign * sx, sy, sign * length, 0.0), z)
    shift_instance(f, add_instance(a, f, geom, a.builtin[DISK, level], -sign * sx, sy, -sign, 0.0), z)


@kernel
def add_arrow(a: Assets, f: Frame, geom: int, width: float, both: bool) -> None:
    """Append an arrow: a cylinder with a cone at its upper end, or at both ends; `width` scales the cone's radius."""
    length = ARROW_SHARE * f.geom_size[geom, 2]
    head = HEAD_SHARE * length
    top = length - head
    bottom = -top if both else 0.0
    sx, sy = f.geom_size[geom, 0], f.geom_size[geom, 1]
    level = detail(a, f, geom, max(sx, sy))
    shaft = add_instance(a, f, geom, a.builtin[CYLINDER, level], sx, sy, 0.5 * (top - bottom), 0.0)
    shift_instance(f, shaft, 0.5 * (top + bottom))
    add_arrow_head(a, f, geom, width, head, top, 1.0)
    if both:
        add_arrow_head(a, f, geom, width, head, bottom, -1.0)


@kernel
def add_flex_edge(a: Assets, f: Frame, geom: int, radius: float, v0: int, v1: int) -> None:
    """Append a tube for an edge of a flex, between vertices `v0` and `v1`."""
    x, y, z = sub3(get3(f.flex_vert, v1), get3(f.flex_vert, v0))
    length = sqrt(x * x + y * y + z * z)
    if length <= 0.0:
        return
    x, y, z = x / length, y / length, z / length
    inst = add_instance(a, f, geom, a.builtin[TUBE, NLOD // 2], radius, radius, 0.5 * length, 0.0)
    # two directions perpendicular to the tube
    ux, uy, uz = (-z, 0.0, x) if abs(y) < 0.7 else (0.0, z, -y)
    scale = 1.0 / sqrt(ux * ux + uy * uy + uz * uz)
    ux, uy, uz = ux * scale, uy * scale, uz * scale
    set9(f.inst_pose, inst, (ux, y * uz - z * uy, x, uy, z * ux - x * uz, y, uz, x * uy - y * ux, z))
    for k in range(3):
        f.inst_pose[inst, 9 + k] = 0.5 * (f.flex_vert[v0, k] + f.flex_vert[v1, k])


@kernel
def add_flex_parts(a: Assets, f: Frame, geom: int, flex: int) -> None:
    """Append spheres for the vertices of a flex and tubes for its edges, if the scene shows flex vertices or edges."""
    radius = f.geom_size[geom, 0]
    first = f.flex_vertadr[flex]
    if f.flex_showvert:
        for v in range(first, first + f.flex_vertnum[flex]):
            inst = add_instance(a, f, geom, a.builtin[SPHERE, NLOD // 2], radius, radius, radius, 0.0)
            set9(f.inst_pose, inst, (1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0))
            for k in range(3):
                f.inst_pose[inst, 9 + k] = f.flex_vert[v, k]
    if f.flex_showedge:
        for e in range(f.flex_edgeadr[flex], f.flex_edgeadr[flex] + f.flex_edgenum[flex]):
            add_flex_edge(a, f, geom, radius, first + f.flex_edge[e, 0], first + f.flex_edge[e, 1])


@kernel
def add_line(a: Assets, f: Frame, geom: int, kind: int) -> None:
    """Append a line or a line box (`kind`). The first size of a line geom is its width in pixels."""
    sx, sy, sz = f.geom_size[geom, 0], f.geom_size[geom, 1], f.geom_size[geom, 2]
    if kind == codes.GEOM_LINE:
        inst = add_instance(a, f, geom, a.builtin[LINE, 0], 1.0, 1.0, sz, 0.0)
        f.inst_line[inst] = max(sx, 1.0)
    else:
        inst = add_instance(a, f, geom, a.builtin[LINE_BOX, 0], sx, sy, sz, 0.0)
        f.inst_line[inst] = BOX_LINE
    f.geom_flat[geom] = 1


@kernel
def add_geom(a: Assets, f: Frame, geom: int) -> None:
    """Append the instances that show a geom."""
    kind = f.geom_type[geom]
    sx, sy, sz = f.geom_size[geom, 0], f.geom_size[geom, 1], f.geom_size[geom, 2]
    if f.geom_shape[geom] >= 0:
        add_parts(a, f, geom, f.geom_shape[geom])
    if kind == codes.GEOM_PLANE:
        add_plane(a, f, geom)
    elif kind == codes.GEOM_BOX:
        add_instance(a, f, geom, a.builtin[BOX, 0], sx, sy, sz, 0.0)
    elif kind == codes.GEOM_CAPSULE:
        add_instance(a, f, geom, a.builtin[CAPSULE, detail(a, f, geom, sx)], sx, sx, sx, sz)
    elif kind == codes.GEOM_CYLINDER:
        add_instance(a, f, geom, a.builtin[CYLINDER, detail(a, f, geom, max(sx, sy))], sx, sy, sz, 0.0)
    elif codes.GEOM_SPHERE <= kind < codes.GEOM_BOX:  # or an ellipsoid
        add_instance(a, f, geom, a.builtin[SPHERE, detail(a, f, geom, max(sx, sy, sz))], sx, sy, sz, 0.0)
    elif kind in (codes.GEOM_ARROW, codes.GEOM_ARROW1, codes.GEOM_ARROW2):
        add_arrow(a, f, geom, 1.0 if kind == codes.GEOM_ARROW1 else HEAD_WIDTH, kind == codes.GEOM_ARROW2)
    elif kind in (codes.GEOM_LINE, codes.GEOM_LINEBOX):
        add_line(a, f, geom, kind)
    elif kind == codes.GEOM_TRIANGLE:
        add_instance(a, f, geom, a.builtin[TRIANGLE, 0], sx, sy, 1.0, 0.0)
    elif kind == codes.GEOM_FLEX:
        add_flex_parts(a, f, geom, f.geom_dataid[geom])


@picture_stage
def make_instances(a: Assets, f: Frame, i: int, j: int) -> int:
    """Make the instances of all geoms of picture `f`, in the order of drawing; return 0. `i` and `j` are unused."""
    f.ninst = 0
    f.nvert = 0
    f.ntri = 0
    f.nnode = 0
    for k in range(f.ngeom):
        add_geom(a, f, f.geom_order[k])
    return 0
