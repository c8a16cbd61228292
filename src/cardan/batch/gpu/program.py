"""Programs on a GPU: launches of stages, captured as a CUDA graph, and an array with the progress of each world."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import accumulate
from typing import Any

import numpy as np

from cardan.batch.gpu.memory import GpuMemories
from cardan.batch.gpu.models import GpuModels
from cardan.jit.cache.gpu_code import Functions, gpu_source, is_cached, launch_name
from cardan.jit.cache.helper import help_with_launches
from cardan.jit.cache.progress import CompileProgress
from cardan.jit.driver.cuda import Gpu, Graph
from cardan.jit.front.stage import Form
from cardan.model import internals

AT, STATUS, LEFT = range(3)
"""Rows of the progress array, for each world: current stage, the status that it returned, repetitions left."""
WORD = 8

Answer = Callable[["GpuProgram", int, np.ndarray, np.ndarray], None]


class GpuProgram:
    """Program that runs stages repeatedly in worlds on a GPU. One launch runs `stages_per_launch` stages (0: all)."""

    def __init__(
        self,
        models: GpuModels,
        memories: GpuMemories,
        stages: Sequence[Callable[..., Any]],
        form: Form,
        stages_per_launch: int = 1,
    ) -> None:
        self.gpu, self.models, self.memories = memories.gpu, models, memories
        self.stages = list(stages)
        called = list(internals.numbered(models.base))
        parts = launches_of(self.stages, stages_per_launch)
        kernels = _kernels(self.gpu, parts, form, called)
        starts = accumulate(map(len, parts[:-1]), initial=0)
        self._launches = list(zip(starts, kernels, strict=True))  # number of the first stage, kernel
        self._rows = self.gpu.allocate((3 * memories.worlds + 1) * WORD)
        self._graph: Graph | None = None

    def _launch_all(self) -> None:
        words = self.models.address, self.memories.address
        for k, (first, kernel) in enumerate(self._launches):
            last = k + 1 == len(self._launches)
            following = 0 if last else self._launches[k + 1][0]
            blocks, threads = self.memories.blocks, self.memories.threads
            self.gpu.launch(kernel, blocks, threads, *words, first, following, self._rows.address)

    def run(self, worlds: np.ndarray | None, repeat: int, answer: Answer) -> None:
        """Run all stages `repeat` times in worlds (None: all).

        If worlds stop, ``answer(program, status, ids, rows)`` is called once for each status: `ids` are the worlds that
        stopped with it, `rows` (3, nworld) is the progress array. `answer` calls `go_on` for worlds that continue.
        """
        if repeat < 1 or (worlds is not None and not len(worlds)):
            return
        if self._graph is None:
            self._graph = self.gpu.capture(self._launch_all)
        memories = self.memories
        self._rows.zero()
        left = self._rows.address + LEFT * memories.worlds * WORD
        count = memories.nworld if worlds is None else len(worlds)
        transfers = memories.transfers
        transfers.move((count,), WORD, (left, (WORD,)), repeat, transfers.rows(worlds))
        for _ in range(repeat):
            self._graph.launch()
        flag = 3 * memories.worlds * WORD
        while self._rows.read((1,), np.int64, flag)[0]:
            rows = self._rows.read((3, memories.worlds), np.int64)
            shown = rows[:, : memories.nworld]
            stopped = np.flatnonzero(shown[STATUS])
            for status in np.unique(shown[STATUS, stopped]).tolist():
                answer(self, status, stopped[shown[STATUS, stopped] == status], shown)
            shown[LEFT, shown[STATUS] != 0] = 0
            self._rows.write(np.append(rows.reshape(-1), 0))
            for _ in range(int(shown[LEFT].max())):
                self._graph.launch()

    def go_on(self, rows: np.ndarray, worlds: np.ndarray, after: bool) -> None:
        """Let worlds continue at the stage where they stopped or, with `after`, at the following stage."""
        rows[STATUS, worlds] = 0
        if after:
            following = (rows[AT, worlds] + 1) % len(self.stages)
            rows[AT, worlds] = following
            rows[LEFT, worlds] -= following == 0


def launches_of(stages: Functions, size: int) -> list[Functions]:
    """Return the stages of each launch, `size` per launch; 0: all in one."""
    size = size or len(stages)
    return [stages[first : first + size] for first in range(0, len(stages), size)]


def gpu_sources(launches: Sequence[Functions], form: Form, called: Functions) -> Iterator[tuple[int, str]]:
    """Yield number and PTX of launches as soon as they are there; helpers compile some of those that are missing.

    Raises:
        PtxError: as in `gpu_source`.
    """
    missing = [k for k, stages in enumerate(launches) if not is_cached(stages, form, called)]
    for k in set(range(len(launches))).difference(missing):
        source = gpu_source(launches[k], form, called)
        assert source is not None
        yield k, source
    if not missing:
        return
    help_with_launches([launches[k] for k in missing], form, called)
    with CompileProgress(len(missing)) as progress:
        for wait in (False, True):  # launches that helpers are compiling are left to the end
            for k in list(missing):
                progress.show(launch_name(launches[k]))
                source = gpu_source(launches[k], form, called, wait)
                if source is not None:
                    missing.remove(k)
                    progress.advance(1)
                    yield k, source


def _kernels(gpu: Gpu, launches: Sequence[Functions], form: Form, called: Functions) -> list[Any]:
    """Return the kernels of launches. The driver compiles their PTX in threads, as soon as there is PTX.

    Raises:
        PtxError: a stage can't be compiled for GPUs.
        CudaError: the driver refuses the code.
    """
    distinct = list(dict.fromkeys(map(tuple, launches)))
    made: dict[int, Future[Any]] = {}
    pool = ThreadPoolExecutor(min(len(distinct), os.cpu_count() or 1))
    try:
        for k, source in gpu_sources(distinct, form, called):
            made[k] = pool.submit(gpu.kernel, launch_name(distinct[k]), source)
        kernels = {stages: made[k].result() for k, stages in enumerate(distinct)}
    finally:
        pool.shutdown(cancel_futures=True)
    return [kernels[tuple(stages)] for stages in launches]
