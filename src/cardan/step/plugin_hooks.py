"""Functions of plugins as native functions of model, data, instance and an argument.

A compiled function becomes a native function of its own; a Python function is called through ctypes and gets the
MjModel and MjData objects.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from cardan.jit import OK, kernel
from cardan.model.kernel_views import Data, Model

Adapter = Callable[[Callable[..., Any]], Callable[..., Any]]


def _label(function: Callable[..., Any]) -> str:
    """Return the module and name of a function, as part of a name."""
    return f"{function.__module__}_{function.__qualname__}".replace(".", "_")


def _native_compute(function: Callable[..., Any]) -> Callable[..., Any]:
    kernel(function)

    def plugin_compute(m: Model, d: Data, instance: int, capability: int) -> int:
        function(m, d, instance, capability)
        return OK

    plugin_compute.__qualname__ = f"compute_{_label(function)}"
    return plugin_compute


def _native_call(function: Callable[..., Any]) -> Callable[..., Any]:
    kernel(function)

    def plugin_call(m: Model, d: Data, instance: int, argument: int) -> int:
        function(m, d, instance)
        return OK

    plugin_call.__qualname__ = f"call_{_label(function)}"
    return plugin_call


def _python_compute(function: Callable[..., Any]) -> Callable[..., Any]:
    def plugin_compute(m: Any, d: Any, instance: int, capability: int) -> int:
        function(m, d, instance, capability)
        return OK

    return plugin_compute


def _python_call(function: Callable[..., Any]) -> Callable[..., Any]:
    def plugin_call(m: Any, d: Any, instance: int, argument: int) -> int:
        function(m, d, instance)
        return OK

    return plugin_call


# place: conversions of a compiled and of a Python function to a function of (m, d, instance, argument)
ADAPTERS: dict[str, tuple[Adapter, Adapter]] = {
    "plugin_compute": (_native_compute, _python_compute),
    "plugin_call": (_native_call, _python_call),
}
