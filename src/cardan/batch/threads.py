"""Running a program in many worlds: blocks of worlds over native threads, requests of stages answered in between.

A world's results depend on nothing but its own data, so they are the same for any number of threads and any division
into blocks.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

from cardan.jit import Program, jit_enabled
from cardan.jit.driver.many import run_worlds
from cardan.step.run import settle

SHARE = 3
"""A block is this part of what each thread would have left to do."""
Trouble = Callable[[int, BaseException], None]


def processors() -> int:
    """Number of processors that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def deal(count: int, nthread: int) -> list[tuple[int, int]]:
    """Stretches of worlds to deal to threads, (begin, end): large ones first, single worlds at the end.

    So few calls are needed, and threads end almost at once though worlds take unequal times (C. Polychronopoulos,
    D. Kuck, Guided self-scheduling, IEEE Transactions on Computers 36, 1987; here with smaller blocks, since the slow
    worlds may come first). One thread has them all in one block.
    """
    if nthread == 1:
        return [(0, count)]
    found, begin = [], 0
    while begin < count:
        end = begin - (begin - count) // (SHARE * nthread)  # rounded up
        found.append((begin, end))
        begin = end
    return found


class Crew:
    """The threads of a batch.

    Args:
        nthread: how many, the caller's included.
        objects: gives the MjModel and the MjData of a world, for the requests of its stages.
        trouble: what is done with the exception of a world; the others go on.
    """

    def __init__(self, nthread: int, objects: Callable[[int], tuple[Any, Any]], trouble: Trouble) -> None:
        self.nthread = nthread
        self._objects = objects
        self._trouble = trouble
        self._pool: ThreadPoolExecutor | None = None
        self._closed = False

    def run(
        self, programs: Sequence[Program | None], kinds: np.ndarray, worlds: np.ndarray, calls: np.ndarray, n: int
    ) -> None:
        """Run each world's program `n` times.

        Args:
            programs: the programs that worlds need (None: none of the call's).
            kinds: which of them each world of the call needs (k,).
            worlds: ids of the worlds (k,).
            calls: addresses of the words that each world's programs are run with (k,).
            n: repetitions.

        Raises:
            RuntimeError: `close` was called.
        """
        if self._closed:
            raise RuntimeError("this batch was closed: it computes nothing any more; make another one")
        blocks = np.array([0 if p is None else p.block_address for p in programs], np.int64)
        entries = np.stack([blocks[kinds], calls], axis=1)

        def work(begin: int, end: int) -> None:
            part = slice(begin, end)
            self._run_block(entries[part], worlds[part], [programs[k] for k in kinds[part]], n)

        if self.nthread == 1 or len(worlds) < 2:
            work(0, len(worlds))
            return
        if self._pool is None:
            self._pool = ThreadPoolExecutor(self.nthread)
        pool = self._pool
        for done in [pool.submit(work, *block) for block in deal(len(worlds), self.nthread)]:
            done.result()

    def _run_block(self, entries: np.ndarray, worlds: np.ndarray, programs: list[Any], n: int) -> None:
        if not jit_enabled:
            for world, program in zip(worlds.tolist(), programs, strict=True):
                m, d = self._objects(world)
                self._finish(world, program, lambda p=program, m=m, d=d: p.run(m, d, n), n)
            return
        at = np.zeros(1, np.int64)
        while at[0] < len(entries):
            status = run_worlds(entries, n, at)
            if status:
                k = int(at[0])
                self._finish(int(worlds[k]), programs[k], lambda status=status: status, n)
                at[0] += 1

    def _finish(self, world: int, program: Program, start: Callable[[], int], n: int) -> None:
        """Answer the requests of one world until its program has finished."""
        try:
            status = start()
            if status:
                m, d = self._objects(world)
                settle(status, program, m, d, n)
        except Exception as error:
            self._trouble(world, error)

    def close(self) -> None:
        """End the threads, for good; a second call does nothing."""
        self._closed = True
        if self._pool is not None:
            self._pool.shutdown()
            self._pool = None
