"""Structures in memory: a table of slots that native code and Python share.

A structure is a list of fields. Its instances own a *slot table*: three 64-bit words a field. For an array the words
are address, length and second dimension; for a scalar the first word holds the value itself. Native stages get the
address of the slot table and nothing else; the NumPy views of the Python classes look at the same memory.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import ClassVar

import numpy as np

from cardan.jit.fields import Field, dimension

WORDS = 3
ALIGNMENT = 64


class Struct:
    """Description of a structure: its fields, their slots and its groups.

    Args:
        name: name of the structure (``Model`` or ``Data``); known to the compiler of stages.
        fields: rows in slot order. New rows go to the end, so that compiled stages stay valid.
        readonly: whether stages may only read the structure.
    """

    registry: ClassVar[dict[str, Struct]] = {}

    def __init__(self, name: str, fields: Iterable[Field], *, readonly: bool) -> None:
        self.name = name
        self.fields: tuple[Field, ...] = tuple(fields)
        self.readonly = readonly
        self.slot: dict[str, int] = {field.name: i for i, field in enumerate(self.fields)}
        self.by_name: dict[str, Field] = {field.name: field for field in self.fields}
        if len(self.slot) != len(self.fields):
            raise ValueError(f"structure {name}: a field name stands twice")
        prefixes: dict[str, None] = {}
        for field in self.fields:
            parts = field.name.split(".")
            for depth in range(1, len(parts)):
                prefixes[".".join(parts[:depth]) + "."] = None
        self.prefixes: tuple[str, ...] = tuple(prefixes)
        Struct.registry[name] = self

    def members(self, prefix: str) -> list[Field]:
        """Fields directly in the group `prefix` (``"opt."``; ``""`` is the top level)."""
        n = len(prefix)
        return [f for f in self.fields if f.name.startswith(prefix) and "." not in f.name[n:]]


def aligned_buffer(nbytes: int) -> np.ndarray:
    """A zeroed byte buffer whose address is a multiple of 64 (cache lines, vector loads)."""
    raw = np.zeros(nbytes + ALIGNMENT, np.uint8)
    offset = -raw.ctypes.data % ALIGNMENT
    return raw[offset : offset + nbytes]


class StructMemory:
    """Memory of one instance: slot table, array storage and scalar views.

    Fields whose names are in `growable` get storage of their own, replaced when a capacity grows; all other arrays
    stand in one buffer.

    Args:
        struct: the description.
        sizes: values of all sizes that the shapes mention, capacities included.
        growable: names of capacities (sizes) that may grow; arrays that mention one live in the arena.
    """

    def __init__(self, struct: Struct, sizes: Mapping[str, int], growable: Iterable[str] = ()) -> None:
        self.struct = struct
        self.sizes = dict(sizes)
        self.growable = frozenset(growable)
        self.slots = np.zeros((len(struct.fields), WORDS), np.int64)
        self.arrays: dict[str, np.ndarray] = {}
        self.scalars: dict[str, np.ndarray] = {}
        self._place_scalars()
        self.buffer = self._place(f for f in struct.fields if self._is_fixed(f))
        self.arena: dict[str, np.ndarray] = {}
        for capacity in self.growable:
            self._place_arena(capacity)

    @property
    def address(self) -> int:
        """Address of the slot table: what native stages receive."""
        return self.slots.ctypes.data

    @property
    def arena_nbytes(self) -> int:
        """Bytes held by the growable arrays."""
        return sum(buffer.nbytes for buffer in self.arena.values())

    def grow(self, capacity: str, size: int) -> None:
        """Enlarge the arrays that are sized by `capacity`, keeping their contents."""
        old = {f.name: self.arrays[f.name] for f in self._arena_fields(capacity)}
        self.sizes[capacity] = size
        self._place_arena(capacity)
        for name, array in old.items():
            new = self.arrays[name]
            new[tuple(slice(0, n) for n in array.shape)] = array

    def attach(self, name: str, array: np.ndarray) -> None:
        """Make the field `name` (of first dimension ``"any"``) refer to `array`, which is kept alive."""
        field = self.struct.by_name[name]
        array = np.ascontiguousarray(array, field.numpy_dtype)
        self.arrays[name] = array
        self._set_slot(name, array.ctypes.data, array.shape)

    def copy_from(self, other: StructMemory) -> None:
        """Copy all values from `other`, which has the same sizes up to capacities."""
        for capacity in self.growable:
            if self.sizes[capacity] < other.sizes[capacity]:
                self.grow(capacity, other.sizes[capacity])
        self.buffer[:] = other.buffer
        for name, scalar in other.scalars.items():
            self.scalars[name][0] = scalar[0]
        for name, array in other.arrays.items():
            if self._grows(self.struct.by_name[name]):
                self.arrays[name][tuple(slice(0, n) for n in array.shape)] = array

    def _capacity(self, field: Field) -> str | None:
        for dim in field.shape:
            if isinstance(dim, str):
                for factor in dim.split("*"):
                    if factor in self.growable:
                        return factor
        return None

    def _grows(self, field: Field) -> bool:
        return self._capacity(field) is not None

    def _is_fixed(self, field: Field) -> bool:
        return not field.is_scalar and not field.is_attached and not self._grows(field)

    def _arena_fields(self, capacity: str) -> list[Field]:
        return [f for f in self.struct.fields if not f.is_scalar and self._capacity(f) == capacity]

    def _place_scalars(self) -> None:
        for i, field in enumerate(self.struct.fields):
            if field.is_scalar:
                self.scalars[field.name] = self.slots[i, :1].view(field.numpy_dtype)[:1]

    def _place_arena(self, capacity: str) -> None:
        self.arena[capacity] = self._place(self._arena_fields(capacity))

    def _place(self, fields: Iterable[Field]) -> np.ndarray:
        """Lay the arrays out in a new buffer and point their slots at it."""
        plan: list[tuple[Field, tuple[int, ...], int]] = []
        total = 0
        for field in fields:
            shape = tuple(dimension(d, self.sizes) for d in field.shape)
            plan.append((field, shape, total))
            nbytes = int(np.prod(shape, dtype=np.int64)) * field.numpy_dtype.itemsize
            total += -(-nbytes // 8) * 8
        buffer = aligned_buffer(total)
        base = buffer.ctypes.data
        for field, shape, offset in plan:
            self.arrays[field.name] = np.ndarray(shape, field.numpy_dtype, buffer.data, offset)
            self._set_slot(field.name, base + offset, shape)
        return buffer

    def _set_slot(self, name: str, address: int, shape: tuple[int, ...]) -> None:
        self.slots[self.struct.slot[name]] = address, shape[0], shape[1] if len(shape) > 1 else 1
