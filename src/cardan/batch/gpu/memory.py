"""Memory for the data of all worlds on a GPU: blocks of interleaved fields, one slot table, and shared capacities."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from cardan.batch.gpu.arrays import DeviceArray, c_strides
from cardan.batch.gpu.transfers import Transfers
from cardan.constants import mjNSOLVER
from cardan.jit.driver.cuda import GpuMemoryError, Memory
from cardan.jit.memory.fields import WORDS
from cardan.jit.memory.lanes import BUFFERS, LaneLayout, groups, lane_layout
from cardan.jit.memory.struct import StructMemory
from cardan.model import internals
from cardan.model.mjdata import MjData, data_sizes, private_sizes
from cardan.model.mjmodel import MjModel
from cardan.model.tables import CAPACITIES, DATA

STATISTICS = {"nstatistic": int(mjNSOLVER)}
"""Capacity of the solver's statistics: one island. MjData has room for twenty, which is 160 kB for each world."""

BLOCKS = (128, 64, 32)
"""Possible numbers of threads in a block: whole warps of 32 threads. Each thread simulates one world."""
BUSY = 2
"""Smallest number of blocks per multiprocessor. Larger blocks are used only if this many blocks remain."""


def block_size(count: int, multiprocessors: int) -> int:
    """Return the number of threads in a block. For few worlds, blocks are small, so that no multiprocessor is idle."""
    large = [size for size in BLOCKS if count >= BUSY * multiprocessors * size]
    return large[0] if large else BLOCKS[-1]


PLUGIN_MEMORY = ("work.plugin_number", "work.plugin_index", "work.plugin_start")
"""Fields with the data of plugin instances that compiled functions use."""


class GpuMemories:
    """Memory for the data of `count` worlds on a GPU, with the sizes and precision of a model.

    A block has `threads` threads (0: chosen by `block_size`). The number of worlds is rounded up to whole blocks.
    Results depend neither on the number of threads nor on the initial `capacities` of the arenas.

    Raises:
        GpuMemoryError: the GPU has no room for all worlds; the message states how many would fit.
    """

    def __init__(
        self, transfers: Transfers, m: MjModel, count: int, capacities: Mapping[str, int], threads: int = 0
    ) -> None:
        self.transfers, self.gpu = transfers, transfers.gpu
        self.nworld = count
        self.threads = threads or block_size(count, self.gpu.multiprocessors)
        self.blocks = -(-count // self.threads)
        self.worlds = self.blocks * self.threads
        self.struct = internals.form(m).struct(DATA)
        self.dtype = self.struct.by_name["work.buffer"].numpy_dtype
        self.sizes = data_sizes(m) | STATISTICS | dict(capacities)
        self._slots = np.zeros((len(DATA.fields), WORDS), np.int64)
        self._places: dict[str | None, tuple[LaneLayout, Memory]] = {}
        self._homes: dict[str, str | None] = {}
        self._private: dict[str, DeviceArray] = {}
        self._table = self.gpu.allocate(self._slots.nbytes)
        try:
            for capacity in (None, *CAPACITIES):
                self._place(capacity)
            for name, size in private_sizes(self.sizes).items():
                self.attach(name, (size,))
        except GpuMemoryError as error:
            need, (free, total) = self.nbytes(), self._emptied()
            fitting = int(0.9 * free * self.worlds / need) // self.threads * self.threads
            advice = f": {count} worlds were asked for, {fitting} would fit"
            raise GpuMemoryError(need, free, total, advice) from error
        layout, memory = self._places[None]
        for name, (_, offset, n) in zip(BUFFERS, groups(self.struct, layout, self.worlds), strict=True):
            self._slots[DATA.slot[name]] = memory.address + offset, n, 1
        self.publish()

    def nbytes(self) -> int:
        """Return the number of bytes that the data of all worlds needs, even if the GPU has less memory."""
        growable = frozenset(CAPACITIES)
        homes = (None, *CAPACITIES)
        return sum(lane_layout(self.struct, growable, home, self.sizes, self.worlds).nbytes for home in homes)

    def _emptied(self) -> tuple[int, int]:
        """Free all memory of this object. Return the GPU's free memory and its total memory, in bytes."""
        for _, memory in self._places.values():
            memory.free()
        for array in self._private.values():
            array._keep.free()
        self._table.free()
        return self.gpu.room()

    @property
    def address(self) -> int:
        """Address of the slot table, which never changes."""
        return self._table.address

    def publish(self) -> None:
        """Write the slot table to the GPU."""
        self._table.write(self._slots)

    def _place(self, capacity: str | None) -> None:
        """Allocate all fields whose size depends on `capacity` (None: fields of fixed size), and set their slots.

        The fields are filled with 0.
        """
        layout = lane_layout(self.struct, frozenset(CAPACITIES), capacity, self.sizes, self.worlds)
        memory = self.gpu.allocate(layout.nbytes)
        self._places[capacity] = layout, memory
        self._homes.update(dict.fromkeys(layout.places, capacity))
        slots, rows = layout.rows(self.struct, memory.address)
        self._slots[slots] = rows

    def view(self, name: str) -> DeviceArray:
        """Return a live array (nworld, ...) over a field. In the arena, it is live only until the arena grows."""
        if name in self._private:
            return self._private[name].view()
        layout, memory = self._places[self._homes[name]]
        shape, dtype, offset = layout.places[name]
        return self._array(memory, offset, shape, dtype)

    def _strides(self, shape: tuple[int, ...], itemsize: int) -> tuple[int, ...]:
        """Return the strides of an interleaved field, in which the same element of consecutive worlds is adjacent."""
        return (itemsize, *(self.worlds * s for s in c_strides(shape, itemsize)))

    def _array(self, memory: Memory, offset: int, shape: tuple[int, ...], dtype: np.dtype) -> DeviceArray:
        strides = self._strides(shape, dtype.itemsize)
        return DeviceArray(self.transfers, memory.address + offset, (self.nworld, *shape), strides, dtype, memory)

    def count(self, name: str) -> DeviceArray:
        """Return a live int32 array (nworld,) over a count."""
        return self.view(name).view(np.int32)  # the lower halves of 64-bit integers (little-endian)

    def offset(self, name: str) -> int:
        """Return the index of the first element of a fixed-size array of real numbers in a world's `work.buffer`."""
        return self._places[None][0].places[name][2] // self.dtype.itemsize // self.worlds

    def attach(self, name: str, shape: tuple[int, ...]) -> DeviceArray:
        """Allocate a private field, filled with 0, with `shape` in each world; return the array (nworld, ...)."""
        dtype = self.struct.by_name[name].numpy_dtype
        memory = self.gpu.allocate(int(np.prod(shape)) * self.worlds * dtype.itemsize)
        array = self._array(memory, 0, shape, dtype)
        self._slots[DATA.slot[name]] = memory.address, shape[0], shape[1] if len(shape) > 1 else 1
        self._private[name] = array
        return array

    def attach_plugins(self, start: StructMemory) -> None:
        """Copy the data of plugin instances from a new MjData to all worlds, so that `init` runs only once."""
        for name in PLUGIN_MEMORY:
            values = start.arrays[name]
            if values.size:
                self.attach(name, values.shape)[...] = values
        self.publish()

    def detach(self, name: str) -> None:
        """Free the memory of a private field."""
        self._slots[DATA.slot[name]] = 0
        del self._private[name]

    def clear(self, worlds: np.ndarray | None) -> None:
        """Set all arrays of fixed size to 0 in the worlds with ids `worlds` (None: in all worlds)."""
        layout, memory = self._places[None]
        for dtype, offset, n in groups(self.struct, layout, self.worlds):
            shape = (self.nworld if worlds is None else len(worlds), n)
            target = memory.address + offset, (dtype.itemsize, self.worlds * dtype.itemsize)
            self.transfers.move(shape, dtype.itemsize, target, 0, self.transfers.rows(worlds))

    def grow(self, capacity: str, need: int) -> None:
        """Enlarge a capacity of all worlds to at least `need`, as `MjData.grow` does, and keep the contents.

        Raises:
            GpuMemoryError: the GPU has too little memory; nothing was changed.
        """
        now = self.sizes[capacity]
        old, slots = self._places[capacity], self._slots.copy()
        self.sizes[capacity] = max(need + need // 4, now + now // 2, 16)
        try:
            self._place(capacity)
        except GpuMemoryError as error:
            self.sizes[capacity], self._slots[:] = now, slots
            advice = f", which {self.nworld} worlds need to have {capacity} grow from {now} to {need}"
            raise GpuMemoryError(error.asked, error.free, error.total, advice) from None
        layout, memory = old
        for name, (shape, dtype, offset) in layout.places.items():
            new_shape, _, new_offset = self._places[capacity][0].places[name]
            source = memory.address + offset, self._strides(shape, dtype.itemsize)
            target = self._places[capacity][1].address + new_offset, self._strides(new_shape, dtype.itemsize)
            self.transfers.move((self.nworld, *shape), dtype.itemsize, target, source)
        memory.free()
        self.publish()

    def copy_world(self, world: int, d: MjData) -> None:
        """Copy a world's data to `d`, an MjData in double precision. `d` keeps its own objects of plugin instances."""
        into = internals.memory(d)
        for capacity in into.growable:
            if capacity != "nstatistic" and into.sizes[capacity] < self.sizes[capacity]:
                into.grow(capacity, self.sizes[capacity])
        names = [name for layout, _ in self._places.values() for name in layout.places]
        names += (*private_sizes(self.sizes), *(name for name in PLUGIN_MEMORY if name in self._private))
        names.remove("plugin_data")
        for name, values in self._columns(world, names).items():
            if name in into.scalars:
                into.scalars[name][0] = values
            else:
                array = into.arrays[name]
                array[tuple(slice(0, n) for n in values.shape)] = values

    def _columns(self, world: int, names: list[str]) -> dict[str, np.ndarray]:
        """Gather fields of a world on the GPU, copy them to the host in one transfer, and return them by name."""
        views = {name: self.view(name)[world] for name in names}
        offsets, at = {}, 0
        for name, view in views.items():
            offsets[name] = at
            at += -(-view.size * view.dtype.itemsize // 8) * 8
        staging = self.transfers.staging(at)
        for name, view in views.items():
            shape, strides = (view.shape, view.strides) if view.shape else ((1,), (0,))
            target = staging.address + offsets[name], c_strides(shape, view.dtype.itemsize)
            self.transfers.move(shape, view.dtype.itemsize, target, (view.address, strides))
        words = staging.read((at,), np.uint8)
        return {
            name: np.ndarray(view.shape, view.dtype, words.data, offsets[name]) if view.size else np.zeros(view.shape)
            for name, view in views.items()
        }
