"""Stages that record steps and repeat recorded steps, so that a trajectory is one native call.

The start of a step is recorded as a row of the *tape*, an array of floats: the full state (``mjSTATE_INTEGRATION``),
then the memory of plugins. Worlds are recorded one after the other. In each world, every ``work.tape_every``-th of
``work.tape_nstep`` steps has a row, and the end of the last step has one. ``work.tape_step`` counts steps through all
worlds.
"""

from __future__ import annotations

from cardan.derive.plugins import exchange_numbers
from cardan.derive.program import LANES
from cardan.dynamics.kinematics import differentiate_pos
from cardan.enums.codes import STATE_INTEGRATION
from cardan.jit import OK, kernel, stage
from cardan.maths.types import Array1
from cardan.model.kernel_views import Data, Model
from cardan.step.state import ACT, QPOS, QVEL, TIME, count_state, exchange_state


@kernel
def row_length(m: Model, d: Data) -> int:
    """Number of elements in a row of the tape."""
    return count_state(m, STATE_INTEGRATION) + len(d.work.tape_remembered)


@kernel
def move_start(m: Model, d: Data, tape: Array1, row: int, writes: bool) -> None:
    """Write the start of a step to row `row` of the tape if `writes` is set; otherwise, restore it from the row."""
    at = exchange_state(m, d, tape, row * row_length(m, d), STATE_INTEGRATION, writes)
    if not writes:
        d.work.plugin_is_kept = 0
    exchange_numbers(d, d.work.tape_remembered, tape, at, writes)


@kernel
def state_number(d: Data) -> int:
    """Index of the state before the step ``work.tape_step``, counted through all worlds (nstep + 1 states each)."""
    return d.work.tape_step + d.work.tape_step // d.work.tape_nstep


@stage
def put_recorded(m: Model, d: Data) -> int:
    """Restore the start of the step ``work.tape_step`` from the tape, which must contain all steps."""
    move_start(m, d, d.work.tape, state_number(d), False)
    return OK


@stage
def restore_recorded(m: Model, d: Data) -> int:
    """Restore the start of the step ``work.tape_step`` from a tape of all steps; begin with the first direction.

    The solver's warm start is the solution of the step itself, from the next row, so that the solver stops at once.
    """
    row = state_number(d)
    move_start(m, d, d.work.tape, row, False)
    warmstart = (row + 1) * row_length(m, d) + count_state(m, TIME | QPOS | QVEL | ACT)
    for i in range(m.nv):
        d.qacc_warmstart[i] = d.work.tape[warmstart + i]
    d.work.column = d.work.first_column
    return OK


@kernel
def _feed_back(m: Model, d: Data, step: int) -> None:
    """Add the gains times the deviation from the reference state to the controls of a step; clamp the controls."""
    deviation = d.work.tape_deviation
    nx = 2 * m.nv + m.na
    at = step * (m.nq + m.nv + m.na)
    for i in range(m.nq):
        d.work.tape_qpos[i] = d.work.tape_reference[at + i]
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
    """Number of rows of a world: one for each kept step, and one for the end."""
    return (d.work.tape_nstep + d.work.tape_every - 1) // d.work.tape_every + 1


@stage
def begin_recorded(m: Model, d: Data) -> int:
    """Set a step's controls, with feedback if there are gains; record the start of each ``tape_every``-th step."""
    step, world = d.work.tape_step, d.work.tape_step // d.work.tape_nstep
    of_world = step - world * d.work.tape_nstep
    if of_world == 0 and len(d.work.tape_starts) > 0:
        move_start(m, d, d.work.tape_starts, world, False)
    if len(d.work.tape_gain) > 0:
        _feed_back(m, d, step)
    for i in range(m.nu):
        d.ctrl[i] = d.work.tape_control[step * m.nu + i]
    if of_world % d.work.tape_every == 0:
        move_start(m, d, d.work.tape, world * _rows_of_world(d) + of_world // d.work.tape_every, True)
    return OK


@stage
def end_recorded(m: Model, d: Data) -> int:
    """Record a step's sensor data; after the last step of a world, also record the final state. Go to the next step."""
    step = d.work.tape_step + 1
    if len(d.work.tape_sensordata) > 0:
        for i in range(m.nsensordata):
            d.work.tape_sensordata[(step - 1) * m.nsensordata + i] = d.sensordata[i]
    if step % d.work.tape_nstep == 0:
        move_start(m, d, d.work.tape, step // d.work.tape_nstep * _rows_of_world(d) - 1, True)
    d.work.tape_step = step
    return OK


@stage
def pull_back(m: Model, d: Data) -> int:
    """Propagate the adjoint state of a world (``work.adjoint``) back through the step ``work.tape_step``.

    Uses the Jacobian of the step, and adds ``work.adjoint_states``, the derivatives of the loss with respect to the
    state before the step. Writes the gradient with respect to the step's controls. Then go on to the previous step.
    """
    step = d.work.tape_step
    nx = 2 * m.nv + m.na + d.work.nmemory
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
    """Store the Jacobian of the step ``work.tape_step``, and go on to the next step."""
    n = len(d.work.jacobian)
    for i in range(n):
        d.work.jacobians[d.work.tape_step * n + i] = d.work.jacobian[i]
    d.work.tape_step += 1
    return OK


@stage
def begin_directions(m: Model, d: Data) -> int:
    """Set the directions of block `work.column`: sensitivities of the state before a step, and those of its controls.

    The step is ``work.tape_step``.
    """
    nx, block = 2 * m.nv + m.na + d.work.nmemory, d.work.column
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
    """Store the sensitivities of the state after a step and of its sensor data; go on to the next block."""
    nx, block = 2 * m.nv + m.na + d.work.nmemory, d.work.column
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
    """Advance ``work.tape_step`` to the next step."""
    d.work.tape_step += 1
    return OK
