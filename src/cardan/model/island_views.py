"""Fields of MuJoCo 4.0 that belong to single constraint islands, and the whitened Jacobian.

Quantities of trees, dofs and constraint rows are sorted by island; trees and dofs without an island come last.
Functions take a finished model and its data. Without islands, orders are zero and lists by island are empty.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from cardan.enums.codes import CNSTR_EQUALITY, CNSTR_FRICTION_DOF, CNSTR_FRICTION_TENDON, SOL_PGS
from cardan.model import internals
from cardan.model.sparsity import dof_chain

if TYPE_CHECKING:
    from collections.abc import Callable

    from cardan.model.mjdata import MjData
    from cardan.model.mjmodel import MjModel

    Compute = Callable[[MjModel, MjData], np.ndarray]

FRICTION = (CNSTR_FRICTION_DOF, CNSTR_FRICTION_TENDON)


def _islands(m: MjModel, d: MjData, kind: str) -> np.ndarray:
    """Return the island of each ``"tree"``, ``"dof"`` or row (``"efc"``); -1: none."""
    if kind == "efc":
        return d.efc_island if d.nisland else np.full(d.nefc, -1)
    dofs = d.dof_island if d.nisland else np.full(m.nv, -1)
    if kind == "dof":
        return dofs
    found = np.full(m.ntree, -1)
    np.maximum.at(found, m.dof_treeid, dofs)
    return found


def _nothing(size: int, dtype: np.typing.DTypeLike = np.int32, value: int = 0) -> np.ndarray:
    """Return a read-only array that replaces memory that 4.0.0 has not allocated."""
    array = np.full(size, value, dtype)
    array.flags.writeable = False
    return array


def trees(m: MjModel, d: MjData) -> np.ndarray:
    """Return the island of each tree, or -1 (ntree,)."""
    return _islands(m, d, "tree").astype(np.int32) if d.nisland else _nothing(m.ntree, value=-1)


def dofs(m: MjModel, d: MjData) -> np.ndarray:
    """Return the island of each dof, or -1 (nv,)."""
    return internals.array(d, "dof_island") if d.nisland else _nothing(m.nv, value=-1)


def rows(m: MjModel, d: MjData) -> np.ndarray:
    """Return the island of each constraint row (nefc,); without islands, zeros."""
    return internals.array(d, "efc_island")[: d.nefc] if d.nisland else _nothing(d.nefc)


def tendon_rows(m: MjModel, d: MjData) -> np.ndarray:
    """Return the first constraint row of each tendon, or -1 (ntendon,)."""
    return internals.array(d, "tendon_efcadr") if d.nefc else _nothing(m.ntendon, value=-1)


def order(kind: str) -> Compute:
    """Return the function that sorts trees, dofs or rows by island: index in the order of islands → id."""

    def compute(m: MjModel, d: MjData) -> np.ndarray:
        island = _islands(m, d, kind)
        if not d.nisland:
            return _nothing(len(island))
        return np.argsort(np.where(island < 0, d.nisland, island), kind="stable").astype(np.int32)

    return compute


def place(kind: str) -> Compute:
    """Return the function that inverts `order`: id → index in the order of islands."""
    ordered = order(kind)

    def compute(m: MjModel, d: MjData) -> np.ndarray:
        ids = ordered(m, d)
        if not d.nisland:
            return ids
        places = np.zeros_like(ids)
        places[ids] = np.arange(len(ids))
        return places

    return compute


def count(kind: str) -> Compute:
    """Return the function that counts the trees, dofs or rows of each island (nisland,)."""
    return lambda m, d: _counted(_islands(m, d, kind), d.nisland)


def start(kind: str) -> Compute:
    """Return the function that finds where each island starts in the order of islands (nisland,)."""

    def compute(m: MjModel, d: MjData) -> np.ndarray:
        number = _counted(_islands(m, d, kind), d.nisland)
        return (np.cumsum(number) - number).astype(np.int32)

    return compute


def _counted(island: np.ndarray, nisland: int) -> np.ndarray:
    return np.bincount(island[island >= 0], minlength=nisland)[:nisland].astype(np.int32)


def first_dofs(m: MjModel, d: MjData) -> np.ndarray:
    """Return the first dof of each island (nisland,)."""
    return order("dof")(m, d)[start("dof")(m, d)]


def equalities(m: MjModel, d: MjData) -> np.ndarray:
    """Return the number of rows of equality constraints of each island (nisland,)."""
    return _counted(_islands(m, d, "efc")[d.efc_type == CNSTR_EQUALITY], d.nisland)


def frictions(m: MjModel, d: MjData) -> np.ndarray:
    """Return the number of rows of friction loss of each island (nisland,)."""
    return _counted(_islands(m, d, "efc")[np.isin(d.efc_type, FRICTION)], d.nisland)


def number_of_dofs(m: MjModel, d: MjData) -> int:
    """Return the number of dofs of all islands."""
    return int(np.count_nonzero(_islands(m, d, "dof") >= 0))


def of_rows(name: str) -> Compute:
    """Return the function that sorts a field of constraint rows by island (nefc,)."""

    def compute(m: MjModel, d: MjData) -> np.ndarray:
        values = getattr(d, name)
        return values[order("efc")(m, d)] if d.nisland else _nothing(len(values), values.dtype)

    return compute


def of_dofs(name: str) -> Compute:
    """Return the function that sorts a field of dofs by island, without dofs that have no island (nidof,)."""
    return lambda m, d: getattr(d, name)[order("dof")(m, d)[: number_of_dofs(m, d)]]


# the whitened Jacobian ----------------------------------------------------------


def _is_dual(m: MjModel) -> bool:
    """Return whether the solver works on forces, so that 4.0.0 has the whitened Jacobian."""
    return internals.number(m, "opt.solver") == SOL_PGS or m.opt.noslip_iterations > 0


def whitened(m: MjModel, d: MjData) -> np.ndarray:
    """Return Y = J L⁻¹ D⁻¹ᐟ² for M = Lᵀ D L, so that Y Yᵀ = J M⁻¹ Jᵀ; dense (nefc, nv).

    Only the projected Gauss-Seidel and no-slip solvers have it; for others, the result has no rows.
    """
    if not _is_dual(m):
        return np.zeros((0, m.nv))
    rows = _dense_jacobian(m, d).T.copy()  # a column for each row of the Jacobian
    factor, parents, simple = internals.array(d, "qLD"), m.dof_parentid.tolist(), m.dof_simplenum.tolist()
    for dof in range(m.nv - 1, -1, -1):
        address = int(m.dof_Madr[dof])
        for k, ancestor in enumerate([] if simple[dof] else dof_chain(parents, dof)[1:]):
            rows[ancestor] -= factor[address + 1 + k] * rows[dof]
        rows[dof] /= np.sqrt(factor[address])
    return rows.T


def _dense_jacobian(m: MjModel, d: MjData) -> np.ndarray:
    if d.efc_J.size == d.nefc * m.nv and not d.efc_J_rownnz.any():
        return np.reshape(d.efc_J, (d.nefc, m.nv))
    full = np.zeros((d.nefc, m.nv))
    for row, (n, first) in enumerate(zip(d.efc_J_rownnz.tolist(), d.efc_J_rowadr.tolist(), strict=True)):
        full[row, d.efc_J_colind[first : first + n]] = d.efc_J[first : first + n]
    return full


def _columns(m: MjModel, d: MjData) -> list[list[int]]:
    """Return the dofs of each sparse row of Y: those of the Jacobian's row and their ancestors; empty if dense."""
    if not _is_dual(m) or not d.efc_J_rownnz.any():
        return [[] for _ in range(d.nefc)]
    parents: list[int] = m.dof_parentid.tolist()
    ends = zip(d.efc_J_rownnz.tolist(), d.efc_J_rowadr.tolist(), strict=True)
    stored = [d.efc_J_colind[first : first + n].tolist() for n, first in ends]
    return [sorted({dof for column in row for dof in dof_chain(parents, column)}) for row in stored]


def whitened_values(m: MjModel, d: MjData) -> np.ndarray:
    """Return the stored elements of Y (nY,): all of them if the Jacobian is dense."""
    full, columns = whitened(m, d), _columns(m, d)
    if not any(columns):
        return full.ravel()
    return np.concatenate([full[row, dofs] for row, dofs in enumerate(columns)])


def whitened_pattern(part: str) -> Compute:
    """Return the function that computes a part of the pattern of Y: ``"rownnz"``, ``"rowadr"`` or ``"colind"``."""

    def compute(m: MjModel, d: MjData) -> np.ndarray:
        columns = _columns(m, d)
        if part != "colind" and not any(columns):
            return _nothing(d.nefc)
        length = np.array([len(row) for row in columns], np.int32)
        if part == "rownnz":
            return length
        if part == "rowadr":
            return (np.cumsum(length) - length).astype(np.int32)
        if not any(columns):
            return _nothing(d.nefc * m.nv if _is_dual(m) else 0)
        return np.array([dof for row in columns for dof in row], np.int32)

    return compute


def number_of_pairs(m: MjModel, d: MjData) -> int:
    """Return the number of pairs of rows that share a dof of Y: elements of J M⁻¹ Jᵀ that can differ from 0."""
    if not _is_dual(m):
        return 0
    columns = _columns(m, d)
    if not any(columns):
        return d.nefc**2
    uses = np.zeros((d.nefc, m.nv))
    for row, dofs in enumerate(columns):
        uses[row, dofs] = 1.0
    return int(np.count_nonzero(uses @ uses.T))
