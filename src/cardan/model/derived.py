"""Index tables derived from a finished model, for the stages' private use.

They depend only on what can't change after compilation (the tree, sizes, addresses). `DERIVATIONS` maps each row of `fields_work.DERIVED` to
the function that computes it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from cardan.model.mjmodel import MjModel

DERIVATIONS: dict[str, Callable[[MjModel], np.ndarray]] = {}


def attach_derived(m: MjModel) -> None:
    """Compute all derived tables of `m` and attach them."""
    for name, derive in DERIVATIONS.items():
        m._memory.attach(name, derive(m))
