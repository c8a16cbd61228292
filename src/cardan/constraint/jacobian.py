"""Products with the constraint Jacobian, in both storage formats: J v and J' f."""

from __future__ import annotations

from cardan.dynamics.jacobian import is_sparse
from cardan.jit import kernel
from cardan.maths.types import Array1, ConstArray1
from cardan.model.kernel_views import Data, Model


@kernel
def mul_jac_vec(m: Model, d: Data, vec: ConstArray1, res: Array1) -> None:
    """Set res (nefc,) to J vec, with vec (nv,)."""
    if is_sparse(m):
        for i in range(d.nefc):
            res[i] = sparse_row_dot(d, i, vec)
    else:
        for i in range(d.nefc):
            res[i] = dense_row_dot(d, i, vec, int(m.nv))


@kernel
def sparse_row_dot(d: Data, row: int, vec: ConstArray1) -> float:
    """Product of row `row` of the CSR Jacobian and `vec`."""
    values, columns = d.efc_J, d.efc_J_colind
    start = int(d.efc_J_rowadr[row])
    total = 0.0
    for a in range(start, start + d.efc_J_rownnz[row]):
        total += values[a] * vec[columns[a]]
    return total


@kernel
def dense_row_dot(d: Data, row: int, vec: ConstArray1, nv: int) -> float:
    """Product of row `row` of the dense Jacobian and `vec`."""
    values = d.efc_J
    start = row * nv
    total = 0.0
    for k in range(nv):
        total += values[start + k] * vec[k]
    return total


@kernel
def mul_jac_t_vec(m: Model, d: Data, vec: ConstArray1, res: Array1) -> None:
    """Set res (nv,) to J' vec, with vec (nefc,)."""
    for k in range(m.nv):
        res[k] = 0.0
    sparse = is_sparse(m)
    for i in range(d.nefc):
        if vec[i] == 0.0:
            continue
        if sparse:
            add_sparse_row(d, i, vec[i], res)
        else:
            add_dense_row(d, i, vec[i], res, int(m.nv))


@kernel
def add_sparse_row(d: Data, row: int, scale: float, res: Array1) -> None:
    """Add `scale` times row `row` of the CSR Jacobian to `res`."""
    values, columns = d.efc_J, d.efc_J_colind
    start = int(d.efc_J_rowadr[row])
    for a in range(start, start + d.efc_J_rownnz[row]):
        res[columns[a]] += scale * values[a]


@kernel
def add_dense_row(d: Data, row: int, scale: float, res: Array1, nv: int) -> None:
    """Add `scale` times row `row` of the dense Jacobian to `res`."""
    values = d.efc_J
    start = row * nv
    for k in range(nv):
        res[k] += scale * values[start + k]
