"""``cardan warmup``: compile kernels ahead of time."""

from __future__ import annotations

import pkgutil
import time
from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

from rich.console import Console
from rich.markup import escape

import cardan
from cardan.cli.loading import load_model
from cardan.jit import addresses
from cardan.jit.cache import cache_folder
from cardan.jit.mode import jit_enabled
from cardan.jit.stage import is_entry
from cardan.sensor import all_sensor_stages
from cardan.step.pipeline import program

PROGRAMS = ("mj_step", "mj_step1", "mj_step2", "mj_forward", "mj_inverse")


def _modules(package: ModuleType) -> Iterator[ModuleType]:
    """All modules inside a package; not the one whose import takes over the name mujoco."""
    for info in pkgutil.iter_modules(package.__path__, f"{package.__name__}."):
        if info.name == "cardan.as_mujoco":
            continue
        module = import_module(info.name)
        yield module
        if info.ispkg:
            yield from _modules(module)


def all_entries() -> list[Callable[..., Any]]:
    """Every stage and collision function of the package."""
    found = {value: None for module in _modules(cardan) for value in vars(module).values() if is_entry(value)}
    return [*found, *(stage for stage in all_sensor_stages() if stage not in found)]


def compile_for(m: cardan.MjModel) -> None:
    """Compile what stepping, forward and inverse dynamics of a model need, and energies as `simulate` does."""
    cardan.MjData(m)
    m.opt.enableflags |= int(cardan.mjtEnableBit.mjENBL_ENERGY)
    for name in PROGRAMS:
        program(m, name)


def run(models: list[Path]) -> None:
    """The command."""
    if not jit_enabled:
        raise ValueError("compiling is switched off in this environment (CARDAN_JIT=0)")
    begin = time.perf_counter()
    for path in models:
        compile_for(load_model(path))
    if not models:
        addresses(all_entries())
    seconds = time.perf_counter() - begin
    Console().print(f"kernels are ready ({seconds:.1f} s); they are kept in {escape(str(cache_folder()))}")
