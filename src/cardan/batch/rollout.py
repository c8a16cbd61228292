"""Open-loop rollouts: simulate many worlds, each from its initial state with its controls, on native threads.

The interface is that of ``mujoco.rollout``, both of 3.1.6 and of 4.0. Each thread has its own MjData and simulates
blocks of worlds (`cardan.batch.open_loop`). A world's results depend only on its own inputs, so they are bitwise
identical for any number of threads.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from copy import copy
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from cardan.api.arguments import check_model, check_pair
from cardan.batch.arguments import checked_rows, input_bits, results, unchecked_rows
from cardan.batch.open_loop import OpenLoop
from cardan.batch.threads import deal
from cardan.enums.data import mjtState
from cardan.model import internals
from cardan.model.mjdata import MjData
from cardan.model.mjmodel import MjModel
from cardan.step.pipeline import is_4_0
from cardan.step.state import state_size
from cardan.threads import Crew

_THREADS = "cardan-rollout"
_persistent: list[Crew] = []
"""The persistent thread pool, if there is one."""


def rollout(
    model: MjModel | Sequence[MjModel],
    data: MjData | Sequence[MjData],
    initial_state: npt.ArrayLike,
    control: npt.ArrayLike | None = None,
    *,
    control_spec: int = mjtState.mjSTATE_CTRL,
    skip_checks: bool = False,
    nroll: int | None = None,
    nstep: int | None = None,
    initial_warmstart: npt.ArrayLike | None = None,
    state: npt.ArrayLike | None = None,
    sensordata: npt.ArrayLike | None = None,
    nthread: int | None = None,
    chunk_size: int | None = None,
    persistent_pool: bool = False,
) -> tuple[np.ndarray, np.ndarray]:
    """Roll out open-loop trajectories from initial states; return the states and the sensor data after each step.

    The numbers of rollouts and steps are inferred from the arrays; dimensions of size 1 are repeated as needed. If a
    world raises a warning, its remaining rows repeat its last valid row.

    Args:
        model: the model, or a sequence with one for each rollout. All models must have the same sizes.
        data: an MjData of the model, or a sequence with one for each thread. Inputs that are not in `control_spec` have
            their default values. If `control` is not given, inputs in `control_spec` keep the values of the (first)
            data.
        initial_state: initial full physics states ([nroll or 1] x nstate).
        control: inputs of each step ([nroll or 1] x [nstep or 1] x ncontrol).
        control_spec: fields that a row of `control` contains: bits of `mjtState` within mjSTATE_USER.
        skip_checks: expect all arrays in full size, and repeat none; `nstep` is then required. Models beyond the number
            of rollouts are ignored.
        nroll: number of rollouts.
        nstep: number of steps. For 0, models of ``compat="3.1"`` make one step, those of 4.0 none.
        initial_warmstart: initial `qacc_warmstart` ([nroll or 1] x nv); zero if not given.
        state: output array of states (nroll x nstep x nstate); made if not given.
        sensordata: output array of sensor data (nroll x nstep x nsensordata); made if not given.
        nthread: number of threads; None: one for each MjData in `data`. Missing MjData objects are made.
        chunk_size: number of rollouts that a thread takes at a time; None: many at first, then fewer.
        persistent_pool: keep the threads for later calls, until `shutdown_persistent_pool` or the end of the process.

    Returns:
        state (nroll, nstep, nstate) and sensordata (nroll, nstep, nsensordata).

    Raises:
        ValueError: shapes or models don't fit together, a number is not valid, or `control_spec` has bits outside
            mjSTATE_USER.
    """
    models = _models(model)
    workers = _workers(models[0], data, nthread)
    given = {"initial_state": initial_state, "control": control, "initial_warmstart": initial_warmstart}
    given |= {"state": state, "sensordata": sensordata}
    crew = _pool(len(workers), persistent_pool)
    try:
        return _simulate(crew, models, workers, given, control_spec, skip_checks, (nroll, nstep), chunk_size)
    finally:
        if not persistent_pool and crew is not None:
            crew.close()


def shutdown_persistent_pool() -> None:
    """End the threads that calls of `rollout` with ``persistent_pool=True`` have kept; without threads, do nothing."""
    while _persistent:
        _persistent.pop().close()


class Rollout:
    """Thread pool for rollouts, which keeps its threads between calls; as a context manager, it ends them.

    Args:
        nthread: number of threads. None, or less than 1: rollouts run on the calling thread.
    """

    def __init__(self, *, nthread: int | None = None) -> None:
        self.nthread = max(0, 0 if nthread is None else _integer("nthread", nthread))
        self._crew: Crew | None = Crew(self.nthread, _THREADS)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def close(self) -> None:
        """End the threads; a second call does nothing. Later calls of `rollout` raise RuntimeError."""
        if self._crew is not None:
            self._crew.close()
        self._crew = None

    def rollout(
        self,
        model: MjModel | Sequence[MjModel],
        data: MjData | Sequence[MjData],
        initial_state: npt.ArrayLike,
        control: npt.ArrayLike | None = None,
        *,
        control_spec: int = mjtState.mjSTATE_CTRL,
        skip_checks: bool = False,
        nstep: int | None = None,
        initial_warmstart: npt.ArrayLike | None = None,
        state: npt.ArrayLike | None = None,
        sensordata: npt.ArrayLike | None = None,
        chunk_size: int | None = None,
    ) -> tuple[np.ndarray, np.ndarray]:
        """Roll out open-loop trajectories on the threads of this pool.

        Arguments, results and errors are those of the function `rollout`, except that `data` must contain one MjData
        for each thread.

        Raises:
            RuntimeError: the pool was closed.
            ValueError: as in the function `rollout`, or the number of MjData objects is wrong.
        """
        if self._crew is None:
            raise RuntimeError("rollout requested after thread pool shutdown")
        models = _models(model)
        workers = _workers(models[0], data, None)
        if self.nthread == 0 and len(workers) > 1:
            raise ValueError("More than one data instance passed but rollout is configured to run on main thread")
        if self.nthread not in (0, len(workers)):
            raise ValueError(f"Length of data: {len(workers)} not equal to nthread: {self.nthread}")
        given = {"initial_state": initial_state, "control": control, "initial_warmstart": initial_warmstart}
        given |= {"state": state, "sensordata": sensordata}
        return _simulate(self._crew, models, workers, given, control_spec, skip_checks, (None, nstep), chunk_size)


def row_sizes(model: MjModel, control_spec: int) -> dict[str, int]:
    """Return the row length of each array of a rollout; `control_spec` has the bits of the engine."""
    nstate = state_size(model, mjtState.mjSTATE_FULLPHYSICS)
    return {
        "initial_state": nstate,
        "control": state_size(model, control_spec),
        "initial_warmstart": model.nv,
        "state": nstate,
        "sensordata": model.nsensordata,
    }


def _integer(name: str, value: Any) -> int:
    """Return `value` as an integer; raise ValueError if it is a boolean or no integer."""
    if isinstance(value, bool) or not isinstance(value, int | np.integer):
        raise ValueError(f"{name} must be an integer, got {value!r}")
    return int(value)


def _models(model: MjModel | Iterable[MjModel]) -> list[MjModel]:
    """Return the models of a call as a list; raise ValueError if their sizes differ or if there are none."""
    if isinstance(model, MjModel) or not isinstance(model, Iterable):
        check_model("rollout", model)
        return [model]
    models = list(model)
    if not models:
        raise ValueError("The list of models is empty")
    for m in models:
        check_model("rollout", m)
    sizes = internals.sizes(models[0])
    for k, m in enumerate(models):
        if m is not models[0] and internals.sizes(m) != sizes:
            name, size = next((name, size) for name, size in internals.sizes(m).items() if size != sizes[name])
            raise ValueError(f"models are not compatible: {name} of model {k} is {size}, that of model 0 {sizes[name]}")
    return models


def _workers(model: MjModel, data: MjData | Sequence[MjData], nthread: int | None) -> list[MjData]:
    """Return one MjData for each of `nthread` threads (None: as many as in `data`).

    If `data` has too few, copies of its first MjData are added.
    """
    workers = list(data) if isinstance(data, Sequence) else [data]
    if not workers:
        raise ValueError("The list of data instances is empty")
    for k, d in enumerate(workers):
        check_pair("rollout", model, d)
        if internals.kept(d).get(internals.THREADS):
            text = f"data[{k}] has a thread pool installed (mju_threadpool)"
            raise ValueError(f"{text}; rollout parallelizes across simulations and cannot use it")
    if len({id(d) for d in workers}) < len(workers):
        raise ValueError("data has the same MjData more than once; each thread needs its own")
    if nthread is None:
        return workers
    if nthread < 1:
        raise ValueError(f"nthread must be positive, not {nthread}")
    while len(workers) < nthread:
        workers.append(copy(workers[0]))
    return workers[:nthread]


def _pool(count: int, persistent: bool) -> Crew | None:
    """Return a thread pool of `count` threads, or None for a single thread that need not persist."""
    if not persistent:
        return None if count == 1 else Crew(count, _THREADS)
    if not _persistent or _persistent[0].count != count:
        shutdown_persistent_pool()
        _persistent.append(Crew(count, _THREADS))
    return _persistent[0]


def _simulate(
    crew: Crew | None,
    models: list[MjModel],
    workers: list[MjData],
    given: dict[str, Any],
    control_spec: int,
    skip_checks: bool,
    count: tuple[int | None, int | None],
    chunk_size: int | None,
) -> tuple[np.ndarray, np.ndarray]:
    """Check the arguments of a call, simulate all worlds, and return their states and sensor data.

    `given` contains the arrays of the user by name, `count` the numbers of rollouts and steps or None. The other
    arguments are those of `rollout`.
    """
    inputs = input_bits(control_spec)
    sizes = row_sizes(models[0], inputs)
    rows = _rows(models, sizes, given, skip_checks, *count)
    if chunk_size is not None and _integer("chunk_size", chunk_size) < 1:
        raise ValueError(f"chunk_size must be a positive integer, got {chunk_size}")
    nroll, nstep = rows["state"].shape[:2]
    if nroll * nstep:
        if chunk_size is None:
            blocks = deal(nroll, len(workers))
        else:
            blocks = [(begin, min(begin + chunk_size, nroll)) for begin in range(0, nroll, chunk_size)]
        OpenLoop(models, workers, rows, inputs).run(crew, blocks)
    return results(rows["state"], given["state"]), results(rows["sensordata"], given["sensordata"])


def _rows(
    models: list[MjModel],
    sizes: dict[str, int],
    given: dict[str, Any],
    skip_checks: bool,
    nroll: int | None,
    nstep: int | None,
) -> dict[str, np.ndarray | Any]:
    """Return all arrays of a call in full size (see `checked_rows`); outputs that are not given are new.

    Raises:
        ValueError: an array has the wrong type or shape, or there are too few or too many models.
    """
    if nstep is not None and _integer("nstep", nstep) < 0:
        raise ValueError(f"nstep must be non-negative, got {nstep}")
    if nstep == 0 and not is_4_0(models[0]):
        nstep = None
    if nroll is None and skip_checks:
        nroll = np.size(given["initial_state"]) // max(1, sizes["initial_state"])
    elif nroll is None and len(models) > 1:
        nroll = len(models)
    rows = (unchecked_rows if skip_checks else checked_rows)(sizes, nroll, nstep, given)
    count = len(rows["state"])
    if len(models) != 1 and (len(models) < count or (len(models) > count and not skip_checks)):
        raise ValueError(f"there are {count} rollouts but {len(models)} models")
    return rows
