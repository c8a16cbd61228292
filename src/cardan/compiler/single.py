"""Functions of the C library in single precision.

NumPy's functions round differently on different processors; those of the C library give the same bits on all of them.
"""

from __future__ import annotations

import ctypes
import sys
from functools import cache
from typing import Any


@cache
def _arctan2() -> Any:
    function = ctypes.CDLL("ucrtbase" if sys.platform == "win32" else None).atan2f
    function.restype, function.argtypes = ctypes.c_float, (ctypes.c_float, ctypes.c_float)
    return function


def arctan2(y: float, x: float) -> float:
    """Return the angle of the point (x, y) to the x axis (rad). All values are in single precision."""
    return _arctan2()(y, x)
