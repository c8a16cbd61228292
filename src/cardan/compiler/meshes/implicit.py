"""Meshes of signed-distance shapes: the level 0 of their distance, sampled on a grid (spec: modeling, "mesh")."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from cardan.compiler.meshes.marching_cubes import marching_cubes
from cardan.compiler.meshes.raw import MeshDataError, RawMesh, only_triangles
from cardan.jit import jit_enabled
from cardan.jit.stage import dispatcher_of

if TYPE_CHECKING:
    from cardan.collision.sdf.registry import Shape

CELLS = 300
"""Cells of the grid along x, y and z together, shared out by the sides of the box."""


def implicit_mesh(shape: Shape, attributes: tuple[float, ...]) -> RawMesh:
    """The surface of a shape. Raises MeshDataError when there is none in its box."""
    box = np.array(shape.aabb(attributes), float)
    sides = 2.0 * box[3:]
    if not (np.isfinite(box).all() and (sides > 0.0).all()):
        raise MeshDataError(f"the bounding box of {shape.name} must have three positive half sides, found {box[3:]}")
    count = (CELLS * sides / sides.sum()).astype(int) + 1
    if (count < 2).any():
        raise MeshDataError(f"the bounding box of {shape.name} is too flat for a grid")
    low, spacing = box[:3] - box[3:], sides / (count - 1)
    values = _sampled(shape, attributes, low, spacing, count)
    if not np.isfinite(values).all():
        raise MeshDataError(f"the distance of {shape.name} is not finite everywhere in its box")
    vertex, face = marching_cubes(values, low, spacing)
    if not len(face):
        raise MeshDataError(f"the distance of {shape.name} has no zero in its box: it has no surface there")
    return only_triangles(vertex.astype(np.float32), face.astype(np.int32))


def _sampled(
    shape: Shape, attributes: tuple[float, ...], low: np.ndarray, spacing: np.ndarray, count: np.ndarray
) -> np.ndarray:
    """The distance at all points of a grid."""
    values = np.empty(tuple(count))
    if jit_enabled:
        from numba import njit

        njit(_sample)(dispatcher_of(shape.distance), attributes, tuple(low), tuple(spacing), values)
    else:
        _sample(shape.distance, attributes, tuple(low), tuple(spacing), values)
    return values


def _sample(distance: Any, attributes: Any, low: Any, spacing: Any, values: Any) -> None:
    """Write the distance at each point of a grid."""
    for i in range(values.shape[0]):
        for j in range(values.shape[1]):
            for k in range(values.shape[2]):
                point = (low[0] + i * spacing[0], low[1] + j * spacing[1], low[2] + k * spacing[2])
                values[i, j, k] = distance(point, attributes)
