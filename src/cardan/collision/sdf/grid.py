"""Distance grids: the signed distance of a mesh, sampled on a regular grid and interpolated between its points.

The grid is made from the mesh of the geom when the model first collides. A point outside the grid is as far as the
nearest point of the grid's box says, and the distance to the box.

A grid stands in ``m.aux.sdf_grid`` behind a head of `HEAD` numbers: numbers of points (3), low corner (3), spacing,
pose of the mesh's own frame (3 + 9), in which the grid is aligned with the axes.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from math import sqrt
from typing import TYPE_CHECKING, Any

import numpy as np

from cardan.collision.sdf.nearest import pseudonormals, signed_distance
from cardan.collision.sdf.shapes import MAX_ATTRIBUTES
from cardan.jit import collider, exact, jit_enabled, kernel
from cardan.maths.quaternion import quat2mat
from cardan.maths.vector import add3, get3, mul_mat_t_vec3, mul_mat_vec3, scale3, set3, sub3

if TYPE_CHECKING:
    from cardan.model.mjmodel import MjModel

HEAD = 19
CELLS = 64
"""Cells along the longest side of the grid."""
BORDER = 2
"""Cells between the mesh and the edge of the grid."""


# --- evaluation -------------------------------------------------------------------------------------------------------


@kernel
def clamped(x: float, last: float) -> float:
    """A coordinate moved into the grid, in cells."""
    return min(max(x, 0.0), last)


@kernel
def cell_of(x: float, count: int) -> int:
    """The cell in which a coordinate inside the grid lies."""
    return min(int(x), count - 2)


@kernel
def interpolated(m: Any, start: int, p: Any) -> Any:
    """Value, and gradient per cell, at a point inside the grid, in cells."""
    nx, ny, nz = int(m.aux.sdf_grid[start]), int(m.aux.sdf_grid[start + 1]), int(m.aux.sdf_grid[start + 2])
    i, j, k = cell_of(p[0], nx), cell_of(p[1], ny), cell_of(p[2], nz)
    x, y, z = p[0] - i, p[1] - j, p[2] - k
    value, gx, gy, gz = 0.0, 0.0, 0.0, 0.0
    for corner in range(8):
        a, b, c = corner & 1, corner >> 1 & 1, corner >> 2
        found = m.aux.sdf_grid[start + HEAD + ((i + a) * ny + j + b) * nz + k + c]
        wx, wy, wz = x if a else 1.0 - x, y if b else 1.0 - y, z if c else 1.0 - z
        value += found * wx * wy * wz
        gx += found * (1.0 if a else -1.0) * wy * wz
        gy += found * wx * (1.0 if b else -1.0) * wz
        gz += found * wx * wy * (1.0 if c else -1.0)
    return value, (gx, gy, gz)


@kernel
def grid_distance(m: Any, start: int, p: Any) -> Any:
    """Distance and gradient at a point of the mesh's own frame."""
    low = (m.aux.sdf_grid[start + 3], m.aux.sdf_grid[start + 4], m.aux.sdf_grid[start + 5])
    spacing = m.aux.sdf_grid[start + 6]
    cells = scale3(sub3(p, low), 1.0 / spacing)
    inside = (
        clamped(cells[0], m.aux.sdf_grid[start] - 1.0),
        clamped(cells[1], m.aux.sdf_grid[start + 1] - 1.0),
        clamped(cells[2], m.aux.sdf_grid[start + 2] - 1.0),
    )
    value, slope = interpolated(m, start, inside)
    gradient = scale3(slope, 1.0 / spacing)
    beyond = scale3(sub3(cells, inside), spacing)
    out = sqrt(beyond[0] * beyond[0] + beyond[1] * beyond[1] + beyond[2] * beyond[2])
    if out > 0.0:
        return value + out, scale3(beyond, 1.0 / out)
    return value, gradient


@collider
@exact
def grid_entry(m: Any, d: Any, side: int, gradient: int) -> int:
    """The native entry of distance grids: distance and gradient at ``d.work.sdf_point`` of one side of the pair."""
    start = int(m.aux.sdf_attr[MAX_ATTRIBUTES * d.work.sdf_instance[side]])
    pos = (m.aux.sdf_grid[start + 7], m.aux.sdf_grid[start + 8], m.aux.sdf_grid[start + 9])
    mat = (
        m.aux.sdf_grid[start + 10],
        m.aux.sdf_grid[start + 11],
        m.aux.sdf_grid[start + 12],
        m.aux.sdf_grid[start + 13],
        m.aux.sdf_grid[start + 14],
        m.aux.sdf_grid[start + 15],
        m.aux.sdf_grid[start + 16],
        m.aux.sdf_grid[start + 17],
        m.aux.sdf_grid[start + 18],
    )
    value, slope = grid_distance(m, start, mul_mat_t_vec3(mat, sub3(get3(d.work.sdf_point, side), pos)))
    d.work.sdf_value[side] = value
    if gradient:
        set3(d.work.sdf_gradient, side, mul_mat_vec3(mat, slope))
    return 0


# --- construction -----------------------------------------------------------------------------------------------------


def mesh_grid(m: MjModel, mesh: int) -> np.ndarray:
    """The grid of a mesh, head and values.

    Raises:
        ValueError: the mesh has no faces, or no tree over them.
    """
    rows = slice(int(m.mesh_vertadr[mesh]), int(m.mesh_vertadr[mesh] + m.mesh_vertnum[mesh]))
    vertex = m.mesh_vert[rows].astype(float)
    face = m.mesh_face[int(m.mesh_faceadr[mesh]) :][: int(m.mesh_facenum[mesh])].astype(np.int64)
    nodes = slice(int(m.mesh_bvhadr[mesh]), int(m.mesh_bvhadr[mesh] + m.mesh_bvhnum[mesh]))
    if not len(face) or nodes.start == nodes.stop:
        raise ValueError(f"mesh {mesh} has no faces, so that there is no distance grid of it")
    spacing = float(np.ptp(vertex, axis=0).max()) / CELLS
    low = vertex.min(axis=0) - BORDER * spacing
    count = np.ceil(np.ptp(vertex, axis=0) / spacing).astype(int) + 1 + 2 * BORDER
    values = np.empty(tuple(count))
    tree = m.bvh_child[nodes].astype(np.int64), m.bvh_nodeid[nodes].astype(np.int64), np.array(m.bvh_aabb[nodes])
    stack = np.empty(len(tree[1]) + 2, np.int64)
    _sampler()(tuple(low), spacing, values, (vertex, face, pseudonormals(vertex, face)), tree, stack)
    mat = quat2mat(tuple(m.mesh_quat[mesh].tolist()))
    return np.concatenate([count, low, [spacing], m.mesh_pos[mesh], mat, values.ravel()])


@cache
def _sampler() -> Callable[..., None]:
    """`_sample`, compiled."""
    if not jit_enabled:
        return _sample
    from numba import njit

    import cardan.jit.native  # noqa: F401 (teaches Numba to call kernels)

    return njit(_sample)


def _sample(low: Any, spacing: Any, values: Any, mesh: Any, tree: Any, stack: Any) -> None:
    """Write the distance at each point of a grid."""
    nx, ny, nz = values.shape
    for i in range(nx):
        for j in range(ny):
            for k in range(nz):
                p = add3(low, (i * spacing, j * spacing, k * spacing))
                values[i, j, k] = signed_distance(p, mesh, tree, stack)
