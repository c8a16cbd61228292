"""What a user sees while stages are compiled for the first time."""

from __future__ import annotations

import sys
import time
from types import TracebackType
from typing import Any

DELAY = 1.0


class CompileProgress:
    """A progress bar on standard error that appears once compiling has taken longer than a second.

    Without the package ``rich`` (extra ``cardan[cli]``) one line says what the wait is for.
    """

    def __init__(self, total: int) -> None:
        self.total = total
        self.done = 0
        self._start = time.monotonic()
        self._bar: Any = None
        self._task: Any = None

    def __enter__(self) -> CompileProgress:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._bar is not None:
            self._bar.stop()

    def compiling(self, name: str) -> None:
        """Say that the stage `name` is being compiled now."""
        if self._bar is None and time.monotonic() - self._start > DELAY and sys.stderr.isatty():
            self._open()
        if self._bar is not None:
            self._bar.update(self._task, completed=self.done, stage=name)
        self.done += 1

    def _open(self) -> None:
        self._start = float("inf")  # once is enough
        try:
            from rich.console import Console
            from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn
        except ModuleNotFoundError:
            print(f"compiling {self.total} kernels (once on this machine)", file=sys.stderr)
            return
        self._bar = Progress(
            TextColumn("compiling kernels (once on this machine)"),
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn("{task.fields[stage]}"),
            console=Console(stderr=True),
            transient=True,
        )
        self._task = self._bar.add_task("compile", total=self.total, stage="")
        self._bar.start()
