"""Stage for the sparse Jacobian: the transposed copy `efc_JT`, and the supernodes of both.

The supernode number of a row is the number of rows directly after it that have the same columns.
"""

from __future__ import annotations

from cardan.jit import OK, kernel, stage
from cardan.maths.types import IntArray1
from cardan.model.kernel_views import Data, Model


@stage
def complete_sparse(m: Model, d: Data) -> int:
    """Complete the CSR Jacobian: compute its transpose, and the supernodes of both."""
    transpose_jacobian(m, d)
    find_supernodes(int(d.nefc), d.efc_J_rownnz, d.efc_J_rowadr, d.efc_J_colind, d.efc_J_rowsuper)
    find_supernodes(int(m.nv), d.efc_JT_rownnz, d.efc_JT_rowadr, d.efc_JT_colind, d.efc_JT_rowsuper)
    return OK


@kernel
def transpose_jacobian(m: Model, d: Data) -> None:
    """Fill efc_JT and its rownnz, rowadr and colind from the CSR Jacobian."""
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


@kernel
def find_supernodes(n: int, counts: IntArray1, starts: IntArray1, columns: IntArray1, supernodes: IntArray1) -> None:
    """Compute the supernode numbers of `n` CSR rows into `supernodes`."""
    if n > 0:
        supernodes[n - 1] = 0
    for i in range(n - 2, -1, -1):
        same = counts[i] == counts[i + 1]
        k = 0
        while same and k < counts[i]:
            same = columns[starts[i] + k] == columns[starts[i + 1] + k]
            k += 1
        supernodes[i] = supernodes[i + 1] + 1 if same else 0
