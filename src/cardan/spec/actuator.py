"""Actuator shortcuts: how ``motor``, ``position`` and ``velocity`` become a ``general`` actuator.

All actuators share one default entry, in the form of ``general``. A shortcut sets some of the general attributes over
what the default class holds, both in ``<default>`` and in ``<actuator>`` (spec: modeling, "Actuator shortcuts"; which
attribute a shortcut touches, and which it leaves, was found by asking the reference).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

Values = dict[str, Any]

# attributes of shortcuts that have no counterpart of the same name in <general>
SHORTCUT_ATTRIBUTES = frozenset({"kp", "kv", "dampratio", "timeconst"})


def _with_first(vector: tuple[float, ...], **values: float | None) -> tuple[float, ...]:
    """The vector with entries ``i0``, ``i1``, ... replaced where a value is given."""
    changed = list(vector)
    for key, value in values.items():
        if value is not None:
            changed[int(key[1:])] = value
    return tuple(changed)


def _general(values: Values, given: Mapping[str, Any]) -> None:
    """A general actuator sets what it names, and nothing else."""


def _motor(values: Values, given: Mapping[str, Any]) -> None:
    """Direct drive: force equals control."""
    values["gainprm"] = _with_first(values["gainprm"], i0=1.0)
    values.update(gaintype="fixed", dyntype="none", biastype="none")


def _position(values: Values, given: Mapping[str, Any]) -> None:
    """Position servo: force = kp (ctrl - length) - kv velocity, filtered when a time constant is given.

    A damping ratio is kept as a positive ``biasprm[2]`` until the compiler knows the inertia.
    """
    values["gainprm"] = _with_first(values["gainprm"], i0=given.get("kp"))
    kv = given.get("kv")
    damping = given.get("dampratio", None if kv is None else -kv)
    values["biasprm"] = _with_first(values["biasprm"], i1=-values["gainprm"][0], i2=damping)
    values.update(gaintype="fixed", biastype="affine")
    timeconst = given.get("timeconst")
    if timeconst is not None:
        values["dynprm"] = _with_first(values["dynprm"], i0=timeconst)
        values["dyntype"] = "none" if timeconst == 0 else "filterexact"


def _velocity(values: Values, given: Mapping[str, Any]) -> None:
    """Velocity servo: force = kv (ctrl - velocity)."""
    values["gainprm"] = _with_first(values["gainprm"], i0=given.get("kv"))
    values["biasprm"] = (0.0, 0.0, -values["gainprm"][0], *[0.0] * (len(values["biasprm"]) - 3))
    values.update(gaintype="fixed", dyntype="none", biastype="affine")


SHORTCUTS: dict[str, Callable[[Values, Mapping[str, Any]], None]] = {
    "general": _general,
    "motor": _motor,
    "position": _position,
    "velocity": _velocity,
}


def apply_shortcut(tag: str, values: Values, given: Mapping[str, Any]) -> Values:
    """Turn a shortcut's own attributes into general ones.

    ``values`` are the general attributes below (language defaults and default class) with the ``given`` ones already
    laid over; they are changed in place and returned, without the shortcut's own attributes.
    """
    SHORTCUTS[tag](values, given)
    for name in SHORTCUT_ATTRIBUTES:
        values.pop(name, None)
    return values
