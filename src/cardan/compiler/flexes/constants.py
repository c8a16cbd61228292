"""What flexes keep of the initial configuration: vertices in the world, lengths and inverse weights of edges."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from cardan.model.sparsity import body_lastdof

if TYPE_CHECKING:
    from cardan.compiler.weights import Inertia
    from cardan.model.mjdata import MjData
    from cardan.model.mjmodel import MjModel

_ONLY_SLIDES = 2  # body_simple of a body that slides along its principal axes
_CHUNK = 256  # edges whose Jacobians are made at a time


def set_flex_constants(m: MjModel, d: MjData, inertia: Inertia) -> None:
    """Fields ``flex_xvert0``, ``flexedge_length0`` and ``flexedge_invweight0``.

    The inverse weight of an edge between two bodies that only slide is the mean of theirs, as in the reference. Others
    have one only if edges exert forces, passive or by a constraint: J M^-1 J', J being the derivative of the length.
    """
    if not m.nflex:
        return
    bodies = np.asarray(m.flex_vertbodyid)
    rotation = np.asarray(d.xmat)[bodies].reshape(-1, 3, 3)
    m.flex_xvert0[:] = np.asarray(d.xpos)[bodies] + (rotation @ np.asarray(m.flex_vert)[:, :, None])[:, :, 0]
    edge, flex = edge_vertices(m)
    span = m.flex_xvert0[edge[:, 1]] - m.flex_xvert0[edge[:, 0]]
    m.flexedge_length0[:] = np.linalg.norm(span, axis=1)
    ends = bodies[edge]
    sliding = (m.body_simple[ends] == _ONLY_SLIDES).all(axis=1)
    rigid = np.asarray(m.flexedge_rigid, bool)
    inverse = 1.0 / np.maximum(m.body_mass, np.finfo(float).tiny)
    weight = np.where(sliding & ~rigid, 0.5 * inverse[ends].sum(axis=1), 0.0)
    forced = (m.flex_edgeequality != 0) | (m.flex_edgestiffness != 0.0) | (m.flex_edgedamping != 0.0)
    others = np.flatnonzero(~sliding & ~rigid & forced[flex])
    for start in range(0, len(others), _CHUNK):
        chosen = others[start : start + _CHUNK]
        weight[chosen] = inertia.weights(_jacobian(m, d, edge[chosen], span[chosen]))
    m.flexedge_invweight0[:] = weight


def edge_vertices(m: MjModel) -> tuple[np.ndarray, np.ndarray]:
    """Vertices of all edges, numbered over all flexes (nflexedge, 2), and the flex of each edge."""
    flex = np.repeat(np.arange(m.nflex), m.flex_edgenum)
    return np.asarray(m.flex_edge) + m.flex_vertadr[flex][:, None], flex


def _jacobian(m: MjModel, d: MjData, edge: np.ndarray, span: np.ndarray) -> np.ndarray:
    """Derivatives of the edges' lengths by the joint velocities (n, nv)."""
    rows = np.zeros((len(edge), m.nv))
    last = body_lastdof(m)
    cdof, com = np.asarray(d.cdof), np.asarray(d.subtree_com)
    length = np.linalg.norm(span, axis=1, keepdims=True)
    direction = span / np.where(length > 0.0, length, 1.0)
    for row, ends, along in zip(rows, edge, direction, strict=True):
        for vertex, sign in zip(ends, (-1.0, 1.0), strict=True):
            body = m.flex_vertbodyid[vertex]
            arm = m.flex_xvert0[vertex] - com[m.body_rootid[body]]
            dofs = _dofs(m, int(last[body]))
            row[dofs] += sign * ((cdof[dofs, 3:] + np.cross(cdof[dofs, :3], arm)) @ along)
    return rows


def _dofs(m: MjModel, dof: int) -> list[int]:
    """The dofs that move a body, from its last one up."""
    chain = []
    while dof >= 0:
        chain.append(dof)
        dof = int(m.dof_parentid[dof])
    return chain
