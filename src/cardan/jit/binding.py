"""Functions of the interface as CPython's own kind of function, with native code that looks at the arguments.

A *binding* stands behind each such function. Until the first call, the function only forwards to its binding; then
native code is loaded, compiled if need be, and takes its place: calls whose arguments fit reach the kernel without a
line of Python, all others come back to the binding, which treats them the careful way. Both ways run the same kernel.

The function is made by CPython (`PyCFunction_NewEx`) from a method table entry that the binding keeps. Where memory is
not laid out as that code reads it (another implementation of Python, a build without the GIL), or with JIT off,
all calls go the careful way.
"""

from __future__ import annotations

import ctypes
import inspect
import threading
from collections.abc import Callable
from functools import cache
from types import FunctionType, ModuleType
from typing import Any

import numpy as np

from cardan.jit.arguments import Array, CallAbi, Number
from cardan.jit.fields import DTYPES
from cardan.jit.layout import API, CALL, TABLE, TABLE_NAME, layout_is_known
from cardan.jit.mode import jit_enabled
from cardan.jit.stage import Entry, call_entry
from cardan.jit.struct import WORDS
from cardan.jit.view import CheckedArray

FAST_WITH_KEYWORDS = 0x0080 | 0x0002
"""Calling convention: METH_FASTCALL | METH_KEYWORDS."""


class _MethodDef(ctypes.Structure):
    """PyMethodDef."""

    _fields_ = [
        ("name", ctypes.c_char_p),
        ("address", ctypes.c_void_p),
        ("flags", ctypes.c_int),
        ("doc", ctypes.c_char_p),
    ]


def _address_of(name: str) -> int:
    """Address of a function of CPython."""
    return ctypes.cast(getattr(ctypes.pythonapi, name), ctypes.c_void_p).value or 0


@cache
def _maker() -> Any:
    make = ctypes.pythonapi.PyCFunction_NewEx
    make.restype = ctypes.py_object
    make.argtypes = (ctypes.POINTER(_MethodDef), ctypes.py_object, ctypes.py_object)
    return make


@cache
def _objects() -> dict[str, int]:
    """Identities of the objects that native code compares with, but models and data."""
    things = (None, np.ndarray, float, np.float64, int, np.int32, np.int64)
    names = ("None", "ndarray", "float", "float64", "int", "int32", "int64")
    same = dict(zip(names, map(id, things), strict=True))
    return same | {name: id(dtype) for name, dtype in DTYPES.items()} | {"slot": object.__basicsize__}


class Binding(ModuleType):
    """What stands behind a function of the interface; `builtin` is the function itself.

    It is a module to CPython, which takes the object behind a function for the function's home: so the function has its
    plain name, and pickles by it.

    Args:
        function: the Python function: name, arguments, docstring.
        kernel: what computes.
        abi: its arguments.
    """

    all: dict[str, Binding] = {}  # noqa: RUF012 (of the class: every binding by the name of its function)
    types: dict[str, type] = {}  # noqa: RUF012 (of the class: those of models and data, `Model` and `Data`)
    _lock = threading.RLock()

    def __init__(self, function: FunctionType, kernel: Callable[..., Any], abi: CallAbi) -> None:
        super().__init__(function.__module__, function.__doc__)
        self.function = function
        self.kernel = kernel
        self.abi = abi
        self.entry: Entry = call_entry(function, kernel, abi)
        self.run: Callable[..., int] | None = None  # native function of the addresses of model, data and frame
        self._code: Any = None
        head = f"{function.__name__}({_parameters(function)})\n--\n\n"
        text = (head + inspect.cleandoc(function.__doc__ or "")).encode()
        self.method = _MethodDef(
            function.__name__.encode(), _address_of("PyObject_Vectorcall"), FAST_WITH_KEYWORDS, text
        )
        self.builtin: Any = _maker()(ctypes.byref(self.method), self, "cardan")
        Binding.all[function.__name__] = self

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """The careful way, and the place where native code is loaded."""
        if self.run is None and jit_enabled:
            self.load()
        return self.careful(args, kwargs)

    def careful(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Check and convert all arguments, with good errors, and run the kernel on them."""
        raise NotImplementedError

    def load(self) -> None:
        """Load the native code, compiled now if need be, and let the function use it."""
        from cardan.jit.driver import stored_object
        from cardan.jit.loader import load_symbols

        with Binding._lock:
            if self.run is not None:
                return
            symbol, code = stored_object(self.entry)
            self._code, (kernel, call, table) = load_symbols(code, symbol, symbol + CALL, symbol + TABLE_NAME)
            word = ctypes.c_void_p
            run = ctypes.CFUNCTYPE(ctypes.c_int64, word, word, word)(kernel)
            if layout_is_known():
                words = self._words()
                (ctypes.c_int64 * len(words)).from_address(table)[:] = words
                self.method.address = call
            self.run = run

    def _words(self) -> list[int]:
        known = _objects() | {name: id(kind) for name, kind in Binding.types.items()} | {"careful": id(self)}
        names = [id(name) for name in self.function.__code__.co_varnames[: len(self.abi.parameters)]]
        return [_address_of(name) if name in API else known[name] for name in TABLE] + names

    def run_kernel(self, m: Any, d: Any, values: dict[str, Any]) -> tuple[int, Any]:
        """Run the kernel on arguments that fit; returns its status and its result.

        Args:
            m: the model, or None.
            d: the data, or None.
            values: the other arguments: contiguous arrays of the right types, integers and numbers.
        """
        if jit_enabled:
            return self._run_native(m, d, values)
        return self._interpret(m, d, values)

    def _run_native(self, m: Any, d: Any, values: dict[str, Any]) -> tuple[int, Any]:
        frame = np.zeros((1 + len(values), WORDS), np.int64)
        for k, (name, argument) in enumerate(self.abi.arguments, start=1):
            value = values[name]
            if isinstance(argument, Array):
                if value is not None:
                    rows = (1, *value.shape) if argument.is_row else (*value.shape, 1)
                    frame[k] = value.ctypes.data, *rows[:2]
            else:
                frame[k : k + 1, 0].view(DTYPES["f8" if isinstance(argument, Number) else "i8"])[0] = value
        assert self.run is not None
        addresses = [0 if owner is None else owner.address for owner in (m, d)]
        status = self.run(*addresses, frame.ctypes.data)
        return status, frame[0, :1].view(DTYPES[self.abi.result])[0].item() if self.abi.result else None

    def _interpret(self, m: Any, d: Any, values: dict[str, Any]) -> tuple[int, Any]:
        known: dict[str, Any] = {"m": m and m.view, "d": d and d.view}
        for name, argument in self.abi.arguments:
            value = values[name]
            known[name] = _checked(name, argument, value) if isinstance(argument, Array) else value
        result = self.kernel(*(known[name] for name in self.abi.parameters))
        if self.abi.refuses:
            return result, None
        return int(self.abi.failure is not None and result == self.abi.failure), result


def _checked(name: str, argument: Array, value: np.ndarray | None) -> CheckedArray:
    """An array as the kernel sees it, in the interpreter."""
    shape = argument.field(name).shape
    if value is None:
        return CheckedArray(name, np.zeros((0,) * len(shape), DTYPES[argument.dtype]), not argument.written)
    return CheckedArray(name, value.reshape(1, -1) if argument.is_row else value, not argument.written)


def _parameters(function: FunctionType) -> str:
    """Names and defaults of the parameters, as CPython's functions tell them to `inspect.signature`."""
    signature = inspect.signature(function)
    plain = [p.replace(annotation=inspect.Parameter.empty) for p in signature.parameters.values()]
    return ", ".join(map(str, plain))
