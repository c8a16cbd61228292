"""A thread that executes tasks one after the other."""

from __future__ import annotations

import threading
from collections.abc import Callable
from queue import Queue

from cardan.step.report import tell

Act = Callable[[], None]


class Worker:
    """Executes tasks in a thread of its own, in order; a task that fails is reported, and the thread continues.

    Args:
        name: name of the thread.
    """

    def __init__(self, name: str) -> None:
        self._queue: Queue[Act | None] = Queue()
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)
        self._thread.start()

    @property
    def busy(self) -> bool:
        """Whether a task is not finished yet."""
        return self._queue.unfinished_tasks > 0

    def do(self, act: Act) -> None:
        """Add a task after all earlier ones; return at once."""
        self._queue.put(act)

    def _run(self) -> None:
        while (act := self._queue.get()) is not None:
            try:
                act()
            except Exception as error:
                tell(f"The viewer had trouble: {type(error).__name__}: {error}")
            self._queue.task_done()

    def close(self, timeout: float | None = None) -> None:
        """End the thread after all tasks; wait at most `timeout` seconds, unless called from the thread itself."""
        self._queue.put(None)
        if threading.current_thread() is not self._thread:
            self._thread.join(timeout)
