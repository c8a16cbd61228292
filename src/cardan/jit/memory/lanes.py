"""Interleaved data of many worlds: element ``i`` of world ``w`` is element ``i * nworld + w`` of its field.

There is one slot table for all worlds. Its words have the same meaning as for one world: address, number of rows,
second dimension. Each scalar is an array with one number per world, and its slot holds the address of this array. All
worlds have equal capacities: if one world needs a larger capacity, the capacity grows for all worlds.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from cardan.jit.memory.fields import WORDS, Field, Struct, dimension
from cardan.jit.memory.layout import capacity_of

ALIGNMENT = 256
"""Alignment of every field in bytes: the size of one memory transaction of a GPU."""


@dataclass(frozen=True, slots=True)
class LaneLayout:
    """Layout of the fields of one block of memory.

    Attributes:
        places: shape (in one world), element type and offset in bytes of each field, by field name.
        nbytes: size of the block.
    """

    places: dict[str, tuple[tuple[int, ...], np.dtype, int]]
    nbytes: int

    def rows(self, struct: Struct, address: int) -> tuple[np.ndarray, np.ndarray]:
        """Return the indices of the fields' slots, and the contents of these slots for a block at `address`."""
        slots = np.array([struct.slot[name] for name in self.places], np.int64)
        rows = [
            (address + offset, shape[0] if shape else 0, shape[1] if len(shape) > 1 else 1)
            for shape, _, offset in self.places.values()
        ]
        return slots, np.array(rows, np.int64).reshape(-1, WORDS)


def lane_layout(
    struct: Struct, growable: frozenset[str], capacity: str | None, sizes: Mapping[str, int], worlds: int
) -> LaneLayout:
    """Lay out the fields whose length depends on `capacity`, for `worlds` worlds.

    If `capacity` is None, lay out the fields of fixed size and the scalars.

    `growable` are the names of capacities of `struct` that may grow, and `sizes` are the values of all sizes. Among the
    fields of fixed size, arrays of the same type are adjacent, without gaps, so that each type forms one array
    (`groups`). Arrays of real numbers are first, scalars are last.
    """
    fields = [f for f in struct.fields if not f.is_attached and capacity_of(f, growable) == capacity]
    if capacity is None:
        fields.sort(key=_kind)
    places: dict[str, tuple[tuple[int, ...], np.dtype, int]] = {}
    at, before = 0, -1
    for field in fields:
        shape = tuple(dimension(d, dict(sizes)) for d in field.shape)
        if capacity is not None or _kind(field) != before or field.is_scalar:
            at = -(-at // ALIGNMENT) * ALIGNMENT
        before = _kind(field)
        places[field.name] = (shape, field.numpy_dtype, at)
        at += math.prod(shape) * field.numpy_dtype.itemsize * worlds
    return LaneLayout(places, at)


BUFFERS = ("work.buffer", "work.buffer_i8", "work.buffer_i4", "work.buffer_u1")
"""Private fields, in the order of `groups`. Each covers all arrays of fixed size that have the same element type."""


def _kind(field: Field) -> int:
    """Return the rank of a field's kind: real arrays, arrays of integers of 8, 4 and 1 bytes, scalars."""
    dtype = field.numpy_dtype
    return 4 if field.is_scalar else 0 if dtype.kind == "f" else {8: 1, 4: 2, 1: 3}[dtype.itemsize]


def groups(struct: Struct, layout: LaneLayout, worlds: int) -> list[tuple[np.dtype, int, int]]:
    """List the groups of arrays of fixed size: element type, offset in bytes, number of elements per world.

    `layout` is the layout of the fields of `struct` that have a fixed size; `worlds` is the number of worlds.
    """
    found: dict[int, tuple[np.dtype, int, int]] = {}
    for name, (shape, dtype, offset) in layout.places.items():
        kind = _kind(struct.by_name[name])
        if kind < len(BUFFERS):
            kept, first, n = found.get(kind, (dtype, offset, 0))
            found[kind] = kept, first, n + math.prod(shape)
    return [found[kind] for kind in range(len(BUFFERS))]
