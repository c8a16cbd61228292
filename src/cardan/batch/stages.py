"""Stages of batches and rollouts that copy states, inputs and records between arrays and the data of a world.

A row of numbers consists of parts. Each part is described by three numbers: kind, address, size. Parts of the kind
`WORDS` are copied to or from `work.buffer`, which contains all fixed-size float64 fields of the data. The time, the
bytes of `eq_active`, and counts (read-only) have their own kinds.

In `cardan.rollout`, each thread has one MjData, which simulates the worlds of a block one after the other. The stage
`rollout_input` sets the inputs of a step and, at a world's first step, the world's initial state; `rollout_output`
writes the results. Rows are numbered consecutively over all worlds and steps of a block.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from cardan.collision.ray_scene import NGROUP, normal_at, ray_scene
from cardan.dynamics.jacobian import jac
from cardan.enums.data import mjtWarning
from cardan.jit import OK, kernel, stage
from cardan.maths.types import Array1, IntArray1
from cardan.model.kernel_views import Data, Model
from cardan.step.report import ROLLOUT_FROZEN

WORDS, TIME, BYTES, COUNT = 0, 1, 2, 3
COUNTS = ("ncon", "ne", "nf", "nl", "nefc", "nisland")
"""Counts in the order of their addresses."""
NWARNING = int(mjtWarning.mjNWARNING)


def row_parts(names: Sequence[str], sizes: Mapping[str, int], address_of: Callable[[str], int]) -> np.ndarray:
    """Return the parts of a row of n state fields (3 n,): kind, address in `work.buffer` and size of each field.

    `names` are the fields in order; `sizes` and `address_of` map a name to its number of elements and its address.
    """
    rows = []
    for name in names:
        kind = {"time": TIME, "eq_active": BYTES}.get(name, WORDS)
        rows.append((kind, address_of(name) if kind == WORDS else 0, sizes[name]))
    return np.array(rows, np.int64).reshape(-1)


@kernel
def read_row(d: Data, parts: IntArray1, source: Array1, at: int) -> int:
    """Copy the row that starts at `source[at]` to its parts in the data. Return the index after the row."""
    for k in range(len(parts) // 3):
        kind, address, size = parts[3 * k], parts[3 * k + 1], parts[3 * k + 2]
        if kind == TIME:
            d.time = source[at]
        elif kind == BYTES:
            for i in range(size):
                d.eq_active[i] = int(source[at + i])
        else:
            for i in range(size):
                d.work.buffer[address + i] = source[at + i]
        at += size
    return at


@kernel
def count_at(d: Data, address: int) -> int:
    """Return the count of the data whose index in `COUNTS` is `address`."""
    if address == 0:
        return d.ncon
    if address == 1:
        return d.ne
    if address == 2:
        return d.nf
    if address == 3:
        return d.nl
    return d.nefc if address == 4 else d.nisland


@kernel
def write_row(d: Data, parts: IntArray1, target: Array1, at: int) -> None:
    """Copy the parts from the data to the row that starts at `target[at]`."""
    for k in range(len(parts) // 3):
        kind, address, size = parts[3 * k], parts[3 * k + 1], parts[3 * k + 2]
        if kind == TIME:
            target[at] = d.time
        elif kind == COUNT:
            target[at] = float(count_at(d, address))
        elif kind == BYTES:
            for i in range(size):
                target[at + i] = d.eq_active[i]
        else:
            for i in range(size):
                target[at + i] = d.work.buffer[address + i]
        at += size


@kernel
def row_size(parts: IntArray1) -> int:
    """Return the length of a row that consists of `parts`."""
    size = 0
    for k in range(len(parts) // 3):
        size += parts[3 * k + 2]
    return size


@kernel
def _begin_world(m: Model, d: Data, world: int) -> None:
    """Start the rollout of a world: clear the warnings, and set the inputs, the state and the warm start."""
    for k in range(NWARNING):
        d.warning.number[k] = 0
        d.work.warned[k] = 0
    read_row(d, d.work.rollout_input_part, d.work.rollout_input, 0)
    size = row_size(d.work.rollout_state_part)
    read_row(d, d.work.rollout_state_part, d.work.rollout_initial, world * size)
    for i in range(m.nv):
        d.qacc_warmstart[i] = 0.0
        if len(d.work.rollout_warmstart) > 0:
            d.qacc_warmstart[i] = d.work.rollout_warmstart[world * m.nv + i]


@stage
def rollout_input(m: Model, d: Data) -> int:
    """Set the controls of a step and, at a world's first step, its state. If the world raised a warning, stop."""
    row = d.work.rollout_row
    step = row % d.work.rollout_nstep
    if step == 0:
        _begin_world(m, d, row // d.work.rollout_nstep)
    else:
        for k in range(NWARNING):
            if d.warning.number[k] > 0:
                return ROLLOUT_FROZEN
    if len(d.work.rollout_control) > 0:
        read_row(d, d.work.rollout_control_part, d.work.rollout_control, row * row_size(d.work.rollout_control_part))
    return OK


@stage
def rollout_output(m: Model, d: Data) -> int:
    """Write the state and the sensor data after a step."""
    row = d.work.rollout_row
    write_row(d, d.work.rollout_state_part, d.work.rollout_state, row * row_size(d.work.rollout_state_part))
    for i in range(m.nsensordata):
        d.work.rollout_sensordata[row * m.nsensordata + i] = d.sensordata[i]
    d.work.rollout_row = row + 1
    return OK


@stage
def load_state(m: Model, d: Data) -> int:
    """Copy a world's row of the batch's state to the world's data."""
    read_row(d, d.work.batch_part, d.work.batch_row, 0)
    return OK


@stage
def save_state(m: Model, d: Data) -> int:
    """Copy the state in a world's data to the world's row of the batch's state."""
    write_row(d, d.work.batch_part, d.work.batch_row, 0)
    return OK


@stage
def rollout_inputs(m: Model, d: Data) -> int:
    """Set the inputs of one step in a batch's rollout.

    If the world has raised a warning during the rollout, fill its remaining records with its current values, and stop.
    """
    count = 0
    for k in range(NWARNING):
        count += d.warning.number[k]
    if count > d.work.batch_warnings or d.work.auto_resets > d.work.batch_resets:
        width = row_size(d.work.batch_record_part)
        for row in range(d.work.batch_step // d.work.batch_every, len(d.work.batch_record) // max(width, 1)):
            write_row(d, d.work.batch_record_part, d.work.batch_record, row * width)
        return ROLLOUT_FROZEN
    at = d.work.batch_step * row_size(d.work.batch_control_part)
    read_row(d, d.work.batch_control_part, d.work.batch_control, at)
    return OK


@stage
def rollout_records(m: Model, d: Data) -> int:
    """Increment the step count of a batch's rollout. After every `batch_every`-th step, write a record."""
    d.work.batch_step += 1
    if d.work.batch_step % d.work.batch_every == 0:
        row = d.work.batch_step // d.work.batch_every - 1
        at = row * row_size(d.work.batch_record_part)
        write_row(d, d.work.batch_record_part, d.work.batch_record, at)
    return OK


@stage
def answer_jacobian(m: Model, d: Data) -> int:
    """Compute Jacobians of a point fixed to a body; `batch_question` contains the point (3) and the body's id."""
    question = d.work.batch_question
    point, body = (question[0], question[1], question[2]), int(question[3])
    jac(m, d, d.work.batch_jacp, d.work.batch_jacr, point, body)
    return OK


RAY_HEAD, RAY_WIDTH, ANSWER_WIDTH = 2 + NGROUP, 7, 5


@stage
def answer_rays(m: Model, d: Data) -> int:
    """Cast rays and write the distance, geom id and normal for each ray (five numbers) to `batch_answer`.

    `batch_question` contains flags: whether to filter by group, whether static geoms are included, and one for each of
    the 6 groups. Then it contains each ray's point (3), direction (3) and excluded body.
    """
    question = d.work.batch_question
    by_group, static = question[0] != 0.0, question[1] != 0.0
    for k in range(NGROUP):
        d.work.ray_group[k] = int(question[2 + k])
    for ray in range(len(d.work.batch_answer) // ANSWER_WIDTH):
        at = RAY_HEAD + RAY_WIDTH * ray
        point = (question[at], question[at + 1], question[at + 2])
        vec = (question[at + 3], question[at + 4], question[at + 5])
        dist, geom = ray_scene(m, d, point, vec, by_group, static, int(question[at + 6]))
        normal = normal_at(m, d, geom, point, vec, dist)
        to = ANSWER_WIDTH * ray
        d.work.batch_answer[to] = dist
        d.work.batch_answer[to + 1] = geom
        for k in range(3):
            d.work.batch_answer[to + 2 + k] = normal[k]
    return OK
