"""From columns to arrays: the values that the compiler collected go into the model's memory, a field at once."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import chain
from math import prod
from struct import error as NotPackable
from struct import pack_into
from typing import TYPE_CHECKING, Any

import numpy as np

from cardan.model.tables import MODEL

if TYPE_CHECKING:
    from cardan.jit.memory.struct import StructMemory

_CODES = {"f8": "d", "f4": "f", "i4": "i", "u1": "B"}


def fill_columns(memory: StructMemory, columns: Mapping[str, Any]) -> None:
    """Fill fields of the model with their columns; columns of other names are the compiler's own.

    Args:
        memory: the model's memory.
        columns: the values of fields, one a row: a number, or a tuple of numbers; text is a sequence of bytes.

    Raises:
        ValueError: a column doesn't have as many values as its field.
    """
    layout, buffer = memory.arrays.buffers[None][0], memory.buffer.data
    for name, column in columns.items():
        if not column or name not in layout.places:
            continue
        shape, _, offset = layout.places[name]
        kind = MODEL.by_name[name].dtype
        if kind == "char":
            pack_into(f"{shape[0]}s", buffer, offset, bytes(column))
            continue
        values = column if len(shape) == 1 else tuple(chain.from_iterable(column))
        if len(values) != prod(shape):
            raise ValueError(f"{name} has the shape {shape}, but its column holds {len(values)} numbers")
        try:
            # for some hundred numbers, in a third of the time of an assignment to an array
            pack_into(f"{len(values)}{_CODES[kind]}", buffer, offset, *values)
        except (NotPackable, OverflowError):  # not Python's own numbers, or beyond the range of the type
            memory.arrays[name][...] = np.array(values).reshape(shape)
