"""Jacobians of a simulation step and of inverse dynamics by finite differences (spec: computation, derivatives).

All evaluations that perturb the same kind of input are one native run. Inputs that enter late come first: controls and
activations leave everything that depends on positions and velocities alone, so it isn't computed again; velocities
leave what depends on positions; positions come last.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from cardan.enums import mjtIntegrator, mjtStage
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

Group = tuple[int, np.ndarray]  # what needn't be computed again (mjtStage), and the evaluations (rows of the plan)


@lru_cache(maxsize=64)
def _evaluations(kind: int, first_row: int, above: bytes, below: bytes) -> np.ndarray:
    """The evaluations of the derivatives by all elements of an input: from both sides, from one side, or none.

    Args:
        kind: the input.
        first_row: row of the results that belongs to its first element.
        above: a byte an element, other than 0 if it may be moved up.
        below: likewise for down.
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
    """The same for an input that may be moved anywhere."""
    return _evaluations(kind, first_row, bytes([1]) * n, bytes([centered]) * n)


def _controls(m: MjModel, d: MjData, eps: float, first_row: int, centered: bool) -> np.ndarray:
    """The same for controls, which must not leave their ranges: elsewhere they have no effect."""
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
    """Give the private arrays `work.fd_*` these sizes; they stay for the next call."""
    memory = d._memory
    for name, size in sizes.items():
        array = memory.arrays.get(f"work.fd_{name}")
        if array is None or array.size != size:
            memory.attach(f"work.fd_{name}", np.zeros(size, memory.struct.by_name[f"work.fd_{name}"].numpy_dtype))
            d.__dict__.pop("_view", None)


def _evaluate(
    m: MjModel,
    d: MjData,
    eps: float,
    groups: list[Group],
    program_after: Callable[[int], Any],
    shape: tuple[int, int],
    value_size: int,
) -> np.ndarray:
    """Do all evaluations, and put the state back; returns the differences, a row a perturbed element."""
    groups = [(NONE, BASELINE), *groups]
    plan = np.concatenate([plan for _, plan in groups]).reshape(-1)
    sizes = {"plan": plan.size, "start": start_size(m), "value": 3 * value_size, "result": shape[0] * shape[1]}
    _scratch(d, {**sizes, "qpos": m.nq, "qpos_low": m.nq})
    arrays, scalars = d._memory.arrays, d._memory.scalars
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
    """The stages of one evaluation of a step."""
    checks = (check_pos, check_vel) if skipstage == NONE else ()
    forward = pipeline.skip_items("mj_forwardSkip", skipstage, not sensors)
    return (perturb, *checks, *forward, check_acc, *pipeline.INTEGRATE, record_transition)


@cache
def _inverse_items(skipstage: int, sensors: bool, actuation: bool) -> tuple[Any, ...]:
    """The stages of one evaluation of inverse dynamics; actuator forces come before the sensors that show them."""
    name = "mj_inverseSkip with actuator forces" if actuation else "mj_inverseSkip"
    return (perturb, *pipeline.skip_items(name, skipstage, not sensors), record_inverse)


def transition_differences(
    m: MjModel, d: MjData, eps: float, centered: bool, by_state: bool, by_control: bool, sensors: bool
) -> np.ndarray:
    """Derivatives of the next state and the sensor data of a step by the state and the controls.

    Args:
        m: model.
        d: data; its state, inputs and warm start are the same afterwards.
        eps: size of the perturbations.
        centered: differences from both sides instead of from above.
        by_state: whether derivatives by the state are wanted.
        by_control: whether those by the controls are.
        sensors: whether those of sensor data are.

    Returns:
        (2 nv + na + nu, 2 nv + na + nsensordata): a row a perturbed element (position, velocity, activation, control),
        a column a result; zero where not wanted.
    """
    nv, na, nu = m.nv, m.na, m.nu
    nx = 2 * nv + na
    # stages of a Runge-Kutta step leave other positions behind
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
    """Derivatives of the results of inverse dynamics by position, velocity and acceleration, from above.

    Args:
        m: model.
        d: data; its state, `qacc`, inputs and warm start are the same afterwards.
        eps: size of the perturbations.
        actuation: whether to subtract `qfrc_actuator` from `qfrc_inverse`.
        inputs: whether derivatives by positions, velocities and accelerations are wanted.
        sensors: whether those of sensor data are.

    Returns:
        (3 nv, nv + nsensordata + nM): a row a perturbed element (position, velocity, acceleration), columns for
        qfrc_inverse, sensor data and qM; zero where not wanted.
    """
    nv = m.nv
    kinds = ((VEL, ACCELERATION, 2), (POS, VELOCITY, 1), (NONE, POSITION, 0))
    groups = [(skip, _all(kind, nv, k * nv, False)) for skip, kind, k in kinds if inputs[k]]

    def program_after(skipstage: int) -> Any:
        items = _inverse_items(skipstage, sensors, actuation)
        return cached_program(m, ("inverse", skipstage, sensors, actuation), items)

    d._memory.scalars["work.fd_actuation"][0] = actuation
    size = nv + m.nsensordata + m.nM
    return _evaluate(m, d, eps, groups, program_after, (3 * nv, size), size)
