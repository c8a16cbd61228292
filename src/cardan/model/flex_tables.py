"""Tables of flexes: on which degrees of freedom the lengths of edges depend, and how bounding trees are walked.

As in `sparsity`, all functions take a finished model and return an integer table that depends on its topology alone.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from cardan.model.pairing import link_tree
from cardan.model.sparsity import as_table, body_lastdof, columns, dof_chain, row_addresses

FIRST, SECOND, BOTH = 0, 1, 2
"""Which vertices of an edge a dof moves."""


def _edge_vertices(m: Any) -> np.ndarray:
    """Vertices of each edge (nflexedge, 2), numbered over all flexes."""
    return m.flex_edge + np.repeat(m.flex_vertadr, m.flex_edgenum)[:, None]


def _edge_rows(m: Any) -> list[dict[int, int]]:
    """For each edge: the dofs that move its vertices, ascending, and which of them each moves."""
    last = body_lastdof(m)
    chains = {int(body): dof_chain(m, int(last[body])) for body in np.unique(m.flex_vertbodyid)}
    rows = []
    for body1, body2 in m.flex_vertbodyid[_edge_vertices(m)].tolist():
        row = dict.fromkeys(chains[body1], FIRST)
        for dof in chains[body2]:
            row[dof] = BOTH if dof in row else SECOND
        rows.append(dict(sorted(row.items())))
    return rows


def edge_rowadr(m: Any) -> np.ndarray:
    """Start and end of each edge's row of `edge_colind` (nflexedge + 1,)."""
    return row_addresses([list(row) for row in _edge_rows(m)])


def edge_colind(m: Any) -> np.ndarray:
    """Dofs that move the vertices of each edge, edge by edge."""
    return columns([list(row) for row in _edge_rows(m)])


def edge_side(m: Any) -> np.ndarray:
    """For each entry of `edge_colind`, which vertices of the edge the dof moves: the first (0), second (1), or both."""
    return columns([list(row.values()) for row in _edge_rows(m)])


def flex_bvh_next(m: Any) -> np.ndarray:
    """For each dynamic node, the first one that is not below it, both counted from the first dynamic node.

    The root of a flex whose nodes are not stored depth first gets -1.
    """
    table = np.full(max(1, m.nbvh), -1, np.int32)
    children, ids = m.bvh_child.tolist(), m.bvh_nodeid.tolist()
    for start, number, elements in zip(m.flex_bvhadr, m.flex_bvhnum, m.flex_elemnum, strict=True):
        if number > 0 and not link_tree(table, children, ids, int(start), int(number), range(elements)):
            table[start] = -1
    dynamic = table[m.nbvhstatic :]
    return as_table(np.where(dynamic >= 0, dynamic - m.nbvhstatic, -1))


def flex_bvh_depth(m: Any) -> np.ndarray:
    """Depth of the bounding tree of each flex (nflex,)."""
    spans = zip(m.flex_bvhadr, m.flex_bvhnum, strict=True)
    depths = [m.bvh_depth[start : start + number].max(initial=0) for start, number in spans]
    return as_table(depths or [0])
