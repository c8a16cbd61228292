"""A helper process: it compiles stages into the cache, the largest first (`cardan.jit.cache.helper` starts it).

Each line of its standard input asks for a stage: layout and precision of the code, and ``module:function``. It ends
when the input ends, that is with the process that started it, however that ends, and when there is nothing to do for a
while. What it has begun is then lost; a file that is being written is finished.
"""

from __future__ import annotations

import importlib
import os
import sys
import threading
from typing import BinaryIO, NamedTuple

from cardan.jit.cache import store as disk
from cardan.jit.cache.fingerprint import code_size
from cardan.jit.cache.once import compile_if_free
from cardan.jit.front.form import Form
from cardan.jit.front.stage import Entry, entry_of

PATIENCE = 5.0
"""For how many seconds a helper waits for more to do."""


class Task(NamedTuple):
    """A stage to compile, and how much code it reaches: that takes a time in proportion, to a factor of two."""

    size: int
    entry: Entry
    form: Form


class Tasks:
    """What is asked for and not begun yet; a thread of its own reads it."""

    def __init__(self) -> None:
        self._lines: list[str] = []
        self._waiting: list[Task] = []
        self._more = threading.Condition()

    def read(self, stream: BinaryIO) -> None:
        """Take in lines until the stream ends."""
        for line in stream:
            with self._more:
                self._lines.append(line.decode())
                self._more.notify()

    def take(self) -> Task | None:
        """The largest task; None if none comes in time."""
        if not self._waiting:
            with self._more:
                self._more.wait_for(lambda: self._lines, PATIENCE)
        with self._more:
            lines, self._lines = self._lines, []
        self._waiting = sorted([*self._waiting, *map(_task, lines)], key=lambda task: task.size)
        return self._waiting.pop() if self._waiting else None


def _task(line: str) -> Task:
    layout, precision, name = line.split()
    module, _, function = name.partition(":")
    entry = entry_of(getattr(importlib.import_module(module), function))
    return Task(code_size(entry), entry, Form(layout, precision))


def _end_with(tasks: Tasks, stream: BinaryIO) -> None:
    tasks.read(stream)
    with disk.WRITING:
        os._exit(0)


def main() -> None:
    """Compile what standard input asks for."""
    from cardan.jit.front.compile import KernelError

    tasks = Tasks()
    threading.Thread(target=_end_with, args=(tasks, sys.stdin.buffer), daemon=True).start()
    while (task := tasks.take()) is not None:
        try:
            compile_if_free(task.entry, task.form)
        except KernelError:
            continue  # the process that asked comes to it, too, and says so
    with disk.WRITING:
        os._exit(0)  # the thread still reads: Python would wait for its lock on the stream
