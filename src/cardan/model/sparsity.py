"""Helpers for derived tables: rows of sparsity patterns, and intermediate results that several tables share.

All functions take a finished model and return results that depend only on its topology. Rows of CSR patterns have
ascending columns.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from functools import wraps
from itertools import accumulate, chain
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from cardan.enums.codes import JNT_SLIDE

if TYPE_CHECKING:
    from cardan.model.mjmodel import MjModel

T = TypeVar("T")
_KNOWN: ContextVar[dict[Any, Any] | None] = ContextVar("_KNOWN", default=None)


@contextmanager
def derivation() -> Iterator[None]:
    """Context manager to derive the tables of one model. Within it, functions decorated with `once` run only once."""
    token = _KNOWN.set({})
    try:
        yield
    finally:
        _KNOWN.reset(token)


def once(function: Callable[..., T]) -> Callable[..., T]:
    """Decorate a function of a model and other arguments so that a `derivation` caches its results."""

    @wraps(function)
    def remembered(m: MjModel, *arguments: Any) -> T:
        known = _KNOWN.get()
        if known is None:
            return function(m, *arguments)
        key = (function, arguments)
        if key not in known:
            known[key] = function(m, *arguments)
        return known[key]

    return remembered


def derived(m: MjModel, name: str) -> np.ndarray:
    """Return a table of the kinematic tree (`topology`), by its name in the group ``aux``."""
    return m._memory.arrays[f"aux.{name}"]


def as_table(values: object) -> np.ndarray:
    """Convert values to an array of 32-bit integers."""
    return np.ascontiguousarray(values, np.int32)


def row_addresses(rows: Sequence[Sequence[int]]) -> np.ndarray:
    """Return the start of each of n rows in the concatenation of the rows, followed by the total length (n + 1,)."""
    return as_table([*accumulate(map(len, rows), initial=0)])


def columns(rows: Sequence[Sequence[int]]) -> np.ndarray:
    """Return the concatenation of rows of a pattern as a table."""
    return as_table([*chain.from_iterable(rows)])


def dof_chain(parents: list[int], dof: int) -> list[int]:
    """Return the dof and its ancestors, towards the root; ``parents`` contains the parents of all dofs."""
    found = []
    while dof >= 0:
        found.append(dof)
        dof = parents[dof]
    return found


# number of elements of a free, ball, slide and hinge joint in qpos and qvel
QPOS_WIDTH = (7, 4, 1, 1)
DOF_WIDTH = (6, 3, 1, 1)

FIRST, SECOND, BOTH = 0, 1, 2
"""Codes for the vertices of an edge that a dof moves: the first, the second or both."""


def _edge_vertices(m: MjModel) -> np.ndarray:
    """Return the vertices of each edge (nflexedge, 2), numbered over all flexes."""
    return m.flex_edge + np.repeat(m.flex_vertadr, m.flex_edgenum)[:, None]


@once
def _edge_entries(m: MjModel) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the edge, dof and side (`FIRST`, `SECOND` or `BOTH`) of each entry of the edge-dof pattern.

    There is an entry for each edge and each dof that moves a vertex of the edge: edge by edge, with ascending dofs.
    """
    if m.nflexedge == 0:
        return np.zeros(0, int), np.zeros(0, int), np.zeros(0, int)
    last = derived(m, "body_lastdof")[m.flex_vertbodyid[_edge_vertices(m)]]
    adr, column = derived(m, "M_rowadr"), derived(m, "M_colind")
    keys, edges = [], np.arange(m.nflexedge)
    for side in (FIRST, SECOND):
        moved = edges[last[:, side] >= 0]
        start, stop = adr[last[moved, side]], adr[last[moved, side] + 1]
        # the chains that move the edges' vertices on this side, one after the other
        length = stop - start
        place = np.arange(length.sum()) + np.repeat(start - np.cumsum(length) + length, length)
        keys.append(np.repeat(moved, length).astype(np.int64) * m.nv + column[place])
    key, count = np.unique(np.concatenate(keys), return_counts=True)
    side = np.where(np.isin(key, keys[FIRST], assume_unique=True), FIRST, SECOND)
    side[count > 1] = BOTH
    return key // max(1, m.nv), key % max(1, m.nv), side


def edge_rowadr(m: MjModel) -> np.ndarray:
    """Return the start of each edge's row in `edge_colind`, and the end of the last row (nflexedge + 1,)."""
    return as_table(np.append(0, np.cumsum(np.bincount(_edge_entries(m)[0], minlength=m.nflexedge))))


def edge_colind(m: MjModel) -> np.ndarray:
    """Return the dofs that move the vertices of each edge, edge by edge."""
    return as_table(_edge_entries(m)[1])


def edge_side(m: MjModel) -> np.ndarray:
    """Return, for each entry of `edge_colind`, the vertices that the dof moves: first (0), second (1) or both (2)."""
    return as_table(_edge_entries(m)[2])


def edge_threes(m: MjModel) -> np.ndarray:
    """Return a code for each edge (nflexedge,): nonzero if the edge's row consists of one or two chains of three dofs.

    Each chain moves one vertex of the edge, and no other chain moves this vertex. The dofs of a chain are numbered
    consecutively: the second dof is a child of the first, and the third a child of the second. The code is 2 if all
    dofs of the row are slides, 1 if not, 0 for all other rows.
    """
    if m.nflexedge == 0:
        return as_table([])
    edge, dof, side = _edge_entries(m)
    adr = edge_rowadr(m)
    start, length = adr[:-1], np.diff(adr)
    whole = (length == 3) | (length == 6)
    for first in (0, 3):
        long = np.flatnonzero(whole & (length > first))
        a, b, c = (start[long] + first + k for k in range(3))
        chain = (m.dof_parentid[dof[b]] == dof[a]) & (m.dof_parentid[dof[c]] == dof[b])
        chain &= (dof[b] == dof[a] + 1) & (dof[c] == dof[b] + 1)
        single = (side[a] == side[b]) & (side[b] == side[c]) & (side[a] != BOTH)
        apart = first == 0 or side[a] != side[a - 3]
        whole[long] &= chain & single & apart
    turning = np.bincount(edge, m.jnt_type[m.dof_jntid[dof]] != JNT_SLIDE, minlength=m.nflexedge)
    return as_table(np.where(whole, np.where(turning, 1, 2), 0))


def flex_bvh_depth(m: MjModel) -> np.ndarray:
    """Return the depth of each flex's bounding volume hierarchy (nflex,)."""
    spans = zip(m.flex_bvhadr, m.flex_bvhnum, strict=True)
    depths = [m.bvh_depth[start : start + number].max(initial=0) for start, number in spans]
    return as_table(depths or [0])
