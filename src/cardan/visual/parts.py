"""Table of the stages of a scene in their order, each with the conditions under which it runs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from cardan.enums import mjtCatBit, mjtFrame, mjtLabel, mjtVisFlag
from cardan.enums.codes import CAT_DECOR, CAT_DYNAMIC
from cardan.visual import (
    bodies,
    contacts,
    flexes,
    frames,
    geoms,
    joints,
    perturbed,
    searches,
    skins,
    symbols,
    tendons,
    volumes,
)
from cardan.visual.structs import MjvOption, MjvPerturb

Stage = Callable[..., Any]
BODIES = int(mjtCatBit.mjCAT_STATIC | mjtCatBit.mjCAT_DYNAMIC)
ANY = 0


@dataclass(frozen=True)
class Part:
    """One stage of a scene. It runs if the model has the objects it shows and one of its conditions is met.

    Attributes:
        stage: the stage.
        size: the size of the model that must not be 0.
        category: categories (bits of mjtCatBit) of which at least one must be requested; `ANY`: no condition.
        flags: flags (mjtVisFlag, without prefix) of which at least one is set; empty: no flag requests the stage.
        frames: kinds of frames (mjtFrame) that request the stage as well.
        labels: kinds of labels (mjtLabel) that request the stage as well.
        selected: whether a body must be selected.
    """

    stage: Stage
    size: str
    category: int = CAT_DECOR
    flags: tuple[str, ...] = ()
    frames: tuple[str, ...] = ()
    labels: tuple[str, ...] = ()
    selected: bool = False


PARTS: tuple[Part, ...] = (
    Part(searches.add_searches, "nplugin", ANY, flags=("SDFITER",)),
    Part(flexes.update_flexes, "nflex", ANY, flags=("FLEXVERT", "FLEXEDGE", "FLEXFACE", "FLEXSKIN")),
    Part(skins.update_skins, "nskin", ANY, flags=("SKIN",)),
    Part(flexes.add_flexes, "nflex", CAT_DYNAMIC, flags=("FLEXVERT", "FLEXEDGE", "FLEXFACE", "FLEXSKIN")),
    Part(skins.add_skins, "nskin", CAT_DYNAMIC, flags=("SKIN",)),
    Part(volumes.add_body_volumes, "nbvh", ANY, flags=("BODYBVH",)),
    Part(volumes.add_flex_volumes, "nflex", ANY, flags=("FLEXBVH",)),
    Part(volumes.add_mesh_volumes, "nmesh", ANY, flags=("MESHBVH",)),
    Part(bodies.add_inertias, "nbody", BODIES, flags=("INERTIA",)),
    Part(perturbed.add_perturbation, "nbody", flags=("PERTOBJ",), selected=True),
    Part(frames.add_body_frames, "nbody", frames=("WORLD", "BODY")),
    Part(frames.add_selected_point, "nbody", flags=("SELECT",), labels=("SELPNT",), selected=True),
    Part(frames.add_body_labels, "nbody", labels=("BODY", "SELECTION")),
    Part(joints.add_joints, "njnt", flags=("JOINT",)),
    Part(joints.add_actuators, "nu", flags=("ACTUATOR",)),
    Part(frames.add_island_labels, "nv", labels=("ISLAND",)),
    Part(geoms.add_geoms, "ngeom", BODIES),
    Part(geoms.add_sites, "nsite", BODIES),
    Part(symbols.add_cameras, "ncam", flags=("CAMERA",)),
    Part(symbols.add_frustums, "ncam", ANY, flags=("CAMERA",)),
    Part(symbols.add_lights, "nlight", flags=("LIGHT",)),
    Part(tendons.add_tendons, "ntendon", CAT_DYNAMIC, flags=("TENDON",)),
    Part(tendons.add_slider_cranks, "nu", CAT_DYNAMIC),
    Part(bodies.add_centres, "nbody", flags=("COM",)),
    Part(bodies.add_skeleton, "nbody", flags=("AUTOCONNECT",)),
    Part(tendons.add_rangefinders, "nsensor", flags=("RANGEFINDER",)),
    Part(bodies.add_applied_forces, "nbody", flags=("PERTFORCE",)),
    Part(contacts.add_constraints, "neq", flags=("CONSTRAINT",)),
    Part(contacts.add_contacts, "nbody", flags=("CONTACTPOINT", "CONTACTFORCE"), frames=("CONTACT",)),
)

_FLAG = {k.removeprefix("mjVIS_"): int(v) for k, v in mjtVisFlag.__members__.items()}
_FRAME = {k.removeprefix("mjFRAME_"): int(v) for k, v in mjtFrame.__members__.items()}
_LABEL = {k.removeprefix("mjLABEL_"): int(v) for k, v in mjtLabel.__members__.items()}
# the table with numbers instead of names
_ROWS = tuple(
    (
        part,
        tuple(_FLAG[k] for k in part.flags),
        tuple(_FRAME[k] for k in part.frames),
        tuple(_LABEL[k] for k in part.labels),
        not (part.flags or part.frames or part.labels),
    )
    for part in PARTS
)


def stages_of(m: Any, opt: MjvOption, pert: MjvPerturb | None, catmask: int) -> tuple[Stage, ...]:
    """Return the stages that a scene needs, in their order."""
    flags: list[int] = opt.flags.tolist()
    frame, label = opt.frame, opt.label
    selected = pert is not None and pert.select > 0
    return tuple(
        part.stage
        for part, by_flag, by_frame, by_label, always in _ROWS
        if (always or any(flags[k] for k in by_flag) or frame in by_frame or label in by_label)
        and (part.category & catmask or part.category == ANY)
        and (selected or not part.selected)
        and getattr(m, part.size)
    )


__all__ = ["PARTS", "Part", "stages_of"]
