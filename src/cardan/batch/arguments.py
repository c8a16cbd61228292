"""Validation of arguments of batches (selected worlds, numbers) and of rollouts (arrays)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from cardan.enums import mjtState
from cardan.enums.base import MjEnum
from cardan.enums.numbering import bits_of, is_later
from cardan.step.state import NSTATE

DIMENSIONS = {"initial_state": 2, "control": 3, "initial_warmstart": 2, "state": 3, "sensordata": 3}
"""Number of dimensions of each array of a rollout: 3 for (rollout, step, element), 2 for (rollout, element)."""

OUTPUTS = ("state", "sensordata")


def checked_rows(
    sizes: Mapping[str, int], nroll: int | None, nstep: int | None, given: Mapping[str, Any]
) -> dict[str, Any]:
    """Return a rollout's inputs and outputs by name, as full-size float64 arrays in C order.

    `sizes` maps the name of each array to the length of its last dimension; `given` maps the name to the user's value
    or None. If `nroll` (number of rollouts) or `nstep` (number of steps) is None, it is inferred from the arrays.
    Omitted inputs are None; omitted outputs are new arrays.

    Raises:
        ValueError: an array isn't numeric, or shapes don't fit together.
    """
    arrays, count = inferred(sizes, nroll, nstep, given)
    rows: dict[str, Any] = {}
    for name, array in arrays.items():
        shape = (*count[: DIMENSIONS[name] - 1], sizes[name])
        if array is None:
            rows[name] = np.zeros(shape) if name in OUTPUTS else None
        else:
            rows[name] = _in_c_order(name, array if array.shape == shape else np.broadcast_to(array, shape))
    return rows


def inferred(
    sizes: Mapping[str, int], nroll: int | None, nstep: int | None, given: Mapping[str, Any]
) -> tuple[dict[str, np.ndarray | None], tuple[int, int]]:
    """Return the arrays, not yet broadcast but with all dimensions, and the numbers of rollouts and steps.

    Arguments and errors are as in `checked_rows`.
    """
    arrays = {name: _as_array(name, value) for name, value in given.items()}
    if arrays["initial_state"] is None:
        raise ValueError("initial_state must be a numpy array or float")
    for name, array in arrays.items():
        if array is not None and array.shape[-1] != sizes[name]:
            raise ValueError(f"trailing dimension of {name} must be {sizes[name]}, got {array.shape[-1]}")
    stepped = {name: array for name, array in arrays.items() if DIMENSIONS[name] == 3}
    return arrays, (_infer(0, nroll, arrays), _infer(1, nstep, stepped))


def unchecked_rows(
    sizes: Mapping[str, int], nroll: int | None, nstep: int | None, given: Mapping[str, Any]
) -> dict[str, Any]:
    """Return the result of `checked_rows` for inputs and outputs that already have their full sizes.

    Raises:
        ValueError: `nroll` or `nstep` is None, or an array has the wrong number of elements.
    """
    if nroll is None or nstep is None:
        raise ValueError("skip_checks needs nroll and nstep")
    rows: dict[str, Any] = {}
    for name, value in given.items():
        shape = (nroll, nstep, sizes[name]) if DIMENSIONS[name] == 3 else (nroll, sizes[name])
        need = int(np.prod(shape))
        if value is not None and np.size(value) != need:
            raise ValueError(f"{name}.size should be {need}, got {np.size(value)}")
        if value is None:
            rows[name] = np.zeros(shape) if name in OUTPUTS else None
        else:
            rows[name] = _in_c_order(name, np.asarray(value, np.float64)).reshape(shape)
    return rows


def results(rows: np.ndarray, given: Any) -> np.ndarray:
    """Return the results `rows` of a rollout. If the user's array `given` has the same size, also write them to it.

    If `given` also has the same number of dimensions, it is returned in place of `rows`.
    """
    if isinstance(given, np.ndarray) and given.size == rows.size:
        if not np.shares_memory(given, rows):
            given[...] = rows.reshape(given.shape)
        return given if given.ndim == rows.ndim else rows
    return rows


def _as_array(name: str, value: Any) -> np.ndarray | None:
    """Convert `value` to a float64 array. If it has too few dimensions (see `DIMENSIONS`), add some in front."""
    if value is None:
        return None
    if not isinstance(value, np.ndarray | float):
        raise ValueError(f"{name} must be a numpy array or float")
    array = np.asarray(value, np.float64)
    ndim = DIMENSIONS[name]
    if array.ndim > ndim:
        raise ValueError(f"{name} can have at most {ndim} dimensions")
    return array.reshape((1,) * (ndim - array.ndim) + array.shape)


def _infer(axis: int, value: int | None, arrays: Mapping[str, np.ndarray | None]) -> int:
    """Return the size of dimension `axis`: `value`, or (for None or 1) the first size other than 1 in the arrays.

    Raises:
        ValueError: an array has neither this size nor the size 1.
    """
    size = 1 if value is None else value
    for name, array in arrays.items():
        if array is None or array.shape[axis] in (1, size):
            continue
        if size != 1:
            raise ValueError(f"dimension {axis} inferred as {size} but {name} has {array.shape[axis]}")
        size = array.shape[axis]
    return size


def _in_c_order(name: str, array: np.ndarray) -> np.ndarray:
    """Return the array, or a copy of it if it is not in C order or is a read-only output."""
    return np.require(array, requirements=["C", "W"] if name in OUTPUTS else ["C"])


def selected(ids: Any, count: int) -> np.ndarray:
    """Return the ids (k,) int64 of the worlds of a call; `ids` is None (all), a mask (nworld,) or sorted, unique ids.

    Raises:
        ValueError: `ids` has the wrong shape or type, or ids are not sorted, not unique or out of range.
    """
    if ids is None:
        return np.arange(count)
    given = np.asarray(ids)
    if given.ndim != 1:
        raise ValueError(f"ids, or a mask, should be one-dimensional, got shape {given.shape}")
    if given.dtype == bool:
        if len(given) != count:
            raise ValueError(f"a mask of worlds should have length {count}, got {len(given)}")
        return np.flatnonzero(given)
    if given.size == 0:
        return np.zeros(0, np.int64)
    if given.dtype.kind not in "iu":
        raise ValueError(f"ids should be integers or a boolean mask, got {given.dtype}")
    given = given.astype(np.int64)
    outside = given[(given < 0) | (given >= count)]
    if outside.size:
        raise ValueError(f"ids should be in [0, {count}), got {outside[0]}")
    wrong = np.flatnonzero(np.diff(given) <= 0)
    if wrong.size:
        raise ValueError(f"ids should be sorted and unique, got {given[wrong[0]]} before {given[wrong[0] + 1]}")
    return given


def as_mask(values: Any) -> np.ndarray:
    """Return a boolean mask of worlds from booleans, zeros or ones; raise ValueError for other values."""
    given = np.asarray(values)
    if given.dtype != bool and not np.isin(given, (0, 1)).all():
        raise ValueError("mask should be made of True and False, a value a world; worlds by number are given as ids")
    return given.astype(bool)


def integer(name: str, value: Any, least: int = 0) -> int:
    """Return `value` as an integer; raise ValueError if it is not an integer or is smaller than `least`."""
    number = np.asarray(value)
    if number.ndim or number.dtype.kind not in "iu" or int(number) < least:
        raise ValueError(f"{name} should be an integer of at least {least}, got {value!r}")
    return int(number)


def state_bits(name: str, spec: Any) -> int:
    """Return `spec` as bits of `mjtState`; raise ValueError if it is not an integer or has unknown bits."""
    bits = bits_of(mjtState, spec if isinstance(spec, MjEnum) else integer(name, spec))
    if is_later():  # parts that the engine lacks are empty
        bits &= (1 << NSTATE) - 1
    if bits >= 1 << NSTATE:
        raise ValueError(f"{name} should be made of bits of mjtState, below 2^{NSTATE}, got {bits}")
    return bits


def input_bits(control_spec: Any) -> int:
    """Return `control_spec` as bits of the engine; raise ValueError if it exceeds mjSTATE_USER."""
    bits = bits_of(mjtState, control_spec)
    if bits & ~int(mjtState.mjSTATE_USER):
        raise ValueError("control_spec can only contain bits in mjSTATE_USER")
    return bits


def per_world(name: str, value: Any, shape: tuple[int, ...], low: int, high: int) -> np.ndarray:
    """Return integers, given once or for each world of a call, as an int64 array of `shape` (k, ...).

    Raises:
        ValueError: the shape is wrong, a number is not an integer, or a number is outside ``low <= value < high``.
    """
    given = np.asarray(value)
    try:
        full = np.broadcast_to(given, shape)
    except ValueError:
        raise ValueError(f"{name} should be of shape {shape}, got {given.shape}") from None
    if given.dtype.kind not in "iu":
        raise ValueError(f"{name} should be an integer, got {value!r}")
    if given.size and not (low <= given.min() and given.max() < high):
        raise ValueError(f"{name} should be in [{low}, {high}), got {value!r}")
    return full.astype(np.int64)
