"""Processors and systems that kernels are compiled for ahead of time, and which of them this machine can run.

A *platform* is a system and an architecture, which share wheels; a *level* is a name of LLVM's for a processor, or for
what a generation of processors has in common. The kernels of a wheel are compiled for each level of its platform.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from functools import cache
from typing import Any, NamedTuple


class Platform(NamedTuple):
    """A system and an architecture.

    Attributes:
        name: what archives call it: the system and the architecture.
        triple: what LLVM calls it. On Windows, code that is loaded by LLVM itself is in ELF files.
        levels: levels of processors, the best first.
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
    "apple-m1": (),  # the first processor that this platform had
}
"""What a processor must have for a level, in LLVM's words (x86-64 psABI, micro-architecture levels)."""


def host_platform() -> str:
    """Name of the platform that this process runs on; it need not be one of `PLATFORMS`."""
    if sys.platform == "win32":
        machine = os.environ.get("PROCESSOR_ARCHITECTURE", "")
    else:
        machine = os.uname().machine
    names = {"amd64": "x86_64", "arm64": "aarch64"}
    return f"{sys.platform}-{names.get(machine.lower(), machine.lower())}"


def runs(level: str) -> bool:
    """Whether this processor has what a level needs; with ``CARDAN_CPU``, whether it names the level."""
    named = os.environ.get("CARDAN_CPU")
    if named:
        return named == level
    return not NEEDS[level] or _features().issuperset(NEEDS[level])


@cache
def _features() -> set[str]:
    """Features of this processor, in LLVM's words."""
    import llvmlite.binding as llvm

    return {name for name, there in llvm.get_host_cpu_features().items() if there}


def foreign_machine(platform: Platform, level: str) -> Any:
    """A code generator for a level of a platform, whatever this machine is."""
    import llvmlite.binding as llvm

    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    return llvm.Target.from_triple(platform.triple).create_target_machine(cpu=level, features="", opt=3, jit=True)
