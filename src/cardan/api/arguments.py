"""Checks of arguments given by users. Errors state what is wrong and what would be right."""

from __future__ import annotations

from operator import index
from typing import Any

import numpy as np

from cardan.jit.binding.arguments import INTEGER_END
from cardan.model import internals
from cardan.model.mjdata import MjData
from cardan.model.mjmodel import MjModel


def check_pair(name: str, m: Any, d: Any) -> None:
    """Check that `m` is a model and that `d` is a data of the same sizes.

    Raises:
        TypeError: an argument has another type.
        ValueError: the data was made for a model of other sizes.
    """
    if isinstance(d, MjData) and m is d.model:
        return
    check_model(name, m)
    if not isinstance(d, MjData):
        raise TypeError(f"{name}: d must be an MjData, not {type(d).__name__}")
    if internals.sizes(m) != internals.sizes(d.model):
        raise ValueError(f"{name}: the MjData was made for a model of other sizes than the given MjModel")


def check_model(name: str, m: Any) -> None:
    """Check that `m` is a model; otherwise raise TypeError."""
    if not isinstance(m, MjModel):
        raise TypeError(f"{name}: m must be an MjModel, not {type(m).__name__}")


def integer(name: str, argument: str, value: Any, end: int = INTEGER_END) -> int:
    """Return `value` as an int. Raise TypeError if it is not an integer, or does not fit the type of C.

    Most arguments are of C's int. `end` is 2**32 or 2**64 for unsigned arguments, for which negative numbers are
    accepted, too.
    """
    try:
        number = index(value)
    except TypeError:
        raise TypeError(f"{name}: {argument} must be an integer, not {type(value).__name__}") from None
    lowest = -INTEGER_END if end == INTEGER_END else -(2**63)
    if not lowest <= number < end:
        bits = 32 if end <= 2 * INTEGER_END else 64
        raise TypeError(f"{name}: {argument} must be an integer of {bits} bits, not {number}")
    return number


def text(name: str, argument: str, value: Any) -> str:
    """Return `value`, a str or bytes, as text; raise TypeError for other types."""
    if isinstance(value, bytes | bytearray):
        return value.decode(errors="replace")
    if not isinstance(value, str):
        raise TypeError(f"{name}: {argument} must be a str, not {type(value).__name__}")
    return value


def writable_vector(name: str, argument: str, value: Any, size: int, what: str) -> np.ndarray:
    """Return `value` if it is a writable float64 vector (or column) of `size` numbers.

    Raises:
        TypeError: it is not; the message contains `what`, a description of the right size.
    """
    if not isinstance(value, np.ndarray) or value.dtype != np.float64 or not value.flags.writeable:
        raise TypeError(f"{name}: {argument} must be a writeable NumPy array of float64")
    if not value.flags.c_contiguous:
        raise TypeError(f"{name}: {argument} must be contiguous")
    if value.ndim > 2 or (value.ndim == 2 and value.shape[1] != 1) or value.size != size:
        raise TypeError(f"{argument} size should equal {what}")
    return value
