"""Decorators that mark Python functions as kernels and stages, and the forms of native code made from these functions.

A *kernel* is a plain Python function of numbers, tuples and field arrays that native code may call. A *stage* is a
kernel of ``(m, d)`` that is compiled to a native function of its own, ``(model address, data address) -> status``. A
*collider* has two more integer arguments (the ids of two geoms). All of them remain ordinary functions: a call from
Python runs the function in the interpreter.

With ``CARDAN_JIT=0`` (or Numba's ``NUMBA_DISABLE_JIT=1``) every stage runs as plain Python on the same memory, with all
indices checked. This is slow, and meant for debugging, coverage and tests.
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
    """Call signature of a native function: ``(model, data, *extra) -> result``, with 64-bit words.

    Attributes:
        extra: element types of the arguments after the two structures.
        result: element type of the result.
        structs: names of the two structures; the renderer, for example, has structures of its own.
        side_by_side: whether unrolled operations on adjacent numbers, such as a colour's components, are vectorised.
    """

    extra: tuple[str, ...] = ()
    result: str = "i8"
    structs: tuple[str, str] = ("Model", "Data")
    side_by_side: bool = False


STAGE_ABI = Abi()
COLLIDER_ABI = Abi(extra=("i8", "i8"))


@dataclass(frozen=True, slots=True)
class Entry:
    """A Python function that is compiled to a native function of its own. `exact` is set by the decorator `exact`."""

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
        TypeError: `function` is not a Python function.
    """
    if not hasattr(function, "__code__"):
        raise TypeError(f"kernels and stages are Python functions, not {type(function).__name__}")
    function.__dict__["__cardan_kernel__"] = True
    return function


def exact(function: F) -> F:
    """Make a stage or collider, and the kernels that it calls, round exactly as the interpreter does.

    Write this decorator below `stage`. By default, sums may be reassociated and contracted, which is faster. The
    decorator is needed if the last bit decides between equal candidates, as for the corners of parallel faces.
    """
    function.__dict__["__cardan_exact__"] = True
    return function


def side_by_side(function: F) -> F:
    """Mark a stage in which the compiler also vectorises unrolled operations on adjacent numbers.

    Write this decorator below `stage`. Loops are vectorised in all stages. The option makes some stages faster, others
    slower.
    """
    function.__dict__["__cardan_side_by_side__"] = True
    return function


def stage(function: F) -> F:
    """Mark a function of ``(m, d)`` as a stage.

    The function returns a status: 0, or a request to the driver (see `cardan.jit.driver`).
    """
    return entry(function, replace(STAGE_ABI, side_by_side="__cardan_side_by_side__" in function.__dict__))


def collider(function: F) -> F:
    """Mark a function of ``(m, d, geom1, geom2)`` as a collision function. It returns the number of contacts."""
    return entry(function, COLLIDER_ABI)


def entry(function: F, abi: Abi) -> F:
    """Mark a function for compilation to a native function of its own, with the call signature `abi`."""
    kernel(function)
    function.__dict__["__cardan_entry__"] = Entry(  # type: ignore[arg-type]
        _qualified(function), function, abi, "__cardan_exact__" in function.__dict__
    )
    return function


def call_entry(public: Callable[..., Any], function: Callable[..., Any], abi: CallAbi) -> Entry:
    """Make the entry of the public function `public`, which is compiled from the kernel `function`."""
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
"""Functions to which interleaved code refers, and which the target defines. The first two have no arguments: they
return the index of the current world and the number of worlds. The third calls a function by its number in a table:
(number, address of the model, address of the data, two integers) -> result. All values are int64."""
RAISE = "raise "
"""Prefix of the undefined symbols that kernels call in place of raising an exception."""


@dataclass(frozen=True, slots=True)
class Form:
    """Form of native code: memory layout, precision and target. A program is identified by its form and its stages.

    Attributes:
        layout: `WORLD`: each world has arrays of its own. `INTERLEAVED`: element ``i`` of world ``w`` is element ``i *
            nworld + w`` of the field, and each scalar is an array with one number per world. All worlds share one
            model, in the usual layout.
        precision: precision of all fields of type ``f8``: `DOUBLE` or `SINGLE`.
        target: LLVM's name and features of the processor; None for the processor of this process.
    """

    layout: str = WORLD
    precision: str = DOUBLE
    target: tuple[str, str] | None = None

    def __post_init__(self) -> None:
        if self.layout not in (WORLD, INTERLEAVED) or self.precision not in (DOUBLE, SINGLE):
            raise ValueError(f"no such form of native code: {self.layout}, {self.precision}")

    def struct(self, struct: Struct) -> Struct:
        """Return the structure `struct` in the precision of the form."""
        return struct.single if self.precision == SINGLE else struct

    @property
    def is_interleaved(self) -> bool:
        """Whether worlds are interleaved."""
        return self.layout == INTERLEAVED


HERE = Form()
"""Default form: one world at a time on this processor, in double precision."""


_OFF = ("0", "false", "no", "off")

jit_enabled: bool = os.environ.get("CARDAN_JIT", "1").lower() not in _OFF and os.environ.get(
    "NUMBA_DISABLE_JIT", "0"
) in ("", *_OFF)
