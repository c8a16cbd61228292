"""From columns to arrays: the values that the compiler collected go into the model's memory, a field at once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from itertools import chain
from math import prod
from struct import Struct, pack_into
from struct import error as NotPackable
from typing import TYPE_CHECKING, Any

import numpy as np

from cardan.jit.memory.struct import fields_of
from cardan.model.tables import MODEL

if TYPE_CHECKING:
    from cardan.jit.memory.struct import StructMemory

_FEW = 4  # rows, up to which nobody looks whether they are all the same
_CODES = {"f8": "d", "f4": "f", "i4": "i", "u1": "B", "char": "s"}
_CODE_OF = {field.name: _CODES[field.dtype] for field in fields_of(MODEL, frozenset(), None)}


def fill_columns(memory: StructMemory, columns: Mapping[str, Any]) -> None:
    """Fill fields of the model with their columns; columns of other names are the compiler's own.

    Args:
        memory: the model's memory.
        columns: the values of fields, one a row: a number, or a tuple of numbers; text is a sequence of bytes.

    Raises:
        ValueError: a column doesn't have as many values as its field.
    """
    places, buffer = memory.arrays.buffers[None][0].places, memory.buffer.data
    for name, column in columns.items():
        code = _CODE_OF.get(name)
        if not column or code is None:
            continue
        shape, _, offset = places[name]
        if code == "s":
            pack_into(f"{shape[0]}s", buffer, offset, bytes(column))
            continue
        try:
            count = _pack(buffer, offset, code, column, shape)
        except (NotPackable, OverflowError):  # not Python's own numbers, or beyond the range of the type
            values = np.array(column if len(shape) == 1 else [*chain.from_iterable(column)])
            count = values.size
            if count == prod(shape):
                memory.arrays[name][...] = values.reshape(shape)
        if count != prod(shape):
            raise ValueError(f"{name} has the shape {shape}, but its column holds {count} numbers")


def _pack(buffer: memoryview, offset: int, code: str, column: Sequence[Any], shape: tuple[int, ...]) -> int:
    """Write a column of a field of this shape into a buffer; return how many numbers it holds.

    For some hundred numbers this takes a third of the time of an assignment to an array.
    """
    same = len(shape) > 1 and _FEW < len(column) == shape[0] and column[0] is column[-1]
    if same and len(set(map(id, column))) == 1:
        row = _packer(code, len(column[0])).pack(*column[0])
        buffer[offset : offset + len(row) * len(column)] = row * len(column)
        return len(column) * len(column[0])
    values = column if len(shape) == 1 else [*chain.from_iterable(column)]
    _packer(code, len(values)).pack_into(buffer, offset, *values)
    return len(values)


@lru_cache(maxsize=1024)
def _packer(code: str, count: int) -> Struct:
    """What packs so many numbers of a type."""
    return Struct(f"{count}{code}")
