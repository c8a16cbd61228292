"""Fields of MuJoCo 4.0 that list what is awake. They follow from `tree_asleep` (see `cardan.dynamics.awake`).

Functions take a finished model and its data.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from cardan.enums.later import mjtSleepState

if TYPE_CHECKING:
    from cardan.model.mjdata import MjData
    from cardan.model.mjmodel import MjModel

STATIC = int(mjtSleepState.mjS_STATIC)
ASLEEP = int(mjtSleepState.mjS_ASLEEP)
AWAKE = int(mjtSleepState.mjS_AWAKE)


def trees(m: MjModel, d: MjData) -> np.ndarray:
    """Return for each tree whether it is awake: 1, or 0 if it sleeps (ntree,)."""
    return (d.tree_asleep < 0).astype(np.int32)


def bodies(m: MjModel, d: MjData) -> np.ndarray:
    """Return the state of each body: static, asleep or awake (nbody,)."""
    awake = np.append(d.tree_asleep < 0, False)[m.body_treeid]  # -1, no tree, is the last element
    return np.where(m.body_treeid < 0, STATIC, np.where(awake, AWAKE, ASLEEP)).astype(np.int32)


def listed_bodies(m: MjModel, d: MjData) -> np.ndarray:
    """Return the ids of bodies that are awake or static."""
    return np.flatnonzero(bodies(m, d) != ASLEEP)


def listed_children(m: MjModel, d: MjData) -> np.ndarray:
    """Return the ids of bodies whose parents are awake or static; the world has no parent."""
    return 1 + np.flatnonzero(bodies(m, d)[m.body_parentid[1:]] != ASLEEP)


def listed_dofs(m: MjModel, d: MjData) -> np.ndarray:
    """Return the ids of degrees of freedom of trees that are awake."""
    return np.flatnonzero(d.tree_asleep[m.dof_treeid] < 0)
