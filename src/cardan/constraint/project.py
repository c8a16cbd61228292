"""Stages for the inverse inertia in constraint space, A + R with A = J M^-1 J' (spec: computation, dual problem).

With M = L' D L, A is the product of B = J L^-1 D^(-1/2) and its transpose (Featherstone, Rigid Body Dynamics
Algorithms, section 6.5). If the Jacobian is dense, ``work.half`` holds complete columns of B, and ``work.AR`` holds
complete rows of A + R. If the Jacobian is sparse, both hold compressed rows; row i of A then has an entry for each row
that shares a kinematic tree with row i. The public array `efc_AR` is a copy of ``work.AR`` in its own memory and shape.
"""

from __future__ import annotations

from typing import Any

from cardan.dynamics.jacobian import is_sparse
from cardan.jit import OK, kernel, stack_array, stage
from cardan.model.kernel_views import AnyModel, Data, Model
from cardan.model.tables import GROW_AR, GROW_DUAL, GROW_HALF

NEED_DUAL = int(GROW_DUAL)
NEED_HALF = int(GROW_HALF)
NEED_AR = int(GROW_AR)
BLOCK = 64  # number of columns of A that are computed together


def projection_stages(m: AnyModel) -> list[Any]:
    """Return a list of one stage: the projection for the model's storage of Jacobians."""
    return [project_sparse] if is_sparse(m) else [project_dense]


@kernel
def request(d: Data, need: int, capacity: int) -> int:
    """Request that the arena capacity with number `capacity` grow to at least `need`; return this number as status."""
    d.work.need = need
    return capacity


# dense ---------------------------------------------------------------------------


@stage
def project_dense(m: Model, d: Data) -> int:
    """Compute efc_AR from the dense Jacobian; return OK or a request to enlarge memory."""
    n = int(d.nefc)
    nv = int(m.nv)
    if n > len(d.efc_AR_rownnz):
        return request(d, n, NEED_DUAL)
    if n * nv > len(d.work.half):
        return request(d, n * nv, NEED_HALF)
    if n * n > len(d.work.AR):
        return request(d, n * n, NEED_AR)
    # transpose of B: the entries of each dof are contiguous and processed together
    half = d.work.half
    for i in range(n):
        for k in range(nv):
            half[k * n + i] = d.efc_J[i * nv + k]
    for dof in range(nv - 1, -1, -1):
        source = dof * n
        for a in range(m.aux.M_rowadr[dof] + 1, m.aux.M_rowadr[dof + 1]):
            target = int(m.aux.M_colind[a]) * n
            factor = d.qLD[a]
            for i in range(n):
                half[target + i] -= factor * half[source + i]
        scale = d.qLDiagSqrtInv[dof]
        for i in range(n):
            half[source + i] *= scale
    for first in range(0, n, BLOCK):
        for i in range(first, n):
            multiply_dense_row(d, i, first, n, nv)
    for i in range(n):
        d.work.AR_diagonal[i] = i * n + i
        d.work.AR[i * n + i] += d.efc_R[i]
    for i in range(n):
        for j in range(n):
            d.efc_AR[i, j] = d.work.AR[i * n + j]
    return OK


@kernel
def multiply_dense_row(d: Data, i: int, first: int, n: int, nv: int) -> None:
    """Compute up to `BLOCK` entries of row `i` of A, from column `first` to the diagonal, and the symmetric entries."""
    half = d.work.half
    row = stack_array(BLOCK)
    count = min(i + 1 - first, BLOCK)
    for j in range(count):
        row[j] = 0.0
    for k in range(nv):
        value = half[k * n + i]
        if value != 0.0:
            start = k * n + first
            for j in range(count):
                row[j] += value * half[start + j]
    for j in range(count):
        d.work.AR[i * n + first + j] = row[j]
        d.work.AR[(first + j) * n + i] = row[j]


# sparse --------------------------------------------------------------------------


@stage
def project_sparse(m: Model, d: Data) -> int:
    """Compute efc_AR and its pattern from the compressed Jacobian; return OK or a request to enlarge memory."""
    n = int(d.nefc)
    if n > len(d.efc_AR_rownnz):
        return request(d, n, NEED_DUAL)
    for i in range(m.nv):
        d.work.half_row[i] = 0.0
        d.work.mark[i] = -1
    total = 0
    for i in range(n):
        # memory for the row, and for its trees
        if total + 2 * m.nv + 1 > len(d.work.half):
            return request(d, (total + 2 * int(m.nv) + 1) * n // (i + 1), NEED_HALF)
        d.work.half_adr[i] = total
        half_pattern(m, d, i)
        # entries of the row of B
        row = d.work.half_row
        start = int(d.efc_J_rowadr[i])
        for k in range(start, start + d.efc_J_rownnz[i]):
            row[d.efc_J_colind[k]] = d.efc_J[k]
        for k in range(total + d.work.half_nnz[i] - 1, total - 1, -1):
            dof = int(d.work.half_col[k])
            value = row[dof]
            row[dof] = 0.0
            if value != 0.0:
                for a in range(m.aux.M_rowadr[dof] + 1, m.aux.M_rowadr[dof + 1]):
                    row[m.aux.M_colind[a]] -= d.qLD[a] * value
            d.work.half[k] = value * d.qLDiagSqrtInv[dof]
        total += int(d.work.half_nnz[i])
    list_rows(m, d, n)
    size = place_products(m, d, n)
    if size > len(d.work.AR):
        return request(d, size, NEED_AR)
    for i in range(n):
        multiply_row(m, d, i)
    # efc_AR and efc_AR_colind are (nefc, nefc) arrays, but are filled as if they were one long row
    i, j = 0, 0
    for a in range(d.efc_AR_rowadr[n - 1] + d.efc_AR_rownnz[n - 1] if n > 0 else 0):
        d.efc_AR[i, j] = d.work.AR[a]
        d.efc_AR_colind[i, j] = d.work.AR_col[a]
        j += 1
        if j == n:
            i += 1
            j = 0
    return OK


@kernel
def half_pattern(m: Model, d: Data, i: int) -> None:
    """Write the columns of row `i` of B to ``half_col`` in increasing order, and their number to ``half_nnz``.

    These are the columns of row `i` of J and all their ancestors in the trees.
    """
    adr = int(d.work.half_adr[i])
    start = int(d.efc_J_rowadr[i])
    nnz = int(d.efc_J_rownnz[i])
    for k in range(nnz):
        dof = int(d.efc_J_colind[start + k])
        d.work.half_col[adr + k] = dof
        d.work.mark[dof] = i
    for k in range(start, start + d.efc_J_rownnz[i]):
        dof = int(m.dof_parentid[d.efc_J_colind[k]])
        while dof >= 0 and d.work.mark[dof] != i:
            d.work.mark[dof] = i
            at = adr + nnz
            while at > adr and d.work.half_col[at - 1] > dof:
                d.work.half_col[at] = d.work.half_col[at - 1]
                at -= 1
            d.work.half_col[at] = dof
            nnz += 1
            dof = int(m.dof_parentid[dof])
    d.work.half_nnz[i] = nnz


@kernel
def next_tree(m: Model, d: Data, i: int, k: int) -> tuple[int, int]:
    """Return the tree of entry `k` in row `i` of B, and the next entry in this row that belongs to another tree."""
    end = int(d.work.half_adr[i] + d.work.half_nnz[i])
    tree = int(m.dof_treeid[d.work.half_col[k]])
    while k < end and m.dof_treeid[d.work.half_col[k]] == tree:
        k += 1
    return tree, k


@kernel
def list_rows(m: Model, d: Data, n: int) -> None:
    """List the rows that touch each tree, in increasing order (``tree_row_adr``, ``tree_nrow``, ``tree_row``)."""
    for tree in range(m.ntree):
        d.work.tree_nrow[tree] = 0
    for i in range(n):
        k = int(d.work.half_adr[i])
        while k < d.work.half_adr[i] + d.work.half_nnz[i]:
            tree, k = next_tree(m, d, i, k)
            d.work.tree_nrow[tree] += 1
    total = 0
    for tree in range(m.ntree):
        d.work.tree_row_adr[tree] = total
        total += d.work.tree_nrow[tree]
        d.work.tree_nrow[tree] = 0
    for i in range(n):
        k = int(d.work.half_adr[i])
        while k < d.work.half_adr[i] + d.work.half_nnz[i]:
            tree, k = next_tree(m, d, i, k)
            d.work.tree_row[d.work.tree_row_adr[tree] + d.work.tree_nrow[tree]] = i
            d.work.tree_nrow[tree] += 1


@kernel
def mark_partners(m: Model, d: Data, i: int) -> int:
    """Mark the rows that share a tree with row `i`, including itself (``row_mark`` = i); return their number."""
    d.work.row_mark[i] = i
    count = 1
    k = int(d.work.half_adr[i])
    while k < d.work.half_adr[i] + d.work.half_nnz[i]:
        tree, k = next_tree(m, d, i, k)
        adr = int(d.work.tree_row_adr[tree])
        for a in range(adr, adr + d.work.tree_nrow[tree]):
            j = d.work.tree_row[a]
            if d.work.row_mark[j] != i:
                d.work.row_mark[j] = i
                count += 1
    return count


@kernel
def place_products(m: Model, d: Data, n: int) -> int:
    """Compute lengths and addresses of the rows of A; return the total number of entries."""
    for i in range(n):
        d.work.row_mark[i] = -1
    total = 0
    for i in range(n):
        d.efc_AR_rownnz[i] = mark_partners(m, d, i)
        d.efc_AR_rowadr[i] = total
        d.work.AR_next[i] = total
        total += d.efc_AR_rownnz[i]
    for i in range(n):
        d.work.row_mark[i] = -1
    return total


@kernel
def multiply_row(m: Model, d: Data, i: int) -> None:
    """Compute the entries of row `i` of A + R up to the diagonal, and the symmetric entries in the rows above."""
    row = d.work.half_row
    adr = int(d.work.half_adr[i])
    end = adr + int(d.work.half_nnz[i])
    for k in range(adr, end):
        row[d.work.half_col[k]] = d.work.half[k]
    tree, k = int(m.ntree), adr
    if adr < end:
        tree, k = next_tree(m, d, i, adr)
    if tree < m.ntree and k == end:
        # if there is one tree, its list contains all partners, in order
        first = int(d.work.tree_row_adr[tree])
        for a in range(first, first + d.work.tree_nrow[tree]):
            j = int(d.work.tree_row[a])
            if j > i:
                break
            put_product(d, i, j)
    else:
        mark_partners(m, d, i)
        for j in range(i + 1):
            if d.work.row_mark[j] == i:
                put_product(d, i, j)
    for k in range(adr, end):
        row[d.work.half_col[k]] = 0.0


@kernel
def put_product(d: Data, i: int, j: int) -> None:
    """Compute entry (i, j) of A + R for j <= i; also store it as entry (j, i). ``half_row`` holds row i of B."""
    row = d.work.half_row
    start = int(d.work.half_adr[j])
    value = 0.0
    for k in range(start, start + d.work.half_nnz[j]):
        value += d.work.half[k] * row[d.work.half_col[k]]
    if i == j:
        value += d.efc_R[i]
        d.work.AR_diagonal[i] = d.work.AR_next[i]
    else:
        append_product(d, j, i, value)
    append_product(d, i, j, value)


@kernel
def append_product(d: Data, i: int, j: int, value: float) -> None:
    """Append an entry, `value` in column `j`, to row `i` of A + R."""
    a = d.work.AR_next[i]
    d.work.AR[a] = value
    d.work.AR_col[a] = j
    d.work.AR_next[i] += 1
