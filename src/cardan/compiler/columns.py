"""From columns to arrays: the values that the compiler collected are written to the model's memory, field by field."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from itertools import chain
from struct import Struct, pack_into
from struct import error as NotPackable
from typing import TYPE_CHECKING, Any

import numpy as np

from cardan.jit.memory.struct import fields_of
from cardan.model.tables import MODEL

if TYPE_CHECKING:
    from cardan.jit.memory.struct import StructMemory

_FEW = 4  # with up to this many rows, equality of all rows is not checked
_CODES = {"f8": "d", "f4": "f", "i4": "i", "u1": "B", "char": "s"}
_FIELDS = fields_of(MODEL, frozenset(), None)
_ROW_OF = {field.name: (_CODES[field.dtype], k, len(field.shape) == 1) for k, field in enumerate(_FIELDS)}
"""Number format, index among the arrays, and whether the field has a single dimension, for each field."""


def fill_columns(memory: StructMemory, columns: Mapping[str, Any]) -> None:
    """Fill fields of the model with their columns; columns with other names are private to the compiler.

    Args:
        memory: the model's memory.
        columns: the values of fields, one entry a row: a number, or a tuple of numbers; text is a sequence of bytes.

    Raises:
        ValueError: the number of values in a column does not match its field.

    For a few hundred numbers, packing takes a third of the time of an assignment to an array.
    """
    layout, home = memory.arrays.buffers[None]
    offsets, counts, buffer = layout.places.offsets, layout.places.counts, home.data
    for name, column in columns.items():
        row = _ROW_OF.get(name)
        if row is None or not column:
            continue
        code, number, is_vector = row
        offset, count = offsets[number], counts[number]
        if code == "s":
            pack_into(f"{count}s", buffer, offset, bytes(column))
            continue
        try:
            if is_vector:
                _packer(code, count).pack_into(buffer, offset, *column)
            elif len(column) > _FEW and column[0] is column[-1] and _is_same(column, count):
                data = _packer(code, len(column[0])).pack(*column[0])
                buffer[offset : offset + len(data) * len(column)] = data * len(column)
            else:
                _packer(code, count).pack_into(buffer, offset, *chain.from_iterable(column))
        except (NotPackable, OverflowError):  # not Python numbers, out of range for the type, or too few
            _assign(memory.arrays[name], name, column)


def _is_same(column: Sequence[Any], count: int) -> bool:
    """Return whether all rows are the same object, with the required number of values."""
    first = column[0]
    return len(column) * len(first) == count and not [row for row in column if row is not first]


def _assign(array: np.ndarray, name: str, column: Sequence[Any]) -> None:
    """Assign a column of any numbers to a field."""
    values = np.array(column if array.ndim == 1 else [*chain.from_iterable(column)])
    if values.size != array.size:
        raise ValueError(f"{name} has the shape {array.shape}, but its column holds {values.size} numbers")
    array[...] = values.reshape(array.shape)


@lru_cache(maxsize=1024)
def _packer(code: str, count: int) -> Struct:
    """Return a function that packs `count` numbers of a type."""
    return Struct(f"{count}{code}")
