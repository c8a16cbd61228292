"""Outlines of geoms seen by an orthographic camera: the convex hull of the projected surface."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from scipy.spatial import ConvexHull, QhullError

import cardan

ROUND = 24
"""Number of points on a circle."""


def _sphere_points() -> np.ndarray:
    """Points on the unit sphere (n, 3)."""
    azimuth = np.linspace(0.0, 2.0 * math.pi, ROUND, endpoint=False)
    rows = []
    for elevation in np.linspace(-0.5 * math.pi, 0.5 * math.pi, ROUND // 2 + 1):
        c, s = math.cos(elevation), math.sin(elevation)
        rows.append(np.stack([c * np.cos(azimuth), c * np.sin(azimuth), np.full(ROUND, s)], axis=1))
    return np.concatenate(rows)


SPHERE = _sphere_points()
CIRCLE = SPHERE[np.abs(SPHERE[:, 2]) < 1e-9] * (1.0, 1.0, 0.0)
CORNERS = np.array([(x, y, z) for x in (-1.0, 1.0) for y in (-1.0, 1.0) for z in (-1.0, 1.0)])


def _both_ends(points: np.ndarray, half: float) -> np.ndarray:
    """Copy points, moved along z by +half and by -half."""
    return np.concatenate([points + (0.0, 0.0, half), points - (0.0, 0.0, half)])


SURFACES: dict[int, Callable[[np.ndarray], np.ndarray]] = {
    cardan.mjtGeom.mjGEOM_SPHERE: lambda size: SPHERE * size[0],
    cardan.mjtGeom.mjGEOM_ELLIPSOID: lambda size: SPHERE * size,
    cardan.mjtGeom.mjGEOM_CAPSULE: lambda size: _both_ends(SPHERE * size[0], size[1]),
    cardan.mjtGeom.mjGEOM_CYLINDER: lambda size: _both_ends(CIRCLE * size[0], size[1]),
    cardan.mjtGeom.mjGEOM_BOX: lambda size: CORNERS * size,
}
"""For each type of geom, a function from its sizes to points, in its own frame, whose convex hull is the geom."""


def camera(azimuth: float, elevation: float) -> np.ndarray:
    """Directions right, up, and towards the viewer, as rows (3, 3), of a camera at these angles (degrees)."""
    a, e = math.radians(azimuth), math.radians(elevation)
    right = (-math.sin(a), math.cos(a), 0.0)
    towards = (math.cos(e) * math.cos(a), math.cos(e) * math.sin(a), math.sin(e))
    return np.array([right, np.cross(towards, right), towards])


def outline(surface: np.ndarray) -> np.ndarray:
    """Convex hull of points in the plane (n, 2), as a polygon; points on a line are returned unchanged."""
    try:
        return surface[ConvexHull(surface).vertices]
    except QhullError:
        return surface


def outlines(m: cardan.MjModel, d: cardan.MjData, geoms: list[int], view: np.ndarray) -> list[tuple[float, np.ndarray]]:
    """For each geom, its depth (larger is nearer) and its polygon (n, 2), in metres."""
    found = []
    for g in geoms:
        points = SURFACES[int(m.geom_type[g])](m.geom_size[g])
        world = d.geom_xpos[g] + points @ d.geom_xmat[g].reshape(3, 3).T
        found.append((float(view[2] @ d.geom_xpos[g]), outline(world @ view[:2].T)))
    return found
