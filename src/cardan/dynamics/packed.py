"""Compressed rows that stand one after the other in an (n, nv) array, as those of `ten_J` and `flexedge_J` do.

Entry ``adr`` of all rows has the place ``(adr // nv, adr % nv)``; a row may begin on one line of the array and end on
the next. Going from place to place costs no division.
"""

from __future__ import annotations

from typing import Any

from cardan.jit import kernel
from cardan.model.kernel_views import Model


@kernel
def place_of(m: Model, adr: int) -> Any:
    """Place (line, column) of an entry."""
    return adr // m.nv, adr % m.nv


@kernel
def place_after(m: Model, line: int, column: int, count: int) -> Any:
    """The place `count` entries after another, at most nv."""
    return (line, column + count) if column + count < m.nv else (line + 1, column + count - m.nv)
