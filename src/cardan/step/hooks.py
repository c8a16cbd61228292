"""Callbacks as stages: functions that the user hangs into the pipeline (spec: simulation, simulation loop).

A function that is compiled (a Numba function, or a function marked with `cardan.jit.kernel`) becomes a stage like any
other: it runs natively, without the GIL, and sees the same views of model and data as the engine's own kernels. Any
other callable is wrapped with ctypes and gets the MjModel and MjData objects of the call that is running; an exception
that it raises stops the program and comes out of that call.
"""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from cardan.jit import CALLBACK_FAILED, OK, addresses, jit_enabled, stage
from cardan.jit.pointers import register_function
from cardan.jit.stage import is_kernel
from cardan.step.actuator_hooks import ADAPTERS, Adapter

_NATIVE = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_int64, ctypes.c_int64)


class _Running(threading.local):
    """What the thread is running: the objects that a callback gets, and the exception that it raised."""

    objects: tuple[Any, Any] | None = None
    error: BaseException | None = None


_running = _Running()


@dataclass(frozen=True, slots=True)
class Hook:
    """An installed callback.

    Attributes:
        function: what the user set.
        entry: the stage: a kernel, or the address of a native function.
        keep: the object that keeps that address valid.
    """

    function: Callable[..., Any]
    entry: Callable[..., Any] | int
    keep: Any = None

    @property
    def needs_objects(self) -> bool:
        """Whether it is a Python function, which must be given the MjModel and MjData objects."""
        return isinstance(self.entry, int)


class Hooks:
    """The callbacks installed in this process, by the place in the pipeline where they are called."""

    def __init__(self) -> None:
        self.installed: dict[str, Hook] = {}
        self.version = 0  # programs made for an older version don't hold any more

    def set(self, place: str, function: Callable[..., Any] | None) -> None:
        """Install a callback, or remove it with None.

        Raises:
            KernelError: it is meant to be compiled, and can't be.
        """
        if function is None:
            self.installed.pop(place, None)
        else:
            self.installed[place] = _hook(function, *ADAPTERS.get(place, (_same, _same)))
        self.version += 1

    def clear(self) -> None:
        """Remove all callbacks."""
        self.installed.clear()
        self.version += 1


hooks = Hooks()


def _same(function: Callable[..., Any]) -> Callable[..., Any]:
    """Most callbacks are functions of (m, d), as stages are."""
    return function


def _hook(function: Callable[..., Any], adapt_compiled: Adapter, adapt_python: Adapter) -> Hook:
    compiled = getattr(function, "py_func", function)
    if compiled is not function or is_kernel_function(function):
        entry = stage(adapt_compiled(compiled))
        addresses([entry])
        return Hook(function, entry)
    return _python_hook(function, adapt_python(function))


def is_kernel_function(function: Callable[..., Any]) -> bool:
    """Whether a callable is a plain function marked with `kernel` or `stage`."""
    return hasattr(function, "__code__") and is_kernel(function)


def _python_hook(function: Callable[..., Any], adapted: Callable[..., Any]) -> Hook:
    def call(_m: Any, _d: Any) -> int:
        try:
            adapted(*(_running.objects or ()))
        except BaseException as error:
            _running.error = error
            return CALLBACK_FAILED
        return OK

    if not jit_enabled:
        return Hook(function, register_function(call), call)
    native = _NATIVE(call)
    return Hook(function, ctypes.cast(native, ctypes.c_void_p).value or 0, native)


@contextmanager
def running(m: Any, d: Any) -> Iterator[None]:
    """While a program runs: the objects that Python callbacks of this thread get."""
    before = _running.objects
    _running.objects = (m, d)
    try:
        yield
    finally:
        _running.objects = before


def take_error() -> BaseException:
    """The exception that stopped the running program of this thread."""
    error, _running.error = _running.error, None
    return error or RuntimeError("a native callback returned the status CALLBACK_FAILED")
