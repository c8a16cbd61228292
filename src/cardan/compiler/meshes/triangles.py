"""Triangles of a mesh: centres, normals, areas, volumes and second moments.

The mass properties are those of pyramids that stand on the triangles (O'Rourke, Computational Geometry in C, section
1.3.8; Blow and Binstock, "How to find the inertia tensor of a 3D solid body", 2004). Vertices are single precision, and
so are the centres and products below, as in the reference: results agree to the last digits.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from cardan.constants import mjMINVAL

_PAIRS = ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2))


class Triangles(NamedTuple):
    """Centres (single precision), normals with twice the area as length, unit normals (x if degenerate), and areas."""

    centre: np.ndarray
    cross: np.ndarray
    normal: np.ndarray
    area: np.ndarray


def triangles(vertex: np.ndarray, face: np.ndarray) -> Triangles:
    """Triangles of a mesh; ``vertex`` float32 (n, 3), ``face`` (m, 3)."""
    a, b, c = vertex[face[:, 0]], vertex[face[:, 1]], vertex[face[:, 2]]
    centre = ((a + b + c) / np.float32(3.0)).astype(np.float64)
    cross = cross_rows((b - a).astype(np.float64), (c - a).astype(np.float64))
    length = np.sqrt((cross * cross).sum(axis=1))
    thin = length < mjMINVAL
    normal = cross / np.where(thin, 1.0, length)[:, None]
    normal[thin] = (1.0, 0.0, 0.0)
    return Triangles(centre, cross, normal, 0.5 * length)


def cross_rows(u: np.ndarray, v: np.ndarray) -> np.ndarray:
    """Row by row cross product."""
    return np.stack(
        [
            u[:, 1] * v[:, 2] - u[:, 2] * v[:, 1],
            u[:, 2] * v[:, 0] - u[:, 0] * v[:, 2],
            u[:, 0] * v[:, 1] - u[:, 1] * v[:, 0],
        ],
        axis=1,
    )


def total(values: np.ndarray) -> Any:
    """Sum of the rows, one after the other: the principal axes of round meshes depend on the last bit."""
    return np.cumsum(values, axis=0)[-1]


def face_centroid(parts: Triangles) -> np.ndarray:
    """Centroid of the surface; 0 when it has no area."""
    area = total(parts.area)
    return total(parts.area[:, None] * parts.centre) / area if area >= mjMINVAL else np.zeros(3)


def pyramid_volumes(parts: Triangles, apex: np.ndarray, signed: bool) -> np.ndarray:
    """Volumes of the pyramids from an apex to the triangles; those seen from behind are negative if ``signed``."""
    volume = ((parts.centre - apex) * parts.normal).sum(axis=1) * parts.area / 3.0
    return volume if signed else np.abs(volume)


def weighted_centre(parts: Triangles, apex: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """Mean of the pyramids' centres of mass."""
    return total(weight[:, None] * (0.75 * parts.centre + 0.25 * apex)) / total(weight)


def second_moments(vertex: np.ndarray, face: np.ndarray, weight: np.ndarray) -> tuple[float, ...]:
    """Rotational inertia about the origin as (xx, yy, zz, xy, xz, yz), from weights of the triangles.

    The weight is volume / 20 for pyramids from the origin, area / 12 for triangles.
    """
    d, e, f = (np.ascontiguousarray(vertex[face[:, k]].T) for k in range(3))
    xx, yy, zz, xy, xz, yz = (float(total(weight * _products(d, e, f, a, b))) for a, b in _PAIRS)
    return (yy + zz, xx + zz, xx + yy, -xy, -xz, -yz)


def _products(d: np.ndarray, e: np.ndarray, f: np.ndarray, a: int, b: int) -> np.ndarray:
    """Products of the coordinates a and b over pairs of corners, in single precision."""
    own = np.float32(2.0) * (d[a] * d[b] + e[a] * e[b] + f[a] * f[b])
    mixed = own + d[a] * e[b] + d[b] * e[a] + d[a] * f[b] + d[b] * f[a] + e[a] * f[b] + e[b] * f[a]
    return mixed.astype(np.float64)


def turned_edge(face: np.ndarray) -> tuple[int, int] | None:
    """Two vertices between which two faces run in the same direction, so that one is turned; None when all is well.

    Faces that name a vertex twice have no direction.
    """
    start = face[(face != np.roll(face, 1, axis=1)).all(axis=1)].astype(np.int64)
    edge = (start << 32 | start[:, [1, 2, 0]]).ravel()
    edge = np.sort(edge)
    twice = np.flatnonzero(edge[1:] == edge[:-1])
    if not len(twice):
        return None
    first = int(edge[twice[0]])
    return first >> 32, first & 0xFFFFFFFF
