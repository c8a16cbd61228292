"""Small quadratic programme with one quadratic constraint (spec: computation, algorithms, PGS).

Minimise 1/2 x' A x + b' x over the ellipsoid sum (x_i / s_i)^2 <= r^2, in up to 5 dimensions. In y = x / s the
ellipsoid is a ball. The minimum solves (P + lambda) y = -q with P = S A S, q = S b, and either lambda = 0 or |y| = r.
In the second case, Newton's method finds the root of |y(lambda)|^2 - r^2, starting from 0 (Boyd and Vandenberghe,
Convex Optimization, appendix B).
"""

from __future__ import annotations

from math import sqrt

from cardan.jit import kernel, stack_array
from cardan.maths.types import Array1
from cardan.maths.vector import MINVAL
from cardan.model.fields_arena import MAX_FRICTION

MATRIX = MAX_FRICTION * MAX_FRICTION  # number of elements of the largest matrix

STEPS = 20  # maximum number of Newton steps
NEAR = 1e-10  # the steps end when the excess of |y|^2 and the change of lambda are below this


@kernel
def minimize_in_ellipsoid(a: Array1, b: Array1, scale: Array1, radius: float, n: int, x: Array1) -> None:
    """Write the minimum to `x`; 0 if A is singular.

    Args:
        a: symmetric matrix, n x n row by row (25 numbers).
        b: linear part (5 numbers).
        scale: semi-axes s of the unit ellipsoid (5 numbers).
        radius: r.
        n: dimension, at most 5.
        x: written; the minimum (5 numbers).
    """
    if n == 2:
        minimize_in_ellipse(a, b, scale, radius, x)
        return
    factor = stack_array(MATRIX)
    change = stack_array(MAX_FRICTION)
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
    # if the constraint is active, move to the boundary; convert y to x
    shrink = 1.0
    if multiplier > 0.0:
        squared = 0.0
        for i in range(n):
            squared += x[i] * x[i]
        shrink = radius / max(sqrt(squared), MINVAL)
    for i in range(n):
        x[i] *= scale[i] * shrink


@kernel
def minimize_in_ellipse(a: Array1, b: Array1, scale: Array1, radius: float, x: Array1) -> None:
    """Solve `minimize_in_ellipsoid` in two dimensions; everything except the multiplier is in closed form."""
    s0, s1 = scale[0], scale[1]
    p00, p01, p11 = a[0] * s0 * s0, a[1] * s0 * s1, a[3] * s1 * s1
    q0, q1 = b[0] * s0, b[1] * s1
    multiplier = 0.0
    squared = 0.0
    y0 = 0.0
    y1 = 0.0
    for _ in range(STEPS):
        d0 = p00 + multiplier
        d1 = p11 + multiplier
        determinant = d0 * d1 - p01 * p01
        if not (d0 > NEAR and determinant > NEAR * d0):
            x[0] = 0.0
            x[1] = 0.0
            return
        inverse = 1.0 / determinant
        y0 = (p01 * q1 - d1 * q0) * inverse
        y1 = (p01 * q0 - d0 * q1) * inverse
        squared = y0 * y0 + y1 * y1
        excess = squared - radius * radius
        if excess < NEAR:
            break
        # d|y|^2 / dlambda = -2 y' (P + lambda)^-1 y
        rate = 2.0 * (d1 * y0 * y0 - 2.0 * p01 * y0 * y1 + d0 * y1 * y1) * inverse
        step = excess / max(rate, MINVAL)
        if step < NEAR:
            break
        multiplier += step
    shrink = radius / max(sqrt(squared), MINVAL) if multiplier > 0.0 else 1.0
    x[0] = y0 * s0 * shrink
    x[1] = y1 * s1 * shrink


@kernel
def factor_scaled(a: Array1, scale: Array1, multiplier: float, n: int, factor: Array1) -> bool:
    """Factorise S A S + `multiplier` = L D^-1 L' (lower triangle); return False if it is not positive definite.

    L and D have the same diagonal; the diagonal of `factor` holds its reciprocals.
    """
    for i in range(n):
        for j in range(i + 1):
            value = a[i * n + j] * scale[i] * scale[j]
            for k in range(j):
                value -= factor[i * n + k] * factor[j * n + k] * factor[k * n + k]
            factor[i * n + j] = value
        pivot = factor[i * n + i] + multiplier
        if not pivot > NEAR:
            return False
        factor[i * n + i] = 1.0 / pivot
    return True


@kernel
def solve_factored(factor: Array1, n: int, x: Array1) -> None:
    """Replace `x` by the solution of the factorised system with right-hand side `x`."""
    for i in range(n):
        value = x[i]
        for k in range(i):
            value -= factor[i * n + k] * x[k]
        x[i] = value * factor[i * n + i]
    for i in range(n - 1, -1, -1):
        total = 0.0
        for k in range(i + 1, n):
            total += factor[k * n + i] * x[k]
        x[i] -= total * factor[i * n + i]
