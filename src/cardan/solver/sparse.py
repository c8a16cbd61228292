"""Sparse Newton matrices of one island: symbolic analysis, factorisation and solution.

The Hessian H = M + J' D J is factorised as L' D L from the last dof to the first. In this order, the inertia matrix
alone would have no fill-in (Featherstone, Rigid Body Dynamics Algorithms, section 6.5). `analyse` finds the pattern of
the factor with the elimination tree (Davis, Direct Methods for Sparse Linear Systems, chapter 4). Row i has the
columns of the ancestors of dof i, of the constraint rows whose last column is i, and of the children of i in the
elimination tree. Each row is computed in one pass: expand the row, subtract the rows below that have an entry in
column i, and store the result. Rows with the same columns are computed together (see `panels`).

Rows of the factor are stored in ``work.L`` with increasing columns ``work.L_col``, relative to the island. The last
entry of a row is the diagonal, whose reciprocal is stored in ``work.Ldiag_inv``; rows are not divided by it.
``work.LT_row`` and ``work.LT_entry`` list the entries by column.
"""

from __future__ import annotations

from cardan.enums.codes import CNSTRSTATE_CONE, CNSTRSTATE_QUADRATIC
from cardan.jit import OK, kernel
from cardan.maths.vector import MINVAL
from cardan.model.kernel_views import Data, Model
from cardan.model.tables import GROW_H
from cardan.solver.islands import dof_range, run_range
from cardan.solver.panels import WIDTH, factor_panel, find_panels, least_pivot

GROW = int(GROW_H)


@kernel
def analyse(m: Model, d: Data, island: int) -> int:
    """Find the pattern and the panels of the factor; return OK, or a request to enlarge ``work.L``."""
    transpose_jacobian(d, island)
    n = int(d.work.island_ndof[island])
    # list the constraint rows by their last column
    for i in range(n):
        d.work.row_head[i] = -1
    begin, end = run_range(d, island)
    for run in range(begin, end):
        b = d.work.run_order[run]
        for r in range(d.work.run_start[b], d.work.run_stop[b]):
            nnz = int(d.work.row_nnz[r])
            if nnz > 0 and d.work.group_end[r] > 0:
                last = d.work.J_col[d.work.row_adr[r] + nnz - 1]
                d.work.row_next[r] = d.work.row_head[last]
                d.work.row_head[last] = r
    for i in range(n):
        d.work.mark[i] = -1
        d.work.L_child[i] = -1
    total = 0
    for i in range(n - 1, -1, -1):
        if total + n > len(d.work.L):
            # upper bound for the remaining rows
            d.work.need = total + (i + 1) * (i + 2) // 2 + n
            return GROW
        d.work.L_adr[i] = total
        d.work.L_nnz[i] = 0
        row_pattern(m, d, island, i)
        # parent in the elimination tree: the last column before the diagonal
        parent = -1
        for k in range(d.work.L_adr[i], d.work.L_adr[i] + d.work.L_nnz[i]):
            if d.work.L_col[k] != i:
                parent = max(parent, d.work.L_col[k])
        if parent >= 0:
            d.work.L_next[i] = d.work.L_child[parent]
            d.work.L_child[parent] = i
        total += d.work.L_nnz[i]
    d.work.factor_nnz = 2 * total - n
    transpose_pattern(d, n)
    find_panels(d, n)
    return OK


@kernel
def transpose_jacobian(d: Data, island: int) -> None:
    """List the entries of the island's Jacobian by column (``JT_adr``, ``JT_nnz``, ``JT_row``, ``JT_entry``).

    Of each group of rows with the same columns, only the first row is listed.
    """
    n = int(d.work.island_ndof[island])
    for i in range(n):
        d.work.JT_nnz[i] = 0
    begin, end = run_range(d, island)
    for run in range(begin, end):
        b = d.work.run_order[run]
        for r in range(d.work.run_start[b], d.work.run_stop[b]):
            if d.work.group_end[r] > 0:
                for k in range(d.work.row_adr[r], d.work.row_adr[r] + d.work.row_nnz[r]):
                    d.work.JT_nnz[d.work.J_col[k]] += 1
    total = 0
    for i in range(n):
        d.work.JT_adr[i] = total
        total += d.work.JT_nnz[i]
        d.work.JT_nnz[i] = 0
    for run in range(begin, end):
        b = d.work.run_order[run]
        for r in range(d.work.run_start[b], d.work.run_stop[b]):
            if d.work.group_end[r] > 0:
                for k in range(d.work.row_adr[r], d.work.row_adr[r] + d.work.row_nnz[r]):
                    i = d.work.J_col[k]
                    entry = d.work.JT_adr[i] + d.work.JT_nnz[i]
                    d.work.JT_row[entry] = r
                    d.work.JT_entry[entry] = k
                    d.work.JT_nnz[i] += 1


@kernel
def row_pattern(m: Model, d: Data, island: int, i: int) -> None:
    """Write the columns of row `i` of the factor, unordered."""
    dof = int(d.work.dof_at[d.work.island_dof[island] + i])
    shift = i - dof
    # the chain of the dof, including the dof
    for k in range(m.aux.M_rowadr[dof], m.aux.M_rowadr[dof + 1]):
        add_column(d, i, int(m.aux.M_colind[k]) + shift)
    # constraint rows that end here
    r = int(d.work.row_head[i])
    while r >= 0:
        for k in range(d.work.row_adr[r], d.work.row_adr[r] + d.work.row_nnz[r]):
            add_column(d, i, int(d.work.J_col[k]))
        r = int(d.work.row_next[r])
    # columns of the children in the elimination tree
    child = int(d.work.L_child[i])
    while child >= 0:
        for k in range(d.work.L_adr[child], d.work.L_adr[child] + d.work.L_nnz[child]):
            if d.work.L_col[k] < i:
                add_column(d, i, int(d.work.L_col[k]))
        child = int(d.work.L_next[child])


@kernel
def add_column(d: Data, i: int, column: int) -> None:
    """Append `column` to row `i` of the pattern, unless the row contains the column."""
    if d.work.mark[column] != i:
        d.work.mark[column] = i
        d.work.L_col[d.work.L_adr[i] + d.work.L_nnz[i]] = column
        d.work.L_nnz[i] += 1


@kernel
def transpose_pattern(d: Data, n: int) -> None:
    """List the entries of the factor by column, with increasing rows, and sort the columns of each row."""
    for i in range(n):
        d.work.LT_nnz[i] = 0
    for i in range(n):
        for k in range(d.work.L_adr[i], d.work.L_adr[i] + d.work.L_nnz[i]):
            d.work.LT_nnz[d.work.L_col[k]] += 1
    total = 0
    for j in range(n):
        d.work.LT_adr[j] = total
        total += d.work.LT_nnz[j]
        d.work.LT_nnz[j] = 0
    for i in range(n):
        for k in range(d.work.L_adr[i], d.work.L_adr[i] + d.work.L_nnz[i]):
            j = d.work.L_col[k]
            d.work.LT_row[d.work.LT_adr[j] + d.work.LT_nnz[j]] = i
            d.work.LT_nnz[j] += 1
    for i in range(n):
        d.work.L_nnz[i] = 0
    for j in range(n):
        for k in range(d.work.LT_adr[j], d.work.LT_adr[j] + d.work.LT_nnz[j]):
            i = d.work.LT_row[k]
            entry = d.work.L_adr[i] + d.work.L_nnz[i]
            d.work.L_col[entry] = j
            d.work.LT_entry[k] = entry
            d.work.L_nnz[i] += 1


@kernel
def factor_sparse(m: Model, d: Data, island: int) -> None:
    """Factorise the Hessian, cone terms included, into ``work.L``."""
    n = int(d.work.island_ndof[island])
    for i in range(n):
        d.work.dense_row[i] = 0.0
        for lane in range(WIDTH):
            d.work.panel[i, lane] = 0.0
    j = n - 1
    while j >= 0:
        first = int(d.work.panel_first[j])
        if first < j:
            factor_panel(m, d, island, first, j)
        else:
            # row j of the Hessian
            dof = int(d.work.dof_at[d.work.island_dof[island] + j])
            shift = j - dof
            for k in range(m.aux.M_rowadr[dof], m.aux.M_rowadr[dof + 1]):
                d.work.dense_row[m.aux.M_colind[k] + shift] = d.qM[k]
            for t in range(d.work.JT_adr[j], d.work.JT_adr[j] + d.work.JT_nnz[j]):
                spread_group(d, int(d.work.JT_row[t]), int(d.work.JT_entry[t]))
            least = least_pivot(m, d, dof, d.work.dense_row[j])
            # subtract the rows below that contain column j
            adr = int(d.work.LT_adr[j])
            for t in range(adr + 1, adr + d.work.LT_nnz[j]):
                i = int(d.work.LT_row[t])
                entry = int(d.work.LT_entry[t])
                c = d.work.L[entry] * d.work.Ldiag_inv[i]
                for k in range(d.work.L_adr[i], entry + 1):
                    d.work.dense_row[d.work.L_col[k]] -= c * d.work.L[k]
            adr = int(d.work.L_adr[j])
            end = adr + int(d.work.L_nnz[j])
            for k in range(adr, end):
                column = d.work.L_col[k]
                d.work.L[k] = d.work.dense_row[column]
                d.work.dense_row[column] = 0.0
            d.work.Ldiag_inv[j] = 1.0 / max(d.work.L[end - 1], least, MINVAL)
        j = first - 1


@kernel
def spread_group(d: Data, first: int, position: int) -> None:
    """Add to ``dense_row`` the terms of a column of a group of rows; `position` is its entry in row `first`."""
    for r in range(first, d.work.group_end[first]):
        adr = int(d.work.row_adr[r])
        entry = position + adr - int(d.work.row_adr[first])
        if d.efc_state[r] == CNSTRSTATE_QUADRATIC:
            weight = d.efc_D[r] * d.work.J[entry]
            for k in range(adr, entry + 1):
                d.work.dense_row[d.work.J_col[k]] += weight * d.work.J[k]
        elif d.efc_state[r] == CNSTRSTATE_CONE:
            spread_cone(d, r, entry)


@kernel
def spread_cone(d: Data, r: int, entry: int) -> None:
    """Add to ``dense_row`` the cone term of Jacobian entry `entry`, in row `r` of an elliptic contact in the zone CONE.

    All rows of an elliptic contact have the same columns.
    """
    con = int(d.efc_id[r])
    dim = int(d.contact.dim[con])
    start = int(d.contact.efc_address[con])
    count = entry + 1 - d.work.row_adr[r]
    for b in range(dim):
        weight = d.contact.H[con, (r - start) * dim + b] * d.work.J[entry]
        adr = d.work.row_adr[start + b]
        for k in range(adr, adr + count):
            d.work.dense_row[d.work.J_col[k]] += weight * d.work.J[k]


@kernel
def solve_sparse(d: Data, island: int) -> None:
    """Compute ``search`` = - H^-1 ``grad``."""
    first, n = dof_range(d, island)
    x = d.work.search
    for p in range(first, first + n):
        x[p] = -d.work.grad[p]
    # L' y = b, from the last dof to the first
    for i in range(n - 1, -1, -1):
        adr = int(d.work.L_adr[i])
        y = x[first + i] * d.work.Ldiag_inv[i]
        x[first + i] = y
        for k in range(adr, adr + d.work.L_nnz[i] - 1):
            x[first + d.work.L_col[k]] -= y * d.work.L[k]
    # (unit) L x = y, from the first dof to the last
    for i in range(n):
        adr = int(d.work.L_adr[i])
        total = 0.0
        for k in range(adr, adr + d.work.L_nnz[i] - 1):
            total += d.work.L[k] * x[first + d.work.L_col[k]]
        x[first + i] -= total * d.work.Ldiag_inv[i]
