"""Callbacks: functions that the pipeline calls (spec: simulation, simulation loop; programming, callbacks).

A Python function gets the MjModel and MjData objects. An exception that it raises is raised by the call that ran the
pipeline. A Numba function, or a function marked with `cardan.jit.kernel`, is compiled into the pipeline and runs
without the GIL. It may use single elements of the fields of m and d (`m.nu`, `d.ctrl[i]`), numbers, loops and `math`.

Callbacks set by `set_mjcb_*` apply to all models, in all threads. `set_callback(m, "control", f)` sets a callback for a
single model, which takes precedence over the callback for all models. Copies of the model do not inherit it.
"""

from __future__ import annotations

import ctypes
import os
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from cardan import plugins
from cardan.api.arguments import check_model, check_pair, integer
from cardan.errors import FatalError
from cardan.model import internals
from cardan.model.mjdata import MjData
from cardan.model.mjmodel import MjModel
from cardan.model.user_memory import functions
from cardan.plugins.registry import config_of, plugin_number, register_plugin, set_plugin_number
from cardan.plugins.sdf import register_sdf
from cardan.step import plugin_life as _plugin_life  # noqa: F401 (tells the model who knows the plugins)
from cardan.step.hooks import hooks, hooks_of
from cardan.step.report import handler

Callback = Callable[..., Any] | None
F = TypeVar("F", bound=Callable[..., Any])


C_FUNCTION = ctypes.CFUNCTYPE(None).__mro__[1]
"""Base class of function objects made by ctypes."""


def _checked(function: Any) -> Callback:
    if function is not None and not callable(function):
        raise TypeError("callback is not an Optional[Callable]")
    return function


def _of_structures(name: str, function: Any) -> Callback:
    """Return `function`, a callback that takes model and data, if it is callable or None; otherwise raise TypeError.

    C functions are rejected: they take pointers to MuJoCo's C structures, which Cardan does not have.
    """
    if isinstance(function, C_FUNCTION):
        raise TypeError(
            f"{name}: a C function takes pointers to the C library's mjModel and mjData, which Cardan doesn't have; "
            "set the Python function itself, or a Numba function"
        )
    return _checked(function)


PLACES = ("control", "passive", "act_dyn", "act_gain", "act_bias", "contactfilter", "sensor", "time")
"""Names of the callbacks, as in ``set_mjcb_*``."""


def _place(function: str, name: str) -> str:
    if name not in PLACES:
        raise ValueError(f"{function}: unknown callback {name!r}; the callbacks are {', '.join(PLACES)}")
    return name


def set_callback(m: MjModel, name: str, function: Callback) -> None:
    """Set or, with None, remove the callback of one model. It takes precedence over the callback for all models.

    Args:
        m: the model. Its copies do not inherit the callback, except copies made by batches.
        name: "control", "passive", "act_dyn", "act_gain", "act_bias", "contactfilter", "sensor" or "time".
        function: takes the same arguments as the function given to `set_mjcb_<name>`.

    Raises:
        ValueError: the name is unknown.
        TypeError: `function` can't be called or is a C function, or `m` is not a model.
        KernelError: `function` is a Numba function or a kernel, but can't be compiled.
    """
    check_model("set_callback", m)
    checked = _checked(function) if name == "time" else _of_structures(f"set_callback({name!r})", function)
    hooks_of(m).set(_place("set_callback", name), checked)


def get_callback(m: MjModel, name: str) -> Callback:
    """Return the callback that `set_callback` installed for one model, or None.

    Callbacks that are set for all models are ignored.
    """
    check_model("get_callback", m)
    return hooks_of(m).get(_place("get_callback", name))


def _of_all(place: str, installs: str, returns: str) -> tuple[Callable[[Callback], None], Callable[[], Callback]]:
    """Make the functions that set and get a callback for all models.

    `installs` is the docstring of the setter; `returns` names the result in the docstring of the getter.
    """
    check = _checked if place == "time" else partial(_of_structures, f"set_mjcb_{place}")

    def put(function: Callback) -> None:
        hooks.set(place, check(function))

    def get() -> Callback:
        return hooks.get(place)

    return _named(put, f"set_mjcb_{place}", installs), _named(get, f"get_mjcb_{place}", f"Return {returns}, or None.")


def _named(function: F, name: str, doc: str) -> F:
    function.__name__ = function.__qualname__ = name
    function.__doc__ = doc
    return function


set_mjcb_control, get_mjcb_control = _of_all(
    "control",
    "Install the callback that sets controls and applied forces. Each forward dynamics calls it; None removes it.",
    "the control callback",
)
set_mjcb_passive, get_mjcb_passive = _of_all(
    "passive",
    "Install the callback that adds forces to `d.qfrc_passive`; None removes it.",
    "the callback of passive forces",
)
set_mjcb_act_dyn, get_mjcb_act_dyn = _of_all(
    "act_dyn",
    """Install the callback (m, d, actuator) -> rate of change of the activation of user-defined actuators.

    If an actuator has several activations, the result is ignored: the callback writes `d.act_dot` itself.
    """,
    "the callback of activation dynamics",
)
set_mjcb_act_gain, get_mjcb_act_gain = _of_all(
    "act_gain",
    "Install the callback (m, d, actuator) -> gain of user-defined actuators; without it, gains are 1.",
    "the callback of gains",
)
set_mjcb_act_bias, get_mjcb_act_bias = _of_all(
    "act_bias",
    "Install the callback (m, d, actuator) -> bias of user-defined actuators; without it, biases are 0.",
    "the callback of biases",
)
set_mjcb_contactfilter, get_mjcb_contactfilter = _of_all(
    "contactfilter",
    """Install the contact filter (m, d, geom1, geom2) -> int, which excludes a pair by a result other than 0.

    The filter is called for the pairs that passed the filters before the near phase, except explicit pairs. If the mid
    phase is disabled, it replaces the test of the geoms' contype and conaffinity. None removes the filter.
    """,
    "the contact filter",
)
set_mjcb_sensor, get_mjcb_sensor = _of_all(
    "sensor",
    """Install the callback (m, d, stage) that writes the values of user sensors into `d.sensordata`; None removes it.

    It is called after each stage (`mjtStage`: position, velocity, acceleration) for which a model has user sensors.
    """,
    "the callback of user sensors",
)
set_mjcb_time, get_mjcb_time = _of_all(
    "time",
    """Install a clock: a function without arguments that returns the time, in any unit; None removes it.

    With a clock, `d.timer[...].duration` adds up the time taken by each part of the pipeline, in the clock's unit.
    Without a clock, only the numbers of runs are counted.
    """,
    "the clock",
)


def set_mju_user_warning(function: Callback) -> None:
    """Pass the text of warnings to a function instead of `warnings.warn`; None restores `warnings.warn`.

    A function made by ctypes gets the text as bytes, as C functions do.
    """
    handler.function = _checked(function)
    handler.takes_bytes = isinstance(function, C_FUNCTION)


def get_mju_user_warning() -> Callback:
    """Return the function that `set_mju_user_warning` installed, or None."""
    return handler.function


def _memory(place: str) -> tuple[Callable[[Callback], None], Callable[[], Callback]]:
    """Make the setter and getter of a function for memory: ``"malloc"`` or ``"free"``."""
    name = f"mju_user_{place}"

    def put(function: Callback) -> None:
        if function is not None and not isinstance(function, C_FUNCTION):
            raise TypeError(f"{name} must be a C function pointer or None, got {function!r}")
        setattr(functions, place, function)

    def get() -> Callback:
        return getattr(functions, place)

    doc = f"Set the C function `{place}` for the memory of new models and data (`user_memory`); None: that of NumPy."
    return _named(put, f"set_{name}", doc), _named(get, f"get_{name}", f"Return the C function `{place}`, or None.")


set_mju_user_malloc, get_mju_user_malloc = _memory("malloc")
set_mju_user_free, get_mju_user_free = _memory("free")


def mj_resetCallbacks() -> None:
    """Remove all callbacks except those set for single models."""
    hooks.clear()


PLUGINS_DIR: str = str(Path(plugins.__file__).parent)
"""Folder of the plugins that are part of the package."""

PLUGIN_HANDLES: list[Any] = []
"""Handles of loaded plugin libraries: always empty, because the plugins of MuJoCo's libraries are built in."""

_LIBRARIES = ("actuator", "elasticity", "sdf", "sensor")
"""Libraries that are part of MuJoCo."""


def mj_loadPluginLibrary(path: str) -> None:
    """Accept a plugin library of MuJoCo by its name, without loading it: its plugins are built in.

    Args:
        path: path of the library, such as ``"libelasticity.so"``; the file need not exist.

    Raises:
        FatalError: `path` names another library. Plugins are registered in Python, with `register_plugin`.
    """
    if Path(os.fspath(path)).stem.removeprefix("lib") not in _LIBRARIES:
        known = ", ".join(f"lib{name}" for name in _LIBRARIES)
        raise FatalError(
            f"mj_loadPluginLibrary: {os.fspath(path)!r} contains native plugins, which Cardan does not load; register"
            f" them in Python with cardan.register_plugin (built in are those of {known})"
        )


def mj_loadAllPluginLibraries(directory: str) -> None:
    """Do nothing: the plugins of MuJoCo's libraries are built in, and other libraries are not loaded."""
    os.fspath(directory)


def plugin_config(m: MjModel, instance: int) -> dict[str, str]:
    """Return the attributes that are set for a plugin instance of a model: values as text, by name."""
    check_model("plugin_config", m)
    return config_of(m, _instance("plugin_config", m, instance))


def plugin_data(m: MjModel, d: MjData, instance: int) -> Any:
    """Return the object that the plugin's `init` function made for an instance, or None."""
    check_pair("plugin_data", m, d)
    return internals.plugin_data(d)[_instance("plugin_data", m, instance)]


def _instance(function: str, m: MjModel, instance: int) -> int:
    """Return the id of a plugin instance as an int; raise IndexError if the model has no such instance."""
    number = integer(function, "instance", instance)
    if not 0 <= number < m.nplugin:
        raise IndexError(f"{function}: there is no plugin instance {number}; the model has {m.nplugin}")
    return number


__all__ = ["PLUGINS_DIR", "PLUGIN_HANDLES", "get_callback", "get_mjcb_act_bias", "get_mjcb_act_dyn"]
__all__ += ["get_mjcb_act_gain", "get_mjcb_contactfilter", "get_mjcb_control", "get_mjcb_passive", "get_mjcb_sensor"]
__all__ += ["get_mjcb_time", "get_mju_user_free", "get_mju_user_malloc", "get_mju_user_warning"]
__all__ += ["mj_loadAllPluginLibraries", "mj_loadPluginLibrary", "mj_resetCallbacks", "plugin_config", "plugin_data"]
__all__ += ["plugin_number", "register_plugin", "register_sdf", "set_callback", "set_mjcb_act_bias"]
__all__ += ["set_mjcb_act_dyn", "set_mjcb_act_gain", "set_mjcb_contactfilter", "set_mjcb_control", "set_mjcb_passive"]
__all__ += ["set_mjcb_sensor", "set_mjcb_time", "set_mju_user_free", "set_mju_user_malloc", "set_mju_user_warning"]
__all__ += ["set_plugin_number"]
