"""Object files in memory: from the cache to a callable address, with llvmlite alone (no Numba)."""

from __future__ import annotations

import ctypes
from collections.abc import Iterable
from typing import Any

import llvmlite.binding as llvm

from cardan.jit.target.processor import processor


class Address(int):
    """Address of native code, which is there as long as `keep` is: an execution engine, or a callback of ctypes.

    Whoever stores the bare number where native code finds it must hold the object, too.
    """

    keep: Any

    def __new__(cls, address: int, keep: Any) -> Address:
        """An address and the object that it is good with."""
        new = super().__new__(cls, address)
        new.keep = keep
        return new


def target_machine() -> Any:
    """A code generator for the processor that kernels are compiled for."""
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    name, features = processor()
    return llvm.Target.from_default_triple().create_target_machine(cpu=name, features=features, opt=3, jit=True)


def _engine() -> Any:
    return llvm.create_mcjit_compiler(llvm.parse_assembly(""), target_machine())


def load_object(symbol: str, code: bytes) -> Address:
    """Load an object file; returns the address of `symbol`."""
    engine = _engine()
    engine.add_object_file(llvm.ObjectFileRef.from_data(code))
    engine.finalize_object()
    return Address(engine.get_function_address(symbol), engine)


def load_symbols(code: bytes, *symbols: str) -> tuple[Any, list[int]]:
    """Load an object file; returns what keeps it loaded, and the addresses of functions and variables in it."""
    engine = _engine()
    engine.add_object_file(llvm.ObjectFileRef.from_data(code))
    engine.finalize_object()
    return engine, [engine.get_global_value_address(symbol) for symbol in symbols]


def assemble(assembly: str) -> bytes:
    """Object code of a few lines of LLVM assembly, optimised."""
    module, machine = llvm.parse_assembly(assembly), target_machine()
    module.verify()
    passes = llvm.create_pass_builder(machine, llvm.create_pipeline_tuning_options(speed_level=3))
    passes.getModulePassManager().run(module, passes)
    return machine.emit_object(module)


class Linker:
    """Object files loaded together, in one piece of memory: many small ones cost little. They are never unloaded."""

    def __init__(self) -> None:
        self._engine = _engine()

    def load(self, objects: Iterable[tuple[str, bytes]]) -> list[Address]:
        """Load further object files, given with a symbol of each; returns the addresses of the symbols."""
        symbols = []
        for symbol, code in objects:
            self._engine.add_object_file(llvm.ObjectFileRef.from_data(code))
            symbols.append(symbol)
        self._engine.finalize_object()
        return [Address(self._engine.get_function_address(symbol), self._engine) for symbol in symbols]


def load_assembly(symbol: str, assembly: str) -> Address:
    """Compile a few lines of LLVM assembly; returns the address of `symbol`."""
    module = llvm.parse_assembly(assembly)
    module.verify()
    engine = _engine()
    engine.add_module(module)
    engine.finalize_object()
    return Address(engine.get_function_address(symbol), engine)


def ctypes_function(address: Address, result: Any, *arguments: Any) -> Any:
    """A Python callable around a native address, which it keeps valid; it releases the GIL while it runs."""
    function: Any = ctypes.CFUNCTYPE(result, *arguments)(int(address))
    function.code = address
    return function
