"""Callbacks as stages: user functions in the pipeline (spec: simulation, simulation loop).

A compiled function (a Numba function, or a function marked with `cardan.jit.kernel`) becomes an ordinary stage. It runs
natively, without the GIL, and gets the same views of model and data as the engine's own kernels. Any other callable is
wrapped with ctypes and gets the MjModel and MjData objects of the running call. If the callable raises an exception,
the program stops, and the running call raises that exception.
"""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from cardan.jit import CALLBACK_FAILED, OK, addresses, collider, jit_enabled, stage
from cardan.jit.binding.functions import escaped, guarded
from cardan.jit.driver.loader import Address
from cardan.jit.front.stage import is_kernel
from cardan.jit.memory.view import register_function
from cardan.model import internals
from cardan.step.adapters import ADAPTERS, OF_PAIRS

if TYPE_CHECKING:
    from cardan.model.mjmodel import MjModel

# an example of a variant, for each place that has variants
EXAMPLES: dict[str, tuple[Any, ...]] = {"sensor": (1,), "time": (0, True)}

_WORD = ctypes.c_int64
_NATIVE = ctypes.CFUNCTYPE(_WORD, _WORD, _WORD)
_NATIVE_OF_PAIRS = ctypes.CFUNCTYPE(_WORD, _WORD, _WORD, _WORD, _WORD)


class _Running(threading.local):
    """State of a thread: the model and data that callbacks get, and the exception that a callback raised."""

    objects: tuple[Any, Any] | None = None
    error: BaseException | None = None


running = _Running()


class Hook:
    """An installed callback: a place in the pipeline where it is called, and the function that the user set."""

    def __init__(self, place: str, function: Callable[..., Any]) -> None:
        self.function = function
        self._of_pairs = place in OF_PAIRS
        self._adapt_compiled, self._adapt_python = ADAPTERS.get(place, (lambda function: function,) * 2)
        self._entries: dict[tuple[Any, ...], Callable[..., Any] | int] = {}

    def entry(self, *variant: Any) -> Callable[..., Any] | int:
        """Return the callback as a stage: a kernel, or the address of a native function.

        Args:
            variant: arguments that select one of the places where this callback is called (a stage, a timer).

        Raises:
            KernelError: the function is marked for compilation, but cannot be compiled.
        """
        if variant not in self._entries:
            compiled = getattr(self.function, "py_func", self.function)
            if compiled is not self.function or is_kernel_function(self.function):
                entry = (collider if self._of_pairs else stage)(self._adapt_compiled(compiled, *variant))
                addresses([entry])
            else:
                entry = _python_entry(self._adapt_python(self.function, *variant), self._of_pairs)
            self._entries[variant] = entry
        return self._entries[variant]


class Hooks:
    """Callbacks of the process, or of one model, by the place in the pipeline where they are called.

    If a callback is set or removed, all programs of the process become invalid. Other models may be affected
    too: models of a batch share the callbacks of the model from which the batch was made.
    """

    _version = np.zeros(1, np.int64)  # native code reads it, too
    version_address = _version.ctypes.data

    def __init__(self) -> None:
        self.installed: dict[str, Hook] = {}
        self.colliders: dict[tuple[int, int], Hook] = {}

    @property
    def version(self) -> int:
        """Version number that all `Hooks` objects share. Each change increments it, and invalidates older programs."""
        return self._version.item()

    def set(self, place: str, function: Callable[..., Any] | None) -> None:
        """Install a callback, or remove it with None.

        Raises:
            KernelError: the function is marked for compilation, but cannot be compiled.
        """
        self._put(self.installed, place, place, function)

    def set_collider(self, types: tuple[int, int], function: Callable[..., Any] | None) -> None:
        """Install a collision function for two geom types, the lower first, or remove it with None. Raises as `set`."""
        self._put(self.colliders, types, "collider", function)

    def _put(self, table: dict[Any, Hook], key: Any, place: str, function: Callable[..., Any] | None) -> None:
        """Change a callback in a table, and invalidate all existing programs."""
        if function is None:
            table.pop(key, None)
        else:
            hook = Hook(place, function)
            hook.entry(*EXAMPLES.get(place, ()))
            table[key] = hook
        self._version[0] += 1

    def get(self, place: str) -> Callable[..., Any] | None:
        """Return the callback that the user set for a place, or None."""
        hook = self.installed.get(place)
        return hook.function if hook else None

    def clear(self) -> None:
        """Remove all callbacks except collision functions."""
        self.installed.clear()
        self._version[0] += 1


hooks = Hooks()


def hooks_of(m: MjModel) -> Hooks:
    """Return the callbacks set for one model, which override those of the process. Copies do not inherit them."""
    kept = internals.kept(m)
    return kept["hooks"] if "hooks" in kept else kept.setdefault("hooks", Hooks())


def share_hooks(new: MjModel, m: MjModel) -> MjModel:
    """Let model `new` share the current and future callbacks of model `m`; return `new`."""
    internals.kept(new)["hooks"] = hooks_of(m)
    return new


def installed_hooks(m: MjModel) -> dict[str, Hook]:
    """Return all callbacks that a model's pipeline calls, by place: its own, and those of the process."""
    return {**hooks.installed, **hooks_of(m).installed}


def python_places(m: MjModel) -> list[str]:
    """Return the places in a model's pipeline at which Python functions are called."""
    found = installed_hooks(m).items()
    return [place for place, hook in found if isinstance(hook.entry(*EXAMPLES.get(place, ())), int)]


def colliders_of(m: MjModel) -> dict[tuple[int, int], Callable[..., Any] | int]:
    """Return the user's collision functions for a model by geom types: those of the model, and those of the process."""
    own = internals.kept(m).get("hooks")
    return {types: hook.entry() for types, hook in {**hooks.colliders, **(own.colliders if own else {})}.items()}


class Callbacks(NamedTuple):
    """The callbacks of a model's pipeline by place, and the user's collision functions by geom types."""

    at: Mapping[str, Hook]
    colliders: Mapping[tuple[int, int], Callable[..., Any] | int]

    @property
    def contact_filter(self) -> dict[int, Callable[..., Any] | int]:
        """Function table with the callback that filters pairs of geoms, at index 0; empty if none is installed."""
        return {0: self.at["contactfilter"].entry()} if "contactfilter" in self.at else {}


def callbacks_of(m: MjModel) -> Callbacks:
    """Return the callbacks that a model's pipeline calls now: the model's own, and those of the process."""
    return Callbacks(installed_hooks(m), colliders_of(m))


def is_kernel_function(function: Callable[..., Any]) -> bool:
    """Return whether a callable is a plain function marked with `kernel` or `stage`."""
    return hasattr(function, "__code__") and is_kernel(function)


class ObjectsMissing(Exception):
    """Error that a program without Python functions has called a Python function.

    This happens if another thread installs the function while the program runs.
    """


def _python_entry(adapted: Callable[..., Any], of_pairs: bool) -> int:
    """Return the address of a native function that calls a Python function.

    If `of_pairs` is set, the function gets the ids of two geoms, returns a result, and is called in the middle of a
    stage. Otherwise, it is called between two stages.
    """

    def call(_m: Any, _d: Any, *geoms: int) -> int:
        try:
            if running.objects is None:
                raise ObjectsMissing(
                    "a Python function was installed while a program without such functions was running"
                )
            m, d = running.objects
            if not of_pairs:
                adapted(m, d)
                return OK
            hold = internals.arena_hold(d)
            before = hold[0]
            try:
                hold[0] = True
                return adapted(m, d, *geoms)
            finally:
                hold[0] = before
        except BaseException as error:
            running.error = error
            return CALLBACK_FAILED

    if not jit_enabled:
        return register_function(call)
    native = (_NATIVE_OF_PAIRS if of_pairs else _NATIVE)(guarded(call))
    return Address(ctypes.cast(native, ctypes.c_void_p).value or 0, native)


def take_error() -> BaseException:
    """Return and clear the exception that stopped the running program of this thread."""
    error, running.error = running.error, None
    if error is None and escaped:
        error = escaped.pop()
    return RuntimeError("a native callback returned the status CALLBACK_FAILED") if error is None else error
