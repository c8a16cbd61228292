"""Addresses of compressed rows that are stored one after the other in an (n, nv) array, as in `ten_J` and `flexedge_J`.

Entry ``adr`` of all rows is at the line and column ``(adr // nv, adr % nv)``. A row may begin on one line of the array
and end on the next. Advancing from entry to entry needs no division.
"""

from __future__ import annotations

from cardan.jit import kernel
from cardan.model.kernel_views import Model


@kernel
def place_of(m: Model, adr: int) -> tuple[int, int]:
    """Line and column of an entry."""
    return adr // m.nv, adr % m.nv


@kernel
def place_after(m: Model, line: int, column: int, count: int) -> tuple[int, int]:
    """Line and column of the entry that is `count` entries later; `count` is at most nv."""
    return (line, column + count) if column + count < m.nv else (line + 1, column + count - m.nv)
