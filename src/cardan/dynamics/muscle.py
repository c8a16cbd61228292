"""Muscles: activation dynamics and the force-length-velocity function (spec: modeling, muscles).

The parameters of gain and bias (`actuator_gainprm`, `actuator_biasprm`) are: range (2), force, scale, lmin, lmax, vmax,
fpmax, fvmax. Lengths are scaled so that `actuator_lengthrange` becomes `range`. Velocities are divided by vmax optimal
lengths per second. The stage is separate from `actuation`, so that models without muscles never compile it. It passes
its results in `work.actuator_gain`, `work.actuator_bias` and `act_dot`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from cardan.dynamics.actuation import MUSCLES_MADE, clamp, limit_controls
from cardan.enums.codes import BIAS_MUSCLE, DYN_MUSCLE, GAIN_MUSCLE
from cardan.jit import OK, kernel, stage
from cardan.maths.types import Mat3, Vec2, Vec3
from cardan.maths.vector import MINVAL, get9
from cardan.model import internals
from cardan.model.kernel_views import Data, Model

if TYPE_CHECKING:
    from cardan.model.mjmodel import MjModel


@kernel
def sigmoid(x: float) -> float:
    """Polynomial of degree 5 from 0 at x <= 0 to 1 at x >= 1, with two continuous derivatives."""
    if x <= 0.0:
        return 0.0
    if x >= 1.0:
        return 1.0
    return x * x * x * (3.0 * x * (2.0 * x - 5.0) + 10.0)


@kernel
def muscle_dynamics(ctrl: float, act: float, timeconst: Vec3) -> float:
    """Rate of change of a muscle's activation `act`.

    The control is limited to [0, 1], and so is the activation that scales the time constants. `timeconst` holds the
    time constants of activation and deactivation (s), and the width of the transition between them.
    """
    clamped = clamp(act, 0.0, 1.0)
    rising = timeconst[0] * (0.5 + 1.5 * clamped)
    falling = timeconst[1] / (0.5 + 1.5 * clamped)
    change = clamp(ctrl, 0.0, 1.0) - act
    if timeconst[2] < MINVAL:
        tau = rising if change > 0.0 else falling
    else:
        tau = falling + (rising - falling) * sigmoid(change / timeconst[2] + 0.5)
    return change / max(MINVAL, tau)


@kernel
def _active_length(length: float, low: float, high: float) -> float:
    """Active force at a scaled length, as a fraction of the peak: 0 up to `low`, 1 at length 1, 0 from `high` on."""
    if length <= low or length >= high:
        return 0.0
    end = low if length < 1.0 else high
    x = (length - end) / max(MINVAL, abs(1.0 - end))
    x = abs(x)
    # x runs from 0 at the end to 1 at the optimal length
    if x < 0.5:
        return 2.0 * x * x
    return 1.0 - 2.0 * (1.0 - x) * (1.0 - x)


@kernel
def _active_length_slope(length: float, low: float, high: float) -> float:
    """Derivative of `_active_length`."""
    if length <= low or length >= high:
        return 0.0
    end = low if length < 1.0 else high
    width = max(MINVAL, abs(1.0 - end))
    x = abs((length - end) / width)
    sign = 1.0 if length > end else -1.0
    return sign * 4.0 * (x if x < 0.5 else 1.0 - x) / width


@kernel
def _active_velocity(velocity: float, largest: float) -> float:
    """Ratio of active force at a scaled velocity to that at rest: 0 up to -1, `largest` from `largest` - 1 on."""
    y = largest - 1.0
    if velocity <= -1.0:
        return 0.0
    if velocity <= 0.0:
        return (velocity + 1.0) * (velocity + 1.0)
    if velocity <= y:
        return largest - (y - velocity) * (y - velocity) / max(MINVAL, y)
    return largest


@kernel
def _active_velocity_slope(velocity: float, largest: float) -> float:
    """Derivative of `_active_velocity`."""
    y = largest - 1.0
    if velocity <= -1.0:
        return 0.0
    if velocity <= 0.0:
        return 2.0 * velocity + 2.0
    if velocity <= y:
        return 2.0 * (y - velocity) / max(MINVAL, y)
    return 0.0


@kernel
def _peak_force(prm: Mat3, acc0: float) -> float:
    """Peak active force: `force` if it is not negative, else `scale` divided by `acc0`."""
    return prm[2] if prm[2] >= 0.0 else prm[3] / max(MINVAL, acc0)


@kernel
def _scale(lengthrange: Vec2, prm: Mat3) -> float:
    """Optimal length of the muscle, which is the unit of scaled lengths."""
    return (lengthrange[1] - lengthrange[0]) / max(MINVAL, prm[1] - prm[0])


@kernel
def _scaled_length(length: float, lengthrange: Vec2, prm: Mat3) -> float:
    return prm[0] + (length - lengthrange[0]) / max(MINVAL, _scale(lengthrange, prm))


@kernel
def _scaled_velocity(velocity: float, lengthrange: Vec2, prm: Mat3) -> float:
    return velocity / max(MINVAL, _scale(lengthrange, prm) * prm[6])


@kernel
def muscle_gain(length: float, velocity: float, lengthrange: Vec2, acc0: float, prm: Mat3) -> float:
    """Active force of a muscle per unit of activation. It is negative, because a muscle pulls.

    Args:
        length: actuator length.
        velocity: actuator velocity.
        lengthrange: smallest and largest length (2,).
        acc0: acceleration that a unit force causes at qpos0.
        prm: parameters (9,), in the order of the module's docstring.
    """
    active = _active_length(_scaled_length(length, lengthrange, prm), prm[4], prm[5])
    return -_peak_force(prm, acc0) * active * _active_velocity(_scaled_velocity(velocity, lengthrange, prm), prm[8])


@kernel
def muscle_gain_slope(length: float, velocity: float, lengthrange: Vec2, acc0: float, prm: Mat3) -> float:
    """Derivative of `muscle_gain` with respect to `velocity`. Arguments as for `muscle_gain`."""
    active = _active_length(_scaled_length(length, lengthrange, prm), prm[4], prm[5])
    slope = _active_velocity_slope(_scaled_velocity(velocity, lengthrange, prm), prm[8])
    return -_peak_force(prm, acc0) * active * slope / max(MINVAL, _scale(lengthrange, prm) * prm[6])


@kernel
def muscle_bias(length: float, lengthrange: Vec2, acc0: float, prm: Mat3) -> float:
    """Passive force (<= 0): 0 up to the optimal length, then a parabola, then a line. Arguments: see `muscle_gain`."""
    scaled = _scaled_length(length, lengthrange, prm)
    knee = 0.5 * (1.0 + prm[5])
    if scaled <= 1.0:
        return 0.0
    if scaled <= knee:
        x = (scaled - 1.0) / max(MINVAL, knee - 1.0)
        return -_peak_force(prm, acc0) * prm[7] * 0.5 * x * x
    x = (scaled - knee) / max(MINVAL, knee - 1.0)
    return -_peak_force(prm, acc0) * prm[7] * (0.5 + x)


@kernel
def muscle_gain_stiffness(length: float, velocity: float, lengthrange: Vec2, acc0: float, prm: Mat3) -> float:
    """Rate at which `muscle_gain` decreases with `length`. Arguments as for `muscle_gain`."""
    slope = _active_length_slope(_scaled_length(length, lengthrange, prm), prm[4], prm[5])
    speed = _active_velocity(_scaled_velocity(velocity, lengthrange, prm), prm[8])
    return _peak_force(prm, acc0) * slope * speed / max(MINVAL, _scale(lengthrange, prm))


@kernel
def muscle_bias_stiffness(length: float, lengthrange: Vec2, acc0: float, prm: Mat3) -> float:
    """Rate at which `muscle_bias` decreases with `length`. Arguments: see `muscle_gain`."""
    scaled = _scaled_length(length, lengthrange, prm)
    if scaled <= 1.0:
        return 0.0
    width = max(MINVAL, 0.5 * (1.0 + prm[5]) - 1.0)
    x = min((scaled - 1.0) / width, 1.0)
    return _peak_force(prm, acc0) * prm[7] * x / (width * max(MINVAL, _scale(lengthrange, prm)))


@stage
def muscles(m: Model, d: Data) -> int:
    """Compute activation rates, gains and biases of muscles.

    Reads ctrl, act, actuator_length, actuator_velocity; writes act_dot (na,), work.actuator_gain,
    work.actuator_gain_slope and work.actuator_bias (nactuator,) of actuators whose dynamics, gain or
    bias has the type muscle. Sets MUSCLES_MADE in work.actuation_made.
    """
    d.work.actuation_made |= MUSCLES_MADE
    limit_controls(m, d)
    for i in range(m.nactuator):
        out = m.actuator_outadr[i]
        length, velocity, acc0 = d.actuator_length[out], d.actuator_velocity[out], m.actuator_acc0[out]
        lengthrange = (m.actuator_lengthrange[out, 0], m.actuator_lengthrange[out, 1])
        if m.actuator_dyntype[i] == DYN_MUSCLE and m.actuator_actnum[i] > 0:
            prm = m.actuator_dynprm
            timeconst = (prm[i, 0], prm[i, 1], prm[i, 2])
            act = m.actuator_actadr[i] + m.actuator_actnum[i] - 1
            d.act_dot[act] = muscle_dynamics(d.work.ctrl[m.actuator_ctrladr[i]], d.act[act], timeconst)
        if m.actuator_gaintype[i] == GAIN_MUSCLE:
            nine = get9(m.actuator_gainprm, i)
            d.work.actuator_gain[i] = muscle_gain(length, velocity, lengthrange, acc0, nine)
            d.work.actuator_gain_slope[i] = muscle_gain_slope(length, velocity, lengthrange, acc0, nine)
        if m.actuator_biastype[i] == BIAS_MUSCLE:
            d.work.actuator_bias[i] = muscle_bias(length, lengthrange, acc0, get9(m.actuator_biasprm, i))
    return OK


def has_muscles(m: MjModel) -> bool:
    """Return whether any actuator has the activation dynamics, the gain or the bias of a muscle."""
    return bool(
        (internals.array(m, "actuator_dyntype") == DYN_MUSCLE).any()
        or (internals.array(m, "actuator_gaintype") == GAIN_MUSCLE).any()
        or (internals.array(m, "actuator_biastype") == BIAS_MUSCLE).any()
    )
