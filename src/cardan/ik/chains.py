"""Kinematic chains of a model: the dofs that move a body, and the bodies in front of it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import numpy as np

from cardan.enums.codes import JNT_BALL, JNT_FREE
from cardan.model import internals

if TYPE_CHECKING:
    from cardan.model import MjModel

POSITIONS = {JNT_FREE: 7, JNT_BALL: 4}
"""Number of coordinates of joints that have more than one."""


class Chains:
    """Chains of a model.

    Args:
        m: model.
    """

    def __init__(self, m: MjModel) -> None:
        self.m = m
        self._last = internals.array(m, "aux.body_lastdof")

    def dofs_of(self, bodies: Iterable[int]) -> np.ndarray:
        """Return a mask of the dofs that move any of the bodies, (nv,) bool."""
        mask = np.zeros(self.m.nv, bool)
        for body in bodies:
            dof = int(self._last[body])
            while dof >= 0:
                mask[dof] = True
                dof = int(self.m.dof_parentid[dof])
        return mask

    def dofs_in(self, root: int) -> np.ndarray:
        """Return a mask of the dofs of a body, of its ancestors and of its descendants, (nv,) bool."""
        inside = np.zeros(self.m.nbody, bool)
        inside[root] = True
        for body in range(root + 1, self.m.nbody):
            inside[body] = inside[self.m.body_parentid[body]]
        return self.dofs_of([root]) | inside[self.m.dof_bodyid]

    def with_ancestors(self, bodies: Iterable[int]) -> np.ndarray:
        """Return the ids of bodies and all their ancestors except the world, parents first."""
        found: set[int] = set()
        for body in bodies:
            body = int(body)
            while body > 0 and body not in found:
                found.add(body)
                body = int(self.m.body_parentid[body])
        return np.array(sorted(found), np.int64)

    def whole_joints(self, moving: np.ndarray) -> np.ndarray:
        """Return a mask that has all dofs of each joint with a dof in `moving`."""
        return np.isin(self.m.dof_jntid, np.unique(self.m.dof_jntid[moving]))

    def coordinates(self, joints: np.ndarray) -> np.ndarray:
        """Return the addresses in qpos of all coordinates of the joints."""
        counts = [POSITIONS.get(int(kind), 1) for kind in self.m.jnt_type[joints]]
        return np.concatenate(
            [np.arange(adr, adr + n) for adr, n in zip(self.m.jnt_qposadr[joints], counts, strict=True)]
        )
