"""Calling native functions through their addresses, and small arrays on the stack.

The functions here have two bodies: the Python one below runs in the interpreter; `cardan.jit.front.native` gives the
one that compiled code uses. An *address* is a number either way: a machine address with JIT on, the number of a
registered Python function with JIT off. They are not marked as kernels: their native bodies are registered under the
functions themselves.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from cardan.jit.memory.view import CheckedArray

_FUNCTIONS: list[Callable[..., Any]] = []


def register_function(function: Callable[..., Any]) -> int:
    """Number (never 0) under which `call_collider` and `call_stage` find a Python function when JIT is off."""
    if function not in _FUNCTIONS:
        _FUNCTIONS.append(function)
    return _FUNCTIONS.index(function) + 1


def call_collider(address: int, m: Any, d: Any, geom1: int, geom2: int) -> int:
    """Call the collision function at `address` (not 0) for two geoms; returns its number of contacts."""
    return _FUNCTIONS[address - 1](m, d, geom1, geom2)


def call_stage(address: int, m: Any, d: Any) -> int:
    """Call the stage at `address` (not 0); returns its status."""
    return _FUNCTIONS[address - 1](m, d) or 0


def stack_array(n: int) -> Any:
    """An uninitialised array of `n` float64 on the stack of the running function; `n` is a literal number."""
    return CheckedArray("stack_array", np.zeros(n), False)


def stack_int_array(n: int) -> Any:
    """An uninitialised array of `n` int64 on the stack of the running function; `n` is a literal number."""
    return CheckedArray("stack_int_array", np.zeros(n, np.int64), False)
