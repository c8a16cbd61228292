"""What a compiled stage depends on, as one hash.

Numba's own cache looks at the file of the outermost function only; a change in a called function in another file goes
unnoticed. The fingerprint follows every function that a stage can reach, by its own name, as a member of a module, in a
closure or as a default argument. It covers their byte code, their constants, the constants outside that they read, and
the slots and types of the fields they touch. Adding a field at the end of a table, or editing an unrelated kernel,
changes no fingerprint. What can't be described exactly is refused, so that no code ever runs that is out of date.
"""

from __future__ import annotations

import dis
import hashlib
import sys
from collections.abc import Callable, Iterator
from enum import Enum
from functools import cache, lru_cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from types import BuiltinFunctionType, CodeType, FunctionType, ModuleType
from typing import Any

import llvmlite.binding as llvm
import numpy as np

from cardan.enums.base import MjEnum
from cardan.jit.binding.arguments import Array, CallAbi, Integer
from cardan.jit.front.form import HERE, Form
from cardan.jit.front.stage import FASTMATH, KERNEL_OPTIONS, STAGE_ABI, Abi, Entry
from cardan.jit.memory.struct import structures
from cardan.jit.target.processor import processor

COMPILER_SOURCES = (
    *("front/compile.py", "front/enumerations.py", "front/native.py", "front/pointers.py", "front/stage.py"),
    *("front/form.py", "front/lowering.py", "front/shortcuts.py", "memory/struct.py"),
)
FORM_SOURCES = ("transform/precision.py",)
"""What other forms of code than the usual one depend on besides."""
CALL_SOURCES = ("binding/arguments.py", "binding/glue.py", "binding/objects.py")
"""What the code of functions of the interface depends on besides."""

# packages whose members the compiler has its own versions of: their names and the compiler's version tell all
_OF_THE_COMPILER = frozenset(("builtins", "math", "cmath", "operator", "_operator", "numpy", "numba"))
_REPLACED = "cardan.jit.front.pointers"  # functions with native bodies of their own (part of `COMPILER_SOURCES`)
_LOAD_GLOBAL = dis.opmap["LOAD_GLOBAL"]
_LOADS = ("LOAD_GLOBAL", "LOAD_DEREF")
_MEMBER_LOADS = ("LOAD_ATTR", "LOAD_METHOD")


# what a function refers to ---------------------------------------------------


def _codes(code: CodeType) -> Iterator[CodeType]:
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _codes(constant)


def _code_text(code: CodeType) -> str:
    doc = code.co_consts[:1] if code.co_consts and isinstance(code.co_consts[0], str) else ()
    constants = [c for c in code.co_consts[len(doc) :] if not isinstance(c, CodeType)]
    return repr((code.co_code, constants, code.co_names, code.co_varnames, code.co_freevars))


@lru_cache(maxsize=4096)
def _loaded_globals(code: CodeType) -> frozenset[str]:
    """Names that the code loads from its module; the rest of ``co_names`` are names of attributes."""
    operations, arguments = code.co_code[::2], code.co_code[1::2]
    names = set()
    at = operations.find(_LOAD_GLOBAL)
    while at >= 0:
        argument, before, shift = arguments[at], at - 1, 8
        while before >= 0 and operations[before] == dis.EXTENDED_ARG:
            argument |= arguments[before] << shift
            before, shift = before - 1, shift + 8
        names.add(code.co_names[argument >> 1])  # the lowest bit has another meaning
        at = operations.find(_LOAD_GLOBAL, at + 1)
    return frozenset(names)


def _references(function: FunctionType) -> Iterator[tuple[str, Any]]:
    """Names and values of all that a function reads outside of itself; members of modules stand behind the module."""
    names: set[str] = set()
    for code in _codes(function.__code__):
        names |= _loaded_globals(code)
    for name in sorted(names):
        if name in function.__globals__:
            yield from _with_members(function, name, function.__globals__[name])
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
        yield from _with_members(function, name, cell.cell_contents)
    for i, value in enumerate(function.__defaults__ or ()):
        yield f"default {i}", value
    for name, value in sorted((function.__kwdefaults__ or {}).items()):
        yield f"default {name}", value


def _with_members(function: FunctionType, name: str, value: Any) -> Iterator[tuple[str, Any]]:
    yield name, value
    if isinstance(value, ModuleType) and not _of_the_compiler(value.__name__):
        for code in _codes(function.__code__):
            yield from _members(code, name, value)


def _members(code: CodeType, name: str, module: ModuleType) -> Iterator[tuple[str, Any]]:
    """Names and values of what the code reads as ``module.name`` or ``package.module.name``."""
    value: Any = None  # of the chain of attributes that is being followed
    path = ""
    for instruction in dis.get_instructions(code):
        if instruction.opname in _LOADS:
            value, path = (module, name) if instruction.argval == name else (None, "")
        elif instruction.opname in _MEMBER_LOADS and isinstance(value, ModuleType):
            path = f"{path}.{instruction.argval}"
            value = getattr(value, instruction.argval, None)
            if value is not None and not _of_the_compiler(getattr(value, "__name__", "")):
                yield path, value
        else:
            value = None


def _of_the_compiler(module: str | None) -> bool:
    return (module or "").partition(".")[0] in _OF_THE_COMPILER


def _python_function(value: Any) -> FunctionType | None:
    """The function that is compiled where a value is called, or None: the compiler's own ones aren't followed."""
    value = getattr(value, "py_func", value)
    return value if isinstance(value, FunctionType) and not _of_the_compiler(value.__module__) else None


def _functions_in(value: Any) -> Iterator[FunctionType]:
    """The function that a value is, or those that a tuple holds."""
    if isinstance(value, tuple):
        for part in value:
            yield from _functions_in(part)
    elif (called := _python_function(value)) is not None:
        yield called


def _reachable(function: FunctionType) -> list[FunctionType]:
    found = {function: None}
    stack = [function]
    while stack:
        for _, value in _references(stack.pop()):
            new = [called for called in _functions_in(value) if called not in found]
            found.update(dict.fromkeys(new))
            stack += new
    return sorted(found, key=lambda f: (f.__module__, f.__qualname__))


def code_size(entry: Entry) -> int:
    """Bytes of byte code of all functions that an entry can reach: the time to compile it grows with them."""
    outermost: Any = entry.function
    return sum(len(code.co_code) for function in _reachable(outermost) for code in _codes(function.__code__))


# values as text --------------------------------------------------------------


def _array_text(value: np.ndarray) -> str | None:
    if value.dtype.hasobject:
        return None
    return f"array {value.dtype} {value.shape} {value.strides} {hashlib.sha256(value.tobytes()).hexdigest()}"


def _tuple_text(value: tuple[Any, ...]) -> str | None:
    if type(value) is tuple and all(type(part) in (int, float, bool, str) for part in value):
        return repr(value)
    parts = [_text(part) for part in value]
    if None in parts:
        return None
    return f"{type(value).__qualname__}{getattr(value, '_fields', '')}({', '.join(map(str, parts))})"


def _function_text(value: Any) -> str:
    return f"{value.__module__}.{value.__qualname__}"


def _class_text(value: type) -> str | None:
    if issubclass(value, Enum | MjEnum):
        return f"{_function_text(value)} {[(name, member.value) for name, member in value.__members__.items()]!r}"
    fields = getattr(value, "_fields", None)
    if issubclass(value, tuple) and fields is not None:
        return f"{_function_text(value)} {fields!r}"
    return _function_text(value) if _of_the_compiler(value.__module__) else None


def _builtin_text(value: Any) -> str | None:
    module = getattr(value, "__module__", None) or "numpy"  # NumPy's own functions need not have one
    return f"{module}.{getattr(value, '__qualname__', value.__name__)}" if _of_the_compiler(module) else None


# kinds of values that kernels may read, the first that fits, and their text; None if this one can't be described
_TEXTS: tuple[tuple[Any, Callable[[Any], str | None]], ...] = (
    (ModuleType, lambda value: f"module {value.__name__}"),
    (np.generic, lambda value: f"scalar {value.dtype} {value.tobytes().hex()}"),
    (int | float | complex | bool | str | bytes | None | Enum | MjEnum | np.dtype, repr),
    (tuple, _tuple_text),
    (np.ndarray, _array_text),
    (type, _class_text),
    (FunctionType, _function_text),
    (BuiltinFunctionType | np.ufunc | type(np.sum), _builtin_text),
)


def _text(value: Any) -> str | None:
    """Text that is the same as long as compiled code may use the value; None if there is no such text."""
    if _python_function(value) is not None and not isinstance(value, FunctionType):
        return f"jit {_code_text(value.py_func.__code__)} {sorted(value.targetoptions.items())!r}"
    for kind, text in _TEXTS:
        if isinstance(value, kind):
            return text(value)
    return f"type {value}" if type(value).__module__.startswith("numba.core.types") else None


def _describe(function: FunctionType, name: str, value: Any) -> str:
    """The text of a reference.

    Raises:
        KernelError: the value is of a kind that compiled code can't depend on.
    """
    text = _text(value)
    if text is None and function.__module__ == _REPLACED:
        text = f"{getattr(value, '__module__', '')}.{getattr(value, '__qualname__', type(value).__name__)}"
    if text is None:
        from cardan.jit.front.compile import KernelError

        raise KernelError(
            f"{function.__module__}.{function.__qualname__} reads {name}, an object of type {type(value).__name__}: "
            "there is no telling whether compiled code that uses it is still up to date. Kernels may refer to numbers, "
            "strings, tuples, NumPy arrays and scalars, enumerations, and functions that are compiled with them; other "
            "values are best passed in through fields of the model or the data (d.userdata, m.numeric_data)."
        )
    return f"{name}={text}"


def _field_texts(entry: Entry, names: set[str]) -> Iterator[str]:
    """Places and types of fields by these names, in the structures that an entry sees."""
    seen = entry.abi.structs if isinstance(entry.abi, Abi) else STAGE_ABI.structs
    for struct in (structures()[name] for name in seen):
        for i, field in enumerate(struct.fields):
            if field.name.rpartition(".")[2] in names:
                yield f"{struct.name}.{field.name}:{i}:{field.dtype}:{field.shape}"


def _numba_version() -> str:
    try:
        return version("numba")
    except PackageNotFoundError:
        return "none"


@lru_cache(maxsize=16)
def environment(target: tuple[str, str]) -> str:
    """Everything outside the sources that compiled code depends on: versions and the processor."""
    options = (KERNEL_OPTIONS["error_model"], sorted(FASTMATH))
    versions = (_numba_version(), llvm.llvm_version_info, sys.version_info[:2])
    return repr((_sources(COMPILER_SOURCES), *versions, *target, options))


def glue_fingerprint(target: tuple[str, str] | None = None) -> str:
    """Hash of what the native code around programs depends on; `target`: two words for a processor."""
    return hashlib.sha256((environment(target or processor()) + _sources(CALL_SOURCES)).encode()).hexdigest()[:32]


@cache
def _sources(names: tuple[str, ...]) -> str:
    """Hash of some files of this package."""
    folder = Path(__file__).parents[1]
    return hashlib.sha256(b"".join((folder / name).read_bytes() for name in names)).hexdigest()


def _sizes(abi: CallAbi) -> set[str]:
    """Names of the scalars that the sizes of the arguments of a function mention."""
    texts = [size for _, a in abi.arguments if isinstance(a, Array) for size in a.shape if isinstance(size, str)]
    texts += [a.below for _, a in abi.arguments if isinstance(a, Integer)]
    return {factor for text in texts for factor in text.split("*")}


def fingerprint(entry: Entry, form: Form = HERE) -> str:
    """Hash of everything that the native code of `entry` depends on.

    Args:
        entry: what is compiled.
        form: what is made of it, for which processor.

    Raises:
        KernelError: it refers to a value of a kind that can't be hashed.
    """
    digest = hashlib.sha256(environment(form.target or processor()).encode())
    if (form.layout, form.precision) != (HERE.layout, HERE.precision):
        digest.update(repr((form.layout, form.precision, _sources(FORM_SOURCES))).encode())
    digest.update(repr((entry.name, entry.abi, entry.exact)).encode())
    if isinstance(entry.abi, CallAbi):
        digest.update(_sources(CALL_SOURCES).encode())
        digest.update("".join(_field_texts(entry, _sizes(entry.abi))).encode())
    names: set[str] = set()
    outermost: Any = entry.function  # type checkers take it for a method of the entry
    for function in _reachable(outermost):
        for code in _codes(function.__code__):
            digest.update(_code_text(code).encode())
            names.update(code.co_names)
        for name, value in _references(function):
            digest.update(_describe(function, name, value).encode())
    for text in _field_texts(entry, names):
        digest.update(text.encode())
    return digest.hexdigest()[:32]


def transformed_fingerprint(entry: Entry, sources: tuple[str, ...], what: str = "") -> str:
    """Hash of what code depends on that is made from an entry by a transformation.

    Args:
        entry: what is transformed.
        sources: the files of this package that do it.
        what: how.

    Raises:
        KernelError: as in `fingerprint`.
    """
    return hashlib.sha256((fingerprint(entry) + _sources(sources) + what).encode()).hexdigest()[:32]
