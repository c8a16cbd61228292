"""Sparse matrices in the form of MuJoCo 4.0: rows of stored elements, whose patterns belong to the model.

Patterns are tuples: number of elements of each row, address of its first element, columns; some with further tables.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from cardan.enums import mjtTendon, mjtTrn, mjtWrap
from cardan.maths.quaternion import mul_quat
from cardan.model import internals
from cardan.model.sparsity import dof_chain
from cardan.model.tendon_sparsity import moment_rows, tendon_rows

if TYPE_CHECKING:
    from cardan.model.mjdata import MjData
    from cardan.model.mjmodel import MjModel

Pattern = tuple[np.ndarray, ...]


def _kept(m: MjModel, name: str, make: Any) -> Any:
    kept = internals.kept(m)
    if name not in kept:
        kept[name] = make()
    return kept[name]


def _pattern(rows: list[list[int]]) -> Pattern:
    """Return the pattern with the given columns of each row."""
    length = np.array([len(row) for row in rows], np.int32)
    start = (np.cumsum(length) - length).astype(np.int32)
    return length, start, np.array([column for row in rows for column in row], np.int32)


def inertia(m: MjModel) -> Pattern:
    """Return the pattern of the lower triangle of the inertia matrix, and the position in ``qM`` of each element.

    A dof of a simple body has only its diagonal element.
    """

    def make() -> Pattern:
        parents, rows, places = m.dof_parentid.tolist(), [], []
        for dof, (simple, start) in enumerate(zip(m.dof_simplenum.tolist(), m.dof_Madr.tolist(), strict=True)):
            row = [dof] if simple else dof_chain(parents, dof)[::-1]
            rows.append(row)
            places += range(start + len(row) - 1, start - 1, -1)
        return *_pattern(rows), np.array(places, np.int32)

    return _kept(m, "M_pattern", make)


def full_inertia(m: MjModel) -> Pattern:
    """Return the pattern of both triangles of the inertia matrix, and the position of the diagonal in each row."""

    def make() -> Pattern:
        parents: list[int] = m.dof_parentid.tolist()
        rows: list[list[int]] = [dof_chain(parents, dof)[::-1] for dof in range(m.nv)]
        diagonal = np.array([len(row) - 1 for row in rows], np.int32)
        for dof in range(m.nv):
            for ancestor in dof_chain(parents, dof)[1:]:
                rows[ancestor].append(dof)
        return *_pattern(rows), diagonal

    return _kept(m, "D_pattern", make)


def _places(pattern: Pattern) -> dict[tuple[int, int], int]:
    """Return the position of each stored element, by row and column."""
    rows = np.repeat(np.arange(len(pattern[0])), pattern[0]).tolist()
    return {key: place for place, key in enumerate(zip(rows, pattern[2].tolist(), strict=True))}


def reduced_to_full(m: MjModel) -> np.ndarray:
    """Return the position in M of each element of D, or -1."""
    places = _places(inertia(m))
    return np.array([places.get((max(key), min(key)), -1) for key in _places(full_inertia(m))], np.int32)


def full_to_reduced(m: MjModel) -> np.ndarray:
    """Return the position in D of each element of M."""
    places = _places(full_inertia(m))
    return np.array([places[key] for key in _places(inertia(m))], np.int32)


def bodies(m: MjModel) -> Pattern:
    """Return the pattern of the body-dof matrix: dofs that move a body, or bodies below it."""

    def make() -> Pattern:
        parents, moved = m.dof_parentid.tolist(), [set[int]() for _ in range(m.nbody)]
        for body in range(m.nbody - 1, 0, -1):
            own = range(m.body_dofadr[body], m.body_dofadr[body] + m.body_dofnum[body])
            moved[body].update(own)
            moved[m.body_parentid[body]] |= moved[body]
        above = internals.array(m, "aux.body_lastdof")
        rows = [sorted(moved[b].union(dof_chain(parents, int(above[b])))) for b in range(m.nbody)]
        return _pattern(rows)

    return _kept(m, "B_pattern", make)


def tendons(m: MjModel) -> Pattern:
    """Return the pattern of the Jacobian of tendons."""

    def make() -> Pattern:
        rows = tendon_rows(m)
        return np.diff(rows.stored_adr), rows.stored_adr[:-1].copy(), rows.stored_colind

    return _kept(m, "ten_J_pattern", make)


def moments(m: MjModel) -> Pattern:
    """Return the pattern of the moments of actuators.

    Rows of tendons have the dofs of the tendon's Jacobian. Rows of cranks have all dofs that move one of the two sites.
    """

    def make() -> Pattern:
        _, start, columns = tendons(m) if m.ntendon else (None, np.zeros(0, int), np.zeros(0, int))
        ends, rows = [*start.tolist(), len(columns)], moment_rows(m)
        targets, last, parents = m.actuator_trnid.tolist(), internals.array(m, "aux.body_lastdof"), m.dof_parentid
        for actuator, kind in enumerate(m.actuator_trntype.tolist()):
            first, second = targets[actuator]
            out = m.actuator_outadr[actuator]
            if kind == mjtTrn.mjTRN_TENDON:
                rows[out] = columns[ends[first] : ends[first + 1]].tolist()
            elif kind == mjtTrn.mjTRN_SLIDERCRANK:
                chains = [dof_chain(parents.tolist(), int(last[m.site_bodyid[site]])) for site in (first, second)]
                rows[out] = sorted({*chains[0], *chains[1]})
        return _pattern([[int(dof) for dof in row] for row in rows])

    return _kept(m, "moment_pattern", make)


def tendon_types(m: MjModel) -> np.ndarray:
    """Return the types of tendons (mjtTendon)."""
    joint = int(mjtWrap.mjWRAP_JOINT)
    fixed, spatial = int(mjtTendon.mjTENDON_FIXED), int(mjtTendon.mjTENDON_SPATIAL)
    first = m.wrap_type[m.tendon_adr] if m.ntendon else np.zeros(0, int)
    return np.where(first == joint, fixed, spatial).astype(np.int32)


def _gathered(pattern: Pattern, dense: np.ndarray) -> np.ndarray:
    return dense[np.repeat(np.arange(len(pattern[0])), pattern[0]), pattern[2]]


def inertia_matrix(m: MjModel, d: MjData) -> np.ndarray:
    """Return the lower triangle of the inertia matrix in the pattern of `inertia`."""
    return d.qM[inertia(m)[3]]


def set_inertia(m: MjModel, d: MjData, values: np.ndarray) -> None:
    """Write values in the pattern of `inertia` into ``qM``."""
    d.qM[inertia(m)[3]] = values


def set_factor(m: MjModel, d: MjData, values: np.ndarray) -> None:
    """Write values in the pattern of `inertia` into the factor of the inertia matrix."""
    internals.array(d, "qLD")[inertia(m)[3]] = values


def set_actuator_moment(m: MjModel, d: MjData, values: np.ndarray) -> None:
    """Write values in the pattern of `moments` into the moments of actuators."""
    pattern = moments(m)
    internals.array(d, "actuator_moment")[np.repeat(np.arange(len(pattern[0])), pattern[0]), pattern[2]] = values


def factor(m: MjModel, d: MjData) -> np.ndarray:
    """Return the factor of the inertia matrix in the pattern of `inertia`."""
    return internals.array(d, "qLD")[inertia(m)[3]]


def tendon_jacobian(m: MjModel, d: MjData) -> np.ndarray:
    """Return the Jacobian of tendons in the pattern of `tendons`."""
    dense = internals.array(d, "ten_J")
    length, start = internals.array(d, "ten_J_rownnz"), internals.array(d, "ten_J_rowadr")
    if not length.any():
        return _gathered(tendons(m), dense)
    columns, values, full = internals.array(d, "ten_J_colind").ravel(), dense.ravel(), np.zeros_like(dense)
    for tendon, (n, first) in enumerate(zip(length.tolist(), start.tolist(), strict=True)):
        full[tendon, columns[first : first + n]] = values[first : first + n]
    return _gathered(tendons(m), full)


def set_tendon_jacobian(m: MjModel, d: MjData, values: np.ndarray) -> None:
    """Write values in the pattern of `tendons` into the Jacobian of tendons, in the storage that the data has."""
    dense, pattern = internals.array(d, "ten_J"), tendons(m)
    full = np.zeros_like(dense)
    full[np.repeat(np.arange(len(pattern[0])), pattern[0]), pattern[2]] = values
    length, start = internals.array(d, "ten_J_rownnz"), internals.array(d, "ten_J_rowadr")
    if not length.any():
        dense[...] = full
        return
    columns, stored = internals.array(d, "ten_J_colind").ravel(), dense.reshape(-1)
    for tendon, (n, first) in enumerate(zip(length.tolist(), start.tolist(), strict=True)):
        stored[first : first + n] = full[tendon, columns[first : first + n]]


def actuator_moment(m: MjModel, d: MjData) -> np.ndarray:
    """Return the moments of actuators in the pattern of `moments`."""
    return _gathered(moments(m), internals.array(d, "actuator_moment"))


def _turned(outer: np.ndarray, local: np.ndarray) -> np.ndarray:
    """Return the products of quaternions, row by row (n, 4)."""
    pairs = zip(outer.tolist(), local.tolist(), strict=True)
    return np.array([mul_quat(tuple(a), tuple(b)) for a, b in pairs]).reshape(-1, 4)


def inertial_orientations(m: MjModel, d: MjData) -> np.ndarray:
    """Return the orientations of the inertial frames of bodies in the world frame (nbody, 4)."""
    return _turned(d.xquat, m.body_iquat)


def orientations(m: MjModel, d: MjData, kind: str) -> np.ndarray:
    """Return the orientations of geoms or sites in the world frame (n, 4)."""
    return _turned(d.xquat[getattr(m, f"{kind}_bodyid")], getattr(m, f"{kind}_quat"))
