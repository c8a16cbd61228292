"""The data of all worlds in blocks: a field of fixed size is one strided array over the worlds.

Each world has what an MjData has: a slot table, a buffer with all arrays of fixed size, an arena a capacity. Those of
all worlds stand side by side, so that `view` gives ``(nworld, ...)`` arrays without a copy. A world whose arena must
grow gets arenas of its own; its fixed arrays stay.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping

import numpy as np

from cardan.jit.memory.fields import WORDS
from cardan.jit.memory.layout import ALIGNMENT, aligned_buffer, layout_of, scalars_of
from cardan.jit.memory.struct import StructMemory
from cardan.model import internals
from cardan.model.mjdata import MjData, attach_private, data_sizes, private_sizes
from cardan.model.mjmodel import MjModel
from cardan.model.tables import CAPACITIES, DATA

_HOMES = (None, *CAPACITIES)


class WorldMemories:
    """Memory of the data of many worlds of one model.

    Args:
        m: the model: it gives the sizes and the precision.
        count: number of worlds.
        capacities: capacities of each world's arena at the start.
    """

    def __init__(self, m: MjModel, count: int, capacities: Mapping[str, int]) -> None:
        self.worlds = count
        self.struct = internals.form(m).struct(DATA)
        self.sizes = data_sizes(m) | dict(capacities)
        self.slots = np.zeros((count, len(DATA.fields), WORDS), np.int64)
        self.calls = np.zeros(
            (count, 5), np.int64
        )  # of each world: place in a program (2), addresses of model and data, identity of the model
        self.lent: Mapping[str, np.ndarray] = {}
        self._growable = frozenset(CAPACITIES)
        self._layout = layout_of(self.struct, self._growable, None, self.sizes)
        self.dtype = self.struct.by_name["work.buffer"].numpy_dtype
        self._private = {name: np.zeros((count, size), self.dtype) for name, size in private_sizes(m).items()}
        self._blocks = {home: self._block(home) for home in _HOMES}
        self._attach("work.buffer", self._blocks[None].view(self.dtype), self._layout.nbytes // self.dtype.itemsize)
        for name, block in self._private.items():
            self._attach(name, block, block.shape[1])
        self.addresses = self.slots.ctypes.data + np.arange(count) * self.slots.strides[0]
        self.calls[:, 3] = self.addresses

    def _block(self, home: str | None) -> np.ndarray:
        """Storage of a capacity (None: fixed sizes) for all worlds, with the slots pointing at it."""
        layout = layout_of(self.struct, self._growable, home, self.sizes)
        stride = max(-(-layout.nbytes // ALIGNMENT), 1) * ALIGNMENT
        block = aligned_buffer(self.worlds * stride).reshape(self.worlds, stride)
        self.slots[:, layout.slots] = layout.rows
        self.slots[:, layout.slots, 0] += block.ctypes.data + stride * np.arange(self.worlds)[:, None]
        return block

    def attach_rows(self, name: str, rows: np.ndarray) -> None:
        """Point the slots of a one-dimensional private field at the rows (nworld, n) of an array, in C order."""
        self._private[name] = rows
        self._attach(name, rows, rows.shape[1])

    def lend(self, arrays: Mapping[str, np.ndarray], worlds: np.ndarray) -> None:
        """Point the slots of private fields of some worlds at the parts (k, ...) of arrays, in C order.

        The arrays are kept in `lent`, which the caller empties when they are no longer in use; data objects don't see
        them.
        """
        self.lent = arrays
        for name, rows in arrays.items():
            slot = DATA.slot[name]
            self.slots[worlds, slot, 0] = rows.ctypes.data + rows.strides[0] * np.arange(len(worlds))
            self.slots[worlds, slot, 1] = rows.shape[1]
            self.slots[worlds, slot, 2] = rows.shape[2] if rows.ndim > 2 else 1

    def share(self, name: str, array: np.ndarray) -> None:
        """Point the slots of a one-dimensional private field of all worlds at one array."""
        self._private[name] = np.broadcast_to(array, (self.worlds, len(array)))
        self.slots[:, DATA.slot[name]] = array.ctypes.data, len(array), 1

    def spread_scalars(self, memory: StructMemory) -> None:
        """Give all worlds the scalars of one world's new data."""
        scalars = list(scalars_of(DATA).values())
        self.slots[:, scalars] = memory.slots[scalars]

    def _attach(self, name: str, block: np.ndarray, length: int) -> None:
        """Point the slots of a one-dimensional field at the starts of a block's rows."""
        slot = DATA.slot[name]
        self.slots[:, slot, 0] = block.ctypes.data + block.strides[0] * np.arange(self.worlds)
        self.slots[:, slot, 1] = length
        self.slots[:, slot, 2] = 1

    def view(self, name: str) -> np.ndarray:
        """Live array (nworld, ...) over a scalar, or over an array of fixed size.

        Raises:
            KeyError: the field has no fixed size in this sense.
        """
        slot = scalars_of(DATA).get(name)
        if slot is not None:
            dtype, stride = self.struct.fields[slot].numpy_dtype, self.slots.strides[0]
            return np.ndarray((self.worlds,), dtype, self.slots, slot * WORDS * 8, (stride,))
        shape, dtype, offset = self._layout.places[name]
        strides = np.empty(shape, dtype).strides if 0 not in shape else (0,) * len(shape)
        block = self._blocks[None]
        return np.ndarray((self.worlds, *shape), dtype, block, offset, (block.strides[0], *strides))

    def count(self, name: str) -> np.ndarray:
        """Live int32 array (nworld,) over a count, whose 64-bit words never use their upper halves."""
        offset = DATA.slot[name] * WORDS * 8 + (0 if sys.byteorder == "little" else 4)
        return np.ndarray((self.worlds,), np.int32, self.slots, offset, (self.slots.strides[0],))

    def offset(self, name: str) -> int:
        """Place of an array of real numbers of fixed size in each world's buffer, in numbers of their size."""
        return self._layout.places[name][2] // self.dtype.itemsize

    def data(self, m: MjModel, i: int) -> MjData:
        """The live MjData of a world whose arena has not grown: to be made once, and kept."""
        buffers = {
            home: block[i, : layout_of(self.struct, self._growable, home, self.sizes).nbytes]
            for home, block in self._blocks.items()
        }
        memory = StructMemory(self.struct, self.sizes, CAPACITIES, self.slots[i], buffers)
        attach_private(memory, {name: block[i] for name, block in self._private.items()})
        return MjData.over(m, memory, self.calls[i])
