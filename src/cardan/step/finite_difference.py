"""Stages for finite differences of simulation steps and of inverse dynamics (spec: computation, derivatives).

An *evaluation* perturbs one input, runs the dynamics, and records the results. The list of evaluations (`work.fd_plan`,
rows of `PLAN` numbers) specifies, for each: the input, the element, the step in units of `work.fd_eps`, the rule for
the results, and the row of `work.fd_result` to write.

Results are stored in three slots of `work.fd_value`: `BASE` (nothing perturbed), `HIGH` (the upper one of the two
evaluations of a centred difference) and `LAST`. Differences of configurations are in the tangent space.
"""

from __future__ import annotations

from typing import Any

from cardan.dynamics.kinematics import differentiate_pos, integrate_pos
from cardan.jit import OK, kernel, stage
from cardan.model.kernel_views import Data, Model

PLAN = 5  # numbers in a row of the plan: input, element, direction, rule, result row
NOTHING, POSITION, VELOCITY, ACTIVATION, CONTROL, ACCELERATION = range(6)  # inputs
BASE, HIGH, LAST = range(3)  # slots for results
KEEP_BASE, KEEP_HIGH, ABOVE_BASE, BELOW_BASE, BELOW_HIGH = range(5)  # rules


def start_size(m: Any) -> int:
    """Size of `work.fd_start`: time, qpos, qvel, act, ctrl, qacc_warmstart, qacc."""
    return 1 + m.nq + 3 * m.nv + m.na + m.nu


@kernel
def _copy(source: Any, source_at: int, target: Any, target_at: int, n: int) -> int:
    """Copy n numbers; return n."""
    for i in range(n):
        target[target_at + i] = source[source_at + i]
    return n


@stage
def save_start(m: Model, d: Data) -> int:
    """Save the state and the inputs around which the differences are taken."""
    start = d.work.fd_start
    start[0] = d.time
    at = 1
    at += _copy(d.qpos, 0, start, at, m.nq)
    at += _copy(d.qvel, 0, start, at, m.nv)
    at += _copy(d.act, 0, start, at, m.na)
    at += _copy(d.ctrl, 0, start, at, m.nu)
    at += _copy(d.qacc_warmstart, 0, start, at, m.nv)
    at += _copy(d.qacc, 0, start, at, m.nv)
    return OK


@kernel
def _restore(m: Model, d: Data) -> None:
    start = d.work.fd_start
    d.time = start[0]
    at = 1
    at += _copy(start, at, d.qpos, 0, m.nq)
    at += _copy(start, at, d.qvel, 0, m.nv)
    at += _copy(start, at, d.act, 0, m.na)
    at += _copy(start, at, d.ctrl, 0, m.nu)
    at += _copy(start, at, d.qacc_warmstart, 0, m.nv)
    at += _copy(start, at, d.qacc, 0, m.nv)


@stage
def restore_start(m: Model, d: Data) -> int:
    """Restore the state and the inputs."""
    _restore(m, d)
    return OK


@kernel
def _move_position(m: Model, d: Data, dof: int, step: float) -> None:
    direction = d.work.arg_vec
    for i in range(m.nv):
        direction[i] = 0.0
    direction[dof] = 1.0
    integrate_pos(m, d.qpos, direction, step)


@stage
def perturb(m: Model, d: Data) -> int:
    """Begin an evaluation: restore the start, then move one element of one input."""
    _restore(m, d)
    row = PLAN * d.work.fd_evaluation
    kind, element = d.work.fd_plan[row], d.work.fd_plan[row + 1]
    step = d.work.fd_plan[row + 2] * d.work.fd_eps
    if kind == POSITION:
        _move_position(m, d, element, step)
    elif kind == VELOCITY:
        d.qvel[element] += step
    elif kind == ACTIVATION:
        d.act[element] += step
    elif kind == CONTROL:
        d.ctrl[element] += step
    elif kind == ACCELERATION:
        d.qacc[element] += step
    return OK


@kernel
def _place(rule: int) -> int:
    """Slot for the results of an evaluation."""
    if rule == KEEP_BASE:
        return BASE
    if rule == KEEP_HIGH:
        return HIGH
    return LAST


@kernel
def _operands(rule: int) -> Any:
    """Slots of the upper and lower results of a difference, and their distance in units of `fd_eps`."""
    if rule == ABOVE_BASE:
        return LAST, BASE, 1.0
    if rule == BELOW_BASE:
        return BASE, LAST, 1.0
    return HIGH, LAST, 2.0


@kernel
def _subtract(d: Data, upper: int, lower: int, target: int, n: int, distance: float) -> None:
    """Write n differences of results, divided by their distance."""
    value = d.work.fd_value
    for i in range(n):
        d.work.fd_result[target + i] = (value[upper + i] - value[lower + i]) / distance


@kernel
def _subtract_positions(m: Model, d: Data, upper: int, lower: int, target: int, distance: float) -> None:
    """Write the velocity that moves one configuration to the other in the time `distance`."""
    _copy(d.work.fd_value, upper, d.work.fd_qpos, 0, m.nq)
    _copy(d.work.fd_value, lower, d.work.fd_qpos_low, 0, m.nq)
    differentiate_pos(m, d.work.arg_vec, distance, d.work.fd_qpos_low, d.work.fd_qpos)
    _copy(d.work.arg_vec, 0, d.work.fd_result, target, m.nv)


@stage
def record_transition(m: Model, d: Data) -> int:
    """End an evaluation of a step: record next qpos, qvel, act, and the sensor data."""
    row = PLAN * d.work.fd_evaluation
    rule, result = d.work.fd_plan[row + 3], d.work.fd_plan[row + 4]
    rest = m.nv + m.na + m.nsensordata
    size = m.nq + rest
    at = _place(rule) * size
    at += _copy(d.qpos, 0, d.work.fd_value, at, m.nq)
    at += _copy(d.qvel, 0, d.work.fd_value, at, m.nv)
    at += _copy(d.act, 0, d.work.fd_value, at, m.na)
    at += _copy(d.sensordata, 0, d.work.fd_value, at, m.nsensordata)
    if rule >= ABOVE_BASE:
        upper, lower, steps = _operands(rule)
        distance, target = steps * d.work.fd_eps, result * (m.nv + rest)
        _subtract_positions(m, d, upper * size, lower * size, target, distance)
        _subtract(d, upper * size + m.nq, lower * size + m.nq, target + m.nv, rest, distance)
    d.work.fd_evaluation = d.work.fd_evaluation + 1
    return OK


@stage
def record_inverse(m: Model, d: Data) -> int:
    """End an evaluation of inverse dynamics: record qfrc_inverse, the sensor data, qM."""
    row = PLAN * d.work.fd_evaluation
    rule, result = d.work.fd_plan[row + 3], d.work.fd_plan[row + 4]
    size = m.nv + m.nsensordata + m.nM
    first = _place(rule) * size
    at = first + _copy(d.qfrc_inverse, 0, d.work.fd_value, first, m.nv)
    at += _copy(d.sensordata, 0, d.work.fd_value, at, m.nsensordata)
    at += _copy(d.qM, 0, d.work.fd_value, at, m.nM)
    if d.work.fd_actuation:
        for i in range(m.nv):
            d.work.fd_value[first + i] -= d.qfrc_actuator[i]
    if rule >= ABOVE_BASE:
        upper, lower, steps = _operands(rule)
        _subtract(d, upper * size, lower * size, result * size, size, steps * d.work.fd_eps)
    d.work.fd_evaluation = d.work.fd_evaluation + 1
    return OK
