"""Jacobians of a simulation step and of inverse dynamics by finite differences (spec: computation, derivatives).

An *evaluation* perturbs one input, runs the dynamics, and records the results. The list of evaluations (`work.fd_plan`,
rows of `PLAN` numbers) specifies, for each: the input, the element, the step in units of `work.fd_eps`, the rule for
the results, and the row of `work.fd_result` to write. Results are stored in three slots of `work.fd_value`: `BASE`
(nothing perturbed), `HIGH` (the upper one of the two evaluations of a centred difference) and `LAST`. Differences of
configurations are in the tangent space.

All evaluations that perturb the same kind of input are one native run. The order saves computations: controls and
activations come first, since results that depend only on positions and velocities are still valid then. Velocities
follow, since they do not affect results that depend only on positions. Positions come last.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from cardan.dynamics.kinematics import differentiate_pos, integrate_pos
from cardan.enums import mjtIntegrator, mjtStage
from cardan.jit import OK, kernel, stage
from cardan.maths.types import Array1, ConstArray1
from cardan.model import internals
from cardan.model.fields_own import MEMORY_WIDTH
from cardan.model.kernel_views import Data, Model
from cardan.step import pipeline
from cardan.step.programs import cached_program
from cardan.step.run import run
from cardan.step.state import ACT, CTRL, HISTORY, QPOS, QVEL, TIME, WARMSTART, exchange_state

if TYPE_CHECKING:
    from cardan.model.mjdata import MjData
    from cardan.model.mjmodel import MjModel


PLAN = 5  # numbers in a row of the plan: input, element, direction, rule, result row
NOTHING, POSITION, VELOCITY, ACTIVATION, CONTROL, ACCELERATION = range(6)  # inputs
BASE, HIGH, LAST = range(3)  # slots for results
KEEP_BASE, KEEP_HIGH, ABOVE_BASE, BELOW_BASE, BELOW_HIGH = range(5)  # rules


def start_size(m: MjModel) -> int:
    """Return the size of `work.fd_start`: time, qpos, qvel, act, history, stick, qacc_warmstart, ctrl, qacc."""
    return 1 + m.nq + 3 * m.nv + m.na + m.nhistory + MEMORY_WIDTH * m.nstick + m.nu


@kernel
def _copy(source: ConstArray1, source_at: int, target: Array1, target_at: int, n: int) -> int:
    """Copy `n` numbers from `source[source_at:]` to `target[target_at:]`. Return `n`."""
    for i in range(n):
        target[target_at + i] = source[source_at + i]
    return n


@kernel
def _exchange_start(m: Model, d: Data, out: bool) -> None:
    """Copy the state, the inputs and qacc to `work.fd_start` if `out` is set, otherwise back."""
    start = d.work.fd_start
    at = exchange_state(m, d, start, 0, TIME | QPOS | QVEL | ACT | HISTORY | WARMSTART | CTRL, out)
    if out:
        _copy(d.qacc, 0, start, at, m.nv)
    else:
        _copy(start, at, d.qacc, 0, m.nv)


@stage
def save_start(m: Model, d: Data) -> int:
    """Save the state and the inputs around which the differences are taken."""
    _exchange_start(m, d, True)
    return OK


@stage
def restore_start(m: Model, d: Data) -> int:
    """Restore the state and the inputs that `save_start` saved."""
    _exchange_start(m, d, False)
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
    """Begin an evaluation: restore the start, then perturb one element of one input."""
    _exchange_start(m, d, False)
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
    """Return the slot in which an evaluation with this rule stores its results."""
    if rule == KEEP_BASE:
        return BASE
    if rule == KEEP_HIGH:
        return HIGH
    return LAST


@kernel
def _operands(rule: int) -> tuple[int, int, float]:
    """Return the slots of the upper and lower results of a difference, and the distance of their inputs in `fd_eps`."""
    if rule == ABOVE_BASE:
        return LAST, BASE, 1.0
    if rule == BELOW_BASE:
        return BASE, LAST, 1.0
    return HIGH, LAST, 2.0


@kernel
def _subtract(d: Data, upper: int, lower: int, target: int, n: int, distance: float) -> None:
    """Write `n` difference quotients of the results at `upper` and `lower` to `work.fd_result`, from `target` on."""
    value = d.work.fd_value
    for i in range(n):
        d.work.fd_result[target + i] = (value[upper + i] - value[lower + i]) / distance


@kernel
def _subtract_positions(m: Model, d: Data, upper: int, lower: int, target: int, distance: float) -> None:
    """Write to `work.fd_result` the velocity that moves the configuration at `lower` to `upper` in time `distance`."""
    _copy(d.work.fd_value, upper, d.work.fd_qpos, 0, m.nq)
    _copy(d.work.fd_value, lower, d.work.fd_qpos_low, 0, m.nq)
    differentiate_pos(m, d.work.arg_vec, distance, d.work.fd_qpos_low, d.work.fd_qpos)
    _copy(d.work.arg_vec, 0, d.work.fd_result, target, m.nv)


@stage
def record_transition(m: Model, d: Data) -> int:
    """End the evaluation of a step: record the next qpos, qvel and act, and the sensor data.

    If the rule of the evaluation requires it, write the difference quotients to `work.fd_result`.
    """
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
    """End the evaluation of inverse dynamics: record qfrc_inverse, the sensor data and qM.

    If `work.fd_actuation` is set, subtract qfrc_actuator from qfrc_inverse. If the rule of the evaluation requires it,
    write the difference quotients to `work.fd_result`.
    """
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


NONE, POS, VEL = (int(k) for k in (mjtStage.mjSTAGE_NONE, mjtStage.mjSTAGE_POS, mjtStage.mjSTAGE_VEL))
BASELINE = np.array([[NOTHING, 0, 0, KEEP_BASE, 0]], np.int64)

Group = tuple[int, np.ndarray]  # last stage that is not recomputed (mjtStage), and evaluations (rows of the plan)


@lru_cache(maxsize=64)
def _evaluations(kind: int, first_row: int, above: bytes, below: bytes) -> np.ndarray:
    """Return the evaluations of an input. The difference of each element is centred, one-sided or left out.

    `above` and `below` have one byte per element, not 0 if the element may be increased or decreased, respectively.
    """
    up, down = (np.frombuffer(side, bool) for side in (above, below))
    elements = np.repeat(np.arange(len(up)), up.astype(int) + down)
    plan = np.empty((len(elements), PLAN), np.int64)
    second = np.zeros(len(elements), bool)
    second[1:] = elements[1:] == elements[:-1]
    plan[:, 0] = kind
    plan[:, 1] = elements
    plan[:, 2] = np.where(up[elements] & ~second, 1, -1)
    plan[:, 3] = np.where(up[elements], ABOVE_BASE, BELOW_BASE)
    plan[(up & down)[elements], 3] = KEEP_HIGH
    plan[second, 3] = BELOW_HIGH
    plan[:, 4] = first_row + elements
    return plan


def _all(kind: int, n: int, first_row: int, centered: bool) -> np.ndarray:
    """Return the evaluations for an input whose elements have no limits: centred, or one-sided upwards."""
    return _evaluations(kind, first_row, bytes([1]) * n, bytes([centered]) * n)


def _controls(m: MjModel, d: MjData, eps: float, first_row: int, centered: bool) -> np.ndarray:
    """Return the evaluations for controls. Controls are not moved beyond their ranges, where they have no effect.

    A control that is already outside its range is not perturbed.
    """
    free = m.actuator_ctrllimited == 0
    if free.all():
        return _all(CONTROL, m.nu, first_row, centered)
    low, high = m.actuator_ctrlrange.T
    ctrl = d.ctrl
    inside = free | ((ctrl >= low) & (ctrl <= high))
    above = inside & (free | ((ctrl + eps >= low) & (ctrl + eps <= high)))
    below = inside & (free | ((ctrl - eps >= low) & (ctrl - eps <= high)))
    return _evaluations(CONTROL, first_row, above.tobytes(), (below if centered else below & ~above).tobytes())


def _evaluate(
    m: MjModel,
    d: MjData,
    eps: float,
    groups: list[Group],
    program_after: Callable[[int], Any],
    shape: tuple[int, int],
    value_size: int,
) -> np.ndarray:
    """Run all evaluations, and restore the state; return the differences, one row per perturbed element."""
    groups = [(NONE, BASELINE), *groups]
    plan = np.concatenate([plan for _, plan in groups]).reshape(-1)
    sizes = {"plan": plan.size, "start": start_size(m), "qpos": m.nq, "qpos_low": m.nq}
    sizes |= {"value": 3 * value_size, "result": shape[0] * shape[1]}
    memory = internals.memory(d)
    arrays, scalars = memory.arrays, memory.scalars
    for name, size in sizes.items():  # private arrays, kept for the next call
        array = arrays.get(f"work.fd_{name}")
        if array is None or array.size != size:
            memory.attach(f"work.fd_{name}", np.zeros(size, memory.struct.by_name[f"work.fd_{name}"].numpy_dtype))
            internals.forget_view(d)
    arrays["work.fd_plan"][:] = plan
    arrays["work.fd_result"][:] = 0.0
    scalars["work.fd_evaluation"][0] = 0
    scalars["work.fd_eps"][0] = eps
    run(cached_program(m, "save_start", (save_start,)), m, d)
    try:
        for skipstage, rows in groups:
            if len(rows):
                run(program_after(skipstage), m, d, len(rows))
    finally:
        run(cached_program(m, "restore_start", (restore_start,)), m, d)
    return arrays["work.fd_result"].reshape(shape)


def transition_differences(
    m: MjModel, d: MjData, eps: float, centered: bool, by_state: bool, by_control: bool, sensors: bool
) -> np.ndarray:
    """Compute derivatives of a step's next state and sensor data with respect to state and controls.

    `eps` is the size of the perturbations; differences are either `centered` or one-sided (upwards; at the upper end of
    a control range, downwards). `by_state`, `by_control` and `sensors` specify which parts are computed. State, inputs
    and warm start are unchanged afterwards.

    Returns:
        (2 nv + na + nu, 2 nv + na + nsensordata): one row per perturbed element (position, velocity, activation,
        control), one column per result. Parts that are not requested are zero.
    """
    nv, na, nu = m.nv, m.na, m.nu
    nx = 2 * nv + na
    # stages of a Runge-Kutta step change the positions
    late = (NONE, NONE) if m.opt.integrator == mjtIntegrator.mjINT_RK4 else (VEL, POS)
    groups: list[Group] = []
    if by_control:
        groups.append((late[0], _controls(m, d, eps, nx, centered)))
    if by_state:
        groups.append((late[0], _all(ACTIVATION, na, 2 * nv, centered)))
        groups.append((late[1], _all(VELOCITY, nv, nv, centered)))
        groups.append((NONE, _all(POSITION, nv, 0, centered)))

    def program_after(skipstage: int) -> Any:
        checks = (*pipeline.CHECK_POS, *pipeline.CHECK_VEL) if skipstage == NONE else ()
        forward = pipeline.skip_items("mj_forwardSkip", skipstage, not sensors)
        items = (perturb, *checks, *forward, *pipeline.CHECK_ACC, *pipeline.INTEGRATE, record_transition)
        return cached_program(m, ("transition", skipstage, sensors), items)

    value_size = m.nq + nv + na + m.nsensordata
    return _evaluate(m, d, eps, groups, program_after, (nx + nu, nx + m.nsensordata), value_size)


def inverse_differences(
    m: MjModel, d: MjData, eps: float, actuation: bool, inputs: tuple[bool, bool, bool], sensors: bool
) -> np.ndarray:
    """Compute forward differences of inverse dynamics with respect to position, velocity and acceleration (`inputs`).

    With `actuation`, `qfrc_actuator` is subtracted from `qfrc_inverse`. State, `qacc`, inputs and warm start are
    unchanged afterwards.

    Returns:
        (3 nv, nv + nsensordata + nM): one row per perturbed element (position, velocity, acceleration), columns for
        qfrc_inverse, sensor data and qM. Parts that are not requested are zero.
    """
    nv = m.nv
    kinds = ((VEL, ACCELERATION, 2), (POS, VELOCITY, 1), (NONE, POSITION, 0))
    groups = [(skip, _all(kind, nv, k * nv, False)) for skip, kind, k in kinds if inputs[k]]

    # actuator forces precede sensors that measure them
    name = "mj_inverseSkip with actuator forces" if actuation else "mj_inverseSkip"

    def program_after(skipstage: int) -> Any:
        items = (perturb, *pipeline.skip_items(name, skipstage, not sensors), record_inverse)
        return cached_program(m, ("inverse", skipstage, sensors, actuation), items)

    internals.set_number(d, "work.fd_actuation", actuation)
    size = nv + m.nsensordata + m.nM
    return _evaluate(m, d, eps, groups, program_after, (3 * nv, size), size)
