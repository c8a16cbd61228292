"""Colours of constraint islands (kernels)."""

from __future__ import annotations

from typing import Any

from cardan.jit import kernel
from cardan.model.kernel_views import Data

BASES = (2, 3, 5)
DARKEST, SPREAD = 0.1, 0.8


@kernel
def halton(index: int, base: int) -> float:
    """Element `index` of the Halton sequence with a prime base: its digits mirrored at the point."""
    value, place = 0.0, 1.0 / base
    while index > 0:
        value += place * (index % base)
        index //= base
        place /= base
    return value


@kernel
def island_rgba(d: Data, island: int) -> Any:
    """Colour of an island, by its first degree of freedom, so that it stays while the island lasts."""
    index = d.island_dofind[d.island_dofadr[island]] + 1
    return (
        DARKEST + SPREAD * halton(index, 2),
        DARKEST + SPREAD * halton(index, 3),
        DARKEST + SPREAD * halton(index, 5),
        1.0,
    )
