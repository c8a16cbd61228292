"""What a compiled stage depends on, as one hash.

Numba's own cache looks at the file of the outermost function only; a change in a called function in another file goes
unnoticed. The fingerprint follows every function that a stage can reach and covers their byte code, their constants,
the module constants they read, and the slots and types of the fields they touch. Adding a field at the end of a table,
or editing an unrelated kernel, changes no fingerprint.
"""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import Any

import llvmlite.binding as llvm
import numpy as np

from cardan.jit.stage import FASTMATH, KERNEL_OPTIONS, Entry
from cardan.jit.struct import Struct

COMPILER_SOURCES = ("compile.py", "native.py", "pointers.py", "stage.py", "struct.py")


def _codes(code: CodeType) -> Iterator[CodeType]:
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _codes(constant)


def _code_text(code: CodeType) -> str:
    doc = code.co_consts[:1] if code.co_consts and isinstance(code.co_consts[0], str) else ()
    constants = [c for c in code.co_consts[len(doc) :] if not isinstance(c, CodeType)]
    return repr((code.co_code, constants, code.co_names, code.co_varnames, code.co_freevars))


def _global_values(function: FunctionType) -> Iterator[tuple[str, Any]]:
    names: set[str] = set()
    for code in _codes(function.__code__):
        names.update(code.co_names)
    for name in sorted(names):
        if name in function.__globals__:
            yield name, function.__globals__[name]
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
        yield name, cell.cell_contents


def _describe(name: str, value: Any) -> str:
    if isinstance(value, ModuleType):
        return f"{name}=module {value.__name__}"
    if isinstance(value, int | float | bool | str | tuple):
        return f"{name}={value!r}"
    if isinstance(value, np.ndarray):
        return f"{name}=array {value.dtype} {value.shape} {hashlib.sha256(value.tobytes()).hexdigest()}"
    python_function = getattr(value, "py_func", None)
    if python_function is not None:
        return f"{name}=jit {_code_text(python_function.__code__)}"
    return f"{name}={getattr(value, '__module__', '')}.{getattr(value, '__qualname__', type(value).__name__)}"


def _reachable(function: FunctionType) -> list[FunctionType]:
    found = {function: None}
    stack = [function]
    while stack:
        for _, value in _global_values(stack.pop()):
            value = getattr(value, "py_func", value)
            if isinstance(value, FunctionType) and value not in found:
                found[value] = None
                stack.append(value)
    return sorted(found, key=lambda f: (f.__module__, f.__qualname__))


def _field_texts(names: set[str]) -> Iterator[str]:
    for struct in Struct.registry.values():
        for i, field in enumerate(struct.fields):
            if field.name.rpartition(".")[2] in names:
                yield f"{struct.name}.{field.name}:{i}:{field.dtype}:{field.shape}"


def environment() -> str:
    """Everything outside the sources that compiled code depends on: versions and the processor."""
    features = llvm.get_host_cpu_features().flatten()
    options = (KERNEL_OPTIONS["error_model"], sorted(FASTMATH))
    folder = Path(__file__).parent
    sources = hashlib.sha256(b"".join((folder / name).read_bytes() for name in COMPILER_SOURCES)).hexdigest()
    versions = (version("numba"), llvm.llvm_version_info, sys.version_info[:2])
    return repr((sources, *versions, llvm.get_host_cpu_name(), features, options))


def fingerprint(entry: Entry) -> str:
    """Hash of everything that the native code of `entry` depends on."""
    digest = hashlib.sha256(_ENVIRONMENT.encode())
    digest.update(repr((entry.name, entry.abi, entry.exact)).encode())
    names: set[str] = set()
    outermost: Any = entry.function  # type checkers take it for a method of the entry
    for function in _reachable(outermost):
        for code in _codes(function.__code__):
            digest.update(_code_text(code).encode())
            names.update(code.co_names)
        for name, value in _global_values(function):
            digest.update(_describe(name, value).encode())
    for text in _field_texts(names):
        digest.update(text.encode())
    return digest.hexdigest()[:32]


_ENVIRONMENT = environment()
