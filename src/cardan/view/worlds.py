"""Several worlds side by side: their positions, and the visible parts of the worlds after the first."""

from __future__ import annotations

from math import ceil, sqrt

import numpy as np

from cardan.enums import mjtCatBit, mjtGeom
from cardan.model import MjData, MjModel
from cardan.visual import MjvOption, MjvScene, mjv_addGeoms

MOVING = mjtCatBit.mjCAT_DYNAMIC.value | mjtCatBit.mjCAT_DECOR.value
"""Visible categories of the worlds after the first."""
SOFT = (mjtGeom.mjGEOM_FLEX.value, mjtGeom.mjGEOM_SKIN.value)
SPACING = 1.0
"""Distance between worlds, relative to the extent of the model."""


def place_of_world(k: int, count: int, spacing: float) -> np.ndarray:
    """Origin of world `k` of `count`: rows of a square from left to right; the first world is not moved."""
    side = ceil(sqrt(count))
    return np.array([spacing * (k // side), spacing * (k % side), 0.0])


def places_of_others(m: MjModel, count: int) -> list[np.ndarray]:
    """Origins of the worlds after the first, (3,) each, m."""
    return [place_of_world(k, count, SPACING * float(m.stat.extent)) for k in range(1, count)]


def add_others(m: MjModel, others: list[MjData], option: MjvOption, scene: MjvScene) -> None:
    """Add the moving objects of further worlds to a scene of the first world, each at its origin.

    A scene contains the vertices of one world only, so the flexes and skins of other worlds are omitted.
    """
    for d, origin in zip(others, places_of_others(m, 1 + len(others)), strict=True):
        start = scene.ngeom
        mjv_addGeoms(m, d, option, None, MOVING, scene)
        added = scene.geom_values[start : scene.ngeom]
        added["pos"] += origin
        rigid = added[~np.isin(added["type"], SOFT)]
        scene.ngeom = start + len(rigid)
        scene.geom_values[start : scene.ngeom] = rigid
