"""Conversion between names and ids of elements (spec: programming, naming)."""

from __future__ import annotations

import re

from cardan.api.arguments import check_model, integer, text
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


_ABSENT = {
    "HEADERS_DIR": "the headers of the C library",
    "mj_embedAssets": "putting textures by reference into a compiled model",
    "mj_actuatorInputName": "models do not keep by which shortcut an actuator was made",
    r"mj_print(Formatted)?Scene": "printing scenes",
    r"MjLog(Config|Message)": "settings of the log",
    "MjPreContact": "collision functions in C",
    "MjrVertexAttribute": "meshes that a program gives to a renderer",
}
"""Features by patterns of the names that belong to them."""


def absent_feature(name: str) -> str | None:
    """Return the feature to which a missing name of MuJoCo's interface belongs, or None if the name is unknown."""
    return next((feature for pattern, feature in _ABSENT.items() if re.fullmatch(pattern, name)), None)


__all__ = ["mj_id2name", "mj_name2id"]
