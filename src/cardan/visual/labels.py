"""Texts beside geoms: kernels store the kind of label, and this module writes the text."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from cardan.api.names import mj_id2name
from cardan.api.support import mj_contactForce
from cardan.enums import mjtLabel, mjtObj

# kind of label: kind of object, and the word for an object without name
OBJECTS: dict[str, tuple[str, str]] = {
    "BODY": ("BODY", "body"),
    "SELECTION": ("BODY", "body"),
    "JOINT": ("JOINT", "joint"),
    "GEOM": ("GEOM", "geom"),
    "SITE": ("SITE", "site"),
    "CAMERA": ("CAMERA", "camera"),
    "LIGHT": ("LIGHT", "light"),
    "TENDON": ("TENDON", "tendon"),
    "ACTUATOR": ("ACTUATOR", "actuator"),
    "CONSTRAINT": ("EQUALITY", "equality"),
    "FLEX": ("FLEX", "flex"),
    "SKIN": ("SKIN", "skin"),
}
Text = Callable[[Any, Any, Any, int], str]


def _name(objtype: mjtObj, word: str) -> Text:
    return lambda m, d, pose, id: mj_id2name(m, objtype, id) or f"{word} {id}"


def _selected_point(m: Any, d: Any, point: np.ndarray, body: int) -> str:
    place = d.xpos[body] + d.xmat[body].reshape(3, 3) @ point
    return "{:.3f} {:.3f} {:.3f} (local {:.3f} {:.3f} {:.3f})".format(*place, *point)


def _side(m: Any, geom: int, flex: int, element: int, vertex: int) -> str:
    """Describe one side of a contact."""
    if geom >= 0:
        return mj_id2name(m, mjtObj.mjOBJ_GEOM, geom) or f"g{geom}"
    name = mj_id2name(m, mjtObj.mjOBJ_FLEX, flex) or f"f{flex}"
    return f"{name}.e{element}" if element >= 0 else f"{name}.v{vertex}"


def _contact(m: Any, d: Any, point: np.ndarray, k: int) -> str:
    c = d.contact
    sides = [_side(m, int(c.geom[k, s]), int(c.flex[k, s]), int(c.elem[k, s]), int(c.vert[k, s])) for s in range(2)]
    return " | ".join(sides)


def _force(m: Any, d: Any, point: np.ndarray, k: int) -> str:
    wrench = np.zeros(6)
    mj_contactForce(m, d, k, wrench)
    return f"{float(np.linalg.norm(wrench[:3])):.3g}"


TEXTS: dict[int, Text] = {
    **{
        int(getattr(mjtLabel, f"mjLABEL_{k}")): _name(getattr(mjtObj, f"mjOBJ_{o}"), word)
        for k, (o, word) in OBJECTS.items()
    },
    int(mjtLabel.mjLABEL_SELPNT): _selected_point,
    int(mjtLabel.mjLABEL_CONTACTPOINT): _contact,
    int(mjtLabel.mjLABEL_CONTACTFORCE): _force,
    int(mjtLabel.mjLABEL_ISLAND): lambda m, d, pose, id: str(id),
}


def write_labels(m: Any, d: Any, first: int, scn: Any) -> None:
    """Write the labels of the geoms from number `first` on."""
    memory = scn.memory
    point = memory.selected_point
    labels = memory.labels[: scn.ngeom]
    for g in np.flatnonzero(labels[first:, 0]) + first:
        kind, id = labels[g]
        scn.geom_values["label"][g] = TEXTS[int(kind)](m, d, point, int(id)).encode()[:99]
