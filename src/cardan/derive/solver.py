"""Derivatives of the solver's result by the implicit function theorem (spec: computation, reduced primal problem).

The solution a = qacc is where the gradient of the primal cost vanishes::

    r(a, q) = M a - qfrc_smooth - J' f(J a - aref) = 0

with the constraint forces f of `constraint.update`. Whatever the solver did to come there does not matter: for a change
of what the problem is made of (M, qfrc_smooth, J, aref, D, R, friction, ...) ::

    H da = - dr        H = dr/da = M + J' H[s] J        dr: at constant a

(Krantz and Parks, The Implicit Function Theorem, 2003, section 3.3.) H is the Newton solver's Hessian, factorised once
at the solution, whatever solver found it. Rows at a kink of their cost belong to the zone that `constraint.update`
says, so that the derivative there is one-sided, and always finite: M is positive definite.

Four stages make it, and the tangents of two of them:

1. `factor_solution` factorises H. It has no tangents: H does not depend on the direction.
2. `solution_imbalance` computes r at ``work.solved``, a copy of qacc without tangents, so that its tangents are dr.
3. `clear_imbalance` makes the value of r exactly 0, which leaves the value of qacc as it is.
4. `solve_imbalance` is linear; its tangents are d(qacc).

Those of `constraint.inverse.inv_constraint` then are the tangents of ``efc_force`` and ``qfrc_constraint``.
"""

from __future__ import annotations

from cardan.constraint.jacobian import mul_jac_vec
from cardan.constraint.update import constraint_update, forces_at
from cardan.dynamics.inertia import mul_m
from cardan.jit import OK, kernel, stage
from cardan.model.kernel_views import Data, Model
from cardan.model.tables import GROW_SOLUTION
from cardan.solver.dense import change_dense_hessian, factor_dense, start_dense_hessian
from cardan.solver.islands import link_trees, number_islands, order_dofs, order_runs, tree_root
from cardan.solver.newton import any_cone, prepare_island
from cardan.solver.sparse import factor_sparse

GROW = int(GROW_SOLUTION)


@stage
def solution_imbalance(m: Model, d: Data) -> int:
    """``work.imbalance`` = M a - qfrc_smooth - J' efc_force at a = ``work.solved``, with the forces that belong to it.

    Reads qM, qfrc_smooth and the rows; writes efc_force, efc_state and qfrc_constraint on the way.
    """
    forces_at(m, d, d.work.solved)
    mul_m(m, d, d.work.imbalance, d.work.solved)
    for i in range(m.nv):
        d.work.imbalance[i] -= d.qfrc_smooth[i] + d.qfrc_constraint[i]
    return OK


@stage
def factor_solution(m: Model, d: Data) -> int:
    """Factorise the Hessian H of the primal cost at qacc, as L' D L, into ``work.solution_*``.

    Reads qM, qacc and the rows; writes efc_force, efc_state and contact.H. Rows of the factor are numbered by dof; each
    has the entries before its diagonal, and the diagonal's reciprocal. Every tree is in an island, so that the factor
    holds all dofs, also those that no constraint touches.

    Returns:
        OK, or a request to enlarge memory.
    """
    for i in range(m.nv):
        d.work.solved[i] = d.qacc[i]
    residual = d.work.efc_residual
    mul_jac_vec(m, d, d.qacc, residual)
    for i in range(d.nefc):
        residual[i] = residual[i] - d.efc_aref[i]
    constraint_update(d, residual, 1)
    used = 0
    for island in range(all_islands(m, d)):
        status = prepare_island(m, d, island, True)
        if status != OK:
            return status
        d.work.has_cone = 1 if any_cone(d, island) else 0
        n = int(d.work.island_ndof[island])
        room = used + factor_room(d, n)
        if room > len(d.work.solution_L):
            d.work.need = room
            return GROW
        if d.work.dense_island != 0:
            start_dense_hessian(m, d, island)
            change_dense_hessian(d, island)
            factor_dense(m, d, island)
            used = keep_dense(d, island, used)
        else:
            factor_sparse(m, d, island)
            used = keep_sparse(d, island, used)
    return OK


@kernel
def all_islands(m: Model, d: Data) -> int:
    """Find the islands, as `solver.islands.partition` does, trees without rows among them; returns their number."""
    for t in range(m.ntree + 1):
        d.work.tree_parent[t] = t
        d.work.tree_nrow[t] = 0
    link_trees(m, d, False)
    for t in range(m.ntree):
        d.work.tree_nrow[tree_root(d, t)] += 1
    count = number_islands(m, d)
    order_dofs(m, d, count)
    order_runs(d, count)
    return count


@kernel
def factor_room(d: Data, n: int) -> int:
    """Entries, at most, of the factor of an island of `n` dofs."""
    return n * (n - 1) // 2 if d.work.dense_island != 0 else (int(d.work.factor_nnz) - n) // 2


@kernel
def keep_dense(d: Data, island: int, used: int) -> int:
    """Append the rows of a dense factor, without zeros; returns how many entries there are now."""
    first = int(d.work.island_dof[island])
    n = int(d.work.island_ndof[island])
    for i in range(n):
        dof = int(d.work.dof_at[first + i])
        d.work.solution_adr[dof] = used
        for k in range(i):
            if d.work.L[i * n + k] != 0.0:
                d.work.solution_L[used] = d.work.L[i * n + k]
                d.work.solution_col[used] = d.work.dof_at[first + k]
                used += 1
        d.work.solution_nnz[dof] = used - d.work.solution_adr[dof]
        d.work.solution_pivot[dof] = d.work.L[i * n + i]
    return used


@kernel
def keep_sparse(d: Data, island: int, used: int) -> int:
    """Append the rows of a sparse factor; returns how many entries there are now."""
    first = int(d.work.island_dof[island])
    for i in range(d.work.island_ndof[island]):
        dof = int(d.work.dof_at[first + i])
        d.work.solution_adr[dof] = used
        adr = int(d.work.L_adr[i])
        for k in range(adr, adr + d.work.L_nnz[i] - 1):
            d.work.solution_L[used] = d.work.L[k]
            d.work.solution_col[used] = d.work.dof_at[first + d.work.L_col[k]]
            used += 1
        d.work.solution_nnz[dof] = used - d.work.solution_adr[dof]
        d.work.solution_pivot[dof] = d.work.Ldiag_inv[i]
    return used


@stage
def clear_imbalance(m: Model, d: Data) -> int:
    """``work.imbalance`` := 0, its value at the solution up to what the solver has left: only its tangents count."""
    for i in range(m.nv):
        d.work.imbalance[i] = 0.0
    return OK


@stage
def solve_imbalance(m: Model, d: Data) -> int:
    """Qacc := ``work.solved`` - H^-1 ``work.imbalance``, with the factor of `factor_solution`: (unit) L' D L = H."""
    x = d.work.imbalance
    for i in range(m.nv - 1, -1, -1):
        if x[i] != 0.0:
            value = x[i] * d.work.solution_pivot[i]
            x[i] = value
            adr = int(d.work.solution_adr[i])
            for k in range(adr, adr + d.work.solution_nnz[i]):
                x[d.work.solution_col[k]] -= d.work.solution_L[k] * value
    for i in range(m.nv):
        value = 0.0
        adr = int(d.work.solution_adr[i])
        for k in range(adr, adr + d.work.solution_nnz[i]):
            value += d.work.solution_L[k] * x[d.work.solution_col[k]]
        x[i] -= value * d.work.solution_pivot[i]
    for i in range(m.nv):
        d.qacc[i] = d.work.solved[i] - x[i]
    return OK
