"""Threads that share out the stages of a picture."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor


class Workers:
    """The caller's thread and some more, which take the parts of a piece of work one after the other.

    Args:
        count: number of threads, the caller's among them.
    """

    def __init__(self, count: int) -> None:
        self.count = count
        self.pool = ThreadPoolExecutor(count - 1) if count > 1 else None

    def each(self, work: Callable[[int, int], object], parts: int, most: int) -> None:
        """Do all parts of a piece of work.

        Args:
            work: does a part: its number, and that of the worker that does it.
            parts: number of parts.
            most: largest number of workers that it is worth.
        """
        helpers = min(parts, most, self.count) - 1
        if self.pool is None or helpers < 1:
            for part in range(parts):
                work(part, 0)
            return
        numbers = itertools.count()

        def share(worker: int) -> None:
            while (part := next(numbers)) < parts:
                work(part, worker)

        tasks = [self.pool.submit(share, worker) for worker in range(1, helpers + 1)]
        try:
            share(0)
        finally:
            for task in tasks:
                if not task.cancel():  # it has begun: there was something left for it
                    task.result()

    def close(self) -> None:
        """End the threads."""
        if self.pool is not None:
            self.pool.shutdown()
            self.pool = None
