"""Decorations of bodies: inertia, centres of mass, skeleton, applied forces (stages)."""

from __future__ import annotations

from math import sqrt
from typing import Any

from cardan.enums import mjtVisFlag
from cardan.enums.codes import OBJ_BODY
from cardan.jit import OK, kernel, stage
from cardan.maths.vector import add_scaled3, dot3, get3, get9, scale3
from cardan.model.kernel_views import Data, Model
from cardan.visual.append import (
    DECOR,
    EYE,
    GEOM_ARROW,
    GEOM_BOX,
    GEOM_CAPSULE,
    GEOM_ELLIPSOID,
    GEOM_SPHERE,
    UNKNOWN,
    connect,
    decorate,
    new_geom,
    put_rgba,
    rgba_of,
    shows,
)
from cardan.visual.frames import label_body
from cardan.visual.geoms import glow, is_shown
from cardan.visual.memory import FLAGS

SCALED = FLAGS + int(mjtVisFlag.mjVIS_SCLINERTIA)
DENSITY = 1000.0
"""Density for which scaled inertias have the body's mass, kg/m^3."""
BOX_FACTOR, ELLIPSOID_FACTOR = 1.5, 2.5
BOX_VOLUME, ELLIPSOID_VOLUME = 8.0, 4.1887902047863905


@kernel
def equivalent_size(m: Model, body: int, scaled: bool) -> Any:
    """Half sizes of the box or ellipsoid (`vis.global.ellipsoidinertia`) with a body's mass and inertia.

    For a box with half sizes a, b, c, I_x = m (b^2 + c^2) / 3, and so a^2 = 3 (I_y + I_z - I_x) / (2 m). For an
    ellipsoid, 5 replaces 3. Scaled shapes have the mass of the body at the density of water.
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
    """Add the equivalent box or ellipsoid of each body with a mass; it also has the label of the body."""
    kind = GEOM_ELLIPSOID if m.vis.global_.ellipsoidinertia != 0 else GEOM_BOX
    for body in range(1, m.nbody):
        if m.body_mass[body] > 0.0 and is_shown(m, d, body):
            size = equivalent_size(m, body, shows(d, SCALED))
            pos, mat = get3(d.xipos, body), get9(d.ximat, body)
            g = decorate(d, OBJ_BODY, body, kind, size, pos, mat, rgba_of(m.vis.rgba.inertia))
            if g < 0:
                return OK
            label_body(d, g, body)
            glow(m, d, g, body)
    return OK


@stage
def add_centres(m: Model, d: Data) -> int:
    """Add the centre of mass of each kinematic tree."""
    radius = m.vis.scale.com * m.stat.meansize
    for body in range(1, m.nbody):
        if m.body_rootid[body] == body:
            size = (radius, radius, radius)
            decorate(d, UNKNOWN, body, GEOM_SPHERE, size, get3(d.subtree_com, body), EYE, rgba_of(m.vis.rgba.com))
    return OK


@kernel
def _bone(m: Model, d: Data, body: int, start: Any, stop: Any) -> None:
    g = new_geom(d, DECOR, UNKNOWN, body)
    if g >= 0:
        connect(d, g, GEOM_CAPSULE, m.vis.scale.connect * m.stat.meansize, start, stop)
        put_rgba(d, g, rgba_of(m.vis.rgba.connect))


@stage
def add_skeleton(m: Model, d: Data) -> int:
    """Add lines from each body's centre of mass through its joints, the last first, to its parent's centre of mass."""
    for body in range(1, m.nbody):
        parent = m.body_parentid[body]
        if parent == 0:
            continue
        here = get3(d.xipos, body)
        for j in range(m.body_jntnum[body] - 1, -1, -1):
            anchor = get3(d.xanchor, m.body_jntadr[body] + j)
            _bone(m, d, body, here, anchor)
            here = anchor
        _bone(m, d, body, here, get3(d.xipos, parent))
    return OK


@stage
def add_applied_forces(m: Model, d: Data) -> int:
    """Add arrows for the forces in `xfrc_applied`, at the centres of mass."""
    scale = m.vis.map.force / m.stat.meanmass
    for body in range(1, m.nbody):
        force = (d.xfrc_applied[body, 0], d.xfrc_applied[body, 1], d.xfrc_applied[body, 2])
        if dot3(force, force) == 0.0:
            continue
        g = new_geom(d, DECOR, UNKNOWN, body)
        if g < 0:
            return OK
        start = get3(d.xipos, body)
        connect(d, g, GEOM_ARROW, m.vis.scale.forcewidth * m.stat.meansize, start, add_scaled3(start, force, scale))
        put_rgba(d, g, rgba_of(m.vis.rgba.force))
    return OK
