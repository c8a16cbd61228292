"""Updating a scene: `mjv_updateScene` and its parts (spec: programming, visualization, "Scene update").

A scene is updated by a program of stages, which depends on the model and the options. All stages write into the memory
of the scene (`cardan.visual.memory`).
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

from cardan.api.arguments import check_pair, integer
from cardan.enums import mjtCamera, mjtVisFlag
from cardan.errors import FatalError
from cardan.jit import Program
from cardan.model.mjdata import MjData
from cardan.model.mjmodel import MjModel
from cardan.plugins.registry import plugin_of
from cardan.step.report import report
from cardan.visual import cameras, lights, skins
from cardan.visual.labels import write_labels
from cardan.visual.memory import CATMASK, FULL, MAXGEOM, NGEOM, NLIGHT
from cardan.visual.parts import stages_of
from cardan.visual.structs import MjvCamera, MjvOption, MjvPerturb, MjvScene

Stage = Callable[..., Any]
TRACKING, FIXED = int(mjtCamera.mjCAMERA_TRACKING), int(mjtCamera.mjCAMERA_FIXED)
CAMERA_TYPES = range(len(mjtCamera.__members__))
VIS_FLEX = {
    f"flex{kind}opt": int(getattr(mjtVisFlag, f"mjVIS_FLEX{kind.upper()}")) for kind in ("vert", "edge", "face", "skin")
}
"""Flags, by the members of a scene that they set."""


@cache
def _program(stages: tuple[Stage, ...]) -> Program:
    return Program(stages)


def _geom_program(
    m: MjModel, opt: MjvOption, pert: MjvPerturb | None, scn: MjvScene, more: tuple[Stage, ...]
) -> Program:
    """Return the program of the stages that the options request, followed by `more`; the scene caches it."""
    programs, wishes = scn.memory.programs_of(m), scn.memory.wishes
    program = programs.get((wishes, more))
    if program is None:
        program = _program((*stages_of(m, opt, pert, int(scn.memory.state[CATMASK])), *more))
        programs[wishes, more] = program
    return program


def _check(name: str, m: Any, d: Any, **records: tuple[Any, Any]) -> None:
    """Check the types of arguments, and that model, data and scene fit together.

    Raises:
        TypeError: an argument has another class.
        ValueError: the data was made for another model, or the scene for a model with other flexes or skins.
    """
    check_pair(name, m, d)
    for argument, (value, kind) in records.items():
        if not isinstance(value, kind):
            wanted = getattr(kind, "__name__", kind)
            raise TypeError(f"{name}: {argument} must be an {wanted}, not {type(value).__name__}")
    scn = records["scn"][0]
    if scn.maxgeom and (len(scn.flexvert), len(scn.skinvert)) != (3 * m.nflexvert, 3 * m.nskinvert):
        raise ValueError(f"{name}: the scene was made for a model with other flexes or skins")


def _check_camera(m: MjModel, cam: MjvCamera) -> None:
    """Check the type and the ids of an abstract camera; if they are invalid, raise FatalError, as the reference."""
    kind, track, fixed = cam.type, cam.trackbodyid, cam.fixedcamid
    if kind not in CAMERA_TYPES:
        raise FatalError(f"mjv_updateCamera: unknown camera type {kind}")
    if kind == TRACKING and not 0 <= track < m.nbody:
        raise FatalError(f"mjv_updateCamera: track body id {track} is outside valid range 0 to {m.nbody - 1}")
    if kind == FIXED and not 0 <= fixed < m.ncam:
        raise FatalError(f"mjv_updateCamera: fixed camera id {fixed} is outside valid range 0 to {m.ncam - 1}")


def _prepare(d: MjData, opt: MjvOption, pert: MjvPerturb | None, catmask: int, scn: MjvScene) -> None:
    """Copy the inputs of the kernels into the scene's memory."""
    memory = scn.memory
    memory.put_option(opt)
    memory.put_perturb(pert)
    memory.state[CATMASK], memory.state[MAXGEOM], memory.state[FULL] = catmask, scn.maxgeom, 0
    memory.state[NGEOM] = scn.values["ngeom"]
    memory.attach(d)


def _show_flexes(opt: MjvOption, scn: MjvScene) -> None:
    """Tell the renderer which parts of flexes to draw, if any part is shown."""
    flags = opt.flags.tolist()
    shown = [flags[flag] for flag in VIS_FLEX.values()]
    if any(shown):
        for name, value in zip(VIS_FLEX, shown, strict=True):
            scn.values[name] = value


def _visualize_plugins(m: MjModel, d: MjData, opt: MjvOption, scn: MjvScene) -> None:
    """Call the `visualize` functions of all plugin instances, which may change colours or add geoms."""
    for instance in range(m.nplugin):
        function = plugin_of(m, instance).visualize
        if function is not None:
            function(m, d, opt, scn, instance)
    scn.memory.state[NGEOM] = scn.values["ngeom"]


def _finish(m: MjModel, d: MjData, opt: MjvOption, scn: MjvScene) -> None:
    """Copy the results of the stages from the scene's memory."""
    state, values = scn.memory.state, scn.values
    first = values["ngeom"].item()
    values["ngeom"] = state[NGEOM]
    if opt.label:
        write_labels(m, d, first, scn)
    if state[FULL]:
        report(d)


def mjv_updateScene(
    m: MjModel, d: MjData, opt: MjvOption, pert: MjvPerturb | None, cam: MjvCamera, catmask: int, scn: MjvScene
) -> None:
    """Update entire scene given model state.

    Cameras, lights, flexes, skins and the list of geoms are replaced by those that the options, the groups and the
    categories request (spec: programming, visualization, "Scene update").

    Args:
        m: model.
        d: data; positions must have been computed (`mj_forward`), and for their decorations contacts and forces.
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
    _show_flexes(opt, scn)
    if m.nplugin:
        _visualize_plugins(m, d, opt, scn)
    # planes follow the cameras of the last update, as in the reference
    _geom_program(m, opt, pert, scn, (cameras.update_camera, lights.make_lights)).run(m, d)
    memory.get_camera(cam)
    scn.values["nlight"] = memory.state[NLIGHT]
    _finish(m, d, opt, scn)


def mjv_addGeoms(m: MjModel, d: MjData, opt: MjvOption, pert: MjvPerturb | None, catmask: int, scn: MjvScene) -> None:
    """Add geoms from selected categories.

    They are appended to the geoms of the scene; lights and cameras don't change. Arguments as in `mjv_updateScene`.
    """
    _check("mjv_addGeoms", m, d, opt=(opt, MjvOption), scn=(scn, MjvScene), pert=(pert, MjvPerturb | None))
    _prepare(d, opt, pert, integer("mjv_addGeoms", "catmask", catmask), scn)
    _geom_program(m, opt, pert, scn, ()).run(m, d)
    _finish(m, d, opt, scn)


def mjv_makeLights(m: MjModel, d: MjData, scn: MjvScene) -> None:
    """Make list of lights.

    The headlight, if it is on, is first and at the position of the scene's cameras. The active lights of the model
    follow.
    """
    _check("mjv_makeLights", m, d, scn=(scn, MjvScene))
    scn.memory.attach(d)
    _program((lights.make_lights,)).run(m, d)
    scn.nlight = int(scn.memory.state[NLIGHT])


def mjv_updateCamera(m: MjModel, d: MjData, cam: MjvCamera, scn: MjvScene) -> None:
    """Update camera.

    Both cameras of the scene are set from an abstract camera. A tracking camera moves its `lookat` a fifth of the
    distance to the centre of mass of the tracked body's subtree.

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
    """Update skins: vertices and normals of all skins of the scene, from the poses of their bones."""
    _check("mjv_updateSkin", m, d, scn=(scn, MjvScene))
    scn.memory.attach(d)
    _program((skins.update_skins,)).run(m, d)


__all__ = ["mjv_addGeoms", "mjv_makeLights", "mjv_updateCamera", "mjv_updateScene", "mjv_updateSkin"]
