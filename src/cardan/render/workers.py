"""Threads that share the stages of a picture."""

from __future__ import annotations

import itertools
import threading
import weakref
from collections.abc import Callable

Share = Callable[[int], object]
"""Task of a thread, called with its number: take parts of the work until none are left."""


class _Helper:
    """A thread that waits for work.

    Two locks start the work and signal its end; a pool's queue and futures would take several times as long.

    Args:
        number: number of the thread.
    """

    def __init__(self, number: int) -> None:
        self.number = number
        self.work: Share | None = None
        self.error: BaseException | None = None
        self.wake, self.done = threading.Lock(), threading.Lock()
        self.wake.acquire()
        self.done.acquire()
        self.busy = False
        self.thread: threading.Thread | None = None

    def _run(self) -> None:
        """Do the work whenever it is started."""
        while True:
            self.wake.acquire()
            work = self.work
            if work is None:
                return
            try:
                work(self.number)
            except BaseException as error:
                self.error = error
            del work
            self.done.release()

    def start(self, work: Share) -> None:
        """Start the work in the thread; `finish` must follow."""
        if self.busy:  # a previous call was interrupted
            self.finish()
        if self.thread is None:
            self.thread = threading.Thread(target=self._run, name="cardan-render", daemon=True)
            self.thread.start()
        self.busy, self.work = True, work
        self.wake.release()

    def finish(self) -> BaseException | None:
        """Wait until the thread is done; if it hasn't begun, cancel its work. Return its error."""
        if not self.wake.acquire(blocking=False):
            self.done.acquire()
        self.busy, self.work = False, None
        error, self.error = self.error, None
        return error

    def end(self) -> None:
        """End the thread."""
        if self.thread is not None:
            if self.busy:
                self.finish()
            self.thread = None
            self.wake.release()


def _end(helpers: list[_Helper]) -> None:
    """End threads."""
    while helpers:
        helpers.pop().end()


class Workers:
    """The caller's thread and further threads, which take the parts of the work one after the other.

    Args:
        count: number of threads, including the caller's.
    """

    def __init__(self, count: int) -> None:
        self.helpers = [_Helper(number) for number in range(1, count)]
        weakref.finalize(self, _end, self.helpers)

    def each(self, work: Callable[[int, int], object], parts: int, most: int) -> None:
        """Do all parts of the work.

        Args:
            work: does one part, given the number of the part and of the worker.
            parts: number of parts.
            most: largest useful number of workers.
        """
        helpers = self.helpers[: max(min(parts, most) - 1, 0)]
        if not helpers:
            for part in range(parts):
                work(part, 0)
            return
        numbers = itertools.count()

        def share(worker: int) -> None:
            while (part := next(numbers)) < parts:
                work(part, worker)

        for helper in helpers:
            helper.start(share)
        try:
            share(0)
        finally:
            errors = [error for helper in helpers if (error := helper.finish()) is not None]
        for error in errors:
            raise error

    def close(self) -> None:
        """End the threads."""
        _end(self.helpers)
