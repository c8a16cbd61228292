"""Life cycle of plugin instances: their data are created, reset, copied and freed with MjData."""

from __future__ import annotations

import weakref
from typing import Any

import numpy as np

from cardan.model import internals
from cardan.model.mjdata import MjData
from cardan.model.mjmodel import MjModel
from cardan.model.plugin_life import PluginLife, register_life
from cardan.plugins.registry import PluginMemory, attach_memory, make_instance, number_of, plugin_of
from cardan.step.plugin_stages import has_resetting_plugins, plugin_reset
from cardan.step.programs import cached_program
from cardan.step.run import run


def reset_instances(m: MjModel, d: MjData) -> None:
    """Call the `reset` functions of all instances."""
    if has_resetting_plugins(m):
        run(cached_program(m, "plugin_reset", (plugin_reset,)), m, d)


def _memory_of(data: Any) -> PluginMemory:
    """Return the numbers in an instance's data that compiled functions can use; none if the data has another type."""
    if isinstance(data, PluginMemory):
        return data
    if isinstance(data, np.ndarray):
        numbers = np.ascontiguousarray(data, np.float64).ravel()
        return PluginMemory(numbers, remembered=np.arange(len(numbers)))
    return PluginMemory()


def begin_instances(m: MjModel, d: MjData) -> None:
    """Create the data of all instances with their plugins' `init` (may raise ValueError), and reset the instances.

    The `destroy` functions of the plugins are called when `d` is freed.
    """
    plugins = [plugin_of(m, instance) for instance in range(m.nplugin)]
    internals.set_plugin_data(d, [make_instance(m, d, instance) for instance in range(m.nplugin)])
    attach_memory(d, [_memory_of(data) for data in internals.plugin_data(d)])
    for instance, (plugin, data) in enumerate(zip(plugins, internals.plugin_data(d), strict=True)):
        if plugin.destroy is not None:
            weakref.finalize(d, plugin.destroy, data, instance)
    d.plugin_data[:] = [id(data) if data is not None else 0 for data in internals.plugin_data(d)]
    internals.attach(d, "work.plugin_handle", d.plugin_data.copy())
    reset_instances(m, d)


def copied(dest: MjData, m: MjModel, src: MjData) -> None:
    """Call the `copy` functions of all instances, after `src` was copied to `dest`."""
    for instance in range(m.nplugin):
        plugin = plugin_of(m, instance)
        if plugin.copy is not None:
            plugin.copy(dest, m, src, instance)


register_life(PluginLife(number_of, begin_instances, copied))
