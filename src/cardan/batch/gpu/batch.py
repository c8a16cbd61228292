"""Batches on a GPU: the interface of `Batch`, over memory and launches of a GPU."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np

from cardan.api.loading import mj_setConst
from cardan.batch.batch import Batch
from cardan.batch.core import LISTS, ROWS, Core
from cardan.batch.gpu.answers import Answers
from cardan.batch.gpu.arrays import DeviceArray, on_gpu
from cardan.batch.gpu.memory import BLOCKS, GpuMemories
from cardan.batch.gpu.models import GpuModels
from cardan.batch.gpu.program import GpuProgram
from cardan.batch.gpu.record import rollout as record_rollout
from cardan.batch.gpu.support import refuse
from cardan.batch.gpu.transfers import Transfers
from cardan.batch.models import CONSTANTS
from cardan.batch.select import state_bits
from cardan.batch.stages import load_state, save_state
from cardan.enums import mjtState
from cardan.errors import FatalError
from cardan.jit.driver.cuda import Gpu
from cardan.jit.front.stage import INTERLEAVED, Form
from cardan.model import internals
from cardan.model.mjdata import MjData
from cardan.model.mjmodel import MjModel
from cardan.model.reset import reset_cleared, start_data
from cardan.model.tables import CAPACITIES, DATA
from cardan.step.hooks import hooks
from cardan.step.pipeline import PROGRAMS
from cardan.step.plan import plan_of
from cardan.step.plugin_stages import has_resetting_plugins, plugin_reset
from cardan.step.programs import cached_program, write_tables
from cardan.step.run import run
from cardan.step.state import field_sizes, state_fields, state_size
from cardan.threads import Locked

if TYPE_CHECKING:
    from collections.abc import Iterator

_PREPARING = Locked()  # parts of a batch over several GPUs get programs ready from threads: one after the other
FORMS = {name: Form(INTERLEAVED, name) for name in ("float64", "float32")}


class GpuBatch(Answers, Batch):  # type: ignore[misc]
    """Simulations of one model on a GPU: what ``Batch(..., device="cuda")`` gives.

    Fields are `DeviceArray`, live over the GPU's memory. What is asked for by number (`jac`, `ray`, `diverged`,
    `warning`) comes as NumPy arrays.

    Args:
        model: as in `Batch`.
        nsim: as in `Batch`.
        nthread: nothing here.
        persistent: nothing here.
        device: ``"cuda"``, or ``"cuda:1"`` for the second GPU.
        dtype: ``"float64"`` or ``"float32"``.
        stages_per_launch: how many stages of a step are one launch; 0: all. It changes no result.
        threads_per_block: 32, 64 or 128 worlds a block of threads; 0: by their number. It changes no result.

    Raises:
        CudaError: there is no driver, it is too old, or there is no such GPU.
        GpuMemoryError: there is no room for so many worlds; the message says for how many there is.
        ValueError: the model has something that batches on a GPU don't have; it is named.
    """

    _gpu: Gpu
    _transfers: Transfers
    _models: GpuModels  # type: ignore[assignment]
    _memories: GpuMemories  # type: ignore[assignment]
    state: DeviceArray  # type: ignore[assignment]

    def __init__(
        self,
        model: MjModel,
        nsim: int,
        nthread: int = 0,
        persistent: bool = False,
        *,
        device: str = "cuda",
        dtype: Any = "float64",
        stages_per_launch: int = 1,
        threads_per_block: int = 0,
    ) -> None:
        if not isinstance(model, MjModel):
            raise TypeError(f"Batch(): model should be an MjModel, got {type(model).__name__}")
        refuse(model)
        if threads_per_block not in (0, *BLOCKS):
            raise ValueError(f"threads_per_block should be one of {BLOCKS}, or 0, got {threads_per_block}")
        put = self.__dict__
        put["_gpu"] = Gpu(_number(device))
        put["_transfers"] = Transfers(self._gpu)
        put["_stages_per_launch"], put["_threads_per_block"] = stages_per_launch, threads_per_block
        put["_gpu_programs"] = {}
        put["_resolved"] = {}
        put["_warned"] = False  # whether some world had a warning since this was looked at
        put["_messages"] = {}  # of worlds that diverged, until their warnings are told
        try:
            Core.__init__(self, model, nsim, 1, persistent, FORMS[np.dtype(dtype).name])
        except BaseException:
            self._gpu.close()
            raise

    # beginning -------------------------------------------------------------------

    def _models_of(self, m: MjModel, count: int, form: Form) -> GpuModels:
        return GpuModels(self._transfers, m, count, form)

    def _first_capacities(self) -> dict[str, int]:
        m = self._models.shown
        scout = MjData(m)
        run(cached_program(m, "mj_forward", PROGRAMS["mj_forward"]), m, scout)
        return {name: internals.sizes(scout)[name] for name in CAPACITIES if name != "nstatistic"}

    def _begin(self, count: int) -> None:
        m, put = self._models.base, self.__dict__
        write_tables(m, plan_of(m, LISTS["mj_step"]).tables)  # numbers the functions in its tables
        self._models.publish()
        memories = put["_memories"] = GpuMemories(
            self._transfers, m, count, self._first_capacities(), self.__dict__["_threads_per_block"]
        )
        put["state"] = memories.attach("work.batch_row", (state_size(m, int(mjtState.mjSTATE_INTEGRATION)),))
        parts = self._parts()
        memories.attach("work.batch_part", parts.shape)[...] = parts
        memories.publish()
        start = MjData(self._models.shown)
        for field in DATA.fields:
            if field.is_scalar:
                memories.view(field.name)[...] = internals.number(start, field.name)
        memories.view("plugin")[...] = m.plugin
        memories.attach_plugins(internals.memory(start))
        worlds = np.arange(count)
        self._run_reset(start_data, worlds)
        self._save(worlds)
        self._settle("Batch", worlds)

    # programs --------------------------------------------------------------------

    def _gpu_program(self, stages: Sequence[Callable[..., Any]]) -> GpuProgram:
        """The program of some stages; made anew when functions that they call by number were added."""
        key = (*stages, len(internals.numbered(self._models.base)))
        programs = self.__dict__["_gpu_programs"]
        if key not in programs:
            size = self.__dict__["_stages_per_launch"]
            with _PREPARING.lock:
                programs[key] = GpuProgram(self._models, self._memories, stages, self._form, size)
        return programs[key]

    def _program(self, name: str, i: int) -> GpuProgram:  # type: ignore[override]
        m = self._models.model(i)
        key = name, id(m) if m is not self._models.base else None, hooks.version
        known = self.__dict__["_resolved"]
        if key not in known or self._models.flexible:
            with _PREPARING.lock:
                plan = plan_of(m, LISTS[name])
                write_tables(m, plan.tables)
            if any(isinstance(stage, int) for stage in plan.stages):
                raise ValueError(PYTHON)
            known[key] = plan.stages
            if self._models.given is not None:
                self._models.renew_given()
            self._models.publish()
        return self._gpu_program(known[key])

    def _run_kinds(self, programs: Any, worlds: np.ndarray, n: int) -> None:
        for k, program in enumerate(programs[0]):
            which = worlds if programs[1] is None else worlds[programs[1][worlds] == k]
            if program is not None and len(which):
                program.run(None if len(which) == self.nsim else which, n, self._answer)

    def _lend(self, programs: Any, worlds: np.ndarray, arrays: Mapping[str, np.ndarray], n: int = 1) -> None:
        self._run_kinds(programs, worlds, n)

    def _run_stages(self, stages: Sequence[Callable[..., Any]], worlds: np.ndarray) -> None:
        self._run_kinds(([self._gpu_program(stages)], None), worlds, 1)

    def _run_reset(self, stage: Callable[..., Any], worlds: np.ndarray) -> None:
        also = [plugin_reset] if has_resetting_plugins(self._models.base) else []
        self._run_stages([stage, *also], worlds)

    def _load(self, worlds: np.ndarray) -> None:
        self._run_stages([load_state], worlds)

    def _save(self, worlds: np.ndarray) -> None:
        self._run_stages([save_state], worlds)

    def _reset_data(self, worlds: np.ndarray) -> None:
        self._memories.clear(None if len(worlds) == self.nsim else worlds)
        self._run_reset(reset_cleared, worlds)

    def _ask(self, stage: Any, worlds: np.ndarray, arrays: Mapping[str, np.ndarray]) -> None:
        with self._lent(worlds, arrays) as lent:
            self._run_stages([stage], worlds)
            for name, array in arrays.items():
                array[...] = lent[name][worlds].numpy()

    @contextmanager
    def _lent(self, worlds: np.ndarray, arrays: Mapping[str, np.ndarray]) -> Iterator[dict[str, DeviceArray]]:
        """While a stage runs: private fields with the values of arrays (k, ...) in some worlds."""
        memories = self._memories
        lent = {name: memories.attach(name, array.shape[1:]) for name, array in arrays.items()}
        for name, array in arrays.items():
            lent[name][worlds] = array
        memories.publish()
        try:
            yield lent
        finally:
            for name in arrays:
                memories.detach(name)
            memories.publish()

    # worlds ----------------------------------------------------------------------

    def _select(self, ids: Any, mask: Any) -> np.ndarray:
        given = mask if mask is not None else ids
        shown = on_gpu(self._transfers, given)
        if shown is None:
            return super()._select(ids, mask)
        values = shown.numpy()
        return super()._select(None, values) if mask is not None else super()._select(values, None)

    def data(self, sim: int) -> MjData:
        """A copy of the data of a world, in double precision, as the last call left it."""
        return self._live(self._world(sim))

    def _live(self, i: int) -> MjData:
        d = MjData(self._models.exported(i))
        self._memories.copy_world(i, d)
        return d

    def get_state(self, spec: int, ids: Any = None, *, mask: Any = None) -> DeviceArray:  # type: ignore[override]
        """The parts of the state that the bits of `spec` stand for, of worlds (k, size), copied on the GPU."""
        worlds, bits = self._select(ids, mask), state_bits("spec", spec)
        result = DeviceArray.new(self._transfers, (len(worlds), state_size(self.model, bits)), self.state.dtype)
        at = 0
        for name in state_fields(bits):
            n = field_sizes(self.model)[name]
            result[:, at : at + n] = self._rows_of(name)[worlds]
            at += n
        return result

    def _rows_of(self, name: str) -> DeviceArray:
        """A field of the state as a part of its rows (nworld, n)."""
        sizes = field_sizes(self.model)
        at = sum(sizes[n] for n in ROWS[: ROWS.index(name)])
        return self.state[:, at : at + sizes[name]]

    def set_state(self, state: Any, spec: int, ids: Any = None, *, mask: Any = None) -> None:
        """Set the parts of the state that the bits of `spec` stand for (see `Batch.set_state`)."""
        worlds, bits = self._select(ids, mask), state_bits("spec", spec)
        size = state_size(self.model, bits)
        rows = on_gpu(self._transfers, state)
        given = np.asarray(state, self.state.dtype) if rows is None else rows
        if given.shape not in ((len(worlds), size), (size,)):
            raise ValueError(f"state should be of shape {(len(worlds), size)}, got {given.shape}")
        if rows is None:
            rows = DeviceArray.new(self._transfers, given.shape, self.state.dtype)
            rows[...] = given
        at = 0
        for name in state_fields(bits):
            n = field_sizes(self.model)[name]
            part = rows[:, at : at + n] if rows.ndim == 2 else rows[at : at + n]
            self._rows_of(name)[worlds] = part
            at += n

    # models ----------------------------------------------------------------------

    def set_const(self, ids: Any = None, *, mask: Any = None) -> None:
        """Run `mj_setConst` in worlds, on this machine; what comes out different goes to the GPU."""
        models = self._models
        if models.given is not None:
            raise FatalError("set_const: set_models set the caller's models; call mj_setConst on those instead")
        worlds = self._select(ids, mask)
        self._clear(worlds)
        if models.values:
            inputs = models.all_inputs()
            found: dict[str, dict[int, Any]] = {}
            for i in worlds.tolist():
                for name, value in self._constants(i, inputs[i]):
                    found.setdefault(name, {})[i] = value
            for name, rows in found.items():
                models.own(name)[np.array(list(rows))] = np.stack(list(rows.values()))
        self._settle("set_const", worlds)

    def _constants(self, i: int, m: MjModel) -> list[tuple[str, Any]]:
        """Fields that `mj_setConst` gives other values in a world than those on the GPU."""
        try:
            mj_setConst(m, MjData(m))
        except Exception as error:
            self._keep_error(i, error)
            return []
        base, found = internals.memory(self._models.base), []
        for name in CONSTANTS:
            is_array = name in base.arrays
            new, now = (
                memory.arrays[name] if is_array else memory.scalars[name] for memory in (internals.memory(m), base)
            )
            if name in self._models.values or not np.array_equal(new.astype(now.dtype), now):
                found.append((name, new if is_array else new[0]))
        return found

    def set_models(self, models: MjModel | Sequence[MjModel] | None) -> None:
        """Run each world on a model of the caller's (see `Batch.set_models`), as it is now: copied to the GPU."""
        super().set_models(models)
        self.__dict__["_resolved"].clear()

    # rollouts --------------------------------------------------------------------

    def _rollout(self, worlds: np.ndarray, *arguments: Any) -> dict[str | int, Any]:
        return record_rollout(self, worlds, *arguments)

    # streams ---------------------------------------------------------------------

    @property
    def stream(self) -> int:
        """Handle of the CUDA stream on which all work of the batch is done."""
        return int(self._gpu.stream)

    def wait_for(self, stream: int) -> None:
        """Have later calls wait for what was started on another stream, given by its handle.

        The default stream of torch and CuPy is waited for anyhow.
        """
        self._gpu.wait_for(stream)

    @property
    def memory_per_world(self) -> int:
        """Bytes of the data of a world on the GPU, with the capacities of now."""
        return self._memories.nbytes() // self._memories.worlds

    def close(self) -> None:
        """Free all that the batch has on the GPU: its arrays must not be used any more."""
        super().close()
        self._gpu.close()


PYTHON = (
    "a batch can't run functions in Python on a GPU: compile callbacks with numba.njit, and they run in every world"
)


def _number(device: str) -> int:
    """Which GPU a device names.

    Raises:
        ValueError: it names none.
    """
    kind, _, number = device.partition(":")
    if kind != "cuda" or (number and not number.isdigit()):
        raise ValueError(f"there is no device {device!r}; there are 'cpu', 'cuda', and 'cuda:1' for the second GPU")
    return int(number or 0)
