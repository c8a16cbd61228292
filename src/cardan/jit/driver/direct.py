"""Native functions over any two structures, called one by one from Python: kernels of ``(a, b, i, j)``.

Stages belong to programs over a model and its data. What the package does elsewhere (pictures, files, trees over
triangles) has structures of its own, and calls its kernels itself.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from functools import cache
from typing import Any, TypeVar

from cardan.jit.driver.loader import Address, ctypes_function
from cardan.jit.driver.program import addresses
from cardan.jit.front.stage import Abi, entry
from cardan.jit.memory.struct import StructMemory
from cardan.jit.memory.view import InterpretedView
from cardan.jit.mode import jit_enabled

F = TypeVar("F", bound=Callable[..., Any])


def native_over(first: str, second: str, *, side_by_side: bool = False) -> Callable[[F], F]:
    """Mark kernels of two structures, given by their names, and two integers as functions that `call` runs natively.

    Args:
        first: name of one structure.
        second: name of the other.
        side_by_side: whether numbers that stand side by side, as those of a colour, are to become vectors, too.
    """
    abi = Abi(extra=("i8", "i8"), structs=(first, second), side_by_side=side_by_side)
    return lambda function: entry(function, abi)


@cache
def _native(function: Callable[..., Any]) -> Any:
    address = addresses([function])[0]
    assert isinstance(address, Address)
    word = ctypes.c_int64
    return ctypes_function(address, word, word, word, word, word)


def call(function: Callable[..., Any], first: StructMemory, second: StructMemory, i: int = 0, j: int = 0) -> int:
    """Run such a function; native code runs without the GIL. Returns what the kernel returns."""
    if jit_enabled:
        return _native(function)(first.address, second.address, i, j)
    return int(function(InterpretedView(first), InterpretedView(second), i, j) or 0)
