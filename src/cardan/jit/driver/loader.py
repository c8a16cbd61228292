"""Object files in memory: from the cache or the package to a callable address, by LLVM, without Numba."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from typing import Any

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
    """Load object files, together as far as they define different symbols.

    Args:
        objects: a symbol of each file, and the file.

    Returns:
        The addresses of the symbols.
    """
    from cardan.jit.driver.llvm import Engine

    engine, defined, engines = Engine(), set[str](), list[Engine]()
    for symbol, code in objects:
        if symbol in defined:  # an engine would find the first file's symbol for both
            engine, defined = Engine(), set()
        engine.add(code)
        defined.add(symbol)
        engines.append(engine)
    return [Address(engine.address(symbol), engine) for engine, (symbol, _) in zip(engines, objects, strict=True)]


def load_object(symbol: str, code: bytes) -> Address:
    """Load an object file; returns the address of `symbol`."""
    return load_objects([(symbol, code)])[0]


def load_symbols(code: bytes, *symbols: str) -> tuple[Any, list[int]]:
    """Load an object file; returns what keeps it loaded, and the addresses of functions and variables in it."""
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
