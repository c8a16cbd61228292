"""Actuator shortcuts: conversion of ``motor``, ``position``, ``muscle``, ... to a ``general`` actuator.

All actuators share one default entry, in the form of ``general``. A shortcut replaces some of the general attributes of
the default class, both in ``<default>`` and in ``<actuator>`` (spec: modeling, "Actuator shortcuts"). The attributes
that each shortcut replaces were derived from results of the reference.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import zip_longest
from math import pi
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


def _servo(values: Values, given: Mapping[str, Any]) -> None:
    """Set gain and bias of a position servo.

    A damping ratio is stored as a positive ``biasprm[2]`` until the compiler knows the inertia.
    """
    values["gainprm"] = _with_first(values["gainprm"], given.get("kp"))
    kv = given.get("kv")
    damping = given.get("dampratio") or (given.get("dampratio") if kv is None else 0.0 - kv)
    values["biasprm"] = _with_first(values["biasprm"], None, -values["gainprm"][0], damping)
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


def _missing(gain: str) -> Callable[[Values, Mapping[str, Any]], None]:
    """Return a function that only sets the gain type, for a shortcut that is not supported yet."""
    return lambda values, given: values.update(gaintype=gain)


SHORTCUTS: dict[str, Callable[[Values, Mapping[str, Any]], None]] = {
    "general": lambda values, given: None,  # sets only the attributes that it names
    "orientation": _missing("so3"),
    "pid": _missing("pid"),
    "dcmotor": _missing("dcmotor"),
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
GAIN_TYPES: dict[str, str] = {"damper": "affine", "muscle": "muscle"}
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
    if version == "4.0" and tag in _TAKEN:
        _reset(tag, values)
        if tag == "damper" and "kv" not in given:
            given = {**given, "kv": -values["gainprm"][2]}
    if version == "3.1" and tag == "intvelocity" and "actlimited" not in given:
        values["actlimited"] = "true"
    SHORTCUTS[tag](values, given)
    for name in SHORTCUT_ATTRIBUTES:
        values.pop(name, None)
    return values
