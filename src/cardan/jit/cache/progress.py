"""Progress bars for long work, such as compiling kernels for the first time."""

from __future__ import annotations

import sys
import time
from types import TracebackType
from typing import Any

DELAY = 1.0


class Progress:
    """Progress bar on standard error, only on terminals. It appears after one second of work.

    Args:
        total: number of parts of the work; 0: show nothing.
        title: name of the work.
    """

    def __init__(self, total: int, title: str) -> None:
        self.total = total
        self.done = 0
        self._title = title
        self._start = time.monotonic()
        self._bar: Any = None
        self._task: Any = None

    def __enter__(self) -> Progress:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._bar is not None:
            self._bar.stop()

    def show(self, detail: str = "") -> None:
        """Show the progress; `detail` names the current part."""
        waited = time.monotonic() - self._start > DELAY
        if self._bar is None and self.total and waited and sys.stderr.isatty():
            self._open()
        if self._bar is not None:
            self._bar.update(self._task, completed=self.done, detail=detail)

    def advance(self, count: int) -> None:
        """Count `count` more parts as done."""
        self.done += count
        self.show()

    def _open(self) -> None:
        self._start = float("inf")  # once is enough
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, TextColumn
        from rich.progress import Progress as Bar

        self._bar = Bar(
            TextColumn(self._title),
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn("{task.fields[detail]}"),
            console=Console(stderr=True),
            transient=True,
        )
        self._task = self._bar.add_task("work", total=self.total, detail="")
        self._bar.start()


class CompileProgress(Progress):
    """Progress of compiling a number of kernels."""

    def __init__(self, total: int) -> None:
        super().__init__(total, "compiling kernels (once on this machine)")

    def __enter__(self) -> CompileProgress:
        return self

    def compiling(self, name: str) -> None:
        """Show that the stage `name` is being compiled, and count it as done from the next call on."""
        self.show(name)
        self.done += 1
