"""List of all functions of the package that become native code."""

from __future__ import annotations

import pkgutil
from collections.abc import Callable, Iterator
from importlib import import_module
from types import ModuleType
from typing import Any

import cardan
from cardan.enums import mjtStage
from cardan.jit.binding.functions import Binding, KernelBinding
from cardan.jit.front.stage import Entry, entry_of, is_entry
from cardan.plugins import STOCK
from cardan.sensor.table import all_sensor_stages
from cardan.step.adapters import user_cutoff
from cardan.step.plugin_stages import entries_of, plugin_sensors
from cardan.step.timers import counting_stages

SENSOR_PARTS = (mjtStage.mjSTAGE_POS, mjtStage.mjSTAGE_VEL, mjtStage.mjSTAGE_ACC)

LEFT_OUT = ("cardan.as_mujoco", "cardan.jax", "cardan.torch")
LEFT_OUT += tuple(f"cardan.batch.{name}" for name in ("ray", "jax_step", "torch_step"))
"""The module whose import takes over the name mujoco, and modules that need Ray, JAX or PyTorch."""


def _modules(package: ModuleType) -> Iterator[ModuleType]:
    """Yield all modules of a package, except those of `LEFT_OUT`."""
    for info in pkgutil.iter_modules(package.__path__, f"{package.__name__}."):
        if info.name in LEFT_OUT or info.name.endswith(".__main__"):
            continue
        module = import_module(info.name)
        yield module
        if info.ispkg:
            yield from _modules(module)


def _of_plugins() -> Iterator[Callable[..., Any]]:
    """Yield functions and signed-distance shapes of the package's plugins."""
    for plugin in STOCK:
        yield from (entry for entry in entries_of(plugin).values() if not isinstance(entry, int))
        if plugin.shape is not None:
            yield plugin.shape.entry


def all_entries() -> list[Entry]:
    """List all native functions of the package, each name once; some of them are made from tables."""
    found = [value for module in _modules(cardan) for value in vars(module).values() if is_entry(value)]
    parts = [int(part) for part in SENSOR_PARTS]
    made = [
        *all_sensor_stages(),
        *counting_stages(),
        *map(user_cutoff, parts),
        *map(plugin_sensors, parts),
        *_of_plugins(),
    ]
    calls = [binding.entry for binding in Binding.all.values() if isinstance(binding, KernelBinding)]
    return list({entry.name: entry for entry in (*map(entry_of, (*found, *made)), *calls)}.values())
