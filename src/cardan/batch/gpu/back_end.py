"""Back end with worlds on one GPU: memory, launches of programs, and requests of stages, handled between launches.

Fields are of the class `DeviceArray`: live arrays over the GPU's memory.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from copy import copy
from typing import Any

import numpy as np
import numpy.typing as npt

from cardan.batch.back_end import LISTS, NOTHING, BackEnd, Item, Programs, Rollout, SimulationError, failure
from cardan.batch.cpu import default_capacities
from cardan.batch.gpu.arrays import DeviceArray, on_gpu
from cardan.batch.gpu.memory import BLOCKS, GpuMemories
from cardan.batch.gpu.models import GpuModels
from cardan.batch.gpu.program import AT, GpuProgram, launches_of
from cardan.batch.gpu.transfers import Transfers
from cardan.batch.stages import load_state, save_state
from cardan.constraint.equality import UNKNOWN_EQUALITY
from cardan.dynamics.actuation import ACTUATION_STALE
from cardan.enums.codes import STATE_INTEGRATION, WARN_BADQACC
from cardan.jit import COLLIDER_MISSING
from cardan.jit.cache.gpu_code import is_cached
from cardan.jit.cache.helper import help_with_launches
from cardan.jit.driver.cuda import Gpu, GpuMemoryError
from cardan.jit.front.stage import INTERLEAVED, Form, entry_of
from cardan.model import internals
from cardan.model.mjdata import MjData
from cardan.model.mjmodel import MjModel
from cardan.model.reset import reset_cleared, start_data
from cardan.model.sleepers import may_sleep
from cardan.model.tables import CAPACITIES, DATA
from cardan.step.checks import keep_trouble, reset_diverged
from cardan.step.hooks import hooks, share_hooks
from cardan.step.plan import plan_of
from cardan.step.plugin_stages import calls_python, has_resetting_plugins, plugin_reset
from cardan.step.programs import write_tables
from cardan.step.report import DIVERGED, WARNED, new_messages
from cardan.step.state import state_fields, state_size
from cardan.threads import Locked

_PREPARING = Locked()  # back ends of several GPUs have threads; only one of them prepares programs at a time
Stages = Sequence[Callable[..., Any]]
PYTHON = (
    "a batch can't run functions in Python on a GPU: compile callbacks with numba.njit, and they run in every world"
)
WORDS = {
    COLLIDER_MISSING: "found geoms of types that could not collide when the batch was made",
    UNKNOWN_EQUALITY: "found an equality constraint of a type, or of objects, that are not there",
    ACTUATION_STALE: "found actuators of types that were not there when the batch was made",
}
"""Messages for worlds that can't continue, by status."""


class GpuBackEnd(BackEnd):
    """Worlds of a batch on one GPU, with a copy of the model; arguments and errors are as in `Batch`."""

    models: GpuModels
    memories: GpuMemories
    state: DeviceArray

    def __init__(
        self,
        model: MjModel,
        count: int,
        device: str,
        precision: str,
        stages_per_launch: int = 1,
        threads_per_block: int = 0,
    ) -> None:
        if calls_python(model):
            what = "plugins with functions in Python (compile them with numba.njit)"
            raise ValueError(f"can't run on a GPU: {what}; use device='cpu'")
        if may_sleep(model):
            raise ValueError("can't run on a GPU: trees that sleep (flag sleep); use device='cpu'")
        if threads_per_block not in (0, *BLOCKS):
            raise ValueError(f"threads_per_block should be one of {BLOCKS}, or 0, got {threads_per_block}")
        kind, _, number = device.partition(":")
        if kind != "cuda" or (number and not number.isdigit()):
            raise ValueError(f"there is no device {device!r}; there are 'cpu', 'cuda', and 'cuda:1' for the second GPU")
        self.gpu = Gpu(int(number or 0))
        self.transfers = Transfers(self.gpu)
        self._stages_per_launch = stages_per_launch
        self.gpu_programs: dict[tuple[Any, ...], GpuProgram] = {}
        self._resolved: dict[tuple[Any, ...], Stages] = {}
        self._warned = False  # whether a world had a warning since the last check
        self._messages: dict[int, dict[int, str]] = {}  # diagnoses of worlds that diverged, until they are reported
        try:
            m = share_hooks(copy(model), model)
            super().__init__(GpuModels(self.transfers, m, count, Form(INTERLEAVED, precision)))
            self._begin(threads_per_block)
        except BaseException:
            self.gpu.close()
            raise

    def _begin(self, threads_per_block: int) -> None:
        """Allocate all worlds and set them to the default state."""
        m, count = self.models.base, self.models.count
        plan = plan_of(m, LISTS["mj_step"])
        write_tables(m, plan.tables)  # numbers the functions in its tables
        self._expect([stage for stage in plan.stages if not isinstance(stage, int)])
        self.models.publish()
        capacities = self._first_capacities()
        self.memories = memories = GpuMemories(self.transfers, m, count, capacities, threads_per_block)
        self.state = memories.attach("work.batch_row", (state_size(m, STATE_INTEGRATION),))
        parts = self.state_parts()
        memories.attach("work.batch_part", parts.shape)[...] = parts
        memories.publish()
        start = MjData(self.models.shown)
        for field in DATA.fields:
            if field.is_scalar:
                memories.view(field.name)[...] = internals.number(start, field.name)
        memories.view("plugin")[...] = m.plugin
        memories.attach_plugins(internals.memory(start))
        worlds = np.arange(count)
        self._run_reset(start_data, worlds)
        self.save(worlds)
        self.settle("Batch", worlds)

    def _expect(self, stages: Stages) -> None:
        """Let helpers make the code of stages that will be needed soon, if it is missing."""
        called = list(internals.numbered(self.models.base))
        launches = launches_of([start_data, save_state, load_state], 1) + launches_of(stages, self._stages_per_launch)
        missing = [launch for launch in launches if not is_cached(launch, self.form, called)]
        if missing:
            help_with_launches(missing, self.form, called)

    def _first_capacities(self) -> dict[str, int]:
        capacities = default_capacities(self.models.shown)
        return {name: size for name, size in capacities.items() if name != "nstatistic"}

    # arrays and data -----------------------------------------------------------------

    def taken(self, value: Any, shape: tuple[int, ...]) -> DeviceArray:
        """Return numbers as an array on the GPU (see `BackEnd.taken`)."""
        rows = on_gpu(self.transfers, value)
        if rows is None:
            given = np.asarray(value, self.state.dtype)
            np.broadcast_to(given, shape)
            rows = self.empty(given.shape, self.state.dtype)
            rows[...] = given
        return rows.broadcast(shape)

    def empty(self, shape: tuple[int, ...], dtype: npt.DTypeLike) -> DeviceArray:
        """Make a new array on the GPU."""
        return DeviceArray.new(self.transfers, shape, dtype)

    def on_host(self, ids: Any) -> Any:
        """Return ids or a mask of worlds in a form that NumPy can read; arrays on the GPU are copied."""
        shown = on_gpu(self.transfers, ids)
        return ids if shown is None else shown.numpy()

    def live(self, i: int) -> MjData:
        """Return a copy of a world's data, in double precision."""
        d = MjData(self.models.exported(i))
        self.memories.copy_world(i, d)
        return d

    data = live

    # programs ------------------------------------------------------------------------

    def _gpu_program(self, stages: Stages) -> GpuProgram:
        """Return the cached program of stages. Make a new one if functions called by number were added."""
        key = (*stages, len(internals.numbered(self.models.base)))
        if key not in self.gpu_programs:
            with _PREPARING.lock:
                program = GpuProgram(self.models, self.memories, stages, self.form, self._stages_per_launch)
            self.gpu_programs[key] = program
        return self.gpu_programs[key]

    def program(self, name: str, i: int) -> GpuProgram:
        """Return the program that runs the list of stages `name` in world `i` (see `BackEnd.program`)."""
        m = self.models.model(i)
        key = name, id(m) if m is not self.models.base else None, hooks.version
        if key not in self._resolved or self.models.flexible:
            with _PREPARING.lock:
                plan = plan_of(m, LISTS[name])
                write_tables(m, plan.tables)
            stages = [stage for stage in plan.stages if not isinstance(stage, int)]
            if len(stages) < len(plan.stages):
                raise ValueError(PYTHON)
            self._resolved[key] = tuple(stages)
            if self.models.given is not None:
                self.models.renew_given()
            self.models.publish()
        return self._gpu_program(self._resolved[key])

    def run(self, programs: Programs, worlds: np.ndarray, n: int = 1, lent: Mapping[str, np.ndarray] = NOTHING) -> None:
        """Run programs `n` times in worlds (see `BackEnd.run`). `lent` is not used: it is always empty on GPUs."""
        for k, program in enumerate(programs[0]):
            which = worlds if programs[1] is None else worlds[programs[1][worlds] == k]
            if program is not None and len(which):
                program.run(None if len(which) == self.models.count else which, n, self._answer)

    def run_stages(self, stages: Stages, worlds: np.ndarray) -> None:
        """Run stages once in worlds."""
        self.run(([self._gpu_program(stages)], None), worlds)

    def _run_reset(self, stage: Callable[..., Any], worlds: np.ndarray) -> None:
        """Run a stage that resets worlds, then reset their plugins."""
        also = [plugin_reset] if has_resetting_plugins(self.models.base) else []
        self.run_stages([stage, *also], worlds)

    def load(self, worlds: np.ndarray) -> None:
        """Set the data of worlds from their rows of the state."""
        self.run_stages([load_state], worlds)

    def save(self, worlds: np.ndarray) -> None:
        """Write the state of worlds to their rows."""
        self.run_stages([save_state], worlds)

    def reset_data(self, worlds: np.ndarray) -> None:
        """Reset the data of worlds to the defaults of their models."""
        self.memories.clear(None if len(worlds) == self.models.count else worlds)
        self._run_reset(reset_cleared, worlds)

    def ask(self, stage: Any, worlds: np.ndarray, arrays: Mapping[str, np.ndarray]) -> None:
        """Run a stage on copies of arrays on the GPU (see `BackEnd.ask`)."""
        memories = self.memories
        lent = {name: memories.attach(name, array.shape[1:]) for name, array in arrays.items()}
        for name, array in arrays.items():
            lent[name][worlds] = array
        memories.publish()
        try:
            self.run_stages([stage], worlds)
            for name, array in arrays.items():
                array[...] = lent[name][worlds].numpy()
        finally:
            for name in arrays:
                memories.detach(name)
            memories.publish()

    def set_models(self, models: MjModel | Sequence[MjModel] | None) -> None:
        """Run the worlds on copies of the caller's models on the GPU, made now (see `BackEnd.set_models`)."""
        super().set_models(models)
        self._resolved.clear()

    # requests of stages --------------------------------------------------------------

    def _answer(self, program: GpuProgram, status: int, worlds: np.ndarray, rows: np.ndarray) -> None:
        """Handle the request `status` with which `worlds` stopped (see `GpuProgram.run`)."""
        if 0 < status <= len(CAPACITIES):
            need = int(self.memories.view("work.need")[worlds].numpy().max())
            try:
                if need > self.memories.sizes[CAPACITIES[status - 1]]:
                    self.memories.grow(CAPACITIES[status - 1], need)
            except GpuMemoryError as error:
                for i in worlds.tolist():
                    self.keep_error(i, error)
            else:
                program.go_on(rows, worlds, after=False)
        elif status == WARNED:
            self._take_warnings(worlds)
            program.go_on(rows, worlds, after=False)
        elif status == DIVERGED:
            self._reset_diverged(worlds)
            program.go_on(rows, worlds, after=True)
        else:
            for i in worlds.tolist():
                stage = entry_of(program.stages[int(rows[AT, i])]).name
                what = WORDS.get(status, f"stopped with the status {status}")
                self.keep_error(i, RuntimeError(f"{stage} {what}"))

    def _take_warnings(self, worlds: np.ndarray) -> None:
        """Store the new warnings of worlds, to be reported at the end of the call."""
        names = ("warning.number", "warning.lastinfo", "work.warned", "time")
        number, lastinfo, warned, time = (self.memories.view(name)[worlds].numpy() for name in names)
        self._warned = True
        for k, i in enumerate(worlds.tolist()):
            kept = self._messages.pop(i, {})
            for kind, text in new_messages(number[k], lastinfo[k], warned[k], time[k].item(), kept):
                self.news[i, kind] = self.diagnoses[i] = text
        self.memories.view("work.warned")[worlds] = warned

    def _reset_diverged(self, worlds: np.ndarray) -> None:
        """Diagnose and reset worlds that diverged. After a bad acceleration, also compute the forward dynamics."""
        names = ("work.bad_kind", "work.bad_index", "warning.number", "work.warned")
        kinds, index, number, warned = (self.memories.view(name)[worlds].numpy() for name in names)
        for k, (i, kind, at) in enumerate(zip(worlds.tolist(), kinds.tolist(), index.tolist(), strict=True)):
            if number[k, kind] and warned[k, kind]:  # it was reported
                continue
            d = self.live(i)
            keep_trouble(d.model, d, kind, at)
            self._messages.setdefault(i, {}).update(internals.kept(d)["messages"])
        self._run_reset(reset_diverged, worlds)
        again = worlds[kinds == WARN_BADQACC]
        if len(again):
            self.run(self.programs("mj_forward", again), again)

    # rollouts ------------------------------------------------------------------------

    def rollout(self, worlds: np.ndarray, task: Rollout) -> dict[Item, Any]:
        """Advance worlds step by step (see `BackEnd.rollout`); inputs and records stay on the GPU.

        The returned arrays are on the GPU, except the caller's arrays in `task.out`.
        """
        state = state_fields(STATE_INTEGRATION)
        count = len(worlds), task.nstep // task.every
        results = {item: self.empty((*count, *shape), dtype) for item, (shape, dtype) in task.items.items()}
        before = self._troubles(worlds)
        told_before = bool(before[:, 0].any())  # the same warnings aren't reported again
        start, failed = self.get_state(state, worlds), dict[int, str]()
        runs = np.arange(len(worlds))  # places in the call of the worlds that have not stopped
        for k in range(task.nstep):
            if len(runs):
                if task.control is not None:
                    self.set_state(task.control[:, k][runs], task.names, worlds[runs])
                runs = runs[self._stepped(worlds[runs], failed)]
            if (k + 1) % task.every == 0:
                for item, array in results.items():  # worlds that have stopped keep their values
                    is_field = isinstance(item, str)
                    values = (
                        self.memories.view(item)[worlds] if is_field else self.get_state(state_fields(item), worlds)
                    )
                    array[:, (k + 1) // task.every - 1] = values
            if len(runs) and (self._warned or told_before):  # a world may have a new warning
                runs = runs[(self._troubles(worlds[runs]) <= before[runs]).all(axis=1)]
        if failed:  # failed worlds keep the state that they had
            places = np.flatnonzero(np.isin(worlds, list(failed)))
            self.set_state(start[places], state, worlds[places])
            raise failure("rollout", {i + self.first: text for i, text in failed.items()}, len(worlds))
        found: dict[Item, Any] = dict(results)
        for item, array in task.out.items():
            array[...] = results[item].numpy()
            found[item] = array
        return found

    def _stepped(self, worlds: np.ndarray, failed: dict[int, str]) -> np.ndarray:
        """Step worlds. Return a mask (k,) of the successful worlds, and add the errors of all others to `failed`."""
        try:
            self.call("step", worlds, [("mj_step", 1)])
        except SimulationError:
            good = self.status[worlds] == 0
            failed |= {i: self.errors[i] for i in worlds[~good].tolist()}
            return good
        return np.ones(len(worlds), bool)

    def _troubles(self, worlds: np.ndarray) -> np.ndarray:
        """Return the numbers of warnings and of automatic resets of each world, (k, 2)."""
        self._warned = False
        counted = self.memories.view("warning.number")[worlds].numpy().sum(axis=1)
        return np.stack([counted, self.memories.view("work.auto_resets")[worlds].numpy()], axis=1)

    # streams -------------------------------------------------------------------------

    @property
    def stream(self) -> int:
        """Handle of the CUDA stream on which all work is done."""
        return int(self.gpu.stream)

    def wait_for(self, stream: int) -> None:
        """Make later calls wait for work that was started on another stream."""
        self.gpu.wait_for(stream)

    @property
    def memory_per_world(self) -> int:
        """Size of a world's data in bytes."""
        return self.memories.nbytes() // self.memories.worlds

    def close(self) -> None:
        """Free all memory on the GPU."""
        self.gpu.close()
