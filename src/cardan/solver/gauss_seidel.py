"""Projected Gauss-Seidel and no-slip solvers (spec: computation, algorithms, PGS; modelling, solver settings).

PGS sweeps over the rows of the dual problem (see `dual`). Each row's force is set to its best admissible value for the
current forces of the other rows. The rows of an elliptic contact form one block. First, all forces of the block are
scaled along the ray from the tip of the cone. Then the block's friction forces are optimised in the ellipsoid that the
normal force allows.

The no-slip solver is a modified PGS that suppresses slip. It runs after the main solver, and updates only friction
forces: friction loss, and the friction of contacts at a fixed normal force. For a pyramidal contact it updates opposite
edges and keeps the sum of their forces. The regulariser R is left out, so that these constraints become hard.
"""

from __future__ import annotations

from math import sqrt

from cardan.constraint.jacobian import mul_jac_vec
from cardan.constraint.rows import is_sparse
from cardan.constraint.update import constraint_update, friction_limit, is_lagged
from cardan.enums.codes import CNSTR_CONTACT_ELLIPTIC, CNSTR_CONTACT_PYRAMIDAL, DSBL_WARMSTART
from cardan.jit import OK, kernel, stack_array, stage
from cardan.maths.types import Array1
from cardan.maths.vector import MINVAL
from cardan.model.fields_arena import MAX_CONDIM, MAX_FRICTION
from cardan.model.kernel_views import Data, Model
from cardan.solver.certificate import inertia_scale
from cardan.solver.dual import (
    ALL_ROWS,
    accept,
    apply_forces,
    load_block,
    piece_rows,
    pieces_of,
    record_sweep,
    start_residuals,
    update_row,
    update_states,
)
from cardan.solver.islands import arrange, solves_apart
from cardan.solver.momentum import extrapolate, take_back
from cardan.solver.primal import begin_without_rows
from cardan.solver.statistics import close_islands, open_slot, reset_statistics

MATRIX = MAX_FRICTION * MAX_FRICTION  # number of elements of the largest matrix

STEPS = 20  # maximum number of Newton steps
NEAR = 1e-10  # the steps end when the excess of |y|^2 and the change of lambda are below this


@kernel
def minimize_in_ellipsoid(a: Array1, b: Array1, scale: Array1, radius: float, n: int, x: Array1) -> None:
    """Minimise 1/2 x' A x + b' x over the ellipsoid sum (x_i / s_i)^2 <= r^2, in `n` <= 5 dimensions.

    `scale` holds s, and `radius` is r. The minimiser is written to `x`; if A is not positive definite, `x` is set to 0.

    With y = x / s, the ellipsoid becomes a ball. Let S = diag(s), P = S A S and q = S b. The minimiser solves
    (P + lambda) y = -q, where either lambda = 0 or |y| = r. In the second case, Newton's method finds the root of
    |y(lambda)|^2 - r^2, starting from 0 (Boyd and Vandenberghe, Convex Optimization, appendix B).
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
    """Solve the problem of `minimize_in_ellipsoid` in two dimensions, where no factorisation is needed."""
    s0, s1 = scale[0], scale[1]
    p00, p01, p11 = a[0] * s0 * s0, a[1] * s0 * s1, a[3] * s1 * s1
    q0, q1 = b[0] * s0, b[1] * s1
    multiplier, squared, y0, y1 = 0.0, 0.0, 0.0, 0.0
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
    """Factorise S A S + `multiplier` I = L D^-1 L' with S = diag(`scale`).

    L is lower triangular, and D is its diagonal. `factor` holds L (n x n, row by row), with reciprocals on the
    diagonal. Return False if the matrix is not positive definite.
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
    """Solve a linear system in place: `x` (n,) holds the right-hand side, then the solution.

    `factor` is the factorisation of the matrix, from `factor_scaled`.
    """
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


CONTACT_MATRIX = MAX_CONDIM * MAX_CONDIM


@stage
def solve_gauss_seidel(m: Model, d: Data) -> int:
    """Compute constraint forces and acceleration by PGS over all rows, by the rules of MuJoCo 3.1 (`start_forces`)."""
    d.solver_niter[0] = 0
    if start_forces(m, d):
        reset_slots(m, d)
        descend(m, d, ALL_ROWS, 1.0 / (m.stat.meaninertia * max(1, m.nv)))
        apply_forces(m, d)
    return OK


@stage
def solve_gauss_seidel_4_0(m: Model, d: Data) -> int:
    """Compute constraint forces and acceleration by PGS, by the rules of MuJoCo 4.0 (`start_forces`).

    Islands are solved one after the other, or all rows together if the flag `island` is not set. Costs are scaled by
    1 / trace(M) of the island, or of the model.
    """
    d.solver_niter[0] = 0
    if start_forces(m, d):
        reset_slots(m, d)
        if solves_apart(m):
            count = arrange(m, d, False)
            for island in range(count):
                open_slot(d, island)
                descend_with_momentum(m, d, island, inertia_scale(m, d, island))
            close_islands(m, d, count)
        else:
            total = 0.0
            for dof in range(m.nv):
                total += d.qM[m.aux.M_rowadr[dof]]
            descend_with_momentum(m, d, ALL_ROWS, 1.0 / max(total, MINVAL))
        apply_forces(m, d)
    return OK


@kernel
def start_forces(m: Model, d: Data) -> bool:
    """Write the forces from which PGS starts, their states and residuals; return whether there are rows.

    The start is the forces that belong to qacc_warmstart if their cost is below that of zero forces. PGS reads
    qacc_smooth, the rows, ``work.AR`` and qacc_warmstart. It writes efc_b, efc_force, efc_state, qfrc_constraint, qacc
    and the solver statistics.
    """
    begin_without_rows(m, d)
    if d.nefc == 0:
        return False
    mul_jac_vec(m, d, d.qacc_smooth, d.efc_b)
    mul_jac_vec(m, d, d.qacc_warmstart, d.work.jar)
    for i in range(d.nefc):
        d.efc_b[i] -= d.efc_aref[i]
        d.work.jar[i] -= d.efc_aref[i]
    constraint_update(d, d.work.jar, 0)
    cost = 1.0
    if m.opt.disableflags & DSBL_WARMSTART == 0:
        start_residuals(d, is_sparse(m))
        cost = 0.0
        for i in range(d.nefc):
            cost += 0.5 * d.efc_force[i] * (d.work.jar[i] + d.efc_b[i])
    if not cost <= 0.0:
        for i in range(d.nefc):
            d.efc_force[i] = 0.0
            d.work.jar[i] = d.efc_b[i]
    update_states(d, 0, int(d.nefc))
    return True


@kernel
def reset_slots(m: Model, d: Data) -> None:
    """Clear the statistics, and open slot 0, which counts the entries of the matrix of the dual problem."""
    reset_statistics(d)
    last = int(d.nefc) - 1
    d.solver_nnz[0] = d.efc_AR_rowadr[last] + d.efc_AR_rownnz[last] if is_sparse(m) else d.nefc * d.nefc


@kernel
def descend(m: Model, d: Data, island: int, scale: float) -> None:
    """Sweep over the rows of an island, or `ALL_ROWS`, until the decrease of the cost times `scale` is small."""
    sparse = is_sparse(m)
    for k in range(m.opt.iterations):
        improvement = scale * sweep_island(d, island, sparse)
        record_sweep(d, island, k, improvement)
        if not improvement >= m.opt.tolerance:
            break


@kernel
def descend_with_momentum(m: Model, d: Data, island: int, scale: float) -> None:
    """Do as `descend`, with sweeps that start from extrapolated forces (see `momentum`).

    A step that would raise the cost is taken back. The solver stops only after a small step without momentum.
    """
    sparse = is_sparse(m)
    pace = 1.0
    for k in range(m.opt.iterations):
        following = 0.5 + sqrt(0.25 + pace * pace)
        share = (pace - 1.0) / following
        rise = extrapolate(d, island, share, sparse)
        decrease = sweep_island(d, island, sparse) - rise
        if decrease < 0.0:
            take_back(d, island)
            decrease = 0.0
        improvement = scale * decrease
        record_sweep(d, island, k, improvement)
        is_small = not improvement >= m.opt.tolerance
        if is_small and share == 0.0:
            break
        pace = 1.0 if is_small else following


@kernel
def sweep_island(d: Data, island: int, sparse: bool) -> float:
    """Update the forces of an island's rows, or of `ALL_ROWS`, once; return the decrease of the cost."""
    decrease = 0.0
    begin, end = pieces_of(d, island)
    for piece in range(begin, end):
        first, stop = piece_rows(d, piece)
        decrease += sweep(d, first, stop, sparse)
    return decrease


@kernel
def sweep(d: Data, first: int, end: int, sparse: bool) -> float:
    """Update the forces of the rows `first` to `end` (exclusive), one constraint after the other.

    Return the decrease of the cost.
    """
    decrease, i = 0.0, first
    while i < end:
        if d.efc_type[i] == CNSTR_CONTACT_ELLIPTIC:
            decrease += update_contact(d, i, sparse)
            i += int(d.contact.dim[d.efc_id[i]])
        else:
            decrease += update_row(d, i, d.work.AR[d.work.AR_diagonal[i]], d.work.jar[i], sparse)
            i += 1
    return decrease


@kernel
def update_contact(d: Data, start: int, sparse: bool) -> float:
    """Update the forces of the elliptic contact whose first row is `start`; return the decrease of the cost."""
    block = stack_array(CONTACT_MATRIX)
    residual = stack_array(MAX_CONDIM)
    forces = stack_array(MAX_CONDIM)
    con = int(d.efc_id[start])
    dim = int(d.contact.dim[con])
    load_block(d, start, dim, True, block, residual)
    for a in range(dim):
        forces[a] = d.efc_force[start + a]
    if is_lagged(d, con):
        forces[0] = max(0.0, forces[0] - residual[0] / block[0])  # friction has a limit of its own
    elif forces[0] < MINVAL:
        # at the tip, only the normal force is optimised
        forces[0] = max(0.0, forces[0] - residual[0] / block[0])
        for a in range(1, dim):
            forces[a] = 0.0
    else:
        # scale the forces by the best non-negative factor
        curvature, slope = 0.0, 0.0
        for a in range(dim):
            slope += forces[a] * residual[a]
            for b in range(dim):
                curvature += forces[a] * block[a * dim + b] * forces[b]
        if curvature >= MINVAL:
            factor = max(0.0, 1.0 - slope / curvature)
            for a in range(dim):
                forces[a] *= factor
    slice_cone(d, con, start, block, residual, forces)
    return accept(d, start, dim, sparse, block, residual, forces)


@kernel
def slice_cone(d: Data, con: int, start: int, block: Array1, residual: Array1, forces: Array1) -> None:
    """Set the friction forces in `forces` to the minimiser of the cost for the normal force forces[0].

    With the lagged law, the normal force of the last step limits them.

    `block` and `residual` are the results of `load_block` at the current efc_force.
    """
    a = stack_array(MATRIX)
    b = stack_array(MAX_FRICTION)
    scale = stack_array(MAX_FRICTION)
    best = stack_array(MAX_FRICTION)
    dim = int(d.contact.dim[con])
    n, limit = dim - 1, friction_limit(d, con, forces[0])
    if limit < MINVAL:
        for i in range(n):
            forces[i + 1] = 0.0
        return
    for i in range(n):
        row = (i + 1) * dim
        # derivative at zero friction
        b[i] = residual[i + 1] + block[row] * (forces[0] - d.efc_force[start])
        for j in range(n):
            a[i * n + j] = block[row + j + 1]
            b[i] -= block[row + j + 1] * d.efc_force[start + j + 1]
        scale[i] = d.contact.friction[con, i]
    minimize_in_ellipsoid(a, b, scale, limit, n, best)
    for i in range(n):
        forces[i + 1] = best[i]


EDGES = 2  # opposite edges of a pyramid, updated together
EDGE_MATRIX = EDGES * EDGES


@stage
def solve_noslip(m: Model, d: Data) -> int:
    """Run the no-slip solver: update efc_force of the friction dimensions, then efc_state, qfrc_constraint and qacc.

    Reads ``work.AR`` and efc_b. The statistics are appended to the statistics of the main solver.
    """
    if d.nefc == 0:
        return OK
    sparse = is_sparse(m)
    scale = 1.0 / (m.stat.meaninertia * max(1, m.nv))
    # the cost of the regulariser is no longer included: the first sweep counts it as an improvement
    released = 0.0
    for i in range(d.nefc):
        released += 0.5 * d.efc_R[i] * d.efc_force[i] * d.efc_force[i]
    start_residuals(d, sparse)
    d.work.statistics_slot = 0
    before = int(d.solver_niter[0])
    for k in range(m.opt.noslip_iterations):
        improvement = scale * (released + sweep_friction(d, sparse))
        released = 0.0
        record_sweep(d, ALL_ROWS, before + k, improvement)
        if not improvement >= m.opt.noslip_tolerance:
            break
    apply_forces(m, d)
    return OK


@kernel
def sweep_friction(d: Data, sparse: bool) -> float:
    """Update all friction forces once; return the decrease of the cost."""
    decrease = 0.0
    first = int(d.ne)
    for i in range(first, first + d.nf):
        residual = d.work.jar[i] - d.efc_R[i] * d.efc_force[i]
        decrease += update_row(d, i, d.work.AR[d.work.AR_diagonal[i]] - d.efc_R[i], residual, sparse)
    i = first + int(d.nf)
    while i < d.nefc:
        if d.efc_type[i] == CNSTR_CONTACT_PYRAMIDAL:
            decrease += update_edges(d, i, sparse)
            i += 2
        elif d.efc_type[i] == CNSTR_CONTACT_ELLIPTIC:
            decrease += update_slice(d, i, sparse)
            i += int(d.contact.dim[d.efc_id[i]])
        else:
            i += 1
    return decrease


@kernel
def update_edges(d: Data, i: int, sparse: bool) -> float:
    """Update the forces of two opposite pyramid edges (rows `i` and `i` + 1) without changing their sum.

    Return the decrease of the cost.
    """
    block = stack_array(EDGE_MATRIX)
    residual = stack_array(EDGES)
    forces = stack_array(EDGES)
    load_block(d, i, EDGES, False, block, residual)
    mean = 0.5 * (d.efc_force[i] + d.efc_force[i + 1])
    half = 0.5 * (d.efc_force[i] - d.efc_force[i + 1])
    curvature = block[0] + block[3] - block[1] - block[2]
    if curvature < MINVAL or mean <= 0.0:
        half = 0.0  # its derivatives become 0, too; clamping to equal bounds would keep them at half = 0
    else:
        half = min(max(half - (residual[0] - residual[1]) / curvature, -mean), mean)
    forces[0] = mean + half
    forces[1] = mean - half
    return accept(d, i, EDGES, sparse, block, residual, forces)


@kernel
def update_slice(d: Data, start: int, sparse: bool) -> float:
    """Update the friction forces of the elliptic contact whose first row is `start`; return the decrease in cost."""
    block = stack_array(MATRIX)
    residual = stack_array(MAX_FRICTION)
    b = stack_array(MAX_FRICTION)
    scale = stack_array(MAX_FRICTION)
    forces = stack_array(MAX_FRICTION)
    con = int(d.efc_id[start])
    n = int(d.contact.dim[con]) - 1
    load_block(d, start + 1, n, False, block, residual)
    for i in range(n):
        forces[i] = 0.0
        scale[i] = d.contact.friction[con, i]
        b[i] = residual[i]
        for j in range(n):
            b[i] -= block[i * n + j] * d.efc_force[start + 1 + j]
    limit = friction_limit(d, con, d.efc_force[start])
    if limit >= MINVAL:
        minimize_in_ellipsoid(block, b, scale, limit, n, forces)
    return accept(d, start + 1, n, sparse, block, residual, forces)
