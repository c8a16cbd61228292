"""Stages that add joints and actuators to the scene."""

from __future__ import annotations

from cardan.enums.codes import (
    DYN_NONE,
    GEOM_BOX,
    GEOM_SPHERE,
    JNT_BALL,
    JNT_FREE,
    JNT_SLIDE,
    TRN_BODY,
    TRN_JOINT,
    TRN_JOINTINPARENT,
    TRN_SITE,
    TRN_SO3,
    TRN_TENDON,
)
from cardan.jit import OK, kernel, stage
from cardan.maths.types import Mat3, Vec3, Vec4
from cardan.maths.vector import MINVAL, get3, get9, scale3
from cardan.model.kernel_views import Data, Model
from cardan.visual.append import (
    GEOM_ARROW,
    GEOM_ARROW1,
    OBJ_ACTUATOR,
    OBJ_JOINT,
    decorate,
    name_it,
    rgba_of,
    shown_group,
    shows,
    z_to,
)
from cardan.visual.geoms import drawn_size
from cardan.visual.memory import ACTUATORGROUP, JOINTGROUP, LABELS, VIS
from cardan.visual.tendons import tendon_path

LABEL_JOINT, LABEL_ACTUATOR = LABELS["JOINT"], LABELS["ACTUATOR"]
VIS_ACTIVATION = VIS["ACTIVATION"]
KNOB = 3.0
"""Half size of the symbols of free and ball joints, relative to the width of the arrow that shows a hinge."""
LARGER_JOINT, LARGER_SITE = 1.1, 1.05
"""Sizes of an actuator's symbol on a joint and on a site, relative to the size of the joint's symbol or of the site."""


@kernel
def _joint(m: Model, d: Data, objtype: int, objid: int, joint: int, knob: float, axle: Vec3, rgba: Vec4) -> int:
    """Add the symbol of a joint: a box (free), a sphere (ball), an arrow (slide) or half an arrow (hinge).

    `knob` is the half size of boxes and spheres, `axle` the size of arrows. Return the number of the geom, or -1.
    """
    kind = m.jnt_type[joint]
    anchor = get3(d.xanchor, joint)
    if kind in (JNT_FREE, JNT_BALL):
        shape = GEOM_BOX if kind == JNT_FREE else GEOM_SPHERE
        mat = get9(d.xmat, m.jnt_bodyid[joint])
        return decorate(d, objtype, objid, shape, (knob, knob, knob), anchor, mat, rgba)
    shape = GEOM_ARROW if kind == JNT_SLIDE else GEOM_ARROW1
    return decorate(d, objtype, objid, shape, axle, anchor, z_to(get3(d.xaxis, joint)), rgba)


@stage
def add_joints(m: Model, d: Data) -> int:
    """Add the joints whose groups are shown."""
    width = m.vis.scale.jointwidth * m.stat.meansize
    axle = (width, width, m.vis.scale.jointlength * m.stat.meansize)
    for joint in range(m.njnt):
        if shown_group(d, JOINTGROUP, m.jnt_group[joint]):
            g = _joint(m, d, OBJ_JOINT, joint, joint, KNOB * width, axle, rgba_of(m.vis.rgba.joint))
            name_it(d, g, LABEL_JOINT, joint)
    return OK


@kernel
def _share(value: float, limited: int, low: float, high: float) -> float:
    """Scale a control or activation to the range -1 to 1: its limits become -1 and 1, and its neutral value becomes 0.

    The neutral value is 0, or the limit nearest to 0. A side without a limit has the limit -1 or 1.
    """
    neutral, bottom, top = 0.0, -1.0, 1.0
    if limited != 0:
        neutral = max(low, 0.0) + min(high, 0.0)
        bottom = low if low < neutral else bottom
        top = high if high > neutral else top
    if value >= neutral:
        return min(1.0, (value - neutral) / max(MINVAL, top - neutral))
    return max(-1.0, (value - neutral) / max(MINVAL, neutral - bottom))


@kernel
def actuator_colour(m: Model, d: Data, actuator: int) -> Vec4:
    """Return the colour of an actuator: by its first control between the neutral colour and a limit's colour.

    If activations are shown, the activation replaces the control. If the control is limited, its limits are used even
    for the activation.
    """
    limited, low, high, value = 0, 0.0, 0.0, 0.0
    if m.actuator_ctrlnum[actuator] > 0:
        control = m.actuator_ctrladr[actuator]
        limited, value = m.actuator_ctrllimited[control], d.ctrl[control]
        low, high = m.actuator_ctrlrange[control, 0], m.actuator_ctrlrange[control, 1]
    if shows(d, VIS_ACTIVATION) and m.actuator_dyntype[actuator] != DYN_NONE and m.actuator_actadr[actuator] >= 0:
        value = d.act[m.actuator_actadr[actuator] + m.actuator_actnum[actuator] - 1]
        if limited == 0:
            limited = m.actuator_actlimited[actuator]
            low, high = m.actuator_actrange[actuator, 0], m.actuator_actrange[actuator, 1]
    share = _share(value, limited, low, high)
    neutral = rgba_of(m.vis.rgba.actuator)
    end = rgba_of(m.vis.rgba.actuatorpositive) if share > 0.0 else rgba_of(m.vis.rgba.actuatornegative)
    t = abs(share)
    r, g = (1.0 - t) * neutral[0] + t * end[0], (1.0 - t) * neutral[1] + t * end[1]
    return (r, g, (1.0 - t) * neutral[2] + t * end[2], (1.0 - t) * neutral[3] + t * end[3])


@kernel
def _copy(d: Data, actuator: int, kind: int, size: Vec3, pos: Vec3, mat: Mat3, rgba: Vec4) -> int:
    """Add a slightly larger copy of a site or geom on which an actuator acts; return the copy's number or -1."""
    return decorate(d, OBJ_ACTUATOR, actuator, kind, scale3(drawn_size(kind, size), LARGER_SITE), pos, mat, rgba)


@stage
def add_actuators(m: Model, d: Data) -> int:
    """Add the actuators whose groups are shown, on their joints, sites, bodies or tendons.

    Slider-cranks have a stage of their own.
    """
    size = m.stat.meansize
    width = m.vis.scale.actuatorwidth * size
    axle = (width, width, m.vis.scale.actuatorlength * size)
    knob = LARGER_JOINT * KNOB * m.vis.scale.jointwidth * size
    for actuator in range(m.nactuator):
        if not shown_group(d, ACTUATORGROUP, m.actuator_group[actuator]):
            continue
        rgba, kind, target = (
            actuator_colour(m, d, actuator),
            m.actuator_trntype[actuator],
            m.actuator_trnid[actuator, 0],
        )
        if kind == TRN_SO3:
            kind = TRN_SITE if m.actuator_trnid[actuator, 1] >= 0 else TRN_JOINT
        if kind in (TRN_JOINT, TRN_JOINTINPARENT):
            g = _joint(m, d, OBJ_ACTUATOR, actuator, target, knob, axle, rgba)
            name_it(d, g, LABEL_ACTUATOR, actuator)
        elif kind == TRN_SITE:
            pos, mat = get3(d.site_xpos, target), get9(d.site_xmat, target)
            g = _copy(d, actuator, m.site_type[target], get3(m.site_size, target), pos, mat, rgba)
            name_it(d, g, LABEL_ACTUATOR, actuator)
        elif kind == TRN_BODY:
            for geom in range(m.body_geomadr[target], m.body_geomadr[target] + m.body_geomnum[target]):
                pos, mat = get3(d.geom_xpos, geom), get9(d.geom_xmat, geom)
                _copy(d, actuator, m.geom_type[geom], get3(m.geom_size, geom), pos, mat, rgba)
        elif kind == TRN_TENDON:
            thickness = m.tendon_width[target] * m.vis.map.actuatortendon
            tendon_path(m, d, target, OBJ_ACTUATOR, actuator, LABEL_ACTUATOR, thickness, rgba)
    return OK
