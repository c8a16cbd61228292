"""Rows of the constraint arrays: allocation, Jacobian storage, parameters (spec: computation, constraint model).

Each kind of constraint is a stage. It begins with `start_rows` and adds its rows in blocks: `open_rows` allocates them,
`put_entry` (or `jacobian_pair.fill_rows`) writes the Jacobian, and `set_parameters` writes what follows from solref and
solimp. The Jacobian is dense (row-major, nefc x nv in `efc_J`) or CSR with columns in increasing order.
"""

from __future__ import annotations

from cardan.constraint.impedance import impedance, regularizer, stiffness_damping
from cardan.dynamics.jacobian import is_sparse
from cardan.enums.codes import DSBL_CONSTRAINT, WARN_CNSTRFULL
from cardan.jit import kernel
from cardan.maths.types import ConstArray2, Vec2, Vec5
from cardan.model.kernel_views import Data, Model
from cardan.model.tables import COUNT_BYTES, GROW_EFC, GROW_NNZJ, bytes_of_one

CONTACT_BYTES, ROW_BYTES, ENTRY_BYTES = bytes_of_one("ncon"), bytes_of_one("nefc"), bytes_of_one("nnzJ")


@kernel
def is_enabled(m: Model, d: Data, bit: int) -> bool:
    """Whether neither `bit` nor all constraints are disabled, and the user's memory limit is not reached."""
    return m.opt.disableflags & (bit | DSBL_CONSTRAINT) == 0 and d.work.rows_full == 0


@kernel
def start_rows(m: Model, d: Data) -> int:
    """Drop the rows after those counted in ne, nf and nl, so that a stage can start or restart; return the next row."""
    start = int(d.ne + d.nf + d.nl)
    d.nefc = start
    if is_sparse(m):
        d.nnzJ = d.efc_J_rowadr[start - 1] + d.efc_J_rownnz[start - 1] if start > 0 else 0
    else:
        d.nnzJ = start * m.nv
    return start


@kernel
def arena_use(ncon: int, nefc: int, nnz: int) -> int:
    """Memory use in bytes of `ncon` contacts, `nefc` rows and `nnz` entries of the Jacobian, and of their counts."""
    return COUNT_BYTES + ncon * CONTACT_BYTES + nefc * ROW_BYTES + nnz * ENTRY_BYTES


@kernel
def do_without_rows(m: Model, d: Data) -> int:
    """Handle a reached memory limit: this step has no constraints, and a warning is counted. Return as `open_rows`.

    The stage then runs again without an enlargement (``work.need`` is 0), and makes no rows (spec: modeling, memory).
    """
    d.ne, d.nf, d.nl, d.nefc, d.nnzJ = 0, 0, 0, 0, 0
    d.work.rows_full = 1
    d.warning.number[WARN_CNSTRFULL] += 1
    d.warning.lastinfo[WARN_CNSTRFULL] = m.narena
    d.work.need = 0
    return -GROW_EFC


@kernel
def open_rows(m: Model, d: Data, count: int, nnz: int, kind: int, index: int) -> int:
    """Append `count` rows of `nnz` structural non-zeros each, with efc_pos, efc_margin and efc_frictionloss set to 0.

    Args:
        m: the model.
        d: the data.
        count: number of rows.
        nnz: number of columns of each row in sparse storage.
        kind: mjtConstraint.
        index: id of the equality, dof, joint, tendon or contact.

    Returns:
        The number of the first row, or -GROW_EFC or -GROW_NNZJ if memory is short; `work.need` is then the required
        capacity.
    """
    sparse = is_sparse(m)
    row = int(d.nefc)
    start = int(d.nnzJ)
    entries = count * (nnz if sparse else int(m.nv))
    if m.narena > 0 and arena_use(d.ncon, row + count, start + entries) > m.narena:
        return do_without_rows(m, d)
    if row + count > len(d.efc_type):
        d.work.need = row + count
        return -GROW_EFC
    if start + entries > len(d.efc_J):
        d.work.need = start + entries
        return -GROW_NNZJ
    if not sparse:
        values = d.efc_J
        for a in range(start, start + entries):
            values[a] = 0.0
    for r in range(count):
        if sparse:
            d.efc_J_rownnz[row + r] = nnz
            d.efc_J_rowadr[row + r] = start + r * nnz
        d.efc_type[row + r] = kind
        d.efc_id[row + r] = index
        d.efc_pos[row + r] = 0.0
        d.efc_margin[row + r] = 0.0
        d.efc_frictionloss[row + r] = 0.0
    d.nefc = row + count
    d.nnzJ = start + entries
    return row


@kernel
def drop_empty_rows(m: Model, d: Data, row: int) -> None:
    """Remove the rows from `row` on if, in dense storage, no dof moves them."""
    if is_sparse(m):
        return
    for a in range(row * m.nv, d.nefc * m.nv):
        if d.efc_J[a] != 0.0:
            return
    d.nefc = row
    d.nnzJ = row * m.nv


@kernel
def put_entry(m: Model, d: Data, row: int, k: int, dof: int, value: float) -> None:
    """Write the `k`-th structural non-zero of `row`, in the column of `dof`."""
    if is_sparse(m):
        a = d.efc_J_rowadr[row] + k
        d.efc_J_colind[a] = dof
        d.efc_J[a] = value
    else:
        d.efc_J[row * m.nv + dof] = value


@kernel
def set_parameters(
    m: Model, d: Data, row: int, count: int, violation: float, diag: float, solref: Vec2, solimp: Vec5
) -> None:
    """Write efc_diagApprox, efc_KBIP, efc_R and efc_D of `count` rows from `row` on.

    Args:
        m: the model.
        d: the data.
        row: the first row.
        count: number of rows.
        violation: r in the impedance d(r).
        diag: approximate diagonal of J M^-1 J'.
        solref: (timeconst, dampratio) or (-stiffness, -damping).
        solimp: (d0, dwidth, width, midpoint, power).
    """
    imp, slope = impedance(solimp, violation)
    k, b = stiffness_damping(m, solref, solimp)
    r = regularizer(imp, diag)
    for i in range(row, row + count):
        d.efc_diagApprox[i] = diag
        d.efc_KBIP[i, 0] = k
        d.efc_KBIP[i, 1] = b
        d.efc_KBIP[i, 2] = imp
        d.efc_KBIP[i, 3] = slope
        d.efc_R[i] = r
        d.efc_D[i] = 1.0 / r


@kernel
def set_regularizer(d: Data, row: int, r: float) -> None:
    """Set R of `row`, and the diagonal approximation from which this R would follow."""
    imp = d.efc_KBIP[row, 2]
    d.efc_R[row] = r
    d.efc_D[row] = 1.0 / r
    d.efc_diagApprox[row] = r * imp / (1.0 - imp)


@kernel
def get_solimp(a: ConstArray2, i: int) -> Vec5:
    """Row `i` of an (n, 5) array."""
    return (a[i, 0], a[i, 1], a[i, 2], a[i, 3], a[i, 4])
