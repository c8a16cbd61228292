"""Programs: tables of stage addresses, and the small native driver that runs them.

The driver calls the stages of a program one after the other, a given number of times, without the GIL. If a stage
returns a status other than 0, the driver stops. The caller handles the request (enlarges the arena, or re-raises the
exception of a callback) and resumes at the same stage.

Native functions over other structures (images, files, trees over triangles) are not part of programs: they are called
one by one (`native_over`, `call`).
"""

from __future__ import annotations

import ctypes
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from typing import Any, TypeVar
from weakref import WeakKeyDictionary

import numpy as np

from cardan.jit.cache import store as disk
from cardan.jit.cache.progress import CompileProgress
from cardan.jit.driver.loader import Address, ctypes_function
from cardan.jit.front.stage import HERE, Abi, Entry, Form, entry_of, jit_enabled
from cardan.jit.front.stage import entry as mark_entry
from cardan.jit.memory.struct import StructMemory
from cardan.jit.memory.view import InterpretedView, call_stage, register_function
from cardan.threads import Locked

# native code of the stages in use, by form: it is unloaded when the last program that runs the stage, and its function,
# are gone
_Known = WeakKeyDictionary[Callable[..., Any], int]
_ADDRESSES: defaultdict[Form, _Known] = defaultdict(WeakKeyDictionary)
_LOADING = Locked()

PAUSED = -9
"""Status of a program that paused after a few milliseconds, before its end.

It is not a request: the caller checks whether the program should stop, for example because of a signal, and
resumes."""
SHORTEST, LONGEST = 0.004, 0.010
"""Limits of the time between two pauses, in seconds."""
MOST_PATIENCE = 1 << 40


def driver_module() -> Any:
    """Write the LLVM module of the driver: `run_program`, `run_block` and `resume_block`, which all return int64.

    - ``run_program(table, count, repeat, m, d, resume, patience)`` calls the `count` stages of a table with (m, d),
      `repeat` times. `resume` is the address of two words: the stage and the repetition to start with. If a stage stops
      the program, the indices of this stage and repetition are stored there. The program pauses after `patience`
      repetitions.
    - ``run_block(block, call, repeat)`` runs a program from the start. `block` is the address of the program's block
      (`Program.block_address`), and `call` that of the words of a data (`cardan.jit.binding.objects.Native`).
      ``resume_block`` takes the same arguments and continues where such a run stopped.
    """
    from cardan.jit.target.writer import Writer, new_module

    module = new_module("driver")
    w = Writer(module, "run_program", 7)
    run, b = w.function, w.builder
    table, count, repeat, m, d, resume, patience = w.arguments
    first_repeat = w.load(resume, 8)
    is_long = b.icmp_signed(">", b.sub(repeat, first_repeat), patience)
    end = b.select(is_long, b.add(first_repeat, patience), repeat)
    first_stage = w.variable(w.load(resume))
    with w.loop(end, first_repeat) as r:
        with w.loop(count, b.load(first_stage)) as k:
            status = w.call(w.load(w.row(table, k)), m, d)
            w.return_unless_zero(status, resume, k, r)
        b.store(w.constant(0), first_stage)
    w.return_if(is_long, w.constant(PAUSED), resume, w.constant(0), end)
    b.ret(w.constant(0))
    for name in ("resume_block", "run_block"):
        w = Writer(module, name, 3)
        block, call, repeat = w.arguments
        if name == "run_block":
            w.store(call, w.constant(0), w.constant(0))
        table, count, patience = (w.load(block, 8 * k) for k in range(3))
        m, d = (w.load(call, 8 * k) for k in (2, 3))
        w.builder.ret(w.builder.call(run, [table, count, repeat, m, d, call, patience]))
    return module


DRIVER_SYMBOLS = ("run_program", "run_block")
"""Symbols of the driver's functions that Python calls."""


def _driver_address(symbol: str) -> Any:
    from cardan.jit.cache.packaged import load_packaged
    from cardan.jit.driver.loader import load_assembly

    return load_packaged([(symbol, symbol)]).get(symbol) or load_assembly(symbol, str(driver_module()))


@cache
def _native_driver() -> Any:
    from cardan.jit.driver.loader import ctypes_function

    word = ctypes.c_int64
    return ctypes_function(_driver_address("run_program"), word, *([word] * 7))


@cache
def block_driver() -> Any:
    """Return the address of the driver for native callers.

    Its arguments are the address of a program's block, the address of the words of a data, and a number of repetitions.
    """
    return _driver_address("run_block")


def _native_addresses(entries: Sequence[Entry], form: Form) -> None:
    """Load the native code of entries from the package's archive, from the cache, or after compiling.

    The addresses are stored in `_ADDRESSES`.
    """
    known = _ADDRESSES[form]
    if form == HERE:
        from cardan.jit.cache.packaged import is_of_package, load_packaged

        packaged = load_packaged([(entry.name, entry.symbol) for entry in entries if is_of_package(entry.function)])
        known.update({entry.function: packaged[entry.name] for entry in entries if entry.name in packaged})
        entries = [entry for entry in entries if entry.name not in packaged]
    if entries:
        from cardan.jit.cache.fingerprint import fingerprint
        from cardan.jit.driver.loader import load_objects

        found = {entry: disk.read(entry.name, fingerprint(entry, form)) for entry in entries}
        warm = {entry: stored for entry, stored in found.items() if stored is not None}
        loaded = load_objects(list(warm.values()))
        known.update({entry.function: address for entry, address in zip(warm, loaded, strict=True)})
        cold = [entry for entry in entries if entry not in warm]
        if cold:
            _compile_cold(cold, form)


def _compile_cold(entries: Sequence[Entry], form: Form) -> None:
    """Compile and load stages. Stages that other processes are compiling are left to the end."""
    from cardan.jit.cache.helper import compile_if_free, compile_into_cache, help_with
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
    """Return symbol and object code of an entry: from the package, from the cache, or compiled now."""
    from cardan.jit.cache.packaged import is_of_package, packaged_object

    packaged = packaged_object(entry.name) if form == HERE and is_of_package(entry.function) else None
    if packaged is not None:
        return entry.symbol, packaged
    from cardan.jit.cache.fingerprint import fingerprint

    with _LOADING.lock:
        stored = disk.read(entry.name, fingerprint(entry, form))
        if stored is None:
            from cardan.jit.cache.helper import compile_into_cache

            with CompileProgress(1) as progress:
                progress.compiling(entry.name)
                stored = compile_into_cache(entry, form)
    return stored


def addresses(functions: Iterable[Callable[..., Any]], form: Form = HERE) -> list[int]:
    """Return the addresses of stages or colliders in a form; missing ones are loaded or compiled.

    If JIT is off, return the numbers of registered Python functions instead.
    """
    functions, known = list(functions), _ADDRESSES[form]
    with _LOADING.lock:
        missing = list({f: None for f in functions if f not in known})
        if missing and jit_enabled:
            _native_addresses([entry_of(f) for f in missing], form)
        for function in missing if not jit_enabled else ():
            known[function] = register_function(function)
    return [known[f] for f in functions]


def loaded_names() -> list[str]:
    """Return the names of all stages and colliders whose native code is loaded."""
    return sorted(entry_of(function).name for known in _ADDRESSES.values() for function in list(known))


class Program:
    """A sequence of stages, ready to run.

    Attributes:
        patience: number of repetitions between pauses; it is adapted to the time that repetitions take.
        block_address: address of the program's block, three words for native callers: address and length of the table,
            and the patience.

    Args:
        stages: stage functions, or addresses of native stages (callbacks), in order.
        form: form of their native code.
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
        """Run all stages `repeat` times; return 0, the status of the stage that stopped, or `PAUSED`.

        Args:
            m: model: an object with `address` (JIT on) and `view` (JIT off).
            d: data: an object with these attributes and the array `_resume`. The two words of this array receive the
                stage and the repetition that stopped, for `resume`. In memory, they are followed by the addresses of
                the slot tables of model and data (for `block_driver`).
            repeat: total number of repetitions.
        """
        d._resume[0] = 0
        d._resume[1] = 0
        return self.resume(m, d, repeat)

    def resume(self, m: Any, d: Any, repeat: int = 1) -> int:
        """Continue at the stage and the repetition at which `run` stopped. Return the same values as `run`."""
        if not jit_enabled:
            return self._interpret(m, d, repeat)
        patience, begin = self.patience, time.perf_counter()
        status = _native_driver()(self._address, self._count, repeat, m.address, d.address, d._resume_address, patience)
        if status == PAUSED:
            self.adapt(patience, time.perf_counter() - begin)
        return status

    def adapt(self, repetitions: int, seconds: float) -> None:
        """Choose the number of repetitions until the next pause, given that `repetitions` took `seconds`."""
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


F = TypeVar("F", bound=Callable[..., Any])


def native_over(first: str, second: str, *, side_by_side: bool = False) -> Callable[[F], F]:
    """Make a decorator for kernels that `call` runs natively, with two structures and two integers as arguments.

    Args:
        first: name of the first structure.
        second: name of the second structure.
        side_by_side: whether operations on adjacent numbers, such as the components of a colour, are vectorised.
    """
    abi = Abi(extra=("i8", "i8"), structs=(first, second), side_by_side=side_by_side)
    return lambda function: mark_entry(function, abi)


@cache
def _native(function: Callable[..., Any]) -> Any:
    address = addresses([function])[0]
    assert isinstance(address, Address)
    word = ctypes.c_int64
    return ctypes_function(address, word, word, word, word, word)


def call(function: Callable[..., Any], first: StructMemory, second: StructMemory, i: int = 0, j: int = 0) -> int:
    """Run `function`, decorated with `native_over`, without the GIL if it is native; return the kernel's result.

    The function's arguments are the structures `first` and `second` and the integers `i` and `j`.
    """
    if jit_enabled:
        return _native(function)(first.address, second.address, i, j)
    return int(function(InterpretedView(first), InterpretedView(second), i, j) or 0)
