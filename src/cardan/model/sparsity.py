"""Where the non-zeros are: patterns of the matrices that the kinematic tree determines.

All functions take a finished model and return an integer table that depends on its topology alone. Rows of CSR patterns
have ascending columns unless said otherwise.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from cardan.enums import mjtJoint

DOFS_OF_JOINT = {
    int(mjtJoint.mjJNT_FREE): 6,
    int(mjtJoint.mjJNT_BALL): 3,
    int(mjtJoint.mjJNT_SLIDE): 1,
    int(mjtJoint.mjJNT_HINGE): 1,
}


def as_table(values: object) -> np.ndarray:
    """The values as an array of 32-bit integers."""
    return np.ascontiguousarray(values, np.int32)


def row_addresses(rows: list[list[int]]) -> np.ndarray:
    """Start of each row in the concatenation of the rows, and its end (n + 1,)."""
    return as_table(np.concatenate([[0], np.cumsum([len(row) for row in rows])]))


def columns(rows: list[list[int]]) -> np.ndarray:
    """The rows one after the other."""
    return as_table([column for row in rows for column in row])


def dof_chain(m: Any, dof: int) -> list[int]:
    """The dof and its ancestors, towards the root."""
    chain = []
    while dof >= 0:
        chain.append(dof)
        dof = int(m.dof_parentid[dof])
    return chain


def inertia_rowadr(m: Any) -> np.ndarray:
    """Start and end of each row of `qM` (nv + 1,): `dof_Madr`, then nM."""
    return as_table(np.append(m.dof_Madr, m.nM))


def inertia_colind(m: Any) -> np.ndarray:
    """Column of each entry of `qM` (nM,): for each row the dof itself, then its ancestors towards the root."""
    return columns([dof_chain(m, dof) for dof in range(m.nv)])


def body_lastdof(m: Any) -> np.ndarray:
    """The last dof that moves each body (nbody,): the end of the body's dof chain, or -1."""
    last = np.full(m.nbody, -1, np.int32)
    for body in range(1, m.nbody):
        number = m.body_dofnum[body]
        last[body] = m.body_dofadr[body] + number - 1 if number else last[m.body_parentid[body]]
    return last


def _derivative_rows(m: Any) -> list[list[int]]:
    rows: list[list[int]] = [[] for _ in range(m.nv)]
    for dof in range(m.nv):
        for ancestor in dof_chain(m, dof):
            rows[dof].append(ancestor)
            if ancestor != dof:
                rows[ancestor].append(dof)
    return [sorted(row) for row in rows]


def derivative_rowadr(m: Any) -> np.ndarray:
    """Start and end of each row of `qDeriv` (nv + 1,)."""
    return row_addresses(_derivative_rows(m))


def derivative_colind(m: Any) -> np.ndarray:
    """`D_colind` (nD,): each dof with its ancestors and descendants."""
    return columns(_derivative_rows(m))


def inertia_to_derivative(m: Any) -> np.ndarray:
    """For each entry (row, column) of `qM`, the address of the same entry in `qDeriv` (nM,)."""
    rows = _derivative_rows(m)
    start = row_addresses(rows)
    return as_table([start[dof] + rows[dof].index(column) for dof in range(m.nv) for column in dof_chain(m, dof)])


def inertia_to_derivative_t(m: Any) -> np.ndarray:
    """For each entry (row, column) of `qM`, the address of the entry (column, row) in `qDeriv` (nM,)."""
    rows = _derivative_rows(m)
    start = row_addresses(rows)
    return as_table([start[column] + rows[column].index(dof) for dof in range(m.nv) for column in dof_chain(m, dof)])


def _body_rows(m: Any) -> list[list[int]]:
    rows: list[set[int]] = [set() for _ in range(m.nbody)]
    last = body_lastdof(m)
    for body in range(m.nbody):
        rows[body].update(dof_chain(m, int(last[body])))
    for dof in range(m.nv):
        body = int(m.dof_bodyid[dof])
        while body > 0:
            rows[body].add(dof)
            body = int(m.body_parentid[body])
        rows[0].add(dof)
    return [sorted(row) for row in rows]


def body_rowadr(m: Any) -> np.ndarray:
    """Start and end of each row of the body-dof pattern (nbody + 1,)."""
    return row_addresses(_body_rows(m))


def body_colind(m: Any) -> np.ndarray:
    """`B_colind` (nB,): for each body the dofs above and below it in the tree."""
    return columns(_body_rows(m))
