"""Distance grids: the signed distance of a mesh, sampled on a regular grid and interpolated between its points.

The grid is made from the mesh of the geom when the model first collides. For a point outside the grid, the result is
the distance at the nearest point of the grid's box, plus the distance to the box.

A grid is stored in ``m.aux.sdf_grid`` after a header of `HEAD` numbers: numbers of points (3), lower corner (3),
spacing. Its frame is the mesh's own.
"""

from __future__ import annotations

from math import sqrt
from typing import TYPE_CHECKING

import numpy as np

from cardan.jit import kernel
from cardan.maths.types import Vec3
from cardan.maths.vector import scale3, sub3
from cardan.model.kernel_views import Model

if TYPE_CHECKING:
    pass

HEAD = 7
CELLS = 64
"""Cells along the longest side of the grid."""
BORDER = 2
"""Cells between the mesh and the edge of the grid."""


# --- evaluation -------------------------------------------------------------------------------------------------------


@kernel
def clamped(x: float, last: float) -> float:
    """Move a coordinate, in cells, into the grid."""
    return min(max(x, 0.0), last)


@kernel
def cell_of(x: float, count: int) -> int:
    """Cell that contains a coordinate inside the grid."""
    return min(int(x), count - 2)


@kernel
def interpolated(m: Model, start: int, p: Vec3) -> tuple[float, Vec3]:
    """Interpolate value and gradient (per cell) at a point inside the grid, in cells."""
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
def grid_distance(m: Model, start: int, p: Vec3) -> tuple[float, Vec3]:
    """Distance and gradient at a point in the mesh's own frame."""
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


# --- construction -----------------------------------------------------------------------------------------------------


def frame_of(points: np.ndarray) -> tuple[np.ndarray, np.ndarray, float]:
    """Lower corner, numbers of points and spacing of the grid around points (n, 3)."""
    spacing = float(np.ptp(points, axis=0).max()) / CELLS
    count = np.ceil(np.ptp(points, axis=0) / spacing).astype(int) + 1 + 2 * BORDER
    return points.min(axis=0) - BORDER * spacing, count, spacing
