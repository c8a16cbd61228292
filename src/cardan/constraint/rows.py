"""Rows of the constraint arrays: room for them, their Jacobian storage, their parameters (spec: computation, constraint model).

Every kind of constraint adds its rows as a *block*: `open_rows` makes room, `put_entry` (or `jacobian_pair.fill_rows`) writes the Jacobian,
`set_rows` the parameters. The Jacobian is dense (row-major, nefc x nv in `efc_J`) or CSR with columns in increasing order.
"""

from __future__ import annotations

from typing import Any

from cardan.constraint.impedance import impedance, regularizer, stiffness_damping
from cardan.enums.options import mjtJacobian
from cardan.jit import OK, kernel
from cardan.model.tables import GROW_EFC, GROW_NNZJ

SPARSE = int(mjtJacobian.mjJAC_SPARSE)
AUTO = int(mjtJacobian.mjJAC_AUTO)
AUTO_SPARSE_NV = 60


@kernel
def is_sparse(m: Any) -> bool:
    """Whether the constraint Jacobian is stored as CSR: if asked for, or if it is up to us and there are 60 dofs or more."""
    return m.opt.jacobian == SPARSE or (m.opt.jacobian == AUTO and m.nv >= AUTO_SPARSE_NV)


@kernel
def open_rows(m: Any, d: Any, count: int, nnz: int) -> int:
    """Append `count` rows of `nnz` structural non-zeros each; the first is then ``d.nefc - count``.

    Returns:
        OK, or a request to enlarge the arena.
    """
    sparse = is_sparse(m)
    entries = count * (nnz if sparse else m.nv)
    if d.nefc + count > len(d.efc_type):
        d.work.need = d.nefc + count
        return GROW_EFC
    if d.nnzJ + entries > len(d.efc_J):
        d.work.need = d.nnzJ + entries
        return GROW_NNZJ
    start = int(d.nnzJ)
    if sparse:
        for r in range(count):
            d.efc_J_rownnz[d.nefc + r] = nnz
            d.efc_J_rowadr[d.nefc + r] = start + r * nnz
    else:
        values = d.efc_J
        for a in range(start, start + entries):
            values[a] = 0.0
    d.nefc = d.nefc + count
    d.nnzJ = d.nnzJ + entries
    return OK


@kernel
def put_entry(m: Any, d: Any, row: int, k: int, dof: int, value: float) -> None:
    """Write the `k`-th structural non-zero of `row`, in the column of `dof`."""
    if is_sparse(m):
        a = d.efc_J_rowadr[row] + k
        d.efc_J_colind[a] = dof
        d.efc_J[a] = value
    else:
        d.efc_J[row * m.nv + dof] = value


@kernel
def set_rows(m: Any, d: Any, row: int, count: int, kind: int, index: int, violation: float, diag: float,
             solref: Any, solimp: Any) -> None:
    """Write the parameters of `count` rows from `row` on; efc_pos, efc_margin and efc_frictionloss become 0.

    Args:
        kind: mjtConstraint.
        index: id of the equality, dof, joint, tendon or contact.
        violation: r in the impedance d(r).
        diag: approximate diagonal of J M^-1 J'.
        solref, solimp: solver parameters.
    """
    imp, slope = impedance(solimp, violation)
    k, b = stiffness_damping(m, solref, solimp)
    r = regularizer(imp, diag)
    for i in range(row, row + count):
        d.efc_type[i] = kind
        d.efc_id[i] = index
        d.efc_pos[i] = 0.0
        d.efc_margin[i] = 0.0
        d.efc_frictionloss[i] = 0.0
        d.efc_diagApprox[i] = diag
        d.efc_KBIP[i, 0] = k
        d.efc_KBIP[i, 1] = b
        d.efc_KBIP[i, 2] = imp
        d.efc_KBIP[i, 3] = slope
        d.efc_R[i] = r
        d.efc_D[i] = 1.0 / r


@kernel
def set_regularizer(d: Any, row: int, r: float) -> None:
    """Impose R on `row`, and the diagonal approximation that would give it."""
    imp = d.efc_KBIP[row, 2]
    d.efc_R[row] = r
    d.efc_D[row] = 1.0 / r
    d.efc_diagApprox[row] = r * imp / (1.0 - imp)


@kernel
def get_solimp(a: Any, i: int) -> Any:
    """Row `i` of an (n, 5) array."""
    return (a[i, 0], a[i, 1], a[i, 2], a[i, 3], a[i, 4])
