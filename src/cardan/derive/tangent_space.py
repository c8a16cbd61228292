"""Directions of configurations: between tangents of qpos (nq) and those in the space of the velocities (nv).

A rotation changes by a rotation vector in its own frame: dq = q (0, w) / 2 (spec: computation, floating objects).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from cardan.enums import mjtJoint

if TYPE_CHECKING:
    from cardan.model.mjmodel import MjModel


class TangentSpace:
    """The places of scalar coordinates and of quaternions in qpos and qvel of a model."""

    def __init__(self, m: MjModel) -> None:
        self.nq, self.nv = m.nq, m.nv
        scalars: list[tuple[int, int]] = []
        quats: list[tuple[int, int]] = []
        for kind, adr, dof in zip(m.jnt_type.tolist(), m.jnt_qposadr.tolist(), m.jnt_dofadr.tolist(), strict=True):
            if kind == mjtJoint.mjJNT_FREE:
                scalars += [(adr + k, dof + k) for k in range(3)]
                quats.append((adr + 3, dof + 3))
            elif kind == mjtJoint.mjJNT_BALL:
                quats.append((adr, dof))
            else:
                scalars.append((adr, dof))
        self.scalar_adr, self.scalar_dof = np.array(scalars, np.intp).reshape(-1, 2).T
        self.quat_adr, self.quat_dof = np.array(quats, np.intp).reshape(-1, 2).T

    def _frames(self, qpos: np.ndarray) -> np.ndarray:
        """For each quaternion q the matrix of w -> q (0, w): (n, 4, 3)."""
        w, x, y, z = qpos[self.quat_adr[:, None] + np.arange(4)].T
        rows = np.array([[-x, -y, -z], [w, -z, y], [z, w, -x], [-y, x, w]])
        return rows.transpose(2, 0, 1)

    def basis(self, qpos: np.ndarray) -> np.ndarray:
        """Tangents of qpos along each dof: (nq, nv)."""
        result = np.zeros((self.nq, self.nv))
        result[self.scalar_adr, self.scalar_dof] = 1.0
        if len(self.quat_adr):
            rows = self.quat_adr[:, None, None] + np.arange(4)[:, None]
            result[rows, self.quat_dof[:, None, None] + np.arange(3)] = 0.5 * self._frames(qpos)
        return result

    def coordinates(self, qpos: np.ndarray, tangents: np.ndarray) -> np.ndarray:
        """Tangents of qpos, (nq, n), at a configuration with unit quaternions, in the space of velocities (nv, n)."""
        result = np.zeros((self.nv, tangents.shape[1]))
        result[self.scalar_dof] = tangents[self.scalar_adr]
        if len(self.quat_adr):
            parts = tangents[self.quat_adr[:, None] + np.arange(4)]
            result[self.quat_dof[:, None] + np.arange(3)] = 2.0 * np.einsum("nij,nik->njk", self._frames(qpos), parts)
        return result
