"""Conjugate gradient solver (spec: computation, algorithms; Nocedal and Wright, Numerical Optimization, chapter 5).

The solver minimises the cost of the reduced primal problem (see `primal`) by the non-linear method of Polak and
Ribiere. If their formula gives a negative value, the method restarts (Polak-Ribiere-plus). The line search is exact,
and the inertia matrix is the preconditioner: directions are combinations of z = M^-1 gradient. Hence M times a
direction is a combination of gradients, and no product with M is needed.

By default, all degrees of freedom form one problem. If the flag `island` is set, each island is a separate problem. The
flag has no effect if the no-slip solver is used, because that solver treats all rows together.
"""

from __future__ import annotations

from math import sqrt

from cardan.constraint.rows import is_sparse
from cardan.enums.codes import DSBL_WARMSTART, ENBL_ISLAND
from cardan.jit import OK, kernel, stage
from cardan.maths.vector import MINVAL
from cardan.model.kernel_views import Data, Model
from cardan.solver.islands import dof_range, partition
from cardan.solver.jacobian import DENSE_MAX, load_jacobian, multiply_jacobian
from cardan.solver.linesearch import line_search
from cardan.solver.primal import choose_start, scatter, take_step, update_gradient
from cardan.solver.statistics import close_island, close_slot, open_slot, record_iteration, reset_statistics


@stage
def solve_conjugate(m: Model, d: Data) -> int:
    """Compute qacc and constraint forces.

    Fields and return value are as for `newton.solve_islands`. If islands are solved separately, each has its own slot
    in the statistics, and solver_nisland is the number of islands with dofs.
    """
    for i in range(m.nv):
        d.qacc[i] = d.qacc_smooth[i]
        d.qfrc_constraint[i] = 0.0
    apart = m.opt.enableflags & ENBL_ISLAND != 0 and m.opt.noslip_iterations <= 0
    if d.nefc == 0:
        d.solver_niter[0] = 0
    else:
        reset_statistics(d)
        count = partition(m, d, not apart)
        for island in range(count):
            d.work.dense_island = 1 if d.work.island_ndof[island] <= DENSE_MAX and not is_sparse(m) else 0
            status = load_jacobian(m, d, island)
            if status != OK:
                return status
            if apart:
                open_slot(d, island)
            scale = island_scale(m, d, island) if apart else 1.0 / (m.stat.meaninertia * max(1, m.nv))
            descend(m, d, island, scale)
            scatter(d, island)
            if apart:
                close_slot(d)
        if apart:
            # leave out the rows that touch no dof
            d.solver_nisland = count if d.work.tree_island[m.ntree] < 0 else count - 1
        else:
            close_slot(d)
    return OK


@kernel
def island_scale(m: Model, d: Data, island: int) -> float:
    """Factor by which an island's costs and gradients are scaled: 1 / the sum of the inertias of the island's dofs."""
    first, n = dof_range(d, island)
    total = 0.0
    for p in range(first, first + n):
        total += d.qM[m.aux.M_rowadr[d.work.dof_at[p]]]
    return 1.0 / max(total, MINVAL)


@kernel
def descend(m: Model, d: Data, island: int, scale: float) -> None:
    """Minimise the cost of one island; costs times `scale` (see `island_scale`) are compared with `opt.tolerance`."""
    first, n = dof_range(d, island)
    cost = choose_start(m, d, island, (m.opt.disableflags & DSBL_WARMSTART) == 0)
    squared = update_gradient(m, d, island) * scale * scale
    load_factor(m, d, island)
    reduction = precondition(m, d, island)
    for p in range(first, first + n):
        d.work.search[p] = -d.work.precond[p]
        d.work.Mv[p] = -d.work.grad[p]
    count = 0
    for k in range(m.opt.iterations):
        multiply_jacobian(d, island, d.work.search, d.work.jv)
        step, slope, neval = line_search(m, d, island, scale, 0.0)
        if step == 0.0:
            break
        # move, and measure the improvement
        previous = cost
        cost, squared = take_step(m, d, island, step, scale)
        improvement = scale * (previous - cost)
        record_iteration(d, island, k, improvement, scale * slope, neval, squared, 0)
        count = k + 1
        if not (improvement >= m.opt.tolerance and sqrt(squared) >= m.opt.tolerance):
            break
        # next direction: -z + beta times the previous one
        before, overlap = reduction, 0.0
        for p in range(first, first + n):
            overlap += d.work.grad[p] * d.work.precond[p]
        reduction = precondition(m, d, island)
        beta = max(0.0, (reduction - overlap) / max(before, MINVAL))
        for p in range(first, first + n):
            d.work.search[p] = beta * d.work.search[p] - d.work.precond[p]
            d.work.Mv[p] = beta * d.work.Mv[p] - d.work.grad[p]
    close_island(d, island, count, squared)


@kernel
def load_factor(m: Model, d: Data, island: int) -> None:
    """Copy the pivots of the factor of M to island order, and list the dofs whose rows have off-diagonal entries.

    Rows of balls, and of vertices that slide along three axes, have no off-diagonal entries.
    """
    first, n = dof_range(d, island)
    count = 0
    for p in range(first, first + n):
        i = int(d.work.dof_at[p])
        d.work.pivot_inv[p] = d.qLDiagInv[i]
        size = 0.0
        for k in range(m.aux.M_rowadr[i] + 1, m.aux.M_rowadr[i + 1]):
            size += abs(d.qLD[k])
        if size != 0.0:
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
