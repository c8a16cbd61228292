"""Conversion between names and ids of elements (spec: programming, naming)."""

from __future__ import annotations

import re

from cardan.api.arguments import check_model, integer, text
from cardan.enums.codes import CHART_QUAT, GAIN_SO3
from cardan.model import internals
from cardan.model.mjmodel import MjModel
from cardan.model.named import KIND_OF_OBJECT, name_book


def _kind(function: str, type: int) -> str | None:
    """Return the kind of element for a value of `mjtObj`, or None if elements of this kind have no names."""
    return KIND_OF_OBJECT.get(integer(function, "type", type))


def mj_id2name(m: MjModel, type: int, id: int) -> str | None:
    """Return the name of the element with a type (`mjtObj`) and an id; None if it does not exist or has no name."""
    check_model("mj_id2name", m)
    kind, id = _kind("mj_id2name", type), integer("mj_id2name", "id", id)
    names = name_book(m, kind).names if kind else []
    return (names[id] or None) if 0 <= id < len(names) else None


def mj_name2id(m: MjModel, type: int, name: str) -> int:
    """Return the id of the element with a type (`mjtObj`) and a name (str or bytes); -1 if it does not exist."""
    if m.__class__ is not MjModel:
        check_model("mj_name2id", m)
    kind = _kind("mj_name2id", type)
    if name.__class__ is not str:
        name = text("mj_name2id", "name", name)
    return name_book(m, kind).ids.get(name, -1) if kind else -1


_TURN, _QUATERNION = ("rx", "ry", "rz"), ("qw", "qx", "qy", "qz")


def mj_actuatorInputName(m: MjModel, id: int, input: int) -> str | None:
    """Return the name of an actuator's control: a word of its ``input``, or a component of an orientation.

    Args:
        m: model.
        id: the actuator.
        input: number of the control, from 0.

    Returns:
        The name; None if the control has none, or if there is no such actuator or control.
    """
    from cardan.spec.schema.keywords import INPUT_BITS

    check_model("mj_actuatorInputName", m)
    id, input = (integer("mj_actuatorInputName", name, value) for name, value in (("id", id), ("input", input)))
    if not 0 <= id < m.nactuator or not 0 <= input < m.actuator_ctrlnum[id]:
        return None
    spec = int(m.actuator_ctrlspec[id])
    if internals.array(m, "actuator_gaintype")[id] == GAIN_SO3:
        return (_QUATERNION if spec == CHART_QUAT else _TURN)[input]
    words = [word for word, bit in INPUT_BITS.items() if spec & bit]
    return words[input] if input < len(words) else None


_ABSENT = {
    "HEADERS_DIR": "the headers of the C library",
    "MjPreContact": "collision functions in C",
    "MjrVertexAttribute": "meshes that a program gives to a renderer",
}
"""Features by patterns of the names that belong to them."""


def absent_feature(name: str) -> str | None:
    """Return the feature to which a missing name of MuJoCo's interface belongs, or None if the name is unknown."""
    return next((feature for pattern, feature in _ABSENT.items() if re.fullmatch(pattern, name)), None)


__all__ = ["mj_actuatorInputName", "mj_id2name", "mj_name2id"]
