"""Derivatives by the implicit function theorem, of the solver's result and of an integrator's acceleration.

**Solver** (spec: computation, reduced primal problem). The solution a = qacc is where the gradient of the primal cost
vanishes::

    r(a, q) = M a - qfrc_smooth - J' f(J a - aref) = 0

with the constraint forces f of `constraint.update`. The solver's iterations do not matter. If the quantities that
define the problem (M, qfrc_smooth, J, aref, D, R, friction, ...) change ::

    H da = - dr        H = dr/da = M + J' H[s] J        dr: at constant a

(Krantz and Parks, The Implicit Function Theorem, 2003, section 3.3.) H is the Newton solver's Hessian. It is factorised
once at the solution, for every kind of solver. For a row at a kink of its cost, `constraint.update` chooses the zone,
and the derivative is one-sided. It is always finite, because M is positive definite. There are four stages:

1. `factor_solution` factorises H. It has no tangents: H does not depend on the direction.
2. `solution_imbalance` computes r at ``work.solved``, a copy of qacc without tangents, so that its tangents are dr.
3. `clear_imbalance` makes the value of r exactly 0, which leaves the value of qacc as it is.
4. `solve_imbalance` is linear; its tangents are d(qacc).

The tangents of `constraint.update.inv_constraint` then are those of ``efc_force`` and ``qfrc_constraint``.

**No-slip solver** (spec: modelling, solver settings). It makes a few sweeps after the main solver, and usually stops
long before it converges. Therefore its own code has tangents: the sweeps are differentiated as they were made. It reads
the inverse inertia in constraint space, A + R, so that the stage which computes it has tangents too, and the bias J
qacc_smooth - aref from `dual_bias`. The sweeps begin with the forces of the main solver (`recall_forces`). If PGS has
not converged, these forces differ from those that follow from its acceleration. If the sweeps began with the latter,
the following passes of RK4 could deviate arbitrarily.

**Integrators** (spec: computation, numerical integration). Euler with implicit damping and implicitfast step with the
acceleration b that solves ::

    (M - h D) b = qfrc_smooth + qfrc_constraint = M a        a = qacc

with D the negative damping, or qDeriv. So the residual r = M (b - a) - h D b is 0, and (M - h D) db = - dr with dr at
constant b. Tangents of the factor are not needed. Tangents of the constraint forces are not needed either, because M a
replaces the forces. `factor_step` runs with the values. `euler_imbalance` and `implicitfast_imbalance` compute r at
``work.step_constant``, a copy of b without tangents. `clear_imbalance` follows. The tangents of `take_step` are those
of the next state. For the integrator `step.integrators.implicitfast_with_blocks`, stages whose names end with
``_with_blocks`` do the same.
"""

from __future__ import annotations

from cardan.constraint.jacobian import mul_jac_vec
from cardan.constraint.update import constraint_update, forces_at
from cardan.dynamics.derivatives import implicit_entry, implicit_inertia
from cardan.dynamics.free_bodies import factor_blocks, is_standalone, solve_blocks
from cardan.dynamics.inertia import factor_ld, mul_m, solve_ld
from cardan.dynamics.reflected import any_added_damping, dof_slope
from cardan.enums.codes import INT_IMPLICITFAST
from cardan.jit import OK, kernel, stage
from cardan.maths.types import Array1
from cardan.model.kernel_views import Data, Model
from cardan.model.tables import GROW_SOLUTION
from cardan.solver.dense import change_dense_hessian, factor_dense, start_dense_hessian
from cardan.solver.islands import dof_range, link_trees, number_islands, order_dofs, order_runs, tree_root
from cardan.solver.newton import any_cone, prepare_island
from cardan.solver.sparse import factor_sparse
from cardan.step.integrators import advance, damped_inertia, has_damping

GROW = int(GROW_SOLUTION)


@stage
def solution_imbalance(m: Model, d: Data) -> int:
    """Set ``work.imbalance`` to M a - qfrc_smooth - J' f at a = ``work.solved``, with the constraint forces f at a.

    Reads qM, qfrc_smooth and the rows; also writes efc_force, efc_state and qfrc_constraint.
    """
    forces_at(m, d, d.work.solved)
    mul_m(m, d, d.work.imbalance, d.work.solved)
    for i in range(m.nv):
        d.work.imbalance[i] -= d.qfrc_smooth[i] + d.qfrc_constraint[i]
    return OK


@stage
def factor_solution(m: Model, d: Data) -> int:
    """Factorise the Hessian H of the primal cost at qacc, as L' D L, into ``work.solution_*``.

    Reads qM, qacc and the rows; writes efc_force, efc_state, contact.H and ``work.solved``, a copy of qacc. The factor
    has one row per dof, with the entries before the diagonal and the reciprocal of the diagonal. Here, trees without
    constraints are islands too, so that the factor includes all dofs.
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
        room = used + (n * (n - 1) // 2 if d.work.dense_island != 0 else (int(d.work.factor_nnz) - n) // 2)
        if room > len(d.work.solution_L):
            d.work.need = room
            return GROW
        if d.work.dense_island != 0:
            start_dense_hessian(m, d, island)
            change_dense_hessian(d, island)
            factor_dense(m, d, island)
        else:
            factor_sparse(m, d, island)
        used = keep_factor(d, island, used)
    return OK


@kernel
def all_islands(m: Model, d: Data) -> int:
    """Find islands as `solver.islands.partition` does, but include trees without rows. Return the number of islands."""
    for t in range(m.ntree + 1):
        d.work.tree_parent[t] = t
        d.work.tree_nrow[t] = 0
    link_trees(m, d, False, 0)
    for t in range(m.ntree):
        d.work.tree_nrow[tree_root(d, t)] += 1
    count = number_islands(m, d)
    order_dofs(m, d, count)
    order_runs(d, count)
    return count


@kernel
def keep_factor(d: Data, island: int, used: int) -> int:
    """Append the non-zero off-diagonal entries of an island's factor to ``work.solution_L``, and store its pivots.

    Return the new number of entries.
    """
    first, n = dof_range(d, island)
    dense = d.work.dense_island != 0
    for i in range(n):
        dof = int(d.work.dof_at[first + i])
        d.work.solution_adr[dof] = used
        adr, before = (i * n, i) if dense else (int(d.work.L_adr[i]), int(d.work.L_nnz[i]) - 1)
        for k in range(before):
            if d.work.L[adr + k] != 0.0:
                column = k if dense else int(d.work.L_col[adr + k])
                d.work.solution_L[used] = d.work.L[adr + k]
                d.work.solution_col[used] = d.work.dof_at[first + column]
                used += 1
        d.work.solution_nnz[dof] = used - d.work.solution_adr[dof]
        d.work.solution_pivot[dof] = d.work.L[adr + i] if dense else d.work.Ldiag_inv[i]
    return used


@stage
def clear_imbalance(m: Model, d: Data) -> int:
    """Set ``work.imbalance`` and ``work.step_imbalance`` to exactly 0, without their rounding errors.

    Only the tangents of these arrays are used.
    """
    for i in range(m.nv):
        d.work.imbalance[i] = 0.0
        d.work.step_imbalance[i] = 0.0
    return OK


@kernel
def solve_with_factor(m: Model, d: Data, x: Array1) -> None:
    """Replace x (nv,) by H^-1 x, with H = L' D L (unit L) from `factor_solution`."""
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


@stage
def solve_imbalance(m: Model, d: Data) -> int:
    """Set qacc to ``work.solved`` - H^-1 ``work.imbalance``."""
    solve_with_factor(m, d, d.work.imbalance)
    for i in range(m.nv):
        d.qacc[i] = d.work.solved[i] - d.work.imbalance[i]
    return OK


@stage
def dual_bias(m: Model, d: Data) -> int:
    """Set ``efc_b`` to J qacc_smooth - efc_aref, as the main solver does."""
    mul_jac_vec(m, d, d.qacc_smooth, d.efc_b)
    for i in range(d.nefc):
        d.efc_b[i] -= d.efc_aref[i]
    return OK


@stage
def keep_forces(m: Model, d: Data) -> int:
    """Store the main solver's ``efc_force`` in ``work.solved_force``, before `factor_solution` changes it."""
    for i in range(d.nefc):
        d.work.solved_force[i] = d.efc_force[i]
    return OK


@stage
def recall_forces(m: Model, d: Data) -> int:
    """Restore the values of ``efc_force`` that `keep_forces` stored; its tangents do not change."""
    for i in range(d.nefc):
        d.efc_force[i] = d.work.solved_force[i]
    return OK


@kernel
def _factor_step(m: Model, d: Data, blocks: bool) -> None:
    """Factorise M - h D, and write the acceleration that the integrator uses to ``work.step_constant``."""
    b = d.work.step_constant
    fast = m.opt.integrator == INT_IMPLICITFAST
    if fast:
        implicit_inertia(m, d)
    else:
        damped_inertia(m, d)
    if blocks:
        factor_blocks(m, d)
    factor_ld(m, d, d.qH, d.qHDiagInv)
    if fast or has_damping(m):
        for i in range(m.nv):
            b[i] = d.qfrc_smooth[i] + d.qfrc_constraint[i]
        _solve_step(m, d, b, blocks)
    else:
        for i in range(m.nv):
            b[i] = d.qacc[i]


@kernel
def _solve_step(m: Model, d: Data, x: Array1, blocks: bool) -> None:
    """Replace x (nv,) by (M - h D)^-1 x, with the factors of `_factor_step`."""
    solve_ld(m, d.qH, d.qHDiagInv, x, 0)
    if blocks:
        solve_blocks(m, d, x)


@stage
def factor_step(m: Model, d: Data) -> int:
    """Set qH to the factor of M - h D, and ``work.step_constant`` to the acceleration that the integrator uses.

    The Euler integrator needs the factor even without damping, for derivatives with respect to a damping of 0.
    """
    _factor_step(m, d, False)
    return OK


@stage
def factor_step_with_blocks(m: Model, d: Data) -> int:
    """Do as `factor_step`, but store the factors of standalone free bodies in qLU."""
    _factor_step(m, d, True)
    return OK


@stage
def euler_imbalance(m: Model, d: Data) -> int:
    """Set ``work.step_imbalance`` for Euler to M (b - a) + h damping b, or to b - a if no dof has damping."""
    left = d.work.step_imbalance
    d.work.step_damped = 0
    if has_damping(m):
        d.work.step_damped = 1
        for i in range(m.nv):
            d.work.qacc_step[i] = d.work.step_constant[i] - d.qacc[i]
        mul_m(m, d, left, d.work.qacc_step)
        added = any_added_damping(m)
        for i in range(m.nv):
            left[i] += m.opt.timestep * dof_slope(m, d, i, added) * d.work.step_constant[i]
    else:
        for i in range(m.nv):
            left[i] = d.work.step_constant[i] - d.qacc[i]
    return OK


@kernel
def _implicitfast_imbalance(m: Model, d: Data, blocks: bool) -> None:
    """Compute `implicitfast_imbalance`; if `blocks`, with the complete qDeriv of standalone free bodies."""
    left, b = d.work.step_imbalance, d.work.step_constant
    d.work.step_damped = 1
    mul_m(m, d, left, d.qacc)
    for i in range(m.nv):
        left[i] = -left[i]
    for dof in range(m.nv):
        whole = blocks and is_standalone(m, dof)
        for adr in range(m.aux.M_rowadr[dof], m.aux.M_rowadr[dof + 1]):
            entry = mirrored = implicit_entry(m, d, dof, adr)
            if whole:
                entry = d.qM[adr] - m.opt.timestep * d.qDeriv[m.aux.M_to_D[adr]]
                mirrored = d.qM[adr] - m.opt.timestep * d.qDeriv[m.aux.M_to_DT[adr]]
            column = m.aux.M_colind[adr]
            left[dof] += entry * b[column]
            if column != dof:
                left[column] += mirrored * b[dof]


@stage
def implicitfast_imbalance(m: Model, d: Data) -> int:
    """Set ``work.step_imbalance`` for implicitfast to (M - h qDeriv) b - M a, with the matrix of `implicit_inertia`."""
    _implicitfast_imbalance(m, d, False)
    return OK


@stage
def implicitfast_with_blocks_imbalance(m: Model, d: Data) -> int:
    """Do as `implicitfast_imbalance`, but use all entries of qDeriv for standalone free bodies."""
    _implicitfast_imbalance(m, d, True)
    return OK


@kernel
def _take_step(m: Model, d: Data, blocks: bool) -> None:
    """Do as `take_step`; if `blocks`, solve the blocks of standalone free bodies separately."""
    change = d.work.step_imbalance
    if d.work.step_damped != 0:
        _solve_step(m, d, change, blocks)
    for i in range(m.nv):
        d.work.qacc_step[i] = d.work.step_constant[i] - change[i]
    advance(m, d, d.work.qacc_step, d.qvel, d.act_dot)


@stage
def take_step(m: Model, d: Data) -> int:
    """Advance with the acceleration ``work.step_constant`` - (M - h D)^-1 ``work.step_imbalance``."""
    _take_step(m, d, False)
    return OK


@stage
def take_step_with_blocks(m: Model, d: Data) -> int:
    """Do as `take_step`, but with the factors of `factor_step_with_blocks`."""
    _take_step(m, d, True)
    return OK
