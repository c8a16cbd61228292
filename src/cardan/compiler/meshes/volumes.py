"""Bounding volume hierarchy over the faces of a mesh, halved by the faces' circumcentres."""

from __future__ import annotations

import numpy as np

from cardan.compiler.box_tree import BoxTree, box_tree


def face_tree(vertex: np.ndarray, face: np.ndarray) -> BoxTree:
    """The tree over all faces; ``vertex`` float32 (n, 3), ``face`` (m, 3)."""
    corner = vertex[face]
    return box_tree(corner, _circumcentres(corner))


def _circumcentres(corner: np.ndarray) -> np.ndarray:
    """Centres of the circles through the corners (m, 3, 3) of triangles; the third corner of those without area.

    The sides are rounded to single precision, as in the reference.
    """
    origin = corner[:, 2]
    u, v = (corner[:, 0] - origin).astype(np.float64), (corner[:, 1] - origin).astype(np.float64)
    normal = np.cross(u, v)
    square = (normal * normal).sum(axis=1)
    square[square == 0.0] = np.inf
    uu, vv = (u * u).sum(axis=1)[:, None], (v * v).sum(axis=1)[:, None]
    return origin + np.cross(uu * v - vv * u, normal) / (2.0 * square)[:, None]
