"""Tables derived from a model for collision detection: bodies with geoms, and the bodies to which they are fixed.

Spec: computation, collision detection, filtering.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from cardan.enums import mjtGeom
from cardan.model.sparsity import as_table

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
    return as_table([body for body, number in enumerate(m.body_geomnum.tolist()) if number > 0])


def body_weldparent(m: MjModel) -> np.ndarray:
    """For each body, the weld body of the parent of its weld body (0 is the world)."""
    return m.body_weldid[m.body_parentid[m.body_weldid]]


def collider(m: MjModel) -> np.ndarray:
    """Make an empty table of collision functions: nothing is compiled, and surfaces don't collide with each other."""
    table = np.zeros((NTYPES, NTYPES), np.int64)
    for a in SURFACES:
        for b in SURFACES:
            table[a, b] = NO_COLLIDER
    return table.reshape(-1)


def contact_filter(m: MjModel) -> np.ndarray:
    """Make an empty table for the callback that filters contacts."""
    return np.zeros(1, np.int64)


def no_numbers(m: MjModel) -> np.ndarray:
    """Make an empty table of triangles or distance grids, which are attached at the first collision detection."""
    return np.zeros(0)


def sdf_shape(m: MjModel) -> np.ndarray:
    """Make an empty table of distance functions: a zero for each plugin instance."""
    return np.zeros(max(1, m.nplugin), np.int64)


def sdf_attr(m: MjModel) -> np.ndarray:
    """Make an empty table of attributes: eight zeros for each plugin instance."""
    return np.zeros(8 * max(1, m.nplugin))


def plugin_call(m: MjModel) -> np.ndarray:
    """Make an empty table of the functions of plugins: eight zeros for each plugin instance."""
    return np.zeros(8 * max(1, m.nplugin), np.int64)
