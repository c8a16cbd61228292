"""Sensors that rest: what they measure sleeps, so that they keep the values of the last step in which it was awake.

Sensors without object, user and plugin sensors never rest, nor do range finders and contact sensors of sites. Sensors
of bodies that belong to no tree, such as the weight on a table, don't rest either.

Spec: simulation (programming), sleeping islands, notes on sensors.
"""

from __future__ import annotations

from cardan.dynamics.awake import actuator_sleeps, is_driven, sleeps, tendon_sleeps
from cardan.enums.codes import (
    OBJ_ACTUATOR,
    OBJ_BODY,
    OBJ_CAMERA,
    OBJ_GEOM,
    OBJ_JOINT,
    OBJ_SITE,
    OBJ_TENDON,
    OBJ_XBODY,
    SENS_CLOCK,
    SENS_CONTACT,
    SENS_E_KINETIC,
    SENS_E_POTENTIAL,
    SENS_PLUGIN,
    SENS_RANGEFINDER,
    SENS_USER,
)
from cardan.jit import OK, kernel, stage
from cardan.model.kernel_views import Data, Model

FIXED, RESTS, MOVES = range(3)
"""States of an object: it belongs to no tree; its tree sleeps; it may move, or is of another kind."""


@kernel
def _body_state(m: Model, d: Data, body: int) -> int:
    """Return the state of a body: FIXED, RESTS or MOVES."""
    tree = int(m.body_treeid[body])
    if tree < 0:
        return MOVES if is_driven(m, body) else FIXED
    return RESTS if sleeps(d, tree) else MOVES


@kernel
def object_state(m: Model, d: Data, kind: int, k: int) -> int:
    """Return the state of object `k` of type `kind` (mjtObj): FIXED, RESTS or MOVES. A negative `k` is FIXED."""
    if k < 0:
        return FIXED
    if kind in (OBJ_BODY, OBJ_XBODY):
        return _body_state(m, d, k)
    if kind == OBJ_GEOM:
        return _body_state(m, d, int(m.geom_bodyid[k]))
    if kind == OBJ_SITE:
        return _body_state(m, d, int(m.site_bodyid[k]))
    if kind == OBJ_CAMERA:
        return _body_state(m, d, int(m.cam_bodyid[k]))
    if kind == OBJ_JOINT:
        return _body_state(m, d, int(m.jnt_bodyid[k]))
    if kind == OBJ_TENDON:
        return RESTS if tendon_sleeps(m, d, k) else MOVES
    if kind == OBJ_ACTUATOR:
        return RESTS if actuator_sleeps(m, d, k) else MOVES
    return MOVES


@kernel
def never_rests(m: Model, i: int) -> bool:
    """Return whether a sensor measures something that trees that sleep don't determine."""
    kind = m.sensor_type[i]
    if kind in (SENS_RANGEFINDER, SENS_CLOCK, SENS_E_POTENTIAL, SENS_E_KINETIC, SENS_USER, SENS_PLUGIN):
        return True
    return kind == SENS_CONTACT and m.sensor_objtype[i] == OBJ_SITE


@stage
def find_resting_sensors(m: Model, d: Data) -> int:
    """Find the sensors that rest: their object sleeps, and so does their reference or second object, if it can move.

    Reads tree_asleep; writes ``work.sensor_rests`` (nsensor,).
    """
    for i in range(m.nsensor):
        rests = 0
        if not never_rests(m, i):
            first = object_state(m, d, m.sensor_objtype[i], m.sensor_objid[i])
            second = object_state(m, d, m.sensor_reftype[i], m.sensor_refid[i])
            rests = 1 if max(first, second) == RESTS else 0
        d.work.sensor_rests[i] = rests
    return OK
