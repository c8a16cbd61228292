"""Coordinate frames, names of bodies, and the selected point (stages)."""

from __future__ import annotations

from typing import Any

from cardan.enums import mjtFrame, mjtLabel, mjtVisFlag
from cardan.enums.codes import GEOM_LABEL
from cardan.jit import OK, kernel, stage
from cardan.maths.vector import add3, get3, get9, mul_mat_vec3
from cardan.model.kernel_views import Data, Model
from cardan.visual.append import (
    DEFAULT_SIZE,
    EYE,
    GEOM_SPHERE,
    GRAY,
    UNKNOWN,
    decorate,
    name_it,
    rgba_of,
    shows,
)
from cardan.visual.axes import frame_axes
from cardan.visual.geoms import is_shown
from cardan.visual.memory import FLAGS, FRAME, LABEL, LOCALPOS, SELECT

BODY_FRAME, WORLD_FRAME = int(mjtFrame.mjFRAME_BODY), int(mjtFrame.mjFRAME_WORLD)
LABEL_BODY, LABEL_ISLAND, LABEL_SELECTION, LABEL_SELPNT = (
    int(getattr(mjtLabel, f"mjLABEL_{k}")) for k in ("BODY", "ISLAND", "SELECTION", "SELPNT")
)
SHOW_INERTIA = FLAGS + int(mjtVisFlag.mjVIS_INERTIA)


@stage
def add_body_frames(m: Model, d: Data) -> int:
    """Add the frame of the world (twice the size) or of all other bodies: of their inertias if these are shown."""
    frame = d.work.scn_state[FRAME]
    if frame == WORLD_FRAME:
        frame_axes(m, d, 0, (0.0, 0.0, 0.0), EYE, 2.0)
    elif frame == BODY_FRAME:
        for body in range(1, m.nbody):
            if is_shown(m, d, body):
                if shows(d, SHOW_INERTIA):
                    frame_axes(m, d, body, get3(d.xipos, body), get9(d.ximat, body), 1.0)
                else:
                    frame_axes(m, d, body, get3(d.xpos, body), get9(d.xmat, body), 1.0)
    return OK


@kernel
def selected_point(m: Model, d: Data) -> Any:
    """Return the selected point of the selected body, world frame."""
    body = d.work.scn_state[SELECT]
    pose = d.work.scn_pose
    local = (pose[LOCALPOS], pose[LOCALPOS + 1], pose[LOCALPOS + 2])
    return add3(get3(d.xpos, body), mul_mat_vec3(get9(d.xmat, body), local))


@stage
def add_selected_point(m: Model, d: Data) -> int:
    """Add a sphere at the selected point of the selected body."""
    body = d.work.scn_state[SELECT]
    if 0 < body < m.nbody:
        radius = m.vis.scale.selectpoint * m.stat.meansize
        rgba = rgba_of(m.vis.rgba.selectpoint)
        g = decorate(d, UNKNOWN, 0, GEOM_SPHERE, (radius, radius, radius), selected_point(m, d), EYE, rgba)
        name_it(d, g, LABEL_SELPNT, body)
    return OK


@kernel
def label_body(d: Data, g: int, body: int) -> None:
    """Give a geom the label of a body, if all bodies or the selected body are labelled."""
    name_it(d, g, LABEL_BODY, body)
    if body == d.work.scn_state[SELECT]:
        name_it(d, g, LABEL_SELECTION, body)


@kernel
def _island(m: Model, d: Data, body: int) -> int:
    """Return the island of a body with degrees of freedom, or -1."""
    if d.nisland > 0 and m.body_dofnum[body] > 0:
        return d.dof_island[m.body_dofadr[body]]
    return -1


@stage
def add_body_labels(m: Model, d: Data) -> int:
    """Add labels of bodies, or of the selected body, without geoms; if inertias are shown, they have the labels."""
    label = d.work.scn_state[LABEL]
    if shows(d, SHOW_INERTIA):
        return OK
    for body in range(1, m.nbody):
        chosen = label == LABEL_BODY or body == d.work.scn_state[SELECT]
        if chosen and is_shown(m, d, body):
            pos, mat = get3(d.xpos, body), get9(d.xmat, body)
            label_body(d, decorate(d, UNKNOWN, body, GEOM_LABEL, DEFAULT_SIZE, pos, mat, GRAY), body)
    return OK


@stage
def add_island_labels(m: Model, d: Data) -> int:
    """Add the numbers of the bodies' islands, at the centres of mass."""
    for body in range(1, m.nbody):
        island = _island(m, d, body)
        if island >= 0 and is_shown(m, d, body):
            pos, mat = get3(d.xipos, body), get9(d.ximat, body)
            g = decorate(d, UNKNOWN, body, GEOM_LABEL, DEFAULT_SIZE, pos, mat, GRAY)
            name_it(d, g, LABEL_ISLAND, island)
    return OK
