"""Meshes of signed-distance shapes: the level 0 of their distance, sampled on a grid (spec: modeling, "mesh")."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from cardan.compiler.meshes.marching_cubes import marching_cubes
from cardan.compiler.meshes.triangles import triangles, vertex_normals
from cardan.formats.raw import MeshDataError, RawMesh
from cardan.jit import jit_enabled
from cardan.jit.stage import dispatcher_of, rounding

if TYPE_CHECKING:
    from cardan.collision.sdf.shape import Shape

CELLS = 300
"""Cells of the grid along x, y and z together, shared out by the sides of the box."""


def implicit_mesh(shape: Shape, attributes: tuple[float, ...]) -> RawMesh:
    """The surface of a shape; normals are those of the surface over unit cubes, as in the reference.

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
    values = _sampled(shape, attributes, low, sides, count)
    if not np.isfinite(values).all():
        raise MeshDataError(f"the distance of {shape.name} is not finite everywhere in its box")
    vertex, face = marching_cubes(values)
    if not len(face):
        raise MeshDataError(f"the distance of {shape.name} has no zero in its box: it has no surface there")
    placed = (low + sides * vertex / (count - 1)).astype(np.float32)
    face = face.astype(np.int32)
    normal = vertex_normals(triangles(vertex, face), face, len(vertex), smooth=True)
    return RawMesh(placed, face, normal, np.empty((0, 2), np.float32))


@cache
def _sampler() -> Callable[..., None]:
    """`_sample`, compiled for each shape once."""
    if not jit_enabled:
        return _sample
    from numba import njit

    import cardan.jit.native  # noqa: F401 (teaches Numba to call kernels)

    return njit(_sample)


def _sampled(
    shape: Shape, attributes: tuple[float, ...], low: np.ndarray, sides: np.ndarray, count: np.ndarray
) -> np.ndarray:
    """The distance at all points of a grid."""
    values = np.empty(tuple(count))
    with rounding(exact=True):
        distance = dispatcher_of(shape.distance) if jit_enabled else shape.distance
        _sampler()(distance, attributes, tuple(low), tuple(sides), values)
    return values


def _sample(distance: Any, attributes: Any, low: Any, sides: Any, values: Any) -> None:
    """Write the distance at each point of a grid. The order of operations decides what lies inside to the last bit."""
    nx, ny, nz = values.shape
    for i in range(nx):
        x = low[0] + sides[0] * i / (nx - 1)
        for j in range(ny):
            y = low[1] + sides[1] * j / (ny - 1)
            for k in range(nz):
                z = low[2] + sides[2] * k / (nz - 1)
                values[i, j, k] = distance((x, y, z), attributes)
