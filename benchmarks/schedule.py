"""What two threads give to a picture by the processor time of its parts, where a busy machine lets no clock tell.

The parts are those of a renderer of two threads, done one after the other. As the threads do, the one that is ready
first takes the next part; what lies between the stages, Python among it, is done by one thread alone.
"""

from __future__ import annotations

import heapq
import statistics
import time
from collections.abc import Callable

from cardan.render.frame import Frame

THREADS = 2
PICTURES = 9
ROW = 4
"""Pictures in a row."""


class Schedule:
    """Notes what a picture takes on one thread, and what it would on two.

    Args:
        frame: what draws, made for two threads.
    """

    def __init__(self, frame: Frame) -> None:
        self.spared = 0.0
        frame.crew.each = self._each

    def _each(self, work: Callable[[int, int], object], parts: int, most: int) -> None:
        """Do all parts of a stage, and note how much less it takes on two threads if it is given to both."""
        if min(parts, most) < THREADS:
            for part in range(parts):
                work(part, 0)
            return
        busy, whole = THREADS * [0.0], 0.0
        for part in range(parts):
            start = time.thread_time()
            work(part, 0)
            seconds = time.thread_time() - start
            whole += seconds
            heapq.heapreplace(busy, busy[0] + seconds)
        self.spared += whole - max(busy)


def two_threads(frame: Frame, draw_two: Callable[[], None], draw_one: Callable[[], None]) -> float:
    """Processor time of a picture on one thread ÷ the length of the schedule of two: the median of some pictures.

    Args:
        frame: what draws with two threads; it does so with one from now on.
        draw_two: draws a picture with it.
        draw_one: draws it with a renderer of one thread.
    """
    schedule = Schedule(frame)

    def one() -> float:
        start = time.thread_time()
        draw_one()
        return time.thread_time() - start

    def two() -> float:
        start, schedule.spared = time.thread_time(), 0.0
        draw_two()
        return time.thread_time() - start - schedule.spared

    return statistics.median(_least(one) / _least(two) for _ in range(PICTURES))


def _least(seconds: Callable[[], float]) -> float:
    """The least of some pictures in a row: the first ones find another renderer's memory in the caches."""
    return min(seconds() for _ in range(ROW))
