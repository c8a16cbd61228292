"""Many worlds of one model that live side by side: live arrays over all worlds, calls over native threads.

The interface is that of ``mujoco.batch`` of MuJoCo 4.0. A world's results are those of a single `MjData`, bit by bit,
whatever the number of worlds and threads.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import copy
from importlib import import_module
from typing import TYPE_CHECKING, Any, NoReturn, Self

import numpy as np

from cardan.api.loading import mj_setConst
from cardan.api.pipeline import KEYFRAME_SOURCES
from cardan.batch import questions, random
from cardan.batch.core import ROWS, UP_TO, Core
from cardan.batch.models import CONSTANTS, MODEL_FIELDS, check_data, guess, unknown_field
from cardan.batch.named import BatchNames
from cardan.batch.record import rollout as record_rollout
from cardan.batch.select import integer, per_world, state_bits
from cardan.batch.worlds import COUNTS
from cardan.enums import mjtStage, mjtState, mjtWarning
from cardan.enums.codes import STAGE_ACC
from cardan.errors import FatalError
from cardan.jit.front.stage import DOUBLE, SINGLE, Form
from cardan.model import internals
from cardan.model.mjdata import ARRAYS, MjData
from cardan.model.mjmodel import MjModel
from cardan.model.tables import DATA
from cardan.step.state import field_sizes, state_fields, state_size

if TYPE_CHECKING:
    from cardan.batch.tape import BatchTape

DATA_FIELDS = frozenset((*(name for name in ARRAYS if not name.startswith(("D_", "B_"))), *COUNTS, "time"))
"""Names of the fields that `Batch.bind` takes."""

_ON_GPU = "cardan.batch.gpu.batch"
_ON_GPUS = "cardan.batch.gpu.split"
DIVERGED = tuple(
    int(kind) for kind in (mjtWarning.mjWARN_BADQPOS, mjtWarning.mjWARN_BADQVEL, mjtWarning.mjWARN_BADQACC)
)
OVERFLOWN = tuple(int(kind) for kind in (mjtWarning.mjWARN_CONTACTFULL, mjtWarning.mjWARN_CNSTRFULL))


class Batch(BatchNames, Core):
    """Simulations of one model, in one call each for all of them.

    Fields of the data are attributes: live arrays (nworld, ...). Those of the state (`qpos`, `ctrl`, ...) are parts of
    `state` and may be written; all others show what the last call computed. Contacts and constraint rows are those of
    ``data(world)``. A batch must not be used from several Python threads at once.

    Args:
        model: the model; the batch keeps a copy.
        nsim: number of worlds.
        nthread: number of threads, the caller's included; 0: as many as the process has processors.
        persistent: kept for programs written for ``mujoco.batch``: here, each world always has data of its own.
        device: ``"cpu"``; ``"cuda"``, or ``"cuda:1"`` for the second GPU: then a `cardan.batch.gpu.batch.GpuBatch` is
            made, whose fields stay on the GPU; a list of GPUs: a `cardan.batch.gpu.split.SplitBatch`, over all of them.
        dtype: ``"float64"`` or ``"float32"``, of all real numbers of the data and in all computation. In single
            precision, the model is converted once: write what shall change to expanded fields, and ``data(world)`` and
            ``get_data(world)`` are copies in double precision.

    Raises:
        ValueError: a device or precision that isn't there, or Python functions that the model would call.
    """

    def __new__(
        cls,
        model: MjModel,
        nsim: int,
        *arguments: Any,
        device: str | Sequence[str] = "cpu",
        dtype: Any = "float64",
        **options: Any,
    ) -> Batch:
        """A batch, on the GPUs if `device` names some."""
        precision = np.dtype(dtype).name
        if precision not in (DOUBLE, SINGLE):
            raise ValueError(f"there are no batches in {precision}: dtype should be 'float64' or 'float32'")
        if not isinstance(device, str | Sequence):
            raise ValueError(f"device should be a name, or a list of GPUs, got {device!r}")
        if not isinstance(device, str):
            return object.__new__(import_module(_ON_GPUS).SplitBatch if cls is Batch else cls)
        kind = device.partition(":")[0]
        if kind not in ("cpu", "cuda"):
            raise ValueError(f"batches on the device {device!r} are not supported yet; there are 'cpu' and 'cuda'")
        return object.__new__(import_module(_ON_GPU).GpuBatch if kind == "cuda" and cls is Batch else cls)

    def __init__(
        self,
        model: MjModel,
        nsim: int,
        nthread: int = 0,
        persistent: bool = False,
        *,
        device: str | Sequence[str] = "cpu",
        dtype: Any = "float64",
    ) -> None:
        super().__init__(model, nsim, nthread, persistent, Form(precision=np.dtype(dtype).name))

    def __len__(self) -> int:
        return self.nsim

    @property
    def nstate(self) -> int:
        """Length of a row of the state."""
        return self.state.shape[1]

    @property
    def models(self) -> MjModel | tuple[MjModel, ...] | None:
        """The models that were set with `set_models`, or None."""
        given = self._models.given
        if given is None:
            return None
        return given[0] if self._models.shared else tuple(given)

    # fields ----------------------------------------------------------------------

    def bind(self, name: str) -> np.ndarray:
        """The live array (nworld, ...) over a field of the data, one of `DATA_FIELDS`.

        Raises:
            ValueError: there is no such field, or its size differs between worlds.
        """
        bound = self.__dict__["_bound"]
        if name not in bound:
            bound[name] = self._bind(name)
        return bound[name]

    def _bind(self, name: str) -> np.ndarray:
        if name not in DATA_FIELDS:
            if why := _unbound(name):
                raise ValueError(why)
            raise unknown_field(name, DATA_FIELDS, "MjData that can be bound")
        if name in ROWS:
            sizes = field_sizes(self.model)
            at = sum(sizes[n] for n in ROWS[: ROWS.index(name)])
            shape = () if name == "time" else self._memories.view(name).shape[1:]
            return self.state[:, at : at + sizes[name]].reshape((self.nsim, *shape))
        view = self._memories.count(name) if name in COUNTS else self._memories.view(name)
        view.flags.writeable = False
        return view

    def __repr__(self) -> str:
        kind = type(self).__name__
        if "state" not in self.__dict__:  # it is being made
            return f"<{kind}>"
        return f"<{kind} of {self.nsim} worlds in {self.state.dtype}: nq {self.model.nq}, nv {self.model.nv}>"

    def __getattr__(self, name: str) -> np.ndarray:
        if name not in DATA_FIELDS:
            if why := _unbound(name):
                raise AttributeError(why)
            meant = "; did you mean 'nsim'?" if name == "nworld" else guess(name, DATA_FIELDS)
            raise AttributeError(f"Batch has no attribute {name!r}{meant}")
        return self.bind(name)

    def __setattr__(self, name: str, value: Any) -> None:
        if value is None and (name in ROWS or name == "state"):
            raise ValueError(f"{name} is set from numbers, got None")
        if name in ROWS:
            array = self.bind(name)
            try:
                array[...] = value
            except ValueError as error:
                raise ValueError(f"{name} is of shape {array.shape}: {error}") from None
        elif name == "state":
            self.state[...] = value
        elif name in DATA_FIELDS:
            raise ValueError(f"{name} is computed by every call and can't be set; these can: {', '.join(ROWS)}")
        else:
            raise AttributeError(f"Batch has no attribute {name!r} that can be set")

    def __reduce__(self) -> NoReturn:
        raise TypeError(
            "a batch can't be copied or pickled: make one from its model, and give it the state of this one"
        )

    def __dir__(self) -> list[str]:
        return sorted({*object.__dir__(self), *DATA_FIELDS})

    def get_state(self, spec: int, ids: Any = None, *, mask: Any = None) -> np.ndarray:
        """The parts of the state that the bits of `spec` (`mjtState`) stand for, of worlds (k, size).

        Raises:
            ValueError: `spec` has other bits.
        """
        worlds, names = self._select(ids, mask), state_fields(state_bits("spec", spec))
        sizes = field_sizes(self.model)
        parts = [self.bind(name)[worlds].reshape(len(worlds), sizes[name]) for name in names]
        return np.hstack([np.zeros((len(worlds), 0), self.state.dtype), *parts])

    def set_state(self, state: Any, spec: int, ids: Any = None, *, mask: Any = None) -> None:
        """Set the parts of the state that the bits of `spec` stand for, of worlds (k, size), or one for all (size,).

        Raises:
            ValueError: `state` has another shape, or `spec` other bits.
        """
        worlds, bits = self._select(ids, mask), state_bits("spec", spec)
        size = state_size(self.model, bits)
        try:
            rows = np.broadcast_to(np.asarray(state, np.float64), (len(worlds), size))
        except ValueError:
            raise ValueError(f"state should be of shape {(len(worlds), size)}, got {np.shape(state)}") from None
        at = 0
        for name in state_fields(bits):
            field = self.bind(name)
            n = field_sizes(self.model)[name]
            field[worlds] = rows[:, at : at + n].reshape(len(worlds), *field.shape[1:])
            at += n

    # calls -----------------------------------------------------------------------

    def step(self, ids: Any = None, nstep: int = 1, stage: int = 0, *, mask: Any = None) -> None:
        """Advance worlds by `nstep` time steps, then compute the forward dynamics up to `stage`.

        Args:
            ids: worlds, or a mask of them; None: all. A single number is taken as `nstep`: ``batch.step(4)``.
            nstep: number of steps.
            stage: `mjtStage` up to which fields describe the new state; as after `mj_step` by default.
            mask: a boolean mask (nworld,), instead of `ids`.

        Raises:
            SimulationError: some worlds failed.
        """
        if isinstance(ids, int | np.integer) and not isinstance(ids, bool):
            ids, nstep = None, int(ids)
        parts = [("mj_step", integer("nstep", nstep)), *_up_to(stage)]
        self._call("step", self._select(ids, mask), parts)

    def forward(self, ids: Any = None, stage: int = STAGE_ACC, *, mask: Any = None) -> None:
        """Compute the forward dynamics up to `stage` (arguments and errors as in `step`)."""
        self._call("forward", self._select(ids, mask), _up_to(stage))

    def inverse(self, ids: Any = None, *, mask: Any = None) -> None:
        """Inverse dynamics of the accelerations that the worlds have (arguments and errors as in `step`)."""
        self._call("inverse", self._select(ids, mask), [("mj_inverse", 1)])

    def step1(self, ids: Any = None, *, mask: Any = None) -> None:
        """The first half of a step, before controls are set (arguments and errors as in `step`)."""
        self._call("step1", self._select(ids, mask), [("mj_step1", 1)])

    def step2(self, ids: Any = None, *, mask: Any = None) -> None:
        """The second half of a step (arguments and errors as in `step`)."""
        self._call("step2", self._select(ids, mask), [("mj_step2", 1)])

    def reset(self, ids: Any = None, keyframe: Any = -1, stage: int = STAGE_ACC, *, mask: Any = None) -> None:
        """Reset worlds to the model's defaults or to keyframes, then compute the forward dynamics up to `stage`.

        Args:
            ids: worlds, or a mask of them; None: all.
            keyframe: a keyframe for all worlds of the call, or one each; -1: the defaults.
            stage: `mjtStage`.
            mask: a boolean mask (nworld,), instead of `ids`.

        Raises:
            SimulationError: some worlds failed.
            ValueError: there is no such keyframe.
        """
        worlds = self._select(ids, mask)
        keys = per_world("keyframe", keyframe, (len(worlds),), -1, self.model.nkey)
        parts = _up_to(stage)
        self._clear(worlds)
        self._reset_data(worlds)
        self._save(worlds)
        for i in np.intersect1d(worlds, list(self.__dict__["_diagnoses"])).tolist():
            del self.__dict__["_diagnoses"][i]
        for key in np.unique(keys[keys >= 0]).tolist():
            self._set_keyframe(key, worlds[keys == key])
        self._call("reset", worlds, parts)

    def _set_keyframe(self, key: int, worlds: np.ndarray) -> None:
        models = [self._models.model(i) for i in worlds.tolist()] if self._models.given else [self.model]
        self.bind("time")[worlds] = [m.key_time[key] for m in models]
        for name, source in KEYFRAME_SOURCES.items():
            rows = self.bind(name)
            if rows.size:
                values = np.array([getattr(m, source)[key] for m in models])
                rows[worlds] = values.reshape(len(models), *rows.shape[1:])

    def rollout(
        self,
        nstep: int,
        control: Any = None,
        control_spec: int = mjtState.mjSTATE_CTRL.value,
        record: Sequence[str | int] = ("qpos",),
        ids: Any = None,
        out: Mapping[str | int, np.ndarray] | None = None,
        *,
        every: int = 1,
        mask: Any = None,
    ) -> dict[str | int, np.ndarray]:
        """Advance worlds by `nstep` steps and record fields after each; see `cardan.batch.record.rollout`."""
        return self._rollout(self._select(ids, mask), nstep, control, control_spec, record, out, every)

    def _rollout(self, worlds: np.ndarray, *arguments: Any) -> dict[str | int, np.ndarray]:
        return record_rollout(self, worlds, *arguments)

    def record(
        self,
        nstep: int,
        controls: Any = None,
        ids: Any = None,
        *,
        contacts: str = "exact",
        reach: float | None = None,
        every: int = 1,
        mask: Any = None,
    ) -> BatchTape:
        """Advance worlds by `nstep` steps and keep what gradients of their trajectories need (`cardan.record`).

        Afterwards `state` is that of the end; other fields are those of the last call before.

        Args:
            nstep: number of steps.
            controls: controls of each step, (k, nstep, nu), or what is repeated to that shape; None for those of the
                worlds.
            ids: worlds, or a mask of them; None: all.
            contacts: "smooth" lets geoms that don't touch, but are within `reach`, take part in the derivatives.
            reach: that distance, m; None for the mean size of the model's bodies.
            every: steps from one whose start is kept to the next.
            mask: a boolean mask (nworld,), instead of `ids`.

        Raises:
            NotImplementedError: the batch is on a GPU or in single precision, or worlds have models of their own.
            ValueError: `nstep`, `every`, `contacts` or `reach` is out of its range, or `controls` of another shape.
        """
        from cardan.batch.tape import record

        return record(self, self._select(ids, mask), nstep, controls, contacts, reach, every)

    # questions -------------------------------------------------------------------

    def jac(self, body: Any, point: Any, ids: Any = None, *, mask: Any = None) -> tuple[np.ndarray, np.ndarray]:
        """Jacobians of points fixed to bodies; see `cardan.batch.questions.jacobians`."""
        return questions.jacobians(self, body, point, self._select(ids, mask))

    def ray(
        self,
        pnt: Any,
        vec: Any,
        geomgroup: Any = None,
        flg_static: bool = True,
        bodyexclude: Any = -1,
        ids: Any = None,
        normal: bool = False,
        *,
        mask: Any = None,
    ) -> tuple[np.ndarray, ...]:
        """Distances, ids, and if asked normals of the nearest geoms along rays; see `cardan.batch.questions.rays`."""
        found = questions.rays(self, pnt, vec, geomgroup, flg_static, bodyexclude, self._select(ids, mask))
        return found if normal else found[:2]

    # models ----------------------------------------------------------------------

    def expand(self, *names: str) -> Any:
        """Give fields of the model per-world values; returns them, live (nworld, ...): one array a name.

        After writing what `mj_setConst` reads (masses, positions, ...), call `set_const`.

        Args:
            names: names of `MODEL_FIELDS`; fields of the options as ``opt.<name>``.

        Raises:
            ValueError: there is no such field, all worlds share it, or `set_models` was used.
        """
        arrays = [self._models.expand(name) for name in names]
        return arrays[0] if len(arrays) == 1 else tuple(arrays)

    @property
    def _expanded(self) -> dict[str, np.ndarray]:
        """The fields that the caller may write, by name."""
        return self._models.asked

    def expanded(self, name: str) -> np.ndarray | None:
        """The per-world values of a field of the model (read-only), or None if all worlds share its value."""
        if name not in MODEL_FIELDS:
            raise unknown_field(name, MODEL_FIELDS, "MjModel that can be expanded")
        values = self._models.read(name)
        if values is not None:
            values.flags.writeable = False
        return values

    def set_const(self, ids: Any = None, *, mask: Any = None) -> None:
        """Run `mj_setConst` in worlds; the fields that come out different become per-world values as well."""
        if self._models.given is not None:
            raise FatalError("set_const: set_models set the caller's models; call mj_setConst on those instead")
        worlds = self._select(ids, mask)
        self._clear(worlds)
        if self._models.values:
            for i in worlds.tolist():
                self._set_const(i)
        self._settle("set_const", worlds)

    def _set_const(self, i: int) -> None:
        m = self._models.inputs(i)
        try:
            mj_setConst(m, MjData(m))
        except Exception as error:
            self._keep_error(i, error)
            return
        old = internals.memory(self._models.model(i))
        for name in CONSTANTS:
            is_array = name in old.arrays
            new, now = (
                memory.arrays[name] if is_array else memory.scalars[name] for memory in (internals.memory(m), old)
            )
            if not np.array_equal(new.astype(now.dtype), now):
                self._models.own(name)[i] = new if is_array else new[0]

    def set_models(self, models: MjModel | Sequence[MjModel] | None) -> None:
        """Run each world on a model of the caller's, one for all or one a world; None: on the batch's again.

        Raises:
            ValueError: sizes differ from those of the batch's model, or fields are expanded.
        """
        self._models.set(models)

    def get_model(self, sim: int, model: MjModel | None = None) -> MjModel:
        """A copy of a world's model, or `model` with its values.

        Raises:
            ValueError: `model` has other sizes.
        """
        own = self._models.exported(self._world(sim))
        if model is None:
            return own
        if internals.sizes(model) != internals.sizes(own):
            raise ValueError("get_model: the given model has other sizes than the world's")
        internals.memory(model).copy_from(internals.memory(own))
        internals.programs(model).clear()
        return model

    def get_data(self, sim: int, data: MjData | None = None) -> MjData:
        """A copy of a world's data with the state of its row, or `data` with its values.

        Raises:
            TypeError: `data` is not an MjData.
            ValueError: `data` was made for another model.
        """
        i = self._world(sim)
        if data is not None:
            check_data("get_data", data, self._models.model(i))
        self._load(np.array([i]))
        if data is None:
            return copy(self.data(i))
        internals.copy_values(data, self.data(i))
        return data

    # outcomes --------------------------------------------------------------------

    @property
    def status(self) -> np.ndarray:
        """Whether each world failed in its last call (nworld,), read-only."""
        view = self.__dict__["_status"].view()
        view.flags.writeable = False
        return view

    def error(self, sim: int) -> str:
        """The error of a world's last call, or ``""``."""
        return self.__dict__["_errors"].get(self._world(sim), "")

    @property
    def warning(self) -> np.ndarray:
        """Last information and number of each warning (nworld, mjNWARNING, 2)."""
        parts = [np.asarray(self._memories.view(f"warning.{part}")) for part in ("lastinfo", "number")]
        return np.stack(parts, axis=-1)

    def _mask_of(self, kinds: tuple[int, ...]) -> np.ndarray:
        numbers = np.asarray(self._memories.view("warning.number"))
        return sum(((numbers[:, kind] > 0).astype(np.int64) << kind) for kind in kinds)  # type: ignore[return-value]

    @property
    def diverged(self) -> np.ndarray:
        """Bits (1 << mjtWarning) of the divergence checks that reset each world (nworld,)."""
        return self._mask_of(DIVERGED)

    @property
    def overflow(self) -> np.ndarray:
        """Bits (1 << mjtWarning) of the limits on memory, set by the user, that each world met (nworld,)."""
        return self._mask_of(OVERFLOWN)

    def diagnosis(self, sim: int) -> str:
        """The last warning of a world, with stage, field, dof and body where numbers went bad first; or ``""``."""
        return self.__dict__["_diagnoses"].get(self._world(sim), "")

    def random(self, size: int, seed: int, draw: int = 0, ids: Any = None, *, mask: Any = None) -> np.ndarray:
        """Uniform random numbers in [0, 1) of worlds (k, size); see `cardan.batch.random.uniform`."""
        counts = (integer(word, number) for word, number in (("size", size), ("seed", seed), ("draw", draw)))
        return random.uniform(self._select(ids, mask), *counts)

    def close(self) -> None:
        """End the batch's threads: what was computed stays there, and calls that compute raise RuntimeError.

        A second call does nothing. A batch may be used in a ``with`` statement, which closes it.
        """
        self._runner.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()


def _unbound(name: str) -> str:
    """Why there is no array over the worlds of a field of the data; or ``""``: there is no such field."""
    if DATA.members(f"{name}."):
        return f"'{name}' can't be bound: it is made of several fields; data(world) has it"
    if name not in DATA.slot or name.startswith("work."):
        return ""
    scalar = DATA.by_name[name].is_scalar
    why = f"scalars bind() accepts: {', '.join(COUNTS)}, time" if scalar else "it stands in the arena"
    return f"'{name}' can't be bound: {why}; data(world) has it"


def _up_to(stage: int) -> Sequence[tuple[str, int]]:
    number = integer("stage", int(stage) if isinstance(stage, mjtStage) else stage)
    if number not in UP_TO:
        raise ValueError(f"stage should be an mjtStage, one of {sorted(UP_TO)}, got {stage}")
    return UP_TO[number]
