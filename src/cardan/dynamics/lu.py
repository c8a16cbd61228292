"""LU factors of unsymmetric matrices with the pattern of the kinematic tree (spec: computation, integrator implicit).

Rows are eliminated from the leaves to the root, which creates no fill-in: A = U L, where U is upper triangular with a
unit diagonal and L lower triangular. Both are stored in the pattern of `qDeriv`; the stored diagonal is that of L.
"""

from __future__ import annotations

from cardan.dynamics.inertia import sound_pivot
from cardan.jit import kernel
from cardan.maths.types import Array1, ConstArray1
from cardan.maths.vector import MINVAL
from cardan.model.kernel_views import Data, Model


@kernel
def _entry(m: Model, row: int, column: int) -> int:
    """Address in `qDeriv` of the entry of two dofs of one chain; both are given by addresses in a row of `qM`."""
    if column >= row:
        return m.aux.M_to_D[m.aux.M_rowadr[m.aux.M_colind[row]] + column - row]
    return m.aux.M_to_DT[m.aux.M_rowadr[m.aux.M_colind[column]] + row - column]


@kernel
def factor_lu(m: Model, d: Data, lu: Array1) -> None:
    """Factorise a matrix with the pattern of `qDeriv` in place (nD,); pivots near 0 count the warning INERTIA."""
    for i in range(m.nv - 1, -1, -1):
        start, stop = m.aux.M_rowadr[i], m.aux.M_rowadr[i + 1]
        pivot = m.aux.M_to_D[start]
        if abs(lu[pivot]) < MINVAL:
            lu[pivot] = sound_pivot(d, lu[pivot], i)
        inverse = 1.0 / lu[pivot]
        for row in range(start + 1, stop):
            scale = lu[m.aux.M_to_DT[row]] * inverse
            lu[m.aux.M_to_DT[row]] = scale
            for column in range(start + 1, stop):
                lu[_entry(m, row, column)] -= scale * lu[m.aux.M_to_D[column]]


@kernel
def solve_lu(m: Model, lu: ConstArray1, x: Array1) -> None:
    """Replace x (nv,) by A^-1 x, with factors from `factor_lu`."""
    # U y = x, from the leaves to the root
    for i in range(m.nv - 1, -1, -1):
        value = x[i]
        for adr in range(m.aux.M_rowadr[i] + 1, m.aux.M_rowadr[i + 1]):
            x[m.aux.M_colind[adr]] -= lu[m.aux.M_to_DT[adr]] * value
    # L z = y, from the root to the leaves
    for i in range(m.nv):
        start = m.aux.M_rowadr[i]
        value = x[i]
        for adr in range(start + 1, m.aux.M_rowadr[i + 1]):
            value -= lu[m.aux.M_to_D[adr]] * x[m.aux.M_colind[adr]]
        x[i] = value / lu[m.aux.M_to_D[start]]
