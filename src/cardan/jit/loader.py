"""Object files in memory: from the cache to a callable address, with llvmlite alone (no Numba)."""

from __future__ import annotations

import ctypes
from typing import Any

import llvmlite.binding as llvm

_ENGINES: list[Any] = []


def target_machine() -> Any:
    """A code generator for this processor, with all its features."""
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    return llvm.Target.from_default_triple().create_target_machine(
        cpu=llvm.get_host_cpu_name(), features=llvm.get_host_cpu_features().flatten(), opt=3, jit=True
    )


def _engine() -> Any:
    engine = llvm.create_mcjit_compiler(llvm.parse_assembly(""), target_machine())
    _ENGINES.append(engine)
    return engine


def load_object(symbol: str, code: bytes) -> int:
    """Load an object file; returns the address of `symbol`. The code stays loaded until the process ends."""
    engine = _engine()
    engine.add_object_file(llvm.ObjectFileRef.from_data(code))
    engine.finalize_object()
    return engine.get_function_address(symbol)


def load_assembly(symbol: str, assembly: str) -> int:
    """Compile a few lines of LLVM assembly; returns the address of `symbol`."""
    module = llvm.parse_assembly(assembly)
    module.verify()
    engine = _engine()
    engine.add_module(module)
    engine.finalize_object()
    return engine.get_function_address(symbol)


def ctypes_function(address: int, result: Any, *arguments: Any) -> Any:
    """A Python callable around a native address; it releases the GIL while it runs."""
    return ctypes.CFUNCTYPE(result, *arguments)(address)
