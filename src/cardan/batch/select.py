"""Which worlds a call is for: all, a mask, or ids."""

from __future__ import annotations

from typing import Any

import numpy as np


def selected(ids: Any, count: int) -> np.ndarray:
    """The worlds of a call as ids (k,) int64.

    Args:
        ids: None (all), a boolean mask (nworld,), or ids: sorted, unique, not negative.
        count: number of worlds.

    Raises:
        ValueError: none of these.
    """
    if ids is None:
        return np.arange(count)
    given = np.asarray(ids)
    if given.ndim != 1:
        raise ValueError(f"ids should be one-dimensional, got shape {given.shape}")
    if given.dtype == bool:
        if len(given) != count:
            raise ValueError(f"a mask of worlds should have length {count}, got {len(given)}")
        return np.flatnonzero(given)
    if given.size == 0:
        return np.zeros(0, np.int64)
    if given.dtype.kind not in "iu":
        raise ValueError(f"ids should be integers or a boolean mask, got {given.dtype}")
    given = given.astype(np.int64)
    if given[0] < 0 or given[-1] >= count or (np.diff(given) <= 0).any():
        raise ValueError(f"ids should be sorted, unique and in 0 ... {count - 1}, got {given.tolist()}")
    return given


def integer(name: str, value: Any, least: int = 0) -> int:
    """`value` as an integer of at least `least`.

    Raises:
        ValueError: it is smaller, or no integer.
    """
    number = np.asarray(value)
    if number.ndim or number.dtype.kind not in "iu" or int(number) < least:
        raise ValueError(f"{name} should be an integer of at least {least}, got {value!r}")
    return int(number)


def per_world(name: str, value: Any, k: int, low: int, high: int) -> np.ndarray:
    """An integer for all worlds of a call, or one each, as (k,) int64.

    Raises:
        ValueError: another shape, no integers, or one outside ``low <= value < high``.
    """
    given = np.asarray(value)
    if given.dtype.kind not in "iu" or given.shape not in ((), (k,)):
        raise ValueError(f"{name} should be an integer or {k} of them, got {value!r}")
    if given.size and not (low <= given.min() and given.max() < high):
        raise ValueError(f"{name} should be in {low} ... {high - 1}, got {value!r}")
    return np.broadcast_to(given, (k,)).astype(np.int64)
