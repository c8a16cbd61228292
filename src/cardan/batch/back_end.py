"""Back ends of batches: the models, the memory and the execution of the worlds.

The public class, `cardan.batch.Batch`, checks all arguments and calls one of three back ends: threads of this machine
(`cardan.batch.cpu`), one GPU (`cardan.batch.gpu.back_end`) or several GPUs (`cardan.batch.gpu.split`). This module
contains their common base class. The argument `worlds` always contains sorted, unique ids (k,).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import numpy as np
import numpy.typing as npt

from cardan.api.loading import mj_setConst
from cardan.api.pipeline import KEYFRAME_SOURCES
from cardan.batch.arguments import state_bits
from cardan.batch.models import CONSTANTS, WorldModels
from cardan.batch.stages import COUNT, COUNTS, TIME, WORDS, rollout_inputs, rollout_records, row_parts
from cardan.enums import mjtStage, mjtState
from cardan.errors import FatalError
from cardan.jit.front.stage import Form
from cardan.model import internals
from cardan.model.computed import shown_dtype
from cardan.model.mjdata import MjData
from cardan.model.mjmodel import MjModel
from cardan.step.pipeline import FWD_POSITION, FWD_VELOCITY, PROGRAMS, SENSOR_POS, SENSOR_VEL, STEP
from cardan.step.report import tell
from cardan.step.state import field_sizes, state_fields

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

Lists = Sequence[tuple[str, int]]
"""Names of lists of stages, each with its number of repetitions."""

UP_TO: dict[int, Lists] = {
    int(mjtStage.mjSTAGE_NONE): (),
    int(mjtStage.mjSTAGE_POS): (("position", 1),),
    int(mjtStage.mjSTAGE_VEL): (("velocity", 1),),
    int(mjtStage.mjSTAGE_ACC): (("mj_forward", 1),),
}
"""Lists that compute the forward dynamics up to a stage, by `mjtStage`."""

Item = str | int
"""Quantity that a rollout records: a field of the data by name, or bits of `mjtState`."""
Programs = tuple[Sequence[Any], np.ndarray | None]
"""Programs, and the index of each world's program (nworld,); None: all worlds use the first one."""
NOTHING: Mapping[str, np.ndarray] = MappingProxyType({})


class SimulationError(RuntimeError):
    """Error of a call in which some worlds failed. All other worlds completed the call; failed worlds keep their state.

    Attributes:
        ids: ids of the worlds that failed.
    """

    def __init__(self, message: str, ids: list[int]) -> None:
        super().__init__(message)
        self.ids = ids

    def __reduce__(self) -> tuple[type[SimulationError], tuple[str, list[int]]]:
        return type(self), (str(self), self.ids)


def failure(name: str, errors: Mapping[int, str], count: int) -> SimulationError:
    """Make the error of the call `name` for `count` worlds; `errors` maps each failed world to its message."""
    texts = "; ".join(f"simulation {i}: {text}" for i, text in errors.items())
    which = ", ".join(map(str, errors))
    return SimulationError(f"{name} failed in {len(errors)} of {count} simulations ({which}); {texts}", list(errors))


@dataclass(frozen=True, slots=True)
class Rollout:
    """Description of a rollout of k worlds: inputs to set and fields to record.

    Attributes:
        nstep: number of steps.
        control: inputs (k, nstep, size) as returned by `BackEnd.taken`, or None.
        names: fields of the state that a row of inputs contains, in order.
        items: shape and element type of one record, for each item (see `Item`).
        out: the caller's arrays (k, nstep // every, ...) to record into, by item.
        every: steps from one record to the next.
    """

    nstep: int
    control: Any
    names: Sequence[str]
    items: Mapping[Item, tuple[tuple[int, ...], np.dtype]]
    out: Mapping[Item, np.ndarray]
    every: int


class BackEnd(ABC):
    """Base class of back ends. Holds the worlds of one model: their data, and their states as rows (nworld, nstate)."""

    memories: Any
    state: Any
    nthread = 1

    def __init__(self, models: WorldModels) -> None:
        self.models = models
        self.first = 0  # number of the first world, if the worlds are a part of a larger batch
        self.status = np.zeros(models.count, np.int32)  # 1 for worlds that failed in their last call
        self.errors: dict[int, str] = {}  # messages of the worlds that failed
        self.news: dict[tuple[int, int], str] = {}  # warnings of the current call, by world and kind (mjtWarning)
        self.diagnoses: dict[int, str] = {}  # the last warning of each world

    @property
    def form(self) -> Form:
        """Form of the native code."""
        return internals.form(self.models.base)

    # what differs between back ends ------------------------------------------------

    @abstractmethod
    def taken(self, value: Any, shape: tuple[int, ...]) -> Any:
        """Convert numbers to an array of the back end, broadcast to `shape`. Raise ValueError if that is impossible."""

    @abstractmethod
    def empty(self, shape: tuple[int, ...], dtype: npt.DTypeLike) -> Any:
        """Make a new array of the back end, with undefined contents."""

    @abstractmethod
    def load(self, worlds: np.ndarray) -> None:
        """Copy the worlds' rows of `state` into their data."""

    @abstractmethod
    def save(self, worlds: np.ndarray) -> None:
        """Copy the state in the worlds' data to their rows of `state`."""

    @abstractmethod
    def reset_data(self, worlds: np.ndarray) -> None:
        """Reset the data of worlds to the defaults of their models."""

    @abstractmethod
    def program(self, name: str, i: int) -> Any:
        """Return the program that runs the list of stages `name` in world `i`.

        Raises:
            FatalError, ValueError: the world's model has a feature that batches don't support.
        """

    @abstractmethod
    def run(self, programs: Programs, worlds: np.ndarray, n: int = 1, lent: Mapping[str, np.ndarray] = NOTHING) -> None:
        """Run each world's program `n` times. Private fields named in `lent` use its arrays (k, ...) as memory."""

    @abstractmethod
    def ask(self, stage: Any, worlds: np.ndarray, arrays: Mapping[str, np.ndarray]) -> None:
        """Run a stage that reads its arguments from, and writes its results to, private fields of the worlds.

        `arrays` maps the names of these fields to float64 arrays (k, ...) in C order with their values. Afterwards the
        arrays contain the values that the stage wrote.
        """

    @abstractmethod
    def rollout(self, worlds: np.ndarray, task: Rollout) -> dict[Item, Any]:
        """Advance worlds: set inputs before each step, record fields after each step. Return the records by item.

        A world that raises a warning stops; its remaining records repeat its last values.

        Raises:
            SimulationError: some worlds failed.
        """

    @abstractmethod
    def live(self, i: int) -> MjData:
        """Return the data of a world after the last call: live data, or a copy if the memory is on a GPU."""

    @abstractmethod
    def data(self, i: int) -> MjData:
        """Return the data of a world for the user: live data, or a copy in double precision."""

    @abstractmethod
    def close(self) -> None:
        """Free all resources: threads, or memory of a GPU."""

    # fields --------------------------------------------------------------------------

    def on_host(self, ids: Any) -> Any:
        """Return ids or a mask of worlds in a form that NumPy can read."""
        return ids

    def columns(self, name: str) -> slice:
        """Return the columns of a field in a row of the state."""
        sizes = field_sizes(self.models.shown)
        at = sum(sizes[n] for n in ROWS[: ROWS.index(name)])
        return slice(at, at + sizes[name])

    def bind(self, name: str) -> Any:
        """Live array (nworld, ...) over a field of the data; only fields of the state may be written."""
        if name in ROWS:
            shape = () if name == "time" else self.memories.view(name).shape[1:]
            return self.state[:, self.columns(name)].reshape((self.models.count, *shape))
        view = self.memories.count(name) if name in COUNTS else self.memories.view(name)
        view.flags.writeable = False
        return view

    def dtype_of(self, name: str) -> np.dtype:
        """Element type of a field of the data, as MjData shows it."""
        return shown_dtype(self.models.shown, self.memories.struct.by_name[name])

    def numbers(self, name: str) -> np.ndarray:
        """NumPy array (nworld, ...) of a field of the data."""
        return np.asarray(self.memories.view(name))

    def get_state(self, names: Sequence[str], worlds: np.ndarray) -> Any:
        """Return a copy of fields of the state of worlds, one row (k, size) for each world."""
        sizes = field_sizes(self.models.shown)
        found = self.empty((len(worlds), sum(sizes[name] for name in names)), self.state.dtype)
        for name, place in _places(names, sizes):
            found[:, place] = self.state[:, self.columns(name)][worlds]
        return found

    def set_state(self, rows: Any, names: Sequence[str], worlds: np.ndarray) -> None:
        """Set fields of the state of worlds from rows (k, size) that `taken` returned."""
        for name, place in _places(names, field_sizes(self.models.shown)):
            self.state[:, self.columns(name)][worlds] = rows[:, place]

    def state_parts(self, names: Sequence[str] = ROWS) -> np.ndarray:
        """Return the parts of a row that consists of the state fields `names` (see `row_parts`)."""
        return row_parts(names, field_sizes(self.models.shown), self.memories.offset)

    def record_parts(self, item: Item) -> np.ndarray:
        """Return the parts of a record of an item (see `row_parts`). Fields of the data are recorded as raw bytes."""
        if not isinstance(item, str):
            return self.state_parts(state_fields(state_bits("record", item)))
        if item == "time":
            return np.array([TIME, 0, 1])
        if item in COUNTS:
            return np.array([COUNT, COUNTS.index(item), 1])
        view, word = self.memories.view(item), self.memories.dtype.itemsize
        nbytes = view.itemsize * int(np.prod(view.shape[1:]))
        return np.array([WORDS, self.memories.offset(item), -(-nbytes // word)])

    def part(self, i: int) -> tuple[BackEnd, int]:
        """Return the back end that contains a world, and the world's index within it."""
        return self, i

    # calls ---------------------------------------------------------------------------

    def call(self, name: str, worlds: np.ndarray, lists: Lists, lent: Mapping[str, np.ndarray] = NOTHING) -> None:
        """Load the state of worlds, run lists of stages, and save the state.

        Raises:
            SimulationError: some worlds failed.
        """
        self.clear(worlds)
        programs = [(self.programs(part, worlds), n) for part, n in lists if n]
        self.load(worlds)
        for program, n in programs:
            good = self.good(worlds)
            kept = lent if len(good) == len(worlds) else {k: v[np.isin(worlds, good)] for k, v in lent.items()}
            self.run(program, good, n, kept)
        self.save(self.good(worlds))
        self.settle(name, worlds)

    def reset(self, worlds: np.ndarray, keys: np.ndarray, lists: Lists) -> None:
        """Reset worlds to their keyframes `keys` (-1: to the defaults), then run lists of stages.

        Raises:
            SimulationError: some worlds failed.
        """
        self.clear(worlds)
        self.reset_data(worlds)
        self.save(worlds)
        for i in np.intersect1d(worlds, list(self.diagnoses)).tolist():
            del self.diagnoses[i]
        for key in np.unique(keys[keys >= 0]).tolist():
            self._set_keyframe(key, worlds[keys == key])
        self.call("reset", worlds, lists)

    def _set_keyframe(self, key: int, worlds: np.ndarray) -> None:
        m = self.models
        models = [m.model(i) for i in worlds.tolist()] if m.given else [m.shown]
        for name, source in {"time": "key_time", **KEYFRAME_SOURCES}.items():
            columns = self.columns(name)
            if columns.start < columns.stop:
                values = np.array([getattr(m, source)[key] for m in models])
                self.state[:, columns][worlds] = values.reshape(len(models), -1)

    def set_const(self, worlds: np.ndarray) -> None:
        """Run `mj_setConst` in worlds. If no field has per-world values, do nothing.

        Fields that then differ from the batch's model get per-world values.

        Raises:
            SimulationError: some worlds failed.
        """
        self.clear(worlds)
        found: dict[str, dict[int, Any]] = {}
        if self.models.values:
            for i, m in zip(worlds.tolist(), self.models.inputs(worlds), strict=True):
                try:
                    mj_setConst(m, MjData(m))
                except Exception as error:
                    self.keep_error(i, error)
                else:
                    for name, value in self._new_constants(m):
                        found.setdefault(name, {})[i] = value
        for name, rows in found.items():
            self.models.own(name)[np.array(list(rows))] = np.stack(list(rows.values()))
        self.settle("set_const", worlds)

    def _new_constants(self, m: MjModel) -> Iterator[tuple[str, Any]]:
        """Yield name and value of each constant in `m` that has per-world values or differs from the batch's model."""
        base = internals.memory(self.models.base)
        for name in CONSTANTS:
            is_array = name in base.arrays
            own = internals.memory(m)
            new, now = (memory.arrays[name] if is_array else memory.scalars[name] for memory in (own, base))
            if name in self.models.values or not np.array_equal(new.astype(now.dtype), now):
                yield name, new if is_array else new[0]

    def set_models(self, models: MjModel | Sequence[MjModel] | None) -> None:
        """Run the worlds on the caller's models (see `Batch.set_models`)."""
        self.models.set(models)

    def good(self, worlds: np.ndarray) -> np.ndarray:
        """Return the ids in `worlds` of worlds that have not failed in the current call."""
        return worlds[self.status[worlds] == 0] if self.errors else worlds

    def clear(self, worlds: np.ndarray) -> None:
        """Before a call, clear the errors of its worlds and any warnings left by an interrupted call."""
        self.status[worlds] = 0
        self.news.clear()
        for i in np.intersect1d(worlds, list(self.errors)).tolist() if self.errors else ():
            del self.errors[i]

    def keep_error(self, i: int, error: BaseException) -> None:
        """Mark a world as failed, and store its error."""
        self.status[i] = 1
        self.errors[i] = str(error)

    def settle(self, name: str, worlds: np.ndarray) -> None:
        """Report the warnings of worlds at the end of a call.

        Raises:
            SimulationError: some worlds failed.
        """
        for kind in sorted({kind for _, kind in self.news}):
            of = sorted(i for i, k in self.news if k == kind)
            others = f" (and {len(of) - 1} other worlds)" if len(of) > 1 else ""
            tell(f"World {of[0] + self.first}{others}: {self.news[of[0], kind]}")
        self.news.clear()
        failed = np.intersect1d(worlds, list(self.errors)).tolist() if self.errors else []
        if failed:
            raise failure(name, {i + self.first: self.errors[i] for i in failed}, len(worlds))

    def programs(self, name: str, worlds: np.ndarray) -> Programs:
        """Return the programs of a list of stages, one for each kind of world, and the kind of each world.

        The kinds are None if there is only one. If the model of a world in `worlds` has a feature that batches don't
        support, mark the world as failed; if there is only one kind, raise the error of `program`.
        """
        kinds = self.models.kinds()
        if kinds is None:
            return [self.program(name, 0)], None
        firsts, which = np.unique(kinds, return_inverse=True)
        programs: list[Any] = []
        for k, i in enumerate(firsts.tolist()):
            try:
                programs.append(self.program(name, i))
            except (FatalError, ValueError) as error:
                programs.append(None)
                for world in worlds[which.reshape(-1)[worlds] == k].tolist():
                    self.keep_error(world, error)
        return programs, which.reshape(-1)


def _places(names: Sequence[str], sizes: Mapping[str, int]) -> Iterator[tuple[str, slice]]:
    """Yield each field and its columns in a row that consists of these fields."""
    at = 0
    for name in names:
        yield name, slice(at, at + sizes[name])
        at += sizes[name]
