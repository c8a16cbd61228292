"""Inverse inertia at ``qpos0``: how easily degrees of freedom, bodies and tendons move (mjModel: *_invweight0).

The joint-space inertia is block diagonal, one block a kinematic tree; blocks are factored densely.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from cardan.constants import mjMINVAL
from cardan.dynamics.jacobian import is_sparse

if TYPE_CHECKING:
    from cardan.model.mjdata import MjData
    from cardan.model.mjmodel import MjModel

FloatArray = np.ndarray
_ONLY_SLIDES = 2  # body_simple of a body that slides along its principal axes: it counts as free to move


class Inertia:
    """The joint-space inertia of a data, factored: one lower triangular inverse a tree.

    Attributes:
    ----------
    diagonal: diagonal of M (nv,).
    blocks: first and last dof of each tree, with the inverse of the Cholesky factor of its block.
    """

    def __init__(self, m: MjModel, d: MjData) -> None:
        self.nv = m.nv
        self.chains = _ancestor_dofs(m)
        self.diagonal = np.asarray(d.qM)[m.dof_Madr] if m.nv else np.zeros(0)
        self.blocks: list[tuple[int, int, FloatArray]] = []
        packed, adr = np.asarray(d.qM), m.dof_Madr
        for first, last in _tree_ranges(m):
            block = np.zeros((last - first, last - first))
            for dof in range(first, last):
                chain = self.chains[dof]
                block[dof - first, chain - first] = packed[adr[dof] : adr[dof] + len(chain)]
            block += np.tril(block, -1).T
            self.blocks.append((first, last, _inverse_factor(block)))

    def solve(self, columns: FloatArray) -> FloatArray:
        """M^-1 times the columns (nv, n)."""
        result = np.zeros(columns.shape)
        for first, last, factor in self.blocks:
            result[first:last] = factor.T @ (factor @ columns[first:last])
        return result

    def weights(self, rows: FloatArray) -> FloatArray:
        """J M^-1 J' for each row J (n, nv) alone."""
        result = np.zeros(len(rows))
        for first, last, factor in self.blocks:
            result += np.sum((rows[:, first:last] @ factor.T) ** 2, axis=1)
        return result

    def dof_invweight(self, m: MjModel) -> FloatArray:
        """Diagonal of M^-1, averaged over the translations and over the rotations of a free or ball joint (nv,)."""
        weight = np.zeros(self.nv)
        for first, last, factor in self.blocks:
            weight[first:last] = np.sum(factor**2, axis=0)
        sliding = m.body_simple[m.dof_bodyid] == _ONLY_SLIDES
        weight[sliding] = 1.0 / m.body_mass[m.dof_bodyid[sliding]]
        for kind, parts in ((0, (0, 3)), (1, (0,))):
            for adr in m.jnt_dofadr[m.jnt_type == kind]:
                for part in parts:
                    weight[adr + part : adr + part + 3] = weight[adr + part : adr + part + 3].mean()
        return weight

    def body_invweight(self, m: MjModel, d: MjData) -> FloatArray:
        """Mean translational and rotational inverse weight of each body at its centre of mass (nbody, 2)."""
        weight = np.zeros((m.nbody, 2))
        last_dofs = _last_dofs(m)
        xipos, com, root = np.asarray(d.xipos), np.asarray(d.subtree_com), m.body_rootid
        tree_of = {first: (last, factor) for first, last, factor in self.blocks}
        starts = sorted(tree_of)
        for body in range(1, m.nbody):
            if last_dofs[body] < 0:
                continue
            if m.body_simple[body] == _ONLY_SLIDES:
                weight[body, 0] = 1.0 / m.body_mass[body]
                continue
            chain = self.chains[last_dofs[body]]
            first = starts[int(np.searchsorted(starts, chain[-1], side="right")) - 1]
            factor = tree_of[first][1]
            cdof = np.asarray(d.cdof)[chain]
            offset = xipos[body] - com[root[body]]
            rotation = cdof[:, :3]
            translation = cdof[:, 3:] + np.cross(rotation, offset)
            half = factor[:, chain - first]
            weight[body, 0] = np.sum((half @ translation) ** 2) / 3.0
            weight[body, 1] = np.sum((half @ rotation) ** 2) / 3.0
        return weight


def tendon_jacobian(m: MjModel, d: MjData) -> FloatArray:
    """Jacobian of tendon lengths (ntendon, nv), from either storage of `ten_J`."""
    jacobian = np.asarray(d.ten_J)
    if not is_sparse(m):
        return jacobian.copy()
    rows = np.zeros((m.ntendon, m.nv))
    values, cols = jacobian.ravel(), np.asarray(d.ten_J_colind).ravel()
    for row, adr, number in zip(rows, d.ten_J_rowadr, d.ten_J_rownnz, strict=True):
        row[cols[adr : adr + number]] = values[adr : adr + number]
    return rows


def _inverse_factor(block: FloatArray) -> FloatArray:
    """F with F' F = M^-1. Pivots of M = L' D L are at least mjMINVAL, so that a singular M has an answer."""
    work = block.copy()
    n = len(work)
    pivots = np.zeros(n)
    for k in range(n - 1, -1, -1):
        pivots[k] = max(work[k, k], mjMINVAL)
        row = work[k, :k] / pivots[k]
        work[:k, :k] -= np.outer(row, work[k, :k])
        work[k, :k] = row
        work[k, k] = 1.0
    lower = np.tril(work)
    return np.linalg.inv(lower).T / np.sqrt(pivots)[:, None]


def _ancestor_dofs(m: MjModel) -> list[FloatArray]:
    """For each dof, itself and its ancestors, from the leaf up: the columns of its row of M."""
    chains: list[list[int]] = []
    for dof, parent in enumerate(m.dof_parentid.tolist()):
        chains.append([dof, *chains[parent]] if parent >= 0 else [dof])
    return [np.array(chain) for chain in chains]


def _tree_ranges(m: MjModel) -> list[tuple[int, int]]:
    """First and last (excluded) dof of each kinematic tree."""
    trees = m.dof_treeid.tolist()
    starts = [dof for dof in range(m.nv) if dof == 0 or trees[dof] != trees[dof - 1]]
    return list(pairwise([*starts, m.nv]))


def _last_dofs(m: MjModel) -> list[int]:
    """The last dof that moves each body, -1 for none."""
    last: list[int] = []
    parents = m.body_parentid.tolist()
    for body, (adr, number) in enumerate(zip(m.body_dofadr.tolist(), m.body_dofnum.tolist(), strict=True)):
        last.append(adr + number - 1 if number else last[parents[body]] if body else -1)
    return last
