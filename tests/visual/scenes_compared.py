"""Scenes of both engines, made alike, and where they differ."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from types import ModuleType
from typing import Any

import mujoco
import numpy as np

import cardan
from cardan.visual import fields

STATE = ("time", "qpos", "qvel", "act", "ctrl", "mocap_pos", "mocap_quat", "xfrc_applied", "qfrc_applied")
STATE += ("eq_active", "userdata", "plugin_state", "qacc_warmstart")
GEOM = [row.name for row in fields.GEOM]
LIGHT = [row.name for row in fields.LIGHT]
CAMERA = [row.name for row in fields.GL_CAMERA]


class Pair:
    """One model in the same state in both engines: the reference's `rm`, `rd`, Cardan's `m`, `d`.

    Args:
        source: MJCF text or a file.
        steps: how many steps the reference makes before.
    """

    def __init__(self, source: str | Path, steps: int = 0) -> None:
        made = []
        for package in (mujoco, cardan):
            if isinstance(source, Path):
                m = package.MjModel.from_xml_path(str(source))
            else:
                m = package.MjModel.from_xml_string(source)
            made.append((m, package.MjData(m)))
        (self.rm, self.rd), (self.m, self.d) = made
        for _ in range(steps):
            mujoco.mj_step(self.rm, self.rd)
        self.take_over()

    def take_over(self) -> None:
        """Give Cardan's data the state of the reference's, and compute both."""
        for name in STATE:
            value = getattr(self.rd, name)
            if isinstance(value, np.ndarray):
                getattr(self.d, name)[...] = value
            else:
                setattr(self.d, name, value)
        mujoco.mj_forward(self.rm, self.rd)
        cardan.mj_forward(self.m, self.d)

    def scenes(self, **settings: Any) -> tuple[mujoco.MjvScene, cardan.MjvScene]:
        """The scene of both, with the settings of `scene`."""
        return scene(mujoco, self.rm, self.rd, **settings), scene(cardan, self.m, self.d, **settings)


def filled(record: Any, values: Mapping[str, Any]) -> Any:
    """A structure with some members set."""
    for name, value in values.items():
        if np.ndim(getattr(record, name)):
            getattr(record, name)[...] = value
        else:
            setattr(record, name, value)
    return record


def scene(
    package: ModuleType,
    m: Any,
    d: Any,
    flags: Mapping[str, int] = {},
    maxgeom: int = 2000,
    catmask: int = 7,
    camera: Mapping[str, Any] = {},
    perturb: Mapping[str, Any] | None = None,
    **option: Any,
) -> Any:
    """A scene of one engine.

    Args:
        package: mujoco or cardan.
        m, d: model and data.
        flags: flags of the options that aren't at their defaults, without their prefix.
        maxgeom: room for geoms.
        catmask: categories.
        camera, perturb: members of the abstract camera and of the perturbation; None for no perturbation.
        option: other members of the options.
    """
    opt = filled(package.MjvOption(), option)
    for name, value in flags.items():
        opt.flags[int(getattr(cardan.mjtVisFlag, f"mjVIS_{name}"))] = value
    scn = package.MjvScene(m, maxgeom)
    pert = None if perturb is None else filled(package.MjvPerturb(), perturb)
    package.mjv_updateScene(m, d, opt, pert, filled(package.MjvCamera(), camera), catmask, scn)
    return scn


def _differ(left: Any, right: Any, rtol: float, atol: float) -> bool:
    if isinstance(left, str):
        return left != right
    return not np.allclose(left, right, rtol=rtol, atol=atol)


def _members(title: str, left: Any, right: Any, names: list[str], rtol: float, atol: float) -> Iterator[str]:
    """Members of two structures that differ."""
    for name in names:
        a, b = getattr(left, name), getattr(right, name)
        if _differ(a, b, rtol, atol):
            yield f"{title} {name}: {a} {b}"


def differences(expected: Any, found: Any, rtol: float = 1e-5, atol: float = 2e-6) -> list[str]:
    """Where two scenes differ: geoms in order with every member, lights, cameras; numbers up to a tolerance."""
    lines = [
        f"{name}: {getattr(expected, name)} {getattr(found, name)}"
        for name in ("ngeom", "nlight", "flexvertopt", "flexedgeopt", "flexfaceopt", "flexskinopt", "enabletransform")
        if getattr(expected, name) != getattr(found, name)
    ]
    for i, (left, right) in enumerate(zip(expected.geoms[: expected.ngeom], found.geoms[: found.ngeom], strict=False)):
        title = f"geom {i} (type {left.type}, object {left.objtype}, {left.objid})"
        lines += _members(title, left, right, GEOM, rtol, atol)
    for i, (left, right) in enumerate(zip(expected.lights[: expected.nlight], found.lights, strict=False)):
        lines += _members(f"light {i}", left, right, LIGHT, rtol, atol)
    for i in range(2):
        lines += _members(f"camera {i}", expected.camera[i], found.camera[i], CAMERA, rtol, atol)
    return lines
