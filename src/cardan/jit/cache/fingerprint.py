"""Fingerprints: hashes of all inputs on which compiled stages depend.

Numba's own cache looks only at the file of the outermost function. It does not notice a change in a called function in
another file. The fingerprint follows every function that a stage can reach: by its own name, as a member of a module,
in a closure or as a default argument. It covers:

- their byte code, their constants, the outside constants that they read, and the slots and types of their fields;
- all sources of the compiler;
- the versions of Python, NumPy, Numba, llvmlite and LLVM, Numba's options, and the processor.

Adding a field at the end of a table, or editing an unrelated kernel, changes no fingerprint. Neither does editing a
comment or a docstring of a kernel. Values that can't be described exactly are refused, so that no outdated code is run.
"""

from __future__ import annotations

import dis
import hashlib
import os
import sys
from collections.abc import Callable, Iterable, Iterator
from enum import Enum
from functools import cache, lru_cache
from pathlib import Path
from types import BuiltinFunctionType, CodeType, FunctionType, ModuleType
from typing import Any

import llvmlite
import llvmlite.binding as llvm
import numpy as np

from cardan.enums.base import MjEnum
from cardan.jit.binding.arguments import Array, CallAbi, Integer
from cardan.jit.front.stage import FASTMATH, HERE, KERNEL_OPTIONS, STAGE_ABI, Abi, Entry, Form
from cardan.jit.memory.fields import structures
from cardan.jit.target.processor import processor

PACKAGE = Path(__file__).resolve().parents[2]
COMPILER = ("enums", "tangents", *(f"jit/{part}" for part in ("binding", "front", "memory", "target")))
"""Folders of this package whose sources determine the generated native code."""
NUMBA = "NUMBA_"
HARMLESS = frozenset(
    (
        *("CACHE_DIR", "COLOR_SCHEME", "DISABLE_JIT", "DISABLE_PERFORMANCE_WARNINGS", "FULL_TRACEBACKS"),
        *("NUM_THREADS", "THREADING_LAYER", "THREADING_LAYER_PRIORITY"),
        *("NUMBA_NUM_THREADS", "NUMBA_DEFAULT_NUM_THREADS", "USING_SVML"),  # found by Numba itself when it is imported
    )
)
"""Numba's options that don't change code. All other options are part of every fingerprint if they are set."""
NUMBA_FILE = ".numba_config.yaml"
"""File with Numba's options, in the working directory."""

# packages that the compiler replaces by its own versions: names and the compiler's version identify their members
_OF_THE_COMPILER = frozenset(("builtins", "math", "cmath", "operator", "_operator", "numpy", "numba"))
_REPLACED = "cardan.jit.memory.view"  # functions with native bodies of their own (part of `COMPILER`)
_IMPORT_NAME = dis.opmap["IMPORT_NAME"]
_LOAD_GLOBAL = dis.opmap["LOAD_GLOBAL"]
_LOADS = ("LOAD_GLOBAL", "LOAD_DEREF")
_MEMBER_LOADS = ("LOAD_ATTR", "LOAD_METHOD")


# references of a function ---------------------------------------------------


def _codes(code: CodeType) -> Iterator[CodeType]:
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _codes(constant)


def _code_text(code: CodeType) -> str:
    constants = [c for c in _constants(code) if not isinstance(c, CodeType)]
    names = code.co_names, code.co_varnames, code.co_freevars, code.co_cellvars
    arguments = code.co_argcount, code.co_posonlyargcount, code.co_kwonlyargcount, code.co_flags
    return repr((code.co_code, code.co_exceptiontable, constants, names, arguments))


def _constants(code: CodeType) -> tuple[Any, ...]:
    return code.co_consts[_has_docstring(code) :]


def _has_docstring(code: CodeType) -> bool:
    """Return whether the code has a docstring: a text as its first constant, which no instruction loads."""
    if not code.co_consts or not isinstance(code.co_consts[0], str):
        return False
    operations, arguments = code.co_code[::2], code.co_code[1::2]
    for operation in dis.hasconst:
        at = operations.find(operation) if operation < 256 else -1  # larger ones are the compiler's own
        while at >= 0:
            if arguments[at] == 0:
                return False
            at = operations.find(operation, at + 1)
    return True


@lru_cache(maxsize=4096)
def _loaded_globals(code: CodeType) -> frozenset[str]:
    """Return the names that the code loads from its module. Other names in ``co_names`` are attributes."""
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


class _Loose:
    """Marker for a module that a function uses other than as `module.name`, so that the used members are unknown."""


_Loose.__name__ = "module (other than as module.name)"


def _references(function: FunctionType) -> Iterator[tuple[str, Any]]:
    """Iterate over names and values of all outside objects that a function reads, including members of modules."""
    names: set[str] = set()
    for code in _codes(function.__code__):
        names |= _loaded_globals(code)
    for name in sorted(names):
        if name in function.__globals__:
            yield from _with_members(function, name, function.__globals__[name])
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
        yield from _with_members(function, name, cell.cell_contents)
    defaults = {**dict(enumerate(function.__defaults__ or ())), **dict(sorted((function.__kwdefaults__ or {}).items()))}
    for name, value in defaults.items():
        yield f"default {name}", _Loose() if isinstance(value, ModuleType) else value
    if _IMPORT_NAME in function.__code__.co_code[::2]:
        yield "an import", _Loose()
    for number, implementation in enumerate(_overloads(function)):
        yield f"overload {number}", implementation


def _overloads(function: FunctionType) -> Iterator[FunctionType]:
    """Iterate over overloads of a function that users registered. Numba compiles them in place of the function."""
    templates = sys.modules.get("numba.core.typing.templates")
    if templates is None or "__cardan_kernel__" in function.__dict__ or function.__module__ == _REPLACED:
        return
    for value, kind in templates.builtin_registry.globals:
        for template in getattr(kind, "templates", ()) if value is function else ():
            implementation = _python_function(getattr(template, "_overload_func", None))
            if implementation is not None:
                yield implementation


def _with_members(function: FunctionType, name: str, value: Any) -> Iterator[tuple[str, Any]]:
    yield name, value
    if isinstance(value, ModuleType) and not _of_the_compiler(value.__name__):
        for code in _codes(function.__code__):
            yield from _members(code, name, value)


def _members(code: CodeType, name: str, module: ModuleType) -> Iterator[tuple[str, Any]]:
    """Iterate over names and values that the code reads as ``module.name`` or ``package.module.name``."""
    value: Any = None  # object at the end of the chain of attributes that is being followed
    path = ""
    for instruction in dis.get_instructions(code):
        if instruction.opname == "EXTENDED_ARG":
            continue
        if instruction.opname in _MEMBER_LOADS and value is not None:
            path = f"{path}.{instruction.argval}"
            value = getattr(value, instruction.argval, None)
            if value is not None and not _of_the_compiler(getattr(value, "__name__", "")):
                yield path, value
        elif value is not None:
            yield path, _Loose()
        is_module = isinstance(value, ModuleType) and not _of_the_compiler(value.__name__)
        value = value if is_module and instruction.opname in _MEMBER_LOADS else None
        if instruction.opname in _LOADS and instruction.argval == name:
            value, path = module, name


def _of_the_compiler(module: str | None) -> bool:
    return (module or "").partition(".")[0] in _OF_THE_COMPILER


def _python_function(value: Any) -> FunctionType | None:
    """Return the Python function that is compiled if a value is called; None if the compiler provides the function."""
    value = getattr(value, "py_func", value)
    return value if isinstance(value, FunctionType) and not _of_the_compiler(value.__module__) else None


def _functions_in(value: Any) -> Iterator[FunctionType]:
    """Iterate over the functions in a value, which may be a function, or a tuple that contains functions."""
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
    """Return the size of all byte code that an entry can reach. The compile time is proportional to this size."""
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


def _member_text(value: Any) -> str:
    return f"{_function_text(type(value))}.{value.name} {value.value!r}"


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


# kinds of values that kernels may read, with a function for their text, or None if a value can't be described
_TEXTS: tuple[tuple[Any, Callable[[Any], str | None]], ...] = (
    (ModuleType, lambda value: f"module {value.__name__}"),
    (np.generic, lambda value: f"scalar {value.dtype} {value.tobytes().hex()}"),
    (Enum | MjEnum, _member_text),
    (int | float | complex | bool | str | bytes | None | np.dtype, repr),
    (tuple, _tuple_text),
    (np.ndarray, _array_text),
    (type, _class_text),
    (FunctionType, _function_text),
    (BuiltinFunctionType | np.ufunc | type(np.sum), _builtin_text),
)


def _text(value: Any) -> str | None:
    """Return a text that identifies a value in compiled code, or None if the value is of an unknown kind."""
    if _python_function(value) is not None and not isinstance(value, FunctionType):
        options = sorted(value.targetoptions.items()), sorted(value.locals.items())
        return f"jit {_code_text(value.py_func.__code__)} {options!r}"
    for kind, text in _TEXTS:
        if isinstance(value, kind):
            return text(value)
    return f"type {value}" if type(value).__module__.startswith("numba.core.types") else None


def _describe(function: FunctionType, name: str, value: Any) -> str:
    """Return the text that represents a reference in a fingerprint.

    Raises:
        KernelError: compiled code can't depend on values of this kind.
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
    """Iterate over slots and types of the fields called `names` in the structures that an entry sees."""
    seen = entry.abi.structs if isinstance(entry.abi, Abi) else STAGE_ABI.structs
    for struct in (structures()[name] for name in seen):
        for i, field in enumerate(struct.fields):
            if field.name.rpartition(".")[2] in names:
                yield f"{struct.name}.{field.name}:{i}:{field.dtype}:{field.shape}:{struct.readonly}"


def _numba_version() -> str:
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version("numba")
    except PackageNotFoundError:
        return "none"


def numba_options() -> str:
    """Return Numba's options that may change code: from the environment, from its file, and set by a program.

    Options set by a program are the members of `numba.config` that differ from their initial values. There are none
    before Numba is imported.
    """
    names = sorted(name for name in os.environ if name.startswith(NUMBA) and name[len(NUMBA) :] not in HARMLESS)
    options = [(name, os.environ[name]) for name in names]
    config = sys.modules.get("numba.core.config")
    if config is None:
        return repr((options, _options_file()))
    changed = [
        (name, now) for name, usual in _usual_options().items() if (now := getattr(config, name, usual)) != usual
    ]
    return repr((options, _options_file(), *changed))


@cache
def _options_file() -> bytes:
    """Return the content of Numba's file of options, which Numba reads when it is imported."""
    try:
        return Path(NUMBA_FILE).read_bytes()
    except OSError:
        return b""


@cache
def _usual_options() -> dict[str, Any]:
    """Return the members of `numba.config` before a program changes them."""
    from importlib.util import module_from_spec, spec_from_file_location

    spec = spec_from_file_location("cardan_usual_numba_options", sys.modules["numba.core.config"].__file__ or "")
    assert spec is not None and spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return {name: value for name, value in vars(module).items() if name.isupper() and name not in HARMLESS}


@lru_cache(maxsize=16)
def environment(target: tuple[str, str], options: str) -> str:
    """Return a text with all inputs of compiled code that do not belong to a kernel.

    Args:
        target: LLVM's name and features of a processor.
        options: Numba's options, as text.
    """
    python = sys.implementation.name, sys.version_info[:3], getattr(sys, "abiflags", "")
    versions = _numba_version(), llvmlite.__version__, llvm.llvm_version_info, np.__version__
    rounding = KERNEL_OPTIONS["error_model"], sorted(FASTMATH)
    return repr((compiler_sources(), python, versions, target, options, rounding))


def glue_fingerprint(target: tuple[str, str] | None = None) -> str:
    """Return a hash of all inputs on which the native code around programs depends.

    `target` is the name and the features of a processor; None: the processor of this process.
    """
    return _hash(environment(target or processor(), numba_options()))


def derived_key(keys: Iterable[str], what: str, source: str) -> str:
    """Return the cache key of a result that is derived from cached inputs.

    Args:
        keys: keys of the inputs.
        what: method of derivation, if there are several.
        source: path of the file whose code derives the result; functions that this code calls are part of `COMPILER`.
    """
    return _hash(repr((list(keys), what, _content(Path(source)))))


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:32]


def compiler_files(package: Path = PACKAGE) -> list[Path]:
    """List the Python files in the folders `COMPILER`."""
    return [file for folder in COMPILER for file in sorted((package / folder).rglob("*.py"))]


@cache
def compiler_sources(package: Path = PACKAGE) -> str:
    """Return a hash of the names and contents of all files of `COMPILER`."""
    digest = hashlib.sha256()
    for file in compiler_files(package):
        content = file.read_bytes()
        digest.update(f"{file.relative_to(package).as_posix()} {len(content)}\n".encode() + content)
    return digest.hexdigest()


@cache
def _content(file: Path) -> str:
    return hashlib.sha256(file.read_bytes()).hexdigest()


def _sizes(abi: CallAbi) -> set[str]:
    """Return the names of all sizes that the arguments of a function of the interface depend on."""
    texts = [size for _, a in abi.arguments if isinstance(a, Array) for size in a.shape if isinstance(size, str)]
    texts += [a.below for _, a in abi.arguments if isinstance(a, Integer)]
    return {factor for text in texts for factor in text.split("*")}


def fingerprint(entry: Entry, form: Form = HERE) -> str:
    """Return a hash of all inputs on which the native code of an entry depends.

    Args:
        entry: the entry.
        form: the form of its native code.

    Raises:
        KernelError: the entry refers to a value of a kind that can't be hashed.
    """
    digest = hashlib.sha256(environment(form.target or processor(), numba_options()).encode())
    digest.update(repr((form.layout, form.precision, entry.name, entry.abi, entry.exact)).encode())
    if isinstance(entry.abi, CallAbi):
        digest.update("".join(_field_texts(entry, _sizes(entry.abi))).encode())
    names: set[str] = set()
    outermost: Any = entry.function  # type checkers mistake it for a method of the entry
    for function in _reachable(outermost):
        for code in _codes(function.__code__):
            digest.update(_code_text(code).encode())
            names.update(code.co_names, (c for c in _constants(code) if isinstance(c, str)))  # texts: of getattr
        for name, value in _references(function):
            digest.update(_describe(function, name, value).encode())
    for text in _field_texts(entry, names):
        digest.update(text.encode())
    return digest.hexdigest()[:32]
