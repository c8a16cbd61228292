"""Orientation servos: actuators that turn a ball joint or a site to a commanded orientation (spec 4.0: orientation).

Let R be the orientation of the joint, or of the site relative to its reference site. The three lengths are the rotation
vector log R, and the velocities are the angular velocity w in the frame of the joint or site. The three forces are a
torque in this frame,

    kp log(R^-1 T) - kv w + bias,

where T is the commanded orientation, kp, kv and bias are ``gainprm[0]``, ``-biasprm[2]`` and ``biasprm[0]``. The
controls are a rotation vector or a quaternion; with activation dynamics, activations are a rotation vector. The limit
``forcerange`` applies to the norm of the torque.

Sources: manual of MuJoCo 4.0.0; F. Bullo, R. M. Murray, Proportional derivative (PD) control on the Euclidean group,
European Control Conference (1995); results of MuJoCo.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from cardan.dynamics.actuation import SERVOS_MADE, advance_activation, limit_controls
from cardan.dynamics.jacobian import dof_rate
from cardan.dynamics.kinematics import get_quat
from cardan.dynamics.transmission import site_quat
from cardan.enums.codes import CHART_QUAT, GAIN_SO3, TRN_SO3
from cardan.jit import OK, kernel, stage
from cardan.maths.quaternion import integrate_quat, mul_quat, neg_quat, normalize4, quat2vel, sub_quat
from cardan.maths.types import Quat, Vec3
from cardan.maths.vector import MINVAL, add3, get9, norm3, scale3
from cardan.model import internals
from cardan.model.kernel_views import Data, Model

if TYPE_CHECKING:
    from cardan.model.mjmodel import MjModel

COMPONENTS = 3
"""Number of force outputs."""


@kernel
def _has_room(m: Model, i: int) -> bool:
    """Return whether an actuator has the outputs and controls of a servo; edited types may lack them."""
    controls = COMPONENTS + (1 if m.actuator_ctrlspec[i] == CHART_QUAT else 0)
    return m.actuator_outnum[i] == COMPONENTS and m.actuator_ctrlnum[i] >= controls


@kernel
def _orientation(m: Model, d: Data, i: int) -> Quat:
    """Orientation that servo `i` controls: that of a ball joint, or of a site relative to its reference site."""
    target, other = m.actuator_trnid[i, 0], m.actuator_trnid[i, 1]
    if other < 0:
        return normalize4(get_quat(d.qpos, m.jnt_qposadr[target]))
    return mul_quat(neg_quat(site_quat(m, d, other)), site_quat(m, d, target))


@kernel
def _site_moments(m: Model, d: Data, out: int, site: int, refsite: int) -> None:
    """Set the moments of a servo on a site: angular velocities relative to a reference site, in the site's frame."""
    frame = get9(d.site_xmat, site)
    dof1, dof2 = m.aux.body_lastdof[m.site_bodyid[site]], m.aux.body_lastdof[m.site_bodyid[refsite]]
    for k in range(COMPONENTS):
        for at in range(m.aux.moment_rowadr[out + k], m.aux.moment_rowadr[out + k + 1]):
            d.actuator_moment[out + k, m.aux.moment_colind[at]] = 0.0
    while dof1 != dof2:
        dof, sign = (dof1, 1.0) if dof1 > dof2 else (dof2, -1.0)
        for k in range(COMPONENTS):
            axis = (sign * frame[k], sign * frame[3 + k], sign * frame[6 + k])
            d.actuator_moment[out + k, dof] = dof_rate(d, dof, (0.0, 0.0, 0.0), axis)
        if dof1 > dof2:
            dof1 = m.dof_parentid[dof1]
        else:
            dof2 = m.dof_parentid[dof2]


@stage
def so3_transmission(m: Model, d: Data) -> int:
    """Compute lengths and moment arms of orientation servos.

    Reads qpos, site_xmat, xquat, cdof; writes actuator_length (nout,), actuator_moment (nout, nv).
    """
    for i in range(m.nactuator):
        if m.actuator_trntype[i] != TRN_SO3 or m.actuator_outnum[i] != COMPONENTS:
            continue
        out, target = m.actuator_outadr[i], m.actuator_trnid[i, 0]
        length = quat2vel(_orientation(m, d, i), 1.0)
        for k in range(COMPONENTS):
            d.actuator_length[out + k] = length[k]
        if m.actuator_trnid[i, 1] >= 0:
            _site_moments(m, d, out, target, m.actuator_trnid[i, 1])
        else:
            for k in range(COMPONENTS):
                d.actuator_moment[out + k, m.jnt_dofadr[target] + k] = 1.0
    return OK


@kernel
def _command(m: Model, d: Data, i: int) -> Quat:
    """Orientation that servo `i` is commanded to take; a quaternion of zeros means no rotation."""
    control, act = m.actuator_ctrladr[i], m.actuator_actadr[i]
    if m.actuator_actnum[i] >= COMPONENTS:
        early = m.actuator_actearly[i]
        return integrate_quat(
            (1.0, 0.0, 0.0, 0.0),
            (
                advance_activation(m, i, d.act[act], d.work.ctrl[control]) if early else d.act[act],
                advance_activation(m, i, d.act[act + 1], d.work.ctrl[control + 1]) if early else d.act[act + 1],
                advance_activation(m, i, d.act[act + 2], d.work.ctrl[control + 2]) if early else d.act[act + 2],
            ),
            1.0,
        )
    x, y, z = d.work.ctrl[control], d.work.ctrl[control + 1], d.work.ctrl[control + 2]
    if m.actuator_ctrlspec[i] == CHART_QUAT:
        return normalize4((x, y, z, d.work.ctrl[control + 3]))
    return integrate_quat((1.0, 0.0, 0.0, 0.0), (x, y, z), 1.0)


@kernel
def _torque(m: Model, d: Data, i: int) -> Vec3:
    """Torque of servo `i`, before its limit."""
    out, bias = m.actuator_outadr[i], m.actuator_biasprm
    error = scale3(sub_quat(_command(m, d, i), _orientation(m, d, i)), m.actuator_gainprm[i, 0])
    damping, constant = bias[i, 2], bias[i, 0]
    resistance = (
        constant + damping * d.actuator_velocity[out],
        constant + damping * d.actuator_velocity[out + 1],
        constant + damping * d.actuator_velocity[out + 2],
    )
    return add3(error, resistance)


@stage
def orientation_servos(m: Model, d: Data) -> int:
    """Compute the torques of orientation servos, before `fwd_actuation`.

    Reads ctrl, act, qpos or xquat, actuator_velocity; writes actuator_force (nout,), and the derivatives of each force
    by its velocity and its length, work.actuator_gain_slope and work.actuator_length_slope (nactuator,), which are 0 at
    the limit. Sets SERVOS_MADE in work.actuation_made. Servos without outputs or controls of their own have no force.
    """
    d.work.actuation_made |= SERVOS_MADE
    limit_controls(m, d)
    for i in range(m.nactuator):
        if m.actuator_gaintype[i] != GAIN_SO3:
            continue
        if not _has_room(m, i):
            for out in range(m.actuator_outadr[i], m.actuator_outadr[i] + m.actuator_outnum[i]):
                d.actuator_force[out] = 0.0
            d.work.actuator_gain_slope[i] = 0.0
            d.work.actuator_length_slope[i] = 0.0
            continue
        out, torque = m.actuator_outadr[i], _torque(m, d, i)
        d.work.actuator_gain_slope[i] = m.actuator_biasprm[i, 2]
        d.work.actuator_length_slope[i] = -m.actuator_gainprm[i, 0]
        size, most = norm3(torque), m.actuator_forcerange[i, 1]
        if m.actuator_forcelimited[i] and size > most:
            torque = scale3(torque, most / max(MINVAL, size))
            d.work.actuator_gain_slope[i] = 0.0
            d.work.actuator_length_slope[i] = 0.0
        for k in range(COMPONENTS):
            d.actuator_force[out + k] = torque[k]
    return OK


def has_orientation_servos(m: MjModel) -> bool:
    """Return whether any actuator is an orientation servo."""
    return bool((internals.array(m, "actuator_gaintype") == GAIN_SO3).any())


def has_so3_transmissions(m: MjModel) -> bool:
    """Return whether any actuator acts on an orientation."""
    return bool((m.actuator_trntype == TRN_SO3).any())
