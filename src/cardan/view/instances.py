"""Conversion of the geoms of a scene to instances of shapes: arrays that the browser draws.

Each geom becomes a few instances of unit shapes: a capsule becomes a tube and two spheres, an arrow becomes a cylinder
and one or two cones. So a scene with any number of geoms consists of one batch of arrays for each shape, and the sizes
of geoms may change at any time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from enum import IntEnum
from functools import partial
from typing import NamedTuple

import numpy as np

from cardan.enums import mjtGeom
from cardan.model import MjModel
from cardan.render import shapes
from cardan.render.assets import Assets
from cardan.render.instances import ARROW_SHARE, HEAD_SHARE, HEAD_WIDTH

SLICES, STACKS = 24, 12
"""Number of slices and stacks of round shapes."""


Unit = IntEnum("Unit", ("SPHERE", "TUBE", "CYLINDER", "BOX", "CONE", "PLANE", "TRIANGLE"), start=0)
"""Unit shapes, which instances scale along three axes."""


class Surface(NamedTuple):
    """Triangle mesh: vertices (n, 3), faces (m, 3), counter-clockwise from outside, and texture coordinates (n, 2)."""

    vert: np.ndarray
    face: np.ndarray
    texcoord: np.ndarray | None = None


def _surface(shape: shapes.Shape, textured: bool = False) -> Surface:
    """Convert a shape of the renderer to a surface."""
    texcoord = np.asarray(shape.texcoord, np.float32) if textured else None
    return Surface(np.asarray(shape.vert[:, :3], np.float32), np.asarray(shape.face, np.uint32), texcoord)


def welded(surface: Surface) -> Surface:
    """Merge vertices with equal positions, so that the surface has smooth normals there."""
    vert, number = np.unique(np.round(surface.vert, 6), axis=0, return_inverse=True)
    face = number.reshape(-1)[surface.face.astype(np.int64)].astype(np.uint32)
    thin = (face[:, 0] == face[:, 1]) | (face[:, 1] == face[:, 2]) | (face[:, 2] == face[:, 0])
    return Surface(vert.astype(np.float32), face[~thin])


def unit_surfaces() -> dict[Unit, Surface]:
    """Make all unit shapes: radius, half height and half sides are 1; a cone extends from z = 0 to its tip at z = 1."""
    base = shapes.disk(SLICES, 1, 0.0, up=False)
    return {
        Unit.SPHERE: welded(_surface(shapes.sphere(SLICES, STACKS))),
        Unit.TUBE: welded(_surface(shapes.tube(SLICES, 1, by_end=False))),
        Unit.CYLINDER: _surface(shapes.cylinder(SLICES, 1, 1)),
        Unit.BOX: _surface(shapes.box(1)),
        Unit.CONE: _surface(shapes.joined(shapes.cone(SLICES, 1), base)),
        Unit.PLANE: _surface(shapes.rectangle(1, 1)),
        Unit.TRIANGLE: _surface(shapes.triangle()),
    }


class ModelSurfaces:
    """Surfaces of a model's meshes, convex hulls and height fields, and the model's textures."""

    def __init__(self, model: MjModel) -> None:
        self.assets = Assets(model)

    def mesh(self, dataid: int) -> Surface:
        """Return a mesh, or its convex hull, by the `dataid` of a geom: twice the mesh's id, plus 1 for the hull."""
        mesh, hull = divmod(dataid, 2)
        shape = self.assets.shapes[self.assets.mesh_shape[mesh, hull]]
        textured = not hull and bool(np.any(shape.texcoord))
        return _surface(shape, textured)

    def hfield(self, hfield: int) -> Surface:
        """Return a height field with its base."""
        return _surface(self.assets.shapes[self.assets.hfield_shape[hfield]])

    def texture(self, tex: int) -> np.ndarray:
        """Return the colours of a texture: (height, width, 3), or (6, width, width, 3) for cubes."""
        return self.assets.textures.image(tex)

    def update(self, model: MjModel, kind: str, number: int) -> None:
        """Read the object `number` from the model again; `kind` is ``mesh``, ``hfield`` or ``texture``."""
        getattr(self.assets, f"upload_{kind}")(model, number)


Kind = tuple[str, int, int]
"""Shape of a batch: ``("unit", shape, -1)``, ``("mesh", dataid, texture)``, ``("hfield", id, -1)``."""

GEOM = {name.removeprefix("mjGEOM_"): member.value for name, member in mjtGeom.__members__.items()}
OPAQUE = 0.999
"""Smallest opacity of geoms that count as opaque."""


class Batch(NamedTuple):
    """Instances of one shape. For each: geom index, position in the world (3,), m, orientation (3, 3), scale (3,)."""

    geom: np.ndarray
    pos: np.ndarray
    mat: np.ndarray
    scale: np.ndarray


class Lines(NamedTuple):
    """Line segments: their ends in the world frame, (n, 2, 3), m, and the index of each line's geom, (n,)."""

    points: np.ndarray
    geom: np.ndarray


Part = tuple[Kind, Batch]


def unit(shape: Unit) -> Kind:
    """Return the kind of batch for a unit shape."""
    return ("unit", int(shape), -1)


def _plain(geoms: np.ndarray, which: np.ndarray, scale: np.ndarray, along: np.ndarray | None = None) -> Batch:
    """Make instances at the poses of the geoms `which`, shifted along the geoms' z axes by the distances `along`."""
    pos, mat = geoms["pos"][which].astype(float), geoms["mat"][which].astype(float)
    if along is not None:
        pos = pos + mat[:, :, 2] * along[:, None]
    return Batch(which, pos, mat, scale)


def _sized(shape: Unit, geoms: np.ndarray, which: np.ndarray) -> Iterator[Part]:
    yield unit(shape), _plain(geoms, which, geoms["size"][which])


def _capsules(geoms: np.ndarray, which: np.ndarray) -> Iterator[Part]:
    size = geoms["size"][which].astype(float)
    ball = np.repeat(size[:, :1], 3, axis=1)
    yield unit(Unit.TUBE), _plain(geoms, which, size)
    for sign in (1.0, -1.0):
        yield unit(Unit.SPHERE), _plain(geoms, which, ball, sign * size[:, 2])


def _triangles(geoms: np.ndarray, which: np.ndarray) -> Iterator[Part]:
    size = geoms["size"][which].astype(float)
    yield unit(Unit.TRIANGLE), _plain(geoms, which, np.stack([size[:, 0], size[:, 1], np.ones(len(size))], 1))


def _arrows(width: float, both: bool, geoms: np.ndarray, which: np.ndarray) -> Iterator[Part]:
    """Yield the parts of arrows: cylinders as shafts, and cones as heads."""
    size = geoms["size"][which].astype(float)
    length = ARROW_SHARE * size[:, 2]
    head = HEAD_SHARE * length
    top = length - head
    bottom = -top if both else np.zeros_like(top)
    shaft = np.stack([size[:, 0], size[:, 1], 0.5 * (top - bottom)], 1)
    yield unit(Unit.CYLINDER), _plain(geoms, which, shaft, 0.5 * (top + bottom))
    cone = np.stack([width * size[:, 0], width * size[:, 1], head], 1)
    yield unit(Unit.CONE), _plain(geoms, which, cone, top)
    if both:
        down = _plain(geoms, which, cone, -top)
        # half a turn about the x axis
        yield unit(Unit.CONE), down._replace(mat=down.mat * np.array([1.0, -1.0, -1.0]))


def _of_model(name: str, geoms: np.ndarray, which: np.ndarray) -> Iterator[Part]:
    """Yield a batch for each pair of a mesh or height field (`name`: ``mesh`` or ``hfield``) and a texture."""
    textured = (geoms["texcoord"][which] != 0) & (name == "mesh")
    keys = np.stack([geoms["dataid"][which], np.where(textured, geoms["texid"][which], -1)], 1)
    for dataid, tex in np.unique(keys, axis=0):
        some = which[(keys == (dataid, tex)).all(1)]
        yield (name, int(dataid), int(tex)), _plain(geoms, some, np.ones((len(some), 3)))


PARTS: dict[int, Callable[[np.ndarray, np.ndarray], Iterator[Part]]] = {
    GEOM["SPHERE"]: partial(_sized, Unit.SPHERE),
    GEOM["ELLIPSOID"]: partial(_sized, Unit.SPHERE),
    GEOM["CAPSULE"]: _capsules,
    GEOM["CYLINDER"]: partial(_sized, Unit.CYLINDER),
    GEOM["BOX"]: partial(_sized, Unit.BOX),
    GEOM["TRIANGLE"]: _triangles,
    GEOM["ARROW"]: partial(_arrows, HEAD_WIDTH, False),
    GEOM["ARROW1"]: partial(_arrows, 1.0, False),
    GEOM["ARROW2"]: partial(_arrows, HEAD_WIDTH, True),
    GEOM["MESH"]: partial(_of_model, "mesh"),
    GEOM["SDF"]: partial(_of_model, "mesh"),
    GEOM["HFIELD"]: partial(_of_model, "hfield"),
}
"""For each geom type, the function that makes the instances of its geoms.

Planes, lines, labels, flexes and skins have no instances.
"""


def joined(batches: list[Batch]) -> Batch:
    """Concatenate several batches."""
    if len(batches) == 1:
        return batches[0]
    return Batch(*(np.concatenate(columns) for columns in zip(*batches, strict=True)))


def instances_of(geoms: np.ndarray) -> dict[Kind, Batch]:
    """Return a batch of instances for each shape that occurs in `geoms`, an array (n,) of `MjvGeom`."""
    found: dict[Kind, list[Batch]] = {}
    types = geoms["type"]
    for kind in np.unique(types):
        if int(kind) in PARTS:
            for key, batch in PARTS[int(kind)](geoms, np.flatnonzero(types == kind)):
                found.setdefault(key, []).append(batch)
    return {key: joined(batches) for key, batches in found.items()}


LINE_BOX = shapes.line_box()


def lines_of(geoms: np.ndarray) -> Lines:
    """Return the segments of line geoms (from a geom's position along its z axis) and the edges of line boxes."""
    line = np.flatnonzero(geoms["type"] == GEOM["LINE"])
    box = np.flatnonzero(geoms["type"] == GEOM["LINEBOX"])
    start = geoms["pos"][line].astype(float)
    end = start + geoms["mat"][line][:, :, 2] * geoms["size"][line][:, 2:3]
    ends = (LINE_BOX.vert[:, :3] * geoms["size"][box][:, None, :])[:, LINE_BOX.edge]
    edges = np.einsum("nij,nekj->neki", geoms["mat"][box].astype(float), ends) + geoms["pos"][box][:, None, None, :]
    geom = np.concatenate([line, np.repeat(box, len(LINE_BOX.edge))])
    points = np.concatenate([np.stack([start, end], 1), edges.reshape(-1, 2, 3)])
    return Lines(points, geom)


def quaternions(mat: np.ndarray) -> np.ndarray:
    """Quaternions (n, 4) of rotation matrices (n, 3, 3), computed from their largest components (Shepperd, 1978)."""
    trace = mat[:, 0, 0] + mat[:, 1, 1] + mat[:, 2, 2]
    squares = np.stack([trace, mat[:, 0, 0], mat[:, 1, 1], mat[:, 2, 2]], 1)
    squares[:, 1:] = 2.0 * squares[:, 1:] - trace[:, None]
    twice = {(i, j): mat[:, i, j] for i in range(3) for j in range(3)}
    products = np.empty((len(mat), 4, 4))
    for k in range(4):
        products[:, k, k] = 1.0 + squares[:, k]
    for (i, j), (a, b), sign in (
        ((0, 1), (2, 1), -1), ((0, 2), (0, 2), -1), ((0, 3), (1, 0), -1),
        ((1, 2), (1, 0), 1), ((1, 3), (0, 2), 1), ((2, 3), (2, 1), 1),
    ):  # fmt: skip
        products[:, i, j] = products[:, j, i] = twice[a, b] + sign * twice[b, a]
    best = products[np.arange(len(mat)), squares.argmax(1)]
    return best / np.linalg.norm(best, axis=1, keepdims=True)
