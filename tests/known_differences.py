"""Differences from the reference that docs/differences.md explains, for comparisons of whole files of models."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

KNOWN: dict[str, tuple[str, ...]] = {
    # height fields: the reference's points of distance sensors are on neither surface
    "fromto_convex.xml": ("sensordata",),
    # paths that graze a cylinder: the reference adds a turn at some configurations
    "aero_hand/xmls/right_hand.xml": ("ten_length",),
    "aero_hand/xmls/scene_mjx_cube.xml": ("ten_length",),
    # kv="0" below a class with another kv: the reference ignores the 0
    "reachy2/v0/robot.xml": ("actuator_biasprm",),
}
"""The end of a file's path, and the fields that an explained difference concerns."""


OPEN: dict[str, str] = {
    "actuation/refsite_free.xml": "lengths of an actuator with a reference site that a free joint moves",
    "engine/testdata/frame.xml": "a step with 7 contacts in the reference and 6 here",
}
"""Differences that are open (docs/status.md), by the end of a file's path. Tests of such a file may fail."""


def open_difference(path: Path) -> str | None:
    """What is open about a file of a model, or None."""
    return next((reason for end, reason in OPEN.items() if path.as_posix().endswith(end)), None)


def unexplained(path: Path, lines: Iterable[str]) -> list[str]:
    """Lines about differences of a model, except those about fields whose difference is explained."""
    fields = [field for end, known in KNOWN.items() if path.as_posix().endswith(end) for field in known]
    return [line for line in lines if not any(f"{field}:" in line for field in fields)]


def distinct_meshes(path: Path, folder: Path) -> Path:
    """The file itself; of a URDF with mesh files of one name in two folders, a copy in which their names differ.

    Such files are one mesh in the reference.
    """
    if path.name != "talos_reduced.mj.urdf":
        return path
    same = "gripper/base_link_collision.STL"
    meshes = path.parents[1] / "meshes"
    other = folder / same.replace("/", "_")
    other.symlink_to(meshes / same)
    text = path.read_text().replace(f"../meshes/{same}", str(other)).replace("../meshes", str(meshes))
    copy = folder / path.name
    copy.write_text(text)
    return copy
