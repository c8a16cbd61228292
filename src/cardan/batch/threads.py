"""Run programs in many worlds: native threads take one world after the other; Python handles requests of stages.

A world's results depend only on its own data. So they don't depend on the number of threads or on which thread
simulates which world.
"""

from __future__ import annotations

import ctypes
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from cardan.jit import Program, jit_enabled
from cardan.jit.driver.program import PAUSED
from cardan.jit.driver.scripts import NO_WORLD, resume_world, run_worlds
from cardan.step.run import answer, run
from cardan.threads import Crew, Job

if TYPE_CHECKING:
    from cardan.model.mjdata import MjData
    from cardan.model.mjmodel import MjModel

ALL = 1 << 62
"""Number of worlds that is larger than any batch."""
SHARE = 3
"""Divisor for block sizes: a block contains the remaining worlds divided by `SHARE` times the number of threads."""
Trouble = Callable[[int, BaseException], None]


def deal(count: int, nthread: int) -> list[tuple[int, int]]:
    """Divide `count` worlds into blocks (begin, end) for threads: large blocks first, single worlds at the end.

    Few blocks are needed, and all threads end at almost the same time, even if some worlds take longer than others. A
    single thread gets one block. Source: C. Polychronopoulos, D. Kuck, Guided self-scheduling, IEEE Transactions on
    Computers 36, 1987. Blocks are smaller than in this source, because slow worlds may come first.
    """
    if nthread == 1:
        return [(0, count)]
    found, begin = [], 0
    while begin < count:
        end = begin - (begin - count) // (SHARE * nthread)  # rounded up
        found.append((begin, end))
        begin = end
    return found


@dataclass(slots=True)
class Walk:
    """One call of `Runner.run`: the worlds and their programs.

    Attributes:
        programs: the programs; None for a program that no world of the call needs.
        kinds: index of each world's program in `programs`, (k,).
        entries: for native code, addresses of each world's program and run words, (k, 2).
        worlds: ids (k,).
        n: number of times that each world's program runs.
    """

    programs: Sequence[Program | None]
    kinds: np.ndarray
    entries: np.ndarray
    worlds: np.ndarray
    n: int

    def program(self, k: int) -> Any:
        """Return the program of the k-th world."""
        return self.programs[self.kinds[k]]


class Runner:
    """Threads that run programs in the worlds of a batch.

    Args:
        nthread: number of threads, the caller's included.
        objects: function that returns the MjModel and the MjData of a world, to handle requests of its stages.
        trouble: called with the id and the exception of each world that fails; all other worlds continue.
    """

    def __init__(self, nthread: int, objects: Callable[[int], tuple[MjModel, MjData]], trouble: Trouble) -> None:
        self._crew = Crew(nthread, "cardan-batch")
        self._objects = objects
        self._trouble = trouble
        self._closed = False

    def run(
        self, programs: Sequence[Program | None], kinds: np.ndarray, worlds: np.ndarray, calls: np.ndarray, n: int
    ) -> None:
        """Run each world's program `n` times (arguments as in `Walk`).

        `calls` (k,) contains the address of each world's run words: position in the program, model and data.

        A program is None if no world of the call needs it.

        Raises:
            RuntimeError: `close` was called.
            BaseException: a signal handler raised it. Worlds may have run different numbers of repetitions.
        """
        if self._closed:
            raise RuntimeError("this batch was closed: it computes nothing any more; make another one")
        if not len(worlds):
            return
        entries = np.empty((len(worlds), 2), np.int64)
        if len(programs) == 1 and programs[0] is not None:
            entries[:, 0] = programs[0].block_address
        else:
            entries[:, 0] = np.array([0 if p is None else p.block_address for p in programs], np.int64)[kinds]
        entries[:, 1] = calls
        walk = Walk(programs, kinds, entries, worlds, n)
        work = self._walk if jit_enabled else self._interpret
        self._crew.share(lambda job, worker: work(job, worker, walk), len(worlds))

    def _walk(self, job: Job, worker: int, walk: Walk) -> None:
        """Run worlds natively, one at a time. The caller's thread pauses regularly so that signal handlers can run."""
        stopped, n, pace = ctypes.c_int64(), walk.n, walk.program(0)
        while True:
            most = ALL if worker else max(1, pace.patience // max(n, 1))
            begin = time.perf_counter()
            status = run_worlds(walk.entries, n, job.counter, most, stopped)
            if not status:
                return
            k = stopped.value
            if k == NO_WORLD:
                pace.adapt(most * max(n, 1), time.perf_counter() - begin)
            else:
                self._go_on(job, walk, k, status)

    def _go_on(self, job: Job, walk: Walk, k: int, status: int) -> None:
        """Handle the requests of a world that stopped, until its program has finished."""
        world, program, n = int(walk.worlds[k]), walk.program(k), walk.n
        try:
            while status and not job.cancelled:
                begin, patience = time.perf_counter(), program.patience
                if status != PAUSED:
                    answer(status, program, *self._objects(world))
                status = resume_world(walk.entries[k], n)
                if status == PAUSED:
                    program.adapt(patience, time.perf_counter() - begin)
        except Exception as error:
            self._keep(world, error)

    def _interpret(self, job: Job, worker: int, walk: Walk) -> None:
        """Run one world after the other in the interpreter (JIT off)."""
        for k in job.parts(len(walk.worlds)):
            world = int(walk.worlds[k])
            try:
                run(walk.program(k), *self._objects(world), walk.n, job)
            except Exception as error:
                self._keep(world, error)

    def _keep(self, world: int, error: Exception) -> None:
        """Report the exception of a world. If a user's signal handler raised it, raise it again."""
        if not raised_by_package(error):
            raise error
        self._trouble(world, error)

    def close(self) -> None:
        """End the threads; a second call does nothing."""
        self._closed = True
        self._crew.close()


def raised_by_package(error: BaseException) -> bool:
    """Return whether a function of this package or its dependencies, not a user's function, raised an exception.

    Signal handlers can run within any function of the main thread, so the whole traceback is searched.
    """
    trace = error.__traceback__
    while trace is not None:
        if str(trace.tb_frame.f_globals.get("__name__")).partition(".")[0] not in _OWN:
            return False
        trace = trace.tb_next
    return True


_OWN = {__name__.partition(".")[0], "numpy", "numba", "llvmlite", "scipy"} | sys.stdlib_module_names
"""Top-level modules whose functions `raised_by_package` counts as this package or its dependencies."""
