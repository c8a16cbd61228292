"""User-defined actuators as stages (spec: computation, actuation model: mjcb_act_dyn, mjcb_act_gain, mjcb_act_bias).

Each callback is a function of model, data and actuator that returns a number. It is called for each actuator of type
"user", and computes an activation rate, a gain or a bias (the last two not for actuators of a disabled group). If an
actuator has more than one activation, the returned rate is ignored, and the callback writes `d.act_dot` itself. Without
callbacks, rates and biases are 0 and gains 1.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from cardan.dynamics.actuation import USERS_MADE, actuator_disabled
from cardan.enums.codes import BIAS_USER, DYN_USER, GAIN_USER
from cardan.jit import OK, kernel, stage
from cardan.model import internals
from cardan.model.kernel_views import Data, Model

Adapter = Callable[[Callable[..., Any]], Callable[..., Any]]


def has_user_actuators(m: Any) -> bool:
    """Whether any actuator is user-defined."""
    return bool(
        (m.actuator_dyntype == DYN_USER).any()
        or (m.actuator_gaintype == GAIN_USER).any()
        or (m.actuator_biastype == BIAS_USER).any()
    )


@stage
def user_defaults(m: Model, d: Data) -> int:
    """Set rates to 0, gains to 1 and biases to 0 for user-defined actuators, before callbacks change them.

    Writes act_dot (na,), work.actuator_gain, work.actuator_gain_slope, work.actuator_bias (nu,).
    """
    d.work.actuation_made |= USERS_MADE
    for i in range(m.nu):
        if m.actuator_dyntype[i] == DYN_USER:
            for act in range(m.actuator_actadr[i], m.actuator_actadr[i] + m.actuator_actnum[i]):
                d.act_dot[act] = 0.0
        if m.actuator_gaintype[i] == GAIN_USER:
            d.work.actuator_gain[i] = 1.0
            d.work.actuator_gain_slope[i] = 0.0
        if m.actuator_biastype[i] == BIAS_USER:
            d.work.actuator_bias[i] = 0.0
    return OK


# compiled callbacks ----------------------------------------------------------


def _native_dyn(callback: Callable[..., Any]) -> Callable[..., Any]:
    kernel(callback)

    def act_dyn(m: Model, d: Data) -> int:
        for i in range(m.nu):
            if m.actuator_dyntype[i] == DYN_USER:
                rate = callback(m, d, i)
                if m.actuator_actnum[i] == 1:
                    d.act_dot[m.actuator_actadr[i]] = rate
        return OK

    return act_dyn


def _native_gain(callback: Callable[..., Any]) -> Callable[..., Any]:
    kernel(callback)

    def act_gain(m: Model, d: Data) -> int:
        for i in range(m.nu):
            if m.actuator_gaintype[i] == GAIN_USER and not actuator_disabled(m, i):
                d.work.actuator_gain[i] = callback(m, d, i)
        return OK

    return act_gain


def _native_bias(callback: Callable[..., Any]) -> Callable[..., Any]:
    kernel(callback)

    def act_bias(m: Model, d: Data) -> int:
        for i in range(m.nu):
            if m.actuator_biastype[i] == BIAS_USER and not actuator_disabled(m, i):
                d.work.actuator_bias[i] = callback(m, d, i)
        return OK

    return act_bias


# Python callbacks ------------------------------------------------------------


def _number(name: str, value: Any) -> float:
    try:
        return float(value)
    except (TypeError, ValueError):
        raise TypeError(f"mjcb_{name} callback did not return a number, but {type(value).__name__}") from None


def _python_dyn(callback: Callable[..., Any]) -> Callable[..., Any]:
    def act_dyn(m: Any, d: Any) -> None:
        for i in np.flatnonzero(m.actuator_dyntype == DYN_USER).tolist():
            rate = _number("act_dyn", callback(m, d, i))
            if m.actuator_actnum[i] == 1:
                d.act_dot[m.actuator_actadr[i]] = rate

    return act_dyn


def _python_force(name: str, types: str, user: int, field: str) -> Adapter:
    def adapt(callback: Callable[..., Any]) -> Callable[..., Any]:
        def call(m: Any, d: Any) -> None:
            for i in np.flatnonzero(getattr(m, types) == user).tolist():
                if not actuator_disabled(m, i):
                    internals.array(d, field)[i] = _number(name, callback(m, d, i))

        return call

    return adapt


# place: conversions of a compiled callback and of a Python callback to a function of (m, d)
ADAPTERS: dict[str, tuple[Adapter, Adapter]] = {
    "act_dyn": (_native_dyn, _python_dyn),
    "act_gain": (_native_gain, _python_force("act_gain", "actuator_gaintype", GAIN_USER, "work.actuator_gain")),
    "act_bias": (_native_bias, _python_force("act_bias", "actuator_biastype", BIAS_USER, "work.actuator_bias")),
}
