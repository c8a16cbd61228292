"""Geoms that show a perturbation: the line to the pulled point, and the box that is rotated (stage)."""

from __future__ import annotations

from typing import Any

from cardan.enums import mjtPertBit
from cardan.jit import OK, kernel, stage
from cardan.maths.quaternion import quat2mat
from cardan.maths.vector import add3, get3, get9, mul_mat_vec3
from cardan.model.kernel_views import Data, Model
from cardan.visual.append import (
    DECOR,
    GEOM_BOX,
    GEOM_CAPSULE,
    GEOM_SPHERE,
    UNKNOWN,
    connect,
    decorate,
    new_geom,
    put_rgba,
    rgba_of,
)
from cardan.visual.frames import selected_point
from cardan.visual.memory import ACTIVE, ACTIVE2, REFQUAT, REFSELPOS, SELECT

TRANSLATE, ROTATE = int(mjtPertBit.mjPERT_TRANSLATE), int(mjtPertBit.mjPERT_ROTATE)


@kernel
def _turned(d: Data) -> Any:
    """Return the reference orientation as a matrix."""
    q = d.work.scn_pose
    return quat2mat((q[REFQUAT], q[REFQUAT + 1], q[REFQUAT + 2], q[REFQUAT + 3]))


@kernel
def _extent(m: Model, d: Data, body: int) -> Any:
    """Half extents and centre of a body: its root bounding volume, or a cube of the mean size of bodies."""
    pos = get3(d.xipos, body)
    if m.body_bvhnum[body] > 0:
        node, aabb = m.body_bvhadr[body], m.bvh_aabb
        centre = mul_mat_vec3(get9(d.ximat, body), (aabb[node, 0], aabb[node, 1], aabb[node, 2]))
        return (aabb[node, 3], aabb[node, 4], aabb[node, 5]), add3(pos, centre)
    return (m.stat.meansize, m.stat.meansize, m.stat.meansize), pos


@kernel
def _hands(rgba: Any, first: bool, second: bool) -> Any:
    """Colour of the first hand, the second hand (red and green swapped), or the brighter one if both are active."""
    if first and second:
        return (max(rgba[0], rgba[1]), max(rgba[0], rgba[1]), rgba[2], rgba[3])
    if second:
        return (rgba[1], rgba[0], rgba[2], rgba[3])
    return rgba


@stage
def add_perturbation(m: Model, d: Data) -> int:
    """Add the line of a translation with a sphere at its end, and the box of a rotation."""
    state, pose = d.work.scn_state, d.work.scn_pose
    body, first, second = state[SELECT], state[ACTIVE], state[ACTIVE2]
    if not 0 < body < m.nbody:
        return OK
    if (first | second) & TRANSLATE:
        rgba = _hands(rgba_of(m.vis.rgba.constraint), first & TRANSLATE != 0, second & TRANSLATE != 0)
        width = m.vis.scale.constraint * m.stat.meansize
        target = (pose[REFSELPOS], pose[REFSELPOS + 1], pose[REFSELPOS + 2])
        g = new_geom(d, DECOR, UNKNOWN, body)
        if g >= 0:
            connect(d, g, GEOM_CAPSULE, width, selected_point(m, d), target)
            put_rgba(d, g, rgba)
        size = (2.0 * width, 2.0 * width, 2.0 * width)
        decorate(d, UNKNOWN, body, GEOM_SPHERE, size, target, _turned(d), rgba)
    if (first | second) & ROTATE:
        rgba = _hands(rgba_of(m.vis.rgba.inertia), first & ROTATE != 0, second & ROTATE != 0)
        size, pos = _extent(m, d, body)
        decorate(d, UNKNOWN, body, GEOM_BOX, size, pos, _turned(d), rgba)
    return OK
