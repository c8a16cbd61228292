"""Storage and cutoff of sensor values, and helper functions for limits and for orientations of objects."""

from __future__ import annotations

from cardan.dynamics.com import object_body
from cardan.enums.codes import (
    DATATYPE_POSITIVE,
    DATATYPE_REAL,
    OBJ_BODY,
    OBJ_GEOM,
    OBJ_SITE,
    OBJ_XBODY,
    SENS_CONTACT,
    SENS_GEOMFROMTO,
)
from cardan.jit import kernel
from cardan.maths.quaternion import mul_quat
from cardan.maths.types import ConstArray1, Vec3, Vec4
from cardan.maths.vector import get4
from cardan.model.kernel_views import Data, Model

UNLIMITED = (SENS_GEOMFROMTO, SENS_CONTACT)
"""Types of sensors whose values are never clamped."""


@kernel
def in_subtree(m: Model, body: int, root: int) -> bool:
    """Return whether a body is `root` or below it."""
    while body > root:
        body = m.body_parentid[body]
    return body == root


@kernel
def put1(m: Model, d: Data, i: int, value: float) -> None:
    """Store the value of sensor `i`."""
    d.sensordata[m.sensor_adr[i]] = value


@kernel
def put_outputs(m: Model, d: Data, i: int, values: ConstArray1) -> None:
    """Store what belongs to the outputs of an actuator, the object of sensor `i`; `values` are of all outputs."""
    actuator, adr = m.sensor_objid[i], m.sensor_adr[i]
    for k in range(m.actuator_outnum[actuator]):
        d.sensordata[adr + k] = values[m.actuator_outadr[actuator] + k]


@kernel
def put3(m: Model, d: Data, i: int, v: Vec3) -> None:
    """Store the three values of sensor `i`."""
    adr = m.sensor_adr[i]
    for k in range(3):
        d.sensordata[adr + k] = v[k]


@kernel
def put4(m: Model, d: Data, i: int, v: Vec4) -> None:
    """Store the four values of sensor `i`."""
    adr = m.sensor_adr[i]
    for k in range(4):
        d.sensordata[adr + k] = v[k]


@kernel
def apply_cutoff(m: Model, d: Data, i: int) -> None:
    """Clamp the values of sensor `i` to its cutoff, if the cutoff is positive (spec: modeling, sensor, cutoff).

    Real values are clamped to [-cutoff, cutoff], positive values to at most the cutoff; axes and quaternions are
    unchanged. The two points of the sensor ``fromto`` are also unchanged, because its cutoff bounds the measured
    distance, not coordinates. Contact sensors ignore it.
    """
    cutoff = m.sensor_cutoff[i]
    kind = m.sensor_datatype[i]
    if cutoff > 0.0 and kind in (DATATYPE_REAL, DATATYPE_POSITIVE) and m.sensor_type[i] not in UNLIMITED:
        for k in range(m.sensor_adr[i], m.sensor_adr[i] + m.sensor_dim[i]):
            value = d.sensordata[k]
            if value > cutoff:
                d.sensordata[k] = cutoff
            elif kind == DATATYPE_REAL and value < -cutoff:
                d.sensordata[k] = -cutoff


@kernel
def limit_row(d: Data, kind: int, i: int) -> int:
    """Return the constraint row of the active limit of joint or tendon `i`, or -1; `kind` is the type of the row."""
    first = d.ne + d.nf
    for row in range(first, first + d.nl):
        if d.efc_type[row] == kind and d.efc_id[row] == i:
            return row
    return -1


@kernel
def put_of_limit(m: Model, d: Data, i: int, kind: int, values: ConstArray1) -> None:
    """Store the value of limit sensor `i`: its limit's element of `values` (nefc,), or 0 if the limit is inactive."""
    row = limit_row(d, kind, m.sensor_objid[i])
    put1(m, d, i, values[row] if row >= 0 else 0.0)


@kernel
def object_quaternion(m: Model, d: Data, kind: int, i: int) -> Vec4:
    """Orientation of an object in the world. For a camera, the tracking mode is ignored."""
    body = get4(d.xquat, object_body(m, kind, i))
    if kind == OBJ_XBODY:
        return body
    if kind == OBJ_BODY:
        return mul_quat(body, get4(m.body_iquat, i))
    if kind == OBJ_GEOM:
        return mul_quat(body, get4(m.geom_quat, i))
    if kind == OBJ_SITE:
        return mul_quat(body, get4(m.site_quat, i))
    return mul_quat(body, get4(m.cam_quat, i))
