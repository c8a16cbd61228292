"""Programs on a GPU: launches of stages, captured as a CUDA graph, and an array with the progress of each world."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from cardan.batch.gpu.memory import GpuMemories
from cardan.batch.gpu.models import GpuModels
from cardan.jit.cache import store as disk
from cardan.jit.cache.fingerprint import derived_key, fingerprint
from cardan.jit.driver.cuda import Graph
from cardan.jit.front.stage import CALL, Entry, Form, entry_of
from cardan.jit.target.ptx import NOTHING, Code, ptx
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
        size = stages_per_launch or len(self.stages)
        self._launches: list[tuple[int, Any]] = []  # number of the first stage, kernel
        for first in range(0, len(self.stages), size):
            part = self.stages[first : first + size]
            source = gpu_source(part, form, called)
            self._launches.append((first, self.gpu.kernel(launch_name(part), source)))
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


Functions = Sequence[Callable[..., Any]]


def launch_name(stages: Functions) -> str:
    """Return the name of a launch of some stages, for messages and for the cache."""
    first = entry_of(stages[0]).name
    return first if len(stages) == 1 else f"{first}.and_{len(stages) - 1}_more"


def gpu_source(stages: Functions, form: Form, called: Functions) -> str:
    """Return the PTX of a launch from the cache, or compile it. Stages call the functions `called` by number, from 1.

    Raises:
        PtxError: a stage can't be compiled for GPUs, or the mathematical library for GPUs is missing.
    """
    entries, others = [entry_of(stage) for stage in stages], [entry_of(function) for function in called]
    keys = [fingerprint(entry, form) for entry in (*entries, *others)]
    key = derived_key(keys, str(len(entries)), __file__)
    name = f"ptx.{launch_name(stages)}"
    stored = disk.read(name, key)
    if stored is not None:
        return stored[1].decode()
    source = ptx(*codes(entries, form, others))
    disk.write(name, key, entries[0].symbol, source.encode())
    return source


def codes(entries: Sequence[Entry], form: Form, called: Sequence[Entry]) -> list[Code]:
    """Return the linked modules of stages, each with the modules of the functions that it may call by number.

    A function called by number may itself call functions by number: signed-distance functions evaluate shapes in this
    way. The functions at this second level must not call any functions by number.

    Args:
        entries: the stages.
        form: form of the code: layout, precision and target.
        called: the functions, in the order of their numbers.
    """
    from cardan.jit.front.compile import linked_module

    texts = [linked_module(entry, form) for entry in entries]
    below: tuple[Code, ...] = ()
    if any(f"@{CALL}(" in text for text in texts):
        modules = [(entry.symbol, linked_module(entry, form)) for entry in called]
        leaves = tuple(NOTHING if f"@{CALL}(" in text else Code(symbol, text) for symbol, text in modules)
        below = tuple(Code(symbol, text, leaves if f"@{CALL}(" in text else ()) for symbol, text in modules)
    return [Code(entry.symbol, text, below) for entry, text in zip(entries, texts, strict=True)]
