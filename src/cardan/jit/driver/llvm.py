"""Object files in memory, loaded by LLVM."""

from __future__ import annotations

import llvmlite.binding as llvm

from cardan.jit.target.processor import target_machine


class Engine:
    """Native code, which is there as long as this is."""

    def __init__(self) -> None:
        self._engine = llvm.create_mcjit_compiler(llvm.parse_assembly(""), target_machine())

    def add(self, code: bytes) -> None:
        """Load a further object file."""
        self._engine.add_object_file(llvm.ObjectFileRef.from_data(code))

    def address(self, symbol: str) -> int:
        """Address of a function or variable of the files."""
        self._engine.finalize_object()
        return self._engine.get_global_value_address(symbol)
