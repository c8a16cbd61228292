"""The curve of a cord that hangs between two points (kernels).

A cord of length L hangs between ends that are h apart horizontally and v vertically. In the vertical plane of its ends
its curve is y = a cosh((x - x0) / a) + y0. With b = h / (2 a), sinh(b) / b = sqrt(L^2 - v^2) / h, which has one
positive root (I. Bronshtein et al., Handbook of Mathematics, "Catenary").
"""

from __future__ import annotations

from math import cosh, log, sinh, sqrt
from typing import Any

from cardan.constants import mjMINVAL
from cardan.jit import kernel
from cardan.maths.vector import add_scaled3, dot3, norm3, scale3, sub3

POINTS = 31
"""Number of points of a curve."""
STEEP = 0.01
"""Horizontal distance, relative to the length, below which the cord is drawn folded: straight down and up again."""
_ITERATIONS = 50


@kernel
def _half_angle(ratio: float) -> float:
    """Solve sinh(b) / b = ratio > 1 for b > 0, by Newton steps on the convex log(sinh(b) / b)."""
    # for small b, sinh(b) / b = 1 + b^2 / 6 + ...; for large b, b = log(2 b ratio)
    b = sqrt(6.0 * (ratio - 1.0)) if ratio < 3.0 else log(2.0 * ratio) + log(log(2.0 * ratio))
    for _ in range(_ITERATIONS):
        s, c = sinh(b), cosh(b)
        step = log(s / (b * ratio)) / (c / s - 1.0 / b)
        b = max(0.1 * b, b - step)
        if abs(step) < 1e-12 * b:
            break
    return b


@kernel
def hang(start: Any, stop: Any, gravity: Any, length: float) -> Any:
    """Describe a cord for `point_of`: number of points, unit vectors to the side and up, and parameters of the curve.

    Args:
        start: one end (3), m.
        stop: other end (3), m; closer than `length`.
        gravity: direction of gravity (3), not zero.
        length: length of the cord, m.
    """
    up = scale3(gravity, -1.0 / norm3(gravity))
    line = sub3(stop, start)
    v = dot3(line, up)
    level = add_scaled3(line, up, -v)
    h = norm3(level)
    if h < STEEP * length:
        down = 0.5 * (length - v)
        return 3, level, up, down / length, -down, 0.0
    b = _half_angle(sqrt(length * length - v * v) / h)
    a = 0.5 * h / b
    # half the sum of the hyperbolic angles of both ends: their hyperbolic tangent is v / L
    middle = 0.5 * log((length + v) / (length - v))
    x0 = 0.5 * h - a * middle
    return POINTS, level, up, a, x0, h


@kernel
def point_of(start: Any, stop: Any, cord: Any, k: int) -> Any:
    """Point `k` of a cord from `hang`; the first and the last point are the ends."""
    count, level, up, a, x0, h = cord
    if k == 0:
        return start
    if k == count - 1:
        return stop
    if count == 3:
        return add_scaled3(add_scaled3(start, level, a), up, x0)
    share = k / POINTS
    x = share * h
    y = a * (cosh((x - x0) / a) - cosh(x0 / a))
    return add_scaled3(add_scaled3(start, level, share), up, y)


@kernel
def cord_length(m: Any, tendon: int, straight: float) -> float:
    """Length of the cord as which a tendon is drawn, or 0 if the tendon is drawn straight.

    A cord only pulls: its limit or its spring starts to act at a positive length, and it has no damping and no
    friction. It is longer than the distance between its ends.
    """
    if m.tendon_damping[tendon] != 0.0 or m.tendon_frictionloss[tendon] != 0.0:
        return 0.0
    length = 0.0
    if m.tendon_stiffness[tendon] == 0.0:
        if m.tendon_limited[tendon] != 0 and m.tendon_range[tendon, 0] == 0.0:
            length = m.tendon_range[tendon, 1]
    elif m.tendon_lengthspring[tendon, 0] == 0.0:
        length = m.tendon_lengthspring[tendon, 1]
    return length if length > max(straight, mjMINVAL) else 0.0
