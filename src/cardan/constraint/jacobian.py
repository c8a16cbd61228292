"""Constraint Jacobian, dense or sparse: products J v and J' f; transpose and supernodes of the sparse Jacobian.

A supernode is a run of rows with the same columns. The supernode number of a row is the number of rows directly after
it that have the same columns.
"""

from __future__ import annotations

from cardan.dynamics.awake import ROWS_UNSETTLED, visited_dofs, visits
from cardan.dynamics.jacobian import is_sparse
from cardan.enums.codes import CNSTR_CONTACT_ELLIPTIC, CNSTR_CONTACT_FRICTIONLESS, CNSTR_CONTACT_PYRAMIDAL
from cardan.jit import OK, kernel, stage
from cardan.maths.types import Array1, ConstArray1
from cardan.model.kernel_views import Data, Model


@kernel
def mul_jac_vec(m: Model, d: Data, vec: ConstArray1, res: Array1) -> None:
    """Set res (nefc,) to J vec, with vec (nv,)."""
    values, columns = d.efc_J, d.efc_J_colind
    if is_sparse(m):
        for i in range(d.nefc):
            start = int(d.efc_J_rowadr[i])
            total = 0.0
            for a in range(start, start + d.efc_J_rownnz[i]):
                total += values[a] * vec[columns[a]]
            res[i] = total
    else:
        nv = int(m.nv)
        for i in range(d.nefc):
            start = i * nv
            total = 0.0
            for k in range(nv):
                total += values[start + k] * vec[k]
            res[i] = total


@kernel
def mul_jac_t_vec(m: Model, d: Data, vec: ConstArray1, res: Array1) -> None:
    """Set res (nv,) to J' vec, with vec (nefc,)."""
    for k in range(m.nv):
        res[k] = 0.0
    values, columns = d.efc_J, d.efc_J_colind
    sparse, nv = is_sparse(m), int(m.nv)
    for i in range(d.nefc):
        scale = vec[i]
        if scale == 0.0:
            continue
        if sparse:
            start = int(d.efc_J_rowadr[i])
            for a in range(start, start + d.efc_J_rownnz[i]):
                res[columns[a]] += scale * values[a]
        else:
            start = i * nv
            for k in range(nv):
                res[k] += scale * values[start + k]


@stage
def complete_sparse(m: Model, d: Data) -> int:
    """Complete the CSR Jacobian: compute its transpose, and the supernodes of both."""
    find_supernodes(d)
    columns, values, addresses = d.efc_J_colind, d.efc_J, d.efc_J_rowadr
    counts, starts, pairs = d.efc_JT_rownnz, d.efc_JT_rowadr, d.efc_JT_rowsuper
    count_columns(m, d)
    total = 0
    for dof in range(m.nv):
        starts[dof] = total
        total += counts[dof]
    rows, transposed = d.efc_JT_colind, d.efc_JT
    i = 0
    while i < d.nefc:
        start, n, count = int(addresses[i]), int(d.efc_J_rownnz[i]), int(d.efc_J_rowsuper[i]) + 1
        for r in range(i, i + count):
            adr = int(addresses[r])
            for k in range(n):
                to = starts[columns[start + k]] + (r - i)
                rows[to] = r
                transposed[to] = values[adr + k]
        for k in range(start, start + n):
            starts[columns[k]] += count
        i += count
    for dof in range(m.nv):
        starts[dof] -= counts[dof]
    # rows of the transpose that all of their columns share have the same columns
    if m.nv > 0:
        pairs[m.nv - 1] = 0
    for dof in range(m.nv - 2, -1, -1):
        same = counts[dof] == counts[dof + 1] and pairs[dof] == counts[dof]
        pairs[dof] = pairs[dof + 1] + 1 if same else 0
    return OK


@stage
def complete_sparse_awake(m: Model, d: Data) -> int:
    """Do as `complete_sparse`; rows of the transpose that belong to trees that sleep are empty, and are left out."""
    counts, starts, columns = d.efc_JT_rownnz, d.efc_JT_rowadr, d.efc_J_colind
    nvisit = visits(m, d, ROWS_UNSETTLED)
    for visit in range(nvisit):
        first, stop = visited_dofs(m, d, ROWS_UNSETTLED, visit)
        for dof in range(first, stop):
            counts[dof] = 0
    for a in range(d.nnzJ):
        counts[columns[a]] += 1
    total = 0
    for visit in range(nvisit):
        first, stop = visited_dofs(m, d, ROWS_UNSETTLED, visit)
        for dof in range(first, stop):
            starts[dof] = total
            total += counts[dof]
            counts[dof] = 0
            d.efc_JT_rowsuper[dof] = 0
    _fill_transpose(d)
    find_supernodes(d)
    return OK


@kernel
def _fill_transpose(d: Data) -> None:
    """Write the rows of the transpose, whose starts are known; their counts must be 0."""
    counts, starts = d.efc_JT_rownnz, d.efc_JT_rowadr
    for i in range(d.nefc):
        start = int(d.efc_J_rowadr[i])
        for a in range(start, start + d.efc_J_rownnz[i]):
            dof = d.efc_J_colind[a]
            to = starts[dof] + counts[dof]
            d.efc_JT_colind[to] = i
            d.efc_JT[to] = d.efc_J[a]
            counts[dof] += 1


@kernel
def count_columns(m: Model, d: Data) -> None:
    """Count the rows that touch each dof, in ``efc_JT_rownnz``, and those that also touch the next dof.

    The latter counts are written to ``efc_JT_rowsuper``.
    """
    columns, counts, pairs = d.efc_J_colind, d.efc_JT_rownnz, d.efc_JT_rowsuper
    for dof in range(m.nv):
        counts[dof] = 0
        pairs[dof] = 0
    i = 0
    while i < d.nefc:
        count, before = int(d.efc_J_rowsuper[i]) + 1, -2
        start = int(d.efc_J_rowadr[i])
        for a in range(start, start + d.efc_J_rownnz[i]):
            dof = int(columns[a])
            counts[dof] += count
            if dof == before + 1:
                pairs[before] += count
            before = dof
        i += count


@kernel
def find_supernodes(d: Data) -> None:
    """Write the supernode numbers of the rows of the CSR Jacobian to ``efc_J_rowsuper``."""
    counts, starts, columns = d.efc_J_rownnz, d.efc_J_rowadr, d.efc_J_colind
    n = int(d.nefc)
    if n > 0:
        d.efc_J_rowsuper[n - 1] = 0
    for i in range(n - 2, -1, -1):
        same = counts[i] == counts[i + 1]
        if not (d.efc_id[i] == d.efc_id[i + 1] and d.efc_type[i] == d.efc_type[i + 1] and is_contact(d, i)):
            k = 0
            while same and k < counts[i]:
                same = columns[starts[i] + k] == columns[starts[i + 1] + k]
                k += 1
        d.efc_J_rowsuper[i] = d.efc_J_rowsuper[i + 1] + 1 if same else 0


@kernel
def is_contact(d: Data, i: int) -> bool:
    """Return whether row `i` belongs to a contact. All rows of a contact have the same columns."""
    kind = d.efc_type[i]
    return kind in (CNSTR_CONTACT_FRICTIONLESS, CNSTR_CONTACT_PYRAMIDAL, CNSTR_CONTACT_ELLIPTIC)
