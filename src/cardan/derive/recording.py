"""Stages that record steps and go over recorded steps again, so that a trajectory is one native call.

What a step starts from is a row of numbers: the time, then the fields of `KEPT`. There may be several worlds, one after
the other; each has rows for those of its ``work.tape_nstep`` steps that are kept, and one for its end. Steps are
counted through all worlds by ``work.tape_step``.
"""

from __future__ import annotations

from typing import Any

from cardan.derive.shadows import LANES
from cardan.dynamics.kinematics import differentiate_pos
from cardan.jit import OK, kernel, stage
from cardan.model.kernel_views import Data, Model

KEPT = (
    *("qpos", "qvel", "act", "ctrl", "qacc_warmstart", "qfrc_applied", "xfrc_applied"),
    *("mocap_pos", "mocap_quat", "eq_active", "userdata", "plugin_state"),
)
"""What a row has, after the time; at its end it has the numbers that plugins remember."""


def kept_sizes(m: Any) -> tuple[int, ...]:
    """Numbers of each field of `KEPT`."""
    state, forces, mocap = (m.nq, m.nv, m.na, m.nu, m.nv), (m.nv, 6 * m.nbody), (3 * m.nmocap, 4 * m.nmocap)
    return *state, *forces, *mocap, m.neq, m.nuserdata, m.npluginstate


@kernel
def row_length(m: Model, d: Data) -> int:
    """Numbers of a row."""
    kept = m.npluginstate + len(d.work.tape_remembered)
    return 1 + m.nq + 3 * m.nv + m.na + m.nu + 6 * m.nbody + 7 * m.nmocap + m.neq + m.nuserdata + kept


@kernel
def state_size(m: Model, d: Data) -> int:
    """Numbers of a state: positions in the tangent space, velocities, activations, and what plugins keep."""
    return 2 * m.nv + m.na + d.work.nmemory


@kernel
def _write(source: Any, target: Any, at: int) -> int:
    for i in range(len(source)):
        target[at + i] = source[i]
    return at + len(source)


@kernel
def _write_table(source: Any, columns: int, target: Any, at: int) -> int:
    for i in range(len(source)):
        for k in range(columns):
            target[at + k] = source[i, k]
        at += columns
    return at


@kernel
def _read(source: Any, at: int, target: Any) -> int:
    for i in range(len(target)):
        target[i] = source[at + i]
    return at + len(target)


@kernel
def _read_table(source: Any, at: int, target: Any, columns: int) -> int:
    for i in range(len(target)):
        for k in range(columns):
            target[i, k] = source[at + k]
        at += columns
    return at


@kernel
def write_start(m: Model, d: Data, row: int) -> None:
    """Keep what a step starts from."""
    tape = d.work.tape
    at = row * row_length(m, d)
    tape[at] = d.time
    at = _write(d.qpos, tape, at + 1)
    at = _write(d.qvel, tape, at)
    at = _write(d.act, tape, at)
    at = _write(d.ctrl, tape, at)
    at = _write(d.qacc_warmstart, tape, at)
    at = _write(d.qfrc_applied, tape, at)
    at = _write_table(d.xfrc_applied, 6, tape, at)
    at = _write_table(d.mocap_pos, 3, tape, at)
    at = _write_table(d.mocap_quat, 4, tape, at)
    for i in range(m.neq):
        tape[at + i] = float(d.eq_active[i])
    at = _write(d.userdata, tape, at + m.neq)
    at = _write(d.plugin_state, tape, at)
    for k in range(len(d.work.tape_remembered)):
        tape[at + k] = d.work.plugin_number[d.work.tape_remembered[k]]


@kernel
def read_start(m: Model, d: Data, tape: Any, row: int) -> None:
    """Put back what a step starts from."""
    at = row * row_length(m, d)
    d.time = tape[at]
    at = _read(tape, at + 1, d.qpos)
    at = _read(tape, at, d.qvel)
    at = _read(tape, at, d.act)
    at = _read(tape, at, d.ctrl)
    at = _read(tape, at, d.qacc_warmstart)
    at = _read(tape, at, d.qfrc_applied)
    at = _read_table(tape, at, d.xfrc_applied, 6)
    at = _read_table(tape, at, d.mocap_pos, 3)
    at = _read_table(tape, at, d.mocap_quat, 4)
    for i in range(m.neq):
        d.eq_active[i] = int(tape[at + i])
    at = _read(tape, at + m.neq, d.userdata)
    at = _read(tape, at, d.plugin_state)
    for k in range(len(d.work.tape_remembered)):
        d.work.plugin_number[d.work.tape_remembered[k]] = tape[at + k]
    d.work.plugin_is_kept = 0


@kernel
def state_number(d: Data) -> int:
    """Number of the state before the step ``work.tape_step``, counted through all worlds."""
    return d.work.tape_step + d.work.tape_step // d.work.tape_nstep


@stage
def restore_recorded(m: Model, d: Data) -> int:
    """Put back what the step ``work.tape_step`` started from, all steps being kept; begin with the first direction.

    The solver starts from what it has found then, which the next row keeps: it is done at once.
    """
    row = state_number(d)
    read_start(m, d, d.work.tape, row)
    _read(d.work.tape, (row + 1) * row_length(m, d) + 1 + m.nq + m.nv + m.na + m.nu, d.qacc_warmstart)
    d.work.column = d.work.first_column
    return OK


@kernel
def _feed_back(m: Model, d: Data, step: int) -> None:
    """Add to the controls of a step gains times the deviation from its reference state; clamp them to their ranges."""
    deviation = d.work.tape_deviation
    nx = 2 * m.nv + m.na
    at = step * (m.nq + m.nv + m.na)
    _read(d.work.tape_reference, at, d.work.tape_qpos)
    differentiate_pos(m, deviation, 1.0, d.work.tape_qpos, d.qpos)
    for i in range(m.nv):
        deviation[m.nv + i] = d.qvel[i] - d.work.tape_reference[at + m.nq + i]
    for i in range(m.na):
        deviation[2 * m.nv + i] = d.act[i] - d.work.tape_reference[at + m.nq + m.nv + i]
    for u in range(m.nu):
        row = (step * m.nu + u) * nx
        value = d.work.tape_control[step * m.nu + u]
        for i in range(nx):
            value += d.work.tape_gain[row + i] * deviation[i]
        if m.actuator_ctrllimited[u]:
            value = max(m.actuator_ctrlrange[u, 0], min(m.actuator_ctrlrange[u, 1], value))
        d.work.tape_control[step * m.nu + u] = value


@kernel
def _rows_of_world(d: Data) -> int:
    """Number of rows of a world: its steps that are kept, and its end."""
    return (d.work.tape_nstep + d.work.tape_every - 1) // d.work.tape_every + 1


@stage
def begin_recorded(m: Model, d: Data) -> int:
    """Before a step: its controls, with feedback if there are gains; every ``work.tape_every`` steps keep its start."""
    step, world = d.work.tape_step, d.work.tape_step // d.work.tape_nstep
    of_world = step - world * d.work.tape_nstep
    if of_world == 0 and len(d.work.tape_starts) > 0:
        read_start(m, d, d.work.tape_starts, world)
    if len(d.work.tape_gain) > 0:
        _feed_back(m, d, step)
    for i in range(m.nu):
        d.ctrl[i] = d.work.tape_control[step * m.nu + i]
    if of_world % d.work.tape_every == 0:
        write_start(m, d, world * _rows_of_world(d) + of_world // d.work.tape_every)
    return OK


@stage
def end_recorded(m: Model, d: Data) -> int:
    """After a step: its sensor data; after the last one of a world, keep its end."""
    step = d.work.tape_step + 1
    if len(d.work.tape_sensordata) > 0:
        _write(d.sensordata, d.work.tape_sensordata, (step - 1) * m.nsensordata)
    if step % d.work.tape_nstep == 0:
        write_start(m, d, step // d.work.tape_nstep * _rows_of_world(d) - 1)
    d.work.tape_step = step
    return OK


@stage
def pull_back(m: Model, d: Data) -> int:
    """Take the adjoint state of a world, in ``work.adjoint``, back over the step ``work.tape_step`` with its Jacobian.

    Writes the gradient by its controls; then comes the step before.
    """
    step = d.work.tape_step
    nx = state_size(m, d)
    width, world = nx + m.nu, step // d.work.tape_nstep * nx
    pulled = d.work.pulled
    for i in range(width):
        pulled[i] = 0.0
    for row in range(len(d.work.outcome)):
        if row < nx:
            factor = d.work.adjoint[world + row]
        else:
            factor = d.work.adjoint_sensors[step * m.nsensordata + row - nx]
        if factor != 0.0:
            for i in range(width):
                pulled[i] += factor * d.work.jacobian[row * width + i]
    for i in range(nx):
        d.work.adjoint[world + i] = pulled[i] + d.work.adjoint_states[step * nx + i]
    for i in range(m.nu):
        d.work.adjoint_controls[step * m.nu + i] = pulled[nx + i]
    d.work.tape_step = step - 1
    return OK


@stage
def keep_jacobian(m: Model, d: Data) -> int:
    """Keep the Jacobian of the step ``work.tape_step``; then comes the next one."""
    at = d.work.tape_step * len(d.work.jacobian)
    _write(d.work.jacobian, d.work.jacobians, at)
    d.work.tape_step += 1
    return OK


@stage
def begin_directions(m: Model, d: Data) -> int:
    """Let a block of directions, `work.column`, begin with the sensitivities before the step ``work.tape_step``."""
    nx, block = state_size(m, d), d.work.column
    at = (state_number(d) * d.work.tape_blocks + block) * nx * LANES
    for row in range(nx):
        for lane in range(LANES):
            d.work.seed_lanes[row, lane] = d.work.sensitivity[at + row * LANES + lane]
    for u in range(m.nu):
        for lane in range(LANES):
            d.work.seed_lanes[nx + u, lane] = d.work.sensitivity_control[(block * m.nu + u) * LANES + lane]
    return OK


@stage
def end_directions(m: Model, d: Data) -> int:
    """Keep the sensitivities after a step, and those of its sensor data; go on to the next block."""
    nx, block = state_size(m, d), d.work.column
    ns = len(d.work.outcome) - nx
    step, blocks = d.work.tape_step, d.work.tape_blocks
    at = ((state_number(d) + 1) * blocks + block) * nx * LANES
    for row in range(nx):
        for lane in range(LANES):
            d.work.sensitivity[at + row * LANES + lane] = d.work.outcome_lanes[row, lane]
    at = (step * blocks + block) * ns * LANES
    for row in range(ns):
        for lane in range(LANES):
            d.work.sensitivity_sensors[at + row * LANES + lane] = d.work.outcome_lanes[nx + row, lane]
    d.work.column = block + 1
    return OK


@stage
def next_recorded(m: Model, d: Data) -> int:
    """Go on to the next step."""
    d.work.tape_step += 1
    return OK
