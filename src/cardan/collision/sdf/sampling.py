"""Signed distances of grid points from a shape, to build its surface, or from a mesh, to look them up later.

These stages run before the MjData exists, and for shapes even before the MjModel exists. They therefore run on memory
of their own.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from cardan.collision.sdf.mesh_distance import BORDER, CELLS, STRIDE, from_face, nearest_face, vector_at
from cardan.jit import OK, Program, StructMemory, addresses, call_collider, exact, stage
from cardan.jit.memory.view import InterpretedView
from cardan.maths.vector import add3, set3
from cardan.model.attributes import standalone_memory
from cardan.model.kernel_views import Data, Model
from cardan.model.tables import DATA, MODEL

if TYPE_CHECKING:
    from cardan.collision.sdf.shape import Shape
    from cardan.model.mjmodel import MjModel


@stage
@exact
def sample_shape(m: Model, d: Data) -> int:
    """Write the distance of each point of a grid from the shape of instance 0. Return a status.

    The outermost points are on the faces of the box. The order of operations determines, to the last bit, which points
    are inside.
    """
    nx, ny, nz = d.work.sample_count[0], d.work.sample_count[1], d.work.sample_count[2]
    at = 0
    for i in range(nx):
        x = d.work.sample_frame[0] + d.work.sample_frame[3] * i / (nx - 1)
        for j in range(ny):
            y = d.work.sample_frame[1] + d.work.sample_frame[4] * j / (ny - 1)
            for k in range(nz):
                z = d.work.sample_frame[2] + d.work.sample_frame[5] * k / (nz - 1)
                set3(d.work.sdf_point, 0, (x, y, z))
                call_collider(m.aux.sdf_shape[0], m, d, 0, 0)
                d.work.sample_value[at] = d.work.sdf_value[0]
                at += 1
    return OK


@stage
def sample_mesh(m: Model, d: Data) -> int:
    """Write the distance of each grid point from a mesh. Return a status.

    Each search starts with the triangle found for the previous point. The mesh and the address of its first triangle
    are in ``d.work.sdf_instance``.
    """
    mesh, start = d.work.sdf_instance[0], d.work.sdf_instance[1]
    tree = (m.bvh_child, m.bvh_nodeid, m.bvh_aabb)
    low, spacing = vector_at(d.work.sample_frame, 0), d.work.sample_frame[3]
    face = 0
    at = 0
    for i in range(d.work.sample_count[0]):
        for j in range(d.work.sample_count[1]):
            for k in range(d.work.sample_count[2]):
                p = add3(low, (i * spacing, j * spacing, k * spacing))
                face = nearest_face(m.aux.sdf_face, start, tree, m.mesh_bvhadr[mesh], p, face)
                d.work.sample_value[at] = from_face(m.aux.sdf_face, start + STRIDE * face, p)[0]
                at += 1
    return OK


class _Part:
    """Substitute for an MjModel or MjData that has only the memory that one program needs."""

    def __init__(self, memory: StructMemory) -> None:
        self.address = memory.address
        self.view = InterpretedView(memory)
        self._resume = np.zeros(2, np.int64)
        self._resume_address = self._resume.ctypes.data


def _run(function: Any, m: Any, frame: tuple[float, ...], count: np.ndarray, instance: tuple[int, int]) -> np.ndarray:
    """Run a stage on a grid; return the distances at all points, in an array of the grid's shape."""
    memory = standalone_memory(DATA)
    values = np.empty(int(np.prod(count)))
    memory.arrays["work.sample_frame"][: len(frame)] = frame
    memory.arrays["work.sample_count"][:] = count
    memory.arrays["work.sdf_instance"][:] = instance
    memory.attach("work.sample_value", values)
    Program([function]).run(m, _Part(memory))
    return values.reshape(tuple(count))


def shape_distances(
    shape: Shape, attributes: tuple[float, ...], low: np.ndarray, sides: np.ndarray, count: np.ndarray
) -> np.ndarray:
    """Compute the distance from a shape at all points of a grid.

    The grid begins at `low`, ends at low + sides, and has `count` points along each axis, at least 2.
    """
    memory = standalone_memory(MODEL)
    (address,) = addresses([shape.entry])
    memory.attach("aux.sdf_shape", np.array([address]))
    memory.attach("aux.sdf_attr", np.array(attributes))
    return _run(sample_shape, _Part(memory), (*low.tolist(), *sides.tolist()), count, (0, 0))


def mesh_grid(m: MjModel, mesh: int, start: int, faces: np.ndarray) -> np.ndarray:
    """Compute the grid of distances from a mesh for `grid_distance`: header and values.

    `start` is the address of the mesh's first triangle in ``aux.sdf_face``; `faces` is the result of `mesh_faces`.
    """
    # spacing, numbers of points and lower corner of the grid around the mesh
    points = faces.reshape(-1, STRIDE)[:, :9].reshape(-1, 3)
    spacing = float(np.ptp(points, axis=0).max()) / CELLS
    count = np.ceil(np.ptp(points, axis=0) / spacing).astype(int) + 1 + 2 * BORDER
    low = points.min(axis=0) - BORDER * spacing
    values = _run(sample_mesh, m, (*low.tolist(), spacing), count, (mesh, start))
    return np.concatenate([count, low, [spacing], values.ravel()])
