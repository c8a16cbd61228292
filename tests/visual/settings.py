"""The settings with which scenes are compared: flags, frames, labels, groups, categories, alone and together."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from visual.scenes_compared import Pair, differences

import cardan
from cardan.enums import mjtFrame, mjtLabel, mjtVisFlag

FLAGS = [name.removeprefix("mjVIS_") for name in mjtVisFlag.__members__ if name.startswith("mjVIS_")]
DEFAULT = dict(zip(FLAGS, cardan.MjvOption().flags.tolist(), strict=True))
# searches of signed distances aren't kept, by neither engine's data
SHOWN = {name: 1 for name in FLAGS if name != "SDFITER"}
# and without those that add a geom for each of thousands of nodes
LEAN = SHOWN | dict.fromkeys(("BODYBVH", "MESHBVH", "FLEXBVH"), 0)
PERTURB = {"select": 1, "active": 3, "flexselect": 0, "skinselect": 0, "refpos": [0.1, 0.2, 0.3]}
PERTURB |= {"refselpos": [1, 2, 3], "localpos": [0.1, 0.2, 0.3], "refquat": [0.6, 0.8, 0, 0]}
GROUPS = ("geom", "site", "joint", "tendon", "actuator", "flex", "skin")


def single_flags() -> Iterator[tuple[str, dict[str, Any]]]:
    """Each flag turned over."""
    yield "default", {}
    for name in FLAGS:
        if name != "SDFITER":
            yield name, {"flags": {name: 1 - DEFAULT[name]}}
    yield "FLEXFACE without FLEXSKIN", {"flags": {"FLEXFACE": 1, "FLEXSKIN": 0}}
    yield "another layer", {"flags": {"FLEXFACE": 1, "FLEXSKIN": 0}, "flex_layer": 1}
    yield "nothing static", {"flags": {**LEAN, "STATIC": 0}}


def combinations() -> Iterator[tuple[str, dict[str, Any]]]:
    """Frames, labels, categories, groups and perturbations."""
    for name, frame in mjtFrame.__members__.items():
        if name.startswith("mjFRAME_"):
            yield name, {"frame": int(frame)}
    for name, label in mjtLabel.__members__.items():
        if name.startswith("mjLABEL_"):
            yield name, {"label": int(label), "flags": LEAN | {"INERTIA": 0}, "perturb": PERTURB}
    for catmask in range(8):
        yield f"categories {catmask}", {"flags": LEAN, "frame": catmask, "label": 1, "catmask": catmask}
    for active in ((1, 0), (2, 0), (0, 3), (2, 2)):
        yield f"active {active}", {"perturb": {**PERTURB, "active": active[0], "active2": active[1]}}
    for group in GROUPS:
        yield f"{group}group 1", {"flags": LEAN, f"{group}group": 1}
        yield f"{group}group 0", {"flags": LEAN, f"{group}group": 0}


def cameras(pair: Pair) -> Iterator[tuple[str, dict[str, Any]]]:
    """Cameras of all types, and depths of the trees of bounding volumes."""
    yield "free camera", {"camera": {"type": 0, "lookat": [0.1, 0.2, 0.3], "distance": 4, "elevation": -50}}
    for body in range(min(pair.m.nbody, 3)):
        yield f"tracking camera {body}", {"camera": {"type": 1, "trackbodyid": body, "distance": 3, "azimuth": 30}}
    for number in range(min(pair.m.ncam, 6)):
        yield f"fixed camera {number}", {"camera": {"type": 2, "fixedcamid": number}}
    yield "user's camera", {"camera": {"type": 3}}
    for depth in (0, 2, 5):
        yield f"depth {depth}", {"flags": {"BODYBVH": 1, "MESHBVH": 1, "FLEXBVH": 1}, "bvh_depth": depth}


def _is_known(pair: Pair, line: str, settings: dict[str, Any]) -> bool:
    """Whether a difference is in docs/differences.md: the reference forgets what its geoms show, or loses meshes."""
    if " dataid: " in line and pair.rm.nmesh != pair.m.nmesh:
        return True
    drawn = settings.get("frame") in (int(mjtFrame.mjFRAME_CAMERA), int(mjtFrame.mjFRAME_LIGHT))
    return drawn and " objtype: 0 " in line


def compare(pair: Pair, settings: dict[str, Any]) -> tuple[int, list[str]]:
    """Number of geoms compared, and where scenes differ, but for what is not the visualiser's.

    Forces and points of contacts are those of the engines: where these find other contacts, or the same in another
    order, scenes that show them aren't compared. So are boxes of meshes where the trees over their faces differ.
    """
    flags = settings.get("flags", {})
    if settings.get("perturb") and pair.m.nbody < 2:
        return 0, []  # there is nothing to select
    shows_contacts = flags.get("CONTACTPOINT") or flags.get("CONTACTFORCE") or settings.get("frame") == 6
    if (shows_contacts or flags.get("ISLAND")) and not pair.same_contacts:
        return 0, []
    if flags.get("MESHBVH") and pair.m.nhfield:
        return 0, []  # the reference takes height fields for meshes
    if (flags.get("MESHBVH") or flags.get("BODYBVH")) and not pair.same_trees:
        return 0, []
    expected, found = pair.scenes(**settings)
    return expected.ngeom, [line for line in differences(expected, found) if not _is_known(pair, line, settings)]
