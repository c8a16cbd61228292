"""Inverse inertia at ``qpos0``: how easily degrees of freedom, bodies and tendons move (mjModel: *_invweight0).

The joint-space inertia is block diagonal, one block a kinematic tree; blocks are factored densely.
"""

from __future__ import annotations

from collections.abc import Iterator
from copy import copy
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from cardan.constants import mjMINVAL
from cardan.dynamics.jacobian import is_sparse
from cardan.errors import MjcfError
from cardan.model.sparsity import inertia_colind, inertia_rowadr

if TYPE_CHECKING:
    from cardan.model.mjdata import MjData
    from cardan.model.mjmodel import MjModel

FloatArray = np.ndarray
_ONLY_SLIDES = 2  # body_simple of a body that slides along its principal axes: it counts as free to move


class Inertia:
    """The joint-space inertia of a data, factored: one lower triangular inverse a tree.

    Attributes:
        diagonal: diagonal of M (nv,).
        blocks: first and last dof of each tree, with the inverse of the Cholesky factor of its block.
    """

    def __init__(self, m: MjModel, d: MjData) -> None:
        self.nv = m.nv
        self.diagonal = np.asarray(d.qM)[m.dof_Madr] if m.nv else np.zeros(0)
        self.blocks: list[tuple[int, int, FloatArray]] = []
        packed, adr, column = np.asarray(d.qM), inertia_rowadr(m), inertia_colind(m)
        for first, last in _tree_ranges(m):
            block = np.zeros((last - first, last - first))
            for dof in range(first, last):
                row = slice(adr[dof], adr[dof + 1])
                block[dof - first, column[row] - first] = packed[row]
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
        xipos, com, root = np.asarray(d.xipos), np.asarray(d.subtree_com), m.body_rootid
        for body, half in self._half_motions(m, d):
            if m.body_simple[body] == _ONLY_SLIDES:
                weight[body, 0] = 1.0 / m.body_mass[body]
                continue
            translation = half[:, 3:] + np.cross(half[:, :3], xipos[body] - com[root[body]])
            weight[body, 0] = np.sum(translation**2) / 3.0
            weight[body, 1] = np.sum(half[:, :3] ** 2) / 3.0
        return weight

    def _half_motions(self, m: MjModel, d: MjData) -> Iterator[tuple[int, FloatArray]]:
        """Each body that can move, with F J', J its motion (spatial, at the centre of mass of its tree; 6, dofs).

        A body's J is its parent's and the axes of its own dofs, so that all of them together take O(nv^2).
        """
        cdof = np.asarray(d.cdof)
        unborn = np.bincount(m.body_parentid[1:], minlength=m.nbody)
        halves: dict[int, FloatArray] = {}
        block_of = {dof: block for block in self.blocks for dof in range(*block[:2])}
        for body in range(1, m.nbody):
            parent, start = int(m.body_parentid[body]), int(m.body_dofadr[body])
            unborn[parent] -= 1
            # the last child takes over the parent's memory
            half = halves.pop(parent, None) if unborn[parent] == 0 else copy(halves.get(parent))
            if m.body_dofnum[body]:
                first, last, factor = block_of[start]
                half = np.zeros((last - first, 6)) if half is None else half
                for dof in range(start, start + m.body_dofnum[body]):
                    top = dof - first + 1
                    half[:top] += factor[:top, dof - first, None] * cdof[dof]
            if half is not None:
                if unborn[body]:
                    halves[body] = half
                yield body, half


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
    """F with F' F = M^-1. Pivots of M = L' D L are at least mjMINVAL, so that a singular M has an answer.

    Raises MjcfError when that answer is no number.
    """
    n = len(block)
    try:
        # the Cholesky factor of M in reversed order is L' sqrt(D)
        lower = np.linalg.cholesky(block[::-1, ::-1])
        if n == 0 or np.min(np.diag(lower)) ** 2 >= mjMINVAL:
            return np.linalg.inv(lower)[::-1, ::-1]
    except np.linalg.LinAlgError:
        pass
    work = block.copy()
    pivots = np.zeros(n)
    for k in range(n - 1, -1, -1):
        pivots[k] = max(work[k, k], mjMINVAL)
        row = work[k, :k] / pivots[k]
        work[:k, :k] -= np.outer(row, work[k, :k])
        work[k, :k] = row
        work[k, k] = 1.0
    with np.errstate(over="ignore", invalid="ignore"):
        factor = _inverse_of_unit_lower(work).T / np.sqrt(pivots)[:, None]
    if not np.isfinite(factor).all():
        raise MjcfError("the inertia of a kinematic tree is so far from positive definite that its inverse overflows; "
                        "is an armature negative?")  # fmt: skip
    return factor


def _inverse_of_unit_lower(lower: FloatArray) -> FloatArray:
    """Inverse of a lower triangular matrix with ones on its diagonal, by forward substitution, however large it is."""
    inverse = np.eye(len(lower))
    for k in range(1, len(lower)):
        inverse[k, :k] = -lower[k, :k] @ inverse[:k, :k]
    return inverse


def _tree_ranges(m: MjModel) -> list[tuple[int, int]]:
    """First and last (excluded) dof of each kinematic tree."""
    trees = m.dof_treeid.tolist()
    starts = [dof for dof in range(m.nv) if dof == 0 or trees[dof] != trees[dof - 1]]
    return list(pairwise([*starts, m.nv]))
