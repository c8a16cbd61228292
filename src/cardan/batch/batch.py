"""Many worlds of one model, side by side in memory: live arrays over all worlds, and calls for all or some worlds.

The interface is that of ``mujoco.batch`` of MuJoCo 4.0. On the CPU, a world's results are bitwise identical to those of
a single `MjData`, for any number of worlds and threads.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import copy
from typing import TYPE_CHECKING, Any, NoReturn, Self

import numpy as np

from cardan.batch import calls
from cardan.batch.arguments import integer, per_world
from cardan.batch.back_end import UP_TO, Lists
from cardan.batch.fields import BatchFields
from cardan.batch.models import MODEL_FIELDS, check_data, unknown_field
from cardan.enums import mjtStage, mjtState, mjtWarning
from cardan.enums.codes import STAGE_ACC
from cardan.enums.numbering import is_later, outward
from cardan.errors import FatalError
from cardan.jit.front.stage import DOUBLE, SINGLE
from cardan.model import internals
from cardan.model.mjdata import MjData
from cardan.model.mjmodel import MjModel
from cardan.threads import processors

if TYPE_CHECKING:
    import numpy.typing as npt

    from cardan.batch.fields import Ids
    from cardan.batch.tape import BatchTape

DIVERGED = (mjtWarning.mjWARN_BADQPOS, mjtWarning.mjWARN_BADQVEL, mjtWarning.mjWARN_BADQACC)
OVERFLOWN = (mjtWarning.mjWARN_CONTACTFULL, mjtWarning.mjWARN_CNSTRFULL)


class Batch(BatchFields):
    """Simulations of one model.

    A call acts on all worlds, or on those selected by `ids` (sorted ids, or a boolean mask (nworld,)) or by `mask` (a
    boolean mask). In descriptions of shapes, k is the number of worlds of the call.

    Fields of the data are attributes: live arrays (nworld, ...). Fields of the state (`qpos`, `ctrl`, ...) are parts of
    `state` and may be written; all other fields contain the results of the last call. Contacts and constraint rows are
    in ``data(world)``. A batch must not be used from several Python threads at once.

    On GPUs, fields are arrays on the GPU: `DeviceArray`, which other libraries take without a copy, or `SplitArray` if
    there are several GPUs. Results of `jac`, `ray`, `diverged` and `warning` are NumPy arrays. A call runs on all GPUs
    of the batch at once. Results don't depend on the number of GPUs.

    Args:
        model: the model; the batch keeps a copy.
        nsim: number of worlds.
        nthread: number of threads, including the caller's; 0: one for each available processor. GPUs ignore it.
        persistent: accepted for programs written for ``mujoco.batch``; here, each world always has its own data.
        device: ``"cpu"``; ``"cuda"``, or ``"cuda:1"`` for the second GPU; a list of GPUs to split the worlds among.
        dtype: ``"float64"`` or ``"float32"``, the precision of the data and of all computation. In single precision,
            the model is converted once: to change it later, write to expanded fields. ``data(world)`` and
            ``get_data(world)`` are copies in double precision.
        stages_per_launch: number of stages of a step in one launch (GPUs only); 0: all. Results don't depend on it.
        threads_per_block: 32, 64 or 128 worlds in a block of threads (GPUs only); 0: chosen by the number of worlds.
            Results don't depend on it.

    Raises:
        CudaError: there is no driver, it is too old, or there is no such GPU.
        GpuMemoryError: a GPU has no room for so many worlds; the message states how many would fit.
        ValueError: the device or precision does not exist, the model would call Python functions, or it has a feature
            that batches on a GPU don't support.
    """

    def __init__(
        self,
        model: MjModel,
        nsim: int,
        nthread: int = 0,
        persistent: bool = False,
        *,
        device: str | Sequence[str] = "cpu",
        dtype: npt.DTypeLike = "float64",
        stages_per_launch: int = 1,
        threads_per_block: int = 0,
    ) -> None:
        precision = np.dtype(dtype).name
        if precision not in (DOUBLE, SINGLE):
            raise ValueError(f"there are no batches in {precision}: dtype should be 'float64' or 'float32'")
        if not isinstance(device, str | Sequence):
            raise ValueError(f"device should be a name, or a list of GPUs, got {device!r}")
        kind = device.partition(":")[0] if isinstance(device, str) else "several"
        if kind not in ("cpu", "cuda", "several"):
            raise ValueError(f"batches on the device {device!r} are not supported yet; there are 'cpu' and 'cuda'")
        if not isinstance(model, MjModel):
            raise TypeError(f"Batch(): model should be an MjModel, got {type(model).__name__}")
        count, threads = integer("nsim", nsim, 1), integer("nthread", nthread)
        options: dict[str, Any] = {"stages_per_launch": stages_per_launch, "threads_per_block": threads_per_block}
        if kind == "cpu":
            from cardan.batch.cpu import CpuBackEnd

            if any(options[name] != default for name, default in (("stages_per_launch", 1), ("threads_per_block", 0))):
                raise TypeError("stages_per_launch and threads_per_block are options of batches on GPUs")
            worlds: Any = CpuBackEnd(model, count, min(threads or processors(), count), precision)
        elif kind == "cuda":
            from cardan.batch.gpu.back_end import GpuBackEnd

            worlds = GpuBackEnd(model, count, str(device), precision, **options)
        else:
            from cardan.batch.gpu.split import SplitBackEnd

            worlds = SplitBackEnd(model, count, device, precision=precision, **options)
        self._use(worlds, bool(persistent))

    def _use(self, worlds: Any, persistent: bool) -> None:
        self.__dict__.update(_back_end=worlds, persistent=persistent, _bound={})

    def __repr__(self) -> str:
        if "_back_end" not in self.__dict__:  # it is being made
            return f"<{type(self).__name__}>"
        sizes = f"nq {self.model.nq}, nv {self.model.nv}"
        return f"<{type(self).__name__} of {self.nsim} worlds in {self.state.dtype}: {sizes}>"

    def __reduce__(self) -> NoReturn:
        raise TypeError(
            "a batch can't be copied or pickled: make one from its model, and give it the state of this one"
        )

    # calls -----------------------------------------------------------------------

    def step(self, ids: Ids = None, nstep: int = 1, stage: int = 0, *, mask: Ids = None) -> None:
        """Advance worlds by `nstep` time steps, then compute the forward dynamics up to `stage`.

        Args:
            ids: worlds (see `Batch`). A single number is taken as `nstep`: ``batch.step(4)``.
            nstep: number of steps.
            stage: `mjtStage` up to which results are computed for the new state. By default, nothing is computed for
                the new state, as in `mj_step`.
            mask: boolean mask of worlds, in place of `ids`.

        Raises:
            SimulationError: some worlds failed.
        """
        if isinstance(ids, int | np.integer) and not isinstance(ids, bool):
            ids, nstep = None, int(ids)
        lists = [("mj_step", integer("nstep", nstep)), *_up_to(stage)]
        self._worlds.call("step", self._select(ids, mask), lists)

    def forward(self, ids: Ids = None, stage: int = STAGE_ACC, *, mask: Ids = None) -> None:
        """Compute the forward dynamics up to `stage` (arguments and errors as in `step`)."""
        self._worlds.call("forward", self._select(ids, mask), _up_to(stage))

    def inverse(self, ids: Ids = None, *, mask: Ids = None) -> None:
        """Compute the inverse dynamics from the worlds' accelerations (arguments and errors as in `step`)."""
        self._worlds.call("inverse", self._select(ids, mask), [("mj_inverse", 1)])

    def step1(self, ids: Ids = None, *, mask: Ids = None) -> None:
        """Compute the first half of a step, which does not need controls (arguments and errors as in `step`)."""
        self._worlds.call("step1", self._select(ids, mask), [("mj_step1", 1)])

    def step2(self, ids: Ids = None, *, mask: Ids = None) -> None:
        """Compute the second half of a step, with the current controls (arguments and errors as in `step`)."""
        self._worlds.call("step2", self._select(ids, mask), [("mj_step2", 1)])

    def reset(self, ids: Ids = None, keyframe: npt.ArrayLike = -1, stage: int = STAGE_ACC, *, mask: Ids = None) -> None:
        """Reset worlds to the model's defaults or to keyframes, then compute the forward dynamics up to `stage`.

        Args:
            ids: worlds (see `Batch`).
            keyframe: id of a keyframe, for all worlds of the call or one for each (k,); -1: the defaults.
            stage: `mjtStage` up to which results are computed.
            mask: boolean mask of worlds, in place of `ids`.

        Raises:
            SimulationError: some worlds failed.
            ValueError: there is no such keyframe.
        """
        worlds = self._select(ids, mask)
        keys = per_world("keyframe", keyframe, (len(worlds),), -1, self.model.nkey)
        self._worlds.reset(worlds, keys, _up_to(stage))

    def rollout(
        self,
        nstep: int,
        control: npt.ArrayLike | None = None,
        control_spec: int = mjtState.mjSTATE_CTRL,
        record: Sequence[str | int] = ("qpos",),
        ids: Ids = None,
        out: Mapping[str | int, np.ndarray] | None = None,
        *,
        every: int = 1,
        mask: Ids = None,
    ) -> dict[str | int, Any]:
        """Advance worlds by `nstep` steps. Set inputs before each step; record fields after every `every` steps.

        A world that raises a warning stops; its remaining records repeat its last values.

        Args:
            nstep: number of steps.
            control: inputs (k, nstep, size); None: the inputs don't change.
            control_spec: fields that a row of inputs contains: bits of `mjtState` within mjSTATE_USER.
            record: fields of the data by name, or bits of `mjtState`.
            ids: worlds (see `Batch`).
            out: arrays to record into, by item of `record`; new arrays are made for items that it lacks.
            every: steps from one record to the next.
            mask: boolean mask of worlds, in place of `ids`.

        Returns:
            The arrays by item, (k, nstep // every, ...).

        Raises:
            SimulationError: some worlds failed.
            ValueError: an argument has a wrong value, shape or type.
        """
        return calls.rollout(self, self._select(ids, mask), nstep, control, control_spec, record, out, every)

    def record(
        self,
        nstep: int,
        controls: npt.ArrayLike | None = None,
        ids: Ids = None,
        *,
        contacts: str = "exact",
        reach: float | None = None,
        every: int = 1,
        mask: Ids = None,
    ) -> BatchTape:
        """Advance worlds by `nstep` steps, and record the data from which gradients are computed.

        `cardan.record` does this for one world. Afterwards `state` is the final state; other fields still contain the
        results of the previous call.

        Args:
            nstep: number of steps.
            controls: controls of each step, broadcast to (k, nstep, nu); None: the current controls of the worlds.
            ids: worlds (see `Batch`).
            contacts: "exact"; or "smooth": geoms near contact also contribute to derivatives (docs/derivatives.md).
            reach: for "smooth", largest distance in metres between contributing geoms; None: mean size of the bodies.
            every: steps from one stored state to the next.
            mask: boolean mask of worlds, in place of `ids`.

        Returns:
            The tape: the recorded steps, and the methods that differentiate them.

        Raises:
            NotImplementedError: the batch is on a GPU or in single precision, or worlds have different models.
            ValueError: `nstep`, `every`, `contacts` or `reach` is out of its range, or `controls` has a wrong shape.
        """
        from cardan.batch.tape import record

        return record(self, self._select(ids, mask), nstep, controls, contacts, reach, every)

    # questions -------------------------------------------------------------------

    def jac(
        self, body: npt.ArrayLike, point: npt.ArrayLike, ids: Ids = None, *, mask: Ids = None
    ) -> tuple[np.ndarray, np.ndarray]:
        """Compute Jacobians of points fixed to bodies. The state, and fields that are part of it, don't change.

        Args:
            body: id of a body, or one for each world (k,).
            point: the point in the world frame (3,), or one for each world (k, 3), m.
            ids: worlds (see `Batch`).
            mask: boolean mask of worlds, in place of `ids`.

        Returns:
            Jacobians of positions and of rotations, (k, 3, nv) each.
        """
        return calls.jacobians(self, body, point, self._select(ids, mask))

    def ray(
        self,
        pnt: npt.ArrayLike,
        vec: npt.ArrayLike,
        geomgroup: npt.ArrayLike | None = None,
        flg_static: bool = True,
        bodyexclude: npt.ArrayLike = -1,
        ids: Ids = None,
        normal: bool = False,
        *,
        mask: Ids = None,
    ) -> tuple[np.ndarray, ...]:
        """Compute distances to the nearest geoms along rays, as `mj_ray` does.

        Args:
            pnt: starts of the rays in metres: (3,), (nray, 3) for the same rays in all worlds, or (k, nray, 3).
            vec: directions, with one of the shapes of `pnt`.
            geomgroup: flags (6,) of the geom groups that the rays can hit; None: all.
            flg_static: whether rays can hit geoms of static bodies (those fixed to the world).
            bodyexclude: id of a body whose geoms the rays pass through, or -1; one for all rays, or (k, nray).
            ids: worlds (see `Batch`).
            normal: whether normals are returned as well.
            mask: boolean mask of worlds, in place of `ids`.

        Returns:
            Distances in units of `vec`, and ids of geoms, (k, nray) each; -1 if a ray hits nothing. With `normal` also
            the outward normals of the surfaces (k, nray, 3); 0 if a ray hits nothing.
        """
        found = calls.rays(self, pnt, vec, geomgroup, flg_static, bodyexclude, self._select(ids, mask))
        return found if normal else found[:2]

    # models ----------------------------------------------------------------------

    def expand(self, *names: str) -> Any:
        """Give each world its own values of the named model fields. Return a live array (nworld, ...) for each name.

        After writing fields that `mj_setConst` reads (masses, positions, ...), call `set_const`.

        Args:
            names: names of `MODEL_FIELDS`; fields of the options as ``opt.<name>``.

        Raises:
            ValueError: there is no such field, it can't differ between worlds, or `set_models` was used.
        """
        arrays = [self._worlds.models.expand(name) for name in names]
        return arrays[0] if len(arrays) == 1 else tuple(arrays)

    def expanded(self, name: str) -> Any:
        """Return the per-world values of a field of the model (read-only), or None if all worlds share its value."""
        if name not in MODEL_FIELDS:
            raise unknown_field(name, MODEL_FIELDS, "MjModel that can be expanded")
        return self._worlds.models.read(name, writeable=False)

    def set_const(self, ids: Ids = None, *, mask: Ids = None) -> None:
        """Run `mj_setConst` in worlds, on the CPU. If no field is expanded, do nothing.

        Fields that then differ from the batch's model get per-world values.

        Raises:
            FatalError: `set_models` was used.
            SimulationError: some worlds failed.
        """
        if self._worlds.models.given is not None:
            raise FatalError("set_const: set_models set the caller's models; call mj_setConst on those instead")
        self._worlds.set_const(self._select(ids, mask))

    def set_models(self, models: MjModel | Sequence[MjModel] | None) -> None:
        """Run the worlds on the caller's models: one for all, or one for each world. None: on the batch's own model.

        On GPUs, the models are copied now: later changes have no effect.

        Raises:
            FatalError: fields are expanded.
            ValueError: sizes differ from those of the batch's model, or there are too few or too many models.
        """
        self._worlds.set_models(models)

    def get_model(self, sim: int, model: MjModel | None = None) -> MjModel:
        """Return a copy of a world's model. If `model` is given, copy the values to it and return it.

        Raises:
            ValueError: `model` has other sizes.
        """
        worlds, i = self._world(sim)
        own = worlds.models.exported(i)
        if model is None:
            return own
        if internals.sizes(model) != internals.sizes(own):
            raise ValueError("get_model: the given model has other sizes than the world's")
        internals.memory(model).copy_from(internals.memory(own))
        internals.programs(model).clear()
        return model

    def data(self, sim: int) -> MjData:
        """Return the live data of a world after the last call, with its contacts and constraint rows.

        The next call overwrites the state of the data with the world's row of `state`. In single precision and on GPUs,
        the returned data is a copy in double precision.
        """
        worlds, i = self._world(sim)
        return worlds.data(i)

    def get_data(self, sim: int, data: MjData | None = None) -> MjData:
        """Return a copy of a world's data, with the world's row of `state` as its state.

        If `data` is given, copy the values to it and return it.

        Raises:
            TypeError: `data` is not an MjData.
            ValueError: `data` was made for another model.
        """
        worlds, i = self._world(sim)
        if data is not None:
            check_data("get_data", data, worlds.models.model(i))
        worlds.load(np.array([i]))
        if data is None:
            return copy(worlds.data(i))
        internals.copy_values(data, worlds.data(i))
        return data

    # outcomes --------------------------------------------------------------------

    @property
    def status(self) -> np.ndarray:
        """Status of each world (nworld,), read-only: 1 if the world failed in its last call, else 0."""
        view = self._worlds.status.view()
        view.flags.writeable = False
        return view

    def error(self, sim: int) -> str:
        """Return the error message of a world's last call, or ``""`` if the world did not fail."""
        worlds, i = self._world(sim)
        return worlds.errors.get(i, "")

    @property
    def warning(self) -> np.ndarray:
        """Latest information and count of each warning in each world (nworld, mjNWARNING, 2)."""
        rows = np.stack([self._worlds.numbers(f"warning.{part}") for part in ("lastinfo", "number")], axis=-1)
        return rows[:, list(outward(mjtWarning))[:-1]] if is_later() else rows

    def _mask_of(self, warnings: tuple[mjtWarning, ...]) -> np.ndarray:
        kinds = np.array([int(kind) for kind in warnings])
        return ((self._worlds.numbers("warning.number")[:, kinds] > 0).astype(np.int64) << kinds).sum(axis=1)

    @property
    def diverged(self) -> np.ndarray:
        """Bit mask for each world (nworld,): bit k is set if the divergence check of mjtWarning k reset the world."""
        return self._mask_of(DIVERGED)

    @property
    def overflow(self) -> np.ndarray:
        """Bit mask for each world (nworld,): bit k is set if the world reached the memory limit of mjtWarning k."""
        return self._mask_of(OVERFLOWN)

    def diagnosis(self, sim: int) -> str:
        """Return the last warning of a world, or ``""``.

        If a number became invalid, the warning names the stage, field, dof and body of the first such number.
        """
        worlds, i = self._world(sim)
        return worlds.diagnoses.get(i, "")

    def random(self, size: int, seed: int, draw: int = 0, ids: Ids = None, *, mask: Ids = None) -> np.ndarray:
        """Return uniform random numbers in [0, 1) for worlds (k, size); see `cardan.batch.calls.uniform`."""
        numbers = (integer(word, number) for word, number in (("size", size), ("seed", seed), ("draw", draw)))
        return calls.uniform(self._select(ids, mask), *numbers)

    # GPUs ------------------------------------------------------------------------

    @property
    def parts(self) -> tuple[Batch, ...]:
        """One batch for each GPU, if there are several.

        Other libraries can use the fields of these batches without a copy.
        """
        if "_parts" not in self.__dict__:
            parts = []
            for worlds in _gpu_only(self, "parts"):
                parts.append(object.__new__(Batch))
                parts[-1]._use(worlds, self.persistent)
            self.__dict__["_parts"] = tuple(parts)
        return self.__dict__["_parts"]

    @property
    def stream(self) -> int:
        """Handle of the CUDA stream on which all work of a batch on one GPU is done."""
        return _gpu_only(self, "stream")

    def wait_for(self, stream: int) -> None:
        """Make later calls of a batch on one GPU wait for work that was started on another stream.

        Calls always wait for the default stream of torch and CuPy.

        Args:
            stream: handle of the stream.
        """
        _gpu_only(self, "wait_for")(stream)

    @property
    def memory_per_world(self) -> int:
        """Size of one world's data in bytes, with the current capacities (batches on one GPU only)."""
        return _gpu_only(self, "memory_per_world")

    def close(self) -> None:
        """End the batch's threads, or free its memory on GPUs.

        Afterwards, arrays in host memory keep their values, arrays on GPUs must not be used, and calls that compute
        raise RuntimeError. A second call does nothing. A ``with`` statement closes its batch.
        """
        self._worlds.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()


def _gpu_only(batch: Batch, name: str) -> Any:
    """Return an attribute that only GPU back ends have; raise AttributeError for other back ends."""
    worlds = batch._worlds
    if not hasattr(worlds, name):
        raise AttributeError(f"Batch has no attribute {name!r} on this device")
    return getattr(worlds, name)


def _up_to(stage: int) -> Lists:
    number = integer("stage", int(stage) if isinstance(stage, mjtStage) else stage)
    if number not in UP_TO:
        raise ValueError(f"stage should be an mjtStage, one of {sorted(UP_TO)}, got {stage}")
    return UP_TO[number]
