"""Loader that lets LLVM load object files, from the cache or the package, into memory, without Numba."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from typing import Any

from cardan.jit.target.processor import assemble, target_machine


class Address(int):
    """Address of native code, valid while the object `keep` is alive: the code's memory, or a callback of ctypes.

    Code that passes the plain number to native code must keep this object alive.
    """

    keep: Any

    def __new__(cls, address: int, keep: Any) -> Address:
        """Make an address; `keep` is the object that keeps it valid."""
        new = super().__new__(cls, address)
        new.keep = keep
        return new


class Engine:
    """Native code that stays loaded while this object is alive."""

    def __init__(self) -> None:
        import llvmlite.binding as llvm

        self._read = llvm.ObjectFileRef.from_data
        self._engine = llvm.create_mcjit_compiler(llvm.parse_assembly(""), target_machine())

    def add(self, code: bytes) -> None:
        """Load another object file."""
        self._engine.add_object_file(self._read(code))

    def address(self, symbol: str) -> int:
        """Return the address of a function or variable of the loaded files."""
        self._engine.finalize_object()
        return self._engine.get_global_value_address(symbol)


def load_objects(objects: Sequence[tuple[str, bytes]]) -> list[Address]:
    """Load object files, all of them into one engine if their symbols differ.

    Args:
        objects: pairs of a symbol and the object file that defines it.

    Returns:
        The addresses of the symbols.
    """
    engine, defined, engines = Engine(), set[str](), list[Engine]()
    for symbol, code in objects:
        if symbol in defined:  # an engine would find the first file's symbol for both
            engine, defined = Engine(), set()
        engine.add(code)
        defined.add(symbol)
        engines.append(engine)
    return [Address(engine.address(symbol), engine) for engine, (symbol, _) in zip(engines, objects, strict=True)]


def load_object(symbol: str, code: bytes) -> Address:
    """Load an object file; return the address of `symbol`."""
    return load_objects([(symbol, code)])[0]


def load_symbols(code: bytes, *symbols: str) -> tuple[Any, list[int]]:
    """Load an object file; return the object that keeps it loaded, and the addresses of the given `symbols`."""
    engine = Engine()
    engine.add(code)
    return engine, [engine.address(symbol) for symbol in symbols]


def load_assembly(symbol: str, assembly: str) -> Address:
    """Compile a few lines of LLVM assembly; return the address of `symbol`."""
    return load_object(symbol, assemble(assembly))


def ctypes_function(address: Address, result: Any, *arguments: Any) -> Any:
    """Make a Python callable for a native function. The callable keeps the address valid; calls release the GIL."""
    function: Any = ctypes.CFUNCTYPE(result, *arguments)(int(address))
    function.code = address
    return function
