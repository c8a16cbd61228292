"""Processors and systems for which kernels are compiled: this computer, and the targets of wheels.

Kernels are compiled for this processor, or for the processor that ``CARDAN_CPU`` names. The names are LLVM's:
``x86-64`` for code that runs on every such processor, ``x86-64-v3`` for processors with AVX2, ``x86-64-v4`` for
processors with AVX-512, ``generic``, or the name of one model. The name determines the features.

A *platform* is an operating system together with an architecture; each wheel is for one platform. A *level* is LLVM's
name for a processor, or for the common features of a generation of processors. The kernels of a wheel are compiled for
each level of its platform.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from functools import cache
from typing import Any, NamedTuple


def processor() -> tuple[str, str]:
    """Return name and features of the processor, as LLVM writes them."""
    name = os.environ.get("CARDAN_CPU")
    return (name, "") if name else _this_processor()


@cache
def _this_processor() -> tuple[str, str]:
    import llvmlite.binding as llvm

    return llvm.get_host_cpu_name(), llvm.get_host_cpu_features().flatten()


def target_machine() -> Any:
    """Return LLVM's code generator for the processor that kernels are compiled for."""
    import llvmlite.binding as llvm

    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    name, features = processor()
    return llvm.Target.from_default_triple().create_target_machine(cpu=name, features=features, opt=3, jit=True)


def assemble(assembly: str, *more: str) -> bytes:
    """Compile LLVM assembly to optimised object code, linked with the modules `more`, to which the assembly refers."""
    import llvmlite.binding as llvm

    module, machine = llvm.parse_assembly(assembly), target_machine()
    for text in more:
        module.link_in(llvm.parse_assembly(text))
    module.verify()
    passes = llvm.create_pass_builder(machine, llvm.create_pipeline_tuning_options(speed_level=3))
    passes.getModulePassManager().run(module, passes)
    return machine.emit_object(module)


class Platform(NamedTuple):
    """An operating system together with an architecture.

    Attributes:
        name: name of the platform in archives: the system and the architecture.
        triple: target triple of LLVM. On Windows, it specifies ELF files, because LLVM itself loads the code.
        levels: processor levels, the best first.
        wheel: the platform's tag in names of wheels.
    """

    name: str
    triple: str
    levels: tuple[str, ...]
    wheel: str


PLATFORMS: dict[str, Platform] = {
    platform.name: platform
    for platform in (
        Platform("linux-x86_64", "x86_64-unknown-linux-gnu", ("x86-64-v4", "x86-64-v3"), "manylinux_2_17_x86_64"),
        Platform("linux-aarch64", "aarch64-unknown-linux-gnu", ("generic",), "manylinux_2_17_aarch64"),
        Platform("win32-x86_64", "x86_64-pc-windows-msvc-elf", ("x86-64-v4", "x86-64-v3"), "win_amd64"),
        Platform("darwin-aarch64", "arm64-apple-macosx11.0.0", ("apple-m1",), "macosx_11_0_arm64"),
    )
}

_V3 = ("avx", "avx2", "bmi", "bmi2", "f16c", "fma", "lzcnt", "movbe", "popcnt", "sse4.2")
_V4 = ("avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl")
NEEDS: Mapping[str, tuple[str, ...]] = {
    "x86-64-v3": _V3,
    "x86-64-v4": (*_V3, *_V4),
    "generic": (),
    "apple-m1": (),  # the first processor of this platform
}
"""Features that a processor must have for each level, as LLVM names them (x86-64 psABI, micro-architecture levels)."""


def host_platform() -> str:
    """Return the name of this process's platform, which may be missing in `PLATFORMS`."""
    if sys.platform == "win32":
        machine = os.environ.get("PROCESSOR_ARCHITECTURE", "")
    else:
        machine = os.uname().machine
    names = {"amd64": "x86_64", "arm64": "aarch64"}
    return f"{sys.platform}-{names.get(machine.lower(), machine.lower())}"


def runs(level: str) -> bool:
    """Return whether this processor has a level's features; if ``CARDAN_CPU`` is set, whether it names the level."""
    named = os.environ.get("CARDAN_CPU")
    if named:
        return named == level
    return not NEEDS[level] or _features().issuperset(NEEDS[level])


@cache
def _features() -> set[str]:
    import llvmlite.binding as llvm

    return {name for name, there in llvm.get_host_cpu_features().items() if there}


def foreign_machine(platform: Platform, level: str) -> Any:
    """Return a code generator for a processor level of a platform that may differ from this computer's."""
    import llvmlite.binding as llvm

    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    return llvm.Target.from_triple(platform.triple).create_target_machine(cpu=level, features="", opt=3, jit=True)
