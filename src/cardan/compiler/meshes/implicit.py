"""Meshes of signed-distance shapes: the zero level of their distance, sampled on a grid (spec: modeling, "mesh")."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from cardan.collision.sdf.sampling import shape_distances
from cardan.compiler.meshes.marching_cubes import marching_cubes
from cardan.compiler.meshes.normals import vertex_normals
from cardan.compiler.meshes.surface import Surface
from cardan.formats.raw import MeshDataError, RawMesh

if TYPE_CHECKING:
    from cardan.collision.sdf.shape import Shape

CELLS = 300
"""Total number of cells of the grid along x, y and z, divided in proportion to the sides of the box."""


def implicit_mesh(shape: Shape, attributes: tuple[float, ...]) -> RawMesh:
    """Return the surface of a shape; normals are those of the surface over unit cubes, as in the reference.

    Raises:
        MeshDataError: there is no surface in the shape's box.
    """
    box = np.array(shape.aabb(attributes), float)
    sides = 2.0 * box[3:]
    if not (np.isfinite(box).all() and (sides > 0.0).all()):
        raise MeshDataError(f"the bounding box of {shape.name} must have three positive half sides, found {box[3:]}")
    count = (CELLS * sides / sides.sum()).astype(int) + 1
    if (count < 2).any():
        raise MeshDataError(f"the bounding box of {shape.name} is too flat for a grid")
    low = box[:3] - box[3:]
    values = shape_distances(shape, attributes, low, sides, count)
    if not np.isfinite(values).all():
        raise MeshDataError(f"the distance of {shape.name} is not finite everywhere in its box")
    vertex, face = marching_cubes(values)
    if not len(face):
        raise MeshDataError(f"the distance of {shape.name} has no zero in its box: it has no surface there")
    placed = (low + sides * vertex / (count - 1)).astype(np.float32)
    face = face.astype(np.int32)
    normal = vertex_normals(Surface(vertex, face), smooth=True)
    return RawMesh(placed, face, normal, np.empty((0, 2), np.float32))
