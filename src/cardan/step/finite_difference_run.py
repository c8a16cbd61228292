"""Jacobians of a simulation step and of inverse dynamics by finite differences (spec: computation, derivatives).

All evaluations that perturb the same kind of input are one native run. Inputs that enter late come first: controls and
activations leave everything that depends on positions and velocities alone, so it isn't computed again; velocities
leave what depends on positions; positions come last.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from cardan.dynamics.actuation import fwd_actuation
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
from cardan.step.run import attached, run

if TYPE_CHECKING:
    from cardan.model.mjdata import MjData
    from cardan.model.mjmodel import MjModel

NONE, POS, VEL = (int(k) for k in (mjtStage.mjSTAGE_NONE, mjtStage.mjSTAGE_POS, mjtStage.mjSTAGE_VEL))
BASELINE = [(NOTHING, 0, 0, KEEP_BASE, 0)]

Row = tuple[int, int, int, int, int]
Group = tuple[int, list[Row]]  # what needn't be computed again (mjtStage), and the evaluations


def _evaluations(kind: int, element: int, row: int, above: bool, below: bool) -> list[Row]:
    """The evaluations of one derivative: both sides, one side, or none."""
    if above and below:
        return [(kind, element, 1, KEEP_HIGH, 0), (kind, element, -1, BELOW_HIGH, row)]
    if above:
        return [(kind, element, 1, ABOVE_BASE, row)]
    return [(kind, element, -1, BELOW_BASE, row)] if below else []


def _all(kind: int, n: int, first_row: int, centered: bool) -> list[Row]:
    """The evaluations of the derivatives by all elements of an input."""
    return [row for i in range(n) for row in _evaluations(kind, i, first_row + i, True, centered)]


def _controls(m: MjModel, d: MjData, eps: float, first_row: int, centered: bool) -> list[Row]:
    """The same for controls, which must not leave their ranges: elsewhere they have no effect."""
    rows = []
    limited = m.actuator_ctrllimited.astype(bool)
    low, high = m.actuator_ctrlrange.T
    inside = ~limited | ((d.ctrl >= low) & (d.ctrl <= high))
    above = inside & (~limited | ((d.ctrl + eps >= low) & (d.ctrl + eps <= high)))
    below = inside & (~limited | ((d.ctrl - eps >= low) & (d.ctrl - eps <= high)))
    for i in range(m.nu):
        rows += _evaluations(CONTROL, i, first_row + i, bool(above[i]), bool(below[i] and (centered or not above[i])))
    return rows


def _evaluate(
    m: MjModel,
    d: MjData,
    eps: float,
    groups: Iterable[Group],
    program_after: Callable[[int], Any],
    shape: tuple[int, int],
    value_size: int,
) -> np.ndarray:
    """Do all evaluations, and put the state back; returns the differences, a row a perturbed element."""
    groups = [(NONE, BASELINE), *groups]
    result = np.zeros(shape)
    rows = {
        "plan": np.array([row for _, rows in groups for row in rows], np.int64).reshape(-1, PLAN),
        "start": np.zeros(start_size(m)),
        "value": np.zeros(3 * value_size),
        "qpos": np.zeros(m.nq),
        "qpos_low": np.zeros(m.nq),
        "result": result,
    }
    scalars = d._memory.scalars
    scalars["work.fd_evaluation"][0] = 0
    scalars["work.fd_eps"][0] = eps
    with attached(d, {f"work.fd_{name}": array.reshape(-1) for name, array in rows.items()}):
        run(pipeline.cached_program(m, "save_start", (save_start,)), m, d)
        try:
            for skipstage, evaluations in groups:
                if evaluations:
                    run(program_after(skipstage), m, d, len(evaluations))
        finally:
            run(pipeline.cached_program(m, "restore_start", (restore_start,)), m, d)
    return result


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
        key = ("transition", skipstage, sensors)
        checks = (check_pos, check_vel) if skipstage == NONE else ()
        forward = pipeline.skip_items("mj_forwardSkip", skipstage, not sensors)
        items = (perturb, *checks, *forward, check_acc, *pipeline.INTEGRATE, record_transition)
        return pipeline.cached_program(m, key, items)

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
        key = ("inverse", skipstage, sensors)
        inverse = pipeline.skip_items("mj_inverseSkip", skipstage, not sensors)
        return pipeline.cached_program(m, key, (perturb, *inverse, fwd_actuation, record_inverse))

    d._memory.scalars["work.fd_actuation"][0] = actuation
    size = nv + m.nsensordata + m.nM
    return _evaluate(m, d, eps, groups, program_after, (3 * nv, size), size)
