"""A second process that shares the work while many stages are compiled cold.

The running process compiles its stages in order; the helper starts from the other end. Whoever comes to a stage first
holds its lock, the other waits and then finds it in the cache, so that a helper that dies, or never starts, costs
nothing but time.
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


def compile_into_cache(entry: Entry, form: Form = HERE) -> tuple[str, bytes]:
    """Compile a stage unless another process has done it meanwhile; returns symbol and object code."""
    from cardan.jit.front.compile import compile_entry

    key = fingerprint(entry, form)
    with disk.compile_lock(entry.name, key):
        stored = disk.read(entry.name, key)
        if stored is None:
            stored = compile_entry(entry, form)
            disk.write(entry.name, key, *stored)
    return stored


@contextmanager
def helping(entries: Sequence[Entry], form: Form = HERE) -> Iterator[None]:
    """Have a helper process compile the package's own stages among `entries`, the last first, while the body runs."""
    names = [f"{e.function.__module__}:{e.function.__qualname__}" for e in entries if _importable(e)]
    if len(names) < WORTH_IT or (os.cpu_count() or 1) < 2 or not disk.is_writable():
        yield
        return
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(p for p in sys.path if p)}
    process = subprocess.Popen(
        [sys.executable, "-m", "cardan.jit.cache.helper", form.layout, form.precision, *reversed(names)],
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        yield
    finally:
        process.terminate()
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
        compile_into_cache(entry_of(getattr(importlib.import_module(module), function)), form)


if __name__ == "__main__":
    main(sys.argv[1:])
