"""Which pairs collision detection looks at: the rules, each once (spec: computation, collision detection, filtering).

They are formulas of bits and ids, so that kernels call them with numbers and tables of a whole model with arrays.
"""

from __future__ import annotations

from typing import Any

from cardan.jit import kernel


@kernel
def bits_match(contype1: Any, conaffinity1: Any, contype2: Any, conaffinity2: Any) -> Any:
    """Whether two geoms, bodies or flexes may collide by their bits: one's contype meets the other's conaffinity."""
    return ((contype1 & conaffinity2) | (contype2 & conaffinity1)) != 0


@kernel
def are_parent_and_child(weld1: Any, weld2: Any, parent1: Any, parent2: Any) -> Any:
    """Whether one of two bodies is the parent of the other, and isn't the world.

    Args:
        weld1: the body that body 1 is welded to.
        weld2: likewise for body 2.
        parent1: the parent of `weld1`, as it is welded.
        parent2: likewise for `weld2`.
    """
    return ((weld1 == parent2) | (weld2 == parent1)) & (weld1 != 0) & (weld2 != 0)
