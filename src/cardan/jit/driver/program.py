"""Programs: tables of stage addresses, walked by a tiny native driver.

The driver calls the stages of a program one after the other, as often as asked, without the GIL. A stage that returns a
status other than 0 stops it: the caller deals with the request (enlarge the arena, re-raise a callback's exception) and
resumes at the stage that asked.
"""

from __future__ import annotations

import ctypes
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from cardan.jit.cache import store as disk
from cardan.jit.cache.progress import CompileProgress
from cardan.jit.front.form import HERE, Form
from cardan.jit.front.pointers import call_stage, register_function
from cardan.jit.front.stage import Entry, entry_of
from cardan.jit.mode import jit_enabled
from cardan.threads import Locked

# native code of the stages in use, by form: it is unloaded when the last program that runs the stage, and its function,
# are gone
_Known = WeakKeyDictionary[Callable[..., Any], int]
_ADDRESSES: defaultdict[Form, _Known] = defaultdict(WeakKeyDictionary)
_LOADING = Locked()

PAUSED = -9
"""Status of a program that stopped after as many repetitions as take a few milliseconds, with more to do.

Nothing is asked for: the caller looks whether it should stop, because of a signal say, and resumes.
"""
SHORTEST, LONGEST = 0.004, 0.010
"""Time from pause to pause, s."""
MOST_PATIENCE = 1 << 40

RUN_PROGRAM = f"""
define i64 @run_program(i64* %table, i64 %count, i64 %repeat, i64 %m, i64 %d, i64* %resume, i64 %patience) {{
entry:
  %stage_at = getelementptr i64, i64* %resume, i64 0
  %repeat_at = getelementptr i64, i64* %resume, i64 1
  %first_stage = load i64, i64* %stage_at
  %first_repeat = load i64, i64* %repeat_at
  %left = sub i64 %repeat, %first_repeat
  %is_long = icmp sgt i64 %left, %patience
  %pause = add i64 %first_repeat, %patience
  %end = select i1 %is_long, i64 %pause, i64 %repeat
  br label %outer
outer:
  %r = phi i64 [ %first_repeat, %entry ], [ %r_next, %outer_next ]
  %k0 = phi i64 [ %first_stage, %entry ], [ 0, %outer_next ]
  %more = icmp slt i64 %r, %end
  br i1 %more, label %inner, label %finished
inner:
  %k = phi i64 [ %k0, %outer ], [ %k_next, %inner_next ]
  %inside = icmp slt i64 %k, %count
  br i1 %inside, label %call, label %outer_next
call:
  %slot = getelementptr i64, i64* %table, i64 %k
  %address = load i64, i64* %slot
  %stage = inttoptr i64 %address to i64 (i64, i64)*
  %status = call i64 %stage(i64 %m, i64 %d)
  %good = icmp eq i64 %status, 0
  br i1 %good, label %inner_next, label %stopped
inner_next:
  %k_next = add i64 %k, 1
  br label %inner
outer_next:
  %r_next = add i64 %r, 1
  br label %outer
stopped:
  store i64 %k, i64* %stage_at
  store i64 %r, i64* %repeat_at
  ret i64 %status
finished:
  br i1 %is_long, label %paused, label %done
paused:
  store i64 0, i64* %stage_at
  store i64 %r, i64* %repeat_at
  ret i64 {PAUSED}
done:
  ret i64 0
}}
"""

_RUN_BLOCK = """
define i64 @resume_block(i64* %program, i64* %call, i64 %repeat) {
  %table_word = load i64, i64* %program
  %table = inttoptr i64 %table_word to i64*
  %count_at = getelementptr i64, i64* %program, i64 1
  %count = load i64, i64* %count_at
  %m_at = getelementptr i64, i64* %call, i64 2
  %m = load i64, i64* %m_at
  %d_at = getelementptr i64, i64* %call, i64 3
  %d = load i64, i64* %d_at
  %patience_at = getelementptr i64, i64* %program, i64 2
  %patience = load i64, i64* %patience_at
  %status = call i64 @run_program(
    i64* %table, i64 %count, i64 %repeat, i64 %m, i64 %d, i64* %call, i64 %patience
  )
  ret i64 %status
}

define i64 @run_block(i64* %program, i64* %call, i64 %repeat) {
  %repeat_at = getelementptr i64, i64* %call, i64 1
  store i64 0, i64* %call
  store i64 0, i64* %repeat_at
  %status = call i64 @resume_block(i64* %program, i64* %call, i64 %repeat)
  ret i64 %status
}
"""


DRIVER = RUN_PROGRAM + _RUN_BLOCK
DRIVER_SYMBOLS = ("run_program", "run_block")
"""The functions of the driver that Python calls."""


def _driver_address(symbol: str) -> Any:
    from cardan.jit.cache.packaged import load_packaged
    from cardan.jit.driver.loader import load_assembly

    return load_packaged([(symbol, symbol)]).get(symbol) or load_assembly(symbol, DRIVER)


@cache
def _native_driver() -> Any:
    from cardan.jit.driver.loader import ctypes_function

    word = ctypes.c_int64
    return ctypes_function(_driver_address("run_program"), word, *([word] * 7))


@cache
def block_driver() -> Any:
    """Address of the driver for native callers: (block of a program, words of a data, repetitions) -> status."""
    return _driver_address("run_block")


def _native_addresses(entries: Sequence[Entry], form: Form) -> None:
    if form != HERE:
        _cached_addresses(entries, form)
        return
    from cardan.jit.cache.packaged import is_of_package, load_packaged

    packaged = load_packaged([(entry.name, entry.symbol) for entry in entries if is_of_package(entry.function)])
    others: list[Entry] = []
    for entry in entries:
        if entry.name in packaged:
            _ADDRESSES[form][entry.function] = packaged[entry.name]
        else:
            others.append(entry)
    if others:
        _cached_addresses(others, form)


def _cached_addresses(entries: Sequence[Entry], form: Form) -> None:
    from cardan.jit.cache.fingerprint import fingerprint
    from cardan.jit.driver.loader import load_objects

    cold: list[Entry] = []
    warm: dict[Entry, tuple[str, bytes]] = {}
    for entry in entries:
        stored = disk.read(entry.name, fingerprint(entry, form))
        if stored is None:
            cold.append(entry)
        else:
            warm[entry] = stored
    for entry, address in zip(warm, load_objects(list(warm.values())), strict=True):
        _ADDRESSES[form][entry.function] = address
    if cold:
        _compile_cold(cold, form)


def _compile_cold(entries: Sequence[Entry], form: Form) -> None:
    """Compile stages, or wait for other processes that do; those last."""
    from cardan.jit.cache.helper import help_with
    from cardan.jit.cache.once import compile_if_free, compile_into_cache
    from cardan.jit.driver.loader import load_object

    help_with(entries, form)
    with CompileProgress(len(entries)) as progress:
        for compiled in (compile_if_free, compile_into_cache):
            for entry in entries:
                if entry.function not in _ADDRESSES[form]:
                    progress.show(entry.name)
                    made = compiled(entry, form)
                    if made is not None:
                        _ADDRESSES[form][entry.function] = load_object(*made)
                        progress.advance(1)


def stored_object(entry: Entry, form: Form = HERE) -> tuple[str, bytes]:
    """Symbol and object code of an entry: those of the package, from the cache, or compiled now."""
    from cardan.jit.cache.packaged import is_of_package, packaged_object

    packaged = packaged_object(entry.name) if form == HERE and is_of_package(entry.function) else None
    if packaged is not None:
        return entry.symbol, packaged
    from cardan.jit.cache.fingerprint import fingerprint

    with _LOADING.lock:
        stored = disk.read(entry.name, fingerprint(entry, form))
        if stored is None:
            from cardan.jit.cache.once import compile_into_cache

            with CompileProgress(1) as progress:
                progress.compiling(entry.name)
                stored = compile_into_cache(entry, form)
    return stored


def addresses(functions: Iterable[Callable[..., Any]], form: Form = HERE) -> list[int]:
    """Addresses of stages or colliders in a form, loading or compiling those that aren't there yet."""
    functions, known = list(functions), _ADDRESSES[form]
    with _LOADING.lock:
        missing = list({f: None for f in functions if f not in known})
        if missing and jit_enabled:
            _native_addresses([entry_of(f) for f in missing], form)
        for function in missing if not jit_enabled else ():
            known[function] = register_function(function)
    return [known[f] for f in functions]


def loaded_names() -> list[str]:
    """Names of the stages and colliders whose native code is loaded."""
    return sorted(entry_of(function).name for known in _ADDRESSES.values() for function in list(known))


class Program:
    """A sequence of stages, ready to run.

    Attributes:
        patience: repetitions from pause to pause; it adapts to how long they take.
        block_address: address of what native callers need: the table, its length, and the patience.

    Args:
        stages: stage functions, or addresses of native stages (callbacks), in order.
        form: what native code is made of them.
    """

    def __init__(self, stages: Iterable[Callable[..., Any] | int], form: Form = HERE) -> None:
        self.stages = list(stages)
        self.form = form
        functions = [s for s in self.stages if not isinstance(s, int)]
        known = dict(zip(functions, addresses(functions, form), strict=True))
        table = [s if isinstance(s, int) else known[s] for s in self.stages]
        self.table = np.array(table, np.int64)
        self._address = self.table.ctypes.data
        self._count = len(table)
        self.patience = 1
        self._block = np.array([self._address, self._count, self.patience], np.int64)
        self.block_address = self._block.ctypes.data

    def run(self, m: Any, d: Any, repeat: int = 1) -> int:
        """Run all stages `repeat` times; returns 0, the status of the stage that stopped, or `PAUSED`.

        Args:
            m: model: an object with `address` (JIT on) and `view` (JIT off).
            d: data, likewise; its `_resume` keeps the stage and the repetition that stopped, for `resume`. In memory,
                the addresses of its model and of itself follow (for `block_driver`).
            repeat: number of repetitions in all.
        """
        d._resume[0] = 0
        d._resume[1] = 0
        return self.resume(m, d, repeat)

    def resume(self, m: Any, d: Any, repeat: int = 1) -> int:
        """Go on at the stage and the repetition that `run` stopped at."""
        if not jit_enabled:
            return self._interpret(m, d, repeat)
        patience, begin = self.patience, time.perf_counter()
        status = _native_driver()(self._address, self._count, repeat, m.address, d.address, d._resume_address, patience)
        if status == PAUSED:
            self.adapt(patience, time.perf_counter() - begin)
        return status

    def adapt(self, repetitions: int, seconds: float) -> None:
        """Choose the repetitions up to the next pause, given how long those up to the last one took."""
        if seconds < SHORTEST:
            self.patience = min(2 * repetitions, MOST_PATIENCE)
        elif seconds > LONGEST:
            self.patience = max(1, int(repetitions * LONGEST / seconds))
        self._block[2] = self.patience

    def _interpret(self, m: Any, d: Any, repeat: int) -> int:
        first = int(d._resume[0])
        for r in range(int(d._resume[1]), repeat):
            for k in range(first, self._count):
                status = call_stage(int(self.table[k]), m.view, d.view)
                if status:
                    d._resume[:] = k, r
                    return status
            first = 0
        return 0
