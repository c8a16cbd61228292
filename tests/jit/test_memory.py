"""Structures in memory: layouts of any sizes, arrays that are attached, made or shared."""

from __future__ import annotations

import numpy as np

from cardan.jit import Field, Struct, StructMemory
from cardan.jit.memory.struct import layout_of

STRUCT = Struct(
    "MemoryTest",
    [
        Field("count", "i8", (), "a scalar"),
        Field("grid", "f8", ("n", "m*3"), "two dimensions, one of them a product"),
        Field("flags", "u1", ("n",), "bytes"),
        Field("cube", "f4", ("n", 2, "m"), "three dimensions"),
        Field("table", "i4", ("any",), "attached"),
        Field("rows", "i4", ("any", 3), "attached, two dimensions"),
    ],
    readonly=False,
    registered=False,
)


def test_arrays_stand_one_after_the_other() -> None:
    layout = layout_of(STRUCT, frozenset(), None, {"n": 3, "m": 2})
    assert {name: (shape, offset) for name, (shape, _, offset) in layout.places.items()} == {
        "grid": ((3, 6), 0),
        "flags": ((3,), 144),
        "cube": ((3, 2, 2), 152),
    }
    assert layout.nbytes == 200
    assert layout.rows.tolist() == [[0, 3, 6], [144, 3, 1], [152, 3, 2]]


def test_absurd_sizes_are_told_and_not_laid_out() -> None:
    layout = layout_of(STRUCT, frozenset(), None, {"n": 2**31, "m": 2**31})
    assert layout.nbytes > 2**64  # would be small if it wrapped around


def test_new_arrays_and_links() -> None:
    memory, other = StructMemory(STRUCT, {"n": 1, "m": 1}), StructMemory(STRUCT, {"n": 1, "m": 1})
    memory.attach_new({"table": 3, "rows": 2})
    memory.arrays["table"][:] = [1, 2, 3]
    memory.arrays["rows"][:] = 7
    assert memory.arrays["table"].tolist() == [1, 2, 3]
    assert memory.arrays["rows"].shape == (2, 3)
    for name in ("table", "rows"):
        array = memory.arrays[name]
        assert memory.slots[STRUCT.slot[name]].tolist() == [array.ctypes.data, len(array), array.size // len(array)]
        assert array.ctypes.data % 8 == 0
    other.link(memory, {"table": "table"})
    assert "table" in other.arrays
    assert other.arrays["table"] is memory.arrays["table"]
    assert other.slots[STRUCT.slot["table"]].tolist() == memory.slots[STRUCT.slot["table"]].tolist()


def test_arrays_attached_together_are_those_attached_one_by_one() -> None:
    memory, other = StructMemory(STRUCT, {"n": 1, "m": 1}), StructMemory(STRUCT, {"n": 1, "m": 1})
    tables = {"table": np.arange(4, dtype=np.int32), "rows": np.zeros((2, 3), np.int32)}
    memory.attach_all(tables)
    memory.attach_all({})
    for name, table in tables.items():
        other.attach(name, table)
        assert memory.arrays[name] is table
        slot = STRUCT.slot[name]
        assert memory.slots[slot].tolist() == other.slots[slot].tolist()
