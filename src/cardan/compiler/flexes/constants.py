"""Constants of flexes at the initial configuration: vertices in the world, lengths and inverse weights of edges."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from cardan.dynamics.jacobian import is_sparse
from cardan.jit import Program
from cardan.soft.edges import edges
from cardan.soft.flex import flex as flex_stage

if TYPE_CHECKING:
    from cardan.compiler.constants import Scratch
    from cardan.model.mjdata import MjData
    from cardan.model.mjmodel import MjModel

_ONLY_SLIDES = 2  # body_simple of a body that slides along its principal axes
_CHUNK = 256  # edges whose Jacobians are computed together


def set_flex_constants(m: MjModel, d: MjData | Scratch, weigh: Callable[[np.ndarray], np.ndarray]) -> None:
    """Set ``flex_xvert0``, ``flexedge_length0`` and ``flexedge_invweight0``.

    The inverse weight of a rigid edge is 0. If both bodies of another edge only slide, its inverse weight is the mean
    of 1 / mass, as in the reference. For other edges that exert passive or constraint forces, it is J M^-1 J', where J
    is the derivative of the edge's length with respect to the dofs. For all others, the inverse weight is 0. ``weigh``
    computes J M^-1 J' for rows of J.
    """
    bodies = np.asarray(m.flex_vertbodyid)
    rotation = np.asarray(d.xmat)[bodies].reshape(-1, 3, 3)
    m.flex_xvert0[:] = np.asarray(d.xpos)[bodies] + (rotation @ np.asarray(m.flex_vert)[:, :, None])[:, :, 0]
    edge, _ = edge_vertices(m)
    span = m.flex_xvert0[edge[:, 1]] - m.flex_xvert0[edge[:, 0]]
    m.flexedge_length0[:] = np.linalg.norm(span, axis=1)
    ends = bodies[edge]
    simple = _slide(m) & (np.asarray(m.flexedge_rigid) == 0)
    inverse = 1.0 / np.maximum(m.body_mass, np.finfo(float).tiny)
    weight = np.where(simple, 0.5 * inverse[ends].sum(axis=1), 0.0)
    others = np.flatnonzero(need_jacobian(m))
    if len(others):
        Program((flex_stage, edges)).run(m, d)
    for start in range(0, len(others), _CHUNK):
        chosen = others[start : start + _CHUNK]
        weight[chosen] = weigh(_jacobian(m, d, chosen))
    m.flexedge_invweight0[:] = weight


def need_jacobian(m: MjModel) -> np.ndarray:
    """Return a mask of the edges whose inverse weight requires the derivative of their length (nflexedge,)."""
    exerts = (m.flex_edgeequality != 0) | (m.flex_edgestiffness != 0.0) | (m.flex_edgedamping != 0.0)
    elastic = np.asarray(m.flex_stiffnessadr) >= 0
    return np.repeat(exerts | elastic, m.flex_edgenum) & ~_slide(m) & (np.asarray(m.flexedge_rigid) == 0)


def _slide(m: MjModel) -> np.ndarray:
    """Return a mask of the edges whose bodies both only slide along their principal axes (nflexedge,)."""
    edge, _ = edge_vertices(m)
    return (m.body_simple[np.asarray(m.flex_vertbodyid)[edge]] == _ONLY_SLIDES).all(axis=1)


def edge_vertices(m: MjModel) -> tuple[np.ndarray, np.ndarray]:
    """Return vertices of all edges, numbered over all flexes (nflexedge, 2), and the flex of each edge."""
    flex = np.repeat(np.arange(m.nflex), m.flex_edgenum)
    return np.asarray(m.flex_edge) + m.flex_vertadr[flex][:, None], flex


def _jacobian(m: MjModel, d: MjData | Scratch, chosen: np.ndarray) -> np.ndarray:
    """Return the chosen rows of the Jacobian of edge lengths, dense (n, nv); `flexedge_J` may be sparse or dense."""
    if not is_sparse(m):
        return np.asarray(d.flexedge_J)[chosen]
    count, adr = np.asarray(d.flexedge_J_rownnz)[chosen], np.asarray(d.flexedge_J_rowadr)[chosen]
    entry = np.arange(count.sum()) + np.repeat(adr - (np.cumsum(count) - count), count)
    rows = np.zeros((len(chosen), m.nv))
    place = np.repeat(np.arange(len(chosen)), count), np.asarray(d.flexedge_J_colind).ravel()[entry]
    rows[place] = np.asarray(d.flexedge_J).ravel()[entry]
    return rows
