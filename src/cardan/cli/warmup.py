"""``cardan warmup``: compile kernels ahead of time."""

from __future__ import annotations

import time
from pathlib import Path

from rich.console import Console
from rich.markup import escape

import cardan
from cardan.cli.entries import all_entries
from cardan.cli.loading import load_model
from cardan.jit import addresses
from cardan.jit.binding.functions import program_code
from cardan.jit.cache.store import cache_folder, prune
from cardan.jit.driver.program import stored_object
from cardan.jit.front.stage import Abi, jit_enabled
from cardan.step.programs import program

PROGRAMS = ("mj_step", "mj_step1", "mj_step2", "mj_forward", "mj_inverse")


def compile_for(m: cardan.MjModel) -> None:
    """Compile all kernels for stepping, forward and inverse dynamics of a model, with energies as in `simulate`."""
    cardan.MjData(m)
    m.opt.enableflags |= int(cardan.mjtEnableBit.mjENBL_ENERGY)
    for name in PROGRAMS:
        program(m, name)


def run(models: list[Path]) -> None:
    """Run the command."""
    if not jit_enabled:
        raise ValueError("compiling is switched off in this environment (CARDAN_JIT=0)")
    begin = time.perf_counter()
    program_code()
    for path in models:
        compile_for(load_model(path))
    if not models:
        entries = all_entries()
        addresses(entry.function for entry in entries if isinstance(entry.abi, Abi))
        for entry in entries:
            stored_object(entry)
    prune(cache_folder())
    seconds = time.perf_counter() - begin
    Console().print(f"kernels are ready ({seconds:.1f} s); they are stored in {escape(str(cache_folder()))}")
