"""A small quadratic programme with one quadratic constraint (spec: computation, algorithms, PGS).

Minimise 1/2 x' A x + b' x over the ellipsoid sum (x_i / s_i)^2 <= r^2, in up to 5 dimensions. In y = x / s the
ellipsoid is a ball. The minimum solves (P + lambda) y = -q with P = S A S, q = S b, and either lambda = 0 or |y| = r:
a root of |y(lambda)|^2 - r^2, found by Newton's method from 0 (Boyd and Vandenberghe, Convex Optimization, appendix
B).
"""

from __future__ import annotations

from math import sqrt
from typing import Any

from cardan.jit import kernel, stack_array
from cardan.maths.vector import MINVAL

STEPS = 20  # Newton steps at most
NEAR = 1e-10  # excess of |y|^2 and change of lambda that end them


@kernel
def minimize_in_ellipsoid(a: Any, b: Any, scale: Any, radius: float, n: int, x: Any) -> None:
    """Write the minimum into `x`; 0 if A is singular.

    Args:
        a: symmetric matrix, n x n row by row (25 numbers).
        b: linear part (5 numbers).
        scale: semi-axes s of the unit ellipsoid (5 numbers).
        radius: r.
        n: dimension, at most 5.
        x: the minimum (5 numbers), written.
    """
    factor = stack_array(25)
    change = stack_array(5)
    multiplier = 0.0
    for _ in range(STEPS):
        if not factor_scaled(a, scale, multiplier, n, factor):
            for i in range(n):
                x[i] = 0.0
            return
        for i in range(n):
            x[i] = -b[i] * scale[i]
        solve_factored(factor, n, x)
        squared = 0.0
        for i in range(n):
            squared += x[i] * x[i]
            change[i] = x[i]
        excess = squared - radius * radius
        if excess < NEAR:
            break
        # d|y|^2 / dlambda = -2 y' (P + lambda)^-1 y
        solve_factored(factor, n, change)
        rate = 0.0
        for i in range(n):
            rate += 2.0 * x[i] * change[i]
        step = excess / max(rate, MINVAL)
        if step < NEAR:
            break
        multiplier += step
    # on the boundary if it binds; back from y to x
    shrink = 1.0
    if multiplier > 0.0:
        squared = 0.0
        for i in range(n):
            squared += x[i] * x[i]
        shrink = radius / max(sqrt(squared), MINVAL)
    for i in range(n):
        x[i] *= scale[i] * shrink


@kernel
def factor_scaled(a: Any, scale: Any, multiplier: float, n: int, factor: Any) -> bool:
    """Cholesky factor (lower triangle, reciprocal diagonal) of S A S + `multiplier`; False if it isn't positive."""
    for i in range(n):
        for j in range(i + 1):
            value = a[i * n + j] * scale[i] * scale[j]
            if i == j:
                value += multiplier
            for k in range(j):
                value -= factor[i * n + k] * factor[j * n + k]
            if i == j:
                if not value > NEAR:
                    return False
                factor[i * n + i] = 1.0 / sqrt(value)
            else:
                factor[i * n + j] = value * factor[j * n + j]
    return True


@kernel
def solve_factored(factor: Any, n: int, x: Any) -> None:
    """Replace `x` by the solution of the factorised system with right-hand side `x`."""
    for i in range(n):
        value = x[i]
        for k in range(i):
            value -= factor[i * n + k] * x[k]
        x[i] = value * factor[i * n + i]
    for i in range(n - 1, -1, -1):
        value = x[i]
        for k in range(i + 1, n):
            value -= factor[k * n + i] * x[k]
        x[i] = value * factor[i * n + i]
