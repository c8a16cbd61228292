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
    """Context in which the tables of one model are derived: functions decorated with `once` are computed once."""
    token = _KNOWN.set({})
    try:
        yield
    finally:
        _KNOWN.reset(token)


def once(function: Callable[..., T]) -> Callable[..., T]:
    """Cache the results of a function of a model, and possibly further arguments, until the end of a `derivation`."""

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


def derived(m: Any, name: str) -> np.ndarray:
    """Return a table of the kinematic tree (`topology`), by its name in the group ``aux``."""
    return m._memory.arrays[f"aux.{name}"]


def as_table(values: object) -> np.ndarray:
    """Convert values to an array of 32-bit integers."""
    return np.ascontiguousarray(values, np.int32)


def row_addresses(rows: Sequence[Sequence[int]]) -> np.ndarray:
    """Return the start of each row in the concatenation of the rows, and the end (n + 1,)."""
    return as_table([*accumulate(map(len, rows), initial=0)])


def columns(rows: Sequence[Sequence[int]]) -> np.ndarray:
    """Concatenate the rows."""
    return as_table([*chain.from_iterable(rows)])


def dof_chain(parents: list[int], dof: int) -> list[int]:
    """Return the dof and its ancestors, towards the root; ``parents`` contains the parents of all dofs."""
    found = []
    while dof >= 0:
        found.append(dof)
        dof = parents[dof]
    return found
