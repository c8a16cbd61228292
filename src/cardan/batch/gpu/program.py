"""Programs on a GPU: launches of stages, captured once as a graph, and rows that say what each world is about to do."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from cardan.batch.gpu import code
from cardan.batch.gpu.memory import GpuMemories
from cardan.batch.gpu.models import GpuModels
from cardan.jit.driver.cuda import Graph
from cardan.jit.front.stage import Form
from cardan.model import internals

AT, STATUS, LEFT = range(3)
"""Rows: the stage that a world is at, what it asked for there, steps that it is still to do."""
WORD = 8

Answer = Callable[["GpuProgram", int, np.ndarray, np.ndarray], None]


class GpuProgram:
    """A list of stages that runs in worlds on a GPU, again and again.

    Args:
        models: the models of the worlds.
        memories: their data.
        stages: the stages.
        form: of their code.
        stages_per_launch: how many stages are one launch; 0: all. It changes no result.
    """

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
        size = stages_per_launch or len(self.stages)
        self._launches: list[tuple[int, Any]] = []  # number of the first stage, kernel
        for first in range(0, len(self.stages), size):
            part = self.stages[first : first + size]
            source = code.gpu_source(part, form, called)
            self._launches.append((first, self.gpu.kernel(code.launch_name(part), source)))
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
        """Run all stages some times.

        Args:
            worlds: ids; None: all worlds.
            repeat: how often.
            answer: called for the worlds that stopped: (program, status, their ids, the rows (3, nworld)). It sets the
                status of those that go on to 0, and the steps left of the others.
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
        """Have worlds go on at the stage where they stopped, or after it."""
        rows[STATUS, worlds] = 0
        if after:
            following = (rows[AT, worlds] + 1) % len(self.stages)
            rows[AT, worlds] = following
            rows[LEFT, worlds] -= following == 0
