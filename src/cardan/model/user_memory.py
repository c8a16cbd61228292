"""Memory of models, data and scenes from functions of the user: ``set_mju_user_malloc``, ``set_mju_user_free``.

The functions are C functions (made by ctypes). They provide the buffers that a new model or data has from the start,
and geoms and lights of scenes. Arrays that grow later, and models in batches, get their memory from NumPy.
"""

from __future__ import annotations

import ctypes
import sys
import weakref
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np

from cardan.jit.memory.fields import Struct
from cardan.jit.memory.layout import layout_of

ALIGNMENT = 64
"""Addresses of buffers are multiples of this number of bytes."""


class _Functions:
    """The installed functions, or None. `malloc` takes a number of bytes, `free` an address."""

    malloc: Callable[[int], Any] | None = None
    free: Callable[[int], Any] | None = None


functions = _Functions()


def user_buffers(struct: Struct, growable: Iterable[str], sizes: Mapping[str, int]) -> dict[str | None, np.ndarray]:
    """Return buffers, filled with 0, for a structure: by capacity (None: arrays of fixed size).

    Without a user's function, the result is empty.
    """
    if functions.malloc is None:
        return {}
    capacities = frozenset(growable)
    return {
        capacity: _buffer(functions.malloc, layout_of(struct, capacities, capacity, sizes).nbytes)
        for capacity in (None, *capacities)
    }


def zeros(count: int, dtype: np.dtype) -> np.ndarray:
    """Return `count` elements filled with 0, in memory of the user's function if there is one."""
    if functions.malloc is None:
        return np.zeros(count, dtype)
    return _buffer(functions.malloc, count * dtype.itemsize).view(dtype)


def _buffer(malloc: Callable[[int], Any], nbytes: int) -> np.ndarray:
    """Return zeroed bytes from `malloc`. They are freed with the last array that uses them.

    Raises:
        MemoryError: `malloc` returned a null pointer.
    """
    room = nbytes + ALIGNMENT
    address = malloc(room)
    if not address:
        raise MemoryError(f"mju_user_malloc returned no memory for {room} bytes")
    block = (ctypes.c_uint8 * room).from_address(address)
    freed = weakref.finalize(block, _free, address)
    freed.atexit = False  # the functions may be gone when the process ends
    start = -address % ALIGNMENT
    array = np.ndarray((nbytes,), np.uint8, block, start)  # type: ignore[arg-type]
    array[:] = 0
    return array


def _free(address: int) -> None:
    free = functions.free
    if free is None:
        library = ctypes.CDLL("ucrtbase") if sys.platform == "win32" else ctypes.CDLL(None)
        free = library.free
        free.argtypes, free.restype = [ctypes.c_void_p], None
    free(address)
