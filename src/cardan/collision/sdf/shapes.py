"""Distance functions of the stock shapes: kernels of a point in the frame of the shape and the shape's attributes.

A distance is negative inside, in m. Attributes come as a tuple of `MAX_ATTRIBUTES` numbers, those of the shape first.

Sources: I. Quilez, Distance functions (2008-), for torus and cut hollow sphere; numbers of the reference.
"""

from __future__ import annotations

from math import sqrt
from typing import Any

from cardan.jit import kernel


@kernel
def torus(p: Any, a: Any) -> float:
    """A torus about the z axis: radius of its circle `a[0]`, radius of its tube `a[1]`."""
    across = sqrt(p[0] * p[0] + p[1] * p[1]) - a[0]
    return sqrt(across * across + p[2] * p[2]) - a[1]


@kernel
def bowl(p: Any, a: Any) -> float:
    """The part of a hollow sphere below the height `a[0]`: radius `a[1]`, half thickness of the wall `a[2]`."""
    rim = sqrt(a[1] * a[1] - a[0] * a[0])
    across = sqrt(p[0] * p[0] + p[1] * p[1])
    if a[0] * across < rim * p[2]:
        return sqrt((across - rim) * (across - rim) + (p[2] - a[0]) * (p[2] - a[0])) - a[2]
    return abs(sqrt(across * across + p[2] * p[2]) - a[1]) - a[2]
