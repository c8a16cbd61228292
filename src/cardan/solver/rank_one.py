"""Rank-one updates of the factor of the Newton matrix H, for rows that enter or leave the quadratic zone.

If row r enters or leaves the quadratic zone, H changes by plus or minus D_r j j', where j is row r of J. The factor
L' D L of H is updated in one pass. The rows of the factor that change form a path in the elimination tree. If many rows
change, the factor is recomputed instead. It is also recomputed if an update removes nearly all of a pivot, because the
pivot's rounding errors would remain.

Sources: Gill, Golub, Murray and Saunders, Methods for modifying matrix factorizations, Mathematics of Computation 28,
1974, method C1; Davis, Direct Methods for Sparse Linear Systems, section 6.3.
"""

from __future__ import annotations

from typing import Any

from cardan.enums.codes import CNSTRSTATE_QUADRATIC
from cardan.jit import kernel, stack_array
from cardan.maths.types import Vec3
from cardan.model.kernel_views import Data
from cardan.solver.islands import run_range
from cardan.solver.jacobian import DENSE_MAX, LONE

LOST = 0.01  # if a pivot shrinks below this share, it has lost two digits
COST = 4  # cost of an update per entry, in units of the factorisation's cost per entry


@kernel
def sign_of_change(d: Data, r: int) -> int:
    """Return 1 if row `r` entered the quadratic zone in the last move, -1 if the row left the zone, else 0."""
    now = 1 if d.efc_state[r] == CNSTRSTATE_QUADRATIC else 0
    before = 1 if d.work.row_state[r] == CNSTRSTATE_QUADRATIC else 0
    return now - before


@kernel
def change_factor(d: Data, island: int, large: Any) -> bool:
    """Update ``work.L``, which has no cone terms, for the current states of the rows (`large`: see `solve_islands`).

    Return False if the factor must be recomputed, because too many rows changed or a pivot lost its accuracy.
    """
    changes = 0
    begin, end = run_range(d, island)
    for run in range(begin, end):
        k = d.work.run_order[run]
        for r in range(d.work.run_start[k], d.work.run_stop[k]):
            changes += 1 if sign_of_change(d, r) != 0 else 0
    if not is_cheaper(d, island, changes, large):
        return False
    n = int(d.work.island_ndof[island])
    for run in range(begin, end):
        k = d.work.run_order[run]
        for r in range(d.work.run_start[k], d.work.run_stop[k]):
            sign = sign_of_change(d, r)
            if sign != 0:
                kept = True
                if large is not None:
                    if d.work.dense_island == 0:
                        kept = change_sparse_factor(d, r, sign * d.efc_D[r])
                if d.work.dense_island != 0:
                    kept = change_dense_factor(d, r, n, sign * d.efc_D[r])
                if not kept:
                    return False
    return True


@kernel
def is_cheaper(d: Data, island: int, changes: int, large: Any) -> bool:
    """Return whether updating the factor for `changes` rows costs less than a factorisation.

    The estimate assumes that each update changes all entries of the factor.
    """
    n = int(d.work.island_ndof[island])
    size, work = n * (n + 1) // 2, n * (n + 1) * (2 * n + 1) // 6
    if large is not None:
        if d.work.dense_island == 0:
            size, work = int(d.work.factor_nnz + n) // 2, 0
            for i in range(n):
                work += d.work.L_nnz[i] * d.work.L_nnz[i]
    return changes * COST * size <= work // 2


@kernel
def change_pivot(inverse: float, p: float, weight: float) -> Vec3:
    """Compute a pivot after an update H + `weight` j j'. `p` is the entry of j in the pivot's column.

    `inverse` is the old pivot's reciprocal. Return the new reciprocal (0 if the pivot lost its accuracy), the ratio of
    new to old pivot, and the weight of the update for the remaining rows.
    """
    ratio = 1.0 + weight * p * p * inverse
    if ratio < LOST:
        return 0.0, ratio, weight
    return inverse / ratio, ratio, weight / ratio


@kernel
def change_dense_factor(d: Data, r: int, n: int, weight: float) -> bool:
    """Update the factor for H + `weight` j j', where j is dense Jacobian row `r`.

    Return False if a pivot lost its accuracy.
    """
    row = stack_array(DENSE_MAX)
    adr = int(d.work.row_adr[r])
    last = n - 1
    if d.work.row_nnz[r] == LONE:
        last = int(d.work.J_col[adr])
        for k in range(last):
            row[k] = 0.0
        row[last] = d.work.J[adr]
    else:
        for k in range(n):
            row[k] = d.work.J[adr + k]
    for i in range(last, -1, -1):
        p = row[i]
        if p != 0.0:
            base = i * n
            old = d.work.L[base + i]
            inverse, ratio, rest = change_pivot(old, p, weight)
            if inverse == 0.0:
                return False
            d.work.L[base + i] = inverse
            back = p * old
            share = weight * p
            for k in range(i):
                row[k] -= back * d.work.L[base + k]
                d.work.L[base + k] = ratio * d.work.L[base + k] + share * row[k]
            weight = rest
    return True


@kernel
def change_sparse_factor(d: Data, r: int, weight: float) -> bool:
    """Update the factor for H + `weight` j j', where j is row `r` of the sparse Jacobian.

    Return False if a pivot lost its accuracy. ``dense_row`` must be 0; it is 0 again after a successful update.
    """
    adr = int(d.work.row_adr[r])
    nnz = int(d.work.row_nnz[r])
    for k in range(adr, adr + nnz):
        d.work.dense_row[d.work.J_col[k]] = d.work.J[k]
    i = int(d.work.J_col[adr + nnz - 1]) if nnz > 0 else -1
    while i >= 0:
        begin = int(d.work.L_adr[i])
        diagonal = begin + int(d.work.L_nnz[i]) - 1
        p = d.work.dense_row[i]
        d.work.dense_row[i] = 0.0
        if p != 0.0:
            old = d.work.Ldiag_inv[i]
            inverse, ratio, rest = change_pivot(old, p, weight)
            if inverse == 0.0:
                return False
            d.work.Ldiag_inv[i] = inverse
            d.work.L[diagonal] = ratio * d.work.L[diagonal]
            back = p * old
            share = weight * p
            for k in range(begin, diagonal):
                column = d.work.L_col[k]
                left = d.work.dense_row[column] - back * d.work.L[k]
                d.work.dense_row[column] = left
                d.work.L[k] = ratio * d.work.L[k] + share * left
            weight = rest
        i = int(d.work.L_col[diagonal - 1]) if diagonal > begin else -1
    return True
