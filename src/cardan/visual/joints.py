"""Joints and actuators in the scene (stages)."""

from __future__ import annotations

from typing import Any

from cardan.constants import mjMINVAL
from cardan.enums import mjtJoint, mjtLabel, mjtObj, mjtTrn, mjtVisFlag
from cardan.enums.codes import DYN_NONE
from cardan.jit import OK, kernel, stage
from cardan.maths.vector import get3, get9
from cardan.model.kernel_views import Data, Model
from cardan.visual.append import (
    GEOM_ARROW,
    GEOM_ARROW1,
    GEOM_BOX,
    GEOM_SPHERE,
    decorate,
    name_it,
    rgba_of,
    shown_group,
    shows,
    z_to,
)
from cardan.visual.geoms import drawn_size
from cardan.visual.memory import ACTUATORGROUP, FLAGS, JOINTGROUP
from cardan.visual.tendons import tendon_path

FREE, BALL, SLIDE = (int(k) for k in (mjtJoint.mjJNT_FREE, mjtJoint.mjJNT_BALL, mjtJoint.mjJNT_SLIDE))
OBJ_JOINT, OBJ_ACTUATOR = int(mjtObj.mjOBJ_JOINT), int(mjtObj.mjOBJ_ACTUATOR)
LABEL_JOINT, LABEL_ACTUATOR = int(mjtLabel.mjLABEL_JOINT), int(mjtLabel.mjLABEL_ACTUATOR)
TRN_JOINT, TRN_JOINTINPARENT, TRN_TENDON, TRN_SITE, TRN_BODY = (
    int(getattr(mjtTrn, f"mjTRN_{k}")) for k in ("JOINT", "JOINTINPARENT", "TENDON", "SITE", "BODY")
)
BY_ACTIVATION = FLAGS + int(mjtVisFlag.mjVIS_ACTIVATION)
KNOB = 3.0
"""Half size of the symbols of free and ball joints, relative to the width of a joint."""
LARGER_JOINT, LARGER_SITE = 1.1, 1.05
"""Size of the symbol of an actuator, relative to the object on which it acts."""


@kernel
def _joint(m: Model, d: Data, objtype: int, objid: int, joint: int, knob: float, axle: Any, rgba: Any) -> int:
    """Add the symbol of a joint: a box (free), a sphere (ball), an arrow (slide) or half an arrow (hinge).

    Args:
        m: model.
        d: data.
        objtype: kind of the object that the symbol shows.
        objid: id of that object.
        joint: id of the joint.
        knob: half size of boxes and spheres.
        axle: size of arrows.
        rgba: colour.

    Returns:
        The number of the geom, or -1.
    """
    kind = m.jnt_type[joint]
    anchor = get3(d.xanchor, joint)
    if kind in (FREE, BALL):
        shape = GEOM_BOX if kind == FREE else GEOM_SPHERE
        mat = get9(d.xmat, m.jnt_bodyid[joint])
        return decorate(d, objtype, objid, shape, (knob, knob, knob), anchor, mat, rgba)
    shape = GEOM_ARROW if kind == SLIDE else GEOM_ARROW1
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
    """Scale a control or activation: 0 at its neutral value, -1 and 1 at the ends of its range.

    Neutral is 0, or the end of the range nearest to 0. On a side without an end, the end is taken as -1 or 1.
    """
    neutral, bottom, top = 0.0, -1.0, 1.0
    if limited != 0:
        neutral = max(low, 0.0) + min(high, 0.0)
        bottom = low if low < neutral else bottom
        top = high if high > neutral else top
    if value >= neutral:
        return min(1.0, (value - neutral) / max(mjMINVAL, top - neutral))
    return max(-1.0, (value - neutral) / max(mjMINVAL, neutral - bottom))


@kernel
def actuator_colour(m: Model, d: Data, actuator: int) -> Any:
    """Interpolate between the neutral colour and those of the limits by the control, or if requested by the activation.

    The limits are those of the control if it has limits, even for an activation.
    """
    limited = m.actuator_ctrllimited[actuator]
    low, high = m.actuator_ctrlrange[actuator, 0], m.actuator_ctrlrange[actuator, 1]
    if shows(d, BY_ACTIVATION) and m.actuator_dyntype[actuator] != DYN_NONE and m.actuator_actadr[actuator] >= 0:
        value = d.act[m.actuator_actadr[actuator] + m.actuator_actnum[actuator] - 1]
        if limited == 0:
            limited = m.actuator_actlimited[actuator]
            low, high = m.actuator_actrange[actuator, 0], m.actuator_actrange[actuator, 1]
    else:
        value = d.ctrl[actuator]
    share = _share(value, limited, low, high)
    neutral = rgba_of(m.vis.rgba.actuator)
    end = rgba_of(m.vis.rgba.actuatorpositive) if share > 0.0 else rgba_of(m.vis.rgba.actuatornegative)
    t = abs(share)
    return (
        (1.0 - t) * neutral[0] + t * end[0],
        (1.0 - t) * neutral[1] + t * end[1],
        (1.0 - t) * neutral[2] + t * end[2],
        (1.0 - t) * neutral[3] + t * end[3],
    )


@kernel
def _on_joint(m: Model, d: Data, actuator: int, rgba: Any) -> None:
    joint = m.actuator_trnid[actuator, 0]
    size = m.stat.meansize
    width = m.vis.scale.actuatorwidth * size
    axle = (width, width, m.vis.scale.actuatorlength * size)
    knob = LARGER_JOINT * KNOB * m.vis.scale.jointwidth * size
    name_it(d, _joint(m, d, OBJ_ACTUATOR, actuator, joint, knob, axle, rgba), LABEL_ACTUATOR, actuator)


@kernel
def _larger(size: Any) -> Any:
    return (LARGER_SITE * size[0], LARGER_SITE * size[1], LARGER_SITE * size[2])


@kernel
def _on_site(m: Model, d: Data, actuator: int, rgba: Any) -> None:
    site = m.actuator_trnid[actuator, 0]
    kind = m.site_type[site]
    size = _larger(drawn_size(kind, get3(m.site_size, site)))
    g = decorate(d, OBJ_ACTUATOR, actuator, kind, size, get3(d.site_xpos, site), get9(d.site_xmat, site), rgba)
    name_it(d, g, LABEL_ACTUATOR, actuator)


@kernel
def _on_body(m: Model, d: Data, actuator: int, rgba: Any) -> None:
    """Add a larger copy of each geom of the body."""
    body = m.actuator_trnid[actuator, 0]
    for geom in range(m.body_geomadr[body], m.body_geomadr[body] + m.body_geomnum[body]):
        kind = m.geom_type[geom]
        size = _larger(drawn_size(kind, get3(m.geom_size, geom)))
        decorate(d, OBJ_ACTUATOR, actuator, kind, size, get3(d.geom_xpos, geom), get9(d.geom_xmat, geom), rgba)


@stage
def add_actuators(m: Model, d: Data) -> int:
    """Add the actuators whose groups are shown, on their joints, sites, bodies or tendons.

    Slider-cranks have a stage of their own.
    """
    for actuator in range(m.nu):
        if not shown_group(d, ACTUATORGROUP, m.actuator_group[actuator]):
            continue
        rgba = actuator_colour(m, d, actuator)
        kind = m.actuator_trntype[actuator]
        if kind in (TRN_JOINT, TRN_JOINTINPARENT):
            _on_joint(m, d, actuator, rgba)
        elif kind == TRN_SITE:
            _on_site(m, d, actuator, rgba)
        elif kind == TRN_BODY:
            _on_body(m, d, actuator, rgba)
        elif kind == TRN_TENDON:
            tendon = m.actuator_trnid[actuator, 0]
            width = m.tendon_width[tendon] * m.vis.map.actuatortendon
            tendon_path(m, d, tendon, OBJ_ACTUATOR, actuator, LABEL_ACTUATOR, width, rgba)
    return OK
