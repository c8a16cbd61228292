"""Tables derived from a model for collision detection: which bodies have geoms, and what they are welded to.

Spec: computation, collision detection, filtering.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from cardan.enums import mjtGeom

if TYPE_CHECKING:
    from cardan.model.mjmodel import MjModel

NTYPES = int(mjtGeom.mjGEOM_SDF) + 1
"""Number of geom types that can collide."""

NO_COLLIDER = -1
"""Entry of ``aux.collider`` for a pair of types that never collides."""

SURFACES = (int(mjtGeom.mjGEOM_PLANE), int(mjtGeom.mjGEOM_HFIELD))
"""Static surfaces: they collide with solids, not with each other."""


def collision_body(m: MjModel) -> np.ndarray:
    """Ids of the bodies that have geoms."""
    return np.flatnonzero(m.body_geomnum > 0)


def body_weldparent(m: MjModel) -> np.ndarray:
    """For each body, the weld body that its own weld body hangs on (0 is the world)."""
    return m.body_weldid[m.body_parentid[m.body_weldid]]


def collider(m: MjModel) -> np.ndarray:
    """An empty table of collision functions: nothing is compiled, and surfaces don't collide with each other."""
    table = np.zeros((NTYPES, NTYPES), np.int64)
    for a in SURFACES:
        for b in SURFACES:
            table[a, b] = NO_COLLIDER
    return table.reshape(-1)


def contact_filter(m: MjModel) -> np.ndarray:
    """No callback that filters contacts."""
    return np.zeros(1, np.int64)


def no_numbers(m: MjModel) -> np.ndarray:
    """Nothing: triangles and grids of distances are attached when the model first collides."""
    return np.zeros(0)


def sdf_shape(m: MjModel) -> np.ndarray:
    """An empty table of distance functions: a zero for each plugin instance."""
    return np.zeros(max(1, m.nplugin), np.int64)


def sdf_attr(m: MjModel) -> np.ndarray:
    """An empty table of attributes: eight zeros for each plugin instance."""
    return np.zeros(8 * max(1, m.nplugin))


def plugin_call(m: MjModel) -> np.ndarray:
    """An empty table of the functions of plugins: eight zeros for each plugin instance."""
    return np.zeros(8 * max(1, m.nplugin), np.int64)


def _trees(m: MjModel) -> list[tuple[int, int, range]]:
    """First node, number of nodes and geoms of the bodies that have a tree."""
    columns = (m.body_bvhadr, m.body_bvhnum, m.body_geomadr, m.body_geomnum)
    rows = zip(*(column.tolist() for column in columns), strict=True)
    return [(start, number, range(adr, adr + num)) for start, number, adr, num in rows if number > 0]


def bvh_next(m: MjModel) -> np.ndarray:
    """For each node of the bodies' trees, the first node that is not below it.

    Nodes are stored depth first, so that those below one follow it. The root of a tree that is not, or whose leaves
    hold other things than the body's geoms, gets -1.
    """
    trees = _trees(m)
    end = max((start + number for start, number, _ in trees), default=0)
    children, ids = m.bvh_child[:end].tolist(), m.bvh_nodeid[:end].tolist()
    table = np.full(max(1, end), -1, np.int32)
    for start, number, geoms in trees:
        if not link_tree(table, children, ids, start, number, geoms):
            table[start] = -1
    return table


def link_tree(table: np.ndarray, children: list, ids: list, start: int, number: int, geoms: range) -> bool:
    """Fill the part of the table of one tree, from the last node to the first; whether it is in order."""
    end = start + number
    if not 0 <= start < end <= len(ids):
        return False
    for node in range(end - 1, start - 1, -1):
        left, right = (start + child for child in children[node])
        if left < start and right < start:
            table[node] = node + 1
            if ids[node] not in geoms:
                return False
        else:
            if ids[node] >= 0 or left != node + 1 or not left < right < end or table[left] != right:
                return False
            table[node] = table[right]
    return bool(table[start] == end)


def geom_in_tree(m: MjModel) -> np.ndarray:
    """For each geom, 1 if it is in the tree of its body, else 0."""
    table = np.zeros(max(1, m.ngeom), np.int32)
    for start, number, _ in _trees(m):
        nodes = m.bvh_nodeid[start : start + number]
        table[nodes[(nodes >= 0) & (nodes < m.ngeom)]] = 1
    return table
