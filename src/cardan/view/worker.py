"""A thread that does one thing after the other."""

from __future__ import annotations

import threading
from collections.abc import Callable
from queue import Queue

from cardan.step.report import tell

Act = Callable[[], None]


class Worker:
    """Does what it is asked for in a thread of its own, in order; what fails is told, and ends nothing.

    Args:
        name: the thread's name.
    """

    def __init__(self, name: str) -> None:
        self._queue: Queue[Act | None] = Queue()
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)
        self._thread.start()

    @property
    def busy(self) -> bool:
        """Whether something is not done yet."""
        return self._queue.unfinished_tasks > 0

    def do(self, act: Act) -> None:
        """Do something after all that was asked for before; returns at once."""
        self._queue.put(act)

    def _run(self) -> None:
        while (act := self._queue.get()) is not None:
            try:
                act()
            except Exception as error:
                tell(f"The viewer had trouble: {type(error).__name__}: {error}")
            self._queue.task_done()

    def close(self, timeout: float | None = None) -> None:
        """End the thread, after what was asked for; waits so long, s, unless the thread itself asks."""
        self._queue.put(None)
        if threading.current_thread() is not self._thread:
            self._thread.join(timeout)
