"""Engine plugins: registration, and replacements of the reference's plugin libraries (spec: engine plugins)."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from cardan import plugins
from cardan.api.arguments import check_model, check_pair, integer
from cardan.errors import FatalError
from cardan.model import internals
from cardan.model.mjdata import MjData
from cardan.model.mjmodel import MjModel
from cardan.plugins.memory import plugin_number, set_plugin_number
from cardan.plugins.registry import config_of, register_plugin
from cardan.plugins.sdf import register_sdf
from cardan.step import plugin_life as _plugin_life  # noqa: F401 (tells the model who knows the plugins)

PLUGINS_DIR: str = str(Path(plugins.__file__).parent)
"""Folder of the plugins that are part of the package."""

PLUGIN_HANDLES: list[Any] = []
"""Handles of loaded plugin libraries: always empty, because the plugins of the reference's libraries are built in."""

_LIBRARIES = ("actuator", "elasticity", "sdf", "sensor")
"""Libraries that are part of the reference."""


def mj_loadPluginLibrary(path: str) -> None:
    """Accept a plugin library of the reference by its name, without loading it: its plugins are built in.

    Args:
        path: path of the library, such as ``"libelasticity.so"``; the file need not exist.

    Raises:
        FatalError: it is another library. Plugins are registered in Python, with `register_plugin`.
    """
    if Path(os.fspath(path)).stem.removeprefix("lib") not in _LIBRARIES:
        known = ", ".join(f"lib{name}" for name in _LIBRARIES)
        raise FatalError(
            f"mj_loadPluginLibrary: {os.fspath(path)!r} contains native plugins, which Cardan does not load; register"
            f" them in Python with cardan.register_plugin (built in are those of {known})"
        )


def mj_loadAllPluginLibraries(directory: str) -> None:
    """Do nothing: the plugins of the reference's libraries are built in, and other libraries are not loaded."""
    os.fspath(directory)


def plugin_config(m: MjModel, instance: int) -> dict[str, str]:
    """Return the attributes that are set for a plugin instance of a model, as text."""
    check_model("plugin_config", m)
    return config_of(m, _instance("plugin_config", m, instance))


def plugin_data(m: MjModel, d: MjData, instance: int) -> Any:
    """Return the object that the plugin's `init` function made for an instance, or None."""
    check_pair("plugin_data", m, d)
    return internals.plugin_data(d)[_instance("plugin_data", m, instance)]


def _instance(function: str, m: MjModel, instance: int) -> int:
    """Check the number of an instance."""
    number = integer(function, "instance", instance)
    if not 0 <= number < m.nplugin:
        raise IndexError(f"{function}: there is no plugin instance {number}; the model has {m.nplugin}")
    return number


__all__ = [
    "PLUGINS_DIR",
    "PLUGIN_HANDLES",
    "mj_loadAllPluginLibraries",
    "mj_loadPluginLibrary",
    "plugin_config",
    "plugin_data",
    "plugin_number",
    "register_plugin",
    "register_sdf",
    "set_plugin_number",
]
