"""Callbacks: functions that the pipeline calls (spec: simulation, simulation loop; programming, callbacks).

`set_mjcb_control(f)` and `set_mjcb_passive(f)` take a function of (m, d). A Python function gets the MjModel and MjData
objects; what it raises comes out of the call that ran the pipeline. A Numba function, or one marked with
`cardan.jit.kernel`, is compiled into the pipeline and runs without the GIL: it may use the fields of m and d element by
element (`m.nu`, `d.ctrl[i]`), numbers, loops and `math`. Callbacks are global: they hold for all models, in all
threads.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from cardan.step.hooks import hooks

Callback = Callable[..., Any] | None


def _checked(function: Any) -> Callback:
    if function is not None and not callable(function):
        raise TypeError("callback is not an Optional[Callable]")
    return function


def _get(place: str) -> Callback:
    hook = hooks.installed.get(place)
    return hook.function if hook else None


def _refuse(name: str, function: Any) -> None:
    if _checked(function) is not None:
        raise ValueError(f"set_{name}: Cardan does not have this callback yet; it has mjcb_control and mjcb_passive")


def set_mjcb_control(function: Callback) -> None:
    """Install the callback that sets controls and applied forces in each forward dynamics; None removes it."""
    hooks.set("control", _checked(function))


def get_mjcb_control() -> Callback:
    """The control callback, or None."""
    return _get("control")


def set_mjcb_passive(function: Callback) -> None:
    """Install the callback that adds forces to `d.qfrc_passive`; None removes it."""
    hooks.set("passive", _checked(function))


def get_mjcb_passive() -> Callback:
    """The callback of passive forces, or None."""
    return _get("passive")


def set_mjcb_act_dyn(function: Callback) -> None:
    """Install the callback (m, d, actuator) -> rate of change of the activation of user-defined actuators.

    For actuators with more than one activation the result is ignored: the callback writes `d.act_dot` itself.
    """
    hooks.set("act_dyn", _checked(function))


def get_mjcb_act_dyn() -> Callback:
    """The callback of activation dynamics, or None."""
    return _get("act_dyn")


def set_mjcb_act_gain(function: Callback) -> None:
    """Install the callback (m, d, actuator) -> gain of user-defined actuators; without it, gains are 1."""
    hooks.set("act_gain", _checked(function))


def get_mjcb_act_gain() -> Callback:
    """The callback of gains, or None."""
    return _get("act_gain")


def set_mjcb_act_bias(function: Callback) -> None:
    """Install the callback (m, d, actuator) -> bias of user-defined actuators; without it, biases are 0."""
    hooks.set("act_bias", _checked(function))


def get_mjcb_act_bias() -> Callback:
    """The callback of biases, or None."""
    return _get("act_bias")


def _absent(name: str) -> tuple[Callable[[Callback], None], Callable[[], Callback]]:
    """Setter and getter of a callback that isn't there yet."""

    def put(function: Callback) -> None:
        _refuse(name, function)

    def get() -> Callback:
        return None

    put.__name__ = put.__qualname__ = f"set_{name}"
    get.__name__ = get.__qualname__ = f"get_{name}"
    put.__doc__ = f"{name} is not supported yet: raises ValueError for anything but None."
    get.__doc__ = f"{name} is not supported yet: None."
    return put, get


set_mjcb_sensor, get_mjcb_sensor = _absent("mjcb_sensor")
set_mjcb_contactfilter, get_mjcb_contactfilter = _absent("mjcb_contactfilter")
set_mjcb_time, get_mjcb_time = _absent("mjcb_time")


def mj_resetCallbacks() -> None:
    """Remove all callbacks."""
    hooks.clear()


__all__ = [
    "get_mjcb_act_bias",
    "get_mjcb_act_dyn",
    "get_mjcb_act_gain",
    "get_mjcb_contactfilter",
    "get_mjcb_control",
    "get_mjcb_passive",
    "get_mjcb_sensor",
    "get_mjcb_time",
    "mj_resetCallbacks",
    "set_mjcb_act_bias",
    "set_mjcb_act_dyn",
    "set_mjcb_act_gain",
    "set_mjcb_contactfilter",
    "set_mjcb_control",
    "set_mjcb_passive",
    "set_mjcb_sensor",
    "set_mjcb_time",
]
