"""Dense Newton matrices of one island: Hessian, factorisation and solution.

``work.H`` holds the Hessian ``M + J' D J``, summed over the constraint rows in the quadratic zone. It is updated when
constraint rows change state. ``work.L`` holds the factorisation H = L' D L. It is computed from the last dof to the
first (Featherstone, Rigid Body Dynamics Algorithms, section 6.5), an order without fill-in where the kinematic tree has
zeros. Before the factorisation, elliptic contacts in the zone CONE add J' (contact.H) J to ``work.L``. Both arrays hold
lower triangles of row-major n x n matrices. The diagonal of ``work.L`` holds reciprocal pivots. The off-diagonal
entries of each row are not divided by the row's pivot.
"""

from __future__ import annotations

from cardan.enums.codes import CNSTRSTATE_CONE, CNSTRSTATE_QUADRATIC, CNSTRSTATE_SATISFIED
from cardan.jit import kernel, stack_array
from cardan.maths.vector import MINVAL
from cardan.model.kernel_views import Data, Model
from cardan.solver.islands import RUN_ELLIPTIC, dof_range, run_range
from cardan.solver.jacobian import DENSE_MAX, LONE
from cardan.solver.panels import least_pivot

FEW_DIGITS = 1e-12
"""Smallest ratio of a pivot to its diagonal element. Rounding errors of smaller pivots can make others negative."""


@kernel
def start_dense_hessian(m: Model, d: Data, island: int) -> None:
    """Initialise ``work.H`` with the island's inertia matrix, and mark all constraint rows as not yet added."""
    first, n = dof_range(d, island)
    for k in range(n * n):
        d.work.H[k] = 0.0
    for p in range(n):
        i = int(d.work.dof_at[first + p])
        base = p * n + p - i
        for k in range(m.aux.M_rowadr[i], m.aux.M_rowadr[i + 1]):
            d.work.H[base + m.aux.M_colind[k]] = d.qM[k]
    begin, end = run_range(d, island)
    for run in range(begin, end):
        i = int(d.work.run_order[run])
        for r in range(d.work.run_start[i], d.work.run_stop[i]):
            d.work.row_state[r] = CNSTRSTATE_SATISFIED


@kernel
def change_dense_hessian(d: Data, island: int) -> None:
    """Update ``work.H`` for rows whose state has changed since ``row_state`` was saved.

    Rows that entered the quadratic zone are added; rows that left the zone are subtracted.
    """
    n = int(d.work.island_ndof[island])
    begin, end = run_range(d, island)
    for run in range(begin, end):
        i = d.work.run_order[run]
        for r in range(d.work.run_start[i], d.work.run_stop[i]):
            now = 1 if d.efc_state[r] == CNSTRSTATE_QUADRATIC else 0
            before = 1 if d.work.row_state[r] == CNSTRSTATE_QUADRATIC else 0
            if now != before:
                adr = int(d.work.row_adr[r])
                weight = (now - before) * d.efc_D[r]
                if d.work.row_nnz[r] == LONE:
                    d.work.H[d.work.J_col[adr] * (n + 1)] += weight * d.work.J[adr] * d.work.J[adr]
                else:
                    add_dense_row(d, adr, n, weight)


@kernel
def add_dense_row(d: Data, adr: int, n: int, weight: float) -> None:
    """Add `weight` times the outer product of the row of ``work.J`` at `adr` to ``work.H``."""
    row = stack_array(DENSE_MAX)
    for k in range(n):
        row[k] = d.work.J[adr + k]
    for i in range(n):
        c = weight * row[i]
        if c != 0.0:
            base = i * n
            for k in range(i + 1):
                d.work.H[base + k] += c * row[k]


@kernel
def factor_dense(m: Model, d: Data, island: int) -> None:
    """Factorise the Hessian, cone terms included, into ``work.L``.

    ``work.factor_nnz`` is set to the number of non-zero entries, counted in both triangles.
    """
    n = int(d.work.island_ndof[island])
    for k in range(n * n):
        d.work.L[k] = d.work.H[k]
    if d.work.has_cone != 0:
        # elliptic contacts in the zone CONE
        begin, end = run_range(d, island)
        for run in range(begin, end):
            b = d.work.run_order[run]
            start = int(d.work.run_start[b])
            if d.work.run_kind[b] == RUN_ELLIPTIC and d.efc_state[start] == CNSTRSTATE_CONE:
                con = int(d.efc_id[start])
                for a in range(d.contact.dim[con]):
                    add_dense_cone_row(d, con, start, a, n)
    d.work.factor_nnz = n
    for i in range(n - 1, -1, -1):
        dof = int(d.work.dof_at[d.work.island_dof[island] + i])
        least = least_pivot(m, d, dof, d.work.H[i * n + i])
        d.work.factor_nnz = d.work.factor_nnz + 2 * eliminate_dense(d, n, i, least)


@kernel
def eliminate_dense(d: Data, n: int, i: int, least: float) -> int:
    """Raise the pivot of dof `i` to at least `least`, then eliminate the dof from the rows above.

    Return the number of non-zero entries of row `i` before the diagonal.
    """
    row = stack_array(DENSE_MAX)
    base = i * n
    pivot = max(d.work.L[base + i], least, MINVAL)
    if d.work.L[base + i] < FEW_DIGITS * d.work.H[base + i]:
        # no 2 x 2 determinant with the pivot may become negative
        found = 0.0
        for k in range(i):
            entry = d.work.L[base + k]
            found = max(found, entry * entry / max(d.work.L[k * n + k], MINVAL))
        pivot = max(pivot, found)
    inverse = 1.0 / pivot
    d.work.L[base + i] = inverse
    for k in range(i):
        row[k] = d.work.L[base + k]
    nnz = 0
    for j in range(i):
        c = row[j] * inverse
        if c != 0.0:
            nnz += 1
            target = j * n
            for k in range(j + 1):
                d.work.L[target + k] -= c * row[k]
    return nnz


@kernel
def add_dense_cone_row(d: Data, con: int, start: int, a: int, n: int) -> None:
    """Add row `a`'s part of the cone term J' (contact.H) J to ``work.L``, for elliptic contact `con` at row `start`.

    With j as row `a` of the contact's J and h as row `a` of contact.H, this part is (h J)' j.
    """
    row = stack_array(DENSE_MAX)
    dim = int(d.contact.dim[con])
    source = int(d.work.row_adr[start + a])
    for k in range(n):
        row[k] = d.work.J[source + k]
    for i in range(n):
        c = 0.0
        for b in range(dim):
            c += d.contact.H[con, a * dim + b] * d.work.J[d.work.row_adr[start + b] + i]
        if c != 0.0:
            base = i * n
            for k in range(i + 1):
                d.work.L[base + k] += c * row[k]


@kernel
def solve_dense(d: Data, island: int) -> None:
    """Compute ``search`` = - H^-1 ``grad``."""
    x = stack_array(DENSE_MAX)
    first, n = dof_range(d, island)
    for k in range(n):
        x[k] = -d.work.grad[first + k]
    # L' y = b, from the last dof to the first
    for i in range(n - 1, -1, -1):
        base = i * n
        y = x[i] * d.work.L[base + i]
        x[i] = y
        for k in range(i):
            x[k] -= y * d.work.L[base + k]
    # (unit) L x = y, from the first dof to the last
    for i in range(n):
        base = i * n
        total = 0.0
        for k in range(i):
            total += d.work.L[base + k] * x[k]
        x[i] -= total * d.work.L[base + i]
    for k in range(n):
        d.work.search[first + k] = x[k]
