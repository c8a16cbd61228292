"""Shadows: memory for the tangents of a model's and a data's fields, in blocks of directions.

A shadow has `LANES` numbers for each number of its field. Blocks are worked on one after the other; most fields have
one shadow for all blocks, inputs and results one a block.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from types import MappingProxyType

import numpy as np

from cardan.jit.memory.struct import WORDS, StructMemory, aligned_buffer

LANES = 8
"""Directions of a block."""


class Shadows:
    """Shadows of fields of one structure.

    Args:
        memory: the structure.
        blocks: number of blocks.
        fields: names of the fields that have a shadow.
        own: those of them that have a shadow of their own in each block.
        common: shadows that are there already, (numbers, LANES), by field: one for all blocks.
    """

    def __init__(
        self,
        memory: StructMemory,
        blocks: int,
        fields: Collection[str],
        own: Collection[str],
        common: Mapping[str, np.ndarray] = MappingProxyType({}),
    ) -> None:
        self.memory = memory
        self.tables = np.zeros((blocks, len(memory.struct.fields), WORDS), np.int64)
        self.arrays: dict[str, np.ndarray] = {}
        self._sizes: dict[str, int] = {}
        self._own = frozenset(own)
        for name in fields:
            if name in common:
                self._point(name, common[name][None])
            else:
                self._place(name)

    @property
    def address(self) -> int:
        """Address of the slot table of the first block."""
        return self.tables.ctypes.data

    @property
    def stride(self) -> int:
        """Bytes from a block's slot table to the next."""
        return self.tables.strides[0]

    def size(self, name: str) -> int:
        """Numbers of a field now."""
        return 1 if self.memory.struct.by_name[name].is_scalar else int(self.memory.arrays[name].size)

    def _place(self, name: str) -> None:
        size, blocks = self.size(name), len(self.tables)
        copies = blocks if name in self._own else 1
        shape = (copies, max(size, 1), LANES)
        self._point(name, np.ndarray(shape, np.float64, aligned_buffer(8 * int(np.prod(shape))).data))

    def _point(self, name: str, array: np.ndarray) -> None:
        """Let a field have a shadow (1 or blocks, numbers, LANES)."""
        size = self._sizes[name] = self.size(name)
        self.arrays[name] = array
        slot, copies = self.memory.struct.slot[name], len(array)
        self.tables[:, slot, 0] = array.ctypes.data + (np.arange(copies) * array.strides[0] if copies > 1 else 0)
        self.tables[:, slot, 1:] = size, LANES

    def follow(self) -> None:
        """Enlarge the shadows of fields that have grown."""
        for name, size in self._sizes.items():
            if self.size(name) != size:
                self._place(name)

    def clear(self) -> None:
        """Set all tangents to 0."""
        for array in self.arrays.values():
            array[...] = 0.0

    def columns(self, name: str, count: int) -> np.ndarray:
        """The tangents of a field with a shadow in each block as a matrix: a row a number, a column a direction."""
        array = self.arrays[name]
        return array.transpose(1, 0, 2).reshape(array.shape[1], -1)[: self._sizes[name], :count]
