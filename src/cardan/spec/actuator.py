"""Actuator shortcuts: conversion of ``motor``, ``position``, ``muscle``, ... to a ``general`` actuator.

All actuators share one default entry, in the form of ``general``. A shortcut replaces some of the general attributes of
the default class, both in ``<default>`` and in ``<actuator>`` (spec: modeling, "Actuator shortcuts"). The attributes
that each shortcut replaces were derived from results of the reference.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import zip_longest
from math import pi, sqrt
from typing import Any

Values = dict[str, Any]

# attributes of shortcuts without a counterpart of the same name in <general>
SHORTCUT_ATTRIBUTES = frozenset(
    {"kp", "kv", "dampratio", "timeconst", "area", "diameter", "bias", "gain", "tausmooth"}
    | {"range", "force", "scale", "lmin", "lmax", "vmax", "fpmax", "fvmax"}
    | {"ki", "imax", "slewmax", "posrange"}
    | {"resistance", "motorconst", "nominal", "inductance", "thermal", "saturation", "cogging", "lugre", "controller"}
)

# defaults of a muscle, in place of the general defaults (1, 0, 0, ...)
_MUSCLE_DYNAMICS = (0.01, 0.04)
_MUSCLE_GAIN = (0.75, 1.05, -1.0, 200.0, 0.5, 1.6, 1.5, 1.3, 1.2)
_MUSCLE_SCALARS = ("force", "scale", "lmin", "lmax", "vmax", "fpmax", "fvmax")


def _with_first(vector: tuple[float, ...], *values: float | None) -> tuple[float, ...]:
    """Return a copy of the vector whose first entries are replaced by the values that are not None."""
    return tuple(old if new is None else new for old, new in zip_longest(vector, values))


def _filled(vector: tuple[float, ...], given: Sequence[float | None], defaults: tuple[float, ...]) -> tuple[float, ...]:
    """Return a copy of ``vector`` whose first entries are replaced by those values in ``given`` that are not None.

    If another entry still has the general default (1, 0, 0, ...), it is replaced by the same entry of ``defaults``.
    """
    unset = (1.0, *[0.0] * (len(defaults) - 1))
    filled = [new if old == blank else None for old, blank, new in zip(vector, unset, defaults, strict=False)]
    return _with_first(_with_first(vector, *filled), *given)


def _motor(values: Values, given: Mapping[str, Any]) -> None:
    """Convert a motor: force = control."""
    values["gainprm"] = _with_first(values["gainprm"], 1.0)
    values.update(gaintype="fixed", dyntype="none", biastype="none")


def _damping(given: Mapping[str, Any]) -> float | None:
    """Return the third bias parameter of a servo: ``-kv``, or a damping ratio; None if neither is given."""
    kv, ratio = given.get("kv"), given.get("dampratio")
    return ratio or (ratio if kv is None else 0.0 - kv)


def _servo(values: Values, given: Mapping[str, Any]) -> None:
    """Set gain and bias of a position servo.

    A damping ratio is stored as a positive ``biasprm[2]`` until the compiler knows the inertia.
    """
    values["gainprm"] = _with_first(values["gainprm"], given.get("kp"))
    values["biasprm"] = _with_first(values["biasprm"], None, -values["gainprm"][0], _damping(given))
    values.update(gaintype="fixed", biastype="affine")


def _position(values: Values, given: Mapping[str, Any]) -> None:
    """Convert a position servo: force = kp (ctrl - length) - kv velocity. With a time constant, ctrl is filtered."""
    _servo(values, given)
    timeconst = given.get("timeconst")
    if timeconst is not None:
        values["dynprm"] = _with_first(values["dynprm"], timeconst)
        values["dyntype"] = "none" if timeconst == 0 else "filterexact"


def _velocity(values: Values, given: Mapping[str, Any]) -> None:
    """Convert a velocity servo: force = kv (ctrl - velocity)."""
    values["gainprm"] = _with_first(values["gainprm"], given.get("kv"))
    values["biasprm"] = (0.0, 0.0, -values["gainprm"][0], *[0.0] * (len(values["biasprm"]) - 3))
    values.update(gaintype="fixed", dyntype="none", biastype="affine")


def _intvelocity(values: Values, given: Mapping[str, Any]) -> None:
    """Convert a position servo that tracks the integral of the control. The integral is clamped to ``actrange``."""
    _servo(values, given)
    values["dynprm"] = _with_first(values["dynprm"], given.get("timeconst"))  # no attribute of MJCF, see `set_to`
    values.update(dyntype="integrator")


def _damper(values: Values, given: Mapping[str, Any]) -> None:
    """Convert a damper: force = -kv velocity ctrl."""
    values["gainprm"] = (0.0, 0.0, -given.get("kv", 0.0), *[0.0] * (len(values["gainprm"]) - 3))
    values.update(gaintype="affine", dyntype="none", biastype="none", ctrllimited="true")


def _cylinder(values: Values, given: Mapping[str, Any]) -> None:
    """Convert a pneumatic or hydraulic cylinder: force = area act + bias, where the pressure ``act`` is filtered."""
    values["dynprm"] = _with_first(values["dynprm"], given.get("timeconst"))
    area, diameter = given.get("area"), given.get("diameter")
    values["gainprm"] = _with_first(values["gainprm"], area if diameter is None else 0.25 * pi * diameter * diameter)
    values["biasprm"] = _with_first(values["biasprm"], *given.get("bias", ()))
    values.update(dyntype="filter", gaintype="fixed", biastype="affine")


def _muscle(values: Values, given: Mapping[str, Any]) -> None:
    """Convert a muscle. The gain and the bias of a muscle have the same parameters."""
    dynamics = (*given.get("timeconst", (None, None)), given.get("tausmooth"))
    values["dynprm"] = _filled(values["dynprm"], dynamics, _MUSCLE_DYNAMICS)
    gain = (*given.get("range", (None, None)), *map(given.get, _MUSCLE_SCALARS))
    values["gainprm"] = _filled(values["gainprm"], gain, _MUSCLE_GAIN)
    values["biasprm"] = (*values["gainprm"][: len(_MUSCLE_GAIN)], *values["biasprm"][len(_MUSCLE_GAIN) :])
    values.update(dyntype="muscle", gaintype="muscle", biastype="muscle")


def _adhesion(values: Values, given: Mapping[str, Any]) -> None:
    """Convert an adhesion actuator: the attractive force at the contacts of a body is gain times control."""
    values["gainprm"] = _with_first(values["gainprm"], given.get("gain"))
    values.update(gaintype="fixed", biastype="none", ctrllimited="true")


def _pid(values: Values, given: Mapping[str, Any]) -> None:
    """Convert a PID controller: force = kp (pos - length) + kv (vel - velocity) + ki integral + ff.

    A damping ratio is stored as for a position servo.
    """
    kp, ki, slewmax = given.get("kp"), given.get("ki"), given.get("slewmax")
    values["gainprm"] = _with_first(values["gainprm"], ki)
    values["dynprm"] = _with_first(values["dynprm"], given.get("imax"), slewmax)
    values["biasprm"] = _with_first(values["biasprm"], None, None if kp is None else -kp, _damping(given))
    values["ctrlrange"] = given.get("posrange", values["ctrlrange"])
    stateful = values["gainprm"][0] > 0.0 or values["dynprm"][1] > 0.0
    values.update(gaintype="pid", dyntype="pid" if stateful else "none", biastype="affine")


def _motor_constant(given: Mapping[str, Any], values: Values, before: float) -> float:
    """Return the constant K of a DC motor from its constants of torque and voltage, or from its nominal operation.

    ``before`` is that of the default class. At the nominal voltage V without load, the motor must overcome its viscous
    damping B, so that the speed is V K / (K^2 + R B).
    """
    torque, back = (*given.get("motorconst", (before,)), 0.0)[:2]
    voltage, stall, speed = (*given.get("nominal", ()), 0.0, 0.0, 0.0)[:3]
    if back <= 0.0 and voltage > 0.0 and speed > 0.0:
        back, damping, resistance = voltage / speed, values["damping"], values["gainprm"][0]
        damping = damping[0] if isinstance(damping, tuple) else damping  # that of small speeds
        square = back * back - 4.0 * resistance * damping
        if resistance > 0.0 and square > 0.0:
            back = 0.5 * (back + sqrt(square))
        elif resistance <= 0.0 and stall > 0.0 and back > damping * voltage / stall:
            back -= damping * voltage / stall
    return sqrt(torque * back) if torque > 0.0 and back > 0.0 else max(torque, back)


def _temperature(values: Values, given: Sequence[float]) -> None:
    """Set the thermal parameters of a DC motor; any two of resistance, capacitance and time constant are enough."""
    gain, dyn = values["gainprm"], values["dynprm"]
    before = (*dyn[2:4], 0.0, *gain[2:4], dyn[4])
    resistance, capacity, constant, slope, reference, ambient = (*given, *before[len(given) :])
    if constant > 0.0 and resistance > 0.0:
        capacity = constant / resistance
    elif constant > 0.0 and capacity > 0.0:
        resistance = constant / capacity
    else:
        capacity = capacity or constant  # too few values, which the compiler finds
    if not (resistance or capacity or constant):
        slope = reference = ambient = 0.0
    values["gainprm"] = (*gain[:2], slope, reference, *gain[4:])
    values["dynprm"] = (*dyn[:2], resistance, capacity, ambient, *dyn[5:])


def _saturation(values: Values, given: Sequence[float]) -> None:
    """Set the limits of a DC motor: torque or current, and the rate of the current."""
    gain, dyn = values["gainprm"], values["dynprm"]
    torque, current, rate = (*given, *(0.0, 0.0, dyn[1])[len(given) :])
    most = torque if torque > 0.0 else gain[1] * max(current, 0.0)
    values["forcerange"] = (-most, most) if most > 0.0 else (0.0, 0.0)
    values["forcelimited"] = "true" if most > 0.0 else "false"
    values["dynprm"] = (dyn[0], max(rate, 0.0), *dyn[2:])


def _dcmotor(values: Values, given: Mapping[str, Any]) -> None:
    """Convert a DC motor. `cardan.dynamics.dcmotor` describes its parameters."""
    gain = values["gainprm"] = _with_first(values["gainprm"], given.get("resistance"))
    constant = _motor_constant(given, values, gain[1])
    voltage, stall = (*given.get("nominal", ()), 0.0, 0.0)[:2]
    if gain[0] <= 0.0 and voltage > 0.0 and stall > 0.0:
        gain = _with_first(gain, constant * voltage / stall)
    values["gainprm"] = gain = _with_first(gain, None, constant)
    if "inductance" in given:
        inductance, timeconst = (*given["inductance"], 0.0)[:2]
        values["dynprm"] = _with_first(values["dynprm"], inductance / gain[0] if inductance and gain[0] else timeconst)
    if "thermal" in given:
        _temperature(values, given["thermal"])
    if "saturation" in given:
        _saturation(values, given["saturation"])
    bias, controller, lugre = values["biasprm"], given.get("controller", ()), given.get("lugre", ())
    kp, ki, kd, slewmax, imax, most = (*controller, *[None] * (6 - len(controller)))
    values["gainprm"] = _with_first(values["gainprm"], *[None] * 4, kp, ki, kd, most and max(most, 0.0))
    values["dynprm"] = _with_first(values["dynprm"], *[None] * 5, *(*lugre[:2], None, None)[:2], slewmax, imax)
    values["biasprm"] = _with_first(bias, *(*given.get("cogging", ()), *[None] * 3)[:3], *lugre[2:])
    if values["dynprm"][5] <= 0.0:
        values["dynprm"] = _with_first(values["dynprm"], *[None] * 5, 0.0, 0.0)
        values["biasprm"] = _with_first(values["biasprm"], *[None] * 3, 0.0, 0.0, 0.0)
    values.update(gaintype="dcmotor", dyntype="dcmotor", biastype="dcmotor", actearly=True, actlimited="false")


def _orientation(values: Values, given: Mapping[str, Any]) -> None:
    """Convert an orientation servo: torque = kp log(R^-1 T) - kv velocity. A damping ratio is stored as in `_servo`."""
    values["gainprm"] = _with_first(values["gainprm"], given.get("kp"))
    values["biasprm"] = _with_first(values["biasprm"], None, -values["gainprm"][0], _damping(given))
    values.update(gaintype="so3", dyntype="none", biastype="so3")


SHORTCUTS: dict[str, Callable[[Values, Mapping[str, Any]], None]] = {
    "general": lambda values, given: None,  # sets only the attributes that it names
    "orientation": _orientation,
    "pid": _pid,
    "dcmotor": _dcmotor,
    "motor": _motor,
    "position": _position,
    "velocity": _velocity,
    "intvelocity": _intvelocity,
    "damper": _damper,
    "cylinder": _cylinder,
    "muscle": _muscle,
    "adhesion": _adhesion,
}


_PRISTINE: dict[str, Any] = {
    "dynprm": (1.0, *[0.0] * 9),
    "gainprm": (1.0, *[0.0] * 9),
    "biasprm": (0.0,) * 10,
    "dyntype": "none",
    "actdim": -1,
    "actearly": False,
}
PARAMETERS = ("gaintype", "biastype", *_PRISTINE)
"""Attributes of the general form that a shortcut sets. All others (target, ranges, ...) do not depend on it."""
GAIN_TYPES: dict[str, str] = {"damper": "affine", "muscle": "muscle", "pid": "pid", "dcmotor": "dcmotor"}
GAIN_TYPES["orientation"] = "so3"
"""Gain types of the shortcuts whose gain type is not ``fixed``."""
# parameters that a shortcut of 4.0 takes over: for each vector, the first value and the one after the last
_TAKEN: dict[str, dict[str, tuple[int, int]]] = {
    "motor": {},
    "position": {"gainprm": (0, 1), "biasprm": (2, 3)},
    "velocity": {"gainprm": (0, 1)},
    "intvelocity": {"gainprm": (0, 1), "biasprm": (2, 3)},
    "damper": {"gainprm": (2, 3)},
    "cylinder": {"dynprm": (0, 1), "gainprm": (0, 1), "biasprm": (0, 3)},
    "muscle": {"dynprm": (0, 3), "gainprm": (0, 9)},
    "adhesion": {"gainprm": (0, 1)},
}
_SERVOS = ("position", "intvelocity")
_ZEROS = (0.0,) * 10
# parameters of shortcuts that MuJoCo 3.1 does not have, if no default class gives them
_BLANK: dict[str, Values] = {
    "dcmotor": {"dynprm": _ZEROS, "gainprm": _ZEROS, "biasprm": _ZEROS},
    "orientation": {},
    "pid": {"dynprm": _ZEROS, "gainprm": _ZEROS, "biasprm": (0.0, -1.0, *_ZEROS[2:])},
}
LATER_SHORTCUTS = frozenset(_BLANK)
"""Shortcuts that MuJoCo 3.1 does not have. They follow the rules of 4.0 under all versions."""


def _reset(tag: str, values: Values) -> None:
    """Reset all actuator parameters, except those that the 4.0 shortcut ``tag`` takes over from its default class."""
    taken = dict(_TAKEN[tag])
    filtered = tag in _SERVOS and values["dyntype"] == "filterexact"
    if filtered:
        taken["dynprm"] = (0, 1)
    for name, value in _PRISTINE.items():
        if isinstance(value, tuple):
            first, end = taken.get(name, (0, 0))
            value = (*value[:first], *values[name][first:end], *value[end:])
        values[name] = value
    if filtered:
        values["dyntype"] = "filterexact"


def apply_shortcut(tag: str, values: Values, given: Mapping[str, Any], version: str) -> Values:
    """Convert the attributes of an actuator shortcut to those of a general actuator.

    ``values`` has the resolved attributes, ``given`` only the explicit ones. ``values`` is changed in place, loses the
    shortcut's own attributes, and is returned. ``version`` is the version of MuJoCo whose rules apply.
    """
    if tag in LATER_SHORTCUTS:
        if values["gaintype"] != GAIN_TYPES[tag]:
            values.update(_PRISTINE | _BLANK[tag])
    elif version == "4.0" and tag in _TAKEN:
        _reset(tag, values)
        if tag == "damper" and "kv" not in given:
            given = {**given, "kv": -values["gainprm"][2]}
    if version == "3.1" and tag == "intvelocity" and "actlimited" not in given:
        values["actlimited"] = "true"
    SHORTCUTS[tag](values, given)
    for name in SHORTCUT_ATTRIBUTES:
        values.pop(name, None)
    return values
