"""Polynomials that couple joints or tendons (spec: computation, equality)."""

from __future__ import annotations

from cardan.jit import kernel
from cardan.maths.types import Vec2
from cardan.model.kernel_views import Data, Model


@kernel
def quartic(m: Model, e: int, x: float) -> Vec2:
    """Value and derivative at x of the polynomial whose coefficients are the first five elements of `eq_data`."""
    value, slope = 0.0, 0.0
    for k in range(4, -1, -1):
        slope = slope * x + value
        value = value * x + m.eq_data[e, k]
    return value, slope


@kernel
def tendon_offset(m: Model, d: Data, tendon: int) -> float:
    """Length of a tendon relative to its length at qpos0."""
    return d.ten_length[tendon] - m.tendon_length0[tendon]
