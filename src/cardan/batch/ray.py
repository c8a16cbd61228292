"""Rollouts and parameter sweeps over the machines of a Ray cluster (extra ``cardan[ray]``).

Each worker, an actor in its own process, simulates blocks of worlds, one at a time. The model is sent once to each
machine. If a worker is lost, it is replaced, and its unfinished worlds are simulated again. A world's results depend
only on its inputs. On processors of the same kind, they are bitwise identical to those of `cardan.rollout`.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from cardan.batch.arguments import inferred, input_bits, integer
from cardan.batch.back_end import SimulationError
from cardan.batch.batch import Batch
from cardan.batch.dealing import Block, ClusterError, Dealing, WorkerLost
from cardan.batch.rollout import rollout, row_sizes
from cardan.enums.codes import STATE_FULLPHYSICS
from cardan.enums.data import mjtState
from cardan.jit.cache.progress import Progress
from cardan.model.mjdata import MjData
from cardan.model.mjmodel import MjModel
from cardan.step.hooks import colliders_of, installed_hooks

try:
    import ray
    from ray.exceptions import RayError, RayTaskError
except ModuleNotFoundError as missing:
    raise ModuleNotFoundError("cardan.batch.ray needs the package ray: pip install 'cardan[ray]'") from missing

__all__ = ["Cluster", "ClusterError", "Sweep"]

BLOCKS_PER_WORKER = 8

Fields = Mapping[str, npt.ArrayLike]
Sampler = Callable[[MjModel, np.random.Generator], Fields]
Work = tuple[Any, ...]


class _Failure(NamedTuple):
    """Exception of a worker, returned as a result, because Ray would log exceptions of cancelled tasks."""

    error: Exception


class Sweep(NamedTuple):
    """Results of a sweep.

    Attributes:
        values: the fields of the model in each world (nworld, ...), by name.
        records: recorded fields (nworld, nstep // every, ...), by name or `mjtState` bits.
    """

    values: dict[str, np.ndarray]
    records: dict[str | int, np.ndarray]


class _Worker:
    """Actor that simulates worlds of one model, with a thread for each of its processors."""

    def __init__(self, model: MjModel, nthread: int) -> None:
        self.model, self.nthread, self.data = model, nthread, MjData(model)

    def pid(self) -> int:
        return os.getpid()

    def do(self, method: str, arguments: tuple[Any, ...], sampler: Any = None) -> Any:
        """Call a method and return its result, or a `_Failure`. `sampler` is an extra last argument, if given."""
        try:
            return getattr(self, method)(*arguments, *([] if sampler is None else [sampler]))
        except Exception as error:
            return _Failure(error)

    def rollout(self, rows: Mapping[str, np.ndarray | None], spec: int, nroll: int, nstep: int) -> Any:
        """Return the states and the sensor data of a block (see `Cluster.rollout`)."""
        arrays: dict[str, Any] = dict(rows)
        sizes = {"nroll": nroll, "nstep": nstep, "nthread": self.nthread}
        return rollout(self.model, self.data, arrays.pop("initial_state"), control_spec=spec, **sizes, **arrays)

    def sweep(
        self, begin: int, count: int, seed: int, initial: np.ndarray | None, call: Any, fields: Fields | Sampler
    ) -> tuple[dict[str, np.ndarray], dict[str | int, np.ndarray]]:
        """Return the values and records of a block (see `Cluster.sweep`)."""
        values = _sampled(self.model, fields, seed, begin, count) if callable(fields) else dict(fields)
        with Batch(self.model, count, self.nthread) as batch:
            for name, rows in values.items():
                batch.expand(name)[...] = rows
            try:
                if values:
                    batch.set_const()
                batch.reset(stage=0)
                if initial is not None:
                    batch.set_state(initial, STATE_FULLPHYSICS)
                return {name: np.asarray(rows) for name, rows in values.items()}, batch.rollout(**call)
            except SimulationError as error:
                texts = "; ".join(f"world {begin + i}: {batch.error(i)}" for i in error.ids)
                raise SimulationError(texts, [begin + i for i in error.ids]) from None


def _sampled(m: MjModel, sample: Sampler, seed: int, begin: int, count: int) -> dict[str, np.ndarray]:
    """Return fields (count, ...) of consecutive worlds, drawn by the function `sample`.

    All worlds must have the same fields; otherwise raise ValueError. Each world has its own generator: Philox with the
    key `seed` and the world's id in the highest word of the counter.
    """
    drawn = []
    for world in range(begin, begin + count):
        generator = np.random.Generator(np.random.Philox(key=seed, counter=[0, 0, 0, world]))
        drawn.append(sample(m, generator))
        if drawn[-1].keys() != drawn[0].keys():
            raise ValueError(f"world {world} has the fields {sorted(drawn[-1])}, world {begin} {sorted(drawn[0])}")
    return {name: np.stack([np.asarray(fields[name]) for fields in drawn]) for name in drawn[0]}


class _Port:
    """Interface of `Dealing` to the actors of a cluster; `work` returns the arguments of `_Worker.do` for a block."""

    def __init__(self, start: Callable[[], Any], work: Callable[[Block], Work]) -> None:
        self.start = start
        self._work = work

    def submit(self, worker: Any, block: Block) -> Any:
        return worker.do.remote(*self._work(block))

    def wait(self, tickets: Sequence[Any]) -> Any:
        return ray.wait(list(tickets), num_returns=1)[0][0]

    def result(self, ticket: Any) -> Any:
        try:
            result = ray.get(ticket)
        except RayTaskError:
            raise
        except RayError as error:
            raise WorkerLost(str(error).strip().split("\n")[0]) from error
        if isinstance(result, _Failure):
            raise result.error
        return result

    def cancel(self, ticket: Any) -> None:
        ray.cancel(ticket, force=False)


class Cluster:
    """Workers on a Ray cluster that simulate worlds of one model.

    If the program is not connected to a cluster yet, it connects to the cluster at ``RAY_ADDRESS`` or on this machine.
    If there is none, a local cluster is started. Use this class in a ``with`` statement, or call `close`.

    Args:
        model: the model. It is sent once; later changes have no effect.
        nworker: number of workers; None: as many as the cluster has processors for.
        nthread: number of threads of each worker, and of processors reserved for it.
        progress: show a progress bar (on a terminal, once a call takes longer than a second).

    Raises:
        ValueError: a number is not positive.
    """

    def __init__(self, model: MjModel, nworker: int | None = None, nthread: int = 1, *, progress: bool = True) -> None:
        self.nthread = integer("nthread", nthread, 1)
        if not ray.is_initialized():
            ray.init(logging_level=logging.WARNING)
        room = int(ray.cluster_resources().get("CPU", 1)) // self.nthread
        self.model = model
        self.progress = progress
        self._sent = ray.put(model)
        self._workers = [self._start() for _ in range(max(1, room) if nworker is None else integer("n", nworker, 1))]

    def __enter__(self) -> Cluster:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End the workers; the program remains connected to the cluster."""
        for worker in self._workers:
            ray.kill(worker)
        self._workers.clear()

    def pids(self) -> list[int]:
        """Return the process ids of the workers on their machines."""
        return ray.get([worker.pid.remote() for worker in self._workers])

    def _start(self) -> Any:
        return ray.remote(_Worker).options(num_cpus=self.nthread).remote(self._sent, self.nthread)

    def rollout(
        self,
        initial_state: npt.ArrayLike,
        control: npt.ArrayLike | None = None,
        *,
        control_spec: int = mjtState.mjSTATE_CTRL,
        nroll: int | None = None,
        nstep: int | None = None,
        initial_warmstart: npt.ArrayLike | None = None,
        block: int | None = None,
    ) -> tuple[np.ndarray, np.ndarray]:
        """Roll out open-loop trajectories; arguments and results are as in `cardan.rollout.rollout`.

        A worker gets `block` worlds at a time; None: an eighth of its share.

        Raises:
            ValueError: shapes don't fit, or callbacks are installed (workers can't call them).
            ClusterError: too many workers were lost on the same worlds.
        """
        given = {"initial_state": initial_state, "control": control, "initial_warmstart": initial_warmstart}
        sizes = row_sizes(self.model, input_bits(control_spec))
        rows, (count, steps) = inferred(sizes, nroll, nstep, given)
        state, sensordata = (np.zeros((count, steps, sizes[name])) for name in ("state", "sensordata"))

        def work(b: Block) -> Work:
            part = {n: a if a is None or len(a) == 1 else a[b.begin : b.end] for n, a in rows.items()}
            return "rollout", (part, control_spec, b.end - b.begin, steps)

        def done(b: Block, parts: tuple[np.ndarray, np.ndarray]) -> None:
            for whole, part in zip((state, sensordata), parts, strict=True):
                whole[b.begin : b.end] = part

        self._deal(work, done, count if steps else 0, block)
        return state, sensordata

    def sweep(
        self,
        fields: Fields | Sampler,
        nstep: int,
        nworld: int | None = None,
        *,
        seed: int = 0,
        initial_state: npt.ArrayLike | None = None,
        control: npt.ArrayLike | None = None,
        control_spec: int = mjtState.mjSTATE_CTRL,
        record: Sequence[str | int] = ("qpos",),
        every: int = 1,
        block: int | None = None,
    ) -> Sweep:
        """Simulate worlds with different values of fields of the model, and record fields of their data.

        Constants that depend on these values are computed for each world, as by `Batch.set_const`.

        Args:
            fields: values (nworld, ...) of fields of the model, by name (see `Batch.expand`). Or a function that draws
                one world's values from the model and a `numpy.random.Generator` for `seed` and the world's id.
            nstep: number of steps.
            nworld: number of worlds; needed if `fields` is a function.
            seed: seed of the generators.
            initial_state: initial states (mjSTATE_FULLPHYSICS), one for all (nstate,) or (nworld, nstate); None: the
                defaults of each world's model.
            control: inputs (nworld, nstep, size), or (nstep, size) for all.
            control_spec: fields that a row of `control` contains (see `rollout`).
            record: fields of the data by name, or bits of `mjtState`.
            every: steps from one record to the next.
            block: worlds sent to a worker at a time; None: an eighth of its share.

        Raises:
            ValueError: fields are unknown, shapes don't fit, or callbacks are installed.
            SimulationError: some worlds failed; the message names them.
            ClusterError: too many workers were lost on the same worlds.
        """
        arrays = None if callable(fields) else {name: np.asarray(rows) for name, rows in fields.items()}
        count = _count(arrays, nworld)
        state = _for_worlds("initial_state", initial_state, 2, count)
        inputs = _for_worlds("control", control, 3, count)
        sampler = ray.put(fields) if callable(fields) else None
        call = {"nstep": nstep, "control_spec": control_spec, "record": tuple(record), "every": every}
        values, records = dict[Any, np.ndarray](), dict[Any, np.ndarray]()

        def work(b: Block) -> Work:
            part = slice(b.begin, b.end)
            mine: Any = sampler if arrays is None else {name: rows[part] for name, rows in arrays.items()}
            initial, control = (None if rows is None else rows[part] for rows in (state, inputs))
            return "sweep", (b.begin, b.end - b.begin, seed, initial, {**call, "control": control}), mine

        def done(b: Block, parts: tuple[dict[Any, np.ndarray], dict[Any, np.ndarray]]) -> None:
            for whole, part in zip((values, records), parts, strict=True):
                for name, rows in part.items():
                    if name not in whole:
                        whole[name] = np.empty((count, *rows.shape[1:]), rows.dtype)
                    whole[name][b.begin : b.end] = rows

        self._deal(work, done, count, block)
        return Sweep(values, records)

    def _deal(
        self, work: Callable[[Block], Work], done: Callable[[Block, Any], None], count: int, size: int | None
    ) -> None:
        """Distribute all worlds to the workers, in blocks of `size` (None: an eighth of a worker's share).

        `work` and `done` are as in `_Port` and `Dealing`.

        Raises:
            ClusterError: `close` was called, or too many workers were lost on one block.
            ValueError: callbacks are installed, or `size` is not positive.
        """
        if not self._workers:
            raise ClusterError("this cluster's workers were ended by close()")
        installed = [f"mjcb_{place}" for place in installed_hooks(self.model)]
        if installed or colliders_of(self.model):
            what = ", ".join(installed) or "a collision function"
            raise ValueError(f"callbacks ({what}) don't reach the workers of a cluster: remove them, or use a Batch")
        share = max(1, count // (BLOCKS_PER_WORKER * len(self._workers)))
        size = share if size is None else integer("block", size, 1)
        blocks = [Block(begin, min(begin + size, count)) for begin in range(0, count, size)]
        with Progress(count if self.progress else 0, "worlds") as bar:

            def count_and_keep(block: Block, result: Any) -> None:
                done(block, result)
                bar.advance(block.end - block.begin)

            Dealing(_Port(self._start, work), self._workers, count_and_keep).run(blocks)


def _count(arrays: Mapping[str, np.ndarray] | None, nworld: int | None) -> int:
    """Return the number of worlds, from `nworld` or the length of the arrays.

    Raises:
        ValueError: the numbers differ, or neither `nworld` nor an array is given.
    """
    given = {} if nworld is None else {"nworld": integer("nworld", nworld, 1)}
    for name, array in (arrays or {}).items():
        if array.ndim == 0:
            raise ValueError(f"{name} should have a row for each world, (nworld, ...)")
        given[name] = len(array)
    if not given:
        raise ValueError("nworld is needed where no array says how many worlds there are")
    if len(set(given.values())) > 1:
        raise ValueError(f"numbers of worlds differ: {given}")
    return next(iter(given.values()))


def _for_worlds(name: str, values: npt.ArrayLike | None, ndim: int, count: int) -> np.ndarray | None:
    """Return `values` with one row for each world, or None. Values with fewer than `ndim` dimensions are repeated.

    Raises:
        ValueError: the number of rows is not `count`.
    """
    if values is None:
        return None
    rows = np.asarray(values, np.float64)
    if rows.ndim < ndim:
        return np.broadcast_to(rows, (count, *rows.shape))
    if len(rows) != count:
        raise ValueError(f"{name} has {len(rows)} rows for {count} worlds")
    return rows
