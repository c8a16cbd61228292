"""What a batch stands on: the memory and the models of its worlds, and programs that run in them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import copy
from functools import cache
from types import MappingProxyType
from typing import Any
from weakref import ref

import numpy as np

from cardan.batch.errors import SimulationError
from cardan.batch.memory import WorldMemories
from cardan.batch.models import WorldModels
from cardan.batch.select import as_mask, integer, selected
from cardan.batch.stages import load_state, rollout_inputs, rollout_records, save_state
from cardan.batch.threads import Runner
from cardan.batch.worlds import BYTES, COUNT, COUNTS, TIME, WORDS
from cardan.enums import mjtStage, mjtState
from cardan.errors import FatalError
from cardan.jit import Program, jit_enabled
from cardan.jit.front.stage import HERE, Form
from cardan.model import internals
from cardan.model.forms import data_in_double
from cardan.model.mjdata import MjData
from cardan.model.mjmodel import MjModel
from cardan.model.plugin_life import begin_instances
from cardan.model.reset import start_data
from cardan.model.tables import CAPACITIES
from cardan.step.hooks import python_places, share_hooks
from cardan.step.pipeline import FWD_POSITION, FWD_VELOCITY, PROGRAMS, SENSOR_POS, SENSOR_VEL, STEP
from cardan.step.programs import cached_program
from cardan.step.report import pending_messages, tell
from cardan.step.run import attached, run
from cardan.step.state import field_sizes, state_fields, state_size
from cardan.step.status import ROLLOUT_FROZEN, WARNED
from cardan.threads import processors

ROWS = tuple(state_fields(int(mjtState.mjSTATE_INTEGRATION)))
"""Fields of the state, in the order of a row of `Batch.state`."""

LISTS: dict[str, tuple[Any, ...]] = {
    **PROGRAMS,
    "position": (*FWD_POSITION, *SENSOR_POS),
    "velocity": (*FWD_POSITION, *SENSOR_POS, *FWD_VELOCITY, *SENSOR_VEL),
    "jacobian": (*PROGRAMS["mj_kinematics"], *PROGRAMS["mj_comPos"]),
    "rollout": (rollout_inputs, *STEP, rollout_records),
    "surfaces": (*PROGRAMS["mj_kinematics"], *PROGRAMS["mj_flex"]),
}
"""Lists of stages by name."""

UP_TO = {
    int(mjtStage.mjSTAGE_NONE): (),
    int(mjtStage.mjSTAGE_POS): (("position", 1),),
    int(mjtStage.mjSTAGE_VEL): (("velocity", 1),),
    int(mjtStage.mjSTAGE_ACC): (("mj_forward", 1),),
}
"""The lists that compute the forward dynamics up to a stage, each with its number of repetitions."""


Programs = tuple[Sequence[Program | None], np.ndarray | None]


class Core:
    """The worlds of a batch; the public class is `cardan.batch.Batch`."""

    persistent: bool
    nthread: int
    state: np.ndarray
    _models: WorldModels
    _memories: WorldMemories
    _runner: Runner

    def __init__(self, model: MjModel, nsim: int, nthread: int, persistent: bool, form: Form = HERE) -> None:
        if not isinstance(model, MjModel):
            raise TypeError(f"Batch(): model should be an MjModel, got {type(model).__name__}")
        count, wanted = integer("nsim", nsim, 1), integer("nthread", nthread)
        put = self.__dict__
        put["persistent"] = bool(persistent)
        put["nthread"] = min(wanted or processors(), count)
        put["_models"] = self._models_of(share_hooks(copy(model), model), count, form)
        put["_data"], put["_bound"] = {}, {}
        put["_status"], put["_errors"] = np.zeros(count, np.int32), {}
        put["_first"] = 0  # number of the first world, where the batch is a part of another one
        put["_news"], put["_diagnoses"] = {}, {}  # warnings of this call; the last one of each world
        put["_runner"] = Runner(self.nthread, self._objects, self._keep_error)
        self._begin(count)

    def _models_of(self, m: MjModel, count: int, form: Form) -> WorldModels:
        """The models of the worlds."""
        return WorldModels(m, count, form)

    def _begin(self, count: int) -> None:
        """Allocate all worlds, as large as the default state of one needs, and set it."""
        m, put = self._models.base, self.__dict__
        refuse_python(m, cached_program(m, "mj_step", PROGRAMS["mj_step"]))
        memories = put["_memories"] = WorldMemories(m, count, self._first_capacities())
        put["state"] = np.zeros((count, state_size(m, int(mjtState.mjSTATE_INTEGRATION))), memories.dtype)
        memories.attach_rows("work.batch_row", self.state)
        memories.share("work.batch_part", self._parts())
        memories.spread_scalars(internals.memory(self._live(0)))
        memories.view("plugin")[:] = m.plugin
        worlds = np.arange(count)
        self._run(Program([start_data], self._form), worlds)
        if m.nplugin:
            for i in range(count):
                begin_instances(m, self._live(i))
        self._save(worlds)

    def _first_capacities(self) -> dict[str, int]:
        """Capacities of an arena that holds the default state; none where the user limits memory."""
        m = self._models.base
        if m.narena:
            return {}
        scout = MjData(m)
        run(cached_program(m, "mj_forward", PROGRAMS["mj_forward"]), m, scout)
        return {name: internals.sizes(scout)[name] for name in CAPACITIES}

    def _parts(self, names: Sequence[str] = ROWS) -> np.ndarray:
        """The parts of a row of fields of the state: kind, address in the buffer, size."""
        sizes = field_sizes(self.model)
        rows = []
        for name in names:
            kind = {"time": TIME, "eq_active": BYTES}.get(name, WORDS)
            rows.append((kind, self._memories.offset(name) if kind == WORDS else 0, sizes[name]))
        return np.array(rows, np.int64).reshape(-1)

    def _record_parts(self, item: str | int) -> np.ndarray:
        """The parts of a record of a field, as the bytes that it has in memory, or of bits of `mjtState`."""
        if not isinstance(item, str):
            return self._parts(state_fields(item))
        if item == "time":
            return np.array([TIME, 0, 1])
        if item in COUNTS:
            return np.array([COUNT, COUNTS.index(item), 1])
        view, word = self._memories.view(item), self._memories.dtype.itemsize
        nbytes = view.itemsize * int(np.prod(view.shape[1:]))
        return np.array([WORDS, self._memories.offset(item), -(-nbytes // word)])

    @property
    def model(self) -> MjModel:
        """The batch's model, in double precision."""
        return self._models.shown

    @property
    def _form(self) -> Form:
        """The form of the batch's native code."""
        return internals.form(self._models.base)

    @property
    def nsim(self) -> int:
        """Number of worlds."""
        return self._models.count

    def data(self, sim: int) -> MjData:
        """The live data of a world, with its contacts and constraint rows; in single precision, a copy in double.

        Its state is that of the last call; the world's row of `state` overwrites it at the next one.
        """
        i = self._world(sim)
        return self._live(i) if self._form == HERE else data_in_double(self._models.exported(i), self._live(i))

    def _live(self, i: int) -> MjData:
        known = self.__dict__["_data"]
        m = self._models.model(i)
        if i not in known:
            known[i] = self._memories.data(m, i)
            internals.kept(known[i])["batch"] = ref(self)
        if known[i].model is not m:  # fields were expanded, or models set, since then
            internals.set_model(known[i], m)
            self._memories.calls[i, 2::2] = m.address, id(m)
        return known[i]

    def _world(self, sim: int) -> int:
        i = integer("sim", sim)
        if i >= self.nsim:
            raise ValueError(f"sim should be in [0, {self.nsim}), got {sim}")
        return i

    def _objects(self, i: int) -> tuple[MjModel, MjData]:
        return self._models.model(i), self._live(i)

    # calls -----------------------------------------------------------------------

    def _select(self, ids: Any, mask: Any) -> np.ndarray:
        if mask is not None:
            if ids is not None:
                raise ValueError("give ids or mask, not both")
            ids = as_mask(mask)
        return selected(ids, self.nsim)

    def _call(
        self,
        name: str,
        worlds: np.ndarray,
        parts: Sequence[tuple[str, int]],
        lent: Mapping[str, np.ndarray] = MappingProxyType({}),
    ) -> None:
        """Run lists of stages in worlds, each so many times, between loading and saving their state.

        Meanwhile private fields of the worlds are the parts (k, ...) of the arrays `lent`.
        """
        self._clear(worlds)
        programs = [(self._programs_of(part, worlds), n) for part, n in parts if n]
        self._load(worlds)
        for program, n in programs:
            good = self._good(worlds)
            kept = lent if len(good) == len(worlds) else {k: v[np.isin(worlds, good)] for k, v in lent.items()}
            self._lend(program, good, kept, n)
        self._save(self._good(worlds))
        self._settle(name, worlds)

    def _load(self, worlds: np.ndarray) -> None:
        """Set the state of worlds from their rows."""
        self._run(state_programs(self._form)[0], worlds)

    def _save(self, worlds: np.ndarray) -> None:
        """Write the state of worlds to their rows."""
        self._run(state_programs(self._form)[1], worlds)

    def _reset_data(self, worlds: np.ndarray) -> None:
        """Reset the data of worlds."""
        self._run_kinds(self._programs_of("mj_resetData", worlds), worlds, 1)

    def _good(self, worlds: np.ndarray) -> np.ndarray:
        """The worlds of a call that have not failed."""
        return worlds[self.__dict__["_status"][worlds] == 0] if self.__dict__["_errors"] else worlds

    def _clear(self, worlds: np.ndarray) -> None:
        """Before a call: its worlds have not failed."""
        self.__dict__["_status"][worlds] = 0
        self.__dict__["_news"].clear()  # of a call that was interrupted
        errors = self.__dict__["_errors"]
        for i in np.intersect1d(worlds, list(errors)).tolist() if errors else ():
            del errors[i]

    def _keep_error(self, i: int, error: BaseException) -> None:
        self.__dict__["_status"][i] = 1
        self.__dict__["_errors"][i] = str(error)

    def _settle(self, name: str, worlds: np.ndarray) -> None:
        """After a call: tell the warnings; raise for the worlds that failed."""
        news, errors, first = (self.__dict__[name] for name in ("_news", "_errors", "_first"))
        for kind in sorted({kind for _, kind in news}):
            of = sorted(i for i, k in news if k == kind)
            others = f" (and {len(of) - 1} other worlds)" if len(of) > 1 else ""
            tell(f"World {of[0] + first}{others}: {news[of[0], kind]}")
        news.clear()
        failed = np.intersect1d(worlds, list(errors)).tolist() if errors else []
        if failed:
            raise failure(name, {i + first: errors[i] for i in failed}, len(worlds))

    # programs --------------------------------------------------------------------

    def _programs_of(self, name: str, worlds: np.ndarray) -> Programs:
        """The programs of a list of stages, one for each kind of world, and the number of each world's.

        Worlds of the call whose model asks for what isn't there have failed.
        """
        kinds = self._models.kinds()
        if kinds is None:
            return [self._program(name, 0)], None
        firsts, which = np.unique(kinds, return_inverse=True)
        programs: list[Program | None] = []
        for k, i in enumerate(firsts.tolist()):
            try:
                programs.append(self._program(name, i))
            except (FatalError, ValueError) as error:
                programs.append(None)
                for world in worlds[which.reshape(-1)[worlds] == k].tolist():
                    self._keep_error(world, error)
        return programs, which.reshape(-1)

    def _program(self, name: str, i: int) -> Program:
        m = self._models.model(i)
        if self._models.flexible:
            internals.programs(m).clear()  # an option may have been written
        answers = {WARNED: _take_news, ROLLOUT_FROZEN: _end_rollout}
        program = cached_program(m, ("batch", name), LISTS[name], answers=answers)
        refuse_python(m, program)
        return program

    def _run(self, program: Program, worlds: np.ndarray) -> None:
        self._run_kinds(([program], None), worlds, 1)

    def _ask(self, stage: Any, worlds: np.ndarray, arrays: Mapping[str, np.ndarray]) -> None:
        """Run a stage while private fields of the worlds are the parts (k, ...) of arrays in C order.

        The arrays are of float64; in a batch of another precision, copies are used, and what is written comes back.
        """
        programs = [Program([stage], self._form)], None
        if self._memories.dtype != np.float64:
            copies = {name: array.astype(self._memories.dtype) for name, array in arrays.items()}
            self._lend(programs, worlds, copies)
            for name, array in arrays.items():
                array[...] = copies[name]
            return
        self._lend(programs, worlds, arrays)

    def _lend(self, programs: Programs, worlds: np.ndarray, arrays: Mapping[str, np.ndarray], n: int = 1) -> None:
        """Run programs `n` times while private fields of the worlds are the parts (k, ...) of arrays."""
        if jit_enabled:
            self._memories.lend(arrays, worlds)
            self._run_kinds(programs, worlds, n)
            self._memories.lent = {}
            return
        for k, i in enumerate(worlds.tolist()):
            _, d = self._objects(i)
            with attached(d, {name: array[k] for name, array in arrays.items()}):
                self._run_kinds(programs, worlds[k : k + 1], n)

    def _run_kinds(self, programs: Programs, worlds: np.ndarray, n: int) -> None:
        calls = self._memories.calls
        calls[worlds, 2] = self._models.addresses[worlds]
        places = calls.ctypes.data + worlds * calls.strides[0]
        which = np.zeros(len(worlds), np.int64) if programs[1] is None else programs[1][worlds]
        self._runner.run(programs[0], which, worlds, places, n)


def failure(name: str, errors: Mapping[int, str], count: int) -> SimulationError:
    """The error of a call for `count` worlds of which some failed."""
    texts = "; ".join(f"simulation {i}: {text}" for i, text in errors.items())
    which = ", ".join(map(str, errors))
    return SimulationError(f"{name} failed in {len(errors)} of {count} simulations ({which}); {texts}", list(errors))


def _take_news(program: Program, m: MjModel, d: MjData) -> None:
    """Keep the new warnings of a world, to be told after the call.

    The data knows its batch: the program, which a model of the caller's keeps, may be used by others.
    """
    batch = internals.kept(d)["batch"]()
    memories = batch._memories
    i = int((d.address - memories.addresses[0]) // memories.slots.strides[0])
    for kind, text in pending_messages(d):
        batch.__dict__["_news"][i, kind] = batch.__dict__["_diagnoses"][i] = text


def _end_rollout(program: Program, m: MjModel, d: MjData) -> None:
    """A world of a rollout has raised a warning: it takes no further steps."""
    internals.position(d)[:] = 0, np.iinfo(np.int64).max


@cache
def state_programs(form: Form) -> tuple[Program, Program]:
    """The programs that load and save the state of a world."""
    return Program([load_state], form), Program([save_state], form)


def refuse_python(m: MjModel, program: Any) -> None:
    """Raise ValueError if a model's program calls Python functions."""
    if program.needs_objects:
        what = ", ".join(f"mjcb_{place}" for place in python_places(m)) or "a collision function or a plugin"
        raise ValueError(
            f"a batch can't run functions in Python ({what}): compile them with numba.njit, and they run in every world"
        )
