"""Update of a scene: `mjv_updateScene` and its parts (spec: programming, visualization, "Scene update").

The program that updates a scene consists of the stages in `PARTS` whose conditions are met by the model and the
options. All stages write into the memory of the scene (`cardan.visual.memory`). Kernels store only the kind and id of
each label; the texts of labels are written at the end.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from cardan.api.arguments import check_pair, integer
from cardan.api.names import mj_id2name
from cardan.api.support import mj_contactForce
from cardan.enums import mjtCamera, mjtObj
from cardan.enums.codes import CAMERA_TRACKING, CAT_DECOR, CAT_DYNAMIC
from cardan.errors import FatalError
from cardan.jit import Program
from cardan.model.mjdata import MjData
from cardan.model.mjmodel import MjModel
from cardan.plugins.registry import plugin_of
from cardan.step.report import report
from cardan.visual import bodies, cameras, contacts, flexes, geoms, joints, rangefinders, tendons
from cardan.visual.append import STATIC
from cardan.visual.memory import (
    CATMASK,
    FLAGS,
    FRAME,
    FRAMES,
    FULL,
    LABEL,
    LABELS,
    LOCALMASS,
    LOCALPOS,
    MAXGEOM,
    NGEOM,
    NLIGHT,
    SELECT,
    VIS,
)
from cardan.visual.structs import MjvCamera, MjvOption, MjvPerturb, MjvScene

Stage = Callable[..., Any]
BODIES = STATIC | CAT_DYNAMIC
ANY = 0
CAMERA_FIXED = int(mjtCamera.mjCAMERA_FIXED)


@dataclass(frozen=True)
class Part:
    """One stage of a scene, and the conditions under which it runs.

    `size` names a size of the model that must not be 0. At least one of the categories (bits of mjtCatBit) must be
    requested, unless `category` is `ANY`. If flags (mjtVisFlag), frames (mjtFrame) or labels (mjtLabel) are named
    (without prefix), one of them must be chosen. If `selected`, a body must be selected.
    """

    stage: Stage
    size: str
    category: int = CAT_DECOR
    flags: tuple[str, ...] = ()
    frames: tuple[str, ...] = ()
    labels: tuple[str, ...] = ()
    selected: bool = False


PARTS: tuple[Part, ...] = (
    Part(contacts.add_searches, "nplugin", ANY, flags=("SDFITER",)),
    Part(flexes.update_flexes, "nflex", ANY, flags=("FLEXVERT", "FLEXEDGE", "FLEXFACE", "FLEXSKIN")),
    Part(flexes.update_skins, "nskin", ANY, flags=("SKIN",)),
    Part(flexes.add_flexes, "nflex", CAT_DYNAMIC, flags=("FLEXVERT", "FLEXEDGE", "FLEXFACE", "FLEXSKIN")),
    Part(flexes.add_skins, "nskin", CAT_DYNAMIC, flags=("SKIN",)),
    Part(geoms.add_body_volumes, "nbvh", ANY, flags=("BODYBVH",)),
    Part(geoms.add_flex_volumes, "nflex", ANY, flags=("FLEXBVH",)),
    Part(geoms.add_mesh_volumes, "nmesh", ANY, flags=("MESHBVH",)),
    Part(bodies.add_inertias, "nbody", BODIES, flags=("INERTIA",)),
    Part(bodies.add_perturbation, "nbody", flags=("PERTOBJ",), selected=True),
    Part(bodies.add_body_frames, "nbody", frames=("WORLD", "BODY")),
    Part(bodies.add_selected_point, "nbody", flags=("SELECT",), labels=("SELPNT",), selected=True),
    Part(bodies.add_body_labels, "nbody", labels=("BODY", "SELECTION")),
    Part(joints.add_joints, "njnt", flags=("JOINT",)),
    Part(joints.add_actuators, "nactuator", flags=("ACTUATOR",)),
    Part(bodies.add_island_labels, "nv", labels=("ISLAND",)),
    Part(geoms.add_geoms, "ngeom", BODIES),
    Part(geoms.add_sites, "nsite", BODIES),
    Part(cameras.add_cameras, "ncam", flags=("CAMERA",)),
    Part(cameras.add_frustums, "ncam", ANY, flags=("CAMERA",)),
    Part(cameras.add_lights, "nlight", flags=("LIGHT",)),
    Part(tendons.add_tendons, "ntendon", CAT_DYNAMIC, flags=("TENDON",)),
    Part(tendons.add_slider_cranks, "nactuator", CAT_DYNAMIC),
    Part(bodies.add_centres, "nbody", flags=("COM",)),
    Part(bodies.add_skeleton, "nbody", flags=("AUTOCONNECT",)),
    Part(rangefinders.add_rangefinders, "nsensor", flags=("RANGEFINDER",)),
    Part(bodies.add_applied_forces, "nbody", flags=("PERTFORCE",)),
    Part(contacts.add_constraints, "neq", flags=("CONSTRAINT",)),
    Part(contacts.add_contacts, "nbody", flags=("CONTACTPOINT", "CONTACTFORCE"), frames=("CONTACT",)),
)


def stages_of(m: MjModel, state: np.ndarray) -> tuple[Stage, ...]:
    """Return the stages that a scene needs, in order, for the options in `state` (`SceneMemory.state`)."""
    selected, frame, label, catmask = state[SELECT] > 0, state[FRAME], state[LABEL], state[CATMASK]
    return tuple(
        part.stage
        for part in PARTS
        if (
            not (part.flags or part.frames or part.labels)
            or any(state[VIS[k]] for k in part.flags)
            or frame in [FRAMES[k] for k in part.frames]
            or label in [LABELS[k] for k in part.labels]
        )
        and (part.category & catmask or part.category == ANY)
        and (selected or not part.selected)
        and getattr(m, part.size)
    )


NAMED = ("BODY", "JOINT", "GEOM", "SITE", "CAMERA", "LIGHT", "TENDON", "ACTUATOR", "FLEX", "SKIN")
OBJECTS = {**{name: name for name in NAMED}, "SELECTION": "BODY", "CONSTRAINT": "EQUALITY"}
"""Kind of object for each kind of label that shows an object's name."""
Text = Callable[[MjModel, MjData, Any, int], str]


def _name(objtype: mjtObj, word: str) -> Text:
    return lambda m, d, pose, id: mj_id2name(m, objtype, id) or f"{word} {id}"


def _selected_point(m: MjModel, d: MjData, point: np.ndarray, body: int) -> str:
    place = d.xpos[body] + d.xmat[body].reshape(3, 3) @ point
    return "{:.3f} {:.3f} {:.3f} (local {:.3f} {:.3f} {:.3f})".format(*place, *point)


def _side(m: MjModel, geom: int, flex: int, element: int, vertex: int) -> str:
    """Return the label of one side of a contact: a geom's name, or a flex's name with an element or vertex."""
    if geom >= 0:
        return mj_id2name(m, mjtObj.mjOBJ_GEOM, geom) or f"g{geom}"
    name = mj_id2name(m, mjtObj.mjOBJ_FLEX, flex) or f"f{flex}"
    return f"{name}.e{element}" if element >= 0 else f"{name}.v{vertex}"


def _contact(m: MjModel, d: MjData, point: np.ndarray, k: int) -> str:
    c = d.contact
    sides = [_side(m, int(c.geom[k, s]), int(c.flex[k, s]), int(c.elem[k, s]), int(c.vert[k, s])) for s in range(2)]
    return " | ".join(sides)


def _force(m: MjModel, d: MjData, point: np.ndarray, k: int) -> str:
    wrench = np.zeros(6)
    mj_contactForce(m, d, k, wrench)
    return f"{float(np.linalg.norm(wrench[:3])):.3g}"


TEXTS: dict[int, Text] = {
    **{LABELS[k]: _name(getattr(mjtObj, f"mjOBJ_{name}"), name.lower()) for k, name in OBJECTS.items()},
    LABELS["SELPNT"]: _selected_point,
    LABELS["CONTACTPOINT"]: _contact,
    LABELS["CONTACTFORCE"]: _force,
    LABELS["ISLAND"]: lambda m, d, pose, id: str(id),
}


@cache
def _program(stages: tuple[Stage, ...]) -> Program:
    return Program(stages)


def _geom_program(m: MjModel, scn: MjvScene, more: tuple[Stage, ...] = ()) -> Program:
    """Return the program of the stages that the options request, followed by `more`; the scene caches the program."""
    programs, wishes = scn.memory.programs_of(m), scn.memory.wishes
    program = programs.get((wishes, more))
    if program is None:
        program = _program((*stages_of(m, scn.memory.state), *more))
        programs[wishes, more] = program
    return program


def _check(name: str, m: Any, d: Any, **records: tuple[Any, Any]) -> None:
    """Raise TypeError if an argument has a wrong class, ValueError if model, data and scene don't belong together."""
    check_pair(name, m, d)
    for argument, (value, kind) in records.items():
        if not isinstance(value, kind):
            wanted = getattr(kind, "__name__", kind)
            raise TypeError(f"{name}: {argument} must be an {wanted}, not {type(value).__name__}")
    scn = records["scn"][0]
    if scn.maxgeom and (len(scn.flexvert), len(scn.skinvert)) != (3 * m.nflexvert, 3 * m.nskinvert):
        raise ValueError(f"{name}: the scene was made for a model with other flexes or skins")


def _check_camera(m: MjModel, cam: MjvCamera) -> None:
    """Check the type and the ids of an abstract camera; raise FatalError, as MuJoCo does, if one is invalid."""
    kind, track, fixed = cam.type, cam.trackbodyid, cam.fixedcamid
    if kind not in range(len(mjtCamera.__members__)):
        raise FatalError(f"mjv_updateCamera: unknown camera type {kind}")
    if kind == CAMERA_TRACKING and not 0 <= track < m.nbody:
        raise FatalError(f"mjv_updateCamera: track body id {track} is outside valid range 0 to {m.nbody - 1}")
    if kind == CAMERA_FIXED and not 0 <= fixed < m.ncam:
        raise FatalError(f"mjv_updateCamera: fixed camera id {fixed} is outside valid range 0 to {m.ncam - 1}")


def _prepare(d: MjData, opt: MjvOption, pert: MjvPerturb | None, catmask: int, scn: MjvScene) -> None:
    """Copy the inputs of the kernels into the scene's memory, and attach the memory to `d`."""
    memory = scn.memory
    memory.put_option(opt)
    memory.put_perturb(pert)
    memory.state[CATMASK], memory.state[MAXGEOM], memory.state[FULL] = catmask, scn.maxgeom, 0
    memory.state[NGEOM] = scn.values["ngeom"]
    memory.attach(d)


def _finish(m: MjModel, d: MjData, opt: MjvOption, scn: MjvScene) -> None:
    """Copy the results of the stages from the scene's memory, write labels of new geoms, and report a full scene."""
    state, values = scn.memory.state, scn.values
    first = values["ngeom"].item()
    values["ngeom"] = state[NGEOM]
    if opt.label:  # write the labels of the new geoms
        point, labels = scn.memory.pose[LOCALPOS:LOCALMASS], scn.memory.labels[: scn.ngeom]
        for g in np.flatnonzero(labels[first:, 0]) + first:
            kind, id = labels[g]
            scn.geom_values["label"][g] = TEXTS[int(kind)](m, d, point, int(id)).encode()[:99]
    if state[FULL]:
        values["status"] = 1
        report(d)


def mjv_updateScene(
    m: MjModel, d: MjData, opt: MjvOption, pert: MjvPerturb | None, cam: MjvCamera, catmask: int, scn: MjvScene
) -> None:
    """Update all parts of a scene from the state of a model.

    Cameras, lights, flexes, skins and the list of geoms are replaced by those that options, groups and categories
    request (spec: programming, visualization, "Scene update").

    Args:
        m: model.
        d: data, after `mj_forward`: positions are read; for decorations, contacts and forces, too.
        opt: elements to show.
        pert: selected body and perturbation, or None.
        cam: abstract camera; a tracking camera is moved.
        catmask: categories of geoms to add (bits of mjtCatBit).
        scn: scene, written.

    Raises:
        FatalError: the camera has an unknown type or an id out of range.
        TypeError: an argument has another class.
        ValueError: model, data and scene don't belong together.
    """
    _check("mjv_updateScene", m, d, opt=(opt, MjvOption), cam=(cam, MjvCamera), scn=(scn, MjvScene),
           pert=(pert, MjvPerturb | None))  # fmt: skip
    _check_camera(m, cam)
    memory = scn.memory
    memory.put_camera(cam)
    scn.values["ngeom"] = 0
    _prepare(d, opt, pert, integer("mjv_updateScene", "catmask", catmask), scn)
    # tell the renderer which parts of flexes to draw, if any part is shown
    parts = {
        f"flex{k}opt": opt.values["flags"][VIS[f"FLEX{k.upper()}"] - FLAGS] for k in ("vert", "edge", "face", "skin")
    }
    for name, shown in parts.items() if any(parts.values()) else ():
        scn.values[name] = shown
    # functions of plugins may change colours or add geoms
    for instance in range(m.nplugin):
        visualize = plugin_of(m, instance).visualize
        if visualize is not None:
            visualize(m, d, opt, scn, instance)
    memory.state[NGEOM] = scn.values["ngeom"]
    # planes follow the cameras of the last update, as in MuJoCo
    _geom_program(m, scn, (cameras.update_camera, cameras.make_lights)).run(m, d)
    memory.get_camera(cam)
    scn.values["nlight"] = memory.state[NLIGHT]
    _finish(m, d, opt, scn)


def mjv_addGeoms(m: MjModel, d: MjData, opt: MjvOption, pert: MjvPerturb | None, catmask: int, scn: MjvScene) -> None:
    """Append the geoms of the selected categories to the geoms of a scene.

    Lights and cameras don't change. The arguments `opt`, `pert`, `catmask` and `scn` are those of `mjv_updateScene`.
    """
    _check("mjv_addGeoms", m, d, opt=(opt, MjvOption), scn=(scn, MjvScene), pert=(pert, MjvPerturb | None))
    _prepare(d, opt, pert, integer("mjv_addGeoms", "catmask", catmask), scn)
    _geom_program(m, scn).run(m, d)
    _finish(m, d, opt, scn)


def mjv_makeLights(m: MjModel, d: MjData, scn: MjvScene) -> None:
    """Replace the lights of a scene.

    The headlight, if it is on, is first and at the position of the scene's cameras. The active lights of the model
    follow.
    """
    _check("mjv_makeLights", m, d, scn=(scn, MjvScene))
    scn.memory.attach(d)
    _program((cameras.make_lights,)).run(m, d)
    scn.nlight = int(scn.memory.state[NLIGHT])


def mjv_updateCamera(m: MjModel, d: MjData, cam: MjvCamera, scn: MjvScene) -> None:
    """Set both cameras of a scene from an abstract camera.

    A tracking camera moves its `lookat` a fifth of the distance to the centre of mass of the tracked body's subtree;
    with compat 4.0, it moves there at once.

    Raises:
        FatalError: the camera has an unknown type or an id out of range.
    """
    _check("mjv_updateCamera", m, d, cam=(cam, MjvCamera), scn=(scn, MjvScene))
    _check_camera(m, cam)
    scn.memory.put_camera(cam)
    scn.memory.attach(d)
    _program((cameras.update_camera,)).run(m, d)
    scn.memory.get_camera(cam)


def mjv_updateSkin(m: MjModel, d: MjData, scn: MjvScene) -> None:
    """Update vertices and normals of all skins of the scene from the poses of their bones."""
    _check("mjv_updateSkin", m, d, scn=(scn, MjvScene))
    scn.memory.attach(d)
    _program((flexes.update_skins,)).run(m, d)


__all__ = ["mjv_addGeoms", "mjv_makeLights", "mjv_updateCamera", "mjv_updateScene", "mjv_updateSkin"]
