"""Structures and calls in the interpreter (JIT off).

Views have the same attributes as native views, and refer to the same memory. All indices are checked: negative or too
large indices raise `IndexError`. In the interpreter, kernels can thus be debugged, and their array bounds checked.

Functions that call by address, and functions that make small arrays on the stack, have two bodies. The Python body
below is for the interpreter; the body for compiled code is in `cardan.jit.front.native`. An *address* is a number: a
machine address with JIT on, the number of a registered Python function with JIT off. These functions are not marked as
kernels: their native bodies are registered under the functions themselves.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from cardan.jit.memory.struct import StructMemory


class CheckedArray:
    """Element-wise access to an array field. Each access checks the bounds; negative indices are out of bounds."""

    __slots__ = ("_array", "_name", "_readonly", "_view")

    def __init__(self, name: str, array: Any, readonly: bool) -> None:
        self._name = name
        self._array = array
        self._view = memoryview(array)
        self._readonly = readonly

    def __len__(self) -> int:
        return self._array.shape[0]

    def _check(self, index: Any) -> None:
        indices = index if isinstance(index, tuple) else (index,)
        if len(indices) != self._array.ndim:
            raise IndexError(f"{self._name}: {len(indices)} indices for {self._array.ndim} dimensions")
        for k, n in zip(indices, self._array.shape, strict=True):
            if not 0 <= k < n:
                raise IndexError(f"{self._name}{list(indices)}: out of bounds for shape {self._array.shape}")

    def __getitem__(self, index: Any) -> Any:
        self._check(index)
        return self._view[index]

    def __setitem__(self, index: Any, value: Any) -> None:
        if self._readonly:
            raise TypeError(f"{self._name}: stages may not write to the model")
        self._check(index)
        self._array[index] = value


class InterpretedView:
    """Attribute access to the fields of one instance, for stages that run in the interpreter."""

    def __init__(self, memory: StructMemory, prefix: str = "") -> None:
        struct = memory.struct
        fields = self.__dict__
        scalars: dict[str, Any] = {}
        for field in struct.members(prefix):
            short = field.name[len(prefix) :]
            if field.is_scalar:
                scalars[short] = memory.scalars[field.name]
            elif field.name in memory.arrays:  # an attached array may not exist yet
                fields[short] = CheckedArray(field.name, memory.arrays[field.name], struct.readonly)
        for group in struct.prefixes:
            if group.startswith(prefix) and group != prefix and "." not in group[len(prefix) : -1]:
                fields[group[len(prefix) : -1]] = InterpretedView(memory, group)
        fields["_scalars"] = scalars
        fields["_readonly"] = struct.readonly

    def __getattr__(self, name: str) -> Any:
        try:
            return self.__dict__["_scalars"][name].item()
        except KeyError:
            raise AttributeError(f"no field {name!r}") from None

    def __setattr__(self, name: str, value: Any) -> None:
        if name not in self._scalars:
            raise AttributeError(f"no scalar field {name!r} to set")
        if self._readonly:
            raise TypeError(f"{name}: stages may not write to the model")
        self._scalars[name][0] = value


_FUNCTIONS: list[Callable[..., Any]] = []


def register_function(function: Callable[..., Any]) -> int:
    """Register a Python function; return its number (never 0), by which `call_collider` and `call_stage` call it.

    This is used only if JIT is off.
    """
    if function not in _FUNCTIONS:
        _FUNCTIONS.append(function)
    return _FUNCTIONS.index(function) + 1


def call_collider(address: int, m: Any, d: Any, geom1: int, geom2: int) -> int:
    """Call the collision function at `address` (not 0) for `geom1` and `geom2`; return its number of contacts."""
    return _FUNCTIONS[address - 1](m, d, geom1, geom2)


def call_stage(address: int, m: Any, d: Any) -> int:
    """Call the stage at `address` (not 0); return its status."""
    return _FUNCTIONS[address - 1](m, d) or 0


def stack_array(n: int) -> Any:
    """Make an uninitialised array of `n` float64 on the stack of the running function; `n` is a literal number."""
    return CheckedArray("stack_array", np.zeros(n), False)


def stack_int_array(n: int) -> Any:
    """Make an uninitialised array of `n` int64 on the stack of the running function; `n` is a literal number."""
    return CheckedArray("stack_int_array", np.zeros(n, np.int64), False)
