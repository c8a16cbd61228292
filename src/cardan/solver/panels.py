"""Factorisation of an island's sparse Newton matrix by panels.

Neighbouring rows of a sparse factor often have the same columns (supernodes; Ng and Peyton, Block sparse Cholesky
algorithms on advanced uniprocessor computers, 1993). Examples are the dofs of a free body, and those along a limb. Up
to `WIDTH` such rows form a panel. Its rows are stored side by side in ``work.panel`` (column, lane). Each row below the
panel is read once for the whole panel, and the arithmetic is vectorised over the lanes.
"""

from __future__ import annotations

from cardan.enums.codes import CNSTRSTATE_CONE, CNSTRSTATE_QUADRATIC
from cardan.jit import kernel, stack_array
from cardan.maths.types import Array1
from cardan.maths.vector import MINVAL
from cardan.model.kernel_views import Data, Model

WIDTH = 8
LEAST_PIVOT = 2e-15
"""Smallest ratio of a pivot of the Hessian to its diagonal element. A smaller pivot is only rounding error and may be
negative. Division by it would give a direction of arbitrary length (in single precision with stiff contacts)."""
SHARE_OF_INERTIA = 0.5
"""Smallest ratio of a pivot of the Hessian to the same pivot of the inertia matrix M. Since J' D J is positive
semidefinite, exact pivots of M + J' D J are never less than those of M (Schur complements are monotone: Horn and
Johnson, Matrix Analysis, 2013, section 7.7). A ratio of one half leaves pivots accurate to a few digits unchanged."""


@kernel
def least_pivot(m: Model, d: Data, dof: int, diagonal: float) -> float:
    """Smallest allowed pivot of `dof`, from its `diagonal` element of the Hessian and its pivot in the factor of M."""
    return max(LEAST_PIVOT * diagonal, SHARE_OF_INERTIA * d.qLD[m.aux.M_rowadr[dof]])


@kernel
def find_panels(d: Data, n: int) -> None:
    """Split the `n` rows into panels: set ``panel_first`` of each row to the first row of its panel."""
    last = n - 1
    while last >= 0:
        first = last
        while first > 0 and last - first + 1 < WIDTH and is_alike(d, first):
            first -= 1
        for i in range(first, last + 1):
            d.work.panel_first[i] = first
        last = first - 1


@kernel
def is_alike(d: Data, i: int) -> bool:
    """Return whether rows `i` - 1 and `i` can share a panel.

    Row `i` - 1 must have all columns of row `i` except column `i`. Below row `i`, columns `i` - 1 and `i` must have
    entries in the same rows. Both columns must also have entries in the same rows of J.
    """
    other = i - 1
    nnz = int(d.work.L_nnz[i])
    below = int(d.work.LT_nnz[i])
    touching = int(d.work.JT_nnz[i])
    if d.work.L_nnz[other] != nnz - 1 or d.work.LT_nnz[other] != below + 1 or d.work.JT_nnz[other] != touching:
        return False
    # row i - 1 is the parent in the elimination tree, which has all columns of its children
    if d.work.L_col[d.work.L_adr[i] + nnz - 2] != other:
        return False
    a = int(d.work.LT_adr[i])
    b = int(d.work.LT_adr[other]) + 1
    for t in range(1, below):
        if d.work.LT_row[a + t] != d.work.LT_row[b + t]:
            return False
    a = int(d.work.JT_adr[i])
    b = int(d.work.JT_adr[other])
    for t in range(touching):
        if d.work.JT_row[a + t] != d.work.JT_row[b + t]:
            return False
    return True


@kernel
def factor_panel(m: Model, d: Data, island: int, first: int, last: int) -> None:
    """Compute rows `first` to `last` of the factor, which form a panel. ``work.panel`` is 0 before and after."""
    for j in range(first, last + 1):
        dof = int(d.work.dof_at[d.work.island_dof[island] + j])
        shift = j - dof
        for k in range(m.aux.M_rowadr[dof], m.aux.M_rowadr[dof + 1]):
            d.work.panel[m.aux.M_colind[k] + shift, j - first] = d.qM[k]
    spread_constraints(d, first, last)
    least = stack_array(WIDTH)
    for lane in range(last - first + 1):
        dof = int(d.work.dof_at[d.work.island_dof[island] + first + lane])
        least[lane] = least_pivot(m, d, dof, d.work.panel[first + lane, lane])
    reduce_panel(d, first, last)
    eliminate_panel(d, first, last, least)
    source = int(d.work.L_adr[last])
    for j in range(first, last + 1):
        adr = int(d.work.L_adr[j])
        for k in range(d.work.L_nnz[j]):
            d.work.L[adr + k] = d.work.panel[d.work.L_col[source + k], j - first]
    for k in range(source, source + d.work.L_nnz[last]):
        column = d.work.L_col[k]
        for lane in range(WIDTH):
            d.work.panel[column, lane] = 0.0


@kernel
def spread_constraints(d: Data, first: int, last: int) -> None:
    """Add the panel's rows of J' D J, cone terms included, to ``work.panel``.

    Entries right of the diagonal are not used.
    """
    weight = stack_array(WIDTH)
    for lane in range(WIDTH):
        weight[lane] = 0.0
    width = last - first + 1
    for t in range(d.work.JT_adr[first], d.work.JT_adr[first] + d.work.JT_nnz[first]):
        group = int(d.work.JT_row[t])
        place = int(d.work.JT_entry[t]) - int(d.work.row_adr[group])
        for r in range(group, d.work.group_end[group]):
            adr = int(d.work.row_adr[r])
            entry = adr + place
            if d.efc_state[r] == CNSTRSTATE_QUADRATIC:
                for lane in range(width):
                    weight[lane] = d.efc_D[r] * d.work.J[entry + lane]
                add_outer(d, adr, place + width, weight)
            elif d.efc_state[r] == CNSTRSTATE_CONE:
                # the rows of an elliptic contact have the same columns
                con = int(d.efc_id[r])
                dim = int(d.contact.dim[con])
                start = int(d.contact.efc_address[con])
                for b in range(dim):
                    factor = d.contact.H[con, (r - start) * dim + b]
                    for lane in range(width):
                        weight[lane] = factor * d.work.J[entry + lane]
                    add_outer(d, int(d.work.row_adr[start + b]), place + width, weight)


@kernel
def add_outer(d: Data, adr: int, count: int, weight: Array1) -> None:
    """Add `count` entries of ``work.J`` from `adr` on to each lane of ``work.panel``, times the lane's `weight`."""
    for k in range(adr, adr + count):
        column = d.work.J_col[k]
        value = d.work.J[k]
        for lane in range(WIDTH):
            d.work.panel[column, lane] += weight[lane] * value


@kernel
def reduce_panel(d: Data, first: int, last: int) -> None:
    """Subtract the contributions of the rows below the panel that have entries in its columns, two rows at a time."""
    t = int(d.work.LT_adr[last]) + 1
    end = t - 1 + int(d.work.LT_nnz[last])
    while t < end:
        i = int(d.work.LT_row[t])
        count = int(d.work.LT_entry[t]) + 1 - int(d.work.L_adr[i])
        if t + 1 < end and d.work.panel_first[d.work.LT_row[t + 1]] == d.work.panel_first[i]:
            subtract_two(d, i, count, last - first + 1)
            t += 2
        else:
            subtract_one(d, i, count, last - first + 1)
            t += 1


@kernel
def subtract_one(d: Data, i: int, count: int, width: int) -> None:
    """Subtract the contribution of the first `count` entries of row `i` from ``work.panel``.

    The last `width` of these entries are in the columns of the panel.
    """
    c = stack_array(WIDTH)
    adr = int(d.work.L_adr[i])
    load_factors(d, i, adr + count - width, width, c)
    for k in range(adr, adr + count):
        column = d.work.L_col[k]
        value = d.work.L[k]
        for lane in range(WIDTH):
            d.work.panel[column, lane] -= c[lane] * value


@kernel
def subtract_two(d: Data, i: int, count: int, width: int) -> None:
    """Subtract the contributions of rows `i` and `i` + 1, which have the same columns (see `subtract_one`)."""
    a = stack_array(WIDTH)
    b = stack_array(WIDTH)
    adr = int(d.work.L_adr[i])
    other = int(d.work.L_adr[i + 1])
    load_factors(d, i, adr + count - width, width, a)
    load_factors(d, i + 1, other + count - width, width, b)
    for k in range(count):
        column = d.work.L_col[adr + k]
        value = d.work.L[adr + k]
        second = d.work.L[other + k]
        for lane in range(WIDTH):
            d.work.panel[column, lane] -= a[lane] * value + b[lane] * second


@kernel
def load_factors(d: Data, i: int, adr: int, width: int, c: Array1) -> None:
    """Write `width` entries of row `i` from `adr` on, divided by the row's pivot, to `c`; set the other lanes to 0."""
    for lane in range(WIDTH):
        c[lane] = 0.0
    for lane in range(width):
        c[lane] = d.work.L[adr + lane] * d.work.Ldiag_inv[i]


@kernel
def eliminate_panel(d: Data, first: int, last: int, least: Array1) -> None:
    """Eliminate the rows of ``work.panel`` from each other, last row first; raise pivots to at least `least`.

    The reciprocal pivots are stored in ``Ldiag_inv``.
    """
    c = stack_array(WIDTH)
    adr = int(d.work.L_adr[last])
    before = int(d.work.L_nnz[last]) - (last - first + 1)  # number of columns before the panel's own
    for a in range(last - first, -1, -1):
        inverse = 1.0 / max(d.work.panel[first + a, a], least[a], MINVAL)
        d.work.Ldiag_inv[first + a] = inverse
        for lane in range(WIDTH):
            c[lane] = 0.0
        for lane in range(a):
            c[lane] = d.work.panel[first + lane, a] * inverse
        for k in range(adr, adr + before + a):
            column = d.work.L_col[k]
            value = d.work.panel[column, a]
            for lane in range(WIDTH):
                d.work.panel[column, lane] -= c[lane] * value
