"""The stages around a step that make a rollout of many worlds one native call.

A worker (an MjData) does the rollouts of a block of worlds one after the other: `rollout_input` sets the inputs of a
step (at the first step of a world also its initial state), `rollout_output` writes the results. Rows of the big arrays
are numbered over all steps of the block.

A row of numbers is described by parts of three numbers: kind, address, size. Parts of the kind `WORDS` are copied to or
from `work.buffer`, where all fixed-size float64 fields of the data stand; the time and the bytes of `eq_active` have
kinds of their own, and so have counts, which are only read.
"""

from __future__ import annotations

from typing import Any

from cardan.enums.data import mjtWarning
from cardan.jit import OK, kernel, stage
from cardan.model.kernel_views import Data, Model
from cardan.step.status import ROLLOUT_FROZEN

WORDS, TIME, BYTES, COUNT = 0, 1, 2, 3
COUNTS = ("ncon", "ne", "nf", "nl", "nefc", "nisland")
"""Counts in the order of their addresses."""
NWARNING = int(mjtWarning.mjNWARNING)


@kernel
def read_row(d: Data, parts: Any, source: Any, at: int) -> int:
    """Set the parts of the data from the numbers that start at `source[at]`; returns the address after them."""
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
    """The count at an address: one of `COUNTS`."""
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
def write_row(d: Data, parts: Any, target: Any, at: int) -> None:
    """Write the parts of the data to the numbers that start at `target[at]`."""
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
def row_size(parts: Any) -> int:
    """Number of numbers in a row."""
    size = 0
    for k in range(len(parts) // 3):
        size += parts[3 * k + 2]
    return size


@kernel
def _begin_world(m: Model, d: Data, world: int) -> None:
    """Clear the warnings; set inputs, state and warmstart of a world's start."""
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
    """Before a step: its controls; at the first step of a world, its start. Stops if the world raised a warning."""
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
    """After a step: its state and sensor data."""
    row = d.work.rollout_row
    write_row(d, d.work.rollout_state_part, d.work.rollout_state, row * row_size(d.work.rollout_state_part))
    for i in range(m.nsensordata):
        d.work.rollout_sensordata[row * m.nsensordata + i] = d.sensordata[i]
    d.work.rollout_row = row + 1
    return OK
