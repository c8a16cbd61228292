"""Conversion of the memory of a model or data to a few byte strings, for pickles.

A pickle also contains a list of the fields. If this list equals the current tables, all bytes are copied at once.
Otherwise, the pickle is from another version, and only fields with equal names and shapes are read. Scalars must also
have equal types.
"""

from __future__ import annotations

from functools import cache, lru_cache
from typing import Any

import numpy as np

from cardan.jit.memory.fields import Field, Struct
from cardan.jit.memory.layout import layout_of, scalars_of
from cardan.jit.memory.struct import StructMemory


def packed(memory: StructMemory) -> dict[str, Any]:
    """Return the contents of a memory for a pickle: list of fields, sizes, scalars, and arrays (not attached ones)."""
    return {
        "fields": _listed(memory.struct),
        "sizes": dict(memory.sizes),
        "growable": sorted(memory.growable),
        "scalars": memory.slots[_scalar_slots(memory.struct), 0].tobytes(),
        "arrays": {home: buffer.tobytes() for home, (_, buffer) in memory.arrays.buffers.items()},
    }


def unpack(memory: StructMemory, state: dict[str, Any]) -> None:
    """Write the values that `packed` returned to a memory of equal sizes.

    Raises:
        ValueError: the pickle is damaged.
    """
    if state["fields"] != _listed(memory.struct):
        _unpack_by_name(memory, state)
        return
    memory.slots[_scalar_slots(memory.struct), 0] = np.frombuffer(state["scalars"], np.int64)
    for home, content in state["arrays"].items():
        _, buffer = memory.arrays.buffers[home]
        if len(content) != buffer.nbytes:
            raise ValueError(f"the pickle is damaged: {len(content)} bytes for arrays of {buffer.nbytes}")
        buffer[:] = np.frombuffer(content, np.uint8)


@lru_cache(maxsize=8)
def _listed(struct: Struct) -> str:
    """Return names, types and shapes of all fields as text, one field in each line."""
    return "\n".join(" ".join((f.name, f.dtype, *map(str, f.shape))) for f in struct.fields)


@cache
def _scalar_slots(struct: Struct) -> np.ndarray:
    return np.array(list(scalars_of(struct).values()), np.int64)


def _unpack_by_name(memory: StructMemory, state: dict[str, Any]) -> None:
    """Restore the fields that also exist in the current tables.

    Scalars must have equal types, arrays equal shapes.
    """
    rows = []
    for line in state["fields"].split("\n"):  # as in `_listed`
        name, dtype, *shape = line.split(" ")
        rows.append(Field(name, dtype, tuple(int(n) if n.isdigit() else n for n in shape)))
    struct = Struct("of another version", rows, readonly=True, registered=False)
    for name, number in zip(scalars_of(struct), np.frombuffer(state["scalars"], np.int64), strict=True):
        if name in memory.scalars and memory.struct.by_name[name].dtype == struct.by_name[name].dtype:
            memory.slots[memory.struct.slot[name], 0] = number
    for home, content in state["arrays"].items():
        layout = layout_of(struct, frozenset(state["growable"]), home, state["sizes"])
        for name, (shape, dtype, offset) in layout.places.items():
            if name in memory.arrays and memory.arrays[name].shape == shape:
                memory.arrays[name][...] = np.ndarray(shape, dtype, content, offset)
