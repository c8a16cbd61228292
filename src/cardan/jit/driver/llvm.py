"""What LLVM is needed for beside compiling kernels: assembly, and object files that nothing else here can load."""

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


def assemble(assembly: str, *more: str) -> bytes:
    """Object code of a few lines of LLVM assembly, and of further modules that these refer to, optimised."""
    module, machine = llvm.parse_assembly(assembly), target_machine()
    for text in more:
        module.link_in(llvm.parse_assembly(text))
    module.verify()
    passes = llvm.create_pass_builder(machine, llvm.create_pipeline_tuning_options(speed_level=3))
    passes.getModulePassManager().run(module, passes)
    return machine.emit_object(module)
