"""Back end with worlds in host memory, run by native threads.

Like an MjData, each world has a slot table, a buffer with all arrays of fixed size, and an arena for each capacity. All
tables are in one contiguous block, as are all buffers and all arenas. Therefore each field of fixed size is one strided
array over the worlds. If the arena of a world must grow, the world gets new arenas; its fixed arrays are not moved.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from copy import copy
from functools import cache
from typing import Any
from weakref import ref

import numpy as np
import numpy.typing as npt

from cardan.batch.back_end import LISTS, NOTHING, BackEnd, Item, Programs, Rollout
from cardan.batch.models import WorldModels
from cardan.batch.stages import load_state, save_state
from cardan.batch.threads import Runner
from cardan.enums.codes import STATE_INTEGRATION
from cardan.jit import Program, jit_enabled
from cardan.jit.front.stage import HERE, Form
from cardan.jit.memory.fields import WORDS
from cardan.jit.memory.layout import ALIGNMENT, aligned_buffer, layout_of, scalars_of
from cardan.jit.memory.struct import StructMemory
from cardan.model import internals
from cardan.model.mjdata import MjData, attach_private, data_in_double, data_sizes, private_sizes
from cardan.model.mjmodel import MjModel
from cardan.model.plugin_life import begin_instances
from cardan.model.reset import start_data
from cardan.model.sleepers import starts_asleep
from cardan.model.tables import CAPACITIES, DATA
from cardan.step.hooks import python_places, share_hooks
from cardan.step.pipeline import PROGRAMS
from cardan.step.programs import cached_program
from cardan.step.report import ROLLOUT_FROZEN, WARNED, pending_messages
from cardan.step.run import StepProgram, attached, run
from cardan.step.state import state_size

_HOMES = (None, *CAPACITIES)


class CpuBackEnd(BackEnd):
    """Worlds of a batch on the CPU, with a copy of the model, run by `nthread` threads (including the caller's).

    Raises:
        ValueError: the model would call Python functions.
    """

    memories: WorldMemories
    state: np.ndarray

    def __init__(self, model: MjModel, count: int, nthread: int, precision: str) -> None:
        super().__init__(WorldModels(share_hooks(copy(model), model), count, Form(precision=precision)))
        self.nthread = nthread
        self._datas: dict[int, MjData] = {}
        self._runner = Runner(nthread, lambda i: (self.models.model(i), self.live(i)), self.keep_error)
        m = self.models.base
        refuse_python(m, cached_program(m, "mj_step", PROGRAMS["mj_step"]))
        self.memories = memories = WorldMemories(m, count, {} if m.narena else default_capacities(m))
        self.state = np.zeros((count, state_size(m, STATE_INTEGRATION)), memories.dtype)
        memories.attach_rows("work.batch_row", self.state)
        memories.share("work.batch_part", self.state_parts())
        memories.spread_scalars(internals.memory(self.live(0)))
        memories.view("plugin")[:] = m.plugin
        worlds = np.arange(count)
        self.run(([Program([start_data], self.form)], None), worlds)
        if m.nplugin:
            for i in range(count):
                begin_instances(m, self.live(i))
        if starts_asleep(m):
            self.run(self.programs("start_asleep", worlds), worlds)
        self.save(worlds)

    def taken(self, value: Any, shape: tuple[int, ...]) -> np.ndarray:
        """Return numbers as a float64 array (see `BackEnd.taken`)."""
        return np.broadcast_to(np.asarray(value, np.float64), shape)

    def empty(self, shape: tuple[int, ...], dtype: npt.DTypeLike) -> np.ndarray:
        """Make a new array."""
        return np.empty(shape, dtype)

    def data(self, i: int) -> MjData:
        """Return the live data of a world. In single precision, return a copy in double precision."""
        return self.live(i) if self.form == HERE else data_in_double(self.models.exported(i), self.live(i))

    def live(self, i: int) -> MjData:
        """Return the live data of a world."""
        known, m = self._datas, self.models.model(i)
        if i not in known:
            known[i] = self.memories.data(m, i)
            internals.kept(known[i])["batch"] = ref(self)
        if known[i].model is not m:  # fields were expanded, or models set, since the data was made
            internals.set_model(known[i], m)
            self.memories.calls[i, 2::2] = m.address, id(m)
        return known[i]

    def load(self, worlds: np.ndarray) -> None:
        """Set the data of worlds from their rows of the state."""
        self.run(([_state_programs(self.form)[0]], None), worlds)

    def save(self, worlds: np.ndarray) -> None:
        """Write the state of worlds to their rows."""
        self.run(([_state_programs(self.form)[1]], None), worlds)

    def reset_data(self, worlds: np.ndarray) -> None:
        """Reset the data of worlds to the defaults of their models."""
        self.run(self.programs("mj_resetData", worlds), worlds)

    def program(self, name: str, i: int) -> Program:
        """Return the program that runs the list of stages `name` in world `i` (see `BackEnd.program`)."""
        m = self.models.model(i)
        if self.models.flexible:
            internals.programs(m).clear()  # an option may have been written
        answers = {WARNED: _take_news, ROLLOUT_FROZEN: _end_rollout}
        program = cached_program(m, ("batch", name), LISTS[name], answers=answers)
        refuse_python(m, program)
        return program

    def run(self, programs: Programs, worlds: np.ndarray, n: int = 1, lent: Mapping[str, np.ndarray] = NOTHING) -> None:
        """Run programs `n` times in worlds (see `BackEnd.run`)."""
        if not lent:
            self._run(programs, worlds, n)
        elif jit_enabled:
            self.memories.lend(lent, worlds)
            self._run(programs, worlds, n)
            self.memories.lent = {}
        else:
            for k, i in enumerate(worlds.tolist()):
                with attached(self.live(i), {name: array[k] for name, array in lent.items()}):
                    self._run(programs, worlds[k : k + 1], n)

    def _run(self, programs: Programs, worlds: np.ndarray, n: int) -> None:
        calls = self.memories.calls
        calls[worlds, 2] = self.models.addresses[worlds]
        places = calls.ctypes.data + worlds * calls.strides[0]
        which = np.zeros(len(worlds), np.int64) if programs[1] is None else programs[1][worlds]
        self._runner.run(programs[0], which, worlds, places, n)

    def ask(self, stage: Any, worlds: np.ndarray, arrays: Mapping[str, np.ndarray]) -> None:
        """Run a stage on arrays (see `BackEnd.ask`). In single precision, the stage runs on converted copies."""
        copies = {name: array.astype(self.memories.dtype, copy=False) for name, array in arrays.items()}
        self.run(([Program([stage], self.form)], None), worlds, 1, copies)
        for name, array in arrays.items():
            if copies[name] is not array:
                array[...] = copies[name]

    def rollout(self, worlds: np.ndarray, task: Rollout) -> dict[Item, np.ndarray]:
        """Advance worlds in one native call (see `BackEnd.rollout`)."""
        memories, count = self.memories, (len(worlds), task.nstep // task.every)
        widths = {item: self.record_parts(item) for item in task.items}
        parts = np.concatenate([np.zeros(0, np.int64), *widths.values()])
        inputs = np.zeros(0, np.int64) if task.control is None else self.state_parts(task.names)
        rows = np.zeros((*count, int(parts[2::3].sum())), memories.dtype)
        given = np.zeros((len(worlds), 0)) if task.control is None else _a_row_each(task.control)
        memories.view("work.batch_step")[worlds] = 0
        memories.view("work.batch_every")[worlds] = task.every
        memories.view("work.batch_warnings")[worlds] = memories.view("warning.number")[worlds].sum(axis=1)
        memories.view("work.batch_resets")[worlds] = memories.view("work.auto_resets")[worlds]
        lent = {
            "work.batch_control": np.ascontiguousarray(given, memories.dtype),
            "work.batch_control_part": np.broadcast_to(inputs, (len(worlds), len(inputs))),
            "work.batch_record": _a_row_each(rows),
            "work.batch_record_part": np.broadcast_to(parts, (len(worlds), len(parts))),
        }
        self.call("rollout", worlds, [("rollout", task.nstep)], lent)
        results, at = {}, 0
        for item, (shape, dtype) in task.items.items():
            results[item] = array = task.out[item] if item in task.out else np.empty((*count, *shape), dtype)
            width = int(widths[item][2::3].sum())
            values = rows[:, :, at : at + width]
            if dtype != rows.dtype and shape:  # bytes of a field; counts are numbers
                values = np.ascontiguousarray(values).view(dtype)[..., : int(np.prod(shape))]
            array[...] = values.reshape(array.shape)
            at += width
        return results

    def close(self) -> None:
        """End the threads."""
        self._runner.close()


def _a_row_each(rows: np.ndarray) -> np.ndarray:
    """Reshape an array (k, n, m) to one row for each world, (k, n * m); k may be 0."""
    k, n, m = rows.shape
    return rows.reshape(k, n * m)


def default_capacities(m: MjModel) -> dict[str, int]:
    """Return the capacities of an arena that fits the forward dynamics of a model's default state."""
    scout = MjData(m)
    run(cached_program(m, "mj_forward", PROGRAMS["mj_forward"]), m, scout)
    return {name: internals.sizes(scout)[name] for name in CAPACITIES}


def _take_news(program: Program, m: MjModel, d: MjData) -> None:
    """Pass the new warnings of the world with the data `d` to its batch, which is stored in the data."""
    batch = internals.kept(d)["batch"]()
    memories = batch.memories
    i = int((d.address - memories.addresses[0]) // memories.slots.strides[0])
    for kind, text in pending_messages(d):
        batch.news[i, kind] = batch.diagnoses[i] = text


def _end_rollout(program: Program, m: MjModel, d: MjData) -> None:
    """Stop the rollout of a world that has raised a warning."""
    internals.position(d)[:] = 0, np.iinfo(np.int64).max


@cache
def _state_programs(form: Form) -> tuple[Program, Program]:
    """Make the programs that load and save the state of a world."""
    return Program([load_state], form), Program([save_state], form)


def refuse_python(m: MjModel, program: StepProgram) -> None:
    """Raise ValueError if a model's program calls Python functions."""
    if program.needs_objects:
        what = ", ".join(f"mjcb_{place}" for place in python_places(m)) or "a collision function or a plugin"
        raise ValueError(
            f"a batch can't run functions in Python ({what}): compile them with numba.njit, and they run in every world"
        )


class WorldMemories:
    """Memory for the data of `count` worlds of a model. Arenas start with the sizes `capacities`."""

    def __init__(self, m: MjModel, count: int, capacities: Mapping[str, int]) -> None:
        self.worlds = count
        self.struct = internals.form(m).struct(DATA)
        self.sizes = data_sizes(m) | dict(capacities)
        self.slots = np.zeros((count, len(DATA.fields), WORDS), np.int64)
        # for each world: position in a program (2), addresses of model and data, identity of the model
        self.calls = np.zeros((count, 5), np.int64)
        self.lent: Mapping[str, np.ndarray] = {}
        self._growable = frozenset(CAPACITIES)
        self._layout = layout_of(self.struct, self._growable, None, self.sizes)
        self.dtype = self.struct.by_name["work.buffer"].numpy_dtype
        self._private = {name: np.zeros((count, size), self.dtype) for name, size in private_sizes(self.sizes).items()}
        self._blocks = {home: self._block(home) for home in _HOMES}
        self._attach("work.buffer", self._blocks[None].view(self.dtype), self._layout.nbytes // self.dtype.itemsize)
        for name, block in self._private.items():
            self._attach(name, block, block.shape[1])
        self.addresses = self.slots.ctypes.data + np.arange(count) * self.slots.strides[0]
        self.calls[:, 3] = self.addresses

    def _block(self, home: str | None) -> np.ndarray:
        """Allocate all arrays whose size depends on the capacity `home` (None: arrays of fixed size), in all worlds.

        Set their slots, and return the allocated memory, a row of bytes for each world.
        """
        layout = layout_of(self.struct, self._growable, home, self.sizes)
        stride = max(-(-layout.nbytes // ALIGNMENT), 1) * ALIGNMENT
        block = aligned_buffer(self.worlds * stride).reshape(self.worlds, stride)
        self.slots[:, layout.slots] = layout.rows
        self.slots[:, layout.slots, 0] += block.ctypes.data + stride * np.arange(self.worlds)[:, None]
        return block

    def attach_rows(self, name: str, rows: np.ndarray) -> None:
        """Make each world's one-dimensional private field refer to its row of an array (nworld, n) in C order."""
        self._private[name] = rows
        self._attach(name, rows, rows.shape[1])

    def lend(self, arrays: Mapping[str, np.ndarray], worlds: np.ndarray) -> None:
        """Make private fields of some worlds refer to borrowed arrays (k, ...), in C order.

        The attribute `lent` keeps the arrays alive; the caller empties it when the fields are no longer used. The
        worlds' MjData objects still show the previous arrays.
        """
        self.lent = arrays
        for name, rows in arrays.items():
            slot = DATA.slot[name]
            self.slots[worlds, slot, 0] = rows.ctypes.data + rows.strides[0] * np.arange(len(worlds))
            self.slots[worlds, slot, 1] = rows.shape[1]
            self.slots[worlds, slot, 2] = rows.shape[2] if rows.ndim > 2 else 1

    def share(self, name: str, array: np.ndarray) -> None:
        """Make a one-dimensional private field of all worlds refer to one array."""
        self._private[name] = np.broadcast_to(array, (self.worlds, len(array)))
        self.slots[:, DATA.slot[name]] = array.ctypes.data, len(array), 1

    def spread_scalars(self, memory: StructMemory) -> None:
        """Copy all scalar fields from `memory`, the memory of a new MjData, to all worlds."""
        scalars = list(scalars_of(DATA).values())
        self.slots[:, scalars] = memory.slots[scalars]

    def _attach(self, name: str, block: np.ndarray, length: int) -> None:
        """Make each world's one-dimensional field refer to the first `length` elements of its row of a block."""
        slot = DATA.slot[name]
        self.slots[:, slot, 0] = block.ctypes.data + block.strides[0] * np.arange(self.worlds)
        self.slots[:, slot, 1] = length
        self.slots[:, slot, 2] = 1

    def view(self, name: str) -> np.ndarray:
        """Return a live array (nworld, ...) over a scalar or fixed-size array; raise KeyError for other fields."""
        slot = scalars_of(DATA).get(name)
        if slot is not None:
            dtype, stride = self.struct.fields[slot].numpy_dtype, self.slots.strides[0]
            return np.ndarray((self.worlds,), dtype, self.slots, slot * WORDS * 8, (stride,))
        shape, dtype, offset = self._layout.places[name]
        strides = np.empty(shape, dtype).strides if 0 not in shape else (0,) * len(shape)
        block = self._blocks[None]
        return np.ndarray((self.worlds, *shape), dtype, block, offset, (block.strides[0], *strides))

    def count(self, name: str) -> np.ndarray:
        """Return a live int32 array (nworld,) over a count: the lower half of each world's 64-bit word."""
        offset = DATA.slot[name] * WORDS * 8 + (0 if sys.byteorder == "little" else 4)
        return np.ndarray((self.worlds,), np.int32, self.slots, offset, (self.slots.strides[0],))

    def offset(self, name: str) -> int:
        """Return the index of the first element of an array of real numbers in each world's buffer."""
        return self._layout.places[name][2] // self.dtype.itemsize

    def data(self, m: MjModel, i: int) -> MjData:
        """Make the live MjData of a world. Call this once for each world, before the world's arena grows."""
        buffers = {
            home: block[i, : layout_of(self.struct, self._growable, home, self.sizes).nbytes]
            for home, block in self._blocks.items()
        }
        memory = StructMemory(self.struct, self.sizes, CAPACITIES, self.slots[i], buffers)
        attach_private(memory, {name: block[i] for name, block in self._private.items()})
        return MjData.over(m, memory, self.calls[i])
