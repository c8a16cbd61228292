"""Callbacks: functions that the pipeline calls (spec: simulation, simulation loop; programming, callbacks).

A Python function gets the MjModel and MjData objects; what it raises comes out of the call that ran the pipeline. A
Numba function, or one marked with `cardan.jit.kernel`, is compiled into the pipeline and runs without the GIL: it may
use the fields of m and d element by element (`m.nu`, `d.ctrl[i]`), numbers, loops and `math`.

Callbacks set by `set_mjcb_*` hold for all models, in all threads. `set_callback(m, "control", f)` sets one for a single
model, where it wins over the one for all; copies of the model don't have it.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any

from cardan.api.arguments import check_model
from cardan.model.mjmodel import MjModel
from cardan.step.hooks import hooks, hooks_of
from cardan.step.report import handler

Callback = Callable[..., Any] | None


C_FUNCTION = ctypes.CFUNCTYPE(None).__mro__[1]
"""Base of the functions that ctypes makes."""


def _checked(function: Any) -> Callback:
    if function is not None and not callable(function):
        raise TypeError("callback is not an Optional[Callable]")
    return function


def _of_structures(name: str, function: Any) -> Callback:
    """A callback that gets model and data: a Python or Numba function, since there are no structures of C to pass."""
    if isinstance(function, C_FUNCTION):
        raise TypeError(
            f"{name}: a C function takes pointers to the C library's mjModel and mjData, which Cardan doesn't have; "
            "set the Python function itself, or a Numba function"
        )
    return _checked(function)


PLACES = ("control", "passive", "act_dyn", "act_gain", "act_bias", "contactfilter", "sensor", "time")
"""Names of the callbacks: those of ``set_mjcb_*``."""


def _place(function: str, name: str) -> str:
    if name not in PLACES:
        raise ValueError(f"{function}: there is no callback {name!r}; there are {', '.join(PLACES)}")
    return name


def set_callback(m: MjModel, name: str, function: Callback) -> None:
    """Install a callback for one model, where it wins over that of `set_mjcb_<name>`; None removes it.

    Args:
        m: the model. Copies of it don't have the callback, except those that batches make.
        name: "control", "passive", "act_dyn", "act_gain", "act_bias", "contactfilter", "sensor" or "time".
        function: takes the same arguments as that of `set_mjcb_<name>`.

    Raises:
        ValueError: there is no such callback.
        TypeError: `function` can't be called, or `m` is no model.
        KernelError: it is meant to be compiled, and can't be.
    """
    check_model("set_callback", m)
    checked = _checked(function) if name == "time" else _of_structures(f"set_callback({name!r})", function)
    hooks_of(m).set(_place("set_callback", name), checked)
    m._programs.clear()
    hooks.version += 1  # for programs of a batch's models, which share the callback


def get_callback(m: MjModel, name: str) -> Callback:
    """The callback of one model (see `set_callback`), or None; those for all models don't count."""
    check_model("get_callback", m)
    return hooks_of(m).get(_place("get_callback", name))


def set_mjcb_control(function: Callback) -> None:
    """Install the callback that sets controls and applied forces in each forward dynamics; None removes it."""
    hooks.set("control", _of_structures("set_mjcb_control", function))


def get_mjcb_control() -> Callback:
    """The control callback, or None."""
    return hooks.get("control")


def set_mjcb_passive(function: Callback) -> None:
    """Install the callback that adds forces to `d.qfrc_passive`; None removes it."""
    hooks.set("passive", _of_structures("set_mjcb_passive", function))


def get_mjcb_passive() -> Callback:
    """The callback of passive forces, or None."""
    return hooks.get("passive")


def set_mjcb_act_dyn(function: Callback) -> None:
    """Install the callback (m, d, actuator) -> rate of change of the activation of user-defined actuators.

    For actuators with more than one activation the result is ignored: the callback writes `d.act_dot` itself.
    """
    hooks.set("act_dyn", _of_structures("set_mjcb_act_dyn", function))


def get_mjcb_act_dyn() -> Callback:
    """The callback of activation dynamics, or None."""
    return hooks.get("act_dyn")


def set_mjcb_act_gain(function: Callback) -> None:
    """Install the callback (m, d, actuator) -> gain of user-defined actuators; without it, gains are 1."""
    hooks.set("act_gain", _of_structures("set_mjcb_act_gain", function))


def get_mjcb_act_gain() -> Callback:
    """The callback of gains, or None."""
    return hooks.get("act_gain")


def set_mjcb_act_bias(function: Callback) -> None:
    """Install the callback (m, d, actuator) -> bias of user-defined actuators; without it, biases are 0."""
    hooks.set("act_bias", _of_structures("set_mjcb_act_bias", function))


def get_mjcb_act_bias() -> Callback:
    """The callback of biases, or None."""
    return hooks.get("act_bias")


def set_mjcb_contactfilter(function: Callback) -> None:
    """Install the filter of contacts (m, d, geom1, geom2) -> int: other than 0 if they don't collide; None removes it.

    It is asked about the pairs that passed the filters before the near phase, other than explicit pairs. With the mid
    phase disabled it replaces the test of contype and conaffinity of the geoms.
    """
    hooks.set("contactfilter", _of_structures("set_mjcb_contactfilter", function))


def get_mjcb_contactfilter() -> Callback:
    """The filter of contacts, or None."""
    return hooks.get("contactfilter")


def set_mjcb_sensor(function: Callback) -> None:
    """Install the callback (m, d, stage) that writes the values of user sensors into `d.sensordata`; None removes it.

    It is called after each stage (`mjtStage`: position, velocity, acceleration) for which a model has user sensors.
    """
    hooks.set("sensor", _of_structures("set_mjcb_sensor", function))


def get_mjcb_sensor() -> Callback:
    """The callback of user sensors, or None."""
    return hooks.get("sensor")


def set_mjcb_time(function: Callback) -> None:
    """Install a clock: a function without arguments that returns the time, in any unit; None removes it.

    With a clock, `d.timer[...].duration` adds up how long the parts of the pipeline took, in its unit. Without one,
    only the numbers of runs are counted.
    """
    hooks.set("time", _checked(function))


def get_mjcb_time() -> Callback:
    """The clock, or None."""
    return hooks.get("time")


def set_mju_user_warning(function: Callback) -> None:
    """Have warnings go to a function of their text, instead of `warnings.warn`; None brings that back.

    A function made by ctypes gets the text as bytes, as C functions do.
    """
    handler.function = _checked(function)
    handler.takes_bytes = isinstance(function, C_FUNCTION)


def get_mju_user_warning() -> Callback:
    """The function that gets warnings, or None."""
    return handler.function


def _memory(name: str) -> tuple[Callable[[Callback], None], Callable[[], Callback]]:
    """Setter and getter of a memory function: Cardan's memory is that of NumPy, which users can't replace here."""

    def put(function: Callback) -> None:
        if function is not None:
            raise TypeError(f"{name}: Cardan allocates its memory through NumPy; only None can be set")

    def get() -> Callback:
        return None

    put.__name__ = put.__qualname__ = f"set_{name}"
    get.__name__ = get.__qualname__ = f"get_{name}"
    put.__doc__ = "Accept None; raise TypeError for anything else: Cardan allocates its memory through NumPy."
    get.__doc__ = "None: Cardan allocates its memory through NumPy."
    return put, get


set_mju_user_malloc, get_mju_user_malloc = _memory("mju_user_malloc")
set_mju_user_free, get_mju_user_free = _memory("mju_user_free")


def mj_resetCallbacks() -> None:
    """Remove all callbacks but those of single models."""
    hooks.clear()


__all__ = [
    "get_callback",
    "get_mjcb_act_bias",
    "get_mjcb_act_dyn",
    "get_mjcb_act_gain",
    "get_mjcb_contactfilter",
    "get_mjcb_control",
    "get_mjcb_passive",
    "get_mjcb_sensor",
    "get_mjcb_time",
    "get_mju_user_free",
    "get_mju_user_malloc",
    "get_mju_user_warning",
    "mj_resetCallbacks",
    "set_callback",
    "set_mjcb_act_bias",
    "set_mjcb_act_dyn",
    "set_mjcb_act_gain",
    "set_mjcb_contactfilter",
    "set_mjcb_control",
    "set_mjcb_passive",
    "set_mjcb_sensor",
    "set_mjcb_time",
    "set_mju_user_free",
    "set_mju_user_malloc",
    "set_mju_user_warning",
]
