"""Rows of the constraint arrays: allocation, Jacobian storage, parameters (spec: computation, constraint model).

Each kind of constraint is a stage. It begins with `start_rows` and adds its rows in blocks: `open_rows` allocates them,
`put_entry` (or `jacobian_rows.fill_rows`) writes the Jacobian, and `set_parameters` writes the parameters derived from
solref and solimp. The Jacobian is dense (row-major, nefc x nv in `efc_J`) or CSR with columns in increasing order.
"""

from __future__ import annotations

from cardan.constants import mjMAXIMP, mjMINIMP
from cardan.dynamics.jacobian import is_sparse
from cardan.enums.codes import DSBL_CONSTRAINT, DSBL_REFSAFE, WARN_CNSTRFULL
from cardan.jit import kernel
from cardan.maths.types import ConstArray2, Vec2, Vec5
from cardan.maths.vector import MINVAL
from cardan.model.kernel_views import Data, Model
from cardan.model.tables import COUNT_BYTES, GROW_EFC, GROW_NNZJ, bytes_of_one

CONTACT_BYTES, ROW_BYTES, ENTRY_BYTES = bytes_of_one("ncon"), bytes_of_one("nefc"), bytes_of_one("nnzJ")
MIN_IMPEDANCE = float(mjMINIMP)
MAX_IMPEDANCE = float(mjMAXIMP)


@kernel
def clip_impedance(value: float) -> float:
    """Limit `value` to [mjMINIMP, mjMAXIMP]."""
    return min(max(value, MIN_IMPEDANCE), MAX_IMPEDANCE)


@kernel
def impedance(solimp: Vec5, violation: float) -> Vec2:
    """Compute the impedance d(r) at the violation r (m or rad), and its derivative with respect to r.

    The function is even in r. `solimp` is clipped here to the ranges that the spec allows.
    """
    dmin = clip_impedance(solimp[0])
    dmax = clip_impedance(solimp[1])
    width = max(solimp[2], 0.0)
    if dmin == dmax or width <= MINVAL:
        return 0.5 * (dmin + dmax), 0.0
    x = abs(violation) / width
    if x >= 1.0:
        return dmax, 0.0
    if x == 0.0:
        return dmin, 0.0
    y, slope = sigmoid(x, clip_impedance(solimp[3]), max(solimp[4], 1.0))
    sign = 1.0 if violation > 0.0 else -1.0
    return dmin + y * (dmax - dmin), sign * slope * (dmax - dmin) / width


@kernel
def sigmoid(x: float, midpoint: float, power: float) -> Vec2:
    """Value and slope at x of a spline from (0, 0) to (1, 1): two power functions that join smoothly at `midpoint`."""
    if power == 1.0:
        return x, 1.0
    if x <= midpoint:
        rise = raised(x / midpoint, power - 1.0)
        return rise * x, power * rise
    rise = raised((1.0 - x) / (1.0 - midpoint), power - 1.0)
    return 1.0 - rise * (1.0 - x), power * rise


@kernel
def raised(x: float, exponent: float) -> float:
    """Return x to the power of `exponent`, with a shortcut for the default exponent 1."""
    return x if exponent == 1.0 else x**exponent


@kernel
def stiffness_damping(m: Model, solref: Vec2, solimp: Vec5) -> Vec2:
    """Compute stiffness k (without the factor d(r)) and damping b of the reference acceleration ``-b v - k d(r) r``.

    `solref` is (timeconst, dampratio), both positive, or (-stiffness, -damping), both not positive. If `solref` has
    neither form, the default (0.02, 1) is used, as in MuJoCo. Unless the flag refsafe is disabled, timeconst is
    increased to at least 2 timesteps.
    """
    dmax = clip_impedance(solimp[1])
    if solref[0] <= 0.0 and solref[1] <= 0.0:
        return -solref[0] / max(dmax * dmax, MINVAL), -solref[1] / max(dmax, MINVAL)
    timeconst, dampratio = solref
    if timeconst <= 0.0 or dampratio <= 0.0:
        timeconst, dampratio = 0.02, 1.0
    if m.opt.disableflags & DSBL_REFSAFE == 0:
        timeconst = max(timeconst, 2.0 * m.opt.timestep)
    decay = dmax * timeconst
    return 1.0 / max(decay * decay * dampratio * dampratio, MINVAL), 2.0 / max(decay, MINVAL)


@kernel
def regularizer(imp: float, diag: float) -> float:
    """Regulariser R: (1 - d) / d times the approximate diagonal of J M^-1 J', at least mjMINVAL."""
    return max((1.0 - imp) * diag / imp, MINVAL)


@kernel
def is_enabled(m: Model, d: Data, bit: int) -> bool:
    """Return whether constraints with the disable flag `bit` are enabled and memory is not full.

    Memory is full if the user's limit has been reached (``work.rows_full``).
    """
    return m.opt.disableflags & (bit | DSBL_CONSTRAINT) == 0 and d.work.rows_full == 0


@kernel
def start_rows(m: Model, d: Data) -> int:
    """Drop all rows after those counted in ne, nf and nl, so that a stage can start or restart; return the next row."""
    start = int(d.ne + d.nf + d.nl)
    d.nefc = start
    if is_sparse(m):
        d.nnzJ = d.efc_J_rowadr[start - 1] + d.efc_J_rownnz[start - 1] if start > 0 else 0
    else:
        d.nnzJ = start * m.nv
    return start


@kernel
def arena_use(ncon: int, nefc: int, nnz: int) -> int:
    """Memory (bytes) used by `ncon` contacts, `nefc` rows, `nnz` Jacobian entries, and the counts of all of these."""
    return COUNT_BYTES + ncon * CONTACT_BYTES + nefc * ROW_BYTES + nnz * ENTRY_BYTES


@kernel
def open_rows(m: Model, d: Data, count: int, nnz: int, kind: int, index: int) -> int:
    """Append `count` rows, with efc_pos, efc_margin and efc_frictionloss set to 0; return the number of the first row.

    If memory is short, return -GROW_EFC or -GROW_NNZJ; `work.need` is then the required capacity. If the user's memory
    limit is exceeded, remove all rows, warn, and return -GROW_EFC with `work.need` = 0.

    Args:
        m: the model.
        d: the data.
        count: number of rows.
        nnz: number of columns of each row in sparse storage.
        kind: mjtConstraint.
        index: id of the equality, dof, joint, tendon or contact.
    """
    sparse = is_sparse(m)
    row = int(d.nefc)
    start = int(d.nnzJ)
    entries = count * (nnz if sparse else int(m.nv))
    if m.narena > 0 and arena_use(d.ncon, row + count, start + entries) > m.narena:
        # memory limit reached: no constraints in this step; the stage runs again with the same memory (spec: memory)
        d.ne, d.nf, d.nl, d.nefc, d.nnzJ = 0, 0, 0, 0, 0
        d.work.rows_full = 1
        d.warning.number[WARN_CNSTRFULL] += 1
        d.warning.lastinfo[WARN_CNSTRFULL] = m.narena
        d.work.need = 0
        return -GROW_EFC
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
    """In dense storage, remove all rows from `row` on if their Jacobians are 0. In sparse storage, do nothing."""
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
    """Set R of `row`, and the approximate diagonal of J M^-1 J' that corresponds to this R."""
    imp = d.efc_KBIP[row, 2]
    d.efc_R[row] = r
    d.efc_D[row] = 1.0 / r
    d.efc_diagApprox[row] = r * imp / (1.0 - imp)


@kernel
def get_solimp(a: ConstArray2, i: int) -> Vec5:
    """Row `i` of an (n, 5) array."""
    return (a[i, 0], a[i, 1], a[i, 2], a[i, 3], a[i, 4])
