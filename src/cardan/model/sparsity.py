"""Where the non-zeros are: patterns of the matrices that the kinematic tree determines.

All functions take a finished model and return an integer table that depends on its topology alone. Rows of CSR patterns
have ascending columns unless said otherwise.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import wraps
from typing import Any, TypeVar

import numpy as np

from cardan.enums import mjtJoint

DOFS_OF_JOINT = {
    int(mjtJoint.mjJNT_FREE): 6,
    int(mjtJoint.mjJNT_BALL): 3,
    int(mjtJoint.mjJNT_SLIDE): 1,
    int(mjtJoint.mjJNT_HINGE): 1,
}


T = TypeVar("T")
_KNOWN: ContextVar[dict[Any, Any] | None] = ContextVar("_KNOWN", default=None)


@contextmanager
def derivation() -> Iterator[None]:
    """While tables of one model are derived: what several of them rest on is computed `once`."""
    token = _KNOWN.set({})
    try:
        yield
    finally:
        _KNOWN.reset(token)


def once(function: Callable[..., T]) -> Callable[..., T]:
    """Keep the results of a function of a model, and perhaps more arguments, for the rest of a `derivation`."""

    @wraps(function)
    def remembered(m: Any, *arguments: Any) -> T:
        known = _KNOWN.get()
        if known is None:
            return function(m, *arguments)
        key = (function, arguments)
        if key not in known:
            known[key] = function(m, *arguments)
        return known[key]

    return remembered


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


@once
def inertia_rowadr(m: Any) -> np.ndarray:
    """Start and end of each row of `qM` (nv + 1,): `dof_Madr`, then nM."""
    return as_table(np.append(m.dof_Madr, m.nM))


@once
def inertia_colind(m: Any) -> np.ndarray:
    """Column of each entry of `qM` (nM,): for each row the dof itself, then its ancestors towards the root."""
    adr = inertia_rowadr(m).tolist()
    column = np.empty(adr[-1], np.int32)
    for dof, parent in enumerate(m.dof_parentid.tolist()):
        column[adr[dof]] = dof
        if parent >= 0:
            column[adr[dof] + 1 : adr[dof + 1]] = column[adr[parent] : adr[parent + 1]]
    return column


@once
def body_lastdof(m: Any) -> np.ndarray:
    """The last dof that moves each body (nbody,): the end of the body's dof chain, or -1."""
    last = [-1] * m.nbody
    rows = zip(m.body_dofadr.tolist(), m.body_dofnum.tolist(), m.body_parentid.tolist(), strict=True)
    for body, (start, number, parent) in enumerate(rows):
        last[body] = start + number - 1 if number else last[parent]
    return as_table(last)


@once
def _inertia_rows(m: Any) -> np.ndarray:
    """Row of each entry of `qM` (nM,)."""
    return np.repeat(np.arange(m.nv), np.diff(inertia_rowadr(m)))


def _subtree_sizes(parents: np.ndarray) -> np.ndarray:
    """How many there are in the subtree of each, itself included; a subtree is numbered depth first, without gaps."""
    sizes = [1] * len(parents)
    for child in range(len(parents) - 1, 0, -1):
        if 0 <= parents[child] < child:
            sizes[parents[child]] += sizes[child]
    return np.array(sizes, int)


@once
def derivative_rowadr(m: Any) -> np.ndarray:
    """Start and end of each row of `qDeriv` (nv + 1,)."""
    lengths = np.diff(inertia_rowadr(m)) + _subtree_sizes(m.dof_parentid) - 1
    return as_table(np.append(0, np.cumsum(lengths)))


def derivative_colind(m: Any) -> np.ndarray:
    """`D_colind` (nD,): each dof with its ancestors and descendants."""
    start, above, below = inertia_rowadr(m), inertia_colind(m), _subtree_sizes(m.dof_parentid)
    rows = [(above[start[i] : start[i + 1]][::-1], np.arange(i + 1, i + below[i])) for i in range(m.nv)]
    return as_table(np.concatenate([part for row in rows for part in row] or [[]]))


def inertia_to_derivative(m: Any) -> np.ndarray:
    """For each entry (row, column) of `qM`, the address of the same entry in `qDeriv` (nM,)."""
    depth = np.diff(inertia_rowadr(m)) - 1
    return as_table(derivative_rowadr(m)[_inertia_rows(m)] + depth[inertia_colind(m)])


def inertia_to_derivative_t(m: Any) -> np.ndarray:
    """For each entry (row, column) of `qM`, the address of the entry (column, row) in `qDeriv` (nM,)."""
    depth = np.diff(inertia_rowadr(m)) - 1
    row, column = _inertia_rows(m), inertia_colind(m)
    return as_table(derivative_rowadr(m)[column] + depth[column] + row - column)


@once
def _body_rows(m: Any) -> list[np.ndarray]:
    """For each body, the dofs above it in the tree and its own, then those below it."""
    adr, column, last = inertia_rowadr(m), inertia_colind(m), body_lastdof(m)
    before = np.append(0, np.cumsum(m.body_dofnum))
    below = _subtree_sizes(m.body_parentid)
    rows = []
    end = before[np.arange(m.nbody) + below].tolist()
    parent = last[m.body_parentid].tolist()
    for body, start in enumerate(before[:-1].tolist()):
        # the chain above the body's own dofs; a body without any has the parent's
        above = parent[body] if body else -1
        chain = column[adr[above] : adr[above + 1]][::-1] if above >= 0 else column[:0]
        own = np.arange(start, end[body])
        rows.append(np.concatenate([chain, own]) if above >= 0 else own)
    return rows


def body_rowadr(m: Any) -> np.ndarray:
    """Start and end of each row of the body-dof pattern (nbody + 1,)."""
    return as_table(np.append(0, np.cumsum([len(row) for row in _body_rows(m)])))


def body_colind(m: Any) -> np.ndarray:
    """`B_colind` (nB,): for each body the dofs above and below it in the tree."""
    return as_table(np.concatenate(_body_rows(m)))
