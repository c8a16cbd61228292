"""Jacobians of a simulation step and of inverse dynamics by finite differences (spec: computation, derivatives).

All evaluations that perturb the same kind of input are one native run. Inputs that enter late come first. Controls and
activations do not affect results that depend only on positions and velocities, so these are not recomputed. Velocities
do not affect results that depend only on positions. Positions come last.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from cardan.enums import mjtIntegrator, mjtStage
from cardan.model import internals
from cardan.step import pipeline
from cardan.step.checks import check_acc, check_pos, check_vel
from cardan.step.finite_difference import (
    ABOVE_BASE,
    ACCELERATION,
    ACTIVATION,
    BELOW_BASE,
    BELOW_HIGH,
    CONTROL,
    KEEP_BASE,
    KEEP_HIGH,
    NOTHING,
    PLAN,
    POSITION,
    VELOCITY,
    perturb,
    record_inverse,
    record_transition,
    restore_start,
    save_start,
    start_size,
)
from cardan.step.programs import cached_program
from cardan.step.run import run

if TYPE_CHECKING:
    from cardan.model.mjdata import MjData
    from cardan.model.mjmodel import MjModel

NONE, POS, VEL = (int(k) for k in (mjtStage.mjSTAGE_NONE, mjtStage.mjSTAGE_POS, mjtStage.mjSTAGE_VEL))
BASELINE = np.array([[NOTHING, 0, 0, KEEP_BASE, 0]], np.int64)

Group = tuple[int, np.ndarray]  # last stage that is not recomputed (mjtStage), and evaluations (rows of the plan)


@lru_cache(maxsize=64)
def _evaluations(kind: int, first_row: int, above: bytes, below: bytes) -> np.ndarray:
    """Return the evaluations of the derivatives by all elements of an input: centred, one-sided, or none.

    Args:
        kind: kind of the input.
        first_row: row of the results for its first element.
        above: one byte per element, other than 0 if it may be moved up.
        below: one byte per element, other than 0 if it may be moved down.
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
    """Return the evaluations for an input whose elements may be moved in both directions."""
    return _evaluations(kind, first_row, bytes([1]) * n, bytes([centered]) * n)


def _controls(m: MjModel, d: MjData, eps: float, first_row: int, centered: bool) -> np.ndarray:
    """Return the evaluations for controls, which must not leave their ranges, where they have no effect."""
    free = m.actuator_ctrllimited == 0
    if free.all():
        return _all(CONTROL, m.nu, first_row, centered)
    low, high = m.actuator_ctrlrange.T
    ctrl = d.ctrl
    inside = free | ((ctrl >= low) & (ctrl <= high))
    above = inside & (free | ((ctrl + eps >= low) & (ctrl + eps <= high)))
    below = inside & (free | ((ctrl - eps >= low) & (ctrl - eps <= high)))
    return _evaluations(CONTROL, first_row, above.tobytes(), (below if centered else below & ~above).tobytes())


def _scratch(d: MjData, sizes: dict[str, int]) -> None:
    """Set the sizes of the private arrays `work.fd_*`, which are kept for the next call."""
    memory = internals.memory(d)
    for name, size in sizes.items():
        array = memory.arrays.get(f"work.fd_{name}")
        if array is None or array.size != size:
            memory.attach(f"work.fd_{name}", np.zeros(size, memory.struct.by_name[f"work.fd_{name}"].numpy_dtype))
            internals.forget_view(d)


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
    sizes = {"plan": plan.size, "start": start_size(m), "value": 3 * value_size, "result": shape[0] * shape[1]}
    _scratch(d, {**sizes, "qpos": m.nq, "qpos_low": m.nq})
    arrays, scalars = internals.memory(d).arrays, internals.memory(d).scalars
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


@cache
def _transition_items(skipstage: int, sensors: bool) -> tuple[Any, ...]:
    """Return the stages of one evaluation of a step."""
    checks = (check_pos, check_vel) if skipstage == NONE else ()
    forward = pipeline.skip_items("mj_forwardSkip", skipstage, not sensors)
    return (perturb, *checks, *forward, check_acc, *pipeline.INTEGRATE, record_transition)


@cache
def _inverse_items(skipstage: int, sensors: bool, actuation: bool) -> tuple[Any, ...]:
    """Return the stages of one evaluation of inverse dynamics; actuator forces precede sensors that measure them."""
    name = "mj_inverseSkip with actuator forces" if actuation else "mj_inverseSkip"
    return (perturb, *pipeline.skip_items(name, skipstage, not sensors), record_inverse)


def transition_differences(
    m: MjModel, d: MjData, eps: float, centered: bool, by_state: bool, by_control: bool, sensors: bool
) -> np.ndarray:
    """Compute derivatives of the next state and the sensor data of a step by the state and the controls.

    Args:
        m: model.
        d: data; its state, inputs and warm start are the same afterwards.
        eps: size of the perturbations.
        centered: differences from both sides instead of from above.
        by_state: whether to compute derivatives by the state.
        by_control: whether to compute derivatives by the controls.
        sensors: whether to compute derivatives of sensor data.

    Returns:
        (2 nv + na + nu, 2 nv + na + nsensordata): one row per perturbed element (position, velocity, activation,
        control), one column per result; zero if not requested.
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
        items = _transition_items(skipstage, sensors)
        return cached_program(m, ("transition", skipstage, sensors), items)

    value_size = m.nq + nv + na + m.nsensordata
    return _evaluate(m, d, eps, groups, program_after, (nx + nu, nx + m.nsensordata), value_size)


def inverse_differences(
    m: MjModel, d: MjData, eps: float, actuation: bool, inputs: tuple[bool, bool, bool], sensors: bool
) -> np.ndarray:
    """Compute forward differences of inverse dynamics by position, velocity and acceleration.

    Args:
        m: model.
        d: data; its state, `qacc`, inputs and warm start are the same afterwards.
        eps: size of the perturbations.
        actuation: whether to subtract `qfrc_actuator` from `qfrc_inverse`.
        inputs: whether to compute derivatives by positions, by velocities and by accelerations.
        sensors: whether to compute derivatives of sensor data.

    Returns:
        (3 nv, nv + nsensordata + nM): one row per perturbed element (position, velocity, acceleration), columns for
        qfrc_inverse, sensor data and qM; zero if not requested.
    """
    nv = m.nv
    kinds = ((VEL, ACCELERATION, 2), (POS, VELOCITY, 1), (NONE, POSITION, 0))
    groups = [(skip, _all(kind, nv, k * nv, False)) for skip, kind, k in kinds if inputs[k]]

    def program_after(skipstage: int) -> Any:
        items = _inverse_items(skipstage, sensors, actuation)
        return cached_program(m, ("inverse", skipstage, sensors, actuation), items)

    internals.set_number(d, "work.fd_actuation", actuation)
    size = nv + m.nsensordata + m.nM
    return _evaluate(m, d, eps, groups, program_after, (3 * nv, size), size)
