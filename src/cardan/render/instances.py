"""From the geoms of a scene to instances of shapes, in the order in which they are drawn."""

from __future__ import annotations

from enum import IntEnum
from math import ceil, pi
from typing import Any

from cardan.enums import mjtGeom
from cardan.jit import kernel
from cardan.render.calls import picture_stage
from cardan.render.fields import NLOD
from cardan.render.geometry import project


class Builtin(IntEnum):
    """Kinds of built-in shapes."""

    SPHERE = 0
    CAPSULE = 1
    CYLINDER = 2
    BOX = 3
    PLANE = 4
    CONE = 5
    DISK = 6


SPHERE, CAPSULE, CYLINDER, BOX, PLANE, CONE, DISK = (kind.value for kind in Builtin)
GEOM_PLANE, GEOM_SPHERE, GEOM_CAPSULE, GEOM_ELLIPSOID, GEOM_CYLINDER, GEOM_BOX = (
    mjtGeom.__members__[f"mjGEOM_{name}"].value
    for name in ("PLANE", "SPHERE", "CAPSULE", "ELLIPSOID", "CYLINDER", "BOX")
)
MOST_OFF = 0.1
"""How far a polygon may stay inside of the circle that it stands for, pixels."""
MOST_PARTS = 4
"""Instances that a geom may have."""
MOST_CELLS = 200
"""Cells of a plane's grid along one axis."""


@kernel
def detail(a: Any, f: Any, geom: int, radius: float) -> int:
    """Level of detail at which circles of a radius look round."""
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
def add_instance(a: Any, f: Any, geom: int, shape: int, sx: float, sy: float, sz: float, shift: float) -> int:
    """Append an instance of a shape in the frame of a geom; returns its number."""
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
    f.inst_vertadr[inst] = f.nvert
    f.inst_triadr[inst] = f.ntri
    f.nvert += a.shape_vertnum[shape]
    f.ntri += a.shape_facenum[shape]
    f.ninst = inst + 1
    return inst


@kernel
def add_plane(a: Any, f: Any, geom: int) -> None:
    """Append a plane with its grid: cells of twice its third size, or a hundredth of its reach if it has no bounds."""
    repeat = 1.0
    if f.geom_texid[geom] >= 0:
        repeat = max(min(f.geom_texrepeat[geom, 0], f.geom_texrepeat[geom, 1]), 1e-3)
    reach = a.plane_reach + 2.0 / repeat
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
def add_geom(a: Any, f: Any, geom: int) -> None:
    """Append the instances that show a geom."""
    kind = f.geom_type[geom]
    sx, sy, sz = f.geom_size[geom, 0], f.geom_size[geom, 1], f.geom_size[geom, 2]
    if f.geom_shape[geom] >= 0:
        add_instance(a, f, geom, f.geom_shape[geom], 1.0, 1.0, 1.0, 0.0)
    elif kind == GEOM_PLANE:
        add_plane(a, f, geom)
    elif kind in (GEOM_SPHERE, GEOM_ELLIPSOID):
        add_instance(a, f, geom, a.builtin[SPHERE, detail(a, f, geom, max(sx, sy, sz))], sx, sy, sz, 0.0)
    elif kind == GEOM_CAPSULE:
        add_instance(a, f, geom, a.builtin[CAPSULE, detail(a, f, geom, sx)], sx, sx, sx, sz)
    elif kind == GEOM_CYLINDER:
        add_instance(a, f, geom, a.builtin[CYLINDER, detail(a, f, geom, sx)], sx, sy, sz, 0.0)
    elif kind == GEOM_BOX:
        add_instance(a, f, geom, a.builtin[BOX, 0], sx, sy, sz, 0.0)


@picture_stage
def make_instances(a: Any, f: Any, i: int, j: int) -> int:
    """The instances of all geoms, in the order of drawing; 0."""
    f.ninst = 0
    f.nvert = 0
    f.ntri = 0
    f.nnode = 0
    for k in range(f.ngeom):
        add_geom(a, f, f.geom_order[k])
    return 0
