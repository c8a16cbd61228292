"""32-bit numbers for kernels. A vector register holds twice as many 32-bit numbers as 64-bit numbers.

``single(x)`` rounds a number to single precision, and ``int32(x)`` converts it to a 32-bit integer; sums and products
of such numbers have the same type. For type checkers they are ordinary numbers.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from cardan.jit.driver.program import call, native_over

if TYPE_CHECKING:

    def single(value: float, /) -> float:
        """Round a number to single precision."""
        ...

    def int32(value: float, /) -> int:
        """Truncate a number to a 32-bit integer."""
        ...

else:
    from numpy import float32 as single
    from numpy import int32

ZERO = single(0.0)
HALF = single(0.5)
ONE = single(1.0)
TWO = single(2.0)
picture_stage = native_over("Assets", "Frame", side_by_side=True)
"""Decorator for kernels with the arguments ``(a, f, i, j)``: assets, picture and two integers. `call` runs them
natively."""

__all__ = ["HALF", "ONE", "TWO", "ZERO", "call", "int32", "picture_stage", "single"]
