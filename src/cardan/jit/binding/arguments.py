"""Descriptions of the arguments of native calls, one per argument of a function of the interface.

Three things are derived from these descriptions: the native code that unpacks arguments (`cardan.jit.binding.glue`),
the fields that a kernel sees, and the checks and error messages of the slow path.
"""

from __future__ import annotations

from typing import NamedTuple

from cardan.jit.memory.fields import Field

ANY = "any"
"""Size of a vector or dimension that may have any length."""

COLUMNS = ".columns"
"""Suffix after the name of a matrix in a shape: the size is the number of columns of the matrix."""


class Array(NamedTuple):
    """An array in the memory of the caller.

    Attributes:
        shape: one or two sizes: integers, names of sizes of the model or of other arguments, products
            (``"3*nray"``), or `ANY`. The name of an integer argument means its value. The name of this or an earlier
            array means the array's length or, with the suffix `COLUMNS`, its number of columns.
        dtype: element type, ``f8``, ``f4`` or ``i4``.
        written: whether results are written to the array.
        optional: whether the argument may be None; a kernel then sees an array of length 0.
        apart: whether the array must not share memory with other arguments.
    """

    shape: tuple[int | str, ...]
    dtype: str = "f8"
    written: bool = False
    optional: bool = False
    apart: bool = False

    @property
    def is_row(self) -> bool:
        """Whether the array is a vector of fixed size.

        Kernels see such a vector as the only row of a table: ``get3(a, 0)`` reads it.
        """
        return len(self.shape) == 1 and isinstance(self.shape[0], int)

    def field(self, name: str) -> Field:
        """Return the field of the frame that holds the array."""
        return Field(name, self.dtype, ("any", *(self.shape if self.is_row else self.shape[1:])))


INTEGER_END = 2**31
"""End (exclusive) of the range of C's type int, which starts at ``-INTEGER_END``."""


class Integer(NamedTuple):
    """An integer or a flag, in the range of C's type int.

    Attributes:
        below: name of a size. If it is given, the integer is an id: at least 0, and less than this size.
        what: kind of element that the id belongs to, for error messages.
    """

    below: str = ""
    what: str = ""

    def field(self, name: str) -> Field:
        """Return the field of the frame that holds the integer."""
        return Field(name, "i8", ())


class Number(NamedTuple):
    """A floating-point argument."""

    def field(self, name: str) -> Field:
        """Return the field of the frame that holds the number."""
        return Field(name, "f8", ())


Argument = Array | Integer | Number


def source(*shape: int | str, dtype: str = "f8", optional: bool = False) -> Array:
    """Describe an array that is only read."""
    return Array(shape, dtype, optional=optional)


def target(*shape: int | str, dtype: str = "f8", optional: bool = False, apart: bool = False) -> Array:
    """Describe an array to which results are written; `dtype`, `optional` and `apart` as in `Array`."""
    return Array(shape, dtype, written=True, optional=optional, apart=apart)


def element(what: str, below: str) -> Integer:
    """Describe the id of an element: less than the size `below`. `what` is the kind of element."""
    return Integer(below, what)


RESULT = "returned"
"""Name of the first field of a frame, which receives the result."""


class CallAbi(NamedTuple):
    """Call signature of a native function: from Python with objects, internally with ``(model, data, frame)``.

    A *frame* is a slot table (see `cardan.jit.memory.struct`) with a field for the result, followed by one per
    argument.

    Attributes:
        name: name of the function.
        parameters: names of all parameters, in order.
        arguments: descriptions of the parameters, except ``m`` and ``d``, which are the model and the data.
        result: element type of the result, ``f8`` or ``i8``; empty if there is none.
        failure: result by which the kernel reports wrong arguments, or None.
        refuses: whether the kernel returns a status instead of a result; not 0 if the arguments are wrong.
        releases: whether the GIL is released during the call, for kernels that may take more than a few microseconds.
    """

    name: str
    parameters: tuple[str, ...]
    arguments: tuple[tuple[str, Argument], ...]
    result: str = ""
    failure: float | None = None
    refuses: bool = False
    releases: bool = False

    def described(self, name: str) -> Argument | None:
        """Return the description of a parameter; None for the model and the data."""
        return dict(self.arguments).get(name)

    def fields(self) -> list[Field]:
        """List the fields of the frame."""
        return [Field(RESULT, self.result or "i8", ()), *(argument.field(name) for name, argument in self.arguments)]
