"""Rollouts on a batch: steps with given inputs, fields recorded after them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from cardan.batch.select import integer
from cardan.enums.data import mjtState
from cardan.step.state import state_size

if TYPE_CHECKING:
    from cardan.batch.batch import Batch

Item = str | int


def rollout(
    batch: Batch,
    worlds: np.ndarray,
    nstep: int,
    control: Any,
    control_spec: int,
    record: Sequence[Item],
    out: Mapping[Item, np.ndarray] | None,
    every: int,
) -> dict[Item, np.ndarray]:
    """Advance worlds step by step, set inputs before and record after each.

    A world that raises a warning stops; its remaining records repeat its last ones.

    Args:
        batch: the batch.
        worlds: ids (k,).
        nstep: number of steps.
        control: inputs (k, nstep, size), or None: as they are.
        control_spec: what a row of them is made of: bits of `mjtState` within mjSTATE_USER.
        record: fields of the data by name, or bits of `mjtState`.
        out: arrays to record into, by item; the others are made.
        every: record after every so many steps.

    Returns:
        The arrays by item, (k, nstep // every, ...).

    Raises:
        ValueError: arguments that don't fit.
        SimulationError: some worlds failed.
    """
    nstep, every, spec = integer("nstep", nstep), integer("every", every, 1), checked_spec(control_spec)
    inputs = _inputs(batch, control, spec, (len(worlds), nstep))
    results = _results(batch, record, out, (len(worlds), nstep // every))
    numbers = batch._memories.view("warning.number")
    before = numbers[worlds].sum(axis=1)
    runs = np.ones(len(worlds), bool)
    for k in range(nstep):
        if inputs is not None:
            batch.set_state(inputs[runs, k], spec, worlds[runs])
        if runs.any():
            batch.step(worlds[runs])
        if (k + 1) % every == 0:
            _record(batch, worlds, runs, results, (k + 1) // every - 1)
        runs &= numbers[worlds].sum(axis=1) <= before
    return results


def checked_spec(control_spec: int) -> int:
    """Bits of `mjtState` for inputs.

    Raises:
        ValueError: there are others among them.
    """
    if int(control_spec) & ~int(mjtState.mjSTATE_USER):
        raise ValueError("control_spec can only contain bits in mjSTATE_USER")
    return int(control_spec)


def _inputs(batch: Batch, control: Any, spec: int, count: tuple[int, int]) -> np.ndarray | None:
    if control is None:
        return None
    shape = (*count, state_size(batch.model, spec))
    given = np.asarray(control, np.float64)
    if given.shape != shape:
        raise ValueError(f"control should be of shape {shape}, got {given.shape}")
    return given


def _results(
    batch: Batch, record: Sequence[Item], out: Mapping[Item, np.ndarray] | None, count: tuple[int, int]
) -> dict[Item, np.ndarray]:
    """The arrays that are recorded into: those given, or new ones."""
    rows = checked_items(batch, record, out, count)
    given = out or {}
    return {i: given[i] if i in given else np.empty((*count, *shape), dtype) for i, (shape, dtype) in rows.items()}


def checked_items(
    batch: Batch, record: Sequence[Item], out: Mapping[Item, np.ndarray] | None, count: tuple[int, int]
) -> dict[Item, tuple[tuple[int, ...], np.dtype]]:
    """Shape and element type of a record of each item.

    Args:
        batch: the batch.
        record: the items.
        out: arrays of the caller's to record into.
        count: numbers of worlds and of records.

    Raises:
        ValueError: there is no such field, or an array doesn't fit.
    """
    if isinstance(record, str):
        raise ValueError(f"record should be a list of fields and mjtState bits, got the string {record!r}")
    given = dict(out or {})
    unknown = [item for item in given if item not in record]
    if unknown:
        raise ValueError(f"out has arrays for {unknown}, which are not recorded")
    rows = {item: _row(batch, item) for item in record}
    for item, array in given.items():
        shape, dtype = rows[item]
        if not isinstance(array, np.ndarray) or array.shape != (*count, *shape) or array.dtype != dtype:
            raise ValueError(f"out[{item!r}] should be an array of shape {(*count, *shape)} and type {dtype}")
        if not array.flags.writeable:
            raise ValueError(f"out[{item!r}] can't be written")
    return rows


def _row(batch: Batch, item: Item) -> tuple[tuple[int, ...], np.dtype]:
    if isinstance(item, str):
        return batch.bind(item).shape[1:], batch._memories.struct.by_name[item].numpy_dtype
    return (state_size(batch.model, int(item)),), batch.state.dtype


def _record(batch: Batch, worlds: np.ndarray, runs: np.ndarray, results: dict[Item, np.ndarray], k: int) -> None:
    """Write one row of the worlds that run; the others repeat theirs."""
    for item, array in results.items():
        if k > 0:
            array[~runs, k] = array[~runs, k - 1]
        now = worlds[runs]
        array[runs, k] = batch.bind(item)[now] if isinstance(item, str) else batch.get_state(int(item), now)
