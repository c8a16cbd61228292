"""Joint-space inertia matrix: composite rigid bodies, sparse L'DL factorisation, products and solves.

`qM` and its factors are stored row by row: row i holds the entry (i, i), then the entries of the ancestors of dof i,
towards the root (`m.aux.M_rowadr`, `m.aux.M_colind`). The factorisation M = L' D L creates no fill-in (Featherstone
2008, sections 6.2 to 6.5; spec: computation, general framework).
"""

from __future__ import annotations

from math import sqrt

from cardan.dynamics.awake import BODY, DOF, moving_bodies, span_range
from cardan.dynamics.reflected import (
    add_tendon_inertia,
    added_armature,
    any_added_armature,
)
from cardan.enums.codes import WARN_INERTIA
from cardan.jit import OK, kernel, stage
from cardan.maths.types import Array1, ConstArray1
from cardan.maths.vector import MINVAL, dot6, get6, get10, mul_inertia
from cardan.model.kernel_views import Data, Model


@kernel
def _composite_inertia(m: Model, d: Data) -> None:
    """Compute `crb` and `qM`, without the inertia of tendons."""
    _begin_composites(d, 0, m.nbody)
    _add_to_composites(m, d, 1, m.nbody)
    _fill_rows(m, d, 0, m.nv)
    if any_added_armature(m):
        _add_armature(m, d, 0, m.nv)


@kernel
def _begin_composites(d: Data, first: int, stop: int) -> None:
    """Copy cinert of the bodies `first` to `stop` (exclusive) to crb."""
    for body in range(first, stop):
        for k in range(10):
            d.crb[body, k] = d.cinert[body, k]


@kernel
def _add_to_composites(m: Model, d: Data, first: int, stop: int) -> None:
    """Add crb of the bodies `first` to `stop` (exclusive) to that of their parents, from the last body on."""
    for body in range(stop - 1, first - 1, -1):
        parent = m.body_parentid[body]
        if parent > 0:
            for k in range(10):
                d.crb[parent, k] += d.crb[body, k]


@kernel
def _fill_rows(m: Model, d: Data, first: int, stop: int) -> None:
    """Write the rows of qM of the dofs `first` to `stop` (exclusive), without armature that actuators add."""
    for dof in range(first, stop):
        force = mul_inertia(get10(d.crb, m.dof_bodyid[dof]), get6(d.cdof, dof))
        start = m.aux.M_rowadr[dof]
        for adr in range(start, m.aux.M_rowadr[dof + 1]):
            d.qM[adr] = dot6(get6(d.cdof, m.aux.M_colind[adr]), force)
        d.qM[start] += m.dof_armature[dof]


@kernel
def _add_armature(m: Model, d: Data, first: int, stop: int) -> None:
    """Add the armature of actuators to the diagonal of qM, for the dofs `first` to `stop` (exclusive)."""
    for dof in range(first, stop):
        d.qM[m.aux.M_rowadr[dof]] += added_armature(m, m.dof_jntid[dof])


@kernel
def _composite_inertia_awake(m: Model, d: Data) -> None:
    """Do as `_composite_inertia`, for trees that are awake."""
    for span in range(d.work.nspan):
        first, stop = span_range(d, span, BODY)
        _begin_composites(d, first, stop)
    for span in range(d.work.nspan - 1, -1, -1):
        first, stop = moving_bodies(d, span)
        _add_to_composites(m, d, first, stop)
    for span in range(d.work.nspan):
        first, stop = span_range(d, span, DOF)
        _fill_rows(m, d, first, stop)
    if any_added_armature(m):
        for span in range(d.work.nspan):
            first, stop = span_range(d, span, DOF)
            _add_armature(m, d, first, stop)


@stage
def crb(m: Model, d: Data) -> int:
    """Compute the joint-space inertia matrix by the composite rigid body algorithm, without the inertia of tendons.

    Reads cinert, cdof; writes crb (nbody, 10), qM (nM,).
    """
    _composite_inertia(m, d)
    return OK


@stage
def crb_with_tendons(m: Model, d: Data) -> int:
    """Do as `crb`, and add the inertia of tendons (`cardan.dynamics.reflected`). Also reads ten_J."""
    _composite_inertia(m, d)
    add_tendon_inertia(m, d, False)
    return OK


@stage
def crb_awake(m: Model, d: Data) -> int:
    """Do as `crb`, for trees that are awake; composite inertias of fixed bodies leave out what sleeps."""
    _composite_inertia_awake(m, d)
    return OK


@stage
def crb_with_tendons_awake(m: Model, d: Data) -> int:
    """Do as `crb_with_tendons`, for trees that are awake."""
    _composite_inertia_awake(m, d)
    add_tendon_inertia(m, d, True)
    return OK


@kernel
def sound_pivot(d: Data, pivot: float, dof: int) -> float:
    """Return the pivot of a dof, or `MINVAL` if the pivot is smaller; in this case, count the warning INERTIA."""
    if pivot < MINVAL:
        d.warning.number[WARN_INERTIA] += 1
        d.warning.lastinfo[WARN_INERTIA] = dof
        return MINVAL
    return pivot


@kernel
def _eliminate_one(m: Model, d: Data, ld: Array1, diag_inv: Array1, k: int) -> None:
    """Eliminate dof `k` from the rows of its ancestors, and replace its row by a row of L."""
    start = m.aux.M_rowadr[k]
    stop = m.aux.M_rowadr[k + 1]
    ld[start] = sound_pivot(d, ld[start], k)
    inverse = 1.0 / ld[start]
    diag_inv[k] = inverse
    for adr in range(start + 1, stop):
        # subtract the scaled rest of row k from the row of this ancestor
        scale = ld[adr] * inverse
        shift = m.aux.M_rowadr[m.aux.M_colind[adr]] - adr
        for c in range(adr, stop):
            ld[c + shift] -= scale * ld[c]
        ld[adr] = scale


@kernel
def _eliminate_two(m: Model, d: Data, ld: Array1, diag_inv: Array1, k: int) -> None:
    """Eliminate dofs `k` and `k` - 1 (its parent) together, so that the rows of their ancestors are updated once."""
    start = int(m.aux.M_rowadr[k - 1])
    child = int(m.aux.M_rowadr[k])
    ld[child] = sound_pivot(d, ld[child], k)
    inverse_child = 1.0 / ld[child]
    diag_inv[k] = inverse_child
    # eliminate the child from its parent's row
    lag = child + 1 - start
    scale_child = ld[child + 1] * inverse_child
    for adr in range(start, child):
        ld[adr] -= scale_child * ld[adr + lag]
    ld[child + 1] = scale_child
    # eliminate both from the rows of their ancestors
    ld[start] = sound_pivot(d, ld[start], k - 1)
    inverse = 1.0 / ld[start]
    diag_inv[k - 1] = inverse
    for adr in range(start + 1, child):
        scale = ld[adr] * inverse
        scale_child = ld[adr + lag] * inverse_child
        shift = m.aux.M_rowadr[m.aux.M_colind[adr]] - adr
        for c in range(adr, child):
            ld[c + shift] -= scale * ld[c] + scale_child * ld[c + lag]
        ld[adr] = scale
        ld[adr + lag] = scale_child


@kernel
def factor_ld(m: Model, d: Data, ld: Array1, diag_inv: Array1) -> None:
    """Factorise a matrix `ld` (nM,) with the structure of `qM` in place: L' D L, with D on the diagonal, L below it.

    Write the reciprocals of D to `diag_inv` (nv,). Raise pivots to at least `MINVAL`; count each as a warning INERTIA.
    """
    k = m.nv - 1
    while k >= 0:
        if k > 0 and m.dof_parentid[k] == k - 1:
            _eliminate_two(m, d, ld, diag_inv, k)
            k -= 2
        else:
            _eliminate_one(m, d, ld, diag_inv, k)
            k -= 1


@kernel
def factor_range(m: Model, d: Data, ld: Array1, diag_inv: Array1, first: int, stop: int) -> None:
    """Do as `factor_ld`, for the dofs `first` to `stop` (exclusive) of whole trees."""
    k = stop - 1
    while k >= first:
        if k > first and m.dof_parentid[k] == k - 1:
            _eliminate_two(m, d, ld, diag_inv, k)
            k -= 2
        else:
            _eliminate_one(m, d, ld, diag_inv, k)
            k -= 1


@stage
def factor_m(m: Model, d: Data) -> int:
    """Factorise the inertia matrix: M = L' D L.

    Reads qM; writes qLD (nM,), qLDiagInv (nv,), qLDiagSqrtInv (nv,).
    """
    for adr in range(m.nM):
        d.qLD[adr] = d.qM[adr]
    factor_ld(m, d, d.qLD, d.qLDiagInv)
    for dof in range(m.nv):
        d.qLDiagSqrtInv[dof] = sqrt(d.qLDiagInv[dof])
    return OK


@stage
def factor_m_awake(m: Model, d: Data) -> int:
    """Do as `factor_m`, for trees that are awake."""
    for span in range(d.work.nspan):
        first, stop = span_range(d, span, DOF)
        for adr in range(m.aux.M_rowadr[first], m.aux.M_rowadr[stop]):
            d.qLD[adr] = d.qM[adr]
        factor_range(m, d, d.qLD, d.qLDiagInv, first, stop)
        for dof in range(first, stop):
            d.qLDiagSqrtInv[dof] = sqrt(d.qLDiagInv[dof])
    return OK


@kernel
def solve_lt(m: Model, ld: Array1, x: Array1, at: int) -> None:
    """Replace x, the nv elements from `x[at]` on, by L'^-1 x (from the leaves to the root)."""
    _solve_lt_range(m, ld, x, at, 0, m.nv)


@kernel
def _solve_lt_range(m: Model, ld: Array1, x: Array1, at: int, first: int, stop: int) -> None:
    """Do as `solve_lt`, for the dofs `first` to `stop` (exclusive) of whole trees."""
    for i in range(stop - 1, first - 1, -1):
        value = x[at + i]
        if value != 0.0:
            for adr in range(m.aux.M_rowadr[i] + 1, m.aux.M_rowadr[i + 1]):
                x[at + m.aux.M_colind[adr]] -= ld[adr] * value


@kernel
def solve_ld(m: Model, ld: Array1, diag_inv: Array1, x: Array1, at: int) -> None:
    """Replace x, the nv elements from `x[at]` on, by (L' D L)^-1 x, with factors from `factor_ld`."""
    solve_range(m, ld, diag_inv, x, at, 0, m.nv)


@kernel
def solve_range(m: Model, ld: Array1, diag_inv: Array1, x: Array1, at: int, first: int, stop: int) -> None:
    """Do as `solve_ld`, for the dofs `first` to `stop` (exclusive) of whole trees."""
    _solve_lt_range(m, ld, x, at, first, stop)
    for i in range(first, stop):
        x[at + i] *= diag_inv[i]
    # L^-1, from the root to the leaves
    for i in range(first, stop):
        value = x[at + i]
        for adr in range(m.aux.M_rowadr[i] + 1, m.aux.M_rowadr[i + 1]):
            value -= ld[adr] * x[at + m.aux.M_colind[adr]]
        x[at + i] = value


@kernel
def solve_m(m: Model, d: Data, x: Array1) -> None:
    """Replace x (nv,) by M^-1 x; needs `factor_m`."""
    solve_ld(m, d.qLD, d.qLDiagInv, x, 0)


@kernel
def half_solve_m(m: Model, d: Data, x: Array1, at: int) -> None:
    """Replace x, the nv elements from `x[at]` on, by y = sqrt(D)^-1 L'^-1 x, so that y' y = x' M^-1 x."""
    solve_lt(m, d.qLD, x, at)
    for i in range(m.nv):
        x[at + i] *= d.qLDiagSqrtInv[i]


@kernel
def mul_symmetric(m: Model, matrix: ConstArray1, result: Array1, vector: ConstArray1) -> None:
    """Set `result` (nv,) to the product of a symmetric matrix, stored like `qM`, and `vector` (another array)."""
    for i in range(m.nv):
        start = m.aux.M_rowadr[i]
        value = vector[i]
        total = matrix[start] * value
        for adr in range(start + 1, m.aux.M_rowadr[i + 1]):
            column = m.aux.M_colind[adr]
            total += matrix[adr] * vector[column]
            result[column] += matrix[adr] * value
        result[i] = total


@kernel
def mul_m(m: Model, d: Data, result: Array1, vector: Array1) -> None:
    """Set `result` (nv,) to the product of M and `vector` (nv,), which must be a different array."""
    mul_symmetric(m, d.qM, result, vector)
