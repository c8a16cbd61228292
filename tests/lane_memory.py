"""Memory of the data of many worlds in the layout of GPUs, on this processor."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np

from cardan.jit.memory.fields import WORDS, Struct
from cardan.jit.memory.lanes import LaneLayout, groups, lane_layout
from cardan.jit.memory.layout import aligned_buffer
from cardan.jit.memory.struct import StructMemory


class Lanes:
    """Memory of the data of many worlds side by side.

    Args:
        struct: the description.
        sizes: values of all sizes that the shapes mention, capacities included.
        growable: names of capacities that may grow.
        worlds: number of worlds.
    """

    def __init__(self, struct: Struct, sizes: Mapping[str, int], growable: Iterable[str], worlds: int) -> None:
        self.struct, self.worlds = struct, worlds
        self.sizes, self.growable = dict(sizes), frozenset(growable)
        self.slots = np.zeros((len(struct.fields), WORDS), np.int64)
        self._homes: dict[str, str | None] = {}
        self._blocks: dict[str | None, tuple[LaneLayout, np.ndarray]] = {}
        self._attached: dict[str, np.ndarray] = {}
        for capacity in (None, *sorted(self.growable)):
            self._place(capacity)

    @property
    def address(self) -> int:
        """Address of the slot table."""
        return self.slots.ctypes.data

    @property
    def nbytes(self) -> int:
        """Bytes of all worlds, except for attached arrays."""
        return sum(block.nbytes for _, block in self._blocks.values())

    def block(self, capacity: str | None) -> tuple[LaneLayout, np.ndarray]:
        """Return layout and memory (bytes) of the fields of a capacity; None: those of fixed size."""
        return self._blocks[capacity]

    def _place(self, capacity: str | None) -> None:
        layout = lane_layout(self.struct, self.growable, capacity, self.sizes, self.worlds)
        block = aligned_buffer(layout.nbytes)
        self._blocks[capacity] = layout, block
        self._homes.update(dict.fromkeys(layout.places, capacity))
        slots, rows = layout.rows(self.struct, block.ctypes.data)
        self.slots[slots] = rows

    def _elements(self, name: str) -> np.ndarray:
        """Return a field in its order in memory (..., nworld)."""
        if name in self._attached:
            return self._attached[name]
        layout, block = self._blocks[self._homes[name]]
        shape, dtype, offset = layout.places[name]
        return np.ndarray((*shape, self.worlds), dtype, block.data, offset)

    def view(self, name: str) -> np.ndarray:
        """Return a live array (nworld, ...) over a field.

        Raises:
            KeyError: the structure does not have the field.
        """
        return np.moveaxis(self._elements(name), -1, 0)

    def numbers(self) -> np.ndarray:
        """Return all arrays of real numbers of fixed size as one array (n, nworld), in the order of the fields."""
        return self.group(0)

    def group(self, kind: int) -> np.ndarray:
        """Return all arrays of fixed size of a type (number of `BUFFERS`) as one array (n, nworld), in their order."""
        layout, block = self._blocks[None]
        dtype, offset, n = groups(self.struct, layout, self.worlds)[kind]
        return np.ndarray((n, self.worlds), dtype, block.data, offset)

    def offset(self, name: str) -> int:
        """Return the place of an array of real numbers of fixed size in `numbers`."""
        _, dtype, offset = self._blocks[None][0].places[name]
        return offset // dtype.itemsize // self.worlds

    def attach(self, name: str, array: np.ndarray) -> None:
        """Make a field refer to an array (..., nworld) in C order, which is kept alive."""
        if array.shape[-1] != self.worlds:
            raise ValueError(
                f"{name}: the last dimension should be that of the {self.worlds} worlds, got {array.shape}"
            )
        array = np.ascontiguousarray(array, self.struct.by_name[name].numpy_dtype)
        self._attached[name] = array
        columns = array.shape[1] if array.ndim > 2 else 1
        self.slots[self.struct.slot[name]] = array.ctypes.data, array.shape[0], columns

    def grow(self, capacity: str, size: int) -> None:
        """Enlarge the arrays of all worlds that are sized by `capacity`, keeping their contents."""
        old = {name: self._elements(name) for name in self._blocks[capacity][0].places}
        self.sizes[capacity] = size
        self._place(capacity)
        for name, array in old.items():
            self._elements(name)[tuple(slice(0, n) for n in array.shape)] = array

    def put(self, world: int, memory: StructMemory) -> None:
        """Copy the data of a single world in; capacities grow as needed.

        Attached arrays are not copied: there must be some for those that the code uses.
        """
        for capacity in self.growable:
            if memory.sizes[capacity] > self.sizes[capacity]:
                self.grow(capacity, memory.sizes[capacity])
        for field in self.struct.fields:
            if field.is_scalar:
                self.view(field.name)[world] = memory.scalars[field.name][0]
            elif not field.is_attached:
                array = memory.arrays[field.name]
                self.view(field.name)[(world, *(slice(0, n) for n in array.shape))] = array

    def clear(self, worlds: np.ndarray) -> None:
        """Zero the arrays of fixed size of some worlds, as a reset begins; scalars stay."""
        for name, (shape, _, _) in self._blocks[None][0].places.items():
            if shape:
                self._elements(name)[..., worlds] = 0
