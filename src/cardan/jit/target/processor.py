"""The processor that kernels are compiled for: this one, or the one that ``CARDAN_CPU`` names.

The names are LLVM's: ``x86-64`` for code that runs on every such processor, ``x86-64-v3`` for those with AVX2,
``x86-64-v4`` for those with AVX-512, ``generic``, or one model. Its features follow from the name.
"""

from __future__ import annotations

import os
from functools import cache
from typing import Any


def processor() -> tuple[str, str]:
    """Name and features of the processor, as LLVM writes them."""
    name = os.environ.get("CARDAN_CPU")
    return (name, "") if name else _this_processor()


@cache
def _this_processor() -> tuple[str, str]:
    import llvmlite.binding as llvm

    return llvm.get_host_cpu_name(), llvm.get_host_cpu_features().flatten()


def target_machine() -> Any:
    """LLVM's code generator for the processor that kernels are compiled for."""
    import llvmlite.binding as llvm

    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    name, features = processor()
    return llvm.Target.from_default_triple().create_target_machine(cpu=name, features=features, opt=3, jit=True)


def assemble(assembly: str, *more: str) -> bytes:
    """Object code of a few lines of LLVM assembly, and of further modules that these refer to, optimised."""
    import llvmlite.binding as llvm

    module, machine = llvm.parse_assembly(assembly), target_machine()
    for text in more:
        module.link_in(llvm.parse_assembly(text))
    module.verify()
    passes = llvm.create_pass_builder(machine, llvm.create_pipeline_tuning_options(speed_level=3))
    passes.getModulePassManager().run(module, passes)
    return machine.emit_object(module)
