"""Other processes that share the work while stages are compiled cold.

With one helper on two processors, the longer of both processes takes 15.7 s of processor time for the first step of the
humanoid from an empty cache; both together take 31 s (docs/notes/performance-trials.md, "Time to compile kernels").

The first stage that must be compiled starts them, if enough else is missing, too: what the caller asks for, and what
those on the way to it *expect* to be needed next (`expecting`, `expect`): a model's step, while the model is still
being compiled. Helpers go through all that, the largest first; the running process takes its stages in order. Whoever
comes to a stage first holds its lock, others pass it by, and the running process comes back to it last. So a helper
that dies, or never starts, costs nothing but time.

Helpers stay while there is something to do, and end by themselves (see `cardan.jit.cache.worker`). Where processes can
fork they are nobody's children, so that none is left as a zombie.
"""

from __future__ import annotations

import atexit
import os
import sys
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from cardan.jit.cache import store as disk
from cardan.jit.front.form import HERE, Form
from cardan.jit.front.stage import Entry, entry_of

WORTH_IT = 4
"""Stages for each helper at least; starting one takes about as long as compiling two."""
MOST = 7
"""Helpers at most: kernels that several stages share are compiled by each process."""
START = """
import os
if hasattr(os, "fork") and os.fork():
    os._exit(0)
from cardan.jit.cache.worker import main
main()
"""
"""What a helper runs: where it can, it leaves its parent before anything is imported."""

Functions = Iterable[Callable[..., Any]]


class Helper:
    """A process that compiles stages into a folder."""

    def __init__(self, folder: Path) -> None:
        import subprocess

        environment = {
            **os.environ,
            "PYTHONPATH": os.pathsep.join(p for p in sys.path if p),
            "CARDAN_CACHE_DIR": str(folder),
        }
        quiet = subprocess.DEVNULL
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-c", START],
            env=environment,
            stdin=subprocess.PIPE,
            stdout=quiet,
            stderr=quiet,
            bufsize=0,
        )
        assert self._process.stdin is not None
        self._pipe = self._process.stdin
        if hasattr(os, "fork"):
            self._process.wait()  # the helper itself goes on
            os.set_blocking(self._pipe.fileno(), False)

    def tell(self, tasks: Iterable[str]) -> bool:
        """Ask for stages; returns whether the helper is still there to hear it."""
        words = "".join(task + "\n" for task in tasks).encode()
        try:
            heard = self._pipe.write(words) == len(words) if words else True
        except OSError:
            heard = False
        if not heard:
            self.end()
        return heard

    def end(self) -> None:
        """End the process, which hears that nothing more will come."""
        import subprocess

        self.forget()
        try:
            self._process.wait(2.0)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

    def forget(self) -> None:
        """Close this process's end of the pipe."""
        self._pipe.close()


class Crew:
    """The helpers of this process, and what they have been told."""

    def __init__(self) -> None:
        self.expected: list[Callable[[], Functions]] = []
        self._lock = threading.Lock()
        self._helpers: list[Helper] = []
        self._told: dict[str, None] = {}
        self._folder = Path()

    @property
    def is_at_work(self) -> bool:
        """Whether helpers were started; they may have ended by themselves."""
        return bool(self._helpers)

    def ask(self, entries: Sequence[Entry], form: Form) -> None:
        """Have the package's own stages among `entries` compiled; start as many helpers as that is worth."""
        with self._lock:
            folder = disk.cache_folder().absolute()
            if folder != self._folder:
                self._end()
                self._folder = folder
            self._tell(entries, form)
            if not self._helpers:
                self._told = {}
                expected = dict.fromkeys(function for functions in self.expected for function in functions())
                self._tell([*entries, *_missing(map(entry_of, expected), form)], form)
            wanted = helper_count(len(self._told)) if disk.is_writable() else 0
            for _ in range(len(self._helpers), wanted):
                self._start()

    def _tell(self, entries: Iterable[Entry], form: Form) -> None:
        tasks = [_task(entry, form) for entry in entries if _importable(entry)]
        new = [task for task in tasks if task not in self._told]
        self._told.update(dict.fromkeys(new))
        self._helpers = [helper for helper in self._helpers if helper.tell(new)]

    def _start(self) -> None:
        try:
            helper = Helper(self._folder)
        except OSError:  # there is no room for another process
            return
        if helper.tell(self._told):
            self._helpers.append(helper)

    def _end(self) -> None:
        for helper in self._helpers:
            helper.end()
        self._helpers, self._told = [], {}

    def end(self) -> None:
        """End all helpers."""
        with self._lock:
            self._end()

    def forget(self) -> None:
        """In a process that was forked: helpers, and threads that may hold the lock, are those of another."""
        for helper in self._helpers:
            helper.forget()
        self._lock, self._helpers, self._told = threading.Lock(), [], {}


_crew = Crew()


atexit.register(_crew.end)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_crew.forget)


def helper_count(stages: int) -> int:
    """How many helpers are worth their start: at least one on two processors, more only on those that are idle."""
    if not sys.executable or getattr(sys, "frozen", False):
        return 0  # there is no interpreter that could be started
    affinity = getattr(os, "sched_getaffinity", None)
    processors = min(len(affinity(0)) if affinity else os.cpu_count() or 1, granted_processors())
    busy = int(os.getloadavg()[0]) if hasattr(os, "getloadavg") else 0
    free = max(processors - 1 - busy, min(processors - 1, 1))
    return min(free, stages // WORTH_IT, MOST)


def granted_processors(limit: Path = Path("/sys/fs/cgroup/cpu.max")) -> int:
    """How many processors a container may keep busy, at least one; many where there is no limit (Linux, cgroup v2)."""
    try:
        quota, period = limit.read_text().split()
        return max(int(quota) // int(period), 1)
    except (OSError, ValueError):  # there is no such file, or the quota is "max"
        return sys.maxsize


def help_with(entries: Sequence[Entry], form: Form = HERE) -> None:
    """Have helpers compile stages that this process begins to compile, too."""
    _crew.ask(entries, form)


def expect(functions: Callable[[], Functions]) -> None:
    """Have the helpers, if there are any, compile functions that will be needed."""
    if _crew.is_at_work:
        _crew.ask([entry for entry in map(entry_of, functions()) if not _came_compiled(entry, HERE)], HERE)


@contextmanager
def expecting(functions: Callable[[], Functions]) -> Iterator[None]:
    """While the body runs: if something must be compiled, helpers compile what `functions` returns, too."""
    expected = _crew.expected
    expected.append(functions)
    try:
        yield
    finally:
        expected.remove(functions)


def _came_compiled(entry: Entry, form: Form) -> bool:
    """Whether the package brings the native code of one of its stages."""
    from cardan.jit.cache.packaged import packaged_object

    return form == HERE and packaged_object(entry.name) is not None


def _missing(entries: Iterable[Entry], form: Form) -> list[Entry]:
    """Those of the package's stages that neither came compiled nor are in the cache."""
    from cardan.jit.cache.fingerprint import fingerprint

    own = (entry for entry in entries if not _came_compiled(entry, form))
    return [entry for entry in own if not disk.holds(entry.name, fingerprint(entry, form))]


def _importable(entry: Entry) -> bool:
    function = entry.function
    module = sys.modules.get(function.__module__)
    return function.__module__.startswith("cardan.") and getattr(module, function.__qualname__, None) is function


def _task(entry: Entry, form: Form) -> str:
    """What helpers read (`cardan.jit.cache.worker`)."""
    return f"{form.layout} {form.precision} {entry.function.__module__}:{entry.function.__qualname__}"
