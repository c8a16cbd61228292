"""Which worlds a call is for: all, a mask, or ids."""

from __future__ import annotations

from typing import Any

import numpy as np

from cardan.enums import mjtState
from cardan.step.state import NSTATE


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
    """A mask of worlds from boolean values, or from 0 and 1.

    Raises:
        ValueError: there are other values.
    """
    given = np.asarray(values)
    if given.dtype != bool and not np.isin(given, (0, 1)).all():
        raise ValueError("mask should be made of True and False, a value a world; worlds by number are given as ids")
    return given.astype(bool)


def integer(name: str, value: Any, least: int = 0) -> int:
    """`value` as an integer of at least `least`.

    Raises:
        ValueError: it is smaller, or no integer.
    """
    number = np.asarray(value)
    if number.ndim or number.dtype.kind not in "iu" or int(number) < least:
        raise ValueError(f"{name} should be an integer of at least {least}, got {value!r}")
    return int(number)


def state_bits(name: str, spec: Any) -> int:
    """`spec` as bits of `mjtState`.

    Raises:
        ValueError: it is no integer, or has other bits.
    """
    bits = integer(name, spec.value if isinstance(spec, mjtState) else spec)
    if bits >= 1 << NSTATE:
        raise ValueError(f"{name} should be made of bits of mjtState, below 2^{NSTATE}, got {bits}")
    return bits


def per_world(name: str, value: Any, shape: tuple[int, ...], low: int, high: int) -> np.ndarray:
    """An integer for all worlds of a call, or one each, as int64 of a shape that starts with the number of worlds.

    Raises:
        ValueError: another shape, no integers, or one outside ``low <= value < high``.
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
