"""Native functions of the renderer: kernels of ``(assets, frame, i, j)``."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from functools import cache
from typing import Any, TypeVar

from cardan.jit import Abi, StructMemory, addresses, entry, jit_enabled
from cardan.jit.driver.loader import Address, ctypes_function
from cardan.jit.memory.view import InterpretedView

F = TypeVar("F", bound=Callable[..., Any])

PICTURE_ABI = Abi(extra=("i8", "i8"), structs=("Assets", "Frame"))


def picture_stage(function: F) -> F:
    """Mark a kernel of ``(a, f, i, j)`` as a function that `call` runs natively."""
    return entry(function, PICTURE_ABI)


@cache
def _native(function: Callable[..., Any]) -> Any:
    address = addresses([function])[0]
    assert isinstance(address, Address)
    word = ctypes.c_int64
    return ctypes_function(address, word, word, word, word, word)


def call(function: Callable[..., Any], assets: StructMemory, frame: StructMemory, i: int = 0, j: int = 0) -> int:
    """Run a stage of the renderer; native code runs without the GIL. Returns what the stage returns."""
    if jit_enabled:
        return _native(function)(assets.address, frame.address, i, j)
    return int(function(InterpretedView(assets), InterpretedView(frame), i, j) or 0)
