"""Transmissions: relation of an actuator's scalar length and force to the joints (spec: computation, actuation model).

Actuator i acts on the dofs ``m.aux.moment_colind[k]`` for k from ``m.aux.moment_rowadr[i]`` to
``m.aux.moment_rowadr[i + 1]``. All other entries of `actuator_moment` are zero after a reset and are never written.
"""

from __future__ import annotations

from cardan.dynamics.kinematics import get_quat
from cardan.dynamics.tendon import tendon_moment
from cardan.enums.codes import JNT_BALL, JNT_FREE, TRN_JOINT, TRN_JOINTINPARENT, TRN_TENDON
from cardan.jit import OK, kernel, stage
from cardan.maths.quaternion import neg_quat, normalize4, quat2vel, rot_vec_quat
from cardan.maths.types import Quat, Vec3
from cardan.maths.vector import dot3
from cardan.model.kernel_views import Data, Model


@kernel
def _gear(m: Model, actuator: int, first: int) -> Vec3:
    gear = m.actuator_gear
    return (gear[actuator, first], gear[actuator, first + 1], gear[actuator, first + 2])


@kernel
def _set_moment(d: Data, actuator: int, dof: int, axis: Vec3) -> None:
    d.actuator_moment[actuator, dof] = axis[0]
    d.actuator_moment[actuator, dof + 1] = axis[1]
    d.actuator_moment[actuator, dof + 2] = axis[2]


@kernel
def _turned_gear(m: Model, actuator: int, first: int, quat: Quat) -> Vec3:
    """Rotational gear in the child's frame; the gear of a transmission in the parent is given in the parent's frame."""
    axis = _gear(m, actuator, first)
    if m.actuator_trntype[actuator] == TRN_JOINTINPARENT:
        axis = rot_vec_quat(axis, neg_quat(quat))
    return axis


@kernel
def _ball_transmission(m: Model, d: Data, actuator: int, joint: int) -> None:
    """Set the length, along the gear axis of the joint's rotation vector, and the moments of a ball joint."""
    quat = normalize4(get_quat(d.qpos, m.jnt_qposadr[joint]))
    axis = _turned_gear(m, actuator, 0, quat)
    d.actuator_length[actuator] = dot3(axis, quat2vel(quat, 1.0))
    _set_moment(d, actuator, m.jnt_dofadr[joint], axis)


@kernel
def _free_transmission(m: Model, d: Data, actuator: int, joint: int) -> None:
    """Set the moments of a free joint: force in the world frame, torque in the body's or parent's. The length is 0."""
    quat = normalize4(get_quat(d.qpos, m.jnt_qposadr[joint] + 3))
    dof = m.jnt_dofadr[joint]
    d.actuator_length[actuator] = 0.0
    _set_moment(d, actuator, dof, _gear(m, actuator, 0))
    _set_moment(d, actuator, dof + 3, _turned_gear(m, actuator, 3, quat))


@kernel
def _joint_transmission(m: Model, d: Data, actuator: int, joint: int) -> None:
    kind = m.jnt_type[joint]
    if kind == JNT_FREE:
        _free_transmission(m, d, actuator, joint)
    elif kind == JNT_BALL:
        _ball_transmission(m, d, actuator, joint)
    else:
        gear = m.actuator_gear[actuator, 0]
        d.actuator_length[actuator] = d.qpos[m.jnt_qposadr[joint]] * gear
        d.actuator_moment[actuator, m.jnt_dofadr[joint]] = gear


@kernel
def _tendon_transmission(m: Model, d: Data, actuator: int, tendon: int) -> None:
    gear = m.actuator_gear[actuator, 0]
    d.actuator_length[actuator] = d.ten_length[tendon] * gear
    for k in range(m.aux.ten_rowadr[tendon], m.aux.ten_rowadr[tendon + 1]):
        d.actuator_moment[actuator, m.aux.ten_colind[k]] = gear * tendon_moment(m, d, tendon, k)


@stage
def transmission(m: Model, d: Data) -> int:
    """Compute lengths and moment arms of actuators.

    Reads qpos, ten_length, ten_J; writes actuator_length (nu,), actuator_moment (nu, nv).
    """
    for actuator in range(m.nu):
        kind = m.actuator_trntype[actuator]
        target = m.actuator_trnid[actuator, 0]
        if kind in (TRN_JOINT, TRN_JOINTINPARENT):
            _joint_transmission(m, d, actuator, target)
        elif kind == TRN_TENDON:
            _tendon_transmission(m, d, actuator, target)
    return OK


@stage
def actuator_velocity(m: Model, d: Data) -> int:
    """Compute rates of change of actuator lengths: actuator_velocity (nu,) = actuator_moment qvel."""
    for actuator in range(m.nu):
        velocity = 0.0
        for k in range(m.aux.moment_rowadr[actuator], m.aux.moment_rowadr[actuator + 1]):
            dof = m.aux.moment_colind[k]
            velocity += d.actuator_moment[actuator, dof] * d.qvel[dof]
        d.actuator_velocity[actuator] = velocity
    return OK
