"""Constraint Jacobian, dense or sparse: products J v and J' f; transpose and supernodes of the sparse Jacobian.

A supernode is a run of rows with the same columns. The supernode number of a row is the number of rows directly after
it that have the same columns.
"""

from __future__ import annotations

from cardan.dynamics.jacobian import is_sparse
from cardan.jit import OK, kernel, stage
from cardan.maths.types import Array1, ConstArray1, IntArray1
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
    counts, starts = d.efc_JT_rownnz, d.efc_JT_rowadr
    columns, values = d.efc_J_colind, d.efc_J
    for dof in range(m.nv):
        counts[dof] = 0
    for a in range(d.nnzJ):
        counts[columns[a]] += 1
    total = 0
    for dof in range(m.nv):
        starts[dof] = total
        total += counts[dof]
        counts[dof] = 0
    rows, transposed = d.efc_JT_colind, d.efc_JT
    for i in range(d.nefc):
        start = int(d.efc_J_rowadr[i])
        for a in range(start, start + d.efc_J_rownnz[i]):
            dof = columns[a]
            to = starts[dof] + counts[dof]
            rows[to] = i
            transposed[to] = values[a]
            counts[dof] += 1
    find_supernodes(int(d.nefc), d.efc_J_rownnz, d.efc_J_rowadr, d.efc_J_colind, d.efc_J_rowsuper)
    find_supernodes(int(m.nv), d.efc_JT_rownnz, d.efc_JT_rowadr, d.efc_JT_colind, d.efc_JT_rowsuper)
    return OK


@kernel
def find_supernodes(n: int, counts: IntArray1, starts: IntArray1, columns: IntArray1, supernodes: IntArray1) -> None:
    """Write the supernode numbers of `n` CSR rows to `supernodes`."""
    if n > 0:
        supernodes[n - 1] = 0
    for i in range(n - 2, -1, -1):
        same = counts[i] == counts[i + 1]
        k = 0
        while same and k < counts[i]:
            same = columns[starts[i] + k] == columns[starts[i + 1] + k]
            k += 1
        supernodes[i] = supernodes[i + 1] + 1 if same else 0
