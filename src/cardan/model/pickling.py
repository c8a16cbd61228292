"""Conversion of the memory of a model or data to a few byte strings, for pickles.

A pickle also contains a list of the fields. If it was made with the same tables, the bytes are copied at once. If it
was made with other tables (by another version), the fields are read one by one, as far as names, types and shapes
agree.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache, lru_cache
from typing import Any

import numpy as np

from cardan.jit.memory.fields import Field, Struct
from cardan.jit.memory.layout import layout_of, scalars_of
from cardan.jit.memory.struct import StructMemory


def packed(memory: StructMemory) -> dict[str, Any]:
    """Return all values: sizes, scalars, arrays (except attached ones), and the list of the fields."""
    return {
        "fields": _listed(memory.struct),
        "sizes": dict(memory.sizes),
        "growable": sorted(memory.growable),
        "scalars": memory.slots[_scalar_slots(memory.struct), 0].tobytes(),
        "arrays": {home: buffer.tobytes() for home, (_, buffer) in memory.arrays.buffers.items()},
    }


def unpack(memory: StructMemory, state: dict[str, Any]) -> None:
    """Restore values into memory of the same sizes.

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
    """Return names, types and shapes of all fields, one in each line."""
    return "\n".join(" ".join((f.name, f.dtype, *map(str, f.shape))) for f in struct.fields)


@cache
def _scalar_slots(struct: Struct) -> np.ndarray:
    return np.array(list(scalars_of(struct).values()), np.int64)


def _struct_of(text: str) -> Struct:
    """Make the structure described by a text of `_listed`."""
    rows = []
    for line in text.split("\n"):
        name, dtype, *shape = line.split(" ")
        rows.append(Field(name, dtype, tuple(int(n) if n.isdigit() else n for n in shape)))
    return Struct("of another version", rows, readonly=True, registered=False)


def _unpack_by_name(memory: StructMemory, state: dict[str, Any]) -> None:
    """Restore the fields that both tables have."""
    struct = _struct_of(state["fields"])
    for name, number in zip(scalars_of(struct), np.frombuffer(state["scalars"], np.int64), strict=True):
        if name in memory.scalars and memory.struct.by_name[name].dtype == struct.by_name[name].dtype:
            memory.slots[memory.struct.slot[name], 0] = number
    for name, array in _arrays_of(struct, state):
        if name in memory.arrays and memory.arrays[name].shape == array.shape:
            memory.arrays[name][...] = array


def _arrays_of(struct: Struct, state: dict[str, Any]) -> Iterator[tuple[str, np.ndarray]]:
    growable, sizes = frozenset(state["growable"]), state["sizes"]
    for home, content in state["arrays"].items():
        for name, (shape, dtype, offset) in layout_of(struct, growable, home, sizes).places.items():
            yield name, np.ndarray(shape, dtype, content, offset)
