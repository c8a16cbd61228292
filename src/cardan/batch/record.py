"""Rollouts on a batch: steps with given inputs, fields recorded after them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from cardan.batch.select import integer, state_bits
from cardan.enums.data import mjtState
from cardan.step.state import state_fields, state_size

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
    """Advance worlds, set inputs before and record after each step, in one native call.

    A world that raises a warning stops; its remaining records are what it has then.

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
    memories = batch._memories
    widths = {item: batch._record_parts(item) for item in record}
    parts = np.concatenate([np.zeros(0, np.int64), *widths.values()])
    controls = np.zeros(0, np.int64) if inputs is None else batch._parts(state_fields(spec))
    rows = np.zeros((len(worlds), nstep // every, int(parts[2::3].sum())), memories.dtype)
    given = np.zeros((len(worlds), 0)) if inputs is None else _a_row_each(inputs)
    memories.view("work.batch_step")[worlds] = 0
    memories.view("work.batch_every")[worlds] = every
    memories.view("work.batch_warnings")[worlds] = memories.view("warning.number")[worlds].sum(axis=1)
    memories.view("work.batch_resets")[worlds] = memories.view("work.auto_resets")[worlds]
    arrays = {
        "work.batch_control": np.ascontiguousarray(given, memories.dtype),
        "work.batch_control_part": np.broadcast_to(controls, (len(worlds), len(controls))),
        "work.batch_record": _a_row_each(rows),
        "work.batch_record_part": np.broadcast_to(parts, (len(worlds), len(parts))),
    }
    batch._call("rollout", worlds, [("rollout", nstep)], arrays)
    at = 0
    for item, array in results.items():
        width = int(widths[item][2::3].sum())
        _take(array, rows[:, :, at : at + width])
        at += width
    return results


def _a_row_each(rows: np.ndarray) -> np.ndarray:
    """The same numbers (k, n, m) as one row a world, (k, n m), also of no world."""
    k, n, m = rows.shape
    return rows.reshape(k, n * m)


def _take(array: np.ndarray, rows: np.ndarray) -> None:
    """Copy the records of an item, whose numbers are the bytes that the field has in memory but for counts."""
    values = rows
    if array.dtype != rows.dtype and array.ndim > 2:
        values = np.ascontiguousarray(rows).view(array.dtype)[..., : int(np.prod(array.shape[2:]))]
    array[...] = values.reshape(array.shape)


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
    return (state_size(batch.model, state_bits("record", item)),), batch.state.dtype
