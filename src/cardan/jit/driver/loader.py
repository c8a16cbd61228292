"""Object files in memory: from the cache or the package to a callable address, without Numba, and here without LLVM."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from typing import Any

from cardan.jit.driver import elf
from cardan.jit.target.processor import target_machine

__all__ = [
    "Address",
    "ctypes_function",
    "load_assembly",
    "load_object",
    "load_objects",
    "load_symbols",
    "target_machine",
]


class Address(int):
    """Address of native code, which is there as long as `keep` is: its memory, or a callback of ctypes.

    Whoever stores the bare number where native code finds it must hold the object, too.
    """

    keep: Any

    def __new__(cls, address: int, keep: Any) -> Address:
        """An address and the object that it is good with."""
        new = super().__new__(cls, address)
        new.keep = keep
        return new


def load_objects(objects: Sequence[tuple[str, bytes]]) -> list[Address]:
    """Load object files together, in one piece of memory, where many small ones cost little.

    Args:
        objects: a symbol of each file, and the file.

    Returns:
        The addresses of the symbols.
    """
    loaded = elf.load([code for _, code in objects])
    if loaded is not None:
        memory, tables = loaded
        return [Address(table[symbol], memory) for (symbol, _), table in zip(objects, tables, strict=True)]
    from cardan.jit.driver.llvm import Engine

    engine = Engine()
    for _, code in objects:
        engine.add(code)
    return [Address(engine.address(symbol), engine) for symbol, _ in objects]


def load_object(symbol: str, code: bytes) -> Address:
    """Load an object file; returns the address of `symbol`."""
    return load_objects([(symbol, code)])[0]


def load_symbols(code: bytes, *symbols: str) -> tuple[Any, list[int]]:
    """Load an object file; returns what keeps it loaded, and the addresses of functions and variables in it."""
    loaded = elf.load([code])
    if loaded is not None:
        memory, (table,) = loaded
        return memory, [table[symbol] for symbol in symbols]
    from cardan.jit.driver.llvm import Engine

    engine = Engine()
    engine.add(code)
    return engine, [engine.address(symbol) for symbol in symbols]


def load_assembly(symbol: str, assembly: str) -> Address:
    """Compile a few lines of LLVM assembly; returns the address of `symbol`."""
    from cardan.jit.target.processor import assemble

    return load_object(symbol, assemble(assembly))


def ctypes_function(address: Address, result: Any, *arguments: Any) -> Any:
    """A Python callable around a native address, which it keeps valid; it releases the GIL while it runs."""
    function: Any = ctypes.CFUNCTYPE(result, *arguments)(int(address))
    function.code = address
    return function
