"""Structures in memory: layouts of any sizes, arrays that are attached, made or shared."""

from __future__ import annotations

import numpy as np
import pytest

from cardan.jit import Field, Struct, StructMemory
from cardan.jit.memory.layout import address_of, buffer_without, layout_of
from cardan.jit.memory.struct import Link

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
    other.link(memory, Link({"table": "table"}))
    assert "table" in other.arrays
    assert other.arrays["table"] is memory.arrays["table"]
    assert other.slots[STRUCT.slot["table"]].tolist() == memory.slots[STRUCT.slot["table"]].tolist()


def test_a_link_shows_an_array_flat_where_its_own_field_is() -> None:
    source, flat = StructMemory(STRUCT, {"n": 1, "m": 1}), StructMemory(STRUCT, {"n": 1, "m": 1})
    source.attach("rows", np.arange(6, dtype=np.int32).reshape(2, 3))
    flat.link(source, Link({"table": "rows"}))
    assert flat.arrays["table"].tolist() == [0, 1, 2, 3, 4, 5]
    assert flat.slots[STRUCT.slot["table"], 0] == source.slots[STRUCT.slot["rows"], 0]


@pytest.mark.parametrize("array", [np.zeros(3), np.zeros((4, 4))[:, 1], np.arange(6)[2:]])
def test_address_of_an_array(array: np.ndarray) -> None:
    assert address_of(array) == array.ctypes.data
    array.flags.writeable = False
    assert address_of(array) == array.ctypes.data


def test_a_buffer_without_what_the_caller_fills() -> None:
    buffer = buffer_without(STRUCT, {"n": 3, "m": 2}, ())
    assert not buffer.any()
    assert len(buffer) == StructMemory(STRUCT, {"n": 3, "m": 2}).buffer.nbytes


def test_shared_arrays_are_those_attached_one_by_one() -> None:
    memory, other = StructMemory(STRUCT, {"n": 1, "m": 1}), StructMemory(STRUCT, {"n": 1, "m": 1})
    tables = {"table": np.arange(4, dtype=np.int32), "rows": np.zeros((2, 3), np.int32)}
    for name, table in tables.items():
        other.attach(name, table)
    memory.share(other.shared(tables))
    memory.share(other.shared(()))
    for name, table in tables.items():
        assert memory.arrays[name] is table
        slot = STRUCT.slot[name]
        assert memory.slots[slot].tolist() == other.slots[slot].tolist()
