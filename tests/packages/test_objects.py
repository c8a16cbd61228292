"""Object files for other processors and systems, which can't be run here: they parse and are what they must be."""

from __future__ import annotations

import llvmlite.binding as llvm
import pytest
from wheels.kernels import compile_driver
from wheels.symbols import ObjectError, check_object, elf_symbols, mach_symbols

from cardan.jit.front.compile import KernelError, emit, retargeted
from cardan.jit.target.processor import PLATFORMS, foreign_machine

TARGETS = [(platform, level) for platform in PLATFORMS.values() for level in platform.levels]
NAMES = [f"{platform.name}, {level}" for platform, level in TARGETS]
CALLS = """
declare double @{called}(double)
define i64 @first(i64 %m, i64 %d) {{
  %x = uitofp i64 %m to double
  %y = call double @{called}(double %x)
  %z = fptoui double %y to i64
  ret i64 %z
}}
"""


def compiled(target, called):
    """Object file of a function that calls another one."""
    platform, level = target
    machine = foreign_machine(platform, level)
    bitcode = llvm.parse_assembly(CALLS.format(called=called)).as_bitcode()
    return emit("first", retargeted(bitcode, platform.triple, machine), machine)


@pytest.mark.parametrize("target", TARGETS, ids=NAMES)
def test_the_driver(target):
    objects = compile_driver(target)
    assert set(objects) == {"run_program", "run_block", "program"}
    assert all(len(code) < 10_000 for code in objects.values())


@pytest.mark.parametrize("target", TARGETS, ids=NAMES)
def test_symbols(target):
    platform, _ = target
    code = compiled(target, "tan")
    symbols = (
        mach_symbols(code) if platform.name.startswith("darwin") else elf_symbols(code, platform.name[-7:].strip("-"))
    )
    assert symbols == {"first": True, "tan": False}
    check_object(code, ("first",), platform)
    with pytest.raises(ObjectError, match="defines"):
        check_object(code, ("second",), platform)


@pytest.mark.parametrize("target", TARGETS, ids=NAMES)
def test_functions_of_single_precision_are_in_the_library(target):
    check_object(compiled(target, "powf"), ("first",), target[0])


def test_functions_outside_the_mathematical_library_are_refused():
    with pytest.raises(KernelError, match="malloc"):
        compiled(TARGETS[0], "malloc")


@pytest.mark.parametrize("damage", [b"", b"\x7fELF", b"noise" * 40])
def test_what_is_no_object_is_refused(damage):
    for platform in PLATFORMS.values():
        with pytest.raises(ObjectError, match=platform.name):
            check_object(damage, ("first",), platform)


def test_objects_of_another_processor_are_refused():
    by_name = {platform.name: (platform, level) for platform, level in TARGETS}
    arm = compiled(by_name["linux-aarch64"], "tan")
    with pytest.raises(ObjectError, match="x86_64"):
        check_object(arm, ("first",), PLATFORMS["linux-x86_64"])
