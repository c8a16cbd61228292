"""Contact sensors: contacts that match conditions, reduced to a fixed number (spec 4.0: XML reference, contact sensor).

A contact matches if its first and second side satisfy the sensor's two conditions (`sensor_objtype`, `sensor_reftype`),
in this order or in the other. In the other order it is turned: its normal points from the first condition's side to the
other. `sensor_intprm` has the bits of the data, the reduction and the number of contacts.
"""

from __future__ import annotations

from math import inf

from cardan.collision.inside import inside_site
from cardan.dynamics.com import velocity_at
from cardan.dynamics.external import contact_force, side_body
from cardan.enums.codes import OBJ_BODY, OBJ_GEOM, OBJ_SITE, OBJ_UNKNOWN, OBJ_XBODY
from cardan.jit import kernel
from cardan.maths.types import Vec3, Vec6
from cardan.maths.vector import (
    add3,
    add_scaled3,
    angular,
    cross,
    get3,
    get9,
    linear,
    mul_mat_t_vec3,
    mul_mat_vec3,
    norm3,
    scale3,
    sub3,
)
from cardan.model.kernel_views import Data, Model
from cardan.sensor.output import in_subtree

FOUND, FORCE, TORQUE, DIST, POS, NORMAL, TANGENT, LINVEL, ANGVEL = (1 << bit for bit in range(9))
"""Bits of the data, in the order of the values."""
NONE, MINDIST, MAXFORCE, NETFORCE = range(4)
"""Reductions."""
WIDTHS = (1, 3, 3, 1, 3, 3, 3, 3, 3)
"""Number of values of each bit of the data."""


@kernel
def _force(wrench: Vec6) -> Vec3:
    return (wrench[0], wrench[1], wrench[2])


@kernel
def _torque(wrench: Vec6) -> Vec3:
    return (wrench[3], wrench[4], wrench[5])


@kernel
def _satisfies(m: Model, d: Data, con: int, side: int, kind: int, number: int) -> bool:
    """Return whether a side of a contact is the geom, of the body or in the subtree that a condition names."""
    if kind in (OBJ_UNKNOWN, OBJ_SITE):
        return True
    if kind == OBJ_GEOM:
        return d.contact.geom[con, side] == number
    body = side_body(m, d, con, side)
    if kind == OBJ_BODY:
        return body == number
    return kind == OBJ_XBODY and body >= 0 and in_subtree(m, body, number)


@kernel
def _direction(m: Model, d: Data, i: int, con: int) -> int:
    """Return 1 if a contact matches sensor `i` as it is, -1 if it matches when turned, 0 if it does not match."""
    kind1, id1, kind2, id2 = m.sensor_objtype[i], m.sensor_objid[i], m.sensor_reftype[i], m.sensor_refid[i]
    if kind1 == OBJ_SITE and not inside_site(m, d, id1, get3(d.contact.pos, con)):
        return 0
    if _satisfies(m, d, con, 0, kind1, id1) and _satisfies(m, d, con, 1, kind2, id2):
        return 1
    if _satisfies(m, d, con, 1, kind1, id1) and _satisfies(m, d, con, 0, kind2, id2):
        return -1
    return 0


@kernel
def _rank(m: Model, d: Data, con: int, reduction: int) -> float:
    """Return the number by which contacts are sorted, ascending."""
    if reduction == MINDIST:
        return d.contact.dist[con]
    if reduction == MAXFORCE:
        return -norm3(_force(contact_force(m, d, con)))
    return float(con)


@kernel
def _next(m: Model, d: Data, i: int, reduction: int, after: float, last: int) -> int:
    """Return the matching contact that follows contact `last`, whose rank is `after`; -1 if there is none."""
    found, best = -1, inf
    for con in range(d.ncon):
        if _direction(m, d, i, con) != 0:
            rank = _rank(m, d, con, reduction)
            if (rank > after or (rank == after and con > last)) and rank < best:
                found, best = con, rank
    return found


@kernel
def _turned(v: Vec3, direction: int) -> Vec3:
    """Return a relative vector in the frame of a contact, or in that of the turned contact, where it is opposite.

    Normal and first tangent of the turned contact are opposite, so that only the third component changes.
    """
    return (v[0], v[1], v[2] * direction)


@kernel
def _relative_velocity(m: Model, d: Data, con: int) -> Vec6:
    """Velocity of a contact's second body relative to the first, at the contact, in its frame: angular, then linear.

    Sides that are flexes count as at rest.
    """
    point, frame = get3(d.contact.pos, con), get9(d.contact.frame, con)
    turning, moving = (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
    for side in range(2):
        body = side_body(m, d, con, side)
        if body > 0:
            velocity = velocity_at(m, d, body, point)
            sign = 1.0 if side == 1 else -1.0
            turning = add_scaled3(turning, angular(velocity), sign)
            moving = add_scaled3(moving, linear(velocity), sign)
    turning, moving = mul_mat_vec3(frame, turning), mul_mat_vec3(frame, moving)
    return (turning[0], turning[1], turning[2], moving[0], moving[1], moving[2])


@kernel
def _put(d: Data, at: int, v: Vec3) -> int:
    """Store three values from `at` on; return the index after them."""
    for k in range(3):
        d.sensordata[at + k] = v[k]
    return at + 3


@kernel
def _put_slot(m: Model, d: Data, bits: int, con: int, direction: int, number: int, at: int) -> None:
    """Store the data of a contact from `at` on; `number` contacts match."""
    if bits & FOUND:
        d.sensordata[at] = number
        at += 1
    if bits & (FORCE | TORQUE):
        wrench = contact_force(m, d, con)
        if bits & FORCE:
            at = _put(d, at, _turned(_force(wrench), direction))
        if bits & TORQUE:
            at = _put(d, at, _turned(_torque(wrench), direction))
    if bits & DIST:
        d.sensordata[at] = d.contact.dist[con]
        at += 1
    if bits & POS:
        at = _put(d, at, get3(d.contact.pos, con))
    frame = get9(d.contact.frame, con)
    if bits & NORMAL:
        at = _put(d, at, scale3((frame[0], frame[1], frame[2]), float(direction)))
    if bits & TANGENT:
        at = _put(d, at, scale3((frame[3], frame[4], frame[5]), float(direction)))
    if bits & (LINVEL | ANGVEL):
        velocity = _relative_velocity(m, d, con)
        if bits & LINVEL:
            at = _put(d, at, _turned(linear(velocity), direction))
        if bits & ANGVEL:
            at = _put(d, at, _turned(angular(velocity), direction))


@kernel
def _width(bits: int) -> int:
    """Return the number of values of a contact."""
    width = 0
    for bit in (FOUND, DIST):
        width += 1 if bits & bit else 0
    for bit in (FORCE, TORQUE, POS, NORMAL, TANGENT, LINVEL, ANGVEL):
        width += 3 if bits & bit else 0
    return width


@kernel
def _centroid(m: Model, d: Data, i: int) -> Vec3:
    """Return the mean position of the matching contacts, weighted by the norms of their forces; 0 without forces."""
    total, centre = 0.0, (0.0, 0.0, 0.0)
    for con in range(d.ncon):
        if _direction(m, d, i, con) != 0:
            weight = norm3(_force(contact_force(m, d, con)))
            total += weight
            centre = add_scaled3(centre, get3(d.contact.pos, con), weight)
    return scale3(centre, 1.0 / total) if total > 0.0 else centre


@kernel
def _put_net(m: Model, d: Data, i: int, number: int) -> None:
    """Store one contact in the world frame with the wrench of all matching contacts."""
    bits, at = m.sensor_intprm[i, 0], m.sensor_adr[i]
    centre = _centroid(m, d, i)
    force, torque = (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
    for con in range(d.ncon):
        direction = _direction(m, d, i, con)
        if direction != 0:
            frame, wrench = get9(d.contact.frame, con), contact_force(m, d, con)
            push = scale3(mul_mat_t_vec3(frame, _force(wrench)), float(direction))
            twist = scale3(mul_mat_t_vec3(frame, _torque(wrench)), float(direction))
            arm = sub3(get3(d.contact.pos, con), centre)
            force = add3(force, push)
            torque = add3(torque, add3(twist, cross(arm, push)))
    if bits & FOUND:
        d.sensordata[at] = number
        at += 1
    if bits & FORCE:
        at = _put(d, at, force)
    if bits & TORQUE:
        at = _put(d, at, torque)
    if bits & DIST:
        at += 1
    if bits & POS:
        at = _put(d, at, centre)
    if bits & NORMAL:
        at = _put(d, at, (1.0, 0.0, 0.0))
    if bits & TANGENT:
        at = _put(d, at, (0.0, 1.0, 0.0))


@kernel
def contact(m: Model, d: Data, i: int) -> None:
    """Data of contacts that match the conditions of the sensor, in slots; slots without a contact are 0."""
    bits, reduction, slots = m.sensor_intprm[i, 0], m.sensor_intprm[i, 1], m.sensor_intprm[i, 2]
    at, dim, width = m.sensor_adr[i], m.sensor_dim[i], _width(bits)
    for k in range(dim):
        d.sensordata[at + k] = 0.0
    number = 0
    for con in range(d.ncon):
        if _direction(m, d, i, con) != 0:
            number += 1
    # parameters that were edited do not lead out of the sensor's values
    if number == 0 or slots < 1 or width > dim // slots:
        return
    if reduction == NETFORCE:
        _put_net(m, d, i, number)
        return
    after, last = -inf, -1
    for slot in range(min(slots, number)):
        con = _next(m, d, i, reduction, after, last)
        if con < 0:
            return
        _put_slot(m, d, bits, con, _direction(m, d, i, con), number, at + slot * (dim // slots))
        after, last = _rank(m, d, con, reduction), con
