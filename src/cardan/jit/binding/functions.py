"""Functions of the interface as built-in functions of CPython, with native code that checks the arguments.

Each such function has a *binding*. Until the first call, the function only forwards to its binding. On the first call,
native code is loaded, compiled if necessary, and replaces the forwarding. Calls whose arguments fit then reach the
kernel without running any Python code. All other calls return to the binding, which takes the slow path. Both paths run
the same kernel.

CPython makes the function (`PyCFunction_NewEx`) from a method table entry that the binding keeps. If JIT is off, all
calls take the slow path. They also do so if objects have another memory layout than native code expects (another
implementation of Python, a build without the GIL).
"""

from __future__ import annotations

import ctypes
import inspect
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache
from types import FunctionType, MappingProxyType, ModuleType
from typing import Any, ClassVar

import numpy as np

from cardan.enums.base import MjEnumType
from cardan.jit.binding.arguments import Array, CallAbi, Number
from cardan.jit.binding.objects import (
    API,
    CALL,
    FIRST_PROGRAM,
    GUARD,
    MOST_PROGRAMS,
    PROGRAM,
    PROGRAM_WORDS,
    RUNNING,
    TABLE,
    TABLE_NAME,
    layout_is_known,
)
from cardan.jit.front.stage import Entry, call_entry, jit_enabled
from cardan.jit.memory.fields import DTYPES, WORDS
from cardan.jit.memory.view import CheckedArray
from cardan.threads import Locked

FAST_WITH_KEYWORDS = 0x0080 | 0x0002
"""Flags of the calling convention: METH_FASTCALL | METH_KEYWORDS."""


class _MethodDef(ctypes.Structure):
    """CPython's structure `PyMethodDef`."""

    _fields_ = [
        ("name", ctypes.c_char_p),
        ("address", ctypes.c_void_p),
        ("flags", ctypes.c_int),
        ("doc", ctypes.c_char_p),
    ]


def _address_of(name: str) -> int:
    return ctypes.cast(getattr(ctypes.pythonapi, name), ctypes.c_void_p).value or 0


@cache
def _maker() -> Any:
    make = ctypes.pythonapi.PyCFunction_NewEx
    make.restype = ctypes.py_object
    make.argtypes = (ctypes.POINTER(_MethodDef), ctypes.py_object, ctypes.py_object)
    return make


escaped: list[BaseException] = []
"""Exceptions that Python callbacks raised, and that are to be re-raised (see `guarded`)."""


class Binding(ModuleType):
    """The object behind a function of the interface; `builtin` is the function itself.

    A binding is a module, because CPython takes the object behind a built-in function for the function's module. The
    function therefore has its plain name, by which it is pickled.

    Args:
        function: the Python function, which provides name, arguments and docstring.
        words: table of words (int64) that the native code reads.
        public: whether the package shows this function under its name.
    """

    __slots__ = ("words",)

    all: ClassVar[dict[str, Binding]] = {}
    """Bindings of public functions, by the name of the function."""
    hidden: ClassVar[list[Binding]] = []
    """Bindings of functions that other functions call, or that replace public ones in processes with compat 4.0."""
    types: ClassVar[dict[str, type]] = {}
    """Types of model and data objects, under the names `Model` and `Data`."""
    _loading: ClassVar[Locked] = Locked()

    def __init__(self, function: FunctionType, words: Iterable[int] = (), public: bool = True) -> None:
        super().__init__(function.__module__, function.__doc__)
        self.function = function
        self.words = np.array([*words], np.int64)
        self.loaded = False
        head = f"{function.__name__}({_parameters(function)})\n--\n\n"
        text = (head + inspect.cleandoc(function.__doc__ or "")).encode()
        # PyObject_Vectorcall has the calling convention of such functions, with the callable in place of their object
        forward = _address_of("PyObject_Vectorcall")
        self.method = _MethodDef(function.__name__.encode(), forward, FAST_WITH_KEYWORDS, text)
        self.builtin: Any = _maker()(ctypes.byref(self.method), self, "cardan")
        if public:
            Binding.all[function.__name__] = self
        else:
            Binding.hidden.append(self)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Call the function on the slow path. If JIT is on, the first call also loads the native code."""
        if jit_enabled and not self.loaded:
            with Binding._loading.lock:
                self.load()
                self.loaded = True
        return self.careful(args, kwargs)

    def document(self, text: str) -> None:
        """Replace the docstring of the function by `text`."""
        self.method.doc = text.encode()

    def careful(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Take the slow path: check and convert all arguments, with detailed errors, and run the native code."""
        return self.function(*args, **kwargs)

    def load(self) -> None:
        """Load the native code, and make the function use it.

        Subclasses implement this; the base class raises TypeError.
        """
        raise TypeError(f"{type(self).__name__} has no native code")

    def _use(self, call: int, table: int, words: list[int]) -> None:
        """Make the function use the native code at the address `call`, and write `words` to the code's table.

        If objects have an unknown memory layout, do nothing. `table` is the address of the table.
        """
        word = ctypes.c_int64.from_address(id(self) + ModuleType.__basicsize__)
        if layout_is_known() and word.value == id(self.words):
            _fill(table, words)
            self.method.address = call


def table_words(running: Mapping[str, int] = MappingProxyType({})) -> list[int]:
    """Return the words of a table (`cardan.jit.binding.objects.TABLE`); words of `RUNNING` not in `running` are 0."""
    things = (None, np.ndarray, float, np.float64, int, np.int32, np.int64, MjEnumType)
    names = ("None", "ndarray", "float", "float64", "int", "int32", "int64", "enumeration")
    compared = {**dict(zip(names, things, strict=True)), **DTYPES, **Binding.types}
    known = {name: id(thing) for name, thing in compared.items()} | {"slot": object.__basicsize__}
    known |= dict.fromkeys(RUNNING, 0) | dict(running) | {"words": ModuleType.__basicsize__, "errors": id(escaped)}
    return [_address_of(name) if name in API else known[name] for name in TABLE]


class KernelBinding(Binding):
    """Binding of a function that a kernel computes.

    Args:
        function: the Python function, which provides name, arguments and docstring.
        kernel: the kernel.
        abi: call signature of the kernel.
        public: whether the package shows this function under its name.
    """

    def __init__(self, function: FunctionType, kernel: Callable[..., Any], abi: CallAbi, public: bool = True) -> None:
        super().__init__(function, public=public)
        self.kernel = kernel
        self.abi = abi
        self.entry: Entry = call_entry(function, kernel, abi)
        self.run: Callable[..., int] | None = None  # native function of the addresses of model, data and frame
        self._code: Any = None

    def load(self) -> None:
        """Load the native code, compiled first if necessary, and make the function use it."""
        from cardan.jit.driver.loader import load_symbols
        from cardan.jit.driver.program import stored_object

        symbol, code = stored_object(self.entry)
        # code that an interrupted call has loaded may be in use already
        before = self._code
        memory, (kernel, call, table) = load_symbols(code, symbol, symbol + CALL, symbol + TABLE_NAME)
        self._code = memory, before
        word = ctypes.c_void_p
        self.run = ctypes.CFUNCTYPE(ctypes.c_int64, word, word, word)(kernel)
        names = self.function.__code__.co_varnames[: len(self.abi.parameters)]
        self._use(call, table, table_words() + [id(name) for name in names])

    def run_kernel(self, m: Any, d: Any, values: dict[str, Any]) -> tuple[int, Any]:
        """Run the kernel on arguments of the expected types.

        Args:
            m: the model, or None.
            d: the data, or None.
            values: the other arguments: contiguous arrays of the right types, integers and floats.

        Returns:
            Status and result of the kernel.
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
            known[name] = value
            if isinstance(argument, Array):
                known[name] = _checked(name, argument, value)
            elif isinstance(argument, Number):
                known[name] = np.float64(value)  # divides by 0 as native code does
        with np.errstate(all="ignore"):
            result = self.kernel(*(known[name] for name in self.abi.parameters))
        if self.abi.refuses:
            return result, None
        if isinstance(result, np.generic):
            result = result.item()
        return int(self.abi.failure is not None and result == self.abi.failure), result


class ProgramBinding(Binding):
    """Binding of a function ``(m, d)`` that runs a program of the model, optionally a number of times.

    The Python function handles the first call. It stores the program in the words of the model
    (`cardan.jit.binding.objects.Native`), where native code finds the program by the binding's `index`.

    Args:
        function: the Python function.
        settle: function (program, m, d, status, repeat) that handles the requests of stages; all bindings share it.
        version: address of the version number of the callbacks.
    """

    _count: ClassVar[int] = 0

    @staticmethod
    def take_number(name: str) -> int:
        """Reserve and return the next index of a program in the words of models.

        Raise ValueError, with the `name` of the function, if no index is left.
        """
        index = ProgramBinding._count
        if index >= MOST_PROGRAMS:
            raise ValueError(f"{name}: there are more programs than the {MOST_PROGRAMS} that models keep")
        ProgramBinding._count += 1
        return index

    def __init__(self, function: FunctionType, settle: Callable[..., None], version: int) -> None:
        self.index = ProgramBinding.take_number(function.__name__)
        place = 8 * (FIRST_PROGRAM + PROGRAM_WORDS * self.index)
        super().__init__(function, (place, "nstep" in function.__annotations__))
        self._running = {"settle": id(settle), "version": version, "nstep": id(sys.intern("nstep"))}
        self._settle = settle  # native code refers to it

    def load(self) -> None:
        """Make the function use the native code that all bindings of this class share."""
        from cardan.jit.driver.program import block_driver

        _, (call, table, _) = program_code()
        self._use(call, table, table_words(self._running | {"run_block": block_driver()}))


@cache
def program_code() -> tuple[Any, list[int]]:
    """Load the native code that runs programs: from the package, or compiled here.

    Returns:
        The object that keeps the code loaded, and addresses: of the function that runs programs, of its table, and of
        the function that calls callbacks.
    """
    from cardan.jit.cache.packaged import packaged_object
    from cardan.jit.driver.loader import load_symbols

    object_file = packaged_object(PROGRAM)
    if object_file is None:
        from cardan.jit.cache import store as disk
        from cardan.jit.cache.fingerprint import glue_fingerprint

        key = glue_fingerprint()
        stored = disk.read(PROGRAM, key)
        if stored is None:
            from cardan.jit.binding.glue import program_glue
            from cardan.jit.target.processor import assemble

            stored = PROGRAM, assemble(program_glue())
            disk.write(PROGRAM, key, *stored)
        object_file = stored[1]
    code, addresses = load_symbols(object_file, PROGRAM + CALL, PROGRAM + TABLE_NAME, PROGRAM + GUARD)
    _fill(addresses[1], table_words())
    return code, addresses


def _fill(table: int, words: list[int]) -> None:
    (ctypes.c_int64 * len(words)).from_address(table)[:] = words


def guarded(function: Callable[..., int]) -> Any:
    """Return a callable that calls `function` but never raises, for use by native code.

    If the function raises (a signal handler may run before its first instruction), the callable returns
    `CALLBACK_FAILED` and appends the exception to `escaped`.
    """
    return _maker()(ctypes.byref(_guard_method()), function, "cardan")


@cache
def _guard_method() -> _MethodDef:
    """Return the method table entry of all guarded functions. CPython reads it while any guarded function exists."""
    _, (_, _, guard) = program_code()
    return _MethodDef(b"callback", guard, FAST_WITH_KEYWORDS, None)


def _checked(name: str, argument: Array, value: np.ndarray | None) -> CheckedArray:
    shape = argument.field(name).shape
    if value is None:
        return CheckedArray(name, np.zeros((0,) * len(shape), DTYPES[argument.dtype]), not argument.written)
    return CheckedArray(name, value.reshape(1, -1) if argument.is_row else value, not argument.written)


_STARRED = inspect.CO_VARARGS | inspect.CO_VARKEYWORDS


def _parameters(function: FunctionType) -> str:
    """Format names and defaults of the parameters as in CPython's ``__text_signature__``."""
    code, defaults = function.__code__, function.__defaults__ or ()
    if code.co_kwonlyargcount or code.co_posonlyargcount or code.co_flags & _STARRED:
        raise TypeError(f"{function.__name__}: functions of the interface have plain parameters only")
    names = code.co_varnames[: code.co_argcount]
    required = len(names) - len(defaults)
    given = (f"{name}={value!r}" for name, value in zip(names[required:], defaults, strict=True))
    return ", ".join((*names[:required], *given))


class ProgramTable(Locked):
    """Programs of a model and related objects, by key, for all threads that use the model.

    A key is a pair: a description, and the version of the callbacks. Some programs are *ready*: native code finds them
    through words after the model's address. Look-ups need no lock. All other operations hold `lock`, even while a
    program is made, so that no program is made twice or for outdated settings.

    Args:
        words: the model's array of words (`cardan.jit.binding.objects.Native`).

    Attributes:
        earlier: programs by key and settings, for code that changes an option and then restores it. Access requires the
            lock.
    """

    def __init__(self, words: np.ndarray) -> None:
        super().__init__()
        self.words = words
        self.earlier: dict[Any, Any] = {}
        self._kept: dict[Any, Any] = {}
        self._ready: dict[int, Any] = {}  # programs that native code finds by their addresses
        self._changes = 0

    def get(self, what: Any, version: int) -> Any:
        """Return the program or object for the key (`what`, `version`), or None."""
        return self._kept.get((what, version))

    def of(self, what: Any, version: int, make: Callable[[], Any]) -> Any:
        """Return the object for the key (`what`, `version`). If it is missing, make it, and drop all other versions.

        If settings change while the object is made, it is returned but not stored.
        """
        found = self._kept.get((what, version))
        if found is not None:
            return found
        with self.lock:
            found = self._kept.get((what, version))
            if found is None:
                changes = self._changes
                self._forget_versions_but(version)
                found = make()
                if changes == self._changes:  # otherwise a signal handler has set an option during this call
                    self._kept[what, version] = found
        return found

    def _forget_versions_but(self, version: int) -> None:
        for programs in (self._kept, self.earlier):
            for key in [key for key in programs if key[1] != version]:
                del programs[key]

    def clear(self) -> None:
        """Remove all programs."""
        with self.lock:
            self.earlier.clear()
            self.leave()

    def leave(self) -> None:
        """Stop using all programs, because settings have changed. The programs in `earlier` are kept."""
        with self.lock:
            self._changes += 1
            self.words[FIRST_PROGRAM:] = 0
            self._kept.clear()
            self._ready.clear()

    def make_ready(self, index: int, what: Any, version: int, program: Any) -> None:
        """Let native code find a program while the callbacks have the given version.

        If the program is no longer in use, do nothing.
        """
        with self.lock:
            if self.get(what, version) is program:
                start = FIRST_PROGRAM + PROGRAM_WORDS * index
                before = self._ready.get(index)
                self._ready[index] = program
                self.words[start : start + PROGRAM_WORDS] = program.block_address, version, id(program)
                del before

    def is_ready(self, index: int, program: Any) -> bool:
        """Return whether native code can find this program."""
        return self._ready.get(index) is program

    def __len__(self) -> int:
        return len(self._kept)

    def items(self) -> Iterator[tuple[Any, Any]]:
        """Iterate over keys and values."""
        return iter(list(self._kept.items()))
