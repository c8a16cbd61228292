"""Cameras and lights (spec: modeling, "camera" and "light")."""

from __future__ import annotations

import ctypes
import sys
from functools import cache
from math import pi
from typing import TYPE_CHECKING, Any

import numpy as np

from cardan.compiler.orientation import SHORTEST, element_pose, frames_pose
from cardan.compiler.settings import part
from cardan.maths.pose import compose
from cardan.maths.quaternion import rot_vec_quat
from cardan.maths.vector import norm3, scale3
from cardan.spec.schema.keywords import CAMLIGHT

if TYPE_CHECKING:
    from cardan.compiler.build import Build
    from cardan.compiler.nodes import Body, Placed


@cache
def _arctan2() -> Any:
    function = ctypes.CDLL("ucrtbase" if sys.platform == "win32" else None).atan2f
    function.restype, function.argtypes = ctypes.c_float, (ctypes.c_float, ctypes.c_float)
    return function


def arctan2(y: float, x: float) -> float:
    """Return the angle of the point (x, y) to the x axis (rad), all in single precision, by the C library.

    NumPy's functions round differently on different processors.
    """
    return _arctan2()(y, x)


_LARGEST_FOVY = 180.0


def add_views(build: Build) -> None:
    """Add the cameras and lights of all bodies."""
    for body in build.bodies:
        if "camera" in body.content:
            for placed in body.content["camera"]:
                _add_camera(build, body, placed)
        if "light" in body.content:
            for placed in body.content["light"]:
                _add_light(build, body, placed)


def _intrinsics(build: Build, values: dict[str, Any]) -> tuple[tuple[float, ...], float]:
    """Return focal lengths and principal point in metres, and the resulting vertical field of view in degrees."""
    width, height = values["sensorsize"]
    if not (width > 0.0 and height > 0.0):
        znear = part(build.tree.section("visual"), "map").resolved()["znear"]
        return (znear, znear, 0.0, 0.0), values["fovy"]
    scale = (width / values["resolution"][0], height / values["resolution"][1])
    lengths: list[float] = []
    for name in ("focal", "principal"):
        pixels, metres = values[f"{name}pixel"], values[name]
        lengths += [pixels[k] * scale[k] if pixels[k] else metres[k] for k in range(2)]
    fovy = _field_of_view(height, lengths[1]) if lengths[1] else values["fovy"]
    return tuple(lengths), fovy


def _field_of_view(height: float, focal: float) -> float:
    """Return the vertical field of view (degrees) in single precision, in which the model stores sensor sizes."""
    return 2.0 * arctan2(float(np.float32(height)) / 2.0, focal) * 180.0 / pi


def _add_camera(build: Build, body: Body, placed: Placed) -> None:
    """Add one camera: columns ``cam_*``."""
    element, frames = placed
    values = element.resolved()
    pos, quat = element_pose(build, element, values, frames)
    intrinsic, fovy = _intrinsics(build, values)
    if fovy >= _LARGEST_FOVY:
        raise element.error(f"must be below {_LARGEST_FOVY:g} degrees, found {fovy:g}", "fovy")
    build.enter("camera", element.name)
    build.put(
        cam_mode=CAMLIGHT[values["mode"]],
        cam_bodyid=body.id,
        cam_target=values["target"],
        cam_resolution=values["resolution"],
        cam_sensorsize=values["sensorsize"],
        cam_intrinsic=intrinsic,
        cam_pos=pos,
        cam_quat=quat,
        cam_fovy=fovy,
        cam_ipd=values["ipd"],
    )
    build.user("cam", element, values["user"])


def _add_light(build: Build, body: Body, placed: Placed) -> None:
    """Add one light: columns ``light_*``."""
    element, frames = placed
    values = element.resolved()
    pose = frames_pose(build, frames)
    length = norm3(values["dir"])
    if length <= SHORTEST:
        raise element.error("a direction of zero length is none", "dir")
    build.enter("light", element.name)
    build.put(
        light_mode=CAMLIGHT[values["mode"]],
        light_bodyid=body.id,
        light_target=values["target"],
        light_directional=values["directional"],
        light_castshadow=values["castshadow"],
        light_bulbradius=values["bulbradius"],
        light_active=values["active"],
        light_pos=compose(pose, (values["pos"], (1.0, 0.0, 0.0, 0.0)))[0],
        light_dir=rot_vec_quat(scale3(values["dir"], 1.0 / length), pose[1]),
        light_attenuation=values["attenuation"],
        light_cutoff=values["cutoff"],
        light_exponent=values["exponent"],
        light_ambient=values["ambient"],
        light_diffuse=values["diffuse"],
        light_specular=values["specular"],
    )


def resolve_targets(build: Build) -> None:
    """Set the target bodies of cameras and lights, after all bodies are known."""
    for word in ("cam", "light"):
        names = build.columns.pop(f"{word}_target", [])
        build.columns[f"{word}_targetbodyid"] = [build.ids["body"].get(name or "", -1) for name in names]
