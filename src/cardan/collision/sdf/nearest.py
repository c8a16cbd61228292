"""Nearest point of a triangle, and the normals that distinguish inside from outside there.

The sign of the distance from a closed mesh is given by the pseudonormal of the feature (face, edge or corner) that
contains the nearest point.

Sources: C. Ericson, Real-Time Collision Detection (2005), section 5.1.5: closest point on a triangle; J. A. Baerentzen,
H. Aanaes, Signed distance computation using the angle weighted pseudonormal (2005).
"""

from __future__ import annotations

import numpy as np

from cardan.jit import kernel
from cardan.maths.types import ConstArray2, Vec3
from cardan.maths.vector import add3, add_scaled3, dot3, scale3, sub3

FACE, EDGES, CORNERS = 0, 1, 4
"""Features of a triangle, as rows of the table of pseudonormals: face, edges ab, bc, ca, corners a, b, c."""


def pseudonormals(vertex: np.ndarray, face: np.ndarray) -> np.ndarray:
    """Normals of the seven features of each triangle (m, 7, 3): face, sums of two faces, sums weighted by angles."""
    corner = vertex[face]
    normal = _unit(np.cross(corner[:, 1] - corner[:, 0], corner[:, 2] - corner[:, 0]))
    table = np.empty((len(face), 7, 3))
    table[:, FACE] = normal
    ends = np.sort(np.stack([face, np.roll(face, -1, axis=1)], axis=2), axis=2).reshape(-1, 2)
    _, edge = np.unique(ends, axis=0, return_inverse=True)
    total = np.zeros((edge.max() + 1, 3))
    np.add.at(total, edge.ravel(), np.repeat(normal, 3, axis=0))
    table[:, EDGES:CORNERS] = total[edge.reshape(-1, 3)]
    around = np.zeros((len(vertex), 3))
    for k in range(3):
        to_next = _unit(corner[:, (k + 1) % 3] - corner[:, k])
        to_last = _unit(corner[:, (k + 2) % 3] - corner[:, k])
        angle = np.arccos(np.clip((to_next * to_last).sum(axis=1), -1.0, 1.0))
        np.add.at(around, face[:, k], angle[:, None] * normal)
    table[:, CORNERS:] = around[face]
    return table


def _unit(vectors: np.ndarray) -> np.ndarray:
    return vectors / np.maximum(np.linalg.norm(vectors, axis=1), 1e-300)[:, None]


@kernel
def nearest_on_triangle(p: Vec3, a: Vec3, b: Vec3, c: Vec3) -> tuple[Vec3, int]:
    """Point of a triangle nearest to `p`, and the feature that contains it."""
    ab, ac, ap = sub3(b, a), sub3(c, a), sub3(p, a)
    d1, d2 = dot3(ab, ap), dot3(ac, ap)
    if d1 <= 0.0 and d2 <= 0.0:
        return a, 4
    bp = sub3(p, b)
    d3, d4 = dot3(ab, bp), dot3(ac, bp)
    if d3 >= 0.0 and d4 <= d3:
        return b, 5
    vc = d1 * d4 - d3 * d2
    if vc <= 0.0 and d1 >= 0.0 and d3 <= 0.0:
        return add_scaled3(a, ab, d1 / (d1 - d3)), 1
    cp = sub3(p, c)
    d5, d6 = dot3(ab, cp), dot3(ac, cp)
    if d6 >= 0.0 and d5 <= d6:
        return c, 6
    vb = d5 * d2 - d1 * d6
    if vb <= 0.0 and d2 >= 0.0 and d6 <= 0.0:
        return add_scaled3(a, ac, d2 / (d2 - d6)), 3
    va = d3 * d6 - d5 * d4
    if va <= 0.0 and d4 - d3 >= 0.0 and d5 - d6 >= 0.0:
        return add_scaled3(b, sub3(c, b), (d4 - d3) / ((d4 - d3) + (d5 - d6))), 2
    share = 1.0 / (va + vb + vc)
    return add3(a, add3(scale3(ab, vb * share), scale3(ac, vc * share))), 0


@kernel
def square_from_box(aabb: ConstArray2, node: int, p: Vec3) -> float:
    """Squared distance of a point from the box of a node."""
    total = 0.0
    for k in range(3):
        out = max(abs(p[k] - aabb[node, k]) - aabb[node, 3 + k], 0.0)
        total += out * out
    return total
