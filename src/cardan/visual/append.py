"""Adding geoms to a scene (kernels): defaults, materials, connectors between points, axes of frames."""

from __future__ import annotations

from math import atan2, sqrt

from cardan.collision.sdf.descent import halton
from cardan.enums import mjtCatBit, mjtGeom, mjtObj
from cardan.enums.codes import (
    CAT_DECOR,
    CAT_DYNAMIC,
    GEOM_CAPSULE,
    GEOM_CYLINDER,
    OBJ_UNKNOWN,
    WARN_VGEOMFULL,
)
from cardan.jit import kernel
from cardan.maths.quaternion import axis_angle2quat, quat2mat
from cardan.maths.types import ConstArray1, Mat3, Vec3, Vec4
from cardan.maths.vector import MINVAL, add3, add_scaled3, column3, get4, norm3, scale3, sub3
from cardan.model.kernel_views import Data, Model
from cardan.step.report import count_warning
from cardan.visual.memory import CATMASK, FULL, GEOM, LABEL, MAXGEOM, NGEOM, VIS

STATIC = int(mjtCatBit.mjCAT_STATIC)
GEOM_ARROW, GEOM_ARROW1, GEOM_ARROW2, GEOM_LINE, GEOM_LINEBOX, GEOM_SKIN, GEOM_TRIANGLE = (
    int(getattr(mjtGeom, f"mjGEOM_{k}")) for k in ("ARROW", "ARROW1", "ARROW2", "LINE", "LINEBOX", "SKIN", "TRIANGLE")
)
OBJ_JOINT, OBJ_LIGHT, OBJ_FLEX, OBJ_SKIN, OBJ_TENDON, OBJ_ACTUATOR = (
    int(getattr(mjtObj, f"mjOBJ_{k}")) for k in ("JOINT", "LIGHT", "FLEX", "SKIN", "TENDON", "ACTUATOR")
)
EYE = (1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0)
VIS_TRANSPARENT, VIS_TEXTURE = VIS["TRANSPARENT"], VIS["TEXTURE"]
DEFAULT_RGBA = 0.5
GRAY = (0.5, 0.5, 0.5, 1.0)
DEFAULT_SIZE = (0.1, 0.1, 0.1)

TYPE, DATAID, OBJTYPE, OBJID, CATEGORY = (GEOM[k] for k in ("type", "dataid", "objtype", "objid", "category"))
TEXID, MATID, TEXUNIFORM, TEXCOORD, SEGID = (GEOM[k] for k in ("texid", "matid", "texuniform", "texcoord", "segid"))
TEXREPEAT, SIZE, POS, MAT, RGBA = (GEOM[k] for k in ("texrepeat", "size", "pos", "mat", "rgba"))
EMISSION, SPECULAR, SHININESS, REFLECTANCE = (GEOM[k] for k in ("emission", "specular", "shininess", "reflectance"))
CASTS_SHADOW = 1 << 8
"""Bit of the flag `castshadow` in the 32-bit word of a geom that begins with the byte `transparent`."""
TEXT, CAMDIST, MODELRBOUND, IS_TRANSPARENT = (GEOM[k] for k in ("label", "camdist", "modelrbound", "transparent"))
AXIS_COLOUR = 0.9
DARKEST, SPREAD = 0.1, 0.8


@kernel
def shows(d: Data, flag: int) -> bool:
    """Return whether a flag of the options is set; `flag` is a value of `VIS`."""
    return d.work.scn_state[flag] != 0


@kernel
def wants(d: Data, category: int) -> bool:
    """Return whether geoms of a category (mjtCatBit) are requested for the scene."""
    return d.work.scn_state[CATMASK] & category != 0


@kernel
def shown_group(d: Data, first: int, group: int) -> bool:
    """Return whether objects of a group are shown; `first` is the index of group 0 of their kind in `scn_state`."""
    return d.work.scn_state[first + max(0, min(5, group))] != 0


@kernel
def rgba_of(colour: ConstArray1) -> Vec4:
    """Return a colour of the model's `vis.rgba` as a tuple of four numbers."""
    return (colour[0], colour[1], colour[2], colour[3])


@kernel
def new_geom(d: Data, category: int, objtype: int, objid: int) -> int:
    """Append a geom with default values; return its number, or -1 (with a warning) if the scene is full.

    Args:
        d: data, with a scene attached.
        category: mjtCatBit.
        objtype: kind of the object that the geom shows (mjtObj).
        objid: id of that object.
    """
    state = d.work.scn_state
    g = state[NGEOM]
    if g >= state[MAXGEOM]:
        if state[FULL] == 0:
            count_warning(d, WARN_VGEOMFULL, state[MAXGEOM])
        state[FULL] = 1
        return -1
    state[NGEOM] = g + 1
    words = d.work.scn_geom_i
    for k in range(TYPE, TEXREPEAT):
        words[g, k] = 0
    for k in range(TEXT, CAMDIST):
        words[g, k] = 0
    words[g, DATAID] = -1
    words[g, TEXID] = -1
    words[g, MATID] = -1
    words[g, IS_TRANSPARENT] = CASTS_SHADOW
    d.work.scn_label[g, 0] = 0
    d.work.scn_label[g, 1] = 0
    words[g, OBJTYPE] = objtype
    words[g, OBJID] = objid
    words[g, CATEGORY] = category
    words[g, SEGID] = g
    reals = d.work.scn_geom_f
    for k in range(TEXREPEAT, TEXT):
        reals[g, k] = 0.0
    reals[g, TEXREPEAT] = 1.0
    reals[g, TEXREPEAT + 1] = 1.0
    reals[g, SPECULAR] = 0.5
    reals[g, SHININESS] = 0.5
    reals[g, CAMDIST] = 0.0
    reals[g, MODELRBOUND] = 0.0
    return g


@kernel
def put(d: Data, g: int, kind: int, size: Vec3, pos: Vec3, mat: Mat3) -> None:
    """Set the shape `kind` (mjtGeom), `size` (3), position `pos` (3) and orientation `mat` (9) of geom `g`."""
    d.work.scn_geom_i[g, TYPE] = kind
    reals = d.work.scn_geom_f
    reals[g, SIZE] = size[0]
    reals[g, SIZE + 1] = size[1]
    reals[g, SIZE + 2] = size[2]
    for k in range(3):
        reals[g, POS + k] = pos[k]
    for k in range(9):
        reals[g, MAT + k] = mat[k]


@kernel
def put_rgba(d: Data, g: int, rgba: Vec4) -> None:
    """Set the colour of a geom."""
    reals = d.work.scn_geom_f
    reals[g, RGBA] = rgba[0]
    reals[g, RGBA + 1] = rgba[1]
    reals[g, RGBA + 2] = rgba[2]
    reals[g, RGBA + 3] = rgba[3]


@kernel
def decorate(d: Data, objtype: int, objid: int, kind: int, size: Vec3, pos: Vec3, mat: Mat3, rgba: Vec4) -> int:
    """Append a geom of the category of decorations; return its number, or -1 if the scene is full.

    `objtype` and `objid` are those of `new_geom`; the other arguments are those of `put` and `put_rgba`.
    """
    g = new_geom(d, CAT_DECOR, objtype, objid)
    if g >= 0:
        put(d, g, kind, size, pos, mat)
        put_rgba(d, g, rgba)
    return g


@kernel
def name_it(d: Data, g: int, label: int, id: int) -> None:
    """Label geom `g` with the name of object `id`, if objects of the kind `label` (mjtLabel) are labelled.

    If `g` is -1, do nothing.
    """
    if g >= 0 and d.work.scn_state[LABEL] == label:
        d.work.scn_label[g, 0] = label
        d.work.scn_label[g, 1] = id


@kernel
def light_up(m: Model, d: Data, g: int) -> None:
    """Increase the emission of a geom that belongs to the selected object."""
    d.work.scn_geom_f[g, EMISSION] = d.work.scn_geom_f[g, EMISSION] + m.vis.global_.glow


@kernel
def _is_default(rgba: Vec4) -> bool:
    """Return whether a colour is the default colour of objects whose colour is not specified in the model."""
    return rgba[0] == DEFAULT_RGBA and rgba[1] == DEFAULT_RGBA and rgba[2] == DEFAULT_RGBA and rgba[3] == 1.0


@kernel
def opacity(m: Model, material: int, rgba: Vec4) -> float:
    """Return an object's opacity: its material's, if there is a material and `rgba` is the default; else `rgba[3]`."""
    return m.mat_rgba[material, 3] if material >= 0 and _is_default(rgba) else rgba[3]


@kernel
def colour(m: Model, d: Data, g: int, material: int, rgba: Vec4) -> None:
    """Set colour, texture and finish of a geom that shows an object of the model.

    If transparency is requested, the opacity of dynamic geoms is multiplied by `vis.map.alpha`.

    Args:
        m: model.
        d: data, with a scene attached.
        g: number of the geom.
        material: id, or -1.
        rgba: the object's own colour; if it is the default, the material's colour is used.
    """
    reals = d.work.scn_geom_f
    put_rgba(d, g, rgba)
    reals[g, TEXREPEAT] = 0.0
    reals[g, TEXREPEAT + 1] = 0.0
    if material >= 0:
        words = d.work.scn_geom_i
        if _is_default(rgba):
            put_rgba(d, g, get4(m.mat_rgba, material))
        if shows(d, VIS_TEXTURE):
            words[g, TEXID] = m.mat_texid[material]
            words[g, MATID] = material
        words[g, TEXUNIFORM] = m.mat_texuniform[material]
        reals[g, TEXREPEAT] = m.mat_texrepeat[material, 0]
        reals[g, TEXREPEAT + 1] = m.mat_texrepeat[material, 1]
        reals[g, EMISSION] = m.mat_emission[material]
        reals[g, SPECULAR] = m.mat_specular[material]
        reals[g, SHININESS] = m.mat_shininess[material]
        reals[g, REFLECTANCE] = m.mat_reflectance[material]
    if shows(d, VIS_TRANSPARENT) and d.work.scn_geom_i[g, CATEGORY] == CAT_DYNAMIC:
        reals[g, RGBA + 3] = reals[g, RGBA + 3] * m.vis.map.alpha


@kernel
def z_to(vec: Vec3) -> Mat3:
    """Return the rotation matrix (9) that turns the z axis to the direction of `vec` about a horizontal axis."""
    length = norm3(vec)
    if length < MINVAL:
        return EYE
    sine = sqrt(vec[0] * vec[0] + vec[1] * vec[1])
    if sine < MINVAL:
        if vec[2] < 0.0:
            return (1.0, 0.0, 0.0, 0.0, -1.0, 0.0, 0.0, 0.0, -1.0)
        return EYE
    return quat2mat(axis_angle2quat((-vec[1] / sine, vec[0] / sine, 0.0), atan2(sine, vec[2])))


@kernel
def connect(d: Data, g: int, kind: int, width: float, start: Vec3, stop: Vec3) -> None:
    """Set shape `kind` (mjtGeom), size, position and orientation of geom `g`, so that the geom connects two points.

    `start` and `stop` are the points, m, world frame; `width` is the geom's first and second size. Capsules and
    cylinders are centred between the points; their third size is half the distance. Lines and arrows begin at the first
    point; their third size is the whole distance.
    """
    line = sub3(stop, start)
    length = norm3(line)
    pos = start
    if kind in (GEOM_CAPSULE, GEOM_CYLINDER):
        length = 0.5 * length
        pos = scale3(add3(start, stop), 0.5)
    put(d, g, kind, (width, width, length), pos, z_to(line))


@kernel
def link(
    d: Data, category: int, objtype: int, objid: int, kind: int, width: float, start: Vec3, stop: Vec3, rgba: Vec4
) -> int:
    """Append a geom that connects two points; return its number, or -1 if the scene is full.

    `category`, `objtype` and `objid` are those of `new_geom`; `kind`, `width`, `start` and `stop` are those of
    `connect`. `rgba` is the colour.
    """
    g = new_geom(d, category, objtype, objid)
    if g >= 0:
        connect(d, g, kind, width, start, stop)
        put_rgba(d, g, rgba)
    return g


@kernel
def frame_axes(m: Model, d: Data, objid: int, pos: Vec3, mat: Mat3, scale: float) -> None:
    """Add three cylinders along the axes of a frame: x red, y green, z blue.

    The frame's pose is `pos` (m) and `mat`, world frame; `objid` is the id of the object. With `scale` 1, the cylinders
    are as long as for the frames of bodies.
    """
    length = scale * m.vis.scale.framelength * m.stat.meansize
    width = scale * m.vis.scale.framewidth * m.stat.meansize
    for axis in range(3):
        rgba = (AXIS_COLOUR * (axis == 0), AXIS_COLOUR * (axis == 1), AXIS_COLOUR * (axis == 2), 1.0)
        along = column3(mat, 0) if axis == 0 else (column3(mat, 1) if axis == 1 else column3(mat, 2))
        stop = add_scaled3(pos, along, length)
        link(d, CAT_DECOR, OBJ_UNKNOWN, objid, GEOM_CYLINDER, width, pos, stop, rgba)


@kernel
def island_rgba(d: Data, island: int) -> Vec4:
    """Return the colour of an island. It rarely changes between steps: it depends only on the island's first dof."""
    index = d.island_dofind[d.island_dofadr[island]] + 1
    r, g, b = halton(index, 2), halton(index, 3), halton(index, 5)
    return (DARKEST + SPREAD * r, DARKEST + SPREAD * g, DARKEST + SPREAD * b, 1.0)
