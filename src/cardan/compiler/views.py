"""Cameras and lights (spec: modeling, "camera" and "light")."""

from __future__ import annotations

import ctypes
import sys
from functools import cache
from math import pi
from typing import TYPE_CHECKING, Any

import numpy as np

from cardan.compiler.columns import Resolved, table
from cardan.compiler.nodes import attached
from cardan.compiler.orientation import element_pose, frames_pose
from cardan.compiler.settings import part
from cardan.maths.pose import compose
from cardan.maths.quaternion import rot_vec_quat
from cardan.maths.types import Vec3
from cardan.maths.vector import norm3, scale3
from cardan.spec.orientation import SHORTEST
from cardan.spec.schema.keywords import CAMERA_OUTPUT, CAMLIGHT, LIGHT, PROJECTION

if TYPE_CHECKING:
    from cardan.compiler.build import Build


@cache
def _arctan2() -> Any:
    function = ctypes.CDLL("ucrtbase" if sys.platform == "win32" else None).atan2f
    function.restype, function.argtypes = ctypes.c_float, (ctypes.c_float, ctypes.c_float)
    return function


def arctan2(y: float, x: float) -> float:
    """Return the angle of the point (x, y) from the x axis (rad), in single precision, computed by the C library.

    NumPy's function is not used, since its rounding differs between processors.
    """
    return _arctan2()(y, x)


_LARGEST_FOVY = 180.0


_CAMERA = table(
    *("cam", "resolution", "sensorsize", "ipd"), mode=("mode", CAMLIGHT), projection=("projection", PROJECTION)
)
_LIGHT = table(
    *("light", "intensity", "range", "softness", "castshadow", "bulbradius", "active", "attenuation"),
    *("cutoff", "exponent", "ambient", "diffuse", "specular"),
    mode=("mode", CAMLIGHT),
    type=("type", LIGHT),
    directional=("type", {word: int(word == "directional") for word in LIGHT}),
)


def add_cameras(build: Build) -> None:
    """Add the cameras of all bodies: columns ``cam_*``."""
    found = attached(build.bodies, "camera")
    if not found.elements:
        return
    cameras = Resolved(found.elements)
    values = [element.resolved() for element in found.elements]
    intrinsics = [_intrinsics(build, own) for own in values]
    for element, (_, fovy) in zip(found.elements, intrinsics, strict=True):
        if fovy >= _LARGEST_FOVY:
            raise element.error(f"must be below {_LARGEST_FOVY:g} degrees, found {fovy:g}", "fovy")
    poses = [element_pose(build, *row) for row in zip(found.elements, values, found.frames, strict=True)]
    columns = cameras.columns(_CAMERA) | {
        "cam_targetbodyid": build.references("body", cameras["target"]),
        "cam_intrinsic": [lengths for lengths, _ in intrinsics],
        "cam_fovy": [fovy for _, fovy in intrinsics],
        "cam_pos": [pos for pos, _ in poses],
        "cam_quat": [quat for _, quat in poses],
        "cam_user": build.users("cam", cameras),
        "cam_output": [sum(CAMERA_OUTPUT[word] for word in words) for words in cameras["output"]],
    }
    build.put_attached("camera", "cam", found, columns)


def _intrinsics(build: Build, values: dict[str, Any]) -> tuple[tuple[float, ...], float]:
    """Return intrinsics (two focal lengths, principal point; metres) and the vertical field of view (degrees)."""
    width, height = values["sensorsize"]
    if not (width > 0.0 and height > 0.0):
        znear = part(build.tree.section("visual"), "map").resolved()["znear"]
        return (znear, znear, 0.0, 0.0), values["fovy"]
    scale = (width / values["resolution"][0], height / values["resolution"][1])
    lengths: list[float] = []
    for name in ("focal", "principal"):
        pixels, metres = values[f"{name}pixel"], values[name]
        lengths += [pixels[k] * scale[k] if pixels[k] else metres[k] for k in range(2)]
    if not lengths[1]:
        return tuple(lengths), values["fovy"]
    # in single precision, in which the model stores sensor sizes
    return tuple(lengths), 2.0 * arctan2(float(np.float32(height)) / 2.0, lengths[1]) * 180.0 / pi


def add_lights(build: Build) -> None:
    """Add the lights of all bodies: columns ``light_*``."""
    found = attached(build.bodies, "light")
    if not found.elements:
        return
    lights = Resolved(found.elements)
    places: list[Vec3] = []
    directions: list[Vec3] = []
    for element, frames, pos, direction in zip(found.elements, found.frames, lights["pos"], lights["dir"], strict=True):
        pose, length = frames_pose(build, frames), norm3(direction)
        if length <= SHORTEST:
            raise element.error("a direction of zero length is none", "dir")
        places.append(compose(pose, (pos, (1.0, 0.0, 0.0, 0.0)))[0])
        directions.append(rot_vec_quat(scale3(direction, 1.0 / length), pose[1]))
    columns = lights.columns(_LIGHT) | {
        "light_targetbodyid": build.references("body", lights["target"]),
        "light_texid": build.references("texture", lights.get("texture", None)),
        "light_pos": places,
        "light_dir": directions,
    }
    build.put_attached("light", "light", found, columns)
