"""Marking Python functions as kernels and stages, and the forms of native code that are made of them.

A *kernel* is a plain Python function of numbers, tuples and field arrays that native code may call. A *stage* is a
kernel of ``(m, d)`` that is compiled to a native function of its own, ``(model address, data address) -> status``. A
*collider* has two more integers (the ids of two geoms). All stay ordinary functions: calling one from Python runs it in
the interpreter.

With ``CARDAN_JIT=0`` (or Numba's ``NUMBA_DISABLE_JIT=1``) every stage runs as plain Python on the same memory, with all
indices checked: slow, and made for debugging, coverage and tests.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from types import FunctionType
from typing import Any, TypeVar

from cardan.jit.binding.arguments import CallAbi
from cardan.jit.memory.fields import Struct

F = TypeVar("F", bound=Callable[..., Any])

FASTMATH = {"reassoc", "contract", "nsz"}
KERNEL_OPTIONS = {"error_model": "numpy", "fastmath": FASTMATH, "no_cpython_wrapper": True, "no_cfunc_wrapper": True}

OK = 0
CALLBACK_FAILED = -1
COLLIDER_MISSING = -2


@dataclass(frozen=True, slots=True)
class Abi:
    """Call signature of a native function: ``(model, data, *extra) -> result``, all words 64 bits wide.

    Attributes:
        extra: element types of the arguments after the two structures.
        result: element type of the result.
        structs: names of the two structures; other parts of the package have structures of their own.
        side_by_side: whether adjacent numbers, such as those of a colour, become vectors, too.
    """

    extra: tuple[str, ...] = ()
    result: str = "i8"
    structs: tuple[str, str] = ("Model", "Data")
    side_by_side: bool = False


STAGE_ABI = Abi()
COLLIDER_ABI = Abi(extra=("i8", "i8"))


@dataclass(frozen=True, slots=True)
class Entry:
    """A Python function that is compiled to a native function of its own; `exact`: see the decorator of this name."""

    name: str
    function: FunctionType
    abi: Abi | CallAbi
    exact: bool = False

    @property
    def symbol(self) -> str:
        """Name of the native function in its object file."""
        return "cardan." + re.sub(r"[^\w.]", "_", self.name)


def kernel(function: F) -> F:
    """Mark a function as callable from native code.

    Raises:
        TypeError: it is not a Python function.
    """
    if not hasattr(function, "__code__"):
        raise TypeError(f"kernels and stages are Python functions, not {type(function).__name__}")
    function.__dict__["__cardan_kernel__"] = True
    return function


def exact(function: F) -> F:
    """Compile a stage or collider, and the kernels that it calls, to the rounding of the interpreter.

    The decorator is written below `stage`. Otherwise sums may be reassociated and contracted, which is faster. That is
    wrong where the last bit decides which of two equal things is taken, as in searches over the corners of parallel
    faces.
    """
    function.__dict__["__cardan_exact__"] = True
    return function


def side_by_side(function: F) -> F:
    """Let adjacent numbers of a stage become vectors, too; written below `stage`.

    Loops are vectorised in all stages; this option concerns unrolled code. It makes some stages faster, others slower.
    """
    function.__dict__["__cardan_side_by_side__"] = True
    return function


def stage(function: F) -> F:
    """Mark a function of ``(m, d)`` as a stage. It returns a status: 0, or a request to the driver (see `driver`)."""
    return entry(function, replace(STAGE_ABI, side_by_side="__cardan_side_by_side__" in function.__dict__))


def collider(function: F) -> F:
    """Mark a function of ``(m, d, geom1, geom2)`` as a collision function; it returns a number of contacts."""
    return entry(function, COLLIDER_ABI)


def entry(function: F, abi: Abi) -> F:
    """Mark a function as one that is compiled to a native function of its own, with a call signature."""
    kernel(function)
    function.__dict__["__cardan_entry__"] = Entry(  # type: ignore[arg-type]
        _qualified(function), function, abi, "__cardan_exact__" in function.__dict__
    )
    return function


def call_entry(public: Callable[..., Any], function: Callable[..., Any], abi: CallAbi) -> Entry:
    """Make the entry of a public function of the interface that is compiled from a kernel; named after the former."""
    kernel(function)
    return Entry(_qualified(public), function, abi)  # type: ignore[arg-type]


def _qualified(function: Callable[..., Any]) -> str:
    return f"{function.__module__.removeprefix('cardan.')}.{function.__qualname__}"


def entry_of(function: Callable[..., Any]) -> Entry:
    """Return the entry that `stage` or `collider` attached to a function."""
    return function.__dict__["__cardan_entry__"]


def is_entry(value: Any) -> bool:
    """Return whether a value is a function that was marked by `stage` or `collider`."""
    return isinstance(value, FunctionType) and "__cardan_entry__" in value.__dict__


def is_kernel(function: Callable[..., Any]) -> bool:
    """Return whether a function was marked by `kernel`, `stage` or `collider`."""
    return "__cardan_kernel__" in function.__dict__


def kernel_options(exact: bool) -> dict[str, Any]:
    """Return Numba's options for kernels; unless `exact`, sums may be reassociated and contracted."""
    return {**KERNEL_OPTIONS, "fastmath": False} if exact else dict(KERNEL_OPTIONS)


WORLD, INTERLEAVED = "world", "interleaved"
DOUBLE, SINGLE = "float64", "float32"

WORLD_INDEX, WORLD_COUNT, CALL = "cardan_world", "cardan_nworld", "cardan_call"
"""Functions to which interleaved code refers, and which the target defines. Two have no arguments: they return the
number of the running world and the number of worlds. One calls a function of a table by its number: (number, address
of the model, address of the data, two integers) -> result. All values are int64."""
RAISE = "raise "
"""Prefix of the undefined symbols that are called where a kernel would raise something."""


@dataclass(frozen=True, slots=True)
class Form:
    """A form of native code of a stage. A form and a list of stages identify a program.

    Attributes:
        layout: `WORLD`: each world has arrays of its own. `INTERLEAVED`: element ``i`` of world ``w`` is number ``i *
            nworld + w`` of the field, and scalars are arrays with one number for each world. All worlds share one
            model, in the usual layout.
        precision: of the fields of type ``f8``: `DOUBLE` or `SINGLE`.
        target: two words for the processor, if it is not that of this process.
    """

    layout: str = WORLD
    precision: str = DOUBLE
    target: tuple[str, str] | None = None

    def __post_init__(self) -> None:
        if self.layout not in (WORLD, INTERLEAVED) or self.precision not in (DOUBLE, SINGLE):
            raise ValueError(f"no such form of native code: {self.layout}, {self.precision}")

    def struct(self, struct: Struct) -> Struct:
        """Return a structure in the precision of the form."""
        return struct.single if self.precision == SINGLE else struct

    @property
    def is_interleaved(self) -> bool:
        """Whether worlds are interleaved."""
        return self.layout == INTERLEAVED


HERE = Form()
"""The form of all code that runs one world at a time on this processor, in double precision."""


_OFF = ("0", "false", "no", "off")

jit_enabled: bool = os.environ.get("CARDAN_JIT", "1").lower() not in _OFF and os.environ.get(
    "NUMBA_DISABLE_JIT", "0"
) in ("", *_OFF)
