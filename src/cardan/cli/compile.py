"""``cardan compile`` saves a model in another format; ``cardan warmup`` compiles kernels ahead of time."""

from __future__ import annotations

import pkgutil
import time
from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path
from types import ModuleType

from rich.console import Console
from rich.markup import escape

import cardan
from cardan.cli.loading import load_model
from cardan.enums import mjtStage
from cardan.files import check_writable, write_file
from cardan.jit import addresses
from cardan.jit.binding.functions import Binding, KernelBinding, program_code
from cardan.jit.cache.store import cache_folder, prune
from cardan.jit.driver.program import stored_object
from cardan.jit.front.stage import Abi, Entry, entry_of, is_entry, jit_enabled
from cardan.plugins import STOCK
from cardan.sensor.table import all_sensor_stages
from cardan.step.adapters import user_cutoff
from cardan.step.plugin_stages import entries_of, plugin_sensors
from cardan.step.programs import program
from cardan.step.timers import counting_stages

FORMS: dict[str, Callable[[cardan.MjModel, Path], None]] = {
    ".xml": lambda m, out: write_file(out, m.to_xml()),
    ".mjb": cardan.mj_saveModel,
    ".txt": lambda m, out: cardan.mj_printFormattedModel(m, out, "%.17g"),
}
"""Functions that save a model, by the suffix of the file."""

SENSOR_PARTS = (mjtStage.mjSTAGE_POS, mjtStage.mjSTAGE_VEL, mjtStage.mjSTAGE_ACC)

LEFT_OUT = ("cardan.as_mujoco", "cardan.jax", "cardan.torch")
LEFT_OUT += tuple(f"cardan.batch.{name}" for name in ("ray", "jax_step", "torch_step"))
"""Modules that are not imported: `cardan.as_mujoco` replaces the module mujoco; the others need Ray, JAX or PyTorch."""


def save(model: Path, out: Path) -> None:
    """Compile a model and write it to a file, in the format of the file name's suffix (see `FORMS`)."""
    write = FORMS.get(out.suffix.lower())
    if write is None:
        raise ValueError(f"{out}: the suffix selects the format; use one of {', '.join(FORMS)}")
    check_writable(out)
    m = load_model(model)
    if out.exists() and out.samefile(model):
        raise ValueError(f"{out} is the model itself; give another file")
    write(m, out)
    Console().print(f"{escape(str(out))}: {out.stat().st_size} bytes, {m.nbody} bodies, {m.nv} degrees of freedom")


def _modules(package: ModuleType) -> Iterator[ModuleType]:
    """Yield all modules of a package, except the modules in `LEFT_OUT`."""
    for info in pkgutil.iter_modules(package.__path__, f"{package.__name__}."):
        if info.name in LEFT_OUT or info.name.endswith(".__main__"):
            continue
        module = import_module(info.name)
        yield module
        if info.ispkg:
            yield from _modules(module)


def all_entries() -> list[Entry]:
    """Return all native functions of the package, each once, including those generated from tables."""
    found = [value for module in _modules(cardan) for value in vars(module).values() if is_entry(value)]
    parts = [int(part) for part in SENSOR_PARTS]
    made = [*all_sensor_stages(), *counting_stages(), *map(user_cutoff, parts), *map(plugin_sensors, parts)]
    for plugin in STOCK:
        made += [entry for entry in entries_of(plugin).values() if not isinstance(entry, int)]
        if plugin.shape is not None:
            made.append(plugin.shape.entry)
    bindings = (*Binding.all.values(), *Binding.hidden)
    calls = [binding.entry for binding in bindings if isinstance(binding, KernelBinding)]
    return list({entry.name: entry for entry in (*map(entry_of, (*found, *made)), *calls)}.values())


def compile_kernels(models: list[Path]) -> None:
    """Compile the kernels of some models or, if the list is empty, all kernels. Then prune the cache."""
    if not jit_enabled:
        raise ValueError("compiling is switched off in this environment (CARDAN_JIT=0)")
    begin = time.perf_counter()
    program_code()
    for path in models:
        m = load_model(path)
        cardan.MjData(m)
        m.opt.enableflags |= int(cardan.mjtEnableBit.mjENBL_ENERGY)  # as `simulate` does
        for name in ("mj_step", "mj_step1", "mj_step2", "mj_forward", "mj_inverse"):
            program(m, name)
    if not models:
        entries = all_entries()
        addresses(entry.function for entry in entries if isinstance(entry.abi, Abi))
        for entry in entries:
            stored_object(entry)
    prune(cache_folder())
    seconds = time.perf_counter() - begin
    Console().print(f"kernels are ready ({seconds:.1f} s); they are stored in {escape(str(cache_folder()))}")
