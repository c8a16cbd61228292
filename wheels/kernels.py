"""Compiles the package's kernels for other processors and systems than this one, each front end once.

The scalar forms of stages are made, too: text that LLVM makes exact derivatives of where there is no Numba, one for all
processors.

Objects are kept in a folder under the same kind of key as the disk cache's, so that a second build only compiles what
has changed.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from functools import cache
from multiprocessing import get_context

import llvmlite.binding as llvm

from cardan.cli.compile import all_entries
from cardan.derive.contact import all_contact_stages
from cardan.jit.binding.glue import program_glue
from cardan.jit.binding.objects import CALL, GUARD, PROGRAM, TABLE_NAME
from cardan.jit.cache import store as disk
from cardan.jit.cache.fingerprint import fingerprint
from cardan.jit.cache.packaged import ScalarForms
from cardan.jit.driver.program import DRIVER_SYMBOLS, driver_module
from cardan.jit.front.compile import emit, link_entry, only, retargeted, symbols_of
from cardan.jit.front.stage import STAGE_ABI, Entry, Form, entry_of
from cardan.jit.target.processor import Platform, foreign_machine
from cardan.tangents.stages import scalar_form
from wheels.symbols import check_object

DIFFERENTIABLE = ("constraint", "derive", "dynamics", "sensor", "soft.edges", "soft.flex", "solver.noslip", "step")
NEVER = ("awake", "asleep", "hooks", "lengthrange", "plugin", "report", "resting", "timers", "with_distance")
"""Parts of the step that derivatives go through, and what there is none of: callbacks, sleep, reports."""

Target = tuple[Platform, str]
"""A platform and one of its levels."""


@cache
def entries() -> dict[str, Entry]:
    """All functions that are compiled, by name."""
    return {entry.name: entry for entry in all_entries()}


@cache
def differentiable() -> dict[str, Entry]:
    """Stages whose scalar forms wheels bring, by name: exact derivatives may go through them."""
    stages = [entry for entry in entries().values() if entry.abi == STAGE_ABI and entry.name.startswith(DIFFERENTIABLE)]
    stages += map(entry_of, all_contact_stages())
    return {entry.name: entry for entry in stages if not any(word in entry.name for word in NEVER)}


def compile_driver(target: Target) -> dict[str, bytes]:
    """The object files of what runs programs: the driver's functions, and the function for calls from Python."""
    platform, level = target
    machine = foreign_machine(platform, level)
    pieces: dict[str, tuple[str, tuple[str, ...]]] = {
        symbol: (str(driver_module()), (symbol,)) for symbol in DRIVER_SYMBOLS
    }
    pieces[PROGRAM] = program_glue(), (PROGRAM + CALL, PROGRAM + TABLE_NAME, PROGRAM + GUARD)
    objects = {}
    for name, (assembly, symbols) in pieces.items():
        bitcode = llvm.parse_assembly(assembly).as_bitcode()
        objects[name] = emit(name, only(symbols, retargeted(bitcode, platform.triple, machine)), machine)
        check_object(objects[name], symbols, platform)
    return objects


def _key(name: str, target: Target) -> tuple[str, str]:
    """Name and key of an object in the folder."""
    platform, level = target
    return f"{name}-{platform.name}-{level}", fingerprint(entries()[name], Form(target=(platform.triple, level)))


def compile_kernel(name: str, targets: Sequence[Target]) -> str:
    """Compile a kernel for those targets for which the folder has no object yet; returns its name.

    Raises:
        KernelError: it does not compile.
        ObjectError: the object file is not as it must be.
    """
    missing = [target for target in targets if disk.read(*_key(name, target)) is None]
    if missing:
        entry = entries()[name]
        bitcode = link_entry(entry).as_bitcode()
        for platform, level in missing:
            machine = foreign_machine(platform, level)
            code = emit(name, retargeted(bitcode, platform.triple, machine), machine)
            check_object(code, symbols_of(entry), platform)
            disk.write(*_key(name, (platform, level)), entry.symbol, code)
    return name


def make_scalar_form(name: str) -> str:
    """Leave the scalar form of a stage in the folder; returns what was made.

    Raises:
        KernelError: the stage does not compile.
    """
    scalar_form(differentiable()[name])
    return f"{name}, scalar form"


def compile_all(
    names: Iterable[str], targets: Sequence[Target], jobs: int, report: Callable[[str], None]
) -> tuple[dict[Target, dict[str, bytes]], ScalarForms]:
    """Object files by target and name, and the scalar forms, made by several processes.

    Args:
        names: kernels; those of `differentiable` get scalar forms.
        targets: platforms and levels.
        jobs: number of processes.
        report: called with a line for each piece that is ready.
    """
    names = list(names)
    kernels = [name for name in names if name in entries()]
    scalar = [name for name in names if name in differentiable()]
    os.environ["OMP_NUM_THREADS"] = "1"
    with ProcessPoolExecutor(jobs, get_context("spawn")) as pool:
        running = [pool.submit(compile_kernel, name, targets) for name in kernels]
        running += [pool.submit(make_scalar_form, name) for name in scalar]
        for count, done in enumerate(as_completed(running), start=1):
            report(f"{count} of {len(running)}: {done.result()}")
    objects = {target: compile_driver(target) | {name: _stored(name, target) for name in kernels} for target in targets}
    return objects, scalar_forms(scalar)


def scalar_forms(names: Iterable[str]) -> ScalarForms:
    """Scalar forms by name, from the folder or made now."""
    texts = {name: scalar_form(differentiable()[name]) for name in names}
    return ScalarForms(tuple(llvm.llvm_version_info), texts)


def _stored(name: str, target: Target) -> bytes:
    stored = disk.read(*_key(name, target))
    if stored is None:
        raise OSError(f"{disk.cache_folder()} doesn't keep the objects that are written there")
    return stored[1]
