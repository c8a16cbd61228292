"""Colours of constraint islands (kernels)."""

from __future__ import annotations

from typing import Any

from cardan.collision.sdf.descent import halton
from cardan.jit import kernel
from cardan.model.kernel_views import Data

DARKEST, SPREAD = 0.1, 0.8


@kernel
def island_rgba(d: Data, island: int) -> Any:
    """Colour of an island; it depends on the first degree of freedom, so that it stays while the island exists."""
    index = d.island_dofind[d.island_dofadr[island]] + 1
    return (
        DARKEST + SPREAD * halton(index, 2),
        DARKEST + SPREAD * halton(index, 3),
        DARKEST + SPREAD * halton(index, 5),
        1.0,
    )
