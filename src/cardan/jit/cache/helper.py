"""Other processes that share the work while many stages are compiled cold.

The running process compiles its stages in order; the first helper starts from the other end, further ones, where
processors are free, in between. Whoever comes to a stage first holds its lock: helpers go on to their next one, the
running process waits and then finds it in the cache, so that a helper that dies, or never starts, costs nothing but
time.
"""

from __future__ import annotations

import importlib
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from cardan.jit.cache import store as disk
from cardan.jit.cache.fingerprint import fingerprint
from cardan.jit.front.form import HERE, Form
from cardan.jit.front.stage import Entry, entry_of

WORTH_IT = 4
"""Stages for each helper at least; starting one takes about as long as compiling two."""
MOST = 7
"""Helpers at most: kernels that several stages share are compiled by each process."""


def compile_into_cache(entry: Entry, form: Form = HERE) -> tuple[str, bytes]:
    """Compile a stage unless another process has done it meanwhile; returns symbol and object code."""
    key = fingerprint(entry, form)
    with disk.compile_lock(entry.name, key):
        return disk.read(entry.name, key) or _compiled(entry, form, key)


def compile_if_free(entry: Entry, form: Form) -> None:
    """Compile a stage into the cache unless it is there, or another process is at it."""
    key = fingerprint(entry, form)
    with disk.compile_lock(entry.name, key, wait=False) as free:
        if free and disk.read(entry.name, key) is None:
            _compiled(entry, form, key)


def _compiled(entry: Entry, form: Form, key: str) -> tuple[str, bytes]:
    from cardan.jit.front.compile import compile_entry

    made = compile_entry(entry, form)
    disk.write(entry.name, key, *made)
    return made


def helper_count(stages: int) -> int:
    """How many helpers are worth their start: at least one on two processors, more only on those that are idle."""
    affinity = getattr(os, "sched_getaffinity", None)
    processors = len(affinity(0)) if affinity else os.cpu_count() or 1
    busy = int(os.getloadavg()[0]) if hasattr(os, "getloadavg") else 0
    free = max(processors - 1 - busy, min(processors - 1, 1))
    return min(free, stages // WORTH_IT, MOST)


def shares(names: Sequence[str], helpers: int) -> list[list[str]]:
    """The order in which each helper goes through all stages: each from another place on, the first from the end."""
    backwards = list(reversed(names))
    starts = [len(backwards) * k // (helpers + 1) for k in range(helpers)]
    return [backwards[start:] + backwards[:start] for start in starts]


@contextmanager
def helping(entries: Sequence[Entry], form: Form = HERE) -> Iterator[None]:
    """Have helpers compile the package's own stages among `entries` while the body runs."""
    names = [f"{e.function.__module__}:{e.function.__qualname__}" for e in entries if _importable(e)]
    helpers = helper_count(len(names)) if disk.is_writable() else 0
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(p for p in sys.path if p)}
    command = [sys.executable, "-m", "cardan.jit.cache.helper", form.layout, form.precision]
    quiet = subprocess.DEVNULL
    running = [
        subprocess.Popen([*command, *share], env=environment, stdin=quiet, stdout=quiet, stderr=quiet)
        for share in shares(names, helpers)
    ]
    try:
        yield
    finally:
        for process in running:
            process.terminate()
        for process in running:
            process.wait()


def _importable(entry: Entry) -> bool:
    function = entry.function
    module = sys.modules.get(function.__module__)
    return function.__module__.startswith("cardan.") and getattr(module, function.__qualname__, None) is function


def main(words: Sequence[str]) -> None:
    """Compile, in the form that the first two words name, the stages named ``module:function``, in order."""
    layout, precision, *names = words
    form = Form(layout, precision)
    for name in names:
        module, _, function = name.partition(":")
        compile_if_free(entry_of(getattr(importlib.import_module(module), function)), form)


if __name__ == "__main__":
    main(sys.argv[1:])
