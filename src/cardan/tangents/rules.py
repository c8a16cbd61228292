"""Rules for derivatives of the mathematical functions that stages call, written as LLVM assembly.

If a derivative is infinite or does not exist, it is set to 0. Examples are the square root at 0, the arc sine and arc
cosine at -1 and 1, and `atan2` of the zero vector. At a kink, the derivative is one-sided.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import log, pi, sqrt

from cardan.tangents.scalar import TransformError


def number(value: float) -> str:
    """Format a number for LLVM assembly, without rounding."""
    import struct

    return f"0x{struct.unpack('>Q', struct.pack('>d', value))[0]:016X}"


class Lines:
    """Writer of LLVM assembly for numbers of type double. Each method returns the name of its result."""

    def __init__(
        self, emit: Callable[[str], None], fresh: Callable[[], str], declare: Callable[[str, int], str]
    ) -> None:
        self.emit, self.fresh, self._declare = emit, fresh, declare

    def _result(self, expression: str) -> str:
        name = self.fresh()
        self.emit(f"{name} = {expression}")
        return name

    def op(self, operation: str, a: str, b: str) -> str:
        """Write an arithmetic operation (``fadd``, ``fsub``, ``fmul`` or ``fdiv``)."""
        return self._result(f"{operation} double {a}, {b}")

    def negative(self, a: str) -> str:
        """Write the negation of a number."""
        return self._result(f"fneg double {a}")

    def call(self, name: str, *arguments: str) -> str:
        """Write a call of a function of the mathematical library, or of an LLVM intrinsic (``llvm.sqrt``)."""
        symbol = self._declare(name, len(arguments))
        return self._result(f"call double {symbol}({', '.join('double ' + a for a in arguments)})")

    def where(self, predicate: str, a: str, b: str, yes: str, no: str) -> str:
        """Write a selection: `yes` if the comparison of `a` and `b` holds, else `no`."""
        test = self._result(f"fcmp {predicate} double {a}, {b}")
        return self._result(f"select i1 {test}, double {yes}, double {no}")

    def where_positive(self, a: str, value: str) -> str:
        """Write a selection: `value` if `a` > 0, else 0."""
        return self.where("ogt", a, ZERO, value, ZERO)


ZERO, ONE, HALF = number(0.0), number(1.0), number(0.5)
Slope = Callable[[Lines, Sequence[str], str], Sequence[str]]


def _of_root(lines: Lines, x: Sequence[str], y: str) -> Sequence[str]:
    return (lines.where_positive(y, lines.op("fmul", HALF, lines.op("fdiv", ONE, y))),)


def _of_arc(sign: float) -> Slope:
    """Make the rule of the arc sine (`sign` 1) or the arc cosine (-1)."""

    def slope(lines: Lines, x: Sequence[str], y: str) -> Sequence[str]:
        rest = lines.op("fsub", ONE, lines.op("fmul", x[0], x[0]))
        root = lines.call("llvm.sqrt", rest)
        return (lines.where_positive(rest, lines.op("fdiv", number(sign), root)),)

    return slope


def _of_angle(lines: Lines, x: Sequence[str], y: str) -> Sequence[str]:
    square = lines.op("fadd", lines.op("fmul", x[0], x[0]), lines.op("fmul", x[1], x[1]))
    inverse = lines.where_positive(square, lines.op("fdiv", ONE, square))
    return lines.op("fmul", x[1], inverse), lines.op("fmul", lines.negative(x[0]), inverse)


def _of_hypotenuse(lines: Lines, x: Sequence[str], y: str) -> Sequence[str]:
    inverse = lines.where_positive(y, lines.op("fdiv", ONE, y))
    return tuple(lines.op("fmul", a, inverse) for a in x)


def _of_power(lines: Lines, x: Sequence[str], y: str) -> Sequence[str]:
    """Write the derivatives of x^p. The derivative with respect to p is 0 unless x is positive."""
    base, exponent = x
    lower = lines.call("llvm.pow", base, lines.op("fsub", exponent, ONE))
    slope = lines.op("fmul", exponent, lower)
    bounded = lines.where("olt", lines.call("llvm.fabs", slope), number(1e300), slope, ZERO)
    by_exponent = lines.op("fmul", y, lines.call("llvm.log", base))
    return bounded, lines.where_positive(base, by_exponent)


def _of_remainder(lines: Lines, x: Sequence[str], y: str) -> Sequence[str]:
    return ONE, lines.negative(lines.call("llvm.trunc", lines.op("fdiv", x[0], x[1])))


def _of_sign(lines: Lines, x: Sequence[str], y: str) -> Sequence[str]:
    same = lines.op("fmul", lines.call("llvm.copysign", ONE, x[0]), lines.call("llvm.copysign", ONE, x[1]))
    return same, ZERO


def _smaller(predicate: str) -> Slope:
    def slope(lines: Lines, x: Sequence[str], y: str) -> Sequence[str]:
        first = lines.where(predicate, x[0], x[1], ONE, ZERO)
        return first, lines.op("fsub", ONE, first)

    return slope


def _logarithm(scale: float, shift: float = 0.0) -> Slope:
    def slope(lines: Lines, x: Sequence[str], y: str) -> Sequence[str]:
        a = lines.op("fadd", x[0], number(shift)) if shift else x[0]
        return (lines.where_positive(a, lines.op("fdiv", number(scale), a)),)

    return slope


def _one_plus_square(sign: float) -> Slope:
    """Make the rule 1 + y^2 of the tangent (`sign` 1) or 1 - y^2 of the hyperbolic tangent (-1)."""
    return lambda lines, x, y: (lines.op("fadd", ONE, lines.op("fmul", number(sign), lines.op("fmul", y, y))),)


def _inverse_of_one_plus_square(lines: Lines, x: Sequence[str], y: str) -> Sequence[str]:
    return (lines.op("fdiv", ONE, lines.op("fadd", ONE, lines.op("fmul", x[0], x[0]))),)


def _of_error_function(lines: Lines, x: Sequence[str], y: str) -> Sequence[str]:
    bell = lines.call("llvm.exp", lines.negative(lines.op("fmul", x[0], x[0])))
    return (lines.op("fmul", number(2.0 / sqrt(pi)), bell),)


def _of_cube_root(lines: Lines, x: Sequence[str], y: str) -> Sequence[str]:
    square = lines.op("fmul", y, y)
    return (lines.where_positive(square, lines.op("fdiv", number(1.0 / 3.0), square)),)


SLOPES: dict[str, Slope] = {
    "sqrt": _of_root,
    "sin": lambda lines, x, y: (lines.call("llvm.cos", x[0]),),
    "cos": lambda lines, x, y: (lines.negative(lines.call("llvm.sin", x[0])),),
    "tan": _one_plus_square(1.0),
    "asin": _of_arc(1.0),
    "acos": _of_arc(-1.0),
    "atan": _inverse_of_one_plus_square,
    "atan2": _of_angle,
    "sinh": lambda lines, x, y: (lines.call("cosh", x[0]),),
    "cosh": lambda lines, x, y: (lines.call("sinh", x[0]),),
    "tanh": _one_plus_square(-1.0),
    "exp": lambda lines, x, y: (y,),
    "exp2": lambda lines, x, y: (lines.op("fmul", number(log(2.0)), y),),
    "expm1": lambda lines, x, y: (lines.op("fadd", ONE, y),),
    "log": _logarithm(1.0),
    "log2": _logarithm(1.0 / log(2.0)),
    "log10": _logarithm(1.0 / log(10.0)),
    "log1p": _logarithm(1.0, 1.0),
    "erf": _of_error_function,
    "cbrt": _of_cube_root,
    "fabs": lambda lines, x, y: (lines.call("llvm.copysign", ONE, x[0]),),
    "hypot": _of_hypotenuse,
    "pow": _of_power,
    "fmod": _of_remainder,
    "copysign": _of_sign,
    **dict.fromkeys(("fmin", "minnum", "minimum", "minimumnum"), _smaller("olt")),
    **dict.fromkeys(("fmax", "maxnum", "maximum", "maximumnum"), _smaller("ogt")),
    **dict.fromkeys(("fma", "fmuladd"), lambda lines, x, y: (x[1], x[0], ONE)),
}
"""Rules by function name. A rule maps the names of arguments and result to the derivatives with respect to each
argument."""


def slopes(name: str, lines: Lines, arguments: Sequence[str], result: str) -> Sequence[str]:
    """Write the derivatives of function `name` with respect to its arguments; return the names of the derivatives.

    `lines` is the writer of the code; `arguments` and `result` are the names of the function's arguments and result.

    Raises:
        TransformError: there is no rule for the function.
    """
    if name not in SLOPES:
        raise TransformError(f"no rule for the function {name}")
    return SLOPES[name](lines, arguments, result)
