"""Description of the structures of the abstract scene: one row for each member."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np


class Member(NamedTuple):
    """One member of a structure.

    Attributes:
        name: as in MuJoCo's structure.
        dtype: NumPy's code of the element type (``"f4"``); ``"S100"`` is text of at most 99 bytes.
        shape: dimensions; a scalar has none.
        doc: meaning and unit, in a few words.
        default: value after construction; None: 0 or empty.
    """

    name: str
    dtype: str
    shape: tuple[int, ...]
    doc: str
    default: Any = None


def dtype_of(table: tuple[Member, ...]) -> np.dtype:
    """Return the NumPy structure with the members of a table, in their order, aligned as in C."""
    return np.dtype([(row.name, row.dtype, row.shape) for row in table], align=True)


def defaults_of(table: tuple[Member, ...], dtype: np.dtype) -> np.ndarray:
    """Return one structure with all defaults, of shape ()."""
    values = np.zeros((), dtype)
    for row in table:
        if row.default is not None:
            values[row.name] = row.default
    return values


def words_of(dtype: np.dtype) -> dict[str, int]:
    """Return the 32-bit word at which each member of a structure begins; a byte has the word that contains it."""
    return {name: offset // 4 for name, (_, offset, *_) in (dtype.fields or {}).items()}
