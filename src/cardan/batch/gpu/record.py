"""Rollouts of a batch on a GPU: inputs and records stay there; nothing is copied to this machine in between."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from cardan.batch.core import failure
from cardan.batch.errors import SimulationError
from cardan.batch.gpu.arrays import DeviceArray, on_gpu
from cardan.batch.record import Item, checked_items, checked_spec
from cardan.batch.select import integer
from cardan.enums.codes import STATE_INTEGRATION
from cardan.step.state import state_size

if TYPE_CHECKING:
    from cardan.batch.gpu.batch import GpuBatch


def rollout(
    batch: GpuBatch,
    worlds: np.ndarray,
    nstep: int,
    control: Any,
    control_spec: int,
    record: Sequence[Item],
    out: Mapping[Item, Any] | None,
    every: int,
) -> dict[Item, Any]:
    """Advance worlds step by step; arguments, errors and results as in `cardan.batch.record.rollout`.

    Results are arrays on the GPU (k, nstep // every, ...), but those for which `out` has NumPy arrays.
    """
    nstep, every, spec = integer("nstep", nstep), integer("every", every, 1), checked_spec(control_spec)
    inputs = _inputs(batch, control, spec, (len(worlds), nstep))
    count = len(worlds), nstep // every
    results = {}
    rows = checked_items(batch, record, out, count)
    for item, (shape, dtype) in rows.items():
        results[item] = DeviceArray.new(batch._transfers, (*count, *shape), dtype)
    before = _troubles(batch, worlds)
    told_before = bool(before[:, 0].any())  # the same warnings aren't told again
    start, failed = batch.get_state(STATE_INTEGRATION, worlds), dict[int, str]()
    runs = np.arange(len(worlds))  # places in the call of the worlds that have not stopped
    for k in range(nstep):
        if inputs is not None and len(runs):
            batch.set_state(inputs[:, k][runs], spec, worlds[runs])
        if len(runs):
            runs = runs[_stepped(batch, worlds[runs], failed)]
        if (k + 1) % every == 0:
            for item, array in results.items():  # worlds that have stopped have what they had
                array[:, (k + 1) // every - 1] = _values(batch, item, worlds)
        if len(runs) and (batch.__dict__["_warned"] or told_before):  # some world may have a new warning
            runs = runs[(_troubles(batch, worlds[runs]) <= before[runs]).all(axis=1)]
    if failed:  # they keep the state that they had
        places = np.flatnonzero(np.isin(worlds, list(failed)))
        batch.set_state(start[places], STATE_INTEGRATION, worlds[places])
        first = batch.__dict__["_first"]
        raise failure("rollout", {i + first: text for i, text in failed.items()}, len(worlds))
    for item, array in (out or {}).items():
        array[...] = results[item].numpy()
        results[item] = array
    return results


def _stepped(batch: GpuBatch, worlds: np.ndarray, failed: dict[int, str]) -> np.ndarray:
    """Which worlds have taken a step (k,); the errors of the others are kept in `failed`."""
    try:
        batch.step(worlds)
    except SimulationError:
        good = batch.status[worlds] == 0
        failed |= {i: batch.error(i) for i in worlds[~good].tolist()}
        return good
    return np.ones(len(worlds), bool)


def _troubles(batch: GpuBatch, worlds: np.ndarray) -> np.ndarray:
    """How many warnings each world has counted, and how often it was reset by checks (k, 2)."""
    batch.__dict__["_warned"] = False
    counted = batch._memories.view("warning.number")[worlds].numpy().sum(axis=1)
    return np.stack([counted, batch._memories.view("work.auto_resets")[worlds].numpy()], axis=1)


def _inputs(batch: GpuBatch, control: Any, spec: int, count: tuple[int, int]) -> DeviceArray | None:
    if control is None:
        return None
    shape = (*count, state_size(batch.model, spec))
    given = on_gpu(batch._transfers, control)
    values = np.asarray(control, batch.state.dtype) if given is None else given
    if values.shape != shape:
        raise ValueError(f"control should be of shape {shape}, got {values.shape}")
    if given is None:
        given = DeviceArray.new(batch._transfers, shape, batch.state.dtype)
        given[...] = values
    return given


def _values(batch: GpuBatch, item: Item, worlds: np.ndarray) -> Any:
    """What is recorded of an item, (k, ...)."""
    if not isinstance(item, str):
        return batch.get_state(int(item), worlds)
    return batch._memories.view(item)[worlds]
