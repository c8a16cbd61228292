"""Batches over several GPUs: the worlds stand in parts, each of which is a batch on one GPU."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, cast

import numpy as np

from cardan.batch.batch import Batch
from cardan.batch.core import failure
from cardan.batch.errors import SimulationError
from cardan.batch.gpu.batch import GpuBatch
from cardan.batch.gpu.split_array import SplitArray
from cardan.batch.select import integer
from cardan.enums import mjtState
from cardan.enums.codes import STAGE_ACC
from cardan.model.mjdata import MjData
from cardan.model.mjmodel import MjModel
from cardan.threads import Crew

Call = Callable[[GpuBatch, np.ndarray, np.ndarray], Any]


class SplitModels:
    """The models of all worlds, as named access looks at them."""

    def __init__(self, parts: Sequence[GpuBatch]) -> None:
        self._parts = parts
        self.base = parts[0]._models.base

    @property
    def count(self) -> int:
        """Number of worlds."""
        return sum(part.nsim for part in self._parts)

    @property
    def given(self) -> list[MjModel] | None:
        """The caller's models, one a world, or None."""
        given = [part._models.given for part in self._parts]
        return None if given[0] is None else [model for models in given for model in models or ()]

    @property
    def shared(self) -> bool:
        """Whether one model was given for all."""
        return self._parts[0]._models.shared

    def read(self, name: str) -> SplitArray | None:
        """The values of a field of the model, if they may differ between worlds."""
        values = [part._models.read(name) for part in self._parts]
        return None if values[0] is None else SplitArray(values)


class SplitBatch(Batch):
    """Simulations of one model on several GPUs: what ``Batch(..., device=["cuda:0", "cuda:1"])`` gives.

    Each GPU has as many worlds, up to one. Their results are those on one GPU, bit by bit. Calls run on all GPUs at
    once, each from a thread of its own. Fields are `SplitArray`; ``batch.parts`` are the batches on single GPUs, whose
    fields other libraries take without a copy.

    Args:
        model: as in `Batch`.
        nsim: as in `Batch`; at least one world a GPU.
        nthread: nothing here.
        persistent: nothing here.
        device: names of GPUs.
        dtype: as in `Batch`.
        stages_per_launch: as in `GpuBatch`.
        threads_per_block: as in `GpuBatch`.

    Raises:
        CudaError, GpuMemoryError: as of `GpuBatch`.
        ValueError: no GPU is named, or more than there are worlds; or as of `GpuBatch`.
    """

    parts: tuple[GpuBatch, ...]
    state: SplitArray  # type: ignore[assignment]

    def __init__(
        self,
        model: MjModel,
        nsim: int,
        nthread: int = 0,
        persistent: bool = False,
        *,
        device: Sequence[str] = ("cuda",),  # type: ignore[assignment]
        dtype: Any = "float64",
        stages_per_launch: int = 1,
        threads_per_block: int = 0,
    ) -> None:
        count = integer("nsim", nsim, 1)
        if not 0 < len(device) <= count:
            raise ValueError(f"device should name between 1 and {count} GPUs, one a world at most; got {len(device)}")
        put = self.__dict__
        put["persistent"], put["nthread"], put["_bound"] = bool(persistent), 1, {}
        put["_crew"] = Crew(len(device), "cardan-gpu")
        put["_starts"] = starts = np.array([count * k // len(device) for k in range(len(device) + 1)])
        parts: list[GpuBatch] = []
        try:
            for k, name in enumerate(device):
                options = {"device": name, "dtype": dtype, "stages_per_launch": stages_per_launch}
                options |= {"threads_per_block": threads_per_block}
                parts.append(cast(GpuBatch, GpuBatch(model, int(starts[k + 1] - starts[k]), **options)))
                parts[-1].__dict__["_first"] = int(starts[k])
        except BaseException:
            for part in parts:
                part.close()
            raise
        put["parts"] = tuple(parts)
        put["_models"] = SplitModels(self.parts)
        put["state"] = SplitArray([part.state for part in parts])

    # parts -----------------------------------------------------------------------

    def _each(self, name: str, worlds: np.ndarray, call: Call) -> list[Any]:
        """Do something in all parts at once: call(part, ids within it, their places in `worlds`).

        Raises:
            SimulationError: some worlds failed.
        """
        bounds = np.searchsorted(worlds, self._starts)
        jobs = [
            (part, worlds[low:high] - start, np.arange(low, high))
            for part, start, low, high in zip(self.parts, self._starts, bounds, bounds[1:], strict=False)
        ]

        results: list[Any] = [None] * len(jobs)

        def guarded(k: int, _: int) -> None:
            try:
                results[k] = call(*jobs[k])
            except SimulationError as error:
                results[k] = error

        self.__dict__["_crew"].each(guarded, len(jobs))
        if any(isinstance(result, SimulationError) for result in results):
            failed = worlds[self.status[worlds] != 0].tolist()
            raise failure(name, {i: self.error(i) for i in failed}, len(worlds))
        return results

    def _part(self, sim: int) -> tuple[GpuBatch, int]:
        """The part that a world is in, and its number there."""
        i = self._world(sim)
        k = int(np.searchsorted(self._starts, i, side="right")) - 1
        return self.parts[k], i - int(self._starts[k])

    @property
    def model(self) -> MjModel:
        """The batch's model, in double precision."""
        return self.parts[0].model

    @property
    def nsim(self) -> int:
        """Number of worlds."""
        return int(self._starts[-1])

    def _bind(self, name: str) -> SplitArray:  # type: ignore[override]
        return SplitArray([part.bind(name) for part in self.parts])

    # calls -----------------------------------------------------------------------

    def _call(
        self,
        name: str,
        worlds: np.ndarray,
        parts: Sequence[tuple[str, int]],
        lent: Mapping[str, np.ndarray] = MappingProxyType({}),
    ) -> None:
        self._each(name, worlds, lambda part, ids, _: part._call(name, ids, parts))

    def reset(self, ids: Any = None, keyframe: Any = -1, stage: int = STAGE_ACC, *, mask: Any = None) -> None:
        """Reset worlds (see `Batch.reset`)."""
        worlds = self._select(ids, mask)
        key = _rows(keyframe, 1, len(worlds))
        self._each("reset", worlds, lambda part, own, at: part.reset(own, key(at), stage))

    def get_state(self, spec: int, ids: Any = None, *, mask: Any = None) -> SplitArray:  # type: ignore[override]
        """The parts of the state that the bits of `spec` stand for, of worlds (k, size), copied on the GPUs."""
        worlds = self._select(ids, mask)
        return SplitArray(self._each("get_state", worlds, lambda part, own, _: part.get_state(spec, own)))

    def set_state(self, state: Any, spec: int, ids: Any = None, *, mask: Any = None) -> None:
        """Set the parts of the state that the bits of `spec` stand for (see `Batch.set_state`)."""
        worlds = self._select(ids, mask)
        rows = _rows(np.asarray(state), 2, len(worlds))
        self._each("set_state", worlds, lambda part, own, at: part.set_state(rows(at), spec, own))

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
    ) -> dict[str | int, Any]:
        """Advance worlds by `nstep` steps and record fields after each (see `Batch.rollout`)."""
        worlds = self._select(ids, mask)
        inputs = _rows(None if control is None else np.asarray(control), 3, len(worlds))

        def roll(part: GpuBatch, own: np.ndarray, at: np.ndarray) -> dict[str | int, Any]:
            return part.rollout(nstep, inputs(at), control_spec, record, own, every=every)

        found = self._each("rollout", worlds, roll)
        results: dict[str | int, Any] = {item: SplitArray([part[item] for part in found]) for item in record}
        for item, array in (out or {}).items():
            array[...] = results[item]
            results[item] = array
        return results

    # questions -------------------------------------------------------------------

    def jac(self, body: Any, point: Any, ids: Any = None, *, mask: Any = None) -> tuple[np.ndarray, np.ndarray]:
        """Jacobians of points fixed to bodies (see `Batch.jac`)."""
        worlds = self._select(ids, mask)
        bodies, points = _rows(body, 1, len(worlds)), _rows(point, 2, len(worlds))
        found = self._each("jac", worlds, lambda part, own, at: part.jac(bodies(at), points(at), own))
        first, second = (np.concatenate(arrays) for arrays in zip(*found, strict=True))
        return first, second

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
        """Distances, ids, and if asked normals of the nearest geoms along rays (see `Batch.ray`)."""
        worlds = self._select(ids, mask)
        k = len(worlds)
        starts, directions, excluded = _rows(pnt, 3, k), _rows(vec, 3, k), _rows(bodyexclude, 2, k)

        def shoot(part: GpuBatch, own: np.ndarray, at: np.ndarray) -> tuple[np.ndarray, ...]:
            return part.ray(starts(at), directions(at), geomgroup, flg_static, excluded(at), own, normal)

        return tuple(np.concatenate(arrays) for arrays in zip(*self._each("ray", worlds, shoot), strict=True))

    # models ----------------------------------------------------------------------

    def expand(self, *names: str) -> Any:
        """Give fields of the model per-world values (see `Batch.expand`)."""
        arrays = [SplitArray([part.expand(name) for part in self.parts]) for name in names]
        return arrays[0] if len(arrays) == 1 else tuple(arrays)

    @property
    def _expanded(self) -> dict[str, Any]:
        return {name: SplitArray([part._expanded[name] for part in self.parts]) for name in self.parts[0]._expanded}

    def expanded(self, name: str) -> Any:
        """The per-world values of a field of the model (read-only), or None if all worlds share its value."""
        values = [part.expanded(name) for part in self.parts]
        return None if values[0] is None else SplitArray(values)

    def set_const(self, ids: Any = None, *, mask: Any = None) -> None:
        """Run `mj_setConst` in worlds; what comes out different in some is expanded on all GPUs."""
        worlds = self._select(ids, mask)
        self._each("set_const", worlds, lambda part, own, _: part.set_const(own))
        for name in sorted({name for part in self.parts for name in part._models.values}):
            for part in self.parts:
                part._models.own(name)

    def set_models(self, models: MjModel | Sequence[MjModel] | None) -> None:
        """Run each world on a model of the caller's (see `Batch.set_models`)."""
        if models is not None and not isinstance(models, MjModel) and len(models) != self.nsim:
            raise ValueError(
                f"set_models: expected one model, or a model per simulation: {self.nsim}, got {len(models)}"
            )
        for part, start, stop in zip(self.parts, self._starts, self._starts[1:], strict=False):
            part.set_models(models if models is None or isinstance(models, MjModel) else models[start:stop])

    def get_model(self, sim: int, model: MjModel | None = None) -> MjModel:
        """A copy of a world's model, or `model` with its values."""
        part, i = self._part(sim)
        return part.get_model(i, model)

    def get_data(self, sim: int, data: MjData | None = None) -> MjData:
        """A copy of a world's data with the state of its row, or `data` with its values."""
        part, i = self._part(sim)
        return part.get_data(i, data)

    def data(self, sim: int) -> MjData:
        """A copy of the data of a world, in double precision, as the last call left it."""
        part, i = self._part(sim)
        return part.data(i)

    # outcomes --------------------------------------------------------------------

    @property
    def status(self) -> np.ndarray:
        """Whether each world failed in its last call (nworld,)."""
        return np.concatenate([part.status for part in self.parts])

    def error(self, sim: int) -> str:
        """The error of a world's last call, or ``""``."""
        part, i = self._part(sim)
        return part.error(i)

    @property
    def warning(self) -> np.ndarray:
        """Last information and number of each warning (nworld, mjNWARNING, 2)."""
        return np.concatenate([part.warning for part in self.parts])

    def _mask_of(self, kinds: tuple[int, ...]) -> np.ndarray:
        return np.concatenate([part._mask_of(kinds) for part in self.parts])

    def diagnosis(self, sim: int) -> str:
        """The last warning of a world, or ``""``."""
        part, i = self._part(sim)
        return part.diagnosis(i)

    def close(self) -> None:
        """Free all that the batch has on the GPUs."""
        self.__dict__["_crew"].close()
        for part in self.parts:
            part.close()


def _rows(value: Any, ndim: int, count: int) -> Callable[[np.ndarray], Any]:
    """What worlds at some places of a call get of an argument: their rows if it has a row a world, else all of it."""
    if np.ndim(value) == ndim and np.shape(value)[0] == count:
        rows = np.asarray(value)
        return lambda at: rows[at]
    return lambda at: value
