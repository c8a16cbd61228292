"""Worlds on a GPU: memory, programs of launches, memory that grows. What a batch on CUDA will stand on.

Assembled, not run: there was no GPU. Tests run it against a fake of the driver that executes the same stages on this
processor. `cardan.Batch` does not use it yet.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from hashlib import sha256
from types import MappingProxyType
from typing import Any

import numpy as np

from cardan.batch.errors import SimulationError
from cardan.collision.table import attach_colliders
from cardan.jit.cache import store as disk
from cardan.jit.cache.fingerprint import fingerprint
from cardan.jit.driver.cuda import Gpu, GpuMemoryError, Memory
from cardan.jit.front.form import CALL, DOUBLE, INTERLEAVED, Form
from cardan.jit.front.stage import Entry, entry_of
from cardan.jit.layout.lanes import Lanes
from cardan.jit.memory.struct import StructMemory
from cardan.jit.target.ptx import Code, ptx
from cardan.model.forms import model_in
from cardan.model.mjdata import MjData, private_sizes
from cardan.model.mjmodel import MjModel
from cardan.model.tables import CAPACITIES, DATA, MODEL
from cardan.step.pipeline import PROGRAMS, cached_program, resolve
from cardan.step.report import report_warnings
from cardan.step.run import run
from cardan.step.status import DIVERGED

THREADS = 128
"""Threads of a block."""
AT, STATUS, LEFT = range(3)
MOST_REPEATS = 64
"""How often memory may grow within one call."""

Functions = Sequence[Callable[..., Any]]


def gpu_source(entry: Entry, form: Form, called: Sequence[Entry]) -> str:
    """The PTX of a stage, from the cache or made now; `called`: what it calls by number, from 1 on."""
    keys = [fingerprint(e, form) for e in (entry, *called)]
    key = sha256("\n".join(keys).encode()).hexdigest()
    stored = disk.read(f"ptx.{entry.name}", key)
    if stored is not None:
        return stored[1].decode()
    from cardan.jit.front.compile import linked_module

    text = linked_module(entry, form)
    used = called if f"@{CALL}(" in text else ()
    source = ptx(Code(entry.symbol, text, tuple(Code(e.symbol, linked_module(e, form)) for e in used)))
    disk.write(f"ptx.{entry.name}", key, entry.symbol, source.encode())
    return source


class GpuWorlds:
    """Worlds of one model on a GPU.

    Args:
        model: the model; it is copied.
        count: number of worlds.
        gpu: where they live.
        dtype: ``"float64"`` or ``"float32"``.
        items: lists of stages that `step` runs.
        source: makes the code of a stage: `gpu_source`.
        capacities: room of each world's arena at the start, by the name of the capacity; what is left out is what the
            default state needs. It changes no result.

    Raises:
        ValueError: the model has something that GPU code does not have yet; it is named.
        GpuMemoryError: the GPU has no room for so many worlds; the message says for how many.
    """

    def __init__(
        self,
        model: MjModel,
        count: int,
        gpu: Gpu,
        dtype: str = DOUBLE,
        items: tuple[Any, ...] = PROGRAMS["mj_step"],
        source: Callable[[Entry, Form, Sequence[Entry]], str] = gpu_source,
        capacities: Mapping[str, int] = MappingProxyType({}),
    ) -> None:
        self.gpu, self.count = gpu, count
        self.blocks = -(-count // THREADS)
        self.form = Form(INTERLEAVED, dtype)
        self.stages = _stages(model, items)
        self._functions: list[Callable[..., Any]] = []
        self._keep: list[Memory] = []  # what is freed by `close`, but for the blocks
        self.model = model_in(self.form, model)
        self.model.__dict__["references"] = self._numbers  # what its tables hold
        attach_colliders(self.model)
        self._lanes = self._first_data(model, capacities)
        self._blocks: dict[str | None, Memory] = {}
        try:
            self._upload()
        except GpuMemoryError as error:
            self._free()
            room = self._worlds_that_fit(*gpu.room())
            advice = f": {count} worlds were asked for, {room} would fit"
            raise GpuMemoryError(self._lanes.nbytes, *gpu.room(), advice) from error
        called = [entry_of(function) for function in self._functions]
        self._kernels = [
            gpu.kernel(entry.name, source(entry, self.form, called)) for entry in map(entry_of, self.stages)
        ]
        self._graph = gpu.capture(self._launch_all)

    # memory ----------------------------------------------------------------------

    def _numbers(self, functions: Functions) -> list[int]:
        """The numbers of functions, from 1 on: what stands for them in the model's tables."""
        for function in functions:
            if function not in self._functions:
                self._functions.append(function)
        return [self._functions.index(function) + 1 for function in functions]

    def _first_data(self, m: MjModel, capacities: Mapping[str, int]) -> Lanes:
        """All worlds at the default state, on this machine, with room for what that state needs."""
        scout, start = MjData(m), MjData(m)
        run(cached_program(m, "mj_forward", PROGRAMS["mj_forward"]), m, scout)
        struct = self.form.struct(DATA)
        sizes = start._memory.sizes | {name: scout._memory.sizes[name] for name in CAPACITIES}
        sizes |= capacities
        lanes = Lanes(struct, sizes, CAPACITIES, self.blocks * THREADS)
        for field in struct.fields:
            if field.is_scalar:
                lanes.view(field.name)[:] = start._memory.scalars[field.name][0]
            elif not field.is_attached and start._memory.arrays.home[field.name] is None:
                lanes.view(field.name)[:] = start._memory.arrays[field.name]
        return lanes

    def _upload(self) -> None:
        """Put model and worlds on the GPU, and two slot tables that say where."""
        gpu, lanes = self.gpu, self._lanes
        self._slots = lanes.slots.copy()
        self._table = self._kept(gpu.allocate(self._slots.nbytes))
        for capacity in (None, *CAPACITIES):
            self._place(capacity)
        for name, size in private_sizes(self.model).items():
            dtype = lanes.struct.by_name[name].numpy_dtype
            memory = self._kept(gpu.allocate(size * lanes.worlds * dtype.itemsize))
            self._slots[DATA.slot[name]] = memory.address, size, 1
        self._table.write(self._slots)
        self._rows = self._kept(gpu.upload(np.zeros((3, lanes.worlds), np.int64)))
        self._model_table = self._kept(gpu.upload(self._model_slots(self.model._memory)))

    def _kept(self, memory: Memory) -> Memory:
        """The same; freed by `close`."""
        self._keep.append(memory)
        return memory

    def _place(self, capacity: str | None) -> None:
        """Put the fields of a capacity into memory of their own."""
        layout, block = self._lanes.block(capacity)
        self._blocks.pop(capacity, None)
        memory = self._blocks[capacity] = self.gpu.upload(block[: layout.nbytes])
        slots, rows = layout.rows(self._lanes.struct, memory.address)
        self._slots[slots] = rows

    def _model_slots(self, memory: StructMemory) -> np.ndarray:
        """The model's slot table for the GPU; its arrays are copied there."""
        slots = memory.slots.copy()
        buffer = self._kept(self.gpu.upload(memory.buffer))
        start = memory.buffer.ctypes.data
        for field in MODEL.fields:
            if field.is_scalar or field.name not in memory.arrays:
                continue
            slot, array = MODEL.slot[field.name], memory.arrays[field.name]
            if start <= slots[slot, 0] < start + memory.buffer.nbytes:
                slots[slot, 0] += buffer.address - start
            elif array.nbytes:
                slots[slot, 0] = self._kept(self.gpu.upload(array)).address
        return slots

    def _worlds_that_fit(self, free: int, total: int) -> int:
        """For how many worlds there is room, with a tenth to spare."""
        return int(0.9 * free * self._lanes.worlds / self._lanes.nbytes) // THREADS * THREADS

    def _grow(self, capacity: str, need: int) -> None:
        """Enlarge a capacity of all worlds, as `MjData.grow` does; their contents stay."""
        now = self._lanes.sizes[capacity]
        _, block = self._lanes.block(capacity)
        block[:] = self._blocks[capacity].read(block.shape, block.dtype)
        self._lanes.grow(capacity, max(need + need // 4, now + now // 2, 16))
        self._place(capacity)
        self._table.write(self._slots)

    def _where(self, name: str) -> tuple[Memory, tuple[int, ...], np.dtype, int]:
        """Memory, shape there, element type and offset of a field."""
        for capacity, memory in self._blocks.items():
            layout, _ = self._lanes.block(capacity)
            if name in layout.places:
                shape, dtype, offset = layout.places[name]
                return memory, (*shape, self._lanes.worlds), dtype, offset
        raise KeyError(f"the data has no field {name!r} of its own on the GPU")

    def read(self, name: str) -> np.ndarray:
        """A copy (nworld, ...) of a field of all worlds.

        Raises:
            KeyError: there is no such field.
        """
        memory, shape, dtype, offset = self._where(name)
        return np.moveaxis(memory.read(shape, dtype, offset), -1, 0)[: self.count]

    def write(self, name: str, values: Any) -> None:
        """Set a field of all worlds to (nworld, ...) values, or to one for all of them.

        Raises:
            KeyError: there is no such field.
            ValueError: the shapes don't fit.
        """
        memory, shape, dtype, offset = self._where(name)
        rows = memory.read(shape, dtype, offset)
        np.moveaxis(rows, -1, 0)[: self.count] = values
        memory.write(rows, offset)

    # steps -----------------------------------------------------------------------

    def _launch_all(self) -> None:
        """Start the launches of one step."""
        words = self._model_table.address, self._table.address
        for k, kernel in enumerate(self._kernels):
            following = (k + 1) % len(self._kernels)
            self.gpu.launch(kernel, self.blocks, THREADS, *words, k, following, self._rows.address)

    def step(self, nstep: int = 1, mask: np.ndarray | None = None) -> None:
        """Advance worlds, those of a boolean mask (nworld,) or all, by a number of steps.

        Raises:
            SimulationError: some worlds failed; the others ran to the end.
            GpuMemoryError: memory had to grow, and there is no room.
        """
        rows = np.zeros((3, self._lanes.worlds), np.int64)
        rows[LEFT, : self.count] = nstep if mask is None else np.where(mask, nstep, 0)
        for _ in range(MOST_REPEATS):
            self._rows.write(rows)
            for _ in range(int(rows[LEFT, rows[STATUS] == 0].max(initial=0))):
                self._graph.launch()
            rows = self._rows.read(rows.shape, rows.dtype)
            if not self._answer(rows):
                break
        failed = np.flatnonzero(rows[LEFT])
        if failed.size:
            raise SimulationError(_failures(rows, failed, self.stages), failed.tolist())

    def _answer(self, rows: np.ndarray) -> bool:
        """Give worlds the memory that they asked for; returns whether any can go on."""
        asked = False
        for number, capacity in enumerate(CAPACITIES, start=1):
            worlds = np.flatnonzero(rows[STATUS, : self.count] == number)
            if worlds.size:
                self._grow(capacity, int(self.read("work.need")[worlds].max()))
                rows[STATUS, worlds] = 0
                asked = True
        return asked

    def close(self) -> None:
        """Free the memory on the GPU."""
        self._graph.free()
        self._free()

    def _free(self) -> None:
        for memory in (*self._blocks.values(), *self._keep):
            memory.free()


def _stages(m: MjModel, items: tuple[Any, ...]) -> list[Callable[..., Any]]:
    """The stages of a program on a GPU.

    Raises:
        ValueError: the model has something that GPU code does not have yet.
    """
    missing = [
        what
        for what, used in (
            ("plugins", m.nplugin > 0),
            ("a limit on memory (<size memory>)", m.narena > 0),
            ("flexes", m.nflex > 0),
        )
        if used
    ]
    stages = [] if missing else resolve(m, items)
    missing += ["callbacks in Python"] if any(isinstance(stage, int) for stage in stages) else []
    if missing:
        raise ValueError(f"not supported on the GPU yet: {', '.join(missing)}")
    return [stage for stage in stages if stage is not report_warnings]


def _failures(rows: np.ndarray, worlds: np.ndarray, stages: Functions) -> str:
    """What happened to worlds that could not finish, in words."""
    texts = []
    for world in worlds.tolist():
        status, stage = int(rows[STATUS, world]), entry_of(stages[int(rows[AT, world])]).name
        why = "found a bad number" if status == DIVERGED else f"stopped with the status {status}"
        texts.append(f"world {world}: {stage} {why}")
    return "; ".join(texts)
