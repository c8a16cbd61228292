"""Scales and bounds of an island's cost from the inertia matrix M: what the primal solvers know before they iterate.

The cost has at least the curvature M. Therefore a point with the gradient g is at most 1/2 g' M^-1 g above the minimum
(spec: computation, algorithms of MuJoCo 4.0, warm start).
"""

from __future__ import annotations

from cardan.jit import kernel
from cardan.maths.vector import MINVAL
from cardan.model.kernel_views import Data, Model
from cardan.solver.islands import dof_range

ROUNDED = 2e-15
"""Sum of the entries of a row of the unit triangular factor of M below which they are rounding errors."""


@kernel
def inertia_scale(m: Model, d: Data, island: int) -> float:
    """Factor by which an island's costs and gradients are scaled: 1 / the sum of the inertias of the island's dofs."""
    first, n = dof_range(d, island)
    total = 0.0
    for p in range(first, first + n):
        total += d.qM[m.aux.M_rowadr[d.work.dof_at[p]]]
    return 1.0 / max(total, MINVAL)


@kernel
def load_factor(m: Model, d: Data, island: int) -> None:
    """Copy the pivots of the factor of M to island order, and list the dofs whose rows have off-diagonal entries.

    Rows of vertices that slide along three axes have none. Those of free bodies with diagonal inertia have only
    rounding errors.
    """
    first, n = dof_range(d, island)
    count = 0
    for p in range(first, first + n):
        i = int(d.work.dof_at[p])
        d.work.pivot_inv[p] = d.qLDiagInv[i]
        size = 0.0
        for k in range(m.aux.M_rowadr[i] + 1, m.aux.M_rowadr[i + 1]):
            size += abs(d.qLD[k])
        if not size <= ROUNDED:
            d.work.coupled[count] = p
            count += 1
    d.work.ncoupled = count


@kernel
def precondition(m: Model, d: Data, island: int) -> float:
    """Compute z = M^-1 gradient for an island from the factor of M; return the product gradient' z."""
    first, n = dof_range(d, island)
    z = d.work.precond
    for p in range(first, first + n):
        z[p] = d.work.grad[p]
    # L' y = grad, from the leaves to the root; then D
    for c in range(d.work.ncoupled - 1, -1, -1):
        p = int(d.work.coupled[c])
        i = int(d.work.dof_at[p])
        value = z[p]
        for k in range(m.aux.M_rowadr[i] + 1, m.aux.M_rowadr[i + 1]):
            z[m.aux.M_colind[k] + p - i] -= d.qLD[k] * value
    for p in range(first, first + n):
        z[p] *= d.work.pivot_inv[p]
    # L z = y, from the root to the leaves
    for c in range(d.work.ncoupled):
        p = int(d.work.coupled[c])
        i = int(d.work.dof_at[p])
        value = z[p]
        for k in range(m.aux.M_rowadr[i] + 1, m.aux.M_rowadr[i + 1]):
            value -= d.qLD[k] * z[m.aux.M_colind[k] + p - i]
        z[p] = value
    product = 0.0
    for p in range(first, first + n):
        product += z[p] * d.work.grad[p]
    return product


@kernel
def certified_gap(m: Model, d: Data, island: int) -> float:
    """Compute 1/2 g' M^-1 g of an island: the cost is at most this far above the minimum. Writes ``precond``."""
    load_factor(m, d, island)
    return 0.5 * precondition(m, d, island)
