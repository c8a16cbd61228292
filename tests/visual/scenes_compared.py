"""Scenes of both engines, made alike, and where they differ."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from types import ModuleType
from typing import Any

import mujoco
import numpy as np

import cardan
from cardan.enums import mjtGeom
from cardan.visual import fields

STATE = ("time", "qpos", "qvel", "act", "ctrl", "mocap_pos", "mocap_quat", "xfrc_applied", "qfrc_applied")
STATE += ("eq_active", "userdata", "plugin_state", "qacc_warmstart")
GEOM = [row.name for row in fields.GEOM if row.since is None]
LIGHT = [row.name for row in fields.LIGHT]
CAMERA = [row.name for row in fields.GL_CAMERA if row.since is None]


ROOM = 20_000
"""Room for geoms in the scenes of a pair."""


class Pair:
    """One model in the same state in both engines: the reference's `rm`, `rd`, Cardan's `m`, `d`.

    Args:
        source: MJCF text or a file.
        steps: how many steps the reference makes before.
    """

    def __init__(self, source: str | Path, steps: int = 0) -> None:
        made: list[tuple[Any, Any]] = []
        for package in (mujoco, cardan):
            if isinstance(source, Path):
                m = package.MjModel.from_xml_path(str(source))
            else:
                m = package.MjModel.from_xml_string(source)
            made.append((m, package.MjData(m)))
        (self.rm, self.rd), (self.m, self.d) = made
        for m in (self.rm, self.m):
            m.vis.global_.bvactive = 0  # Cardan doesn't mark bounding volumes as met
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
        if self.rd.nefc == self.d.nefc:
            self.d.efc_force[:] = self.rd.efc_force  # those of one solver: the scene shows them, it doesn't find them

    def scenes(self, **settings: Any) -> tuple[Any, Any]:
        """The scene of both, with the settings of `scene`; the same two structures at each call."""
        if not hasattr(self, "_scenes"):
            self._scenes = mujoco.MjvScene(self.rm, ROOM), cardan.MjvScene(self.m, ROOM)
        left, right = self._scenes
        scene(mujoco, self.rm, self.rd, scn=left, **settings)
        return left, scene(cardan, self.m, self.d, scn=right, **settings)

    @property
    def same_trees(self) -> bool:
        """Whether both compilers made the same bounding volumes."""
        return self.rm.nbvh == self.m.nbvh and np.allclose(self.rm.bvh_aabb, self.m.bvh_aabb, atol=1e-6)

    @property
    def same_contacts(self) -> bool:
        """Whether both engines found the same contacts in the same order, and as many constraint rows."""
        if (self.rd.ncon, self.rd.nefc) != (self.d.ncon, self.d.nefc):
            return False
        if not np.array_equal(self.rd.contact.geom, self.d.contact.geom):
            return False
        return all(
            np.allclose(getattr(self.rd.contact, name), getattr(self.d.contact, name), atol=1e-6)
            for name in ("pos", "frame")
        )


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
    scn: Any = None,
    **option: Any,
) -> Any:
    """A scene of one engine.

    Args:
        package: mujoco or cardan.
        m: model.
        d: data.
        flags: flags of the options that aren't at their defaults, without their prefix.
        maxgeom: room for geoms.
        catmask: categories.
        camera: members of the abstract camera.
        perturb: members of the perturbation; None for none.
        scn: the scene to fill in; None for a new one.
        option: other members of the options.
    """
    opt = filled(package.MjvOption(), option)
    for name, value in flags.items():
        opt.flags[int(getattr(cardan.mjtVisFlag, f"mjVIS_{name}"))] = value
    scn = package.MjvScene(m, maxgeom) if scn is None else scn
    pert = None if perturb is None else filled(package.MjvPerturb(), perturb)
    package.mjv_updateScene(m, d, opt, pert, filled(package.MjvCamera(), camera), catmask, scn)
    return scn


def _columns(records: Any, count: int, names: list[str]) -> dict[str, np.ndarray]:
    """Members of the first structures of a tuple, side by side."""
    return {name: np.array([getattr(records[i], name) for i in range(count)]) for name in names}


def _columns_differ(
    kind: str, expected: Any, found: Any, count: int, names: list[str], rtol: float, atol: float
) -> Iterator[str]:
    """Members of two tuples of structures that differ; positions far away are compared by their size."""
    left, right = _columns(expected, count, names), _columns(found, count, names)
    for name in names:
        a, b = left[name], right[name]
        if a.dtype.kind in "iuU":
            wrong = a != b
        else:
            size = np.abs(a).max(axis=tuple(range(1, a.ndim)), keepdims=True) if a.size else 0.0
            wrong = ~(np.abs(a - b) <= atol + rtol * np.maximum(1.0, size))
        for i in np.flatnonzero(wrong.reshape(count, -1).any(axis=1) if count else []):
            yield f"{kind} {i} {name}: {a[i]} {b[i]} ({_object(expected[i])})"


def _object(record: Any) -> str:
    """What a geom shows."""
    return f"type {record.type}, object {record.objtype}, {record.objid}" if hasattr(record, "objid") else ""


ARRAYS = ("flexvert", "skinvert", "skinnormal", "flexedge", "flexvertadr", "flexfaceadr", "flexfacenum", "flexfaceused")
FACE_ARRAYS = ("flexface", "flexnormal")


def _meshes_differ(expected: Any, found: Any) -> Iterator[str]:
    """Vertices and faces of flexes and skins that differ; only the faces in use count."""
    flexes = expected.flexskinopt or expected.flexfaceopt or expected.flexvertopt or expected.flexedgeopt
    skins = any(geom.type == mjtGeom.mjGEOM_SKIN for geom in expected.geoms[: expected.nskin + expected.nflex])
    for name in ARRAYS:
        a, b = getattr(expected, name), getattr(found, name)
        # the reference leaves these uninitialised while nothing shows them
        if (name in ("flexvert", "flexfaceused") and not flexes) or (name.startswith("skin") and not skins):
            continue
        # normals of small faces, whose corners are kept in single precision
        atol = 3e-4 if name == "skinnormal" else 5e-5
        if a.shape != b.shape or not np.allclose(a, b, rtol=1e-4, atol=atol):
            yield name
    for flex in range(expected.nflex if flexes else 0):
        first = 9 * expected.flexfaceadr[flex]
        stop = first + 9 * expected.flexfaceused[flex]
        for name in FACE_ARRAYS:
            a, b = getattr(expected, name)[first:stop], getattr(found, name)[first:stop]
            if not np.allclose(a, b, rtol=1e-4, atol=5e-5):
                yield f"{name} of flex {flex}"


def differences(expected: Any, found: Any, rtol: float = 1e-5, atol: float = 2e-6) -> list[str]:
    """Where two scenes differ: geoms in order with every member, lights, cameras, flexes, skins; up to a tolerance."""
    lines = [
        f"{name}: {getattr(expected, name)} {getattr(found, name)}"
        for name in ("ngeom", "nlight", "flexvertopt", "flexedgeopt", "flexfaceopt", "flexskinopt", "enabletransform")
        if getattr(expected, name) != getattr(found, name)
    ]
    count = min(expected.ngeom, found.ngeom)
    lines += _columns_differ("geom", expected.geoms, found.geoms, count, GEOM, rtol, atol)
    count = min(expected.nlight, found.nlight)
    lines += _columns_differ("light", expected.lights, found.lights, count, LIGHT, rtol, atol)
    lines += _columns_differ("camera", expected.camera, found.camera, 2, CAMERA, rtol, atol)
    return [*lines, *_meshes_differ(expected, found)]
