"""Stages that add decorations of bodies to the scene: inertias, frames, labels, forces, the perturbation."""

from __future__ import annotations

from math import sqrt

from cardan.enums import mjtPertBit
from cardan.enums.codes import (
    CAT_DECOR,
    GEOM_BOX,
    GEOM_CAPSULE,
    GEOM_ELLIPSOID,
    GEOM_LABEL,
    GEOM_SPHERE,
    OBJ_BODY,
    OBJ_UNKNOWN,
)
from cardan.jit import OK, kernel, stage
from cardan.maths.quaternion import quat2mat
from cardan.maths.types import Vec3, Vec4
from cardan.maths.vector import add3, add_scaled3, dot3, get3, get9, mul_mat_vec3, scale3
from cardan.model.kernel_views import Data, Model
from cardan.visual.append import (
    DEFAULT_SIZE,
    EYE,
    GEOM_ARROW,
    GRAY,
    decorate,
    frame_axes,
    link,
    name_it,
    rgba_of,
    shows,
)
from cardan.visual.geoms import center_of, glow, is_shown, size_of
from cardan.visual.memory import (
    ACTIVE,
    ACTIVE2,
    FRAME,
    FRAMES,
    LABEL,
    LABELS,
    LOCALPOS,
    REFQUAT,
    REFSELPOS,
    SELECT,
    VIS,
)

FRAME_BODY, FRAME_WORLD = FRAMES["BODY"], FRAMES["WORLD"]
LABEL_BODY, LABEL_ISLAND, LABEL_SELECTION, LABEL_SELPNT = (LABELS[k] for k in ("BODY", "ISLAND", "SELECTION", "SELPNT"))
VIS_INERTIA, VIS_SCLINERTIA = VIS["INERTIA"], VIS["SCLINERTIA"]
DENSITY = 1000.0
"""Density of the shapes for scaled inertias, kg/m^3."""
BOX_FACTOR, ELLIPSOID_FACTOR = 1.5, 2.5
BOX_VOLUME, ELLIPSOID_VOLUME = 8.0, 4.1887902047863905
TRANSLATE, ROTATE = int(mjtPertBit.mjPERT_TRANSLATE), int(mjtPertBit.mjPERT_ROTATE)


@stage
def add_body_frames(m: Model, d: Data) -> int:
    """Add the requested frames: that of the world, at twice the size, or those of all other visible bodies.

    If inertias are shown, the inertial frames of the bodies are used.
    """
    frame = d.work.scn_state[FRAME]
    if frame == FRAME_WORLD:
        frame_axes(m, d, 0, (0.0, 0.0, 0.0), EYE, 2.0)
    elif frame == FRAME_BODY:
        for body in range(1, m.nbody):
            if is_shown(m, d, body):
                if shows(d, VIS_INERTIA):
                    frame_axes(m, d, body, get3(d.xipos, body), get9(d.ximat, body), 1.0)
                else:
                    frame_axes(m, d, body, get3(d.xpos, body), get9(d.xmat, body), 1.0)
    return OK


@kernel
def selected_point(m: Model, d: Data) -> Vec3:
    """Return the selected point of the selected body, world frame."""
    body, pose = d.work.scn_state[SELECT], d.work.scn_pose
    local = (pose[LOCALPOS], pose[LOCALPOS + 1], pose[LOCALPOS + 2])
    return add3(get3(d.xpos, body), mul_mat_vec3(get9(d.xmat, body), local))


@stage
def add_selected_point(m: Model, d: Data) -> int:
    """Add a sphere at the selected point of the selected body."""
    body = d.work.scn_state[SELECT]
    if 0 < body < m.nbody:
        radius = m.vis.scale.selectpoint * m.stat.meansize
        rgba = rgba_of(m.vis.rgba.selectpoint)
        g = decorate(d, OBJ_UNKNOWN, 0, GEOM_SPHERE, (radius, radius, radius), selected_point(m, d), EYE, rgba)
        name_it(d, g, LABEL_SELPNT, body)
    return OK


@kernel
def label_body(d: Data, g: int, body: int) -> None:
    """Set the label of a geom to the body's name, if all bodies are labelled or the body is the selected one."""
    name_it(d, g, LABEL_BODY, body)
    if body == d.work.scn_state[SELECT]:
        name_it(d, g, LABEL_SELECTION, body)


@stage
def add_body_labels(m: Model, d: Data) -> int:
    """Add labels of all bodies or the selected body. If inertias are shown, add none, because inertias have labels."""
    label = d.work.scn_state[LABEL]
    if shows(d, VIS_INERTIA):
        return OK
    for body in range(1, m.nbody):
        chosen = label == LABEL_BODY or body == d.work.scn_state[SELECT]
        if chosen and is_shown(m, d, body):
            pos, mat = get3(d.xpos, body), get9(d.xmat, body)
            label_body(d, decorate(d, OBJ_UNKNOWN, body, GEOM_LABEL, DEFAULT_SIZE, pos, mat, GRAY), body)
    return OK


@stage
def add_island_labels(m: Model, d: Data) -> int:
    """Add labels with the numbers of the bodies' islands, at the bodies' centres of mass."""
    for body in range(1, m.nbody if d.nisland > 0 else 1):
        island = d.dof_island[m.body_dofadr[body]] if m.body_dofnum[body] > 0 else -1
        if island >= 0 and is_shown(m, d, body):
            pos, mat = get3(d.xipos, body), get9(d.ximat, body)
            g = decorate(d, OBJ_UNKNOWN, body, GEOM_LABEL, DEFAULT_SIZE, pos, mat, GRAY)
            name_it(d, g, LABEL_ISLAND, island)
    return OK


@kernel
def equivalent_size(m: Model, body: int, scaled: bool) -> Vec3:
    """Return the half sizes of the box or ellipsoid (`vis.global.ellipsoidinertia`) that has a body's mass and inertia.

    For a box with half sizes a, b, c, I_x = m (b^2 + c^2) / 3, and so a^2 = 3 (I_y + I_z - I_x) / (2 m). For an
    ellipsoid, 5 replaces 3. If `scaled`, the density of the shape is that of water.
    """
    ellipsoid = m.vis.global_.ellipsoidinertia != 0
    x, y, z = get3(m.body_inertia, body)
    factor = (ELLIPSOID_FACTOR if ellipsoid else BOX_FACTOR) / m.body_mass[body]
    # the triangle inequality may be violated by rounding, or deliberately
    a, b, c = max(0.0, y + z - x), max(0.0, z + x - y), max(0.0, x + y - z)
    size = (sqrt(a * factor), sqrt(b * factor), sqrt(c * factor))
    volume = (ELLIPSOID_VOLUME if ellipsoid else BOX_VOLUME) * size[0] * size[1] * size[2]
    if scaled and volume > 0.0:
        size = scale3(size, (m.body_mass[body] / (DENSITY * volume)) ** (1.0 / 3.0))
    return size


@stage
def add_inertias(m: Model, d: Data) -> int:
    """Add, for each body with a mass, the equivalent box or ellipsoid, with the body's label."""
    kind = GEOM_ELLIPSOID if m.vis.global_.ellipsoidinertia != 0 else GEOM_BOX
    for body in range(1, m.nbody):
        if m.body_mass[body] > 0.0 and is_shown(m, d, body):
            size = equivalent_size(m, body, shows(d, VIS_SCLINERTIA))
            pos, mat = get3(d.xipos, body), get9(d.ximat, body)
            g = decorate(d, OBJ_BODY, body, kind, size, pos, mat, rgba_of(m.vis.rgba.inertia))
            label_body(d, g, body)
            if g >= 0:
                glow(m, d, g, body)
    return OK


@stage
def add_centres(m: Model, d: Data) -> int:
    """Add a sphere at the centre of mass of each kinematic tree."""
    radius = m.vis.scale.com * m.stat.meansize
    for body in range(1, m.nbody):
        if m.body_rootid[body] == body:
            size = (radius, radius, radius)
            decorate(d, OBJ_UNKNOWN, body, GEOM_SPHERE, size, get3(d.subtree_com, body), EYE, rgba_of(m.vis.rgba.com))
    return OK


@stage
def add_skeleton(m: Model, d: Data) -> int:
    """Add lines from each body's centre of mass, through its joints in reverse order, to its parent's centre.

    Bodies whose parent is the world have no lines.
    """
    width, rgba = m.vis.scale.connect * m.stat.meansize, rgba_of(m.vis.rgba.connect)
    for body in range(1, m.nbody):
        parent = m.body_parentid[body]
        if parent == 0:
            continue
        here = get3(d.xipos, body)
        for j in range(m.body_jntnum[body] - 1, -2, -1):
            there = get3(d.xanchor, m.body_jntadr[body] + j) if j >= 0 else get3(d.xipos, parent)
            link(d, CAT_DECOR, OBJ_UNKNOWN, body, GEOM_CAPSULE, width, here, there, rgba)
            here = there
    return OK


@stage
def add_applied_forces(m: Model, d: Data) -> int:
    """Add an arrow for each force in `xfrc_applied`; the arrow begins at the body's centre of mass."""
    scale, width = m.vis.map.force / m.stat.meanmass, m.vis.scale.forcewidth * m.stat.meansize
    for body in range(1, m.nbody):
        force, start = get3(d.xfrc_applied, body), get3(d.xipos, body)
        if dot3(force, force) != 0.0:
            stop = add_scaled3(start, force, scale)
            link(d, CAT_DECOR, OBJ_UNKNOWN, body, GEOM_ARROW, width, start, stop, rgba_of(m.vis.rgba.force))
    return OK


@kernel
def _hands(rgba: Vec4, first: bool, second: bool) -> Vec4:
    """Return the colour of a perturbation by the first hand, the second hand or both hands.

    `rgba` is the colour for the first hand. For the second hand, red and green are swapped; for both, the larger of red
    and green is used for both.
    """
    if first and second:
        return (max(rgba[0], rgba[1]), max(rgba[0], rgba[1]), rgba[2], rgba[3])
    if second:
        return (rgba[1], rgba[0], rgba[2], rgba[3])
    return rgba


@stage
def add_perturbation(m: Model, d: Data) -> int:
    """Show the perturbation of the selected body: a line that ends in a sphere (translation), or a box (rotation)."""
    state, pose = d.work.scn_state, d.work.scn_pose
    body, first, second = state[SELECT], state[ACTIVE], state[ACTIVE2]
    if not 0 < body < m.nbody:
        return OK
    mat = quat2mat((pose[REFQUAT], pose[REFQUAT + 1], pose[REFQUAT + 2], pose[REFQUAT + 3]))
    if (first | second) & TRANSLATE:
        rgba = _hands(rgba_of(m.vis.rgba.constraint), first & TRANSLATE != 0, second & TRANSLATE != 0)
        width = m.vis.scale.constraint * m.stat.meansize
        target = (pose[REFSELPOS], pose[REFSELPOS + 1], pose[REFSELPOS + 2])
        link(d, CAT_DECOR, OBJ_UNKNOWN, body, GEOM_CAPSULE, width, selected_point(m, d), target, rgba)
        size = (2.0 * width, 2.0 * width, 2.0 * width)
        decorate(d, OBJ_UNKNOWN, body, GEOM_SPHERE, size, target, mat, rgba)
    if (first | second) & ROTATE:
        rgba = _hands(rgba_of(m.vis.rgba.inertia), first & ROTATE != 0, second & ROTATE != 0)
        # the root bounding volume of the body, or a cube of the mean size of bodies
        size, pos = (m.stat.meansize, m.stat.meansize, m.stat.meansize), get3(d.xipos, body)
        if m.body_bvhnum[body] > 0:
            centre, size = center_of(m.bvh_aabb, m.body_bvhadr[body]), size_of(m.bvh_aabb, m.body_bvhadr[body])
            pos = add3(pos, mul_mat_vec3(get9(d.ximat, body), centre))
        decorate(d, OBJ_UNKNOWN, body, GEOM_BOX, size, pos, mat, rgba)
    return OK
