"""The models of the worlds on a GPU: one slot table for all worlds, or one for each world if fields are expanded.

Kernels find a world's table through two words in memory: the address of the first table, and the distance from one
table to the next (0 for one shared table). Captured launches therefore stay valid when fields are expanded.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from cardan.batch.gpu.arrays import DeviceArray, c_strides
from cardan.batch.gpu.transfers import Transfers
from cardan.batch.models import WorldModels
from cardan.jit.driver.cuda import Memory
from cardan.jit.front.stage import Form
from cardan.jit.memory.fields import WORDS
from cardan.jit.memory.layout import scalars_of
from cardan.model import internals
from cardan.model.derived import ADDRESSES
from cardan.model.mjdata import model_in
from cardan.model.mjmodel import MjModel
from cardan.model.tables import MODEL


@dataclass(frozen=True, slots=True)
class Uploaded:
    """Record of a model on the GPU: the model's slot table, and the last uploaded values of its function tables."""

    model: MjModel  # in host memory; as long as it exists, no other model has its id
    slots: np.ndarray
    numbers: dict[str, np.ndarray]
    keep: list[Memory]  # owners of the memory


class GpuModels(WorldModels):
    """The models of the worlds of a batch on a GPU."""

    def __init__(self, transfers: Transfers, m: MjModel, count: int, form: Form) -> None:
        super().__init__(m, count, form)
        self._transfers = transfers
        self._uploaded: dict[int, Uploaded] = {}  # by the id of the model
        self._control = transfers.gpu.allocate(2 * 8)
        self._tables: DeviceArray | None = None  # a slot table for each world (nworld, fields, words)
        self._shared = transfers.gpu.allocate(internals.memory(self.base).slots.nbytes)

    @property
    def address(self) -> int:
        """Address of the two words through which kernels find slot tables. It never changes."""
        return self._control.address

    # the shared model ------------------------------------------------------------

    def publish(self) -> None:
        """Upload the shared model if it is not on the GPU yet, and any changes in its function tables."""
        fresh = id(self.base) not in self._uploaded
        slots = self._on_gpu(self.base)
        if fresh:
            self._shared.write(slots)
            self._control.write(np.array([self._shared.address, 0], np.int64))

    def _on_gpu(self, m: MjModel) -> np.ndarray:
        """Upload a model, or changes in its function tables, to the GPU. Return the model's slot table there."""
        if id(m) not in self._uploaded:
            self._uploaded[id(m)] = self._upload(m)
        known = self._uploaded[id(m)]
        for name, before in known.numbers.items():
            now = internals.array(m, name)
            if not np.array_equal(before, now):
                self._write(int(known.slots[MODEL.slot[name], 0]), now)
                known.numbers[name] = now.copy()
        return known.slots

    def _write(self, address: int, values: np.ndarray) -> None:
        strides = c_strides(values.shape, values.itemsize)
        DeviceArray(self._transfers, address, values.shape, strides, values.dtype, None)[...] = values

    def _upload(self, m: MjModel) -> Uploaded:
        """Copy the arrays of a model to the GPU, and return a record of them."""
        gpu, memory = self._transfers.gpu, internals.memory(m)
        slots = memory.slots.copy()
        buffer = gpu.upload(memory.buffer)
        keep, start = [buffer], memory.buffer.ctypes.data
        for field in MODEL.fields:
            if field.is_scalar or field.name not in memory.arrays:
                continue
            slot, array = MODEL.slot[field.name], memory.arrays[field.name]
            if start <= slots[slot, 0] < start + memory.buffer.nbytes:
                slots[slot, 0] += buffer.address - start
            elif array.nbytes:
                keep.append(gpu.upload(array))
                slots[slot, 0] = keep[-1].address
        return Uploaded(m, slots, {name: memory.arrays[name].copy() for name in ADDRESSES}, keep)

    # fields that differ between worlds -------------------------------------------

    def _own_tables(self) -> DeviceArray:
        """Return one slot table for each world. The first call makes the tables, which kernels use from then on."""
        if self._tables is None:
            shape = (self.count, len(MODEL.fields), WORDS)
            self._tables = DeviceArray.new(self._transfers, shape, np.int64)
            self._tables[...] = self._on_gpu(self.base)
            self._transfers.gpu.wait()
            self._control.write(np.array([self._tables.address, self._tables.strides[0]], np.int64))
        return self._tables

    def _make(self, name: str) -> DeviceArray:  # type: ignore[override]
        tables, slot = self._own_tables(), MODEL.slot[name]
        if name in scalars_of(MODEL):
            dtype = internals.memory(self.base).struct.fields[slot].numpy_dtype
            first = tables.address + slot * WORDS * 8
            return DeviceArray(self._transfers, first, (self.count,), (tables.strides[0],), dtype, tables)
        array = internals.array(self.base, name)
        values = DeviceArray.new(self._transfers, (self.count, *array.shape), array.dtype)
        values[...] = array
        if array.size:
            tables[:, slot, 0] = values.address + values.strides[0] * np.arange(self.count)
        return values

    def model(self, i: int) -> MjModel:
        """Return a world's model in host memory, in the form of the batch.

        The world's own values are included only if stages depend on them (see `WorldModels.flexible`).
        """
        if self.given is not None:
            return self._running[i]
        if not self.flexible:
            return self.base
        new = model_in(internals.form(self.base), self.exported(i))
        internals.share_numbers(new, self.base)
        return new

    def set(self, models: MjModel | Sequence[MjModel] | None) -> None:
        """Use the caller's models (see `WorldModels.set`)."""
        super().set(models)
        used = {id(m) for m in (self.base, *(self._running if models is not None else ()))}
        self._uploaded = {number: known for number, known in self._uploaded.items() if number in used}
        if models is None:
            self._tables = None
            self._control.write(np.array([self._shared.address, 0], np.int64))
            return
        for m in {id(m): m for m in self._running}.values():
            internals.share_numbers(m, self.base)
        self.renew_given()

    def renew_given(self) -> None:
        """Upload the caller's models, or changes in their function tables, and set the worlds' slot tables."""
        tables = self._own_tables()
        known = {id(m): self._on_gpu(m) for m in {id(m): m for m in self._running}.values()}
        tables[...] = np.stack([known[id(m)] for m in self._running])
