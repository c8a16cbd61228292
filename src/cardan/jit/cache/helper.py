"""Helper processes that share the work of compiling stages in a cold start.

On two processors, a helper halves the waiting time. The first step of the humanoid from an empty cache takes 37 s of
processor time in one process; with one helper, the longer of both processes takes 18 s
(docs/notes/performance-trials.md).

Helpers are started when the first stage must be compiled, if enough other stages are missing. They receive the stages
that the caller asks for, and the stages that are *expected* next (`expecting`, `expect`): those of a model's step,
while the model is still being compiled. Helpers compile the largest stages first; the calling process compiles its
stages in order. Each stage is locked while a process compiles it. Other helpers skip the stage, and the calling process
waits for it last. If a helper dies, or never starts, only time is lost.

A helper reads its standard input. Each line requests a stage: layout and precision of the code, and
``module:function``. A line with a fourth word requests PTX for a GPU: the third word then lists the stages of a launch,
and the fourth word the functions that they call by number. A helper ends when the input ends, that is, when the process
that started it ends, or when it has had no work for a while. It first finishes a file that it is writing. Where
processes can fork, helpers detach from their parent at once, so that none remains as a zombie.
"""

from __future__ import annotations

import atexit
import importlib
import os
import sys
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

from cardan.jit.cache import store as disk
from cardan.jit.cache.packaged import packaged_object
from cardan.jit.front.stage import HERE, Entry, Form, entry_of

WORTH_IT = 4
"""Smallest number of stages per helper. Starting a helper takes about as long as compiling two stages."""
MOST = 7
"""Largest number of helpers. More helpers gain little: each process compiles the kernels that several stages share."""
PATIENCE = 5.0
"""Time in seconds for which a helper waits for further requests."""
START = """
import os
if hasattr(os, "fork") and os.fork():
    os._exit(0)
from cardan.jit.cache.helper import main
main()
"""
"""Program of a helper. If the system can fork, the helper detaches from its parent before it imports anything."""

NOBODY = "-"
"""Word of a request in place of an empty list of functions."""

Functions = Iterable[Callable[..., Any]]


# stages, each compiled by one process ---------------------------------------------------------------------------------


def compile_into_cache(entry: Entry, form: Form = HERE) -> tuple[str, bytes]:
    """Return symbol and object code of a stage: compile the stage, or wait if another process is compiling it."""
    made = compile_if_free(entry, form, wait=True)
    assert made is not None
    return made


def compile_if_free(entry: Entry, form: Form = HERE, wait: bool = False) -> tuple[str, bytes] | None:
    """Return symbol and object code of the stage `entry` in a form.

    If another process is compiling the stage, wait for that process if `wait` is set; otherwise return None.
    """
    from cardan.jit.cache.fingerprint import fingerprint

    key = fingerprint(entry, form)
    with disk.compile_lock(entry.name, key, wait) as free:
        made = disk.read(entry.name, key) if free else None
        if free and made is None:
            from cardan.jit.front.compile import compile_entry

            made = compile_entry(entry, form)
            disk.write(entry.name, key, *made)
        return made


# in the running process -----------------------------------------------------------------------------------------------


class Helper:
    """A helper process, which compiles stages into the cache folder."""

    def __init__(self, folder: Path) -> None:
        import subprocess

        path = os.pathsep.join(p for p in sys.path if p)
        quiet = subprocess.DEVNULL
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-c", START],
            env={**os.environ, "PYTHONPATH": path, "CARDAN_CACHE_DIR": str(folder)},
            stdin=subprocess.PIPE,
            stdout=quiet,
            stderr=quiet,
            bufsize=0,
        )
        assert self._process.stdin is not None
        self._pipe = self._process.stdin
        if hasattr(os, "fork"):
            self._process.wait()  # the helper itself continues
            os.set_blocking(self._pipe.fileno(), False)

    def tell(self, tasks: Iterable[str]) -> bool:
        """Send requests for stages to the helper; if this fails, end the helper. Return whether it is still running."""
        words = "".join(task + "\n" for task in tasks).encode()
        try:
            heard = self._pipe.write(words) == len(words) if words else True
        except OSError:
            heard = False
        if not heard:
            self.end()
        return heard

    def end(self) -> None:
        """Close the pipe, and wait for the process to end; kill it after two seconds."""
        import subprocess

        self.forget()
        try:
            self._process.wait(2.0)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

    def forget(self) -> None:
        """Close this process's end of the pipe to the helper."""
        self._pipe.close()


class Crew:
    """The helpers of this process, and the tasks given to them."""

    def __init__(self) -> None:
        self.expected: list[Callable[[], Functions]] = []
        self._lock = threading.Lock()
        self._helpers: list[Helper] = []
        self._told: dict[str, None] = {}
        self._folder = Path()

    @property
    def is_at_work(self) -> bool:
        """Whether helpers were started; some may have ended since."""
        return bool(self._helpers)

    def ask(self, tasks: Sequence[str], form: Form = HERE) -> None:
        """Give tasks to helpers; start more helpers if it pays off.

        If no helper is running, also request the expected stages (`expecting`), in the form `form`. If the cache folder
        has changed, end all helpers first.
        """
        with self._lock:
            folder = disk.cache_folder().absolute()
            if folder != self._folder:
                self._end()
                self._folder = folder
            self._tell(tasks)
            if not self._helpers:
                self._told = {}
                expected = dict.fromkeys(function for functions in self.expected for function in functions())
                self._tell([*tasks, *_lines(_missing(map(entry_of, expected), form), form)])
            wanted = helper_count(len(self._told)) if disk.is_writable() else 0
            for _ in range(len(self._helpers), wanted):
                try:
                    helper = Helper(self._folder)
                except OSError:  # the system has no room for another process
                    break
                if helper.tell(self._told):
                    self._helpers.append(helper)

    def _tell(self, tasks: Iterable[str]) -> None:
        new = [task for task in tasks if task not in self._told]
        self._told.update(dict.fromkeys(new))
        self._helpers = [helper for helper in self._helpers if helper.tell(new)]

    def _end(self) -> None:
        for helper in self._helpers:
            helper.end()
        self._helpers, self._told = [], {}

    def end(self) -> None:
        """End all helpers."""
        with self._lock:
            self._end()

    def forget(self) -> None:
        """Forget the helpers and replace the lock.

        This runs in a child process after a fork, because the helpers belong to the parent.
        """
        for helper in self._helpers:
            helper.forget()
        self._lock, self._helpers, self._told = threading.Lock(), [], {}


_crew = Crew()
atexit.register(_crew.end)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_crew.forget)


def helper_count(stages: int) -> int:
    """Return how many helpers pay off for a number of `stages` to compile.

    There is at most one helper per idle processor, one per `WORTH_IT` stages, and `MOST` in total. If there are several
    processors but none is idle, one helper is still allowed. If no interpreter can be started, return 0.
    """
    if not sys.executable or getattr(sys, "frozen", False):
        return 0  # no interpreter can be started
    affinity = getattr(os, "sched_getaffinity", None)
    processors = min(len(affinity(0)) if affinity else os.cpu_count() or 1, granted_processors())
    busy = int(os.getloadavg()[0]) if hasattr(os, "getloadavg") else 0
    free = max(processors - 1 - busy, min(processors - 1, 1))
    return min(free, stages // WORTH_IT, MOST)


def granted_processors(limit: Path = Path("/sys/fs/cgroup/cpu.max")) -> int:
    """Return how many processors the container may use (cgroup v2), at least one; a large number if unlimited."""
    try:
        quota, period = limit.read_text().split()
        return max(int(quota) // int(period), 1)
    except (OSError, ValueError):  # the file is missing, or the quota is "max"
        return sys.maxsize


def help_with(entries: Sequence[Entry], form: Form = HERE) -> None:
    """Let helpers also compile the stages that this process is about to compile."""
    _crew.ask(_lines(entries, form), form)


def help_with_launches(launches: Iterable[Sequence[Callable[..., Any]]], form: Form, called: Functions) -> None:
    """Let helpers also make the PTX of launches on a GPU, whose stages call the functions `called` by number."""
    others = [entry_of(function) for function in called]
    if not all(map(_importable, others)):
        return
    words = ",".join(map(_name, others)) or NOBODY
    wanted = [[entry_of(stage) for stage in stages] for stages in launches]
    _crew.ask([f"{_line(stages, form)} {words}" for stages in wanted if all(map(_importable, stages))])


def expect(functions: Callable[[], Functions]) -> None:
    """If helpers are running, let them compile the stages that `functions` returns, which will be needed soon.

    Stages in the package's archive are skipped.
    """
    if _crew.is_at_work:
        help_with([entry for entry in map(entry_of, functions()) if packaged_object(entry.name) is None])


@contextmanager
def expecting(functions: Callable[[], Functions]) -> Iterator[None]:
    """Context manager: if its body compiles anything, helpers also compile the stages that `functions` returns."""
    expected = _crew.expected
    expected.append(functions)
    try:
        yield
    finally:
        expected.remove(functions)


def _missing(entries: Iterable[Entry], form: Form) -> list[Entry]:
    """List the entries that are neither in the package's archive nor in the cache.

    The archive contains only code in the form `HERE`.
    """
    from cardan.jit.cache.fingerprint import fingerprint

    own = (entry for entry in entries if form != HERE or packaged_object(entry.name) is None)
    return [entry for entry in own if not disk.holds(entry.name, fingerprint(entry, form))]


def _importable(entry: Entry) -> bool:
    function = entry.function
    module = sys.modules.get(function.__module__)
    return function.__module__.startswith("cardan.") and getattr(module, function.__qualname__, None) is function


def _name(entry: Entry) -> str:
    return f"{entry.function.__module__}:{entry.function.__qualname__}"


def _line(entries: Iterable[Entry], form: Form) -> str:
    return f"{form.layout} {form.precision} {','.join(map(_name, entries))}"


def _lines(entries: Iterable[Entry], form: Form) -> list[str]:
    return [_line([entry], form) for entry in entries if _importable(entry)]


# in a helper ----------------------------------------------------------------------------------------------------------


class Task(NamedTuple):
    """Code to make, and the size of the code that it reaches, which determines how long that takes."""

    size: int
    make: Callable[[], object]


class Tasks:
    """Requested stages that have not been started. A separate thread reads the requests."""

    def __init__(self) -> None:
        self._lines: list[str] = []
        self._waiting: list[Task] = []
        self._more = threading.Condition()

    def read(self, stream: BinaryIO) -> None:
        """Append the requests in `stream`, one per line, until the stream ends."""
        for line in stream:
            with self._more:
                self._lines.append(line.decode())
                self._more.notify()

    def take(self) -> Task | None:
        """Remove and return the largest task. If there is none, wait for one; return None after `PATIENCE` seconds."""
        if not self._waiting:
            with self._more:
                self._more.wait_for(lambda: self._lines, PATIENCE)
        with self._more:
            lines, self._lines = self._lines, []
        self._waiting = sorted([*self._waiting, *map(_task, lines)], key=lambda task: task.size)
        return self._waiting.pop() if self._waiting else None


def _task(line: str) -> Task:
    from cardan.jit.cache.fingerprint import code_size

    layout, precision, *names = line.split()
    form = Form(layout, precision)
    stages, called = (_named(words) for words in (*names, NOBODY)[:2])
    size = sum(code_size(entry_of(stage)) for stage in stages)
    if len(names) == 1:
        return Task(size, partial(compile_if_free, entry_of(stages[0]), form))
    from cardan.jit.cache.gpu_code import gpu_source

    return Task(size, partial(gpu_source, stages, form, called, wait=False))


def _named(words: str) -> list[Callable[..., Any]]:
    """Return the functions in a list ``module:function,module:function``."""
    pairs = [word.split(":") for word in words.split(",") if word != NOBODY]
    return [getattr(importlib.import_module(module), function) for module, function in pairs]


def main() -> None:
    """Compile the stages that standard input requests, then end the process."""
    from cardan.jit.front.compile import KernelError
    from cardan.jit.target.ptx import PtxError

    def read_to_the_end() -> None:
        tasks.read(sys.stdin.buffer)
        with disk.WRITING:
            os._exit(0)

    tasks = Tasks()
    threading.Thread(target=read_to_the_end, daemon=True).start()
    while (task := tasks.take()) is not None:
        try:
            task.make()
        except (KernelError, PtxError):
            continue  # the requesting process compiles this stage, too, and reports the error
    with disk.WRITING:
        os._exit(0)  # the thread still reads: Python would wait for its lock on the stream
