"""Slopes of smooth forces with respect to position and velocity, as the integrator discrete needs them.

Each function returns the rate at which a force decreases with position or velocity, at least 0: only stabilising terms
enter the effective metric (`cardan.dynamics.metric`).

Source: manual of MuJoCo 4.0, chapter computation, integrators (discrete).
"""

from __future__ import annotations

from cardan.dynamics.dcmotor import cogging_slope
from cardan.dynamics.derivatives import current_input, is_saturated, velocity_slope
from cardan.dynamics.history import control_of
from cardan.dynamics.muscle import muscle_bias_stiffness, muscle_gain_stiffness
from cardan.dynamics.passive import rotation_from_rest, tendon_extension, translation_from_rest
from cardan.dynamics.powers import has_powers, length_of, slope
from cardan.dynamics.reflected import added_slope
from cardan.enums.codes import (
    BIAS_AFFINE,
    BIAS_MUSCLE,
    GAIN_AFFINE,
    GAIN_DCMOTOR,
    GAIN_MUSCLE,
    GAIN_SO3,
    JNT_BALL,
    JNT_FREE,
)
from cardan.jit import kernel
from cardan.maths.types import Vec2
from cardan.maths.vector import get9
from cardan.model.kernel_views import Data, Model


@kernel
def joint_stiffness(m: Model, d: Data, joint: int) -> Vec2:
    """Stiffness of a joint's spring at its current displacement, at least 0.

    Returns:
        The stiffness of the joint's dofs; for free joints that of translations (N/m), then that of rotations (N m/rad).
    """
    linear, poly = m.jnt_stiffness[joint], m.jnt_stiffnesspoly
    if not has_powers(poly, joint):
        return max(linear, 0.0), max(linear, 0.0)
    adr = m.jnt_qposadr[joint]
    kind = m.jnt_type[joint]
    if kind == JNT_FREE:
        shift = length_of(translation_from_rest(m, d, adr))
        turn = length_of(rotation_from_rest(m, d, adr + 3))
        return max(slope(linear, poly, joint, shift), 0.0), max(slope(linear, poly, joint, turn), 0.0)
    if kind == JNT_BALL:
        found = slope(linear, poly, joint, length_of(rotation_from_rest(m, d, adr)))
    else:
        found = slope(linear, poly, joint, d.qpos[adr] - m.qpos_spring[adr])
    return max(found, 0.0), max(found, 0.0)


@kernel
def tendon_stiffness(m: Model, d: Data, tendon: int) -> float:
    """Stiffness of a tendon's spring (N/m) at its current length, at least 0; 0 in the range where the spring rests."""
    linear, poly = m.tendon_stiffness[tendon], m.tendon_stiffnesspoly
    if linear == 0.0 and not has_powers(poly, tendon):
        return 0.0
    extension = tendon_extension(m, d, tendon)
    if extension == 0.0:
        return 0.0
    return max(slope(linear, poly, tendon, extension), 0.0)


@kernel
def tendon_damping(m: Model, d: Data, tendon: int) -> float:
    """Rate at which a tendon's damping force grows with its velocity (N s/m), at least 0."""
    speed = abs(d.ten_velocity[tendon])
    own = slope(m.tendon_damping[tendon], m.tendon_dampingpoly, tendon, speed)
    return max(own + added_slope(m, m.njnt + tendon, speed), 0.0)


@kernel
def _length_slope(m: Model, d: Data, actuator: int, value: float) -> float:
    """Derivative of an actuator's force with respect to its length; ``value`` is the input of the gain."""
    found = 0.0
    if m.actuator_biastype[actuator] == BIAS_AFFINE:
        found += m.actuator_biasprm[actuator, 1]
    kind = m.actuator_gaintype[actuator]
    if kind == GAIN_SO3:
        found += d.work.actuator_length_slope[actuator]
    elif kind == GAIN_DCMOTOR:
        found += d.work.actuator_length_slope[actuator] + cogging_slope(m, d, actuator)
    if m.actuator_gaintype[actuator] == GAIN_AFFINE:
        found += m.actuator_gainprm[actuator, 1] * value
    out = m.actuator_outadr[actuator]
    length, velocity, acc0 = d.actuator_length[out], d.actuator_velocity[out], m.actuator_acc0[out]
    lengthrange = (m.actuator_lengthrange[out, 0], m.actuator_lengthrange[out, 1])
    if m.actuator_gaintype[actuator] == GAIN_MUSCLE:
        prm = get9(m.actuator_gainprm, actuator)
        found -= muscle_gain_stiffness(length, velocity, lengthrange, acc0, prm) * value
    if m.actuator_biastype[actuator] == BIAS_MUSCLE:
        found -= muscle_bias_stiffness(length, lengthrange, acc0, get9(m.actuator_biasprm, actuator))
    return found


@kernel
def actuator_slopes(m: Model, d: Data, actuator: int) -> Vec2:
    """Stiffness and damping of an actuator's force, each at least 0; both 0 if the force is at a limit.

    Reads actuator_force and qfrc_actuator, to see whether the force is at a limit.

    Returns:
        The rates at which the force decreases with `actuator_length` and with `actuator_velocity`.
    """
    if is_saturated(m, d, actuator):
        return 0.0, 0.0
    value = 0.0
    if m.actuator_ctrlnum[actuator] > 0:
        value = current_input(m, d, actuator, control_of(m, d, actuator, 0))
    return max(-_length_slope(m, d, actuator, value), 0.0), max(-velocity_slope(m, d, actuator, value), 0.0)
