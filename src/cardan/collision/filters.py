"""Filters of pairs in collision detection (spec: computation, collision detection, filtering).

Each rule is defined once, as a formula of bits and ids. Kernels call it with numbers, tables of a model with arrays.
"""

from __future__ import annotations

from typing import Any

from cardan.jit import kernel


@kernel
def bits_match(contype1: Any, conaffinity1: Any, contype2: Any, conaffinity2: Any) -> Any:
    """Whether two geoms, bodies or flexes may collide: the contype of one matches the conaffinity of the other."""
    return ((contype1 & conaffinity2) | (contype2 & conaffinity1)) != 0


@kernel
def are_parent_and_child(weld1: Any, weld2: Any, parent1: Any, parent2: Any) -> Any:
    """Whether one of two bodies is the parent of the other; the world does not count as a parent.

    Args:
        weld1: body to which body 1 is welded.
        weld2: body to which body 2 is welded.
        parent1: body to which the parent of `weld1` is welded.
        parent2: body to which the parent of `weld2` is welded.
    """
    return ((weld1 == parent2) | (weld2 == parent1)) & (weld1 != 0) & (weld2 != 0)
