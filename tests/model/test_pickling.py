"""Memory as bytes: the same tables, and tables of another version."""

from __future__ import annotations

import numpy as np
import pytest

from cardan.jit.memory.fields import Field, Struct
from cardan.jit.memory.struct import StructMemory
from cardan.model.pickling import packed, unpack

ROWS = [
    *(Field("n", "i8", ()), Field("time", "f8", ()), Field("size", "i4", ())),
    *(Field("pos", "f8", ("n", 3)), Field("kind", "i4", ("n",)), Field("force", "f8", ("nefc",))),
]


def memory_of(rows: list[Field]) -> StructMemory:
    return StructMemory(Struct("test", rows, readonly=False, registered=False), {"n": 5, "nefc": 7}, ("nefc",))


def filled(rows: list[Field]) -> StructMemory:
    memory = memory_of(rows)
    for k, name in enumerate(memory.arrays.names()):
        memory.arrays[name][...] = k + np.arange(memory.arrays[name].size).reshape(memory.arrays[name].shape)
    for k, name in enumerate(memory.scalars.names()):
        memory.scalars[name][0] = 10 + k
    return memory


def values(memory: StructMemory) -> dict[str, list[float]]:
    return {name: view.tolist() for name, view in [*memory.arrays.items(), *memory.scalars.items()]}


def test_same_tables():
    old, new = filled(ROWS), memory_of(ROWS)
    unpack(new, packed(old))
    assert values(new) == values(old)


def test_tables_of_another_version():
    rows = [Field("gone", "f8", ("n",)), *reversed(ROWS), Field("kept", "f8", ())]
    changed = [Field("kind", "f8", ("n",)) if f.name == "kind" else f for f in ROWS]
    old, new = filled(rows), memory_of([*changed, Field("added", "f8", ("n",))])
    unpack(new, packed(old))
    expected = {**values(old), "added": [0.0] * 5}
    assert values(new) == {name: expected[name] for name in values(new)}


def test_damaged():
    state = packed(filled(ROWS))
    state["arrays"][None] = state["arrays"][None][:-1]
    with pytest.raises(ValueError, match="damaged"):
        unpack(memory_of(ROWS), state)
