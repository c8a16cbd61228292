"""Back end with worlds on several GPUs: each GPU has consecutive worlds, in its own `GpuBackEnd`.

Fields are of the class `SplitArray`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from cardan.batch.back_end import Item, Lists, Rollout, SimulationError, failure
from cardan.batch.gpu.back_end import GpuBackEnd
from cardan.batch.models import WorldModels
from cardan.model.mjmodel import MjModel
from cardan.threads import Crew


class SplitModels:
    """Models of the worlds on all GPUs, with the interface of `WorldModels`."""

    def __init__(self, parts: Sequence[WorldModels], starts: np.ndarray) -> None:
        self.parts, self._starts = parts, starts
        self.base, self.shown = parts[0].base, parts[0].shown
        self.count = int(starts[-1])

    @property
    def given(self) -> list[MjModel] | None:
        """The caller's models, one for each world; None if `set` was not used."""
        given = [part.given for part in self.parts]
        return None if given[0] is None else [model for models in given for model in models or ()]

    @property
    def shared(self) -> bool:
        """True if the caller gave one model for all worlds."""
        return self.parts[0].shared

    @property
    def values(self) -> dict[str, Any]:
        """Per-world values (nworld, ...) of fields of the model, by name."""
        return {name: SplitArray([part.values[name] for part in self.parts]) for name in self.parts[0].values}

    @property
    def asked(self) -> dict[str, Any]:
        """Per-world values (nworld, ...) of the fields that the caller expanded, by name."""
        return {name: values for name, values in self.values.items() if name in self.parts[0].asked}

    def expand(self, name: str) -> SplitArray:
        """Give a field per-world values (see `WorldModels.expand`)."""
        return SplitArray([part.expand(name) for part in self.parts])

    def read(self, name: str, writeable: bool = True) -> SplitArray | None:
        """Return the per-world values of a field, or None (see `WorldModels.read`)."""
        values = [part.read(name, writeable) for part in self.parts]
        return None if values[0] is None else SplitArray(values)


class SplitBackEnd:
    """Worlds of a batch on several GPUs, distributed evenly; the interface is the part of `BackEnd` that `Batch` uses.

    Calls run on all GPUs at once, each from its own thread. Each GPU has at least one world.

    Raises:
        CudaError, GpuMemoryError: see `GpuBackEnd`.
        ValueError: `device` contains no GPU, or more GPUs than there are worlds; see also `GpuBackEnd`.
    """

    def __init__(self, model: MjModel, count: int, device: Sequence[str], **options: Any) -> None:
        if not 1 <= len(device) <= count:
            raise ValueError(f"device should name between 1 and {count} GPUs, one a world at most; got {len(device)}")
        self._starts = starts = np.array([count * k // len(device) for k in range(len(device) + 1)])
        self.parts: list[GpuBackEnd] = []
        try:
            for k, name in enumerate(device):
                self.parts.append(GpuBackEnd(model, int(starts[k + 1] - starts[k]), name, **options))
                self.parts[k].first = int(starts[k])
        except BaseException:
            for part in self.parts:
                part.close()
            raise
        self.models = SplitModels([part.models for part in self.parts], starts)
        self.state = SplitArray([part.state for part in self.parts])
        self.nthread, self.form = 1, self.parts[0].form
        self._crew = Crew(len(device), "cardan-gpu")

    def _each(self, name: str, worlds: np.ndarray, call: Callable[[GpuBackEnd, np.ndarray, slice], Any]) -> list[Any]:
        """Call ``call(part, own, at)`` for all parts at once; return the results by part.

        ``worlds[at]`` are the worlds of the call on the part's GPU, and `own` are the ids of these worlds in the part.

        Raises:
            SimulationError: some worlds failed.
        """
        bounds = np.searchsorted(worlds, self._starts)
        results: list[Any] = [None] * len(self.parts)

        def guarded(k: int, _: int) -> None:
            at = slice(int(bounds[k]), int(bounds[k + 1]))
            try:
                results[k] = call(self.parts[k], worlds[at] - self._starts[k], at)
            except SimulationError as error:
                results[k] = error

        self._crew.each(guarded, len(self.parts))
        if any(isinstance(result, SimulationError) for result in results):
            failed = {i: part.errors[own] for i in worlds.tolist() for part, own in [self.part(i)] if part.status[own]}
            raise failure(name, failed, len(worlds))
        return results

    def part(self, i: int) -> tuple[GpuBackEnd, int]:
        """Return the back end (one GPU) that contains a world, and the world's index within it."""
        k = int(np.searchsorted(self._starts, i, side="right")) - 1
        return self.parts[k], i - int(self._starts[k])

    @property
    def status(self) -> np.ndarray:
        """Status of each world (nworld,): 1 if the world failed in its last call, else 0."""
        return np.concatenate([part.status for part in self.parts])

    # fields --------------------------------------------------------------------------

    def on_host(self, ids: Any) -> Any:
        """Return ids or a mask of worlds in a form that NumPy can read."""
        return ids

    def taken(self, value: Any, shape: tuple[int, ...]) -> np.ndarray:
        """Return numbers as a NumPy array, broadcast to `shape`. Each GPU later gets only the rows of its worlds."""
        return np.broadcast_to(np.asarray(value), shape)

    def bind(self, name: str) -> SplitArray:
        """Return a live array (nworld, ...) over a field of the data."""
        return SplitArray([part.bind(name) for part in self.parts])

    def dtype_of(self, name: str) -> np.dtype:
        """Element type of a field of the data."""
        return self.parts[0].dtype_of(name)

    def numbers(self, name: str) -> np.ndarray:
        """NumPy array (nworld, ...) of a field of the data."""
        return np.concatenate([part.numbers(name) for part in self.parts])

    def get_state(self, names: Sequence[str], worlds: np.ndarray) -> SplitArray:
        """Return a copy (k, size), on the GPUs, of state fields of worlds."""
        return SplitArray(self._each("get_state", worlds, lambda part, own, _: part.get_state(names, own)))

    def set_state(self, rows: np.ndarray, names: Sequence[str], worlds: np.ndarray) -> None:
        """Set fields of the state of worlds from rows (k, size)."""

        def put(part: GpuBackEnd, own: np.ndarray, at: slice) -> None:
            part.set_state(part.taken(rows[at], rows[at].shape), names, own)

        self._each("set_state", worlds, put)

    # calls ---------------------------------------------------------------------------

    def call(self, name: str, worlds: np.ndarray, lists: Lists) -> None:
        """Run lists of stages in worlds (see `BackEnd.call`)."""
        self._each(name, worlds, lambda part, own, _: part.call(name, own, lists))

    def reset(self, worlds: np.ndarray, keys: np.ndarray, lists: Lists) -> None:
        """Reset worlds (see `BackEnd.reset`)."""
        self._each("reset", worlds, lambda part, own, at: part.reset(own, keys[at], lists))

    def ask(self, stage: Any, worlds: np.ndarray, arrays: Mapping[str, np.ndarray]) -> None:
        """Run a stage on all GPUs, on each with the rows of its worlds (see `BackEnd.ask`)."""

        def ask(part: GpuBackEnd, own: np.ndarray, at: slice) -> None:
            part.ask(stage, own, {name: array[at] for name, array in arrays.items()})

        self._each("ask", worlds, ask)

    def rollout(self, worlds: np.ndarray, task: Rollout) -> dict[Item, Any]:
        """Advance worlds (see `BackEnd.rollout`)."""

        def roll(part: GpuBackEnd, own: np.ndarray, at: slice) -> dict[Item, Any]:
            inputs = None if task.control is None else part.taken(task.control[at], task.control[at].shape)
            return part.rollout(own, replace(task, control=inputs, out={k: a[at] for k, a in task.out.items()}))

        found = self._each("rollout", worlds, roll)
        return {
            item: task.out[item] if item in task.out else SplitArray([part[item] for part in found])
            for item in task.items
        }

    def set_const(self, worlds: np.ndarray) -> None:
        """Run `mj_setConst` in worlds. A field that gets per-world values on one GPU gets them on all GPUs."""
        self._each("set_const", worlds, lambda part, own, _: part.set_const(own))
        for name in sorted({name for part in self.parts for name in part.models.values}):
            for part in self.parts:
                part.models.own(name)

    def set_models(self, models: MjModel | Sequence[MjModel] | None) -> None:
        """Run the worlds on the caller's models (see `Batch.set_models`)."""
        several = None if models is None or isinstance(models, MjModel) else list(models)
        if several is not None and len(several) != self.models.count:
            raise ValueError(
                f"set_models: expected one model, or a model per simulation: {self.models.count}, got {len(several)}"
            )
        for part, start, stop in zip(self.parts, self._starts, self._starts[1:], strict=False):
            part.set_models(models if several is None else several[start:stop])

    def close(self) -> None:
        """Free all memory on the GPUs."""
        self._crew.close()
        for part in self.parts:
            part.close()


class SplitArray:
    """Array (nworld, ...) over worlds on several GPUs: the rows of each GPU's array, one GPU after the other.

    ``np.asarray`` copies the whole array. Numbers and NumPy arrays may be assigned to any rows. The attribute `parts`
    contains the arrays of the single GPUs, which other libraries can use.
    """

    def __init__(self, parts: Sequence[Any]) -> None:
        self.parts = tuple(parts)
        self.flags = self.parts[0].flags
        self._starts = np.cumsum([0, *(len(part) for part in self.parts)])

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape; the first number is the number of worlds on all GPUs."""
        return (int(self._starts[-1]), *self.parts[0].shape[1:])

    @property
    def ndim(self) -> int:
        """Number of dimensions."""
        return len(self.shape)

    @property
    def dtype(self) -> np.dtype:
        """Type of the elements."""
        return self.parts[0].dtype

    def __len__(self) -> int:
        return self.shape[0]

    def __repr__(self) -> str:
        return f"SplitArray{self.shape} of {self.dtype} in {len(self.parts)} parts"

    def numpy(self) -> np.ndarray:
        """Return a NumPy copy of the array."""
        return np.concatenate([np.asarray(part) for part in self.parts])

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        if copy is False:
            raise ValueError("an array on GPUs can't become a NumPy array without a copy")
        values = self.numpy()
        return values if dtype is None else values.astype(dtype)

    def reshape(self, *shape: Any) -> SplitArray:
        """Return a view of another shape with the same number of worlds."""
        wanted = tuple(shape[0]) if len(shape) == 1 and isinstance(shape[0], tuple | list) else shape
        return SplitArray([part.reshape((len(part), *wanted[1:])) for part in self.parts])

    def _split(self, key: Any) -> tuple[Any, tuple[Any, ...]]:
        """Split an index into the worlds it selects and the index within each world."""
        keys = key if isinstance(key, tuple) else (key,)
        if Ellipsis in [k for k in keys if k is Ellipsis]:
            at = next(i for i, k in enumerate(keys) if k is Ellipsis)
            keys = (*keys[:at], *(slice(None),) * (self.ndim - len(keys) + 1), *keys[at + 1 :])
        return (keys[0] if keys else slice(None)), keys[1:]

    def __getitem__(self, key: Any) -> Any:
        """Return a view if the index selects all worlds (``[:, 2]``), else a NumPy copy."""
        worlds, rest = self._split(key)
        if isinstance(worlds, slice) and worlds == slice(None):
            return SplitArray([part[(slice(None), *rest)] for part in self.parts])
        return self.numpy()[(worlds, *rest)]

    def __setitem__(self, key: Any, value: Any) -> None:
        """Set elements from numbers, arrays in host memory, or a `SplitArray` that is split in the same way.

        Raises:
            ValueError: the array is read-only, or shapes don't fit.
        """
        worlds, rest = self._split(key)
        ids = np.atleast_1d(np.arange(len(self))[worlds])
        views = [part[(slice(None), *rest)] for part in self.parts]
        if isinstance(value, SplitArray) and np.array_equal(value._starts, self._starts) and len(ids) == len(self):
            for view, part in zip(views, value.parts, strict=True):
                view[...] = part
            return
        inner = views[0].shape[1:]
        given = np.asarray(value)
        try:
            rows = np.broadcast_to(given, inner if np.ndim(np.arange(len(self))[worlds]) == 0 else (len(ids), *inner))
        except ValueError:
            raise ValueError(f"could not broadcast from shape {given.shape} to {(len(ids), *inner)}") from None
        rows = rows.reshape((len(ids), *inner))
        for view, start, stop in zip(views, self._starts, self._starts[1:], strict=False):
            here = np.flatnonzero((ids >= start) & (ids < stop))
            if len(here):
                view[ids[here] - start] = rows[here]
