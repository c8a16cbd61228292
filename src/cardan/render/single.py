"""Numbers of 32 bits in kernels: what works on many pixels at once holds twice as many of them as of 64 bits.

``single(x)`` rounds a number to single precision, and ``int32(x)`` makes one an integer of 32 bits; sums and products
of such numbers remain so. To type checkers they are numbers like others.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:

    def single(value: float, /) -> float:
        """The number in single precision."""
        ...

    def int32(value: float, /) -> int:
        """The whole number, without fraction, in 32 bits."""
        ...

else:
    from numpy import float32 as single
    from numpy import int32

ZERO = single(0.0)
HALF = single(0.5)
ONE = single(1.0)
TWO = single(2.0)

__all__ = ["HALF", "ONE", "TWO", "ZERO", "int32", "single"]
