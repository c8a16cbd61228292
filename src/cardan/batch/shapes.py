"""The arrays of a rollout: checked, repeated where a dimension is 1, made where they are missing."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

DIMENSIONS = {"initial_state": 2, "control": 3, "initial_warmstart": 2, "state": 3, "sensordata": 3}
"""Dimensions of each array: rollout, step (if 3), number."""

OUTPUTS = ("state", "sensordata")


def checked_rows(
    sizes: Mapping[str, int], nroll: int | None, nstep: int | None, given: Mapping[str, Any]
) -> dict[str, Any]:
    """Inputs and outputs of a rollout as full float64 arrays in C order, with shapes inferred from those given.

    Args:
        sizes: length of the last dimension of each array.
        nroll: number of rollouts, or None: inferred.
        nstep: number of steps, or None: inferred.
        given: the arrays, by name; None for those left out.

    Returns:
        The arrays by name; None for inputs left out.

    Raises:
        ValueError: an array isn't numeric, or shapes don't fit together.
    """
    arrays, count = inferred(sizes, nroll, nstep, given)
    return {name: _fill(name, array, sizes[name], count) for name, array in arrays.items()}


def inferred(
    sizes: Mapping[str, int], nroll: int | None, nstep: int | None, given: Mapping[str, Any]
) -> tuple[dict[str, np.ndarray | None], tuple[int, int]]:
    """The arrays with all their dimensions, not repeated yet, and the numbers of rollouts and of steps.

    Arguments and errors are those of `checked_rows`.
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
    """The same for arrays that already have their full sizes (arguments as in `checked_rows`).

    Raises:
        ValueError: `nroll` or `nstep` is missing, or an array has another number of elements.
    """
    if nroll is None or nstep is None:
        raise ValueError("skip_checks needs nroll and nstep")
    rows: dict[str, Any] = {}
    for name, value in given.items():
        shape = (nroll, nstep, sizes[name]) if DIMENSIONS[name] == 3 else (nroll, sizes[name])
        need = int(np.prod(shape))
        if value is not None and np.size(value) != need:
            raise ValueError(f"{name}.size should be {need}, got {np.size(value)}")
        array = None if value is None else _in_c_order(name, np.asarray(value, np.float64)).reshape(shape)
        rows[name] = np.zeros(shape) if array is None and name in OUTPUTS else array
    return rows


def results(rows: np.ndarray, given: Any) -> np.ndarray:
    """The output to return: the user's array, if there was one, with the results in it."""
    if isinstance(given, np.ndarray) and given.size == rows.size:
        if not np.shares_memory(given, rows):
            given[...] = rows.reshape(given.shape)
        return given if given.ndim == rows.ndim else rows
    return rows


def _as_array(name: str, value: Any) -> np.ndarray | None:
    """`value` as a float64 array with all its dimensions."""
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
    """Size of a dimension: as asked for, or that of the first array where it isn't 1."""
    size = value or 1
    for name, array in arrays.items():
        if array is None or array.shape[axis] in (1, size):
            continue
        if size != 1:
            raise ValueError(f"dimension {axis} inferred as {size} but {name} has {array.shape[axis]}")
        size = array.shape[axis]
    return size


def _fill(name: str, array: np.ndarray | None, size: int, count: tuple[int, int]) -> np.ndarray | None:
    """An array of full shape: repeated as needed; zeros if it is an output that wasn't given."""
    shape = (*count[: DIMENSIONS[name] - 1], size)
    if array is None:
        return np.zeros(shape) if name in OUTPUTS else None
    full = array if array.shape == shape else np.broadcast_to(array, shape)
    return _in_c_order(name, full)


def _in_c_order(name: str, array: np.ndarray) -> np.ndarray:
    """The array, or a copy of it if its rows are not in C order or it is an output that can't be written."""
    return np.require(array, requirements=["C", "W"] if name in OUTPUTS else ["C"])
