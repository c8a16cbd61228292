"""Surfaces for the browser: vertices and faces of unit shapes, and of a model's meshes and height fields."""

from __future__ import annotations

from enum import IntEnum
from typing import NamedTuple

import numpy as np

from cardan.model import MjModel
from cardan.render import shapes
from cardan.render.assets import Assets

SLICES, STACKS = 24, 12
"""Number of slices and stacks of round shapes."""


class Unit(IntEnum):
    """Unit shapes, which instances scale along three axes."""

    SPHERE = 0
    TUBE = 1
    CYLINDER = 2
    BOX = 3
    CONE = 4
    PLANE = 5
    TRIANGLE = 6


class Surface(NamedTuple):
    """A surface of triangles.

    Attributes:
        vert: (n, 3), m or in units of the instance's scale.
        face: (m, 3), counter-clockwise from outside.
        texcoord: (n, 2) texture coordinates, v down as in images; or None.
    """

    vert: np.ndarray
    face: np.ndarray
    texcoord: np.ndarray | None = None


def _surface(shape: shapes.Shape, textured: bool = False) -> Surface:
    """Convert a shape of the renderer; vertices at an end keep their positions."""
    texcoord = np.asarray(shape.texcoord, np.float32) if textured else None
    return Surface(np.asarray(shape.vert[:, :3], np.float32), np.asarray(shape.face, np.uint32), texcoord)


def welded(surface: Surface) -> Surface:
    """Merge vertices with equal positions, so that the normals are smooth there."""
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
    """The surfaces of a model's meshes, their hulls, and height fields, and its textures."""

    def __init__(self, model: MjModel) -> None:
        self._assets = Assets(model)

    def mesh(self, dataid: int) -> Surface:
        """Return a mesh, or its convex hull, by the `dataid` of a geom: twice the mesh's id, plus 1 for the hull."""
        mesh, hull = divmod(dataid, 2)
        shape = self._assets.shapes[self._assets.mesh_shape[mesh, hull]]
        textured = not hull and bool(np.any(shape.texcoord))
        return _surface(shape, textured)

    def hfield(self, hfield: int) -> Surface:
        """Return a height field with its base."""
        return _surface(self._assets.shapes[self._assets.hfield_shape[hfield]])

    def texture(self, tex: int) -> np.ndarray:
        """Return the colours of a texture: (height, width, 3), or (6, width, width, 3) for cubes."""
        return self._assets.textures.image(tex)

    def update_mesh(self, model: MjModel, mesh: int) -> None:
        """Read a mesh again."""
        self._assets.upload_mesh(model, mesh)

    def update_hfield(self, model: MjModel, hfield: int) -> None:
        """Read a height field again."""
        self._assets.upload_hfield(model, hfield)

    def update_texture(self, model: MjModel, tex: int) -> None:
        """Read a texture again."""
        self._assets.upload_texture(model, tex)
