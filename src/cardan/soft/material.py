"""Elastic elements of constant strain, and hinges between triangles: their matrices at rest.

The elongation of an edge is its squared length minus its squared length at rest: twice the Green strain along the edge.
The six elongations of a tetrahedron (three of a triangle) determine its strain E. E is a linear combination of
symmetric matrices G that are dual to the edges: for the rest vectors r of edges, r_a' G_b r_a is 1 if a = b, else 0.
Invariants of E are therefore quadratic forms of the elongations, whose matrices are computed once:

    E = 1/2 sum_a G_a e_a,    (tr E)^2 = 1/4 e' T e,    tr E^2 = 1/4 e' P e,    T_ab = tr G_a tr G_b,  P_ab = tr G_a G_b

Two triangles with a common edge form a hinge. The cotangents of its angles determine weights c of its four vertices x.
The vector s = sum c_i x_i is 0 if the hinge is flat and not stretched, and therefore measures its bending.

The flexes (`cardan.soft.elastic`) and the engine plugins (`cardan.plugins.elastic`, `cardan.plugins.strain`) use these
matrices with factors of their own.

Sources: R. Kikuuwe, H. Tabuchi, M. Yamamoto, An edge-based computationally efficient formulation of Saint
Venant-Kirchhoff tetrahedral finite elements (2009); H. Delingette, Triangular springs for modeling nonlinear membranes
(2008); M. Bergou, M. Wardetzky, D. Harmon, D. Zorin, E. Grinspun, A quadratic bending model for inextensible surfaces
(2006).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from cardan.maths.vector import cross

_TETRAHEDRON = 4


def lame(young: float, poisson: float) -> tuple[float, float]:
    """Return Lame's parameters (lambda, mu) of an isotropic material, Pa; ``young`` is Young's modulus, Pa."""
    return young * poisson / ((1.0 + poisson) * (1.0 - 2.0 * poisson)), young / (2.0 * (1.0 + poisson))


class StrainForms(NamedTuple):
    """Matrices of the invariants of strain, for each element: T and P (both (m, edges, edges), m^-4), and volumes.

    ``volume`` (m,) is that of tetrahedra, m^3, with the sign of their order of corners, or the area of triangles, m^2.
    """

    trace: np.ndarray
    product: np.ndarray
    volume: np.ndarray


def corner_coordinates(rest: np.ndarray, elements: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the corners' coordinates (m, corners, 2 or 3) and the volume or area (m,) of each of m elements."""
    corners = rest[elements]
    side = corners[:, 1:] - corners[:, :1]
    if elements.shape[1] == _TETRAHEDRON:
        return corners, -np.linalg.det(side) / 6.0
    normal = np.cross(side[:, 0], side[:, 1])
    along = side[:, 0] / np.linalg.norm(side[:, 0], axis=1)[:, None]
    across = np.cross(normal / np.linalg.norm(normal, axis=1)[:, None], along)
    flat = np.stack([(corners - corners[:, :1]) @ axis[:, :, None] for axis in (along, across)], axis=2)[..., 0]
    return flat, 0.5 * np.linalg.norm(normal, axis=1)


def strain_forms(rest: np.ndarray, elements: np.ndarray, pairs: np.ndarray) -> StrainForms:
    """Compute the matrices of the invariants of strain.

    Args:
        rest: stress-free positions of the vertices (n, 3), m.
        elements: corners of the elements (m, 3 or 4).
        pairs: the two corners of each edge of an element (3 or 6, 2).

    Raises:
        ValueError: an element has no volume.
    """
    with np.errstate(all="ignore"):
        coordinates, volume = corner_coordinates(rest, elements)
        dim = coordinates.shape[2]
        side = coordinates[:, pairs[:, 1]] - coordinates[:, pairs[:, 0]]
        entries = [(i, j) for i in range(dim) for j in range(i, dim)]
        products = [side[:, :, i] * side[:, :, j] * (1.0 if i == j else 2.0) for i, j in entries]
        try:
            dual = np.linalg.inv(np.stack(products, axis=2))
        except np.linalg.LinAlgError:
            dual = np.full((1,), np.nan)
    if not np.isfinite(dual).all():
        raise ValueError("an element has no volume: its corners are in a plane, or on a line")
    matrix = np.empty((len(elements), len(pairs), dim, dim))
    for k, (i, j) in enumerate(entries):
        matrix[:, :, i, j] = matrix[:, :, j, i] = dual[:, k]
    trace = np.trace(matrix, axis1=2, axis2=3)
    both = np.einsum("eaij,ebji->eab", matrix, matrix)
    return StrainForms(trace[:, :, None] * trace[:, None], both, volume)


def hinges(elements: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the ends of all edges of triangles (n, 2), and the vertices opposite to them (n, 2).

    The lower end comes first. The two opposite vertices belong to the first and to the last triangle with the edge; the
    second is -1 if there is only one triangle. Edges are in the order of first use.
    """
    ends = np.sort(elements[:, [[0, 1], [1, 2], [2, 0]]], axis=2).reshape(-1, 2)
    opposite = elements[:, [2, 0, 1]].ravel()
    # sort sides by their edges; the sort is stable, so that the sides of an edge keep the order of the triangles
    order = np.lexsort((ends[:, 1], ends[:, 0]))
    starts = np.flatnonzero(np.diff(ends[order], axis=0, prepend=-1).any(axis=1))
    first, last = order[starts], order[np.append(starts[1:], len(order))[: len(starts)] - 1]
    by_first = np.argsort(first)
    first, last = first[by_first], last[by_first]
    return ends[first], np.column_stack([opposite[first], np.where(first != last, opposite[last], -1)])


def flaps_of(elements: np.ndarray) -> np.ndarray:
    """Return the four vertices of each hinge (n, 4): the ends of the common edge, then the two opposite vertices."""
    ends, opposite = hinges(elements)
    shared = opposite[:, 1] >= 0
    return np.concatenate([ends[shared], opposite[shared]], axis=1)


def _cotangents(a: Any, b: Any) -> tuple[np.ndarray, np.ndarray]:
    """Return the cotangents of the angles between vectors `a` and `b` (3, n), and the norms of their cross products."""
    x, y, z = cross(a, b)
    across = np.sqrt(x * x + y * y + z * z)
    return (a[0] * b[0] + a[1] * b[1] + a[2] * b[2]) / across, across


def hinge_weights(rest: np.ndarray, flaps: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the weights of the hinges' vertices (n, 4), and the sum of the areas of each hinge's triangles (n,), m^2.

    Args:
        rest: positions of the vertices at rest (n, 3), m.
        flaps: vertices of the hinges, as returned by `flaps_of`.

    Raises:
        ValueError: a triangle has no area.
    """
    x0, x1, x2, x3 = np.ascontiguousarray(rest[flaps].transpose(1, 2, 0))  # coordinates, corner by corner
    with np.errstate(all="ignore"):
        first0, area0 = _cotangents(x1 - x0, x2 - x0)
        second0, area1 = _cotangents(x1 - x0, x3 - x0)
        first1, _ = _cotangents(x0 - x1, x2 - x1)
        second1, _ = _cotangents(x0 - x1, x3 - x1)
        found = np.stack([first1 + second1, first0 + second0, -first0 - first1, -second0 - second1], axis=1)
    if not np.isfinite(found).all():
        raise ValueError("a triangle has no area: its corners are on a line")
    return found, 0.5 * (area0 + area1)
