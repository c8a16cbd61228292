"""A strictly convex quadratic program with bounds and a few rows: a dual active-set method.

    minimise 1/2 x'Hx + g'x   so that   x_low <= x <= x_high,   A_e x = b_e,   A_i x >= b_i

The method starts at the unconstrained minimum and adds the most violated constraint again and again. On the way to it,
constraints whose multipliers become 0 leave the active set. All iterates minimise the cost over their active set, so
the method ends when no constraint is violated. A step without active constraints costs one factorisation.

Source: D. Goldfarb, A. Idnani, A numerically stable dual method for solving strictly convex quadratic programs,
Mathematical Programming 27, 1983. The factor of the active normals is kept by Gram-Schmidt orthogonalisation, done
twice (L. Giraud et al., 2005).

Numbers of constraints: the rows of A (equalities first), then the lower bounds, then the upper bounds.
"""

from __future__ import annotations

from math import sqrt

from cardan.ik.evaluation import ik_stage
from cardan.ik.kernel_views import Ik
from cardan.jit import kernel
from cardan.model.kernel_views import Model

SATISFIED = 1e-11
"""Violation of a constraint that counts as none."""
DEPENDENT = 1e-18
"""Square of the relative length below which a normal counts as a combination of the active normals."""
NEVER = 1e300
FREE, ACTIVE, IGNORED = 0, 1, 2


@kernel
def factorise(d: Ik, damping: float) -> None:
    """Compute the Cholesky factor of H + `damping` I. A pivot that is not positive is replaced by a tiny one."""
    n = d.ik.n
    for i in range(n):
        for j in range(i + 1):
            total = d.ik.H[i, j]
            if i == j:
                total += damping
            for k in range(j):
                total -= d.ik.L[i, k] * d.ik.L[j, k]
            if i == j:
                d.ik.L[i, i] = sqrt(max(total, 1e-14 * (abs(d.ik.H[i, i]) + damping) + 1e-300))
            else:
                d.ik.L[i, j] = total / d.ik.L[j, j]


@kernel
def solve_lower(d: Ik) -> None:
    """Replace `v` by L^-1 v."""
    for i in range(d.ik.n):
        total = d.ik.v[i]
        for k in range(i):
            total -= d.ik.L[i, k] * d.ik.v[k]
        d.ik.v[i] = total / d.ik.L[i, i]


@kernel
def solve_upper(d: Ik) -> None:
    """Replace `z` by L'^-1 z."""
    for i in range(d.ik.n - 1, -1, -1):
        value = d.ik.z[i] / d.ik.L[i, i]
        d.ik.z[i] = value
        for k in range(i):
            d.ik.z[k] -= d.ik.L[i, k] * value


@kernel
def slack(d: Ik, c: int) -> float:
    """Left side minus right side of constraint `c`, which is at least 0 if the constraint holds."""
    if c < d.ik.nrow:
        total = -d.ik.b[c]
        for i in range(d.ik.n):
            total += d.ik.A[c, i] * d.ik.x[i]
        return total
    i = c - d.ik.nrow
    if i < d.ik.n:
        return d.ik.x[i] - d.ik.x_low[i]
    i -= d.ik.n
    return d.ik.x_high[i] - d.ik.x[i]


@kernel
def load_normal(d: Ik, c: int, sign: float) -> None:
    """Set `v` to L^-1 times the normal of constraint `c`, times `sign`."""
    n = d.ik.n
    for i in range(n):
        d.ik.v[i] = sign * d.ik.A[c, i] if c < d.ik.nrow else 0.0
    if c >= d.ik.nrow:
        i = c - d.ik.nrow
        d.ik.v[i if i < n else i - n] = 1.0 if i < n else -1.0
    solve_lower(d)


@kernel
def orthogonalise(d: Ik, count: int) -> float:
    """Split `v` into combinations `y` of the first `count` rows of Q, and a rest `w`; return the rest's square."""
    n = d.ik.n
    for i in range(n):
        d.ik.w[i] = d.ik.v[i]
    for k in range(count):
        d.ik.y[k] = 0.0
    for _ in range(2):
        for k in range(count):
            share = 0.0
            for i in range(n):
                share += d.ik.Q[k, i] * d.ik.w[i]
            d.ik.y[k] += share
            for i in range(n):
                d.ik.w[i] -= share * d.ik.Q[k, i]
    square = 0.0
    for i in range(n):
        square += d.ik.w[i] * d.ik.w[i]
    return square


@kernel
def put_last(d: Ik, k: int, square: float) -> None:
    """Make `v`, split by `orthogonalise`, row `k` of V and Q and column `k` of R."""
    length = sqrt(square)
    for i in range(d.ik.n):
        d.ik.V[k, i] = d.ik.v[i]
        d.ik.Q[k, i] = d.ik.w[i] / length
    for j in range(k):
        d.ik.R[j, k] = d.ik.y[j]
    d.ik.R[k, k] = length


@kernel
def find_rates(d: Ik) -> None:
    """Replace `y` by R^-1 y: the change of each multiplier per unit of the new constraint's multiplier, negated."""
    for i in range(d.ik.nactive - 1, -1, -1):
        total = d.ik.y[i]
        for k in range(i + 1, d.ik.nactive):
            total -= d.ik.R[i, k] * d.ik.y[k]
        d.ik.y[i] = total / d.ik.R[i, i]


@kernel
def drop(d: Ik, place: int) -> None:
    """Remove the active constraint at `place`, and orthogonalise the later normals again. `v` is kept."""
    n = d.ik.n
    d.ik.state[d.ik.active[place]] = FREE
    d.ik.nactive -= 1
    for i in range(n):
        d.ik.z[i] = d.ik.v[i]
    for k in range(place, d.ik.nactive):
        d.ik.active[k] = d.ik.active[k + 1]
        d.ik.u[k] = d.ik.u[k + 1]
        for i in range(n):
            d.ik.v[i] = d.ik.V[k + 1, i]
        put_last(d, k, orthogonalise(d, k))
    for i in range(n):
        d.ik.v[i] = d.ik.z[i]


@kernel
def add_constraint(d: Ik, c: int) -> bool:
    """Move to the minimum over the active set and constraint `c`; return whether this is possible.

    If it is not, a constraint is ignored from then on (see `ignore_one`).
    """
    n = d.ik.n
    here = slack(d, c)
    sign = -1.0 if c < d.ik.nequal and here > 0.0 else 1.0
    load_normal(d, c, sign)
    norm = 0.0
    for i in range(n):
        norm += d.ik.v[i] * d.ik.v[i]
    multiplier = 0.0
    for _ in range(2 * n + 8):
        square = orthogonalise(d, d.ik.nactive)
        find_rates(d)
        most, leaving = NEVER, -1
        for k in range(d.ik.nactive):
            if d.ik.y[k] > 0.0 and d.ik.active[k] >= d.ik.nequal and d.ik.u[k] < most * d.ik.y[k]:
                most, leaving = d.ik.u[k] / d.ik.y[k], k
        full = -sign * slack(d, c) / square if square > DEPENDENT * norm else NEVER
        step = min(most, full)
        if step >= NEVER or d.ik.nactive > n:
            break
        if full < NEVER:
            for i in range(n):
                d.ik.z[i] = d.ik.w[i]
            solve_upper(d)
            for i in range(n):
                d.ik.x[i] += step * d.ik.z[i]
        for k in range(d.ik.nactive):
            d.ik.u[k] -= step * d.ik.y[k]
        multiplier += step
        if full <= most:
            # `find_rates` has overwritten the coefficients
            put_last(d, d.ik.nactive, orthogonalise(d, d.ik.nactive))
            d.ik.active[d.ik.nactive] = c
            d.ik.u[d.ik.nactive] = multiplier
            d.ik.nactive += 1
            d.ik.state[c] = ACTIVE
            return True
        drop(d, leaving)
    ignore_one(d, c)
    return False


@kernel
def ignore_one(d: Ik, c: int) -> None:
    """Ignore constraint `c`, which the active constraints exclude; or, if `c` is a bound, one of their rows.

    Bounds are kept, then equalities. Among several rows, that with the largest part in the contradiction is ignored.
    """
    chosen, largest = c, 0.0
    if c >= d.ik.nrow:
        for k in range(d.ik.nactive):
            row = d.ik.active[k]
            if row < d.ik.nrow:
                part = abs(d.ik.y[k]) * (1.0 if row >= d.ik.nequal else 1e-6)
                if part > largest:
                    chosen, largest = row, part
    d.ik.state[chosen] = IGNORED


@kernel
def find_minimum(d: Ik) -> None:
    """Set `x` to the minimum without constraints, from the factor L and the gradient g."""
    for i in range(d.ik.n):
        d.ik.v[i] = -d.ik.g[i]
    solve_lower(d)
    for i in range(d.ik.n):
        d.ik.z[i] = d.ik.v[i]
    solve_upper(d)
    for i in range(d.ik.n):
        d.ik.x[i] = d.ik.z[i]
    d.ik.nactive = 0


@kernel
def most_violated(d: Ik) -> int:
    """Return the inequality that is violated most and may become active, or -1."""
    worst, found = -SATISFIED, -1
    for c in range(d.ik.nequal, d.ik.nrow + 2 * d.ik.n):
        if d.ik.state[c] == FREE:
            value = slack(d, c)
            if value < worst:
                worst, found = value, c
    return found


@ik_stage
def solve_program(_m: Model, d: Ik, _i: int, _j: int) -> int:
    """Solve the program with the factor L; return the number of constraints that can't be met, and were ignored."""
    count = d.ik.nrow + 2 * d.ik.n
    for c in range(count):
        d.ik.state[c] = FREE
    ignored = 0
    find_minimum(d)
    c = 0
    for _ in range(4 * count + 20):
        if c < d.ik.nequal:
            if not add_constraint(d, c):
                ignored += 1
            c += 1
            continue
        c = most_violated(d)
        if c < 0:
            break
        if not add_constraint(d, c):
            # start again without the constraint: multipliers on the way to it have no meaning
            ignored += 1
            restart(d)
        c = d.ik.nequal
    for i in range(d.ik.n):
        d.ik.x[i] = min(max(d.ik.x[i], d.ik.x_low[i]), d.ik.x_high[i])
    return ignored


@kernel
def restart(d: Ik) -> None:
    """Return to the minimum over the equalities; constraints that are ignored stay so."""
    find_minimum(d)
    for c in range(d.ik.nrow + 2 * d.ik.n):
        if d.ik.state[c] == ACTIVE:
            d.ik.state[c] = FREE
    for c in range(d.ik.nequal):
        if d.ik.state[c] == FREE:
            add_constraint(d, c)
