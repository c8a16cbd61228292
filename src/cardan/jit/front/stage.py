"""Marking Python functions as kernels and stages.

A *kernel* is a plain Python function of numbers, tuples and field arrays that native code may call. A *stage* is a
kernel of ``(m, d)`` that is compiled to a native function of its own, ``(model address, data address) -> status``. A
*collider* is the same with two more integers (the ids of two geoms). Both stay ordinary functions: calling one from
Python runs it in the interpreter.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from types import FunctionType
from typing import Any, TypeVar

from cardan.jit.binding.arguments import CallAbi

F = TypeVar("F", bound=Callable[..., Any])

FASTMATH = {"reassoc", "contract", "nsz"}
KERNEL_OPTIONS = {"error_model": "numpy", "fastmath": FASTMATH, "no_cpython_wrapper": True, "no_cfunc_wrapper": True}

OK = 0
CALLBACK_FAILED = -1
COLLIDER_MISSING = -2

_exact_rounding: bool | None = None  # of the entry that is being compiled; None: of a user's own function
_with_errors = False


@dataclass(frozen=True, slots=True)
class Abi:
    """Call signature of a native function: ``(model, data, *extra) -> result``, all words 64 bits wide.

    Attributes:
        extra: element types of the arguments after the two structures.
        result: element type of the result.
        structs: names of the two structures; other parts of the package have structures of their own.
        side_by_side: whether numbers that stand side by side, as those of a colour, are to become vectors, too.
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
        TypeError: it is no Python function.
    """
    if not hasattr(function, "__code__"):
        raise TypeError(f"kernels and stages are Python functions, not {type(function).__name__}")
    function.__dict__["__cardan_kernel__"] = True
    return function


def exact(function: F) -> F:
    """Compile a stage or collider, with all that it calls, to the rounding of the interpreter. Stands below `stage`.

    Elsewhere sums may be reassociated and contracted, which is faster; that is wrong where the last bit decides
    which of two equal things is taken, as in searches over the corners of parallel faces.
    """
    function.__dict__["__cardan_exact__"] = True
    return function


def side_by_side(function: F) -> F:
    """Let numbers of a stage that stand side by side in a row become vectors, too. Stands below `stage`.

    Loops do so everywhere; this is about what is written out, or unrolled. It makes some stages faster, others slower.
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
    """Mark a function as one that is compiled to a native function of its own, called as `abi` says."""
    kernel(function)
    function.__dict__["__cardan_entry__"] = Entry(  # type: ignore[arg-type]
        _qualified(function), function, abi, "__cardan_exact__" in function.__dict__
    )
    return function


def call_entry(public: Callable[..., Any], function: Callable[..., Any], abi: CallAbi) -> Entry:
    """The entry of a function of the interface, named after the public one, that is compiled from a kernel."""
    kernel(function)
    return Entry(_qualified(public), function, abi)  # type: ignore[arg-type]


def _qualified(function: Callable[..., Any]) -> str:
    return f"{function.__module__.removeprefix('cardan.')}.{function.__qualname__}"


def entry_of(function: Callable[..., Any]) -> Entry:
    """The entry that `stage` or `collider` attached to a function."""
    return function.__dict__["__cardan_entry__"]


def is_entry(value: Any) -> bool:
    """Whether something is a function that was marked by `stage` or `collider`."""
    return isinstance(value, FunctionType) and "__cardan_entry__" in value.__dict__


def is_kernel(function: Callable[..., Any]) -> bool:
    """Whether a function was marked by `kernel`, `stage` or `collider`."""
    return "__cardan_kernel__" in function.__dict__


def kernel_options(exact: bool) -> dict[str, Any]:
    """Numba's options for kernels, with or without leave to reassociate and contract."""
    return {**KERNEL_OPTIONS, "fastmath": False} if exact else dict(KERNEL_OPTIONS)


@contextmanager
def rounding(exact: bool, with_errors: bool = False) -> Iterator[None]:
    """While an entry is compiled: whether the kernels that it calls are those of exact rounding, too.

    `with_errors`: whether they are lowered by Numba itself, with paths of errors. What is read as text is: its forms of
    instructions are known.
    """
    global _exact_rounding, _with_errors  # Numba looks functions up, without a word of the entry
    before = _exact_rounding, _with_errors
    _exact_rounding, _with_errors = exact, with_errors
    try:
        yield
    finally:
        _exact_rounding, _with_errors = before


def lowered_with_errors() -> bool:
    """Whether what is being compiled now has paths of errors: for transformations, or for a user's own function."""
    return _with_errors or _exact_rounding is None


def dispatcher_of(function: Callable[..., Any]) -> Any:
    """Numba's dispatcher of a kernel, made on first need, one for each rounding, and one for users' own functions.

    What entries call is compiled without errors, and checked with the entry; users' functions may hand errors on.
    """
    from numba import njit

    from cardan.jit.front.shortcuts import KernelCompiler, PlainCompiler

    dispatchers = function.__dict__.setdefault("__cardan_dispatchers__", {})
    key = _exact_rounding, _with_errors
    if key not in dispatchers:
        options = kernel_options(bool(_exact_rounding))
        compiler = KernelCompiler if lowered_with_errors() else PlainCompiler
        dispatchers[key] = njit(**options, pipeline_class=compiler)(function)
    return dispatchers[key]


def kernel_of(dispatcher: Any) -> Any:
    """What stands for a jitted function where an entry calls it: for a user's own one, a kernel of the same function.

    So what a user calls from Python is never code that was made for entries, nor the other way round, whichever is
    compiled first. Options that the user gave stay; integers are divided by 0 as in kernels unless they say otherwise.
    """
    from numba import jit

    from cardan.jit.front.shortcuts import KernelCompiler, PlainCompiler

    function = dispatcher.py_func
    is_of_numba = (function.__module__ or "").partition(".")[0] == "numba"
    if is_of_numba or issubclass(dispatcher._compiler.pipeline_class, KernelCompiler):
        return dispatcher
    kernels = dispatcher.__dict__.setdefault("__cardan_kernels__", {})
    key = _exact_rounding, _with_errors
    if key not in kernels:
        given = {name: value for name, value in dispatcher.targetoptions.items() if value is not None}
        options = {**kernel_options(bool(_exact_rounding)), **given, "no_cpython_wrapper": True, "nopython": True}
        compiler = KernelCompiler if lowered_with_errors() else PlainCompiler
        kernels[key] = jit(**options, locals=dispatcher.locals, pipeline_class=compiler)(function)
    return kernels[key]
