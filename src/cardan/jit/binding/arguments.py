"""What a function of the interface takes: the arguments of native calls, one description each.

From these descriptions come the native code that unpacks arguments (`cardan.jit.binding.glue`), the fields under
which a kernel sees them, and the checks with good error messages for whatever that code refuses.
"""

from __future__ import annotations

from typing import NamedTuple

from cardan.jit.memory.fields import Field

ANY = "any"
"""Size of a vector that may have any length."""

COLUMNS = ".columns"
"""Suffix of the name of a matrix for its number of columns, where a shape mentions it."""


class Array(NamedTuple):
    """An array in the memory of the caller.

    Attributes:
        shape: one or two sizes: numbers, names of sizes of the model or of other arguments (an integer; the length of
            an array; with the suffix `COLUMNS`, its number of columns), products (``"3*nray"``), or `ANY`. Such an
            array is this one or comes before it.
        dtype: element type, ``f8``, ``f4`` or ``i4``.
        written: whether results go into it.
        optional: whether None may stand in its place; a kernel then sees an array of length 0.
        apart: whether the kernel needs it to share no memory with other arguments.
    """

    shape: tuple[int | str, ...]
    dtype: str = "f8"
    written: bool = False
    optional: bool = False
    apart: bool = False

    @property
    def is_row(self) -> bool:
        """Whether kernels see it as the only row of a table, so that ``get3(a, 0)`` reads it: vectors of fixed size."""
        return len(self.shape) == 1 and isinstance(self.shape[0], int)

    def field(self, name: str) -> Field:
        """How a kernel sees it."""
        return Field(name, self.dtype, ("any", *(self.shape if self.is_row else self.shape[1:])))


INTEGER_END = 2**31
"""Integers of the interface are smaller, and not below the negative number: those of C's type int."""


class Integer(NamedTuple):
    """An integer, or a flag: a number that C's type int has.

    Attributes:
        below: the name of a size that it must be smaller than, and not negative: the id of an element.
        what: what it is the id of.
    """

    below: str = ""
    what: str = ""

    def field(self, name: str) -> Field:
        """How a kernel sees it."""
        return Field(name, "i8", ())


class Number(NamedTuple):
    """A floating-point number."""

    def field(self, name: str) -> Field:
        """How a kernel sees it."""
        return Field(name, "f8", ())


Argument = Array | Integer | Number


def source(*shape: int | str, dtype: str = "f8", optional: bool = False) -> Array:
    """An array that is only read."""
    return Array(shape, dtype, optional=optional)


def target(*shape: int | str, dtype: str = "f8", optional: bool = False, apart: bool = False) -> Array:
    """An array that results are written to."""
    return Array(shape, dtype, written=True, optional=optional, apart=apart)


def element(what: str, below: str) -> Integer:
    """The id of an element, smaller than the size `below`."""
    return Integer(below, what)


RESULT = "returned"
"""Name of the field for the result, the first of a frame."""


class CallAbi(NamedTuple):
    """How the native code of a function is called: from Python with objects, inside with ``(model, data, frame)``.

    A *frame* is a slot table (see `cardan.jit.memory.struct`) with one field an argument, the result before them.

    Attributes:
        name: name of the function.
        parameters: names of all parameters, in order.
        arguments: descriptions of the parameters, but ``m`` and ``d``, which are the model and the data.
        result: ``f8``, ``i8``, or nothing.
        failure: a result that says that the arguments are wrong after all.
        refuses: whether the kernel, which has no result then, returns a status: not 0 if the arguments are wrong.
        releases: whether the GIL is released meanwhile: for what may take longer than a few microseconds.
    """

    name: str
    parameters: tuple[str, ...]
    arguments: tuple[tuple[str, Argument], ...]
    result: str = ""
    failure: float | None = None
    refuses: bool = False
    releases: bool = False

    def described(self, name: str) -> Argument | None:
        """The description of a parameter, or None for the model and the data."""
        return dict(self.arguments).get(name)

    def fields(self) -> list[Field]:
        """Fields of the frame."""
        return [Field(RESULT, self.result or "i8", ()), *(argument.field(name) for name, argument in self.arguments)]
