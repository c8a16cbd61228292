"""Transmissions: relation of an actuator's scalar length and force to the joints (spec: computation, actuation model).

Output i of the actuators acts on the dofs ``m.aux.moment_colind[k]`` for k from ``m.aux.moment_rowadr[i]`` to
``m.aux.moment_rowadr[i + 1]`` (exclusive). All other entries of `actuator_moment` are zero after a reset, and no stage
writes them.

A separate stage handles spatial transmissions: sites, slider-cranks, and the contacts of a body.
"""

from __future__ import annotations

from math import sqrt
from typing import TYPE_CHECKING

from cardan.dynamics.external import has_flex, side_body
from cardan.dynamics.jacobian import arm_of, dof_rate
from cardan.dynamics.kinematics import get_quat
from cardan.dynamics.tendon import tendon_moment
from cardan.enums.codes import (
    JNT_BALL,
    JNT_FREE,
    TRN_BODY,
    TRN_JOINT,
    TRN_JOINTINPARENT,
    TRN_SITE,
    TRN_SLIDERCRANK,
    TRN_TENDON,
)
from cardan.jit import OK, kernel, stage
from cardan.maths.quaternion import mul_quat, neg_quat, normalize4, quat2vel, rot_vec_quat
from cardan.maths.types import Quat, Vec3
from cardan.maths.vector import (
    MINVAL,
    add3,
    add_scaled3,
    cross,
    dot3,
    get3,
    get4,
    get9,
    mul_mat_t_vec3,
    mul_mat_vec3,
    scale3,
    sub3,
)
from cardan.model.kernel_views import Data, Model

if TYPE_CHECKING:
    from cardan.model.mjmodel import MjModel


@kernel
def _set_moment(d: Data, out: int, dof: int, axis: Vec3) -> None:
    d.actuator_moment[out, dof] = axis[0]
    d.actuator_moment[out, dof + 1] = axis[1]
    d.actuator_moment[out, dof + 2] = axis[2]


@kernel
def _turned_gear(m: Model, actuator: int, first: int, quat: Quat) -> Vec3:
    """Rotational gear in the child's frame, transformed from the parent's frame for ``jointinparent`` transmissions."""
    gear, out = m.actuator_gear, m.actuator_outadr[actuator]
    axis = (gear[out, first], gear[out, first + 1], gear[out, first + 2])
    if m.actuator_trntype[actuator] == TRN_JOINTINPARENT:
        axis = rot_vec_quat(axis, neg_quat(quat))
    return axis


@stage
def transmission(m: Model, d: Data) -> int:
    """Compute lengths and moment arms of actuators.

    Reads qpos, ten_length, ten_J; writes actuator_length (nout,), actuator_moment (nout, nv).
    """
    for actuator in range(m.nactuator):
        out = m.actuator_outadr[actuator]
        kind = m.actuator_trntype[actuator]
        target = m.actuator_trnid[actuator, 0]
        if kind in (TRN_JOINT, TRN_JOINTINPARENT):
            joint_type = m.jnt_type[target]
            if joint_type == JNT_FREE:
                quat = normalize4(get_quat(d.qpos, m.jnt_qposadr[target] + 3))
                dof = m.jnt_dofadr[target]
                d.actuator_length[out] = 0.0
                _set_moment(d, out, dof, get3(m.actuator_gear, out))
                _set_moment(d, out, dof + 3, _turned_gear(m, actuator, 3, quat))
            elif joint_type == JNT_BALL:
                quat = normalize4(get_quat(d.qpos, m.jnt_qposadr[target]))
                axis = _turned_gear(m, actuator, 0, quat)
                d.actuator_length[out] = dot3(axis, quat2vel(quat, 1.0))
                _set_moment(d, out, m.jnt_dofadr[target], axis)
            else:
                gear = m.actuator_gear[out, 0]
                d.actuator_length[out] = d.qpos[m.jnt_qposadr[target]] * gear
                d.actuator_moment[out, m.jnt_dofadr[target]] = gear
        elif kind == TRN_TENDON:
            gear = m.actuator_gear[out, 0]
            d.actuator_length[out] = d.ten_length[target] * gear
            for k in range(m.aux.ten_rowadr[target], m.aux.ten_rowadr[target + 1]):
                d.actuator_moment[out, m.aux.ten_colind[k]] = gear * tendon_moment(m, d, target, k)
    return OK


@stage
def actuator_velocity(m: Model, d: Data) -> int:
    """Compute rates of change of actuator lengths: actuator_velocity (nout,) = actuator_moment qvel."""
    for out in range(m.nout):
        velocity = 0.0
        for k in range(m.aux.moment_rowadr[out], m.aux.moment_rowadr[out + 1]):
            dof = m.aux.moment_colind[k]
            velocity += d.actuator_moment[out, dof] * d.qvel[dof]
        d.actuator_velocity[out] = velocity
    return OK


@kernel
def _add_difference(
    m: Model, d: Data, out: int, body1: int, body2: int, force: Vec3, torque1: Vec3, torque2: Vec3
) -> None:
    """Add the moments of `force` and `torque1` on `body1`, and of `-force` and `-torque2` on `body2`.

    Torques are about the centre of mass of each body's tree. Dofs that move both bodies are left out.
    """
    dof1, dof2 = m.aux.body_lastdof[body1], m.aux.body_lastdof[body2]
    while dof1 != dof2:
        if dof1 > dof2:
            d.actuator_moment[out, dof1] += dof_rate(d, dof1, force, torque1)
            dof1 = m.dof_parentid[dof1]
        else:
            d.actuator_moment[out, dof2] -= dof_rate(d, dof2, force, torque2)
            dof2 = m.dof_parentid[dof2]


@kernel
def _site_transmission(m: Model, d: Data, out: int, site: int, refsite: int) -> None:
    """Set the length and moments of an actuator that applies a wrench in the frame of its site or reference site.

    Without a reference site, the length is 0. Otherwise, it is the dot product of the gear and the site's pose in the
    reference frame (position and rotation vector).
    """
    gear = m.actuator_gear
    linear = (gear[out, 0], gear[out, 1], gear[out, 2])
    angular = (gear[out, 3], gear[out, 4], gear[out, 5])
    frame = get9(d.site_xmat, refsite if refsite >= 0 else site)
    force, torque = mul_mat_vec3(frame, linear), mul_mat_vec3(frame, angular)
    place, body = get3(d.site_xpos, site), m.site_bodyid[site]
    torque1 = add3(torque, cross(arm_of(m, d, place, body), force))
    d.actuator_length[out] = 0.0
    refbody = 0
    torque2 = torque1
    if refsite >= 0:
        refbody = m.site_bodyid[refsite]
        refplace = get3(d.site_xpos, refsite)
        torque2 = add3(torque, cross(arm_of(m, d, refplace, refbody), force))
        turn = mul_quat(neg_quat(site_quat(m, d, refsite)), site_quat(m, d, site))
        offset = mul_mat_t_vec3(frame, sub3(place, refplace))
        d.actuator_length[out] = dot3(linear, offset) + dot3(angular, quat2vel(turn, 1.0))
    _add_difference(m, d, out, body, refbody, force, torque1, torque2)


@kernel
def site_quat(m: Model, d: Data, site: int) -> Quat:
    """Orientation of a site in the world frame."""
    return mul_quat(get4(d.xquat, m.site_bodyid[site]), get4(m.site_quat, site))


@kernel
def _slider_crank(m: Model, d: Data, actuator: int, crank: int, slider: int) -> None:
    """Set the length and moments of a slider-crank: a slider on the z axis of its site, joined to the crank by a rod.

    Let v be the vector from slider to crank, a the axis, p = a'v and s = sqrt(p^2 + rod^2 - v'v). The length is
    gear (p - s). If the rod is too short, s is 0.
    """
    frame = get9(d.site_xmat, slider)
    axis = (frame[2], frame[5], frame[8])
    end, start = get3(d.site_xpos, crank), get3(d.site_xpos, slider)
    out = m.actuator_outadr[actuator]
    rod, gear = m.actuator_cranklength[actuator], m.actuator_gear[out, 0]
    v = sub3(end, start)
    p = dot3(axis, v)
    square = p * p + rod * rod - dot3(v, v)
    by_axis, force, length = 1.0, axis, p
    if square > 0.0:
        s = sqrt(square)
        length = p - s
        by_axis = 1.0 - p / max(MINVAL, s)
        force = add_scaled3(scale3(axis, by_axis), v, 1.0 / max(MINVAL, s))
    d.actuator_length[out] = gear * length
    # only the body of the slider turns the axis
    force, turning = scale3(force, gear), scale3(cross(axis, v), gear * by_axis)
    body1, body2 = m.site_bodyid[crank], m.site_bodyid[slider]
    torque1 = cross(arm_of(m, d, end, body1), force)
    torque2 = sub3(cross(arm_of(m, d, start, body2), force), turning)
    _add_difference(m, d, out, body1, body2, force, torque1, torque2)


@kernel
def _touches(m: Model, d: Data, contact: int, body: int) -> bool:
    """Return whether a contact of two geoms involves a geom of `body`, and is either active or in the gap."""
    if d.contact.exclude[contact] > 1 or has_flex(d, contact):
        return False
    return side_body(m, d, contact, 0) == body or side_body(m, d, contact, 1) == body


@kernel
def _adhesion(m: Model, d: Data, out: int, body: int) -> None:
    """Set the length to 0, and the moments to -gear times the mean Jacobian of the distances of a body's contacts."""
    d.actuator_length[out] = 0.0
    number = 0
    for contact in range(d.ncon):
        if _touches(m, d, contact, body):
            number += 1
    for contact in range(d.ncon):
        if _touches(m, d, contact, body):
            frame, pos = d.contact.frame, get3(d.contact.pos, contact)
            normal = (frame[contact, 0], frame[contact, 1], frame[contact, 2])
            force = scale3(normal, -m.actuator_gear[out, 0] / number)
            body1, body2 = side_body(m, d, contact, 0), side_body(m, d, contact, 1)
            torque1 = cross(arm_of(m, d, pos, body1), force)
            torque2 = cross(arm_of(m, d, pos, body2), force)
            _add_difference(m, d, out, body2, body1, force, torque2, torque1)


@stage
def spatial_transmission(m: Model, d: Data) -> int:
    """Compute lengths and moment arms of the actuators that act on sites, slider-cranks and bodies.

    Reads site_xpos, site_xmat, xquat, cdof, subtree_com, contact; writes actuator_length (nout,), actuator_moment
    (nout, nv).
    """
    for actuator in range(m.nactuator):
        out = m.actuator_outadr[actuator]
        kind = m.actuator_trntype[actuator]
        target, other = m.actuator_trnid[actuator, 0], m.actuator_trnid[actuator, 1]
        if kind in (TRN_SITE, TRN_SLIDERCRANK, TRN_BODY):
            for k in range(m.aux.moment_rowadr[out], m.aux.moment_rowadr[out + 1]):
                d.actuator_moment[out, m.aux.moment_colind[k]] = 0.0
        if kind == TRN_SITE:
            _site_transmission(m, d, out, target, other)
        elif kind == TRN_SLIDERCRANK:
            _slider_crank(m, d, actuator, target, other)
        elif kind == TRN_BODY:
            _adhesion(m, d, out, target)
    return OK


def has_spatial_transmissions(m: MjModel) -> bool:
    """Return whether any actuator acts on sites, a slider-crank or a body."""
    return not {TRN_SITE, TRN_SLIDERCRANK, TRN_BODY}.isdisjoint(m.actuator_trntype.tolist())
