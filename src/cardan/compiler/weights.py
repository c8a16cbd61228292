"""Inverse inertia at ``qpos0``: how easily degrees of freedom, bodies and tendons move (mjModel: *_invweight0).

The joint-space inertia is block diagonal, one block a kinematic tree. Each has a factor F with F' F = M^-1: dense, or,
where a tree has many short branches (a cloth on a moving body), sparse, since F has the sparsity of M (R. Featherstone,
Efficient factorization of the joint-space inertia matrix for branched kinematic trees, IJRR 24, 2005).
"""

from __future__ import annotations

from collections.abc import Iterator
from copy import copy
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from cardan.constants import mjMINVAL
from cardan.dynamics.inertia import factor_m
from cardan.dynamics.jacobian import is_sparse
from cardan.errors import FatalError, MjcfError
from cardan.jit import Program
from cardan.model.sparsity import inertia_colind, inertia_rowadr

if TYPE_CHECKING:
    from cardan.model.mjdata import MjData
    from cardan.model.mjmodel import MjModel

FloatArray = np.ndarray
_FACTOR = Program((factor_m,))
# of trees with a sparse factor: dofs, and how many times fewer entries than a full matrix has
_MANY, _SPARSE = 200, 20
_ONLY_SLIDES = 2  # body_simple of a body that slides along its principal axes: it counts as free to move


class Inertia:
    """The joint-space inertia of a data, factored: one lower triangular inverse a tree.

    Attributes:
        diagonal: diagonal of M (nv,).
        blocks: first and last dof of each tree, with F.
    """

    def __init__(self, m: MjModel, d: MjData) -> None:
        self.nv = m.nv
        self.diagonal = np.asarray(d.qM)[m.dof_Madr] if m.nv else np.zeros(0)
        self.blocks: list[tuple[int, int, DenseFactor | SparseFactor | DiagonalFactor]] = []
        packed, adr, column = np.asarray(d.qM), inertia_rowadr(m), inertia_colind(m)
        for first, last, diagonal in _tree_ranges(m, packed):
            if diagonal:
                self.blocks.append((first, last, DiagonalFactor(self.diagonal[first:last])))
                continue
            if _is_bushy(last - first, int(adr[last] - adr[first])):
                self.blocks.append((first, last, SparseFactor(m, d, adr, first, last)))
                continue
            block = np.zeros((last - first, last - first))
            for dof in range(first, last):
                row = slice(adr[dof], adr[dof + 1])
                block[dof - first, column[row] - first] = packed[row]
            block += np.tril(block, -1).T
            self.blocks.append((first, last, DenseFactor(block)))

    def solve(self, columns: FloatArray) -> FloatArray:
        """M^-1 times the columns (nv, n)."""
        result = np.zeros(columns.shape)
        for first, last, factor in self.blocks:
            half = factor.times(columns[first:last])
            result[first:last] = factor.transposed_times(half)
        return result

    def weights(self, rows: FloatArray) -> FloatArray:
        """J M^-1 J' for each row J (n, nv) alone."""
        result = np.zeros(len(rows))
        for first, last, factor in self.blocks:
            result += np.sum(factor.times(rows[:, first:last].T) ** 2, axis=0)
        return result

    def dof_invweight(self, m: MjModel) -> FloatArray:
        """Diagonal of M^-1, averaged over the translations and over the rotations of a free or ball joint (nv,)."""
        weight = np.zeros(self.nv)
        for first, last, factor in self.blocks:
            weight[first:last] = factor.squares()
        sliding = m.body_simple[m.dof_bodyid] == _ONLY_SLIDES
        weight[sliding] = 1.0 / _mass(m, m.dof_bodyid[sliding])
        for kind, parts in ((0, (0, 3)), (1, (0,))):
            for adr in m.jnt_dofadr[m.jnt_type == kind]:
                for part in parts:
                    weight[adr + part : adr + part + 3] = weight[adr + part : adr + part + 3].mean()
        return weight

    def body_invweight(self, m: MjModel, d: MjData) -> FloatArray:
        """Mean translational and rotational inverse weight of each body at its centre of mass (nbody, 2)."""
        weight = np.zeros((m.nbody, 2))
        arms = (d.xipos - d.subtree_com[m.body_rootid]).tolist()
        sliding = m.body_simple == _ONLY_SLIDES
        weight[sliding, 0] = 1.0 / _mass(m, np.flatnonzero(sliding))
        for body, half in self._half_motions(m, d):
            x, y, z = arms[body]
            rotation = half[:, :3]
            # rotation x arm, by the matrix of the cross product
            translation = half[:, 3:] + rotation @ np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
            weight[body, 0] = np.vdot(translation, translation) / 3.0
            weight[body, 1] = np.vdot(rotation, rotation) / 3.0
        return weight

    def _half_motions(self, m: MjModel, d: MjData) -> Iterator[tuple[int, FloatArray]]:
        """Each body that can move, but for those that only slide, with F J', J its motion.

        The motion is spatial, at the centre of mass of the tree; F J' has the shape (dofs of the tree, 6). A body's J
        is its parent's and the axes of its own dofs, so that all of them together take O(nv^2).
        """
        cdof = np.asarray(d.cdof)
        unborn = np.bincount(m.body_parentid[1:], minlength=m.nbody)
        halves: dict[int, FloatArray] = {}
        block_of = {dof: block for block in self.blocks for dof in range(*block[:2])}
        rows = zip(m.body_parentid.tolist(), m.body_dofadr.tolist(), m.body_simple.tolist(), strict=True)
        for body, (parent, start, simple) in enumerate(rows):
            if body == 0 or simple == _ONLY_SLIDES:
                continue
            unborn[parent] -= 1
            # the last child takes over the parent's memory
            half = halves.pop(parent, None) if unborn[parent] == 0 else copy(halves.get(parent))
            if m.body_dofnum[body]:
                first, last, factor = block_of[start]
                half = np.zeros((last - first, 6)) if half is None else half
                for dof in range(start, start + m.body_dofnum[body]):
                    places, values = factor.column(dof - first)
                    half[places] += values[:, None] * cdof[dof]
            if half is not None:
                if unborn[body]:
                    halves[body] = half
                yield body, half


def _mass(m: MjModel, bodies: np.ndarray) -> FloatArray:
    """Masses of bodies that slide, `mjMINVAL` at least."""
    massless = bodies[m.body_mass[bodies] == 0.0]
    if len(massless):
        raise FatalError(f"mj_setConst: moving body {massless[0]} has mass 0; it must be positive")
    return np.maximum(m.body_mass[bodies], mjMINVAL)


class DiagonalFactor:
    """F of bodies that slide, each along its own axes: one number a dof."""

    def __init__(self, diagonal: FloatArray) -> None:
        self._scale = 1.0 / np.sqrt(np.maximum(diagonal, mjMINVAL))

    def times(self, columns: FloatArray) -> FloatArray:
        """F times the columns (n, any)."""
        return self._scale[:, None] * columns

    transposed_times = times

    def squares(self) -> FloatArray:
        """Sum of the squares in each column."""
        return self._scale**2

    def column(self, dof: int) -> tuple[Any, FloatArray]:
        """Places and values of one column."""
        return slice(dof, dof + 1), self._scale[dof : dof + 1]


class _MatrixFactor:
    """F as a matrix."""

    matrix: Any

    def times(self, columns: FloatArray) -> FloatArray:
        """F times the columns (n, any)."""
        return self.matrix @ columns

    def transposed_times(self, columns: FloatArray) -> FloatArray:
        """F' times the columns (n, any)."""
        return self.matrix.T @ columns


class DenseFactor(_MatrixFactor):
    """F of a tree, as a full matrix; it is upper triangular."""

    def __init__(self, block: FloatArray) -> None:
        self.matrix = _inverse_factor(block)

    def squares(self) -> FloatArray:
        """Sum of the squares in each column."""
        return np.sum(self.matrix**2, axis=0)

    def column(self, dof: int) -> tuple[Any, FloatArray]:
        """Places and values of one column."""
        return slice(0, dof + 1), self.matrix[: dof + 1, dof]


class SparseFactor(_MatrixFactor):
    """F of a tree in which few dofs are above each dof: D^-1/2 L'^-1 with M = L' D L, from the engine's own factor.

    Column i of L'^-1 has entries for dof i and those above it: e_i minus the columns of these, weighted by row i of L.
    """

    def __init__(self, m: MjModel, d: MjData, adr: np.ndarray, first: int, last: int) -> None:
        _FACTOR.run(m, d)
        packed, scale = np.asarray(d.qLD), np.sqrt(np.asarray(d.qLDiagInv))
        parents = m.dof_parentid
        chains: dict[int, tuple[np.ndarray, np.ndarray]] = {-1: (np.zeros(0, int), np.zeros((0, 0)))}
        above = set(parents[first:last].tolist())
        starts, places, values = [0], [], []
        for dof in range(first, last):
            chain, inverse = chains[int(parents[dof])]
            # row of L, from the root of the tree down
            row = packed[adr[dof] + 1 : adr[dof + 1]][::-1]
            column = np.append(-(row @ inverse), 1.0)
            chain = np.append(chain, dof)
            if dof in above:
                grown = np.zeros((len(chain), len(chain)))
                grown[:-1, :-1], grown[-1] = inverse, column
                chains[dof] = chain, grown
            places.append(chain - first)
            values.append(column * scale[chain])
            starts.append(starts[-1] + len(chain))
        from scipy.sparse import csc_array  # slow to import, and few models need it

        self._starts, self._places = starts, np.concatenate(places)
        self._values = _finite(np.concatenate(values))
        size = last - first
        self.matrix = csc_array((self._values, self._places, starts), shape=(size, size))

    def squares(self) -> FloatArray:
        """Sum of the squares in each column."""
        return np.add.reduceat(self._values**2, self._starts[:-1])

    def column(self, dof: int) -> tuple[Any, FloatArray]:
        """Places and values of one column."""
        part = slice(self._starts[dof], self._starts[dof + 1])
        return self._places[part], self._values[part]


def _is_bushy(dofs: int, entries: int) -> bool:
    """Whether the sparse factor of a tree is the faster one; ``entries`` are those of its triangle of M."""
    return dofs >= _MANY and entries * _SPARSE <= dofs * dofs


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

    Raises:
        MjcfError: that answer is no number.
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
        return _finite(_inverse_of_unit_lower(work).T / np.sqrt(pivots)[:, None])


def _finite(factor: FloatArray) -> FloatArray:
    """Numbers of a factor, when they are numbers. Raises MjcfError otherwise."""
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


def _tree_ranges(m: MjModel, packed: FloatArray) -> list[tuple[int, int, bool]]:
    """First and last (excluded) dof of each kinematic tree.

    Neighbouring trees of one body that slides, and has a diagonal inertia, are one range; the third entry tells which.
    """
    if not m.nv:
        return []
    beside = packed.copy()
    beside[m.dof_Madr] = 0.0
    sliding = m.body_simple[m.dof_bodyid] == _ONLY_SLIDES
    diagonal = sliding & (np.add.reduceat(np.abs(beside), m.dof_Madr) == 0.0)
    # a tree is diagonal if all its rows are
    starts = np.flatnonzero(np.append(True, np.diff(m.dof_treeid) != 0))
    alike = np.logical_and.reduceat(diagonal, starts)
    begins = np.append(True, ~(alike[1:] & alike[:-1]))
    bounds = [*starts[begins].tolist(), m.nv]
    return [(*pair, kind) for pair, kind in zip(pairwise(bounds), alike[begins].tolist(), strict=True)]
