"""Conversion of kernels to single precision: every ``double`` in the code becomes ``float``.

The conversion works on the LLVM assembly that Numba's front end writes, before any optimisation. There, all addresses
are computed from types, so that sizes and offsets change with the types. No value of type ``double`` is left, so no
operation is accidentally done in double precision. Compiling the kernels for float32 arguments would not achieve this:
in Numba, the product of an integer and a float32 is a float64.

Constants are rounded, and tolerances are raised to the resolution of single precision (see `single_constant`).
"""

from __future__ import annotations

import re
import struct
from math import copysign, isfinite

_DOUBLE = re.compile(r"\bdouble\b")
_CONSTANT = re.compile(r"\b0x[0-9a-fA-F]{16}\b")
_INTRINSIC = re.compile(r"(@\"?llvm\.[\w.]+?)\.f64\b")
_FUNCTIONS = (
    *(
        "sin",
        "cos",
        "tan",
        "asin",
        "acos",
        "atan",
        "atan2",
        "sinh",
        "cosh",
        "tanh",
        "exp",
        "expm1",
        "exp2",
        "log",
        "log2",
    ),
    *(
        "log10",
        "log1p",
        "pow",
        "sqrt",
        "cbrt",
        "hypot",
        "erf",
        "erfc",
        "fmod",
        "fabs",
        "floor",
        "ceil",
        "round",
        "trunc",
    ),
    *("nearbyint", "rint", "fmin", "fmax", "copysign", "fma", "ldexp"),
)
_LIBRARY = re.compile(rf'@"?({"|".join(_FUNCTIONS)})"?(?=\()')
_CONVERSION = re.compile(r"\b(?:fpext|fptrunc) float (\S+) to float")
_DECLARATION = re.compile(r'^declare .*?(@"?[\w.$]+"?)\(.*$', re.MULTILINE)


RESOLUTION = 2.0**-21
"""Smallest tolerance in single precision: four times the spacing of numbers at 1."""
GUARD = 1e-15
"""Largest constant that is treated as a guard against division by zero (mjMINVAL, the spacing of numbers in double
precision), not as a tolerance."""
LARGEST = (2.0 - 2.0**-23) * 2.0**127


def single_constant(value: float) -> float:
    """Convert a constant, or a tolerance in a model's options, to single precision.

    A number between `GUARD` and `RESOLUTION` is a tolerance and becomes `RESOLUTION`. A number that differs from 1 by
    less than `RESOLUTION` becomes 1 plus or minus `RESOLUTION`. A number that is too large becomes the largest finite
    number. All other numbers are rounded. Negative numbers are treated like positive ones.
    """
    if GUARD < abs(value) < RESOLUTION:
        return copysign(RESOLUTION, value)
    if 0 < abs(abs(value) - 1.0) < RESOLUTION:
        return copysign(1.0 + copysign(RESOLUTION, abs(value) - 1.0), value)
    if isfinite(value) and abs(value) > LARGEST:
        return copysign(LARGEST, value)
    return struct.unpack("f", struct.pack("f", value))[0]


def _constant(match: re.Match[str]) -> str:
    value = struct.unpack(">d", bytes.fromhex(match.group()[2:]))[0]
    return "0x" + struct.pack(">d", single_constant(value)).hex()


def in_single_precision(text: str) -> str:
    """Convert the text of an LLVM module that is not optimised yet to single precision."""
    text = _DOUBLE.sub("float", text)
    text = _CONSTANT.sub(_constant, text)
    text = _INTRINSIC.sub(r"\1.f32", text)
    text = _LIBRARY.sub(r"@\1f", text)
    text = _CONVERSION.sub(r"bitcast float \1 to float", text)
    seen: set[str] = set()

    def once(match: re.Match[str]) -> str:
        known = match.group(1) in seen
        seen.add(match.group(1))
        return "" if known else match.group()

    return _DECLARATION.sub(once, text)
